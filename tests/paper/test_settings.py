"""The methods' settings are the paper's printed tables, number for number."""

import pytest

from mppo.algorithm.methods import METHODS, PAPER_METHODS
from mppo.algorithm.networks import Mlp
from mppo.algorithm.optimisers.ppo import Ppo
from mppo.algorithm.optimisers.trpo import Trpo
from mppo.files.evaluation import Evaluation

TRPO_TABLE = {
    "Discount Factor": 0.995,
    "GAE lambda": 0.97,
    "Batch Size": 5000,
    "Iterations of Conjugate Gradient": 20,
    "Damping of Conjugate Gradient": 0.1,
    "Iterations of Value Function Update": 5,
    "Batch Size of Value Function Update": 64,
    "Step Size of Value Function Update": 0.001,
    "Coefficient of Entropy": 0.0,
    "max KL": 0.01,
}
PPO_TABLE = {
    "Discount Factor": 0.995,
    "GAE lambda": 0.97,
    "Batch Size": 2048,
    "Clip Parameter": 0.2,
    "Epochs of Optimizer per Iteration": 10,
    "Step Size of Optimizer": 0.0003,
    "Batch Size of Optimizer": 64,
    "Coefficient of Entropy": 0.0,
}
TRPO_METHODS = [n for n in PAPER_METHODS if isinstance(METHODS[n].optimiser, Trpo)]
PPO_METHODS = [n for n in PAPER_METHODS if isinstance(METHODS[n].optimiser, Ppo)]


@pytest.mark.parametrize("name", TRPO_METHODS)
def test_trpo_table(name):
    method = METHODS[name]
    assert {
        "Discount Factor": method.gamma,
        "GAE lambda": method.gae_lambda,
        "Batch Size": method.batch_size,
        "Iterations of Conjugate Gradient": method.optimiser.cg_iterations,
        "Damping of Conjugate Gradient": method.optimiser.damping,
        "Iterations of Value Function Update": method.critic.epochs,
        "Batch Size of Value Function Update": method.critic.minibatch,
        "Step Size of Value Function Update": method.critic.learning_rate,
        "Coefficient of Entropy": method.optimiser.entropy_coefficient,
        "max KL": method.optimiser.max_kl,
    } == TRPO_TABLE


@pytest.mark.parametrize("name", PPO_METHODS)
def test_ppo_table(name):
    method = METHODS[name]
    assert {
        "Discount Factor": method.gamma,
        "GAE lambda": method.gae_lambda,
        "Batch Size": method.batch_size,
        "Clip Parameter": method.optimiser.clip,
        "Epochs of Optimizer per Iteration": method.optimiser.epochs,
        "Step Size of Optimizer": method.optimiser.learning_rate,
        "Batch Size of Optimizer": method.optimiser.minibatch,
        "Coefficient of Entropy": method.optimiser.entropy_coefficient,
    } == PPO_TABLE
    # the base code fits V in the optimiser's own passes
    critic = method.critic
    assert (critic.epochs, critic.learning_rate, critic.minibatch) == (10, 0.0003, 64)


def test_seven_methods_on_either_base():
    assert len(TRPO_METHODS) == len(PPO_METHODS) == 7
    assert {*TRPO_METHODS, *PPO_METHODS} == {*PAPER_METHODS}


@pytest.mark.parametrize("name", METHODS)
def test_networks(name):
    """Appendix B.2: "(64, tanh, 64, tanh, linear)" for policy and value."""
    assert METHODS[name].network == METHODS[name].critic.network == Mlp((64, 64), "tanh")


@pytest.mark.parametrize(("base", "paths"), [("trpo", 8), ("ppo", 2)])
def test_number_of_paths_and_weight(base, paths):
    """Appendix B.2: "8 and 2 in MP-TRPO and MP-PPO", alpha "0.1 in all environments"."""
    for name in (f"mp-{base}", f"mp-{base}-replace-worst"):
        assert (METHODS[name].paths, METHODS[name].picking.alpha) == (paths, 0.1)
    for name in (f"multi-{base}", f"multi-{base}-independent"):
        assert METHODS[name].paths == paths
    for name in (base, f"curiosity-{base}", f"div-{base}"):
        assert METHODS[name].paths == 1


def test_evaluation():
    """Section 4.1: "evaluated for 10 episodes every 10,000 steps"."""
    assert (Evaluation().episodes, Evaluation().every) == (10, 10_000)


@pytest.mark.parametrize("names", [TRPO_METHODS, PPO_METHODS])
def test_all_methods_of_a_base_spend_the_same_samples(names):
    """Section 4.2: "all methods use the same amount of N samples"."""
    assert len({METHODS[name].batch_size for name in names}) == 1
