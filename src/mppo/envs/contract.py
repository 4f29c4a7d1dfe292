"""What environments, collectors and evaluators agree on: lanes, states, generators, resets."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from gymnasium.utils import seeding

if TYPE_CHECKING:
    from mppo.acting.actor import Actor
    from mppo.machine.seeding import Role

NO_LIMIT = sys.maxsize  # a horizon that no episode reaches

State = dict[str, np.ndarray]  # what get_state returns: arrays alone, so any format can hold it

_WORD = (1 << 64) - 1
WORDS = 6  # of a PCG64 generator: two for the state, for the increment and for a spare half word


class Differs(RuntimeError):
    """Compiled steps of a robot are not those of its own environment on this machine."""


def check_positive(name: str, value: float) -> float:
    """Return value if it is a number above 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not value > 0:
        raise ValueError(f"{name} is {value!r}; allowed: a number above 0")
    return float(value)


def check_choice(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """Return value if it is one of the allowed words."""
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; allowed: {', '.join(allowed)}")
    return value


def check_count(name: str, value: int) -> int:
    """Return value if it counts at least one of something."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name} is {value!r}; allowed: a whole number, 1 or more")
    return int(value)


def reset_indices(options: dict[str, Any] | None, num_envs: int) -> range | list[int]:
    """Which sub-environments a call of reset concerns."""
    if options is None or "reset_mask" not in options:
        return range(num_envs)
    mask = options["reset_mask"]
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (num_envs,):
        raise ValueError(
            f"options['reset_mask'] is {mask!r}; allowed: a bool array of shape ({num_envs},)"
        )
    indices = np.flatnonzero(mask).tolist()
    if not indices:
        raise ValueError("options['reset_mask'] selects no sub-environment; set one entry to True")
    return indices


def checked_state(state: State, expected: State) -> State:
    """Return the arrays of a state, each of the shape and dtype that this environment writes."""
    if state.keys() != expected.keys():
        raise ValueError(f"state holds {sorted(state)}; allowed: {sorted(expected)}")
    for name, like in expected.items():
        value = np.asarray(state[name])
        if value.shape != like.shape or value.dtype != like.dtype:
            raise ValueError(
                f"state[{name!r}] is {value.dtype} of shape {value.shape}; "
                f"allowed: {like.dtype} of shape {like.shape}"
            )
    return {name: np.asarray(value) for name, value in state.items()}


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


@runtime_checkable
class Resumable(Protocol):
    """An environment that can be stored and go on later, bit for bit."""

    def get_state(self) -> State: ...  # all that the future depends on, as arrays
    def set_state(self, state: State) -> None: ...  # continue from there


class Rows(NamedTuple):
    """Where the steps are written, and the noise they need: one row for each."""

    noise: np.ndarray
    observations: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray


class Limits(NamedTuple):
    """Bounds that actions are clipped to, or go into through tanh, if they do."""

    clip: bool
    low: np.ndarray
    high: np.ndarray
    squash: bool = False


class Lane(Protocol):
    """One environment that takes many steps with a policy at once."""

    parallel: bool  # whether it lets other threads run meanwhile

    @property
    def observation(self) -> np.ndarray: ...  # what is seen now; always the same array
    @property
    def action(self) -> np.ndarray: ...  # of the last step, as the simulator was given it
    def begin(self, seed: int, role: Role, *indices: int) -> None: ...  # an episode of a stream
    def reset(self) -> None: ...  # start the next episode
    def ended(self) -> tuple[bool, bool]: ...  # by the last step: terminated, truncated
    def bad_numbers(self) -> dict[str, int]: ...  # that the simulator met since the reset

    def run_steps(self, actor: Actor, limits: Limits, rows: Rows, start: int, stop: int) -> int:
        """Take the steps of rows start ... stop - 1, and return how many were taken.

        Fewer are taken where the episode ends, or where a step leaves a bad number.
        """
        ...
