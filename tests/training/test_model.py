"""The object: what is learnt in parts, saved, loaded and taken up again is the same."""

import json
import signal
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import TimeLimit

import mppo
from mppo.algorithm.picking import Best
from mppo.callbacks import BestModel, StopOnReturn
from mppo.errors import BadRequest, CheckpointError, LearningFault
from mppo.files import model_file, reader
from mppo.files.run_directory import plain
from mppo.files.settings import overridden
from tests.worlds import ENVS, SMALL, STEPS, ByAction, Ledge, Poison, ledge, small

BATCH = ENVS * STEPS
MAZE = overridden(  # as in test_resume, which compiles the same
    mppo.METHODS["mp-trpo"],
    {"batch_size": 200, "network.hidden": (4,), "critic.network.hidden": (4,)},
)
GRID = np.linspace(-1, 1, 9, dtype=np.float32)[:, None]


def model(env=ledge, method=SMALL["mp-trpo"], **settings):
    usual = {"seed": 3, "eval_every": 0, "workers": 1}
    return mppo.MPPO(env, method, **(usual | settings))


@pytest.fixture(scope="module")
def whole():
    """Four iterations in one call."""
    return model().learn(4 * BATCH)


def test_learn_returns_itself_and_counts_steps(whole):
    assert isinstance(whole, mppo.MPPO)
    assert whole.num_timesteps == 4 * BATCH
    assert [row["steps"] for row in whole.metrics] == [BATCH * n for n in range(1, 5)]
    assert repr(whole) == f"MPPO('Ledge', 'custom', seed=3) after {4 * BATCH:,} steps"


def test_a_step_that_is_not_finite_leaves_the_model_as_it_was(tmp_path):
    """Without a run directory, what is in memory is all there is."""
    agent = model(method=replace(SMALL["ppo"], optimiser=Poison()))
    before, digest = agent.predict(GRID, deterministic=True)[0], agent.run.digest()
    with pytest.raises(LearningFault, match="path 0 not finite; the state before it was kept"):
        agent.learn(BATCH)
    assert (agent.run.digest(), agent.num_timesteps) == (digest, 0)
    np.testing.assert_array_equal(agent.predict(GRID, deterministic=True)[0], before)
    again = mppo.MPPO.load(agent.save(tmp_path / "kept"), ledge, allow_imports=True)
    assert again.run.digest() == digest
    with pytest.raises(LearningFault, match="iteration 0 "):  # the same again: nothing has moved
        agent.learn(BATCH)
    agent.close()


def test_two_calls_are_one_longer_call(whole):
    parts = model().learn(BATCH).learn(3 * BATCH, reset_num_timesteps=False)
    assert parts.run.digest() == whole.run.digest()
    assert plain(parts.metrics) == plain(whole.metrics)


def test_it_is_the_same_as_train(whole):
    agent = mppo.train(SMALL["mp-trpo"], ledge, steps=4 * BATCH, seed=3, eval_every=0, workers=1)
    assert plain(agent.metrics) == plain(whole.metrics)
    np.testing.assert_array_equal(
        whole.predict(GRID, deterministic=True)[0], agent.predict(GRID, deterministic=True)[0]
    )


def test_steps_are_a_lower_bound_and_further_calls_add_to_what_was_done():
    agent = model().learn(1)
    assert agent.num_timesteps == BATCH
    assert agent.learn(BATCH + 1).num_timesteps == 3 * BATCH


@pytest.mark.parametrize("env", ["mppo/Maze-v0", ledge], ids=["native", "other"])
def test_continued_episodes_go_on_in_the_next_call(env):
    """Native environments go on bit for bit; others start anew after every call, and say so."""
    native, method = env is not ledge, small("trpo", episodes="continue")
    if native:
        method = overridden(MAZE, {"episodes": "continue"})
    batch = method.batch_size
    whole = model(env, method).learn(3 * batch)
    parts = model(env, method).learn(batch).learn(2 * batch)
    assert (parts.run.digest() == whole.run.digest()) is native
    assert parts.run.resumes_bitwise is native


def test_saved_and_loaded_it_predicts_and_goes_on_alike(whole, tmp_path):
    file = whole.save(tmp_path / "models" / "ledge")
    assert file == tmp_path / "models" / "ledge.safetensors"
    assert [entry.name for entry in file.parent.iterdir()] == ["ledge.safetensors"]
    for path in (file, tmp_path / "models" / "ledge"):
        loaded = mppo.MPPO.load(path, ledge)
        assert loaded.num_timesteps == whole.num_timesteps
        for deterministic in (True, False):
            fresh = whole.run.agent()  # its stream of samples starts anew, as a loaded one's does
            np.testing.assert_array_equal(
                loaded.predict(GRID, deterministic=deterministic)[0],
                fresh.predict(GRID, deterministic=deterministic)[0],
            )
    longer = model().learn(5 * BATCH)
    assert loaded.learn(BATCH).run.digest() == longer.run.digest()
    assert whole.save(tmp_path / "again").read_bytes() == file.read_bytes()


def test_large_seeds_keep_every_digit(tmp_path):
    for seed in (2**53 + 1, 2**63 - 1, np.int64(2**63 - 1)):
        file = model(seed=seed).save(tmp_path / "model")
        loaded = mppo.MPPO.load(file, env=ledge)
        assert loaded.seed == seed
        assert type(loaded.seed) is int


def test_a_run_directory_is_written_extended_and_taken_up(whole, tmp_path):
    out = tmp_path / "run"
    parts = model(out=out).learn(BATCH)
    assert json.loads((out / "final.json").read_text())["steps"] == BATCH
    parts.learn(3 * BATCH)
    assert parts.run.digest() == whole.run.digest()
    described = reader.description(out)  # verifies the hash of run.json
    assert (described["steps"], "sha256" in described) == (4 * BATCH, True)
    final = json.loads((out / "final.json").read_text())
    assert (final["steps"], final["state_sha256"]) == (4 * BATCH, whole.run.digest())

    again = model(out=out).learn(BATCH)  # the same script once more: nothing is left to do
    assert again.num_timesteps == 4 * BATCH
    assert again.learn(3 * BATCH).num_timesteps == 4 * BATCH
    assert again.learn(BATCH).num_timesteps == 5 * BATCH
    assert [row["iteration"] for row in again.metrics] == list(range(5))

    read = mppo.MPPO.load(out, ledge)
    assert (read.num_timesteps, len(read.metrics)) == (5 * BATCH, 5)
    np.testing.assert_array_equal(
        read.predict(GRID, deterministic=True)[0], again.predict(GRID, deterministic=True)[0]
    )


def test_a_killed_session_is_taken_up_by_the_same_calls(whole, tmp_path):
    """Checkpoint after every iteration; the third one breaks off."""

    class Killed(Exception):
        pass

    def die(event, row):
        if row["steps"] == 3 * BATCH:
            raise Killed("as if by a power cut")

    out = tmp_path / "run"
    first = model(out=out, checkpoint_every=1)
    first.learn(BATCH)
    with pytest.raises(Killed):
        first.learn(3 * BATCH, callback=die)
    assert not (out / "final.json").exists()
    events = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    assert events[-1]["event"] == "callback failed"
    assert events[-1]["message"] == "Killed: as if by a power cut"
    second = model(out=out, checkpoint_every=1).learn(BATCH).learn(3 * BATCH)
    assert second.run.digest() == whole.run.digest()
    assert [row["iteration"] for row in second.metrics] == list(range(4))


def test_after_a_callback_raised_learning_can_go_on(whole):
    def fail(event, row):
        if row["steps"] == 2 * BATCH:
            raise RuntimeError("mine")

    agent = model()
    with pytest.raises(RuntimeError, match="mine"):
        agent.learn(4 * BATCH, callback=fail)
    assert agent.num_timesteps == 2 * BATCH
    assert agent.learn(4 * BATCH).run.digest() == whole.run.digest()


def test_control_c_ends_the_iteration_saves_and_is_raised(whole, tmp_path):
    def press(event, row):
        if row["steps"] == 2 * BATCH:
            signal.raise_signal(signal.SIGINT)

    agent = model(out=tmp_path / "run")
    with pytest.raises(KeyboardInterrupt):
        agent.learn(4 * BATCH, callback=press)
    assert agent.num_timesteps == 2 * BATCH
    assert agent.learn(2 * BATCH).run.digest() == whole.run.digest()
    assert model(out=tmp_path / "run").learn(4 * BATCH).num_timesteps == 4 * BATCH


def test_stopped_by_a_callback_a_further_call_goes_on_from_there(tmp_path):
    agent = model(eval_every=BATCH, eval_episodes=1, out=tmp_path / "run")
    agent.learn(4 * BATCH, callback=StopOnReturn(-1000.0))
    assert agent.num_timesteps == BATCH
    assert agent.learn(2 * BATCH).num_timesteps == 3 * BATCH


def test_evaluate_gives_mean_and_standard_deviation(whole):
    mean, std = whole.evaluate(episodes=5)
    assert (mean, std) == whole.evaluate(episodes=5)
    assert whole.evaluate(episodes=5, seed=1) != (mean, std)
    trained = model(eval_every=BATCH, eval_episodes=5, eval_deterministic_episodes=None).learn(
        4 * BATCH
    )
    row = trained.evaluations[-1]
    assert mean == pytest.approx(row["mean_return"], abs=0)
    assert std == pytest.approx(np.std(row["returns"]), abs=0)
    assert whole.evaluate(5, deterministic=True)[0] == row["mean_return_deterministic"]


def test_loops_as_in_cleanrl(whole):
    """A vector environment stepped by hand; both ways of counting agree."""
    envs = SyncVectorEnv([ledge] * 3, autoreset_mode="SameStep")
    seen, _ = envs.reset(seed=1)
    total = np.zeros(3)
    for _ in range(20):
        actions, _ = whole.predict(seen, deterministic=True)
        assert envs.action_space.contains(actions)
        seen, rewards, *_ = envs.step(actions)
        total += rewards
    assert np.isfinite(total).all()
    envs.close()


def test_evaluate_policy_of_stable_baselines3(whole):
    """Unchanged, with the same returns as the loop by hand."""
    evaluation = pytest.importorskip("stable_baselines3.common.evaluation")
    env = ledge()
    returns, lengths = evaluation.evaluate_policy(
        whole, env, n_eval_episodes=5, return_episode_rewards=True, warn=False
    )
    by_hand = []
    for _ in range(5):
        env, total, over = ledge(), 0.0, False
        seen, _ = env.reset()
        while not over:
            action, _ = whole.predict(seen, deterministic=True)
            seen, reward, terminated, truncated, _ = env.step(action)
            total, over = total + reward, terminated or truncated
        by_hand.append(total)
    assert len(lengths) == 5
    np.testing.assert_allclose(returns, by_hand, atol=1e-6)


def test_parameters_by_name(whole):
    parameters = whole.get_parameters()
    assert all(isinstance(array, np.ndarray) for array in parameters.values())
    name = "state.population.policy.parameters.network[0].weights"
    assert parameters[name].shape == (2, 1, 16)  # K, observations, hidden
    other = model(seed=5)
    other.set_parameters(parameters)
    assert other.num_timesteps == whole.num_timesteps
    np.testing.assert_array_equal(
        other.predict(GRID, deterministic=True)[0], whole.predict(GRID, deterministic=True)[0]
    )
    with pytest.raises(CheckpointError, match="has no array"):
        other.set_parameters({})


def test_environments_can_be_looked_at_and_changed():
    agent = model(seed=1).learn(BATCH)
    assert agent.get_env().num_envs == ENVS
    agent.set_env(lambda: TimeLimit(Ledge(), 4))
    agent.learn(BATCH)
    assert agent.metrics[-1]["length_mean"] <= 4
    with pytest.raises(BadRequest, match=r"CartPole-v1.*made for Box\(-1\.0, 1\.0, \(1,\)"):
        agent.set_env("CartPole-v1")


def test_an_instance_is_used_and_left_open(whole):
    envs = SyncVectorEnv([ledge] * ENVS, autoreset_mode="Disabled")
    agent = model(envs, eval_every=BATCH, eval_episodes=3).learn(4 * BATCH)
    assert plain(agent.metrics) == plain(whole.metrics)  # evaluations in between do not show
    agent.close()
    assert not envs.closed
    envs.close()
    alone = model(ledge(), small("trpo", envs=0)).learn(BATCH)
    assert alone.get_env().num_envs == 1
    with pytest.raises(BadRequest, match="single instance"):
        model(envs, small("trpo", episodes="continue"), eval_every=10)


def test_fields_of_the_method_in_every_spelling():
    agent = model(
        method="mp-trpo", paths=3, picking={"alpha": 0.5}, critic__epochs=2, network__hidden=(4,)
    )
    method = agent.method
    assert (method.paths, method.picking.alpha, method.critic.epochs) == (3, 0.5, 2)
    assert method.network.hidden == (4,)
    changes = {"picking": {"kind": "best", "ties": "first"}}
    assert overridden(mppo.METHODS["mp-trpo"], changes).picking == Best(ties="first")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pats": 3}, 'did you mean "paths"'),
        ({"picking": {"alfa": 0.5}}, 'did you mean "alpha"'),
        ({"n_steps": 2048}, 'takes no "n_steps"; here it is batch_size'),
        ({"device": "cuda"}, "fastest on the CPU"),
        ({"env": "MlpPolicy"}, "give the environment first"),
        ({"env": "Hoper-v5"}, 'did you mean "Hopper-v5"'),
        ({"method": "mp-trop"}, 'did you mean "mp-trpo"'),
        ({"network": 3}, "it must be Mlp"),
        ({"method": "ppo", "target_kl": 0.1}, "here it is optimiser__target_kl"),
        ({"method": "ppo", "max_grad_norm": 1}, "here it is optimiser__max_gradient_norm"),
        ({"n_envs": 4}, "here it is envs (batch_size counts"),
        ({"vf_coef": 0.5}, "there is none: the value network shares nothing"),
        ({"gamma": lambda left: left}, "schedules are not supp"),
        ({"critic__learning_rate": "linear"}, "neither a number nor a schedule; write a number, "),
        ({"critic__learning_rate": "linear:-1"}, "goes below zero"),
        ({"critic__learning_rate": lambda left: left - 0.5}, "goes below zero: it is -0.0625"),
    ],
)
def test_bad_requests_say_what_to_change(arguments, message):
    with pytest.raises(BadRequest) as caught:
        model(**arguments)
    assert message in str(caught.value)


def test_learning_nothing_is_refused(whole):
    with pytest.raises(BadRequest, match="total_timesteps is 0"):
        whole.learn(0)


def test_import_stays_light():
    import subprocess
    import sys

    code = "import sys, mppo; sys.exit('jax' in sys.modules or 'gymnasium' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    assert {"MPPO", "callbacks", "loggers", "functional"} <= set(dir(mppo))


def test_damaged_and_foreign_files_are_refused(whole, tmp_path):
    file = whole.save(tmp_path / "model")
    good = file.read_bytes()
    for damaged in (good[:-4], good[:100], b"", good[:-9] + bytes([good[-9] ^ 1]) + good[-8:]):
        file.write_bytes(damaged)
        with pytest.raises(CheckpointError):
            model_file.read(file)
    file.write_bytes(good.replace(b'\\"format\\": 1', b'\\"format\\": 9', 1))
    with pytest.raises(CheckpointError, match="format 9"):
        model_file.read(file)
    with pytest.raises(BadRequest, match="neither a saved model nor a run directory"):
        mppo.MPPO.load(tmp_path / "nothing")
    with pytest.raises(BadRequest, match=r"no run\.json"):
        mppo.MPPO.load(tmp_path)


def test_a_model_of_a_callable_needs_it_again(whole, tmp_path):
    file = whole.save(tmp_path / "model")
    with pytest.raises(BadRequest, match='given from Python; "Ledge" is only its name'):
        mppo.MPPO.load(file)
    with pytest.raises(CheckpointError, match="this configuration needs"):
        mppo.MPPO.load(file, "CartPole-v1")


def test_a_model_of_another_package_s_code_needs_consent(tmp_path):
    wrappers = [gymnasium.wrappers.Autoreset]
    file = model("mppo/Maze-v0", MAZE, wrappers=wrappers).save(tmp_path / "model")
    with pytest.raises(BadRequest, match="not imported just because a file names it"):
        mppo.MPPO.load(file)
    name = "gymnasium.wrappers.common:Autoreset"
    assert mppo.MPPO.load(file, allow_imports=True).run.task.wrappers == (name,)
    assert mppo.MPPO.load(file, wrappers=wrappers).run.task.wrappers == (name,)


def test_a_policy_that_pays(tmp_path):
    agent = model(ByAction, SMALL["trpo"]).learn(6 * BATCH)
    assert agent.predict(np.zeros(1, np.float32), deterministic=True)[0] == 1
    assert agent.action_space == gymnasium.spaces.Discrete(2)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("learning_rate", "; this optimiser has none: optimiser__max_kl sets the length of its"),
        ("n_envs", "; here it is envs"),
        ("gamma", ". Settings are given to the constructor"),
        ("method", ". Settings are given to the constructor"),
        ("method_name", ". Settings are given to the constructor"),
        ("run", ". Settings are given to the constructor"),
        ("seed", ". Settings are given to the constructor"),
        ("eval_every", ". Settings are given to the constructor"),
        ("gama", '; did you mean "gamma"? Settings are given'),
        ("zzzzzz", ". Settings are given"),
    ],
)
def test_what_would_change_nothing_cannot_be_set(whole, name, says):
    before = dict(vars(whole))
    with pytest.raises(BadRequest) as caught:
        setattr(whole, name, 3)
    assert f'"{name}" of a model cannot be set{says}' in str(caught.value)
    assert str(caught.value).endswith("other.set_parameters(model.get_parameters())")
    assert vars(whole) == before
    with pytest.raises(AttributeError):
        whole.run.method = SMALL["trpo"]
    with pytest.raises(AttributeError):
        whole.method.gamma = 0.5


def test_what_changes_no_number_can_be_set(tmp_path):
    class Mine(mppo.MPPO):
        pass

    mine = Mine(ledge, SMALL["mp-trpo"], eval_every=0)
    mine.verbose, mine.out, mine.note = 1, tmp_path / "run", "a subclass may have its own"
    assert (mine.verbose, mine.out, mine.note[:10]) == (1, tmp_path / "run", "a subclass")
    with pytest.raises(BadRequest, match="cannot be set"):
        mine.gamma = 0.5


def test_the_way_out_of_settings_that_stay(whole):
    """Another model with other settings takes over what was learnt, steps and all."""
    other = model(method=small("mp-trpo", gamma=0.5))
    other.set_parameters(whole.get_parameters())
    assert (other.method.gamma, other.num_timesteps) == (0.5, whole.num_timesteps)
    np.testing.assert_array_equal(
        other.predict(GRID, deterministic=True)[0], whole.predict(GRID, deterministic=True)[0]
    )


@pytest.mark.parametrize("name", ["m.zip", "m.ZIP", "m.pkl", "m.onnx"])
def test_the_suffix_of_another_file_is_refused(whole, tmp_path, name):
    with pytest.raises(BadRequest) as caught:
        whole.save(tmp_path / name)
    assert f'cannot save a model as "{tmp_path / name}": it is a .safetensors file' in str(
        caught.value
    )
    assert f'write "{tmp_path / "m.safetensors"}" or leave the suffix out' in str(caught.value)
    assert not list(tmp_path.iterdir())
    with pytest.raises(BadRequest, match="cannot save a model"):
        BestModel(tmp_path / name)


@pytest.mark.parametrize("name", ["m", "m-0.5", "m.safetensors", "m.SafeTensors", "run.v2"])
def test_what_was_saved_is_found_under_both_paths(whole, tmp_path, name):
    (tmp_path / name).with_suffix("").mkdir()  # as where the name is that of a folder, too
    file = whole.save(tmp_path / name)
    assert file.suffix.lower() == ".safetensors"
    for path in (file, tmp_path / name):
        assert model_file.read(path).checkpoint.data["iteration"] == 4


CONTINUED = overridden(MAZE, {"episodes": "continue"})


@pytest.mark.parametrize("looked_at", [False, True])
@pytest.mark.parametrize("method", [CONTINUED, MAZE], ids=["continue", "fresh"])
def test_a_model_saved_after_it_moved_is_loaded_and_goes_on_alike(method, looked_at, tmp_path):
    agent = model("mppo/Maze-v0", method).learn(2 * method.batch_size)
    agent.set_env("mppo/Maze-v0")
    if looked_at:
        agent.get_env()
    file = agent.save(tmp_path / "moved")
    loaded = mppo.MPPO.load(file)
    assert loaded.save(tmp_path / "again").read_bytes() == file.read_bytes()
    agent.learn(method.batch_size)
    loaded.learn(method.batch_size)
    assert loaded.run.digest() == agent.run.digest()
    assert (loaded.run.visits == agent.run.visits).all()
    assert loaded.run.visits.sum() == method.batch_size  # counted since it is there
    assert mppo.MPPO.load(loaded.save(tmp_path / "later")).num_timesteps == 3 * method.batch_size


def test_a_model_is_loaded_into_another_environment(tmp_path):
    """Episodes and visits of the one it came from do not go on there."""
    agent = model("mppo/Maze-v0", CONTINUED).learn(CONTINUED.batch_size)
    file = agent.save(tmp_path / "maze")
    wrapped = mppo.MPPO.load(file, lambda: gymnasium.make("mppo/Maze-v0"))
    assert (wrapped.run.task.native, wrapped.run.visits) == (False, None)
    back = mppo.MPPO.load(wrapped.save(tmp_path / "wrapped"), "mppo/Maze-v0")
    assert (back.run.task.native, back.run.visits) == (True, None)
    assert mppo.MPPO.load(file, "mppo/Maze-v0").run.visits.sum() == CONTINUED.batch_size
    assert back.run.digest() == agent.run.digest()


def test_parameters_set_into_a_new_model_can_be_saved(tmp_path):
    agent = model("mppo/Maze-v0", CONTINUED).learn(CONTINUED.batch_size)
    other = model("mppo/Maze-v0", CONTINUED, seed=4)
    other.set_parameters(agent.get_parameters())
    loaded = mppo.MPPO.load(other.save(tmp_path / "other"))
    assert loaded.run.digest() == agent.run.digest()
