"""What a result depends on besides the code: processor, cores, versions. No names, no paths."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
from contextlib import suppress
from pathlib import Path
from typing import Any

from mppo.machine.threads import available_cores

PACKAGES = ("mppo", "jax", "jaxlib", "numpy", "optax", "gymnasium", "mujoco")


def description() -> dict[str, Any]:
    """The machine, for the record; not every system can pin a process or tell its load."""
    return {
        "processor": _processor(),
        "cores": available_cores(),
        "pinned": hasattr(os, "sched_setaffinity"),
        "memory_mib": _memory_mib(),
        "system": platform.system(),
        "load_before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "versions": {
            "python": platform.python_version(),
            **{name: importlib.metadata.version(name) for name in PACKAGES},
        },
    }


def cores() -> list[int]:
    """The cores this process may use, by number; empty where a process cannot be pinned."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def source() -> str:
    """A digest of this package's files: an edit in the middle of a session spoils it."""
    digest = hashlib.sha256()
    folder = Path(__file__).parents[1]
    for file in sorted(folder.rglob("*.py")):
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory_mib() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    except (ValueError, OSError, AttributeError):
        return None
