"""Names that Stable-Baselines3 has for settings, each answered with what does the same here."""

# pyright: strict
from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import cache
from typing import Any

from mppo.algorithm.methods import Method
from mppo.errors import BadRequest, did_you_mean

NONE = "there is nothing like it here"
NAMES: dict[str, tuple[str, ...]] = {
    "policy": ("the environment comes first, and the network is `network.hidden`", NONE),
    "policy_kwargs": (
        "here the networks are `network.hidden` and `critic.network.hidden`",
        "here the networks are `network` and `critic.network`",
    ),
    "learning_rate": (
        "here it is `optimiser.learning_rate`, and `critic.learning_rate` of the value network",
        "this optimiser has none: `optimiser.max_kl` sets the length of its step; "
        "`critic.learning_rate` is the value network's",
        "this optimiser has none; `critic.learning_rate` is the value network's",
    ),
    "n_steps": ("here it is `batch_size` (steps of all environments together)",),
    "n_envs": ("here it is `envs` (`batch_size` counts the steps of all of them together)",),
    "n_epochs": (
        "here it is `optimiser.epochs`, and `critic.epochs` of the value network",
        "this optimiser makes one step of each batch; `critic.epochs` is the value network's",
    ),
    "clip_range": (
        "optimiser.clip",
        "this optimiser clips nothing: `optimiser.max_kl` bounds its step",
        "this optimiser has none",
    ),
    "clip_range_vf": ("critic.clip",),
    "ent_coef": ("optimiser.entropy_coefficient", "this optimiser has none"),
    "vf_coef": (
        "there is none: the value network shares nothing with the policy and has a step size of "
        "its own, `critic.learning_rate`",
    ),
    "max_grad_norm": (
        "optimiser.max_gradient_norm",
        "this optimiser clips no gradient: `optimiser.max_kl` bounds its step",
        "this optimiser has none",
    ),
    "target_kl": ("optimiser.max_kl", "optimiser.target_kl", "this optimiser has none"),
    "cg_max_steps": ("optimiser.cg_iterations", "this optimiser solves no system"),
    "cg_damping": ("optimiser.damping", "this optimiser solves no system"),
    "line_search_shrinking_factor": ("optimiser.shrink", "this optimiser has no line search"),
    "line_search_max_iter": ("optimiser.backtracks", "this optimiser has no line search"),
    "n_critic_updates": ("critic.epochs",),
    "sub_sampling_factor": (
        "here it is `optimiser.fisher_stride` (for Fisher products alone)",
        "this optimiser makes no Fisher products",
    ),
    "normalize_advantage": ('here it is `advantage_scaling`, "standardised" by default',),
    "use_sde": ("the noise of actions is drawn anew in every step here",),
    "sde_sample_freq": ("the noise of actions is drawn anew in every step here",),
    "rollout_buffer_class": ("batches are arrays here, of `batch_size` steps",),
    "rollout_buffer_kwargs": ("batches are arrays here, of `batch_size` steps",),
    "stats_window_size": (
        "returns are means over the episodes that ended in a batch here, and over the last 100",
    ),
    "ortho_init": (
        'here it is `network.weights` and `critic.network.weights`, "orthogonal"',
        "here the networks are `network` and `critic.network`",
    ),
    "norm_reward": ('here it is `reward_scaling`, "returns"',),
    "norm_obs": ('here it is `observation_filter`, "per-path" by default',),
    "squash_output": ('here it is `actions`, "squashed"',),
    "device": ("networks this small are fastest on the CPU, where they always are here",),
    "n_policies": ("paths",),
    "pick_alpha": ("picking.alpha", 'this rule has none, picking="weighted" has'),
    "eval_freq": ("here it is eval_every (steps of all environments together)",),
    "n_eval_episodes": ("here it is eval_episodes",),
    "total_timesteps": ("it is an argument of learn(total_timesteps)",),
    "tensorboard_log": ("it is an argument of MPPO(...)",),
    "verbose": ("it is an argument of MPPO(...)",),
}
"""For each the answers; that one holds whose fields, between backticks, the method has got.

An answer of one word is the field that does the same.
"""
ON_THE_COMMAND_LINE: dict[str, tuple[str, ...]] = {
    "pick_alpha": ("picking.alpha", "this rule has none, --picking weighted has"),
    "eval_freq": ("here it is --eval-every (steps of all environments together)",),
    "n_eval_episodes": ("here it is --eval-episodes",),
    "total_timesteps": ("here it is --steps",),
    "tensorboard_log": ("here it is --tensorboard",),
    "verbose": ("lines are printed unless there is --quiet",),
}
SETTINGS_STAY = (
    "Settings are given to the constructor. To go on with others: model.set(gamma=0.99); or make "
    "another model and hand over what was learnt: other.set_parameters(model.get_parameters())"
)
_FIELD = re.compile(r"`([\w.]+)`")


def keyword(field: str) -> str:
    """A field as Python's keywords write it.

    >>> keyword("critic.network.hidden")
    'critic__network__hidden'
    """
    return field.replace(".", "__")


def flag(field: str) -> str:
    """A field as the command line writes it.

    >>> flag("critic.learning_rate")
    '--critic.learning-rate'
    """
    return f"--{field.replace('_', '-')}"


def answer(name: str, method: Method, spelt: Callable[[str], str] = keyword) -> str:
    """What stands in the place of a name of Stable-Baselines3's; nothing for other names.

    >>> answer("target_kl", Method())
    'here it is optimiser__max_kl'
    >>> answer("n_epochs", Method(), flag)
    "this optimiser makes one step of each batch; --critic.epochs is the value network's"
    """
    own = ON_THE_COMMAND_LINE if spelt is flag else {}
    for text in own.get(name) or NAMES.get(name, ()):
        text = text if " " in text else f"here it is `{text}`"
        if all(_has(method, field) for field in _FIELD.findall(text)):
            return _FIELD.sub(lambda found: spelt(found[1]), text)
    return ""


def refuse_policy(env: Any) -> None:
    """Raise for the name of a policy, which elsewhere comes before the environment."""
    if isinstance(env, str) and env.endswith("Policy"):
        raise BadRequest(
            f'"{env}" is no environment; give the environment first: MPPO("Hopper-v5", '
            'method="mp-trpo"); the network is network={"hidden": (64, 64)}'
        )


@cache
def reserved(model: type) -> frozenset[str]:
    """All names that mean something on a model of this class or as one of its settings."""
    given = inspect.signature(model.__init__).parameters
    settings = (field.name for field in fields(Method))
    public = (name for name in dir(model) if not name.startswith("_"))
    return frozenset({*given, *settings, *public, *NAMES, "run", "method_name"})


def not_settable(name: str, method: Method, known: Iterable[str]) -> BadRequest:
    """The refusal to set an attribute of a model that is none, or that would change nothing."""
    said = answer(name, method)
    if said or name in known:
        hint = f"; {said}. {SETTINGS_STAY}" if said else f". {SETTINGS_STAY}"
    else:
        hint = did_you_mean(name, known, SETTINGS_STAY)
    return BadRequest(f'"{name}" of a model cannot be set{hint}')


def _has(component: Any, field: str) -> bool:
    for part in field.split("."):
        if not hasattr(component, part):
            return False
        component = getattr(component, part)
    return True
