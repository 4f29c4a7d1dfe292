"""How every run of a grid stands, as plain data."""

from __future__ import annotations

from typing import Any

from mppo.experiments.grid import Entry, Grid, State


def status(grid: Grid) -> dict[str, Any]:
    """Counts by state, each request, each run."""
    rows = [_row(grid, run) for run in grid.entries()]
    done = {row["run_id"] for row in rows if row["state"] == State.DONE.value}
    requests = [
        {
            "label": request.label,
            "runs": len(request.runs),
            "done": sum(run.run_id in done for run in request.runs),
        }
        for request in grid.requests()
    ]
    return {
        "states": {
            state.value: sum(row["state"] == state.value for row in rows) for state in State
        },
        "steps": sum(row["steps"] for row in rows),
        "steps_done": sum(row["steps_done"] for row in rows),
        "requests": requests,
        "memory": (grid.root / "memory.json").exists(),
        "runs": rows,
    }


def _row(grid: Grid, run: Entry) -> dict[str, Any]:
    state, failure = grid.state(run), None
    if state is State.FAILED:
        found = grid.failure(run)
        failure = None if found is None else found._asdict()
    return {
        "run_id": run.run_id,
        "label": run.label,
        "method": run.spec["method_name"],
        "env": run.spec["env"],
        "seed": run.spec["seed"],
        "state": state.value,
        "steps": run.steps,
        "steps_done": grid.steps_done(run),
        "failure": failure,
    }
