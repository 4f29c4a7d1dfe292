"""How another process makes the same environment: a name and arguments, not the object itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.reduction import ForkingPickler
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import VectorEnv

from mppo import envs
from mppo.envs.capture import checked_vector
from mppo.envs.checked import CheckedVectorEnv
from mppo.envs.wrapping import Wrap, name_of_wrapper, wrapped
from mppo.errors import in_words

WAY_OUT = (
    "a worker process imports it by its name: put it in a module of its own (a function or class "
    "at the top level of a .py file), or register an id that makes it"
)


@dataclass(frozen=True)
class Recipe:
    """What makes one environment: a registered id's description or a function, then wrappers.

    The description is sent in place of the id, since another process may not have imported the
    module that registers it.
    """

    name: str
    spec: EnvSpec | None = None
    function: Callable[[], Any] | None = None
    kwargs: dict[str, Any] = field(default_factory=dict)
    wrappers: tuple[Wrap, ...] = ()
    native: bool = False  # whether it is one of ours, stepped by compiled code

    def __call__(self) -> gymnasium.Env:
        """A fresh environment."""
        if self.function is not None:
            env = self.function()
        else:
            assert self.spec is not None
            env = gymnasium.make(self.spec, disable_env_checker=True, **self.kwargs)
        return wrapped(env, self.wrappers)

    def vector(self, first: int = 0) -> VectorEnv:
        """One environment, number `first` of its run, as a collector takes it."""
        if self.native:
            found = envs.native_vector(self.name, 1, **self.kwargs)
            assert found is not None
            return found
        vector = checked_vector([self], self.name)
        number(vector, first)
        return vector

    def _parts(self) -> Iterator[tuple[str, Any]]:
        if self.function is not None:
            name = getattr(self.function, "__qualname__", repr(self.function))
            yield f"the callable {name}", self.function
        yield f'the registration of "{self.name}"', self.spec
        for name, value in self.kwargs.items():
            yield f"its argument {name} = {value!r:.100}", value
        for wrap in self.wrappers:
            yield f"the wrapper {name_of_wrapper(wrap)}", wrap

    def obstacle(self) -> str:
        """What of it cannot be sent to another process, and the way out; nothing if all can."""
        main = sys.modules["__main__"]
        from_a_file = getattr(main, "__spec__", None) is not None or hasattr(main, "__file__")
        for name, part in self._parts():
            try:
                content = bytes(ForkingPickler.dumps(part))
            except Exception as error:  # whatever a user's __reduce__ raises
                return f"{name} cannot be sent there ({in_words(error)}); {WAY_OUT}"
            if b"__main__" in content and not from_a_file:
                return f"{name} is defined in a session, not in a file; {WAY_OUT}"
        return ""

    def needs_main(self) -> bool:
        """Whether it names something of the script that was started, which is imported then."""
        return any(b"__main__" in bytes(ForkingPickler.dumps(part)) for _, part in self._parts())


def number(vector: VectorEnv, first: int) -> None:
    """Let faults call the first environment of a vector by its number in the run."""
    if isinstance(vector, CheckedVectorEnv):
        for i, one in enumerate(vector.checked):
            one.index = first + i
