"""Actions by one call in compiled code are those of the actor and of the spaces, bit for bit."""

import jax
import numpy as np
import pytest
from gymnasium import spaces

from mppo.acting.actor import Actor
from mppo.acting.choosing import CHOSEN, ODD, WARNED, Chooser
from mppo.acting.spaces import Spaces
from mppo.algorithm.filters import Filter
from mppo.algorithm.networks import Mlp
from mppo.algorithm.policies import Architecture, Policy

SEEN = spaces.Box(-1, 1, (3,), np.float32)
STEPS = 40
ACTIONS = {
    "float32": spaces.Box(-0.5, 0.4, (2,), np.float32),
    "float64": spaces.Box(-0.3, 0.7, (2, 2), np.float64),
    "choice": spaces.Discrete(5, start=-2),
    "choices": spaces.MultiDiscrete([3, 2, 4], start=[1, 0, -1]),
    "both": spaces.Tuple((spaces.Discrete(3), spaces.Box(-1, 1, (2,)), spaces.MultiBinary(2))),
}


def actor_of(head, seed=0):
    architecture = Architecture(3, head, Mlp((5, 4)))
    shapes = jax.eval_shape(architecture.init, jax.random.key(0)).parameters
    rng = np.random.default_rng(seed)
    draw = lambda leaf: rng.normal(size=leaf.shape).astype(np.float32)
    seen = Filter(np.float32(9), np.full(3, 0.1, np.float32), np.full(3, 4.0, np.float32))
    return Actor(architecture, Policy(jax.tree.map(draw, shapes), seen))


def chooser_of(space, actor, low=-1.0, high=1.0):
    now = np.zeros(3, np.float32)
    made = Chooser(space, now, np.full(3, low, np.float32), np.full(3, high, np.float32))
    made.use(actor)
    size = actor.head.size
    rows = np.empty((STEPS, 3), np.float32), np.empty((STEPS, size), np.float32)
    noise = actor.noise(np.random.default_rng(3), STEPS)
    made.aim(noise, *rows, np.zeros(STEPS))
    return made, now, noise, *rows


@pytest.mark.parametrize("clips", [False, True])
@pytest.mark.parametrize("name", ACTIONS)
def test_actions_are_those_of_the_actor(name, clips):
    there = Spaces(SEEN, ACTIONS[name])
    actor = actor_of(there.head)
    made, now, noise, observations, taken = chooser_of(there.action, actor)
    for start in (0, 17):
        given, first, stop = made.room(start, STEPS, clips)
        assert stop == STEPS
        rng = np.random.default_rng(start)
        for t in range(start, STEPS):
            now[:] = rng.uniform(-1, 1, 3)
            assert made.choose(made.address, t, 0) == CHOSEN
            assert observations[t].tobytes() == now.tobytes()
            assert taken[t].tobytes() == actor.act(now, noise[t]).tobytes()
            if made.form.kind:
                wanted = there.to_env_one(taken[t], clips)
                assert given[t - first].tobytes() == wanted.tobytes()
                assert type(given[t - first]) is type(wanted)
                assert given[t - first].dtype == wanted.dtype
        made.used(STEPS - start)
    assert (made.form.kind == 0) == (name == "both")


def test_what_lies_at_or_beyond_the_bounds_is_odd():
    actor = actor_of(Spaces(SEEN, ACTIONS["choice"]).head)
    made, now, _, observations, _ = chooser_of(ACTIONS["choice"], actor)
    made.room(0, STEPS, False)
    observations[:] = 7
    for odd in (1.0, -1.0, np.nan, np.inf):
        now[:] = [0.5, odd, 0]
        assert made.choose(made.address, 2, 0) == ODD
        assert (observations[2] == 7).all()
    now[1] = 1.0
    assert made.choose(made.address, 2, 1) == CHOSEN
    assert observations[2].tolist() == [0.5, 1.0, 0.0]


def test_counters_are_looked_at_first():
    actor = actor_of(Spaces(SEEN, ACTIONS["choice"]).head)
    made, _, _, _, _ = chooser_of(ACTIONS["choice"], actor)
    made.room(0, STEPS, False)
    counters = np.zeros(8, np.int32)
    made.watch(counters, np.array([2, 5]))
    counters[3] = 1
    assert made.choose(made.address, 0, 0) == CHOSEN
    counters[5] = 1
    assert made.choose(made.address, 0, 1) == WARNED


def test_a_score_that_is_no_number_is_chosen_as_numpy_does():
    actor = actor_of(Spaces(SEEN, ACTIONS["choices"]).head)
    made, now, noise, _, taken = chooser_of(ACTIONS["choices"], actor)
    made.room(0, STEPS, False)
    noise[0, 2] = noise[1, [0, 2]] = np.nan
    for t in range(2):
        assert made.choose(made.address, t, 0) == CHOSEN
        assert taken[t].tolist() == actor.act(now, noise[t]).tolist()
    assert [taken[0, 0], taken[1, 0]] == [2.0, 0.0]


def test_no_action_is_written_over():
    """Environments may keep what they were given."""
    actor = actor_of(Spaces(SEEN, ACTIONS["float32"]).head)
    made, *_ = chooser_of(ACTIONS["float32"], actor)
    kept = []
    for _ in range(2 * made.ROOM // STEPS):
        given, first, stop = made.room(0, STEPS, False)
        for t in range(stop):
            assert made.choose(made.address, t, 0) == CHOSEN
            kept.append((given[t - first], given[t - first].tolist()))
        made.used(stop)
    assert all(now.tolist() == then for now, then in kept)


def test_settling_looks_at_everything():
    actor = actor_of(Spaces(SEEN, ACTIONS["choice"]).head)
    made, now, noise, observations, taken = chooser_of(ACTIONS["choice"], actor)
    for dtype in (np.float32, np.float64):
        rewards = np.zeros(STEPS, dtype)
        made.aim(noise, observations, taken, rewards)
        assert made.settle(made.address, 0, STEPS) == 0
        rewards[7] = np.inf
        assert made.settle(made.address, 0, 7) == made.settle(made.address, 8, STEPS) == 0
        assert made.settle(made.address, 7, 8) == 1
    now[0] = np.nan
    assert made.settle(made.address, 0, 7) == 1
