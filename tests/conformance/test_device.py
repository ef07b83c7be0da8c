"""The adapter of devices, on one that needs no GPU: `abacus`, whose memory is the machine's own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from torch.utils import cpp_extension

from ..commands import COMMAND

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


def run(environment: dict[str, str], out: Path, *arguments: str) -> list[dict]:
    """The records of a check whose failures are all expected."""
    command = [*COMMAND, "check", *arguments, "--workers", "2", "--out", str(out)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]


def counted(records: list[dict], outcome: str) -> int:
    """Programs of an outcome."""
    return sum(record["outcomes"].get(outcome, 0) for record in records if record["record"] == "unit")


def test_programs_run_on_a_device_of_its_own_memory(abacus, tmp_path):
    """All that differs is known: what eager torch breaks anywhere, and what only a device of the CPU's memory does.

    With the CPU itself for a device, nothing would show that is made beside the device, or left in the host's memory.
    """
    expect = str(HERE / "abacus.toml")
    records = run(abacus, tmp_path, "torch:abacus", "--programs", "4000", "--expect", expect)
    assert counted(records, "pass") > 3000
    script = next(r["repro"] for r in records if r["record"] == "failure" and "max_pool1d" in r["operation"])
    shown = subprocess.run([sys.executable, "-c", script], env=abacus, capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stdout[:4]) == (1, "got "), shown.stderr


def test_what_stays_on_the_host_has_not_arrived(abacus, tmp_path):
    """PyTorch's `from_dlpack` takes memory where it is: a tensor over the host's is none of the device's."""
    command = [*COMMAND, "exchange", "torch:cpu", "torch:abacus", "--out", str(tmp_path)]
    subprocess.run(command, env=abacus, capture_output=True, check=False)
    records = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    handed = [r for r in records if r["record"] == "handover" and "torch:abacus" in (r["producer"], r["consumer"])]
    assert {r["outcome"] for r in handed} == {"refused", "not offered"}
    assert any("none of torch:abacus's arrays" in r["detail"] for r in handed if r["producer"] == "torch:cpu")


def test_the_cpu_is_judged_alike_beside_a_device(abacus, tmp_path):
    """What names a device goes another way where there is one, or code for one: it is left out, and nothing else."""
    records = run(abacus, tmp_path, "torch:cpu", "--programs", "2000")
    assert 0 < counted(records, "unsupported") < 100


def test_a_device_that_disappears_ends_its_run_alone(abacus, tmp_path):
    """No program is blamed, the other library is checked, and the run goes on from there when the device is back."""
    gone, out = tmp_path / "gone", tmp_path / "out"
    environment = {**abacus, "ABACUS_LOST": str(gone)}
    arguments = ["torch:abacus", "numpy", "--programs", "2000", "--rules", "view*"]
    command = [*COMMAND, "check", *arguments, "--out", str(out)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while process.poll() is None and not _has_unit(out / "results.jsonl"):
        time.sleep(0.01)
    gone.touch()
    said, _ = process.communicate()
    assert process.returncode == 3, said
    found = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    failed = next(one for one in found if one["record"] == "adapter" and one["status"] == "failed")
    assert "torch:abacus lost its device (abacus error: the device is gone), at program " in failed["reason"]
    assert "the abacus device does not answer: abacus error" in failed["reason"]
    assert failed["reason"] in " ".join(said.split())
    assert {one["outcome"] for one in found if one["record"] == "failure"} <= {"xfail"}
    assert judged(found, "numpy") > 200

    gone.unlink()
    resumed = subprocess.run([*command, "--resume"], env=environment, capture_output=True, text=True, check=False)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    found = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert judged(found, "torch:abacus") == judged(found, "numpy")


def judged(records: list[dict], adapter: str) -> int:
    """Programs of an adapter in units that are whole."""
    return sum(one["programs"] for one in records if one["record"] == "unit" and one["adapter"] == adapter)


def _has_unit(path: Path) -> bool:
    return path.exists() and '"record":"unit"' in path.read_text()
