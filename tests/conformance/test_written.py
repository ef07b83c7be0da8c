"""What is written down of a program: read back as it was, and not read at all where two say the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stridecheck.conformance import corpus, written
from stridecheck.conformance.capabilities import Capabilities
from stridecheck.conformance.execute import execute
from stridecheck.conformance.judge import judge
from stridecheck.conformance.observation import Observation, Raised, StorageState, apart, together
from stridecheck.conformance.program import ITEMSIZES
from stridecheck.conformance.written import Written, from_line, to_line

ID = "0123456789abcdef"
ALL = Capabilities(frozenset(ITEMSIZES), exact_errors=True)
SEEN = [
    Observation(
        results=(), storages={"s0": StorageState(b"\1\2", b"\0\xff"), "v1": StorageState(b"", None, ("s0", 1))}
    ),
    Observation(raised=Raised("ValueError", 'no ] and no \u2028, "}', "size")),
    Observation(skipped=True),
    Observation(raised=Raised("RuntimeError", "", None), storages={"v1": StorageState(b"\3", b"\1", ("s0", 2))}),
]


def line(observations, number=0):
    """What a library's process says in a line."""
    data, aside = apart(observations)
    return json.dumps({"number": number, "observations": data, **aside}, separators=(",", ":")).encode()


@pytest.mark.parametrize("seen", [SEEN, SEEN[:1], SEEN[1:2], SEEN[2:3], []])
def test_what_is_written_is_read_as_it_was(seen):
    """With marks, places, words and kinds of errors; whatever brackets the words have in them."""
    assert from_line(to_line(ID, seen).encode() + b"\n").observations == seen
    data, aside = apart(seen)
    assert together(json.loads(json.dumps(data)), **aside) == seen


def test_the_same_letters_are_not_read():
    """Words of errors and marks aside: these are of one side alone."""
    ours = from_line(to_line(ID, SEEN).encode())
    told = ours.told_by(line([one._replace(raised=one.raised and one.raised._replace(text="?")) for one in SEEN]), 0)
    assert told is not None
    assert told[1].raised == Raised("ValueError", "?", "size")
    theirs = [one._replace(storages={}) for one in SEEN]
    assert ours.told_by(line(theirs), 0) is None
    assert ours.told_by(line(SEEN, 1), 0) is None


@given(st.binary(max_size=40), st.data())
def test_bytes_that_nobody_specifies_may_be_others(content, data):
    """Any of them, and none but them: what is told in other bytes of those that are specified is read."""
    marks = bytes(data.draw(st.lists(st.sampled_from([0, 1, 255]), min_size=len(content), max_size=len(content))))
    theirs = bytes(data.draw(st.lists(st.integers(0, 255), min_size=len(content), max_size=len(content))))
    ours = [Observation(results=(), storages={"v1": StorageState(content, marks if any(marks) else None)})]
    got = [Observation(results=(), storages={"v1": StorageState(theirs)})]
    same = all(a == b or mark == 255 for a, b, mark in zip(content, theirs, marks, strict=True))
    for mine in (written.write(ours), from_line(to_line(ID, [written.specified(one) for one in ours]).encode())):
        told = mine.told_by(line(got), 0)
        assert (told is not None) is same
        if told is not None:
            assert mine.is_like(told)
    assert written.write(ours).observations == ours


@pytest.mark.parametrize(
    "observations",
    [[], [{}], [{"storages": {}}], [{"storages": {"v1": ["?"]}}], [{"storages": {"v1": ["AA==", 1]}}], [3], {}, "x"],
)
def test_other_answers_about_unspecified_bytes_are_left_to_be_told(observations):
    """Fewer observations, other storages, bytes that are none: whatever is no such answer."""
    ours = written.write([Observation(results=(), storages={"v1": StorageState(b"\1", b"\xff")})])
    assert (
        ours.told_by(json.dumps({"number": 0, "observations": observations}, separators=(",", ":")).encode(), 0) is None
    )


@pytest.mark.parametrize("rest", [b"", b"]", b',"said":[', b',"said":[]', b"}]}"])
def test_a_line_that_goes_on_otherwise_is_no_answer(rest):
    """A line cut off, or with more behind it, is left to be told as garbage."""
    ours = from_line(to_line(ID, SEEN[:1]).encode())
    assert ours.told_by(line(SEEN[:1])[:-1].split(b',"marks"')[0] + rest, 0) is None


def test_letters_that_are_no_observations_are_told_when_looked_at():
    """With what is wrong with them."""
    with pytest.raises(ValueError, match="no observations"):
        Written(b'[{"values":{"0":[1]}}]', {})[0]


@pytest.mark.parametrize(("kind", "alike"), [("size", True), (None, True), ("index", False)])
def test_errors_of_other_kinds_are_not_alike(kind, alike):
    """Where both sides know one."""
    ours, theirs = (
        written.from_line(to_line(ID, [Observation(raised=Raised("E", "", k))]).encode()) for k in ("size", kind)
    )
    assert ours.is_like(theirs) is alike


def test_verdicts_are_the_same_read_or_unread(oracle):
    """What is written alike is judged as what is read and compared: the same aspects of each step, no difference."""
    raised = 0
    for program in corpus.read(count=600):
        done = execute(program, oracle)
        ours = from_line(to_line(program.id, done).encode())
        theirs = ours.told_by(line(done), 0)
        assert theirs is not None
        assert judge(program, ours, theirs, ALL) == judge(program, done, done, ALL)
        raised += any(one.raised for one in done)
    assert raised > 50
