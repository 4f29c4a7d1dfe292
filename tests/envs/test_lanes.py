"""Any environment as a lane: the bits of stepping it in a vector environment, the same faults."""

import copy

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from mppo.acting.spaces import Spaces
from mppo.envs.capture import checked_vector
from mppo.envs.lanes import StepLane, lanes_for
from mppo.envs.source import env_source
from mppo.errors import EnvironmentFault
from mppo.rollouts.collector import Collector
from mppo.rollouts.evaluator import Evaluator
from tests.envs.test_checked import LIES, Liar
from tests.rollouts.test_collector import actor_for
from tests.worlds import Anything, ledge

MIXED = spaces.Dict({"a": spaces.Box(-1, 1, (2,), np.float64), "b": spaces.Discrete(3)})
BOTH = spaces.Tuple((spaces.Discrete(2), spaces.Box(-1, 1, (2,), np.float32)))
WORLDS = {
    "CartPole-v1": "CartPole-v1",
    "Pendulum-v1": "Pendulum-v1",
    "Blackjack-v1": "Blackjack-v1",
    "ledge": ledge,
    "mixed": lambda: Anything(copy.deepcopy(MIXED), spaces.Box(-1, 1, (1,), np.float64), length=5),
    "both": lambda: Anything(spaces.Discrete(4), copy.deepcopy(BOTH), length=3),
    "Hopper-v4": "Hopper-v4",
}
pytestmark = pytest.mark.filterwarnings("ignore:.*Hopper-v4 is out of date")


def without_lanes(runner):
    """The same, stepped as a whole."""
    runner._all_lanes = runner._lanes = ()
    return runner


@pytest.mark.parametrize("name", WORLDS)
def test_batches_are_those_of_a_vector_environment(name):
    on = env_source(WORLDS[name])
    actor = actor_for(on.spaces.observation_size, on.spaces.head)
    make = lambda workers=1: Collector(on.make(3), on.spaces, 300, 5, clip=True, workers=workers)
    whole, lanes = without_lanes(make()), make()
    threads = make(2) if name == "Hopper-v4" else lanes
    assert isinstance(lanes._all_lanes[0], StepLane)
    for n in range(2):
        wanted = whole(actor, 0, n)
        for found in (lanes(actor, 0, n), threads(actor, 0, n)):
            for one, other in zip(wanted[:-1], found[:-1], strict=True):
                assert one.tobytes() == other.tobytes()
    assert (wanted.terminated | wanted.truncated).any()


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("name", ["CartPole-v1", "both"])
def test_evaluations_are_those_of_a_vector_environment(name, deterministic):
    on = env_source(WORLDS[name])
    actor = actor_for(on.spaces.observation_size, on.spaces.head)
    whole, lanes = (Evaluator(on.make(3), on.spaces, 5, clip=True) for _ in range(2))
    without_lanes(whole)
    wanted, found = (each.play(actor, 2, 7, deterministic) for each in (whole, lanes))
    for one, other in zip(wanted, found, strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize(("part", "lie", "told"), LIES)
@pytest.mark.parametrize("steps", [3, 9], ids=["last", "amid"])
def test_a_lie_is_named_with_its_step(part, lie, told, steps):
    """Wherever in a stretch it comes, though some things are looked at after many steps."""
    there = Spaces(Liar.observation_space, Liar.action_space, "Liar-v0")
    vector = checked_vector([Liar, lambda: Liar(part, lie)], "Liar-v0")
    collect = Collector(vector, there, steps, 0)
    with pytest.raises(EnvironmentFault) as caught:
        collect(actor_for(2, there.head), 0, 0)
    message = str(caught.value)
    assert f'environment "Liar-v0" broke its contract: {told}' in message
    assert "environment 1, reset with seed" in message
    assert "episode 0 after that, step 3, last action [" in message


def test_a_bad_first_observation_is_named_before_a_step():
    there = Spaces(Liar.observation_space, Liar.action_space, "Liar-v0")
    lie = np.full(2, np.nan, np.float32), {}
    vector = checked_vector([lambda: Liar("reset", lie)], "Liar-v0")
    with pytest.raises(EnvironmentFault, match=r"observation = .*step 0, last action None"):
        Collector(vector, there, 5, 0)(actor_for(2, there.head), 0, 0)


def test_bad_numbers_inside_mujoco_are_named_in_their_step():
    """It would go on from the start pose as if nothing had happened."""

    class Bad(gymnasium.Wrapper):
        """Once its actions are no numbers, which its answer does not show."""

        steps, answer = 0, None

        def step(self, action):
            self.steps += 1
            answer = self.env.step(np.full(3, np.nan) if self.steps == 4 else action)
            self.answer = self.answer if self.steps == 4 else answer
            return self.answer

    on = env_source(lambda: Bad(gymnasium.make("Hopper-v5", terminate_when_unhealthy=False)))
    for steps in (4, 30):
        collect = Collector(on.make(1), on.spaces, steps, 0)
        with pytest.raises(EnvironmentFault, match=r"(?s)MuJoCo's warnings = .*BADCTRL.*step 4,"):
            collect(actor_for(11, on.spaces.head), 0, 0)


def test_environments_that_show_the_same_array_again_and_again():
    class Reused(Liar):
        seen = np.zeros(2, np.float32)

        def step(self, action):
            answer = super().step(action)
            self.seen[:] = answer[0]
            return self.seen, *answer[1:]

    there = Spaces(Liar.observation_space, Liar.action_space, "Reused-v0")
    found = Collector(checked_vector([Reused], "Reused-v0"), there, 6, 0)(
        actor_for(2, there.head), 0, 0
    )
    assert found.observations[0, 1:, 0].tolist() == [1, 2, 3, 4, 5]
    assert found.next_observations[0, :, 1].tolist() == [1, 2, 3, 4, 5, 6]


def test_only_mujoco_runs_in_threads():
    on = env_source("CartPole-v1")
    assert [lane.parallel for lane in lanes_for(on.make(2), on.spaces)] == [False, False]
    on = env_source(lambda: gymnasium.make("Hopper-v5"))
    assert [lane.parallel for lane in lanes_for(on.make(2), on.spaces)] == [True, True]


def test_networks_that_compiled_code_cannot_run_are_stepped_as_a_whole():
    on = env_source("CartPole-v1")
    actor = actor_for(4, on.spaces.head)
    collect = Collector(on.make(2), on.spaces, 20, 5)
    wanted = collect(actor, 0, 0)
    net = actor.network
    actor.network, actor._outputs = (
        None,
        lambda x: __import__("mppo.acting.kernel", fromlist=["outputs"]).outputs(net, x),
    )
    found = collect(actor, 0, 0)
    assert not collect._lanes
    for one, other in zip(wanted[:-1], found[:-1], strict=True):
        assert one.tobytes() == other.tobytes()
