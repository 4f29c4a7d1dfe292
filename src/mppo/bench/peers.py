"""Our training rate against that of the peers, on the same cores, with the same settings."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mppo.algorithm.methods import METHODS
from mppo.bench.measure import MeasuredProcess, MeasurementFailed, Sample, Skipped
from mppo.bench.ratios import Part, Ratio, Table, quotients, spread
from mppo.machine.threads import ONE_THREAD

if TYPE_CHECKING:
    from mppo.bench.session import Session

SCRIPT = Path(__file__).with_name("peer_script.py")
HINT = "the peers are not installed; pip install mppo[peers], or give --peers-python PATH"
TARGETS = {"sb3-contrib TRPO": 10.0, "SB3 PPO": 8.0, "SBX PPO": 8.0}  # on Hopper-v5
TASKS = ("Hopper-v5", "HalfCheetah-v5")
JUDGED = "Hopper-v5"  # the task that the targets speak of
NOTE = (
    "Peers: the paper's hyper-parameters, all cores, torch's own number of threads, normalised "
    "observations, one environment as in the paper's base code and as they make from an id. On "
    "Hopper-v5 also several side by side (DummyVecEnv, which their documentation recommends for "
    "cheap environments): they then share one forward pass, which helps them most."
)


def peers(session: Session) -> Part:
    """Rates of ours and theirs, one after the other in each repetition."""
    python = interpreter(session)
    known = call(python, ["--list"], {}).result() if python is not None else {"peers": {}}
    names = [name for name, version in known["peers"].items() if version]
    if python is None or not names:
        raise Skipped(HINT)
    session.samples.append({"installed": known})
    notes = [NOTE, _versions(known)]
    cases = [
        (name, env)
        for env in TASKS[: session.size(len(TASKS), 1)]
        for name in names
        if env == JUDGED or "," not in name
    ]
    few = [(name, env) for name, env in cases if env != JUDGED or name not in TARGETS]
    once = lambda case, r: _train(session, case, r)
    measured = session.repeat("peers", cases, once, few=few, notes=notes)
    if not measured:
        raise MeasurementFailed("; ".join(notes[2:]))
    return Part(*_compared(session, measured), notes)


def interpreter(session: Session) -> str | None:
    """The interpreter that has the peers, if there is one."""
    if session.peers_python is None and importlib.util.find_spec("stable_baselines3") is None:
        return None
    return session.peers_python or sys.executable


def _train(session: Session, case: tuple[str, str], repetition: int) -> Sample:
    """A peer's run and ours beside it: the same number of steps, the same warm-up."""
    name, env = case
    method = _ours(name)
    label = {"peer": name, "env": env, "repetition": repetition}
    theirs = rate(session, case, session.iterations(method, 15_000), label)
    whole = {"batch_size": METHODS[method].batch_size}  # even in a smoke test, as the peers have it
    ours = session.train(method, env, 15_000, "all", repetition, overrides=whole)
    return {"theirs": theirs, "ours": ours["rate"]}


def rate(
    session: Session, case: tuple[str, str], iterations: int, label: Sample, *listed: str
) -> float:
    """Steps a second of a peer on a task, after its warm-up; `listed` as `peer_script` takes it."""
    warmup, python = session.size(2, 1), interpreter(session)
    assert python is not None
    theirs = session.finish(call(python, [*case, str(warmup + iterations), *listed], label))
    seconds = theirs["seconds"][warmup:]
    return theirs["steps"] * len(seconds) / sum(seconds)


def _ours(name: str) -> str:
    """Our method beside a peer."""
    return "trpo" if "TRPO" in name else "ppo"


def _compared(
    session: Session, measured: dict[tuple[str, str], list[Sample]]
) -> tuple[list[Ratio], list[Table]]:
    cores = len(session.cores)
    ratios, rows = [], []
    for (name, env), samples in measured.items():
        ours, theirs = ([sample[whose] for sample in samples] for whose in ("ours", "theirs"))
        judged = TARGETS.get(name) if env == JUDGED and cores == 2 else None
        what = f"{_ours(name)} {env} / {name}"
        ratios.append(Ratio(f"peers-{name}-{env}", what, quotients(ours, theirs), judged))
        rows.append([env, _ours(name), spread(ours), name, spread(theirs)])
    columns = ["task", "ours", "steps a second", "peer", "steps a second"]
    title = f"Steps a second of training, {cores or 'all'} cores"
    return ratios, [Table("peers", title, columns, rows)]


def call(python: str, words: list[str], label: Sample) -> MeasuredProcess:
    """The peer script; the thread settings that mppo makes for itself are taken back."""
    environment = {k: value for k, value in os.environ.items() if ONE_THREAD.get(k) != value}
    environment |= {"JAX_PLATFORMS": "cpu", "PYTHONSAFEPATH": "1", "PYTHONWARNINGS": "ignore"}
    try:
        return MeasuredProcess([python, str(SCRIPT), *words], environment, label)
    except OSError as error:
        raise MeasurementFailed(f"cannot run the peers' interpreter: {error.strerror}") from error


def _versions(known: dict[str, Any]) -> str:
    words = [f"{name} {version or 'not installed'}" for name, version in known["peers"].items()]
    words += [f"{name} {version}" for name, version in known["libraries"].items() if version]
    return "Versions: " + ", ".join(words) + "."
