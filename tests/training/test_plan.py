"""Where there may be a run already: one verdict for each case."""

import pytest

from mppo.training.plan import Plan, Verdict, plan


@pytest.mark.parametrize(
    ("there", "wanted", "done", "finished", "again", "verdict", "steps"),
    [
        (None, 100, 0, False, False, Verdict.BEGIN, 100),
        (None, 100, 40, False, True, Verdict.BEGIN, 100),  # it has learnt elsewhere
        (100, 100, 0, False, False, Verdict.RESUME, 100),  # killed before the first checkpoint
        (100, 100, 40, False, False, Verdict.RESUME, 100),
        (100, 100, 100, False, False, Verdict.RESUME, 100),  # killed before final.json
        (100, 100, 100, True, False, Verdict.NOTHING, 100),
        (100, 60, 100, True, True, Verdict.NOTHING, 100),
        (100, 60, 40, False, False, Verdict.RESUME, 100),  # a part of what run.json speaks of
        (100, 150, 100, True, False, Verdict.EXTEND, 150),
        (100, 150, 40, False, False, Verdict.EXTEND, 150),
        (100, 150, 160, True, False, Verdict.NOTHING, 150),  # a whole batch was more than asked
        (100, 100, 40, True, False, Verdict.NOTHING, 100),  # a callback has stopped it
        (100, 100, 40, True, True, Verdict.EXTEND, 100),
        (100, 80, 40, True, True, Verdict.EXTEND, 80),
    ],
)
def test_the_verdict(there, wanted, done, finished, again, verdict, steps):
    assert plan(there, wanted, done, finished, again) == Plan(verdict, steps)
