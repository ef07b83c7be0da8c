"""The examples in the oracle's docstrings are written as for PyTorch, and true of PyTorch itself."""

import doctest
import importlib

import pytest
import torch

MODULES = ("copies", "dtype_view", "indexing", "metadata", "slicing_ops", "view_ops")
"""Those whose functions are PyTorch's own, under its names."""


def examples(name: str) -> list[doctest.DocTest]:
    """The examples of a module that call it `torch`."""
    module = importlib.import_module(f"stridecheck.reference_impl.{name}")
    found = doctest.DocTestFinder().find(module, extraglobs={"torch": torch})
    return [test for test in found if any("torch." in example.source for example in test.examples)]


@pytest.mark.parametrize("test", [t for name in MODULES for t in examples(name)], ids=lambda t: t.name)
def test_an_example_is_true_of_pytorch(test: doctest.DocTest) -> None:
    """PyTorch gives what the example says, printed alike."""
    said: list[str] = []
    assert doctest.DocTestRunner().run(test, out=said.append).failed == 0, "".join(said)


def test_every_view_has_an_example() -> None:
    """Each public function that makes a view shows what becomes of the layout."""
    shown = {test.name.rpartition(".")[2] for name in ("slicing_ops", "view_ops") for test in examples(name)}
    assert shown >= {"view", "reshape", "expand", "permute", "unfold", "as_strided", "narrow", "select", "unbind"}
