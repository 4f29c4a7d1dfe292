"""Batches in shared memory: both sides see the same rows, and the segment goes at the end."""

from multiprocessing.shared_memory import SharedMemory

import numpy as np
import pytest

from mppo.errors import BadRequest
from mppo.rollouts.shared_memory import Layout, SharedBatch
from mppo.rollouts.worker import clear, count_filled


def test_what_one_side_writes_the_other_reads_and_rows_do_not_overlap():
    ours = SharedBatch(Layout(3, 5, 2, 1))
    theirs = SharedBatch(Layout(3, 5, 2, 1), ours.name)
    for n, array in enumerate(ours.arrays.values()):
        array[:] = n % 2
    rows = theirs.rows(1)
    clear(rows)
    rows.actions[0, :3] = 7
    assert count_filled(ours.rows(1)) == 3
    assert [count_filled(ours.rows(e)) for e in (0, 2)] == [5, 5]
    rows.rewards[:] = [[1, 2, 3, 4, 5]]
    np.testing.assert_array_equal(ours.arrays["rewards"][1], [1, 2, 3, 4, 5])
    assert (ours.arrays["rewards"][[0, 2]] == 1).all()
    del rows
    name = ours.name
    theirs.close()
    ours.close()
    with pytest.raises(FileNotFoundError):
        SharedMemory(name)


def test_too_large_a_batch_is_refused():
    with pytest.raises(BadRequest, match=r"need [\d,]+ MB of shared memory, .* --workers 1"):
        SharedBatch(Layout(1000, 10**6, 1000, 10))
