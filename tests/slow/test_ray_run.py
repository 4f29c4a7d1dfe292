"""One run on a Ray cluster: the bits of a local run on one node and on two, one of which dies."""

import threading
import time
from functools import partial

import pytest

from mppo.envs.source import env_source
from mppo.files.evaluation import Evaluation
from mppo.rollouts.distributed import DistributedCollector
from mppo.training.options import Options
from mppo.training.run import Run
from tests.rollouts.odd_worlds import Pier
from tests.worlds import small

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
STORE = 10**8
SLOW = partial(Pier, seconds=0.005)
STEPS = 100


@pytest.fixture
def cluster(monkeypatch):
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_worker_niceness", "0")
    head = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=head)
    made.nodes = [made.add_node(num_cpus=1, object_store_memory=STORE)]
    made.wait_for_nodes()
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


def run_of(engine, episodes="fresh", env=SLOW, iterations=5):
    method = small("trpo", episodes=episodes, batch_size=4 * STEPS)
    evaluation = Evaluation(2 * method.batch_size, 2, 1)
    options = Options(engine=engine)
    workers = 0 if engine == "ray" else 1
    steps = iterations * method.batch_size
    return Run(method, env_source(env), steps, 3, evaluation, workers, options=options)


def carried_out(run, before=lambda n: None):
    """The digest, the evaluations and the seconds that each batch took."""
    seconds, evaluations = [], []
    while run.iteration < run.iterations:
        before(run.iteration)
        run.iterate()
        seconds.append(run.simulation)
        if run.evaluation_due():
            evaluations.append(run.evaluate())
    digest = run.digest()
    run.close()
    return digest, evaluations, seconds


@pytest.mark.parametrize("episodes", ["fresh", "continue"])
def test_nodes_come_and_go_and_the_bits_stay(cluster, episodes):
    *wanted, _ = carried_out(run_of("local", episodes))

    def change(iteration):
        if iteration == 1:
            cluster.nodes.append(cluster.add_node(num_cpus=1, object_store_memory=STORE))
            cluster.wait_for_nodes()
        if iteration > 1:  # a worker there takes a while to start
            ray.get([place.worker.reference for place in run.collector.pool._places])
        if iteration == 3:
            remove = partial(cluster.remove_node, cluster.nodes.pop(), allow_graceful=False)
            threading.Timer(0.3, remove).start()

    run = run_of("ray", episodes)
    *found, seconds = carried_out(run, change)
    assert found == wanted
    print("seconds of each batch:", [round(s, 2) for s in seconds])
    collector = run.collector
    assert isinstance(collector, DistributedCollector)
    assert collector.pool.deaths == 1  # so one environment's share was computed twice, no more


def test_robots_of_ours_run_there_too(cluster):
    *wanted, _ = carried_out(run_of("local", env="Hopper-v5", iterations=2))
    *found, _ = carried_out(run_of("ray", env="Hopper-v5", iterations=2))
    assert found == wanted


def test_a_cluster_without_nodes_is_an_error_after_a_while(cluster, monkeypatch):
    from mppo.errors import WorkersLost
    from mppo.rollouts import cluster as here

    monkeypatch.setattr(here, "NODE_WAIT", 5.0)
    cluster.remove_node(cluster.nodes.pop(), allow_graceful=False)
    time.sleep(1)
    run = run_of("ray")
    with pytest.raises(WorkersLost, match=r'no worker of "Pier" was ready within 5\.0 s'):
        run.iterate()
    run.close()
