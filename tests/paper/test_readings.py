"""How the paper is read: what each reading changes, and that no table mixes two."""

import json

import pytest

from mppo.cli import main
from mppo.errors import BadRequest
from mppo.experiments.compact import compact, unpack
from mppo.paper.artefacts import ARTEFACTS, COMPARED_TASKS
from mppo.paper.cells import Runs
from mppo.paper.make import table
from mppo.paper.readings import FIRST, READINGS, Readings
from tests.paper.synthetic import write_run

OTHERS = [f"{name}={word}" for name, words in READINGS.items() for word in list(words)[1:]]
AT_FIRST = [f"{name}={choice}" for name, choice in FIRST.items()]


def read_as(*words):
    """The first reading of each but for these, whatever the defaults are."""
    return Readings.of([*AT_FIRST, *words])


def runs_under(word):
    tables = [ARTEFACTS[name] for name in ("table-1", "table-2")]
    readings = read_as(word)
    return [run for one in tables for run in one.runs(seeds=[0], steps=10_000, readings=readings)]


def changed(run):
    return {**run.overrides, **{f"env.{name}": value for name, value in run.env_kwargs}}


@pytest.mark.parametrize("word", OTHERS)
def test_a_reading_changes_the_runs_that_it_is_about_and_no_others(word):
    about = {
        "angle": lambda run: "SparseCartPoleSwingup" in run.env,
        "cheetah": lambda run: "SparseHalfCheetah" in run.env,
        "hopper": lambda run: "SparseHopper" in run.env,
        "walker": lambda run: "SparseWalker2d" in run.env,
        "multi": lambda run: run.name.startswith("multi-"),
        "j": lambda run: run.name.startswith("mp-"),
        "gain": lambda run: run.name.startswith("mp-"),
        "start": lambda run: True,
    }[word.partition("=")[0]]
    runs = runs_under(word)
    assert len(runs) == len(COMPARED_TASKS) * 11
    assert {about(run) for run in runs if changed(run)} == {True}
    assert {bool(changed(run)) for run in runs if about(run)} == {True}


def test_the_first_readings_change_nothing():
    assert not any(changed(run) for word in AT_FIRST for run in runs_under(word))
    assert str(Readings.of(AT_FIRST)) == ""


def test_a_shared_batch_is_the_batch_over_k():
    sizes = {run.name: run.batch_size for run in runs_under("multi=shared")}
    assert (sizes["multi-trpo"], sizes["multi-trpo-independent"]) == (625, 625)
    assert (sizes["multi-ppo"], sizes["mp-trpo"], sizes["trpo"]) == (1024, 5000, 5000)


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("strat=apart", 'unknown reading "strat"; did you mean "start"'),
        ("start=apar", 'the reading start is "apar"; the choices are alike, glorot, apart'),
        ("start", 'the reading start is ""'),
    ],
)
def test_what_is_no_reading_is_refused(word, says):
    with pytest.raises(BadRequest, match=says):
        Readings.of([word])


def test_a_grid_keeps_its_reading(tmp_path):
    apart = read_as("start=apart")
    read_as("start=glorot").keep(tmp_path)  # and was stopped before its first run
    apart.keep(tmp_path)
    (tmp_path / "requests").mkdir()
    apart.keep(tmp_path)
    assert Readings.of_grid(tmp_path) == apart
    with pytest.raises(BadRequest, match=r"was begun with --reading start=apart; no table mixes"):
        read_as().keep(tmp_path)


def test_a_grid_from_before_there_were_readings_holds_the_first(tmp_path):
    (tmp_path / "requests").mkdir()
    first = Readings(tuple(FIRST.items()))
    assert Readings.of_grid(tmp_path) == first
    first.keep(tmp_path)
    assert not (tmp_path / "readings.json").exists()
    with pytest.raises(BadRequest, match="was begun with --reading start=alike"):
        read_as("start=apart").keep(tmp_path)


@pytest.fixture
def mixed(tmp_path):
    """A grid of one reading in which runs of the first ones lie as well."""
    root = tmp_path / "grid"
    words = ["start=apart", "angle=wrapped"]
    read_as(*words).keep(root)
    changes = {"styles": ("apart",)}
    for seed in range(6):
        write_run(root, "SparseCartPoleSwingup", "trpo", seed, 7.0)
        write_run(root, "SparseCartPoleSwingup", "trpo", seed, 8.0, changes=changes)
        both = {"changes": changes, "env_kwargs": {"angle": "wrapped"}}
        write_run(root, "SparseCartPoleSwingup", "trpo", seed, 400.0, **both)
    return root


def test_a_table_shows_the_runs_of_the_grids_reading_alone(mixed):
    runs = Runs(mixed)
    cell = runs.cell("SparseCartPoleSwingup", "trpo", 100_000)
    assert cell.seeds == 6
    assert cell.finals.min() > 300
    page = table("table-1", mixed)
    assert "Readings: start=apart angle=wrapped." in page
    assert "trpo on SparseCartPoleSwingup with env.angle = not changed" in page


def test_a_copy_has_the_reading_and_takes_no_other(mixed, tmp_path):
    (mixed / "requests").mkdir()
    small = tmp_path / "small"
    compact(mixed, small)
    assert Readings.of_grid(small) == Readings.of_grid(mixed)
    (mixed / "readings.json").unlink()
    with pytest.raises(BadRequest, match="holds runs of another reading"):
        compact(mixed, small)
    assert (small / "readings.json").exists()


def test_an_unpacked_copy_has_the_reading(mixed, tmp_path):
    for directory in list((mixed / "runs").iterdir()):
        directory.rename(mixed / directory.name)  # as a folder of runs: nobody asked for them
    (mixed / "runs").rmdir()
    compact(mixed, tmp_path / "small")
    assert unpack(tmp_path / "small", tmp_path / "whole") == 18
    assert Readings.of_grid(tmp_path / "whole") == Readings.of_grid(mixed)


def test_the_readings_are_listed(capsys):
    assert main(["paper", "readings", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert sum(row["default"] for row in rows) == len(READINGS)
    assert main(["paper", "readings"]) == 0
    assert "* start=apart" in capsys.readouterr().out


def test_another_reading_is_one_flag_away(tmp_path, capsys):
    words = ["paper", "run", "table-1", "--tasks", "SparseHopper", "--methods", "trpo"]
    out = tmp_path / "grid"
    code = main([*words, "--seeds", "0", "1", "--reading", "hopper=9", "--out", str(out)])
    assert code == 2
    assert "the choices are 1, 3, 5" in capsys.readouterr().err
    assert not out.exists()
