"""Algorithm 1 as printed, followed by a plain loop beside the library."""

import json

import numpy as np
import pytest

import mppo
from mppo.algorithm.methods import METHODS
from mppo.callbacks import Callback
from mppo.files.run_directory import plain
from tests.worlds import ENVS, SMALL, STEPS, ledge, with_paths

BATCH = ENVS * STEPS
MULTI_PATH = ["mp-trpo", "mp-ppo"]


def trained(method, iterations, seed=0):
    agent = mppo.train(method, ledge, steps=iterations * BATCH, seed=seed, eval_every=0)
    return plain(agent.metrics), agent


def normalised(values):
    """Eq. (5), and zeros for equal values."""
    low, high = min(values), max(values)
    return [(v - low) / (high - low) if high > low else 0.0 for v in values]


@pytest.mark.parametrize("name", MULTI_PATH)
def test_lines_2_to_4_and_10_to_12(name):
    """From the rows alone: the pick follows from the row before, J from return and gain."""
    rows, _ = trained(SMALL[name], 8)
    for n, row in enumerate(rows):
        i = row["picked"]
        if n >= 2:  # both paths are known
            before = rows[n - 1]
            J, H = normalised(before["performance"]), normalised(before["entropy"])
            scores = [0.9 * j + 0.1 * h for j, h in zip(J, H, strict=True)]
            assert scores[i] == pytest.approx(max(scores), abs=1e-5)
        else:
            assert i == n
        assert row["performance"][i] == pytest.approx(
            row["return_mean"] + row["gain"], rel=1e-4, abs=1e-5
        )
        for k in {0, 1} - {i}:
            earlier = rows[n - 1] if n else None
            assert row["performance"][k] == (earlier["performance"][k] if earlier else 0.0)
            if earlier:
                assert row["entropy"][k] == earlier["entropy"][k]


@pytest.mark.parametrize("base", ["trpo", "ppo"])
def test_one_path_is_the_base_method_bit_for_bit(base):
    """MPPO with K = 1: the same rows and the same policy."""
    rows, agent = trained(with_paths(SMALL[f"mp-{base}"], 1), 3)
    wanted, other = trained(SMALL[base], 3)
    assert json.dumps(rows) == json.dumps(wanted)
    network = zip(agent.policy.parameters.network, other.policy.parameters.network, strict=True)
    for one, two in network:
        assert one.weights.tobytes() == two.weights.tobytes()


@pytest.mark.parametrize("name", METHODS)
def test_every_method_spends_the_same_samples(name):
    """One batch in every iteration, whichever path it goes to."""
    steps = []

    class Count(Callback):
        def on_iteration(self, row):
            steps.append(self.training.run.trajectories.rewards.size)

    method = SMALL[name]
    mppo.train(method, ledge, steps=2 * BATCH, eval_every=0, callback=Count())
    assert steps == [BATCH, BATCH]


@pytest.mark.parametrize("base", ["trpo", "ppo"])
def test_multi_takes_turns_and_shows_the_best(base):
    rows, agent = trained(SMALL[f"multi-{base}"], 5)
    assert [row["picked"] for row in rows] == [0, 1, 0, 1, 0]
    assert agent.path == int(np.argmax(rows[-1]["performance"]))


def test_the_paper_s_bound_is_logged():
    rows, _ = trained(SMALL["mp-trpo"], 6)
    for n, row in enumerate(rows):
        if n < 2:
            assert row["theorem_bound"] is None
            continue
        J = rows[n - 1]["performance"]
        assert row["theorem_bound"] == pytest.approx(-(max(J) - min(J)) / 9, rel=1e-4, abs=1e-7)
        fell = J[row["picked"]] - J[rows[n - 1]["picked"]]
        assert row["theorem_slack"] == pytest.approx(
            fell - row["theorem_bound"], rel=1e-4, abs=1e-6
        )
