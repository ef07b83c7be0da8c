"""Examples in docstrings are run: what documentation shows is what happens."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import warnings

import pytest

import stridecheck

ELSEWHERE = ("stridecheck.conformance.adapters.cupy",)
"""Modules of a library that may not be here."""


def _modules():
    names = [name for room in ("conformance", "reference_impl", "stridecheck") for name in _below(room)]
    return [name for name in names if name not in ELSEWHERE]


def _below(room):
    if room == "stridecheck":
        return ["stridecheck.api", "stridecheck.cli", "stridecheck.pytest_plugin"]
    package = importlib.import_module(f"stridecheck.{room}")
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return [package.__name__, *(module.name for module in found if module.name not in ELSEWHERE)]


def _names(module):
    """What examples may use without an import: the oracle's call it `torch`, whose place it takes."""
    oracle = "stridecheck.reference_impl"
    return {"torch": importlib.import_module(oracle)} if module.startswith(oracle) else {}


@pytest.mark.parametrize("name", _modules())
def test_examples_are_true(name):
    """Every example in a module's docstrings gives what it says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = importlib.import_module(name)
        result = doctest.testmod(module, extraglobs=_names(name))
    assert result.failed == 0


def test_there_are_examples():
    """The modules together have a good number of examples, so that the test above tests something."""
    finder = doctest.DocTestFinder()
    tests = [test for name in _modules() for test in finder.find(importlib.import_module(name))]
    count = sum(len(test.examples) for test in tests)
    assert count >= 15
    assert stridecheck.__version__
