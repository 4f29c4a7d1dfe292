"""Training runs: what is written when, and what does not depend on what."""

import copy
import json

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

import mppo
from mppo.algorithm.heads import Categorical, Gaussian, Product
from mppo.errors import BadRequest, EnvironmentFault
from mppo.files.run_directory import RunDirectory, plain
from mppo.training.start import plan
from tests.worlds import ENVS, SMALL, STEPS, Anything, ByAction, Scripted, ledge, small

BATCH = ENVS * STEPS
TRPO, MULTI = SMALL["trpo"], SMALL["mp-trpo"]


def lines(path, name):
    return [json.loads(line) for line in (path / name).read_text().splitlines()]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of two paths on file: six iterations, evaluated every 600 steps."""
    out = tmp_path_factory.mktemp("runs") / "one"
    agent = mppo.train(
        MULTI,
        ledge,
        steps=6 * BATCH,
        seed=3,
        out=out,
        eval_every=600,
        eval_episodes=4,
        eval_deterministic_episodes=2,
        workers=1,
    )
    return out, agent


def test_every_file_and_every_key(run):
    out, _ = run
    metrics, timing = lines(out, "metrics.jsonl"), lines(out, "timing.jsonl")
    assert [row["iteration"] for row in metrics] == list(range(6))
    assert [row["steps"] for row in metrics] == [BATCH * n for n in range(1, 7)]
    needed = {"picked", "return_mean", "episodes", "performance", "entropy", "gain", "kl"}
    needed |= {"value_loss", "theorem_slack"}
    for row in metrics:
        assert needed <= set(row)
        assert len(row["performance"]) == len(row["entropy"]) == 2
        assert "time" not in row  # the wall clock is in a file of its own
    assert [row["picked"] for row in metrics[:2]] == [0, 1]  # unvisited paths first
    assert [row["theorem_slack"] is None for row in metrics[:2]] == [True, True]
    assert all(row["theorem_slack"] >= -1e-6 for row in metrics[2:])
    assert len(timing) == 6
    assert all(row["simulation"] > 0 and row["learning"] > 0 for row in timing)


def test_run_json_says_all_that_is_needed(run):
    out, _ = run
    described = json.loads((out / "run.json").read_text())
    assert (described["seed"], described["steps"], described["envs"]) == (3, 6 * BATCH, ENVS)
    assert (described["env"], described["horizon"]) == ("Ledge", 16)
    assert described["method"]["kind"] == "method"
    assert described["method"]["optimiser"]["kind"] == "trpo"
    assert described["method"]["picking"] == {
        "kind": "weighted",
        "alpha": 0.1,
        "start": "unvisited-first",
        "ties": "least-picked",
        "min_range": 0.0,
    }
    assert mppo.files.settings.from_json(described["method"]) == MULTI
    assert described["method_name"] == "custom"
    given = dict(described["changes"])
    assert (given["paths"], given["network.hidden"], given["optimiser.max-kl"]) == (
        "2", "16", "0.05")  # fmt: skip
    assert {"jax", "numpy", "gymnasium", "mujoco", "mppo", "python"} <= set(described["versions"])


def test_evaluations_come_when_due(run):
    """After 768 = 3 batches (600 is passed), 1280 (1200 is passed) and at the end."""
    out, agent = run
    evaluations = lines(out, "evaluations.jsonl")
    assert [row["steps"] for row in evaluations] == [3 * BATCH, 5 * BATCH, 6 * BATCH]
    for row in evaluations:
        assert len(row["returns"]) == 4
        assert len(row["returns_deterministic"]) == 2
        assert row["mean_return"] == pytest.approx(np.mean(row["returns"]))
        assert row["mean_return_deterministic"] == pytest.approx(
            np.mean(row["returns_deterministic"])
        )
        assert row["path"] in (0, 1)
    assert evaluations[-1]["path"] == agent.path
    assert agent.evaluations == evaluations
    assert agent.metrics == lines(out, "metrics.jsonl")


def test_final_json_is_written_last(run, tmp_path, monkeypatch):
    written = []
    for method in ("write", "append", "save"):
        original = getattr(RunDirectory, method)

        def spy(self, name, *rest, original=original, **kwargs):
            written.append(str(name))
            return original(self, name, *rest, **kwargs)

        monkeypatch.setattr(RunDirectory, method, spy)
    mppo.train(TRPO, ledge, steps=2 * BATCH, out=tmp_path / "run", eval_every=0)
    assert written[0] == "run.json"
    assert written[-1] == "final.json"
    assert written.count("final.json") == 1
    final = json.loads((run[0] / "final.json").read_text())
    assert (final["iterations"], final["steps"]) == (6, 6 * BATCH)
    assert final["evaluation"]["steps"] == 6 * BATCH


def test_the_same_seed_writes_the_same_bytes_with_and_without_evaluation(run, tmp_path):
    """Evaluation has streams and environments of its own, and workers do not show."""
    out, _ = run
    mppo.train(MULTI, ledge, steps=6 * BATCH, seed=3, out=tmp_path / "two", eval_every=0, workers=2)
    assert (tmp_path / "two" / "metrics.jsonl").read_bytes() == (out / "metrics.jsonl").read_bytes()
    assert (tmp_path / "two" / "evaluations.jsonl").read_bytes() == b""
    mppo.train(MULTI, ledge, steps=2 * BATCH, seed=4, out=tmp_path / "three", eval_every=0)
    ours = lines(out, "metrics.jsonl")[:2]
    assert lines(tmp_path / "three", "metrics.jsonl") != ours


def test_a_longer_run_begins_like_a_shorter_one(run, tmp_path):
    out, _ = run
    mppo.train(MULTI, ledge, steps=2 * BATCH, seed=3, out=tmp_path / "short", eval_every=0)
    assert lines(tmp_path / "short", "metrics.jsonl") == lines(out, "metrics.jsonl")[:2]


def test_steps_are_a_lower_bound():
    agent = mppo.train(TRPO, ledge, steps=BATCH + 1, eval_every=0)
    assert [row["steps"] for row in agent.metrics] == [BATCH, 2 * BATCH]


def test_another_run_s_directory_is_refused(run):
    out, _ = run
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    with pytest.raises(BadRequest, match="holds another run"):
        mppo.train(MULTI, ledge, steps=6 * BATCH, seed=4, out=out, eval_every=600)
    for name, content in before.items():
        assert (out / name).read_bytes() == content


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"steps": BATCH - 1}, f"below one batch of {BATCH}"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 2**63}, "seed is 9223372036854775808; give a whole number from 0 to 9223372036"),
        ({"seed": 3.0}, "seed is 3.0; give a whole number"),
        ({"seed": True}, "seed is True; give a whole number"),
        ({"seed": None}, "seed is None; give a whole number"),
        ({"workers": -2}, "workers is -2"),
        ({"eval_episodes": 0}, "at least one episode"),
        ({"method": "mp-trop"}, 'did you mean "mp-trpo"'),
        ({"env": "CartPol-v1"}, 'did you mean "CartPole-v1"'),
        ({"overrides": {"pats": 2}}, 'did you mean "paths"'),
        ({"overrides": {"envs": 3}}, "cannot be shared by 3"),
    ],
)
def test_bad_requests_say_what_to_change(arguments, message):
    usual = {"method": TRPO, "env": ledge, "steps": BATCH}
    with pytest.raises(BadRequest) as caught:
        mppo.train(**(usual | arguments))
    assert message in str(caught.value)


def test_callback_sees_every_row_and_can_stop():
    seen = []

    def callback(event, row):
        seen.append((event, row["steps"]))
        return not (event == "iteration" and row["steps"] == 2 * BATCH)

    agent = mppo.train(
        TRPO, ledge, steps=9 * BATCH, eval_every=BATCH, eval_episodes=1, callback=callback
    )
    assert seen == [
        ("iteration", BATCH),
        ("evaluation", BATCH),
        ("iteration", 2 * BATCH),
        ("evaluation", 2 * BATCH),
    ]
    assert len(agent.metrics) == len(agent.evaluations) == 2


def test_an_agent_acts_as_it_was_trained():
    agent = mppo.train(TRPO, ByAction, steps=6 * BATCH, eval_every=0)
    actions, state = agent.predict(np.zeros((200, 1), np.float32))
    assert state is None
    assert actions.mean() > 0.7  # action 1 pays
    assert agent.predict(np.zeros(1, np.float32), deterministic=True)[0] == 1


def test_continued_episodes_train():
    method = small("trpo", episodes="continue")
    agent = mppo.train(method, ledge, steps=3 * BATCH, eval_every=0)
    lengths = [float(row["length_mean"]) for row in agent.metrics]
    assert all(1 <= length <= 16 for length in lengths)


ONE = spaces.Box(-1, 1, (1,), np.float32)
WORLDS = {
    # one compiled program serves all of the same flat shape
    "box": (
        spaces.Box(-1, 1, (3,), np.float32),
        spaces.Box(-2, 2, (2,), np.float32),
        Gaussian(2),
    ),
    "multi-discrete": (
        spaces.Discrete(3, start=4),
        spaces.MultiDiscrete([2, 2]),
        Categorical((2, 2)),
    ),
    "multi-binary": (spaces.MultiBinary(3), spaces.MultiBinary(2), Categorical((2, 2))),
    "tuple": (
        spaces.Tuple((ONE, spaces.MultiBinary(2))),
        spaces.Tuple((ONE, spaces.Discrete(2, start=-1))),
        Product((Gaussian(1), Categorical((2,)))),
    ),
    "dict": (
        spaces.Dict({"p": ONE, "q": spaces.Discrete(2)}),
        spaces.Dict({"a": ONE, "b": spaces.Discrete(2)}),
        Product((Gaussian(1), Categorical((2,)))),
    ),
    "discrete": (ONE, spaces.Discrete(2, start=5), Categorical((2,))),
}


@pytest.mark.parametrize("kind", WORLDS)
def test_environments_of_any_space(kind):
    """Two iterations, and actions of the space for one observation and for several."""
    observation, action, head = WORLDS[kind]
    make = lambda: Anything(copy.deepcopy(observation), action)
    method = small("trpo", **{"network.hidden": (), "critic.network.hidden": ()})
    if kind == "discrete":
        method = TRPO
    agent = mppo.train(method, make, steps=2 * BATCH, eval_every=0)
    assert agent.architecture.head == head
    assert agent.architecture.observation_size == (1 if kind == "discrete" else 3)
    for row in agent.metrics:
        assert np.isfinite([row["kl"], row["gain"], row["value_loss"], row["return_mean"]]).all()
        assert row["episodes"] == BATCH / 8
        assert not row["step_refused"]
    found, _ = agent.predict(observation.sample())
    assert action.contains(found)


def test_images_are_refused():
    camera = spaces.Box(0, 255, (64, 64, 3), np.uint8)
    with pytest.raises(BadRequest) as caught:
        mppo.train(TRPO, lambda: Anything(camera, ONE), steps=BATCH)
    assert '"Anything" shows images (Box(0, 255, (64, 64, 3), uint8))' in str(caught.value)
    assert "ObservationWrapper" in str(caught.value)


class Poisoned(Scripted):
    """NaN after ten steps of an episode."""

    observation_space = ONE
    action_space = spaces.Discrete(2)

    def __init__(self):
        super().__init__([([1.0] * 99, False, True)])

    def _see(self):
        return np.zeros(1, np.float32)

    def step(self, action):
        answer = super().step([action])
        return (answer[0], float("nan"), *answer[2:]) if self.time == 11 else answer


def test_an_environment_s_fault_stops_the_run_and_keeps_what_was_written(tmp_path):
    with pytest.raises(EnvironmentFault) as caught:
        mppo.train(TRPO, Poisoned, steps=2 * BATCH, out=tmp_path / "run", eval_every=0)
    for word in ('"Poisoned"', "reward = nan", "environment 0", "step 11", "last action"):
        assert word in str(caught.value)
    assert (tmp_path / "run" / "run.json").exists()
    assert not (tmp_path / "run" / "final.json").exists()


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_vector_environments_of_one_s_own_give_the_same_run(mode):
    """In any autoreset mode the samples are those of the environments one by one."""
    vector = lambda: SyncVectorEnv([ledge] * ENVS, autoreset_mode=mode)
    found = mppo.train(TRPO, vector, steps=2 * BATCH, seed=2, eval_every=BATCH, eval_episodes=3)
    wanted = mppo.train(TRPO, ledge, steps=2 * BATCH, seed=2, eval_every=BATCH, eval_episodes=3)
    assert json.dumps(plain(found.metrics)) == json.dumps(plain(wanted.metrics))
    assert json.dumps(plain(found.evaluations)) == json.dumps(plain(wanted.evaluations))


class Marked(VectorEnv):
    """Environments side by side, with attributes that environments of ours have, too.

    As Gymnasium has it for vector environments of one's own, `reset` takes one seed for all.
    """

    lanes = 2
    cells = "a table of numbers"
    layout = None
    dynamics = "slow"
    workshop = "closed"

    def __init__(self, mode):
        self.inner = SyncVectorEnv([ledge] * ENVS, autoreset_mode=mode)
        self.num_envs, self.metadata = ENVS, self.inner.metadata
        self.observation_space, self.action_space = (
            self.inner.observation_space,
            self.inner.action_space,
        )
        self.single_observation_space = self.inner.single_observation_space
        self.single_action_space = self.inner.single_action_space

    def reset(self, *, seed=None, options=None):
        assert seed is None or type(seed) is int, seed
        return self.inner.reset(seed=seed, options=options)

    def step(self, actions):
        return self.inner.step(actions)

    def get_state(self, of):
        raise AssertionError("this is no state of ours")

    set_state = get_state


class Unmarked(Marked):
    """The same without them."""

    def __getattribute__(self, name):
        ours = ("lanes", "cells", "layout", "dynamics", "workshop", "get_state", "set_state")
        if name in ours:
            raise AttributeError(name)
        return super().__getattribute__(name)


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
@pytest.mark.parametrize("given", ["callable", "instance"])
def test_names_of_attributes_change_nothing(mode, given, tmp_path):
    """Trained, evaluated, interrupted and resumed, it is the run of any vector environment."""
    settings = {"seed": 2, "eval_every": BATCH, "eval_episodes": 3}
    wanted = mppo.train(TRPO, lambda: Unmarked(mode), steps=3 * BATCH, **settings)
    env = Marked(mode) if given == "instance" else lambda: Marked(mode)
    out = tmp_path / "run"
    with pytest.raises(ZeroDivisionError):
        mppo.train(TRPO, env, steps=3 * BATCH, out=out, callback=lambda *_: 1 / 0, **settings)
    found = mppo.train(TRPO, env, steps=3 * BATCH, out=out, **settings)
    assert json.dumps(plain(found.metrics)) == json.dumps(plain(wanted.metrics))
    assert json.dumps(plain(found.evaluations)) == json.dumps(plain(wanted.evaluations))
    assert not (out / "visits.json").exists()
    model = mppo.MPPO.load(out, env=env)
    assert model.evaluate(3)[0] == pytest.approx(found.evaluations[-1]["mean_return"])


@pytest.mark.parametrize(
    ("there", "wanted", "done", "finished", "again", "steps", "longer"),
    [
        (None, 100, 0, False, False, 100, False),
        (None, 100, 40, False, True, 100, False),  # it has learnt elsewhere
        (100, 100, 0, False, False, 100, False),  # killed before the first checkpoint
        (100, 100, 40, False, False, 100, False),
        (100, 100, 100, False, False, 100, False),  # killed before final.json
        (100, 100, 100, True, False, 100, False),
        (100, 60, 100, True, True, 100, False),
        (100, 60, 40, False, False, 100, False),  # a part of what run.json speaks of
        (100, 150, 100, True, False, 150, True),
        (100, 150, 40, False, False, 150, True),
        (100, 150, 160, True, False, 150, False),  # a whole batch was more than asked
        (100, 100, 40, True, False, 100, False),  # a callback has stopped it
        (100, 100, 40, True, True, 100, True),
        (100, 80, 40, True, True, 80, True),
    ],
)
def test_when_a_run_ends_and_whether_it_is_opened_again(
    there, wanted, done, finished, again, steps, longer
):
    assert plan(there, wanted, done, finished, again) == (steps, longer)
