"""One robot of a sparse task as a single environment."""

from __future__ import annotations

from typing import Any, cast

from mppo.envs.batch import BatchEnv
from mppo.envs.robots.simulation import RENDER_MODES, RobotSimulation


class RobotEnv(BatchEnv):
    """A robot with what Gymnasium's MuJoCo environments show: `model`, `data` and `dt`."""

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES}  # noqa: RUF012  (as gymnasium.Env)

    def __init__(self, task: str, **kwargs: Any) -> None:
        super().__init__(task, **kwargs)
        simulation = cast(RobotSimulation, self.simulation)
        self.model: Any = simulation.lanes[0].model
        self.data: Any = simulation.lanes[0].data
        self.dt: float = simulation.factory.base.dt
