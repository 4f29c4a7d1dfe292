"""A run with linear schedules of the learning rate and the clip, killed ten times with SIGKILL.

Recorded: 200 iterations of PPO on the Maze, killed after 4, 23, 57, 63, 84, 98, 129, 142, 171 and
182 rows and taken up each time (7 minutes on a busy machine). `metrics.jsonl`, `evaluations.jsonl`
and the SHA-256 of the last state are those of a run that nobody killed.
"""

import pytest

from tests.campaign.test_schedules import test_schedules_go_on_after_kills as go_on

pytestmark = pytest.mark.slow


def test_ten_kills(tmp_path):
    go_on(tmp_path, 10)
