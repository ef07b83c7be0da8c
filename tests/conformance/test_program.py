"""Programs as values: their JSON form, their ids, what `check` refuses, and the bytes that storages start with."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stridecheck.conformance.draw.strategies import programs
from stridecheck.conformance.program import (
    FILL_SOURCES,
    FILLS,
    DType,
    Input,
    MemoryFormat,
    Program,
    Ref,
    Slice,
    Step,
    Storage,
    argument_from_json,
    argument_to_json,
    fill_bytes,
)

ONE = Program((Storage(24),), (Input("float32", (2, 3), (3, 1)),), (Step("view", (Ref(0), (3, 2))),))

leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.complex_numbers(allow_nan=False), st.text(),
    st.just(...), st.builds(Ref, st.integers(0, 9), st.none() | st.integers(0, 3)), st.builds(DType, st.text()),
    st.builds(MemoryFormat, st.text()),
    st.builds(Slice, *[st.none() | st.integers() for _ in range(3)]),
)  # fmt: skip
arguments = st.recursive(leaves, lambda inner: st.lists(inner, max_size=4).map(tuple))


@given(programs())
@settings(max_examples=150, deadline=None)
def test_a_drawn_program_survives_its_json_text(program):
    """What is read from a program's JSON text is the same program, with the same id, tags included."""
    tagged = replace(program, tags=("found", "here"))
    again = Program.from_json(json.loads(json.dumps(tagged.to_json())))
    assert again == tagged
    assert again.tags == tagged.tags
    assert again.id == tagged.id


@given(arguments)
def test_every_kind_of_argument_survives_its_json_text(argument):
    """An argument is the same after JSON, also in type: 1 stays an int, 1.0 a float, True a bool."""
    again = argument_from_json(json.loads(json.dumps(argument_to_json(argument))))
    assert again == argument
    assert repr(again) == repr(argument)


def test_nan_survives_json():
    """NaN is written by name, since JSON has none, and read as NaN."""
    assert argument_to_json(float("nan")) == {"float": "nan"}
    assert argument_from_json({"float": "nan"}) != argument_from_json({"float": "nan"})


@pytest.mark.parametrize("value", [bytearray(b"bytes"), {1: 2}, object()])
def test_what_json_cannot_hold_is_refused(value):
    """An argument without an exact JSON form is an error, never written as something like it."""
    with pytest.raises(ValueError, match="cannot hold"):
        argument_to_json(value)


def test_ids_never_change():
    """Three programs that use every part have the ids they have always had: results files refer to programs by id."""
    three = [
        Program((), (), ()),
        ONE,
        Program(
            (Storage(8, "literal", "guarded", bytes(range(8))), Storage(64, "bool1")),
            (Input("int8", (2, 2), (-1, 2), 1), Input("bool", (), (), 3, 1, requires_grad=True)),
            (
                Step(
                    "__getitem__",
                    (Ref(0), (Slice(None, -1, 2), ..., None, 1)),
                    (("dtype", DType("float16")), ("memory_format", MemoryFormat("channels_last"))),
                ),
                Step("fill_", (Ref(2, 1), float("-inf"))),
                Step("add", (Ref(0), 1.5 + 2j)),
            ),
        ),
    ]
    assert [program.id for program in three] == ["ef27d634202a88c4", "f2e148ff3f216727", "ef53bc623b55ea0a"]


def test_tags_are_no_part_of_a_program():
    """Programs that differ in tags alone are equal and have one id."""
    tagged = replace(ONE, tags=("slow",))
    assert (tagged, tagged.id) == (ONE, ONE.id)
    assert "tags" not in ONE.to_json()


@given(programs(), programs())
@settings(max_examples=60, deadline=None)
def test_different_programs_have_different_ids(one, other):
    """Equal ids mean equal programs."""
    assert (one.id == other.id) == (one == other)


def _input(**changes):
    return replace(ONE, inputs=(replace(ONE.inputs[0], **changes),))


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (replace(ONE, storages=(Storage(23),)), "reach outside storage 0 of 23 bytes"),
        (_input(offset=1), "offset 1 of float32 reach outside"),
        (_input(offset=-1), "reach outside"),
        (_input(strides=(-3, 1)), "reach outside"),
        (_input(strides=(3,)), "no layout"),
        (_input(shape=(-2, 3)), "no layout"),
        (_input(dtype="float31"), "unknown dtype 'float31'"),
        (_input(storage=1), "no storage 1"),
        (replace(ONE, storages=(Storage(24, "ramp0"),)), "ramp1, bool1, zeros1"),
        (replace(ONE, storages=(Storage(24, "literal", data=b"short"),)), "storage 0"),
        (replace(ONE, storages=(Storage(-1),)), "storage 0: -1 bytes"),
        (replace(ONE, storages=(Storage(24, backing="rented"),)), "'rented'"),
        (replace(ONE, steps=(Step("view", (Ref(1), (6,))),)), "step 0 (view): value 1 does not come before it"),
        (replace(ONE, steps=(Step("cat", ((Ref(0), Ref(7)),)),)), "value 7"),
        (replace(ONE, steps=(Step("add", (Ref(0), 1), (("out", Ref(-1)),)),)), "value -1"),
    ],
)
def test_check_says_which_part_is_wrong(broken, says):
    """A program whose parts do not fit together is refused, and the message names the part and its number."""
    ONE.check()
    with pytest.raises(ValueError, match=r".") as error:
        broken.check()
    assert says in str(error.value)


def test_an_empty_tensor_may_lie_anywhere():
    """A layout without elements addresses nothing, so any strides fit any storage."""
    Program((Storage(0),), (Input("float64", (0, 3), (99, 7)),), ()).check()


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("nbytes", [0, 1, 7, 128, 1000, 16384, 70_001])
def test_fills_are_what_scripts_compute(fill, nbytes):
    """The bytes of a fill are those of the expression that a standalone script makes it with, at every size."""
    made = fill_bytes(fill, nbytes)
    assert len(made) == nbytes
    assert made == eval(FILL_SOURCES[fill].format(n=nbytes))


def test_the_ramp_tells_elements_apart():
    """Neighbouring elements of the usual fill differ in every dtype, and none is NaN or infinite in a floating one."""
    import ml_dtypes
    import numpy as np

    data = fill_bytes("ramp1", 4096)
    for dtype in (np.uint8, np.int16, np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.complex64):
        elements = np.frombuffer(data, dtype)
        assert np.isfinite(elements).all(), dtype
        assert (elements[1:] != elements[:-1]).all(), dtype
        assert len(set(elements[:100].tolist())) > 90, dtype


def test_a_bool_storage_holds_bools():
    """The fill for bool tensors has both truth values and no other byte, which would be undefined behaviour."""
    assert set(fill_bytes("bool1", 100)) == {0, 1}
