"""One session of measurements: what all parts share, and part after part into one result."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Container, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from mppo.algorithm.methods import METHODS
from mppo.bench import machine, speed
from mppo.bench.environments import environments, robots, workers
from mppo.bench.measure import MeasuredProcess, MeasurementFailed, Sample, Skipped, Workload
from mppo.bench.memory import memory
from mppo.bench.peers import peers
from mppo.bench.ratios import UNTARGETED, Part
from mppo.machine.threads import ONE_THREAD

SCHEMA = 1
REPETITIONS, QUICK_REPETITIONS = 5, 2
Cores = Literal["one", "all"]
Case = TypeVar("Case", bound="str | tuple[str, str]")  # an environment, or who on which
Result = dict[str, Any]
"""What `mppo bench --json` writes."""


@dataclass
class Session:
    """Sizes, cores and the compilation cache of one session; keeps every raw sample."""

    repetitions: int
    quick: bool
    cores: list[int]
    folder: Path
    """For this session alone: the compilation cache and what the runs write."""
    peers_python: str | None = None
    say: Callable[[str], None] = lambda text: None
    samples: list[Sample] = field(default_factory=list)
    with_peers: bool = False
    """Whether peers are measured wherever they can be."""
    case: str = ""
    """Of environments, robots and workers, only what has this in its name."""

    def wanted(self, names: Iterable[str]) -> list[str]:
        """Those of the names that are asked for."""
        chosen = [name for name in names if self.case in name]
        if not chosen:
            raise Skipped(f'nothing here is called "{self.case}"')
        return chosen

    def size(self, full: int, quick: int) -> int:
        """A size, or the one for a smoke test."""
        return quick if self.quick else full

    def overrides(self, method: str) -> dict[str, Any]:
        """A smoke test takes a quarter of the batch, in whole minibatches of PPO."""
        return {"batch_size": METHODS[method].batch_size // 4 // 64 * 64} if self.quick else {}

    def iterations(self, method: str, steps: int) -> int:
        """Measured iterations for about that many steps; two at a smoke test."""
        return self.size(max(3, steps // METHODS[method].batch_size), 2)

    def pinned(self, which: Cores, repetition: int = 0) -> list[int]:
        """All cores, or one: each takes its turn, for they need not be equally fast."""
        if which == "all" or not self.cores:
            return self.cores
        return [self.cores[repetition % len(self.cores)]]

    def train(self, method: str, env: str, *case: Any, **workload: Any) -> Sample:
        """Measure one run in a process of its own; the arguments are those of `start`."""
        return self.finish(self.start(method, env, *case, **workload))

    def repeat(
        self,
        part: str,
        cases: Iterable[Case],
        measure: Callable[[Case, int], Sample],
        how: str = "",
        few: Container[Case] = (),
        notes: list[str] | None = None,
    ) -> dict[Case, list[Sample]]:
        """Measure case after case, once in each repetition; those of `few` not in all of them.

        With `notes`, a case that fails is left out with a line.
        """
        samples: dict[Case, list[Sample]] = {case: [] for case in cases}
        for r in range(self.repetitions):
            for case in [case for case in samples if r < UNTARGETED or case not in few]:
                name = case if isinstance(case, str) else " on ".join(case)
                self.say(f"{part} {r + 1}/{self.repetitions}: {name}{how}")
                try:
                    samples[case].append(measure(case, r))
                except MeasurementFailed as failure:
                    if notes is None:
                        raise
                    notes.append(f"{name} failed: {failure}.")
                    del samples[case]
        return samples

    def train_paths(
        self, part: str, env: str, cases: Sequence[tuple[str, int]], iterations: int, rounds: int
    ) -> dict[tuple[str, int], list[Sample]]:
        """Measure methods with K paths each in turn, so that their memory can be compared."""
        samples: dict[tuple[str, int], list[Sample]] = {case: [] for case in cases}
        for r in range(-1, rounds):  # round -1 fills the compilation cache: compiling takes memory
            for method, k in cases:
                self.say(f"{part} {r + 1}/{rounds}: {method}, K = {k}")
                workload = {"iterations": 1 if r < 0 else iterations, "steady_memory": True}
                sample = self.train(method, env, repetition=r, overrides={"paths": k}, **workload)
                samples[method, k] += [sample] if r >= 0 else []
        return samples

    def together(self, starting: Iterable[MeasuredProcess]) -> list[Sample]:
        """Results of processes whose clocks start together when all of them are ready."""
        with ExitStack() as stack:
            processes: list[MeasuredProcess] = []
            for process in starting:
                stack.callback(process.stop)
                processes.append(process)
            for process in processes:
                process.wait_until_ready()
            for process in processes:
                process.go()
            return [self.finish(process) for process in processes]

    def start(
        self,
        method: str,
        env: str,
        steps: int = 0,
        on: Cores = "one",
        repetition: int = 0,
        overrides: Mapping[str, Any] | None = None,
        **workload: Any,
    ) -> MeasuredProcess:
        """Start a run; `finish` waits for its result."""
        pinned = self.pinned(on, repetition)
        usual: Sample = {"iterations": self.iterations(method, steps), "warmup": self.size(2, 1)}
        usual["workers"] = max(1, len(pinned)) if on == "all" else 1
        changed = {**self.overrides(method), **(overrides or {})}
        wanted = Workload(method, env, overrides=changed, **(usual | workload))
        label = {"method": method, "env": env, "on": on, "repetition": repetition}
        return self.start_module("mppo.bench.measure", pinned, asdict(wanted), label)

    def start_module(
        self, module: str, pinned: list[int], task: Mapping[str, Any], label: Sample
    ) -> MeasuredProcess:
        """Start a module of this package on some cores with what it shall measure."""
        cache = {"MPPO_COMPILATION_CACHE": str(self.folder / "xla")}  # the runs share it
        environment = {**os.environ, **ONE_THREAD, **cache}
        command = [sys.executable, "-m", module, json.dumps(pinned), json.dumps(task)]
        return MeasuredProcess(command, environment, label)

    def finish(self, process: MeasuredProcess) -> Sample:
        """Wait for the result, and keep it among the samples."""
        sample = {**process.label, **process.result()}
        self.samples.append(sample)
        return sample


PARTS: dict[str, Callable[[Session], Part]] = {
    "limit": speed.limit,
    "rates": speed.rates,
    "cores": speed.cores,
    "peers": peers,
    "environments": environments,
    "robots": robots,
    "workers": workers,
    "paths": speed.paths,
    "startup": speed.startup,
    "two-runs": speed.two_runs,
    "memory": memory,
}

WITH_CASES = ("environments", "robots", "workers")  # measure one case by itself: `--case`


@dataclass(frozen=True)
class Options:
    """What the command line asked for."""

    quick: bool = False
    parts: tuple[str, ...] = tuple(name for name in PARTS if name != "peers")
    repetitions: int | None = None
    peers_python: str | None = None
    say: Callable[[str], None] = field(default=lambda text: None, compare=False)
    with_peers: bool = False
    case: str = ""

    @property
    def rounds(self) -> int:
        """Repetitions of every comparison."""
        return self.repetitions or (QUICK_REPETITIONS if self.quick else REPETITIONS)

    @property
    def command(self) -> str:
        """The command that measures the same again, without paths."""
        words = ["mppo bench --quick" if self.quick else "mppo bench"]
        if self.rounds != (QUICK_REPETITIONS if self.quick else REPETITIONS):
            words.append(f"--repetitions {self.rounds}")
        if set(self.parts) - {"peers"} == set(PARTS) - {"peers"}:
            words += ["--peers"] if "peers" in self.parts else []
        else:
            words.append(f"--only {' '.join(self.parts)}")
            words += ["--peers"] if self.with_peers and "peers" not in self.parts else []
        words += [f'--case "{self.case}"'] if self.case else []
        return " ".join(words)


def empty_result(options: Options) -> Result:
    """The result before anything is measured."""
    return {
        "schema": SCHEMA,
        "command": options.command,
        "date": time.strftime("%Y-%m-%d"),
        "quick": options.quick,
        "repetitions": options.rounds,
        "machine": machine.description(),
        "source_sha256": machine.source(),
        "source_changed": False,
        "parts": {},
    }


def measure_parts(options: Options, result: Result) -> Generator[str]:
    """Measure part after part into `result`; yields the name of each when it is done."""
    with tempfile.TemporaryDirectory() as folder:
        for name, part in PARTS.items():
            if name in options.parts:
                sizes = (options.rounds, options.quick, machine.cores(), Path(folder))
                theirs = options.peers_python
                more = {"with_peers": options.with_peers, "case": options.case}
                session = Session(*sizes, theirs, options.say, **more)
                result["parts"][name] = {"date": result["date"], **_measured(part, session)}
                result["source_changed"] |= machine.source() != result["source_sha256"]
                yield name


def _measured(part: Callable[[Session], Part], session: Session) -> dict[str, Any]:
    """What a part measured; one that fails is reported, and the rest goes on."""
    started = time.perf_counter()
    content: dict[str, Any] = {"status": "measured", "reason": None, "ratios": [], "tables": []}
    try:
        content |= part(session).as_json()
    except Skipped as skipped:
        content |= {"status": "skipped", "reason": str(skipped)}
    except Exception as error:
        content |= {"status": "failed", "reason": f"{type(error).__name__}: {error}"}
    seconds = round(time.perf_counter() - started, 1)
    return {**content, "seconds": seconds, "samples": session.samples}
