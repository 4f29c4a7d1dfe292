"""A run lengthened from a shorter one of its grid ends with the bytes of one made in one go."""

import json

import pytest

from mppo.cli import main
from mppo.experiments.drive import Driver, Ended
from mppo.experiments.grid import Grid
from mppo.experiments.lengthen import lengthen
from mppo.experiments.spec import spec
from mppo.files.checkpoints import hash_of
from mppo.files.evaluation import Evaluation

SMALL = {"batch_size": 200, "network.hidden": (4,), "critic.network.hidden": (4,), "paths": 2}
COMPARED = ("metrics.jsonl", "evaluations.jsonl", "visits.json", "final.json", "run.json")


class InThisProcess:
    """Workers of a grid without processes."""

    def __init__(self):
        self.over = []

    def room(self, running):
        return running < 1

    def start(self, run, words):
        self.over.append(Ended(run, main(words), ""))

    def ended(self):
        over, self.over = self.over, []
        return over

    def stop(self):
        pass


def drive(grid, *runs):
    """Carry runs out; what was told."""
    grid.remember("sweep own", runs)
    told = []
    driver = Driver(grid, InThisProcess())
    assert driver.run(runs, told=lambda what, run: told.append((run.steps, what))) == {}
    return told


def run_of(steps, every=400, **changes):
    return spec(
        "mp-trpo", "mppo/Maze-v0", 3, steps, SMALL | changes, evaluation=Evaluation(every, 1, 0)
    )


def outcome(grid, run):
    return [(grid.directory(run) / name).read_bytes() for name in COMPARED]


@pytest.fixture(scope="module", params=["fresh", "continue"])
def in_one_go(request, tmp_path_factory):
    """A run of five batches, and how its episodes are cut."""
    grid = Grid(tmp_path_factory.mktemp("one") / "grid")
    run = run_of(1_000, episodes=request.param)
    drive(grid, run)
    return request.param, outcome(grid, run)


@pytest.mark.parametrize("shorter", [600, 800])  # the last evaluation of 600 is not due later
def test_a_lengthened_run_has_the_bytes_of_one_made_in_one_go(shorter, in_one_go, tmp_path):
    episodes, wanted = in_one_go
    grid, before = Grid(tmp_path / "grid"), run_of(shorter, episodes=episodes)
    drive(grid, before)
    kept = outcome(grid, before)
    steps = [json.loads(line)["steps"] for line in kept[1].splitlines()]
    assert steps == {600: [400, 600], 800: [400, 800]}[shorter]
    longer = run_of(1_000, episodes=episodes)
    assert drive(grid, longer) == [
        (1_000, f"goes on from {shorter} steps of the shorter run"),
        (1_000, "finished"),
    ]
    assert outcome(grid, longer) == wanted
    assert outcome(grid, before) == kept
    assert {entry.name for entry in (grid.root / "runs").iterdir()} == {
        before.run_id,
        longer.run_id,
    }
    lines = (grid.directory(longer) / "events.jsonl").read_text().splitlines()
    starts = [json.loads(line) for line in lines]
    assert (starts[0]["event"], starts[0]["iteration"]) == ("resume", shorter // 200)


def test_the_longest_of_several_is_taken_and_other_settings_are_not(tmp_path):
    grid = Grid(tmp_path / "grid")
    drive(grid, run_of(400), run_of(600), run_of(800, every=200))
    lengths = [400, 600, 800, 1_000, 2_000]
    assert lengthen(grid, run_of(1_000, paths=3), lengths) == 0
    assert lengthen(grid, run_of(1_000), lengths) == 600
    assert lengthen(grid, run_of(1_000), lengths) == 0  # it has begun


@pytest.mark.parametrize("damage", ["versions", "log", "checkpoint", "unfinished", "reset"])
def test_what_would_not_go_on_alike_is_not_taken_over(damage, tmp_path):
    grid, before = Grid(tmp_path / "grid"), run_of(600)
    drive(grid, before)
    directory = grid.directory(before)
    if damage in ("versions", "reset"):
        described = json.loads((directory / "run.json").read_text())
        del described["sha256"]
        described["versions"]["jax"] += "" if damage == "reset" else ".1"
        described["resume"] = "bitwise-with-reset" if damage == "reset" else "bitwise"
        described["sha256"] = hash_of(described)
        (directory / "run.json").write_text(json.dumps(described))
    elif damage == "log":
        with (directory / "evaluations.jsonl").open("a") as file:
            file.write("{}\n")
    elif damage == "checkpoint":
        (directory / "checkpoints" / "000000003.safetensors").write_bytes(b"x")
    else:
        (directory / "final.json").unlink()
    assert lengthen(grid, run_of(1_000), [600]) == 0
    assert [entry.name for entry in (grid.root / "runs").iterdir()] == [before.run_id]
