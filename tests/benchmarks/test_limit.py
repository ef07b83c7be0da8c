"""Limits: which copies a time is weighed against, and what is enough memory."""

import mmap
import os

import pytest
import torch
from stridecheck.benchmarks import memory
from stridecheck.benchmarks.cases import Case
from stridecheck.benchmarks.clock import Effort, Runner, race
from stridecheck.benchmarks.device import clocks_of, emptier_of, take_of
from stridecheck.benchmarks.limit import HOST, Copies, best_ns, place_of, ratio, traffic_copy_bytes
from stridecheck.conformance.adapters import numpy, reference
from stridecheck.conformance.adapters.torch_device import OnDevice

BRIEF = Effort(block_ns=20_000, warm_ns=200_000, case_ns=500_000, least=3, most=4)


class Device(numpy.Numpy):
    """A library that must be waited for."""

    name = "device"

    def synchronize(self):
        """Nothing to wait for."""


class Another(numpy.Numpy):
    name = "another"


def test_each_library_that_shares_the_hosts_memory_adds_its_copy():
    assert len(Copies([numpy.adapter(), reference.adapter()]).runners(HOST, 1000)) == 2
    assert len(Copies([numpy.adapter(), Another()]).runners(HOST, 1000)) == 3


def test_a_device_is_weighed_against_its_own_copies():
    copies = Copies([numpy.adapter(), Device()])
    assert place_of(numpy.adapter()) == HOST
    assert len(copies.runners(HOST, 1000)) == 2
    assert len(copies.runners(place_of(Device()), 1000)) == 1


def test_every_copy_really_copies_and_the_best_counts():
    runners = Copies([Another()]).runners(HOST, 4096)
    race(runners, BRIEF)
    assert not any(runner.error for runner in runners)
    assert best_ns(runners) == min(runner.median_ns for runner in runners)


def test_without_a_limit_there_is_no_ratio():
    assert best_ns([]) is None
    assert ratio(100.0, None) is None
    assert ratio(100.0, 50.0, 0.0) is None
    assert ratio(100.0, 50.0) == 2.0
    assert ratio(100.0, 50.0, 4.0) == 0.5


@pytest.mark.parametrize(("output", "touched", "copy"), [(100, 200, 100), (100, 400, 100), (100, 10_000, 5_000)])
def test_the_rate_comes_from_a_copy_of_about_the_bytes_touched(output, touched, copy):
    assert traffic_copy_bytes(output, touched) == copy


def test_memory_needed_grows_with_size_and_libraries():
    small, large = (Case("add", "contiguous", "float32", size) for size in ("small", "large"))
    assert memory.needed_bytes(small, 1) < memory.needed_bytes(large, 1) < memory.needed_bytes(large, 3)


def test_what_is_free_is_less_than_what_there_is():
    available = memory.available_bytes()
    assert available is None or 0 < available < 1 << 50


def test_a_containers_limit_counts_without_the_files_it_could_drop(tmp_path):
    assert memory._free_in_group(tmp_path) is None
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("700\n")
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 200\n")
    assert memory._free_in_group(tmp_path) == 500
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._free_in_group(tmp_path) is None


class Module:
    """A device as PyTorch tells of it, without one."""

    def __init__(self):
        self.waited, self.most = 0, 0

    def synchronize(self):
        self.waited += 1

    def memory_allocated(self):
        return 100

    def reset_peak_memory_stats(self):
        self.most = 100

    def max_memory_allocated(self):
        return self.most


def test_a_device_is_waited_for_and_tells_its_own_memory(monkeypatch):
    """Without waiting, the time to start a kernel would be taken for the kernel itself."""
    module = Module()
    monkeypatch.setattr(torch, "get_device_module", lambda device: module)
    adapter = OnDevice("meta", torch.device("meta"))
    assert place_of(adapter) == "torch:meta"
    runner = Runner(lambda: None, take_of(adapter))
    race([runner], BRIEF)
    assert module.waited >= 2 * len(runner.samples_ns)
    assert memory.peak_bytes(adapter, lambda: setattr(module, "most", 140)) == 40
    monkeypatch.setattr(torch, "get_device_module", lambda device: object())
    assert memory.peak_bytes(adapter, lambda: None) is None


class Event:
    """A device's event; between one and the next lie 2 ms of the device's time."""

    elapsed = 2.0

    def __init__(self, *, enable_timing):
        assert enable_timing

    def record(self):
        """It is noted at once."""

    def synchronize(self):
        """There is nothing to wait for."""

    def elapsed_time(self, end):
        return self.elapsed


def test_a_device_with_events_is_timed_by_them(monkeypatch):
    """What the host needs to say what is to be done is not part of the time."""
    module = Module()
    module.Event = Event
    monkeypatch.setattr(torch, "get_device_module", lambda device: module)
    adapter = OnDevice("meta", torch.device("meta"))
    called = []
    assert take_of(adapter)(lambda: called.append(1), 5) == 2_000_000
    assert len(called) == 5


def test_a_device_empties_its_own_caches():
    """Filling the host's memory leaves a device's caches as they are: where nobody can empty them they are warm."""
    adapter = OnDevice("meta", torch.device("meta"))
    assert emptier_of(adapter) == adapter.empty_caches
    emptier_of(adapter)()
    assert emptier_of(Device()) is None
    assert emptier_of(numpy.adapter()) is memory.empty_caches
    assert emptier_of(None) is memory.empty_caches


def test_a_devices_clocks_are_noted(tmp_path, monkeypatch):
    """They are asked of the driver's own program; without one, and of the host, nothing is noted."""
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 1755, 2619, 1980\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert clocks_of(Device()) == "cores 1755 of at most 1980 MHz, memory 2619 MHz"
    assert clocks_of(numpy.adapter()) == ""
    program.write_text("#!/bin/sh\nexit 9\n")
    assert clocks_of(Device()) == ""


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="the system keeps no peak to be reset")
def test_a_library_without_counters_is_told_by_what_the_process_grows_by():
    """Memory of a library's own, which neither its adapter nor Python's allocator tells of."""

    def mapped(nbytes):
        found = mmap.mmap(-1, nbytes)
        for place in range(0, nbytes, 4096):
            found[place] = 1
        return found

    class Silent:
        name = "silent"

    peak = memory.peak_bytes(Silent(), lambda: mapped(8_000_000))
    assert peak == pytest.approx(8_000_000, rel=0.1)
    assert memory.peak_bytes(Silent(), lambda: None) is None
    assert memory.peak_bytes(Device(), lambda: mapped(8_000_000)) is None
