"""Two observations are compared in words, whatever they look like."""

import base64

from hypothesis import given
from hypothesis import strategies as st
from stridecheck.reports.observations import Part, compare


def _storage(data):
    return {"storages": {"s0": [base64.b64encode(data).decode()]}}


def test_places_of_a_tensor_get_their_names():
    differing, agreeing = compare(
        {"values": {"v1": ["f4", [2, 3], [3, 1], 0, "T--", "s0", 0, None, None]}},
        {"values": {"v1": ["f4", [2, 3], [1, 2], 0, "F--", "s0", 0, None, None]}},
    )
    assert differing == [Part("v1 strides", "[3, 1]", "[1, 2]"), Part("v1 contiguity", "T--", "F--")]
    assert Part("v1 shape", "[2, 3]", "[2, 3]") in agreeing


def test_the_first_byte_that_differs_is_shown_with_its_address():
    one, other = bytearray(300), bytearray(300)
    other[200] = 0xAB
    ((part,), _) = compare(_storage(bytes(one)), _storage(bytes(other)))
    assert part.name == "s0 bytes"
    assert "ab" in part.got
    assert part.got.endswith("(bytes 192 to 207 of 300)")
    assert "ab" not in part.expected


def test_storages_of_different_length_differ_where_the_shorter_ends():
    ((part,), _) = compare(_storage(bytes(64)), _storage(bytes(128)))
    assert part.expected.endswith("of 64)")
    assert part.got.endswith("of 128)")


def test_an_error_against_a_value_shows_both():
    differing, _ = compare({"raised": ["RuntimeError", "bad view", None]}, {"results": [None]})
    assert [part.name for part in differing] == ["raised", "error text", "results"]
    assert differing[0] == Part("raised", "RuntimeError", "")


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
    differing, _ = compare(one, one)
    assert not differing
