"""What a run prints at its end is what the page says first."""

from dataclasses import replace

import pytest
from stridecheck.reports.records import Claim, Footer, Handover, Mutant, Timing
from stridecheck.reports.run import load
from stridecheck.reports.terminal import lines


def test_the_verdict_and_one_line_an_adapter(write, sample):
    verdict, *said = lines(load([write(sample.whole())]))
    adapters = said[:4]
    assert verdict == "✗ 9 programs did not behave as expected on numpy"
    assert [line.split()[0] for line in adapters] == ["reference", "torch:cpu", "numpy", "cupy"]
    assert "99.6 % of judged steps  1,888 programs" in adapters[2]
    assert adapters[3].endswith("skipped: no CUDA device: cudaErrorNoDevice")


def test_one_program_is_no_programs(write, sample):
    unit = replace(sample.units()[0], programs=1, outcomes={"xfail": 1})
    _, line = lines(load([write([sample.header(), unit, sample.footer(0)])]))
    assert "1 program  0 unexpected  1 known deviation  0 unsupported" in line


def test_each_kind_of_failure_is_named_and_the_first_can_be_reproduced(write, sample):
    *_, crash, narrow, hostile, script = lines(load([write(sample.whole(), "two words")]))
    assert crash.startswith("  crash 0064c0ffee5eed · numpy · as_strided: the process died with SIGSEGV")
    assert "fail 0000c0ffee5eed · numpy · narrow · layout · views.narrow-offset, views.select-drops: the " in narrow
    assert narrow.endswith(" (7 alike)")
    assert "\x1b" not in hostile
    assert "\n" not in hostile
    assert script.startswith("the first with a script: stridecheck repro '")
    assert script.endswith("two words' 0064c0ffee5eed")


def test_of_many_kinds_of_failures_ten_are_named_and_the_rest_counted(write, sample):
    failures = [sample.failure(number, operation=f"op{number}") for number in range(40)]
    *_, last, left, script = lines(load([write([sample.header(), *failures, sample.footer()])]))
    assert "fail 0009c0ffee5eed · op9 · layout" in last
    assert left == "  … and 30 more failures"
    assert script.endswith(" 0000c0ffee5eed")


def test_a_script_is_promised_only_where_one_is_to_be_had(write, sample):
    """None shows an adapter's own error or what passes against expectation; one that is there comes first."""

    def last(*failures):
        return [*lines(load([write([sample.header(), *failures, sample.footer()])]))][-1]

    none = {"repro": "", "operation": "expand"}
    without = [
        sample.failure(1, "xpass", repro=""),
        sample.failure(0, "xpass", repro="", program=""),
        sample.failure(2, "crash", **none),
        sample.failure(3, "error", **none),
        sample.failure(4, "error", shrunk={}, **none),
    ]
    assert last(without[0]).startswith("  xpass")
    assert "with a script" not in last(*without)
    to_come, there = sample.failure(5, shrunk={}, **none), sample.failure(6)
    assert last(*without, to_come).endswith(" 0005c0ffee5eed")
    assert last(*without, to_come, there).endswith(" 0006c0ffee5eed")


def test_a_failure_of_merged_runs_is_reproduced_from_the_file_that_has_it(write, sample):
    """Where one file expects what another does not, that which does not is named."""
    good = write([sample.header(), sample.failure(0, "xfail"), sample.footer(0)], "good")
    bad = write([sample.header(), sample.failure(), sample.footer()], "bad")
    for order in ([good, bad], [bad, good]):
        *_, script = lines(load(order))
        assert script.endswith("bad 0000c0ffee5eed")


def test_times_are_printed_where_they_are_all_there_is_to_say(write, sample):
    _, *said = lines(load([write([sample.header(), *sample.adapters(), *sample.timings(), sample.footer()])]))
    heading, second, *times = said[4:]
    assert "x_copy" in heading
    assert "x_traffic" in second
    assert all(("×" in line) != line.strip().startswith(("matmul", "conv2d")) for line in times)
    assert not any("~" in line for line in times)
    assert times


def test_what_is_not_timed_is_told_with_its_reason(write, sample):
    said = list(lines(load([write([sample.header(), *sample.adapters(), *sample.timings(), sample.footer()])])))
    assert said[3].endswith("10 not supported (no conv2d)")


def test_a_sum_is_weighed_against_what_it_reads_not_against_a_copy_of_its_result(write, sample):
    one = replace(sample.timings()[0], output_bytes=16, touched_bytes=4096, x_copy=2132.0, x_traffic=1.25)
    *_, line = lines(load([write([sample.header(), *sample.adapters(), one, sample.footer()])]))
    assert "~1.2×" in line or "~1.3×" in line
    assert "2,132" not in line
    expanded = replace(one, touched_bytes=48)
    *_, line = lines(load([write([sample.header(), *sample.adapters(), expanded, sample.footer()])]))
    assert "×" not in line


def test_what_computes_is_weighed_against_no_copy(write, sample):
    timings = [sample.timing("torch:cpu", operation, "contiguous", "small", 7.0) for operation in ("matmul", "copy")]
    *_, product, copy = lines(load([write([sample.header(), *sample.adapters(), *timings, sample.footer()])]))
    assert "×" not in product
    assert "7.0×" in copy


def test_an_incomplete_run_says_so(write, sample):
    told = list(lines(load([write([sample.header(), *sample.adapters(), *sample.units()[:3]])])))
    assert told[0].startswith("◐ Incomplete")
    assert "ended before it was done" in told[1]


@pytest.mark.parametrize("footer", [[], [Footer("", 1.0, 1)]], ids=["died", "ended"])
@pytest.mark.parametrize(
    ("of", "says"),
    [
        (Handover("a", "b", "dlpack", "bool", "crash", is_known=False), "1 array not handed over as expected"),
        (Mutant("a", "It copies.", "reference", "survived", 3, 1), "1 mutant not found out"),
        (Claim("a", "It is faster.", "", "failed", "no such engine"), "1 claim could not be tried"),
        (Timing("a/b/c/d", "torch", "a", "b", "c", (1,), "d", 1, "error", "killed by SIGKILL"), "1 timing failed"),
    ],
    ids=["exchange", "mutants", "claims", "bench"],
)
def test_what_nobody_expected_is_said_of_every_kind_of_run(of, says, footer, write, sample):
    """Of one that died, too; exchanges and mutants that were done have a headline of their own."""
    run = load([write([sample.header(), of, *footer])])
    assert run.exit_code == 1
    told = next(lines(run))
    if not footer:
        assert told == f"◐ Incomplete: {says}"
    elif isinstance(of, Handover | Mutant):
        assert told.startswith("✗ ")
    else:
        assert told == f"✗ {says}"


def test_a_copy_where_a_view_was_predicted_is_told(write, sample):
    foreseen = replace(sample.timings()[0], copied=True, predicted=True)
    copying, viewing = replace(foreseen, predicted=False), replace(foreseen, copied=False)

    def said(timing):
        return list(lines(load([write([sample.header(), *sample.adapters(), timing, sample.footer()])])))[-1]

    assert said(copying).endswith("(copies: PyTorch answers with a view)")
    assert said(viewing).endswith("(a view: PyTorch copies)")
    assert "PyTorch" not in said(foreseen)
