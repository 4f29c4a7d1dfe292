"""Optuna, as a search uses it: where it keeps its trials, what it may ask, how it chooses."""

from __future__ import annotations

import contextlib
import json
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from mppo.errors import BadRequest
from mppo.experiments.search import Choices, Search
from mppo.files.atomic import turn

STARTUP_TRIALS = 5  # that are never given up
WARM_UP = 0.2  # of the evaluations, before which no trial is given up


def optuna() -> Any:
    """The package, imported at its first use."""
    try:
        import optuna as package
    except ImportError:
        raise BadRequest('mppo search needs Optuna: pip install "mppo[search]"') from None
    package.logging.set_verbosity(package.logging.ERROR)
    return package


class _JournalLock:
    """What Optuna takes for a lock of its journal: one that the kernel ends with its holder."""

    def __init__(self, file: Path):
        self._file, self._held = file, contextlib.ExitStack()

    def acquire(self) -> bool:
        self._held.enter_context(turn(self._file))
        return True

    def release(self) -> None:
        self._held.close()


def opened_study(search: Search, root: Path) -> Any:
    """The study in a directory, begun if there is none."""
    package = optuna()
    lock: Any = _JournalLock(root / "journal.lock")
    file = str(root / "trials.journal")
    backend = package.storages.journal.JournalFileBackend(file, lock_obj=lock)
    warm_up = int(WARM_UP * search.steps / search.evaluation.every)
    return package.create_study(
        storage=package.storages.JournalStorage(backend),
        study_name="search",
        direction="maximize",
        load_if_exists=True,
        pruner=package.pruners.MedianPruner(STARTUP_TRIALS, warm_up),
    )


def sampler(search: Search, number: int) -> Any:
    """New for every trial, so that a search that goes on asks what it would have asked."""
    mixed = np.random.SeedSequence([search.sampler_seed, number]).generate_state(1)
    samplers = optuna().samplers
    if search.sampler == "random":
        return samplers.RandomSampler(seed=int(mixed[0]))
    return samplers.TPESampler(seed=int(mixed[0]), constant_liar=True)


def importances(study: Any) -> dict[str, float]:
    """How much of the differences between good and other trials each field explains."""
    package = optuna()
    evaluator = package.importance.PedAnovaImportanceEvaluator()  # the others need scikit-learn
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("error")  # too few trials, or all alike
        found = package.importance.get_param_importances(study, evaluator=evaluator)
        return {name: share for name, share in found.items() if math.isfinite(share)}
    return {}


def asked_values(search: Search, asked: dict[str, Any]) -> dict[str, Any]:
    """The values of fields behind what Optuna keeps of them."""
    found = dict(asked)
    for name, kept in asked.items():
        said = search.space[name]
        if isinstance(said, Choices) and kept not in said.values:
            found[name] = next(value for value in said.values if _as_choice(value) == kept)
    return found


def distributions(search: Search) -> dict[str, Any]:
    """What may be asked of each field, in Optuna's words."""
    kinds, found = optuna().distributions, {}
    for name, one in search.space.items():
        if isinstance(one, Choices):
            made = kinds.CategoricalDistribution([_as_choice(value) for value in one.values])
        elif one.whole:
            made = kinds.IntDistribution(int(one.low), int(one.high), one.log, int(one.step or 1))
        else:
            made = kinds.FloatDistribution(one.low, one.high, one.log, one.step)
        found[name] = made
    return found


def _as_choice(value: Any) -> Any:
    """What Optuna can keep: lists are written as words."""
    plain = value is None or isinstance(value, bool | int | float | str)
    return value if plain else json.dumps(value)
