"""What is recorded of the oracle is what the oracle does."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest
from stridecheck.conformance import corpus, recorded
from stridecheck.conformance.capabilities import Capabilities
from stridecheck.conformance.execute import execute
from stridecheck.conformance.judge import judge
from stridecheck.conformance.program import ITEMSIZES, Input, Program, Ref, Step, Storage

CLAIMS_ALL = Capabilities(frozenset(ITEMSIZES), exact_errors=True)
ROW = Program((Storage(16),), (Input("float32", (4,), (1,)),), (Step("neg", (Ref(0),)),))


def _marks(observations):
    """The bytes that PyTorch specifies exactly, and which they are: what else there is, `judge` compares."""
    return [{name: state.shadow or state.data for name, state in one.storages.items()} for one in observations]


def test_the_oracle_does_what_is_recorded(whole_corpus, oracle):
    """Whoever changes what is expected records it anew: `make record`."""
    others = []
    for program, expected in whole_corpus:
        done = execute(program, oracle)
        same = _marks(done) == _marks(expected)
        differences = [one for step in judge(program, expected, done, CLAIMS_ALL) for one in step.differences]
        if differences or not same:
            others.append((program.id, [one.message for one in differences[:1]]))
    assert others == []


def test_a_record_is_read_as_it_was_written(tmp_path, oracle):
    """By the program's id, as often as it is asked for; the same doings give the same file."""
    path = tmp_path / "expected.jsonl.gz"
    other = replace(ROW, steps=(Step("view", (Ref(0), (3,))),))
    recorded.record([ROW, other], oracle, path)
    read = recorded.Recorded(path)
    assert list(read) == [ROW.id, other.id]
    assert [read[ROW.id], read[ROW.id], read[other.id]] == [execute(p, oracle) for p in (ROW, ROW, other)]
    assert "0" * 16 not in read
    again = tmp_path / "again.jsonl.gz"
    recorded.record([ROW, other], oracle, again)
    assert again.read_bytes() == path.read_bytes()


def test_without_a_record_the_oracle_runs(tmp_path):
    """A file that is not there holds nothing."""
    assert recorded.Recorded(tmp_path / "expected.jsonl.gz").get(ROW.id) is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no archive", "Not a gzipped file"),
        (gzip.compress(b'["' + ROW.id.encode() + b'",[{"values":{"0":[1]}}]]\n'), f"program {ROW.id}: no observations"),
        (gzip.compress(b'["' + ROW.id.encode() + b'",'), f"program {ROW.id}: no observations"),
        (gzip.compress(b"[" * 999)[:-9], "end-of-stream"),
    ],
    ids=["no archive", "no observation", "no JSON", "cut off"],
)
def test_a_damaged_record_is_told_by_its_name(tmp_path, content, said):
    """The message names the file, and the program where it is one."""
    path = tmp_path / "expected.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(corpus.CorpusError, match=said) as error:
        recorded.Recorded(path)[ROW.id]
    assert str(path) in str(error.value)
