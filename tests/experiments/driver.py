"""A driver with small children: `python driver.py ROOT JOBS SEEDS`; prints what happened."""

import sys
from pathlib import Path

from mppo.experiments.drive import Driver
from mppo.experiments.grid import Grid
from mppo.experiments.spec import spec
from mppo.experiments.workers import LocalWorkers

CHILD = str(Path(__file__).parent / "child.py")


def runs(seeds):
    return [spec("trpo", "mppo/Maze-v0", seed, 100_000) for seed in range(seeds)]


def main(root, jobs, seeds):
    driver = Driver(Grid(Path(root)), LocalWorkers(int(jobs), (CHILD,)))
    driver.run(runs(int(seeds)), told=lambda what, run: print(run.seed, what, flush=True))
    return 1 if driver.failures else 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
