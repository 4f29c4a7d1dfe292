"""Small runs in a directory, and what must be the same of two of them."""

import json
import signal

from mppo.algorithm.methods import METHODS
from mppo.envs.source import env_source
from mppo.files.evaluation import Evaluation
from mppo.files.run_directory import RunDirectory
from mppo.files.settings import overridden
from mppo.machine.signals import Interrupts
from mppo.training.options import Options
from mppo.training.run import Run
from mppo.training.start import begin

SMALL = {"batch_size": 200, "network.hidden": (4,), "critic.network.hidden": (4,), "paths": 2}
EVALUATION = Evaluation(400, 2, 1)
COMPARED = ("metrics.jsonl", "evaluations.jsonl")


def leave(
    path,
    method="mp-trpo",
    env="mppo/Maze-v0",
    steps=1200,
    evaluation=EVALUATION,
    checkpoint_every=2,
    stop_after=None,
    **changes,
):
    """Train in a directory to the end, or leave it interrupted after some iterations."""
    chosen = overridden(METHODS[method], SMALL | changes)
    run = Run(chosen, env_source(env), steps, 3, evaluation, workers=1)
    directory, interrupts = RunDirectory(path), Interrupts()

    def callback(event, row):
        if event == "iteration" and row["iteration"] + 1 == stop_after:
            interrupts.received = signal.SIGTERM

    try:
        begin(run, directory, method, Options(checkpoint_every=checkpoint_every)).to_the_end(
            callback, interrupts
        )
    finally:
        directory.close()
        run.close()


def outcome(path):
    """What must not depend on interruptions."""
    final = json.loads((path / "final.json").read_text())
    return [(path / name).read_bytes() for name in COMPARED], final["state_sha256"]
