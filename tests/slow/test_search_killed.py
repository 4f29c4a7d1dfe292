"""`mppo search` as two people would use it: two processes on one storage, one of them killed.

Recorded (17 November 2026, two shared cores, 9.5 minutes): on CartPole-v1 30 trials, 11 complete
and 19 pruned, and one more that was lost with its process and counted once; the best, 276.7 with a
learning rate of 0.0265 and 7 epochs, was reproduced by `--config` bit for bit. On Pendulum-v1 30
trials, 9 complete, 21 pruned, one lost; the best, -1148.5, reproduced. (4,000 steps a trial.)
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mppo.experiments.search import read
from mppo.experiments.trials import Trials
from mppo.files.reader import rows

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
TRIALS = 30
FILE = """\
method = "ppo"
env = "{env}"
steps = 4000
trials = 30
sampler_seed = 1
[set]
batch_size = 400
envs = 2
episodes = "continue"
gamma = {gamma}
network.hidden = [16]
critic.network.hidden = [16]
[evaluation]
every = 400
episodes = 3
[space]
optimiser.learning_rate = {{low = 1e-4, high = 3e-2, log = true}}
optimiser.epochs = {{low = 2, high = 12}}
"""


def mppo(words, **others):
    """A process of the command line that finds this repository."""
    path = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    here = {**os.environ, "PYTHONPATH": path}
    return subprocess.Popen([sys.executable, "-m", "mppo", *words], env=here, **others)


def search_with_a_kill(file, out):
    """Two processes; the first is killed in the midst of a trial and started again."""
    words = ["search", str(file), "--out", str(out)]
    first, second = (mppo(words, stdout=subprocess.DEVNULL) for _ in range(2))
    until = time.monotonic() + 600
    while len(list(out.glob("trials/*/seed-0/metrics.jsonl"))) < 8 and time.monotonic() < until:
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    third = mppo(words, stdout=subprocess.DEVNULL)
    assert [second.wait(1800), third.wait(1800)] == [0, 0]
    return Trials(read(file, lambda env, arguments, wrappers: env), out)


@pytest.mark.parametrize(("env", "gamma"), [("CartPole-v1", 0.98), ("Pendulum-v1", 0.9)])
def test_thirty_trials_are_counted_once_and_the_best_is_reproduced(env, gamma, tmp_path):
    file, out = tmp_path / "search.toml", tmp_path / "out"
    file.write_text(FILE.format(env=env, gamma=gamma))
    trials = search_with_a_kill(file, out)
    counted, every = trials.counted(), trials.all()
    assert len(counted) == len({one.folder for one in counted}) == TRIALS
    assert {one.state for one in counted} <= {"complete", "pruned"}
    lost = [one for one in every if one.state == "lost"]
    assert len(every) == TRIALS + len(lost)
    assert len(lost) <= 1

    best, again = trials.best(), tmp_path / "again"
    assert best is not None
    assert best.value == max(one.value for one in counted if one.state == "complete")
    words = ["train", "--config", str(out / "best.toml"), "--out", str(again), "--quiet"]
    assert mppo(words).wait(600) == 0
    own = out / "trials" / best.folder / "seed-0"
    for name in ("metrics.jsonl", "evaluations.jsonl"):
        assert (own / name).read_bytes() == (again / name).read_bytes()
    states = [json.loads((one / "final.json").read_text()) for one in (own, again)]
    assert states[0]["state_sha256"] == states[1]["state_sha256"]
    assert rows(again, "evaluations.jsonl")

    page = (out / "search.html").read_text()
    assert re.search(rf"\b{TRIALS}\b", page)
    states = [one.state for one in counted]
    print(
        f"{env}: {states.count('complete')} complete, {states.count('pruned')} pruned, "
        f"{len(lost)} lost; best {best.value:.1f} with {best.values}"
    )
