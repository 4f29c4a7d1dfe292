"""MuJoCo environments of others go on from arrays, bit for bit, where a trial proves it."""

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import ClipAction, TransformReward

from mppo.envs.capture import CapturedVectorEnv, captured, checked_vector, proven
from mppo.envs.contract import Resumable
from mppo.envs.source import env_source
from mppo.rollouts.collector import Collector
from tests.rollouts.test_collector import actor_for
from tests.worlds import ledge

pytestmark = pytest.mark.filterwarnings("ignore:.*Hopper-v4 is out of date")


def hopper():
    made = gymnasium.make("Hopper-v4", disable_env_checker=True)
    return ClipAction(TransformReward(made, lambda reward: 2 * reward))


class Counting(gymnasium.Wrapper):
    """Pays by what it keeps in Python."""

    def __init__(self, env, kept):
        super().__init__(env)
        self.kept, self.sums, self.noted = kept, np.zeros(3), {"steps": [0, 1.5], 4: (None, "x")}

    def step(self, action):
        seen, _, *rest = self.env.step(action)
        self.sums += seen[:3]
        self.noted = {**self.noted, "steps": [self.noted["steps"][0] + 1, float(seen[0])]}
        paid = self.sums.sum() + self.noted["steps"][0] + self.np_random.random()
        return seen, paid, *rest


def counting(kept=None):
    return Counting(gymnasium.make("Hopper-v5", disable_env_checker=True), kept)


@pytest.mark.parametrize("make", [hopper, counting])
def test_batches_go_on_where_they_were(make):
    on = env_source(make)
    assert on.resumes
    assert not on.native
    actor = actor_for(11, on.spaces.head)
    collect = lambda: Collector(on.make(2), on.spaces, 37, 5, "continue", clip=True)
    one = collect()
    one(actor, 0, 0)
    state = {name: array.copy() for name, array in one.get_state().items()}
    wanted = [one(actor, 0, n) for n in (1, 2)]
    other = collect()
    other(actor, 0, 9)
    other.set_state(state)
    for n, batch in enumerate(wanted, 1):
        for mine, theirs in zip(other(actor, 0, n)[:-1], batch[:-1], strict=True):
            assert mine.tobytes() == theirs.tobytes()
    with pytest.raises((KeyError, ValueError)):
        other.set_state({name: state[name] for name in list(state)[1:]})


def test_what_cannot_be_told_is_not_proven():
    """A generator of Python's, and numbers outside of the environment."""
    assert not proven(checked_vector([lambda: counting(iter([1, 2]))] * 2, "Counting-v0"))

    class Hidden(gymnasium.Wrapper):
        count = 0  # of the class: shared by all, and not seen

        def step(self, action):
            Hidden.count += 1
            seen, paid, *rest = self.env.step(action)
            return seen, paid + Hidden.count, *rest

    vector = checked_vector([lambda: Hidden(gymnasium.make("Hopper-v5"))] * 2, "Hidden-v0")
    assert not proven(vector)


def test_other_environments_start_anew_after_a_checkpoint():
    vector = checked_vector([ledge] * 2, "Ledge")
    assert not isinstance(vector, Resumable)
    assert not env_source(ledge).resumes
    assert not env_source("CartPole-v1").resumes
    assert env_source("Hopper-v5").resumes


def test_of_arrays_alone():
    vector = checked_vector([counting], "Counting-v0")
    assert type(vector) is CapturedVectorEnv
    vector.reset(seed=1)
    for name, array in captured(vector.envs[0]).items():
        assert isinstance(array, np.ndarray), name
        assert array.dtype != object


def test_mazes_of_gymnasium_robotics():
    robotics = pytest.importorskip("gymnasium_robotics")
    gymnasium.register_envs(robotics)
    on = env_source("PointMaze_UMaze-v3")
    assert on.spaces.observation_size == 8
    assert on.resumes
