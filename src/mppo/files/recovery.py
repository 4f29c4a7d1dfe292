"""Where an interrupted run goes on: at the newest checkpoint that is whole and fits run and logs.

Choosing changes nothing. What is refused is never deleted: while no checkpoint is good, all stays
as it is and the run does not start; once an older one is, the refused ones are moved out of the
way, to `checkpoints/refused`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mppo.errors import CheckpointError
from mppo.files import checkpoints
from mppo.files.atomic import moved, present, reported
from mppo.files.checkpoints import Checkpoint, read_bytes
from mppo.files.reader import LARGEST_LOG

_ARRAYS = re.compile(r"(\d{9})\.safetensors")


class Choice(NamedTuple):
    """The checkpoint to go on from, None for the beginning, and the newer ones that are not."""

    found: Checkpoint | None
    refused: dict[int, str]  # by number, the reason, which names the file


def choose(path: Path, logs: Sequence[str], restore: Callable[[Checkpoint], Any]) -> Choice:
    """The newest checkpoint of a run directory that verifies, fits the logs and can be restored.

    Where there are checkpoints and none is good, CheckpointError says why of each. A run that has
    none yet starts from the beginning; so does one whose very first save was interrupted.
    """
    folder = path / "checkpoints"
    numbers, bare = _listed(folder)
    refused: dict[int, str] = {}
    for number in numbers:
        try:
            found = checkpoints.load(folder, number)
            _check(found, number, path, logs)
            restore(found)
        except CheckpointError as error:
            reason, file = str(error), folder / f"{number:09d}.json"
            refused[number] = reason if str(path) in reason else f'"{file}": {reason}'
        else:
            return Choice(found, refused)
    torn = {n: f'"{folder / f"{n:09d}.safetensors"}" has no manifest' for n in bare}
    if numbers or len(bare) > 1:
        raise none_good(path, f"no checkpoint is good: {'; '.join((refused or torn).values())}")
    return Choice(None, torn)


def none_good(path: Path, why: str) -> CheckpointError:
    """The refusal to go on, or to start over what is there, with the ways out."""
    return CheckpointError(
        f'"{path}": {why}. Nothing was changed. Put the files back as they were and try again; or '
        f"start anew with: mppo resume {path} --from-scratch (in Python: from_scratch=True), which "
        "moves this directory aside and deletes nothing"
    )


def set_aside(path: Path, number: int) -> str:
    """Move the files of a checkpoint to `checkpoints/refused`; returns where they are now."""
    folder = path / "checkpoints"
    # the manifest moves last: until then it is looked at again
    files = [folder / f"{number:09d}{suffix}" for suffix in (".safetensors", ".json")]
    files = [file for file in files if present(file)]  # an earlier attempt may have moved some
    with reported(folder / "refused"):
        targets = moved(files, folder / "refused")
    return str([folder / "refused", *targets][-1].relative_to(path))


def _listed(folder: Path) -> tuple[list[int], list[int]]:
    """Numbers of the checkpoints, newest first, and of those of which only the arrays are there."""
    try:
        if not present(folder):
            return [], []
        names = [entry.name for entry in folder.iterdir()]
    except OSError as error:  # a link to a disk that is not there, or a directory closed to us
        why = f'cannot read "{folder}": {error.strerror}'
        raise none_good(folder.parent, why) from error
    numbers = checkpoints.numbers(folder)
    bare = [int(match[1]) for match in map(_ARRAYS.fullmatch, names) if match]
    return numbers, sorted(set(bare) - set(numbers), reverse=True)


def _check(found: Checkpoint, number: int, path: Path, logs: Sequence[str]) -> None:
    """Raise unless it is of its iteration and the logs begin as they did when it was saved."""
    offsets, hashes = found.data.get("offsets"), found.data.get("logs_sha256")
    if type(found.data.get("iteration")) is not int or found.data["iteration"] != number:
        raise CheckpointError(f'"{found.path}" is not of iteration {number}')
    if not isinstance(offsets, dict) or any(type(offsets.get(name)) is not int for name in logs):
        raise CheckpointError(f'"{found.path}" does not say how far the logs had come')
    if "logs_sha256" in found.data and not isinstance(hashes, dict):  # older ones have none
        raise CheckpointError(f'"{found.path}" has no valid "logs_sha256"')
    for name in logs:
        file, offset = path / name, offsets[name]
        before = read_bytes(file, LARGEST_LOG)[:offset] if offset > 0 else b""
        if len(before) != offset or (before and not before.endswith(b"\n")):
            raise CheckpointError(f'"{file}" does not reach as far as checkpoint {number} says')
        if hashes is not None and hashes.get(name) != hashlib.sha256(before).hexdigest():
            raise CheckpointError(
                f'"{file}" was changed: its first {before.count(10)} lines are not those that '
                f"checkpoint {number} remembers"
            )
        if name == "metrics.jsonl" and before and not _ends_before(before, number):
            raise CheckpointError(f'"{file}" does not end with the iteration before {number}')


def _ends_before(lines: bytes, number: int) -> bool:
    """Whether the last row is of the iteration before; a run may have learnt elsewhere at first."""
    try:
        return json.loads(lines.splitlines()[-1]).get("iteration", number - 1) == number - 1
    except (ValueError, AttributeError, RecursionError):
        return False
