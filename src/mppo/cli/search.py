"""`mppo search`: better settings, looked for with Optuna."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mppo.cli.parser import Parser
from mppo.errors import BadRequest
from mppo.machine.signals import Interrupts

if TYPE_CHECKING:
    from mppo.experiments.trials import Trials

ABOUT = """\
Search for settings of a method with Optuna. FILE.toml names the task, the
effort, and the fields to be searched:

  method = "ppo"
  env = "CartPole-v1"
  steps = 5e4
  seeds = 2                       # runs of a trial, seeds from 0 on [1]
  trials = 30
  sampler_seed = 0                # also: sampler ["tpe"], pruning [true]
  [space]
  "optimiser.learning_rate" = {low = 1e-5, high = 1e-2, log = true}
  batch_size = {choices = [1024, 2048]}
  optimiser.epochs = {low = 3, high = 20}

Fields that stay the same in all trials are in a table [set], arguments of the
environment in [env_kwargs], every and episodes in [evaluation].

The same call goes on, also after kill -9; several may work on one DIR. The best
settings are in DIR/best.toml, which mppo train --config takes, all about the
search in DIR/search.html."""
EXAMPLE = "mppo search examples/search.toml --out runs/search"
CODES = """\
0 done; 2 bad request; 65 a fault of the environment; 74 a file cannot be
written; 130, 143 stopped by a signal and saved"""


def main(command: str, words: list[str], interrupts: Interrupts) -> int:
    """Read the file, work on its trials, say what came out."""
    parser = Parser("search", ABOUT, [EXAMPLE], CODES)
    parser.add_argument("file", metavar="FILE.toml", help="what to search")
    parser.add_argument("--out", required=True, metavar="DIR", help="where; may exist already")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    options = parser.parse_args(words)
    sys.path.append(os.getcwd())  # so that module:Class and module:id find the user's own modules

    from mppo.experiments.search import read
    from mppo.experiments.study import optuna
    from mppo.experiments.trials import Trials

    optuna()  # a missing extra is said before anything is begun
    told = (lambda line: None) if options.quiet else (lambda line: print(line, flush=True))
    trials = Trials(read(Path(options.file), _canonical), _usable(options.out), interrupts, told)
    trials.publish = _publish
    trials.work()
    if interrupts is not None and interrupts.received is not None:
        told("stopped and saved; the same command goes on")
        return interrupts.exit_code
    best = trials.best()
    if best is None:
        reasons = [one.why for one in trials.counted() if one.why]
        why = f"; the last one failed: {reasons[-1]}" if reasons else ""
        raise BadRequest(f"none of {len(trials.counted())} trials came to its end{why}")
    told(f"best: trial {best.number} with {best.value:.2f}: {_shown(best.values)}")
    told(f"train with it: mppo train --config {trials.root / 'best.toml'}")
    return 0


def _canonical(env: str, arguments: dict[str, Any], wrappers: list[str]) -> str:
    from mppo.envs.source import env_source
    from mppo.envs.wrapping import imported_wrapper

    around = tuple(map(imported_wrapper, wrappers))
    return env_source(env, wrappers=around, **arguments).name


def _usable(out: str) -> Path:
    """A directory for a search: new, empty, or one already."""
    path = Path(out)
    if path.exists() and not path.is_dir():
        raise BadRequest(f'"{out}" is not a directory; choose another --out')
    foreign = path.exists() and any(not entry.name.startswith(".") for entry in path.iterdir())
    if foreign and not (path / "turn").exists():
        raise BadRequest(f'"{out}" holds other files and no search; choose another --out')
    return path


def _publish(trials: Trials) -> None:
    """Write the best settings, and the page."""
    from mppo.experiments.study import importances
    from mppo.files.atomic import write_atomically
    from mppo.report.search import Tried, page

    search, best = trials.search, trials.best()
    if best is not None:
        head = (
            f"# Trial {best.number} of mppo search: mean final score {best.value}, seeds 0 to "
            f"{search.seeds - 1}.\n# mppo train --config FILE repeats its first run.\n"
        )
        write_atomically(trials.root / "best.toml", (head + search.config(best.values)).encode())
    tried = [Tried(*one[:5]) for one in trials.all()]
    logs = {name for name, one in search.space.items() if getattr(one, "log", False)}
    title = f"Search: {search.method} on {search.env}"
    text = page(title, tried, search.trials, importances(trials.study), logs)
    write_atomically(trials.root / "search.html", text.encode())


def _shown(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())
