"""Reads the pages of `docs/findings/` and runs their scripts: each fails for as long as the deviation is there.

A finding is a section `### ID: title` with a table of facts (`| kind | bug |`) and one Python block, its script.
Standard library only.
"""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

KINDS = ("bug", "documented difference", "design choice")
FACTS = ("kind", "rule", "aspect", "program", "versions", "thread")
"""What the table of each finding says, in this order; `thread` is a link, or `not known`."""
MAX_LINES = 15
SECONDS = 120


class Finding(NamedTuple):
    """One deviation of one cause."""

    id: str
    title: str
    facts: Mapping[str, str]
    script: str


def read_findings(page: Path) -> list[Finding]:
    """The findings of a page, in order."""
    found = []
    for section in re.split(r"^### ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        heading, _, text = section.partition("\n")
        name, _, title = heading.partition(": ")
        facts = dict(re.findall(r"^\| (\w+) \| (.*) \|$", text, flags=re.MULTILINE))
        scripts = re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
        found.append(Finding(name, title, facts, scripts[0] if scripts else ""))
    return found


def show(finding: Finding, python: Path) -> str:
    """What is wrong with a finding where that interpreter runs its script; empty where it shows the deviation.

    The script must end by an assertion that fails, by a signal where it says `# ends: SIGNAL`, or by an exception where
    it says `# raises: TYPE`.
    """
    command = [str(python), "-W", "ignore", "-c", finding.script]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"did not end within {SECONDS} s"
    last = (done.stderr.strip().splitlines() or [""])[-1]
    if done.returncode == 0:
        return "no longer shows"
    if ends := re.search(r"# ends: (\w+)", finding.script):
        wanted = -signal.Signals[ends[1]]
        return "" if done.returncode == wanted else f"ended with {done.returncode}, not {wanted}: {last}"
    raises = re.search(r"# raises: (\w+)", finding.script)
    wanted_error = raises[1] if raises else "AssertionError"
    lines = [line for line in done.stderr.splitlines() if not line.startswith((" ", "\t"))]
    return (
        ""
        if any(re.match(rf"([\w.]+\.)?{wanted_error}\b", line) for line in lines)
        else f"showed something else: {last}"
    )
