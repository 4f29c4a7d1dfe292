"""A run goes on from the newest good checkpoint; where there is none, nothing is changed."""

import fcntl
import hashlib
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import mppo
from mppo.cli import main
from mppo.errors import BadRequest, CheckpointError, PassedOver, RunLocked, StorageFault
from mppo.experiments.collection import collect
from mppo.experiments.compact import compact, unpack
from mppo.experiments.drive import Driver, Ended
from mppo.experiments.grid import Grid
from mppo.experiments.spec import spec
from mppo.files import atomic, checkpoints
from mppo.files.atomic import Lock
from mppo.files.evaluation import Evaluation
from mppo.files.reader import LOGS, rows
from mppo.files.run_directory import RunDirectory
from mppo.report.read import find
from tests.runs import SMALL, leave, outcome

RUN = {"method_name": "trpo", "env": "Maze", "seed": 3}
ARRAYS = {"x": np.arange(3.0)}
SUFFIXES = (".json", ".safetensors")


def written(path, numbers=(1, 2, 3), finish=False):
    """A run directory with a row for each iteration, as a killed process leaves it."""
    directory = RunDirectory(path)
    directory.begin(RUN)
    for n in range(max(numbers)):
        for name in LOGS:
            directory.append(name, {"iteration": n, "steps": n + 1})
        if n + 1 in numbers:
            directory.save(n + 1, ARRAYS, {"iteration": n + 1})
    if finish:
        directory.write("final.json", {"iterations": max(numbers)})
    directory.close()
    (path / "lock").write_text("pid 999999999 on nowhere\n")
    return path


def content(path):
    """Every file below a directory, and every directory."""
    found = {str(p.relative_to(path)): p.is_file() and p.read_bytes() for p in path.rglob("*")}
    assert found
    return found


def taken_up(path, restore=lambda found: None):
    directory = RunDirectory(path)
    try:
        found = directory.begin(RUN, restore)
        return directory, found
    finally:
        directory.close()


def manifests(path):
    return sorted(p for p in (path / "checkpoints").glob("*.json"))


def flip(file, at=-1):
    bad = bytearray(file.read_bytes())
    bad[at] ^= 1
    file.write_bytes(bytes(bad))


def damage_arrays(path):
    for file in manifests(path):
        flip(file.with_suffix(".safetensors"))


def make_newer(path):
    for file in manifests(path):
        found = json.loads(file.read_text())
        del found["manifest_sha256"]
        found["format"] = 2
        file.write_text(json.dumps(found | {"manifest_sha256": checkpoints.hash_of(found)}))


def edit_first_line(path, name="metrics.jsonl"):
    text = (path / name).read_text()
    (path / name).write_text(text.replace('"steps":1}', '"steps":7}', 1))


def make_unreadable(path):
    for file in manifests(path):
        file.unlink()
        file.mkdir()  # as with EACCES or EIO, there is nothing to be read


def forget_arrays(path):
    for file in manifests(path):
        file.with_suffix(".safetensors").unlink()


def forget_manifests(path):
    for file in manifests(path):
        file.unlink()


def forget_log(path):
    (path / "timing.jsonl").unlink()


def lose_disk(path):
    shutil.rmtree(path / "checkpoints")
    (path / "checkpoints").symlink_to(path / "not mounted")


DAMAGES = {
    damage_arrays: r"000000003.safetensors. does not match its hash; .*000000002.safetensors. does",
    make_newer: r"000000003.json. was written by format 2, .*000000002.json. was written by format",
    edit_first_line: r"metrics.jsonl. was changed: its first 3 lines .*checkpoint 3.*first 2",
    make_unreadable: r"000000003.json. is not a plain file; .*000000002.json. is not a plain file",
    forget_arrays: r"cannot read .*000000003.safetensors.: No such file .*000000002.safetensors",
    forget_manifests: r"000000003.safetensors. has no manifest; .*000000002.safetensors. has no",
    forget_log: r"cannot read .*timing.jsonl.: No such file",
    lose_disk: r"cannot read .*checkpoints.: No such file",
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_where_no_checkpoint_is_good_nothing_is_changed(tmp_path, damage):
    path = written(tmp_path / "run")
    damage(path)
    before = content(path)
    for _ in range(2):
        with pytest.raises(CheckpointError, match=DAMAGES[damage]) as refusal:
            taken_up(path)
        assert content(path) == before
    assert "Nothing was changed" in str(refusal.value)
    assert f"mppo resume {path} --from-scratch" in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("error", [5, 13])  # EIO, EACCES
def test_what_cannot_be_read_is_no_reason_to_start_over(tmp_path, monkeypatch, error):
    path = written(tmp_path / "run")
    before = content(path)
    real = Path.read_bytes

    def failing(file):
        if file.suffix == ".safetensors":
            raise OSError(error, os.strerror(error))
        return real(file)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", failing)
        with pytest.raises(CheckpointError, match=f"000000003.*{os.strerror(error)}.*000000002"):
            taken_up(path)
    assert content(path) == before
    assert taken_up(path)[1].data["iteration"] == 3


def test_a_checkpoint_that_the_run_refuses_is_as_bad_as_a_damaged_one(tmp_path):
    path = written(tmp_path / "run")
    before = content(path)

    def refuse(found, above=0):
        if found.data["iteration"] > above:
            raise CheckpointError('the checkpoint has no array "y"')

    with pytest.raises(CheckpointError, match=r'000000003.json": the checkpoint has no array "y"'):
        taken_up(path, refuse)
    assert content(path) == before
    assert taken_up(path, lambda found: refuse(found, above=2))[1].data["iteration"] == 2


def test_the_older_checkpoint_is_taken_and_the_refused_one_kept(tmp_path):
    path = written(tmp_path / "run")
    first_row = (path / "metrics.jsonl").read_bytes().splitlines(True)[0]
    for attempt, names in enumerate((("000000003",), ("000000003", "000000003-2")), 1):
        flip(path / "checkpoints" / "000000003.safetensors")
        bad = [(path / "checkpoints" / f"000000003{s}").read_bytes() for s in SUFFIXES]
        directory, found = taken_up(path)
        assert found.data["iteration"] == 2
        assert len(rows(path, "metrics.jsonl")) == 2
        reason = f'"{path}/checkpoints/000000003.safetensors" does not match its hash'
        assert directory.refused == [reason]
        assert directory.passed_over == (
            f'"{path}" goes on from checkpoint 2; passed over and moved to checkpoints/refused: '
            + reason
        )
        kept = path / "checkpoints" / "refused"
        assert sorted({file.stem for file in kept.iterdir()}) == list(names)
        assert [(kept / f"{names[-1]}{s}").read_bytes() for s in SUFFIXES] == bad
        event = [row for row in rows(path, "events.jsonl") if row["event"] == "checkpoint refused"]
        assert len(event) == attempt
        assert event[-1]["number"] == 3
        assert event[-1]["reason"] == reason
        assert event[-1]["moved_to"] == f"checkpoints/refused/{names[-1]}.json"
        again = RunDirectory(path)  # on to iteration 3, and the same once more
        again.begin(RUN)
        again.append("metrics.jsonl", {"iteration": 2, "steps": 3})
        again.save(3, ARRAYS, {"iteration": 3})
        again.close()
        assert checkpoints.numbers(path / "checkpoints") == [3, 2]
    assert (path / "metrics.jsonl").read_bytes().startswith(first_row)


def test_what_cannot_be_moved_is_left_and_costs_no_other_checkpoint(tmp_path):
    path = written(tmp_path / "run")
    (path / "checkpoints" / "refused").write_text("in the way")
    flip(path / "checkpoints" / "000000003.safetensors")
    bad = (path / "checkpoints" / "000000003.safetensors").read_bytes()
    directory = RunDirectory(path)
    assert directory.begin(RUN).data["iteration"] == 2
    assert "passed over and left where it is" in directory.passed_over
    directory.save(2, ARRAYS, {"iteration": 2})
    assert checkpoints.numbers(path / "checkpoints") == [3, 2]
    with pytest.raises(StorageFault, match=r'write ".*/refused": File exists'):
        directory.save(3, ARRAYS, {"iteration": 3})
    assert (path / "checkpoints" / "000000003.safetensors").read_bytes() == bad
    (path / "checkpoints" / "refused").unlink()
    directory.save(3, ARRAYS, {"iteration": 3})
    directory.close()
    assert checkpoints.load(path / "checkpoints", 3).data["iteration"] == 3
    kept = path / "checkpoints" / "refused" / "000000003.safetensors"
    assert kept.read_bytes() == bad


def test_the_checkpoint_just_written_is_never_pruned(tmp_path):
    for stray in (90, 80, 70):
        checkpoints.save(tmp_path, stray, ARRAYS, {})
    strays = checkpoints.numbers(tmp_path)
    for number in (1, 2, 3):
        checkpoints.save(tmp_path, number, ARRAYS, {})
        assert number in checkpoints.numbers(tmp_path)
    assert checkpoints.numbers(tmp_path) == [*strays, 3, 2]


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("line", [0, 1, 2])
def test_a_line_that_was_edited_is_noticed_by_what_covers_it(tmp_path, name, line):
    path = written(tmp_path / "run", numbers=(1, 3))
    lines = (path / name).read_bytes().splitlines(True)
    lines[line] = lines[line].replace(b'"steps":', b'"stepz":')
    (path / name).write_bytes(b"".join(lines))
    if line == 0:
        with pytest.raises(CheckpointError, match=f"{name}. was changed: its first 3 lines"):
            taken_up(path)
    else:
        assert taken_up(path)[1].data["iteration"] == 1
        assert rows(path, name) == [{"iteration": 0, "steps": 1}]


def test_the_hash_of_a_log_goes_on_after_a_resume(tmp_path):
    path = written(tmp_path / "run")
    directory = RunDirectory(path)
    directory.begin(RUN)
    directory.append("timing.jsonl", {"iteration": 3})
    directory.save(4, ARRAYS, {"iteration": 4})
    directory.close()
    remembered = checkpoints.load(path / "checkpoints", 4).data["logs_sha256"]
    assert remembered == {
        name: hashlib.sha256((path / name).read_bytes()).hexdigest() for name in LOGS
    }


def rewritten(file, change):
    """The manifest with its data changed and its hash right."""
    found = json.loads(file.read_text())
    del found["manifest_sha256"]
    change(found["data"])
    file.write_text(json.dumps(found | {"manifest_sha256": checkpoints.hash_of(found)}))


def test_checkpoints_of_before_the_hashes_stay_readable(tmp_path):
    path = written(tmp_path / "run")
    for file in manifests(path):
        rewritten(file, lambda data: data.pop("logs_sha256"))
    assert taken_up(path)[1].data["iteration"] == 3


@pytest.mark.parametrize("value", [None, [], {}, {"metrics.jsonl": 1}])
def test_hashes_that_are_none_are_refused(tmp_path, value):
    path = written(tmp_path / "run", numbers=(1,))
    rewritten(manifests(path)[0], lambda data: data.update(logs_sha256=value))
    with pytest.raises(CheckpointError, match="no checkpoint is good"):
        taken_up(path)


def test_a_first_save_that_was_interrupted_is_no_checkpoint(tmp_path):
    path = written(tmp_path / "run", numbers=(1,))
    manifests(path)[0].unlink()
    directory, found = taken_up(path)
    assert found is None
    assert directory.refused == []
    assert rows(path, "metrics.jsonl") == []
    assert (path / "checkpoints" / "refused" / "000000001.safetensors").exists()


def test_a_finished_run_without_its_last_state_is_not_finished(tmp_path):
    path = written(tmp_path / "run", finish=True)
    assert taken_up(path)[1].data["iteration"] == 3
    assert (path / "final.json").exists()
    flip(path / "checkpoints" / "000000003.safetensors")
    assert taken_up(path)[1].data["iteration"] == 2
    assert not (path / "final.json").exists()


def test_a_finished_run_without_checkpoints_is_left_as_it_is(tmp_path):
    path = written(tmp_path / "run", finish=True)
    shutil.rmtree(path / "checkpoints")
    before = content(path)
    with pytest.raises(CheckpointError, match="is finished, and has no checkpoint"):
        taken_up(path)
    assert content(path) == before


def test_moved_aside_nothing_is_lost_and_every_name_is_free(tmp_path):
    path = tmp_path / "run"
    assert RunDirectory(path).move_aside() is None
    kept = {}
    for n in (1, 2, 3):
        written(path, numbers=(n,))
        before = content(path)
        directory = RunDirectory(path)
        assert directory.move_aside() == tmp_path / f"run.aside-{n}"
        assert not path.exists()
        assert directory.begin(RUN) is None
        directory.close()
        kept[f"run.aside-{n}"] = before
        assert rows(path, "events.jsonl")[0]["before"] == f"run.aside-{n}"
        shutil.rmtree(path)
    assert {p.name: content(p) for p in tmp_path.iterdir()} == kept


def test_only_runs_that_nobody_writes_are_moved_aside(tmp_path):
    path = written(tmp_path / "run")
    lock = Lock(path)
    with pytest.raises(RunLocked, match=f"pid {os.getpid()}"):
        RunDirectory(path).move_aside()
    lock.release()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(BadRequest, match="is not an empty directory"):
        RunDirectory(tmp_path / "mine").move_aside()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine", "run"]


def test_the_lock_of_a_directory_that_moves_away_is_not_taken_for_the_new_one(
    tmp_path, monkeypatch
):
    path = written(tmp_path / "run")
    real = fcntl.flock

    def move_first(descriptor, how):
        monkeypatch.setattr(atomic.fcntl, "flock", real)
        RunDirectory(path).move_aside()
        return real(descriptor, how)

    monkeypatch.setattr(atomic.fcntl, "flock", move_first)
    with pytest.raises(RunLocked, match="was moved by another process just now"):
        Lock(path)


def test_what_was_moved_aside_is_in_no_report_and_no_table(tmp_path):
    for name in ("run", "run.aside-1", "other"):
        written(tmp_path / "all" / name)
    assert [name for _, name in find([tmp_path / "all"])] == ["all/other", "all/run"]
    assert [name for _, name in find([tmp_path / "all" / "run.aside-1"])] == ["run.aside-1"]
    assert {record.directory.name for record in collect(tmp_path / "all")} == {"run", "other"}


# The same with real runs, by all ways that lead into a run directory.

WORDS = ["--batch-size", "200", "--network.hidden", "4", "--critic.network.hidden", "4"]
WORDS += ["--paths", "2", "--steps", "800", "--seed", "3", "--eval-every", "400", "--quiet"]
WORDS += [
    "--eval-episodes",
    "1",
    "--eval-deterministic-episodes",
    "1",
    "--checkpoint-every",
    "1",
    "--workers",
    "1",
]
OPTIONS = {"eval_every": 400, "eval_episodes": 1, "eval_deterministic_episodes": 1}
OPTIONS |= {"checkpoint_every": 1, "workers": 1, "seed": 3}


def carried_out(path, stop_after=None):
    """Four iterations on the Maze, or as many."""
    leave(path, "mp-trpo", "mppo/Maze-v0", 800, Evaluation(400, 1, 1), 1, stop_after)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run that came to its end, and the same one interrupted after three iterations."""
    folder = tmp_path_factory.mktemp("made")
    carried_out(folder / "whole")
    carried_out(folder / "part", stop_after=3)
    return folder


@pytest.fixture
def part(made, tmp_path):
    shutil.copytree(made / "part", tmp_path / "run")
    return tmp_path / "run"


def words(way, path):
    """The command line of a way into a directory."""
    if way == "resume":
        return ["resume", str(path), "--quiet", "--checkpoint-every", "1", "--workers", "1"]
    return ["train", "mp-trpo", "mppo/Maze-v0", *WORDS, "--out", str(path)]


def in_python(way, path, **more):
    """The same from Python."""
    if way == "mppo.train":
        mppo.train(
            "mp-trpo", "mppo/Maze-v0", steps=800, overrides=SMALL, out=path, **OPTIONS, **more
        )
    else:
        fields = {name.replace(".", "__"): value for name, value in SMALL.items()}
        model = mppo.MPPO("mppo/Maze-v0", "mp-trpo", out=path, **OPTIONS, **fields, **more)
        model.learn(800)
        model.close()


def refusal_of(way, path, capsys):
    """What a way into a directory says when it is refused."""
    if way in ("resume", "train"):
        assert main(words(way, path)) == 74
        said = capsys.readouterr().err
        assert said.startswith("mppo: ")
        assert said.count("\n") == 1
        return said
    with pytest.raises(CheckpointError) as refusal:
        in_python(way, path)
    return str(refusal.value)


@pytest.mark.parametrize("way", ["resume", "train", "mppo.train", "MPPO"])
def test_every_way_refuses_and_every_way_starts_anew(made, part, capsys, way):
    damage_arrays(part)
    before = content(part)
    said = refusal_of(way, part, capsys)
    assert "000000003.safetensors" in said
    assert "000000002.safetensors" in said
    assert f"mppo resume {part} --from-scratch (in Python: from_scratch=True)" in said
    assert content(part) == before
    if way in ("resume", "train"):
        assert main([*words(way, part), "--from-scratch"]) == 0
    else:
        in_python(way, part, from_scratch=True)
    assert outcome(part) == outcome(made / "whole")
    aside = part.with_name("run.aside-1")
    assert content(aside) == before
    assert sorted(p.name for p in part.parent.iterdir()) == ["run", "run.aside-1"]


@pytest.mark.parametrize("way", ["resume", "train", "mppo.train", "MPPO"])
def test_every_way_goes_on_from_the_older_checkpoint_and_says_so(made, part, capsys, way):
    flip(part / "checkpoints" / "000000003.json", at=40)
    line = f'"{part}" goes on from checkpoint 2; passed over and moved to checkpoints/refused: '
    if way in ("resume", "train"):
        assert main(words(way, part)) == 0
        said = capsys.readouterr().err
        assert said.startswith(f"mppo: {line}")
        assert said.count("\n") == 1
    else:
        with pytest.warns(PassedOver, match="goes on from checkpoint 2; passed over and moved"):
            in_python(way, part)
    assert outcome(part) == outcome(made / "whole")
    assert checkpoints.numbers(part / "checkpoints") == [4, 3]
    kept = sorted(file.name for file in (part / "checkpoints" / "refused").iterdir())
    assert kept == ["000000003.json", "000000003.safetensors"]


def test_a_finished_run_is_moved_aside_and_run_again(made, tmp_path, capsys):
    path = shutil.copytree(made / "whole", tmp_path / "run")
    before = content(path)
    assert main([*words("resume", path)[:2], "--from-scratch"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"the run that was there is now {path}.aside-1\n")
    assert outcome(path) == outcome(made / "whole")
    assert content(tmp_path / "run.aside-1") == before


def test_a_finished_run_with_a_damaged_end_is_ended_again(made, tmp_path):
    path = shutil.copytree(made / "whole", tmp_path / "run")
    flip(path / "checkpoints" / "000000004.safetensors")
    with pytest.warns(PassedOver):
        in_python("mppo.train", path)
    assert outcome(path) == outcome(made / "whole")


def test_another_run_is_moved_aside_only_if_asked_for(made, part):
    before = content(part)
    assert main([*words("train", part), "--seed", "4"]) == 2
    assert content(part) == before
    assert main([*words("train", part), "--seed", "4", "--from-scratch"]) == 0
    assert json.loads((part / "run.json").read_text())["seed"] == 4
    assert content(part.with_name("run.aside-1")) == before


def test_a_damaged_run_json_is_refused_with_the_ways_out(part, capsys):
    flip(part / "run.json", at=30)
    before = content(part)
    for way in ("resume", "train", "mppo.train", "MPPO"):
        said = refusal_of(way, part, capsys)
        assert f'"{part}/run.json"' in said
        assert f"mppo train METHOD ENV --out {part} --from-scratch" in said
        assert content(part) == before
    assert main([*words("resume", part), "--from-scratch"]) == 74  # it cannot know what to run
    assert content(part) == before
    assert main([*words("train", part), "--from-scratch"]) == 0
    assert content(part.with_name("run.aside-1")) == before


def test_a_start_from_scratch_that_dies_early_loses_nothing(part, monkeypatch, capsys):
    before = content(part)

    def die(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RunDirectory, "_write_description", die)
        assert main([*words("resume", part), "--from-scratch"]) == 130
    assert content(part.with_name("run.aside-1")) == before
    capsys.readouterr()
    assert main(words("resume", part)) == 2
    assert f'"{part}.aside-1" was moved aside from here' in capsys.readouterr().err
    assert main(words("train", part)) == 0
    assert content(part.with_name("run.aside-1")) == before


def test_a_run_is_started_anew_from_within_its_own_directory(made, part, monkeypatch):
    before = content(part)
    monkeypatch.chdir(part)
    assert main([*words("resume", "."), "--from-scratch"]) == 0
    assert content(part.with_name("run.aside-1")) == before
    assert outcome(part) == outcome(made / "whole")


def test_those_who_only_read_change_nothing(part, tmp_path, capsys):
    flip(part / "checkpoints" / "000000003.safetensors")
    before = content(part)
    assert mppo.load(part).method.paths == 2
    assert main(["evaluate", str(part), "--episodes", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 400  # of checkpoint 2
    assert content(part) == before
    flip(part / "checkpoints" / "000000002.safetensors")
    before = content(part)
    with pytest.raises(CheckpointError, match="has no good checkpoint"):
        mppo.load(part)
    assert main(["evaluate", str(part)]) == 74
    assert main(["report", str(part), "--out", str(tmp_path / "page.html")]) == 0
    assert content(part) == before


class InThisProcess:
    """Workers of a grid without processes."""

    def __init__(self, capsys):
        self.capsys, self.over = capsys, []

    def room(self, running):
        return running < 1

    def start(self, run, words):
        self.over.append(Ended(run, main(words), self.capsys.readouterr().err))

    def ended(self):
        over, self.over = self.over, []
        return over

    def stop(self):
        pass


def test_a_run_of_a_grid_fails_with_the_way_out(tmp_path, capsys):
    one = spec("mp-trpo", "mppo/Maze-v0", 3, 400, SMALL, evaluation=Evaluation(0, 1, 1))
    grid = Grid(tmp_path)
    assert Driver(grid, InThisProcess(capsys)).run([one]) == {}
    path = grid.directory(one)
    (path / "final.json").unlink()
    damage_arrays(path)
    before = content(path)
    failures = Driver(grid, InThisProcess(capsys)).run([one])
    assert failures[one.run_id].exit_code == 74
    assert f"mppo resume {path} --from-scratch" in failures[one.run_id].message
    assert content(path) == before
    assert main(["resume", str(path), "--from-scratch", "--quiet"]) == 0
    assert Driver(grid, InThisProcess(capsys)).run([one]) == {}
    assert [record.directory for record in collect(tmp_path)] == [path]


def test_the_copy_of_a_grid_is_no_place_to_train_in(tmp_path, capsys):
    one = spec("mp-trpo", "mppo/Maze-v0", 3, 400, SMALL, evaluation=Evaluation(0, 1, 1))
    grid = Grid(tmp_path / "grid")
    grid.remember("sweep own", [one])
    assert Driver(grid, InThisProcess(capsys)).run([one]) == {}
    compact(grid.root, tmp_path / "copy")
    unpack(tmp_path / "copy", tmp_path / "unpacked")
    path = Grid(tmp_path / "unpacked").directory(one)
    before = content(path)
    with pytest.raises(CheckpointError, match="is finished, and has no checkpoint"):
        mppo.train("mp-trpo", "mppo/Maze-v0", steps=400, seed=3, overrides=SMALL, eval_every=0,
                   eval_episodes=1, eval_deterministic_episodes=1, out=path)  # fmt: skip
    assert content(path) == before
