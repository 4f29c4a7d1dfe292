"""Methods as JSON: every component carries its kind, so that a file says all and loads back."""

from __future__ import annotations

import dataclasses
import importlib
import math
import re
import types
import typing
from functools import lru_cache
from typing import Any

from mppo.algorithm.critic import Critic
from mppo.algorithm.methods import COMPONENTS, METHODS, Method
from mppo.algorithm.networks import Mlp
from mppo.algorithm.schedules import Called, Rate, Schedule, from_name
from mppo.algorithm.styles import Style
from mppo.errors import BadRequest, did_you_mean, in_words, no_schedule
from mppo.files import foreign_names
from mppo.files.evaluation import Evaluation

_PLAIN: dict[str, type] = {
    "method": Method,
    "critic": Critic,
    "mlp": Mlp,
    "style": Style,
    "evaluation": Evaluation,
    "schedule": Schedule,
    "called": Called,
}
_KINDS: dict[str, type] = _PLAIN | {
    kind: component for axis in COMPONENTS.values() for kind, component in axis.items()
}
_NAMES = {component: kind for kind, component in _KINDS.items()}


def kind_of(component: Any) -> str:
    """The name of a component's class: a word of ours, or `module:Class` for anyone else's."""
    cls = type(component)
    ours = cls.__module__.startswith("mppo.")
    own = cls.__name__.lower() if ours else f"{cls.__module__}:{cls.__qualname__}"
    return _NAMES.get(cls, own)


def to_json(value: Any) -> Any:
    """Plain data of a dataclass, recursively, with its kind.

    >>> to_json(METHODS["mp-trpo"].picking)["kind"], to_json(METHODS["mp-trpo"].picking)["alpha"]
    ('weighted', 0.1)
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        written = [f for f in dataclasses.fields(value) if f.metadata.get("saved", True)]
        fields = {f.name: to_json(getattr(value, f.name)) for f in written}
        return {"kind": kind_of(value), **fields}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    return value


def completed(data: Any) -> Any:
    """What `to_json` of an older version wrote, with the fields that have come since.

    >>> completed({"kind": "window", "episodes": 7})
    {'kind': 'window', 'episodes': 7, 'unit': 'undiscounted'}
    """
    if isinstance(data, list):
        return [completed(item) for item in data]
    if not isinstance(data, dict):
        return data
    data = {name: completed(value) for name, value in data.items()}
    kind = data.get("kind")
    cls = _KINDS.get(kind) if isinstance(kind, str) else None
    if cls is None or cls in (Schedule, Called):  # of somebody else, or complete as it is
        return data
    return {**to_json(cls()), **data}


def from_json(data: Any, allow_imports: bool = False) -> Any:
    """The value that `to_json` wrote.

    A kind of somebody else's package would have to be imported, which runs its code: that is done
    only where the caller allows it, never for a file just because it says so.
    """
    if isinstance(data, list):
        return tuple(from_json(item, allow_imports) for item in data)
    if not isinstance(data, dict):
        return data
    kind = data.get("kind")
    if not isinstance(kind, str):
        raise BadRequest(f"a component has the kind {kind!r}; it must be a word")
    cls = component_class(kind, allow_imports)
    if not dataclasses.is_dataclass(cls):
        raise BadRequest(f'"{kind}" is not a dataclass')
    known = {f.name for f in dataclasses.fields(cls)}
    given = {name: value for name, value in data.items() if name != "kind"}
    unknown = set(given) - known
    if unknown:
        name = sorted(unknown)[0]
        raise BadRequest(f'"{kind}" has no field "{name}"{did_you_mean(name, known)}')
    values = {name: from_json(value, allow_imports) for name, value in given.items()}
    _check_read(cls, kind, values)
    try:
        made = cls(**values)
        return from_name(made) if allow_imports and isinstance(made, Called) else made
    except (TypeError, ValueError) as error:
        raise BadRequest(f'"{kind}": {error}') from error


def _check_read(cls: type, kind: str, values: dict[str, Any]) -> None:
    """Raise unless every value of a file is of the type that its field has."""
    for name, value in values.items():
        wanted = hints(cls).get(name, Any)
        if cls is Method and name in COMPONENTS:
            theirs = not type(value).__module__.startswith("mppo.")
            known = theirs or type(value) in COMPONENTS[name].values()
            fits = known and dataclasses.is_dataclass(value)
        else:
            fits = _fits(value, wanted)
        if not fits:
            text = repr(value) if len(repr(value)) <= 100 else repr(value)[:100] + " ..."
            raise BadRequest(f'the field "{name}" of "{kind}" cannot be {text}')


@lru_cache
def hints(cls: type) -> dict[str, Any]:
    """The types of a component's fields."""
    try:
        return typing.get_type_hints(cls)
    except NameError:
        return {}  # of somebody else, with names that only its type checker knows


def _fits(value: Any, wanted: Any) -> bool:
    """Whether a value is of a type as annotations write it; of what is not known, everything is."""
    origin, inner = typing.get_origin(wanted), typing.get_args(wanted)
    if origin is typing.Literal:
        return any(type(value) is type(word) and value == word for word in inner)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is tuple:
        every = inner[:1] * len(value) if isinstance(value, tuple) and inner[-1] is ... else inner
        return (
            isinstance(value, tuple) and len(value) == len(every) and all(map(_fits, value, every))
        )
    if wanted is float:
        return type(value) in (int, float) and math.isfinite(value)
    if wanted is int:
        return type(value) is int and abs(value) < 1 << 63
    if isinstance(wanted, type) and not getattr(wanted, "_is_protocol", False):
        return isinstance(value, wanted)
    return True


def component_class(kind: str, allow_imports: bool = False, among: dict | None = None) -> type:
    """The class of that kind; `module:Class` is imported if allowed."""
    names = _KINDS if among is None else among
    if kind in names:
        return names[kind]
    if ":" in kind and allow_imports:
        module, _, name = kind.partition(":")
        try:
            return getattr(importlib.import_module(module), name)
        except Exception as error:  # importing runs code of the user's
            raise BadRequest(f'cannot load "{kind}": {in_words(error)}') from error
    if ":" in kind:
        raise BadRequest(
            f'"{kind}" is code of another package, which is not imported just because a file names '
            "it; pass --allow-imports (allow_imports=True) if you trust it"
        )
    own = " (or module:Class of your own)" if allow_imports else ""
    listed = f"Known: {', '.join(sorted(names))}{own}"
    raise BadRequest(f'unknown kind "{kind}"{did_you_mean(kind, names, listed)}')


def method_named(name: str) -> Method:
    """The method of that name."""
    if name in METHODS:
        return METHODS[name]
    raise unknown_method(name)


def unknown_method(name: str) -> BadRequest:
    """The refusal of a name that no method has."""
    hint = did_you_mean(name, METHODS, f"The methods are: {', '.join(METHODS)}")
    return BadRequest(f'unknown method "{name}"{hint}')


def name_of(method: Method) -> str:
    """The name of a method that has one, else "custom"."""
    return next((name for name, known in METHODS.items() if known == method), "custom")


def overridden(method: Method, changes: dict[str, Any]) -> Method:
    """The method with fields replaced; dots reach into components, a component's name swaps it.

    >>> overridden(METHODS["mp-trpo"], {"picking.alpha": 0.5, "paths": 4}).picking.alpha
    0.5
    >>> overridden(METHODS["mp-trpo"], {"picking": "best"}).picking
    Best(start='unvisited-first', ties='least-picked')

    For keyword arguments, two underscores stand for the dot, and a dict for several fields:

    >>> changed = overridden(METHODS["trpo"], {"critic": {"epochs": 3}, "picking__alpha": 0.5})
    >>> changed.critic.epochs, changed.picking.alpha
    (3, 0.5)
    """
    known = {field.name for field in dataclasses.fields(Method)}
    first = lambda name: re.split(r"\.|__", name)[0]
    unknown = [first(name) for name in changes if first(name) not in known]
    changes = by_dotted_name({name: changes[name] for name in changes if first(name) in known})
    swaps = {name: value for name, value in changes.items() if "." not in name}
    for name, value in swaps.items():
        if name in COMPONENTS and isinstance(value, str):
            swaps[name] = component_class(value, True, COMPONENTS[name])()
    method = _replaced(method, **swaps)
    for name, value in changes.items():
        if "." in name:
            method = _deep(method, name.split("."), value)
    for name in unknown:  # last, so that what is said of them fits the method as it is wanted
        _replaced(method, **{name: None})
    return method


def by_dotted_name(changes: dict[str, Any]) -> dict[str, Any]:
    """The same changes without dicts and double underscores; a "kind" in a dict swaps."""
    found: dict[str, Any] = {}
    for given, value in changes.items():
        name = given.replace("__", ".")
        if isinstance(value, dict):
            inner = {f"{name}.{field}": item for field, item in value.items() if field != "kind"}
            if "kind" in value:
                found[name] = value["kind"]
            found |= by_dotted_name(inner)
        else:
            found[name] = value
    return found


def _deep(target: Any, path: list[str], value: Any) -> Any:
    first, *rest = path
    if rest and first in {f.name for f in dataclasses.fields(target)}:
        value = _deep(getattr(target, first), rest, value)
    return _replaced(target, **{first: value})  # raises for an unknown name, with a suggestion


def _replaced(target: Any, **values: Any) -> Any:
    """The component with these fields; all at once, since one may be right only with another."""
    known = {f.name for f in dataclasses.fields(target)}
    for name, value in values.items():
        if name not in known:
            foreign = foreign_names.answer(name, target) if isinstance(target, Method) else ""
            if foreign:
                raise BadRequest(f'mppo takes no "{name}"; {foreign}')
            hint = did_you_mean(name, known, f"Fields: {', '.join(sorted(known))}")
            raise BadRequest(f'"{kind_of(target)}" has no field "{name}"{hint}')
        _check_type(target, name, value)
    try:
        return dataclasses.replace(target, **values)
    except ValueError as error:
        raise BadRequest(str(error)) from error


def _check_type(target: Any, name: str, value: Any) -> None:
    """Numbers for numbers, allowed words for words; unions of components are left to use."""
    wanted = hints(type(target)).get(name, Any)
    if wanted == Rate:
        fits = isinstance(value, int | float | str | Schedule | Called) or callable(value)
        if isinstance(value, bool) or not fits:
            raise BadRequest(f"{name} is {value!r}; it must be a number or a schedule")
    elif typing.get_origin(wanted) is typing.Literal:
        allowed = typing.get_args(wanted)
        if value not in allowed:
            words = list(map(str, allowed))
            hint = did_you_mean(str(value), words, f"Allowed: {', '.join(words)}")
            raise BadRequest(f"{name} is {value!r}{hint}")
    elif wanted in (int, float, bool):
        fits = isinstance(value, (int, float) if wanted is float else wanted)
        if not fits or (wanted is not bool and isinstance(value, bool)):
            why = no_schedule(name, value)
            raise BadRequest(f"{name} is {value!r}; it must be a {wanted.__name__}{why}")
    elif (
        isinstance(wanted, types.UnionType) and isinstance(value, str) and not _fits(value, wanted)
    ):
        raise BadRequest(f"{name} is {value!r}; give a component")
    if wanted in (Rate, int, float) and isinstance(value, float) and not math.isfinite(value):
        raise BadRequest(f"{name} is {value!r}; it must be finite")
