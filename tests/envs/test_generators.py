import gymnasium
import numpy as np
import pytest

from mppo.envs.generators import fresh_generator, generator_words, seeds_for, set_generator_words


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
