"""What all tests share: strict numerics, one XLA thread, reproducible Hypothesis.

Compiling takes most of the time here, so tests that compile the same programs are kept on the same
worker, and XLA is asked to optimise little.
"""

import gc
import os
from pathlib import Path

from mppo.machine import threads

gc.set_threshold(100_000, 50, 100)  # tracing makes objects by the million: a tenth of the time
threads.use_one()  # before jax starts its pools
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
    "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1",
)

import jax  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

from mppo.algorithm.methods import METHODS  # noqa: E402
from mppo.training.programs import keep_compiled, programs  # noqa: E402
from tests.worlds import CHOOSING, SMALL  # noqa: E402

jax.config.update("jax_numpy_rank_promotion", "raise")
keep_compiled()  # a second run of the tests finds most programs of the first

settings.register_profile("mppo", deadline=None, derandomize=True, database=None)
settings.load_profile("mppo")


def pytest_addoption(parser):
    parser.addoption("--golden-update", action="store_true", help="write tests/golden/*.json anew")


def pytest_configure(config):
    # tests use small batches, which cannot hold whole episodes; what is said then has its own tests
    config.addinivalue_line("filterwarnings", "ignore::mppo.errors.SettingsWarning")


TOGETHER = {"mp-trpo", "test_start.py", "test_iteration.py", "test_algorithm1.py"}  # with "trpo"
TOGETHER |= {"test_model.py", "test_callbacks.py", "test_loggers.py", "test_functional.py"}
MOST_MAPS = 40_000
APART = ("tests/cli/", "tests/docs/", "tests/envs/", "tests/bench/")


def worker_group(nodeid):
    """One worker for all that a method compiles, and one for each other file."""
    if nodeid.startswith(APART):
        return nodeid
    file, _, test = nodeid.partition("::")
    given = test.partition("[")[2].removesuffix("]")
    methods = [name for name in METHODS if given == name or given.endswith(f"-{name}")]
    group = max(methods, key=len) if methods else file.rpartition("/")[2]
    return "trpo" if group in TOGETHER else group


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        _split_scope = staticmethod(worker_group)

    return ByGroup(config, log)


@pytest.fixture(scope="session", autouse=True)
def _compiled_programs_are_kept():
    """Let mppo switch its compilation cache on before anything is compiled."""
    programs(SMALL["trpo"], CHOOSING)


@pytest.fixture(scope="module", autouse=True)
def _compiled_programs_are_given_up_in_time():
    """Every compiled program maps memory, and beyond 65,530 maps the kernel ends the process."""
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and maps.read_bytes().count(b"\n") > MOST_MAPS:
        jax.clear_caches()
        gc.collect()


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory):
    """The directory of a short finished run on the Maze: two paths, two iterations."""
    from mppo.training.start import train

    out = tmp_path_factory.mktemp("runs") / "tiny"
    train(
        "mp-trpo",
        "mppo/Maze-v0",
        steps=400,
        out=out,
        eval_every=400,
        eval_episodes=3,
        eval_deterministic_episodes=3,
        overrides={
            "paths": 2,
            "batch_size": 200,
            "network.hidden": (4,),
            "critic.network.hidden": (4,),
        },
    )
    return out
