"""The command line in a process of its own, as a user runs it, but for the second that importing everything takes."""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from stridecheck.reports.records import read_results

SECONDS = 300
COMMAND = [sys.executable, "-m", "stridecheck"]

IMPORTER = "# imports the commands once, and forks for each that is run"
"""How the process that stays for the tests' commands is known among a test's children."""

_FORKING = f"""{IMPORTER}
import atexit, json, os, runpy, sys, threading
from stridecheck.commands import bench, check, claims, exchange, mutants, results, rules
from stridecheck.reports import frames, html
pages = html._environment()
for name in pages.list_templates(["html"]):
    pages.get_template(name)  # to compile them takes as long as a small check
for line in sys.stdin:
    asked = json.loads(line)
    pid = os.fork()
    if pid == 0:
        for number, name, how in ((0, os.devnull, os.O_RDONLY), (1, "out", os.O_WRONLY), (2, "err", os.O_WRONLY)):
            os.dup2(os.open(asked.get(name, name), how), number)
        os.chdir(asked["cwd"])
        sys.argv = asked["argv"]
        code = 0
        try:
            runpy.run_module("stridecheck", run_name="__main__", alter_sys=True)
        except SystemExit as end:
            code = int(end.code or 0)
        # As an interpreter ends, but for taking all modules apart, which takes half a second.
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


@cache
def _importer() -> subprocess.Popen[bytes]:
    """An interpreter that has imported the commands, and forks itself for each that is asked for."""
    process = subprocess.Popen(
        [sys.executable, "-c", _FORKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    atexit.register(_end, process)
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def run(*arguments: object, cwd: Path | str = ".", **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `stridecheck` with these arguments to its end; with other options than `cwd`, in a fresh interpreter.

    Raises
    ------
    subprocess.TimeoutExpired
        It has not ended within `SECONDS`.
    """
    words = [*map(str, arguments)]
    if options:
        return subprocess.run(
            [*COMMAND, *words], capture_output=True, text=True, timeout=SECONDS, check=False, cwd=cwd, **options
        )
    process = _importer()
    assert process.stdin is not None
    assert process.stdout is not None
    with tempfile.NamedTemporaryFile("r") as out, tempfile.NamedTemporaryFile("r") as err:
        asked = {"argv": ["stridecheck", *words], "cwd": os.path.abspath(cwd), "out": out.name, "err": err.name}
        process.stdin.write(json.dumps(asked).encode() + b"\n")
        process.stdin.flush()
        if not select.select([process.stdout], [], [], SECONDS)[0]:
            _end(process)
            _importer.cache_clear()
            raise subprocess.TimeoutExpired(words, SECONDS)
        status = int(process.stdout.readline())
        return subprocess.CompletedProcess(words, status, out.read(), err.read())


def said(done: subprocess.CompletedProcess[str]) -> str:
    """All that a command has said."""
    return done.stdout + done.stderr


def records_of(out: Path) -> list[Any]:
    """What the results in a directory hold."""
    return list(read_results(out / "results.jsonl"))
