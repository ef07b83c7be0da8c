"""The figures of copies on a GPU, as far as they can be had without one: right bits, interleaved rounds, one row."""

import pytest
import torch
from stridecheck.benchmarks import device_figures
from stridecheck.benchmarks.conversions import CONVERSIONS
from stridecheck.ci import gpu
from stridecheck.reference_impl.kernels import device


def copied(dst, src, choice=None):
    dst.copy_(src)


def clock(call):
    call()
    return 2.0 if call.keywords or call.func is not copied else 1.0


@pytest.mark.parametrize("name", [name for name, conversion in CONVERSIONS.items() if conversion.order])
def test_a_row_for_each_permutation(name):
    row = device_figures.compare(torch, name, clock, place="cpu", nbytes=1 << 20, copy=copied)
    assert row["equal"]
    assert (row["ours"], row["torch"], row["dense"]) == (1.0, 2.0, 2.0)
    assert row["share"] == row["against_torch"] == 2.0
    assert set(row["choices"]) == set(device_figures.CHOICES)
    assert f"{name:18} 1.0 us, 200 % of the dense copy's rate" in device_figures.line(row)


def test_wrong_bits_are_told_and_not_timed():
    row = device_figures.compare(
        torch, "heads", clock, place="cpu", nbytes=1 << 24, copy=lambda dst, src: dst.copy_(src + 1)
    )
    assert not row["equal"]
    assert "ours" not in row
    assert "WRONG" in device_figures.line(row)


def test_rounds_are_interleaved_and_begin_with_another_call_each():
    called = []
    calls = {name: lambda name=name: called.append(name) for name in "abc"}
    device_figures.medians(calls, lambda call: call() or 1.0)
    rounds = ["".join(called[k : k + 3]) for k in range(0, len(called), 3)]
    assert rounds[:4] == ["abc", "bca", "cab", "abc"]
    assert len(rounds) == device_figures.FIRST + device_figures.ROUNDS


def test_a_goal_that_is_missed_is_told():
    row = device_figures.compare(torch, "heads", lambda call: 1.0, place="cpu", nbytes=1 << 24, copy=copied)
    assert "goal missed" not in device_figures.line(row)
    assert "goal missed" in device_figures.line(row | {"share": 0.89})
    assert "goal missed" in device_figures.line(row | {"against_torch": 0.99})


@pytest.mark.skipif(not device.unavailable(), reason="a copy can be made on a GPU here")
def test_without_a_device_the_part_is_skipped_with_its_reason():
    assert gpu.PARTS["permutations"]()["skipped"] == device.unavailable()
