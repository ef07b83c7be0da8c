"""What is recorded of the oracle is what the oracle does."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest
from stridecheck.conformance import corpus, recorded
from stridecheck.conformance.capabilities import Capabilities
from stridecheck.conformance.classify import Catalogue
from stridecheck.conformance.execute import execute
from stridecheck.conformance.judge import judge
from stridecheck.conformance.memory import UNSPECIFIED
from stridecheck.conformance.program import ITEMSIZES, Input, Program, Ref, Step, Storage

CLAIMS_ALL = Capabilities(frozenset(ITEMSIZES), exact_errors=True)
ROW = Program((Storage(16),), (Input("float32", (4,), (1,)),), (Step("neg", (Ref(0),)),))


def _marks(observations):
    """The bytes that PyTorch specifies exactly, and which they are: what else there is, `judge` compares.

    Storages are observed where their bytes have changed, which is chance where none of them is specified.
    """
    return [
        {
            name: state.shadow or state.data
            for name, state in one.storages.items()
            if state.shadow is None or state.shadow.strip(bytes([UNSPECIFIED]))
        }
        for one in observations
    ]


def test_the_oracle_does_what_is_recorded(whole_corpus, oracle, rules):
    """Whoever changes what is expected, or the rules, records it anew: `make record`."""
    others = []
    for program, expected in whole_corpus:
        done = execute(program, oracle)
        same = _marks(done) == _marks(expected)
        same &= rules.classify(program, done) == recorded.exercised(program, expected, rules)
        differences = [one for step in judge(program, expected, done, CLAIMS_ALL) for one in step.differences]
        if differences or not same:
            others.append((program.id, [one.message for one in differences[:1]]))
    assert others == []


def test_a_record_is_read_as_it_was_written(tmp_path, oracle, rules):
    """By the program's id, as often as it is asked for; the same doings give the same file."""
    other = replace(ROW, steps=(Step("view", (Ref(0), (3,))),))
    recorded.record([ROW, other], oracle, rules, tmp_path)
    read, exercised = recorded.observations(tmp_path), recorded.rules(tmp_path, rules)
    assert list(read) == list(exercised) == [ROW.id, other.id]
    found = [read[id].observations for id in (ROW.id, ROW.id, other.id)]
    assert found == [execute(p, oracle) for p in (ROW, ROW, other)]
    assert [exercised[p.id] for p in (ROW, other)] == [rules.classify(p, read[p.id]) for p in (ROW, other)]
    assert "0" * 16 not in read
    first = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    recorded.record([ROW, other], oracle, rules, tmp_path)
    assert [path.read_bytes() for path in sorted(tmp_path.iterdir())] == first


def test_without_a_record_the_oracle_runs(tmp_path):
    """A file that is not there holds nothing."""
    assert recorded.observations(tmp_path).get(ROW.id) is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no archive", "Not a gzipped file"),
        (gzip.compress(b'["' + ROW.id.encode() + b'",'), f"program {ROW.id}: cannot be read"),
        (gzip.compress(b"[" * 999)[:-9], "end-of-stream"),
    ],
    ids=["no archive", "no JSON", "cut off"],
)
def test_a_damaged_record_is_told_by_its_name(tmp_path, content, said):
    """The message names the file, and the program where it is one."""
    path = tmp_path / recorded.EXPECTED
    path.write_bytes(content)
    with pytest.raises(corpus.CorpusError, match=said) as error:
        recorded.observations(tmp_path)[ROW.id]
    assert str(path) in str(error.value)


def test_a_record_of_other_rules_is_told(tmp_path, oracle, rules):
    """A rule that is no more, where recording anew was forgotten."""
    recorded.record([ROW], oracle, rules, tmp_path)
    with pytest.raises(corpus.CorpusError, match=f"program {ROW.id}: cannot be read"):
        recorded.rules(tmp_path, Catalogue([]))[ROW.id]
