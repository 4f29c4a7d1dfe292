"""The contract that each of the paper's methods keeps, on one small environment."""

import json
from dataclasses import replace

import jax
import numpy as np
import pytest

import mppo
from mppo.algorithm.exploration.none import NoBonus
from mppo.algorithm.methods import METHODS, PAPER_METHODS, Method
from mppo.algorithm.picking import RoundRobin, Weighted
from mppo.algorithm.styles import style
from mppo.files import settings
from mppo.files.run_directory import plain
from mppo.training.programs import programs
from tests.oracles import all_finite
from tests.worlds import CHOOSING, ENVS, SMALL, STEPS, choosing, ledge


def run(method, seed=0, iterations=2):
    return mppo.train(
        method, ledge, steps=iterations * ENVS * STEPS, seed=seed, eval_every=0, workers=1
    )


@pytest.mark.parametrize("name", METHODS)
def test_two_iterations_keep_the_contract(name):
    """Finite, compiled once, the same for the same seed, and the samples paid for."""
    method = SMALL[name]
    architecture = choosing(method)
    compiled = programs(method, architecture)  # other tests may have used it before
    before = compiled.learn._cache_size(), compiled.pick._cache_size()
    agent = run(method)
    assert agent.architecture == architecture
    assert [row["steps"] for row in agent.metrics] == [ENVS * STEPS, 2 * ENVS * STEPS]
    for row in agent.metrics:
        numbers = plain(row)
        missing = [key for key, value in numbers.items() if value is None]
        assert set(missing) <= {"theorem_bound", "theorem_slack"}
        assert len(numbers["performance"]) == len(numbers["entropy"]) == method.paths
        assert numbers["episodes"] > 0
    assert all_finite(agent.policy)
    again = run(method)
    assert json.dumps(plain(again.metrics)) == json.dumps(plain(agent.metrics))
    other = run(method, seed=1)
    assert json.dumps(plain(other.metrics)) != json.dumps(plain(agent.metrics))
    assert compiled.learn._cache_size() <= before[0] + 1
    assert compiled.pick._cache_size() <= before[1] + 1
    assert settings.from_json(json.loads(json.dumps(settings.to_json(method)))) == method


def test_paths_start_as_different_policies_with_equal_knowledge():
    state = programs(SMALL["mp-trpo"], CHOOSING).init(jax.random.key(0))
    first, second = np.asarray(state.population.policy.parameters.network[0].weights)
    assert np.abs(first - second).max() > 0.1
    np.testing.assert_array_equal(state.population.performance, [0, 0])
    np.testing.assert_array_equal(state.population.record.picks, [0, 0])
    np.testing.assert_allclose(state.population.entropy, np.log(2), atol=1e-3)


def test_there_are_fourteen_of_the_paper_and_spread_paths():
    bases = ("trpo", "ppo")
    kinds = ("{}", "multi-{}", "multi-{}-independent", "mp-{}", "mp-{}-replace-worst")
    kinds += ("curiosity-{}", "div-{}")
    assert set(PAPER_METHODS) == {kind.format(base) for base in bases for kind in kinds}
    assert set(METHODS) - set(PAPER_METHODS) == {"sp-trpo", "sp-ppo"}


@pytest.mark.parametrize("base", ["trpo", "ppo"])
def test_methods_differ_in_what_their_names_say(base):
    single, multi_path = METHODS[base], METHODS[f"mp-{base}"]
    assert single == replace(multi_path, paths=1)
    assert isinstance(multi_path.picking, Weighted)
    multi = METHODS[f"multi-{base}"]
    assert multi == replace(multi_path, picking=RoundRobin())
    assert METHODS[f"multi-{base}-independent"] == replace(multi, value="independent")
    assert METHODS[f"mp-{base}-replace-worst"] == replace(multi_path, replacement="worst")
    for kind in ("curiosity", "div"):
        assert replace(METHODS[f"{kind}-{base}"], exploration=NoBonus()) == single


def test_derived_numbers():
    assert Method(paths=4).value_networks == 1
    assert Method(paths=4, value="independent").value_networks == 4
    assert Method(entropy="tsallis", tsallis_index=3.0).entropy_index == 3.0
    assert Method(tsallis_index=3.0).entropy_index == 1.0


@pytest.mark.parametrize(
    "wrong",
    [{"paths": 0}, {"gamma": 1.1}, {"gae_lambda": -0.1}, {"batch_size": 1}, {"tsallis_index": 0}],
)
def test_contradictions_raise(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Method(**wrong)


def test_one_style_stands_for_all_paths():
    one = Method(styles="apart")
    assert one.styles == (style("apart"),) == Method(styles=style("apart")).styles
    with pytest.raises(ValueError, match='unknown style "apar"'):
        Method(styles="apar")


@pytest.mark.parametrize("name", ["optimiser", "picking", "exploration", "critic"])
def test_what_is_no_component_is_refused(name):
    with pytest.raises(ValueError, match=f"{name} is 3; it must be the name of a kind"):
        replace(METHODS["ppo"], **{name: 3})


@pytest.mark.parametrize("styles", [3, (3,), (None,)])
def test_what_is_no_style_is_refused(styles):
    with pytest.raises(ValueError, match="styles holds"):
        replace(METHODS["ppo"], styles=styles)
