"""A whole model in one file: a safetensors file whose header says, as JSON, what it is.

All that decides the future is in it, as in a checkpoint: all paths, the value networks, the
optimisers, the filters and the counters. Opening it executes nothing.
"""

# pyright: strict
from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from mppo import checkpoint
from mppo.errors import BadRequest, CheckpointError
from mppo.storage import write_atomically
from mppo.store import RunDirectory, plain, rows

FORMAT = 1
SUFFIX = ".safetensors"
LARGEST = 1 << 33  # bytes
Row = dict[str, Any]


class Saved(NamedTuple):
    """What was saved: the description of its run, arrays by name, and plain data beside them."""

    described: Row
    arrays: dict[str, np.ndarray]
    data: Row
    metrics: list[Row]
    evaluations: list[Row]

    @property
    def checkpoint(self) -> checkpoint.Checkpoint:
        """In the form that a run restores from."""
        return checkpoint.Checkpoint(self.arrays, self.data, Path())


def file_for(path: str | os.PathLike[str]) -> Path:
    """The path with the suffix that a saved model has.

    >>> file_for("models/hopper").name
    'hopper.safetensors'
    """
    path = Path(path)
    return path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX)


def save(path: str | os.PathLike[str], described: Row, arrays: dict[str, np.ndarray], data: Row):
    """Write a model whole: readers see the old file or the new one. Returns where it is."""
    file = file_for(path)
    about = {
        "format": FORMAT,
        "arrays_sha256": checkpoint.digest(arrays),
        "run": plain(described),
        "data": plain(data),
    }
    text = json.dumps(about, allow_nan=False, sort_keys=True)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadRequest(f'cannot write to "{file.parent}": {error.strerror}') from error
    write_atomically(file, safetensors.numpy.save(arrays, metadata={"mppo": text}))
    return file


def read(path: str | os.PathLike[str]) -> Saved:
    """Read a saved model, or the newest good checkpoint of a run directory."""
    where = Path(path)
    if where.is_dir():
        return _from_directory(where)
    for file in (where, file_for(where)):
        if file.is_file():
            return _from_file(file)
    raise BadRequest(f'"{path}" is neither a saved model nor a run directory')


def _from_file(file: Path) -> Saved:
    if file.stat().st_size > LARGEST:
        raise CheckpointError(f'"{file}" is larger than {LARGEST} bytes')
    content = file.read_bytes()
    try:
        (length,) = struct.unpack_from("<Q", content)
        header = json.loads(content[8 : 8 + length])
        about = json.loads(header["__metadata__"]["mppo"])
        arrays: dict[str, np.ndarray] = safetensors.numpy.load(content)
        made = (about["format"], about["arrays_sha256"], about["run"], about["data"])
    except (SafetensorError, struct.error, ValueError, KeyError, TypeError, RecursionError) as bad:
        raise CheckpointError(f'"{file}" is not a model saved by mppo: {bad}') from bad
    if made[0] != FORMAT:
        raise CheckpointError(f'"{file}" is of format {made[0]}; this version reads {FORMAT}')
    if made[1] != checkpoint.digest(arrays):
        raise CheckpointError(f'"{file}" does not match its hash')
    return Saved(made[2], arrays, made[3], [], [])


def _from_directory(where: Path) -> Saved:
    directory = RunDirectory(where)
    described = directory.description()
    if described is None:
        raise BadRequest(f'"{where}" holds no run (there is no run.json)')
    found = directory.newest()
    number = found.data["iteration"]
    metrics = [row for row in rows(where, "metrics.jsonl") if row["iteration"] < number]
    steps = metrics[-1]["steps"] if metrics else 0
    evaluations = [row for row in rows(where, "evaluations.jsonl") if row["steps"] <= steps]
    return Saved(described, found.arrays, found.data, metrics, evaluations)
