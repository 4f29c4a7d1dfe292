"""What a user may name as environment, and the vector environments made from it."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import gymnasium
from gymnasium.vector import VectorEnv

from mppo import envs
from mppo.envs.checked import CheckedVectorEnv
from mppo.errors import BadRequest, did_you_mean
from mppo.spaces import Spaces

MOST_ENVS = 64
MakeEnv = Callable[[], gymnasium.Env | VectorEnv]


@dataclass(frozen=True)
class Task:
    """An environment to train on: how to make it, and what it is like."""

    name: str
    make: Callable[[int], VectorEnv]  # that many environments, which reset only when told
    spaces: Spaces
    horizon: int | None
    kwargs: dict[str, Any]  # of the constructor
    native: bool  # stepped by this package's own vector environment
    of_the_paper: bool
    count: int = 0  # of environments, where that is not ours to choose

    def envs_for(self, batch_size: int, wanted: int = 0) -> int:
        """How many environments share a batch: as many whole episodes as fit, each alike.

        >>> Task("", None, None, 1000, {}, False, False).envs_for(5000)
        5
        >>> Task("", None, None, 1000, {}, False, False).envs_for(2048)
        2
        """
        wanted = self.count or wanted
        if wanted:
            if batch_size % wanted:
                raise BadRequest(
                    f"a batch of {batch_size} steps cannot be shared by {wanted} environments; "
                    f"choose envs so that it divides batch_size"
                )
            return wanted
        most = max(1, min(batch_size // self.horizon, MOST_ENVS)) if self.horizon else 1
        return max(n for n in range(1, most + 1) if batch_size % n == 0)


def task(env: str | MakeEnv, /, **kwargs) -> Task:
    """The task behind a Gymnasium id or a callable that makes an environment."""
    if isinstance(env, str):
        return _registered(env, kwargs)
    if callable(env):
        return _made_by(env)
    raise BadRequest(f"env is {env!r}; give a Gymnasium id or a callable that makes an environment")


def _registered(env_id: str, kwargs: dict) -> Task:
    module, _, registered = env_id.rpartition(":")
    if module:
        _import(module, env_id)
    name = registered if _known(registered) else _with_namespace(registered)
    spec = gymnasium.spec(name)
    one = lambda: gymnasium.make(name, disable_env_checker=True, **kwargs)  # we check ourselves
    with _refusing(name, kwargs):
        native = envs.native_vector(name, 1, **kwargs)
        probe = native if native is not None else CheckedVectorEnv([one], name)
    found = Spaces(probe.single_observation_space, probe.single_action_space, name)
    probe.close()
    _ = found.observation_size, found.head  # refuse what cannot be handled before anything is made

    def make(count: int) -> VectorEnv:
        vector = envs.native_vector(name, count, **kwargs)
        return vector or CheckedVectorEnv([one] * count, name)

    horizon = kwargs.get("horizon") or kwargs.get("max_episode_steps") or spec.max_episode_steps
    paper = {entry.id for entry in envs.TASKS}
    full = f"{module}:{name}" if module else name  # so that it is found again
    return Task(full, make, found, horizon, kwargs, native is not None, name in paper)


@contextlib.contextmanager
def _refusing(name: str, kwargs: dict) -> Iterator[None]:
    """An environment that cannot be made is a request that cannot be met, whatever its error."""
    try:
        yield
    except BadRequest:
        raise
    except Exception as error:
        given = f" with {kwargs}" if kwargs else ""
        raise BadRequest(
            f'cannot make the environment "{name}"{given}: {type(error).__name__}: {error}'
        ) from error


def _import(module: str, env_id: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise BadRequest(f'cannot import "{module}" of "{env_id}": {error}') from error


def _known(env_id: str) -> bool:
    try:
        gymnasium.spec(env_id)
    except (gymnasium.error.Error, ModuleNotFoundError):
        return False
    return True


def _with_namespace(env_id: str) -> str:
    """Our own tasks without their prefix, or a refusal with a suggestion."""
    if _known(f"mppo/{env_id}"):
        return f"mppo/{env_id}"
    bare = {name.removeprefix("mppo/"): name for name in gymnasium.registry}
    hint = did_you_mean(env_id, [*gymnasium.registry, *bare])
    way_out = hint or "; mppo envs lists the tasks of the paper, and any registered id will do"
    raise BadRequest(
        f'unknown environment "{env_id}"{way_out} (module:id imports its module first)'
    )


def _made_by(function: MakeEnv) -> Task:
    with _refusing(getattr(function, "__name__", repr(function)), {}):
        env = function()
    if isinstance(env, VectorEnv):
        return _vector(env, function)  # type: ignore
    if not isinstance(env, gymnasium.Env):
        raise BadRequest(
            f"{function!r} made {env!r}; it must make a gymnasium.Env or a "
            "gymnasium.vector.VectorEnv (a fresh one on every call)"
        )
    name = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
    found = Spaces(env.observation_space, env.action_space, name)
    _ = found.observation_size, found.head
    horizon = _time_limit(env)
    env.close()
    return Task(
        name,
        lambda n: CheckedVectorEnv([cast(Any, function)] * n, name),
        found,
        horizon,
        {},
        False,
        False,
    )


def _vector(first: VectorEnv, function: Callable[[], VectorEnv]) -> Task:
    """A user's own vector environment: as many environments as it has, in its autoreset mode."""
    name = first.spec.id if first.spec is not None else type(first.unwrapped).__name__
    found = Spaces(first.single_observation_space, first.single_action_space, name)
    _ = found.observation_size, found.head
    count = first.num_envs
    first.close()
    horizon = first.spec.max_episode_steps if first.spec is not None else None
    return Task(name, lambda n: function(), found, horizon, {}, False, False, count)


def _time_limit(env: gymnasium.Env) -> int | None:
    while True:
        if isinstance(env, gymnasium.wrappers.TimeLimit):
            return env._max_episode_steps
        if not isinstance(env, gymnasium.Wrapper):
            return env.spec.max_episode_steps if env.spec is not None else None
        env = env.env
