"""What all tests share: strict numerics, one XLA thread, reproducible Hypothesis.

Compiling takes most of the time here, so tests that compile the same programs are kept on the same
worker, and XLA is asked to optimise little.
"""

import os

from mppo import threads

threads.use_one()  # before jax starts its pools
os.environ.setdefault(
    "XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
)

import jax  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

from mppo.methods import METHODS  # noqa: E402
from mppo.programs import programs  # noqa: E402
from tests.worlds import CHOOSING, SMALL  # noqa: E402

jax.config.update("jax_numpy_rank_promotion", "raise")

settings.register_profile("mppo", deadline=None, derandomize=True, database=None)
settings.load_profile("mppo")


def pytest_addoption(parser):
    parser.addoption("--golden-update", action="store_true", help="write tests/golden/*.json anew")


def pytest_configure(config):
    if config.getoption("dist", "no") == "load":
        config.option.dist = "loadgroup"
    if getattr(config, "workerinput", {}).get("by_group"):
        config.option.loadgroup = True


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    node.workerinput["by_group"] = node.config.getoption("dist") == "loadgroup"


TOGETHER = {"mp-trpo", "test_train.py", "test_iteration.py", "test_algorithm1.py"}  # with "trpo"


def pytest_itemcollected(item):
    """One worker for all that a method compiles, and one for each other file."""
    name = item.callspec.params.get("name") if hasattr(item, "callspec") else None
    if name not in METHODS:
        name = item.path.name if item.path.name in TOGETHER else item.nodeid.partition("::")[0]
    item.add_marker(pytest.mark.xdist_group("trpo" if name in TOGETHER else name))


@pytest.fixture(scope="session", autouse=True)
def _compiled_programs_are_kept():
    """Let mppo switch its compilation cache on before anything is compiled."""
    programs(SMALL["trpo"], CHOOSING)
