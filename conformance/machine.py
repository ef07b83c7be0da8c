"""What a run happened on: the facts without which neither verdicts nor timings can be compared."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stridecheck.reports import records

import stridecheck


def describe() -> dict[str, Any]:
    """CPU model, cores, memory in bytes, system, Python, and the thread count that libraries are asked to use."""
    return {
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "threads": int(os.environ.get("STRIDECHECK_THREADS", "1")),
    }


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def commit() -> str:
    """Commit of the checkout that the suite runs from, with `+` where files differ from it; empty outside one."""
    root = Path(__file__).resolve().parent.parent
    if not (root / ".git").exists():
        return ""
    try:
        name = _git(root, "rev-parse", "--short=12", "HEAD")
        return name + ("+" if _git(root, "status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return ""


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True, timeout=10)
    return done.stdout.strip()


def now() -> str:
    """The time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def header(command: str, arguments: Mapping[str, Any], rules: Sequence[Mapping[str, Any]] = ()) -> records.Header:
    """The first record of a run that starts now."""
    return records.Header(
        suite=stridecheck.__version__,
        commit=commit(),
        started=now(),
        command=command,
        arguments=dict(arguments),
        machine=describe(),
        rules=tuple(rules),
    )
