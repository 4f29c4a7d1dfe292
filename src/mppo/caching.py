"""Where compiled programs, XLA's and Numba's, are kept from one process to the next."""

import os
from pathlib import Path


def compiled(kind: str) -> Path | None:
    """A directory of the user's cache that exists and is his alone; None if there is to be none.

    MPPO_COMPILATION_CACHE names another directory, or says "off".
    """
    wish = os.environ.get("MPPO_COMPILATION_CACHE")
    if wish == "off":
        return None
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mppo"
    folder = (Path(wish) if wish else home) / kind
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None  # a cache is a convenience: without one, compiling takes its time
    return folder if os.access(folder, os.W_OK) else None
