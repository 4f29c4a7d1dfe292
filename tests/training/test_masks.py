"""Masks: no forbidden choice in training, evaluation, predict and export; 10,000 cases of each."""

from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit

import mppo
from mppo.acting.actor import Actor
from mppo.acting.spaces import Spaces
from mppo.algorithm.heads import Categorical
from mppo.algorithm.policies import FORBIDDEN, Architecture
from mppo.errors import BadRequest, EnvironmentFault
from mppo.export.described import as_safetensors, described
from mppo.machine.lazy import jax, jnp
from tests.worlds import small

SIZES = (3, 4)
STEPS = 10_240


class Forbidding(gymnasium.Env):
    """Random masks; a choice that was forbidden ends everything. The lowest allowed ones pay."""

    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.MultiDiscrete(SIZES)
    tells = "method"
    taken = 0

    def action_masks(self):
        return self.mask

    def _look(self):
        parts = []
        for size in SIZES:
            part = self.np_random.random(size) < 0.5
            part[self.np_random.integers(size)] = True
            parts.append(part)
        self.mask = np.concatenate(parts)
        return self.np_random.uniform(-1, 1, 2).astype(np.float32), {}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self._look()

    def step(self, action):
        type(self).taken += 1
        first, second = (int(a) for a in action)
        assert self.mask[first], (action, self.mask)
        assert self.mask[3 + second], (action, self.mask)
        observation, info = self._look()
        return observation, float(first == 2) + float(second == 3), False, False, info


class ByInfo(Forbidding):
    """The mask stands in info; one choice."""

    action_space = spaces.Discrete(5, start=7)
    action_masks = property()

    def has_wrapper_attr(self, name):
        return name != "action_masks" and super().has_wrapper_attr(name)

    def _look(self):
        self.mask = self.np_random.random(5) < 0.4
        self.mask[self.np_random.integers(5)] = True
        seen = self.np_random.uniform(-1, 1, 2).astype(np.float32)
        return seen, {"action_mask": self.mask.astype(np.int8)}

    def step(self, action):
        assert self.mask[int(action) - 7], (action, self.mask)
        observation, info = self._look()
        return observation, float(action == 11), False, False, info


class Seen(gymnasium.Env):
    """The mask is observed already."""

    observation_space = spaces.Dict(
        {"x": spaces.Box(-1, 1, (1,), np.float32), "action_mask": spaces.MultiBinary(2)}
    )
    action_space = spaces.Discrete(2)

    def _look(self):
        self.allowed = int(self.np_random.integers(2))
        mask = np.zeros(2, np.int8)
        mask[self.allowed] = 1
        return {"x": np.zeros(1, np.float32), "action_mask": mask}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self._look(), {}

    def step(self, action):
        assert action == self.allowed
        return self._look(), 1.0, False, False, {}


class Plain(Seen):
    """Nothing is said of masks."""

    observation_space = spaces.Box(-1, 1, (1,), np.float32)

    def _look(self):
        return np.zeros(1, np.float32)


def limited(env):
    return lambda: TimeLimit(env(), 64)


@pytest.fixture(scope="module", params=["ppo", "trpo"])
def agent(request):
    method = small(request.param, action_masks=True, batch_size=1024)
    made = mppo.MPPO(limited(Forbidding), method, seed=1, eval_every=0, workers=1)
    yield made.learn(STEPS)
    made.close()


def random_masks(rng, count):
    parts = []
    for size in SIZES:
        part = rng.random((count, size)) < 0.4
        part[np.arange(count), rng.integers(size, size=count)] = True
        parts.append(part)
    return np.concatenate(parts, 1)


def all_allowed(masks, actions):
    rows = np.arange(len(masks))
    return masks[rows, actions[:, 0]].all() and masks[rows, 3 + actions[:, 1]].all()


def test_no_forbidden_choice_in_training_and_it_learns(agent):
    assert len(agent.metrics) == STEPS // 1024
    assert agent.metrics[-1]["return_mean"] > agent.metrics[0]["return_mean"] + 2


def test_none_in_evaluation(agent):
    before = Forbidding.taken
    for deterministic in (True, False):
        agent.evaluate(episodes=80, deterministic=deterministic)
    assert Forbidding.taken - before >= 10_000


@pytest.mark.parametrize("deterministic", [True, False])
def test_none_in_predict(agent, deterministic):
    rng = np.random.default_rng(0)
    seen, masks = rng.uniform(-1, 1, (10_000, 2)).astype(np.float32), random_masks(rng, 10_000)
    actions, _ = agent.predict(seen, deterministic=deterministic, action_masks=masks)
    assert all_allowed(masks, actions)
    one, _ = agent.predict(seen[0], deterministic=True, action_masks=masks[0])
    assert one.shape == (2,)


def test_none_in_exports(agent, tmp_path):
    ort = pytest.importorskip("onnxruntime")
    from examples.numpy_policy import act, load
    from mppo.export.graph import as_onnx

    rng = np.random.default_rng(1)
    seen, masks = rng.uniform(-1, 1, (10_000, 2)).astype(np.float32), random_masks(rng, 10_000)
    expected, _ = agent.predict(seen, deterministic=True, action_masks=masks)
    flat = np.concatenate([masks, seen], 1).astype(np.float32)  # keys are sorted
    policy = described(agent.agent)
    session = ort.InferenceSession(as_onnx(policy, {}))
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, session.run(None, {"observation": flat}), strict=True))
    assert all_allowed(masks, found["action"])
    assert (found["action"] == expected).mean() > 0.999  # rounding may decide between equals
    assert (np.exp(found["log_probabilities"])[~masks] == 0).all()
    (tmp_path / "p.safetensors").write_bytes(as_safetensors(policy, {}))
    assert all_allowed(masks, act(*load(tmp_path / "p.safetensors"), flat)[0])


def test_none_however_wild_the_network_is(agent):
    """Scores of 1e12 and more, as of a run that went astray: the mask still decides."""
    ort = pytest.importorskip("onnxruntime")
    from mppo.export.graph import as_onnx

    rng = np.random.default_rng(2)
    seen, masks = rng.uniform(-1, 1, (10_000, 2)).astype(np.float32), random_masks(rng, 10_000)
    flat = np.concatenate([masks, seen], 1).astype(np.float32)
    policy = described(agent.agent)
    last = policy.layers[-1]
    wild = replace(policy, layers=(*policy.layers[:-1], (last[0] * 1e12, last[1] - 1e13)))
    session = ort.InferenceSession(as_onnx(wild, {}))
    assert all_allowed(masks, session.run(["action"], {"observation": flat})[0])
    shape = agent.run.architecture
    actor = Actor(shape, shape.init(jax.random.key(0), 1e12))
    noise = actor.noise(rng, 2_000)
    taken = [actor.act(flat[n], noise[n] if n % 2 else None) for n in range(2_000)]
    assert all_allowed(masks[:2_000], np.array(taken).astype(int))


def test_a_saved_model_goes_on_with_masks(agent, tmp_path):
    again = mppo.MPPO.load(agent.save(tmp_path / "model"), limited(Forbidding))
    assert again.run.digest() == agent.run.digest()
    again.learn(1024)
    again.close()


@pytest.mark.parametrize("env", [ByInfo, Seen])
def test_masks_of_info_and_of_observations(env):
    method = small("ppo", action_masks=True)
    made = mppo.MPPO(limited(env), method, seed=0, eval_every=512, eval_episodes=2, workers=1)
    made.learn(512)
    assert made.evaluations[-1]["mean_return"] is not None
    made.close()


def test_a_mask_becomes_logits_that_are_never_taken():
    head, rng = Categorical((3,)), np.random.default_rng(0)
    shape = Architecture(4, head, mask=(0, 3))
    policy = shape.init(jax.random.key(0), 5.0)
    observation = jnp.array([1.0, 0.0, 1.0, 0.3])
    stats = shape.statistics(policy, observation)
    assert float(stats[1]) == FORBIDDEN
    assert float(jnp.exp(head.log_prob(stats, jnp.array([1.0])))) == 0
    assert np.isfinite(float(head.entropy(stats)))
    other = shape.statistics(shape.init(jax.random.key(1), 5.0), observation)
    p, q = (np.exp(np.asarray(s)[[0, 2]]) for s in (stats, other))
    p, q = p / p.sum(), q / q.sum()
    assert float(head.kl(stats, other)) == pytest.approx(np.sum(p * np.log(p / q)), rel=1e-4)
    assert float(head.entropy(stats)) == pytest.approx(-np.sum(p * np.log(p)), rel=1e-4)
    actor = Actor(shape, policy)
    with pytest.raises(EnvironmentFault, match="a mask forbids all options"):
        actor.act(np.array([0, 0, 0, 1], np.float32), None)
    assert actor.act(np.array([0, 1, 0, 1], np.float32), actor.noise(rng, 1)[0]).tolist() == [1]


def test_without_masks_nothing_is_seen_of_them():
    made = mppo.MPPO(limited(Forbidding), small("ppo"), eval_every=0)
    assert made.run.architecture.mask == ()
    assert made.run.architecture.observation_size == 2
    with pytest.raises(BadRequest, match="trained without masks"):
        made.predict(np.zeros(2, np.float32), action_masks=np.ones(7))
    made.close()


def test_what_has_no_masks_is_refused(agent):
    for env, said in (
        (limited(Plain), "says nowhere which of its 2 choices are allowed"),
        ("mppo/Maze-v0", "says nowhere which of its 4 choices are allowed"),
        ("Pendulum-v1", "masks are for choices"),
    ):
        with pytest.raises(BadRequest, match=said):
            mppo.MPPO(env, small("ppo"), action_masks=True, eval_every=0).learn(256)
    with pytest.raises(BadRequest, match="say what is allowed"):
        agent.predict(np.zeros(2, np.float32))


def test_spaces_know_the_columns_of_the_mask():
    seen = spaces.Dict({"a": spaces.Discrete(3), "action_mask": spaces.MultiBinary(2)})
    assert Spaces(seen, spaces.Discrete(2), masked=True).mask == (3, 5)
    with pytest.raises(BadRequest, match="says nowhere which of its 3 choices"):
        _ = Spaces(seen, spaces.Discrete(3), masked=True).mask


def few():
    """For workers, which import it."""
    return TimeLimit(Forbidding(), 32)


def test_workers_see_masks_and_the_bits_are_the_same():
    method = small("ppo", action_masks=True, batch_size=128, envs=2)
    found = []
    for workers in (1, 2):
        agent = mppo.MPPO(few, method, eval_every=128, eval_episodes=2, workers=workers)
        agent.learn(256)
        found.append((agent.run.digest(), agent.evaluations, agent.run.steppers))
        agent.close()
    assert found[0][:2] == found[1][:2]
    assert [one[2] for one in found] == [(1, "process"), (2, "process")]


@pytest.mark.parametrize("env", [Forbidding, Seen])
def test_lanes_and_whole_steps_give_the_same_bits(env, monkeypatch):
    """Each environment by itself, or all of them stepped as one."""
    method, found = small("ppo", action_masks=True), []
    for lanes in (True, False):
        if not lanes:
            for room in ("collector", "evaluator"):
                monkeypatch.setattr(f"mppo.rollouts.{room}.lanes_for", lambda *given: ())
        made = mppo.MPPO(limited(env), method, seed=0, eval_every=256, workers=1)
        made.learn(512)
        assert bool(made.run.collector._all_lanes) is lanes
        found.append((made.run.digest(), made.evaluations))
        made.close()
    assert found[0] == found[1]


class Stuck(Forbidding):
    """Allows nothing in its third step."""

    def reset(self, **kwargs):
        self.time = 0
        return super().reset(**kwargs)

    def step(self, action):
        self.time += 1
        return super().step(action)

    def action_masks(self):
        masks = super().action_masks()
        return np.zeros_like(masks) if self.time == 3 else masks


def test_a_mask_that_allows_nothing_stops_the_run():
    made = mppo.MPPO(limited(Stuck), small("ppo", action_masks=True), eval_every=0, workers=1)
    with pytest.raises(EnvironmentFault, match="a mask forbids all options of a choice"):
        made.learn(256)
    made.close()
