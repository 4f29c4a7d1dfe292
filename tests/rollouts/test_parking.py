"""Episodes that go on for each path: the batches of one collector for each path, bit for bit."""

from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import TransformReward

from mppo import envs
from mppo.acting.spaces import Spaces
from mppo.algorithm.methods import METHODS
from mppo.envs.source import env_source
from mppo.files.evaluation import Evaluation
from mppo.files.settings import overridden
from mppo.rollouts.collector import Collector
from mppo.training.run import Run
from tests.rollouts.test_collector import actor_for

SEED, STEPS, GAMMA = 5, 30, 0.9
TURNS = [0, 1, 2, 0, 1, 2, 0, 0, 2, 1]


def collector(env, episodes):
    vector = envs.native_vector(env, 2)
    there = Spaces(vector.single_observation_space, vector.single_action_space, env)
    made = Collector(vector, there, STEPS, SEED, episodes, clip=True, gamma=GAMMA)
    return made, [actor_for(there.observation_size, there.head)] * 3


def of_others(episodes):
    """Environments that are not ours and can tell their state."""
    on = env_source(lambda: TransformReward(gymnasium.make("Hopper-v5"), lambda paid: 2 * paid))
    assert not on.native
    made = Collector(on.make(2), on.spaces, STEPS, SEED, episodes, clip=True, gamma=GAMMA)
    return made, [actor_for(on.spaces.observation_size, on.spaces.head)] * 3


def assert_equal(one, other):
    for left, right in zip((*one[:-1], *one.earlier), (*other[:-1], *other.earlier), strict=True):
        assert left.tobytes() == right.tobytes()


OURS = ("Hopper-v5", "mppo/Maze-v0", "mppo/SparseCartPoleSwingup-v0")


@pytest.mark.parametrize("make", [*(partial(collector, env) for env in OURS), of_others])
def test_paths_in_turn_see_what_each_would_see_alone(make):
    together, actors = make("continue-per-path")
    alone = [make("continue")[0] for _ in range(3)]
    ended, carried = 0, 0
    for n, path in enumerate(TURNS):
        seen = together(actors[path], path, n)
        assert_equal(seen, alone[path](actors[path], path, n))
        ended += int((seen.terminated | seen.truncated).sum())
        carried = max(carried, int(seen.earlier.length.max()))
    assert carried >= STEPS or ended > 3  # episodes were cut, and counted from their start
    for one in (together, *alone):
        one.close()


def test_a_state_brings_all_paths_back():
    whole, actors = collector("Hopper-v5", "continue-per-path")
    wanted = [whole(actors[path], path, n) for n, path in enumerate(TURNS)]
    first, _ = collector("Hopper-v5", "continue-per-path")
    for n, path in enumerate(TURNS[:5]):
        first(actors[path], path, n)
    kept = {name: array.copy() for name, array in first.get_state().items()}
    assert {name.split(".")[1] for name in kept if name.startswith("parked.")} == {"0", "2"}
    second, _ = collector("Hopper-v5", "continue-per-path")
    second.set_state(kept)
    for n in range(5, len(TURNS)):
        assert_equal(second(actors[TURNS[n]], TURNS[n], n), wanted[n])
    broken = kept | {"parked.2.now": np.zeros(3)}
    with pytest.raises(ValueError, match=r"state\['now'\]"):
        second.set_state(broken)
    second.forget()
    fresh, _ = collector("Hopper-v5", "fresh")
    assert_equal(second(actors[0], 0, 20), fresh(actors[0], 0, 20))
    for one in (whole, first, second, fresh):
        one.close()


def test_multi_with_a_share_of_the_batch_for_each_path():
    """N = 400 over K = 4 paths: 100 samples each in turn, and J counts whole episodes."""
    small = {"network.hidden": (4,), "critic.network.hidden": (4,), "paths": 4}
    share = small | {"batch_size": 100, "envs": 1, "episodes": "continue-per-path"}
    method = overridden(METHODS["multi-trpo"], share)
    run = Run(method, env_source("mppo/Maze-v0", horizon=150), 1200, 3, Evaluation(0), workers=1)
    rows = [run.iterate() for _ in range(12)]
    assert [row["picked"] for row in rows] == [0, 1, 2, 3] * 3
    assert rows[3]["steps"] == 400  # all four in what is one iteration of the others
    # 100 steps end no episode of 150; the second hundred of each path does, with its first half
    assert [row["episodes"] for row in rows] == [0] * 4 + [1] * 8
    assert [row["length_mean"] for row in rows[4:]] == [150.0] * 8
    run.close()


def test_what_a_race_leaves_is_not_kept():
    one, actors = collector("mppo/Maze-v0", "continue-per-path")
    one(actors[:2], -1, 0)  # a policy in each environment, of no path yet
    one(actors[0], 0, 1)
    one(actors[1], 1, 2)
    parked = {name.split(".")[1] for name in one.get_state() if name.startswith("parked.")}
    assert parked == {"0"}
    one.close()
