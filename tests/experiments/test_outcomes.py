"""The table of exit codes."""

import pytest

from mppo.experiments.outcomes import LOST, MOST_RETRIES, Decision, decide, explained

TABLE = {
    0: Decision.FAILED,  # it says done, but there is no result
    1: Decision.FAILED,
    2: Decision.FAILED,
    65: Decision.FAILED,
    70: Decision.FAILED,
    73: Decision.ELSEWHERE,
    74: Decision.FAILED,
    75: Decision.AGAIN,
    130: Decision.AGAIN,
    137: Decision.AGAIN,
    143: Decision.AGAIN,
    -9: Decision.AGAIN,
    -11: Decision.AGAIN,
    -15: Decision.AGAIN,
    LOST: Decision.AGAIN,
}


@pytest.mark.parametrize(("code", "decision"), TABLE.items())
def test_the_decision_after_every_exit_code(code, decision):
    assert decide(code, finished=False, retries=0) is decision
    assert decide(code, finished=True, retries=9) is Decision.DONE
    last = decide(code, finished=False, retries=MOST_RETRIES)
    assert last is (Decision.FAILED if decision is Decision.AGAIN else decision)


@pytest.mark.parametrize(
    ("code", "output", "says"),
    [
        (2, "mppo: unknown environment", "unknown environment"),
        (65, "W0000 something\nmppo: reward is nan", "reward is nan"),
        (70, "Traceback\n  File\nKeyError: 'x'\nmppo: this is a bug", "KeyError: 'x'"),
        (70, "mppo: iteration 3 made path 0 not finite", "iteration 3 made path 0 not finite"),
        (74, "", "a file could not be written or read"),
        (-11, "Fatal Python error", "killed by SIGSEGV"),
        (LOST, "", "its worker or machine was lost"),
        (0, "", "ended without a result"),
        (9, "", "exit code 9"),
    ],
)
def test_why_in_one_line(code, output, says):
    assert explained(code, output) == says
