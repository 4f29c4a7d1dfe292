"""The trials of a search: asked of Optuna, trained, told. Several processes may share them.

DIR/trials.journal   what Optuna knows of them
DIR/trials/NNNN/     the runs of one trial, one directory for each seed; locked while it is tried
DIR/turn             its lock decides which process asks or tells next

A trial that says it is running and whose directory nobody holds was lost with its process. It is
marked as failed and asked for once more, with the same values and in the same directory: its runs
go on from their checkpoints.
"""

from __future__ import annotations

import contextlib
import json
import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mppo.callbacks import Callback, Row
from mppo.envs.wrapping import imported_wrapper
from mppo.errors import BadRequest, LearningFault, SettingsWarning
from mppo.experiments.search import Search
from mppo.experiments.study import asked_values, distributions, opened_study, optuna, sampler
from mppo.files import reader
from mppo.files.atomic import Lock, locked, make_folder, turn
from mppo.machine.signals import Interrupts
from mppo.statistics.scores import final_score
from mppo.training.options import Options
from mppo.training.start import begun

LOOK_AGAIN = 0.5  # seconds between looks at what other processes do


class Trial(NamedTuple):
    """One trial as it stands."""

    number: int
    state: str
    """"running", "waiting", "complete", "pruned", "failed" or "lost" (and asked for once more)."""
    value: float | None
    """The mean final score of its seeds; of a pruned one the last that is known."""
    values: dict[str, Any]
    why: str
    folder: str


class Reports(Callback):
    """Tells a trial each evaluation, and stops its run once others were better at this point."""

    def __init__(self, trial: Any, search: Search, scores: Sequence[float]):
        self.trial, self.search, self.scores = trial, search, list(scores)
        self.pruned = False
        self._reported = set(trial.study.trials[trial.number].intermediate_values)

    def on_training_start(self) -> None:
        for row in self.training.evaluations:  # of an earlier process
            self.report(row)

    def on_evaluation(self, row: Row) -> bool:
        self.report(row)
        self.pruned = self.search.pruning and self.trial.should_prune()
        return not self.pruned

    def report(self, row: Row) -> None:
        """The mean of the seeds that are done and of this one as it is now."""
        per_run = self.search.steps // self.search.evaluation.every + 1
        at = per_run * len(self.scores) + row["steps"] // self.search.evaluation.every
        if at not in self._reported and row["mean_return"] is not None:
            self._reported.add(at)
            self.trial.report(float(np.mean([*self.scores, row["mean_return"]])), at)


@dataclass
class Trials:
    """The trials of a search in a directory, and one process that works on them."""

    search: Search
    root: Path
    interrupts: Interrupts | None = None
    told: Callable[[str], None] = lambda line: None
    publish: Callable[[Trials], None] = lambda trials: None
    """Called after each trial, by one process at a time."""

    def __post_init__(self) -> None:
        make_folder(self.root)
        with turn(self.root / "turn"):
            self.study = opened_study(self.search, self.root)
            wanted = self.search.as_json()
            if "search" not in self.study.user_attrs:
                self.study.set_user_attr("search", wanted)
        there = self.study.user_attrs["search"]
        for name, value in wanted.items():
            if there.get(name) != value:
                before, now = json.dumps(there.get(name)), json.dumps(value)
                raise BadRequest(
                    f'"{self.root}" holds a search in which {name} was {before}, now {now}; choose '
                    "another --out"
                )

    def work(self) -> None:
        """Try until all trials are done, by this process or by others, or a signal came."""
        while not self._stopped:
            with turn(self.root / "turn"):
                taken = self._take()
                over = not any(one.state in ("running", "waiting") for one in self.all())
            if taken is not None:
                self._try(*taken)
            elif over:
                break
            else:
                time.sleep(LOOK_AGAIN)
        with turn(self.root / "turn"):
            self.publish(self)

    @property
    def _stopped(self) -> bool:
        return self.interrupts is not None and self.interrupts.received is not None

    def all(self) -> list[Trial]:
        """Every trial, those that were lost included."""
        lost = set(self.study.user_attrs.get("lost", []))
        return [self._described(one, lost) for one in self.study.get_trials(deepcopy=False)]

    def counted(self) -> list[Trial]:
        """Every trial once: one that was lost stands again where it was repeated."""
        return [one for one in self.all() if one.state != "lost"]

    def best(self) -> Trial | None:
        """The complete trial with the highest score; of equal ones the first."""
        done = [one for one in self.counted() if one.state == "complete" and one.value is not None]
        return max(done, key=lambda one: (one.value, -one.number), default=None)

    def _described(self, one: Any, lost: set[int]) -> Trial:
        state: str = "failed" if one.state.name == "FAIL" else one.state.name.lower()
        state = "lost" if one.number in lost else state
        value = one.value if state in ("complete", "pruned") else None
        values = asked_values(self.search, one.params)
        folder = f"{one.user_attrs.get('again', one.number):04}"
        return Trial(one.number, state, value, values, one.user_attrs.get("why", ""), folder)

    def _take(self) -> tuple[Any, Lock] | None:
        """The next trial, held by this process; None where all are done or under way."""
        for one in self.all():
            if one.state == "running" and not locked(self.root / "trials" / one.folder):
                self._repeat(one.number)
                self.told(f"trial {one.number} was lost with its process; it is repeated")
        there = self.counted()
        waits = any(one.state == "waiting" for one in there)
        if not waits and len(there) >= self.search.trials:
            return None
        self.study.sampler = sampler(self.search, len(there))
        trial = self.study.ask(distributions(self.search))
        folder = self._folder(trial)
        folder.mkdir(parents=True, exist_ok=True)
        return trial, Lock(folder)

    def _folder(self, trial: Any) -> Path:
        return self.root / "trials" / f"{trial.user_attrs.get('again', trial.number):04}"

    def _repeat(self, number: int) -> None:
        """Mark a trial as failed, and ask for the same once more."""
        trial = self.study.get_trials(deepcopy=False)[number]
        self.study.set_user_attr("lost", [*self.study.user_attrs.get("lost", []), number])
        self.study.tell(number, state=optuna().trial.TrialState.FAIL, skip_if_finished=True)
        origin = trial.user_attrs.get("again", number)
        self.study.enqueue_trial(trial.params, user_attrs={"again": origin})

    def _try(self, trial: Any, lock: Lock) -> None:
        with contextlib.ExitStack() as held:
            held.callback(lock.release)
            try:
                score, why = self._score(trial)
            except (BadRequest, LearningFault) as error:
                score, why = None, " ".join(str(error).split())
            with turn(self.root / "turn"):
                self._tell(trial, score, why)
                held.close()  # not before: others would take the trial for lost

    def _tell(self, trial: Any, score: float | None, why: str) -> None:
        state = optuna().trial.TrialState
        if why == "stopped":
            self._repeat(trial.number)
            return
        if why and why != "pruned":
            trial.set_user_attr("why", why)
        told = state.PRUNED if why == "pruned" else state.FAIL if why else None
        self.study.tell(trial, score, state=told)
        done = [one for one in self.counted() if one.state not in ("running", "waiting")]
        value = f"{score:.2f}" if score is not None else why
        self.told(f"trial {trial.number}: {value} ({len(done)} of {self.search.trials})")
        self.publish(self)

    def _score(self, trial: Any) -> tuple[float | None, str]:
        """The mean final score of the seeds; or why there is none: a word, or a reason."""
        method = self.search.with_fields(asked_values(self.search, trial.params))
        scores: list[float] = []
        for seed in range(self.search.seeds):
            reports = Reports(trial, self.search, scores)
            folder = self._folder(trial) / f"seed-{seed}"
            rows = self._train(method, seed, folder, reports)
            if self._stopped and not reader.finished(folder):
                return None, "stopped"
            final = reader.json_object(folder / "final.json", reader.LARGEST_RUN) or {}
            # perhaps by a process that could not say so any more
            if reports.pruned or final.get("stopped_by_callback"):
                return None, "pruned"
            returns = np.array([row["mean_return"] for row in rows], float)
            score = float(final_score(returns)) if len(returns) else math.nan
            if not math.isfinite(score):
                return None, "its evaluations have no return"
            scores.append(score)
        return float(np.mean(scores)), ""

    def _train(self, method: Any, seed: int, folder: Path, reports: Reports) -> list[Row]:
        search = self.search
        around = tuple(map(imported_wrapper, search.wrappers))
        sizes: Any = {"steps": search.steps, "seed": seed, **search.evaluation.options}
        options = Options(out=folder, wrappers=around, **sizes)
        with warnings.catch_warnings():
            if reports.trial.number:  # what is to be said of all trials was said of the first
                warnings.simplefilter("ignore", SettingsWarning)
            run = options.run(method, search.env, search.env_kwargs)
        with contextlib.closing(run), begun(run, search.method, options) as training:
            training.to_the_end(reports, self.interrupts)
            for row in training.rows.evaluations:
                reports.report(row)
            return training.rows.evaluations
