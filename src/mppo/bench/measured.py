"""A measured run: what is trained, and the process it happens in. Imports nothing heavy."""

from __future__ import annotations

import json
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

TIMEOUT = 3600  # seconds after which a measured process is given up
Sample = dict[str, Any]


class MeasurementFailed(RuntimeError):
    """A measured process ended otherwise than well."""


@dataclass(frozen=True)
class Training:
    """One measured run: what is trained, for how long, and what is measured beside."""

    method: str
    env: str
    iterations: int
    warmup: int = 2
    """Iterations before the clock runs: they compile."""
    workers: int = 1
    seed: int = 0
    overrides: dict[str, Any] = field(default_factory=dict)
    replay: bool = False
    """Whether bare physics lives through every measured iteration right after it."""
    alternate: bool = False
    """Whether the run is made twice in turn, with one thread and with `workers`."""
    together: bool = False
    """Whether the clock starts only when the parent says so: for runs side by side."""


class Measured:
    """A process that prints one line of JSON when it is done."""

    label: Sample

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
