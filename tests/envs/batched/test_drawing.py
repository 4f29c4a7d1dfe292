import numpy as np

from mppo.envs.batched import drawing


def test_a_canvas_is_white():
    image = drawing.canvas(4, 3)
    assert image.shape == (3, 4, 3)
    assert image.dtype == np.uint8
    assert (image == 255).all()


def test_a_rectangle_covers_its_pixels_and_half_of_its_edges():
    """By hand: from x = 2 to 4.5 and y = 1 to 3; the pixel from 4 to 5 is covered by half."""
    image = drawing.canvas(8, 5)
    drawing.rectangle(image, (3.25, 2.0), 2.5, 2.0, (0, 0, 0))
    expected = np.full((5, 8), 255)
    expected[1:3, 2:4] = 0
    expected[1:3, 4] = 128  # 127.5, rounded to even
    assert (image == expected[..., None]).all()


def test_a_disc_is_as_large_as_its_radius():
    image = drawing.canvas(41, 41)
    drawing.disc(image, (20.5, 20.5), 10.0, (0, 0, 0))
    covered = (255.0 - image[..., 0]).sum() / 255.0
    assert abs(covered - np.pi * 100) < 2.0
    assert image[20, 20].tolist() == [0, 0, 0]
    assert (image == image[::-1, ::-1]).all()


def test_a_line_has_round_ends():
    image = drawing.canvas(60, 21)
    drawing.line(image, (10.5, 10.5), (49.5, 10.5), 8.0, (0, 0, 0))
    covered = (255.0 - image[..., 0]).sum() / 255.0
    assert abs(covered - (39 * 8 + np.pi * 16)) < 2.0
    assert image[10, 30].tolist() == [0, 0, 0]
    point = drawing.canvas(21, 21)
    drawing.line(point, (10.5, 10.5), (10.5, 10.5), 8.0, drawing.RED)
    disc = drawing.canvas(21, 21)
    drawing.disc(disc, (10.5, 10.5), 4.0, drawing.RED)
    assert (point == disc).all()
