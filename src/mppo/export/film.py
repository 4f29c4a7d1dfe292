"""Films of a trained policy: frames of its environment, written as MP4 or GIF."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv

from mppo.acting.actor import Actor
from mppo.acting.agent import Agent
from mppo.envs.batch import lanes_of
from mppo.envs.checked import CheckedVectorEnv
from mppo.envs.robots.engine import uses_mujoco
from mppo.envs.robots.simulation import RobotEnv
from mppo.envs.source import EnvSource, env_source
from mppo.envs.wrapping import Borrowed
from mppo.errors import BadRequest
from mppo.files.atomic import write_atomically
from mppo.rollouts.evaluator import Episodes, Evaluator
from mppo.training.opening import Opened

FASTEST = {".mp4": 60.0, ".gif": 25.0}  # frames a second that players keep up with
LIBRARIES = {"osmesa": ("libOSMesa.so.8", "libOSMesa.so"), "egl": ("libEGL.so.1", "libEGL.so")}
NO_GL = (
    "MuJoCo cannot draw here: {reason}. Install a renderer that needs no screen: apt-get install "
    "libosmesa6 (or libegl1 libegl-mesa0), or conda install -c conda-forge mesalib; to choose one, "
    "set MUJOCO_GL=osmesa (or egl)"
)


class Film(NamedTuple):
    """What was filmed."""

    played: Episodes
    frames: int
    fps: float
    size: tuple[int, int]  # width, height


def film(
    run: Opened,
    agent: Agent,
    out: Path,
    episodes: int,
    seed: int,
    deterministic: bool = False,
    fps: float | None = None,
    size: tuple[int, int] | None = None,
) -> Film:
    """Film the episodes that an evaluation with this seed plays, in real time.

    They start alike and draw the same noise; where an evaluation steps several environments at
    once, its sums may be rounded otherwise.
    """
    suffix = out.suffix.lower()
    if suffix == ".mp4" and importlib.util.find_spec("imageio_ffmpeg") is None:
        raise BadRequest(
            'MP4 needs the package imageio-ffmpeg; install it: pip install "mppo[video]", or '
            "write a .gif"
        )
    envs = _stage(run.task, size)
    natural = float(envs.metadata.get("render_fps") or 30)
    stride = max(1, round(natural / fps) if fps else int(np.ceil(natural / FASTEST[suffix])))
    speed = fps or natural / stride
    evaluator = Evaluator(envs, run.task.spaces, seed, bool(run.described["clip_actions"]))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"film{suffix}"
        camera = _Camera(envs, file, speed, stride, size)
        evaluator.watch = camera
        try:
            actor = Actor(run.architecture, agent.policy)
            played = evaluator.play(actor, run.iteration, episodes, deterministic)
        finally:
            camera.writer.close()
            evaluator.close()
        write_atomically(out, file.read_bytes())
    return Film(played, camera.written, speed, camera.size)


def _stage(on: EnvSource, size: tuple[int, int] | None) -> VectorEnv:
    """One environment that can be drawn."""
    plain = on.make(1)
    modes = plain.metadata.get("render_modes") or []
    by_mujoco, single = _is_mujoco(plain), _single(plain)
    base = getattr(single, "unwrapped", None)
    ours = isinstance(base, RobotEnv) or bool(lanes_of(plain))
    sized = ours or hasattr(base, "mujoco_renderer")  # of Gymnasium's own robots
    drawn = plain.render_mode if single is None else single.render_mode
    plain.close()
    if "rgb_array" not in modes:
        raise BadRequest(
            f'"{on.name}" cannot be filmed: its render modes are {list(modes)}, and "rgb_array" is '
            'needed (metadata["render_modes"], and render() returning an image)'
        )
    if by_mujoco:
        choose_gl()
    if on.from_python:  # nobody but the user knows how it is made
        if drawn != "rgb_array":
            raise BadRequest(
                f'"{on.name}" cannot be filmed: its render mode is {drawn!r}; make it with '
                'render_mode="rgb_array"'
            )
        return on.make(1)
    kwargs: dict[str, Any] = {**on.kwargs, "render_mode": "rgb_array"}
    if sized and size is not None:  # other pictures are scaled afterwards
        kwargs |= {"width": size[0], "height": size[1]}
    return env_source(on.name, wrappers=on.applied, **kwargs).make(1)


def _single(envs: VectorEnv) -> gymnasium.Env | None:
    """The environment inside, where single ones are stepped one after the other."""
    inside = envs.env if isinstance(envs, Borrowed) else envs
    return inside.envs[0] if isinstance(inside, CheckedVectorEnv) else None


def _is_mujoco(envs: VectorEnv) -> bool:
    single = _single(envs)
    return bool(lanes_of(envs)) or (single is not None and uses_mujoco(single))


def choose_gl() -> None:
    """Point MuJoCo to a renderer that needs no screen, unless there is one or the user chose."""
    chosen = os.environ.get("MUJOCO_GL") or os.environ.get("DISPLAY")
    if chosen or not sys.platform.startswith("linux"):
        return
    for backend, names in LIBRARIES.items():
        if any(_loads(name) for name in names):
            os.environ["MUJOCO_GL"] = backend
            return
    raise BadRequest(NO_GL.format(reason="there is neither a screen nor libOSMesa nor libEGL"))


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


class _Camera:
    """Takes every n-th frame of the one environment there is and writes it down."""

    def __init__(
        self, envs: Any, file: Path, fps: float, stride: int, size: tuple[int, int] | None
    ):
        self.envs, self.stride, self.resized, self.size = envs, stride, size, (0, 0)
        self.seen = self.written = 0
        if file.suffix == ".gif":
            self.writer: Any = _Gif(file, fps)
        else:
            import imageio.v2  # it starts ffmpeg with the first frame

            how: Any = {"codec": "libx264", "quality": 7, "macro_block_size": 2}
            self.writer = imageio.v2.get_writer(file, format="FFMPEG", fps=fps, **how)

    def __call__(self) -> None:
        self.seen += 1
        if (self.seen - 1) % self.stride:
            return
        frame = self._frame()
        with warnings.catch_warnings():  # jax fears forks; this one becomes ffmpeg at once
            warnings.filterwarnings("ignore", "os.fork", RuntimeWarning)
            self.writer.append_data(frame)
        self.size = (frame.shape[1], frame.shape[0])
        self.written += 1

    def _frame(self) -> np.ndarray:
        try:
            drawn = self.envs.render()[0]
        except Exception as error:
            if _is_mujoco(self.envs):
                raise BadRequest(NO_GL.format(reason=error)) from error
            raise BadRequest(f"the environment cannot be drawn: {error}") from error
        if not isinstance(drawn, np.ndarray) or drawn.ndim != 3 or drawn.shape[2] != 3:
            kind = getattr(drawn, "shape", type(drawn).__name__)  # it may be anything
            raise BadRequest(
                f"render() gave {kind}; an image of shape (height, width, 3) is needed"
            )
        frame = drawn.astype(np.uint8, copy=False)
        if self.resized is not None and self.resized != frame.shape[1::-1]:
            from PIL import Image

            image = Image.fromarray(frame).resize(self.resized, Image.Resampling.LANCZOS)
            frame = np.asarray(image)
        height, width = frame.shape[:2]  # where odd, they grow by one, as MP4 needs it
        return np.pad(frame, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")


class _Gif:
    """A writer of frames as GIF, where imageio would keep all in full colour to the end."""

    def __init__(self, file: Path, fps: float):
        self.file, self.pause, self.images = file, round(1000 / fps), []

    def append_data(self, frame: np.ndarray) -> None:
        """One more frame, in 256 colours of its own."""
        from PIL import Image

        self.images.append(Image.fromarray(frame).quantize(256, Image.Quantize.FASTOCTREE))

    def close(self) -> None:
        """Write the file."""
        if self.images:
            first, *others = self.images
            first.save(self.file, save_all=True, append_images=others, duration=self.pause, loop=0)
