"""The table of tasks: what `mppo envs` lists, Gymnasium registers and the paper's grids run."""

from typing import NamedTuple

_SPARSE = "robots.single:RobotEnv"
_GYMNASIUM = "robots.factory:gymnasium_env"
OWN = "own"  # in place of a robot's module: a robot of the user's


class Task(NamedTuple):
    """One task: its id, what it looks like to an agent, and the steps our runs spend on it.

    The paper states the budget of Maze alone; the others are our reading of its tables.
    """

    id: str
    observation_size: int
    action: str
    horizon: int
    trpo_steps: int
    ppo_steps: int
    description: str
    dynamics: str = ""  # of a task in `batched`: module and class
    robot: str = ""  # of a MuJoCo task: the module in `robots`
    threshold: float | None = None  # of a sparse robot: the distance (m) past which a step pays 1
    xml_file: str = ""  # the robot's model, where it is not Gymnasium's own
    env: str = "batch:BatchEnv"  # what gymnasium.make calls, and gymnasium.make_vec
    vector_env: str = "batch:BatchVectorEnv"
    of_the_paper: bool = True

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
NATIVE_TASKS = (
    Task("mppo/SparseCartPoleSwingup-v0", 4, "1 number in [-1, 1]", 500, _M, _M,
         "swing a pole up from below by pushing its cart; 1 for each step with cos(angle) > 0.8",
         dynamics="cartpole_swingup:CartPoleDynamics"),
    Task("mppo/SparseDoublePendulum-v0", 6, "1 number in [-1, 1]", 500, _M, _M,
         "swing two links upright with a weak motor at the elbow; 1 at success, which ends it",
         dynamics="double_pendulum:DoublePendulumDynamics"),
    Task("mppo/SparseHalfCheetah-v0", 17, "6 numbers in [-1, 1]", 1000, 2 * _M, 2 * _M,
         "run; 1 for each step more than 5 m ahead of the start",
         robot="half_cheetah", threshold=5.0, env=_SPARSE),
    Task("mppo/SparseHopper-v0", 11, "3 numbers in [-1, 1]", 1000, 2 * _M, 2 * _M,
         "hop on one leg; 1 for each step more than 1 m ahead of the start",
         robot="hopper", threshold=1.0, env=_SPARSE),
    # The feet of walker2d_v5.xml have another friction than those of the paper's time.
    Task("mppo/SparseWalker2d-v0", 17, "6 numbers in [-1, 1]", 1000, 2 * _M, 2 * _M,
         "walk on two legs; 1 for each step more than 1 m ahead of the start",
         robot="walker2d", threshold=1.0, xml_file="walker2d.xml", env=_SPARSE),
    Task("mppo/Maze-v0", 2, "4 moves", 1000, _M, _M,
         "find the way around the walls of a 21 x 21 maze; 1 at the goal, which ends it",
         dynamics="maze:MazeDynamics", vector_env="batched.maze:MazeVector"),
    Task("Ant-v5", 105, "8 numbers in [-1, 1]", 1000, 5 * _M, 2 * _M,
         "run on four legs; speed and health minus control and contact costs",
         robot="ant", env=_GYMNASIUM),
    Task("Hopper-v5", 11, "3 numbers in [-1, 1]", 1000, 5 * _M, 2 * _M,
         "hop on one leg; speed and health minus control cost",
         robot="hopper", env=_GYMNASIUM),
    Task("Swimmer-v5", 8, "2 numbers in [-1, 1]", 1000, 5 * _M, 2 * _M,
         "swim with two joints; speed minus control cost",
         robot="swimmer", env=_GYMNASIUM),
    Task("HalfCheetah-v5", 17, "6 numbers in [-1, 1]", 1000, 0, 0,
         "run; speed minus control cost",
         robot="half_cheetah", env=_GYMNASIUM, of_the_paper=False),
    Task("Walker2d-v5", 17, "6 numbers in [-1, 1]", 1000, 0, 0,
         "walk on two legs; speed and health minus control cost",
         robot="walker2d", env=_GYMNASIUM, of_the_paper=False),
    Task("Humanoid-v5", 348, "17 numbers in [-0.4, 0.4]", 1000, 0, 0,
         "walk on two legs; speed and health minus control and contact costs",
         robot="humanoid", env=_GYMNASIUM, of_the_paper=False),
    Task("HumanoidStandup-v5", 348, "17 numbers in [-0.4, 0.4]", 1000, 0, 0,
         "stand up; height minus control and impact costs",
         robot="humanoid_standup", env=_GYMNASIUM, of_the_paper=False),
    Task("InvertedDoublePendulum-v5", 9, "1 number in [-1, 1]", 1000, 0, 0,
         "balance two links on a cart; 10 for each step minus distance and speed",
         robot="inverted_double_pendulum", env=_GYMNASIUM, of_the_paper=False),
    Task("InvertedPendulum-v5", 4, "1 number in [-3, 3]", 1000, 0, 0,
         "balance a pole on a cart; 1 for each step",
         robot="inverted_pendulum", env=_GYMNASIUM, of_the_paper=False),
    Task("Pusher-v5", 23, "7 numbers in [-2, 2]", 100, 0, 0,
         "push an object to a goal; minus distances and control cost",
         robot="pusher", env=_GYMNASIUM, of_the_paper=False),
    Task("Reacher-v5", 10, "2 numbers in [-1, 1]", 50, 0, 0,
         "reach a target with two joints; minus distance and control cost",
         robot="reacher", env=_GYMNASIUM, of_the_paper=False),
)
# fmt: on
"""All tasks that this package steps by itself."""

TASKS = tuple(task for task in NATIVE_TASKS if task.of_the_paper)
"""The nine tasks of the paper."""

BY_ID = {name: task for task in NATIVE_TASKS for name in (task.id, task.registered_id)}
"""Every task by its id; those of Gymnasium's own with "mppo/" before it, too."""


def add_task(task: Task) -> None:
    """Know a task of the user's by its id."""
    BY_ID[task.id] = task


def task_of(env_id: str) -> Task:
    """The task of an id.

    >>> task_of("mppo/Maze-v0").horizon, task_of("mppo/Hopper-v5").id
    (1000, 'Hopper-v5')
    """
    if env_id not in BY_ID:
        raise ValueError(f"task is {env_id!r}; allowed: {', '.join(t.id for t in NATIVE_TASKS)}")
    return BY_ID[env_id]
