"""`mppo evaluate`: play episodes of a trained policy."""

from __future__ import annotations

import json
from typing import Any

from mppo.cli.parser import RUN_CODES, Parser, whole_number
from mppo.cli.runs import add_run_options, open_run
from mppo.errors import BadRequest

ABOUT = """\
Play episodes of the policy in a run directory. The newest good checkpoint is
taken, so that a run can be looked at while it is trained. The same seed gives
the same numbers; without --seed they are those of the run's own evaluation at
that checkpoint."""


def main(command: str, words: list[str]) -> int:
    """Print mean, spread and every episode."""
    examples = ["mppo evaluate runs/maze --episodes 100 --deterministic"]
    parser = Parser("evaluate", ABOUT, examples, RUN_CODES)
    add_run_options(parser)
    add = parser.add_argument
    add("--episodes", type=whole_number, default=10, metavar="N", help="to play (default 10)")
    add("--seed", type=whole_number, metavar="S", help="of episodes (default: the run's seed)")
    add("--deterministic", action="store_true", help="the most likely actions (default: sampled)")
    add("--json", action="store_true", help="all numbers, for programs")
    options = parser.parse_args(words)
    if options.episodes < 1:
        raise BadRequest(f"--episodes is {options.episodes}; give at least 1")
    if options.seed is not None and options.seed < 0:
        raise BadRequest(f"--seed is {options.seed}; it must not be negative")
    result = _evaluate(options)
    if options.json:
        print(json.dumps(result, indent=2, allow_nan=False))
    else:
        print(_text(result))
    return 0


def _evaluate(options: Any) -> dict[str, Any]:
    from mppo.files.run_directory import plain
    from mppo.training.opening import play

    run = open_run(options)
    seed = run.described["seed"] if options.seed is None else options.seed
    agent = run.agent(options.path)
    played = play(run, agent, options.episodes, seed, options.deterministic)
    return plain(
        {
            "dir": options.dir,
            "method": run.described.get("method_name", "custom"),
            "env": run.task.name,
            "steps": run.steps,
            "path": agent.path,
            "seed": seed,
            "deterministic": options.deterministic,
            "mean_return": played.returns.mean(),
            "std_return": played.returns.std(),
            "mean_length": played.lengths.mean(),
            "returns": played.returns,
            "lengths": played.lengths,
            "cut": played.cut.sum(),
        }
    )


def _text(result: dict[str, Any]) -> str:
    how = "most likely" if result["deterministic"] else "sampled"
    lines = [
        f"{result['method']} on {result['env']} after {result['steps']:,} steps, path "
        f"{result['path']}, {how} actions, seed {result['seed']}",
        "",
        "episode       return    length",
    ]
    episodes = zip(result["returns"], result["lengths"], strict=True)
    lines += [f"{n:>7} {total:>12.3f} {steps:>9}" for n, (total, steps) in enumerate(episodes)]
    lines += [
        f"{'mean':>7} {result['mean_return']:>12.3f} {result['mean_length']:>9.1f}",
        f"{'std':>7} {result['std_return']:>12.3f}",
    ]
    if result["cut"]:
        longest = max(result["lengths"])
        lines.append(f"{result['cut']} had no end after {longest:,} steps and were stopped there")
    return "\n".join(lines)
