"""Any Gymnasium environments side by side, every answer of theirs checked in the step it came.

What breaks Gymnasium's contract stops the run there, with all that is needed to see it again; a
wrong value endured would be learnt from. They restart only when told (AutoresetMode.DISABLED).
"""

import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate

from mppo.envs.contract import reset_indices
from mppo.envs.generators import seeds_for
from mppo.envs.robots.engine import quieten, warnings_of
from mppo.errors import BadRequest, EnvironmentFault


class CheckedVectorEnv(VectorEnv):
    """Environments made by callables, stepped one after the other."""

    envs: Sequence[Any] = ()  # Gymnasium 1.2 closes also what could not be made
    first: int = 0  # the number of the first one, where others of the run are elsewhere
    metadata: dict[Any, Any]
    single_observation_space: Any
    single_action_space: Any

    def __init__(self, makers: Sequence[Callable[[], gymnasium.Env]], name: str) -> None:
        self.envs = [make() for make in makers]
        self.num_envs: int = len(self.envs)
        self.name: str = name
        self.metadata = {**self.envs[0].metadata, "autoreset_mode": AutoresetMode.DISABLED}
        self.single_observation_space = self.envs[0].observation_space
        self.single_action_space = self.envs[0].action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._box = isinstance(self.single_observation_space, gymnasium.spaces.Box)
        self._last: list[Any] = [None] * self.num_envs
        self._seeds: list[int | None] = [None] * self.num_envs
        self._episodes = [0] * self.num_envs
        self._steps = [0] * self.num_envs
        self._actions: list[Any] = [None] * self.num_envs
        self._bad_numbers = [warnings_of(env) for env in self.envs]
        if any(self._bad_numbers):
            quieten()

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Reset all environments, or those of options["reset_mask"]."""
        seeds = seeds_for(seed, self.num_envs)
        for i in reset_indices(options, self.num_envs):
            if seeds[i] is not None:
                self._seeds[i], self._episodes[i] = seeds[i], 0
            else:
                self._episodes[i] += 1
            self._steps[i], self._actions[i] = 0, None
            try:
                answer = self.envs[i].reset(seed=seeds[i])
            except BadRequest:  # something of ours inside cannot be served by it
                raise
            except Exception as error:
                self._fault(i, "exception in reset", repr(error), error)
            if not isinstance(answer, tuple) or len(answer) != 2:
                self._fault(i, "answer of reset", answer)
            self._last[i] = self._observation(i, answer[0])
            if not isinstance(answer[1], dict):
                self._fault(i, "info", answer[1])
        return self._stacked(), {}

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Step all environments."""
        rewards = np.zeros(self.num_envs)
        terminated = np.zeros(self.num_envs, np.bool_)
        truncated = np.zeros(self.num_envs, np.bool_)
        for i, action in enumerate(iterate(self.action_space, actions)):
            self._actions[i] = action
            self._steps[i] += 1
            try:
                answer = self.envs[i].step(action)
            except Exception as error:
                self._fault(i, "exception in step", repr(error), error)
            if not isinstance(answer, tuple) or len(answer) != 5:
                self._fault(i, "answer of step", answer)
            observation, reward, ended, cut, info = answer
            rewards[i] = self._reward(i, reward)
            terminated[i] = self._flag(i, "terminated", ended)
            truncated[i] = self._flag(i, "truncated", cut)
            if not isinstance(info, dict):
                self._fault(i, "info", info)
            self._last[i] = self._observation(i, observation)
            warned = self._bad_numbers[i]
            if warned is not None and (bad := warned()):
                self._fault(i, "MuJoCo's warnings", bad)
        return self._stacked(), rewards, terminated, truncated, {}

    def _stacked(self) -> Any:
        if self._box:
            return np.stack(self._last)
        empty = create_empty_array(self.single_observation_space, self.num_envs)
        return concatenate(self.single_observation_space, self._last, empty)

    def _observation(self, i: int, observation: Any) -> Any:
        """The observation, if it is one of the space and of numbers that are finite."""
        space = self.single_observation_space
        if not self._box:
            if not space.contains(observation):
                self._fault(i, "observation", observation)
            return observation
        if isinstance(observation, np.ndarray):
            array = observation
        elif isinstance(observation, numbers.Number | Sequence):
            array = np.asarray(observation)
        else:
            self._fault(i, "observation", observation)
        if array.shape != space.shape:
            self._fault(i, f"observation's shape (not {space.shape})", array.shape)
        if not np.can_cast(array.dtype, space.dtype or np.float64, "same_kind"):
            self._fault(i, f"observation's type (not {space.dtype})", array.dtype)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            self._fault(i, "observation", array)
        return array.copy()  # some environments give the same array again and again

    def _reward(self, i: int, reward: Any) -> float:
        if isinstance(reward, np.ndarray) and reward.shape:
            self._fault(i, "reward", reward)
        try:
            value = float(reward)
        except (TypeError, ValueError):
            self._fault(i, "reward", reward)
        if not math.isfinite(value):
            self._fault(i, "reward", value)
        return value

    def _flag(self, i: int, field: str, flag: Any) -> bool:
        if isinstance(flag, bool | np.bool | int | np.integer) and flag in (0, 1):  # type: ignore
            return bool(flag)
        return self._fault(i, field, flag)

    def _fault(self, i: int, field: str, value: Any, cause: Exception | None = None) -> NoReturn:
        text = repr(value) if len(repr(value)) <= 300 else repr(value)[:300] + " ..."
        raise EnvironmentFault(
            f'environment "{self.name}" broke its contract: {field} = {text}; environment '
            f"{self.first + i}, reset with seed {self._seeds[i]}, episode {self._episodes[i]} "
            f"after that, step {self._steps[i]}, last action "
            f"{np.asarray(self._actions[i]).tolist()!r}"
        ) from cause

    def render(self) -> tuple[Any, ...]:
        """One image of each environment."""
        return tuple(env.render() for env in self.envs)

    def close_extras(self, **kwargs: Any) -> None:
        """Close all environments."""
        for env in self.envs:
            env.close()
