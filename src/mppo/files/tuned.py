"""Settings that are known to work on a task: data of the package, with their source and returns.

`tuned.toml` has one entry for each method and environment. It is written by `written` alone, so
that measured returns can be put into it by a command. `published.toml` has the returns that other
libraries publish on these tasks, each with its source.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import Any, Literal, NamedTuple

from mppo.algorithm.methods import Method
from mppo.algorithm.optimisers.trpo import Trpo
from mppo.errors import BadRequest, did_you_mean
from mppo.files import config_file
from mppo.files.changes import env_flags
from mppo.files.settings import by_dotted_name, kind_of, method_named

FILE = Path(__file__).with_name("tuned.toml")
PUBLISHED = Path(__file__).with_name("published.toml")
LEVEL = 0.01
"""A mean return that is lower than a published one by at most this part counts as level."""
HEADER = """\
# Settings known to work: `mppo train METHOD ENV --tuned` takes them, `mppo zoo` lists them.
# Every entry says where its settings come from. Its returns are the final scores of seeds 0, 1, ...
# (mean of the last tenth of the evaluations); an empty list means: not measured yet.
# `mppo zoo update DIR` writes returns and seconds; the rest is edited by hand.
"""
NOT_MEASURED = "not measured yet"


class Tuned(NamedTuple):
    """One entry: a method on a task, and the fields in which it differs from its defaults."""

    method: str
    env: str
    steps: int
    source: str
    settings: dict[str, Any]
    """Fields of the method by their names with dots."""
    env_kwargs: dict[str, Any]
    wrappers: tuple[str, ...]
    returns: tuple[float, ...]
    """The final score of each seed, counted from 0."""
    deterministic: tuple[float, ...]
    """The same with the most likely actions."""
    seconds: float = 0.0
    """Mean duration of one run; 0 where nothing was measured."""
    measured: str = ""
    """Where and with which version the returns were measured."""

    @property
    def id(self) -> str:
        """The environment as people call it.

        >>> find("ppo", "LunarLander-v3", {"continuous": True}).id
        'LunarLander-v3 continuous=True'
        """
        arguments = "".join(f" {name}={value}" for name, value in self.env_kwargs.items())
        return short(self.env) + arguments

    @property
    def command(self) -> str:
        """What trains with these settings."""
        words = ["mppo", "train", self.method, self.env, "--tuned"]
        return " ".join(words + env_flags(self.env_kwargs, str, joined=False))


def short(env: str) -> str:
    """An id without the module that registers it.

    >>> short("minigrid:MiniGrid-DoorKey-5x5-v0")
    'MiniGrid-DoorKey-5x5-v0'
    """
    return env.rpartition(":")[2]


def shown(value: float, size: float | None = None) -> str:
    """A return, with two decimals where returns are below ten; `size` is that of its neighbours.

    >>> shown(495.43), shown(0.957), shown(0.304, 495.43)
    ('495.4', '0.96', '0.3')
    """
    return f"{value:.{1 if abs(value if size is None else size) >= 10 else 2}f}"


def read(file: Path = FILE) -> list[Tuned]:
    """All entries of a file."""
    found = []
    for table in tomllib.loads(file.read_text(encoding="utf-8"))["tuned"]:
        given = {"env_kwargs": {}, **table, "settings": by_dotted_name(table["settings"])}
        given["wrappers"] = tuple(table.get("wrappers", ()))
        for name in ("returns", "deterministic"):
            given[name] = tuple(map(float, table.get(name, ())))
        found.append(Tuned(**given))
    return found


@lru_cache
def entries() -> tuple[Tuned, ...]:
    """All entries of the package."""
    return tuple(read())


def find(method: str, env: Any, env_kwargs: dict[str, Any] | None = None) -> Tuned:
    """The entry of a method on an environment; of several the one that says most of it."""
    if not isinstance(env, str):
        raise BadRequest("tuned settings are known by Gymnasium ids; give env as one")
    method_named(method)  # raises for a name that no method has
    there = [one for one in entries() if short(one.env) == short(env)]
    fitting = [one for one in there if one.method == method]
    given = env_kwargs or {}
    said = [one for one in fitting if one.env_kwargs.items() <= given.items()]
    if said:
        return max(said, key=lambda one: len(one.env_kwargs))
    if not there:
        known = sorted({short(one.env) for one in entries()})
        hint = did_you_mean(short(env), known, f"There are some for {', '.join(known)}")
        raise BadRequest(f'there are no tuned settings for "{env}"{hint}')
    names = sorted({one.method for one in there})
    raise BadRequest(
        f'there are no tuned settings of "{method}" for "{env}"; there are some of '
        f"{', '.join(names)} (mppo zoo lists them)"
    )


def below(tuned: Tuned, given: dict[str, Any]) -> dict[str, Any]:
    """The settings of an entry with those on top that a user gives, in dotted names.

    A component that the user swaps takes nothing of what the entry says of another kind.

    >>> below(find("ppo", "CartPole-v1"), {"gamma": 0.5})["gamma"]
    0.5
    """
    given = by_dotted_name(given)
    swapped = {name for name in given if "." not in name}
    kept = {k: v for k, v in tuned.settings.items() if k.split(".")[0] not in swapped}
    fields = {k: tuple(v) if isinstance(v, list) else v for k, v in kept.items()}
    return fields | given


def fast_settings(method: Method) -> dict[str, Any]:
    """The fields that make an update of this method cheaper, with returns that are level.

    >>> fast_settings(method_named("mp-trpo"))
    {'optimiser.fisher_stride': 5, 'optimiser.cg_iterations': 10, 'critic.epochs': 3}
    """
    if not isinstance(method.optimiser, Trpo):
        kind = kind_of(method.optimiser)
        raise BadRequest(
            f'fast settings are of the optimiser "trpo", and that of this method is "{kind}"; '
            "leave out fast"
        )
    return {
        "optimiser.fisher_stride": 5,
        "optimiser.cg_iterations": 10,
        "critic.epochs": ceil(method.critic.epochs * 3 / 5),
    }


def settings_line(tuned: Tuned) -> str:
    """The settings of an entry in one line, as the command line would take them.

    >>> settings_line(find("trpo", "CartPole-v1"))[:39]
    'batch_size=1024 envs=2 episodes=continu'
    """
    shown = lambda value: ",".join(map(str, value)) if isinstance(value, list) else value
    said = [f"{name}={shown(value)}" for name, value in tuned.settings.items()]
    return " ".join(said) or f"{tuned.method} as it is"


def as_config(tuned: Tuned) -> config_file.Config:
    """An entry as settings from a file."""
    wrappers = {"wrappers": list(tuned.wrappers)} if tuned.wrappers else {}
    run = {"steps": tuned.steps, **wrappers, **tuned.settings}
    return config_file.Config(tuned.method, tuned.env, {}, run)


def written(those: Sequence[Tuned]) -> str:
    """The file that `read` takes."""
    line = lambda name, value: f"{name} = {config_file.value_as_toml(name, value)}"
    known = ("method", "env", "env_kwargs", "wrappers", "steps", "source")
    lines = HEADER.splitlines()
    for one in those:
        table = one._asdict()
        names = [name for name in known if table[name]] + ["returns"]
        names += ["deterministic", "seconds", "measured"] if one.returns else []
        lines += ["", "[[tuned]]", *(line(name, table[name]) for name in names)]
        lines += ["[tuned.settings]", *(line(*item) for item in one.settings.items())]
    return "\n".join(lines) + "\n"


class Published(NamedTuple):
    """One number of a page, and what it is the return of."""

    method: str
    env: str
    """The task here; theirs may be an earlier version."""
    env_kwargs: dict[str, Any]
    peer: str
    task: str
    steps: int
    seeds: int
    mean: float
    deviation: float
    """Of the episodes of one run, or of the seeds if there are several."""
    actions: Literal["most likely", "sampled"]
    source: str

    def beside(self, ours: Tuned) -> float | None:
        """Our mean return with actions of the same kind; none if nothing was measured."""
        returns = ours.deterministic if self.actions == "most likely" else ours.returns
        return sum(returns) / len(returns) if returns else None

    def verdict(self, ours: Tuned) -> str:
        """How our mean stands to this one, in words.

        >>> entry = find("trpo", "CartPole-v1")._replace(steps=10**5, deterministic=(496.0,))
        >>> other = published(entry)[0]
        >>> other.verdict(entry), other.verdict(entry._replace(deterministic=(400,)))
        ('level', 'below by 100')
        """
        mean = self.beside(ours)
        if mean is None:
            return "-"
        gap = mean - self.mean
        tolerance = LEVEL * abs(self.mean)
        word = "above" if gap > tolerance else "level" if gap >= -tolerance else "below"
        more = " with more steps" if ours.steps > self.steps else ""
        by = "" if word == "level" else f" by {abs(gap):.4g}"
        return f"{word}{by}{more}"


@lru_cache
def all_published() -> tuple[Published, ...]:
    """All returns that others publish."""
    data = tomllib.loads(PUBLISHED.read_text(encoding="utf-8"))
    return tuple(Published(**{"env_kwargs": {}, **table}) for table in data["published"])


def published(entry: Tuned) -> list[Published]:
    """What others publish for the method and the task of an entry."""
    key = (entry.method, entry.env, entry.env_kwargs)
    return [one for one in all_published() if (one.method, one.env, one.env_kwargs) == key]
