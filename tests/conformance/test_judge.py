"""Verdicts: every aspect of every observation can fail, fails alone, and fails once."""

from __future__ import annotations

import json
from collections import defaultdict
from math import prod

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from stridecheck.conformance import judge as judging
from stridecheck.conformance.capabilities import ASPECTS, Capabilities
from stridecheck.conformance.elements import differing_bytes
from stridecheck.conformance.judge import judge
from stridecheck.conformance.observation import Observation, Raised, StorageState, TensorState
from stridecheck.conformance.program import ITEMSIZES, Input, Program, Ref, Step, Storage

from .judging import ALL, as_answered, differences

# Nothing is found where nothing differs.


def test_what_equals_the_oracle_passes_in_every_aspect(whole_corpus):
    """The oracle's own observations, sent through JSON, are judged without a difference, by every path of the judge."""
    for program, expected in whole_corpus:
        assert differences(program, expected, as_answered(expected)) == []


def test_the_thorough_comparison_agrees_with_the_quick_one(whole_corpus, monkeypatch):
    """Comparing aspect by aspect finds no difference either where whole observations are equal."""
    monkeypatch.setattr(judging._Bench, "_same", lambda self, expected, got: False)
    for program, expected in whole_corpus[::2]:
        assert differences(program, expected, expected) == []


# One aspect differs.


class Perturbed:
    """A place in the corpus where one thing can be changed, and what must be reported then."""

    def __init__(self, data, places):
        self.draw = data.draw
        (self.program, self.expected), self.number = self.draw(places)
        self.observation = self.expected[self.number]

    def value(self, fits=lambda state: True):
        """A tensor of the observation that fits, and its state."""
        tensors = {k: state for k, state in self.observation.values.items() if isinstance(state, TensorState)}
        keys = [key for key, state in tensors.items() if fits(state)]
        assume(keys)
        self.key = self.draw(st.sampled_from(keys))
        return self.observation.values[self.key]

    def dim(self, state, fits):
        dims = [d for d, size in enumerate(state.shape) if fits(size)]
        return self.draw(st.sampled_from(dims))

    def with_state(self, state):
        return self.observation._replace(values={**self.observation.values, self.key: state})

    def judged(self, observation):
        got = [*self.expected[: self.number], observation, *self.expected[self.number + 1 :]]
        return differences(self.program, self.expected, got)


def _reports(found, place, aspects, *, also=()):
    """All differences are at the place's step, and have these aspects; `also` are those that may follow."""
    assert {d.step for d in found} == {place.number - 1}
    said = {d.aspect for d in found}
    assert aspects <= said <= aspects | set(also), (said, [d.message for d in found])


def _change_long_stride(place):
    state = place.value(lambda s: prod(s.shape) > 1)
    dim = place.dim(state, lambda size: size > 1)
    strides = [s + (place.draw(st.integers(1, 3)) if d == dim else 0) for d, s in enumerate(state.strides)]
    return place.with_state(state._replace(strides=tuple(strides))), {"strides", "layout"}, {"values"}


def _change_short_stride(place):
    state = place.value(lambda s: 1 in s.shape)
    dim = place.dim(state, lambda size: size == 1)
    strides = tuple([s + 1 if d == dim else s for d, s in enumerate(state.strides)])
    return place.with_state(state._replace(strides=strides)), {"layout"}, set()


def _change_stride_of_empty(place):
    state = place.value(lambda s: 0 in s.shape)
    return place.with_state(state._replace(strides=tuple(s + 1 for s in state.strides))), {"layout"}, set()


def _change_offset(place):
    state = place.value()
    return (
        place.with_state(state._replace(offset=state.offset + place.draw(st.sampled_from((-1, 1, 50))))),
        {"layout"},
        {"values"},
    )


def _change_dtype(place):
    state = place.value()
    return place.with_state(state._replace(dtype="int8" if state.dtype != "int8" else "uint8")), {"shape"}, set()


def _change_size(place):
    state = place.value(lambda s: s.shape)
    dim = place.dim(state, lambda size: True)
    shape = tuple(size + (d == dim) for d, size in enumerate(state.shape))
    return place.with_state(state._replace(shape=shape)), {"shape"}, set()


def _change_rank(place):
    state = place.value()
    return place.with_state(state._replace(shape=(*state.shape, 1), strides=(*state.strides, 1))), {"shape"}, set()


def _change_contiguity(place):
    state = place.value()
    at = place.draw(st.integers(0, 2))
    letters = [("F" if c == "T" else "T") if i == at else c for i, c in enumerate(state.contiguity)]
    return place.with_state(state._replace(contiguity="".join(letters))), {"contiguity"}, set()


def _change_storage_name(place):
    state = place.value()
    return place.with_state(state._replace(storage="s7")), {"sharing"}, set()


def _change_version(place):
    state = place.value()
    return place.with_state(state._replace(version=state.version + 1)), {"flags"}, set()


def _change_flags(place):
    state = place.value()
    letter = place.draw(st.sampled_from("glcnv"))
    flags = state.flags.replace(letter, "") if letter in state.flags else state.flags + letter
    return place.with_state(state._replace(flags=flags)), {"flags"}, set()


def _change_base(place):
    state = place.value()
    return place.with_state(state._replace(base=None if state.base else "0")), {"flags"}, set()


def _exact(content):
    return [i for i in range(len(content.data)) if content.shadow is None or content.shadow[i] == 0]


def _change_byte(place):
    name = place.draw(st.sampled_from(sorted(place.observation.storages) or [None]))
    assume(name is not None)
    content = place.observation.storages[name]
    places = _exact(content)
    assume(places)
    at = place.draw(st.sampled_from(places))
    data = bytes([b ^ 0x40 if i == at else b for i, b in enumerate(content.data)])
    storages = {**place.observation.storages, name: content._replace(data=data, shadow=None)}
    return place.observation._replace(storages=storages), {"storage"}, {"values"}


def _change_element(place):
    state = place.value(lambda s: prod(s.shape) > 0 and s.offset is not None and s.dtype in ITEMSIZES)
    content = place.observation.storages.get(state.storage)
    assume(content is not None)
    index = [place.draw(st.integers(0, size - 1)) for size in state.shape]
    at = (state.offset + sum(i * s for i, s in zip(index, state.strides, strict=True))) * ITEMSIZES[state.dtype]
    assume(at in _exact(content))
    data = bytearray(content.data)
    data[at] ^= 1
    storages = {**place.observation.storages, state.storage: content._replace(data=bytes(data), shadow=None)}
    return place.observation._replace(storages=storages), {"storage", "values"}, set()


def _change_nbytes(place):
    name = place.draw(st.sampled_from(sorted(place.observation.storages) or [None]))
    assume(name is not None)
    content = place.observation.storages[name]
    storages = {**place.observation.storages, name: content._replace(data=content.data + b"\0", shadow=None)}
    return place.observation._replace(storages=storages), {"storage"}, set()


def _change_guard(place):
    assume(place.program.storages)
    return place.observation._replace(damaged=("s0",)), {"storage"}, set()


def _raise_nothing(place):
    assume(place.observation.raised is not None)
    return place.observation._replace(raised=None, results=(None,)), {"raises"}, set()


def _raise_something(place):
    assume(place.observation.raised is None and place.number > 0)
    return Observation(raised=Raised("ValueError", "no", "size")), {"raises"}, set()


def _change_error_kind(place):
    raised = place.observation.raised
    assume(raised.kind is not None)  # what the oracle cannot tell, nobody is judged by
    other = Raised(raised.type, raised.text, "step" if raised.kind != "step" else "size")
    return place.observation._replace(raised=other), {"error-kind"}, set()


def _change_error_type(place):
    raised = place.observation.raised
    assume(raised.kind is not None)  # one without is NumPy's own, whose types differ between its versions
    return place.observation._replace(raised=raised._replace(type="OSError")), {"error-kind"}, set()


def _answer_a_new_object(place):
    results = place.observation.results
    assume(results and isinstance(results[0], str))
    return place.observation._replace(results=(None, *results[1:])), {"sharing"}, set()


def _answer_the_operand(place):
    results = place.observation.results
    assume(results == (None,) and place.program.inputs)
    looks = {"shape", "strides", "layout", "contiguity", "values"}
    return place.observation._replace(results=("0",)), {"sharing"}, looks


def _answer_another_scalar(place):
    results = place.observation.results
    assume(all(content.shadow is None for o in place.expected for content in o.storages.values()))
    return place.observation._replace(results=(("scalar", "another"), *results[1:])), {"values"}, set()


def _answer_a_scalar(place):
    results = place.observation.results
    assume(results and not isinstance(results[0], tuple))
    return place.observation._replace(results=(("scalar", "0"),)), {"shape"}, set()


def _answer_twice(place):
    results = place.observation.results
    assume(results)
    return place.observation._replace(results=(*results, None)), {"shape"}, set()


def _answer_a_tuple(place):
    assume(place.observation.results)
    return place.observation._replace(is_tuple=True), {"shape"}, set()


PERTURBATIONS = [
    _change_long_stride, _change_short_stride, _change_stride_of_empty, _change_offset, _change_dtype, _change_size,
    _change_rank, _change_contiguity, _change_storage_name, _change_version, _change_flags, _change_base, _change_byte,
    _change_element, _change_nbytes, _change_guard, _raise_nothing, _raise_something, _change_error_kind,
    _change_error_type, _answer_a_new_object, _answer_the_operand, _answer_another_scalar, _answer_a_scalar,
    _answer_twice, _answer_a_tuple,
]  # fmt: skip


@pytest.fixture(scope="module")
def places(whole_corpus):
    """(what the oracle does, number of an observation) to draw from, by the kind of what the step did."""
    found = defaultdict(list)
    for expected in whole_corpus[::8]:
        for number, observation in enumerate(expected.observations):
            for kind in _kinds(observation):
                found[kind].append((expected, number))
    return {kind: st.sampled_from(some) for kind, some in found.items()}


def _kinds(observation):
    """What can be changed in an observation."""
    if observation.skipped:
        return
    yield "any"
    if observation.raised is not None:
        yield "raised"
    elif observation.results:
        result = observation.results[0]
        yield "new" if result is None else "same" if isinstance(result, str) else result[0]
    for state in observation.values.values():
        if isinstance(state, TensorState):
            yield "tensor"
            yield "empty" if 0 in state.shape else "short" if 1 in state.shape else "long"


NEEDS = {
    _change_long_stride: "long", _change_short_stride: "short", _change_stride_of_empty: "empty",
    **dict.fromkeys((_change_offset, _change_dtype, _change_size, _change_rank, _change_contiguity), "tensor"),
    **dict.fromkeys((_change_storage_name, _change_version, _change_flags, _change_base), "tensor"),
    _change_element: "long",
    _raise_nothing: "raised", _change_error_kind: "raised", _change_error_type: "raised",
    _answer_a_new_object: "same", _answer_the_operand: "new", _answer_another_scalar: "scalar",
    _answer_a_scalar: "new", _answer_twice: "new", _answer_a_tuple: "scalar",
}  # fmt: skip


@pytest.mark.parametrize("change", PERTURBATIONS, ids=lambda change: change.__name__.strip("_"))
def test_each_thing_that_differs_is_reported_as_what_it_is(change, places):
    """One thing changed in the oracle's own observations is a difference of exactly that aspect, at that step."""

    @given(st.data())
    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    def holds(data):
        place = Perturbed(data, places[NEEDS.get(change, "any")])
        observation, aspects, also = change(place)
        assume(observation != place.observation)
        found = place.judged(observation)
        _reports(found, place, aspects, also=also)
        for difference in found:
            json.dumps(difference[:6])  # plain values: they go into records
            assert difference.message

    holds()


@pytest.mark.parametrize("name", ["v1", "v1'"])
def test_a_storage_that_holds_its_tensor_in_another_order_is_told_as_strides(name):
    """Also the storage that a value was given after its first: its bytes say no more than the strides do."""
    program = Program((Storage(4),), (Input("int8", (2, 2), (2, 1)),), (Step("clone", (Ref(0),)),))

    def ran(strides, data):
        made = TensorState("int8", (2, 2), strides, 0, "T--", name, 0, None, "")
        return [Observation(), Observation((None,), values={"1": made}, storages={name: StorageState(data)})]

    found = differences(program, ran((2, 1), b"abcd"), ran((1, 2), b"acbd"))
    assert [difference.aspect for difference in found] == ["strides", "layout"]


@pytest.mark.parametrize(
    ("home", "aspect", "says"),
    [
        (("meta", 8), "storage", "lies on meta (8 bytes), but should lie in memory of its own"),
        (("file0", 2), "sharing", "lies at byte 2 of file0, but should lie in memory of its own"),
        (("s0", 2), "sharing", "lies at byte 2 of storage s0, but should lie in memory of its own"),
        (("v2", 2), "sharing", "lies at byte 2 of the memory that value 2 was the first in, but"),
        (("v2'", 2), "sharing", "lies at byte 2 of memory that value 2 was given later (v2'), but"),
    ],
)
def test_where_a_storage_lies_is_told_in_words(home, aspect, says):
    """In which memory, by the value that was the first in it where it has no name of its own."""
    program = Program((Storage(4),), (Input("int8", (4,), (1,)),), (Step("clone", (Ref(0),)),))
    ours, theirs = (Observation((None,), storages={"v1": StorageState(b"abcd", None, at)}) for at in (None, home))
    (found,) = differences(program, [Observation(), ours], [Observation(), theirs])
    assert found.aspect == aspect
    assert says in found.message


def test_an_aspect_that_is_not_claimed_is_not_judged(whole_corpus):
    """A difference in an aspect that the library does not claim is none, and the aspect is not among those judged."""
    program, expected = next(e for e in whole_corpus if len(e.program.steps) == 1 and e.observations[1].values)
    ((key, state),) = list(expected[1].values.items())[:1]
    changes = {
        "layout": {"offset": state.offset + 1, "strides": tuple(9 for _ in state.strides)},
        "contiguity": {"contiguity": "---".replace("-", "F")},
        "sharing": {"storage": "s9"},
        "flags": {"version": state.version + 1},
    }
    everything = state._replace(**{k: v for change in changes.values() for k, v in change.items()})
    got = [expected[0], expected[1]._replace(values={key: everything})]
    for aspect in ("sharing", "flags"):
        some = Capabilities(ALL.dtypes, aspects=frozenset(ASPECTS) - {aspect})
        verdicts = judge(program, expected, got, some)
        assert aspect not in {d.aspect for v in verdicts for d in v.differences}
        assert all(aspect not in v.judged for v in verdicts)
    assert differences(program, expected, got, Capabilities(ALL.dtypes, aspects=frozenset())) == []


def test_a_library_that_cannot_say_is_not_judged_on_it(whole_corpus):
    """None for strides, offset, storage, version and flags, and `-` for contiguity, differ from nothing."""
    for program, expected in whole_corpus[:300]:
        got = []
        for observation in expected:
            values = {
                key: state._replace(
                    strides=None, offset=None, storage=None, version=None, base=None, flags=None, contiguity="---"
                )
                for key, state in observation.values.items()
                if isinstance(state, TensorState)
            }
            got.append(observation._replace(values=values, storages={}))
        assert differences(program, expected, got) == []


def test_too_few_steps_are_a_difference(whole_corpus):
    """A worker that observed fewer steps than the program has did not run the program."""
    program, expected = whole_corpus[0]
    (difference,) = differences(program, expected, expected[:-1])
    assert (difference.step, difference.aspect) == (-1, "raises")


def test_what_the_oracle_cites_leads_to_the_semantics():
    """Its words are recorded as they are; a reader is told the name of the pages."""
    first, got = _observed(bytes(8))
    expected = Observation(raised=Raised("RuntimeError", "a negative length (facts 3.5 and 3.7)", "size"))
    (difference,) = differences(ONE, [first, expected], [first, got])
    assert difference.message == "did not raise, but should: a negative length (semantics §3.5 and 3.7) (RuntimeError)"
    assert difference.expected == ["RuntimeError", "a negative length (semantics §3.5 and 3.7)", "size"]


# What PyTorch leaves open.

ONE = Program((Storage(8),), (Input("float32", (2,), (1,)),), (Step("neg", (Ref(0),)),))


def _observed(data, shadow=None, *, dtype="float32", shape=(2,)):
    state = TensorState(dtype, shape, (1,), 0, "TFF", "v1", 0, None, "l")
    first = Observation(results=(), values={"0": state._replace(storage="s0")}, storages={"s0": StorageState(bytes(8))})
    return [first, Observation((None,), values={"1": state}, storages={"v1": StorageState(data, shadow)})]


def _compare(ours, theirs, shadow, **form):
    found = differences(ONE, _observed(ours, shadow, **form), _observed(theirs, None, **form))
    return {d.aspect for d in found}


def _floats(*numbers):
    return np.array(numbers, np.float32).tobytes()


def test_unspecified_bytes_are_not_compared():
    """Bytes marked unspecified may be anything; those beside them are still compared, one by one."""
    shadow = bytes([255] * 4 + [0] * 4)
    assert _compare(_floats(1, 2), _floats(9, 2), shadow) == set()
    assert _compare(_floats(1, 2), _floats(1, 9), shadow) == {"storage", "values"}


def test_inexact_bytes_are_compared_as_numbers():
    """Elements marked with a tolerance may differ in the last places, and no more."""
    shadow = bytes([0x13] * 8)
    near, far = np.nextafter(np.float32(2), np.float32(3)), np.float32(2.001)
    assert _compare(_floats(1, 2), _floats(1, near), shadow) == set()
    assert _compare(_floats(1, 2), _floats(1, far), shadow) == {"values"}
    assert _compare(_floats(1, 2), _floats(1, near), None) == {"storage", "values"}


def test_a_nan_is_any_nan_where_it_is_marked_so():
    """A NaN's sign and payload do not matter, but it must be a NaN."""
    shadow = bytes([0] * 4 + [0x23] * 4)
    other = np.array([0x3F800000, 0xFFC12345], np.uint32).tobytes()
    assert _compare(_floats(1, np.nan), other, shadow) == set()
    assert _compare(_floats(1, np.nan), _floats(1, 0), shadow) == {"values"}
    assert _compare(_floats(1, np.nan), other, None) == {"storage", "values"}


def test_inexact_bytes_read_as_another_dtype_say_nothing():
    """A float that is known within a tolerance has no known bits: viewed as integers it is not compared."""
    shadow = bytes([0x13] * 8)
    assert _compare(_floats(1, 2), _floats(1, 3), shadow, dtype="int32") == set()


@given(st.binary(max_size=40), st.data())
def test_differing_bytes_are_the_exact_ones_that_differ(ours, data):
    """`differing_bytes` is the places that are exact on the oracle and not equal."""
    theirs = data.draw(st.binary(min_size=len(ours), max_size=len(ours)))
    shadow = bytes(data.draw(st.lists(st.sampled_from((0, 0x13, 255)), min_size=len(ours), max_size=len(ours))))
    places = [i for i in range(len(ours)) if shadow[i] == 0 and ours[i] != theirs[i]]
    assert differing_bytes(StorageState(ours, shadow), StorageState(theirs)).tolist() == places
