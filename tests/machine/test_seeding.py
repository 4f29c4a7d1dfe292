"""Streams: distinct, and independent of how many others there are."""

import itertools

import numpy as np

from mppo.machine.seeding import Role, generator, integer, sequence


def test_10_000_streams_without_collision():
    keys = list(itertools.product(range(7), Role, range(12), range(20)))
    assert len(keys) >= 10_000
    states = {sequence(*key).generate_state(4).tobytes() for key in keys}
    assert len(states) == len(keys)
    draws = {generator(*key).standard_normal(2).tobytes() for key in keys}
    assert len(draws) == len(keys)


def test_shorter_and_longer_names_are_different_streams():
    names = [(), (0,), (0, 0), (0, 0, 0), (1,), (1, 0), (0, 1)]
    states = {sequence(0, Role.ACTIONS, *name).generate_state(4).tobytes() for name in names}
    assert len(states) == len(names)


def test_adding_environments_or_iterations_changes_no_other_stream():
    """A stream is named, not counted: drawing from others before does not matter."""
    alone = generator(5, Role.ENVIRONMENT, 3, 1).standard_normal(8)
    many = [generator(5, Role.ENVIRONMENT, n, e) for n in range(4) for e in range(6)]
    for stream in many:
        stream.standard_normal(100)
    np.testing.assert_array_equal(generator(5, Role.ENVIRONMENT, 3, 1).standard_normal(8), alone)


def test_neighbouring_seeds_share_no_environment():
    """With seed + i they would: seeds 0 ... 5 with 5 environments share 4 of 5."""
    seeds = [integer(seed, Role.ENVIRONMENT, 0, e) for seed in range(6) for e in range(5)]
    assert len(set(seeds)) == 30


def test_integers_fit_an_environment_s_reset():
    found = [integer(s, Role.EVALUATION_ENVIRONMENT, n) for s in range(20) for n in range(50)]
    assert min(found) >= 0
    assert max(found) < 2**31
    assert len(set(found)) == 1000
    assert np.mean(found) / 2**31 - 0.5 < 0.03


def test_role_numbers_are_part_of_the_format():
    assert {role.name: int(role) for role in Role} == {
        "PARAMETERS": 0,
        "ACTIONS": 1,
        "ENVIRONMENT": 2,
        "EVALUATION_ACTIONS": 3,
        "EVALUATION_ENVIRONMENT": 4,
        "PREDICTION": 5,
    }


def test_a_stream_never_changes():
    """Written down once: a run of an old version must be repeatable."""
    assert integer(0, Role.ENVIRONMENT, 0, 0) == FIRST
    assert integer(1, Role.EVALUATION_ENVIRONMENT, 2, 3) == SECOND


FIRST, SECOND = 1226853073, 1604846506
