"""Settings of a run as a file: TOML for people, or the run.json of an earlier run."""

# pyright: strict
from __future__ import annotations

import dataclasses
import json
import math
import tomllib
from pathlib import Path
from typing import Any, NamedTuple, cast

from mppo.algorithm.methods import COMPONENTS, METHODS
from mppo.algorithm.schedules import SHAPES, Called, Schedule, is_part
from mppo.algorithm.styles import Style
from mppo.envs.recorded import imports_code
from mppo.errors import BadRequest
from mppo.files.changes import compare, nearest
from mppo.files.checkpoints import hash_of, parsed
from mppo.files.description import described
from mppo.files.reader import FORMAT as RUN_FORMAT
from mppo.files.settings import kind_of

FORMAT = 1
LARGEST = 1 << 20  # bytes
CODE = (
    "is code of another package, which is not imported just because a file names it; pass "
    "--allow-imports if you trust it"
)


class Config(NamedTuple):
    """What a file asks for: a key of `settings` is a flag's name, with underscores."""

    method: str | None
    env: str | None
    env_kwargs: dict[str, Any]
    settings: dict[str, Any]


def read(path: str, allow_imports: bool = False) -> Config:
    """The settings of a TOML file, of a run.json, or of the run directory that holds one.

    Code of other packages that the file names is refused unless it is allowed.
    """
    try:
        file = Path(path) / "run.json" if Path(path).is_dir() else Path(path)
        if file.stat().st_size > LARGEST:
            raise BadRequest(f'"{path}" is too large to be a file of settings')
        content = file.read_bytes()
    except OSError as error:
        raise BadRequest(f'cannot read "{path}": {error.strerror}') from error
    except ValueError as error:  # a character that no path can have
        raise BadRequest(f"cannot read {path!r}: {error}") from error
    try:
        if file.suffix.lower() == ".json":
            found = _of_a_run(content, allow_imports)
        else:
            found = _of_toml(content)
        if not allow_imports:
            _refuse_code(found)
    except RecursionError:
        raise BadRequest(f'"{path}" is nested too deeply') from None
    except BadRequest as error:
        raise BadRequest(f'"{path}": {error}') from error
    return found


def _of_toml(content: bytes) -> Config:
    try:
        data = tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadRequest(f"it is not valid TOML: {error}") from error
    _check_format(data.pop("config", FORMAT), FORMAT)
    words = {name: data.pop(name, None) for name in ("method", "env")}
    for name, value in words.items():
        if value is not None and not isinstance(value, str):
            raise BadRequest(f'"{name}" is {value!r}; it must be a word')
    arguments: Any = data.pop("env_kwargs", {})
    if not isinstance(arguments, dict):
        raise BadRequest(f'"env_kwargs" is {arguments!r}; it must be a table')
    given = cast(dict[str, Any], arguments)
    return Config(words["method"], words["env"], given, _flat(data))


def _flat(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Tables as dots, dashes as underscores; the kind of a table is the value of its name."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        key = prefix.rstrip(".") if name == "kind" and prefix else prefix + name.replace("-", "_")
        several = _flat(cast(dict[str, Any], value), f"{key}.") if isinstance(value, dict) else {}
        for each, one in (several or {key: value}).items():
            if each in found:
                raise BadRequest(f'"{each}" is there twice; keep one of them')
            found[each] = one
    return found


def _of_a_run(content: bytes, allow_imports: bool) -> Config:
    """What run.json says, as changes of the method that it is named after."""
    try:
        found: Any = parsed(content)
    except ValueError as error:
        raise BadRequest(f"it is not valid JSON: {error}") from error
    if not isinstance(found, dict) or "method_name" not in found:
        raise BadRequest(
            "it is not the run.json of a run; settings of your own are written as TOML"
        )
    data = cast(dict[str, Any], found)
    _check_format(data.get("format", RUN_FORMAT), RUN_FORMAT)
    rest = {name: value for name, value in data.items() if name != "sha256"}
    if data.get("sha256") != hash_of(rest):
        raise BadRequest(
            "it does not match its hash: it was changed after it was written; change settings by "
            "flags, or in the TOML that --print-config writes"
        )
    if data.get("env_from_python"):
        raise BadRequest(
            f'its environment was given from Python; "{data.get("env")}" is only its name'
        )
    old = described(data, allow_imports)
    name = old.method_name if old.method_name in METHODS else nearest(data["method"])
    run: dict[str, Any] = {"steps": old.steps, "seed": old.seed, **old.evaluation.options}
    if data.get("wrappers"):
        run["wrappers"] = data["wrappers"]
    changed = compare(METHODS[name], old.method)
    words = {field: _word(field, change.new) for field, change in changed.items()}
    return Config(name, old.env, old.env_kwargs, run | words)


def _check_format(found: Any, known: int) -> None:
    if type(found) is not int or found < 1:
        raise BadRequest(f"its format is {found!r}; this version reads {known}")
    if found > known:
        raise BadRequest(
            f"it is of format {found}, written by a newer version of mppo; this one reads "
            f"{known}: install a newer one, or write it anew with --print-config"
        )


def _refuse_code(config: Config) -> None:
    kinds = [value for name, value in config.settings.items() if name in COMPONENTS]
    wrappers = config.settings.get("wrappers", [])
    kinds += [value for name, value in config.settings.items() if "." in name and _calls(value)]
    named: list[Any] = [*kinds, *(cast(list[Any], wrappers) if isinstance(wrappers, list) else [])]
    code = [name for name in named if isinstance(name, str) and ":" in name]
    code += [config.env] if config.env is not None and imports_code(config.env) else []
    if code:
        raise BadRequest(f'"{code[0]}" {CODE}')


def _calls(value: Any) -> bool:
    """Whether a value would be taken for a schedule that is to be imported."""
    if not isinstance(value, str):
        return False
    name, *rest = value.split(":")
    try:
        _ = [float(text) for text in rest]  # with numbers it is a misspelt schedule, no function
    except ValueError:
        return name not in (*SHAPES, "constant")
    return False


def settings_of(component: Any, prefix: str = "") -> dict[str, Any]:
    """All fields of a method in the order of their flags, with the kinds of its components."""
    plain: dict[str, Any] = {}
    inside: dict[str, Any] = {}
    for field in dataclasses.fields(component):
        value, name = getattr(component, field.name), prefix + field.name
        if is_part(value):
            inside |= {name: kind_of(value)} if name in COMPONENTS else {}
            inside |= settings_of(value, f"{name}.")
        elif value is not None or field.default is not None:
            plain[name] = _word(name, value)
    return plain | inside


def _word(name: str, value: Any) -> Any:
    """A field's value as TOML and a flag can hold it: parts that have words for themselves too."""
    if isinstance(value, tuple):
        return [_word(name, item) for item in cast(tuple[Any, ...], value)]
    if name in COMPONENTS and is_part(value):
        return kind_of(value)
    if isinstance(value, Style | Schedule) or (isinstance(value, Called) and value.function):
        return str(value)
    if isinstance(value, bool | int | float | str):
        return value
    raise BadRequest(f'"{name}" is {value!r}, which can only be given from Python')


def written(config: Config) -> str:
    """The TOML that `read` takes; tables follow the plain values.

    >>> print(written(Config("ppo", "CartPole-v1", {}, {"steps": 10, "optimiser.clip": 0.1})))
    config = 1
    method = "ppo"
    env = "CartPole-v1"
    steps = 10
    <BLANKLINE>
    [optimiser]
    clip = 0.1
    <BLANKLINE>
    """
    words = {"config": FORMAT, "method": config.method, "env": config.env}
    tables: dict[str, dict[str, Any]] = {"": {n: v for n, v in words.items() if v is not None}}
    for name, value in config.settings.items():
        table, _, field = name.rpartition(".")
        if name in COMPONENTS:
            table, field = name, "kind"
        tables.setdefault(table, {})[field] = value
    if config.env_kwargs:
        tables["env_kwargs"] = config.env_kwargs
    lines: list[str] = []
    for table, values in tables.items():
        lines += ["", f"[{table}]"] if table else []
        lines += [f"{_key(name)} = {value_as_toml(name, value)}" for name, value in values.items()]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    plain = name.replace("_", "").replace("-", "")
    return name if plain.isascii() and plain.isalnum() else json.dumps(name)


def value_as_toml(name: str, value: Any) -> str:
    """A value as TOML writes it; the name is for the refusal."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value).replace("\x7f", "\\u007f")
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return repr(value)
    if isinstance(value, list | tuple):
        items = cast(list[Any], value)
        return f"[{', '.join(value_as_toml(name, item) for item in items)}]"
    if isinstance(value, dict):
        pairs = cast(dict[str, Any], value).items()
        return "{" + ", ".join(f"{_key(k)} = {value_as_toml(k, v)}" for k, v in pairs) + "}"
    raise BadRequest(f'"{name}" is {value!r}, which TOML cannot hold')
