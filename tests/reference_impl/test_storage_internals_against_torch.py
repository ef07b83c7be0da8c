"""Names of storages that begin with an underscore, as torch's own modules call them."""

import gc
import io
import os
import struct

import pytest
import stridecheck.reference_impl as ref
import torch

from .agreement import disagreement, exception_type
from .test_storage_surface import split

EXPRESSIONS = split("""
    type(U(4)._weak_ref())|U._free_weak_ref(U(4)._weak_ref())|U._expired(s._weak_ref())|U._expired(0)|U._expired("a")
    U._free_weak_ref("a")|U._new_with_weak_ptr("a")|U._new_with_weak_ptr(None)|U._new_with_weak_ptr(s._weak_ref()) is s
    s._fix_weakref()|s._shared_incref()|s._shared_decref() is s|s._get_filename()|s._get_shared_fd()
    type(U(4).share_memory_()._get_shared_fd())|U(4).share_memory_()._get_filename()
    U._new_shared(4)|U._new_shared(4).is_shared()|U._new_shared(4).resizable()|U._new_shared(0).is_shared()
    U._new_shared("a")|U._new_shared(4, device="cpu").is_shared()|U._new_shared(4, device="cuda")
    U._new_shared(4, device="meta")|U._new_using_fd_cpu(4)|U._new_using_fd_cpu(4).is_shared()|U._new_using_fd_cpu(1.5)
    U._new_using_filename_cpu(4)|U._new_using_filename_cpu(4).filename|U._new_using_filename_cpu(4).is_shared()
    [type(x) for x in s._share_fd_cpu_()]|s._share_fd_cpu_()[1]|U(0)._share_fd_cpu_()[1]|U._new_shared_fd_cpu(9999, 3)
    U._new_shared_fd_cpu("a", 3)|U._new_shared_fd_cpu()|[type(x) for x in s._share_filename_cpu_()]
    s._share_filename_cpu_()[2]|U._new_shared_filename_cpu(b"", b"/nowhere", 3)|U._new_shared_filename_cpu("", "/n", 3)
    s._share_cuda_()|U._new_shared_cuda()|U._release_ipc_counter()|U._release_ipc_counter_cuda()
    s._checkpoint_offset|s._fake_device|s._byteswap(0, 2)|s._byteswap()|s._byteswap(T.float32)|U(5)._byteswap(2)
    s._byteswap(0)|s._byteswap(3)|s._byteswap(16)|s._byteswap("a")|(s._byteswap(1), s)|(s._byteswap(2), s)
    (s._byteswap(4), s)|(s._byteswap(8), s)|s._to(T.int32)|s._write_file("a", True, True, 1)
    s._set_from_file("a", 0, True, 1)|U._new_with_file("a", 1)
    t._data_ptr() == t.data_ptr()|t._dtype|t._element_size()|t._fake_device|t._getitem(1)|t._getitem(-1)|t._getitem(5)
    t._getitem(slice(0, 1))|(t._setitem(1, 5), t)|t._is_shared()|t._maybe_wrap_index(-1)|t._maybe_wrap_index(3)
    t._maybe_wrap_index(None)|t._maybe_wrap_index(None, is_stop=True)|t._maybe_wrap_index(3, True)
    t._maybe_wrap_index(9, True)|t._maybe_wrap_index(1.5)|t._nbytes()|t._size()|t._pickle_storage_type()
    (t._resize_(2), t)|t._share_memory_().is_shared()|t._deepcopy({})|t._get_legacy_storage_class().__name__
    TS(2, dtype=T.uint16)._get_legacy_storage_class()|TS(2, dtype=T.uint16)._pickle_storage_type()
    t._new_wrapped_storage(s)|t._new_wrapped_storage(3)|F._from_buffer(b"abcd", byte_order="little", dtype=T.float32)
    F._new_shared(3)|F._new_shared(3).is_shared()|t._new_shared(3)|t._shared_incref()
    t._shared_decref() is t|t._share_cuda_()|[type(x) for x in t._share_fd_cpu_()]|t._share_fd_cpu_()[1]
    t._share_filename_cpu_()[2]|F._expired(t._weak_ref())|F._free_weak_ref(t._weak_ref())|t._release_ipc_counter()
""")
OUT_OF_REACH = {
    "_set_cdata", "_resize_with_addr_", "_swap_data_ptr_", "__delitem__",  # addresses, and an end of the process
    "_new_shared_filename",  # broken in torch: it calls what is not there
}  # fmt: skip


def names(lib):
    typed = lib.TypedStorage([1.0, 2.0, 3.0], dtype=lib.float32)
    return {"s": lib.UntypedStorage([1, 2, 3, 4, 5, 6, 7, 8]), "t": typed}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_answers_as_torch_does(expression):
    assert disagreement(expression, names) is None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["UntypedStorage", "TypedStorage", "FloatStorage"])
def test_no_name_is_missing(kind):
    theirs, ours = (getattr(lib, kind) for lib in (torch, ref))
    assert {*dir(theirs), *dir(theirs(2))} - {*dir(ours), *dir(ours(2))} <= OUT_OF_REACH


@pytest.mark.parametrize("lib", [torch, ref], ids=["torch", "reference"])
def test_a_weak_number_keeps_nothing_alive(lib):
    storage = lib.UntypedStorage(2)
    number = storage._weak_ref()
    again = lib.UntypedStorage._new_with_weak_ptr(number)
    assert again._cdata == storage._cdata
    del storage, again
    gc.collect()
    assert lib.UntypedStorage._expired(number)
    assert lib.UntypedStorage._new_with_weak_ptr(number) is None
    lib.UntypedStorage._free_weak_ref(number)


@pytest.mark.parametrize("how", ["fd", "filename"])
@pytest.mark.parametrize("lib", [torch, ref], ids=["torch", "reference"])
def test_a_second_storage_sees_the_same_memory(lib, how):
    storage = lib.UntypedStorage([1, 2, 3])
    told = getattr(storage, f"_share_{how}_cpu_")()
    other = getattr(lib.UntypedStorage, f"_new_shared_{how}_cpu")(*told)
    other[0] = 9
    assert storage.tolist() == [9, 2, 3]
    assert other._cdata != storage._cdata
    assert other.is_shared()
    assert storage.is_shared()
    assert not other.resizable()
    del storage
    assert other.tolist() == [9, 2, 3]


def written(lib, folder, *how):
    with open(folder / "f", "w+b") as file:
        lib.UntypedStorage([1, 2, 3, 4])._write_file(file, *how)
        file.flush()
        file.seek(0)
        return file.read()


@pytest.mark.parametrize(
    "how", [(True, True, 1), (True, True, 4), (True, True, 3), (True, False, 4), (False, True, 2), (False, False, 1)]
)
def test_files_hold_what_torchs_hold(how, tmp_path):
    assert written(ref, tmp_path, *how) == written(torch, tmp_path, *how)


def read(lib, folder, data, *, into=None, offset=None, width=1, real=True):
    (folder / "g").write_bytes(data)
    with open(folder / "g", "r+b") as file:
        file.seek(2 if offset is None and into else 0)
        try:
            if into is None:
                found = lib.UntypedStorage._new_with_file(file, width)
            else:
                found = lib.UntypedStorage(into)._set_from_file(file, offset, real, width)
        except Exception as e:
            return exception_type(e)
        return found.tolist(), found.resizable(), os.lseek(file.fileno(), 0, os.SEEK_CUR)


@pytest.mark.parametrize(
    ("data", "how"),
    [
        (struct.pack("<q", 3) + b"abcd", {}), (struct.pack("<q", 2) + b"abcd", {"width": 2}),
        (struct.pack("<q", 9) + b"abcd", {}), (b"", {}), (struct.pack("<q", -1), {}),
        (struct.pack("<q", 3) + b"abcd", {"into": 3, "offset": 0}),
        (b"xx" + struct.pack("<q", 3) + b"abcd", {"into": 3, "offset": 2}),
        (b"xx" + struct.pack("<q", 3) + b"abcd", {"into": 3}),
        (struct.pack("<q", 3) + b"abcd", {"into": 2, "offset": 0}),
        (struct.pack("<q", 3) + b"a", {"into": 3, "offset": 0}),
        (b"xx" + struct.pack("<q", 3) + b"abc", {"into": 3, "real": False}),
    ],
)  # fmt: skip
def test_files_are_read_as_torch_reads_them(data, how, tmp_path):
    assert read(ref, tmp_path, data, **how) == read(torch, tmp_path, data, **how)


def test_what_is_no_file_is_refused():
    for lib in (torch, ref):
        with pytest.raises(RuntimeError):
            lib.UntypedStorage._new_with_file(io.BytesIO(struct.pack("<q", 1) + b"a"), 1)
