"""Which settings of a model may change after it has learnt, and why others may not."""

from __future__ import annotations

from typing import Any

from mppo.algorithm.methods import Method
from mppo.envs.source import EnvSource
from mppo.errors import BadRequest
from mppo.files.changes import differences
from mppo.machine.lazy import jax

FIXED = {
    "network": "the weights of the policies are made for it",
    "critic.network": "the weights of the value network are made for it",
    "critic.filtered": "V was fitted to what it saw",
    "paths": "there are as many policies as it says",
    "styles": "each path began by its own",
    "value": "there are as many value networks as it says",
    "batch_size": "steps are counted in whole batches of that size",
    "envs": "its random streams belong to that many environments",
    "episodes": "its random streams belong to episodes that begin so",
    "observation_filter": "the policies have learnt what they see through it",
    "actions": "the policies have learnt what their actions do",
    "action_masks": "the policies have learnt to see with it",
}
"""Fields that cannot change, each with the reason."""
WAY_OUT = "make another model with it: MPPO(env, ..., {}=...)"


def refuse_fixed(old: Method, new: Method) -> None:
    """Raise for fields that never change."""
    for name in differences(old, new):
        for field, why in FIXED.items():
            if name == field or name.startswith(f"{field}."):
                keyword = name.replace(".", "__")
                raise BadRequest(
                    f'"{keyword}" of a model cannot change: {why}; {WAY_OUT.format(keyword)}'
                )


def refuse_misfit(old: Method, new: Method, init: Any, state: Any) -> None:
    """Raise where what was learnt would need arrays of another form."""
    like = jax.eval_shape(init, jax.random.key(0))
    shapes = lambda tree: jax.tree.map(lambda leaf: (leaf.shape, str(leaf.dtype)), tree)
    same = jax.tree.structure(like) == jax.tree.structure(state) and shapes(like) == shapes(state)
    if not same:
        names = ", ".join(name.replace(".", "__") for name in differences(old, new))
        raise BadRequest(
            f"{names}: the model cannot change so, because what it has learnt would need arrays of "
            "another form; make another model with it: MPPO(env, ...)"
        )


def refuse_other_spaces(old: EnvSource, new: EnvSource) -> None:
    """Raise where a policy would see or do something else than it was made for."""
    here, there = old.spaces, new.spaces
    if (here.observation, here.action) != (there.observation, there.action):
        raise BadRequest(
            f'"{new.name}" has the spaces {there.observation} and {there.action}; the policy '
            f"was made for {here.observation} and {here.action}"
        )
