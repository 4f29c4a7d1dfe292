"""Work that several threads share in chunks, so that all of them stay busy to the end."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

CHUNK = 50  # steps that a thread takes before another may continue the environment
T = TypeVar("T")


def share(
    pool: ThreadPoolExecutor, threads: int, work: Iterable[T], advance: Callable[[T], T | None]
) -> None:
    """Take the piece that waited longest, advance it by a chunk, put back what is left of it.

    What a piece does must depend on its own past alone; then neither the number of threads nor
    their order shows in the result.

    >>> done = []
    >>> def advance(n):
    ...     done.append(n)
    ...     return n - 10 if n > 10 else None
    >>> with ThreadPoolExecutor(1) as pool:
    ...     share(pool, 1, [20, 5], advance)
    >>> done
    [20, 5, 10]
    """
    waiting: queue.SimpleQueue[T] = queue.SimpleQueue()
    for piece in work:
        waiting.put(piece)

    def take() -> None:
        while True:
            try:
                piece = waiting.get_nowait()
            except queue.Empty:
                return
            left = advance(piece)
            if left is not None:
                waiting.put(left)

    for thread in [pool.submit(take) for _ in range(threads)]:
        thread.result()
