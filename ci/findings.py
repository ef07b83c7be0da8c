"""Reads the pages of `docs/findings/` and runs their scripts: each fails for as long as the deviation is there.

A finding is a section `### ID: title` with a table of facts (`| kind | bug |`) and one Python block, its script.
Standard library only.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
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

    @property
    def needs_inductor(self) -> bool:
        """Whether its script compiles C++."""
        return 'backend="inductor"' in self.script


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


class Ended(NamedTuple):
    """How a script ended: its process' exit code, and what it wrote to standard error."""

    code: int
    told: str


Run = Callable[[str], Ended]
"""Runs a script; raises TimeoutError where it does not end within `SECONDS`."""


def alone(python: Path) -> Run:
    """Runs each script in an interpreter of its own."""

    def run(script: str) -> Ended:
        command = [str(python), "-W", "ignore", "-c", script]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        return Ended(done.returncode, done.stderr)

    return run


@contextmanager
def forked(python: Path, module: str) -> Iterator[Run]:
    """Runs each script in a fork of one interpreter that has imported a module: most of a script's time goes there.

    For libraries that survive a fork.
    """
    command = [str(python), "-W", "ignore", "-c", _FORKING.format(module=module, seconds=SECONDS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, answers = process.stdin, process.stdout

        def run(script: str) -> Ended:
            with suppress(BrokenPipeError):
                asked.write(json.dumps(script).encode() + b"\n")
                asked.flush()
            # Each script has a clock of its own, so that no answer is taken for that of the next one.
            if not select.select([answers], [], [], 2 * SECONDS)[0]:
                os.killpg(process.pid, signal.SIGKILL)
            line = answers.readline()
            ended = Ended(*json.loads(line)) if line else Ended(1, "the interpreter that it was to run in has ended")
            if ended.code == -signal.SIGALRM:
                raise TimeoutError
            return ended

        try:
            yield run
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            with suppress(BrokenPipeError):  # what was written to an interpreter that had ended is still to be sent
                asked.close()


_FORKING = """
import json, os, signal, sys, tempfile, traceback
import {module}
for line in sys.stdin:
    with tempfile.TemporaryFile() as told:
        pid = os.fork()
        if pid == 0:
            os.dup2(told.fileno(), 2)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            code = 1
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, {seconds})
            try:
                exec(compile(json.loads(line), "<finding>", "exec"), {{"__name__": "__main__"}})
                code = 0
            except BaseException:
                traceback.print_exc()
                sys.stderr.flush()
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        told.seek(0)
        print(json.dumps([code, told.read().decode(errors="replace")]), flush=True)
"""


def show(finding: Finding, run: Run) -> str:
    """What is wrong with a finding where its script is run so; empty where it shows the deviation.

    The script must end by a signal where it says `# ends: SIGNAL`, by an exception where it says `# raises: TYPE`, else
    by an assertion that fails. What shows in several ways says all: `# ends: SIGSEGV, SIGABRT`, beside `raises` or not.
    """
    try:
        code, told = run(finding.script)
    except TimeoutError:
        return f"did not end within {SECONDS} s"
    last = (told.strip().splitlines() or [""])[-1]
    if code == 0:
        return "no longer shows"
    signals, errors = _stated("ends", finding.script), _stated("raises", finding.script)
    if code < 0 and signals:
        return "" if signal.Signals(-code).name in signals else f"ended by {signal.Signals(-code).name}: {last}"
    if signals and not errors:
        return f"showed something else than {' or '.join(signals)}: {last}"
    wanted = "|".join(errors or ["AssertionError"])
    lines = [line for line in told.splitlines() if not line.startswith((" ", "\t"))]
    is_shown = any(re.match(rf"([\w.]+\.)?({wanted})\b", line) for line in lines)
    return "" if is_shown else f"showed something else: {last}"


def _stated(what: str, script: str) -> list[str]:
    """The names that a script's comment `# WHAT: NAME, NAME` gives."""
    stated = re.search(rf"# {what}: (.+)", script)
    return stated[1].split(", ") if stated else []
