"""The command line: one program, a sub-command for each job. Nothing heavy is imported for help."""

from __future__ import annotations

import importlib
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from mppo.errors import FAULTS, BadRequest, SettingsWarning, SlowPath, did_you_mean
from mppo.machine.signals import Interrupts


class Command(NamedTuple):
    """A sub-command: the module with the function of its name, and one line for the overview."""

    module: str
    summary: str
    stops_at_boundaries: bool = False
    """Whether signals wait for the end of an iteration; then it takes an Interrupts, too."""


COMMANDS = {
    "train": Command("mppo.cli.train", "train a method on an environment", True),
    "resume": Command("mppo.cli.train", "go on with a run that was interrupted", True),
    "evaluate": Command("mppo.cli.runs", "play episodes of a trained policy"),
    "video": Command("mppo.cli.runs", "film a trained policy"),
    "report": Command("mppo.cli.runs", "write one HTML page about one run or many"),
    "export": Command("mppo.cli.runs", "write a policy as ONNX or safetensors"),
    "logs": Command("mppo.cli.runs", "a run as CSV, or in TensorBoard, W&B or Trackio"),
    "paper": Command("mppo.cli.paper", "the paper's tables and figures, run and compared"),
    "sweep": Command("mppo.cli.grids", "a grid of your own: tasks x methods x seeds"),
    "zoo": Command("mppo.cli.zoo", "settings that are known to work, with their returns"),
    "search": Command("mppo.cli.grids", "search for better settings with Optuna", True),
    "methods": Command("mppo.cli.vocabulary", "list the methods and what they differ in"),
    "envs": Command("mppo.cli.vocabulary", "list the tasks of the paper"),
    "bench": Command("mppo.cli.bench", "measure speed, memory and start-up on this machine"),
    "demo": Command("mppo.cli.demo", "the paper's motivating example on the Maze, in minutes"),
    "completion": Command("mppo.cli.vocabulary", "print a script that completes words on TAB"),
}

OVERVIEW = """\
usage: mppo COMMAND ...

Multi-Path Policy Optimization: on-policy reinforcement learning that explores.

commands:
{commands}

  mppo COMMAND --help     explains a command and shows an example
  mppo --version          says which version this is

example:
  mppo train mp-trpo mppo/Maze-v0 --steps 1e6 --seed 0 --out runs/maze

exit codes:
  0 done; 2 a request that cannot be met; 65 the environment broke its contract;
  70 internal error; 73 another process writes there; 74 a file is not good or
  cannot be written; 130, 143 stopped by SIGINT, SIGTERM after saving
"""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code says how it went."""
    words = sys.argv[1:] if arguments is None else arguments
    if not words or words[0] in ("-h", "--help", "help"):
        lines = [f"  {name:<10} {command.summary}" for name, command in COMMANDS.items()]
        print(OVERVIEW.format(commands="\n".join(lines)), end="")
        return 0 if words else 2
    if words[0] == "--version":
        from mppo import __version__

        print(f"mppo {__version__}")
        return 0
    try:
        if words[0] not in COMMANDS:
            hint = did_you_mean(words[0], COMMANDS)
            raise BadRequest(f'unknown command "{words[0]}"{hint or "; mppo --help lists them"}')
        with warnings.catch_warnings():
            warnings.simplefilter("always", SettingsWarning)
            warnings.showwarning = _one_line(warnings.showwarning, quiet="--quiet" in words)
            return _call(words[0], words[1:])
    except FAULTS as error:
        print("mppo:", " ".join(str(error).split()), file=sys.stderr)  # one line, whatever it says
        return error.exit_code
    except BrokenPipeError:
        return 0  # the reader of a pipe has seen enough
    except KeyboardInterrupt:
        print("mppo: interrupted", file=sys.stderr)
        return 130
    except Exception:
        traceback.print_exc()
        print("mppo: this is a bug of mppo; please report the lines above", file=sys.stderr)
        return 70


def function_of(name: str) -> Callable[..., int]:
    """What carries out a command."""
    return getattr(importlib.import_module(COMMANDS[name].module), name)


def _call(name: str, words: list[str]) -> int:
    if not COMMANDS[name].stops_at_boundaries:
        return function_of(name)(words)
    with Interrupts() as interrupts:  # before anything slow: a signal may come at any time
        return function_of(name)(words, interrupts)


def _one_line(usual: Any, quiet: bool) -> Any:
    """What shows our own warnings in one line, as errors are shown, and all others as before."""

    def show(message: Warning | str, category: type[Warning], *where: Any) -> None:
        if not issubclass(category, SettingsWarning | SlowPath):
            usual(message, category, *where)
        elif not quiet:
            print("mppo: note:", " ".join(str(message).split()), file=sys.stderr)

    return show
