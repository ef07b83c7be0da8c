"""Invariants: broken by whatever breaks them, by PyTorch only where it refuses too late, and told with each failure."""

from __future__ import annotations

from collections import Counter

import pytest
from stridecheck.conformance import attribution, corpus, recorded
from stridecheck.conformance.check import Options, check
from stridecheck.conformance.execute import execute
from stridecheck.conformance.invariants import INVARIANTS, moments, reaches_outside
from stridecheck.conformance.observation import Raised
from stridecheck.conformance.program import Input, Program, Ref, Step, Storage
from stridecheck.reports.records import Failure, read_results


def _program(op, *args):
    return Program((Storage(32),), (Input("float32", (2, 3), (1, 2), 1),), (Step(op, (Ref(0), *args)),))


def _state(key, **changes):
    """Another state of a value after the step."""

    def change(inputs, step):
        return step._replace(values={**step.values, key: {**inputs.values, **step.values}[key]._replace(**changes)})

    return change


def _byte(name, at):
    """Another byte in a storage after the step."""

    def change(inputs, step):
        state = {**inputs.storages, **step.storages}[name]
        data = bytearray(state.data)
        data[at] ^= 1
        return step._replace(storages={**step.storages, name: state._replace(data=bytes(data))})

    return change


ASSERTION = Raised("RuntimeError", "x.dim() == 1 INTERNAL ASSERT FAILED at …")
BREAKING = {
    "guarded": (_program("neg"), lambda _, step: step._replace(damaged=("s0",))),
    "reads": (_program("neg"), _byte("s0", 4)),
    "writes": (_program("fill_", 1), _byte("s0", 0)),
    "inside": (_program("t"), _state("1", offset=3)),
    "refused": (_program("view", 7), _state("0", shape=(7,), strides=(1,))),
    "asserts": (_program("view", 7), lambda _, step: step._replace(raised=ASSERTION)),
    "sizes": (_program("t"), _state("1", shape=(-1, 2))),
    "views": (_program("t"), _state("1", storage="v1")),
    "elements": (_program("clone"), _byte("v1", 4)),
    "contiguity": (_program("clone"), _state("1", contiguity="TFF")),
}


def _broken(program, observations):
    found = [moment for moment in moments(program, observations) if moment is not None]
    return {one.id: moment.event for moment in found for one in INVARIANTS if one.is_broken(moment)}


@pytest.mark.parametrize("id", [one.id for one in INVARIANTS])
def test_what_breaks_an_invariant_is_noticed(id, oracle):
    """Each is broken by a step that does what it forbids, and not by the same step as it should be."""
    program, change = BREAKING[id]
    inputs, step = execute(program, oracle)
    assert not _broken(program, [inputs, step])
    assert id in _broken(program, [inputs, change(inputs, step)])


def test_pytorch_breaks_invariants_in_two_ways(whole_corpus, oracle):
    """Calls raise after they have resized or written, and `resize_` in a format lays out anew without a look at bytes.

    What the oracle does in the whole corpus breaks none otherwise, so a library that does as PyTorch does neither.
    """
    observations = recorded.observations(corpus.PATH.parent)
    ways = Counter()
    for program in (entry.program for entry in whole_corpus):
        for id, event in _broken(program, observations.get(program.id) or execute(program, oracle)).items():
            assert id in ("refused", "inside"), (program.id, id)
            assert event.raised or event.step.op in ("resize_", "resize_as_"), (program.id, id)
            ways[bool(event.raised)] += 1
    assert len(ways) == 2


def test_each_failure_says_who_is_wrong(oracle):
    """The side that breaks an invariant alone is wrong; where PyTorch does, that is said whatever the library does."""
    program = _program("clone")
    right = execute(program, oracle)
    moved = [right[0], _state("1", strides=(3, 1), contiguity="TFF")(*right)]
    claims = [right[0], _state("1", contiguity="TFF")(*right)]

    def said(expected, got, library="tinytensor"):
        return attribution.of_difference(library, program, 0, expected, got)

    assert said(right, moved).endswith("breaks an invariant: a view or copy in the same order has the same elements")
    assert said(right, claims) == (
        "tinytensor differs and breaks an invariant: what a tensor says of its contiguity follows from its strides"
    )
    assert said(right, claims, "torch:cpu").startswith("PyTorch itself breaks an invariant: ")
    assert said(claims, right).startswith("PyTorch itself breaks an invariant (what a tensor says of")
    assert said(claims, right).endswith("; tinytensor does not")
    assert said(right, [right[0], right[1]._replace(values={})]) == "tinytensor differs; no invariant is broken"
    assert said(right, right, "torch:cpu") == "PyTorch differs from the reference; no invariant is broken"


def test_a_mode_is_compared_with_eager_code(tmp_path):
    """What a mode of PyTorch does otherwise says whether eager code does it, too."""
    check(Options(("torch:meta",), programs=200), tmp_path)
    failures = [record for record in read_results(tmp_path / "results.jsonl") if isinstance(record, Failure)]
    assert failures
    said = Counter(one.attribution.rpartition("; ")[2] for one in failures if one.aspect)
    assert said.keys() == {"eager code (torch:cpu) does as expected", "eager code (torch:cpu) does the same"}


def test_eager_code_that_cannot_be_asked_says_nothing(oracle):
    """Without it a failure says less, and the run goes on."""

    class Gone:
        name = "torch:cpu"

        def start(self):
            raise attribution.AdapterFailed("missing", "no torch")

    program = _program("clone")
    eager = attribution.Eager(Gone())
    cases = [(program, None, execute(program, oracle))]
    assert [eager.says(cases), eager.says(cases)] == [[""], [""]]


@pytest.mark.parametrize(("used", "reaches"), [(0, True), (1, False)], ids=["given later", "left alone"])
def test_what_a_refused_call_leaves_outside_matters_only_where_it_is_used(used, reaches, oracle):
    """A refused call has written nothing, as `resize_` to a negative size; a step that is given what it left may."""
    there = (Input("float32", (2,), (1,)), Input("float32", (2,), (1,)))
    program = Program((Storage(8),), there, (Step("t_", (Ref(0),)), Step("neg_", (Ref(used),))))
    start, done, last = execute(program, oracle)
    longer = start.values["0"]._replace(shape=(9,))
    refused = done._replace(results=None, raised=Raised("RuntimeError", "no"), values={"0": longer})
    assert reaches_outside(program, [start, refused, last]) is reaches
