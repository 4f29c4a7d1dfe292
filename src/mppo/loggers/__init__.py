"""Where else a run's numbers go: TensorBoard, CSV, Weights & Biases, Trackio.

`metrics.jsonl` and its like are the truth; everything here is derived from their rows, while the
run goes on or afterwards, and says the same in both cases.
"""

# pyright: strict
from __future__ import annotations

from mppo.loggers.records import Logger, Loggers, Record, Scalars, send, write_csv
from mppo.loggers.services import TensorBoard, Trackio, WandB

__all__ = [
    "Logger",
    "Loggers",
    "Record",
    "Scalars",
    "TensorBoard",
    "Trackio",
    "WandB",
    "send",
    "write_csv",
]
