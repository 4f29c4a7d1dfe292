"""Damaged and hostile files, made from good ones: each is a function of its number.

Files with the hash left as it was must all be refused by it. So that the parsers behind the hash
are reached as well, most structured edits come with all hashes made anew; of these a few leave
content that is valid (another value of the same type), which nothing can tell from a good file.
"""

from __future__ import annotations

import copy
import hashlib
import json
import random
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from mppo.files.checkpoints import hash_of

SEED = 20_261_117
CANARY = "campaign_canary"  # a module that says so when it is imported
MAGIC = {
    "zip": b"PK\x03\x04\x14\x00\x00\x00\x08\x00",
    "pickle": b"\x80\x04\x95\x1f\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93"
    b"\x94\x8c\x04true\x94\x85\x94R\x94.",
    "old pickle": b"cos\nsystem\n(S'true'\ntR.",
    "npy": b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    "hdf5": b"\x89HDF\r\n\x1a\n\x00\x00\x00\x00\x00\x08\x08\x00",
    "gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
    "elf": b"\x7fELF\x02\x01\x01\x00",
    "yaml": b"!!python/object/apply:os.system ['true']\n",
}
HOSTILE: list[Any] = [
    None, True, -1, 0, 2**31, 2**63, 10**40, -1e308, 1e-320, 0.5, "", "x" * 5000, [], {}, [[]],
    "../../../etc/passwd", "\ud800", "__import__('os').system('true')", {"kind": "method"},
    f"{CANARY}:Evil", {"kind": f"{CANARY}:Evil"}, {"kind": "os:system"}, "\x00", [1] * 1000,
]  # fmt: skip


class Good(NamedTuple):
    """The files of a run that is in order."""

    run: bytes
    manifest: bytes
    arrays: bytes
    model: bytes  # saved in one file


class Mutant(NamedTuple):
    """The same files, one of them damaged."""

    kind: str
    files: Good
    may_load: bool  # the content may still be valid


def mutant(number: int, good: Good) -> Mutant:
    """The damaged files of that number."""
    dice = random.Random(f"{SEED} {number}")
    while True:
        kind = dice.choice(list(KINDS))
        files, may_load = KINDS[kind](dice, good)
        if files != good:
            return Mutant(kind, files, may_load)


def _raw(damage: Callable[[random.Random, bytes, Good], bytes]) -> Callable:
    """Damage to the bytes of any of the files; no hash is made anew."""

    def apply(dice: random.Random, good: Good) -> tuple[Good, bool]:
        field = dice.choice(Good._fields)
        return good._replace(**{field: damage(dice, getattr(good, field), good)}), False

    return apply


def _flip(dice: random.Random, content: bytes, good: Good) -> bytes:
    found = bytearray(content)
    for _ in range(dice.choice((1, 1, 1, 2, 8))):
        found[dice.randrange(len(found))] ^= 1 << dice.randrange(8)
    return bytes(found)


def _truncate(dice: random.Random, content: bytes, good: Good) -> bytes:
    # A text without its last newline is the same text.
    return content[: dice.randrange(len(content.rstrip()))]


def _splice(dice: random.Random, content: bytes, good: Good) -> bytes:
    other = dice.choice(good)
    start, length = dice.randrange(len(other)), dice.randrange(1, 200)
    at = dice.randrange(len(content))
    gap = dice.choice((0, length))
    piece = other[start : start + length].strip() or b"x"
    return content[:at] + piece + content[at + gap :]


def _blank(dice: random.Random, content: bytes, good: Good) -> bytes:
    at, length = dice.randrange(len(content)), dice.randrange(1, 64)
    return content[:at] + bytes(len(content[at : at + length])) + content[at + length :]


def _foreign(dice: random.Random, content: bytes, good: Good) -> bytes:
    magic = dice.choice(list(MAGIC.values()))
    return magic + (content[len(magic) :] if dice.random() < 0.5 else b"")


def _noise(dice: random.Random, content: bytes, good: Good) -> bytes:
    return dice.randbytes(dice.choice((0, 1, 7, 8, 9, 100, 5000)))


def with_hash(found: dict[str, Any]) -> bytes:
    """run.json with its own hash made anew."""
    rest = {name: value for name, value in found.items() if name != "sha256"}
    return json.dumps({**rest, "sha256": hash_of(rest)}).encode()


def with_hashes(manifest: dict[str, Any], arrays: bytes | None = None) -> bytes:
    """A manifest whose hashes are right, whatever it says."""
    found = {name: value for name, value in manifest.items() if name != "manifest_sha256"}
    if arrays is not None:
        found["arrays_sha256"] = hashlib.sha256(arrays).hexdigest()
    return json.dumps({**found, "manifest_sha256": hash_of(found)}).encode()


def _nodes(value: Any, path: tuple = ()) -> list[tuple]:
    """The paths to all values within JSON data."""
    found = [path] if path else []
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            found += _nodes(item, (*path, key))
    return found


def _edit(value: Any, path: tuple, change: Callable[[Any, Any], None]) -> Any:
    """A copy of JSON data, with `change(parent, key)` applied at a path."""
    found = copy.deepcopy(value)
    parent = found
    for key in path[:-1]:
        parent = parent[key]
    change(parent, path[-1])
    return found


def _put(replacement: Any) -> Callable[[Any, Any], None]:
    def change(parent: Any, key: Any) -> None:
        parent[key] = replacement

    return change


def _forget(parent: Any, key: Any) -> None:
    del parent[key]


def _json(edit: Callable[[random.Random, dict[str, Any]], dict[str, Any]], may_load: bool):
    """An edit of run.json, of the manifest or of a model's header, with the hashes made anew."""

    def apply(dice: random.Random, good: Good) -> tuple[Good, bool]:
        file = dice.choice(("run", "manifest", "model"))
        if file == "run":
            return good._replace(run=with_hash(edit(dice, json.loads(good.run)))), may_load
        if file == "manifest":
            manifest = with_hashes(edit(dice, json.loads(good.manifest)))
            return good._replace(manifest=manifest), may_load
        header, data = split(good.model)
        about = edit(dice, json.loads(header["__metadata__"]["mppo"]))
        return good._replace(model=model_file(header, about, data)), may_load

    return apply


def split(content: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and data of a safetensors file."""
    length = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def model_file(header: dict[str, Any], about: dict[str, Any], data: bytes) -> bytes:
    """A saved model that says this of itself."""
    text = with_hash(about).decode()
    return _file({**header, "__metadata__": {"mppo": text}}, data)


def _replace_value(dice: random.Random, value: dict[str, Any]) -> dict[str, Any]:
    return _edit(value, dice.choice(_nodes(value)), _put(dice.choice(HOSTILE)))


def _forget_value(dice: random.Random, value: dict[str, Any]) -> dict[str, Any]:
    return _edit(value, dice.choice(_nodes(value)), _forget)


def _deep_value(dice: random.Random, value: dict[str, Any]) -> dict[str, Any]:
    deep: Any = 1
    for _ in range(dice.choice((50, 400, 900))):
        deep = [deep] if dice.random() < 0.5 else {"kind": "method", "network": deep}
    return _edit(value, dice.choice(_nodes(value)), _put(deep))


def _as_text(change: Callable[[random.Random, str], str]) -> Callable:
    """An edit of JSON as text, for what no JSON writer would write."""

    def apply(dice: random.Random, good: Good) -> tuple[Good, bool]:
        field = dice.choice(("run", "manifest"))
        text = change(dice, getattr(good, field).decode())
        return good._replace(**{field: text.encode()}), False

    return apply


def _twice(dice: random.Random, text: str) -> str:
    """A key that stands twice, with the same value: the hash of what is read stays right."""
    value = json.loads(text)
    key = dice.choice(list(value))
    return "{" + f"{json.dumps(key)}: {json.dumps(value[key])}, " + text.strip()[1:]


def _literal(dice: random.Random, text: str) -> str:
    """A number that is none, or that no machine number holds."""
    places = [i for i, c in enumerate(text[:-1]) if c == ":" and text[i + 1] == " "]
    at = dice.choice(places) + 2
    end = min((i for i in (text.find(c, at) for c in ",}]\n") if i >= 0), default=at)
    word = dice.choice(("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 5000, "0x10"))
    return text[:at] + word + text[end:]


def _deep_text(dice: random.Random, text: str) -> str:
    depth = dice.choice((1_000, 100_000, 500_000))
    return dice.choice(("[" * depth, '{"a":' * depth, "[" * depth + "]" * depth))


def _header(edit: Callable[[random.Random, dict[str, Any], bytes], bytes], may_load: bool = False):
    """An edit of the safetensors file, with both hashes made anew."""

    def apply(dice: random.Random, good: Good) -> tuple[Good, bool]:
        if dice.random() < 0.25:  # of a model only the header is reached: its hash is of the arrays
            return good._replace(model=edit(dice, *split(good.model))), False
        arrays = edit(dice, *split(good.arrays))
        manifest = with_hashes(json.loads(good.manifest), arrays)
        return good._replace(arrays=arrays, manifest=manifest), may_load

    return apply


def _file(header: Any, data: bytes) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def _tensor_field(dice: random.Random, header: dict[str, Any], data: bytes) -> bytes:
    # An array without elements may lie anywhere: to move it changes nothing.
    filled = [name for name, entry in header.items() if 0 not in entry.get("shape", [0])]
    entry = header[dice.choice(filled)]
    field = dice.choice(("dtype", "shape", "data_offsets"))
    big, n = dice.choice((2**31, 2**62, 2**64 - 1, 2**64, 10**30)), len(data)
    choices = {
        "dtype": ["F16", "BF16", "F8_E4M3", "BOOL", "O", "U128", "", None, 7, "complex128"],
        "shape": [[big], [big, big], [-1], [0], [], [1.5], None, ["a"], [1] * 100, [0, big]],
        "data_offsets": [[0, big], [big, big], [-4, 0], [4, 0], [0], [0, n + 4], None, [n, n]],
    }
    while (value := dice.choice(choices[field])) == entry[field]:
        pass
    entry[field] = value
    return _file(header, data)


def _tensor_set(dice: random.Random, header: dict[str, Any], data: bytes) -> bytes:
    names = [name for name in header if name != "__metadata__"]
    one, other = dice.sample(names, 2)
    way = dice.choice(("forget", "add", "rename", "swap kinds", "overlap"))
    if way == "forget":
        del header[one]
    elif way == "add":
        header["extra"] = {"dtype": "F32", "shape": [1], "data_offsets": [len(data), len(data) + 4]}
        data += b"\0\0\0\0"
    elif way == "rename":
        header["episodes.now" if dice.random() < 0.3 else one + "x"] = header.pop(one)
    elif way == "swap kinds":
        header[one]["shape"] = [*header[one]["shape"], 1]
    else:
        header[one]["data_offsets"] = header[other]["data_offsets"]
        header[one]["shape"], header[one]["dtype"] = header[other]["shape"], header[other]["dtype"]
    return _file(header, data)


def _length_field(dice: random.Random, header: dict[str, Any], data: bytes) -> bytes:
    whole = _file(header, data)
    length = dice.choice((0, 1, 7, 2**31, 2**63 - 1, 2**64 - 1, len(whole), len(whole) - 8))
    return struct.pack("<Q", length) + whole[8:]


def _bad_header(dice: random.Random, header: dict[str, Any], data: bytes) -> bytes:
    text = json.dumps(header).encode()
    cut = text[: dice.randrange(len(text))]
    return _file(
        dice.choice((cut, b"", b"[]", b"null", b"\xff" + text, b"[" * 5000, b'{"a":' * 5000)), data
    )


def _twice_in_header(dice: random.Random, header: dict[str, Any], data: bytes) -> bytes:
    name = dice.choice([name for name in header if name != "__metadata__"])
    entry = {**header[name], "shape": [2**40]}
    text = f"{{{json.dumps(name)}: {json.dumps(entry)}, " + json.dumps(header)[1:]
    return _file(text.encode(), data)


def _data_length(dice: random.Random, header: dict[str, Any], data: bytes) -> bytes:
    if dice.random() < 0.5:
        return _file(header, data[: dice.randrange(len(data))])
    return _file(header, data + bytes(dice.randrange(1, 100)))


def _header_flip(dice: random.Random, header: dict[str, Any], data: bytes) -> bytes:
    text = bytearray(json.dumps(header, separators=(",", ":")).encode())
    text[dice.randrange(len(text))] ^= 1 << dice.randrange(8)
    return _file(bytes(text), data)


def _value(dice: random.Random, header: dict[str, Any], data: bytes) -> bytes:
    found = bytearray(data)
    found[dice.randrange(len(found))] ^= 1 << dice.randrange(8)
    return _file(header, bytes(found))


def _another_format(dice: random.Random, value: dict[str, Any]) -> dict[str, Any]:
    return {**value, "format": dice.choice((0, 2, 99, -1, 10**30))}


def _names_code(dice: random.Random, good: Good) -> tuple[Good, bool]:
    """A run that names a module to be imported, as component or as environment."""
    header, data = split(good.model)
    about = json.loads(header["__metadata__"]["mppo"])
    in_model = dice.random() < 0.5
    run = about["run"] if in_model else json.loads(good.run)
    name = f"{CANARY}:{dice.choice(('Evil', 'Evil-v0', 'x/y-v1'))}"
    ways = ("env", "method", "optimiser", "network", "evaluation", "argument", "wrapper")
    way = dice.choice(ways)
    if way == "env":
        run["env"] = name
    elif way == "evaluation":
        run["evaluation"]["kind"] = name
    elif way == "method":
        run["method"]["kind"] = name
    elif way == "wrapper":
        run["wrappers"] = [name]
    elif way == "argument":
        run |= {"env": "GymV26Environment-v0", "env_kwargs": {"env_id": name}}
    else:
        run["method"][way]["kind"] = name
    if in_model:
        return good._replace(model=model_file(header, {**about, "run": run}, data)), False
    return good._replace(run=with_hash(run)), False


KINDS: dict[str, Callable[[random.Random, Good], tuple[Good, bool]]] = {
    "bit flips": _raw(_flip),
    "truncation": _raw(_truncate),
    "splice": _raw(_splice),
    "zeroed block": _raw(_blank),
    "foreign magic": _raw(_foreign),
    "noise": _raw(_noise),
    "key twice": _as_text(_twice),
    "number that is none": _as_text(_literal),
    "deep JSON": _as_text(_deep_text),
    "another format, rehashed": _json(_another_format, False),
    "hostile value, rehashed": _json(_replace_value, True),
    "missing value, rehashed": _json(_forget_value, True),
    "deep value, rehashed": _json(_deep_value, True),
    "names code, rehashed": _names_code,
    "header entry, rehashed": _header(_tensor_field),
    "set of arrays, rehashed": _header(_tensor_set),
    "header length, rehashed": _header(_length_field),
    "broken header, rehashed": _header(_bad_header),
    "array twice, rehashed": _header(_twice_in_header),
    "data length, rehashed": _header(_data_length),
    "header flip, rehashed": _header(_header_flip),
    "value flip, rehashed": _header(_value, True),
}
