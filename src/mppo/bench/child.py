"""The measured process: `python -m mppo.bench.child CORES TRAINING`, both JSON; prints JSON."""

from __future__ import annotations

import json
import os
import sys


def main(words: list[str]) -> int:
    """Take the cores, then import what starts threads, then measure."""
    cores, training = (json.loads(word) for word in words)
    if cores:
        os.sched_setaffinity(0, cores)
    from mppo.bench import machine
    from mppo.bench.measured import Training

    wanted = Training(**training)
    if wanted.alternate:
        from mppo.bench.alternation import alternate as measure
    else:
        from mppo.bench.training import measure
    found = measure(wanted)
    print(json.dumps({"cores": machine.cores(), **found}), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
