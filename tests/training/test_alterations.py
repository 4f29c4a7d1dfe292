"""Settings that change after learning, and those that cannot."""

import json

import numpy as np
import pytest

import mppo
from mppo.errors import BadRequest
from tests.training.test_model import BATCH, model
from tests.worlds import ledge, small


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    agent = model(method=small("ppo")).learn(BATCH)
    return agent.save(tmp_path_factory.mktemp("models") / "one")


def test_a_changed_model_goes_on_from_what_it_has_learnt(saved):
    agent = mppo.MPPO.load(saved, ledge)
    before = agent.get_parameters()
    assert agent.set(optimiser__learning_rate=0.0, critic__learning_rate=0.0, gamma=0.9) is agent
    assert (agent.method.optimiser.learning_rate, agent.method.gamma) == (0.0, 0.9)
    assert agent.run.digest() == mppo.MPPO.load(saved, ledge).run.digest()
    after = agent.learn(BATCH).get_parameters()
    names = [name for name in before if "network" in name and "optimiser" not in name]
    assert names
    for name in names:  # nothing moves at a rate of 0
        np.testing.assert_array_equal(after[name], before[name])
    assert agent.num_timesteps == 2 * BATCH
    assert agent.run.collector.gamma == 0.9
    agent.close()


def test_it_is_as_if_the_model_had_been_made_so(saved):
    one = mppo.MPPO.load(saved, ledge).set(optimiser__clip=0.1).learn(BATCH)
    two = model(method=small("ppo", **{"optimiser.clip": 0.1}))
    two.set_parameters(mppo.MPPO.load(saved, ledge).get_parameters())
    assert two.learn(BATCH).run.digest() == one.run.digest()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"network__hidden": (8,)},
            '"network__hidden" of a model cannot change: the weights of the',
        ),
        ({"critic__network__hidden": (8,)}, "the weights of the value network are made for it"),
        ({"paths": 3}, "there are as many policies as it says"),
        ({"batch_size": 512}, "steps are counted in whole batches"),
        ({"optimiser__max_gradient_norm": 0.5}, "would need arrays of another form"),
        ({"optimiser": "trpo"}, "would need arrays of another form"),
        ({"reward_scaling": "returns"}, "would need arrays of another form"),
        ({"gama": 0.9}, 'did you mean "gamma"?'),
        ({"gamma": 2.0}, "0 ... 1"),
        ({"seed": 3}, 'has no field "seed"'),
        ({"n_epochs": 3}, "here it is optimiser__epochs"),
    ],
)
def test_what_cannot_change_says_why(saved, change, said):
    agent = mppo.MPPO.load(saved, ledge)
    before = agent.method
    with pytest.raises(BadRequest) as caught:
        agent.set(**change)
    assert said in str(caught.value)
    assert agent.method == before


def test_a_run_directory_keeps_its_settings(tmp_path):
    agent = model(method=small("ppo"), out=tmp_path / "one").learn(BATCH)
    with pytest.raises(BadRequest, match="holds the run with the settings as they were"):
        agent.set(gamma=0.9)
    agent.out = tmp_path / "two"
    agent.set(gamma=0.9).learn(BATCH)
    found = [json.loads((tmp_path / name / "run.json").read_text()) for name in ("one", "two")]
    assert [one["method"]["gamma"] for one in found] == [0.995, 0.9]
    assert [one["steps"] for one in found] == [BATCH, 2 * BATCH]
    agent.close()
