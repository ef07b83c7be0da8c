"""Examples in docstrings are run: what documentation shows is what happens."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import warnings

import pytest

import stridecheck


def _modules():
    return [name for room in ("conformance", "reference_impl", "stridecheck") for name in _below(room)]


def _below(room):
    if room == "stridecheck":
        return ["stridecheck.api", "stridecheck.cli", "stridecheck.pytest_plugin"]
    package = importlib.import_module(f"stridecheck.{room}")
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return [package.__name__, *(module.name for module in found)]


def _names(module):
    """What examples may use without an import: the oracle's call it `torch`, whose place it takes."""
    oracle = "stridecheck.reference_impl"
    return {"torch": importlib.import_module(oracle)} if module.startswith(oracle) else {}


@pytest.mark.parametrize("name", _modules())
def test_examples_are_true(name, absent):
    """Every example in a module's docstrings gives what it says."""
    if name in absent:
        pytest.skip(f"not installed: {', '.join(absent[name])}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = importlib.import_module(name)
        result = doctest.testmod(module, extraglobs=_names(name))
    assert result.failed == 0


def test_there_are_examples(absent):
    """The modules together have a good number of examples, so that the test above tests something."""
    finder = doctest.DocTestFinder()
    here = [name for name in _modules() if name not in absent]
    tests = [test for name in here for test in finder.find(importlib.import_module(name))]
    count = sum(len(test.examples) for test in tests)
    assert count >= 15
    assert stridecheck.__version__
