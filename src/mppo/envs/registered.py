"""Names of environments, looked up with Gymnasium; what cannot be found or made is refused."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator

import gymnasium

from mppo.errors import BadRequest, did_you_mean, display_hint, in_words


@contextlib.contextmanager
def refusing(name: str, kwargs: dict) -> Iterator[None]:
    """An environment that cannot be made is a request that cannot be met, whatever its error."""
    try:
        yield
    except BadRequest:
        raise
    except Exception as error:
        given = f" with {kwargs}" if kwargs else ""
        raise BadRequest(
            f'cannot make the environment "{name}"{given}: {in_words(error)}{display_hint(error)}'
        ) from error


def imported(module: str, env_id: str) -> None:
    """Import the module before an id; it registers the environment."""
    try:
        importlib.import_module(module)
    except Exception as error:  # importing runs code of the user's
        raise BadRequest(f'cannot import "{module}" of "{env_id}": {in_words(error)}') from error


def known(env_id: str) -> bool:
    """Whether Gymnasium has an environment of that name."""
    try:
        gymnasium.spec(env_id)
    except (gymnasium.error.Error, ModuleNotFoundError):
        return False
    return True


def with_namespace(env_id: str) -> str:
    """Our own tasks without their prefix, or a refusal with a suggestion."""
    if known(f"mppo/{env_id}"):
        return f"mppo/{env_id}"
    bare = {name.removeprefix("mppo/"): name for name in gymnasium.registry}
    hint = did_you_mean(env_id, [*gymnasium.registry, *bare])
    way_out = hint or "; mppo envs lists the tasks of the paper, and any registered id will do"
    raise BadRequest(
        f'unknown environment "{env_id}"{way_out} (module:id imports its module first)'
    )
