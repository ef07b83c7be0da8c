"""Conformance's formulas about layouts say what the oracle's say, which are held against PyTorch."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from stridecheck.conformance.layout import addressed, extent, in_order, is_dense, may_overlap, numel, row_major
from stridecheck.reference_impl.contiguity import is_non_overlapping_and_dense
from stridecheck.reference_impl.layout import Layout, contiguous_strides
from stridecheck.reference_impl.layout import extent as oracles_extent
from stridecheck.reference_impl.overlap import addresses, has_internal_overlap

DIMS = st.lists(st.tuples(st.integers(0, 4), st.integers(-6, 24)), max_size=4)


@given(DIMS, st.integers(0, 50))
def test_layouts_are_told_as_the_oracle_tells_them(dims, offset):
    """Row-major strides and extent are the oracle's, and agree with where the elements lie, one by one."""
    shape, strides = tuple(size for size, _ in dims), tuple(stride for _, stride in dims)
    x = Layout(shape, strides, offset)
    places = [*addressed(*x)]
    assert row_major(shape) == contiguous_strides(shape) == in_order(shape, reversed(range(len(shape))))
    assert len(places) == numel(x) == x.numel
    if places:
        assert places == addresses(shape, strides, offset).ravel().tolist()
        assert extent(*x) == oracles_extent(x) == (min(places), max(places) + 1)
    else:
        assert extent(*x) == (0, 0)


@given(DIMS, st.booleans(), st.randoms(use_true_random=False))
def test_density_and_overlap_are_what_the_oracle_decides(dims, is_packed, random):
    """A layout is dense where the oracle's is; one that is not said to overlap has every element in its own place."""
    shape, strides = tuple(size for size, _ in dims), tuple(stride for _, stride in dims)
    if is_packed:
        strides = in_order(shape, random.sample(range(len(shape)), len(shape)))
    x = Layout(shape, strides)
    assert is_dense(x) == is_non_overlapping_and_dense(shape, strides)
    assert may_overlap(x) or not has_internal_overlap(shape, strides)
    assert not (is_dense(x) and may_overlap(x))
