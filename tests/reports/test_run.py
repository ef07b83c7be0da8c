"""Several results files make one run, and what a run says of itself is true."""

from dataclasses import replace

import pytest
from stridecheck.reports.records import ResultsError
from stridecheck.reports.run import load


def test_a_whole_file_is_complete_and_red(write, sample):
    run = load([write(sample.whole())])
    assert run.complete
    assert run.exit_code == 1
    assert run.footer == sample.footer()
    assert [adapter.name for adapter in run.adapters] == ["reference", "torch:cpu", "numpy", "cupy"]
    assert len(run.red) == 9
    assert len(run.known) == 41
    assert not run.notes


def test_a_run_that_died_is_incomplete_and_keeps_what_it_has(write, sample):
    run = load([write([sample.header(), *sample.adapters(), *sample.units()[:3]])])
    assert not run.complete
    assert run.footer is None
    assert run.exit_code == 3
    assert len(run.units) == 3
    assert "ended before it was done" in run.notes[0]


def test_a_failure_makes_an_incomplete_run_red(write, sample):
    assert load([write([sample.header(), sample.failure()])]).exit_code == 1


@pytest.mark.parametrize(
    ("codes", "overall"), [((0, 0), 0), ((0, 4), 0), ((4, 4), 4), ((0, 1), 1), ((1, 3), 1), ((3, 2), 3), ((2, 0), 2)]
)
def test_the_worst_file_decides_but_an_idle_shard_hides_nothing(write, sample, codes, overall):
    directories = [write([sample.header(), sample.footer(code)], f"shard{n}") for n, code in enumerate(codes)]
    assert load(directories).exit_code == overall


def test_red_units_make_a_run_red_whatever_its_footer_says(write, sample):
    assert load([write([sample.header(), *sample.units(), sample.footer(0)])]).exit_code == 1


def test_shards_add_up(write, sample):
    units = sample.units()
    one = write([sample.header(), *sample.adapters(), *units[::2], sample.footer(0)], "one")
    other = write([sample.header(), *sample.adapters(), *units[1::2], *sample.timings(), sample.footer(0)], "two")
    run = load([one, other])
    assert len(run.units) == len(units)
    assert len(run.timings) == len(sample.timings())
    assert run.seconds == pytest.approx(2 * 133.4)
    assert not run.notes


def test_work_that_was_done_twice_counts_once(write, sample):
    one = write([sample.header(), *sample.units(), sample.failure(), sample.footer()], "one")
    run = load([one, write([sample.header(), *sample.units(), sample.failure(), sample.footer()], "two")])
    assert len(run.units) == len(sample.units())
    assert len(run.failures) == 1
    assert "12 units of work are in more than one file" in run.notes[0]


def test_what_a_unit_that_was_done_again_found_before_is_forgotten(write, sample):
    unit = sample.units()[0]
    found, known = (sample.failure(0, outcome, unit.adapter, source=unit.unit) for outcome in ("fail", "xfail"))
    elsewhere = sample.failure(1, adapter=unit.adapter, source="another")
    one = write([sample.header(), found, unit, elsewhere, sample.footer()], "one")
    run = load([one, write([sample.header(), known, unit, sample.footer(0)], "two")])
    assert run.failures == (elsewhere, known)


def test_the_same_directory_twice_is_read_once(write, sample):
    directory = write(sample.whole())
    assert len(load([directory, directory / "results.jsonl", directory]).sources) == 1


def test_another_version_of_a_library_is_another_adapter(write, sample):
    _, torch, *_ = sample.adapters()
    unit = replace(sample.units()[0], adapter="torch:cpu")
    new = replace(torch, versions={"torch": "2.14.0"})
    run = load(
        [
            write([sample.header(), torch, unit, sample.footer(0)], "old"),
            write([sample.header(), new, unit, sample.footer(0)], "new"),
        ]
    )
    assert [adapter.name for adapter in run.adapters] == ["torch:cpu", "torch:cpu (new)"]
    assert [unit.adapter for unit in run.units] == ["torch:cpu", "torch:cpu (new)"]


def test_versions_that_only_one_file_names_make_no_other_adapter(write, sample):
    _, torch, *_ = sample.adapters()
    more = replace(torch, versions={"torch": "2.13.0+cpu", "mkl": "2026"})
    paths = [write([sample.header(), adapter, sample.footer(0)], name) for name, adapter in (("a", torch), ("b", more))]
    (merged,) = load(paths).adapters
    assert merged.versions == {"torch": "2.13.0+cpu", "numpy": "2.4.6", "mkl": "2026"}


def test_an_adapter_that_was_skipped_elsewhere_ran(write, sample):
    *_, skipped = sample.adapters()
    ready = replace(skipped, status="ready", reason="")
    for order in ([skipped, ready], [ready, skipped]):
        paths = [write([sample.header(), a, sample.footer(0)], f"{a.status}") for a in order]
        assert [adapter.status for adapter in load(paths).adapters] == ["ready"]


def test_times_from_different_processors_are_marked(write, sample):
    other = replace(sample.header(), machine={"cpu": "another"}, suite="0.2.0")
    run = load(
        [
            write([sample.header(), sample.footer(0)], "one"),
            write([other, *sample.timings(), sample.footer(0)], "two"),
        ]
    )
    assert any("different processors" in note for note in run.notes)
    assert any("different versions of stridecheck: 0.1.0, 0.2.0" in note for note in run.notes)


def test_directories_are_searched_for_results(write, sample, tmp_path):
    write([sample.header(), sample.footer(0)], "all/one")
    write([sample.header(), sample.footer(0)], "all/deep/two")
    assert len(load([tmp_path / "all"]).sources) == 2
    (tmp_path / "bare").mkdir()
    with pytest.raises(ResultsError, match=r"no results\.jsonl in this directory"):
        load([tmp_path / "bare"])
    with pytest.raises(ResultsError, match="no results file was given"):
        load([])
