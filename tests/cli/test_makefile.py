"""When `make` installs anew: it asks the index for nothing while the files are merely edited."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

import pytest

from .conftest import ROOT, SOURCES

pytestmark = pytest.mark.skipif(
    not shutil.which("make") or not (ROOT / "Makefile").is_file(), reason="no make, or no checkout"
)


@pytest.fixture
def checkout(tmp_path):
    """A copy of what the Makefile looks at, as an installation leaves it."""
    folder = tmp_path / "checkout with a space"
    for room in SOURCES:
        (folder / room).mkdir(parents=True)
    for room in ("stridecheck", "ci"):
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    code = (
        "import pathlib, sys; sys.path.insert(0, 'ci'); from build_hook import *\n"
        "class Hook(RoomsHook):\n    root = '.'\n    def __init__(self): pass\n"
        "Hook().initialize('editable', {})"
    )
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)
    (folder / ".venv").mkdir()
    (folder / ".venv" / "installed").touch()
    return folder


def _installs(folder):
    """Whether `make` would install."""
    return subprocess.run(["make", "--question", "install"], cwd=folder, capture_output=True, check=False).returncode


def test_an_edit_installs_nothing(checkout):
    """Files that are edited or compiled are seen through their links; the pins are read again."""
    later = time.time() + 60
    os.utime(checkout / "stridecheck" / "cli.py", (later, later))
    (checkout / "stridecheck" / "__pycache__").mkdir()
    assert _installs(checkout) == 0
    os.utime(checkout / "ci" / "constraints.txt", (later, later))
    assert _installs(checkout) == 1


def test_a_file_that_appears_or_goes_is_linked_anew(checkout):
    """What the build hook has linked is what there is."""
    (checkout / "stridecheck" / "new.py").touch()
    assert _installs(checkout) == 1
    (checkout / "stridecheck" / "new.py").unlink()
    assert _installs(checkout) == 0
    (checkout / "stridecheck" / "api.py").unlink()
    assert _installs(checkout) == 1
