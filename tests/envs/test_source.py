"""What a user may name as environment."""

from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from mppo.envs.recorded import recorded_source
from mppo.envs.source import EnvSource, env_source
from mppo.envs.wrapping import imported_wrapper
from mppo.errors import BadRequest
from tests.worlds import Ledge, ledge


def sized(horizon):
    return EnvSource("", None, None, horizon)


@pytest.mark.parametrize(
    ("horizon", "batch", "wanted", "envs"),
    [
        (1000, 5000, 0, 5),
        (1000, 2048, 0, 2),
        (500, 5000, 0, 10),
        (500, 2048, 0, 4),
        (16, 5000, 0, 50),  # the largest divisor of 5000 up to 64
        (None, 5000, 0, 1),
        (10_000, 5000, 0, 1),
        (3, 7, 0, 1),
        (1000, 5000, 8, 8),
    ],
)
def test_as_many_environments_as_whole_episodes_fit(horizon, batch, wanted, envs):
    assert sized(horizon).envs_for(batch, wanted) == envs


def test_environments_must_share_a_batch_evenly():
    with pytest.raises(BadRequest, match="5000 steps cannot be shared by 3"):
        sized(1000).envs_for(5000, 3)


def test_callable_with_time_limit():
    found = env_source(ledge)
    assert (found.name, found.horizon, found.native, found.of_the_paper) == (
        "Ledge",
        16,
        False,
        False,
    )
    assert found.spaces.observation_size == 1
    vector = found.make(3)
    assert vector.num_envs == 3
    vector.close()
    assert env_source(Ledge).horizon is None


def test_registered_environments():
    cartpole = env_source("CartPole-v1")
    assert (cartpole.horizon, cartpole.native, cartpole.of_the_paper) == (500, False, False)
    maze = env_source("Maze-v0")
    assert (maze.name, maze.horizon, maze.native, maze.of_the_paper) == (
        "mppo/Maze-v0",
        1000,
        True,
        True,
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("CartPol-v1", 'unknown environment "CartPol-v1"; did you mean "CartPole-v1"'),
        ("mppo/Mase-v0", 'did you mean "mppo/Maze-v0"'),
        ("qqqqqqqqqqq", "mppo envs lists the tasks"),
    ],
)
def test_unknown_names_get_a_suggestion(name, message):
    with pytest.raises(BadRequest) as caught:
        env_source(name)
    assert message in str(caught.value)


def test_what_makes_no_environment_is_refused():
    with pytest.raises(BadRequest, match=r"must make a gymnasium\.Env"):
        env_source(lambda: 3)
    with pytest.raises(BadRequest, match="give a Gymnasium id, a callable that makes"):
        env_source(3)


def test_a_vector_environment_of_one_s_own():
    """As many environments as it has, in the autoreset mode it has."""
    make = lambda: SyncVectorEnv([ledge] * 4, autoreset_mode=AutoresetMode.SAME_STEP)
    found = env_source(make)
    assert (found.envs_for(256), found.native) == (4, False)
    with pytest.raises(BadRequest, match="cannot be shared by 4"):
        found.envs_for(255)


def test_an_environment_that_cannot_be_made_is_a_bad_request():
    def broken():
        raise RuntimeError("no display")

    with pytest.raises(BadRequest, match=r"cannot make the .*RuntimeError: no display"):
        env_source(broken)
    with pytest.raises(BadRequest, match=r"CartPole-v1.*unknown_option"):
        env_source("CartPole-v1", unknown_option=3)


def test_module_and_id_imports_the_module_first(tmp_path, monkeypatch):
    """And the name keeps the module, so that a resumed run finds its environment again."""
    (tmp_path / "a_module_of_mine.py").write_text(
        "import gymnasium\n"
        "from gymnasium.envs.classic_control import CartPoleEnv\n"
        "gymnasium.register('mine/Pole-v0', CartPoleEnv, max_episode_steps=7)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = env_source("a_module_of_mine:mine/Pole-v0")
    assert (found.name, found.horizon) == ("a_module_of_mine:mine/Pole-v0", 7)
    found.make(2).close()
    with pytest.raises(BadRequest, match=r"cannot import .no_such_module"):
        env_source("no_such_module:mine/Pole-v0")


def test_an_environment_as_it_is():
    """A batch of one, for training and evaluation in turn, and never closed."""
    env = gymnasium.make("CartPole-v1")
    found = env_source(env)
    assert (found.name, found.horizon, found.count, found.shared) == ("CartPole-v1", 500, 1, True)
    first, second = found.make(7), found.make(1)
    assert first.num_envs == second.num_envs == 1
    assert first.env.envs[0] is second.env.envs[0] is env
    first.close()
    second.reset(seed=1)


class Halved(gymnasium.RewardWrapper):
    """Half the reward."""

    def reward(self, reward):
        return reward / 2


def plus_one(env):
    return gymnasium.wrappers.TransformReward(env, lambda reward: reward + 1)


def test_wrappers_are_applied_in_order_and_recorded_by_name():
    for env in (
        "CartPole-v1",
        lambda: gymnasium.make("CartPole-v1"),
        gymnasium.make("CartPole-v1"),
    ):
        found = env_source(env, wrappers=[plus_one, Halved])
        assert found.wrappers == (f"{__name__}:plus_one", f"{__name__}:Halved")
        vector = found.make(1)
        vector.reset(seed=1)
        assert vector.step(vector.action_space.sample())[1] == [1.0]  # (1 + 1) / 2
        vector.close()


class Times:
    """A wrapper with a state of its own: a callable object."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, env):
        return gymnasium.wrappers.TransformReward(env, lambda reward: self.factor * reward)

    @classmethod
    def twice(cls, env):
        return cls(2)(env)


def test_arguments_that_no_file_can_hold_make_it_one_from_python():
    """Infinity would come back from run.json as None, and the robot would never be healthy."""
    finite = {"healthy_z_range": (0.7, 9.0), "reset_noise_scale": np.float32(0.1)}
    assert not env_source("Hopper-v5", **finite).from_python
    for value in ((0.7, np.inf), [0.7, float("inf")], np.array([0.7, np.inf])):
        assert env_source("Hopper-v5", healthy_z_range=value).from_python
    assert env_source("Hopper-v5", default_camera_config={"distance": float("nan")}).from_python


def test_objects_do_not_pass_for_their_class():
    """Imported by its name, Times would be called with an environment for its factor."""
    names = env_source("CartPole-v1", wrappers=[Times(3), Times(3).__call__, Times.twice]).wrappers
    assert names == (
        f"{__name__}:Times object",
        f"{__name__}:Times.__call__ object",
        f"{__name__}:Times.twice",
    )
    for name in names[:2]:
        with pytest.raises(BadRequest, match="go on from Python with the same wrappers"):
            imported_wrapper(name)
    assert imported_wrapper(names[2]) == Times.twice


def test_a_time_limit_among_the_wrappers_is_the_horizon():
    limit = partial(gymnasium.wrappers.TimeLimit, max_episode_steps=20)
    name = "gymnasium.wrappers.common:TimeLimit(max_episode_steps=20)"
    for env in ("CartPole-v1", "mppo/Maze-v0"):
        found = env_source(env, wrappers=[limit])
        assert (found.horizon, found.native, found.wrappers) == (20, False, (name,))
    assert env_source("mppo/Maze-v0", wrappers=[Halved], horizon=30).horizon == 30


def test_a_wrapped_native_task_is_the_same_task():
    """The same observations, rewards and ends, step by step, with a wrapper that does nothing."""
    native, generic = (
        env_source("mppo/Maze-v0"),
        env_source("mppo/Maze-v0", wrappers=[gymnasium.Wrapper]),
    )
    assert (native.native, generic.native) == (True, False)
    assert generic.of_the_paper
    assert generic.horizon == native.horizon
    one, two = native.make(3), generic.make(3)
    np.testing.assert_array_equal(one.reset(seed=[1, 2, 3])[0], two.reset(seed=[1, 2, 3])[0])
    rng = np.random.default_rng(0)
    for _ in range(50):
        actions = rng.integers(0, 4, 3)
        for ours, theirs in zip(one.step(actions)[:4], two.step(actions)[:4], strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_wrappers_that_cannot_be():
    with pytest.raises(BadRequest, match=r"tests\.test_tasks:<lambda>|.*gave 3"):
        env_source("CartPole-v1", wrappers=[lambda env: 3])
    with pytest.raises(BadRequest, match="this is a vector environment"):
        env_source(lambda: SyncVectorEnv([ledge]), wrappers=[Halved])
    with pytest.raises(BadRequest, match="this is a vector environment"):
        env_source(SyncVectorEnv([ledge]), wrappers=[Halved])
    for name in ("Halved", ":Halved"):
        with pytest.raises(BadRequest, match="has no module"):
            imported_wrapper(name)
    with pytest.raises(BadRequest, match='cannot load the wrapper "nowhere:Halved"'):
        imported_wrapper("nowhere:Halved")
    with pytest.raises(BadRequest, match="it must take an environment"):
        imported_wrapper("math:pi")


def test_a_recorded_task_runs_no_code_without_consent():
    described = {"env": "CartPole-v1", "env_kwargs": {}, "wrappers": [f"{__name__}:Halved"]}
    with pytest.raises(BadRequest, match="not imported just because a file names it"):
        recorded_source(described)
    assert recorded_source(described, allow_imports=True).wrappers == (f"{__name__}:Halved",)
    assert recorded_source(described, wrappers=[]).wrappers == ()
    assert recorded_source({"env": "CartPole-v1", "env_kwargs": {}}).name == "CartPole-v1"
    given = {"env": "CartPole-v1", "env_kwargs": {}, "env_from_python": True}
    with pytest.raises(BadRequest, match='given from Python; "CartPole-v1" is only its name'):
        recorded_source(given, allow_imports=True)
    assert recorded_source(given, "CartPole-v1").name == "CartPole-v1"
    with pytest.raises(BadRequest, match=r"evil:Env-v0.*not imported"):
        recorded_source({"env": "evil:Env-v0", "env_kwargs": {}})


def test_a_constructor_that_fails_without_a_word_is_found_by_file_and_line():
    class Narrow(Ledge):
        def __init__(self, width=0):
            if not width:
                raise AssertionError

    line = Narrow.__init__.__code__.co_firstlineno + 2
    where = f"AssertionError in {__file__}, line {line}: raise AssertionError"
    with pytest.raises(BadRequest) as caught:
        env_source(Narrow)
    assert str(caught.value) == f'cannot make the environment "Narrow": {where}'


@pytest.mark.parametrize("name", ["..:Maze-v0", "broken_module:Maze-v0"])
def test_a_module_that_cannot_be_imported_is_named(name, tmp_path, monkeypatch):
    (tmp_path / "broken_module.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BadRequest, match=r'cannot import ".*" of ".*": (TypeError|ZeroDivision)'):
        env_source(name)
    with pytest.raises(BadRequest, match=r'cannot load the wrapper ".*": (TypeError|ZeroDivision)'):
        imported_wrapper(name)
