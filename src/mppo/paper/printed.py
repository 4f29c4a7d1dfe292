"""What the paper printed, as data: its tables, and the values and claims stated in its text.

Arrays of tables are in the paper's order. `tests/paper/test_printed.py` compares every number with
the paper's source where that is at hand.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from mppo.bench.memory import PRINTED_MEMORY
from mppo.paper.artefacts import PPO_METHODS, SEEDS, TRPO_METHODS
from mppo.statistics.comparisons import Moments
from mppo.statistics.intervals import PAPER_LEVEL, t_half_width

Metric = Literal["final", "area"]
METRICS: dict[Metric, str] = {"final": "final return", "area": "mean over the run"}
"""What a run is judged by: the mean of the last tenth of its evaluations, and of all of them."""


class Value(NamedTuple):
    """A mean over six seeds with the number in brackets behind it."""

    mean: float
    bracket: float
    digits: int = 2
    """Decimal places printed."""

    @property
    def rounding(self) -> float:
        """How far the true mean may be from the printed one."""
        return 0.5 * 10.0**-self.digits

    @property
    def moments(self) -> Moments:
        """The group of six seeds behind it, if the bracket is t(0.75) s / sqrt(6)."""
        deviation = self.bracket / float(t_half_width(1.0, len(SEEDS), PAPER_LEVEL))
        return Moments(self.mean, deviation, len(SEEDS))


class PrintedTable(NamedTuple):
    """A table of final returns."""

    identifier: str
    source: str
    label: str
    """LaTeX label in the paper's source."""
    methods: tuple[str, ...]
    rows: dict[str, tuple[Value, ...]]

    def value(self, task: str, method: str) -> Value:
        """One cell."""
        return self.rows[task][self.methods.index(method)]

    def scale(self, task: str) -> float:
        """The best printed value of a task: what its differences are measured by."""
        return max(value.mean for value in self.rows[task])


def _row(*numbers: float) -> tuple[Value, ...]:
    return tuple(Value(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True))


TABLE_1 = PrintedTable(
    "table-1",
    "Table 1: Comparison of MP-TRPO on final performance (mean and confidence interval)",
    "tab:table_comparison",
    TRPO_METHODS,
    {
        "Ant": _row(3017.02, 116.405, -470.05, 57.65, 2635.00, 138.28, 2744.79, 190.23,
                    0.93, 1.99, 3.90, 1.19, 2558.33, 120.89),
        "Hopper": _row(3257.55, 62.68, 76.25, 32.68, 2957.31, 82.94, 2786.99, 258.17,
                       2878.34, 91.57, 3138.41, 17.66, 2947.19, 111.43),
        "Swimmer": _row(340.92, 4.39, 179.67, 29.63, 199.06, 20.58, 232.89, 38.93,
                        198.00, 27.47, 339.17, 2.21, 186.21, 32.63),
        "SparseCartPoleSwingup": _row(320.47, 14.48, 49.10, 16.99, 203.22, 33.56, 244.23, 11.42,
                                      180.17, 11.50, 213.07, 4.07, 238.88, 11.08),
        "SparseDoublePendulum": _row(1.00, 0.00, 0.33, 0.15, 1.00, 0.00, 1.00, 0.00,
                                     0.83, 0.12, 0.98, 0.01, 1.00, 0.00),
        "SparseHalfCheetah": _row(756.02, 14.02, 24.52, 8.14, 699.03, 57.15, 656.98, 29.24,
                                  438.50, 66.98, 676.22, 14.35, 639.32, 38.40),
        "SparseHopper": _row(302.32, 52.48, 0.00, 0.00, 89.60, 45.09, 188.47, 33.51,
                             14.63, 10.29, 38.33, 25.82, 182.63, 60.13),
        "SparseWalker2d": _row(186.48, 43.15, 0.00, 0.00, 112.75, 33.29, 87.33, 25.18,
                               37.67, 12.57, 56.18, 17.27, 53.78, 15.57),
    },
)  # fmt: skip

TABLE_2 = PrintedTable(
    "table-2",
    "Table 2: Comparison of MP-PPO on eventual performance (mean and confidence interval)",
    "tab:table_comparison_ppo",
    PPO_METHODS,
    {
        "Ant": _row(1992.21, 216.33, 902.31, 101.00, 1131.90, 110.94, 1311.35, 220.93),
        "Hopper": _row(2264.54, 234.95, 1449.33, 224.93, 2073.46, 161.47, 1457.18, 258.87),
        "Swimmer": _row(109.96, 1.93, 100.28, 9.08, 98.79, 6.99, 106.12, 2.78),
        "SparseCartPoleSwingup": _row(352.12, 16.14, 135.65, 37.47, 238.02, 55.98, 294.88, 43.42),
        "SparseDoublePendulum": (
            Value(1.0, 0.0, digits=1),  # printed without a bracket
            *_row(0.67, 0.15, 0.83, 0.12, 0.67, 0.15),
        ),
        "SparseHalfCheetah": _row(593.37, 40.60, 456.65, 35.86, 478.70, 59.02, 463.07, 36.72),
        "SparseHopper": _row(131.35, 40.08, 57.88, 19.86, 63.75, 22.69, 90.40, 37.61),
        "SparseWalker2d": _row(55.93, 31.98, 1.67, 1.17, 41.68, 19.91, 10.20, 7.18),
    },
)  # fmt: skip

TABLES = {table.identifier: table for table in (TABLE_1, TABLE_2)}


MEMORY = {f"table-memory-{base}": base for base in PRINTED_MEMORY}
"""The tables of Appendix C, on SparseDoublePendulum, by the base method."""
MEMORY_SOURCES = {
    base: f"Appendix C, Table {n}: memory consumption for MP-{base.upper()} with different K"
    for base, n in (("trpo", 3), ("ppo", 4))
}
STATED_GROWTH = {"trpo": (8, 1.67), "ppo": (2, 4.78)}
"""Section 4.3: "only uses 1.67% and 4.78% more memory for MP-TRPO (K=8) and MP-PPO (K=2)"; these
are the quotients of the GPU column."""

MAZE_SOLVED_AFTER = 600_000
"""Section 3.1: MP-TRPO "can always successfully reach the destination after 0.6 million steps"."""
BEST_PATHS = {"trpo": 8, "ppo": 2}
BEST_ALPHA = 0.1


class Claim(NamedTuple):
    """A sentence of the paper: one method or setting is better than each of several others."""

    words: str
    better: str
    worse: tuple[str, ...]
    metric: Metric = "final"
    source: str = ""


COMPONENTS = "Section 4.4, Effect of each component"
CLAIMS = {
    "table-1": (
        Claim(
            "MP-TRPO achieves the best final performance in all environments",
            "mp-trpo", TRPO_METHODS[1:], source="Section 4.4, Table 1",
        ),
        Claim(
            "MP-TRPO is consistently more sample efficient than Div-TRPO in all environments",
            "mp-trpo", ("div-trpo",), "area", "Section 4.4, Figure 7",
        ),
        Claim(
            "it outperforms Curiosity-TRPO in all but one environment in terms of sample "
            "efficiency",
            "mp-trpo", ("curiosity-trpo",), "area", "Section 4.4, Figure 7",
        ),
        Claim(
            "Multi-TRPO outperforms Multi-TRPO (Independent)",
            "multi-trpo", ("multi-trpo-independent",), source=COMPONENTS,
        ),
        Claim(
            "MP-TRPO (ReplaceWorst) performs worse than Multi-TRPO (Independent)",
            "multi-trpo-independent", ("mp-trpo-replace-worst",), source=COMPONENTS,
        ),
    ),
    "table-2": tuple(
        Claim(
            "MP-PPO outperforms the baseline methods in all environments in terms of sample "
            "efficiency and final performance",
            "mp-ppo", PPO_METHODS[1:], metric, "Section 4.4, Performance based on PPO",
        )
        for metric in METRICS
    ),
}  # fmt: skip
