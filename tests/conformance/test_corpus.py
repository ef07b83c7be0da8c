"""The committed corpus: what is in it, in which order, and how a broken or hand-edited file is told."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from contextlib import suppress
from dataclasses import replace

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stridecheck.conformance import corpus, recorded
from stridecheck.conformance.execute import execute
from stridecheck.conformance.operations import OPERATIONS, bind, overload
from stridecheck.conformance.program import Program, Step
from stridecheck.conformance.schema import SCHEMA, read_program


@pytest.fixture(scope="module")
def exercised(whole_corpus, rules):
    """Ids of the rules that each corpus program exercises."""
    return [{rule.id for step in recorded.exercised(*e, rules) for rule in step} for e in whole_corpus]


def test_the_corpus_is_large_and_has_no_program_twice(whole_corpus):
    """There are at least 2,000 programs, and every id is there once."""
    ids = Counter(e.program.id for e in whole_corpus)
    assert len(ids) == len(whole_corpus) >= 2_000


def test_every_program_is_valid(whole_corpus):
    """Every program (of each eight, one is looked at) passes the schema and `check`, and is what its JSON says."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for program, _ in whole_corpus[::8]:
        assert read_program(json.loads(json.dumps(program.to_json()))) == program


def test_every_step_has_what_its_operation_needs(whole_corpus):
    """No step leaves out a parameter without a default, or gives one that is not there."""
    for program, _ in whole_corpus:
        for step in program.steps:
            if step.op in OPERATIONS:
                bind(step)


def test_every_program_has_its_id(whole_corpus):
    """The id that stands in the file, and is trusted, is that of the program."""
    for program, _ in whole_corpus:
        assert program.id == replace(program).id


def test_most_programs_are_short(whole_corpus):
    """Half of the programs have at most two steps: a failure is quickly understood."""
    lengths = sorted(len(e.program.steps) for e in whole_corpus)
    assert lengths[len(lengths) // 2] <= 2


@pytest.mark.parametrize("count", [50, 150, 300, 600, 1200])
def test_every_prefix_covers_rules_evenly(count, whole_corpus, exercised, rules):
    """Of any prefix, each rule has its even share of the programs, or all there are that exercise it."""
    whole = Counter(id for ids in exercised for id in ids)
    part = Counter(id for ids in exercised[:count] for id in ids)
    promoted = len(corpus.read_file(corpus.PROMOTED))
    share = (count - promoted) // len(rules.rules)
    assert {id: part[id] for id in whole if part[id] < min(whole[id], share)} == {}


def test_a_short_prefix_has_nearly_every_rule(exercised, rules):
    """The first 300 programs exercise all rules but a few."""
    seen = {id for ids in exercised[:300] for id in ids}
    assert len(seen) >= 0.95 * len(rules.rules)


def test_a_prefix_is_the_beginning_of_the_whole():
    """`read(N)` is the first N programs of `read()`, for any N."""
    whole = corpus.read()
    for count in (0, 1, 5, 100):
        assert corpus.read(count) == whole[:count]


def test_drawing_is_deterministic(oracle, rules):
    """The same count gives the same programs in the same order, as many as asked."""
    one, other = (corpus.draw(60, oracle, rules, surplus=3) for _ in range(2))
    assert [p.id for p in one] == [p.id for p in other]
    assert len({p.id for p in one}) == 60


def test_more_is_drawn_for_what_is_not_there_yet(oracle, rules):
    """None of the programs that are there; situations that they show come last."""
    there = [(program, execute(program, oracle)) for program in corpus.draw(60, oracle, rules, surplus=3)]
    more = corpus.draw(60, oracle, rules, surplus=3, there=there)
    assert len({p.id for p in more} | {p.id for p, _ in there}) == 120

    def shown(programs):
        found = (corpus._shown(program, execute(program, oracle), rules) for program in programs)
        return {pair for one in found for pair in corpus._pairs(one)}

    anew = corpus.draw(60, oracle, rules, surplus=6)
    before = shown(program for program, _ in there)
    assert len(shown(more) - before) > len(shown(anew) - before)


rule_sets = st.lists(st.frozensets(st.sampled_from("abcdef"), min_size=1), max_size=30)


@given(rule_sets)
def test_order_keeps_every_program_once(sets):
    """Ordering loses and repeats nothing."""
    programs = [(Program(steps=(Step("neg", (n,)),)), rules) for n, rules in enumerate(sets)]
    ordered = corpus.order(programs)
    assert Counter(p.id for p in ordered) == Counter(p.id for p, _ in programs)


@given(rule_sets)
def test_after_as_many_programs_as_there_are_rules_each_has_come_once_more(sets):
    """In every prefix, each rule has its even share of the programs, or all that exercise it."""
    rules_of = {Program(steps=(Step("neg", (n,)),)): rules for n, rules in enumerate(sets)}
    ordered = corpus.order(list(rules_of.items()))
    whole = Counter(rule for rules in sets for rule in rules)
    for count in range(len(ordered) + 1):
        part = Counter(rule for program in ordered[:count] for rule in rules_of[program])
        assert all(part[rule] >= min(whole[rule], count // len(whole)) for rule in whole)


def test_programs_are_chosen_that_show_an_operation_in_a_situation_or_two_for_the_first_time():
    """One by one the program is chosen that shows most situations, alone and two together, for the first time."""
    shown = [
        ("view", ["offset", "5-d"], False),
        ("view", ["offset"], False),
        ("neg", ["offset"], False),
        ("view", ["5-d", "empty"], False),
    ]
    drawn = [corpus._Drawn(Program((), (), (Step("neg", (n,)),)), frozenset(), [one]) for n, one in enumerate(shown)]

    def telling(taken=(), count=9):
        return [drawn.index(one) for one in corpus._telling(drawn, taken, count)]

    assert telling() == [0, 3, 2]
    assert telling(count=1) == [0]
    assert telling([drawn[3]]) == [0, 2]
    assert corpus._telling([drawn[1], drawn[0]], (), 9) == [drawn[0]]
    # What is said of a refusal is in pairs already.
    drawn.append(drawn[0]._replace(shown=[("neg", ["offset", "empty"], True)]))
    assert telling() == [0, 3, 4, 2]
    drawn.append(drawn[0]._replace(shown=[("neg", ["offset"], True)]))
    assert telling() == [0, 3, 4, 2]


def test_a_written_corpus_is_read_again_and_has_the_same_bytes(tmp_path, whole_corpus):
    """Writing the same programs twice gives the same file, whenever it is done."""
    programs = [e.program for e in whole_corpus[:50]]
    one, other = tmp_path / "one.jsonl.gz", tmp_path / "other.jsonl.gz"
    corpus.write(programs, one)
    corpus.write(programs, other)
    assert corpus.read_file(one) == programs
    assert one.read_bytes() == other.read_bytes()


# Files that somebody has edited.

GOOD = {"storages": [{"nbytes": 16}], "inputs": [{"dtype": "float32", "shape": [4], "strides": [1]}], "steps": []}


def _changed(path, value):
    data = json.loads(json.dumps({**GOOD, "steps": [{"op": "view", "args": [{"ref": 0}, [2, 2]]}]}))
    at = data
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = value
    return data


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([], "[] is not of type 'object'"),
        ({}, "'steps' is a required property"),
        (_changed(["inputs", 0, "dtype"], "float31"), "inputs[0].dtype: 'float31' is not one of"),
        (_changed(["inputs", 0, "shape"], [4.5]), "inputs[0].shape[0]: 4.5 is not of type 'integer'"),
        (_changed(["inputs", 0, "shape"], [-1]), "inputs[0].shape[0]: -1 is less than the minimum of 0"),
        (
            _changed(["inputs", 0, "strides"], [2]),
            "input 0: shape (4,), strides (2,), offset 0 of float32 reach",
        ),
        (_changed(["inputs", 0, "offest"], 1), "inputs[0]: Additional properties are not allowed ('offest'"),
        (_changed(["storages", 0, "fill"], "ramp7"), "storages[0].fill: 'ramp7' is not one of"),
        (_changed(["storages", 0, "data"], "!!"), "base64"),
        (_changed(["storages", 0, "nbytes"], "16"), "storages[0].nbytes: '16' is not of type 'integer'"),
        (_changed(["steps", 0, "args", 0], {"ref": 5}), "step 0 (view): value 5 does not come before it"),
        (_changed(["steps", 0, "args", 0], {"reff": 0}), "steps[0].args[0]: {'reff': 0}"),
        (_changed(["steps", 0, "args", 1], {"slice": [1]}), "steps[0].args[1]"),
        (_changed(["steps", 0, "kwargs"], {"size": {"dtype": "nope"}}), "steps[0].kwargs.size"),
        (_changed(["steps", 0, "kwargs"], {"sise": 3}), "steps[0]: view has no parameter 'sise'"),
    ],
)
def test_a_program_that_is_none_is_refused_by_the_place_that_is_wrong(data, says):
    """A hand-written program with a mistake is refused with a message that begins with the place of it."""
    read_program(_changed(["steps", 0, "op"], "view"))
    with pytest.raises(ValueError, match=r".") as error:
        read_program(data)
    assert says in str(error.value)


def test_a_broken_line_is_named_by_file_and_line(tmp_path):
    """A line of a corpus file that is no program is refused by the file's name and its number."""
    path = tmp_path / "my programs.jsonl"
    path.write_text(json.dumps(GOOD) + "\n" + json.dumps(_changed(["inputs", 0, "dtype"], "real")) + "\n")
    with pytest.raises(corpus.CorpusError, match=r"my programs\.jsonl, line 2: .*inputs\[0\]\.dtype: 'real'"):
        corpus.read_file(path)
    path.write_text(json.dumps(GOOD) + "\n{not json\n")
    with pytest.raises(corpus.CorpusError, match="line 2"):
        corpus.read_file(path)
    assert len(corpus.read_file(path, 1)) == 1


def test_a_missing_or_damaged_file_is_named(tmp_path):
    """A corpus file that is not there, cut off, or no gzip at all is one message with its name."""
    with pytest.raises(corpus.CorpusError, match=r"absent\.jsonl"):
        corpus.read_file(tmp_path / "absent.jsonl")
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(json.dumps(GOOD).encode() * 50)[:-20])
    with pytest.raises(corpus.CorpusError, match=r"cut\.jsonl\.gz"):
        corpus.read_file(cut)
    cut.write_bytes(b"no gzip")
    with pytest.raises(corpus.CorpusError, match=r"cut\.jsonl\.gz"):
        corpus.read_file(cut)
    cut.write_bytes(gzip.compress(b"\xff\xfe\n"))
    with pytest.raises(corpus.CorpusError, match=r"cut\.jsonl\.gz"):
        corpus.read_file(cut)


UNGIVEN = {
    ("topk", "sorted"): "the order is not specified then",
    ("nn.functional.instance_norm", "running_mean"): "written to as batch_norm's, which is drawn",
    ("nn.functional.instance_norm", "running_var"): "written to as batch_norm's, which is drawn",
    ("ndarray.__dlpack__", "copy"): "NumPy before 2.1 has none",
    ("TypedStorage.from_buffer", "device"): "there is the CPU alone, which is the default",
}
"""Options that no program of the corpus gives, with the reason."""


def test_every_option_of_every_operation_is_given(whole_corpus):
    """Each optional parameter has a value that is not its default somewhere: what most callers leave out is tried."""
    given, seen = set(), set()
    for program, _ in whole_corpus:
        for step in program.steps:
            operation = OPERATIONS.get(overload(step))
            if operation is None:
                continue
            seen.add(operation.name)
            with suppress(ValueError):  # refused for how it is called
                given |= {
                    (operation.name, name)
                    for name, value in bind(step).items()
                    if name in operation.defaults and value != operation.defaults[name]
                }
    options = {(name, option) for name in seen for option in OPERATIONS[name].defaults}
    assert options - given == set(UNGIVEN)
