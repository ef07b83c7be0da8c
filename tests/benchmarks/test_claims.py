"""Claims: each has trials, what they say follows from what was measured, and the command tells it."""

import json
import os
import signal
import tempfile

import pytest
import torch
from stridecheck.benchmarks import bench, claims, contests, device_contests, trials
from stridecheck.benchmarks.claims import CLAIMS, NO_FIGURE, Claim
from stridecheck.reports.records import Claim as Record
from stridecheck.reports.records import read_results

from .. import commands


def test_every_claim_has_trials_and_every_trial_a_claim():
    assert {claim.id for claim in CLAIMS} == set(contests.TRIALS)
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS)
    for claim in CLAIMS:
        labels = [trial.label for trial in contests.TRIALS[claim.id]()]
        assert labels
        assert len(set(labels)) == len(labels), claim.id


def judged(claim, *tried):
    """The record that comes of a claim; each trial is a list of ratios, one a process."""
    processes = [
        [(f"trial {number}", [100.0] * 5, [100.0 * ratios[process]] * 5) for number, ratios in enumerate(tried)]
        for process in range(3)
    ]
    return claims._judged(claim, processes)


SLOWER = Claim("x", "It is slower", "+50 %", 1.3, 1.7)


@pytest.mark.parametrize(
    ("tried", "verdict", "says"),
    [
        ([[1.5, 1.4, 1.6]], "confirmed", ["agrees"]),
        ([[1.0, 1.1, 0.9]], "refuted", ["contradicts"]),
        ([[1.5, 1.4, 1.6], [1.0, 1.0, 1.0]], "depends", ["agrees", "contradicts"]),
        ([[1.5, 1.0, 2.0]], "cannot tell", ["open"]),
        ([[1.0, 1.0, 1.0], [1.2, 1.4, 1.5]], "refuted", ["contradicts", "open"]),
        ([[1.9, 1.8, 2.0]], "refuted", ["contradicts"]),
    ],
)
def test_the_verdict_follows_from_where_the_ratios_lie(tried, verdict, says):
    record = judged(SLOWER, *tried)
    assert record.verdict == verdict
    assert [trial["says"] for trial in record.trials] == says


def test_what_slows_the_machine_slows_both_sides():
    """Ratios are taken round by round: a machine that doubles its speed half-way changes none."""
    process = [("trial", [100.0, 100.0, 200.0, 200.0, 200.0], [150.0, 150.0, 300.0, 300.0, 300.0])]
    (trial,) = claims._judged(SLOWER, [process] * 3).trials
    assert (trial["ratio"], trial["low"], trial["high"]) == (1.5, 1.5, 1.5)


def test_both_times_are_of_the_process_whose_ratio_is_shown():
    """Processes of different speed: the median of one side over that of the other would be no process's ratio."""
    processes = [[("trial", [first] * 5, [first * ratio] * 5)] for first, ratio in ((100, 2), (900, 1), (300, 1.5))]
    (trial,) = claims._judged(SLOWER, processes).trials
    assert (trial["first"], trial["second"], trial["ratio"]) == (300, 450, 1.5)


def test_a_statement_is_judged_by_what_all_processes_say():
    """One that holds in one process and not in the others is open, as a time is that differs."""
    (trial,) = claims._judged(
        Claim("x", "It holds", ""), [[("trial", True, holds)] for holds in (True, False, False)]
    ).trials
    assert (trial["says"], trial["second"], trial["low"], trial["high"]) == ("open", 0.0, 0.0, 1.0)


def test_bytes_beside_none_have_no_ratio():
    """A first side that takes no memory is no reason to end the run."""
    assert trials.measure("x") == trials.NotTried("KeyError: 'x'")
    with pytest.raises(ValueError, match="trial: the first side takes no memory"):
        trials._try(trials.Bytes("trial", lambda: (0, 8)))


def test_what_a_trial_reads_is_removed_with_it(tmp_path, monkeypatch):
    """Files of tensors are there as long as the calls that load them."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    calls = contests.shared_storage_loading()[0].make()
    assert [len(call()) for call in calls] == [16, 16]
    assert len([*tmp_path.iterdir()]) == 2
    del calls
    assert not [*tmp_path.iterdir()]


def test_a_claim_that_cannot_be_tried_does_not_end_the_others(tmp_path, monkeypatch):
    def broken(*_):
        raise RuntimeError("no such engine")

    monkeypatch.setattr(trials, "_try", broken)
    monkeypatch.setattr(bench.Measurer, "measure", lambda _, claim: trials.measure(claim))
    assert claims.try_claims(tmp_path, chosen=[claim for claim in CLAIMS if claim.id == "memory.detach"]) == 1
    records = {record.id: record for record in read_results(tmp_path / "results.jsonl") if isinstance(record, Record)}
    assert (records["memory.detach"].verdict, records["memory.detach"].why) == (
        "failed", "RuntimeError: no such engine",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("end", "seconds", "why"),
    [(signal.SIGKILL, 60.0, "killed by SIGKILL"), (signal.SIGSTOP, 0.5, "no answer within 0.5 s")],
    ids=["ends", "hangs"],
)
def test_a_claim_that_ends_its_process_or_hangs_does_not_end_the_others(end, seconds, why, tmp_path, monkeypatch):
    """The process is replaced; what was to be tried after it is tried."""
    start, started = bench.Measurer._start, []

    def start_and_end_the_first(self):
        start(self)
        if not started:
            os.kill(self._process.pid, end)
            bench.CASE_SECONDS = 60.0  # of the next claim
        started.append(self)

    monkeypatch.setattr(claims, "PROCESSES", 1)
    monkeypatch.setattr(bench, "CASE_SECONDS", seconds)
    monkeypatch.setattr(bench.Measurer, "_start", start_and_end_the_first)
    chosen = [claim for claim in CLAIMS if claim.id in ("memory.detach", "storage.byte")]
    assert claims.try_claims(tmp_path, chosen=chosen) == 1
    found = {record.id: record for record in read_results(tmp_path / "results.jsonl") if isinstance(record, Record)}
    assert found["memory.detach"].why == why
    assert found["storage.byte"].verdict == "refuted"
    assert len(started) == 2


@pytest.mark.skipif(torch.cuda.is_available(), reason="a device is here")
def test_what_needs_a_device_says_so_without_one(tmp_path):
    """That nothing is tried is no failure of the claims."""
    done = run("--only", "pinned.copies", "--out", str(tmp_path))
    assert done.returncode == 0
    (record,) = [record for record in read_results(tmp_path / "results.jsonl") if isinstance(record, Record)]
    assert record.verdict == "not tried"
    assert record.why.startswith("needs a CUDA device, and PyTorch ")


def test_the_nets_of_the_device_run_in_both_layouts():
    """On the host, where float16 has kernels, too: what is compared computes the same."""
    small, _ = device_contests.channels_last_on_device("cpu")
    nchw, last = (call().float() for call in small.make())
    assert torch.allclose(nchw, last, atol=0.02)


def test_without_a_figure_there_is_no_verdict():
    assert judged(Claim("x", "It takes its time", "", **NO_FIGURE), [1.5, 1.4, 1.6]).verdict == "measured"


def run(*arguments, **options):
    return commands.run("claims", *arguments, **options)


def test_the_command_tries_claims_and_renders_them(tmp_path):
    """Statements, bytes and times are measured in processes of their own; page, summary and terminal show them."""
    asked = ("storage.byte", "in-place.relu.memory", "reshape.by-hand", "in-place.matmul")
    done = run(*[word for id in asked for word in ("--only", id)], "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    records = {record.id: record for record in read_results(tmp_path / "results.jsonl") if isinstance(record, Record)}
    assert records["storage.byte"].verdict == "refuted"
    assert records["in-place.relu.memory"].verdict == "confirmed"
    assert records["in-place.matmul"].verdict == "refuted"
    (trial, *_) = records["reshape.by-hand"].trials
    assert trial["unit"] == "ns"
    assert 0 < trial["low"] <= trial["ratio"] <= trial["high"]
    page = (tmp_path / "report.html").read_text()
    assert "A storage conversion such as storage.byte() changes the original" in page
    assert page.count("measured ratios, and the claimed range") == 2
    assert "refuted" in (tmp_path / "summary.md").read_text()
    assert json.loads((tmp_path / "badge.json").read_text())["message"].startswith("4 claims")


def test_an_unknown_claim_is_told(tmp_path):
    done = run("--only", "nonsense", cwd=tmp_path)
    assert done.returncode == 2
    assert "no claim matches 'nonsense'" in done.stderr
    assert "did you mean in-place.add.time" in run("--only", "in-place.ad.time", cwd=tmp_path).stderr
    assert "in-place.add.time" in run("--list").stdout
