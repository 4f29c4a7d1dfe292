"""A run's process in small: `python child.py BEHAVIOUR... mppo-words`, without jax or physics.

It takes the lock of its run directory, writes rows that depend on the words alone, keeps a
checkpoint number, and ends as the behaviour says.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

from mppo.errors import RunLocked
from mppo.files.atomic import Lock

ROWS = 20


def main(words):
    out = Path(words[words.index("--out") + 1])
    seed = int(words[words.index("--seed") + 1])
    pause = float(os.environ.get("CHILD_PAUSE", "0.01"))
    behaviour = json.loads(os.environ.get("CHILD_BEHAVIOUR", "{}")).get(str(seed), "well")
    out.mkdir(parents=True, exist_ok=True)
    try:
        lock = Lock(out)
    except RunLocked:
        return 73
    with (out / "attempts").open("a") as file:
        file.write(f"{os.getpid()}\n")
    if (out / "final.json").exists():
        return 0
    if behaviour.startswith("exit "):
        print(f"mppo: it ended with {behaviour}", file=sys.stderr)
        return int(behaviour.removeprefix("exit "))
    done = len((out / "rows").read_text().splitlines()) if (out / "rows").exists() else 0
    for row in range(done, ROWS):
        time.sleep(pause)
        with (out / "rows").open("a") as file:
            file.write(f"{seed} {row}\n")
        if behaviour == "killed" and row == done + 3:
            os.kill(os.getpid(), signal.SIGKILL)
    (out / "run.json").write_text(json.dumps({"seed": seed}))
    temporary = out / f".final-{os.getpid()}"
    temporary.write_text(json.dumps({"seed": seed, "rows": ROWS}))
    os.link(temporary, out / "final.json")  # fails if the run was finished twice
    temporary.unlink()
    lock.release()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
