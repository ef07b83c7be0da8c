"""The suite would notice: wherever a rule applies, a library that differs in an aspect of it makes that rule fail."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import pytest
from stridecheck.conformance import recorded
from stridecheck.conformance.capabilities import ASPECTS, Capabilities
from stridecheck.conformance.execute import execute
from stridecheck.conformance.judge import judge
from stridecheck.conformance.observation import Observation
from stridecheck.conformance.perturb import perturbed, places
from stridecheck.conformance.program import ITEMSIZES, DType, Input, Program, Ref, Step, Storage

ALL = Capabilities(frozenset(ITEMSIZES), exact_errors=True)
PLACES = 12
"""Places in the corpus at which each aspect of a rule is tried."""
ENOUGH = 3
"""Places that there must be."""


def _tell(place, observation):
    """Aspects that are said to differ at a place once it has another observation."""
    got = place.with_observation(observation)
    return {d.aspect for d in judge(place.program, place.observations, got, ALL)[place.number].differences}


@pytest.fixture(scope="module")
def tried(whole_corpus, rules):
    """(rule, aspect) -> places at which something could be otherwise, and those at which it went unnoticed."""
    tried, unnoticed = Counter(), {}
    for program, expected in whole_corpus:
        exercised = {rule for step in recorded.exercised(program, expected, rules) for rule in step}
        if all(tried[rule.id, aspect] == PLACES for rule in exercised for aspect in rule.aspects):
            continue
        judged = judge(program, expected, expected, ALL)
        for place in places(program, expected):
            for rule in rules.of_event(place.event):
                for aspect in rule.aspects & judged[place.number].judged:
                    pair = rule.id, aspect
                    if tried[pair] == PLACES:
                        continue
                    others = list(perturbed(place, aspect))
                    tried[pair] += bool(others)
                    for observation in others:
                        if aspect not in _tell(place, observation):
                            unnoticed[pair] = (program.id, place.number - 1, observation)
    return tried, unnoticed


def test_a_rule_fails_wherever_an_aspect_of_it_is_otherwise(tried):
    """Whatever is changed in an aspect that a rule names is told under that aspect, at that step."""
    assert tried[1] == {}


def test_every_aspect_of_every_rule_can_be_otherwise_somewhere_in_the_corpus(tried, rules):
    """A rule names no aspect that it could not fail in, and applies to some programs in which it could."""
    rare = {(r.id, a): tried[0][r.id, a] for r in rules.rules.values() for a in r.aspects}
    assert {pair: count for pair, count in rare.items() if count < ENOUGH} == {}


@pytest.mark.parametrize("aspect", ASPECTS)
def test_what_differs_differs_in_one_thing(aspect, whole_corpus):
    """A perturbed observation is another one, in one value, one storage, the results or the error."""
    found = [
        (place.observation, other)
        for program, expected in whole_corpus[:300]
        for place in places(program, expected)
        for other in perturbed(place, aspect)
    ]
    assert found
    for mine, other in found:
        assert other != mine
        if aspect not in ("raises", "error-kind"):
            parts = [(a, b) for a, b in zip(mine, other, strict=True) if a != b]
            changed = chain.from_iterable(_changed(a, b) for a, b in parts)
            assert len(list(changed)) == 1


def _changed(mine, other):
    if isinstance(mine, dict):
        return [key for key in other if mine.get(key) != other[key]]
    return [""]


OTHER_KINDS = {
    "storage": (Step("untyped_storage", (Ref(0),)),),
    "typed storage": (Step("storage", (Ref(0),)), Step("TypedStorage.resize_", (Ref(1), 2))),
    "address": (Step("data_ptr", (Ref(0),)),),
    "array": (Step("numpy", (Ref(0),)), Step("ndarray.__getitem__", (Ref(1), 1))),
    "capsule": (Step("__dlpack__", (Ref(0),)),),
    "quantised": (Step("quantize_per_tensor", (Ref(0), 0.5, 3, DType("quint8"))), Step("int_repr", (Ref(1),))),
    "meta": (Step("UntypedStorage", (5,), (("device", "meta"),)),),
    "number": (Step("numel", (Ref(0),)),),
}


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_values_of_every_kind_are_told_when_they_differ(kind, oracle):
    """Storages, numbers, addresses, foreign arrays and quantised tensors fail in every aspect that they have."""
    program = Program((Storage(24),), (Input("float32", (2, 3), (3, 1)),), OTHER_KINDS[kind])
    expected = execute(program, oracle)
    tried = Counter()
    for place in places(program, expected):
        for aspect in judge(program, expected, expected, ALL)[place.number].judged:
            for observation in perturbed(place, aspect):
                tried[aspect] += 1
                assert aspect in _tell(place, observation), (aspect, observation)
    assert tried.total() > 3


def test_skipped_steps_are_no_places(oracle):
    """A step that could not run has nothing that could be otherwise."""
    steps = (Step("view", (Ref(0), (4,))), Step("neg", (Ref(1),)), Step("neg", (Ref(0),)))
    program = Program((Storage(24),), (Input("float32", (6,), (1,)),), steps)
    expected = execute(program, oracle)
    assert expected[2] == Observation(skipped=True)
    assert [place.number for place in places(program, expected)] == [1, 3]
