"""Records survive writing and reading, and a broken file is named with its line."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stridecheck.reports.records import (
    OUTCOMES,
    Adapter,
    Failure,
    Footer,
    Header,
    ResultsError,
    ResultsWriter,
    Timing,
    Unit,
    from_line,
    read_results,
    to_line,
)

names = st.text(max_size=8)
numbers = st.integers(0, 2**60)
floats = st.floats(allow_nan=False, allow_infinity=False)
jsons = st.recursive(
    st.none() | st.booleans() | numbers | floats | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(names, jsons, max_size=3)
counts = st.dictionaries(st.sampled_from(OUTCOMES), numbers, max_size=3)
tuples = {"max_size": 3}
records = st.one_of(
    st.builds(
        Header,
        *(names, names, names, names, objects, objects),
        rules=st.lists(objects, **tuples).map(tuple),
        schema=st.just(1),
    ),
    st.builds(
        Adapter,
        names,
        st.sampled_from(["ready", "skipped", "failed"]),
        names,
        st.dictionaries(names, names, max_size=3),
        objects,
    ),
    st.builds(
        Unit,
        *(names, names, numbers, counts),
        counts=st.dictionaries(names, st.dictionaries(names, counts, max_size=2), max_size=2),
        unsupported=st.dictionaries(names, numbers, max_size=2),
    ),
    st.builds(
        Failure,
        *(names, names, st.sampled_from(OUTCOMES), numbers, names, names, names),
        rules=st.lists(names, **tuples).map(tuple),
        expected=jsons,
        got=jsons,
        message=names,
        found=objects.map(lambda program: {**program, "steps": []}),
        expected_observation=jsons,
    ),
    st.builds(
        Timing,
        *(names, names, names, names, names),
        shape=st.lists(numbers, **tuples).map(tuple),
        size_class=names,
        threads=numbers,
        status=st.sampled_from(["ok", "unsupported", "error"]),
        samples_ns=st.lists(floats, **tuples).map(tuple),
        median_ns=st.floats(1e-3, 1e12),
        copied=st.none() | st.booleans(),
        x_copy=st.none() | floats,
        program=objects,
    ),
    st.builds(Footer, names, floats, numbers),
)


@given(records)
def test_every_record_is_read_as_it_was_written(record):
    line = to_line(record)
    assert "\n" not in line
    assert from_line(line) == record


def test_a_record_is_in_the_file_before_the_next_one_is_made(tmp_path, sample):
    path = tmp_path / "results.jsonl"
    with ResultsWriter(path) as writer:
        writer.write(sample.header())
        assert list(read_results(path)) == [sample.header()]
        writer.write(sample.footer())
        assert len(list(read_results(path))) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "Expecting value"),
        ("[]", "`record` is one of header, adapter, unit"),
        ('{"record": "misheard"}', "`record` is one of"),
        ('{"record": ["unit"]}', "`record` is one of"),
        ('{"record": "footer", "finished": "now"}', "a footer has exit_code, seconds, too"),
        (
            '{"record": "footer", "finished": "now", "seconds": "2", "exit_code": 0}',
            "`seconds` of a footer is a number",
        ),
        ('{"record": "footer", "finished": "now", "seconds": NaN, "exit_code": 0}', "NaN is not JSON"),
        ('{"record": "footer", "finished": "now", "seconds": 1e999, "exit_code": 0}', "is a number"),
        ('{"record": "footer", "finished": "now", "seconds": 1, "exit_code": true}', "is a whole number, not true"),
        ('{"record": "footer", "finished": "now", "seconds": 1, "exit_code": 0, "mood": 1}', "has no field mood"),
        (
            '{"record": "unit", "adapter": "a", "unit": "u", "programs": 1, "outcomes": {}, "counts": {"r": 1}}',
            "rule ->",
        ),
        ('{"record": "timing", "shape": "12"}', "is a list of whole numbers"),
        ('{"record": "unit", "programs": -5}', "`programs` of a unit is a whole number that is not below 0, not -5"),
        ('{"record": "unit", "outcomes": {"weird": 1}}', "`outcomes` of a unit is outcome -> whole number"),
        ('{"record": "unit", "counts": {"r": {"a": {"pass": -1}}}}', "`counts` of a unit is rule ->"),
        ('{"record": "adapter", "status": "weird"}', "`status` of an adapter is one of ready, skipped, failed, not"),
        ('{"record": "adapter", "mood": "weird"}', "an adapter has no field mood"),
        ('{"record": "failure", "outcome": "weird"}', "`outcome` of a failure is one of pass, fail, xfail"),
        ('{"record": "failure", "shrunk": {"a": 1}}', "`shrunk` of a failure is a program"),
        ('{"record": "timing", "status": "weird"}', "`status` of a timing is one of ok, unsupported, error"),
        ("[" * 100_000, "recursion"),
        ('{"record": "foo\x00', "control character"),
    ],
)
def test_a_broken_line_is_named_with_its_number(tmp_path, sample, line, message):
    path = tmp_path / "results.jsonl"
    path.write_text(f"{to_line(sample.header())}\n{line}\n{to_line(sample.footer())}\n")
    with pytest.raises(ResultsError, match="line 2: ") as error:
        list(read_results(path))
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_what_is_named_must_have_been_told_of(tmp_path, sample):
    path = tmp_path / "results.jsonl"
    (unit, *_), failure, timing = sample.units(), sample.failure(), sample.timings()[0]
    for told, record, message in [
        ([], replace(unit, adapter="ghost"), "line 2: no adapter 'ghost' before this unit"),
        ([], failure, "line 2: no adapter 'numpy' before this failure"),
        ([], timing, "line 2: no adapter 'torch:cpu' before this timing"),
        (sample.adapters(), replace(unit, counts={"a.b": {}}), "line 6: no rule 'a.b' in the header"),
        (sample.adapters(), replace(failure, rules=("a.b",)), "line 6: no rule 'a.b' in the header"),
    ]:
        path.write_text("".join(f"{to_line(one)}\n" for one in (sample.header(), *told, record)))
        with pytest.raises(ResultsError, match=message):
            list(read_results(path))


def test_bytes_that_are_no_text_are_named_with_their_line(tmp_path, sample):
    path = tmp_path / "results.jsonl"
    path.write_bytes(to_line(sample.header()).encode() + b"\n\xff\xfe\n")
    with pytest.raises(ResultsError, match=r"line 2: no record .*, nor text \(invalid start byte, byte 1\)"):
        list(read_results(path))


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path, sample):
    path = tmp_path / "results.jsonl"
    unit = to_line(sample.units()[0])
    for cut in (1, len(unit) // 2, len(unit) - 1):
        path.write_text(f"{to_line(sample.header())}\n{unit[:cut]}")
        assert list(read_results(path)) == [sample.header()]


def test_half_a_surrogate_pair_is_replaced(tmp_path, sample):
    """What no encoding can write is read as its escape, and a whole pair as the character that it stands for."""
    path = tmp_path / "results.jsonl"
    failure = to_line(sample.failure()).replace('"message":"', '"message":"\\ud83d\\ude00 \\ud800 \\\\ud800 ', 1)
    lines = [*map(to_line, [sample.header(), *sample.adapters()]), failure]
    path.write_text("".join(f"{line}\n" for line in lines))
    *_, read = read_results(path)
    assert read.message.startswith("\U0001f600 \\ud800 \\ud800 ")


def test_times_that_cannot_be_are_refused(tmp_path, sample):
    """A timing that is ok took time."""
    path = tmp_path / "results.jsonl"
    good = next(timing for timing in sample.timings() if timing.status == "ok")
    for wrong in (replace(good, median_ns=0.0), replace(good, median_ns=-1.0)):
        path.write_text("".join(f"{to_line(one)}\n" for one in (sample.header(), *sample.adapters(), wrong)))
        with pytest.raises(ResultsError, match="line 6: `median_ns` of a timing that is ok is above 0"):
            list(read_results(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty; give the directory that a run wrote"),
        ('{"record": "head', "its only line is cut off"),
        ('{"record": x}\n', r"line 1: no record .* broken JSON \(Expecting value, character 12\); give the directory"),
        ('{"record":"footer","finished":"","seconds":1,"exit_code":0}\n', "the header must be the first line"),
    ],
)
def test_a_file_without_a_header_is_refused(tmp_path, text, message):
    path = tmp_path / "results.jsonl"
    path.write_text(text)
    with pytest.raises(ResultsError, match=message):
        list(read_results(path))


def test_a_missing_file_and_another_schema_are_told_apart(tmp_path, sample):
    with pytest.raises(ResultsError, match="no such results file"):
        list(read_results(tmp_path / "none.jsonl"))
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps({**json.loads(to_line(sample.header())), "schema": 9}) + "\n")
    with pytest.raises(ResultsError, match=r"stridecheck .* wrote it in schema 9, this version reads 1"):
        list(read_results(path))
    header = json.loads(to_line(sample.header()))
    path.write_text(json.dumps({name: value for name, value in header.items() if name != "schema"}) + "\n")
    with pytest.raises(ResultsError, match="line 1: a header has schema, too"):
        list(read_results(path))
