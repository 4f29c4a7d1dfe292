import gymnasium
import numpy as np
import pytest

from mppo.envs import native_vector
from mppo.envs.checked import CheckedVectorEnv
from mppo.envs.contract import (
    Resumable,
    check_choice,
    check_count,
    check_positive,
    checked_state,
    fresh_generator,
    generator_words,
    reset_indices,
    seeds_for,
    set_generator_words,
)
from tests.worlds import ledge


def test_checks_return_what_they_allow():
    assert check_positive("speed", np.float32(0.5)) == 0.5
    assert check_count("envs", np.int64(3)) == 3
    assert check_choice("goal", "top", ("top", "side")) == "top"


@pytest.mark.parametrize("value", [0, -1.0, True, "2", np.nan])
def test_what_is_not_positive(value):
    with pytest.raises(ValueError, match=r"speed is .*; allowed: a number above 0"):
        check_positive("speed", value)


@pytest.mark.parametrize("value", [0, -3, 1.5, True, "9"])
def test_what_does_not_count(value):
    with pytest.raises(ValueError, match=r"envs is .*; allowed: a whole number, 1 or more"):
        check_count("envs", value)


def test_what_cannot_be_chosen():
    with pytest.raises(ValueError, match="goal is 'up'; allowed: top, side"):
        check_choice("goal", "up", ("top", "side"))


def test_reset_indices():
    assert list(reset_indices(None, 3)) == list(reset_indices({}, 3)) == [0, 1, 2]
    assert reset_indices({"reset_mask": np.array([True, False, True])}, 3) == [0, 2]
    with pytest.raises(ValueError, match="selects no sub-environment"):
        reset_indices({"reset_mask": np.zeros(3, bool)}, 3)
    with pytest.raises(ValueError, match=r"a bool array of shape \(3,\)"):
        reset_indices({"reset_mask": np.ones(2, bool)}, 3)


def test_checked_state():
    like = {"a": np.zeros(2), "b": np.array(1)}
    assert checked_state({"a": [1.0, 2.0], "b": np.array(5)}, like)["b"] == 5
    with pytest.raises(ValueError, match=r"state holds \['a'\]; allowed: \['a', 'b'\]"):
        checked_state({"a": np.zeros(2)}, like)
    with pytest.raises(ValueError, match=r"state\['a'\] is float64 of shape \(3,\); allowed"):
        checked_state({"a": np.zeros(3), "b": np.array(1)}, like)


def test_who_can_be_stored():
    assert isinstance(native_vector("mppo/Maze-v0", 1), Resumable)
    assert not isinstance(CheckedVectorEnv([ledge], "Ledge"), Resumable)


def test_generator_words():
    generator = np.random.Generator(np.random.PCG64(8))
    generator.integers(0, 9, dtype=np.uint32)  # leaves a spare half word
    words = generator_words(generator)
    assert words.dtype == np.uint64
    assert words.shape == (6,)
    assert words[4] == 1
    expected = generator.integers(0, 2**32, 5, dtype=np.uint32).tolist()
    other = np.random.Generator(np.random.PCG64(1))
    set_generator_words(other, words)
    assert other.integers(0, 2**32, 5, dtype=np.uint32).tolist() == expected
    with pytest.raises(ValueError, match="cannot store a MT19937 generator"):
        generator_words(np.random.Generator(np.random.MT19937(0)))
    with pytest.raises(ValueError, match=r"shape \(3,\); allowed: \(6,\)"):
        set_generator_words(other, words[:3])


def test_fresh_generators_are_gymnasium_s():
    theirs, _ = gymnasium.utils.seeding.np_random(7)
    assert fresh_generator(7).random() == theirs.random()


def test_seeds_for():
    assert seeds_for(None, 2) == [None, None]
    assert seeds_for(5, 3) == [5, 6, 7]
    assert seeds_for([4, None], 2) == [4, None]
    with pytest.raises(ValueError, match="seed has 2 entries for num_envs=3"):
        seeds_for([1, 2], 3)
