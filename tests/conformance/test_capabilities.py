"""What programs need of a library beyond what can be read off them: found by running them on the oracle."""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec

import numpy as np
import pytest
from stridecheck.conformance.adapters.table_style import TableStyle
from stridecheck.conformance.capabilities import Capabilities, hazards, needs
from stridecheck.conformance.execute import execute
from stridecheck.conformance.program import Input, Program, Ref, Step, Storage

ROW, X, R0 = Input("float32", (4,), (1,)), Ref(0), Ref(1)


def _needs(oracle, *steps, inputs=(ROW,)):
    return _hazards(oracle, Program((Storage(32),), inputs, steps))


def _hazards(oracle, program):
    return hazards(program, execute(program, oracle))


def test_storages_name_dtypes():
    """In a method or a class of theirs: neither has an argument that would say it."""
    method = Step("untyped_storage", (X,)), Step("UntypedStorage.bfloat16", (R0,))
    assert "dtype:bfloat16" in needs(Program((Storage(32),), (ROW,), method))
    assert "dtype:bfloat16" in needs(Program((), (), (Step("BFloat16Storage", (3,)),)))


@pytest.mark.parametrize(
    ("steps", "needed"),
    [
        ((Step("fill_", (X, 1)),), {}),
        ((Step("neg", (X,)), Step("fill_", (R0, 1))), {}),
        ((Step("view", (X, (2, 2))), Step("fill_", (R0, 1))), {"feature:write-through": 1}),
        ((Step("view", (X, (2, 2))), Step("add", (R0, 1))), {}),
        ((Step("as_strided", (X, (9,), (1,))),), {"feature:bounds": 0}),
        ((Step("expand", (X, (2, 4))), Step("view", (R0, (8,)))), {"feature:view-check": 1}),
        ((Step("expand", (X, (2, 4))), Step("add_", (R0, 1))), {"feature:overlap-check": 1}),
    ],
    ids=["alone", "own memory", "through a view", "only read", "out of bounds", "no such view", "expanded"],
)
def test_what_a_run_shows_that_a_program_needs(oracle, steps, needed):
    """A write that another value sees needs shared memory; a layout past the storage needs a check. Which step does."""
    assert _needs(oracle, *steps) == needed


@pytest.mark.parametrize(
    ("step", "needed"),
    [
        (Step("neg", (X,)), {}),
        (Step("resize_", (X, (40,))), {"feature:guarded": 0}),
        (Step("untyped_storage", (X,)), {"feature:guarded": 0}),
    ],
    ids=["reads", "grows", "asks"],
)
def test_only_who_may_grow_needs_foreign_memory(step, needed, oracle):
    """A library without foreign memory is given a copy, which differs in one thing: it may grow, and says so."""
    assert _hazards(oracle, Program((Storage(32, backing="guarded"),), (ROW,), (step,))) == needed


@pytest.mark.parametrize(
    ("step", "needed"),
    [
        (Step("index_select", (X, 0, R0)), {"feature:index-check": 0}),
        (Step("take", (X, R0)), {"feature:index-check": 0}),
        (Step("__getitem__", (X, (R0,))), {"feature:index-check": 0}),
        (Step("nn.functional.one_hot", (R0, 2)), {"feature:index-check": 0}),
        (Step("masked_scatter", (X, Ref(2), Ref(3))), {"feature:index-check": 0}),
        (Step("__getitem__", (X, (9,))), {}),
        (Step("__getitem__", (R0, (9,))), {}),
        (Step("select", (R0, 0, 9)), {}),
        (Step("index_select", (X, 9, R0)), {}),
    ],
    ids=[
        "selected",
        "taken",
        "indexed",
        "encoded",
        "too few",
        "by a number",
        "indices by a number",
        "one of the indices",
        "no such dimension",
    ],
)
def test_indices_outside_need_a_library_that_looks(oracle, step, needed):
    """At what a tensor of them holds, which a device alone knows; numbers of Python are looked at anyway."""
    inputs = (
        ROW,
        Input("int64", (1,), (1,), storage=1),
        Input("bool", (4,), (0,), 1, storage=2),
        Input("float32", (1,), (1,)),
    )
    storages = Storage(16), Storage(8), Storage(4, fill="bool1")
    assert _hazards(oracle, Program(storages, inputs, (step,))) == needed


def test_elements_in_one_place_see_each_other(oracle):
    """A write to one element of a row whose elements are one place is one that the others see."""
    first = Step("__setitem__", (X, (0,), 1))
    assert _needs(oracle, first, inputs=(Input("float32", (4,), (0,)),)) == {"feature:write-through": 0}
    assert _needs(oracle, first, inputs=(Input("float32", (4, 2), (2, 1)),)) == {}
    assert _needs(oracle, first, inputs=(Input("float32", (2, 4), (1, 2)),)) == {}


def test_two_inputs_of_one_storage_see_each_other(oracle):
    """A write to one of two inputs in one storage is one that the other may see."""
    assert _needs(oracle, Step("zero_", (X,)), inputs=(ROW, ROW)) == {"feature:write-through": 0}


class _Release:
    """A module of a release that lacks some names; what else it has does not matter."""

    def __init__(self, *lacks):
        self._lacks = lacks

    def __getattr__(self, name):
        if name in self._lacks or name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__init__": lambda self, *args: None})


@pytest.mark.parametrize(
    ("adapter", "modules"),
    [
        ("array_api_strict", ["array_api_strict"]),
        ("jax", ["jax", "jax.numpy"]),
        ("mlx", ["mlx", "mlx.core"]),
        ("paddle", ["paddle"]),
    ],
)
def test_a_dtype_that_a_release_lacks_is_not_claimed(adapter, modules, monkeypatch):
    """A bundled adapter claims those that are there, whatever it knows."""
    claimed = []
    for lacks in ((), ("uint16", "complex64")):
        module = _Release(*lacks)
        module.core = module.numpy = module
        for imported in modules:
            monkeypatch.setitem(sys.modules, imported, module)
        # Beside the one that is imported, or would be.
        spec = find_spec(f"stridecheck.conformance.adapters.{adapter}")
        loaded = module_from_spec(spec)
        spec.loader.exec_module(loaded)
        claimed.append(vars(loaded)[adapter.title().replace("_", "")].capabilities.dtypes)
    assert claimed[0] - claimed[1] == claimed[0] & {"uint16", "complex64"} >= {"complex64"}


def test_claims_are_an_adapters_own():
    """A mixin leaves them as they are: a property, and dtypes that an adapter finds by itself."""

    class Finding(TableStyle):
        name = "finding"

        @property
        def capabilities(self):
            return Capabilities(frozenset({"int8"}))

        def dtype(self, name):
            return getattr(np, name)

    finding = Finding(np, {})
    assert finding.capabilities.dtypes == {"int8"}
    assert finding.dtype("int8") is np.int8
