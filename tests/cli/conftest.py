"""What the tests of the command line share: a check, and a wheel, built from a copy of the checkout and unpacked."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ..commands import run

ROOT = Path(__file__).parents[2]
SOURCES = ("benchmarks", "ci", "conformance", "reference_impl", "reports", "stridecheck")


@pytest.fixture(scope="session")
def checked(tmp_path_factory):
    """A check of torch and NumPy on 60 programs: the process, and the directory it wrote."""
    out = tmp_path_factory.mktemp("two words") / "out put"
    return run("check", "torch", "numpy", "--programs", 60, "--out", out), out


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel's contents, unpacked; built from a copy, so that the checkout stays as it is."""
    folder = tmp_path_factory.mktemp("wheel")
    copy = folder / "checkout with a space"
    copy.mkdir()
    for name in SOURCES:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, copy)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder / "dist"), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (folder / "dist").glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder / "site")
    return folder / "site"
