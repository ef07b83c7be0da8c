"""The figures of copies on a GPU, as far as they can be had without one: right bits, interleaved rounds, one row."""

import math

import pytest
import torch
from stridecheck.benchmarks import device_figures
from stridecheck.benchmarks.device_figures import Permutation, chosen, drawn
from stridecheck.ci import gpu
from stridecheck.reference_impl.kernels import device


def copied(dst, src, choice=None):
    dst.copy_(src)


def clock(call):
    call()
    return 2.0 if call.keywords or call.func is not copied else 1.0


HEADS = Permutation("heads", (4, 8, 16, 8), (0, 2, 1, 3))


@pytest.mark.parametrize("permutation", [*chosen(1 << 20), HEADS], ids=lambda found: found.name)
def test_a_row_for_each_permutation(permutation):
    row = device_figures.compare(torch, permutation, clock, place="cpu", copy=copied)
    assert row["equal"]
    assert (row["ours"], row["torch"], row["dense"]) == (1.0, 2.0, 2.0)
    assert row["share"] == row["against_torch"] == 2.0
    assert set(row["choices"]) == set(device_figures.CHOICES)
    assert f"{permutation.name:18} 1.0 us, 200 % of the dense copy's rate" in device_figures.line(row)


def test_wrong_bits_are_told_and_not_timed():
    row = device_figures.compare(torch, HEADS, clock, place="cpu", copy=lambda dst, src: dst.copy_(src + 1))
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
    row = device_figures.compare(torch, HEADS, lambda call: 1.0, place="cpu", copy=copied)
    assert "goal missed" not in device_figures.line(row)
    assert "goal missed" in device_figures.line(row | {"share": 0.89})
    assert "goal missed" in device_figures.line(row | {"against_torch": 0.99})


@pytest.mark.skipif(not device.unavailable(), reason="a copy can be made on a GPU here")
def test_without_a_device_the_part_is_skipped_with_its_reason():
    assert gpu.PARTS["permutations"]()["skipped"] == device.unavailable()


def test_drawn_permutations_are_of_256_mb_and_more():
    for found in drawn(100, 7):
        assert sorted(found.order) == list(range(len(found.memory))) != list(found.order)
        assert 256 << 20 <= 4 * math.prod(found.memory) <= 1 << 30
