"""The layout algebra: measured vectors, brute force over every small layout, and laws that hold for all."""

import itertools
import re
from math import prod
from pathlib import Path

import numpy as np
import pytest
import stridecheck.reference_impl as ref
from hypothesis import given, settings
from hypothesis import strategies as st
from stridecheck.reference_impl import contiguity, output_layout, overlap, slicing, views
from stridecheck.reference_impl.layout import Layout, channels_last_strides, contiguous_strides, span

GOLDEN = Path(__file__).with_name("golden_vectors.md").read_text()


def section(number):
    """The table rows of one section of the measured vectors, as lists of cells."""
    text = re.search(rf"### {re.escape(number)} .*?\n(.*?)(?=\n### |\Z)", GOLDEN, re.DOTALL).group(1)
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return [r for r in rows[2:] if len(r) > 1]


def numbers(text):
    return tuple(int(x) for x in re.findall(r"-?\d+", text))


def geometry(text):
    shape, rest = text.split("@")
    strides, _, offset = rest.rpartition("+")
    return Layout(numbers(shape), numbers(strides), int(offset))


@pytest.mark.parametrize("row", section("13.1"), ids=lambda r: r[0])
def test_predicates_match_the_measured_ones(row):
    layout = geometry(row[0])
    shape, strides, _ = layout
    answers = [
        contiguity.is_contiguous(shape, strides),
        contiguity.is_contiguous_in(shape, strides, ref.channels_last),
        contiguity.is_non_overlapping_and_dense(shape, strides),
    ]
    assert [("F", "T")[a] for a in answers] == row[1:4]
    assert overlap.internal_overlap(shape, strides) == int(row[4])


@pytest.mark.parametrize("row", section("13.2"), ids=lambda r: f"{r[0]}->{r[1]}")
def test_view_strides_match_the_measured_ones(row):
    layout = geometry(row[0])
    found = views.view_strides(layout.shape, layout.strides, numbers(row[1]))
    assert found == (None if row[2] == "ERR" else numbers(row[2]))


@pytest.mark.parametrize("row", section("13.3"), ids=lambda r: r[0])
def test_preserved_strides_match_the_measured_ones(row):
    layout = geometry(row[0])
    assert output_layout.preserved_strides(layout.shape, layout.strides) == numbers(row[1])


@pytest.mark.parametrize("row", section("13.4"), ids=lambda r: f"{r[0]} + {r[1]}")
def test_sums_are_laid_out_as_measured(row):
    a, b = geometry(row[0]), geometry(row[1])
    shape = output_layout.broadcast_shapes(a.shape, b.shape)
    assert output_layout.output_strides(shape, (a[:2], b[:2])) == numbers(row[2])


@pytest.mark.parametrize("row", section("13.5"), ids=lambda r: r[1])
def test_other_views_are_laid_out_as_measured(row):
    layout = geometry(row[0])
    storage = ref.UntypedStorage([0] * (4 * (span(layout) + 20)))
    t = ref.empty(0).set_(storage, layout.offset, layout.shape, layout.strides)
    result = eval(row[1].strip("`"), {"t": t, "torch": ref})
    assert result._layout == geometry(row[2])


@pytest.mark.parametrize("row", section("13.6"), ids=lambda r: f"{r[0]} {r[1]}")
def test_gathers_are_laid_out_as_measured(row):
    layout = geometry(row[0])
    dims, _, shape = row[1].partition("/")
    t = ref.empty(0).set_(ref.UntypedStorage([0] * (4 * span(layout))), 0, layout.shape, layout.strides)
    index = ref.zeros(numbers(shape), dtype=ref.int64)
    key = tuple(index if d in numbers(dims) else slice(None) for d in range(t.dim()))
    assert t[key]._layout == geometry(row[2])


def dense_layouts(max_ndim, max_length):
    """Every dense layout: all shapes, dimensions in all orders."""
    for ndim in range(max_ndim + 1):
        for shape in itertools.product(range(max_length + 1), repeat=ndim):
            for order in itertools.permutations(range(ndim)):
                strides = [0] * ndim
                step = 1
                for d in reversed(order):
                    strides[d] = step
                    step *= max(shape[d], 1)
                yield shape, tuple(strides)


def brute_force_view(shape, strides, new_shape):
    """Whether any strides give `new_shape` over the same addresses in the same order."""
    old = overlap.addresses(shape, strides).reshape(new_shape)
    steps = []
    for d, n in enumerate(new_shape):
        steps.append(int(np.diff(old, axis=d).flat[0]) if n > 1 and old.size else 0)
    first = int(old.flat[0]) if old.size else 0
    return bool((overlap.addresses(new_shape, tuple(steps), first) == old).all())


def test_view_succeeds_exactly_where_some_strides_exist():
    shapes = [s for n in range(4) for s in itertools.product(range(1, 5), repeat=n)]
    by_count = {}
    for s in shapes:
        by_count.setdefault(prod(s), []).append(s)
    checked = 0
    for shape, strides in dense_layouts(3, 3):
        if 0 in shape:
            continue
        for new_shape in by_count.get(prod(shape), ()):
            found = views.view_strides(shape, strides, new_shape)
            assert (found is not None) == brute_force_view(shape, strides, new_shape), (shape, strides, new_shape)
            if found is not None:
                same = overlap.addresses(shape, strides).reshape(-1) == overlap.addresses(new_shape, found).reshape(-1)
                assert same.all()
            checked += 1
    assert checked > 1000


layouts = st.integers(0, 4).flatmap(
    lambda n: st.builds(
        Layout,
        st.tuples(*[st.integers(0, 4)] * n),
        st.tuples(*[st.integers(0, 9)] * n),
        st.integers(0, 5),
    )
)


@given(layouts)
@settings(max_examples=300, deadline=None)
def test_exact_overlap_is_what_enumeration_finds(layout):
    places = overlap.addresses(*layout).reshape(-1)
    assert overlap.has_internal_overlap(layout.shape, layout.strides) == (len(set(places.tolist())) < places.size)


@given(layouts)
@settings(max_examples=200, deadline=None)
def test_pytorch_never_calls_an_overlap_what_is_none(layout):
    found = overlap.internal_overlap(layout.shape, layout.strides)
    if found is overlap.Internal.YES:
        assert overlap.has_internal_overlap(layout.shape, layout.strides) or 0 in layout.shape
    if found is overlap.Internal.NO:
        assert not overlap.has_internal_overlap(layout.shape, layout.strides)


@given(layouts, layouts, st.sampled_from([1, 2, 4]), st.sampled_from([1, 2, 4]))
@settings(max_examples=200, deadline=None)
def test_shared_memory_is_what_enumeration_finds(a, b, x, y):
    def touched(layout, itemsize):
        return {p * itemsize + k for p in overlap.addresses(*layout).reshape(-1).tolist() for k in range(itemsize)}

    assert overlap.shares_memory(a, x, b, y) == bool(touched(a, x) & touched(b, y))


@given(layouts)
@settings(max_examples=200, deadline=None)
def test_a_preserving_copy_is_dense(layout):
    strides = output_layout.preserved_strides(layout.shape, layout.strides)
    assert contiguity.is_non_overlapping_and_dense(layout.shape, strides)
    assert output_layout.preserved_strides(layout.shape, strides) == strides


@given(layouts)
@settings(max_examples=200, deadline=None)
def test_span_reaches_just_behind_the_last_element(layout):
    places = overlap.addresses(*layout).reshape(-1)
    assert span(layout) == (places.max() + 1 if places.size else 0)


@given(layouts, st.data())
@settings(max_examples=200, deadline=None)
def test_permuting_back_gives_the_layout_back(layout, data):
    order = data.draw(st.permutations(range(layout.ndim)))
    back = tuple(order.index(d) for d in range(layout.ndim))
    assert views.permute(views.permute(layout, tuple(order)), back) == layout


@given(layouts, st.data())
@settings(max_examples=200, deadline=None)
def test_views_of_a_part_address_only_what_the_whole_does(layout, data):
    whole = set(overlap.addresses(*layout).reshape(-1).tolist())
    parts = [layout]
    if layout.ndim:
        d = data.draw(st.integers(0, layout.ndim - 1))
        step = data.draw(st.integers(1, 3))
        parts.append(slicing.slice_dim(layout, d, data.draw(st.integers(-6, 6)), data.draw(st.integers(-6, 6)), step))
        parts.append(views.unsqueeze(layout, d))
        if layout.shape[d]:
            parts.append(slicing.select(layout, d, data.draw(st.integers(-layout.shape[d], layout.shape[d] - 1))))
            parts.append(slicing.unfold(layout, d, data.draw(st.integers(0, layout.shape[d])), step))
    for part in parts:
        assert set(overlap.addresses(*part).reshape(-1).tolist()) <= whole


@given(st.tuples(*[st.integers(1, 4)] * 4))
@settings(max_examples=50, deadline=None)
def test_fresh_formats_are_contiguous_in_themselves(shape):
    assert contiguity.is_contiguous(shape, contiguous_strides(shape))
    assert contiguity.is_channels_last(shape, channels_last_strides(shape))


def test_a_suggested_format_looks_at_dimensions_of_length_one():
    assert contiguity.suggested_format((2, 1, 4, 4), (16, 16, 4, 1)) is ref.contiguous_format
    assert contiguity.suggested_format((2, 1, 4, 4), (16, 1, 4, 1)) is ref.channels_last
