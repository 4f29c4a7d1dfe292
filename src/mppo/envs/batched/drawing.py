"""A few smooth shapes drawn into an RGB image with NumPy alone."""

import numpy as np

PALE = (232, 235, 240)
INK = (38, 44, 56)
GREY = (140, 148, 162)
SAND = (240, 205, 130)
GREEN = (88, 178, 112)
LIGHT_GREEN = (222, 241, 227)
RED = (214, 72, 64)
BLUE = (62, 112, 186)

Point = tuple[float, float]  # pixels: x to the right, y down
Colour = tuple[int, int, int]


def canvas(width: int, height: int) -> np.ndarray:
    """A white image."""
    return np.full((height, width, 3), 255, dtype=np.uint8)


def disc(image: np.ndarray, centre: Point, radius: float, colour: Colour) -> None:
    """A filled circle."""
    x, y = _pixels(image)
    _paint(image, radius - np.hypot(x - centre[0], y - centre[1]), colour)


def line(image: np.ndarray, start: Point, end: Point, width: float, colour: Colour) -> None:
    """A straight line with round ends."""
    x, y = _pixels(image)
    right, down = end[0] - start[0], end[1] - start[1]
    length = max(right * right + down * down, 1e-9)
    along = np.clip(((x - start[0]) * right + (y - start[1]) * down) / length, 0.0, 1.0)
    distance = np.hypot(x - start[0] - along * right, y - start[1] - along * down)
    _paint(image, width / 2 - distance, colour)


def rectangle(
    image: np.ndarray, centre: Point, width: float, height: float, colour: Colour
) -> None:
    """A filled upright rectangle."""
    x, y = _pixels(image)
    inside = np.minimum(width / 2 - abs(x - centre[0]), height / 2 - abs(y - centre[1]))
    _paint(image, inside, colour)


def _pixels(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    height, width = image.shape[:2]
    return np.arange(width)[None, :] + 0.5, np.arange(height)[:, None] + 0.5


def _paint(image: np.ndarray, inside: np.ndarray, colour: Colour) -> None:
    # inside is the distance to the edge, positive within: half a pixel each way blends.
    cover = np.clip(inside + 0.5, 0.0, 1.0)[..., None]
    image[:] = np.rint(image * (1.0 - cover) + np.array(colour) * cover).astype(np.uint8)
