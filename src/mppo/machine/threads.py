"""One XLA thread per run: results must be a function of configuration and seed alone.

With several threads the same compiled module may return different results from call to call
(decision 0002). All variables must be set before numpy and jax start their pools.
"""

import os
import sys

_POOLS = ("PJRT_NPROC", "NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
ONE_THREAD = {**dict.fromkeys(_POOLS, "1"), "JAX_PLATFORMS": "cpu"}


def use_one() -> None:
    """Ask every pool for one thread; what a user has set himself stays."""
    for name, value in ONE_THREAD.items():
        os.environ.setdefault(name, value)


def one_is_set() -> bool:
    """Whether XLA runs, or will run, on one thread."""
    started_before = getattr(sys.modules.get("mppo"), "_jax_started_first", False)
    return os.environ.get("PJRT_NPROC") == "1" and not started_before


def available_cores() -> int:
    """The cores that this process may use, which is not always what the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
