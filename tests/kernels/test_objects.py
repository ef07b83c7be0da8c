"""Machine code on disk: found again, made anew where it is damaged or its sources have changed."""

import os
import re
import sys

import pytest
from stridecheck.reference_impl.kernels import machine, objects


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv(objects.VARIABLE, str(tmp_path / "there"))
    objects._place.cache_clear()
    yield tmp_path / "there"
    objects._place.cache_clear()


def test_what_was_kept_is_read_again(place):
    assert objects._read("some", "runs") is None
    assert objects._kept("some", "runs", b"code") == b"code"
    assert objects._read("some", "runs") == b"code"
    assert [path.name for path in place.iterdir()] == [objects._file("some", "runs").name]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps no rights of this kind")
def test_others_can_read_what_was_kept(place):
    before = os.umask(0o022)
    try:
        objects._kept("some", "runs", b"code")
    finally:
        os.umask(before)
    assert objects._file("some", "runs").stat().st_mode & 0o777 == 0o644


def test_machines_that_share_a_folder_leave_each_others_files(place, monkeypatch):
    objects._kept("some", "runs", b"one")
    with monkeypatch.context() as other:
        other.setattr(objects, "_here", lambda: "other")
        objects._kept("some", "runs", b"two")
    assert objects._read("some", "runs") == b"one"


def test_a_write_that_fails_leaves_nothing_behind(place, monkeypatch):
    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    assert objects._kept("some", "runs", b"code") == b"code"
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(
    "damage", [lambda held: held[:-1], lambda held: held[:40], lambda held: b"", lambda held: held[:-1] + b"?"]
)
def test_a_damaged_file_is_as_good_as_none(place, damage):
    objects._kept("some", "runs", b"code of some length")
    path = next(place.iterdir())
    path.write_bytes(damage(path.read_bytes()))
    assert objects._read("some", "runs") is None


@pytest.mark.parametrize("changed", ["llvm.py", "machine.py"])
def test_other_sources_are_other_code(place, tmp_path, monkeypatch, changed):
    """Also where a module is imported as a whole."""
    objects._kept("some", "runs", b"code")
    for path in objects._FOLDER.glob("*.py"):
        (tmp_path / path.name).write_bytes(path.read_bytes() + b"# other" * (path.name == changed))
    monkeypatch.setattr(objects, "_FOLDER", tmp_path)
    objects._sources.cache_clear()
    try:
        assert objects._read("some", "runs") is None
        objects._kept("some", "runs", b"new")
        assert objects._read("some", "runs") == b"new"
        assert len(list(place.iterdir())) == 1
    finally:
        objects._sources.cache_clear()


def test_a_folder_that_cannot_be_written_is_no_harm(place):
    place.write_bytes(b"a file")
    assert objects._kept("some", "runs", b"code") == b"code"
    assert objects._read("some", "runs") is None


def test_a_kernel_calls_nothing_but_what_every_process_has(place):
    code = objects._compiled("other", "items", "copy_items", (4, 32))
    assert b"other" in code
    assert b"NRT" not in code
    assert b"numba_" not in code


@pytest.mark.skipif(
    machine.vector_bytes() < 32, reason="kernels for registers of 32 bytes are not compiled where a processor has none"
)
def test_what_is_kept_on_the_stack_lies_on_one_page():
    """A kernel with too few registers has its stack at a multiple of one: `and rsp, -32`, or `-64`."""
    assert objects.kernel("transpose", 1, 32)
    code = objects._read("stridecheck_copy_transposed_1_32", "transpose")
    assert code is not None
    assert re.search(rb"\x48\x83\xe4[\xe0\xc0]", code)
