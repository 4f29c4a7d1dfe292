"""The arrays that flow through Algorithm 1, and the contracts of its exchangeable parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    import jax

    from mppo.algorithm.policies import Architecture, Policy
    from mppo.algorithm.population import Member

PyTree = Any


class Trajectories(NamedTuple):
    """What the environments said: E environments, T steps each, in the order of time."""

    observations: Any  # [E, T, obs]
    actions: Any  # [E, T, act], as sampled, before any clipping to bounds
    rewards: Any  # [E, T]
    next_observations: Any  # [E, T, obs], at an episode's end its true last observation
    terminated: Any  # [E, T]
    truncated: Any  # [E, T]
    earlier: Earlier


class Earlier(NamedTuple):
    """The part of each environment's first episode that lies before the batch (0 if fresh)."""

    total: Any  # [E] undiscounted return so far
    discounted: Any  # [E] discounted return so far
    length: Any  # [E] steps so far


class Batch(NamedTuple):
    """The samples of one iteration, N = E * T, ready for a policy step."""

    observations: jax.Array  # [N, obs]
    actions: jax.Array  # [N, act]
    statistics: jax.Array  # [N, stat] of the policy before the step
    log_probs: jax.Array  # [N] of the actions before the step
    advantages: jax.Array  # [N] scaled for the step
    raw_advantages: jax.Array  # [N] in units of reward, for the gain of line 10


class Network(Protocol):
    """A network: a frozen dataclass that makes its parameters and applies them.

    The policy's and the value network may be any such; `Mlp` is ours. It must be hashable, since
    compiled programs are kept by it, and `apply` takes one input, not a stack.
    """

    def init(self, key: jax.Array, inputs: int, outputs: int, output_scale: float = 1.0) -> PyTree:
        """Random parameters, a tree of arrays; the last layer's weights times `output_scale`."""
        ...

    def apply(self, parameters: PyTree, x: jax.Array, /) -> jax.Array:
        """The outputs for one input."""
        ...


class Picking(Protocol):
    """Which path to roll out next (lines 2-4), and which policy to show to the world."""

    def pick(self, population: Member, iteration: jax.Array, key: jax.Array) -> jax.Array:
        """Index of the path to roll out."""
        ...

    def report(self, population: Member, iteration: jax.Array, key: jax.Array) -> jax.Array:
        """Index of the path that is evaluated and handed to the user."""
        ...


class Estimator(Protocol):
    """How J of the picked path follows from its episodes (line 6)."""

    @property
    def memory(self) -> int:
        """Number of past returns that each path keeps."""
        ...

    @property
    def unit(self) -> Literal["undiscounted", "discounted"]:
        """What a return is."""
        ...

    def estimate(self, population: Member, i: jax.Array) -> jax.Array:
        """J of path i, whose record already holds the new episodes."""
        ...


class Bonus(Protocol):
    """The part of an objective that exploration adds: zero for most methods."""

    def __call__(self, policy: Policy, observations: jax.Array) -> jax.Array: ...


class Optimiser(Protocol):
    """The base policy optimisation method (line 9)."""

    def init(self, parameters: PyTree) -> PyTree:
        """The optimiser's own state for one path."""
        ...

    def update(
        self,
        architecture: Architecture,
        state: PyTree,
        policy: Policy,
        batch: Batch,
        bonus: Bonus,
        key: jax.Array,
    ) -> tuple[Policy, PyTree, dict[str, jax.Array]]:
        """The improved policy, the new state, and numbers for the log (at least `kl`)."""
        ...


class Exploration(Protocol):
    """What shapes rewards or objective beyond the task: the seam for bonuses."""

    def init(self, architecture: Architecture, key: jax.Array) -> PyTree: ...

    def reward(
        self, architecture: Architecture, state: PyTree, trajectories: Trajectories
    ) -> jax.Array:
        """Rewards [E, T] to learn from: `trajectories.rewards` itself where nothing is added.

        With any other array, advantages are not the task's, and J gets no gain from them.
        """
        ...

    def bonus(self, architecture: Architecture, state: PyTree) -> Bonus:
        """The term added to the policy objective."""
        ...

    def update(
        self,
        architecture: Architecture,
        state: PyTree,
        policy: Policy,
        performance: jax.Array,
        trajectories: Trajectories,
        key: jax.Array,
    ) -> tuple[PyTree, dict[str, jax.Array]]:
        """The state after this iteration; `policy` is the one that acted."""
        ...
