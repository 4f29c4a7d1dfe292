"""An environment that hangs in this process is named, and others are left alone."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import mppo
from mppo.envs.checked import CheckedEnv
from mppo.errors import EnvironmentFault
from mppo.rollouts import watching
from mppo.rollouts.watching import Watch


class Sleeper(gymnasium.Env):
    """Step n takes `naps[n]` seconds, every other one none; it catches what it can."""

    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, naps=(), resets=0.0, deaf=False):
        self.naps, self.resets, self.deaf = dict(naps), resets, deaf

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        time.sleep(self.resets)
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.time += 1
        if self.deaf:
            signal.pthread_sigmask(signal.SIG_BLOCK, {watching.SIGNAL})
        with contextlib.suppress(Exception):
            time.sleep(self.naps.get(self.time, 0))
        return np.zeros(2, np.float32), 0.0, self.time >= 20, False, {}


def played(env, limit=0.5, steps=9):
    checked = CheckedEnv(env, "Sleeper", 3)
    watch = Watch([checked], limit)
    try:
        with watch:
            checked.reset(7)
            for _ in range(steps):
                checked.step(0)
    finally:
        watch.close()
    return checked.steps


def test_a_step_that_hangs_is_named_in_time():
    began, before = time.monotonic(), signal.getsignal(watching.SIGNAL)
    said = r'environment "Sleeper" hangs: environment 3, reset with seed 7, episode 0 after that, '
    with pytest.raises(EnvironmentFault, match=said + r"step 5 has taken more than 0.5 s"):
        played(Sleeper({1: 0.1, 5: 60.0}))
    assert time.monotonic() - began < 20
    assert signal.getsignal(watching.SIGNAL) == before


def test_the_first_reset_has_as_long_as_a_worker_has(monkeypatch):
    assert played(Sleeper(resets=0.8)) == 9
    monkeypatch.setattr(watching, "START", 0.6)
    with pytest.raises(EnvironmentFault, match=r"its reset has taken more than 0\.6 s"):
        played(Sleeper(resets=60.0))


def test_slow_steps_are_no_hanging_ones():
    assert played(Sleeper(dict.fromkeys(range(1, 10), 0.1))) == 9


def test_without_a_limit_or_outside_of_the_main_thread_nobody_watches():
    assert played(Sleeper({5: 0.5}), limit=0.0) == 9
    found = []
    thread = threading.Thread(target=lambda: found.append(played(Sleeper({5: 0.5}), limit=0.1)))
    thread.start()
    thread.join()
    assert found == [9]


def test_what_takes_time_beside_the_environments_is_not_theirs():
    checked = CheckedEnv(Sleeper(), "Sleeper")
    watch = Watch([checked], 0.1)
    with watch:
        checked.reset(7)
        checked.step(0)
        time.sleep(0.5)  # compiling, say
        checked.step(0)
    watch.close()


def test_the_thread_ends_with_what_it_watches():
    watch = Watch([CheckedEnv(Sleeper(), "Sleeper")], 0.1)
    with watch:
        thread = watch._thread
        assert thread.is_alive()
    gone = weakref.ref(watch)
    del watch
    thread.join(20)
    assert not thread.is_alive()
    assert gone() is None


@pytest.mark.parametrize("evaluated", [False, True])
def test_a_run_ends_with_the_name_and_keeps_what_it_has(tmp_path, evaluated):
    small = {"batch_size": 32, "envs": 1, "network.hidden": (4,), "critic.network.hidden": (4,)}
    naps = {} if evaluated else {17: 60.0}
    made = []

    def make():
        made.append(None)
        return Sleeper({17: 60.0} if evaluated and len(made) > 2 else naps)

    with pytest.raises(EnvironmentFault, match=r"hangs: .* step 17 has taken more than 0.5 s"):
        mppo.train("ppo", make, steps=64, out=tmp_path / "run", overrides=small, workers=1,
                   step_timeout=0.5, eval_every=32, eval_episodes=1)  # fmt: skip
    assert (tmp_path / "run" / "run.json").exists()


SCRIPT = """
import sys
sys.path.insert(0, {root!r})
from mppo.rollouts import watching
from tests.rollouts.test_watching import Sleeper, played
watching.GRACE = 0.3
played(Sleeper({{5: 60.0}}, deaf=True))
"""


def test_a_process_that_cannot_be_woken_ends_with_one_line():
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    call = [sys.executable, "-c", SCRIPT.format(root=root)]
    done = subprocess.run(call, capture_output=True, text=True, timeout=60)
    assert done.returncode == EnvironmentFault.exit_code
    (line,) = done.stderr.splitlines()
    assert line.startswith('mppo: environment "Sleeper" hangs: environment 3')
