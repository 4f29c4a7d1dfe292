"""What is asked of a run, checked before anything is made of it, or changed in it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from mppo.algorithm.methods import Method
from mppo.algorithm.networks import Mlp
from mppo.algorithm.performance import Unfinished
from mppo.algorithm.schedules import rates
from mppo.envs.masking import with_masks
from mppo.envs.source import EnvSource
from mppo.errors import BadRequest, SettingsWarning, SlowPath
from mppo.files.changes import differences
from mppo.files.evaluation import Evaluation
from mppo.machine.lazy import jax
from mppo.machine.seeding import LARGEST

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


def check(method: Method, steps: int, seed: int, evaluation: Evaluation, workers: int) -> None:
    """Raise for numbers that no run can have."""
    if steps < method.batch_size:
        raise BadRequest(
            f"steps is {steps}, which is below one batch of {method.batch_size}; give at least "
            f"--steps {method.batch_size}, or a smaller --batch-size"
        )
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not whole or not 0 <= seed <= LARGEST:
        raise BadRequest(f"seed is {seed!r}; give a whole number from 0 to {LARGEST} (2^63 - 1)")
    if workers < 0:
        raise BadRequest(
            f"workers is {workers}; give how many threads or processes, or 0 for as many as pay"
        )
    if evaluation.every < 0 or (evaluation.every and evaluation.episodes < 1):
        raise BadRequest(
            f"evaluation every {evaluation.every} steps with {evaluation.episodes} episodes; "
            "give at least one episode, or --eval-every 0 for no evaluation"
        )


def prepared(method: Method, on: EnvSource) -> EnvSource:
    """The task as the method sees it: its choices masked, its actions squashed into bounds."""
    if method.action_masks and not on.spaces.masked:
        on = with_masks(on)
    if method.actions == "squashed":
        on = replace(on, spaces=replace(on.spaces, squash=True))
    _ = on.spaces.head, on.spaces.mask  # refuse what cannot be served before anything is made
    return on


def refuse_sharing(on: EnvSource, method: Method, evaluation: Evaluation) -> None:
    """Raise where training and evaluation would step each other's episodes."""
    if method.episodes == "continue-per-path" and not on.resumes:
        raise BadRequest(
            'episodes="continue-per-path" keeps a state of the environment for each path, and '
            f'"{on.name}" cannot tell its own; use "continue" or "fresh"'
        )
    if on.shared and method.episodes == "continue" and evaluation.every:
        raise BadRequest(
            f'episodes="continue" with evaluations needs environments for each, and "{on.name}" is '
            "a single instance; give a callable that makes it, or eval_every=0"
        )


def unfinished(method: Method, on: EnvSource, envs: int) -> Unfinished:
    """What J makes of episodes that a batch cuts (decision 0036), said where it is a makeshift.

    Too many environments for whole episodes, where fewer would do, are refused.
    """
    if on.horizon is None:
        return "window"
    batch, limit = method.batch_size, on.horizon
    steps = batch // envs
    if steps >= limit:
        return "drop"
    if method.episodes == "fresh" and not on.count and batch >= limit:
        raise BadRequest(
            f"{envs} environments share a batch of {batch} steps, {steps} each, and an episode of "
            f'"{on.name}" may take {limit}: no batch would hold a whole one. Use --envs '
            f"{on.envs_for(batch)}, a --batch-size of {envs * limit} or more, or --episodes "
            "continue"
        )
    warnings.warn(
        f'a batch gives each environment {steps} steps, and an episode of "{on.name}" may take '
        f"{limit}: J counts unfinished episodes by their return so far plus V; use --batch-size "
        f"{envs * limit} or more for whole episodes",
        SettingsWarning,
        stacklevel=3,
    )
    return "bootstrap"


def rates_at(method: Method, done: float) -> dict[str, float]:
    """What the schedules say after that share of the run's budget."""
    try:
        return rates(method, 1 - done)
    except ValueError as error:
        raise BadRequest(str(error)) from error


def say_cut(cut: int, episodes: int, name: str, longest: int) -> None:
    """Warn that episodes of an evaluation were stopped before their end."""
    warnings.warn(
        f'{cut} of {episodes} evaluation episodes on "{name}" were stopped after {longest:,} '
        "steps: their returns are those of that many steps; a time limit "
        "(gymnasium.wrappers.TimeLimit) gives whole episodes",
        SettingsWarning,
        stacklevel=3,
    )


def say_slow(method: Method) -> None:
    """Warn of a network that the compiled loop does not know."""
    if not isinstance(method.network, Mlp):
        warnings.warn(
            f"{type(method.network).__name__} is not an Mlp: its actions come from a compiled "
            "call for each step, which is slower than the compiled loop of an Mlp",
            SlowPath,
            stacklevel=3,
        )


def refuse_fixed(old: Method, new: Method) -> None:
    """Raise for fields that never change."""
    for name in differences(old, new):
        for field, why in FIXED.items():
            if name == field or name.startswith(f"{field}."):
                keyword = name.replace(".", "__")
                raise BadRequest(
                    f'"{keyword}" of a model cannot change: {why}; make another model with it: '
                    f"MPPO(env, ..., {keyword}=...)"
                )


def refuse_misfit(old: Method, new: Method, init: Any, state: Any) -> None:
    """Raise where what was learnt would need arrays of another form."""
    like = jax.eval_shape(init, jax.random.key(0))
    shapes = lambda tree: jax.tree.map(lambda leaf: (leaf.shape, str(leaf.dtype)), tree)
    if jax.tree.structure(like) != jax.tree.structure(state) or shapes(like) != shapes(state):
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
