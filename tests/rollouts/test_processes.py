"""Worker processes: the bits of one process, whatever dies, hangs or raises there."""

import os
import signal
import subprocess
import sys
import time
import warnings
from functools import partial
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv

from mppo.envs.source import env_source
from mppo.errors import BadRequest, EnvironmentFault, SettingsWarning, WorkersLost
from mppo.files.evaluation import Evaluation
from mppo.files.reader import rows
from mppo.files.run_directory import RunDirectory
from mppo.files.settings import overridden
from mppo.rollouts.buffers import buffers
from mppo.rollouts.collector import Collector
from mppo.rollouts.distributed import DistributedCollector
from mppo.rollouts.pool import Pool
from mppo.rollouts.processes import Processes
from mppo.rollouts.worker import EpisodeJob, Setup, Stepper
from mppo.training import workers as choosing
from mppo.training.options import Options
from mppo.training.run import Run
from mppo.training.start import begin
from tests.rollouts.odd_worlds import Pier, Screen, pier, slow_pier
from tests.rollouts.test_collector import actor_for
from tests.worlds import CHOOSING, ENVS, SMALL, STEPS

SEED, LENGTH = 5, 20
ACTOR = actor_for(1, CHOOSING.head)


def setup_of(make, episodes="fresh"):
    source = env_source(make)
    assert source.recipe is not None
    return Setup(source.recipe, source.spaces, LENGTH, SEED, episodes, True, 0.9)


def distributed(make, envs=2, workers=2, episodes="fresh", step_timeout=600.0, say=print):
    setup = setup_of(make, episodes)
    found = Pool(Processes(setup, envs), "Pier", workers, step_timeout, say)
    return DistributedCollector(setup, envs, found)


def in_process(envs=2, episodes="fresh"):
    setup = setup_of(pier, episodes)
    vector = env_source(pier).make(envs)
    return Collector(vector, setup.spaces, LENGTH, SEED, episodes, True, 0.9)


def assert_equal(ours, theirs):
    for name in ours._fields[:-1]:
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), name)
    for one, other in zip(ours.earlier, theirs.earlier, strict=True):
        np.testing.assert_array_equal(one, other)


def left_behind(collect):
    """Worker processes and segments that are still there."""
    processes = [place.worker.process for place in collect.pool._places]
    found = [process.pid for process in processes if process.is_alive()]
    try:
        SharedMemory(collect.pool.engine._batch.name).close()
    except FileNotFoundError:
        return found
    return [*found, "segment"]


def run_of(env, episodes, workers, iterations=4, **options):
    method = overridden(SMALL["trpo"], {"episodes": episodes})
    steps = iterations * ENVS * STEPS
    evaluation = Evaluation(2 * ENVS * STEPS, 3, 2)
    return Run(method, env_source(env), steps, 3, evaluation, workers, options=Options(**options))


def outcome(run):
    """The digest and the evaluations of a whole run."""
    evaluations = []
    try:
        while run.iteration < run.iterations:
            run.iterate()
            if run.evaluation_due():
                evaluations.append(run.evaluate())
        return run.digest(), evaluations
    finally:
        run.close()


@pytest.fixture(scope="module")
def alone():
    return {episodes: outcome(run_of(pier, episodes, 1)) for episodes in ("fresh", "continue")}


@pytest.mark.parametrize(("episodes", "workers"), [("fresh", 2), ("continue", ENVS)])
def test_the_number_of_workers_does_not_show(alone, episodes, workers):
    assert outcome(run_of(pier, episodes, workers)) == alone[episodes]
    assert alone["fresh"] != alone["continue"]


def test_a_worker_that_dies_is_replaced_and_its_part_computed_again(tmp_path):
    """In the second batch of episodes that go on: the new worker takes all steps once more."""
    said, make = [], partial(Pier, "is killed", LENGTH + 7, str(tmp_path / "marker"))
    collect = distributed(make, episodes="continue", say=said.append)
    reference = in_process(episodes="continue")
    for n, path in enumerate([0, 0, 0, 1]):
        collect.gamma = reference.gamma = 0.9 if n == 0 else 0.5  # as `set` changes it
        assert_equal(collect(ACTOR, path, n), reference(ACTOR, path, n))
    assert collect.pool.deaths == 1
    assert "step 7 of iteration 1 (killed by SIGKILL" in said[0]
    assert said[0].endswith("its part is computed again (1 so far)")
    collect.close()
    assert left_behind(collect) == []


def test_an_environment_that_always_ends_its_worker_is_named():
    collect = distributed(partial(Pier, "exits", 7), envs=1, workers=1, say=lambda text: None)
    where = "ended its worker 3 times at environment 0, step 7 of iteration 0"
    with pytest.raises(EnvironmentFault, match=f"{where}: .* exit code 3"):
        collect(ACTOR, 0, 0)
    collect.close()
    assert left_behind(collect) == []


def test_an_environment_that_hangs_is_named_and_the_run_is_saved(tmp_path):
    make = partial(Pier, "hangs", STEPS + 5, str(tmp_path / "marker"))
    run = run_of(make, "fresh", 2, step_timeout=1.0)
    directory = RunDirectory(tmp_path / "run")
    training = begin(run, directory, "trpo")
    where = r"hangs: environment \d, step 5 of iteration 1 has taken more than 1.0 s"
    with pytest.raises(EnvironmentFault, match=where):
        training.to_the_end()
    directory.close()
    run.close()
    again = run_of(make, "fresh", 1)
    directory = RunDirectory(tmp_path / "run")
    begin(again, directory, "trpo")
    assert again.iteration == 1
    assert rows(directory.path, "events.jsonl")[-2]["event"] == "fault"
    directory.close()
    again.close()


@pytest.mark.parametrize(
    ("trouble", "says"),
    [
        ("raises", r"exception in step = \"KeyError\('no such pier'\)\"; environment \d"),
        ("leaves", "failed in a worker: SystemExit: enough"),
    ],
)
def test_what_is_raised_in_a_worker_is_raised_here_with_its_place(trouble, says):
    collect = distributed(partial(Pier, trouble), 1, 1)
    with pytest.raises(EnvironmentFault, match=says) as raised:
        collect(ACTOR, 0, 0)
    source = Path(sys.modules[Pier.__module__].__file__ or "").read_text().splitlines()
    word = "raise KeyError(" if trouble == "raises" else "sys.exit("
    line = 1 + next(n for n, text in enumerate(source) if word in text)
    assert f"odd_worlds.py, line {line}" in str(raised.value)
    collect.close()
    assert left_behind(collect) == []


def test_a_fault_in_an_evaluation_names_the_step_of_its_episode():
    """Whatever was stepped before it: a batch of five rows, and an episode that went well."""
    source, first, second = env_source(pier), EpisodeJob(1, 0, False), EpisodeJob(1, 1, False)
    batch = buffers(source.spaces, 1, LENGTH)
    batch.clear()
    batch.actions[0, :5] = 0
    sound = Stepper(setup_of(pier))
    length = int(sound.carry_out(ACTOR, first, batch).lengths[0])
    assert sound.carry_out(ACTOR, second, batch).lengths[0] >= 3
    stepper = Stepper(setup_of(partial(Pier, "leaves", length + 3)))
    assert stepper.carry_out(ACTOR, first, batch).lengths[0] == length
    failed = stepper.carry_out(ACTOR, second, batch)
    assert "environment 1, step 3 of the evaluation after iteration 1" in failed.text


def test_workers_do_not_load_jax_and_copy_what_they_see():
    """Every observation of a pier is the same array; a reward of 100 would mean JAX."""
    collect = distributed(partial(Pier, "jax"))
    found = collect(ACTOR, 0, 0)
    assert_equal(found, in_process()(ACTOR, 0, 0))
    assert len(np.unique(found.observations)) > LENGTH
    for deterministic in (False, True):
        played = collect.play(ACTOR, 7, 3, deterministic)
        assert len(played.returns) == 3
        assert (played.lengths <= 9).all()
    collect.close()


def test_what_needs_a_screen_is_told_how_to_do_without(tmp_path):
    collect = distributed(partial(Screen, str(tmp_path / "marker")), 1, 1)
    with pytest.raises(EnvironmentFault, match=r"DISPLAY .* need a display: leave out render_m"):
        collect(ACTOR, 0, 0)
    collect.close()


def test_what_cannot_be_sent_is_named_with_the_way_out():
    local = lambda: Pier()
    run = run_of(local, "fresh", 2)
    with pytest.raises(BadRequest, match=r"the callable .*<lambda> cannot be sent .* in a module"):
        run.iterate()
    run.close()


@pytest.mark.parametrize(
    ("env", "changes", "says"),
    [
        (lambda: SyncVectorEnv([pier] * ENVS), {}, "it is a vector of yours"),
        (lambda: pier(), {"envs": 1}, "there is one environment; .* --envs N"),
    ],
)
def test_workers_that_cannot_be_used_are_not_ignored_in_silence(env, changes, says):
    method = overridden(SMALL["trpo"], changes)
    env = env if "envs" not in changes else pier
    run = Run(method, env_source(env), ENVS * STEPS, 0, Evaluation(0, 0, 0), workers=8)
    with pytest.warns(SettingsWarning, match=f"8 workers were asked for, .* {says}"):
        assert isinstance(run.collector, Collector)
    run.close()


def test_slow_environments_get_workers_by_themselves(alone, monkeypatch):
    """After the first batch, whose unfinished episodes go on in the workers."""
    monkeypatch.setattr(choosing, "WORKER_COSTS", 0.0)
    run = run_of(slow_pier, "continue", 0)
    with pytest.warns(SettingsWarning, match="takes .* ms: from now on 4 processes step its 4"):
        assert outcome(run) == alone["continue"]
    quick = run_of(pier, "fresh", 0)
    monkeypatch.undo()
    with warnings.catch_warnings():
        warnings.simplefilter("error", SettingsWarning)
        quick.iterate()
    assert isinstance(quick.collector, Collector)
    quick.close()


def test_workers_that_never_start_are_an_error(monkeypatch):
    """A script without `if __name__ == "__main__":` is what makes workers end at once."""
    collect = distributed(pier, envs=1, workers=1, say=lambda text: None)
    monkeypatch.setattr(Processes, "start", _started_badly(Processes.start))
    with pytest.raises(WorkersLost, match=r"ended 3 times before it was ready: .* `if __name__"):
        collect(ACTOR, 0, 0)
    collect.close()


def _started_badly(start):
    def started(self):
        worker = start(self)
        worker.process.kill()
        worker.process.join()
        return worker

    return started


def test_nothing_is_left_when_the_parent_is_killed(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(
        "from tests.rollouts import test_processes as here\n"
        "from functools import partial\n"
        "if __name__ == '__main__':\n"
        "    collect = here.distributed(partial(here.Pier, 'hangs'))\n"
        "    print(collect.pool.engine._batch.name, flush=True)\n"
        "    collect(here.ACTOR, 0, 0)\n"
    )
    path = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    with subprocess.Popen(
        [sys.executable, script],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        name = parent.stdout.readline().strip()
        wait_for(lambda: len(children_of(parent.pid)) >= 3)  # two workers and the tracker
        children = children_of(parent.pid)
        time.sleep(1.0)
        parent.send_signal(signal.SIGKILL)
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children))
    with pytest.raises(FileNotFoundError):
        SharedMemory(name)


def children_of(pid):
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            found += [int(entry.name)] if int(fields[1]) == pid else []
    return found


def wait_for(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_an_id_registered_here_is_known_there():
    gymnasium.register("Pier-v7", entry_point=Pier, max_episode_steps=5)
    try:
        collect = distributed("Pier-v7", 1, 1)
        found = collect(ACTOR, 0, 0)
        assert found.truncated[0, 4]
        collect.close()
    finally:
        del gymnasium.registry["Pier-v7"]
