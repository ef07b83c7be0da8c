"""What a run prints at its end is what the page says first."""

from stridecheck.reports.run import load
from stridecheck.reports.terminal import lines


def test_the_verdict_and_one_line_an_adapter(write, sample):
    verdict, *adapters = lines(load([write(sample.whole())]))
    assert verdict == "✗ 9 programs did not behave as expected on numpy"
    assert [line.split()[0] for line in adapters] == ["reference", "torch:cpu", "numpy", "cupy"]
    assert "99.6 %" in adapters[2]
    assert adapters[3].endswith("skipped: no CUDA device: cudaErrorNoDevice")


def test_times_are_printed_where_they_are_all_there_is_to_say(write, sample):
    _, *said = lines(load([write([sample.header(), *sample.adapters(), *sample.timings(), sample.footer()])]))
    heading, *times = said[4:]
    assert "x_copy" in heading
    assert all("×" in line for line in times)
    assert times


def test_an_incomplete_run_says_so(write, sample):
    told = list(lines(load([write([sample.header(), *sample.adapters(), *sample.units()[:3]])])))
    assert told[0].startswith("◐ Incomplete")
    assert "ended before it was done" in told[1]
