"""Where compiled programs, XLA's and Numba's, are kept from one process to the next.

Reading such a file executes it: XLA's are machine code, Numba's are pickles around it. Whoever can
write to the folder can therefore act as the user; one that others can write to is not used.
"""

from __future__ import annotations

import os
import stat
import warnings
from pathlib import Path

_ROOT, _UNMAPPED = 0, 65534  # inside a container, owners from outside appear as the second


def compiled(kind: str) -> Path | None:
    """A directory of the user's cache that exists and is his alone; None if there is to be none.

    MPPO_COMPILATION_CACHE names another directory, or says "off".
    """
    wish = os.environ.get("MPPO_COMPILATION_CACHE")
    if wish == "off":
        return None
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mppo"
    try:
        folder = _made((Path(wish) if wish else home) / kind)
        fault = _open_to_others(folder)
        if fault is None and stat.S_IMODE(folder.stat().st_mode) != 0o700:
            folder.chmod(0o700)  # whatever Numba makes below it is then out of reach
    except OSError:
        return None  # a cache is a convenience: without one, compiling takes its time
    if fault is not None:
        warnings.warn(
            f"compiled programs are not kept: {fault}, and reading them executes them; make it "
            'yours alone, or set MPPO_COMPILATION_CACHE to another folder or to "off"',
            RuntimeWarning,
            stacklevel=3,
        )
        return None
    return folder if os.access(folder, os.W_OK) else None


def _made(folder: Path) -> Path:
    """The folder without links on the way; what is missing of it is made for the user alone."""
    for place in (*reversed(folder.parents), folder):
        place.mkdir(mode=0o700, exist_ok=True)
    return folder.resolve(strict=True)


def _open_to_others(folder: Path) -> str | None:
    """Who else could put a file there, or put another folder in its place; None if nobody.

    Permission bits are looked at, access lists and what a file server does are not.
    """
    if not hasattr(os, "geteuid"):
        return None  # Windows: a profile belongs to its user
    me = os.geteuid()
    for place in (folder, *folder.parents):
        found = place.stat()
        trusted = (me,) if place == folder else (me, _ROOT, _UNMAPPED)
        if found.st_uid not in trusted:
            return f'"{place}" belongs to another user'
        shared = found.st_mode & stat.S_IWGRP and not _is_private(found.st_gid, me)
        kept = place != folder and found.st_mode & stat.S_ISVTX  # as /tmp: what is mine stays
        if (shared or found.st_mode & stat.S_IWOTH) and not kept:
            return f'others can write to "{place}"'
    return None


def _is_private(group: int, user: int) -> bool:
    """Whether a group is the user's own: it has his name, as is usual, and no other member."""
    import grp
    import pwd

    try:
        known, name = grp.getgrgid(group), pwd.getpwuid(user).pw_name
    except KeyError:
        return False
    return known.gr_name == name and set(known.gr_mem) <= {name}
