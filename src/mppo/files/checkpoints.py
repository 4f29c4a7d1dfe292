"""Checkpoints: a safetensors file of all arrays and a JSON manifest with the hash of every file.

Loading verifies hashes first and parses second, and knows beforehand which arrays must be there
with which shapes: nothing in a file can choose what is executed or allocated.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from mppo.algorithm.types import PyTree
from mppo.errors import CheckpointError
from mppo.files.atomic import write_atomically
from mppo.machine.lazy import jax, jnp

FORMAT = 1
KEPT = 2
LARGEST_MANIFEST = 1 << 20  # bytes
LARGEST_ARRAYS = 1 << 33
_UNFIT = (KeyError, TypeError, OverflowError, MemoryError, RecursionError)
_NAME = re.compile(r"(\d{9})\.json")


class Checkpoint(NamedTuple):
    """What a file holds: the arrays by name, and plain data beside them."""

    arrays: dict[str, np.ndarray]
    data: dict[str, Any]
    path: Path


def named_arrays(tree: PyTree, prefix: str) -> dict[str, np.ndarray]:
    """All leaves of a tree, named by where they are; keys as the numbers they consist of."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    data = lambda leaf: jax.random.key_data(leaf) if _is_key(leaf) else leaf
    name = lambda path: prefix + jax.tree_util.keystr(path)
    return {name(path): np.array(data(leaf), order="C") for path, leaf in leaves}


def restored(like: PyTree, arrays: dict[str, np.ndarray], prefix: str) -> PyTree:
    """The tree of that structure from named arrays; every name, shape and type must fit.

    Of `like`, only shapes and types are looked at: what `jax.eval_shape` gives will do.
    """
    leaves, structure = jax.tree_util.tree_flatten_with_path(like)
    values = []
    for path, leaf in leaves:
        name = prefix + jax.tree_util.keystr(path)
        if name not in arrays:
            raise CheckpointError(f'the checkpoint has no array "{name}"')
        wanted = jax.eval_shape(jax.random.key_data, leaf) if _is_key(leaf) else leaf
        found = arrays[name]
        if found.shape != wanted.shape or found.dtype != wanted.dtype:
            raise CheckpointError(
                f'the array "{name}" is {found.dtype}{list(found.shape)} in the checkpoint; '
                f"this configuration needs {wanted.dtype}{list(wanted.shape)}"
            )
        array = jnp.asarray(found)
        values.append(jax.random.wrap_key_data(array) if _is_key(leaf) else array)
    return jax.tree_util.tree_unflatten(structure, values)


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def digest(arrays: dict[str, np.ndarray]) -> str:
    """SHA-256 over names, types, shapes and bytes: equal exactly if all bits are."""
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        total.update(f"{name} {array.dtype} {array.shape} ".encode())
        total.update(array.tobytes())
    return total.hexdigest()


def save(folder: Path, number: int, arrays: dict[str, np.ndarray], data: dict[str, Any]) -> None:
    """Write checkpoint `number` so that a crash at any moment leaves the older ones loadable.

    Kept are this one and the newest before it. One of a higher number is none that this run went
    on from, and nobody's reason to delete another: it is left alone.
    """
    folder.mkdir(mode=0o755, exist_ok=True)
    content = safetensors.numpy.save(arrays)
    write_atomically(folder / f"{number:09d}.safetensors", content)
    manifest = {
        "format": FORMAT,
        "number": number,
        "arrays": f"{number:09d}.safetensors",
        "arrays_sha256": hashlib.sha256(content).hexdigest(),
        "data": data,
    }
    manifest["manifest_sha256"] = hash_of(manifest)
    write_atomically(folder / f"{number:09d}.json", json.dumps(manifest, indent=1).encode())
    before = [old for old in numbers(folder) if old < number]
    for old in before[KEPT - 1 :]:
        for suffix in (".json", ".safetensors"):  # the manifest first: without it, it is no more
            (folder / f"{old:09d}{suffix}").unlink(missing_ok=True)


def numbers(folder: Path) -> list[int]:
    """Numbers of the checkpoints there, newest first; what has no manifest is none."""
    if not folder.is_dir():
        return []
    found = [_NAME.fullmatch(entry.name) for entry in folder.iterdir()]
    return sorted((int(match[1]) for match in found if match), reverse=True)


def load(folder: Path, number: int) -> Checkpoint:
    """Read one checkpoint; anything wrong with it raises CheckpointError."""
    path, file = folder / f"{number:09d}.json", folder / f"{number:09d}.safetensors"
    manifest = read_json(path, LARGEST_MANIFEST)
    check_format(path, manifest, FORMAT)
    fields = {"number": int, "arrays": str, "arrays_sha256": str, "data": dict}
    for name, kind in fields.items():
        if type(manifest.get(name)) is not kind:
            raise CheckpointError(f'"{path}" has no valid "{name}"')
    claimed = manifest.pop("manifest_sha256", None)
    if claimed != hash_of(manifest):
        raise CheckpointError(f'"{path}" does not match its hash')
    if manifest["arrays"] != file.name or manifest["number"] != number:
        raise CheckpointError(f'"{path}" describes another checkpoint')
    content = read_bytes(file, LARGEST_ARRAYS)
    if hashlib.sha256(content).hexdigest() != manifest["arrays_sha256"]:
        raise CheckpointError(f'"{file}" does not match its hash')
    try:
        arrays, _ = arrays_and_metadata(content)
    except ValueError as error:
        raise CheckpointError(f'"{file}": {error}') from error
    return Checkpoint(arrays, manifest["data"], path)


def arrays_and_metadata(content: bytes) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """What a safetensors file holds; one that is not as it should be raises ValueError."""
    try:
        header = parsed(content[8 : 8 + int.from_bytes(content[:8], "little")])  # more strictly
        arrays = safetensors.numpy.load(content)
    except (SafetensorError, *_UNFIT) as error:
        raise ValueError(str(error)) from error
    return arrays, header.get("__metadata__", {})


def check_format(path: Path, found: dict[str, Any], known: int) -> None:
    """Raise for a file of another format: its other fields may mean anything."""
    if type(found.get("format")) is not int:
        raise CheckpointError(f'"{path}" has no valid "format"')
    if found["format"] != known:
        raise CheckpointError(
            f'"{path}" was written by format {found["format"]}, this version reads format {known}; '
            "use the version of mppo that wrote it"
        )


def parsed(content: bytes) -> Any:
    """JSON as the standard has it: no NaN, no number beyond a double, no key that stands twice."""
    return json.loads(
        content.decode("utf-8"),  # bytes would be taken for UTF-16 or UTF-32 if they look like it
        parse_constant=refuse_constant,
        parse_float=_finite,
        object_pairs_hook=_without_duplicates,
    )


def read_json(path: Path, largest: int, parse: Callable[[bytes], Any] = parsed) -> dict[str, Any]:
    """A JSON object from a file of limited size; anything else raises CheckpointError."""
    content = read_bytes(path, largest)
    try:
        value = parse(content)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f'"{path}" is not valid JSON: {error}') from error
    if not isinstance(value, dict):
        raise CheckpointError(f'"{path}" is not a JSON object')
    return value


def refuse_constant(text: str) -> None:
    """Raise for NaN and the infinities, which Python's reader of JSON would take."""
    raise ValueError(f"{text} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is too large")
    return value


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):  # two readers might take one each
        raise ValueError("a key stands twice")
    return found


def read_bytes(path: Path, largest: int) -> bytes:
    """A plain file of limited size, whole; anything else raises CheckpointError."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):  # a pipe or a device may never end
            raise CheckpointError(f'"{path}" is not a plain file')
        if found.st_size > largest:
            raise CheckpointError(f'"{path}" is larger than {largest} bytes')
        return path.read_bytes()
    except MemoryError as error:
        raise CheckpointError(f'"{path}" does not fit into memory') from error
    except OSError as error:
        raise CheckpointError(f'cannot read "{path}": {error.strerror}') from error


def hash_of(manifest: dict[str, Any]) -> str:
    """SHA-256 of JSON data, however it is laid out in a file."""
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
