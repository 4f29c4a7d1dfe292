"""The options of a training that are no fields of its method: the one list of them.

`mppo.train`, `mppo.MPPO`, `mppo train` and `mppo resume` all take theirs from here, with their
defaults and their meaning; the help of the command line prints the sentences below.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from mppo.errors import BadRequest
from mppo.files.evaluation import Evaluation

if TYPE_CHECKING:
    from mppo.algorithm.methods import Method
    from mppo.envs.source import AnyEnv
    from mppo.training.run import Run

ENGINES = ("local", "ray")


@dataclass(frozen=True)
class Options:
    """How a method is trained, beside its own fields and the environment."""

    steps: int = 1_000_000
    """Environment steps (whole batches: at least this)."""
    seed: int = 0
    """Seed of everything random, 0 to 2^63 - 1."""
    out: str | os.PathLike[str] | None = field(default=None, metadata={"metavar": "DIR"})
    """Run directory; by default a new one under runs/ (in Python: none). The same call takes up
    an interrupted run that is there."""
    from_scratch: bool = False
    """Start anew: the run that is there is moved to DIR.aside-1 (or -2, ...), never deleted."""
    eval_every: int = 10_000
    """Steps between evaluations; 0 is never."""
    eval_episodes: int = 2  # decision 0043; the paper's 10 are those of `Evaluation`
    """Episodes of an evaluation, with sampled actions; the paper has 10."""
    eval_deterministic_episodes: int | None = 1
    """Episodes with the most likely actions, logged beside (in Python, None: as many)."""
    checkpoint_every: int = 0
    """Iterations between checkpoints; 0: often enough to lose a minute at most."""
    workers: int = 0
    """Threads, or processes for environments in Python; 0: as many as pay."""
    step_timeout: float = 600.0
    """Seconds that a step of an environment in Python may take."""
    engine: Literal["local", "ray"] = "local"
    """Workers here, or on a Ray cluster."""
    address: str | None = field(default=None, metadata={"metavar": "ADDR"})
    """Of the Ray cluster; else one is started."""
    wrappers: tuple[str | Callable[[Any], Any], ...] = ()
    """module:callable, from environment to environment, in this order (in Python: callables)."""
    loggers: tuple[Any, ...] = ()
    """Where else the numbers go as they come: those of `mppo.loggers`, or your own."""

    def __post_init__(self) -> None:
        if not self.step_timeout > 0:
            raise BadRequest(f"step_timeout is {self.step_timeout}; give seconds, above 0")
        if self.engine not in ENGINES:
            raise BadRequest(f'engine is "{self.engine}"; allowed: {", ".join(ENGINES)}')
        if self.address is not None and self.engine == "local":
            raise BadRequest("address is of a Ray cluster; add --engine ray")

    @classmethod
    def among(cls, given: Mapping[str, Any]) -> Options:
        """The options among names and values; a list becomes a tuple."""
        names = {one.name for one in fields(cls)} & given.keys()
        frozen = lambda value: tuple(value) if isinstance(value, list) else value
        values: dict[str, Any] = {name: frozen(given[name]) for name in names}
        return cls(**values)

    @property
    def evaluation(self) -> Evaluation:
        """When and how policies are evaluated."""
        episodes, beside = self.eval_episodes, self.eval_deterministic_episodes
        return Evaluation(self.eval_every, episodes, episodes if beside is None else beside)

    def run(self, method: Method, env: AnyEnv, env_kwargs: dict[str, Any] | None = None) -> Run:
        """A run of a method on an environment, at its beginning."""
        from mppo.envs.source import env_source  # they are not needed for a help text
        from mppo.training.run import Run

        wrappers: Any = self.wrappers  # callables: the command line has imported them by now
        on = env_source(env, wrappers=wrappers, **(env_kwargs or {}))
        return Run(method, on, self.steps, self.seed, self.evaluation, self.workers, options=self)
