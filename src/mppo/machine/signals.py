"""SIGTERM and SIGINT ask a run to stop at the next iteration's end; a second one is obeyed."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import Any, NoReturn

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Interrupts:
    """While in this context, signals only set `received`; the old handlers come back afterwards."""

    def __init__(self, exits: bool = True) -> None:
        """With `exits`, a second signal ends the process at once; else it raises, as usual."""
        self.received: int | None = None
        self._exits = exits
        self._old: dict[int, Any] = {}

    @property
    def exit_code(self) -> int:
        """What the shell expects of a program stopped by that signal: 143 or 130."""
        return 128 + (self.received or 0)

    def obey(self) -> NoReturn:
        """Raise what the signal would have raised."""
        if self.received == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(self.exit_code)

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._old[number] = signal.signal(number, self._receive)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None and not self._exits:
            raise KeyboardInterrupt
        if self.received is not None:
            os._exit(128 + number)  # the last checkpoint is good: nothing is owed
        self.received = number
