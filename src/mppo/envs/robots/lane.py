"""One simulated robot without Gymnasium's overhead: the hot path of training on MuJoCo tasks.

Every number equals Gymnasium's own v5 environments bit for bit. Two habits keep it so: sums and
products run in the order and the dtype that Gymnasium has (the control cost of a float32 action is
a float32), and the random draws of a reset come in Gymnasium's order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mppo.envs.contract import State, checked_state
from mppo.envs.generators import fresh_generator, generator_words, set_generator_words
from mppo.envs.robots.engine import BAD_NUMBERS, mujoco

if TYPE_CHECKING:
    from mppo.acting.kernel import Forward
    from mppo.envs.contract import Halt, Limits, Rows
    from mppo.envs.robots.compiled import Body

PLAIN, WALKER, HOPPER, ANT = range(4)  # whose rules hold
_INTEGRATION = mujoco.mjtState.mjSTATE_INTEGRATION
_mj_step, _mj_forward, _mj_reset = mujoco.mj_step, mujoco.mj_forward, mujoco.mj_resetData
_sum = np.add.reduce
_mj_forces = mujoco.mj_rnePostConstraint
_copyto, _FLOAT32 = np.copyto, np.dtype(np.float32)


class Lane:
    """One sub-environment; a robot's class adds `_read` (observation, health) and `_pay` (reward).

    What a class does here in Python, `stretch` does again in compiled code, told by `_rules`.
    `base` is Gymnasium's own environment: the source of all parameters. The model is shared by
    the lanes of a vector environment, each has its own data.
    """

    data: Any
    model: Any
    horizon: int
    generator: np.random.Generator
    observation: np.ndarray
    elapsed: int

    def __init__(self, base: Any, model: Any, horizon: int) -> None:
        self.model, self.data = model, mujoco.MjData(model)
        self.horizon, self.elapsed = horizon, 0
        self.generator = fresh_generator()
        self.observation = np.zeros(base.observation_space.shape, dtype=np.float64)
        self._base, self._frame_skip, self._dt = base, base.frame_skip, float(base.dt)
        self._init_qpos, self._init_qvel = base.init_qpos.copy(), base.init_qvel.copy()
        self._noise = base._reset_noise_scale
        self._qpos, self._qvel, self._ctrl = self.data.qpos, self.data.qvel, self.data.ctrl
        self._action_shape = (model.nu,)
        self._skipped = base.observation_structure["skipped_qpos"]
        self._seen_qpos = self._qpos[self._skipped :]
        split = self._seen_qpos.size
        self._obs_qpos = self.observation[:split]
        self._obs_qvel = self.observation[split : split + model.nv]
        self._forward_weight = base._forward_reward_weight
        self._ctrl_weight = base._ctrl_cost_weight
        self._ctrl_weight32 = float(np.float32(self._ctrl_weight))
        self._few = model.nu < 8 and isinstance(self._ctrl_weight, (int, float))
        self._cell = memoryview(bytearray(4)).cast("f")  # rounds what is put in to float32
        self._x, self._healthy, self._terminates = 0.0, True, False
        self._needs_forces = False  # contact forces cost time and nothing else reads them
        self._warned = np.zeros(int(mujoco.mjtWarning.mjNWARNING), dtype=np.int64)
        self.warned: Callable[[], list[int]] = self.data.warning.number.tolist  # since the reset
        self._pay: Callable[[float, np.ndarray], float] = self._dense_reward
        self._sparse: tuple[float, bool] | None = None  # threshold, both directions
        self._compiled: Body | None = None

    def reset(self) -> None:
        """Draw a fresh start from the generator and fill the observation."""
        model, data, noise = self.model, self.data, self._noise
        if any(data.warning.number.tolist()):  # mj_resetData forgets them
            self._warned += data.warning.number
        _mj_reset(model, data)
        uniform = self.generator.uniform
        _copyto(self._qpos, self._init_qpos + uniform(-noise, noise, model.nq))
        _copyto(self._qvel, self._init_qvel + self._velocity_noise())
        _mj_forward(model, data)
        self.elapsed = 0
        self._read()

    def step(self, action: np.ndarray) -> tuple[float, bool, bool]:
        """Apply one action; return reward, terminated, truncated and fill the observation."""
        if action.shape != self._action_shape:
            raise ValueError(f"action has shape {action.shape}; allowed: {self._action_shape}")
        before = self._x
        _copyto(self._ctrl, action)
        _mj_step(self.model, self.data, self._frame_skip)
        if self._needs_forces:
            _mj_forces(self.model, self.data)
        self._read()
        self.elapsed += 1
        return self._pay(before, action), *self.ended()

    def stretch(self, net: Forward, limits: Limits, rows: Rows, start: int, stop: int) -> Halt:
        """Rows start ... stop - 1 with a policy, at most to the end of the episode."""
        from mppo.envs.robots.compiled import stretch

        stop = min(stop, start + self.horizon - self.elapsed)
        halt = stretch(self._body(), net, limits, rows, start, stop, self._x)
        self._x, self._healthy = halt.x, halt.healthy
        self.elapsed += halt.steps
        return halt

    def can_stretch(self) -> bool:
        """Whether MuJoCo's functions were found, and the costs are plain numbers."""
        from mppo.envs.robots.compiled import addresses

        return addresses() is not None and isinstance(self._ctrl_weight, (int, float))

    def ended(self) -> tuple[bool, bool]:
        """Whether the last step ended the episode: terminated, truncated."""
        return self._terminates and not self._healthy, self.elapsed >= self.horizon

    def _body(self) -> Body:
        """This lane for the compiled code; made once, since all arrays are views."""
        if self._compiled is None:
            from mppo.envs.robots.compiled import Body, addresses

            step, forces = addresses() or (0, 0)
            threshold, absolute = self._sparse or (0.0, False)
            body = Body(
                step,
                forces,
                self.model._address,
                self.data._address,
                int(self._frame_skip),
                self._dt,
                self._qpos,
                self._qvel,
                self._ctrl,
                self._qpos,
                self.observation,
                int(self._skipped),
                self.data.warning.number,
                np.array(list(BAD_NUMBERS.values()), np.int64),
                float(self._forward_weight),
                float(self._ctrl_weight),
                self._sparse is not None,
                absolute,
                float(self._init_qpos[0]),
                threshold,
                bool(self._terminates),
            )
            self._compiled = body._replace(**self._rules())
        return self._compiled

    def pay_past(self, threshold: float, absolute: bool) -> None:
        """Replace the reward by 1 for each step that ends beyond threshold, else 0 (sparse)."""
        start = float(self._init_qpos[0])
        self._sparse = float(threshold), bool(absolute)

        def pay(before: float, action: np.ndarray) -> float:
            moved = self._x - start
            return 1.0 if (abs(moved) if absolute else moved) > threshold else 0.0

        self._pay = pay

    def warnings(self) -> dict[str, int]:
        """How often MuJoCo met a bad number since this lane was made; resets do not clear it."""
        counts = self._warned + self.data.warning.number
        return {name: int(counts[index]) for name, index in BAD_NUMBERS.items()}

    def bad_numbers(self) -> dict[str, int]:
        """What MuJoCo called bad since the last reset; `warned` is the cheap first look."""
        counts = self.warned()
        return {name: counts[index] for name, index in BAD_NUMBERS.items() if counts[index]}

    def get_state(self) -> State:
        """All that the future depends on, as arrays."""
        physics = np.empty(mujoco.mj_stateSize(self.model, _INTEGRATION))
        mujoco.mj_getState(self.model, self.data, physics, _INTEGRATION)
        return {
            "physics": physics,
            # Neither is a function of the integration state: contact forces and body positions
            # are those of the last sub-step.
            "observation": self.observation.copy(),
            "x": np.array(self._x, dtype=np.float64),
            "elapsed": np.array(self.elapsed, dtype=np.int64),
            "generator": generator_words(self.generator),
        }

    def set_state(self, state: State) -> None:
        """Continue from what get_state returned, bit for bit."""
        state = checked_state(state, self.get_state())
        mujoco.mj_setState(self.model, self.data, state["physics"], _INTEGRATION)
        mujoco.mj_kinematics(self.model, self.data)  # for rendering; leaves the warm start alone
        self.observation[:] = state["observation"]
        self._x, self.elapsed = float(state["x"]), int(state["elapsed"])
        set_generator_words(self.generator, state["generator"])

    def _rules(self) -> dict[str, Any]:
        """What the compiled code has to know of this robot: fields of `Body`."""
        return {}

    def _velocity_noise(self) -> np.ndarray:
        return self.generator.uniform(-self._noise, self._noise, self.model.nv)

    def _read(self) -> None:
        self._x = self._qpos.item(0)
        _copyto(self._obs_qpos, self._seen_qpos)
        _copyto(self._obs_qvel, self._qvel)

    def _control_cost(self, action: np.ndarray) -> float:
        """weight * sum(square(action)) as NumPy rounds it, in the dtype of the action.

        Below eight terms NumPy adds one after the other, and a float64 holds the product and the
        sum of two float32 well enough that rounding it once more gives NumPy's float32.
        """
        if not self._few or action.dtype is not _FLOAT32:
            return float(self._ctrl_weight * _sum(action * action))
        cell, total = self._cell, 0.0
        for value in action.tolist():
            cell[0] = value * value
            cell[0] = total + cell[0]
            total = cell[0]
        cell[0] = self._ctrl_weight32 * total
        return cell[0]

    def _dense_reward(self, before: float, action: np.ndarray) -> float:
        forward = self._forward_weight * ((self._x - before) / self._dt)
        return float(forward - self._control_cost(action))
