"""The environments that are measured can be made, here and where mppo is not installed."""

import importlib.util
import runpy
import time

import pytest

from mppo.bench import catalogue
from mppo.bench.catalogue import COMPUTING, ENVIRONMENTS, WAITING
from mppo.envs.source import env_source


def test_each_has_a_name_and_an_id_of_its_own():
    assert len({env.name for env in ENVIRONMENTS}) == len(ENVIRONMENTS) == 18
    assert WAITING.env == "mppo.bench.catalogue:bench/Waiting-v0"
    assert [env.name for env in ENVIRONMENTS if env.waits] == ["1 ms of waiting"]


@pytest.mark.parametrize(("name", "native"), [("Hopper-v5", True), ("bench/Hopper-v5", False)])
def test_a_wrapper_that_is_not_expressed_takes_the_general_path(name, native):
    measured = next(env for env in ENVIRONMENTS if env.id == name)
    source = env_source(measured.env)
    assert (source.native, source.horizon) == (native, 1000)


def test_a_step_takes_a_millisecond():
    for measured, clock in ((WAITING, time.perf_counter), (COMPUTING, time.process_time)):
        env = catalogue.make(measured.id)
        env.reset(seed=0)
        started = clock()
        for _ in range(20):
            env.step(1)
        assert 0.005 < clock() - started < 0.5


def test_it_runs_by_its_path():
    path = importlib.util.find_spec("mppo.bench.catalogue").origin
    make_flat = runpy.run_path(path)["make_flat"]
    assert make_flat("Blackjack-v1").observation_space.shape == (45,)
    assert make_flat("bench/Waiting-v0").observation_space.shape == (4,)
