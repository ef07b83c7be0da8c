"""The adapter of devices, on one that needs no GPU: `abacus`, whose memory is the machine's own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from torch.utils import cpp_extension

HERE = Path(__file__).with_name("abacus")
COMPILER = shutil.which("g++")

REGISTERS = """
import contextlib, types

def register():
    import torch

    torch.utils.rename_privateuse1_backend("abacus")
    device = types.SimpleNamespace(
        is_available=lambda: True, device_count=lambda: 1, current_device=lambda: 0, synchronize=lambda: None,
        _is_in_bad_fork=lambda: False, device=lambda index: contextlib.nullcontext(),
    )
    torch._register_device_module("abacus", device)
    torch.ops.load_library({library!r})
"""
"""What a back end's package does when torch loads it by its entry point."""


@pytest.fixture(scope="module")
def abacus(tmp_path_factory) -> dict[str, str]:
    """An environment in which torch finds the device."""
    if COMPILER is None:
        pytest.skip("no g++ to compile the device with")
    folder = tmp_path_factory.mktemp("abacus")
    library = folder / "abacus.so"
    includes = [part for path in cpp_extension.include_paths() for part in ("-isystem", path)]
    links = [part for path in cpp_extension.library_paths() for part in ("-L", path)]
    command = [COMPILER, "-std=c++20", "-O1", "-fPIC", "-shared", *includes, str(HERE / "abacus.cpp")]
    subprocess.run([*command, *links, "-lc10", "-ltorch_cpu", "-o", str(library)], check=True)
    (folder / "abacus_for_torch.py").write_text(REGISTERS.format(library=str(library)))
    info = folder / "abacus-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: abacus\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[torch.backends]\nabacus = abacus_for_torch:register\n")
    return {**os.environ, "PYTHONPATH": str(folder)}


def test_programs_run_on_a_device_of_its_own_memory(abacus, tmp_path):
    """All that differs is known: what eager torch breaks anywhere, and what only a device of the CPU's memory does.

    With the CPU itself for a device, nothing would show that is made beside the device, or left in the host's memory.
    """
    command = [sys.executable, "-m", "stridecheck", "check", "torch:abacus", "--programs", "4000", "--workers", "2"]
    expect = ["--expect", str(HERE / "abacus.toml"), "--out", str(tmp_path)]
    done = subprocess.run([*command, *expect], env=abacus, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    records = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert sum(record["outcomes"].get("pass", 0) for record in records if record["record"] == "unit") > 3000
    script = next(r["repro"] for r in records if r["record"] == "failure" and "max_pool1d" in r["operation"])
    shown = subprocess.run([sys.executable, "-c", script], env=abacus, capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stdout[:4]) == (1, "got "), shown.stderr
