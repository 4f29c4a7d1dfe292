"""Any single environment as a lane: its own Python `step`, our compiled policy, nothing between.

A vector environment would stack what all of them show and take the stack apart again in every
step. A lane checks an answer where it came, and what can be checked of many steps at once with the
same result (that numbers are finite) after a stretch of them, or before the next action.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np
from gymnasium.vector import VectorEnv

from mppo.acting.choosing import WARNED, Chooser
from mppo.acting.spaces import Spaces
from mppo.envs.batch import lanes_of
from mppo.envs.capture import CapturedVectorEnv
from mppo.envs.checked import CheckedEnv, CheckedVectorEnv
from mppo.envs.contract import Lane, Limits, Rows
from mppo.envs.robots.engine import BAD_NUMBERS
from mppo.envs.seeing import Sight
from mppo.envs.wrapping import Borrowed
from mppo.machine.seeding import Role, integer

if TYPE_CHECKING:
    from mppo.acting.actor import Actor

_PLAIN = frozenset((float, int, np.float64, np.float32))
_NO = np.False_
_GOING = (False, False)


def lanes_for(envs: VectorEnv, spaces: Spaces) -> Sequence[Lane]:
    """The lanes of a vector environment; none if it is stepped as a whole."""
    if checked := checked_of(envs):
        return [StepLane(one, spaces) for one in checked]
    return () if spaces.masked else lanes_of(envs)  # compiled robots know no masks


def checked_of(envs: VectorEnv) -> Sequence[CheckedEnv]:
    """The environments of a vector, where Python steps each by itself."""
    inside = envs.env if isinstance(envs, Borrowed) else envs
    if type(inside) in (CheckedVectorEnv, CapturedVectorEnv):
        return cast(CheckedVectorEnv, inside).checked
    return ()


def runs(lanes: Sequence[Lane], actor: Actor) -> bool:
    """Whether there are lanes that can run this policy; Python steps only compiled ones."""
    if not lanes or not isinstance(lanes[0], StepLane):
        return bool(lanes)
    return getattr(actor, "network", None) is not None  # recorded actions have no network


def take_up(lanes: Sequence[Lane], now: np.ndarray) -> None:
    """After environments were put back into an earlier state: this [E, obs] is what was seen."""
    for e, lane in enumerate(lanes):  # none, where all environments are stepped as a whole
        if isinstance(lane, StepLane):
            lane.observation[:] = now[e]
            lane.seen = None


class StepLane:
    """One environment of Gymnasium's interface, stepped by its own `step`."""

    def __init__(self, checked: CheckedEnv, spaces: Spaces) -> None:
        self.checked, self._spaces = checked, spaces
        self._sight = Sight(checked, spaces.plan)
        sight = self._sight
        self._chooser = Chooser(spaces.action, sight.now, sight.low, sight.high, spaces.squash)
        self._actor: Actor | None = None
        self.seen: Any = None  # the last observation as the environment gave it, if it is known
        self._ended = _GOING
        self._watched: Any = None  # MuJoCo's data
        self.observation: np.ndarray = sight.now
        self.parallel: bool = checked.simulated is not None and checked.env.render_mode is None

    @property
    def action(self) -> np.ndarray:
        """The action of the last step."""
        return np.asarray(self.checked.action)

    def begin(self, seed: int, role: Role, *indices: int) -> None:
        """Start the first episode of a stream."""
        self._start(integer(seed, role, *indices))

    def reset(self) -> None:
        """Start the next episode."""
        self._start(None)

    def _start(self, seed: int | None) -> None:
        self.seen = self.checked.restart(seed)
        self._sight.take(self.seen)  # its numbers are looked at before the first action
        self._ended = _GOING

    def ended(self) -> tuple[bool, bool]:
        """Whether the last step ended the episode: terminated, truncated."""
        return self._ended

    def bad_numbers(self) -> dict[str, int]:
        """None: what MuJoCo calls bad has been raised as a fault."""
        return {}

    def run_steps(self, actor: Actor, limits: Limits, rows: Rows, start: int, stop: int) -> int:
        """Rows start ... stop - 1 with a policy, at most to the end of the episode."""
        chooser, checked, sight = self._chooser, self.checked, self._sight
        to_env = self._spaces.to_env_one
        self._aim(actor, rows)
        given, first, stop = chooser.room(start, stop, limits.clip)
        choose, address, form = chooser.choose, chooser.address, chooser.form.kind
        step, take, rewards, seen, t = checked.env.step, sight.take, rows.rewards, self.seen, start
        for t in range(start, stop):
            if said := choose(address, t, 0):
                self._look_again(said, seen, rows, start, t)
            action = given[t - first] if form else to_env(rows.actions[t], limits.clip)
            checked.action = action
            checked.steps += 1
            try:
                answer = step(action)
            except Exception as error:
                self._fail("exception in step", repr(error), rows, start, t, error)
            if not isinstance(answer, tuple) or len(answer) != 5:
                self._fail("answer of step", answer, rows, start, t)
            seen, reward, terminated, truncated, info = answer
            # looked at in the step it came: nobody steps on after a reward that is no number
            fine = type(reward) in _PLAIN and isfinite(reward)
            rewards[t] = reward if fine else checked.reward(reward)
            going = (terminated is False or terminated is _NO) and (
                truncated is False or truncated is _NO
            )
            if type(info) is not dict and not isinstance(info, dict):
                self._fail("info", info, rows, start, t)
            take(seen)
            if not going:
                ends = checked.flag("terminated", terminated), checked.flag("truncated", truncated)
                self._ended = ends
                if any(ends):
                    break
        self.seen = seen
        chooser.used(t + 1 - start)
        if chooser.settle(address, start, t + 1):
            self._settle(rows, start, t)
        return t + 1 - start

    def _aim(self, actor: Actor, rows: Rows) -> None:
        """Prepare the chooser."""
        chooser, self._actor = self._chooser, actor
        chooser.use(actor)
        chooser.aim(*rows)
        simulated = self.checked.simulated
        if simulated is not None and simulated.data is not self._watched:
            self._watched = simulated.data
            counted = np.array(list(BAD_NUMBERS.values()), np.int64)
            chooser.watch(self._watched.warning.number, counted)

    def _look_again(self, said: int, seen: Any, rows: Rows, start: int, t: int) -> None:
        """Before the action of row t: the fault of the step before it, or the action after all."""
        self._check_rewards(rows, start, t - 1)
        if said == WARNED:
            self.checked.check_warnings()
        if seen is not None:
            self._sight.precise(seen)
        assert self._actor is not None
        self._actor.check_mask(self.observation)
        self._chooser.choose(self._chooser.address, t, 1)

    def _settle(self, rows: Rows, start: int, t: int) -> None:
        """Check what the last step left, and the rewards of all."""
        self._check_rewards(rows, start, t)
        self.checked.check_warnings()
        self._sight.precise(self.seen)

    def _check_rewards(self, rows: Rows, start: int, last: int) -> None:
        """Raise at the first of the rows start ... last whose reward is not finite."""
        some = rows.rewards[start : last + 1]
        if np.isfinite(some).all():
            return
        bad = start + int(np.flatnonzero(~np.isfinite(some))[0])
        self.checked.steps -= last - bad
        self.checked.action = rows.actions[bad]
        self.checked.fault("reward", float(rows.rewards[bad]))

    def _fail(
        self, field: str, value: Any, rows: Rows, start: int, t: int, cause: Any = None
    ) -> NoReturn:
        """Raise for the step of row t, unless a reward before it was bad already."""
        self._check_rewards(rows, start, t - 1)
        self.checked.fault(field, value, cause)
