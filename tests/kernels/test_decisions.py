"""Batched view decisions are those of the rule that the oracle uses, over every small layout and at random."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stridecheck.conformance import exhaustive
from stridecheck.reference_impl.errors import LayoutError
from stridecheck.reference_impl.kernels.decisions import view_decisions
from stridecheck.reference_impl.layout import Layout
from stridecheck.reference_impl.views import view


def rows(tuples, width):
    filled = np.zeros((len(tuples), width), np.int64)
    for i, entries in enumerate(tuples):
        filled[i, : len(entries)] = entries
    return filled, np.array([len(entries) for entries in tuples], np.int64)


def batched(found):
    layouts, targets = [layout for layout, _ in found], [target for _, target in found]
    shapes, ndims = rows([layout.shape for layout in layouts], max((len(x.shape) for x in layouts), default=0))
    strides, _ = rows([layout.strides for layout in layouts], shapes.shape[1])
    wanted, target_ndims = rows(targets, max(map(len, targets), default=0))
    return view_decisions(shapes, strides, ndims, wanted, target_ndims)


def by_the_rule(layout, target):
    try:
        return view(layout, target).strides
    except LayoutError:
        return None


def check(found):
    decisions, strides = batched(found)
    for (layout, target), decision, row in zip(found, decisions, strides, strict=True):
        expected = by_the_rule(layout, target)
        assert (decision == 1) == (expected is not None), (layout, target)
        assert tuple(row[: len(target)]) == (expected or (0,) * len(target)), (layout, target)


@pytest.mark.parametrize("layouts", [exhaustive.dense_layouts(3), exhaustive.free_layouts(2)])
def test_they_agree_on_every_small_layout(layouts):
    check(list(exhaustive.pairs(layouts, 3)))


def test_they_agree_on_a_sample_of_the_larger_enumerations():
    for layouts, rank in ((exhaustive.dense_layouts(4), 4), (exhaustive.free_layouts(3), 3)):
        check(list(exhaustive.pairs(layouts[:: max(1, len(layouts) // 150)], rank)))


lengths = st.lists(st.integers(0, 6), max_size=6).map(tuple)


@settings(max_examples=300, deadline=None)
@given(lengths, st.lists(st.integers(-3, 30), min_size=6, max_size=6), lengths)
def test_they_agree_on_random_layouts(shape, strides, target):
    if np.prod(shape) != np.prod(target):
        assert batched([(Layout(shape, tuple(strides[: len(shape)])), target)])[0].tolist() == [-1]
    else:
        check([(Layout(shape, tuple(strides[: len(shape)])), target)])


def test_arrays_that_do_not_fit_are_refused():
    ones = np.ones((3, 2), np.int64)
    with pytest.raises(ValueError, match=r"should be \(n, r\)"):
        view_decisions(ones, ones[:2], np.full(3, 2), ones, np.full(3, 2))
    with pytest.raises(ValueError, match="ndims of shape"):
        view_decisions(ones, ones, np.full(3, 5), ones, np.full(3, 2))
