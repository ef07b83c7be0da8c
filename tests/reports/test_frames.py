"""Frames are tidy, documented, and the same shape whatever a run holds."""

import io

import pandas as pd
import pytest
from stridecheck.reports.frames import COLUMNS, columns
from stridecheck.reports.run import load


@pytest.fixture
def frames(write, sample):
    return load([write(sample.whole())]).frames


def test_every_column_is_documented_and_every_number_has_a_unit(frames):
    for name, frame in frames.tables().items():
        assert list(frame.columns) == list(COLUMNS[name])
        for column, spec in COLUMNS[name].items():
            assert spec.meaning
            assert (frame[column].dtype.kind in "if") <= bool(spec.unit) or column == "step", column


def test_outcomes_add_up_to_the_counts(frames, sample):
    total = sum(
        number
        for unit in sample.units()
        for aspects in unit.counts.values()
        for outcomes in aspects.values()
        for number in outcomes.values()
    )
    assert frames.outcomes["count"].sum() == total
    assert not frames.outcomes.duplicated(["adapter", "rule", "aspect", "outcome"]).any()
    assert set(frames.outcomes["family"]) == {"views", "contiguity", "memory-format", "in-place", "errors"}


def test_spread_is_in_nanoseconds_and_absent_where_nothing_was_timed(frames):
    timings = frames.timings.set_index(["case", "adapter"])
    timed = timings.loc[("copy/contiguous/float32/small", "torch:cpu")]
    assert timed["iqr_ns"] == pytest.approx(timed["q3_ns"] - timed["q1_ns"])
    assert timed["q1_ns"] < timed["median_ns"] < timed["q3_ns"] * 1.02
    missing = timings.loc[("conv2d/contiguous/float32/small", "numpy")]
    assert missing[["median_ns", "q1_ns", "iqr_ns", "x_copy", "x_traffic", "copied"]].isna().all()
    assert missing["reason"] == "no conv2d"


def test_an_empty_run_has_the_same_columns_and_types(write, sample, frames):
    empty = load([write([sample.header(), sample.footer(4)], "empty")]).frames
    for name, frame in empty.tables().items():
        assert frame.empty
        assert (frame.dtypes == frames.tables()[name].dtypes).all()


def test_csv_files_read_back_as_they_were_even_with_hostile_text(frames):
    for name, frame in frames.tables().items():
        again = pd.read_csv(io.StringIO(frame.to_csv(index=False)), keep_default_na=False, dtype=str)
        assert len(again) == len(frame), name
    assert not frames.failures["message"].str.contains("\x00").any()


def test_the_list_of_columns_covers_all_frames():
    assert set(columns()["frame"]) == set(COLUMNS)
    assert len(columns()) == sum(map(len, COLUMNS.values()))
