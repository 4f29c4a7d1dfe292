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

from mppo.envs.contract import reset_indices, seeds_for
from mppo.envs.robots.engine import bad_numbers, quieten, uses_mujoco
from mppo.errors import BadRequest, EnvironmentFault


class CheckedEnv:
    """One environment; it remembers what is needed to see a fault again."""

    env: Any
    space: Any

    def __init__(self, env: gymnasium.Env, name: str, index: int = 0) -> None:
        self.env, self.name, self.index = env, name, index
        self.space = env.observation_space
        self.is_box: bool = isinstance(self.space, gymnasium.spaces.Box)
        self.seed: int | None = None
        self.episode: int = 0  # after the last seeded reset
        self.steps: int = 0
        self.action: Any = None  # of the last step
        self.simulated: Any = env.unwrapped if uses_mujoco(env) else None  # has MuJoCo's `data`
        if self.simulated is not None:
            quieten()

    def reset(self, seed: int | None) -> Any:
        """Reset it; what it shows is a copy."""
        return self.observation(self.restart(seed))

    def restart(self, seed: int | None) -> Any:
        """Reset it; what it shows is not yet looked at."""
        if seed is not None:
            self.seed, self.episode = seed, 0
        else:
            self.episode += 1
        self.steps, self.action = 0, None
        try:
            answer = self.env.reset(seed=seed)
        except BadRequest:  # something of ours inside cannot be served by it
            raise
        except Exception as error:
            self.fault("exception in reset", repr(error), error)
        if not isinstance(answer, tuple) or len(answer) != 2:
            self.fault("answer of reset", answer)
        if not isinstance(answer[1], dict):
            self.fault("info", answer[1])
        return answer[0]

    def step(self, action: Any) -> tuple[Any, float, bool, bool]:
        """Step it; what it shows is a copy."""
        self.action = action
        self.steps += 1
        try:
            answer = self.env.step(action)
        except Exception as error:
            self.fault("exception in step", repr(error), error)
        if not isinstance(answer, tuple) or len(answer) != 5:
            self.fault("answer of step", answer)
        observation, reward, terminated, truncated, info = answer
        paid = self.reward(reward)
        ended, cut = self.flag("terminated", terminated), self.flag("truncated", truncated)
        if not isinstance(info, dict):
            self.fault("info", info)
        seen = self.observation(observation)
        self.check_warnings()
        return seen, paid, ended, cut

    def check_warnings(self) -> None:
        """Raise for what MuJoCo called bad."""
        if self.simulated is not None and (bad := bad_numbers(self.simulated.data)):
            self.fault("MuJoCo's warnings", bad)

    def observation(self, observation: Any) -> Any:
        """The observation, if it is one of the space and of numbers that are finite."""
        space = self.space
        if not self.is_box:
            if not space.contains(observation):
                self.fault("observation", observation)
            return observation
        if not isinstance(observation, np.ndarray | numbers.Number | Sequence):
            self.fault("observation", observation)
        array = np.asarray(observation)
        if array.shape != space.shape:
            self.fault(f"observation's shape (not {space.shape})", array.shape)
        if not np.can_cast(array.dtype, space.dtype or np.float64, "same_kind"):
            self.fault(f"observation's type (not {space.dtype})", array.dtype)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            self.fault("observation", array)
        return array.copy()  # some environments give the same array again and again

    def reward(self, reward: Any) -> float:
        """The reward, if it is a number."""
        if isinstance(reward, np.ndarray) and reward.shape:
            self.fault("reward", reward)
        try:
            value = float(reward)
        except (TypeError, ValueError):
            self.fault("reward", reward)
        if not math.isfinite(value):
            self.fault("reward", value)
        return value

    def flag(self, field: str, flag: Any) -> bool:
        """The flag, if it is one."""
        if isinstance(flag, bool | np.bool | int | np.integer) and flag in (0, 1):  # type: ignore
            return bool(flag)
        return self.fault(field, flag)

    def fault(self, field: str, value: Any, cause: Exception | None = None) -> NoReturn:
        """Raise for a part of an answer."""
        text = repr(value) if len(repr(value)) <= 300 else repr(value)[:300] + " ..."
        raise EnvironmentFault(
            f'environment "{self.name}" broke its contract: {field} = {text}; environment '
            f"{self.index}, reset with seed {self.seed}, episode {self.episode} after that, step "
            f"{self.steps}, last action {np.asarray(self.action).tolist()!r}"
        ) from cause


class CheckedVectorEnv(VectorEnv):
    """Environments made by callables, stepped one after the other."""

    envs: Sequence[Any] = ()  # Gymnasium 1.2 closes also what could not be made
    checked: Sequence[CheckedEnv]
    metadata: dict[Any, Any]
    single_observation_space: Any
    single_action_space: Any

    def __init__(self, makers: Sequence[Callable[[], gymnasium.Env]], name: str) -> None:
        self.envs = [make() for make in makers]
        self.checked = [CheckedEnv(env, name, i) for i, env in enumerate(self.envs)]
        self.num_envs: int = len(self.envs)
        self.name: str = name
        self.metadata = {**self.envs[0].metadata, "autoreset_mode": AutoresetMode.DISABLED}
        self.single_observation_space = self.envs[0].observation_space
        self.single_action_space = self.envs[0].action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._last: list[Any] = [None] * self.num_envs

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Reset all environments, or those of options["reset_mask"]."""
        seeds = seeds_for(seed, self.num_envs)
        for i in reset_indices(options, self.num_envs):
            self._last[i] = self.checked[i].reset(seeds[i])
        return self._stacked(), {}

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Step all environments."""
        rewards = np.zeros(self.num_envs)
        terminated = np.zeros(self.num_envs, np.bool_)
        truncated = np.zeros(self.num_envs, np.bool_)
        for i, action in enumerate(iterate(self.action_space, actions)):
            self._last[i], rewards[i], terminated[i], truncated[i] = self.checked[i].step(action)
        return self._stacked(), rewards, terminated, truncated, {}

    def _stacked(self) -> Any:
        if isinstance(self.single_observation_space, gymnasium.spaces.Box):
            return np.stack(self._last)
        empty = create_empty_array(self.single_observation_space, self.num_envs)
        return concatenate(self.single_observation_space, self._last, empty)

    def render(self) -> tuple[Any, ...]:
        """One image of each environment."""
        return tuple(env.render() for env in self.envs)

    def close_extras(self, **kwargs: Any) -> None:
        """Close all environments."""
        for env in self.envs:
            env.close()
