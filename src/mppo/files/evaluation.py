"""When and how a policy is evaluated while it is trained."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Evaluation:
    """As in the paper: 10 episodes every 10,000 steps. These steps are no samples."""

    every: int = 10_000
    """Environment steps between evaluations; 0 is never."""
    episodes: int = 10
    """Episodes with sampled actions."""
    deterministic_episodes: int = 10
    """Episodes with the most likely actions, logged beside; 0 leaves them out."""

    @property
    def options(self) -> dict[str, int]:
        """The same as options of training."""
        return {f"eval_{name}": number for name, number in asdict(self).items()}

    def due(self, iteration: int, batch: int) -> bool:
        """At the first iteration's end at or after each multiple of the interval."""
        if not self.every or not iteration:
            return False
        return iteration * batch // self.every > (iteration - 1) * batch // self.every
