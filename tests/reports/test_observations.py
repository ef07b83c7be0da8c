"""Two observations are compared in words, whatever they look like."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stridecheck.reports.observations import Part, compare, say


def _storage(data):
    return {"storages": {"s0": [base64.b64encode(data).decode()]}}


def test_places_of_a_tensor_get_their_names():
    parts = compare(
        {"values": {"1": ["f4", [2, 3], [3, 1], 0, "TFF", "s0", 0, None, None]}},
        {"values": {"1": ["f4", [2, 3], [1, 2], 0, "FFF", "s0", 0, None, None]}},
    )
    assert parts.differing == (Part("value 1 strides", "[3, 1]", "[1, 2]"), Part("value 1 contiguity", "TFF", "FFF"))
    assert Part("value 1 shape", "[2, 3]", "[2, 3]") in parts.agreeing


def test_what_a_library_knows_nothing_of_is_no_difference():
    parts = compare(
        {"values": {"1": ["f4", [2], [1], 0, "TFF", "s0", 3, None, "l"]}},
        {"values": {"1": ["f4", [2], [1], 0, "T--", "s0", None, None, None]}},
    )
    assert not parts.differing
    assert [part.name for part in parts.untold] == ["value 1 contiguity", "value 1 version", "value 1 flags"]


def test_the_quantizer_of_a_tensor_is_a_part_like_any_other():
    plain = ["qint8", [2], [1], 0, "TFF", "s0", 0, None, ""]
    one, other = ({"values": {"1": [*plain, None, f"per_tensor_affine {scale} 0"]}} for scale in (0.5, 0.25))
    (part,) = compare(one, other).differing
    assert part == Part("value 1 quantizer", "per_tensor_affine 0.5 0", "per_tensor_affine 0.25 0")
    silent = compare(one, {"values": {"1": plain}})
    assert (silent.differing, [part.name for part in silent.untold]) == ((), ["value 1 quantizer"])


def test_a_storage_that_lies_elsewhere_is_a_difference():
    own, within = (_storage(b"abcd") for _ in range(2))
    within["storages"]["s0"] += [None, ["v1", 8]]
    assert compare(own, within).differing == (Part("storage s0 home", "", '["v1", 8]'),)


def test_a_value_that_one_side_alone_changed_is_a_difference():
    parts = compare({"values": {"1": ["f4", [2]]}}, {"values": {}})
    assert parts.differing == (Part("value 1 dtype", "f4", ""), Part("value 1 shape", "[2]", ""))


def test_the_first_byte_that_differs_is_shown_with_its_address():
    one, other = bytearray(300), bytearray(300)
    other[200] = 0xAB
    (part,) = compare(_storage(bytes(one)), _storage(bytes(other))).differing
    assert part.name == "storage s0 bytes"
    assert "ab" in part.got
    assert part.got.endswith("(bytes 192 to 207 of 300)")
    assert "ab" not in part.expected


def test_storages_of_different_length_differ_where_the_shorter_ends():
    (part,) = compare(_storage(bytes(64)), _storage(bytes(128))).differing
    assert part.expected.endswith("of 64)")
    assert part.got.endswith("of 128)")


def test_an_error_against_a_value_shows_both():
    differing = compare({"raised": ["RuntimeError", "bad view", None]}, {"results": [None]}).differing
    assert [part.name for part in differing] == ["raised", "error text", "results"]
    assert differing[0] == Part("raised", "RuntimeError", "")


@pytest.mark.parametrize(
    ("aspect", "value", "said"),
    [
        ("layout", [[4, 1], 2], "strides [4, 1], offset 2"),
        ("layout", "a layout", "a layout"),
        ("raises", None, "no error"),
        ("raises", ["TypeError", "bad", None], "TypeError: bad"),
        ("error-kind", ["TypeError", "bad", "dtype"], "TypeError: bad (dtype)"),
        ("strides", [2, 1], "[2, 1]"),
        ("storage", None, ""),
    ],
)
def test_a_difference_is_said_in_words(aspect, value, said):
    assert say(aspect, value) == said


jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["values", "storages", "raised", "results", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(jsons, jsons)
def test_anything_can_be_compared_and_equals_agree(one, other):
    compare(one, other)
    assert not compare(one, one).differing
