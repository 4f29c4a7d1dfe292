"""Environments of others: what breaks Gymnasium's contract stops the run in its step."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from mppo.envs.checked import CheckedVectorEnv
from mppo.errors import EnvironmentFault


class Liar(gymnasium.Env):
    """Answers properly until its third step; then one part of the answer is replaced."""

    observation_space = spaces.Box(-9, 9, (2,), np.float32)
    action_space = spaces.Box(-1, 1, (1,), np.float32)

    def __init__(self, part=None, lie=None):
        self.part, self.lie, self.time = part, lie, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        if self.part == "reset":
            return self.lie
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.time += 1
        answer = [np.full(2, self.time, np.float32), 1.0, False, False, {}]
        if self.time == 3 and self.part == "all":
            return self.lie
        if self.time == 3 and isinstance(self.part, int):
            answer[self.part] = self.lie
        if self.time == 3 and self.part == "raise":
            raise RuntimeError("motor on fire")
        return tuple(answer)


def play(part, lie):
    envs = CheckedVectorEnv([Liar, lambda: Liar(part, lie)], "Liar-v0")
    envs.reset(seed=4)
    for _ in range(3):
        outcome = envs.step(np.full((2, 1), 0.5, np.float32))
    return outcome


LIES = [
    (0, np.array([1.0, np.nan], np.float32), "observation = array([ 1., nan]"),
    (0, np.array([np.inf, -np.inf], np.float32), "observation = array([ inf, -inf]"),
    (0, np.zeros(3, np.float32), "observation's shape (not (2,)) = (3,)"),
    (0, np.zeros(2, np.complex64), "observation's type (not float32) = dtype('complex64')"),
    (0, {"x": 1}, "observation = {'x': 1}"),
    (1, np.nan, "reward = nan"),
    (1, np.zeros(2), "reward = array([0., 0.])"),
    (1, "much", "reward = 'much'"),
    (2, 0.5, "terminated = 0.5"),
    (3, None, "truncated = None"),
    (4, [], "info = []"),
    ("all", (1, 2), "answer of step = (1, 2)"),
    ("raise", None, "exception in step = \"RuntimeError('motor on fire')\""),
]


@pytest.mark.parametrize(("part", "lie", "told"), LIES)
def test_a_lie_is_named_with_all_that_is_needed_to_see_it_again(part, lie, told):
    with pytest.raises(EnvironmentFault) as caught:
        play(part, lie)
    message = str(caught.value)
    assert f'environment "Liar-v0" broke its contract: {told}' in message
    where = "environment 1, reset with seed 5, episode 0 after that, step 3, last action [0.5]"
    assert where in message


@pytest.mark.parametrize(
    ("lie", "told"),
    [
        (np.zeros(2), "answer of reset"),
        ((np.full(2, np.nan, np.float32), {}), "observation"),
        ((np.zeros(2, np.float32), None), "info = None"),
    ],
)
def test_a_lie_at_the_reset(lie, told):
    with pytest.raises(EnvironmentFault, match=f"{told}.*step 0, last action None"):
        play("reset", lie)


@pytest.mark.parametrize(
    ("part", "harmless"),
    [(0, [3, 3]), (1, np.float32(1)), (1, np.array(1.0)), (2, np.bool_(False)), (3, 0)],
)
def test_what_can_be_meant_is_no_lie(part, harmless):
    seen, rewards, terminated, truncated, _ = play(part, harmless)
    assert (seen == 3).all()
    assert rewards.tolist() == [1.0, 1.0]
    assert not (terminated | truncated).any()


def test_steps_are_those_of_gymnasium_s_vector_environment():
    space = spaces.Dict({"a": spaces.Box(-9, 9, (2,), np.float32), "b": spaces.Discrete(3)})

    class Both(Liar):
        observation_space = space

        def reset(self, *, seed=None, options=None):
            seen, info = super().reset(seed=seed)
            return {"a": seen, "b": 2}, info

        def step(self, action):
            seen, *rest = super().step(action)
            return {"a": seen, "b": self.time % 3}, *rest

    ours = CheckedVectorEnv([Both] * 3, "Both-v0")
    theirs = SyncVectorEnv([Both] * 3, autoreset_mode=AutoresetMode.DISABLED)
    assert ours.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    ours.reset(seed=1), theirs.reset(seed=1)
    for _ in range(4):
        mine, other = (envs.step(np.zeros((3, 1), np.float32)) for envs in (ours, theirs))
        for key in space:
            np.testing.assert_array_equal(mine[0][key], other[0][key])
        for one, two in zip(mine[1:4], other[1:4], strict=True):
            np.testing.assert_array_equal(one, two)
    seen, _ = ours.reset(options={"reset_mask": np.array([False, True, False])})
    assert seen["a"][:, 0].tolist() == [4.0, 0.0, 4.0]


def test_an_array_that_is_given_again_is_copied():
    class Reused(Liar):
        seen = np.zeros(2, np.float32)

        def step(self, action):
            self.seen += 1
            return self.seen, 0.0, False, False, {}

    envs = CheckedVectorEnv([Reused], "Reused-v0")
    envs.reset(seed=0)
    first = envs.step(np.zeros((1, 1), np.float32))[0]
    envs.step(np.zeros((1, 1), np.float32))
    assert first.tolist() == [[1.0, 1.0]]


def test_mujoco_s_bad_numbers_are_a_fault(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make = lambda: gymnasium.make("Hopper-v5", disable_env_checker=True)
    envs = CheckedVectorEnv([make], "Hopper-v5")
    envs.reset(seed=0)
    envs.envs[0].unwrapped.data.qvel[0] = 1e11
    with pytest.raises(EnvironmentFault, match=r"MuJoCo's warnings = .*BADQVEL"):
        envs.step(np.zeros((1, 3), np.float32))
    envs.close()
    assert list(tmp_path.iterdir()) == []
