"""Twelve kinds of environment fault, at the first step and at step 1,000, with K = 1 and 5."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
from pathlib import Path
from unittest import mock

from campaign import faulty
from campaign.ledger import Row
from campaign.small import unreadable
from mppo.cli import main
from mppo.envs.robots.lane import MujocoLane
from mppo.files.reader import rows

BATCH = 200
MUJOCO, OURS = "MuJoCo's silent reset", "MuJoCo's bad numbers, our Hopper"
KINDS = {  # what the message must name as the field, and as its value
    "NaN observation": ("observation", "nan"),
    "infinite observation": ("observation", "-inf"),
    "NaN reward": ("reward", "nan"),
    "infinite reward": ("reward", "inf"),
    "observation's shape": (r"observation's shape \(not \(2,\)\)", r"\(3,\)"),
    "observation's type": (r"observation's type \(not float32\)", r"dtype\('O'\)"),
    "reward's type": ("reward", "'much'"),
    "terminated's type": ("terminated", "'yes'"),
    "exception in step": ("exception in step", r"Trouble\('no step'\)"),
    "exception in reset": ("exception in reset", r"Trouble\('no start'\)"),
    "NaN in reset": ("observation", "nan"),
    MUJOCO: ("MuJoCo's warnings", "BADQVEL"),
    OURS: ("MuJoCo's warnings", "BADQVEL"),
}


def cases(count: int = 1000) -> list[str]:
    """All kinds, at the first step and at step `count`, with one path and five: "5 1000 kind"."""
    return [f"{paths} {at} {kind}" for kind in KINDS for at in (1, count) for paths in (1, 5)]


def words(kind: str, at: int, paths: int, out: Path) -> list[str]:
    """The command line that meets the fault."""
    env = {MUJOCO: "campaign.faulty:campaign/BlownUp-v0", OURS: "Hopper-v5"}
    found = ["train", "mp-trpo", env.get(kind, "campaign.faulty:campaign/Faulty-v0")]
    if kind != OURS:
        found += ["--env.kind", kind, "--env.at", str(at)]
    found += ["--paths", str(paths), "--batch-size", str(BATCH), "--envs", "2", "--workers", "1"]
    found += ["--network.hidden", "4", "--critic.network.hidden", "4", "--eval-every", "0"]
    return [*found, "--steps", "4000", "--checkpoint-every", "1", "--out", str(out), "--quiet"]


@contextlib.contextmanager
def thrown(at: int):
    """Throw our own Hopper beyond MuJoCo's limits at that step of all lanes together."""
    real = MujocoLane.run_steps

    def run_steps(self: MujocoLane, actor, limits, rows, start: int, stop: int) -> int:
        is_bad = faulty.STEPS_TAKEN["number"] + 1 == at
        faulty._count(is_bad)
        if is_bad:
            self.data.qvel[:] = 1e12
        return real(self, actor, limits, rows, start, start + 1)

    with mock.patch.object(MujocoLane, "run_steps", run_steps):
        yield


def meet(case: str, folder: Path) -> Row:
    """Train until the fault; what was wrong with how the run stopped."""
    paths, at, kind = case.split(maxsplit=2)
    out, said = folder / "run", io.StringIO()
    faulty.STEPS_TAKEN.update(dict.fromkeys(faulty.STEPS_TAKEN, 0))
    sabotage = thrown(int(at)) if kind == OURS else contextlib.nullcontext()
    with contextlib.chdir(folder), contextlib.redirect_stderr(said), sabotage:
        code = main(words(kind, int(at), int(paths), out))
    message, wrong = said.getvalue(), []
    if code != 65:
        wrong.append(f"exit code {code}")
    if faulty.STEPS_TAKEN["faults"] != 1 or faulty.STEPS_TAKEN["after the fault"]:
        wrong.append(f"not stopped in that step: {faulty.STEPS_TAKEN}")
    wrong += [f"message without {name}" for name in missing(message, kind)]
    done = len(rows(out, "metrics.jsonl"))
    expected = (int(at) - 1) // BATCH
    if done not in ((expected, expected + 1) if kind.endswith("in reset") else (expected,)):
        wrong.append(f"{done} rows instead of {expected}")
    wrong += unreadable(out)
    if [row["event"] for row in rows(out, "events.jsonl")][-1:] != ["fault"]:
        wrong.append("no event")
    stray = sorted(set(os.listdir(folder)) - {"run"})
    shutil.rmtree(out, ignore_errors=True)
    if stray:
        wrong.append(f"left behind: {stray}")
    return {"wrong": wrong, "message": message[-500:], "ok": False} if wrong else {"ok": True}


def missing(message: str, kind: str) -> list[str]:
    """What the message should name and does not."""
    field, value = KINDS[kind]
    env = {MUJOCO: "BlownUp-v0", OURS: "Hopper-v5"}.get(kind, "Faulty-v0")
    at_reset = kind.endswith("in reset")
    wanted = {
        "the environment": rf'environment "[\w.:/-]*{env}" broke its contract',
        "field and value": rf": {field} = .*{value}",
        "the index": r"environment [01], ",
        "the seed": r"seed \d+",
        "the step": r"step \d+",
        "the last action": "last action None" if at_reset else r"last action \[-?\d",
    }
    return [name for name, pattern in wanted.items() if not re.search(pattern, message, re.S)]
