"""The table of tasks: what `mppo envs` lists, Gymnasium registers and the paper's grids run."""

import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import gymnasium

from mppo.envs.contract import NO_LIMIT

OWN = "own"  # in place of a robot's module: a robot of the user's


class Task(NamedTuple):
    """One task: its id; of a task of the paper what it looks like and the steps our runs spend.

    The paper states the budget of Maze alone; the others are our reading of its tables.
    """

    id: str
    horizon: int
    observation_size: int = 0
    action: str = ""
    trpo_steps: int = 0
    ppo_steps: int = 0
    description: str = ""
    dynamics: str = ""  # of a task in `batched`: module and what makes it
    robot: str = ""  # of a MuJoCo task: the module in `robots.v5`
    threshold: float | None = None  # of a sparse robot: the distance (m) past which a step pays 1
    xml_file: str = ""  # the robot's model, where it is not Gymnasium's own
    vector_env: str = "batch:BatchVectorEnv"  # what gymnasium.make_vec calls

    @property
    def env(self) -> str:
        """What gymnasium.make calls."""
        if not self.robot:
            return "batch:BatchEnv"
        kind = "gymnasium_env" if self.threshold is None else "RobotEnv"
        return f"robots.simulation:{kind}"

    @property
    def name(self) -> str:
        """Its name in the paper."""
        return self.id.removeprefix("mppo/").rpartition("-")[0]

    @property
    def registered_id(self) -> str:
        """The id under which our vector environment is registered; Gymnasium's own ids stay."""
        return self.id if self.id.startswith("mppo/") else f"mppo/{self.id}"


_M = 1_000_000  # steps

# fmt: off
TASKS = (
    Task("mppo/SparseCartPoleSwingup-v0", 500, 4, "1 number in [-1, 1]", _M, _M,
         "swing a pole up from below by pushing its cart; 1 for each step with cos(angle) > 0.8",
         dynamics="cartpole_swingup:CartPoleDynamics"),
    Task("mppo/SparseDoublePendulum-v0", 500, 6, "1 number in [-1, 1]", _M, _M,
         "swing two links upright with a weak motor at the elbow; 1 at success, which ends it",
         dynamics="double_pendulum:DoublePendulumDynamics"),
    Task("mppo/SparseHalfCheetah-v0", 1000, 17, "6 numbers in [-1, 1]", 2 * _M, 2 * _M,
         "run; 1 for each step more than 5 m ahead of the start",
         robot="half_cheetah", threshold=5.0),
    Task("mppo/SparseHopper-v0", 1000, 11, "3 numbers in [-1, 1]", 2 * _M, 2 * _M,
         "hop on one leg; 1 for each step more than 1 m ahead of the start",
         robot="hopper", threshold=1.0),
    # The feet of walker2d_v5.xml have another friction than those of the paper's time.
    Task("mppo/SparseWalker2d-v0", 1000, 17, "6 numbers in [-1, 1]", 2 * _M, 2 * _M,
         "walk on two legs; 1 for each step more than 1 m ahead of the start",
         robot="walker2d", threshold=1.0, xml_file="walker2d.xml"),
    Task("mppo/Maze-v0", 1000, 2, "4 moves", _M, _M,
         "find the way around the walls of a 21 x 21 maze; 1 at the goal, which ends it",
         dynamics="maze:maze_dynamics", vector_env="batched.maze:MazeVector"),
    Task("Ant-v5", 1000, 105, "8 numbers in [-1, 1]", 5 * _M, 2 * _M,
         "run on four legs; speed and health minus control and contact costs",
         robot="ant"),
    Task("Hopper-v5", 1000, 11, "3 numbers in [-1, 1]", 5 * _M, 2 * _M,
         "hop on one leg; speed and health minus control cost",
         robot="hopper"),
    Task("Swimmer-v5", 1000, 8, "2 numbers in [-1, 1]", 5 * _M, 2 * _M,
         "swim with two joints; speed minus control cost",
         robot="swimmer"),
)
# fmt: on
"""The nine tasks of the paper."""


def _robots() -> Iterator[Task]:
    """Gymnasium's robots of version 5: one for each file in `robots/v5`, called like it."""
    for file in pkgutil.iter_modules([str(Path(__file__).parent / "robots" / "v5")]):
        name = "".join(word.capitalize() for word in file.name.split("_")) + "-v5"
        yield Task(name, gymnasium.spec(name).max_episode_steps or NO_LIMIT, robot=file.name)


_KNOWN = {task.id for task in TASKS}
NATIVE_TASKS = (*TASKS, *(robot for robot in _robots() if robot.id not in _KNOWN))
"""All tasks that this package steps by itself."""

BY_ID = {name: task for task in NATIVE_TASKS for name in (task.id, task.registered_id)}
"""Every task by its id; those of Gymnasium's own with "mppo/" before it, too."""


def task_of(env_id: str) -> Task:
    """The task of an id.

    >>> task_of("mppo/Maze-v0").horizon, task_of("mppo/Hopper-v5").id
    (1000, 'Hopper-v5')
    """
    if env_id not in BY_ID:
        raise ValueError(f"task is {env_id!r}; allowed: {', '.join(t.id for t in NATIVE_TASKS)}")
    return BY_ID[env_id]
