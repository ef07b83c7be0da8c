"""Random layouts and programs: the same from the same seed, inside their storages, and of every kind there is."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stridecheck.conformance.draw import choose
from stridecheck.conformance.draw.layouts import draw_layout, edit_shape
from stridecheck.conformance.draw.programs import MAX_STEPS, draw_program
from stridecheck.conformance.draw.source import Seeded, weighted
from stridecheck.conformance.draw.strategies import Drawn, layouts
from stridecheck.conformance.layout import extent, row_major
from stridecheck.conformance.operations import OPERATIONS, overload
from stridecheck.conformance.program import ITEMSIZES, Input, Program, Storage

LAYOUTS = 4_000
PROGRAMS = 2_500


@pytest.fixture(scope="module")
def many_layouts():
    return [draw_layout(Seeded(f"layouts:{n}")) for n in range(LAYOUTS)]


@pytest.fixture(scope="module")
def many_programs(oracle):
    return [draw_program(Seeded(f"programs:{n}"), oracle) for n in range(PROGRAMS)]


def _dense(layout):
    expected = 1
    for stride, size in sorted((s, n) for s, n in zip(layout.strides, layout.shape, strict=True) if n > 1):
        if stride != expected:
            return False
        expected *= size
    return True


def _overlaps(layout):
    """Whether some element is addressed twice without a stride of 0."""
    places = [0]
    for size, stride in zip(layout.shape, layout.strides, strict=True):
        places = [place + i * stride for place in places for i in range(size)]
    long = [s for s, n in zip(layout.strides, layout.shape, strict=True) if n > 1]
    return len(set(places)) < len(places) and 0 not in long


def _channels_last(layout, rank):
    if len(layout.shape) != rank or min(layout.shape) < 2:
        return False
    order = [1, *range(rank - 1, 1, -1), 0]
    expected = 1
    for dim in order:
        if layout.strides[dim] != expected:
            return False
        expected *= layout.shape[dim]
    return True


def _long(layout):
    return [s for s, n in zip(layout.strides, layout.shape, strict=True) if n > 1]


KINDS = {
    "row-major": lambda v: v.strides == row_major(v.shape) and prod(v.shape) > 1,
    "permuted": lambda v: _dense(v) and _long(v) != sorted(_long(v), reverse=True),
    "stepped": lambda v: 0 not in v.shape and len(_long(v)) > 0 and min(_long(v)) in (2, 3),
    "padded": lambda v: (
        len(_long(v)) > 1 and not _dense(v) and min(_long(v)) == 1 and not _overlaps(v) and 0 not in _long(v)
    ),
    "offset": lambda v: v.offset > 0,
    "expanded": lambda v: 0 in _long(v),
    "overlapping": _overlaps,
    "channels_last": lambda v: _channels_last(v, 4),
    "channels_last_3d": lambda v: _channels_last(v, 5),
    "size 0": lambda v: 0 in v.shape,
    "size 1 with a free stride": lambda v: any(
        n == 1 and s != expected for n, s, expected in zip(v.shape, v.strides, row_major(v.shape), strict=True)
    ),
    "0-dim": lambda v: v.shape == (),
    "five dimensions": lambda v: len(v.shape) == 5,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_layout_is_drawn(kind, many_layouts):
    """Each kind of layout that a tensor can have comes up in more than one of a hundred draws."""
    assert sum(KINDS[kind](layout) for layout in many_layouts) > LAYOUTS / 100


def test_negative_strides_only_where_they_are_asked_for(many_layouts):
    """Strides are negative in a good part of the layouts that may have them, and in no other."""
    assert not any(stride < 0 for layout in many_layouts for stride in layout.strides)
    asked = [draw_layout(Seeded(f"negative:{n}"), negative=True) for n in range(300)]
    assert sum(min(layout.strides, default=0) < 0 for layout in asked) > 60


@given(layouts(negative=True))
@settings(max_examples=300)
def test_a_layout_stays_inside_its_reach(layout):
    """No drawn layout addresses anything before its storage's begin or after its reach, and the offset is legal."""
    low, high = extent(layout.shape, layout.strides, layout.offset)
    assert low >= 0
    assert high <= layout.reach
    assert layout.offset >= 0
    program = Program((Storage(layout.reach),), (Input("int8", layout.shape, layout.strides, layout.offset),))
    program.check()


@given(st.tuples(st.integers(0, 3), st.integers(0, 3)).flatmap(lambda shape: layouts(shape=shape)))
def test_a_given_shape_is_kept(layout):
    """A layout of a given shape has that shape."""
    assert len(layout.shape) == len(layout.strides) == 2


@given(st.lists(st.integers(0, 6), max_size=4).map(tuple), st.data())
def test_an_edited_shape_has_as_many_elements(shape, data):
    """Merging, splitting, inserting and dropping dimensions keeps the number of elements, and never makes a -1."""
    edited = edit_shape(Drawn(data.draw), shape)
    assert prod(edited) == prod(shape)
    assert min(edited, default=0) >= 0


def test_a_seed_gives_the_same_programs_for_ever(oracle):
    """The first fifty programs of a seed have always been these: a failure that names its seed can be found again."""
    drawn = [draw_program(Seeded(f"pinned:{n}"), oracle).program.to_json() for n in range(50)]
    text = json.dumps(drawn, sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "038078af925ccc8a"


def test_other_seeds_give_other_programs(many_programs):
    """Hardly any program is drawn twice."""
    assert len({drawn.program.id for drawn in many_programs}) > 0.97 * PROGRAMS


def test_drawn_programs_are_whole(many_programs):
    """Every drawn program passes `check`, has one to the greatest number of steps, and the oracle did not break."""
    for program, expected in many_programs:
        program.check()
        assert 1 <= len(program.steps) <= MAX_STEPS
        assert expected is not None
        assert len(expected) == len(program.steps) + 1


def test_the_number_of_steps_can_be_given(oracle):
    """A program of exactly that many steps is drawn."""
    assert {len(draw_program(Seeded(f"steps:{n}"), oracle, steps=3).program.steps) for n in range(20)} == {3}


def test_every_operation_of_the_table_is_drawn(oracle):
    """Each operation that is meant to be drawn comes up, and is accepted."""
    drawn, accepted = Counter(), Counter()
    for program, expected in (draw_program(Seeded(f"programs:{n}"), oracle) for n in range(6 * PROGRAMS)):
        for step, observation in zip(program.steps, expected[1:], strict=True):
            drawn[step.op] += 1
            accepted[step.op] += observation.raised is None
    wanted = {name for _, family in choose.FAMILIES for _, (name, _) in family}
    assert wanted - set(drawn) == set()
    assert {name for name in wanted if not accepted[name]} == set()
    assert {
        name for name, op in OPERATIONS.items() if op.group and op.group != "gradients" and not drawn[name]
    } == set()


def test_most_steps_are_accepted_and_some_refused(many_programs):
    """Between a tenth and two fifths of the drawn calls are refused: errors do not crowd out the rest."""
    observations = [o for _, expected in many_programs for o in expected[1:]]
    refused = sum(o.raised is not None for o in observations) / len(observations)
    assert 0.1 < refused < 0.4


def test_inputs_share_memory_are_guarded_and_have_every_dtype(many_programs):
    """Inputs in one storage, guarded storages and all drawn dtypes occur, and a bool never lies over other bytes."""
    shared = guarded = 0
    dtypes = Counter()
    for program, _ in many_programs:
        shared += len(program.inputs) > len(program.storages)
        guarded += any(storage.backing == "guarded" for storage in program.storages)
        dtypes.update(item.dtype for item in program.inputs)
        for item in program.inputs:
            storage = program.storages[item.storage]
            if item.dtype == "bool":
                assert storage.fill == "bool1" or (storage.fill == "literal" and set(storage.data) <= {0, 1})
            else:
                assert storage.fill != "bool1"
    assert min(shared, guarded) > PROGRAMS / 20
    assert set(dtypes) == set(ITEMSIZES)


def test_dtype_views_and_formats_are_drawn(many_programs):
    """The overload of view that takes a dtype, and every memory format, occur."""
    overloads = {overload(step) for program, _ in many_programs for step in program.steps}
    keywords = [item for program, _ in many_programs for step in program.steps for item in step.kwargs]
    formats = {value.name for name, value in keywords if name == "memory_format"}
    assert "view.dtype" in overloads
    assert formats == {"contiguous_format", "channels_last", "channels_last_3d", "preserve_format"}


def test_weights_are_kept():
    """`weighted` draws each option about as often as its weight says, and one of weight 0 never."""
    drawn = Counter(weighted(Seeded(n), ((0, "never"), (75, "often"), (25, "seldom"))) for n in range(2000))
    assert drawn["never"] == 0
    assert 0.20 < drawn["seldom"] / 2000 < 0.30
