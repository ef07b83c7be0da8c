"""Two runs compared: what counts as a change, and what the command says of it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from stridecheck.reports.compare import COLUMNS, compare_failures, compare_timings
from stridecheck.reports.records import Adapter, ResultsError, read_results
from stridecheck.reports.run import load

from stridecheck.cli import main

CASES = [f"copy/{layout}/float32/{size}" for layout in ("a", "b", "c", "d", "e") for size in ("small", "large")]


@pytest.fixture
def timed(write, sample):
    """A function that writes a run: `processes` times each case, with a spread between processes and within one.

    Of a process's `visits` to a case only one, at random, is not `disturbed`.
    """

    def timed_(
        name,
        slower=1.0,
        *,
        speed=1.0,
        processes=5,
        visits=1,
        disturbed=1.0,
        spread=0.01,
        seed=0,
        cpu="one",
        cases=CASES,
    ):
        rng = np.random.default_rng([seed, *name.encode()])
        header = sample.header()
        records = [replace(header, machine={**header.machine, "cpu": cpu}), *sample.adapters()]
        for process in range(processes):
            for case in cases:
                mean = 1e6 * speed * rng.normal(1, spread)
                quiet = rng.integers(visits)
                for visit in range(visits):
                    longer = slower * (1.0 if visit == quiet else rng.uniform(1, disturbed))
                    samples = tuple(mean * longer * rng.normal(1, spread, 15))
                    operation, layout, _, size = case.split("/")
                    median = float(np.median(samples))
                    timing = sample.timing("torch:cpu", operation, layout, size, median / (1e6 * speed))
                    where = {"process": process, "visit": visit}
                    records.append(replace(timing, samples_ns=samples, median_ns=median, **where))
        return write([*records, sample.footer(0)], name)

    return timed_


def verdicts(old, new):
    return set(compare_timings(load([old]), load([new])).verdict)


def test_the_columns_are_documented(timed):
    assert list(compare_timings(load([timed("old")]), load([timed("new")]))) == list(COLUMNS)


def test_the_same_code_is_the_same(timed):
    assert verdicts(timed("old"), timed("new")) == {"same"}


@pytest.mark.parametrize(("factor", "verdict"), [(1.1, "slower"), (1 / 1.1, "faster")])
def test_a_change_is_found(timed, factor, verdict):
    frame = compare_timings(load([timed("old")]), load([timed("new", factor)]))
    assert set(frame.verdict) == {verdict}
    assert (frame.ratio.between(frame.low, frame.high)).all()


def test_a_change_too_small_to_report_is_none(timed):
    assert verdicts(timed("old", spread=0.002), timed("new", 1.03, spread=0.002)) == {"same"}


def test_processes_that_differ_widely_are_no_change(timed):
    """Blocks of one process agree better than processes do: only the latter tell what a difference is worth."""
    found = verdicts(timed("old", spread=0.2), timed("new", spread=0.2, seed=1))
    assert found <= {"cannot tell", "same"}
    assert "cannot tell" in found


def test_what_disturbs_some_visits_is_no_change(timed):
    """The quickest block counts: a change of a tenth is found between visits that are twice as slow."""
    noisy = {"visits": 3, "disturbed": 2.0}
    assert verdicts(timed("old", **noisy), timed("new", seed=1, **noisy)) == {"same"}
    assert verdicts(timed("old", **noisy), timed("slow", 1.1, seed=1, **noisy)) == {"slower"}
    run = load([timed("old", **noisy)])
    assert len(run.measurements) == 3 * 5 * len(CASES)
    assert all(0.9e6 < timing.median_ns < 1.1e6 for timing in run.timings)


def test_a_machine_of_another_speed_is_weighed_by_its_copies(timed):
    frame = compare_timings(load([timed("old")]), load([timed("new", speed=1.3)]))
    assert set(frame.by) == {"x_copy"}
    assert set(frame.verdict) == {"same"}


def test_what_has_no_copy_of_its_own_is_not_called_slower_for_a_machine_that_is(timed, tmp_path):
    """A view has nothing to be weighed by: within the drift of the copies nobody can tell, beyond it one can."""

    def views(directory):
        path = directory / "results.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in lines:
            if line.get("layout") == "a":
                line.update(x_copy=None, x_traffic=None)
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        return load([path])

    old = views(timed("old"))
    for factor, verdict in ((1.0, "cannot tell"), (1.2, "slower")):
        frame = compare_timings(old, views(timed("new", factor, speed=1.2))).set_index("case")
        assert set(frame.by[CASES[:2]]) == {"time"}
        assert set(frame.verdict[CASES[:2]]) == {verdict}


def test_another_processor_is_not_comparable(timed):
    with pytest.raises(ResultsError, match="different processors"):
        compare_timings(load([timed("old")]), load([timed("new", cpu="two")]))


def test_runs_without_a_common_case_are_not_comparable(timed):
    with pytest.raises(ResultsError, match="no timed case in common"):
        compare_timings(load([timed("old", cases=CASES[:2])]), load([timed("new", cases=CASES[2:])]))


def test_pooled_timings_are_one_for_a_case(timed):
    run = load([timed("old")])
    assert len(run.measurements) == 5 * len(CASES)
    assert len(run.timings) == len(CASES)
    assert len(run.timings[0].samples_ns) == 75


def test_failures_that_come_and_go(write, sample):
    sides = {"old": sample.failures()[1:], "new": sample.failures()[:-1]}
    old, new = (
        load([write([sample.header(), *sample.adapters(), *sample.units(), *failures, sample.footer()], name)])
        for name, failures in sides.items()
    )
    changed = compare_failures(old, new)
    assert [failure.program for failure in changed.new] == [sample.failures()[0].program]
    assert changed.gone == ()
    assert changed.known_new == ()
    assert [failure.program for failure in changed.known_gone] == [sample.failures()[-1].program]


def test_diff_calls_nothing_a_failure_that_is_known_or_was_judged_once(write, sample):
    """A library that one run judged is named and not compared; a known deviation that is new is no failure."""
    failures = [f for f in sample.failures() if f.outcome == "xfail"]
    numpy, torch = ([one for one in failures if one.adapter == name] for name in ("numpy", "torch:cpu"))
    old, new = (
        write([sample.header(), *sample.adapters(), *records, sample.footer(0)], name)
        for name, records in (("old", numpy[1:]), ("new", [*numpy, *torch]))
    )
    done = CliRunner().invoke(main, ["diff", str(old), str(new)])
    first, second, third, *_ = done.output.splitlines()
    assert done.exit_code == 0
    assert first == "judged in the new run only, so not compared: torch:cpu"
    assert second == "no failure is new, none is gone"
    assert third == "1 known deviation new:"
    done = CliRunner().invoke(
        main, ["diff", str(new), str(write([sample.header(), *torch, sample.footer(0)], "torch"))]
    )
    assert "judged in the old run only, so not compared: numpy\n" in done.output


def test_diff_is_not_content_with_a_library_that_is_gone(write, sample):
    """One that fails to start, by its name or what it was asked for by, ends with 3, nothing to compare with 4."""

    def exit_code(*records):
        new = write([sample.header(), *records, sample.footer(0)], "new")
        done = CliRunner().invoke(main, ["diff", str(old), str(new)])
        assert done.exception is None or isinstance(done.exception, SystemExit)
        return done.exit_code

    numpy = Adapter("numpy", "ready", spec="my_adapter.py")
    ours = replace(sample.units()[0], adapter="numpy", outcomes={"pass": 512})
    old = write([sample.header(), numpy, ours, sample.failure(), sample.footer()], "old")
    assert exit_code(numpy, ours) == 0
    assert exit_code(replace(ours, adapter="renamed")) == 4
    assert exit_code(ours, replace(numpy, status="failed", reason="worn out")) == 3
    assert exit_code(Adapter("my_adapter.py", "failed", "worn out", spec="my_adapter.py")) == 3
    assert exit_code(ours, sample.failure(1), replace(numpy, status="failed", reason="worn out")) == 1


def test_diff_says_what_is_slower_and_exits_with_1(timed, tmp_path):
    old, new = timed("old"), timed("new", 1.2)
    done = CliRunner().invoke(main, ["diff", str(old), str(new), "--out", str(tmp_path / "out")])
    assert done.exit_code == 1
    assert "10 cases timed in both runs: 10 slower" in done.output
    assert "copy/a/float32/small" in done.output
    assert (tmp_path / "out" / "diff.csv").read_text().splitlines()[0] == ",".join(COLUMNS)
    assert CliRunner().invoke(main, ["diff", str(old), str(old)]).exit_code == 0


def test_diff_tells_of_cases_that_are_no_longer_timed(timed, write, sample):
    """What fails now is worse than what is slower; what nobody asked for is only counted."""
    old, new = timed("old", processes=1), timed("new", processes=1, cases=CASES[2:])
    broken = replace(sample.timing("torch:cpu", "copy", "a", "small", 1.0), status="error", reason="worn out")
    header, *others = read_results(new / "results.jsonl")
    new = write([header, *others[:-1], replace(broken, samples_ns=(), median_ns=0.0)], "broken")
    done = CliRunner().invoke(main, ["diff", str(old), str(new)])
    assert done.exit_code == 1
    assert "the new run ended before it was done" in done.output
    assert "8 cases timed in both runs" in done.output
    assert "one process measured a side" in done.output
    assert "1 case timed before, and failed now:\n  copy/a/float32/small  torch:cpu: worn out" in done.output
    assert "1 case timed in the old run only" in done.output


def test_diff_tells_of_a_run_that_is_not_there(timed, tmp_path):
    done = CliRunner().invoke(main, ["diff", str(timed("old")), str(tmp_path / "none")])
    assert done.exit_code == 2
    assert "no such results file" in done.output
