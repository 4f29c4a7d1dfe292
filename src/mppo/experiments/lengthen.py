"""A longer run that begins where a finished shorter one of the same grid ended.

What a run computes does not depend on how long it will be, but for one row: the last iteration is
always evaluated, and in a longer run it may not be due. That row is left out, so the longer run
ends with the bytes of one that was made in one go.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import math
import os
import platform
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from mppo.errors import CheckpointError, StorageFault
from mppo.experiments.grid import Grid
from mppo.experiments.spec import RunSpec
from mppo.files import checkpoints, reader
from mppo.files.atomic import locked, write_atomically
from mppo.files.checkpoints import hash_of, read_bytes
from mppo.files.reader import LARGEST_LOG, LOGS

_SETTINGS = ("method_name", "method", "env", "env_kwargs", "seed", "evaluation")


def lengthen(grid: Grid, run: RunSpec, lengths: Iterable[int]) -> int:
    """Let a run that has not begun take over what a shorter one has done; how many steps that is.

    `lengths` are steps that runs of this grid may have. Nothing is taken over (0) where there is
    no such run, where it would not go on bit for bit, or where other versions of the packages made
    it. The shorter run stays as it is.
    """
    target = grid.directory(run)
    if target.exists():
        return 0
    for steps in sorted({steps for steps in lengths if steps < run.steps}, reverse=True):
        if steps < run.batch_size:
            break
        source = grid.directory(replace(run, steps=steps))
        with contextlib.suppress(OSError, CheckpointError, StorageFault, KeyError, TypeError):
            if reader.finished(source) and not locked(source):
                iterations = math.ceil(steps / run.batch_size)
                if _taken_over(source, target, run, iterations):
                    return iterations * run.batch_size
    return 0


def _taken_over(source: Path, target: Path, run: RunSpec, iterations: int) -> bool:
    described = reader.description(source)
    if described is None or not _goes_on_alike(described, run):
        return False
    found = checkpoints.load(source / "checkpoints", iterations)
    logs = {name: _log(source, name, found.data["offsets"]) for name in LOGS}
    if not run.evaluation.due(iterations, run.batch_size):
        logs["evaluations.jsonl"] = _without_last(logs["evaluations.jsonl"], iterations, run)
    offsets = {name: len(content) for name, content in logs.items()}
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in logs.items()}
    data = found.data | {"offsets": offsets, "logs_sha256": hashes}
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        folder.chmod(0o755)
        for name, content in logs.items():
            write_atomically(folder / name, content)
        checkpoints.save(folder / "checkpoints", iterations, found.arrays, data)
        longer = {key: value for key, value in described.items() if key != "sha256"}
        longer |= {"steps": run.steps, "iterations": math.ceil(run.steps / run.batch_size)}
        text = json.dumps({**longer, "sha256": hash_of(longer)}, indent=2) + "\n"
        write_atomically(folder / "run.json", text.encode())
        os.rename(folder, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # gone where it was renamed
    return True


def _goes_on_alike(described: dict[str, Any], run: RunSpec) -> bool:
    """Whether a run with this description, made longer here and now, is the longer run."""
    wanted = json.loads(json.dumps(run.as_json()))
    same = all(described.get(name) == wanted[name] for name in _SETTINGS)
    packages = described["versions"].keys() - {"python"}
    now = {name: importlib.metadata.version(name) for name in packages}
    now["python"] = platform.python_version()
    return same and described["resume"] == "bitwise" and described["versions"] == now


def _log(source: Path, name: str, offsets: dict[str, int]) -> bytes:
    """The lines that the checkpoint speaks of: all of them, or the run is not as it was left."""
    content = read_bytes(source / name, LARGEST_LOG)
    if len(content) != offsets[name]:
        raise CheckpointError(f'"{source / name}" does not end where the checkpoint says')
    return content


def _without_last(lines: bytes, iterations: int, run: RunSpec) -> bytes:
    """Evaluations without the one at the end, which only the shorter run has."""
    *before, last = lines.splitlines(keepends=True) or [b""]
    ours = last and json.loads(last).get("steps") == iterations * run.batch_size
    return b"".join(before) if ours else lines
