"""The parts about environments: how near training comes to their own steps, and to physics."""

from __future__ import annotations

import importlib.util
from dataclasses import asdict
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from mppo.bench import peers
from mppo.bench.catalogue import COMPUTING, ENVIRONMENTS, ROBOTS, WAITING, Measured
from mppo.bench.measure import MeasuredProcess, MeasurementFailed, Sample
from mppo.bench.ratios import Part, Ratio, Table, quotients, spread
from mppo.bench.stepping import Stepping
from mppo.files.settings import method_named
from mppo.files.tuned import fast_settings

if TYPE_CHECKING:
    from mppo.bench.session import Session

PEER = "SB3 PPO"
TIMES_PEER, OF_BARE = 4.0, 0.75  # the target: so many times the peer, or so much of what is there
ROBOT_SHARE = {"Hopper": 0.82}  # of bare mj_step; others:
USUAL_ROBOT_SHARE = 0.75
QUICK = ("CartPole-v1",)
NOTE = (
    f"{PEER} has as many environments as ours (DummyVecEnv), flattened observations, the paper's "
    "hyper-parameters, all cores and torch's own number of threads. Its target is 4, or where "
    "that is less, 0.75 of what bare `env.step` on all cores would allow."
)


def environments(session: Session) -> Part:
    """Every environment of the catalogue against its own steps, and against the peer."""
    notes: list[str] = []
    with_peer = session.with_peers and peers.interpreter(session) is not None
    if session.with_peers and not with_peer:
        notes.append(f"Without {PEER}: {peers.HINT}.")
    measured = {env.name: env for env in ENVIRONMENTS if _installed(env, notes)}
    names = [name for name in measured if name in QUICK or not session.quick]
    names = session.wanted(names)
    alone: dict[str, Sample] = {}
    for name in names:
        session.say(f"environments: {name}, one core")
        try:
            times = {"repetitions": session.repetitions}
            process = _start(session, measured[name], session.pinned("one"), "one", **times)
            alone[name] = session.finish(process)
        except MeasurementFailed as failure:
            notes.append(f"{name} failed: {failure}.")
    once = lambda name, r: _on_all_cores(session, measured[name], r, alone[name]["envs"], with_peer)
    together = session.repeat("environments", alone, once, ", all cores", notes=notes)
    ratios, tables = _compared(session, [measured[name] for name in together], alone, together)
    return Part(ratios, tables, ([NOTE] if with_peer else []) + notes)


def _installed(env: Measured, notes: list[str]) -> bool:
    """Whether its package is there; else a line says that it is left out."""
    package = "Box2D" if env.package.endswith("box2d") else env.package
    if package and importlib.util.find_spec(package) is None:
        notes.append(f"{env.name} is left out: {package} is not installed.")
        return False
    return True


def _start(
    session: Session, env: Measured, cores: list[int], on: str, **more: Any
) -> MeasuredProcess:
    """A process on these cores that steps an environment."""
    steps = session.size(2000, 200)
    more |= {"envs": env.envs, "waits": env.waits, "anew": env.remembers}
    task = asdict(Stepping(env.env, env.id, env.package, steps, **more))
    return session.start_module("mppo.bench.stepping", cores, task, {"env": env.name, "on": on})


def _on_all_cores(session: Session, env: Measured, r: int, envs: int, with_peer: bool) -> Sample:
    """Rates of ours, of bare steps in a process on each core, and of the peer, in this order."""
    whole = {"batch_size": 2048, **({"envs": envs} if env.envs else {})}
    workers = {"workers": env.workers} if env.workers else {}
    ours = session.train("ppo", env.env, 12_000, "all", r, overrides=whole, **workers)
    start = lambda place: _start(session, env, place, "bare", repetitions=1, together=True)
    bare = session.together(map(start, [[core] for core in session.cores] or [[]]))
    sample = {"ours": ours["rate"], "bare": sum(one["rate"] for one in bare)}
    if with_peer:
        listed = [str(envs), *([env.package] if env.package else [])]
        label = {"peer": PEER, "env": env.name, "repetition": r}
        iterations = session.size(4, 1)
        sample["theirs"] = peers.rate(session, (PEER, env.id), iterations, label, *listed)
    return sample


def _compared(
    session: Session,
    measured: list[Measured],
    alone: dict[str, Sample],
    together: dict[str, list[Sample]],
) -> tuple[list[Ratio], list[Table]]:
    cores = len(session.cores) or "all"
    ratios: list[Ratio] = []
    on_one: list[list[Any]] = []
    on_all: list[list[Any]] = []
    for env in measured:
        one, all_cores = alone[env.name], together[env.name]
        seconds, steps = one["seconds"], one["steps"]
        rates = {name: [steps[name] / s for s in took] for name, took in seconds.items()}
        if "again" in rates:
            share = quotients(rates["collecting"], rates["again"])
            what = f"{env.name}: collect / env.step"
            ratios.append(Ratio(f"collecting-{env.name}", what, share, env.share))
        share = quotients(rates["training"], rates["random"])
        ratios.append(Ratio(f"training-{env.name}", f"{env.name}: ppo / env.step", share))
        ours, bare = ([sample[name] for sample in all_cores] for name in ("ours", "bare"))
        theirs = [sample["theirs"] for sample in all_cores if "theirs" in sample]
        if theirs:
            target = min(TIMES_PEER, OF_BARE * median(bare) / median(theirs))
            what = f"{env.name}: ppo / {PEER}"
            times = quotients(ours, theirs)
            judged = round(target, 2) if cores == 2 else None
            ratios.append(Ratio(f"environments-{PEER}-{env.name}", what, times, judged))
        shown = [spread(rates[name]) for name in ("training", "collecting", "random")]
        on_one.append([env.name, one["envs"], *shown])
        on_all.append([env.name, spread(ours), spread(bare), spread(theirs) if theirs else None])
    one_core = ["environment", "envs", "training", "collecting", "env.step"]
    all_cores = ["environment", "training", "env.step", PEER]
    return ratios, [
        Table("environments-one", "Steps a second, one core", one_core, on_one),
        Table("environments-all", f"Steps a second, {cores} cores", all_cores, on_all),
    ]


def robots(session: Session) -> Part:
    """Training on one core against bare `mj_step` of the same states and actions."""
    notes: list[str] = []
    fast = {"replay": True, "overrides": fast_settings(method_named("trpo"))}
    names = [f"{name}-v5" for name in (ROBOTS if not session.quick else ("Hopper",))]
    cases = [("trpo", name) for name in session.wanted(names)]
    once = lambda case, r: session.train(*case, 50_000, repetition=r, **fast)
    ratios, rows = [], []
    samples = session.repeat("robots", cases, once, notes=notes)
    for (_, name), some in samples.items():
        rates, bare = ([sample[which] for sample in some] for which in ("rate", "bare_rate"))
        target = ROBOT_SHARE.get(name.removesuffix("-v5"), USUAL_ROBOT_SHARE)
        what = f"{name}: fast / mj_step"
        ratios.append(Ratio(f"robots-{name}", what, quotients(rates, bare), target))
        rows.append([name, spread(rates), spread(bare)])
    columns = ["robot", "training (trpo --fast)", "bare mj_step"]
    table = Table("robots", "Steps a second of compiled robots", columns, rows)
    return Part(ratios, [table], notes)


def workers(session: Session) -> Part:
    """Several worker processes against one, where a step takes a millisecond."""
    notes: list[str] = []
    cases = {WAITING.name: (WAITING, 8, 6.0), COMPUTING.name: (COMPUTING, 2, 1.8)}

    def once(name: str, r: int) -> Sample:
        env, more, _ = cases[name]
        small = {"batch_size": 1024, "envs": env.envs}
        train = partial(session.train, "ppo", env.env, 2000, "all", r, overrides=small)
        return {"one": train(workers=1)["rate"], "more": train(workers=more)["rate"]}

    ratios, rows = [], []
    samples = session.repeat("workers", session.wanted(cases), once, notes=notes)
    for name, some in samples.items():
        one, more = ([sample[which] for sample in some] for which in ("one", "more"))
        _, count, target = cases[name]
        judged = target if len(session.cores) >= 2 else None
        what = f"{name}, 8 envs: {count} workers / 1"
        ratios.append(Ratio(f"workers-{name}", what, quotients(more, one), judged))
        rows.append([name, spread(one), count, spread(more)])
    columns = ["a step takes", "1 worker", "workers", "steps a second"]
    return Part(ratios, [Table("workers", "Worker processes", columns, rows)], notes)
