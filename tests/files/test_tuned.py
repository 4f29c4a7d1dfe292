"""Tuned settings: every entry fits its method, and the file is what its writer writes."""

import gymnasium
import pytest

from mppo import MPPO
from mppo.algorithm.methods import METHODS
from mppo.errors import BadRequest
from mppo.files import tuned
from mppo.files.settings import overridden
from mppo.training.options import Options
from mppo.training.start import tuned_settings, with_presets, with_tuned

EVERYWHERE = [
    "CartPole-v1",
    "Acrobot-v1",
    "Pendulum-v1",
    "MountainCar-v0",
    "MountainCarContinuous-v0",
    "LunarLander-v3",
    "BipedalWalker-v3",
    "InvertedPendulum-v5",
    "InvertedDoublePendulum-v5",
    "Reacher-v5",
    "Swimmer-v5",
    "Hopper-v5",
    "HalfCheetah-v5",
    "Walker2d-v5",
    "Ant-v5",
    "MiniGrid-DoorKey-5x5-v0",
]
EXPLORED = {"MountainCarContinuous-v0", "MountainCar-v0", "MiniGrid-DoorKey-5x5-v0"}


def test_the_tasks_that_there_are():
    found = [(one.method, one.id) for one in tuned.entries()]
    assert len(found) == len(set(found)) == 2 * 17 + 3
    for method in ("ppo", "trpo"):
        ids = {env for name, env in found if name == method}
        assert ids == {*EVERYWHERE, "LunarLander-v3 continuous=True"}
    assert {env for name, env in found if name == "sp-trpo"} == EXPLORED


@pytest.mark.parametrize("one", tuned.entries(), ids=lambda one: f"{one.method} {one.id}")
def test_every_entry_is_a_method_with_a_source(one):
    method = overridden(METHODS[one.method], tuned.below(one, {}))
    assert method.batch_size <= one.steps
    assert one.source
    assert len(one.returns) == len(one.deterministic)
    assert bool(one.returns) == bool(one.measured) == (one.seconds > 0)
    if ":" not in one.env:
        assert one.env in gymnasium.registry


def test_the_file_is_what_its_writer_writes():
    assert tuned.written(tuned.entries()) == tuned.FILE.read_text()


def test_returns_can_be_written_and_read(tmp_path):
    measured = {"returns": (1.5, 2.0), "deterministic": (3.0, 4.0), "seconds": 7.0}
    some = tuned.entries()[0]._replace(**measured, measured='mppo "x"')
    other = tuned.find("ppo", "minigrid:MiniGrid-DoorKey-5x5-v0")
    (tmp_path / "a.toml").write_text(tuned.written([some, other]))
    assert tuned.read(tmp_path / "a.toml") == [some, other]


def test_published_numbers_are_translated():
    """16 environments of 256 steps are a batch of 4,096; the minibatch is what they call batch."""
    settings = tuned.find("ppo", "Acrobot-v1").settings
    names = ("batch_size", "envs", "optimiser.minibatch", "optimiser.learning_rate")
    assert [settings[name] for name in names] == [4096, 16, 64, 0.0003]
    assert tuned.find("trpo", "HalfCheetah-v5").settings["optimiser.max_kl"] == 0.04


def test_arguments_of_the_environment_choose_the_entry():
    plain = tuned.find("trpo", "LunarLander-v3", {"gravity": -5.0})
    continuous = tuned.find("trpo", "LunarLander-v3", {"gravity": -5.0, "continuous": True})
    assert (plain.steps, plain.env_kwargs) == (200_000, {})
    assert (continuous.steps, continuous.env_kwargs) == (200_000, {"continuous": True})
    assert continuous.command == "mppo train trpo LunarLander-v3 --tuned --env.continuous True"


@pytest.mark.parametrize(
    ("method", "env", "said"),
    [
        ("mp-ppo", "CartPole-v1", 'of "mp-ppo" for "CartPole-v1"; there are some of ppo, trpo'),
        ("ppo", "CartPol-v1", 'did you mean "CartPole-v1"? There are some for Acrobot-v1'),
        ("pp", "CartPole-v1", 'unknown method "pp"; did you mean "ppo"?'),
        ("ppo", lambda: None, "tuned settings are known by Gymnasium ids"),
    ],
)
def test_what_is_not_known_is_said_with_what_is(method, env, said):
    with pytest.raises(BadRequest, match=said.replace("?", r"\?")):
        tuned.find(method, env)


def test_what_a_user_gives_stands_above():
    entry = tuned.find("ppo", "Acrobot-v1")
    some = tuned.below(entry, {"critic": {"epochs": 3}, "gamma": 0.5})
    assert (some["critic.epochs"], some["critic.minibatch"], some["gamma"]) == (3, 64, 0.5)
    swapped = tuned.below(entry, {"optimiser": "trpo"})
    assert not any(name.startswith("optimiser.") for name in swapped)
    assert overridden(METHODS["ppo"], swapped).batch_size == 4096


def test_python_takes_them():
    model = MPPO("CartPole-v1", "ppo", tuned=True, gae_lambda=0.5, eval_every=0)
    method, entry = model.method, tuned.find("ppo", "CartPole-v1").settings
    assert (method.batch_size, method.gamma) == (entry["batch_size"], entry["gamma"])
    assert method.gae_lambda == 0.5 != entry["gae_lambda"]
    model.close()
    known = tuned_settings("ppo", "CartPole-v1", None)
    assert with_tuned(known, Options()).steps == 100_000
    assert with_tuned(known, Options(steps=300)).steps == 300
    with pytest.raises(BadRequest, match="give method as one"):
        tuned_settings(overridden(METHODS["ppo"], {"gamma": 0.5}), "CartPole-v1", None)


def with_fast(method, given):
    return with_presets(method, given, Options(), fast=True)[0]


def test_a_cheaper_update_stands_above_tuned_settings_and_below_what_is_given():
    model = MPPO("Walker2d-v5", "trpo", tuned=True, fast=True, optimiser__cg_iterations=7)
    optimiser, known = model.method.optimiser, tuned.find("trpo", "Walker2d-v5").settings
    assert (optimiser.fisher_stride, optimiser.cg_iterations) == (5, 7)
    assert model.method.batch_size == known["batch_size"]
    assert (model.method.critic.epochs, known["critic.epochs"]) == (12, 20)  # three of five passes
    model.close()
    given = with_fast("trpo", {"optimiser": {"damping": 0.3}})
    trpo = overridden(METHODS["trpo"], given).optimiser
    assert (trpo.fisher_stride, trpo.cg_iterations, trpo.damping) == (5, 10, 0.3)
    assert with_fast("ppo", {"optimiser": "trpo"})["optimiser.fisher_stride"] == 5


def test_a_method_without_trpo_has_no_cheaper_update():
    with pytest.raises(BadRequest, match=r'of the optimiser "trpo", .* is "ppo"; leave out fast'):
        with_fast("ppo", {})
    with pytest.raises(BadRequest, match="leave out fast"):
        with_fast(METHODS["trpo"], {"optimiser": "ppo"})


def test_every_number_belongs_to_an_entry_and_has_a_source():
    found = [other for one in tuned.entries() for other in tuned.published(one)]
    assert sorted(found, key=str) == sorted(tuned.all_published(), key=str)
    assert len(found) == len(set(map(str, found))) == 44
    for one in found:
        assert "commit" in one.source
        assert one.seeds >= 1
        assert one.deviation >= 0
    assert {one.peer for one in found} == {"RL Baselines3 Zoo", "sb3-contrib", "CleanRL"}


@pytest.mark.parametrize("one", tuned.entries(), ids=lambda one: f"{one.method} {one.id}")
def test_no_budget_is_above_the_published_one(one):
    """A task may be published with several budgets; ours is at most the longest of a peer's."""
    steps = [other.steps for other in tuned.published(one)]
    assert not steps or one.steps <= max(steps)
    zoo = [s.steps for s in tuned.published(one) if s.peer == "RL Baselines3 Zoo"]
    assert not zoo or one.steps <= min(zoo)


@pytest.mark.parametrize(
    ("ours", "steps", "said"),
    [
        (-171.0, 100_000, "level"),
        (-150.0, 100_000, "above by 22.22"),
        (-180.0, 100_000, "below by 7.775"),
        (-150.0, 200_000, "above by 22.22 with more steps"),
    ],
)
def test_the_verdict_names_the_gap(ours, steps, said):
    entry = tuned.find("ppo", "Pendulum-v1")._replace(steps=steps, deterministic=(ours, ours))
    zoo, other = tuned.published(entry)
    assert zoo.verdict(entry) == said
    assert other.actions == "sampled"
    assert zoo.verdict(entry._replace(deterministic=())) == "-"
