"""A real Ray cluster on one machine: workers killed and a node removed, and nothing is lost."""

import json
import os
import signal
from pathlib import Path

import pytest

from mppo.experiments.drive import Driver
from mppo.experiments.grid import Grid
from mppo.experiments.spec import spec
from mppo.experiments.workers import LocalWorkers
from mppo.files.reader import rows

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

STORE = 10**8
COMPARED = ("metrics.jsonl", "evaluations.jsonl", "visits.json", "final.json")
SMALL = {"batch_size": 500, "network.hidden": (16,), "critic.network.hidden": (16,)}
SPECS = [
    spec(method, "mppo/Maze-v0", seed, 60_000, SMALL)
    for seed in range(2)
    for method in ("trpo", "mp-trpo", "mp-ppo")
]


@pytest.fixture
def cluster(monkeypatch):
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    head = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=head)
    made.nodes = [made.add_node(num_cpus=1, object_store_memory=STORE) for _ in range(2)]
    made.wait_for_nodes()
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


def tasks_under_way():
    """Worker processes that carry out a run now."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cmdline").read_bytes().startswith(b"ray::carry_out"):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


class Chaos:
    """Kills a worker, then removes a node and adds another, each when runs have got somewhere."""

    def __init__(self, cluster, grid):
        self.cluster, self.grid, self.done = cluster, grid, []

    def __call__(self, driver):
        steps = sum(map(self.grid.steps_done, SPECS))
        if not self.done and steps > 10_000 and tasks_under_way():
            os.kill(tasks_under_way()[0], signal.SIGKILL)
            self.done.append("worker")
        elif self.done == ["worker"] and steps > 60_000 and len(tasks_under_way()) == 2:
            self.cluster.remove_node(self.cluster.nodes.pop(), allow_graceful=False)
            self.cluster.add_node(num_cpus=1, object_store_memory=STORE)
            self.done.append("node")
        elif self.done == ["worker", "node"] and steps > 150_000 and tasks_under_way():
            os.kill(tasks_under_way()[-1], signal.SIGKILL)
            self.done.append("another worker")


def test_every_run_finishes_once_with_the_bytes_of_the_local_engine(tmp_path, cluster):
    from mppo.experiments.workers import RayWorkers

    grid, told = Grid(tmp_path / "ray"), []
    chaos = Chaos(cluster, grid)
    driver = Driver(grid, RayWorkers())
    driver.run(SPECS, chaos, lambda what, run: told.append(what))
    assert not driver.failures
    assert chaos.done == ["worker", "node", "another worker"]
    assert told.count("finished") == len(SPECS)
    lost = [what for what in told if "lost by Ray" in what]
    assert len(lost) >= 2, told  # a worker whose run was just over is no loss
    for run in SPECS:
        events = rows(grid.directory(run), "events.jsonl")
        assert [row["event"] for row in events].count("finished") == 1
        steps = [row["steps"] for row in rows(grid.directory(run), "metrics.jsonl")]
        assert steps == list(range(500, 60_001, 500))

    serial = Grid(tmp_path / "local")
    Driver(serial, LocalWorkers(2)).run(SPECS)
    for run in SPECS:
        for name in COMPARED:
            ours, theirs = (found.directory(run) / name for found in (serial, grid))
            assert ours.read_bytes() == theirs.read_bytes(), (run.label, name)
        final = json.loads((grid.directory(run) / "final.json").read_text())
        assert final["steps"] == 60_000
