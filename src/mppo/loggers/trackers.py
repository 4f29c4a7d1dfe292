"""Weights & Biases and Trackio: both are begun, told numbers and ended in the same way."""

# pyright: strict
from __future__ import annotations

import importlib
import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from mppo.errors import BadRequest
from mppo.files.atomic import write_atomically
from mppo.files.reader import Row


class _Tracker(ABC):
    """`init`, `log` and `finish` of a module; how far it was told is kept in the run directory.

    Steps told before are not told again after a resume: they would be the same numbers.
    """

    module_name = ""

    def __init__(self, project: str, name: str | None = None, **init: Any):
        self.project: str = project
        self.name: str | None = name
        self.init: dict[str, Any] = init
        try:
            self._module: Any = importlib.import_module(self.module_name)
        except ImportError as error:
            needs = f"{type(self).__name__} needs {self.module_name}"
            raise BadRequest(f'{needs}: pip install "mppo[track]"') from error
        self._mark: Path | None = None

    def start(self, described: Row, folder: Path | None, steps: int) -> int:
        """Begin the tracked run, or take it up again."""
        name = self.name or "{method_name}-{env}-seed-{seed}".format(**described).replace("/", "-")
        self._mark = None if folder is None else folder / f"{self.module_name}.json"
        known = self._known()
        if (known.get("project"), known.get("name")) != (self.project, name):
            known = {}  # of another tracked run
        told = int(known.get("steps", -1))
        self._state: Row = {"project": self.project, "name": name, "steps": told}
        self._begin(name, described, folder, known)
        return told + 1

    @abstractmethod
    def _begin(self, name: str, described: Row, folder: Path | None, known: Row) -> None:
        """Begin, or go on with what is known of an earlier part."""

    def _known(self) -> Row:
        try:
            return {} if self._mark is None else dict(json.loads(self._mark.read_text()))
        except (FileNotFoundError, ValueError, TypeError):
            return {}

    def log(self, steps: int, numbers: dict[str, float]) -> None:
        """One call for all numbers of an iteration."""
        self._module.log(numbers, step=steps)
        self._state["steps"] = steps
        if self._mark is not None:
            write_atomically(self._mark, json.dumps(self._state).encode())

    def close(self) -> None:
        """End the tracked run."""
        self._module.finish()


class WandB(_Tracker):
    """Weights & Biases; `init` takes whatever `wandb.init` does (mode="offline", tags, ...)."""

    module_name = "wandb"

    def _begin(self, name: str, described: Row, folder: Path | None, known: Row) -> None:
        given = {"project": self.project, "name": name, "config": described, "resume": "allow"}
        given |= {"id": known.get("id"), "dir": None if folder is None else str(folder)}
        self._state["id"] = self._module.init(**{**given, **self.init}).id


class Trackio(_Tracker):
    """Trackio, local and without an account; `init` takes whatever `trackio.init` does."""

    module_name = "trackio"

    def _begin(self, name: str, described: Row, folder: Path | None, known: Row) -> None:
        how = "must" if known else "never"
        given = {"project": self.project, "name": name, "config": described, "resume": how}
        self._module.init(**{**given, **self.init})
