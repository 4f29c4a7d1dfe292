"""Returns over the last 100 episodes."""

import numpy as np
import pytest

from mppo.algorithm.types import Earlier, Trajectories
from mppo.training.snapshots import Recent
from tests.training.test_model import BATCH, model


def batch(rewards, ended, total=0.0, length=0):
    rewards, ended = np.atleast_2d(rewards).astype(np.float32), np.atleast_2d(ended)
    many = len(rewards)
    before = Earlier(np.full(many, total), np.zeros(many), np.full(many, length))
    return Trajectories(None, None, rewards, None, ended, np.zeros_like(ended), before)


def test_episodes_are_counted_over_the_edges_of_batches():
    recent = Recent()
    assert recent.row() == {"recent_return_mean": None, "recent_length_mean": None}
    recent.take(batch([1, 2, 4, 8], [False, True, False, False]))
    assert recent.row() == {"recent_return_mean": 3.0, "recent_length_mean": 2.0}
    recent.take(batch([1, 1], [True, True], total=12, length=2))  # 12 + 1 in 3 steps, 1 in 1
    assert recent.get_state() == [[3.0, 2], [13.0, 3], [1.0, 1]]
    assert recent.row()["recent_return_mean"] == pytest.approx(17 / 3)


def test_only_the_last_hundred_count_in_the_order_of_time():
    recent = Recent()
    rewards = np.arange(240).reshape(2, 120)
    recent.take(batch(rewards, np.ones((2, 120), bool)))
    state = recent.get_state()
    assert len(state) == 100
    assert state[-2:] == [[119.0, 1], [239.0, 1]]  # the last step of both environments
    assert state[0] == [70.0, 1]


def test_bad_states_are_refused():
    for bad in (None, [[1]], [["a", 1]], [[1.0, None]], {}):
        with pytest.raises(ValueError, match="the last episodes are"):
            Recent().set_state(bad)


def test_a_run_logs_and_keeps_them(tmp_path):
    agent = model().learn(2 * BATCH)
    first, second = agent.metrics
    assert first["recent_return_mean"] is not None
    episodes = [row["episodes"] for row in agent.metrics]
    if sum(episodes) <= 100:
        total = sum(row["episodes"] * row["return_mean"] for row in agent.metrics)
        assert second["recent_return_mean"] == pytest.approx(total / sum(episodes))
    again = model(out=tmp_path / "run").learn(BATCH)
    again.close()
    later = model(out=tmp_path / "run").learn(2 * BATCH)
    assert later.metrics[-1]["recent_return_mean"] == second["recent_return_mean"]
