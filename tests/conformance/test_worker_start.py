"""Starting a worker: libraries that cannot be imported, hang, or are no adapters, and interpreters that are none."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement
from stridecheck.conformance.answers import AdapterFailed
from stridecheck.conformance.discovery import _PARTS, EXTRAS, OLDEST, find
from stridecheck.conformance.runner import Worker

from .misbehaving import GOOD, answers_of, children_of, is_well


def test_a_well_library_answers_with_observations(library):
    """Name, versions and claims come back from the worker, and each program's observations in order."""
    with Worker(library()) as worker:
        worker.start()
        assert worker.name == "mine"
        assert worker.versions == {"numpy": np.__version__}
        assert worker.capabilities.aspects
        assert all(is_well(answer) for answer in answers_of(worker, [GOOD] * 5))
        assert worker.restarts == 0


@pytest.mark.parametrize(
    ("at_import", "kind", "says"),
    [
        ("raise RuntimeError('no licence')", "error", "RuntimeError: no licence"),
        ("import no_such_library", "missing", "No module named 'no_such_library'"),
        ("raise ImportError('needs a device')", "missing", "needs a device"),
        ("sys.exit(0)", "error", "SystemExit: 0"),
        ("sys.exit('good bye')", "error", "good bye"),
        ("os._exit(5)", "error", "exited with status 5 while starting"),
        ("os.abort()", "error", "killed by SIGABRT while starting"),
        ("print('last words', file=sys.stderr, flush=True); os._exit(1)", "error", "it last said: last words"),
        ("this is no python", "error", "SyntaxError"),
        ("def adapter(): raise ValueError('half')\n\ndel Numpy", "error", "NameError"),
    ],
)
def test_a_library_that_cannot_be_imported_says_why(at_import, kind, says, library):
    """Whatever keeps an adapter from being loaded is one error with the reason, and no process is left."""
    with Worker(library(at_import=at_import)) as worker:
        with pytest.raises(AdapterFailed) as failed:
            worker.start()
        assert failed.value.kind == kind
        assert says in failed.value.reason
    assert children_of(os.getpid()) == []


def test_an_import_that_forks_may_end_its_child_as_it_likes(library):
    """Also by `sys.exit`: what the child says by that is not said of the library."""
    ends = "import sys\nif not (pid := os.fork()): sys.exit(0)\nos.waitpid(pid, 0)"
    with Worker(library(at_import=ends)) as worker:
        worker.start()


def test_a_library_that_hangs_while_importing_is_given_up(library):
    """After the start's time limit, the worker is killed, and the reason says how long was waited."""
    says = "gave no answer within 1 s of starting"
    with Worker(library(at_import="time.sleep(60)"), start_timeout=1.0) as w, pytest.raises(AdapterFailed, match=says):
        w.start()
    assert children_of(os.getpid()) == []


PARTS = {
    "an old one": (
        {"jax-0.5.3.dist-info/METADATA": "Name: jax\nVersion: 0.5.3\n"},
        "jax 0.5.3 is too old, it must be 0.6 or later: pip install 'jax>=0.6'",
    ),
    "an old one for another CUDA": (
        {"cupy_cuda11x-12.3.0.dist-info/METADATA": "Name: cupy-cuda11x\nVersion: 12.3.0\n"},
        "cupy-cuda11x 12.3.0 is too old, it must be 14 or later: pip uninstall cupy-cuda11x && pip install "
        "'cupy-cuda12x>=14'",
    ),
    "an old one built here": (
        {"cupy-13.0.0.dist-info/METADATA": "Name: cupy\nVersion: 13.0.0\n"},
        "cupy 13.0.0 is too old, it must be 14 or later: pip uninstall cupy && pip install 'cupy-cuda12x>=14'",
    ),
    "an old one for GPUs": (
        {"paddlepaddle_gpu-2.4.2.dist-info/METADATA": "Name: paddlepaddle-gpu\nVersion: 2.4.2\n"},
        "paddlepaddle-gpu 2.4.2 is too old, it must be 3.0 or later: pip uninstall paddlepaddle-gpu && pip install ",
    ),
    "an old one beside one that is not": (
        {
            "cupy-13.0.0.dist-info/METADATA": "Name: cupy\nVersion: 13.0.0\n",
            "cupy_cuda12x-14.0.0.dist-info/METADATA": "Name: cupy-cuda12x\nVersion: 14.0.0\n",
            "cupy/__init__.py": "raise ImportError('libcuda.so: cannot open shared object file')",
        },
        "libcuda.so: cannot open shared object file: pip install 'cupy-cuda12x>=14'",
    ),
    "a library of C's is missing to another build": (
        {
            "paddlepaddle_gpu-3.3.1.dist-info/METADATA": "Name: paddlepaddle-gpu\nVersion: 3.3.1\n",
            "paddle/__init__.py": "raise ImportError('libcuda.so.1: cannot open shared object file')",
        },
        "libcuda.so.1: cannot open shared object file: pip uninstall paddlepaddle-gpu && pip install ",
    ),
    "with a version that is none": (
        {"jax-0.10.dist-info/METADATA": "Name: jax\nVersion: garbage\n"},
        "jax is installed by half, without a version ('garbage' is none): pip install -I 'jax>=0.6'",
    ),
    "a part is missing": (
        {"jax/__init__.py": "import jaxlib"},
        "jaxlib is not installed here: pip install 'jax>=0.6'",
    ),
    "it says so itself": (
        {"jax/__init__.py": "raise ModuleNotFoundError('jax requires jaxlib.')"},
        "jax requires jaxlib: pip install 'jax>=0.6'",
    ),
    "half of it": ({"jax/__init__.py": ""}, "cannot import name 'numpy' from 'jax'"),
    "a library of C's is missing": (
        {"paddle/__init__.py": "raise ImportError('libpaddle.so: cannot open shared object file')"},
        "libpaddle.so: cannot open shared object file: pip install 'paddlepaddle>=3.0'",
    ),
    "a library of C's cannot be opened": (
        {"paddle/__init__.py": "raise OSError('libpaddle.so: cannot open shared object file')"},
        "libpaddle.so: cannot open shared object file: pip install 'paddlepaddle>=3.0'",
    ),
    "without a version": (
        {"jax-0.10.dist-info/METADATA": ""},
        "jax is installed by half, without a version: pip install -I 'jax>=0.6'",
    ),
    "an empty folder": (
        {"paddle/left": ""},
        "module 'paddle' has no attribute 'Tensor', of which there is a folder here and no package: pip install ",
    ),
    "an empty module": (
        {"paddle/__init__.py": ""},
        "module 'paddle' has no attribute 'Tensor', of which there is a folder here and no package: pip install ",
    ),
    "in many lines": (
        {"jax/__init__.py": "raise ImportError('No.\\n\\n  pip install jax')"},
        "No. pip install jax",
    ),
}


@pytest.mark.parametrize("parts", PARTS)
def test_a_library_that_is_old_or_half_installed_is_missing(parts, tmp_path, monkeypatch):
    """It is skipped, with what to install in one line, before anything of it is judged."""
    files, says = PARTS[parts]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    library = re.match(r"[a-z]+", next(iter(files)))[0].replace("paddlepaddle", "paddle")
    with Worker(library) as worker, pytest.raises(AdapterFailed) as failed:
        worker.start()
    assert failed.value.kind == "missing"
    assert failed.value.reason.startswith(says)
    assert "pip install" in failed.value.reason


def test_a_library_that_has_changed_is_not_passed_over(tmp_path, monkeypatch):
    """One that is installed whole and lacks a name that its adapter imports: nobody can tell what else is otherwise."""
    for name, text in {
        "jax-0.10.2.dist-info/METADATA": "Name: jax\nVersion: 0.10.2\n",
        "jax/__init__.py": "",
        "mine.py": "from numpy import frobnicate",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for spec, lacks in (("jax", "cannot import name 'numpy'"), (str(tmp_path / "mine.py"), "name 'frobnicate'")):
        with Worker(spec) as worker, pytest.raises(AdapterFailed, match=lacks) as failed:
            worker.start()
        assert failed.value.kind == "error"


def test_the_oldest_that_is_driven_is_the_oldest_that_is_installed():
    """What is refused as too old is what no extra would install."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert OLDEST.keys() == {*EXTRAS, "numpy"}
    for name, (distribution, oldest) in OLDEST.items():
        listed = [Requirement(text) for text in extras.get(name.replace("_", "-"), project["dependencies"])]
        (one,) = (one for one in listed if one.name == distribution and (one.marker is None or one.marker.evaluate()))
        assert f">={oldest}" in map(str, one.specifier), name
        assert Requirement(f"{distribution}{_PARTS.get(name, '')}").extras <= one.extras, name


def test_an_adapter_that_claims_nonsense_is_told(adapter_file):
    """A claim of an aspect or feature that does not exist is an error that lists those that do."""
    source = """
from stridecheck.conformance.adapters.numpy import Numpy
from stridecheck.conformance.capabilities import Capabilities

class Mine(Numpy):
    capabilities = Capabilities(frozenset({"float32"}), features=frozenset({"free_strides"}))

adapter = Mine
"""
    with Worker(adapter_file(source)) as worker, pytest.raises(AdapterFailed, match=r"free_strides.*free-strides"):
        worker.start()


def test_an_adapter_file_may_use_dataclasses_and_be_an_object(adapter_file):
    """A file's module is a real one: dataclasses with postponed annotations work in it, and a ready object is taken."""
    source = """
from __future__ import annotations
from dataclasses import dataclass
from stridecheck.conformance.adapters.numpy import Numpy

@dataclass
class Settings:
    depth: int = 3

made = Numpy()
made.name = f"mine{Settings().depth}"
"""
    with Worker(adapter_file(source) + ":made") as worker:
        worker.start()
        assert worker.name == "mine3"


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("nmpy", "unknown adapter 'nmpy' (did you mean numpy?); installed: "),
        ("dask.array", "unknown adapter 'dask.array' (did you mean dask?); installed: "),
        ("array-api-strict.linalg", "unknown adapter 'array-api-strict.linalg' (did you mean array_api_strict?)"),
        ("no/such/file.py", "no file no/such/file.py"),
        ("json:no_such", "json:no_such: there is no 'no_such' in it"),
        ("no_such_module:x", "unknown adapter 'no_such_module:x'"),
        ("torch:abacus", "torch has the variants cpu, meta, fake"),
        ("numpy:fast", "numpy has no variant 'fast'"),
    ],
)
def test_an_adapter_that_does_not_exist_is_unknown(spec, says):
    """A name, file, module or variant that is not there is a mistake of usage, told with what there is."""
    with Worker(spec) as worker:
        with pytest.raises(AdapterFailed) as failed:
            worker.start()
        assert failed.value.kind == "unknown"
        assert says in failed.value.reason


def test_an_adapter_may_be_called_with_dashes():
    """What pip calls a library finds its adapter, under the one name that it has."""
    assert find("array-api-strict")[1] == find("array_api_strict")[1] == "array_api_strict"
    assert find("array-api-strict:fast")[1] == "array_api_strict:fast"
    assert find("torch:compile-aot_eager")[1] == "torch:compile-aot_eager"  # a variant's name is its adapter's


PARTIAL = """
class Partial:
    name, observes_storage, capabilities = "partial", True, None
    versions = storage = tensor = operation = is_tensor = describe = storage_of = bytes_of = extent_of = print

adapter = Partial
"""


NAMED = """
from stridecheck.conformance.adapters.numpy import Numpy

class Named(Numpy):
    name = {name!r}

adapter = Named
"""


ANSWERING = """
from stridecheck.conformance.adapters.numpy import Numpy

class Answering(Numpy):
    {said}

adapter = Answering
"""


def test_what_an_adapter_file_does_wrong_is_told(adapter_file):
    """A file that is no Python is named with its line; what is no adapter, or half of one, is told what lacks."""
    for source, kind, says in [
        ("import os\n\ndef (:\n", "error", r"SyntaxError: invalid syntax \(\w+\.py:3\)"),
        (
            "adapter = 5\n",
            "unknown",
            "gives 5, which is no adapter, for it has no versions, .*: an adapter is an object",
        ),
        ("adapter = lambda: None\n", "unknown", "gives None, which is no adapter"),
        (PARTIAL, "unknown", "has no is_storage, base_of, shadow_of, mark, .* lift: an adapter is an object"),
        *[(NAMED.format(name=name), "unknown", "name is text in one line, and not ") for name in (None, "", "a\nb")],
        (
            ANSWERING.format(said="versions = lambda self: ['2.1']"),
            "unknown",
            r"versions\(\) answers with a dict of texts such as {\"numpy\": \"1.0\"}, and not with \['2.1'\]",
        ),
        (
            ANSWERING.format(said="capabilities = None"),
            "unknown",
            r"capabilities are `Capabilities\(...\)`, and not None",
        ),
    ]:
        with Worker(adapter_file(source)) as worker, pytest.raises(AdapterFailed, match=says) as failed:
            worker.start()
        assert failed.value.kind == kind


def test_an_interpreter_that_is_not_there_or_is_none(tmp_path):
    """`--python` with something that cannot be run, or is no Python, is an error with its path."""
    for python, kind, says in (("/no/such/python", "unknown", "cannot run"), ("/bin/true", "error", "while starting")):
        with Worker("numpy", python=python) as worker, pytest.raises(AdapterFailed, match=says) as failed:
            worker.start()
        assert failed.value.kind == kind
