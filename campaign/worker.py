"""A process that does cases of one part, one after the other, and can be lost without harm.

It reads cases from its input and answers with one line of JSON for each.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from campaign.ledger import Row
from campaign.small import surroundings


class Worker:
    """The other end: starts the process when first asked, and again if it dies."""

    def __init__(self, part: str, folder: Path):
        self.part, self.folder = part, folder
        self._process: subprocess.Popen | None = None

    def ask(self, case: str) -> Row:
        """The row of a case; if the process dies over it, that is its outcome."""
        if self._process is None:
            self.folder.mkdir(exist_ok=True)
            self._process = subprocess.Popen(
                [sys.executable, "-m", "campaign.worker", self.part, str(self.folder)],
                env=surroundings(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(case + "\n")
            self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if answer:
            return json.loads(answer)
        code, self._process = self._process.wait(), None
        return {"ok": False, "died": code}

    def close(self) -> None:
        """Let the process end."""
        if self._process is not None:
            self._process.communicate()


def handler(part: str, folder: Path) -> Callable[[str], Row]:
    """What does the cases of a part."""
    if part == "failpoints":
        from campaign.failpoints import Prepared

        return Prepared(folder).run
    from campaign.faults import meet

    return lambda case: meet(case, folder)


def main(part: str, folder: Path) -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    with contextlib.redirect_stdout(io.StringIO()):  # what mppo says to its user is not ours
        do = handler(part, folder)
        for line in sys.stdin:
            try:
                row = do(line.strip())
            except Exception:
                row = {"ok": False, "broken": traceback.format_exc()[-600:]}
            answers.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
