"""The rule catalogue as a whole: what each rule must have, and that together they leave nothing uncovered."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from stridecheck.conformance.capabilities import ASPECTS, Capabilities
from stridecheck.conformance.classify import Catalogue, Event, Rule
from stridecheck.conformance.draw.programs import draw_program
from stridecheck.conformance.draw.source import Seeded
from stridecheck.conformance.execute import execute
from stridecheck.conformance.judge import judge
from stridecheck.conformance.observation import Observation
from stridecheck.conformance.operations import OPERATIONS
from stridecheck.conformance.program import ITEMSIZES, Input, Program, Ref, Slice, Step, Storage
from stridecheck.conformance.recorded import exercised
from stridecheck.conformance.rules import catalogue

FAMILIES = {
    "view-legality", "view-strides", "view-or-copy", "indexing", "splits", "dtype-views", "contiguity", "memory-format",
    "in-place", "errors",
}  # fmt: skip
CLAIMS_ALL = Capabilities(frozenset(ITEMSIZES), exact_errors=True)


def _uncovered(rules, program, expected):
    """(operation, aspect) pairs that are judged at a step to which no rule with that aspect applies."""
    verdicts = judge(program, expected, expected, CLAIMS_ALL)
    for step, verdict, applied in zip(program.steps, verdicts[1:], rules.classify(program, expected)[1:], strict=True):
        covered = {aspect for rule in applied for aspect in rule.aspects}
        yield from ((step.op, aspect) for aspect in verdict.judged - covered)


def test_there_are_at_least_sixty_rules_in_all_families(rules):
    """Each family has rules, and there are enough of them to tell deviations apart."""
    families = Counter(rule.family for rule in rules.rules.values())
    assert families.total() >= 60
    assert set(families) >= FAMILIES
    assert min(families.values()) >= 3


@pytest.mark.parametrize("rule", catalogue().rules.values(), ids=lambda rule: rule.id)
def test_every_rule_is_whole(rule):
    """A rule has a lasting id, one sentence, a source, aspects that exist, and operations that exist."""
    assert re.fullmatch(r"[a-z_0-9]+(-[a-z0-9]+)*\.[a-z0-9]+(-[a-z0-9]+)*", rule.id)
    assert re.fullmatch(r"\S.*\S\.", rule.sentence), rule.sentence
    assert "\n" not in rule.sentence
    assert re.fullmatch(r"\w+ §\d+(\.\d+)*", rule.source)
    assert rule.aspects
    assert rule.aspects <= set(ASPECTS)
    assert rule.operations <= set(OPERATIONS)


def test_no_two_rules_say_the_same(rules):
    """Ids and sentences are unique."""
    sentences = Counter(rule.sentence for rule in rules.rules.values())
    assert max(sentences.values()) == 1
    with pytest.raises(ValueError, match=r"twice.*again"):
        Catalogue([_rule("again"), _rule("other"), _rule("again")])


def _rule(id):
    return Rule(id, "It is so.", "semantics §1", "view-strides", frozenset({"shape"}), frozenset(), lambda event: True)


def test_every_rule_applies_somewhere_in_the_corpus(rules, whole_corpus):
    """A rule that no committed program exercises could never fail."""
    applied = {rule.id for e in whole_corpus for step in exercised(*e, rules) for rule in step}
    assert set(rules.rules) - applied == set()


def test_no_rule_is_exercised_by_a_single_program(rules, whole_corpus):
    """Every rule has several programs, so that one that a library does not support leaves others."""
    programs = Counter(id for e in whole_corpus for id in {r.id for step in exercised(*e, rules) for r in step})
    assert min(programs.values()) >= 2, programs.most_common()[-5:]


def test_whatever_is_judged_is_covered_by_a_rule(rules, whole_corpus):
    """Each judged aspect of each step of the corpus belongs to a rule that applies: every difference has a rule."""
    assert Counter(pair for e in whole_corpus for pair in _uncovered(rules, *e)) == Counter()


def test_whatever_is_judged_of_random_programs_is_covered_too(rules, oracle):
    """The same for programs that the corpus does not have."""
    found = Counter()
    for n in range(1_000):
        drawn = draw_program(Seeded(f"covered:{n}"), oracle)
        found.update(_uncovered(rules, *drawn))
    assert found == Counter()


def test_inputs_exercise_no_rule(rules, whole_corpus):
    """Rules are about steps: nothing applies to what was there before the first."""
    assert all(rules.classify(*e)[0] == [] for e in whole_corpus[:100])


def test_rules_do_not_depend_on_what_else_is_in_the_program(rules, oracle):
    """A step is under the same rules whether another, unrelated step comes before it or not."""
    inputs = (Input("float32", (2, 3), (3, 1)), Input("int8", (4,), (1,), 0, 1))
    step = Step("permute", (Ref(0), (1, 0)))
    alone = Program((Storage(24), Storage(4)), inputs, (step,))
    after = Program((Storage(24), Storage(4)), inputs, (Step("neg", (Ref(1),)), step))
    found = [[rule.id for rule in rules.classify(p, execute(p, oracle))[-1]] for p in (alone, after)]
    assert found[0] == found[1]


def test_a_value_used_under_a_steps_own_slot_exercises_the_same_rules(rules, oracle):
    """What an in-place step answers is its operand, so rules see a step on either name alike."""
    inputs = (Input("float32", (2, 3), (3, 1)),)
    programs = [
        Program((Storage(24),), inputs, (Step("mul_", (Ref(0), 2)), Step("add_", (Ref(slot), Ref(slot)))))
        for slot in (0, 1)
    ]
    by_operand, by_slot = ([r.id for r in rules.classify(p, execute(p, oracle))[-1]] for p in programs)
    assert by_operand == by_slot != []


def test_skipped_steps_exercise_nothing(rules, oracle):
    """A step that could not run because its operand was never made says nothing about any rule."""
    program = Program(
        (Storage(24),), (Input("float32", (6,), (1,)),), (Step("view", (Ref(0), (4,))), Step("neg", (Ref(1),)))
    )
    refused, skipped = rules.classify(program, execute(program, oracle))[1:]
    assert "errors.element-count" in {rule.id for rule in refused}
    assert skipped == []


def test_predicates_survive_steps_that_do_not_bind(rules):
    """A step with arguments that no operation takes is classified without an error."""
    for name in [*OPERATIONS, "no_such_operation"]:
        event = Event(Step(name.removesuffix(".dtype"), tuple(range(9))), 0, {}, {}, Observation(results=()))
        rules.of_event(event)


EXAMPLES = {
    "view.merge-blocks": (((2, 3), (3, 1)), Step("view", (Ref(0), (6,)))),
    "transpose.swaps": (((2, 3), (3, 1)), Step("transpose", (Ref(0), 0, 1))),
    "expand.zero-stride": (((2, 1), (1, 1)), Step("expand", (Ref(0), (2, 3)))),
    "contiguous.same-object": (((2, 3), (3, 1)), Step("contiguous", (Ref(0),))),
    "contiguous.copies": (((3, 2), (1, 3)), Step("contiguous", (Ref(0),))),
    "errors.view-strides": (((3, 2), (1, 3)), Step("view", (Ref(0), (6,)))),
    "errors.write-expanded": (((2, 3), (0, 1)), Step("add_", (Ref(0), 1))),
    "select.drops": (((2, 3), (3, 1)), Step("select", (Ref(0), 0, 1))),
    "slice.step": (((6,), (1,)), Step("__getitem__", (Ref(0), (Slice(None, None, 2),)))),
}


@pytest.mark.parametrize("id", EXAMPLES)
def test_well_known_examples_are_under_their_rule(id, rules, oracle):
    """The textbook case of a rule is under it."""
    (shape, strides), step = EXAMPLES[id]
    program = Program((Storage(24),), (Input("float32", shape, strides),), (step,))
    assert id in {rule.id for rule in rules.classify(program, execute(program, oracle))[1]}


def test_every_source_is_a_numbered_sentence_of_the_semantics(rules):
    """The section that a rule names is there in docs/semantics, so that who doubts a rule can read on."""
    pages = Path(__file__).parents[2].joinpath("docs", "semantics").glob("*.md")
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    numbers = set(re.findall(r"\*\*(\d+(?:\.\d+)+)\*\*", text)) | set(
        re.findall(r"^#+ (\d+(?:\.\d+)*)", text, re.MULTILINE)
    )
    missing = {rule.source for rule in rules.rules.values() if rule.source.removeprefix("semantics §") not in numbers}
    assert not missing
