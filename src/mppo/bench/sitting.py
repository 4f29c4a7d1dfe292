"""One sitting: what all measurements share, and the processes they run in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from mppo.bench.training import Training
from mppo.methods import METHODS
from mppo.threads import ONE_THREAD

TIMEOUT = 3600  # seconds after which a measured process is given up
Sample = dict[str, Any]


class MeasurementFailed(RuntimeError):
    """A measured process ended otherwise than well."""


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


class Measured:
    """A process that prints one line of JSON when it is done."""

    def __init__(self, command: list[str], environment: dict[str, str], label: Sample):
        self.label, self._errors = label, tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def wait_until_ready(self) -> None:
        """Until it has warmed up and waits for `go`."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line.strip() != "ready":
            if line:
                self._process.kill()
            self._fail()

    def go(self) -> None:
        """Let its clock start."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write("go\n")
            self._process.stdin.flush()

    def result(self) -> Sample:
        """Its last line, read."""
        try:
            out, _ = self._process.communicate(timeout=TIMEOUT)
        except BaseException as error:
            self.stop()
            if isinstance(error, subprocess.TimeoutExpired):
                raise MeasurementFailed(f"no result after {TIMEOUT} s") from error
            raise
        if self._process.returncode:
            self._fail()
        self._errors.close()
        return json.loads(out.strip().splitlines()[-1])

    def stop(self) -> None:
        """End it if it still runs."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    def _fail(self) -> None:
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        code = self._process.returncode
        self.stop()
        raise MeasurementFailed(lines[-1] if lines else f"exit code {code}")
