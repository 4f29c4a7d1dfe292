"""The loop around a run: iterate, evaluate, record, checkpoint, call back."""

from __future__ import annotations

import contextlib
import importlib.metadata
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass
from pathlib import Path
from typing import Any

import safetensors.numpy

from mppo import callbacks
from mppo.acting.agent import Agent
from mppo.algorithm.methods import METHODS
from mppo.errors import EnvironmentFault, LearningFault, WorkersLost
from mppo.files import checkpoints, settings
from mppo.files.atomic import reported, write_atomically
from mppo.files.changes import changes_that_hold
from mppo.files.reader import FORMAT, History, history, rows
from mppo.files.run_directory import RunDirectory
from mppo.loggers import Loggers, Record
from mppo.machine.signals import Interrupts
from mppo.training.options import Options
from mppo.training.run import Row, Run

Function = Callable[[str, Row], bool | None]
Callback = callbacks.Callback | Function | Sequence[callbacks.Callback | Function]
SAVE_EVERY = 60.0  # seconds that are lost at most, where saving does not change the run
RESET_EVERY = 10  # iterations between checkpoints, where it does


@dataclass(eq=False)
class Training:
    """The loop around a run: rows written, checkpoints saved, callbacks called."""

    run: Run
    directory: RunDirectory | None
    method_name: str
    options: Options
    earlier: InitVar[History | None] = None

    def __post_init__(self, earlier: History | None) -> None:
        self.steps: int = self.run.steps  # after which the run in the directory is finished
        self.rows: History = History(*map(list, earlier or History([], [], [])))
        self._read_rows()
        self.stopped: bool = False  # by a callback
        self.took: Row = {}  # the row of timing.jsonl of the last iteration
        self._saved_at, self._saved = time.monotonic(), -1

    def _read_rows(self) -> None:
        """Where there is a directory, the rows are those in its files."""
        if self.directory is not None:
            self.rows = history(self.directory.path)

    @property
    def evaluations(self) -> list[Row]:
        """All evaluations so far, those of earlier sessions included."""
        return self.rows.evaluations

    @property
    def folder(self) -> Path | None:
        """The run directory, if there is one."""
        return None if self.directory is None else self.directory.path

    def description(self) -> Row:
        """What `run.json` says."""
        return describe(self.run, self.method_name)

    def to_the_end(
        self, callback: Callback | None = None, interrupts: Interrupts | None = None
    ) -> Agent:
        """Iterate until the budget is spent, a callback says stop, or a signal came."""
        run, directory = self.run, self.directory
        if directory is None or not directory.finished:
            self._iterate(callbacks.as_callback(callback), interrupts)
            self.save(at_end=self.stopped)
            if not self.stopped and run.iteration * run.method.batch_size < self.steps:
                self._event("stopped")
            elif directory is not None:
                self._finish(directory)
        self._read_rows()
        agent = run.agent()
        agent.metrics, agent.evaluations = self.rows.metrics, self.rows.evaluations
        return agent

    def _event(self, what: str, **details: Any) -> None:
        """Note that something happened, where there is a directory."""
        if self.directory is not None:
            self.directory.event(what, iteration=self.run.iteration, **details)

    def _iterate(self, callback: callbacks.Callback, interrupts: Interrupts | None) -> None:
        run, logs = self.run, Loggers(self.options.loggers)
        if self.options.loggers:
            logs.start(self.description(), self.folder, self.rows)
        with contextlib.ExitStack() as ending:
            ending.callback(logs.close)
            callback.training = self
            callback.on_training_start()
            ending.callback(callback.on_training_end)
            while run.iteration < run.iterations and not self.stopped:
                if interrupts is not None and interrupts.received is not None:
                    break
                row, evaluation = self._step()
                logs(Record(row, self.took, evaluation))
                self._call(callback, row, evaluation)
                if self._save_due():
                    self.save()

    def _call(self, callback: callbacks.Callback, row: Row, evaluation: Row | None) -> None:
        """Tell the callback; whatever it raises or does to the rows, the run is not lost."""
        try:
            self.stopped = callback("iteration", {**row}) is False
            if evaluation is not None:
                self.stopped |= callback("evaluation", {**evaluation}) is False
        except Exception as error:
            self._event("callback failed", message=f"{type(error).__name__}: {error}")
            self.save()
            raise

    def _step(self) -> tuple[Row, Row | None]:
        """One iteration and, where it is due, an evaluation; their rows are written."""
        started, before = time.perf_counter(), self.run.iteration
        try:
            row = self.run.iterate()
            learnt = time.perf_counter()
            evaluation = self.run.evaluate() if self.run.evaluation_due() else None
        except (EnvironmentFault, LearningFault, WorkersLost) as fault:
            self._note()
            self._record(fault)
            if before == self.run.iteration > 0 and self.run.method.episodes == "fresh":
                self.save()  # the iteration that failed is the only one to be done again
            raise
        self._note()
        self.took = {
            "iteration": row["iteration"],
            "steps": row["steps"],
            "simulation": self.run.simulation,
            "learning": learnt - started - self.run.simulation,
            "evaluation": time.perf_counter() - learnt,
        }
        rows = {"metrics": row, "timing": self.took}
        rows |= {} if evaluation is None else {"evaluations": evaluation}
        for log, one in rows.items():
            if self.directory is None:
                getattr(self.rows, log).append(one)
            else:  # in files, so that memory does not grow
                self.directory.append(f"{log}.jsonl", one)
        return row, evaluation

    def _note(self) -> None:
        """Write down what was said of workers."""
        notes, self.run.notes = self.run.notes, []
        for note in notes:
            self._event("workers", message=note)

    def _at_boundary(self) -> bool:
        """Whether the run may be saved now without changing it."""
        n = self.run.iteration
        return self.run.resumes_bitwise or n % (self.options.checkpoint_every or RESET_EVERY) == 0

    def _save_due(self) -> bool:
        if self.run.resumes_bitwise and not self.options.checkpoint_every:
            return time.monotonic() - self._saved_at > SAVE_EVERY
        return self.run.iteration % (self.options.checkpoint_every or RESET_EVERY) == 0

    def save(self, at_end: bool = False) -> None:
        """Write a checkpoint unless the newest is of this iteration.

        Environments that go on from batch to batch and cannot tell their state start anew after
        every checkpoint, in interrupted and uninterrupted runs alike.
        """
        at_end = at_end or self.run.iteration >= self.run.iterations
        if self._saved == self.run.iteration or not (self._at_boundary() or at_end):
            return
        if not self.run.resumes_bitwise:
            self.run.collector.forget()
        if self.directory is None:
            return
        arrays, data = self.run.snapshot()
        self.directory.save(self.run.iteration, arrays, data)
        self._saved_at, self._saved = time.monotonic(), self.run.iteration

    def _record(self, fault: Exception) -> None:
        """Leave what is known of a fault in the run directory."""
        if self.directory is None:
            return
        folder = self.directory.path / "fault"
        with reported(folder):
            folder.mkdir(exist_ok=True)
        self._event("fault", message=str(fault))
        if isinstance(fault, LearningFault) and self.run.trajectories is not None:
            content = safetensors.numpy.save(checkpoints.named_arrays(self.run.trajectories, ""))
            write_atomically(folder / "batch.safetensors", content)

    def _finish(self, directory: RunDirectory) -> None:
        """Write what is only known at the end; `final.json` last."""
        run = self.run
        if run.visits is not None:
            layout: Any = run.collector.envs.layout  # type: ignore
            maze = {"walls": layout.walls.astype(int), "start": layout.start, "goal": layout.goal}
            directory.write("visits.json", {**maze, "counts": run.visits}, indent=None)
        evaluations = rows(directory.path, "evaluations.jsonl")
        last = evaluations[-1] if evaluations else {}
        final = {
            "iterations": run.iteration,
            "steps": run.iteration * run.method.batch_size,
            "stopped_by_callback": self.stopped,
            "evaluation": {key: last.get(key) for key in ("steps", "path", "mean_return")},
            "state_sha256": run.digest(),
        }
        directory.write("final.json", final)
        self._event("finished")


def describe(run: Run, method_name: str) -> Row:
    """What `run.json` says: enough to run it again.

    The name is one of ours only together with the changes that make the method of it.
    """
    name = method_name if method_name in METHODS else "custom"
    packages = ("jax", "jaxlib", "numba", "numpy", "optax", "gymnasium", "mujoco")
    return {
        "format": FORMAT,
        "method_name": name,
        "changes": changes_that_hold(name, run.method),
        "method": settings.to_json(run.method),
        "env": run.task.name,
        "env_kwargs": run.task.kwargs,
        **({"wrappers": run.task.wrappers} if run.task.wrappers else {}),
        **({"env_from_python": True} if run.task.from_python else {}),
        "seed": run.seed,
        "steps": run.steps,
        "iterations": run.iterations,
        "envs": run.envs,
        "horizon": run.task.horizon,
        "clip_actions": run.clip,
        **({"unfinished": run.unfinished} if run.unfinished != "drop" else {}),
        "evaluation": settings.to_json(run.evaluation),
        "resume": "bitwise" if run.resumes_bitwise else "bitwise-with-reset",
        "versions": {
            "mppo": importlib.metadata.version("mppo"),
            "python": platform.python_version(),
            **{name: importlib.metadata.version(name) for name in packages},
        },
    }
