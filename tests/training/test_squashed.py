"""Actions through tanh into their bounds: in training, evaluation, predict and export."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit

import mppo
from mppo.acting import kernel
from mppo.errors import BadRequest
from mppo.export.described import as_safetensors, described
from mppo.machine.seeding import Role
from tests.worlds import small


class Bounded(gymnasium.Env):
    """Pays the first action; fails on any that is out of its bounds."""

    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Box(np.array([0.5, -3], np.float32), np.array([2, -1], np.float32))

    def __init__(self):
        self.seen = []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.np_random.uniform(-1, 1, 2).astype(np.float32), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        self.seen.append(action)
        return (
            self.np_random.uniform(-1, 1, 2).astype(np.float32),
            float(action[0]),
            False,
            False,
            {},
        )


def bounded():
    return TimeLimit(Bounded(), 16)


@pytest.fixture(scope="module", params=["ppo", "trpo"])
def agent(request):
    method = small(request.param, actions="squashed")
    made = mppo.MPPO(bounded, method, seed=1, eval_every=256, eval_episodes=2, workers=1)
    yield made.learn(8 * 256)
    made.close()


def test_actions_stay_in_their_bounds_and_are_learnt(agent):
    first, last = agent.metrics[0]["return_mean"], agent.metrics[-1]["return_mean"]
    assert 16 * 1.0 < first < 16 * 1.5  # the middle is 1.25
    assert last > first + 1.0
    observations = np.random.default_rng(0).uniform(-5, 5, (1000, 2)).astype(np.float32)
    for deterministic in (True, False):
        actions, _ = agent.predict(observations, deterministic=deterministic)
        assert (actions >= [0.5, -3]).all()
        assert (actions <= [2, -1]).all()
        assert actions.dtype == np.float32
    assert len(np.unique(actions[:, 0])) > 500


def test_the_log_holds_finite_entropies_below_that_of_uniform_actions(agent):
    entropies = [row["entropy"][0] for row in agent.metrics]
    assert np.isfinite(entropies).all()
    assert max(entropies) < 2 * np.log(2)


def test_saved_and_exported_it_acts_alike(agent, tmp_path):
    ort = pytest.importorskip("onnxruntime")
    from mppo.export.graph import as_onnx

    observations = np.random.default_rng(1).uniform(-3, 3, (64, 2)).astype(np.float32)
    expected = agent.predict(observations, deterministic=True)[0]
    again = mppo.MPPO.load(agent.save(tmp_path / "model"), bounded)
    np.testing.assert_array_equal(again.predict(observations, deterministic=True)[0], expected)
    policy = described(agent.agent)
    session = ort.InferenceSession(as_onnx(policy, {}))
    found = dict(
        zip(
            [o.name for o in session.get_outputs()],
            session.run(None, {"observation": observations}),
            strict=True,
        )
    )
    np.testing.assert_allclose(found["action"], expected, atol=1e-5)
    from examples.numpy_policy import act, load

    (tmp_path / "p.safetensors").write_bytes(as_safetensors(policy, {}))
    (plain,) = act(*load(tmp_path / "p.safetensors"), observations)
    np.testing.assert_allclose(plain, expected, atol=1e-5)


def test_unbounded_actions_and_choices_are_refused():
    for env in ("CartPole-v1", lambda: TimeLimit(Free(), 5)):
        with pytest.raises(BadRequest, match="needs continuous actions with finite bounds"):
            mppo.MPPO(env, "ppo", actions="squashed", eval_every=0)


class Free(Bounded):
    action_space = spaces.Box(-np.inf, np.inf, (1,), np.float32)


def test_lanes_and_whole_steps_give_the_same_bits(agent, monkeypatch):
    """Each environment by itself, or all of them stepped as one."""
    found = []
    for lanes in (True, False):
        if not lanes:
            for room in ("collector", "evaluator"):
                monkeypatch.setattr(f"mppo.rollouts.{room}.lanes_for", lambda *given: ())
        made = mppo.MPPO(bounded, agent.method, seed=1, eval_every=256, eval_episodes=2, workers=1)
        made.learn(512)
        assert bool(made.run.collector._all_lanes) is lanes
        found.append((made.run.digest(), made.evaluations))
        made.close()
    assert found[0] == found[1]


def test_compiled_robots_take_squashed_actions():
    """Humanoid's bounds are 0.4; the same steps once more, one at a time, in Gymnasium's own."""
    method = small("trpo", actions="squashed", batch_size=64, envs=2)
    made = mppo.MPPO("Humanoid-v5", method, seed=1, eval_every=0, workers=1).learn(64)
    lanes, rows = made.run.collector._lanes, made.run.trajectories
    assert len(lanes) == 2
    assert np.abs(rows.actions).max() > 1  # before tanh
    own = gymnasium.make("Humanoid-v5").unwrapped
    for e, lane in enumerate(lanes):
        lane.begin(1, Role.ENVIRONMENT, 0, e)
        own.reset(seed=0)
        own.set_state(lane.data.qpos, lane.data.qvel)
        for t in range(20):
            given = made.run.task.spaces.to_env_one(rows.actions[e, t], False)
            np.testing.assert_allclose(given, 0.4 * np.tanh(rows.actions[e, t]), rtol=1e-5)
            _, reward, terminated, _, _ = own.step(given)
            assert np.float32(reward) == np.float32(rows.rewards[e, t])
            if terminated:
                break
    made.close()


def test_by_hand_and_with_what_is_not_a_number():
    values = np.array([[0.0, np.log(3.0)], [-50.0, 50.0], [np.nan, -0.5 * np.log(3.0)]])
    kernel.squash_rows(values, np.array([0.5, -3.0]), np.array([2.0, -1.0]))
    # tanh(log 3) = 0.8, tanh(log(3) / 2) = 1 / 2
    np.testing.assert_allclose(values, [[1.25, -1.2], [0.5, -1.0], [np.nan, -2.5]], rtol=1e-15)
    assert values[1].tolist() == [0.5, -1.0]  # ends are reached and never passed
