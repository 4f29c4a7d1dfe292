"""Batches in shared memory: both sides see the same rows, and the segment goes at the end."""

from multiprocessing.shared_memory import SharedMemory

import numpy as np
import pytest
from gymnasium.spaces import Box

from mppo.acting.spaces import Spaces
from mppo.errors import BadRequest
from mppo.rollouts.buffers import SharedBatch

box = lambda size: Box(-1, 1, (size,))
SMALL = Spaces(box(2), box(1)), 3, 5


def test_what_one_side_writes_the_other_reads_and_rows_do_not_overlap():
    ours = SharedBatch(*SMALL)
    theirs = SharedBatch(*SMALL, ours.name)
    for e in range(3):
        for array in ours.rows(e):
            array[:] = 1
        ours.beats(e)[:] = 1
    rows = theirs.rows(1)
    rows.clear()
    rows.actions[0, :3] = 7
    assert ours.rows(1).filled() == 3
    assert [ours.rows(e).filled() for e in (0, 2)] == [5, 5]
    rows.rewards[:] = [[1, 2, 3, 4, 5]]
    np.testing.assert_array_equal(ours.rows(1).rewards, [[1, 2, 3, 4, 5]])
    assert all((ours.rows(e).rewards == 1).all() for e in (0, 2))
    assert [int(theirs.beats(e)[0]) for e in range(3)] == [1, 1, 1]
    del rows
    name = ours.name
    theirs.close()
    ours.close()
    with pytest.raises(FileNotFoundError):
        SharedMemory(name)


def test_too_large_a_batch_is_refused():
    with pytest.raises(BadRequest, match=r"need [\d,]+ MB of shared memory, .* --workers 1"):
        SharedBatch(Spaces(box(1000), box(10)), 1000, 10**6)
