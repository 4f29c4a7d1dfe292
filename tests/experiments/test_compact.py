"""A compact copy: one small file that stands as its grid, grows, and refuses contradictions."""

import json
import re

import pytest

from mppo.errors import BadRequest
from mppo.experiments.collection import collect
from mppo.experiments.compact import METRICS, compact, unpack
from mppo.experiments.grid import Failure, Grid, opened
from mppo.experiments.spec import spec
from mppo.files import archive
from mppo.files.archive import FILE
from mppo.files.reader import State
from mppo.paper.make import table
from tests.paper.synthetic import write_run


def runs(*seeds):
    return [spec("mp-trpo", "mppo/Maze-v0", seed, 10_000) for seed in seeds]


def finish(grid, run, value=0.5):
    directory = grid.directory(run)
    directory.mkdir(parents=True, exist_ok=True)
    row = dict.fromkeys((*METRICS, "gain", "kl"), 0.25)
    files = {
        "run.json": json.dumps(run.as_json()),
        "evaluations.jsonl": json.dumps({"steps": 10_000, "mean_return": value}) + "\n",
        "metrics.jsonl": json.dumps(row) + "\n",
        "lock": "",
    }
    for name, text in files.items():
        (directory / name).write_text(text)
    (directory / "checkpoints").mkdir(exist_ok=True)
    (directory / "checkpoints" / "000000001.safetensors").write_bytes(b"x" * 100_000)
    (directory / "final.json").write_text(json.dumps({"state_sha256": run.run_id}))


@pytest.fixture
def grid(tmp_path):
    grid = Grid(tmp_path / "runs")
    grid.remember("figure-2", runs(0, 1, 2))
    finish(grid, runs(0)[0])
    grid.note_failure(runs(1)[0], Failure(65, "reward is nan"))
    (grid.root / "memory.json").write_text("{}")
    return grid


def test_a_copy_is_one_file_stands_the_same_and_stays_finished(grid, tmp_path):
    copied = compact(grid.root, tmp_path / "copy")
    assert copied[:4] == (1, 1, 1, 1)
    assert copied.size < 3_000
    assert {file.name for file in (tmp_path / "copy").iterdir()} == {FILE, "memory.json"}
    copy, done = opened(tmp_path / "copy"), runs(0)[0]
    states = [State.FINISHED, State.FAILED, State.MISSING]
    assert [copy.state(run) for run in runs(0, 1, 2)] == states
    assert copy.failure(runs(1)[0]) == Failure(65, "reward is nan")
    assert copy.requests() == grid.requests()
    copy.refuse_other(done)
    line = archive.read(copy.root).runs[done.run_id]
    assert set(line["metrics"][0]) == set(METRICS)
    assert line["run"] == json.loads((grid.directory(done) / "run.json").read_text())
    before = (copy.root / FILE).read_bytes()
    assert compact(grid.root, tmp_path / "copy") == copied
    assert (copy.root / FILE).read_bytes() == before


def test_a_copy_grows_with_its_grid(grid, tmp_path):
    compact(grid.root, tmp_path / "copy")
    for seed in (1, 2):
        finish(grid, runs(seed)[0])
    assert compact(grid.root, tmp_path / "copy")[:4] == (3, 0, 0, 3)
    copy = opened(tmp_path / "copy")
    assert {copy.state(run) for run in runs(0, 1, 2)} == {State.FINISHED}
    assert not archive.read(copy.root).failures
    other = Grid(tmp_path / "elsewhere")  # of another machine, with another request
    other.remember("figure-9", runs(2, 3))
    for seed in (2, 3):
        finish(other, runs(seed)[0])
    assert compact(other.root, copy.root).held == 4
    assert [request.label for request in copy.requests()] == ["figure-2", "figure-9"]
    assert compact(copy.root, tmp_path / "copy of the copy").held == 4
    again = (tmp_path / "copy of the copy" / FILE).read_bytes()
    assert again == (copy.root / FILE).read_bytes()


def test_a_run_that_says_something_else_is_refused_and_nothing_changes(grid, tmp_path):
    compact(grid.root, tmp_path / "copy")
    before = (tmp_path / "copy" / FILE).read_bytes()
    finish(grid, runs(0)[0], value=0.75)
    finish(grid, runs(2)[0])
    with pytest.raises(BadRequest) as error:
        compact(grid.root, tmp_path / "copy")
    said = str(error.value)
    assert "mp-trpo on mppo/Maze-v0, seed 0, 10000 steps" in said
    assert "another mean_return in row 1 of evaluations; nothing was changed" in said
    assert "\n" not in said
    assert (tmp_path / "copy" / FILE).read_bytes() == before


def test_settings_that_differ_are_a_contradiction_and_versions_are_none(grid, tmp_path):
    compact(grid.root, tmp_path / "copy")
    file = grid.directory(runs(0)[0]) / "run.json"
    run = json.loads(file.read_text())
    file.write_text(json.dumps(run | {"versions": {"jax": "9"}}))
    compact(grid.root, tmp_path / "copy")
    (line,) = archive.read(tmp_path / "copy").runs.values()
    assert line["run"]["versions"] == {"jax": "9"}
    older = {name: value for name, value in run["method"].items() if name != "styles"}
    file.write_text(json.dumps(run | {"method": older}))  # written before styles were
    compact(grid.root, tmp_path / "copy")
    file.write_text(json.dumps(run | {"method": run["method"] | {"gamma": 0.5}}))
    with pytest.raises(BadRequest, match="with another method; nothing was changed"):
        compact(grid.root, tmp_path / "copy")


def test_a_copy_of_the_evaluations_only_takes_nothing_away(grid, tmp_path):
    small = compact(grid.root, tmp_path / "small", metrics=False)
    (line,) = archive.read(tmp_path / "small").runs.values()
    assert set(line) == {"run", "evaluations", "final"}
    whole = compact(grid.root, tmp_path / "copy")
    assert small.size < whole.size
    assert compact(grid.root, tmp_path / "copy", metrics=False) == whole
    assert compact(grid.root, tmp_path / "small") == whole


def test_a_copy_over_other_files_is_refused(grid, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").write_text("five years of work")
    for target in (tmp_path / "thesis", grid.root):
        with pytest.raises(BadRequest, match="choose another --out"):
            compact(grid.root, target)


def test_a_folder_of_plain_runs_can_be_copied(tmp_path):
    for seed in (0, 1):
        write_run(tmp_path, "Maze", "trpo", seed, name=f"trpo-{seed}")
    write_run(tmp_path, "Maze", "trpo", 2, name="trpo-2", finished=False)
    assert compact(tmp_path / "runs", tmp_path / "copy")[:4] == (2, 0, 1, 2)
    assert sorted(archive.read(tmp_path / "copy").runs) == ["trpo-0", "trpo-1"]


def test_tables_and_records_are_those_of_the_directories(tmp_path):
    for seed in range(4):
        for method, level in (("mp-trpo", 1.0), ("trpo", 0.2), ("multi-trpo", 0.5)):
            write_run(tmp_path / "grid", "Maze", method, seed, level, name=f"{method}-{seed}")
    here = Grid(tmp_path / "grid")
    compact(here.root / "runs", tmp_path / "copy")
    records, copies = collect(here.root), collect(tmp_path / "copy")
    assert [r.directory.name for r in records] == [r.directory.name for r in copies]
    for record, copy in zip(records, copies, strict=True):
        assert copy.state == "finished"
        assert copy.evaluations() == record.evaluations()
        assert [row["entropy"] for row in copy.metrics()] == [
            row["entropy"] for row in record.metrics()
        ]
        visits, again = record.visits(), copy.visits()
        assert visits is not None
        assert again is not None
        assert (visits["counts"] == again["counts"]).all()
    for name in ("figure-2", "sweep"):
        page = table(name, tmp_path / "copy")
        assert page == re.sub(
            re.escape(str(here.root)), str(tmp_path / "copy"), table(name, here.root)
        )


def test_a_copy_is_unpacked_into_directories(grid, tmp_path):
    compact(grid.root, tmp_path / "copy")
    assert unpack(tmp_path / "copy", tmp_path / "unpacked") == 1
    directory = Grid(tmp_path / "unpacked").directory(runs(0)[0])
    names = {"run.json", "final.json", "evaluations.jsonl", "metrics.jsonl"}
    assert {file.name for file in directory.iterdir()} == names
    original = grid.directory(runs(0)[0]) / "evaluations.jsonl"
    again = (directory / "evaluations.jsonl").read_text()
    assert json.loads(again) == json.loads(original.read_text())
    compact(tmp_path / "unpacked", tmp_path / "copy")  # and is the same
    with pytest.raises(BadRequest, match="not an empty directory"):
        unpack(tmp_path / "copy", tmp_path / "unpacked")
