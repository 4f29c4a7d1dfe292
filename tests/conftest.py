"""What all tests share: strict numerics, one XLA thread, reproducible Hypothesis."""

from mppo import threads

threads.use_one()  # before jax starts its pools

import jax  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

from mppo.programs import programs  # noqa: E402
from tests.worlds import CHOOSING, SMALL  # noqa: E402

jax.config.update("jax_numpy_rank_promotion", "raise")

settings.register_profile("mppo", deadline=None, derandomize=True, database=None)
settings.load_profile("mppo")


def pytest_addoption(parser):
    parser.addoption(
        "--golden-update", action="store_true", help="write tests/golden/*.json anew"
    )


@pytest.fixture(scope="session", autouse=True)
def _compiled_programs_are_kept():
    """Let mppo switch its compilation cache on before anything is compiled."""
    programs(SMALL["trpo"], CHOOSING)
