"""What a user may name as environment, and the vector environments made from it."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium.vector import SyncVectorEnv, VectorEnv

from mppo import envs
from mppo.acting.spaces import Spaces
from mppo.envs.capture import checked_vector, proven
from mppo.envs.checked import CheckedVectorEnv
from mppo.envs.recipe import Recipe
from mppo.envs.tasks import BY_ID
from mppo.envs.wrapping import Borrowed, Wrap, name_of_wrapper, wrapped
from mppo.errors import BadRequest, did_you_mean, display_hint, in_words

MOST_ENVS = 64
MakeEnv = Callable[[], gymnasium.Env | VectorEnv]
AnyEnv = str | MakeEnv | gymnasium.Env | VectorEnv


@dataclass(frozen=True)
class EnvSource:
    """An environment to train on: how to make it, and what it is like."""

    name: str
    make: Callable[[int], VectorEnv]  # that many environments, which reset only when told
    spaces: Spaces
    horizon: int | None
    kwargs: dict[str, Any] = field(default_factory=dict)  # of the constructor
    native: bool = False  # stepped by this package's own vector environment
    of_the_paper: bool = False
    count: int = 0  # of environments, where that is not ours to choose
    shared: bool = False  # training and evaluation step the same instance
    applied: tuple[Wrap, ...] = ()  # wrappers, innermost first
    from_python: bool = False  # a callable, an object, arguments beyond JSON: no name makes it
    recipe: Recipe | None = None  # how another process makes one
    within: Callable[[tuple[Wrap, ...]], EnvSource] | None = None  # the same inside these wrappers

    @cached_property
    def resumes(self) -> bool:
        """Whether its episodes can go on later, bit for bit; where we cannot know, it is tried."""
        if self.native or self.shared or self.count:
            return self.native
        with closing(self.make(2)) as vector:
            return proven(vector)

    @property
    def wrappers(self) -> tuple[str, ...]:
        """The names of the wrappers, innermost first."""
        return tuple(map(name_of_wrapper, self.applied))

    def envs_for(self, batch_size: int, wanted: int = 0) -> int:
        """How many environments share a batch: as many whole episodes as fit, each alike.

        >>> EnvSource("", None, None, 1000).envs_for(5000)
        5
        >>> EnvSource("", None, None, 1000).envs_for(2048)
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


def env_source(env: AnyEnv, /, *, wrappers: Sequence[Wrap] = (), **kwargs: Any) -> EnvSource:
    """The task behind a Gymnasium id, a callable that makes an environment, or an environment.

    `wrappers` are callables from environment to environment, applied in order to every single
    one; `kwargs` are arguments of the constructor of a registered one.
    """
    within = lambda more: env_source(env, wrappers=more, **kwargs)
    return replace(_source(env, tuple(wrappers), kwargs), within=within)


def _source(env: AnyEnv, wrappers: tuple[Wrap, ...], kwargs: dict[str, Any]) -> EnvSource:
    if isinstance(env, str):
        return _registered(env, wrappers, kwargs)
    if isinstance(env, VectorEnv):
        _refuse_wrappers(wrappers)
        found = replace(_vector(env, lambda n: Borrowed(env)), shared=True)
    elif isinstance(env, gymnasium.Env):  # as it is: for training and evaluation in turn
        with _refusing(name_of_env(env), {}):
            inside = wrapped(env, wrappers)
        make = lambda name, n: Borrowed(CheckedVectorEnv([lambda: inside], name))
        found = replace(_single(inside, wrappers, make), count=1, shared=True)
    elif callable(env):
        found = _made_by(env, wrappers)
    else:
        raise BadRequest(
            f"env is {env!r}; give a Gymnasium id, a callable that makes an environment, or an "
            "environment"
        )
    return replace(found, from_python=True)


def _registered(env_id: str, wrappers: tuple[Wrap, ...], kwargs: dict[str, Any]) -> EnvSource:
    module, _, registered = env_id.rpartition(":")
    if module:
        _imported(module, env_id)
    name = registered if _known(registered) else _with_namespace(registered)
    spec = gymnasium.spec(name)
    plain = lambda: gymnasium.make(name, disable_env_checker=True, **kwargs)  # we check ourselves
    one = lambda: wrapped(plain(), wrappers)
    with _refusing(name, kwargs):
        # ours step a whole batch at once: there is no single environment to put a wrapper around
        ours = _for_native(name, spec.max_episode_steps, kwargs, wrappers)
        native = None if ours is None else envs.native_vector(name, 1, **ours)
        probe = native if native is not None else CheckedVectorEnv([one], name)
    given = kwargs if native is None or ours is None else ours
    found = _spaces(probe.single_observation_space, probe.single_action_space, name)
    horizon = given.get("horizon") or given.get("max_episode_steps") or spec.max_episode_steps
    if wrappers and isinstance(probe, CheckedVectorEnv):  # they may have time limits of their own
        limits = horizon, _time_limit(probe.envs[0])
        horizon = min((limit for limit in limits if limit), default=None)
    probe.close()

    def make(count: int) -> VectorEnv:
        vector = None if native is None else envs.native_vector(name, count, **given)
        return vector or checked_vector([one] * count, name)

    return EnvSource(
        f"{module}:{name}" if module else name,  # so that it is found again
        make,
        found,
        horizon,
        kwargs,
        native is not None,
        name in {task.id for task in envs.TASKS},  # of the paper
        applied=wrappers,
        from_python=not _recordable(kwargs),
        recipe=Recipe(name, spec, None, given, wrappers, native is not None),
    )


@contextmanager
def _refusing(name: str, kwargs: dict) -> Iterator[None]:
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


def _imported(module: str, env_id: str) -> None:
    """Import the module before an id; it registers the environment."""
    try:
        importlib.import_module(module)
    except Exception as error:  # importing runs code of the user's
        raise BadRequest(f'cannot import "{module}" of "{env_id}": {in_words(error)}') from error


def _known(env_id: str) -> bool:
    """Whether Gymnasium has an environment of that name."""
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


def _spaces(observation: gymnasium.Space, action: gymnasium.Space, name: str) -> Spaces:
    """The spaces of an environment; what cannot be handled is refused before anything is made."""
    found = Spaces(observation, action, name)
    _ = found.observation_size, found.head
    return found


def _for_native(
    name: str, horizon: int | None, kwargs: dict, wrappers: tuple[Wrap, ...]
) -> dict[str, Any] | None:
    """Arguments of our vector environment, wrappers included; None where it has no such."""
    if not wrappers:
        return kwargs
    task = BY_ID.get(name)
    if task is None or not task.robot:
        return None
    from mppo.envs.robots.gates import expressed

    found = expressed(wrappers)
    if found is None:
        return None
    horizon = kwargs.get("max_episode_steps") or horizon
    limits = kwargs.get("horizon"), horizon, found.get("horizon")
    return {**kwargs, **found, "horizon": min(n for n in limits if n)}


def _recordable(value: Any) -> bool:
    """Whether run.json can hold the arguments: JSON has no number that is not finite."""
    if isinstance(value, dict):
        return all(map(_recordable, value.values()))
    if isinstance(value, np.ndarray):
        return _recordable(value.tolist())
    if isinstance(value, list | tuple):
        return all(map(_recordable, value))
    return not isinstance(value, float | np.floating) or math.isfinite(value)


def _made_by(function: MakeEnv, wrappers: tuple[Wrap, ...]) -> EnvSource:
    with _refusing(getattr(function, "__name__", repr(function)), {}):  # partials have no name
        env = function()
    if isinstance(env, VectorEnv):
        _refuse_wrappers(wrappers)
        found = _vector(env, lambda n: cast(VectorEnv, function()))
        env.close()
        return found
    if not isinstance(env, gymnasium.Env):
        raise BadRequest(
            f"{function!r} made {env!r}; it must make a gymnasium.Env or a "
            "gymnasium.vector.VectorEnv (a fresh one on every call)"
        )
    one = lambda: wrapped(cast(gymnasium.Env, function()), wrappers)
    with _refusing(name_of_env(env), {}):
        inside = wrapped(env, wrappers)
    found = _single(inside, wrappers, lambda name, n: checked_vector([one] * n, name))
    inside.close()
    return replace(found, recipe=Recipe(found.name, None, function, {}, wrappers))


def _single(
    env: gymnasium.Env, wrappers: tuple[Wrap, ...], make: Callable[[str, int], VectorEnv]
) -> EnvSource:
    name = name_of_env(env)
    found = _spaces(env.observation_space, env.action_space, name)
    return EnvSource(name, lambda n: make(name, n), found, _time_limit(env), applied=wrappers)


def name_of_env(env: gymnasium.Env | VectorEnv) -> str:
    """Its id, or the name of its class."""
    return env.spec.id if env.spec is not None else type(env.unwrapped).__name__


def _refuse_wrappers(wrappers: tuple[Wrap, ...]) -> None:
    if wrappers:
        raise BadRequest(
            f"{name_of_wrapper(wrappers[0])} wraps single environments, and this is a vector "
            "environment; wrap what it is made of, or wrap it with gymnasium.wrappers.vector"
        )


def _vector(first: VectorEnv, make: Callable[[int], VectorEnv]) -> EnvSource:
    """A user's own vector environment: as many environments as it has, in its autoreset mode."""
    name = name_of_env(first)
    found = _spaces(first.single_observation_space, first.single_action_space, name)
    horizon = first.spec.max_episode_steps if first.spec is not None else None
    inside = first.unwrapped
    if horizon is None and isinstance(inside, SyncVectorEnv):
        horizon = _time_limit(inside.envs[0])
    return EnvSource(name, make, found, horizon, count=first.num_envs)


def _time_limit(env: gymnasium.Env) -> int | None:
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, gymnasium.wrappers.TimeLimit):
            return env._max_episode_steps
        env = env.env
    return env.spec.max_episode_steps if env.spec is not None else None
