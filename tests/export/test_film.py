"""Films show the very episodes that an evaluation plays."""

import json
import os
import re
import subprocess
from types import SimpleNamespace

import gymnasium
import jax
import numpy as np
import pytest
from PIL import Image

import mppo
from mppo.acting.agent import Agent, architecture_of
from mppo.cli import main
from mppo.envs.source import env_source
from mppo.errors import BadRequest
from mppo.export import film
from mppo.training.opening import opened, play
from mppo.training.start import train
from tests.worlds import SMALL, Ledge

START, STEP = 40, 20  # grey of a frame: by the step of the episode


class Shown(Ledge):
    """A walk whose picture tells the time by its grey."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012

    def __init__(self, render_mode=None, side=40):
        self.render_mode, self.side = render_mode, side

    def render(self):
        return np.full((31, self.side, 3), START + STEP * min(self.time, 10), np.uint8)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The directory of a short run on the walk."""
    out = tmp_path_factory.mktemp("shown") / "run"
    for name, kind in (("Shown", Shown), ("Hidden", Ledge)):
        gymnasium.register(f"tests/{name}-v0", kind, max_episode_steps=12)
    train(SMALL["trpo"], "tests/Shown-v0", steps=256, out=out, eval_every=0)
    yield out
    for name in ("Shown", "Hidden"):
        del gymnasium.registry[f"tests/{name}-v0"]


def greys(file):
    """The mean grey of every frame of a GIF, and how long each is shown in tenths of a second."""
    found = []
    with Image.open(file) as image:
        for n in range(image.n_frames):
            image.seek(n)
            times = round(image.info["duration"] / 100)
            found += [round(np.asarray(image.convert("RGB")).mean())] * times
        return found, image.size


def first_frame(file):
    with Image.open(file) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def test_a_gif_shows_every_step(run, tmp_path, capsys):
    out = tmp_path / "clip.gif"
    assert main(["video", str(run), "--out", str(out), "--seed", "3", "--episodes", "2"]) == 0
    there = opened(run)
    played = play(there, there.agent(), 2, seed=3)
    assert played.lengths.min() >= 5  # the walk is over at the edge, or after 12 steps
    frames, size = greys(out)
    wanted = [START + STEP * min(t, 10) for n in played.lengths for t in range(n + 1)]
    assert size == (40, 32)  # odd sides grow by one
    assert frames == wanted
    said = capsys.readouterr().out
    assert f"episode 1: return {played.returns[1]:.3f}, {played.lengths[1]} steps" in said
    assert f"{len(wanted)} frames, {len(wanted) / 10:.1f} s, 40x32" in said


class Pale(gymnasium.Wrapper):
    """Ends after three steps, and its picture is nearly white."""

    def step(self, action):
        seen, reward, terminated, _, info = super().step(action)
        return seen, reward, terminated, self.unwrapped.time >= 3, info

    def render(self):
        return super().render() // 8 + 200


def test_the_film_is_of_the_run_s_own_environment(run, tmp_path, capsys):
    """With the arguments and inside the wrappers that it was trained with."""
    out, clip = tmp_path / "run", tmp_path / "clip.gif"
    train(
        SMALL["trpo"],
        "tests/Shown-v0",
        steps=256,
        out=out,
        eval_every=0,
        env_kwargs={"side": 20},
        wrappers=[Pale],
    )
    words = ["video", str(out), "--out", str(clip), "--seed", "3"]
    assert main(words) == 2
    assert "tests.export.test_film:Pale" in (said := capsys.readouterr().err)
    assert "--allow-imports" in said
    assert main([*words, "--allow-imports"]) == 0
    there = opened(out, allow_imports=True)
    played = play(there, there.agent(), 1, seed=3)
    assert played.lengths.tolist() == [3]
    frames, size = greys(clip)
    assert size == (20, 32)
    assert frames == [(START + STEP * t) // 8 + 200 for t in range(4)]
    assert f"return {played.returns[0]:.3f}, 3 steps" in capsys.readouterr().out


def test_what_was_given_from_python_is_filmed_as_it_is_given(run, tmp_path, capsys):
    """Never the registered environment that happens to have its name."""
    out, make = tmp_path / "run", lambda: Pale(gymnasium.make("tests/Shown-v0"))
    train(SMALL["trpo"], make, steps=256, out=out, eval_every=0)
    assert json.loads((out / "run.json").read_text())["env"] == "tests/Shown-v0"
    for words in (["evaluate"], ["resume"], ["video", "--out", str(tmp_path / "clip.gif")]):
        assert main([words[0], str(out), *words[1:], "--allow-imports"]) == 2
        said = capsys.readouterr().err
        assert 'given from Python; "tests/Shown-v0" is only its name' in said
        assert said.count("\n") == 1
    there = opened(out, env=make)
    with pytest.raises(BadRequest, match='make it with render_mode="rgb_array"'):
        film.film(there, there.agent(), tmp_path / "clip.gif", 1, 0)
    drawn = lambda: Pale(gymnasium.make("tests/Shown-v0", render_mode="rgb_array"))
    there = opened(out, env=drawn)
    made = film.film(there, there.agent(), tmp_path / "clip.gif", 1, 0)
    assert made.played.lengths.tolist() == [3]
    assert greys(tmp_path / "clip.gif")[0] == [(START + STEP * t) // 8 + 200 for t in range(4)]


def test_a_wrapped_robot_is_drawn_without_a_screen_too(monkeypatch):
    asked = []
    monkeypatch.setattr(film, "choose_gl", lambda: asked.append(True))
    for name in ("mppo/SparseHopper-v0", "Hopper-v5"):
        for wrappers in ((), (Pale,)):
            envs = film._stage(env_source(name, wrappers=wrappers), (80, 60))
            inside = envs.envs[0].unwrapped if wrappers else envs
            base = inside if wrappers and name == "Hopper-v5" else inside.simulation.base
            assert (base.width, base.height) == (80, 60)
            envs.close()
    assert len(asked) == 4


def test_an_mp4_has_size_and_speed(run, tmp_path):
    import imageio_ffmpeg

    out = tmp_path / "clip.mp4"
    assert main(["video", str(run), "--out", str(out), "--fps", "5", "--size", "64x48"]) == 0
    decode = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(out)]
    decode += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    answer = subprocess.run(decode, capture_output=True, check=True, stdin=subprocess.DEVNULL)
    assert re.search(r"64x48\b.*\b5 fps", answer.stderr.decode())
    shown = np.frombuffer(answer.stdout, np.uint8).reshape(-1, 48 * 64 * 3).mean(1)
    there = opened(run)
    length = play(there, there.agent(), 1, there.described["seed"]).lengths[0]
    assert len(shown) == (length + 2) // 2  # every second of the 10 frames a second
    np.testing.assert_allclose(shown[:3], [START, START + 2 * STEP, START + 4 * STEP], atol=3)


def test_the_maze_needs_no_gl(tiny_run, tmp_path, monkeypatch):
    monkeypatch.setattr(film, "choose_gl", lambda: pytest.fail("asked for GL"))
    there = opened(tiny_run)
    short = there._replace(task=env_source("mppo/Maze-v0", horizon=5))
    made = film.film(short, there.agent(), tmp_path / "maze.gif", 1, seed=0)
    assert (made.size, made.played.lengths.tolist()) == ((428, 428), [5])
    first = first_frame(tmp_path / "maze.gif")
    red = (first[..., 0] > 180) & (first[..., 1] < 110)
    assert 100 < red.sum() < 200  # a disc of radius 7.2 pixels, in the lower left corner
    assert np.argwhere(red).min(0)[0] > 400
    assert np.argwhere(red).max(0)[1] < 24


def test_mujoco_is_drawn_without_a_screen(tmp_path, monkeypatch):
    if not any(film._loads(name) for names in film.LIBRARIES.values() for name in names):
        pytest.skip("no GL library")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setenv("MUJOCO_GL", os.environ.get("MUJOCO_GL", ""))  # put back afterwards
    on = env_source("Hopper-v5")
    architecture = architecture_of(mppo.METHODS["trpo"], on.spaces)
    agent = Agent(
        mppo.METHODS["trpo"], on.spaces, architecture, architecture.init(jax.random.key(0))
    )
    run = SimpleNamespace(
        task=on, architecture=architecture, iteration=0, described={"clip_actions": False}
    )
    made = film.film(run, agent, tmp_path / "hopper.gif", 1, 0, size=(80, 60))  # type: ignore
    assert made.size == (80, 60)
    assert made.fps == 25  # every fifth of 125 frames a second
    assert made.frames == made.played.lengths[0] // 5 + 1
    picture = first_frame(tmp_path / "hopper.gif")
    body = (picture[..., 0] - picture[..., 2] > 40).sum()
    assert body > 30  # something brown stands before the grey ground


def test_a_renderer_is_chosen(monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    for there, wanted in ((("libOSMesa.so.8", "libEGL.so.1"), "osmesa"), (("libEGL.so.1",), "egl")):
        monkeypatch.setenv("MUJOCO_GL", "")
        monkeypatch.setattr(film, "_loads", there.__contains__)
        film.choose_gl()
        assert os.environ["MUJOCO_GL"] == wanted
    monkeypatch.setenv("MUJOCO_GL", "")
    monkeypatch.setattr(film, "_loads", lambda name: False)
    with pytest.raises(BadRequest, match=r"apt-get install libosmesa6.*MUJOCO_GL=osmesa"):
        film.choose_gl()
    monkeypatch.setenv("MUJOCO_GL", "glfw")  # the user's own choice stays
    film.choose_gl()
    assert os.environ["MUJOCO_GL"] == "glfw"


def test_an_environment_without_pictures_is_named(run, tmp_path):
    there = opened(run)._replace(task=env_source("tests/Hidden-v0"))
    with pytest.raises(BadRequest, match=r'"tests/Hidden-v0" cannot be filmed.*"rgb_array"'):
        film.film(there, there.agent(), tmp_path / "clip.gif", 1, 0)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--out", "clip.avi"], "must end in .mp4 or .gif"),
        (["--out", "clip.gif", "--size", "big"], '--size: "big" is not a size'),
        (["--out", "clip.gif", "--episodes", "0"], "--episodes is 0; give at least 1"),
        (["--out", "clip.gif", "--deterministik"], 'did you mean "--deterministic"?'),
    ],
)
def test_bad_requests(tiny_run, words, says, capsys):
    assert main(["video", str(tiny_run), *words]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1


def test_a_missing_extra_is_named(tiny_run, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["video", str(tiny_run), "--out", str(tmp_path / "clip.mp4")]) == 2
    assert 'pip install "mppo[video]", or write a .gif' in capsys.readouterr().err
