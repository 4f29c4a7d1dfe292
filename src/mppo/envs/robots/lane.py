"""One simulated robot without Gymnasium's overhead: what training on MuJoCo tasks steps.

Every number equals Gymnasium's own v5 environments bit for bit; the random draws of a reset come
in Gymnasium's order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mppo.envs import contract
from mppo.envs.contract import Limits, Rows, State
from mppo.envs.robots import compiled
from mppo.envs.robots.engine import BAD_NUMBERS, PHYSICS, bad_numbers, mujoco, physics_of
from mppo.envs.robots.gates import Gates, no_gates, pass_gates
from mppo.envs.robots.rules import HEALTHY, OBSERVE, REWARD, Body, Robot, Rule, body_of
from mppo.machine.compilers import address_of
from mppo.machine.seeding import Role, generator

if TYPE_CHECKING:
    from mppo.acting.actor import Actor


class MujocoLane:
    """One robot; after every step its observation, health and reward are those of its rules.

    `base` is Gymnasium's own environment: the source of all parameters. The model is shared by
    the lanes of a vector environment, each has its own data.
    """

    parallel: bool = True

    def __init__(self, robot: Robot, base: Any, horizon: int, gates: Gates | None = None) -> None:
        self.model: Any = base.model
        self.data: Any = mujoco.MjData(base.model)
        self.horizon: int = horizon
        self.elapsed: int = 0
        self.frame_skip: int = int(base.frame_skip)
        self.generator: np.random.Generator = contract.fresh_generator()
        self._seen: np.ndarray = np.zeros(base.observation_space.shape, dtype=np.float64)
        self._fresh: bool = False  # nobody looked since the reset: compiled steps look themselves
        self._robot, self._base = robot, base
        self._place, self._healthy = 0.0, True
        self._gates = gates or no_gates(base.model.nu)
        mj_step, mj_forces = compiled.addresses() or (0, 0)
        physics = compiled.Physics(
            mj_step,
            mj_forces if robot.reads_forces else 0,
            self.model._address,
            self.data._address,
            self.frame_skip,
            self.data.warning.number,
            np.array(list(BAD_NUMBERS.values()), np.int64),
        )
        self._compiled = compiled.CompiledLane(
            physics,
            body_of(self.model, self.data, robot.place(base, self.data)),
            _compiled(robot.observe, OBSERVE, base),
            _compiled(robot.healthy or Rule(_stands), HEALTHY, base),
            _compiled(robot.reward, REWARD, base),
            robot.healthy is not None and robot.terminates(base),
            self._seen,
            self._gates,
        )

    @property
    def observation(self) -> np.ndarray:
        """What is seen now; always the same array."""
        if self._fresh:
            self._look(self._compiled)
        return self._seen

    @property
    def action(self) -> np.ndarray:
        """The action of the last step, as MuJoCo was given it."""
        return self.data.ctrl

    def begin(self, seed: int, role: Role, *indices: int) -> None:
        """Start the first episode of a stream."""
        self.generator = generator(seed, role, *indices)
        self.reset()

    def reset(self) -> None:
        """Draw a fresh start from the generator."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = self._robot.start(self._base, self.generator)
        mujoco.mj_forward(self.model, self.data)
        self.elapsed, self._healthy, self._fresh = 0, True, True

    def step(self, action: np.ndarray) -> tuple[float, bool, bool]:
        """Apply one action; return reward, terminated, truncated and fill the observation."""
        if action.shape != (self.model.nu,):
            raise ValueError(f"action has shape {action.shape}; allowed: {(self.model.nu,)}")
        if self._fresh:  # the reward looks back at where the robot was
            self._look(self._compiled)
        if self._gates.kinds.size:
            action = action.copy()
            pass_gates(action, self._gates)
        self.data.ctrl[:] = action
        mujoco.mj_step(self.model, self.data, self.frame_skip)
        if self._robot.reads_forces:
            mujoco.mj_rnePostConstraint(self.model, self.data)
        self.elapsed += 1
        lane = self._compiled
        if action.dtype != np.float32:
            lane = lane._replace(body=lane.body._replace(single=False))
        return self._look(lane), *self.ended()

    def _look(self, lane: compiled.CompiledLane) -> float:
        """Fill the observation, see to place and health, and return the reward."""
        reward, self._healthy = compiled.after_step(lane, self._place)
        self._place, self._fresh = lane.body.place.item(0), False
        return reward

    def run_steps(self, actor: Actor, limits: Limits, rows: Rows, start: int, stop: int) -> int:
        """Rows start ... stop - 1 with a policy, at most to the end of the episode.

        A policy that compiled code cannot run takes one step.
        """
        net = actor.adds_noise
        if net is None or not self._compiled.physics.mj_step:
            rows.observations[start] = self.observation
            rows.actions[start] = actor.act(rows.observations[start], rows.noise[start])
            action = compiled.bound_action(rows.actions[start].copy(), limits)
            rows.rewards[start], _, _ = self.step(action)
            return 1
        stop = min(stop, start + self.horizon - self.elapsed)
        lane, begins = self._compiled, (self._place, self._fresh)
        taken = compiled.run_steps(lane, net, limits, rows, start, stop, *begins)
        steps, self._place, self._healthy = taken
        self.elapsed, self._fresh = self.elapsed + steps, False
        return steps

    def ended(self) -> tuple[bool, bool]:
        """Whether the last step ended the episode: terminated, truncated."""
        return self._compiled.terminates and not self._healthy, self.elapsed >= self.horizon

    def bad_numbers(self) -> dict[str, int]:
        """What MuJoCo called bad since the last reset, and how often."""
        return bad_numbers(self.data)

    def get_state(self) -> State:
        """All that the future depends on, as arrays."""
        return {
            "physics": physics_of(self.model, self.data),
            # Neither is a function of the integration state: contact forces and body positions
            # are those of the last sub-step.
            "observation": self.observation.copy(),
            "x": np.array(self._place, dtype=np.float64),
            "elapsed": np.array(self.elapsed, dtype=np.int64),
            "generator": contract.generator_words(self.generator),
        }

    def set_state(self, state: State) -> None:
        """Continue from what get_state returned, bit for bit."""
        state = contract.checked_state(state, self.get_state())
        mujoco.mj_setState(self.model, self.data, state["physics"], PHYSICS)
        mujoco.mj_kinematics(self.model, self.data)  # for rendering; leaves the warm start alone
        self._seen[:], self._fresh = state["observation"], False
        self._place, self.elapsed = float(state["x"]), int(state["elapsed"])
        contract.set_generator_words(self.generator, state["generator"])


def _stands(body: Body, numbers: np.ndarray) -> bool:
    return True


def _compiled(rule: Rule, signature: Any, base: Any) -> compiled.CompiledRule:
    numbers = np.array([float(number) for number in rule.numbers(base)], np.float64)
    ours = rule.function.__module__.startswith("mppo.")
    return compiled.CompiledRule(address_of(rule.function, signature, kept=ours), numbers)
