"""The Ray engine without a cluster: what is refused before anything starts."""

import socket
from dataclasses import replace

import pytest

from mppo.envs.source import env_source
from mppo.errors import BadRequest
from mppo.files.evaluation import Evaluation
from mppo.training.options import Options
from mppo.training.run import Run
from tests.rollouts.odd_worlds import pier
from tests.worlds import ENVS, SMALL, STEPS

pytest.importorskip("ray")


def run_of(env, address=None, **changes):
    options = Options(engine="ray", address=address)
    steps, none = ENVS * STEPS, Evaluation(0, 0, 0)
    method = replace(SMALL["trpo"], **changes)
    return Run(method, env_source(env), steps, 0, none, options=options)


def test_an_address_where_nobody_listens_is_said_at_once():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"  # bound, but not listening
        with pytest.raises(BadRequest, match=f'no Ray cluster at "{address}"'):
            _ = run_of(pier, address).collector


def test_tasks_that_are_stepped_at_once_and_other_words_are_refused():
    with pytest.raises(BadRequest, match="steps all its environments at once"):
        _ = run_of("mppo/Maze-v0").collector
    with pytest.raises(BadRequest, match="keeps the states of all paths in one process"):
        _ = run_of("Hopper-v5", episodes="continue-per-path").collector
    with pytest.raises(BadRequest, match="address is of a Ray cluster; add --engine ray"):
        Options(address="auto")
    with pytest.raises(BadRequest, match='engine is "spark"; allowed: local, ray'):
        Options(engine="spark")
    with pytest.raises(BadRequest, match="step_timeout is 0; give seconds"):
        Options(step_timeout=0)
