"""What a user may name as environment."""

import gymnasium
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from mppo.errors import BadRequest
from mppo.tasks import Task, task
from tests.worlds import Ledge, ledge


def sized(horizon):
    return Task("", None, None, horizon, {}, False, False)


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
    found = task(ledge)
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
    assert task(Ledge).horizon is None


def test_registered_environments():
    cartpole = task("CartPole-v1")
    assert (cartpole.horizon, cartpole.native, cartpole.of_the_paper) == (500, False, False)
    maze = task("Maze-v0")
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
        task(name)
    assert message in str(caught.value)


def test_what_makes_no_environment_is_refused():
    with pytest.raises(BadRequest, match=r"must make a gymnasium\.Env"):
        task(lambda: 3)
    with pytest.raises(BadRequest, match="give a Gymnasium id or a callable"):
        task(3)
    with pytest.raises(BadRequest, match="give a Gymnasium id or a callable"):
        task(gymnasium.make("CartPole-v1"))


def test_a_vector_environment_of_one_s_own():
    """As many environments as it has, in the autoreset mode it has."""
    make = lambda: SyncVectorEnv([ledge] * 4, autoreset_mode=AutoresetMode.SAME_STEP)
    found = task(make)
    assert (found.envs_for(256), found.native) == (4, False)
    with pytest.raises(BadRequest, match="cannot be shared by 4"):
        found.envs_for(255)


def test_an_environment_that_cannot_be_made_is_a_bad_request():
    def broken():
        raise RuntimeError("no display")

    with pytest.raises(BadRequest, match=r"cannot make the .*RuntimeError: no display"):
        task(broken)
    with pytest.raises(BadRequest, match=r"CartPole-v1.*unknown_option"):
        task("CartPole-v1", unknown_option=3)


def test_module_and_id_imports_the_module_first(tmp_path, monkeypatch):
    """And the name keeps the module, so that a resumed run finds its environment again."""
    (tmp_path / "a_module_of_mine.py").write_text(
        "import gymnasium\n"
        "from gymnasium.envs.classic_control import CartPoleEnv\n"
        "gymnasium.register('mine/Pole-v0', CartPoleEnv, max_episode_steps=7)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = task("a_module_of_mine:mine/Pole-v0")
    assert (found.name, found.horizon) == ("a_module_of_mine:mine/Pole-v0", 7)
    found.make(2).close()
    with pytest.raises(BadRequest, match=r"cannot import .no_such_module"):
        task("no_such_module:mine/Pole-v0")
