"""Small environments with known answers, and small methods to learn them with."""

from __future__ import annotations

from dataclasses import dataclass, replace

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit

from mppo.algorithm.exploration.none import NoBonus
from mppo.algorithm.heads import Categorical
from mppo.algorithm.methods import METHODS, Method
from mppo.algorithm.policies import Architecture
from mppo.algorithm.types import Earlier, Trajectories
from mppo.files import settings

ENVS, STEPS = 4, 64  # of SMALL


def small(name: str, **changes) -> Method:
    """A method of the paper in small: it learns a probe in a few iterations."""
    method = METHODS[name]
    small = {
        "network.hidden": (16,),
        "critic.network.hidden": (16,),
        "critic.learning_rate": 1e-2,
        "critic.minibatch": 64,
        "batch_size": ENVS * STEPS,
        "envs": ENVS,
        "paths": 2 if method.paths > 1 else 1,
    }
    if name.endswith("ppo") or "-ppo-" in name:
        small["optimiser.learning_rate"] = 1e-2
    else:
        small["optimiser.max_kl"] = 0.05
    if name.startswith("curiosity"):
        small["exploration.size"] = 8
    return settings.overridden(method, small | changes)


SMALL = {name: small(name) for name in METHODS}
CHOOSING = Architecture(  # what all environments of SMALL share, so that each method compiles once
    1, Categorical((2,)), SMALL["trpo"].network, True, (1.0,)
)


def choosing(method: Method) -> Architecture:
    """The architecture that a run of a method has on these environments."""
    some_raw = any(style.filter == "none" for style in method.styles)
    return replace(CHOOSING, some_raw=some_raw, some_turn=method.turns)


class Probe(gymnasium.Env):
    """One number seen, one of two actions taken; how it answers is up to the kind."""

    observation_space = spaces.Box(-1, 1, (1,), np.float32)
    action_space = spaces.Discrete(2)
    length = 1

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return self._see(), {}

    def step(self, action):
        reward = float(self.reward(int(action)))
        self.time += 1
        return self._see(), reward, self.time >= self.length, False, {}

    def _see(self):
        self.seen = self.look()
        return np.array([self.seen], np.float32)

    def look(self):
        return 0.0

    def reward(self, action):
        raise NotImplementedError


class Constant(Probe):
    """Reward 1, whatever happens: V = 1."""

    def reward(self, action):
        return 1


class ByObservation(Probe):
    """The reward is what is seen: V(s) = s."""

    def look(self):
        return float(self.np_random.choice([-1, 1]))

    def reward(self, action):
        return self.seen


class Delayed(Probe):
    """Reward 1 in the second of two steps: V(0) = gamma, V(1) = 1."""

    length = 2

    def look(self):
        return float(self.time == 1)

    def reward(self, action):
        return self.time


class ByAction(Probe):
    """Action 1 pays 1, action 0 costs 1."""

    def reward(self, action):
        return 2 * action - 1


class ByBoth(ByObservation):
    """Action 1 pays where 1 is seen, action 0 where -1 is seen."""

    def reward(self, action):
        return self.seen * (2 * action - 1)


class Ledge(Probe):
    """A walk on -1 ... 1 from the middle: paid by height, over at either edge or after 16 steps."""

    length = 10**9

    def look(self):
        return self.place / 5

    def reset(self, *, seed=None, options=None):
        self.place = 0
        return super().reset(seed=seed, options=options)

    def step(self, action):
        self.place += 2 * int(action) - 1
        seen, reward, _, _, info = super().step(action)
        return seen, reward, abs(self.place) >= 5, False, info

    def reward(self, action):
        return self.place / 5


def ledge():
    """A fresh Ledge with its time limit."""
    return TimeLimit(Ledge(), 16)


class Anything(gymnasium.Env):
    """Random observations of any space, for actions that must belong to any other."""

    def __init__(self, observation_space, action_space, length=8):
        self.observation_space, self.action_space = observation_space, action_space
        self.length, self.taken = length, []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        self.time = 0
        return self.observation_space.sample(), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        self.taken.append(action)
        self.time += 1
        ended = self.time >= self.length
        terminated = ended and bool(self.np_random.integers(2))
        reward = float(self.np_random.normal())
        return self.observation_space.sample(), reward, terminated, ended and not terminated, {}


class Scripted(gymnasium.Env):
    """Episodes by a script: each a list of rewards and whether it terminates or is truncated.

    Shows the episode's number, its step and the action before; a seeded reset starts the script at
    episode `seed` modulo its length, any other goes on with the next one.
    """

    observation_space = spaces.Box(-np.inf, np.inf, (3,), np.float32)
    action_space = spaces.Box(-np.inf, np.inf, (1,), np.float32)

    def __init__(self, script):
        self.script, self.number = script, -1

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.number = self.number + 1 if seed is None else seed % len(self.script)
        self.time, self.before = 0, 0.0
        return self._see(), {}

    def _see(self):
        return np.array([self.number % len(self.script), self.time, self.before], np.float32)

    def step(self, action):
        rewards, terminates, truncates = self.script[self.number % len(self.script)]
        reward = rewards[self.time] + 0.125 * float(action[0])
        self.time, self.before = self.time + 1, float(action[0])
        over = self.time == len(rewards)
        return self._see(), reward, over and terminates, over and truncates, {}


@dataclass(frozen=True)
class Poison:
    """A base optimiser whose step is no number, or one that takes none; either compiles fast."""

    harmless: bool = False

    def init(self, parameters):
        return ()

    def update(self, architecture, state, policy, batch, bonus, key):
        times = lambda leaf: leaf * (1.0 if self.harmless else jnp.nan)
        return policy._replace(parameters=jax.tree.map(times, policy.parameters)), state, {"kl": 0}


@dataclass(frozen=True)
class Fleeting(NoBonus):
    """An exploration whose state is no number after the first update."""

    def init(self, architecture, key):
        return jnp.zeros(3)

    def update(self, architecture, state, policy, performance, trajectories, key):
        return state.at[1].set(jnp.inf), {}


def fresh(envs: int) -> Earlier:
    """Nothing lies before the batch."""
    zeros = np.zeros(envs, np.float32)
    return Earlier(zeros, zeros, np.zeros(envs, np.int32))


def random_trajectories(seed, envs=ENVS, steps=STEPS, observation=1, head=None, ends=0.1):
    """Trajectories of nothing in particular, in the shapes that SMALL learns from."""
    rng, head = np.random.default_rng(seed), head or CHOOSING.head
    normal = lambda *shape: rng.normal(size=shape).astype(np.float32)
    observations = normal(envs, steps, observation)
    following = np.concatenate([observations[:, 1:], normal(envs, 1, observation)], axis=1)
    terminated, truncated = rng.random((2, envs, steps)) < ends / 2
    ended = terminated | truncated
    following[ended] = normal(int(ended.sum()), observation)
    statistics = np.zeros((envs, steps, head.outputs + head.free), np.float32)
    actions = head.act(statistics, head.noise(rng, (envs, steps)))
    return Trajectories(
        observations, actions, normal(envs, steps), following, terminated, truncated, fresh(envs)
    )


def with_rewards(trajectories: Trajectories, rewards) -> Trajectories:
    """The same trajectories, paid otherwise."""
    shape = trajectories.rewards.shape
    return trajectories._replace(rewards=np.broadcast_to(rewards, shape).astype(np.float32))


def with_paths(method: Method, paths: int) -> Method:
    """The same method with another number of paths."""
    return replace(method, paths=paths)
