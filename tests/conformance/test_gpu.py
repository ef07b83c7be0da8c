"""What can be known of the GPU's part without a GPU: it says that there is none, and its tables can be read."""

from __future__ import annotations

import importlib
import math
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
from stridecheck.conformance.answers import AdapterFailed
from stridecheck.conformance.check import Options, check
from stridecheck.conformance.idiom import compile_template
from stridecheck.conformance.offers import PROTOCOLS
from stridecheck.conformance.operations import OPERATIONS
from stridecheck.conformance.ports import check_ports
from stridecheck.conformance.program import Input, Ref, Step
from stridecheck.conformance.runner import Worker
from stridecheck.reference_impl.kernels import device
from stridecheck.reports.records import Unit, read_results

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
    assert "bare has no torch numpy numba hypothesis: give a folder" in done.stdout
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
known = Path(sys.argv[1], "nothing.toml")  # as of a device
known.touch()
gpu.check(gpu.Options(("torch:cpu",), programs=300, expect=known), Path(sys.argv[1], "programs"))
gpu.exchange(["numpy"], Path(sys.argv[1], "exchange"))
"""


def test_it_wants_no_more_than_the_wheels_it_names(tmp_path):
    """Of what the suite depends on, a machine without a network has what `ci/gpu.sh` installs, and nothing else."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [re.match(r"[\w-]+", one).group().replace("-", "_") for one in project["dependencies"]]
    installed = (ROOT / "ci" / "gpu.sh").read_text(encoding="utf-8").replace("-", "_").split()
    absent = [name for name in wanted if name not in installed]
    assert {"pandas", "orjson", "jsonschema", "click", "packaging", "ml_dtypes"} <= {*absent}
    command = [sys.executable, "-c", WITH_THAT_ALONE.format(absent=absent), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {path.parent.name for path in tmp_path.glob("*/results.jsonl")} == {"programs", "exchange"}
    units = [one for one in read_results(tmp_path / "programs" / "results.jsonl") if isinstance(one, Unit)]
    lacking = {reason for unit in units for reason in unit.unsupported}
    assert "oracle:dtype:bfloat16 without ml_dtypes" in lacking
    assert all(reason.endswith(" without ml_dtypes") for reason in lacking)
    assert sum(unit.programs - sum(unit.unsupported.values()) for unit in units) > 200


@pytest.mark.parametrize(
    ("part", "seconds", "found"),
    [
        ("permutations", 60.0, {"exit_code": 0, "skipped": device.unavailable()}),
        ("copies", 0.05, {"exit_code": 1, "error": "it took more than 0.05 s"}),
    ],
)
@WITHOUT
def test_a_part_that_breaks_or_takes_too_long_leaves_the_others(part, seconds, found, tmp_path, monkeypatch):
    """Each has a process of its own: here one that is skipped, one that asks for a GPU, and one that is ended."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / gpu.OUT).mkdir(parents=True)
    assert gpu.apart(part, seconds) == found


@WITHOUT
def test_a_part_that_breaks_says_how(tmp_path, monkeypatch):
    """The reason is in what comes back: nobody sees the other machine's terminal."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / gpu.OUT).mkdir(parents=True)
    found = gpu.apart("copies", 60.0)
    assert found["exit_code"] == 1
    assert "Traceback" in found["error"]


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
    unbind, flip = Step("unbind", (Ref(0),)), Step("flip", (Ref(0), (0,)))
    assert cupy.operation(unbind) is not None
    monkeypatch.delattr(cupy.namespace, "unstack")
    older = type(cupy)()
    assert older.operation(unbind) is None
    assert older.operation(flip) is not None


class _Memory:
    """An allocation, which may be longer than what lies in it."""

    def __init__(self, ptr):
        self.ptr = ptr


class _Pointer:
    def __init__(self, mem, offset):
        self.mem, self.ptr = mem, mem.ptr + offset

    def __add__(self, offset):
        return _Pointer(self.mem, self.ptr - self.mem.ptr + offset)


class _Array:
    """What CuPy tells of an array: no array interface, no base where it was made over given memory, none to be set."""

    def __init__(self, shape, dtype, memptr, strides):
        self.shape, self.dtype, self.data, self.strides = shape, numpy.dtype(dtype), memptr, tuple(strides)
        self.itemsize = self.dtype.itemsize
        self.nbytes = self.itemsize * math.prod(shape)
        self.flags = types.SimpleNamespace(c_contiguous=self.strides == (self.itemsize,))
        self._base = None

    @property
    def base(self):
        return self._base

    def __getitem__(self, index):
        start, _, step = index.indices(self.shape[0])
        length = len(range(*index.indices(self.shape[0])))
        stride = self.strides[0]
        found = _Array((length,), self.dtype, self.data + start * stride, (step * stride,))
        found._base = self._base or self
        return found


@pytest.fixture
def on_device(cupy):
    """The adapter over arrays that lie nowhere, and 64 bytes in an allocation of 512."""
    cupy.namespace.ndarray = _Array
    cupy.namespace.cuda = types.SimpleNamespace(MemoryPointer=_Pointer)
    return cupy, _Array((64,), "uint8", _Pointer(_Memory(4096), 0), (1,))


def test_what_lies_in_cupys_memory_is_found(on_device):
    """Inputs, their views, and what is laid over their memory by hand lie in one storage, of 64 bytes."""
    adapter, storage = on_device
    x = adapter.tensor(storage, "float32", (4,), (2,), 1)
    assert adapter.describe(x)[1:5] == ((4,), (2,), 1, "F--")
    assert adapter.describe(x[1:])[1:4] == ((3,), (2,), 3)
    again = adapter.scope()["as_strided"](x[1:], (2,), (1,), None)
    assert adapter.describe(again)[1:5] == ((2,), (1,), 3, "T--")
    assert {id(adapter.storage_of(one)) for one in (x, x[1:], again, storage[3:])} == {id(storage)}
    assert adapter.extent_of(storage) == (4096, 64)
    other = _Array((4,), "float32", _Pointer(_Memory(8192), 0), (4,))
    assert adapter.storage_of(other) is other


def test_views_of_cupy_itself_are_numpys():
    """Where CuPy is installed it makes views without a GPU, here over memory of the host."""
    real = pytest.importorskip("cupy", reason="CuPy is not installed here")
    from stridecheck.conformance.adapters.cupy import Cupy

    class OnTheHost(Cupy):
        def storage(self, data, backing):
            held = numpy.frombuffer(data, numpy.uint8).copy()
            memory = real.cuda.UnownedMemory(held.ctypes.data, held.nbytes, held, 0)
            return real.ndarray((held.size,), real.uint8, memptr=real.cuda.MemoryPointer(memory, 0))

    steps = [
        Step("transpose", (0, 0, 1)), Step("__getitem__", (0, (slice(1, None),))), Step("unsqueeze", (0, 1)),
        Step("view", (0, (2, 2, 3))), Step("expand", (0, (3, 4, 3))), Step("as_strided", (0, (2, 2), (3, 1), 1)),
    ]  # fmt: skip
    seen = []
    for adapter in (OnTheHost(), Numpy()):
        storage = adapter.storage(bytes(range(64)), "owned")
        x = adapter.tensor(storage, "float32", (4, 3), (3, 1), 2)
        views = [adapter.operation(step)(x, *step.args[1:]) for step in steps]
        assert {id(adapter.storage_of(view)) for view in views} == {id(adapter.storage_of(x))}
        seen.append([adapter.describe(view) for view in (x, *views)])
    assert seen[0] == seen[1]


def test_cupys_scripts_and_ports_are_in_its_idiom(on_device):
    """A script's input is what the adapter makes, its checks find the same, and every port means something."""
    adapter, storage = on_device
    item = Input("float32", (2,), (2,), 1)
    scope = adapter.scope() | {"s0": storage}
    exec(adapter.write_input("x0", item, "s0"), scope)
    made = adapter.tensor(storage, item.dtype, item.shape, item.strides, item.offset)
    assert adapter.describe(scope["x0"]) == adapter.describe(made)
    layout = adapter.checks["layout"].replace("{x}", "x0")
    assert eval(layout, scope) == ([2], 1)
    assert eval(adapter.checks["same-storage"].replace("{x}", "x0").replace("{y}", "s0"), scope)
    adapter.namespace.from_dlpack = adapter.namespace.asarray
    check_ports(adapter, PROTOCOLS)
    assert not adapter.forks


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
