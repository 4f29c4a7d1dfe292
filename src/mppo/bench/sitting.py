"""One sitting: what all measurements share."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from mppo.algorithm.methods import METHODS
from mppo.bench.measured import Measured, Sample, Training
from mppo.machine.threads import ONE_THREAD


class Skipped(RuntimeError):
    """A part cannot be measured here; the message says what it needs."""


@dataclass
class Sitting:
    """Sizes, cores and the compilation cache of one sitting; keeps every raw sample."""

    repetitions: int
    quick: bool
    cores: list[int]
    folder: Path
    """For this sitting alone: the compilation cache and what the runs write."""
    peers_python: str | None = None
    say: Callable[[str], None] = lambda text: None
    samples: list[Sample] = field(default_factory=list)

    def size(self, full: int, quick: int) -> int:
        """A size, or the one for a smoke test."""
        return quick if self.quick else full

    def overrides(self, method: str) -> dict[str, Any]:
        """A smoke test takes a quarter of the batch, in whole minibatches of PPO."""
        return {"batch_size": METHODS[method].batch_size // 4 // 64 * 64} if self.quick else {}

    def iterations(self, method: str, steps: int) -> int:
        """Measured iterations for about that many steps; two at a smoke test."""
        return self.size(max(3, steps // METHODS[method].batch_size), 2)

    def pinned(self, which: Literal["one", "all"], repetition: int = 0) -> list[int]:
        """All cores, or one: each takes its turn, for they need not be equally fast."""
        if which == "all" or not self.cores:
            return self.cores
        return [self.cores[repetition % len(self.cores)]]

    def train(
        self,
        method: str,
        env: str,
        steps: int = 0,
        on: Literal["one", "all"] = "one",
        repetition: int = 0,
        **training: Any,
    ) -> Sample:
        """One run in a process of its own."""
        process = self.start(method, env, steps, on, repetition, **training)
        return self.finish(process)

    def start(
        self,
        method: str,
        env: str,
        steps: int = 0,
        on: Literal["one", "all"] = "one",
        repetition: int = 0,
        overrides: Mapping[str, Any] | None = None,
        **training: Any,
    ) -> Measured:
        """A run on its way; `finish` waits for its result."""
        training.setdefault("iterations", self.iterations(method, steps))
        training.setdefault("warmup", self.size(2, 1))
        pinned = self.pinned(on, repetition)
        wanted = Training(
            method,
            env,
            workers=max(1, len(pinned)) if on == "all" else 1,
            overrides={**self.overrides(method), **(overrides or {})},
            **training,
        )
        command = [sys.executable, "-m", "mppo.bench.child", json.dumps(pinned)]
        label = {"method": method, "env": env, "on": on, "repetition": repetition}
        environment = {**os.environ, **ONE_THREAD, "MPPO_COMPILATION_CACHE": str(self.cache)}
        return Measured([*command, json.dumps(asdict(wanted))], environment, label)

    def finish(self, process: Measured) -> Sample:
        """The result, kept among the samples."""
        sample = {**process.label, **process.result()}
        self.samples.append(sample)
        return sample

    @property
    def cache(self) -> Path:
        """The compilation cache that the runs of this sitting share."""
        return self.folder / "xla"
