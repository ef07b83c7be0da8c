"""Scores are honest: rounded down, deviations counted, nothing hidden, nothing made up."""

import doctest
from dataclasses import replace

import pytest
from stridecheck.reports import observations, summary, text, view
from stridecheck.reports.records import Unit
from stridecheck.reports.run import load
from stridecheck.reports.summary import Score, score, summaries


@pytest.mark.parametrize("module", [text, summary, view, observations])
def test_examples_in_docstrings_run(module):
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed


def test_the_score_counts_known_deviations_and_leaves_out_the_unsupported():
    judged = score({"pass": 90, "xpass": 2, "fail": 3, "crash": 1, "xfail": 4, "unsupported": 1000})
    assert judged == Score(passed=92, failed=4, known=4, unsupported=1000)
    assert judged.text == "92.0 %"


@pytest.mark.parametrize(
    ("passed", "failed", "shown"),
    [
        (0, 0, "nothing judged"),
        (0, 5, "0 %"),
        (5, 0, "100 %"),
        (999_999, 1, "99.9 %"),
        (1, 999_999, "<0.1 %"),
        (2, 1, "66.6 %"),
    ],
)
def test_only_a_perfect_score_reads_100_and_only_a_void_one_0(passed, failed, shown):
    assert Score(passed=passed, failed=failed).text == shown


def test_each_adapter_is_summed_up(write, sample):
    run = load([write(sample.whole())])
    reference, torch, numpy, cupy = summaries(run)
    assert (reference.score.text, reference.red, reference.known) == ("100 %", 0, 0)
    assert (torch.known, torch.programs) == (4, 2048)
    assert numpy.programs == 4 * 512 - 160
    assert numpy.not_run == 160
    assert numpy.unsupported == {"memory-format": 100, "resize": 60}
    assert numpy.outcomes["crash"] == 1
    assert numpy.red == 9
    assert numpy.score.failed == 8
    assert cupy.adapter.reason.startswith("no CUDA device")
    assert not cupy.idle


def test_failures_of_a_unit_that_was_never_finished_are_counted(write, sample):
    run = load([write([sample.header(), *sample.failures()])])
    by_name = {adapter.name: adapter for adapter in summaries(run)}
    assert by_name["numpy"].red == 9
    assert by_name["numpy"].known == 40
    assert not by_name["numpy"].score.judged


def test_a_library_that_was_given_up_did_run(write, sample):
    """Though it was in its first unit, whose counts are not kept: failures tell."""
    gone = replace(sample.adapters()[2], status="failed", reason="worn out")
    for found, state in (([sample.failure()], "failed"), ([], "not run")):
        run = load([write([sample.header(), *found, gone, sample.footer(3)])])
        (adapter,) = adapters = summaries(run)
        assert adapter.state == state
        assert ("Not run: numpy." in view.verdict(run, adapters).lede) == (state == "not run")


def test_a_ready_library_with_nothing_judged_is_idle(write, sample):
    run = load([write([sample.header(), *sample.adapters(), sample.footer(4)])])
    assert [adapter.idle for adapter in summaries(run)] == [True, True, True, False]


def test_aspects_that_are_not_known_here_are_kept(write, sample):
    unit = Unit("numpy", "u", 1, {"pass": 1}, {"views.split-dim": {"smell": {"pass": 1}, "shape": {"fail": 1}}})
    tallied = load([write([sample.header(), unit])]).tally
    assert tallied.aspects == ("shape", "smell")
    assert tallied.counts("numpy", ["views.split-dim"]) == {"pass": 1, "fail": 1}
