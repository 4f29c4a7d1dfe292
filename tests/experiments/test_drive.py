"""The local engine with children that take a quarter of a second, and the table of exit codes."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mppo.errors import BadRequest
from mppo.experiments.drive import LOST, MOST_RETRIES, Decision, Driver, decide, explained
from mppo.experiments.grid import Grid
from mppo.experiments.workers import LocalWorkers
from mppo.files.atomic import Lock
from mppo.files.reader import State
from tests.experiments.child import ROWS
from tests.experiments.driver import CHILD, runs

DRIVER = str(Path(__file__).parent / "driver.py")
TABLE = {
    0: Decision.FAILED,  # it says done, but there is no result
    1: Decision.FAILED,
    2: Decision.FAILED,
    65: Decision.FAILED,
    70: Decision.FAILED,
    73: Decision.ELSEWHERE,
    74: Decision.FAILED,
    75: Decision.AGAIN,
    130: Decision.AGAIN,
    137: Decision.AGAIN,
    143: Decision.AGAIN,
    -9: Decision.AGAIN,
    -11: Decision.AGAIN,
    -15: Decision.AGAIN,
    LOST: Decision.AGAIN,
}


def drive(grid, specs, jobs=2):
    """One call of the engine; what was told."""
    driver, told = Driver(grid, LocalWorkers(jobs, (CHILD,))), []
    driver.run(specs, told=lambda what, run: told.append((run.seed, what)))
    return driver, told


def begin(root, jobs, seeds):
    words = [sys.executable, DRIVER, str(root), str(jobs), str(seeds)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)


def outcome(grid, specs):
    """The rows of every run."""
    return [(grid.directory(run) / "rows").read_text() for run in specs]


def expected(specs):
    return ["".join(f"{run.seed} {row}\n" for row in range(ROWS)) for run in specs]


def attempts(grid, run):
    return (grid.directory(run) / "attempts").read_text().split()


def alive(pid):
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return status != "Z"


def wait_for(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


def test_all_runs_are_done_once_and_not_again(tmp_path):
    grid, specs = Grid(tmp_path), runs(3)
    driver, told = drive(grid, specs)
    assert not driver.failures
    assert sorted(told) == [(seed, "finished") for seed in range(3)]
    assert outcome(grid, specs) == expected(specs)
    _, told = drive(grid, runs(4))  # one seed more
    assert told == [(3, "finished")]
    assert [len(attempts(grid, run)) for run in runs(4)] == [1] * 4


def test_a_killed_driver_takes_its_runs_along_and_the_next_call_continues(tmp_path, monkeypatch):
    grid, specs = Grid(tmp_path), runs(4)
    monkeypatch.setenv("CHILD_PAUSE", "0.03")
    first = begin(tmp_path, 2, 4)
    wait_for(lambda: (grid.directory(specs[1]) / "rows").exists())
    wait_for(lambda: (grid.directory(specs[0]) / "rows").exists())
    first.send_signal(signal.SIGKILL)
    first.communicate()
    children = [pid for run in specs[:2] for pid in attempts(grid, run)]
    wait_for(lambda: not any(map(alive, children)), 10)
    assert not all(map(grid.finished, specs))
    monkeypatch.setenv("CHILD_PAUSE", "0")
    driver, _ = drive(grid, specs)
    assert not driver.failures
    assert outcome(grid, specs) == expected(specs)
    assert [len(attempts(grid, run)) for run in specs] == [2, 2, 1, 1]


def test_two_drivers_share_the_runs_and_both_wait_for_the_end(tmp_path):
    grid, specs = Grid(tmp_path), runs(6)
    both = [begin(tmp_path, 1, 6) for _ in range(2)]
    said = [driver.communicate(timeout=60)[0].splitlines() for driver in both]
    assert [driver.returncode for driver in both] == [0, 0]
    assert outcome(grid, specs) == expected(specs)  # a run written twice would have double rows
    own = [{line for line in lines if line.endswith(" finished")} for lines in said]
    assert len(own[0] | own[1]) == 6
    assert own[0]
    assert own[1]


def test_a_run_with_another_driver_is_left_to_it_and_taken_when_free(tmp_path):
    grid, (run,) = Grid(tmp_path), runs(1)
    grid.directory(run).mkdir(parents=True)
    lock = Lock(grid.directory(run))
    assert grid.state(run) is State.RUNNING
    driver, seen = Driver(grid, LocalWorkers(1, (CHILD,))), []

    def tick(driver):
        seen.append(len(driver.elsewhere))
        if len(seen) == 3:
            lock.release()

    driver.run([run], tick)
    assert seen[0] == 1
    assert grid.finished(run)
    assert not driver.failures


def test_failures_are_reported_kept_and_tried_again(tmp_path, monkeypatch):
    grid, specs = Grid(tmp_path), runs(3)
    monkeypatch.setenv("CHILD_BEHAVIOUR", json.dumps({"1": "exit 65"}))
    driver, told = drive(grid, specs)
    assert (1, "failed (it ended with exit 65)") in told
    assert list(driver.failures) == [specs[1].run_id]
    assert [grid.state(run) for run in specs] == [State.FINISHED, State.FAILED, State.FINISHED]
    assert grid.failure(specs[1]).exit_code == 65
    assert len(attempts(grid, specs[1])) == 1  # never tried again by itself
    monkeypatch.delenv("CHILD_BEHAVIOUR")
    driver, told = drive(grid, specs)
    assert told == [(1, "finished")]
    assert not driver.failures
    assert grid.failure(specs[1]) is None


def test_a_run_that_is_killed_goes_on_three_times_at_most(tmp_path, monkeypatch):
    grid, specs = Grid(tmp_path), runs(2)
    monkeypatch.setenv("CHILD_BEHAVIOUR", json.dumps({"0": "killed"}))
    monkeypatch.setenv("CHILD_PAUSE", "0")
    driver, told = drive(grid, specs)
    assert [what for seed, what in told if seed == 0] == [
        *["lost (killed by SIGKILL), goes on"] * 3,
        "failed (killed by SIGKILL)",
    ]
    assert driver.failures[specs[0].run_id].exit_code == -9
    assert grid.finished(specs[1])
    assert len(attempts(grid, specs[0])) == 4
    driver, _ = drive(grid, specs)  # 16 of 20 rows were kept: the next call comes to the end
    assert not driver.failures
    assert outcome(grid, specs) == expected(specs)


def test_ctrl_c_asks_the_runs_to_end_before_the_driver_does(tmp_path, monkeypatch):
    monkeypatch.setenv("CHILD_PAUSE", "5")
    grid, specs = Grid(tmp_path), runs(2)

    def tick(driver):
        if all((grid.directory(run) / "attempts").exists() for run in specs):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Driver(grid, LocalWorkers(2, (CHILD,))).run(specs, tick)
    assert not any(alive(pid) for run in specs for pid in attempts(grid, run))
    assert [grid.state(run) for run in specs] == [State.MISSING] * 2


def test_a_finished_run_of_other_settings_is_not_taken_for_this_one(tmp_path):
    grid, (run,) = Grid(tmp_path), runs(1)
    drive(grid, [run])
    described = run.as_json()
    described["method"].pop("gamma")  # from before there was such a field: it is at its default
    file = grid.directory(run) / "run.json"
    file.write_text(json.dumps(described))
    drive(grid, [run])
    described["method"]["optimiser"]["max_kl"] = 0.5  # the default of another version
    file.write_text(json.dumps(described))
    with pytest.raises(BadRequest, match=r"method\.optimiser\.max_kl was 0\.5, now 0\.01"):
        drive(grid, [run])


@pytest.mark.parametrize(("low", "wanted"), [(False, 0), (True, 19)])
def test_runs_of_low_priority_take_what_others_leave(low, wanted, tmp_path):
    script = tmp_path / "niceness.py"
    groups = pathlib.Path("/proc/self/autogroup")  # Linux may share cores out by session
    here, (run,) = os.nice(0), runs(1)
    nice = min(19, here + wanted)
    told = f"(open({str(groups)!r}).read().split() or [{nice}])[-1]"  # the first session: empty
    group = told if groups.exists() else repr(nice)
    script.write_text(f"import os, sys\nsys.exit(' '.join(map(str, [os.nice(0), {group}])))")
    workers = LocalWorkers(1, (str(script),), low_priority=low)
    workers.start(run, [])
    over = []
    while not over:
        over = workers.ended()
    assert over[0].output == f"{nice} {nice}"


@pytest.mark.parametrize(("code", "decision"), TABLE.items())
def test_the_decision_after_every_exit_code(code, decision):
    assert decide(code, finished=False, retries=0) is decision
    assert decide(code, finished=True, retries=9) is Decision.DONE
    last = decide(code, finished=False, retries=MOST_RETRIES)
    assert last is (Decision.FAILED if decision is Decision.AGAIN else decision)


@pytest.mark.parametrize(
    ("code", "output", "says"),
    [
        (2, "mppo: unknown environment", "unknown environment"),
        (65, "W0000 something\nmppo: reward is nan", "reward is nan"),
        (70, "Traceback\n  File\nKeyError: 'x'\nmppo: this is a bug", "KeyError: 'x'"),
        (70, "mppo: iteration 3 made path 0 not finite", "iteration 3 made path 0 not finite"),
        (74, "", "a file could not be written or read"),
        (-11, "Fatal Python error", "killed by SIGSEGV"),
        (LOST, "", "its worker or machine was lost"),
        (0, "", "ended without a result"),
        (9, "", "exit code 9"),
    ],
)
def test_why_in_one_line(code, output, says):
    assert explained(code, output) == says
