"""How every run of a grid stands, as plain data."""

from __future__ import annotations

from typing import Any

from mppo.experiments.grid import Entry, Grid
from mppo.files.reader import State, problem


def status(grid: Grid) -> dict[str, Any]:
    """Counts by state, each request, each run."""
    rows = [_row(grid, run) for run in grid.entries()]
    done = {row["run_id"] for row in rows if row["state"] == State.FINISHED}
    requests = [
        {
            "label": request.label,
            "runs": len(request.runs),
            "done": sum(run.run_id in done for run in request.runs),
        }
        for request in grid.requests()
    ]
    return {
        "states": {state: sum(row["state"] is state for row in rows) for state in State},
        "steps": sum(row["steps"] for row in rows),
        "steps_done": sum(row["steps_done"] for row in rows),
        "requests": requests,
        "memory": (grid.root / "memory.json").exists(),
        "runs": rows,
    }


def _row(grid: Grid, run: Entry) -> dict[str, Any]:
    state, failure = grid.state(run), None
    if state is State.FAILED:
        noted = grid.failure(run)  # else the run itself has noted its fault
        failure = noted._asdict() if noted else {"message": problem(grid.directory(run))}
    return {
        "run_id": run.run_id,
        "label": run.label,
        "method": run.spec["method_name"],
        "env": run.spec["env"],
        "seed": run.spec["seed"],
        "state": state,
        "steps": run.steps,
        "steps_done": grid.steps_done(run),
        "failure": failure,
    }
