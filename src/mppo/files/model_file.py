"""A whole model in one file: a safetensors file whose header says, as JSON, what it is.

All that decides the future is in it, as in a checkpoint: all paths, the value networks, the
optimisers, the filters and the counters. Opening it executes nothing.
"""

# pyright: strict
from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import safetensors.numpy

from mppo.errors import BadRequest, CheckpointError
from mppo.files import checkpoints, reader
from mppo.files.atomic import make_folder, write_atomically
from mppo.files.checkpoints import Checkpoint
from mppo.files.reader import History
from mppo.files.run_directory import plain

FORMAT = 1
SUFFIX = ".safetensors"
OTHERS = {
    *(".zip", ".pkl", ".pickle", ".pt", ".pth", ".ckpt", ".h5", ".hdf5", ".npz", ".npy", ".onnx"),
    *(".msgpack", ".bin", ".tar", ".gz", ".json", ".jsonl", ".csv", ".yaml", ".toml", ".txt"),
}
"""Suffixes of files that a saved model is not."""
LARGEST = 1 << 33  # bytes
Row = dict[str, Any]


class Saved(NamedTuple):
    """What was saved: the description of its run, what it restores from, and its rows."""

    described: Row
    checkpoint: Checkpoint
    rows: History


def file_for(path: str | os.PathLike[str]) -> Path:
    """The path with the suffix that a saved model has.

    >>> file_for("models/hopper").name
    'hopper.safetensors'
    """
    path = Path(path)
    return path if path.suffix.lower() == SUFFIX else path.with_name(path.name + SUFFIX)


def file_to_save(path: str | os.PathLike[str]) -> Path:
    """As `file_for`, but the suffix of another kind of file is refused: it would be untrue.

    >>> file_to_save("models/hopper-0.5").name  # no suffix of a file
    'hopper-0.5.safetensors'
    """
    suffix = Path(path).suffix
    if suffix.lower() in OTHERS:
        raise BadRequest(
            f'cannot save a model as "{path}": it is a {SUFFIX} file, not {suffix}; write '
            f'"{Path(path).with_suffix(SUFFIX)}" or leave the suffix out'
            + ("; for ONNX: mppo export DIR --out policy.onnx" if suffix.lower() == ".onnx" else "")
        )
    return file_for(path)


def save(path: str | os.PathLike[str], described: Row, arrays: dict[str, np.ndarray], data: Row):
    """Write a model whole: readers see the old file or the new one. Returns where it is."""
    file = file_to_save(path)
    about = {
        "format": FORMAT,
        "arrays": checkpoints.digest(arrays),
        "run": plain(described),
        "data": plain(data),
    }
    about["sha256"] = checkpoints.hash_of(about)
    text = json.dumps(about, allow_nan=False, sort_keys=True)
    make_folder(file.parent)
    write_atomically(file, safetensors.numpy.save(arrays, metadata={"mppo": text}))
    return file


def read(path: str | os.PathLike[str]) -> Saved:
    """Read a saved model, or the newest good checkpoint of a run directory."""
    where = Path(path)
    if where.is_dir() and ((where / "run.json").exists() or not file_for(where).is_file()):
        described, found = reader.known_description(where), reader.newest(where)
        return Saved(described, found, reader.history(where).until(found.data["iteration"]))
    for file in (where, file_for(where)):
        if file.is_file():
            return _from_file(file)
    raise BadRequest(f'"{path}" is neither a saved model nor a run directory')


def _from_file(file: Path) -> Saved:
    content = checkpoints.read_bytes(file, LARGEST)
    try:
        arrays, metadata = checkpoints.arrays_and_metadata(content)
        about: Any = checkpoints.parsed(metadata["mppo"].encode())
    except (ValueError, KeyError, RecursionError) as bad:
        raise CheckpointError(f'"{file}" is not a model saved by mppo: {bad}') from bad
    if not isinstance(about, dict):
        raise CheckpointError(f'"{file}" is not a model saved by mppo')
    made = cast(Row, about)
    checkpoints.check_format(file, made, FORMAT)
    claimed = made.pop("sha256", None)
    if claimed != checkpoints.hash_of(made) or made.get("arrays") != checkpoints.digest(arrays):
        raise CheckpointError(f'"{file}" does not match its hash')
    run, data = made.get("run"), made.get("data")
    if not isinstance(run, dict) or not isinstance(data, dict):
        raise CheckpointError(f'"{file}" does not say what it holds')
    found = Checkpoint(arrays, cast(Row, data), Path())
    return Saved(cast(Row, run), found, History([], [], []))
