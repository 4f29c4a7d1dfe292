"""Our training rate against that of the peers, on the same cores, with the same settings."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mppo.algorithm.methods import METHODS
from mppo.bench.measure import MeasuredProcess, MeasurementFailed, Sample, Skipped
from mppo.bench.ratios import UNTARGETED, Part, Ratio, Table, quotients, spread
from mppo.machine.threads import ONE_THREAD

if TYPE_CHECKING:
    from mppo.bench.session import Session

SCRIPT = Path(__file__).with_name("peer_script.py")
HINT = "the peers are not installed; pip install mppo[peers], or give --peers-python PATH"
OURS = {  # a peer, our method, the target on Hopper-v5
    "sb3-contrib TRPO": ("trpo", 10.0),
    "SB3 PPO": ("ppo", 8.0),
    "SBX PPO": ("ppo", 8.0),
    "Tianshou TRPO": ("trpo", None),
    "Tianshou PPO": ("ppo", None),
    "sb3-contrib TRPO, 5 environments": ("trpo", None),
    "SB3 PPO, 2 environments": ("ppo", None),
    "SBX PPO, 2 environments": ("ppo", None),
}
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
    if session.peers_python is None and importlib.util.find_spec("stable_baselines3") is None:
        raise Skipped(HINT)
    python = session.peers_python or sys.executable
    known = call(python, ["--list"], {}).result()
    names = [name for name, version in known["peers"].items() if version]
    if not names:
        raise Skipped(HINT)
    session.samples.append({"installed": known})
    notes = [NOTE, _versions(known)]
    measured: dict[tuple[str, str], list[Sample]] = {}
    cases = [
        (name, env)
        for env in TASKS[: session.size(len(TASKS), 1)]
        for name in names
        if env == JUDGED or "," not in name
    ]
    for r in range(session.repetitions):
        for name, env in list(cases):
            if (env != JUDGED or OURS[name][1] is None) and r >= UNTARGETED:
                continue
            session.say(f"peers {r + 1}/{session.repetitions}: {name} on {env}")
            try:
                sample = _train(session, python, name, env, r)
            except MeasurementFailed as failure:
                notes.append(f"{name} on {env} failed: {failure}")
                cases.remove((name, env))
                measured.pop((name, env), None)
                continue
            measured.setdefault((name, env), []).append(sample)
    if not measured:
        raise MeasurementFailed("; ".join(notes[2:]))
    return Part(*_compared(session, measured), notes)


def _train(session: Session, python: str, name: str, env: str, repetition: int) -> Sample:
    """A peer's run and ours beside it: the same number of steps, the same warm-up."""
    method, _ = OURS[name]
    warmup = session.size(2, 1)
    iterations = str(warmup + session.iterations(method, 15_000))
    label = {"peer": name, "env": env, "repetition": repetition}
    theirs = session.finish(call(python, [name, env, iterations], label))
    seconds = theirs["seconds"][warmup:]
    whole = {"batch_size": METHODS[method].batch_size}  # even in a smoke test, as the peers have it
    ours = session.train(method, env, 15_000, "all", repetition, overrides=whole)
    return {"theirs": theirs["steps"] * len(seconds) / sum(seconds), "ours": ours["rate"]}


def _compared(
    session: Session, measured: dict[tuple[str, str], list[Sample]]
) -> tuple[list[Ratio], list[Table]]:
    cores = len(session.cores)
    ratios, rows = [], []
    for (name, env), samples in measured.items():
        method, target = OURS[name]
        ours = [sample["ours"] for sample in samples]
        theirs = [sample["theirs"] for sample in samples]
        judged = target if env == JUDGED and cores == 2 else None
        what = f"{method} {env} / {name}"
        ratios.append(Ratio(f"peers-{name}-{env}", what, quotients(ours, theirs), judged))
        rows.append([env, method, spread(ours), name, spread(theirs)])
    columns = ["task", "ours", "steps a second", "peer", "steps a second"]
    title = f"Steps a second of training, {cores or 'all'} cores"
    return ratios, [Table("peers", title, columns, rows)]


def call(python: str, words: list[str], label: Sample) -> MeasuredProcess:
    """The peer script; the thread settings that mppo makes for itself are taken back."""
    environment = {
        name: value for name, value in os.environ.items() if ONE_THREAD.get(name) != value
    }
    environment |= {"JAX_PLATFORMS": "cpu", "PYTHONSAFEPATH": "1", "PYTHONWARNINGS": "ignore"}
    try:
        return MeasuredProcess([python, str(SCRIPT), *words], environment, label)
    except OSError as error:
        raise MeasurementFailed(f"cannot run the peers' interpreter: {error.strerror}") from error


def _versions(known: dict[str, Any]) -> str:
    words = [f"{name} {version or 'not installed'}" for name, version in known["peers"].items()]
    words += [f"{name} {version}" for name, version in known["libraries"].items() if version]
    return "Versions: " + ", ".join(words) + "."
