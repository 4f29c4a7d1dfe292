"""The nine tasks of the paper as data: what `mppo envs` lists."""

from typing import NamedTuple


class Task(NamedTuple):
    """One task: its id, what it looks like to an agent, and the steps our runs spend on it.

    The paper states the budget of Maze alone; the others are our reading of its tables.
    """

    id: str
    name: str  # in the paper
    observation_size: int
    action: str
    horizon: int
    trpo_steps: int
    ppo_steps: int
    description: str
    native_vector: bool = True


TASKS = (
    Task(
        "mppo/SparseCartPoleSwingup-v0",
        "SparseCartPoleSwingup",
        4,
        "1 number in [-1, 1]",
        500,
        1_000_000,
        1_000_000,
        "swing a pole up from below by pushing its cart; 1 for each step with cos(angle) > 0.8",
    ),
    Task(
        "mppo/SparseDoublePendulum-v0",
        "SparseDoublePendulum",
        6,
        "1 number in [-1, 1]",
        500,
        1_000_000,
        1_000_000,
        "swing two links upright with a weak motor at the elbow; 1 at success, which ends it",
    ),
    Task(
        "mppo/SparseHalfCheetah-v0",
        "SparseHalfCheetah",
        17,
        "6 numbers in [-1, 1]",
        1000,
        2_000_000,
        2_000_000,
        "run; 1 for each step more than 5 m ahead of the start",
    ),
    Task(
        "mppo/SparseHopper-v0",
        "SparseHopper",
        11,
        "3 numbers in [-1, 1]",
        1000,
        2_000_000,
        2_000_000,
        "hop on one leg; 1 for each step more than 1 m ahead of the start",
    ),
    Task(
        "mppo/SparseWalker2d-v0",
        "SparseWalker2d",
        17,
        "6 numbers in [-1, 1]",
        1000,
        2_000_000,
        2_000_000,
        "walk on two legs; 1 for each step more than 1 m ahead of the start",
    ),
    Task(
        "mppo/Maze-v0",
        "Maze",
        2,
        "4 moves",
        1000,
        1_000_000,
        1_000_000,
        "find the way around the walls of a 21 x 21 maze; 1 at the goal, which ends it",
    ),
    Task(
        "Ant-v5",
        "Ant",
        105,
        "8 numbers in [-1, 1]",
        1000,
        5_000_000,
        2_000_000,
        "run on four legs; speed and health minus control and contact costs",
    ),
    Task(
        "Hopper-v5",
        "Hopper",
        11,
        "3 numbers in [-1, 1]",
        1000,
        5_000_000,
        2_000_000,
        "hop on one leg; speed and health minus control cost",
    ),
    Task(
        "Swimmer-v5",
        "Swimmer",
        8,
        "2 numbers in [-1, 1]",
        1000,
        5_000_000,
        2_000_000,
        "swim with two joints; speed minus control cost",
    ),
)
