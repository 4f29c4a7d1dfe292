"""What users put around environments, and environments that belong to the user."""

import functools
import importlib
import types
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, cast

import gymnasium
from gymnasium.vector import VectorWrapper

from mppo.errors import BadRequest, in_words

Wrap = Callable[[gymnasium.Env], gymnasium.Env]


def wrapped(env: gymnasium.Env, wrappers: Sequence[Wrap]) -> gymnasium.Env:
    """The environment inside all wrappers, the first one innermost."""
    for wrap in wrappers:
        outer = wrap(env)
        if not isinstance(outer, gymnasium.Env):
            raise BadRequest(
                f"the wrapper {name_of_wrapper(wrap)} gave {outer!r}; it must give a gymnasium.Env"
            )
        env = outer
    return env


def name_of_wrapper(wrap: Any) -> str:
    """How `run.json` calls a wrapper: `module:name`, with the arguments of a partial.

    What cannot be imported by its name does not look as if it could.

    >>> name_of_wrapper(functools.partial(gymnasium.wrappers.TimeLimit, max_episode_steps=9))
    'gymnasium.wrappers.common:TimeLimit(max_episode_steps=9)'
    """
    if isinstance(wrap, functools.partial):
        given = [repr(value) for value in wrap.args]
        given += [f"{name}={value!r}" for name, value in wrap.keywords.items()]
        return f"{name_of_wrapper(wrap.func)}({', '.join(given)})"
    kind = wrap if hasattr(wrap, "__qualname__") else type(wrap)
    bound = isinstance(wrap, types.MethodType) and not isinstance(wrap.__self__, type)
    return f"{kind.__module__}:{kind.__qualname__}{' object' if bound or kind is not wrap else ''}"


def imported_wrapper(name: str) -> Wrap:
    """The wrapper of that name, `module:callable`; importing runs its module's code."""
    module, colon, attribute = name.partition(":")
    if not (module and colon):
        raise BadRequest(f'the wrapper "{name}" has no module; write it as module:callable')
    try:
        found: Any = attrgetter(attribute)(importlib.import_module(module))
    except Exception as error:  # importing runs code of the user's
        raise BadRequest(
            f'cannot load the wrapper "{name}": {in_words(error)}; where it cannot be imported by '
            "name, go on from Python with the same wrappers"
        ) from error
    if not callable(found):
        raise BadRequest(f'the wrapper "{name}" is {found!r}; it must take an environment')
    return cast(Wrap, found)


class Borrowed(VectorWrapper):
    """A vector environment of the user's: used, and left open."""

    def close(self, **kwargs: Any) -> None:
        """Whoever made it closes it."""
