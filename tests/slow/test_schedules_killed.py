"""A run with linear schedules of the learning rate and the clip, killed ten times with SIGKILL.

Recorded: 200 iterations of PPO on the Maze, killed after 4, 23, 57, 63, 84, 98, 129, 142, 171 and
182 rows and taken up each time (7 minutes on a busy machine). `metrics.jsonl`, `evaluations.jsonl`
and the SHA-256 of the last state are those of a run that nobody killed.
"""

import random
import signal

import pytest

from campaign import same_seed, stops
from campaign.small import Small, differences, outcome, state_of, unreadable
from mppo.files.reader import rows

pytestmark = pytest.mark.slow

SCHEDULES = {
    "optimiser.learning_rate": "linear:0.001",
    "optimiser.clip": "linear:0.2:0.05",
    "critic.learning_rate": "cosine:0.001",
}


class Scheduled(Small):
    """A small run of PPO whose step sizes and clip fall."""

    @property
    def overrides(self):
        return super().overrides | SCHEDULES


def killed(run, folder, kills):
    """Start a run, kill it so often at random moments, let it end; where it was each time.

    A moment is a row and up to 50 ms: each kill comes after the one before, and well before the
    end, however slow the machine is.
    """
    draw, out, at = random.Random(f"{stops.SEED} {kills}"), folder / "parts", []
    same_seed.by_python(run, folder / "whole")
    reference = outcome(folder / "whole")
    each = (run.iterations - 5) / kills
    for n in range(kills):
        row, more = int(each * n + draw.uniform(1, each)), draw.uniform(0, 0.05)
        due = lambda seconds, row=row: len(rows(out, "metrics.jsonl")) >= row or seconds > 100
        pause = lambda seconds, due=due, more=more: due(seconds) and not stops.time.sleep(more)
        code, _ = stops.stopped_when(run, out, pause, signal.SIGKILL)
        assert code == -signal.SIGKILL
        assert state_of(out) == "mid-run"
        assert unreadable(out) == []
        at.append(len(rows(out, "metrics.jsonl")))
    assert stops.taken_up(run, out, True, reference) == []
    assert differences(out, reference) == []
    return rows(out, "metrics.jsonl"), at


def test_ten_kills(tmp_path):
    kills = 10
    run = Scheduled("ppo", "mppo/Maze-v0", "continue", iterations=20 * kills)
    found, at = killed(run, tmp_path, kills)
    assert at == sorted(at)
    assert len(set(at)) == kills
    n = run.iterations
    falling = [row["optimiser.learning_rate"] for row in found]
    assert falling == pytest.approx([0.001 * (n - i) / n for i in range(n)])
    clip = [row["optimiser.clip"] for row in found]
    assert clip == pytest.approx([0.05 + 0.15 * (n - i) / n for i in range(n)])
