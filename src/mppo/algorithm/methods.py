"""The design space of the paper and its named points: methods are values of one type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from mppo.algorithm.advantages import Scaling, TimeLimit
from mppo.algorithm.contest import Contest
from mppo.algorithm.critic import Critic
from mppo.algorithm.exploration.curiosity import Curiosity
from mppo.algorithm.exploration.diversity import Diversity
from mppo.algorithm.exploration.none import NoBonus
from mppo.algorithm.exploration.rnd import Rnd
from mppo.algorithm.networks import Mlp
from mppo.algorithm.optimisers.ppo import Ppo
from mppo.algorithm.optimisers.trpo import Trpo
from mppo.algorithm.performance import BatchMean, Shrunk, Window
from mppo.algorithm.picking import Best, MaxEntropy, RoundRobin, Uniform, Weighted
from mppo.algorithm.population import Replacement
from mppo.algorithm.schedules import Schedule
from mppo.algorithm.sharing import NoSharing, Successes
from mppo.algorithm.styles import Style, style
from mppo.algorithm.surrogate import Gain
from mppo.algorithm.types import Estimator, Exploration, Network, Optimiser, Picking
from mppo.errors import check_ranges

DOES = {"optimiser": "update", "picking": "pick", "exploration": "reward", "critic": "fit"}
"""The components of a method, each with a function that it must have."""


@dataclass(frozen=True)
class Method:
    """One algorithm: everything that decides what is learnt from the samples.

    >>> METHODS["trpo"] == replace(METHODS["mp-trpo"], paths=1)
    True
    """

    optimiser: Optimiser = Trpo()
    """Base policy optimiser (line 9)."""
    paths: int = 1
    """Policies in the buffer (K)."""
    picking: Picking = Weighted()
    """Which path is rolled out next (lines 2-4)."""
    estimator: Estimator = BatchMean()
    """How J follows from the episodes (line 6)."""
    value: Literal["shared", "independent"] = "shared"
    """One value network for all paths, or one for each."""
    replacement: Replacement = "self"
    """Where the improved policy goes: back to its own place, or over the worst path."""
    exploration: Exploration = NoBonus()
    """Bonus to reward or objective."""
    critic: Critic = Critic()
    """The value regression (line 7)."""
    network: Network = Mlp()
    """The policy network."""
    batch_size: int = 5000
    """Environment steps of one iteration."""
    gamma: float = 0.995
    """Discount factor."""
    gae_lambda: float = 0.97
    """Lambda of the generalised advantage estimation."""
    gain: Gain = "centred"
    """What line 10 adds to J: Eq. (1) on centred raw advantages, or another reading of it."""
    entropy: Literal["shannon", "tsallis"] = "shannon"
    """The entropy of the picking rule."""
    tsallis_index: float = 2.0
    """Index q of the Tsallis entropy."""
    advantages_from: Literal["old-value", "new-value"] = "old-value"
    """Advantages from V before its fit (base code) or after it (the order of Algorithm 1)."""
    advantage_scaling: Scaling = "standardised"
    """How advantages are scaled for the policy step."""
    time_limit: TimeLimit = "bootstrap"
    """Whether a time limit ends the value of a state, or V of the last state goes on."""
    episodes: Literal["fresh", "continue", "continue-per-path"] = "fresh"
    """Whether every iteration starts new episodes, goes on while the path stays the same, or goes
    on with those that the path itself left."""
    observation_filter: Literal["per-path", "shared", "none"] = "per-path"
    """Running standardisation of what policies see."""
    actions: Literal["auto", "raw", "clipped", "squashed"] = "auto"
    """Pass samples to the environment raw, clipped to bounds, or by tanh into them; auto: raw on
    the paper's tasks, else clipped."""
    action_masks: bool = False
    """Never take a choice that the environment forbids: by action_masks(), info["action_mask"] or
    an observation of that name."""
    reward_scaling: Literal["none", "returns"] = "none"
    """Learn from rewards as they are, or divided by the running deviation of discounted returns."""
    envs: int = 0
    """Environments side by side; 0: as many whole episodes as fit into a batch."""
    styles: tuple[Style, ...] = ()
    """How each path explores, in turn: names (alike, apart, persistent, curious), or changes of
    them as in apart:sigma=0.5; none: all paths begin alike."""

    race: int = 0
    """Iterations at the start in which many random policies race for the places of paths that
    begin apart."""

    sharing: NoSharing | Successes = NoSharing()
    """What paths learn from the episodes of others."""

    def __post_init__(self) -> None:
        given: Any = self.styles  # one word, or one style, stands for all paths
        several = given if isinstance(given, list | tuple) else (given,)
        self._check_kinds(several)
        made = (style(one) if isinstance(one, str) else one for one in several)
        object.__setattr__(self, "styles", tuple(made))
        for name, low in (("paths", 1), ("batch_size", 2), ("envs", 0), ("race", 0)):
            if getattr(self, name) < low:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least {low}")
        self._check_styles()
        check_ranges(self, gamma=(0, 1), gae_lambda=(0, 1))
        for name, network in (("network", self.network), ("critic.network", self.critic.network)):
            if not (callable(getattr(network, "init", None)) and hasattr(network, "apply")):
                raise ValueError(
                    f"{name} is {network!r}; it must be Mlp(...) or a frozen dataclass with "
                    "init(key, inputs, outputs, output_scale) and apply(parameters, x)"
                )
        if self.tsallis_index <= 0:
            raise ValueError(f"tsallis_index is {self.tsallis_index}; it must be positive")

    def _check_kinds(self, styles: Sequence[Any]) -> None:
        """Raise for what is no component at all, before anything is asked of it."""
        for one in styles:
            if not isinstance(one, str | Style):
                raise ValueError(f"styles holds {one!r}; give names, as in apart:sigma=0.5")
        for name, work in DOES.items():
            if not callable(getattr(getattr(self, name), work, None)):
                raise ValueError(
                    f"{name} is {getattr(self, name)!r}; it must be the name of a kind, or a "
                    f"frozen dataclass with {work}(...)"
                )

    def _check_styles(self) -> None:
        """Raise for styles that the rest of the method leaves without effect."""
        paid = any(one.bonus for one in self.styles)
        bonus = not isinstance(self.exploration, NoBonus)
        if paid and not bonus:
            raise ValueError(
                "a style takes a bonus, and the method has none; add --exploration curiosity"
            )
        apart = isinstance(self.exploration, Rnd) or self.looks_back  # else all paths take it
        if self.styles and bonus and not paid and apart:
            raise ValueError("the method has a bonus, and no style takes it; give one bonus=1")
        # a user's optimiser may have a trust region as well as ours
        if any(one.reach != 1 for one in self.styles) and not hasattr(self.optimiser, "max_kl"):
            raise ValueError("a style has a reach of its own, which needs --optimiser trpo")
        if any(one.recalls and not one.bonus for one in self.styles):
            raise ValueError("a style recalls the task beside its bonus, and has none: give bonus")
        if self.race and not (self.looks_back and self.styles):
            raise ValueError(
                f"race is {self.race}, which needs --picking contest and styles that begin apart"
            )
        sights = {one.filter for one in self.styles} - {"running"}
        if sights and self.observation_filter != "per-path":
            raise ValueError(
                f"a style has the filter {sorted(sights)[0]!r}, which needs the observation_filter "
                f"per-path; it is {self.observation_filter!r}"
            )
        for sight in sorted(sights & {"folded", "turning"}):
            if not isinstance(self.network, Mlp):
                raise ValueError(
                    f"the filter {sight!r} needs an Mlp; the network is {self.network!r}"
                )
        if self.turns and not isinstance(self.critic.network, Mlp):
            raise ValueError(
                f"the filter 'turning' needs an Mlp; critic.network is {self.critic.network!r}"
            )

    @property
    def value_networks(self) -> int:
        """How many value networks there are; path i uses number i modulo this."""
        return self.paths if self.value == "independent" else 1

    @property
    def bonus_apart(self) -> bool:
        """Whether the bonus has a value of its own: where paths differ in it, and with RND."""
        return any(one.bonus for one in self.styles) or isinstance(self.exploration, Rnd)

    @property
    def recalls(self) -> bool:
        """Whether some path learns from what V remembers in batches without a signal."""
        return any(one.bonus and one.recalls for one in self.styles)

    @property
    def looks_back(self) -> int:
        """How many of a path's batches the picking rule looks back on."""
        return getattr(self.picking, "looks_back", 0)  # a rule of a user's need not have it

    @property
    def renews(self) -> bool:
        """Whether the picking rule may have paths drawn anew."""
        plain = any(not one.bonus for one in self.styles)
        return isinstance(self.picking, Contest) and plain and len(self.styles) > 1

    @property
    def races_again(self) -> bool:
        """Whether the picking rule may ask for further rounds of the race; none without a first."""
        return isinstance(self.picking, Contest) and self.picking.races_again and self.race > 0

    @property
    def folds(self) -> bool:
        """Whether some filters move without changing their policies."""
        return any(one.filter == "folded" for one in self.styles)

    @property
    def turns(self) -> bool:
        """Whether some paths see sines and cosines."""
        return any(one.filter == "turning" for one in self.styles)

    @property
    def entropy_index(self) -> float:
        """Index of the entropy; 1 is Shannon's."""
        return 1.0 if self.entropy == "shannon" else self.tsallis_index


COMPONENTS: dict[str, dict[str, type]] = {
    "optimiser": {"trpo": Trpo, "ppo": Ppo},
    "picking": {
        "weighted": Weighted,
        "best": Best,
        "max-entropy": MaxEntropy,
        "round-robin": RoundRobin,
        "uniform": Uniform,
        "contest": Contest,
    },
    "estimator": {"batch-mean": BatchMean, "window": Window, "shrunk": Shrunk},
    "exploration": {"none": NoBonus, "curiosity": Curiosity, "diversity": Diversity, "rnd": Rnd},
    "sharing": {"no-sharing": NoSharing, "successes": Successes},
    "network": {"mlp": Mlp},
}
"""The alternatives of every axis of the design space, by the name used everywhere."""


def family(name: str, base: Method, paths: int) -> dict[str, Method]:
    """The paper's seven methods over one base optimiser."""
    multi = replace(base, paths=paths, picking=RoundRobin())
    multi_path = replace(base, paths=paths, picking=Weighted(alpha=0.1))
    return {
        name: base,
        f"multi-{name}": multi,
        f"multi-{name}-independent": replace(multi, value="independent"),
        f"mp-{name}": multi_path,
        f"mp-{name}-replace-worst": replace(multi_path, replacement="worst"),
        f"curiosity-{name}": replace(base, exploration=Curiosity()),
        f"div-{name}": replace(base, exploration=Diversity()),
    }


SPREAD = (
    "curious:choice_persistence=0.9,recalls=1",
    "alike:filter=turning",
    "apart:choice_persistence=0.95",
    "apart:filter=folded,choice_persistence=0.9",
    "persistent:choice_persistence=0.8",
    "apart:choice_persistence=0.9",
    "apart:filter=folded,choice_persistence=0.9",
    "apart:filter=folded",
)
"""The styles of spread paths: the first is the one that learns where exploration is easy."""


def spread(base: Method, race: int, reach: float = 1.0) -> Method:
    """Spread paths: one style of exploration for each path, and a contest between them."""
    first, *others = map(style, SPREAD)
    return replace(
        base,
        paths=len(SPREAD),
        styles=(replace(first, reach=reach), *others),
        picking=Contest(
            share=5, looks_back=20, trial=10, comeback=0.75, races_again=True, promising=0.5
        ),
        estimator=Window(),
        exploration=Curiosity(),
        race=race,
        value="independent",
    )


PPO_CRITIC = Critic(epochs=10, learning_rate=3e-4, adam_epsilon=1e-5)
METHODS: dict[str, Method] = family("trpo", Method(Trpo()), paths=8)
METHODS |= family("ppo", Method(Ppo(), critic=PPO_CRITIC, batch_size=2048), paths=2)
PAPER_METHODS = tuple(METHODS)
SHORTER_STEPS_LATER = Trpo(max_kl=Schedule("late", 0.01, 0.0003))
METHODS |= {
    "sp-trpo": spread(replace(METHODS["trpo"], optimiser=SHORTER_STEPS_LATER), race=4, reach=3.0),
    "sp-ppo": spread(METHODS["ppo"], race=10),
}
