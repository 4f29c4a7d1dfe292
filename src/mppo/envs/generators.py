"""Random generators of sub-environments: seeded by Gymnasium's rules, stored as arrays."""

from collections.abc import Sequence

import numpy as np
from gymnasium.utils import seeding

_WORD = (1 << 64) - 1
WORDS = 6  # of a PCG64 generator: two for the state, for the increment and for a spare half word


def generator_words(generator: np.random.Generator) -> np.ndarray:
    """The whole state of a PCG64 generator as six unsigned 64-bit words.

    >>> generator = np.random.Generator(np.random.PCG64(0))
    >>> words = generator_words(generator)
    >>> first = generator.random()
    >>> set_generator_words(generator, words)
    >>> generator.random() == first
    True
    """
    state = generator.bit_generator.state
    if state["bit_generator"] != "PCG64":
        raise ValueError(
            f"cannot store a {state['bit_generator']} generator; use numpy.random.PCG64, "
            "as gymnasium.utils.seeding.np_random does"
        )
    number, increment = state["state"]["state"], state["state"]["inc"]
    words = [number & _WORD, number >> 64, increment & _WORD, increment >> 64]
    return np.array([*words, state["has_uint32"], state["uinteger"]], dtype=np.uint64)


def set_generator_words(generator: np.random.Generator, words: np.ndarray) -> None:
    """Put a PCG64 generator into the state that `generator_words` read."""
    if np.shape(words) != (WORDS,):
        raise ValueError(f"generator state has shape {np.shape(words)}; allowed: ({WORDS},)")
    low, high, low_increment, high_increment, has_spare, spare = (int(word) for word in words)
    generator.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": high << 64 | low, "inc": high_increment << 64 | low_increment},
        "has_uint32": has_spare,
        "uinteger": spare,
    }


def fresh_generator(seed: int | None = None) -> np.random.Generator:
    """A generator seeded as Gymnasium seeds an environment; from the system's entropy if None."""
    return seeding.np_random(seed)[0]


def seeds_for(seed: int | Sequence[int | None] | None, num_envs: int) -> Sequence[int | None]:
    """One seed for each sub-environment: seed, seed + 1, … for an int, as SyncVectorEnv does."""
    if seed is None:
        return [None] * num_envs
    if isinstance(seed, int):
        return [seed + i for i in range(num_envs)]
    if len(seed) != num_envs:
        raise ValueError(
            f"seed has {len(seed)} entries for num_envs={num_envs}; "
            "pass one int, or one entry for each sub-environment"
        )
    return seed
