"""What all commands that read a run directory share."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from mppo.cli.parser import Parser, whole_number

if TYPE_CHECKING:
    from mppo.training.opening import Opened


def add_run_options(parser: Parser) -> None:
    """The directory, which of its policies, and whether its code may be imported."""
    parser.add_argument("dir", metavar="DIR", help="the run directory, finished or not")
    parser.add_argument(
        "--path",
        type=whole_number,
        metavar="K",
        help="the policy of path K (default: the one that the picking rule reports)",
    )
    parser.add_argument(
        "--allow-imports",
        action="store_true",
        help="import code of other packages that the run names",
    )


def open_run(options: Any) -> Opened:
    """The run that these options name."""
    from mppo.training.opening import opened

    if options.allow_imports:
        sys.path.append(os.getcwd())  # as `mppo train` does
    return opened(options.dir, allow_imports=options.allow_imports)
