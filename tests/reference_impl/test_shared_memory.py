"""Memory that two real processes see: written on either side, seen on the other, freed with the last of them."""

import gc
import os
import sys
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pytest
import stridecheck.reference_impl as ref
import stridecheck.reference_impl.multiprocessing as mp

sys.path.insert(0, str(Path(__file__).parent))
from child_processes import Other, facts, mapped

sys.path.pop(0)


@pytest.fixture(scope="module")
def path():
    # Spawned interpreters take over the path.
    sys.path.insert(0, str(Path(__file__).parent))
    yield
    sys.path.remove(str(Path(__file__).parent))


@pytest.fixture(scope="module")
def other(path):
    process = Other()
    yield process
    process.stop()


def test_writes_are_seen_on_both_sides(other):
    x = ref.arange(6.0)
    view = x[2:]
    assert not x.is_shared()
    other("keep", "x", view)
    assert x.is_shared()
    assert view.is_shared()
    assert other("facts", "x") == facts(view)
    other("write", "x", 0, 50.0)
    assert x.tolist() == [0, 1, 50, 3, 4, 5]
    x[5] = 7.0
    assert other("read", "x") == [50, 3, 4, 7]


def test_tensors_of_one_storage_arrive_over_one_storage(other):
    x = ref.arange(12).reshape(3, 4)
    other("keep", "a", x)
    other("keep", "b", x.T[1:])
    assert other("same", "a", "b")
    assert other("give", "a").untyped_storage() is x.untyped_storage()
    assert other("give", "b").stride() == (1, 4)


@pytest.mark.parametrize(
    "source",
    [
        "ref.arange(6.0)[1:]",
        "ref.arange(24).reshape(2, 3, 4).permute(2, 0, 1)",
        "ref.ones(1).expand(3)",
        "ref.empty(0, 3)",
        "ref.tensor(3.5)",
        "ref.tensor([1 + 2j, 3j]).conj()",
        "ref.tensor([1 + 2j, 3j]).conj().imag",
        "ref.arange(6.0).requires_grad_()",
        "ref.zeros(3, dtype=ref.bfloat16)",
        "ref.zeros(3, dtype=ref.bool)",
        "ref.frombuffer(bytearray(8), dtype=ref.int16)",
    ],
)
def test_layout_flags_and_length_travel(other, source):
    t = eval(source)
    other("keep", "t", t)
    assert other("facts", "t") == facts(t)


def test_storages_travel(other):
    u = ref.UntypedStorage([1, 2, 3])
    other("keep", "u", u)
    u.fill_(9)
    assert other("read", "u") == [9, 9, 9]
    assert other("give", "u") is u
    other("keep", "m", ref.UntypedStorage(5, device="meta"))
    assert other("give", "m").device == ref.device("meta")
    assert other("give", "m").nbytes() == 5


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_typed_storages_travel(other):
    s = ref.FloatStorage([1.5, 2.5])
    other("keep", "s", s)
    s[0] = 7.0
    assert other("read", "s") == [7.0, 2.5]


@pytest.mark.filterwarnings("ignore:quantised dtypes are deprecated")
def test_quantized_tensors_travel(other):
    q = ref.quantize_per_tensor(ref.arange(6.0), 0.5, 2, ref.quint8)
    other("keep", "q", q[1:])
    q.fill_(4.0)
    back = other("give", "q")
    assert back.untyped_storage() is q.untyped_storage()
    assert back.T.dequantize().tolist() == [4.0] * 5
    assert back.q_scale() == 0.5


def test_shared_memory_is_not_resized(other):
    x = ref.arange(4.0)
    other("keep", "r", x)
    assert other("resize", "r", 100)[:3] == ("error", "LayoutError", "resize")
    assert other("new", "r")[:3] == ("error", "LayoutError", "resize")
    with pytest.raises(RuntimeError, match="shared") as caught:
        x.untyped_storage().resize_(1)
    assert caught.value.kind == "resize"
    assert x.untyped_storage().nbytes() == 16


def test_history_does_not_travel(other):
    x = (ref.ones(2).requires_grad_()) * 2
    with pytest.raises(RuntimeError) as caught:
        other("keep", "n", x)
    assert caught.value.kind == "grad"


def test_a_hundred_round_trips(other):
    x = ref.zeros(8, dtype=ref.int64)
    other("keep", "count", x)
    for n in range(100):
        other("write", "count", n % 8, n)
        assert x[n % 8].item() == n
        x[(n + 1) % 8] = -n
        assert other("read", "count")[(n + 1) % 8] == -n
        assert other("give", "count").untyped_storage() is x.untyped_storage()


def test_memory_is_freed_with_the_last_reference(other):
    gc.collect()
    before, there = mapped(), other("maps")
    x = ref.zeros(1 << 20, dtype=ref.uint8)
    other("keep", "big", x)
    assert mapped() == before + (1 << 20)
    assert other("maps") == there + (1 << 20)
    del x
    gc.collect()
    assert mapped() == before
    assert other("read", "big")[:3] == [0, 0, 0]
    other("drop", "big")
    assert other("maps") == there
    assert not [n for n in os.listdir("/dev/shm") if "stridecheck" in n]


def test_memory_outlives_its_owner(path):
    first, second = Other(), Other()
    try:
        x = first("make", "x", 5)
        second("keep", "x", x)
        first.kill()
        assert x.tolist() == [0, 1, 2, 3, 4]
        second("write", "x", 0, 9)
        assert x[0].item() == 9
        before = mapped()
        assert before > 0
        del x
        gc.collect()
        assert mapped() < before
        assert second("read", "x") == [9, 1, 2, 3, 4]
    finally:
        second.stop()


def test_mapped_files_are_shared_or_not(other, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(bytes(range(8)))
    here = ref.from_file(str(path), True, 8, dtype=ref.uint8)
    other("map", "shared", str(path), True, 8)
    other("map", "private", str(path), False, 8)
    other("fill", "private", 1)
    assert here.tolist() == list(range(8))
    other("fill", "shared", 5)
    assert here.tolist() == [5] * 8
    assert path.read_bytes() == bytes([5] * 8)
    assert other("read", "private") == [1] * 8
    other("keep", "sent", here)
    here[0] = 77
    assert other("read", "sent")[0] == 77
    assert path.exists()


def test_the_same_process_gets_the_same_storage():
    x = ref.arange(6.0)
    again = ForkingPickler.loads(ForkingPickler.dumps([x[1:], x]))
    assert again[0].untyped_storage() is again[1].untyped_storage() is x.untyped_storage()
    assert x.is_shared()
    assert again[0].storage_offset() == 1


def test_strategies():
    assert mp.get_all_sharing_strategies() == {"file_descriptor", "file_system"}
    assert mp.get_sharing_strategy() == "file_descriptor"
    mp.set_sharing_strategy("file_system")
    try:
        assert ref.arange(3).share_memory_().untyped_storage().filename is None
    finally:
        mp.set_sharing_strategy("file_descriptor")
    with pytest.raises(AssertionError) as caught:
        mp.set_sharing_strategy("xyz")
    assert caught.value.kind == "argument"


def test_sharing_leaves_arrays_and_parts_where_they_were():
    x = ref.arange(4.0)
    array, part = x.numpy(), x.untyped_storage()[4:8]
    x.share_memory_().fill_(9.0)
    assert array.tolist() == [0, 1, 2, 3]
    assert part.tolist() == [0, 0, 128, 63]
    assert x.tolist() == [9.0] * 4
