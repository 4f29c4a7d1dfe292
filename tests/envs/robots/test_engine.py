import logging

import gymnasium
import numpy as np

from mppo.envs.robots.engine import BAD_NUMBERS, bad_numbers, mujoco, quieten, uses_mujoco


def test_the_names_are_mujoco_s():
    assert list(BAD_NUMBERS) == ["BADQPOS", "BADQVEL", "BADQACC", "BADCTRL"]
    for name, index in BAD_NUMBERS.items():
        assert str(mujoco.mjtWarning(index)).endswith(f"mjWARN_{name}")


def test_bad_numbers_are_counted_until_the_reset(tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    quieten()
    env = gymnasium.make("Hopper-v5").unwrapped
    env.reset(seed=0)
    assert uses_mujoco(env)
    warned = lambda: bad_numbers(env.data)
    assert warned() == {}
    with caplog.at_level(logging.DEBUG, "mppo.envs.mujoco"):
        env.step(np.full(3, np.nan))
    assert warned()["BADCTRL"] >= env.frame_skip
    assert "CTRL" in caplog.text  # logged, and not into a file
    assert list(tmp_path.iterdir()) == []
    env.reset()
    assert warned() == {}


def test_other_environments_have_no_warnings():
    assert not uses_mujoco(gymnasium.make("CartPole-v1"))
