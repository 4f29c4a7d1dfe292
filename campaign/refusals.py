"""Runs of which no checkpoint is good: refused with every byte as it was, then started anew.

`python -m campaign.refusals KIND COUNT` tries one kind of damage in many places, in one process.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from campaign.mutate import with_hashes
from campaign.small import Small, contents, differences, outcome
from mppo.algorithm.methods import METHODS
from mppo.cli import main
from mppo.files import checkpoints, settings
from mppo.files.reader import LOGS
from mppo.training.start import train

SEED = 20_261_118
COUNT = 20  # of each kind
RUN = Small("mp-trpo", "mppo/Maze-v0", iterations=4)
STOPPED_AFTER = 3  # iterations
Do = Callable[[list[str]], tuple[int, str]]  # arguments of mppo: exit code, and what it said


class Stopped(Exception):
    """Raised in a callback: the run is saved and left as it is."""


def interrupted(out: Path, run: Small = RUN, after: int = STOPPED_AFTER) -> None:
    """Leave the run after some iterations, with two checkpoints."""

    def callback(event: str, row: dict[str, Any]) -> None:
        if event == "iteration" and row["iteration"] + 1 == after:
            raise Stopped

    method = settings.overridden(METHODS[run.method], run.overrides)
    options: dict[str, Any] = {"steps": run.steps, "seed": 3, "checkpoint_every": 1, "workers": 1}
    options |= {"eval_every": 2000, "eval_episodes": 2, "eval_deterministic_episodes": 1}
    with contextlib.suppress(Stopped):
        train(method, run.env, out=out, callback=callback, **options)


def _manifests(out: Path) -> list[Path]:
    folder = out / "checkpoints"
    return [folder / f"{number:09d}.json" for number in checkpoints.numbers(folder)]


def _flip(file: Path, dice: random.Random) -> None:
    found = bytearray(file.read_bytes())
    found[dice.randrange(len(found))] ^= 1 << dice.randrange(8)
    file.write_bytes(found)


def damaged(out: Path, dice: random.Random) -> None:
    """One bit of one file of every checkpoint."""
    for manifest in _manifests(out):
        _flip(dice.choice((manifest, manifest.with_suffix(".safetensors"))), dice)


def newer(out: Path, dice: random.Random) -> None:
    """Every checkpoint of a format that is not known yet, with its hash right."""
    for manifest in _manifests(out):
        found = json.loads(manifest.read_bytes())
        manifest.write_bytes(with_hashes({**found, "format": dice.randrange(2, 100)}))


def unreadable(out: Path, dice: random.Random) -> None:
    """Every checkpoint with a file that cannot be read."""
    for manifest in _manifests(out):
        file = dice.choice((manifest, manifest.with_suffix(".safetensors")))
        file.unlink()
        file.mkdir()


def incomplete(out: Path, dice: random.Random) -> None:
    """Every checkpoint without its arrays, or all without their manifests."""
    suffix = dice.choice((".json", ".safetensors"))
    for manifest in _manifests(out):
        manifest.with_suffix(suffix).unlink()


def _log(out: Path, dice: random.Random) -> tuple[Path, int]:
    """A log that has rows, and how much of it every checkpoint remembers."""
    folder = out / "checkpoints"
    offsets = checkpoints.load(folder, checkpoints.numbers(folder)[-1]).data["offsets"]
    name = dice.choice([name for name in LOGS if offsets[name]])
    return out / name, offsets[name]


def edited(out: Path, dice: random.Random) -> None:
    """One digit of a row that every checkpoint remembers, so that the row stays valid JSON."""
    file, upto = _log(out, dice)
    found = bytearray(file.read_bytes())
    places = [at for at in range(upto) if chr(found[at]) in "12345678"]
    found[dice.choice(places)] += 1
    file.write_bytes(found)


def shortened(out: Path, dice: random.Random) -> None:
    """A log cut off within the rows that every checkpoint remembers."""
    file, upto = _log(out, dice)
    file.write_bytes(file.read_bytes()[: dice.randrange(upto)])


KINDS: dict[str, Callable[[Path, random.Random], None]] = {
    "all checkpoints damaged": damaged,
    "all of a newer format": newer,
    "all unreadable": unreadable,
    "all incomplete": incomplete,
    "a log edited": edited,
    "a log shortened": shortened,
}


def refused(out: Path, do: Do) -> list[str]:
    """What is wrong with how a run without a good checkpoint is refused."""
    before = contents(out)
    code, said = do(["resume", str(out), "--quiet"])
    wrong = [] if code == 74 else [f"resuming exits {code}"]
    if f"mppo resume {out} --from-scratch" not in said:
        wrong.append(f"no way out in: {said[-300:]}")
    after = contents(out)
    changed = sorted(n for n in before.keys() | after.keys() if before.get(n) != after.get(n))
    return wrong + [f"{name} was changed" for name in changed]


def started_anew(out: Path, do: Do, reference: tuple) -> list[str]:
    """What is wrong with a start from scratch: with its outcome, or with what was there before."""
    before = contents(out)
    code, said = do(["resume", str(out), "--from-scratch", "--quiet"])
    aside = out.with_name(f"{out.name}.aside-1")
    wrong = [] if code == 0 else [f"from scratch exits {code}: {said[-300:]}"]
    if not aside.exists() or contents(aside) != before:
        wrong.append("the old run is not as it was")
    return wrong + [f"{name} differs" for name in differences(out, reference)]


def in_process(words: list[str]) -> tuple[int, str]:
    """`mppo WORDS` without a process of its own."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        return main(words), said.getvalue()


def try_all(kind: str, count: int = COUNT) -> dict[str, Any]:
    """Damage a run in that way in many places: how often it was refused, and what went wrong."""
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        code, said = in_process(RUN.words(folder / "whole"))
        if code:
            raise RuntimeError(f"the reference failed: {said}")
        interrupted(folder / "part")
        reference = outcome(folder / "whole")
        for n in range(count):
            out = folder / f"case-{n}" / "run"
            shutil.copytree(folder / "part", out)
            KINDS[kind](out, random.Random(f"{SEED} {kind} {n}"))
            found = refused(out, in_process) + started_anew(out, in_process, reference)
            wrong += [f"{kind} {n}: {what}".replace(str(out), "DIR") for what in found]
    return {"counts": {"runs": count, f"refused: {kind}": count}, "wrong": wrong}


if __name__ == "__main__":
    print(json.dumps(try_all(sys.argv[1], int(sys.argv[2]))))
