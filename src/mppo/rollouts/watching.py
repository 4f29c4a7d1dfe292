"""Names an environment that hangs in this process; the pool looks after those in workers.

Environments count their steps anyway. A thread looks at the counts now and then, so watching costs
a step nothing; when they stand still for too long, a signal wakes the main thread, which raises.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from functools import partial
from types import FrameType
from typing import Any, NoReturn

from mppo.envs.checked import CheckedEnv
from mppo.envs.lanes import StepLane
from mppo.errors import EnvironmentFault
from mppo.machine.durations import duration

START = 120.0  # seconds that a worker may take to start, or a policy to be compiled
SIGNAL = getattr(signal, "SIGURG", None)  # ignored unless somebody listens; not on every system
GRACE = 10.0  # seconds after which a main thread that cannot be woken is given up


class Hung(BaseException):
    """Raised in the midst of a step: an environment that catches all exceptions lets it through."""


class Watch:
    """A context in which a step of these environments may take `limit` seconds.

    It does nothing outside of the main thread, which alone is told of signals. The first steps in a
    process have longer, as in a worker: policies may be compiled before them.
    """

    def __init__(self, checked: Sequence[CheckedEnv], limit: float) -> None:
        self.checked, self.limit = checked, limit
        self._busy, self._worked, self._since = False, False, 0.0
        self._counts: list[Any] = []
        self._told: float | None = None  # when the main thread was told
        self._before: Any = None  # who listened to the signal
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        if not self.checked or not self.limit or SIGNAL is None:
            return
        if self._thread is None:
            look = partial(_look_now_and_then, weakref.ref(self), self._closed, self.limit / 5)
            self._thread = threading.Thread(target=look, name="mppo watch", daemon=True)
            self._thread.start()
        self._before = signal.signal(SIGNAL, self._wake)
        self._counts, self._told, self._since, self._busy = [], None, time.monotonic(), True

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if self._busy and SIGNAL is not None:
            self._busy = False
            signal.signal(SIGNAL, self._before)
        if isinstance(error, Hung):
            raise EnvironmentFault(str(error)) from None

    def close(self) -> None:
        """Look no more."""
        self._closed.set()

    def look(self) -> None:
        """The thread's part: tell the main thread if a step takes too long."""
        if not self._busy or not self._silent():
            return
        found = [(where, _stepping(frame)) for where, frame in sys._current_frames().items()]
        stuck = {where: env for where, env in found if env is not None and env in self.checked}
        main, now = threading.main_thread().ident, time.monotonic()
        if main in stuck and self._told is None:
            self._told = now
            signal.pthread_kill(main, SIGNAL)  # type: ignore  (then there is a signal)
        elif stuck and (main not in stuck or now - (self._told or now) > GRACE):
            self._give_up(next(iter(stuck.values())))

    def _silent(self) -> bool:
        """Whether no step was begun for too long."""
        counts = [(env.seed, env.episode, env.steps) for env in self.checked]
        if counts != self._counts:
            self._counts, self._since, self._told = counts, time.monotonic(), None
            self._worked = self._worked or any(env.steps for env in self.checked)
        return time.monotonic() - self._since > self._allowed

    @property
    def _allowed(self) -> float:
        return self.limit if self._worked else max(self.limit, START)

    def _wake(self, number: int, frame: FrameType | None) -> None:
        """The main thread's part; a signal that came too late is passed over."""
        env = _stepping(frame)
        if env is not None and self._busy and self._silent():
            raise Hung(self._words(env))

    def _words(self, env: CheckedEnv) -> str:
        place = f"step {env.steps}" if env.steps else "its reset"
        return (
            f'environment "{env.name}" hangs: environment {env.index}, reset with seed {env.seed}, '
            f"episode {env.episode} after that, {place} has taken more than "
            f"{duration(self._allowed)}; --step-timeout says how long a step may take"
        )

    def _give_up(self, env: CheckedEnv) -> NoReturn:
        """End a process whose step does not come back to Python; what was saved stays good."""
        print(f"mppo: {self._words(env)}", file=sys.stderr, flush=True)
        os._exit(EnvironmentFault.exit_code)


def _look_now_and_then(watch: weakref.ref[Watch], closed: threading.Event, seconds: float) -> None:
    """The thread: it ends with what it watches, closed or forgotten."""
    while not closed.wait(min(1.0, seconds)):
        if (watching := watch()) is None:
            return
        watching.look()
        del watching


def _stepping(frame: FrameType | None) -> CheckedEnv | None:
    """The environment that is stepped or reset in a stack of calls."""
    while frame is not None:
        owner = frame.f_locals.get("self")
        if isinstance(owner, StepLane):
            return owner.checked
        if isinstance(owner, CheckedEnv):
            return owner
        frame = frame.f_back
    return None
