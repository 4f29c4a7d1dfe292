"""Exported policies act as `predict` does: onnxruntime and plain NumPy, for every kind of space."""

import json
import runpy
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import jax
import numpy as np
import onnx
import onnxruntime
import pytest
from gymnasium import spaces
from gymnasium.spaces.utils import flatten

from mppo.algorithm import filters
from mppo.algorithm.networks import Mlp, widened
from mppo.cli import main
from mppo.errors import BadRequest
from mppo.export.described import as_safetensors, described, words
from mppo.export.graph import as_onnx
from mppo.training.opening import load
from tests.acting.test_agent import BOX, agent
from tests.acting.test_spaces import ACTIONS, OBSERVATIONS

NUMPY = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "numpy_policy.py"))
SMALL_BOX = spaces.Box(-0.5, np.array([0.6, 3.0], np.float32), (2,), np.float32)


def ready(observation, action, network=None, filtered=True, clip=True):
    """An agent with random numbers everywhere, of both signs."""
    made = agent(observation, action, clip=clip)
    if network is not None or not filtered:
        made.architecture = type(made.architecture)(
            made.architecture.observation_size,
            made.architecture.head,
            network or Mlp((3,)),
            filtered,
        )
    rng = np.random.default_rng(1)
    sizes = [made.architecture.observation_size, *made.architecture.network.hidden]
    sizes.append(made.architecture.head.outputs)
    layers = tuple(
        type(made.policy.parameters.network[0])(
            rng.normal(0, 3, (a, b)).astype(np.float32), rng.normal(0, 0.3, b).astype(np.float32)
        )
        for a, b in pairwise(sizes)
    )
    parameters = made.policy.parameters._replace(network=layers)
    seen = made.policy.filter
    rebuilt = type(made.policy)(parameters, seen._replace(mean=0.2 * seen.mean))
    return type(made)(made.method, made.spaces, made.architecture, rebuilt, 0, clip)


def parts(value):
    """The simple parts of an action, in order."""
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in parts(part)]
    return [leaf for part in value for leaf in parts(part)] if isinstance(value, tuple) else [value]


def both_ways(acting, tmp_path, count=20):
    """Actions of predict, of onnxruntime and of NumPy, and all outputs of the graph."""
    observation = acting.observation_space
    observation.seed(3)
    samples = [observation.sample() for _ in range(count)]
    flat = np.stack([np.asarray(flatten(observation, one), np.float32) for one in samples])
    wanted = [parts(acting.predict(one, deterministic=True)[0]) for one in samples]
    policy = described(acting)
    session = onnxruntime.InferenceSession(as_onnx(policy, {}), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, session.run(None, {"observation": flat}), strict=True))
    file = tmp_path / "policy.safetensors"
    file.write_bytes(as_safetensors(policy, {}))
    return wanted, found, NUMPY["act"](*NUMPY["load"](file), flat)


@pytest.mark.parametrize("name", ACTIONS)
def test_actions_of_every_space(name, tmp_path):
    acting = ready(BOX, ACTIONS[name][0])
    wanted, found, plain = both_ways(acting, tmp_path)
    actions = [value for key, value in found.items() if key.split("/")[0] == "action"]
    assert len(actions) == len(plain) == len(wanted[0])
    for n, column in enumerate(zip(*wanted, strict=True)):
        for ours in (actions[n], plain[n]):
            assert ours.dtype == np.asarray(column[0]).dtype
            assert ours.shape == (20, *np.shape(column[0]))
            np.testing.assert_allclose(ours, np.stack(column), rtol=0, atol=1e-5)
        if np.issubdtype(actions[n].dtype, np.integer):
            assert len(np.unique(np.stack(column), axis=0)) > 1  # not one answer for everything


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_observations_of_every_space(name, tmp_path):
    wanted, found, plain = both_ways(ready(OBSERVATIONS[name][0], SMALL_BOX), tmp_path)
    np.testing.assert_allclose(found["action"], np.concatenate(wanted), rtol=0, atol=1e-5)
    np.testing.assert_allclose(plain[0], np.concatenate(wanted), rtol=0, atol=1e-5)


@pytest.mark.parametrize("activation", ["tanh", "relu", "elu", "silu"])
@pytest.mark.parametrize("filtered", [True, False])
def test_every_network(activation, filtered, tmp_path):
    acting = ready(BOX, ACTIONS["box"][0], Mlp((5, 4), activation), filtered)
    wanted, found, plain = both_ways(acting, tmp_path)
    np.testing.assert_allclose(found["action"], np.concatenate(wanted).reshape(-1, 2), atol=1e-5)
    np.testing.assert_allclose(plain[0], np.concatenate(wanted).reshape(-1, 2), atol=1e-5)


def test_a_policy_that_sees_observations_as_they_are(tmp_path):
    """The style of one path, marked in its filter, beside others that look through theirs."""
    acting = ready(BOX, ACTIONS["box"][0])
    raw = acting.policy._replace(filter=filters.init(acting.architecture.observation_size))
    raw = raw._replace(filter=raw.filter._replace(count=np.float32(filters.RAW)))
    some = replace(acting.architecture, some_raw=True)
    acting = type(acting)(acting.method, acting.spaces, some, raw, 0, acting.clip)
    wanted, found, plain = both_ways(acting, tmp_path)
    assert len(np.unique(np.concatenate(wanted))) > 20
    np.testing.assert_allclose(found["action"], np.concatenate(wanted).reshape(-1, 2), atol=1e-5)
    np.testing.assert_allclose(plain[0], np.concatenate(wanted).reshape(-1, 2), atol=1e-5)


@pytest.mark.parametrize("turns", [True, False])
def test_a_policy_beside_or_with_sines_and_cosines(turns, tmp_path):
    acting = ready(BOX, ACTIONS["box"][0])
    layers, size = acting.policy.parameters.network, acting.architecture.observation_size
    layers = widened(layers, jax.random.key(0), np.float32(turns))
    policy = acting.policy._replace(
        parameters=acting.policy.parameters._replace(network=layers),
        filter=acting.policy.filter._replace(turns=np.float32(turns)),
    )
    some = replace(acting.architecture, some_turn=True)
    acting = type(acting)(acting.method, acting.spaces, some, policy, 0, acting.clip)
    assert described(acting).layers[0][0].shape[0] == (3 * size if turns else size)
    wanted, found, plain = both_ways(acting, tmp_path)
    assert len(np.unique(np.concatenate(wanted))) > 20
    np.testing.assert_allclose(found["action"], np.concatenate(wanted).reshape(-1, 2), atol=1e-5)
    np.testing.assert_allclose(plain[0], np.concatenate(wanted).reshape(-1, 2), atol=1e-5)


def test_distributions():
    """Mean and std of a Gaussian, log-probabilities of choices that sum to one."""
    acting = ready(BOX, spaces.Dict({"a": SMALL_BOX, "b": spaces.MultiDiscrete([2, 3])}))
    graph = onnxruntime.InferenceSession(as_onnx(described(acting), {}))
    names = [output.name for output in graph.get_outputs()]
    flat = np.random.default_rng(0).normal(size=(7, 2)).astype(np.float32)
    found = dict(zip(names, graph.run(None, {"observation": flat}), strict=True))
    outputs = acting._actor.outputs(flat.copy())
    np.testing.assert_allclose(found["mean/a"], outputs[:, :2], atol=1e-5)
    free = np.exp(np.asarray(acting.policy.parameters.free))
    np.testing.assert_allclose(found["std/a"], np.tile(free, (7, 1)), rtol=1e-6)
    assert (found["action/a"] <= np.array([0.6, 3.0], np.float32)).all()
    assert not (found["mean/a"] <= [0.6, 3.0]).all()
    np.testing.assert_allclose(found["logits/b"], outputs[:, 2:], atol=1e-5)
    chances = np.exp(found["log_probabilities/b"])
    np.testing.assert_allclose([chances[:, :2].sum(1), chances[:, 2:].sum(1)], 1, atol=1e-5)
    np.testing.assert_array_equal(found["action/b"][:, 1], chances[:, 2:].argmax(1))


def test_raw_actions_stay_raw(tmp_path):
    wanted, found, plain = both_ways(ready(BOX, SMALL_BOX, clip=False), tmp_path)
    np.testing.assert_allclose(found["action"], np.concatenate(wanted).reshape(-1, 2), atol=1e-5)
    np.testing.assert_allclose(plain[0], found["mean"], atol=1e-5)


def test_the_description_says_how_to_flatten():
    space = spaces.Dict({"speed": BOX, "gear": spaces.Discrete(3)})
    said = words(described(ready(space, BOX)), {})["observation"]
    assert said == [
        {"name": "gear", "kind": "Discrete", "shape": [], "from": 0, "to": 3, "one_hot": True},
        {"name": "speed", "kind": "Box", "shape": [2], "from": 3, "to": 5, "one_hot": False},
    ]


def test_other_networks_are_refused():
    acting = ready(BOX, BOX)
    acting.architecture = type("Other", (), {"network": "mine"})()
    with pytest.raises(BadRequest, match="only fully connected networks"):
        described(acting)


def test_from_the_command_line(tiny_run, tmp_path, capsys):
    out = tmp_path / "policy.onnx"
    assert main(["export", str(tiny_run), "--out", str(out), "--path", "1"]) == 0
    assert "2 numbers in, action out (path 1)" in capsys.readouterr().out
    model = onnx.load(out)
    about = json.loads({p.key: p.value for p in model.metadata_props}["mppo"])["about"]
    assert (about["env"], about["path"], about["steps"]) == ("mppo/Maze-v0", 1, 400)
    acting = load(tiny_run, path=1)
    flat = np.random.default_rng(0).uniform(-1, 1, (50, 2)).astype(np.float32)
    graph = onnxruntime.InferenceSession(out)
    np.testing.assert_array_equal(
        graph.run(["action"], {"observation": flat})[0], acting.predict(flat, deterministic=True)[0]
    )
    plain = tmp_path / "policy.safetensors"
    assert main(["export", str(tiny_run), "--out", str(plain), "--path", "1"]) == 0
    arrays, description = NUMPY["load"](plain)
    assert json.loads((tmp_path / "policy.json").read_text()) == description
    found = NUMPY["act"](arrays, description, flat)[0]
    np.testing.assert_array_equal(found, acting.predict(flat, deterministic=True)[0])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--out", "policy.zip"], "must end in .onnx or .safetensors"),
        (["--out", "no/such/place.onnx"], "its directory does not exist"),
        (["--out", "p.onnx", "--path", "7"], "path is 7; the run has the paths 0 ... 1"),
        ([], "--out is missing"),
    ],
)
def test_bad_requests(tiny_run, words, says, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["export", str(tiny_run), *words]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_missing_extra_is_named(tiny_run, capsys, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["export", str(tiny_run), "--out", "policy.onnx"]) == 2
    assert 'pip install "mppo[export]"' in capsys.readouterr().err
