"""From rows to loggers, live or afterwards, without duplicates or gaps."""

# pyright: strict
from __future__ import annotations

import csv
import io
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from mppo.errors import BadRequest
from mppo.files import reader
from mppo.files.atomic import write_atomically
from mppo.files.reader import History
from mppo.loggers.names import Row, Scalars

POLL = 1.0  # seconds between looks at a run that goes on


class Logger(Protocol):
    """Takes numbers by name, at environment steps that only ever grow."""

    def start(self, described: Row, folder: Path | None, steps: int) -> int:
        """Begin, or go on where it was left; `steps` is how far the rows reach already.

        Returns the first step that it still wants to be told of.
        """
        ...

    def log(self, steps: int, numbers: dict[str, float]) -> None:
        """The numbers after that many steps."""
        ...

    def close(self) -> None:
        """All was said."""
        ...


class Record(NamedTuple):
    """One iteration: its row of each log."""

    row: Row
    timing: Row | None
    evaluation: Row | None


def records(history: History) -> Iterator[Record]:
    """The iterations one after the other; what belongs to the same steps together."""
    timing = {row["steps"]: row for row in history.timing}
    evaluations = {row["steps"]: row for row in history.evaluations}
    for row in history.metrics:
        yield Record(row, timing.get(row["steps"]), evaluations.get(row["steps"]))


class Loggers:
    """Several loggers fed with the records of one run, each from where it was left.

    A logger that fails, be it at its start, is dropped with a warning: the run goes on, and what
    it missed can be sent afterwards from the run directory. A BadRequest at its start is raised:
    nothing is lost yet, and the caller can put it right.
    """

    def __init__(self, loggers: Sequence[Logger]):
        self._waiting, self._scalars = list(loggers), Scalars()
        self._wanted: list[tuple[Logger, int]] = []  # and the first step it is to be told of
        self._folder: Path | None = None

    @property
    def left(self) -> int:
        """How many have begun and not failed."""
        return len(self._wanted)

    def start(
        self, described: Row, folder: Path | None, earlier: History, steps: int | None = None
    ) -> None:
        """Begin all; what they miss of the rows so far is told first."""
        self._folder, upto = folder, earlier.steps if steps is None else steps
        for logger in self._waiting:
            try:
                self._wanted.append((logger, logger.start(described, folder, upto)))
            except BadRequest:
                self.close()
                raise
            except Exception as error:
                self._leave_out(logger, error)
        self._scalars = Scalars()
        for record in records(earlier):
            self(record)

    def __call__(self, record: Record) -> None:
        """Tell all that want to know."""
        if not self._wanted:
            return
        numbers = self._scalars(*record)
        steps = int(record.row["steps"])
        for logger, first in list(self._wanted):
            if steps >= first:
                self._guarded(logger, lambda logger=logger: logger.log(steps, numbers))

    def close(self) -> None:
        """End all."""
        for logger, _ in list(self._wanted):
            self._guarded(logger, logger.close)
        self._wanted = []

    def _guarded(self, logger: Logger, call: Callable[[], Any]) -> None:
        try:
            call()
        except Exception as error:
            self._wanted = [one for one in self._wanted if one[0] is not logger]
            self._leave_out(logger, error)

    def _leave_out(self, logger: Logger, error: Exception) -> None:
        later = "; the run's own files are complete, and mppo logs sends them afterwards"
        warnings.warn(
            f"{type(logger).__name__} failed and is left out from here on: "
            f"{type(error).__name__}: {error}{'' if self._folder is None else later}",
            RuntimeWarning,
            stacklevel=5,
        )


def send(folder: str | os.PathLike[str], loggers: Sequence[Logger], follow: bool = False) -> int:
    """Feed loggers from a run directory; with `follow`, until the run ends. Returns the steps."""
    described, earlier = reader.known_description(folder), reader.history(folder)
    to, told = Loggers(loggers), 0
    to.start(described, Path(folder), earlier._replace(metrics=[]), earlier.steps)
    while True:
        finished = reader.finished(
            folder
        )  # before reading: rows written meanwhile are seen next time
        found = list(records(reader.history(folder)))
        if follow and not finished:
            found = found[:-1]  # its timing and evaluation may not be there yet
        for record in found:
            if record.row["steps"] > told:
                to(record)
                told = int(record.row["steps"])
        if loggers and not to.left:
            raise BadRequest(f'no logger is left that takes the rows of "{folder}"')
        if finished or not follow:
            to.close()
            return told
        time.sleep(POLL)


def write_csv(folder: str | os.PathLike[str], file: str | os.PathLike[str]) -> int:
    """All numbers of a run directory as a table, one line for each iteration; returns how many."""
    reader.known_description(folder)
    scalars = Scalars()
    lines = [scalars(*record) for record in records(reader.history(folder))]
    columns = list(dict.fromkeys(name for line in lines for name in line))
    columns.sort(key=lambda name: (name != "time/total_timesteps", name))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    write_atomically(Path(file), text.getvalue().encode())
    return len(lines)
