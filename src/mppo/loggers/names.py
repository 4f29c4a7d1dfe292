"""Rows of a run as named numbers: the names of Stable-Baselines3 where it has one."""

# pyright: strict
from __future__ import annotations

from typing import Any

Row = dict[str, Any]

ROLLOUT = {
    "return_mean": "rollout/ep_rew_mean",
    "length_mean": "rollout/ep_len_mean",
    "episodes": "rollout/episodes",
    "return_error": "rollout/ep_rew_error",
    "recent_return_mean": "rollout/ep_rew_mean_100",
    "recent_length_mean": "rollout/ep_len_mean_100",
}
TRAIN = {
    "kl": "train/approx_kl",
    "surrogate_gain": "train/policy_objective",
    "line_search_success": "train/is_line_search_success",
}
"""Ours to theirs; any other number of a row goes under `train/` with its own name."""
PATHS = ("picked", "slot")
EACH_PATH = ("performance", "entropy", "picks", "style")
ELSEWHERE = {"iteration", "steps", *ROLLOUT, *TRAIN, *PATHS, *EACH_PATH}
EVAL = {
    "mean_return": "eval/mean_reward",
    "mean_return_deterministic": "eval/mean_reward_deterministic",
    "mean_return_own_noise": "eval/mean_reward_own_noise",
    "path": "eval/path",
}


class Scalars:
    """From rows to numbers, in the order of the run: it adds up the time."""

    def __init__(self) -> None:
        self._elapsed, self._before = 0.0, 0

    def __call__(self, row: Row, timing: Row | None, evaluation: Row | None) -> dict[str, float]:
        """The numbers of one iteration; what is null in the rows is left out."""
        found: Row = {"time/iterations": row["iteration"] + 1, "time/total_timesteps": row["steps"]}
        found |= {name: row.get(key) for key, name in (ROLLOUT | TRAIN).items()}
        found |= {f"train/{key}": value for key, value in row.items() if key not in ELSEWHERE}
        if "line_search_success" in row:  # sb3-contrib's name of the same number in TRPO
            found["train/kl_divergence_loss"] = row["kl"]
        entropy = row["entropy"][row.get("slot", row["picked"])]
        found |= {"train/entropy": entropy, "train/entropy_loss": _negative(entropy)}
        found |= {f"paths/{name}": row.get(name) for name in PATHS}
        for name in EACH_PATH:
            found |= {f"paths/{name}_{k}": value for k, value in enumerate(row.get(name, ()))}
        if timing is not None:
            found |= self._time(row, timing)
        if evaluation is not None:
            found |= {name: evaluation.get(key) for key, name in EVAL.items()}
        self._before = row["steps"]
        return {name: float(value) for name, value in found.items() if _is_number(value)}

    def _time(self, row: Row, timing: Row) -> Row:
        seconds = timing["simulation"] + timing["learning"]
        self._elapsed += seconds + timing["evaluation"]
        rate = (row["steps"] - self._before) / seconds if seconds > 0 else None
        return {"time/fps": rate, "time/time_elapsed": self._elapsed}


def _negative(value: Any) -> float | None:
    return -value if _is_number(value) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)  # truth values are numbers here: 0 and 1
