"""No bonus is the identity of both hooks."""

import jax
import numpy as np

from mppo.algorithm.exploration.none import NoBonus, no_bonus
from tests.worlds import CHOOSING, random_trajectories


def test_no_bonus_adds_nothing():
    rule, seen = NoBonus(), random_trajectories(0)
    state = rule.init(CHOOSING, jax.random.key(0))
    assert state == ()
    np.testing.assert_array_equal(rule.reward(CHOOSING, state, seen), seen.rewards)
    assert rule.bonus(CHOOSING, state) is no_bonus
    assert float(no_bonus(None, seen.observations)) == 0.0
    assert rule.update(CHOOSING, state, None, None, seen, jax.random.key(0)) == ((), {})
