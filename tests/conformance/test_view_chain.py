"""Layouts reached by views: the chain's result has the strides that were asked for, over the same memory."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st
from stridecheck.conformance.execute import execute
from stridecheck.conformance.layout import extent
from stridecheck.conformance.program import Input, Program, Storage
from stridecheck.conformance.view_chain import as_view_chain, needed_length


def _reached(oracle, chain, length):
    """State of what a chain makes of a row of float32, as the oracle sees it, and what it was made of."""
    steps = tuple(
        step.__class__(step.op, (step.args[0]._replace(slot=number), *step.args[1:]))
        for number, step in enumerate(chain)
    )
    program = Program((Storage(4 * length),), (Input("float32", (length,), (1,)),), steps)
    observations = execute(program, oracle)
    return observations[-1].values[str(len(steps))]


def _significant(shape, strides):
    return [stride for size, stride in zip(shape, strides, strict=True) if size > 1]


def _check(oracle, shape, strides, offset, length):
    chain = as_view_chain(shape, strides, offset, length)
    if chain is None:
        return False
    state = _reached(oracle, chain, length)
    assert (state.shape, state.storage) == (shape, "s0")
    if 0 not in shape:
        assert (_significant(shape, state.strides), state.offset) == (_significant(shape, strides), offset)
    return True


@given(st.data())
def test_a_chain_ends_in_the_layout_that_was_asked_for(oracle, data):
    """Whatever the layout: where there is a chain, its result lies in the row with these strides and this offset."""
    shape = tuple(data.draw(st.lists(st.integers(0, 4), max_size=4), label="shape"))
    strides = tuple(data.draw(st.integers(-1, 24), label="stride") for _ in shape)
    offset = data.draw(st.integers(0, 5), label="offset")
    length = max(needed_length(shape, strides, offset), extent(shape, strides, offset)[1], 1)
    _check(oracle, shape, strides, offset, length + data.draw(st.integers(0, 3), label="spare"))


def test_every_dense_permutation_and_padding_has_a_chain(oracle):
    """Gapped, permuted and expanded layouts whose dimensions nest all have one."""
    for shape in itertools.product((1, 2, 3), repeat=3):
        for order in itertools.permutations(range(3)):
            for padding in (0, 1):
                strides, running = [0, 0, 0], 1
                for dimension in reversed(order):
                    strides[dimension] = running
                    running *= shape[dimension] + padding
                for expanded in (None, 0, 2):
                    final = tuple(0 if d == expanded else s for d, s in enumerate(strides))
                    assert _check(oracle, shape, final, 1, needed_length(shape, final, 1))


def test_overlapping_and_reversed_layouts_have_none():
    """No view cuts memory so that two rows share a part of it, or walks it backwards."""
    assert as_view_chain((3, 3), (1, 1), 0, 20) is None
    assert as_view_chain((2, 3), (2, 1), 0, 20) is None
    assert as_view_chain((3,), (-1,), 2, 20) is None


def test_a_row_that_is_too_short_has_none():
    """Whole periods must fit: a row that ends inside the last has no chain, one that begins earlier has."""
    assert as_view_chain((2, 3), (5, 1), 0, 8) is None
    assert as_view_chain((2, 3), (5, 1), 2, 10) is not None
