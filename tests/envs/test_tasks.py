"""The one table: what is said of a task is so."""

import gymnasium
import numpy as np
import pytest

import mppo.envs  # noqa: F401
from mppo.envs.tasks import BY_ID, NATIVE_TASKS, TASKS, task_of
from tests.envs.roll import NATIVE_IDS


def test_the_tasks_of_the_paper():
    assert [task.name for task in TASKS] == [
        "SparseCartPoleSwingup", "SparseDoublePendulum", "SparseHalfCheetah", "SparseHopper",
        "SparseWalker2d", "Maze", "Ant", "Hopper", "Swimmer",
    ]  # fmt: skip
    assert {task.id for task in NATIVE_TASKS} - {task.id for task in TASKS} == {
        "HalfCheetah-v5",
        "Humanoid-v5",
        "HumanoidStandup-v5",
        "InvertedDoublePendulum-v5",
        "InvertedPendulum-v5",
        "Pusher-v5",
        "Reacher-v5",
        "Walker2d-v5",
    }


@pytest.mark.parametrize("task", NATIVE_TASKS, ids=lambda task: task.id)
def test_a_row_is_what_gymnasium_says(task):
    env = gymnasium.make(task.id)
    assert gymnasium.spec(task.id).max_episode_steps == task.horizon
    assert gymnasium.spec(task.registered_id).max_episode_steps == task.horizon
    assert bool(task.robot) != bool(task.dynamics)
    if task in TASKS:
        assert env.observation_space.shape == (task.observation_size,)
        count = 4 if task.name == "Maze" else int(np.prod(env.action_space.shape))
        assert task.action.startswith(f"{count} ")


def test_ids():
    assert {task.registered_id for task in NATIVE_TASKS} == set(NATIVE_IDS)
    assert BY_ID["Hopper-v5"] is BY_ID["mppo/Hopper-v5"]
    assert "Maze-v0" not in BY_ID
    with pytest.raises(ValueError, match="task is 'Hopper-v4'; allowed: mppo/SparseCartPole"):
        task_of("Hopper-v4")
