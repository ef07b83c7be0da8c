"""What can be known of the GPU's part without a GPU: it says that there is none, and its tables can be read."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import tomllib
import types
from pathlib import Path

import numpy
import pytest
import torch
from stridecheck.ci import gpu
from stridecheck.conformance.adapters.numpy import Numpy
from stridecheck.conformance.check import Options, check
from stridecheck.conformance.idiom import compile_template
from stridecheck.conformance.operations import OPERATIONS
from stridecheck.conformance.runner import AdapterFailed, Worker

ROOT = Path(__file__).parents[2]
WITHOUT = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")


@WITHOUT
def test_without_a_gpu_it_says_so():
    """Both the script and the module end with 3 and a reason, and leave nothing behind."""
    for command in ([str(ROOT / "ci" / "gpu.sh")], [sys.executable, "-m", "stridecheck.ci.gpu"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=os.environ)
        assert done.returncode == 3, done.stderr
        assert "no GPU" in done.stdout


def test_an_interpreter_that_lacks_something_is_told_what(tmp_path):
    """With a GPU, but without what the script imports, it names that, and ends before Python's stack trace would."""
    for name, does in (("nvidia-smi", "echo 'GPU 0'"), ("bare", f'exec "{sys.executable}" -S "$@"')):
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    env = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHON": str(tmp_path / "bare")}
    done = subprocess.run([ROOT / "ci" / "gpu.sh"], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 1
    assert "bare has no torch numpy numba hypothesis ml_dtypes packaging click: give a folder" in done.stdout
    assert not done.stderr


WITH_THAT_ALONE = """
import sys
from pathlib import Path

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
from stridecheck.ci import gpu
gpu.check(gpu.Options(("torch:cpu",), programs=300), Path(sys.argv[1], "programs"))
gpu.exchange(["numpy"], Path(sys.argv[1], "exchange"))
"""


def test_it_wants_no_more_than_the_wheels_it_names(tmp_path):
    """Of what the suite depends on, a machine without a network has what `ci/gpu.sh` installs, and nothing else."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [re.match(r"[\w-]+", one).group().replace("-", "_") for one in project["dependencies"]]
    installed = (ROOT / "ci" / "gpu.sh").read_text(encoding="utf-8").replace("-", "_").split()
    absent = [name for name in wanted if name not in installed]
    assert {"pandas", "orjson", "jsonschema"} <= {*absent}
    command = [sys.executable, "-c", WITH_THAT_ALONE.format(absent=absent), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {path.parent.name for path in tmp_path.glob("*/results.jsonl")} == {"programs", "exchange"}


def test_layouts_have_as_many_elements_as_they_say():
    """Each timed layout is what its name says, of the size that is asked for."""
    for size in gpu.SIZES[:2]:
        made = {name: make("cpu") for name, make in gpu._layouts(torch, size).items()}
        assert {x.numel() for x in made.values()} == {size}
        assert [name for name, x in made.items() if x.is_contiguous()] == ["row-major", "offset"]
        assert made["channels last"].is_contiguous(memory_format=torch.channels_last)


@pytest.fixture
def cupy(monkeypatch):
    """The adapter over NumPy under CuPy's name: no device, the same table."""
    stand_in = types.ModuleType("cupy")
    vars(stand_in).update({name: getattr(numpy, name) for name in dir(numpy) if not name.startswith("_")})
    name = "stridecheck.conformance.adapters.cupy"
    monkeypatch.setitem(sys.modules, "cupy", stand_in)
    monkeypatch.delitem(sys.modules, name, raising=False)
    module = importlib.import_module(name)
    yield module.Cupy()
    sys.modules.pop(name, None)


def test_cupys_table_can_be_read_and_covers_numpys(cupy):
    """Each expression compiles under CuPy's name, and nearly all that NumPy is asked is asked of CuPy."""
    for name, template in cupy.templates.items():
        operation = OPERATIONS[name]
        assert callable(compile_template(template, operation.parameters, cupy.scope()))
    lacking = set(Numpy().templates) - set(cupy.templates)
    assert len(lacking) <= 0.2 * len(Numpy.templates), sorted(lacking)


def test_what_cupy_lacks_is_not_claimed(cupy, monkeypatch):
    """CuPy 14 has no `unstack`: an operation whose function is not there is unsupported, not a failure."""
    assert "unbind" in cupy.templates
    monkeypatch.delattr(cupy.namespace, "unstack")
    assert cupy.templates.keys() - type(cupy)().templates.keys() == {"unbind"}


ON_THE_CPU = """
import torch
from stridecheck.conformance.adapters.torch_device import OnDevice

def adapter():
    return OnDevice("cpu", torch.device("cpu"))
"""


def test_the_adapter_of_devices_is_right_on_the_cpu(adapter_file, tmp_path):
    """With the CPU for a device nothing differs but what is known of eager code."""
    assert check(Options((adapter_file(ON_THE_CPU),), programs=600), tmp_path / "out") == 0


REGISTERS = """
import types

def register():
    import torch

    torch.utils.rename_privateuse1_backend("abacus")
    torch._register_device_module("abacus", types.SimpleNamespace(is_available=lambda: False))
"""


@pytest.mark.parametrize("name", ["privateuse1", "abacus"])
def test_a_back_end_of_somebody_elses_is_found_by_its_own_name(name, tmp_path, monkeypatch):
    """A package that torch loads by itself registers a back end, whose device is not here: no mistake of usage."""
    (tmp_path / "abacus_for_torch.py").write_text(REGISTERS)
    (tmp_path / "abacus-1.dist-info").mkdir()
    (tmp_path / "abacus-1.dist-info" / "METADATA").write_text("Name: abacus\nVersion: 1\n")
    entry = "[torch.backends]\nabacus = abacus_for_torch:register\n"
    (tmp_path / "abacus-1.dist-info" / "entry_points.txt").write_text(entry)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Worker(f"torch:{name}") as worker, pytest.raises(AdapterFailed, match="finds no abacus device") as failed:
        worker.start()
    assert failed.value.kind == "missing"
