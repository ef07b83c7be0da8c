"""Runs standalone scripts as a user would, and says how they ended."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MAX_LINES = 15


def run(text, tmp_path):
    """Exit status of a script, run as a user would: from an empty directory, with nothing of the suite on the path."""
    where = Path(tempfile.mkdtemp(dir=tmp_path))
    (where / "repro.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "repro.py"], cwd=where, capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout + done.stderr


def run_all(texts, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda text: run(text, tmp_path), texts))


def statuses(texts, tmp_path):
    """Exit status of each script, all run by one process: the library is imported once."""
    runner = (
        "import contextlib, io, json, warnings; warnings.simplefilter('ignore')\nends = []\n"
        f"for text in {list(texts)!r}:\n"
        "    try:\n"
        "        with contextlib.redirect_stdout(io.StringIO()): exec(text, {'__name__': '__main__'})\n"
        "    except SystemExit as end: ends.append(end.code)\n"
        "    except BaseException as error: ends.append(f'{type(error).__name__}: {error}')\n"
        "    else: ends.append(0)\n"
        # A script that ends with a sentence has status 1, as sys.exit() has it.
        "print(json.dumps([int(bool(end)) for end in ends]))\n"
    )
    status, said = run(runner, tmp_path)
    assert status == 0, said
    return json.loads(said)


def scripts_of(failures):
    """Every script, once, with the failure it is of."""
    assert all(failure.repro for failure in failures), [f.listing for f in failures if not f.repro]
    return {failure.repro: failure for failure in failures}
