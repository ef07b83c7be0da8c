"""Memory that two real processes see: written on either side, seen on the other, freed with the last of them.

What arrives there is compared with what arrives in a process that torch has sent the same to.
"""

import gc
import os
import subprocess
import sys
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import numpy as np
import pytest
import stridecheck.reference_impl as ref
import stridecheck.reference_impl.multiprocessing as mp
import torch

from .agreement import exception_type
from .test_storage_surface import split

sys.path.insert(0, str(Path(__file__).parent))
from child_processes import Other, facts, fail, mapped, own_place

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


@pytest.fixture(scope="module")
def torch_other(path):
    process = Other("torch")
    yield process
    process.stop()


def test_writes_are_seen_on_both_sides(other):
    x = ref.arange(6.0)
    view = x[2:]
    assert not x.is_shared()
    other("keep", "x", view)
    assert x.is_shared()
    assert view.is_shared()
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


SENT = """
    T.arange(6.0)[1:]|T.arange(24).reshape(2,3,4).permute(2,0,1)|T.ones(1).expand(3)|T.empty(0,3)|T.tensor(3.5)
    T.tensor([1+2j,3j]).conj()|T.tensor([1+2j,3j]).conj().imag|T.tensor([1+2j,3j]).conj()[1:]|T.arange(3.0)._neg_view()
    T.arange(6.0).requires_grad_()|T.ones(2).requires_grad_()*2|T.ones(2).requires_grad_()[1:]|T.arange(3.0)[3:]
    T.arange(3.0)[1:].detach()|T.zeros(3,dtype=T.bfloat16)|T.zeros(3,dtype=T.bool)|T.zeros(3,dtype=T.uint16)
    T.zeros(3,dtype=T.complex32)|T.zeros(3,dtype=T.float8_e5m2)|T.frombuffer(bytearray(8),dtype=T.int16)
    T.from_numpy(np.arange(3))|T.arange(3).share_memory_()|T.empty(0).share_memory_()|shrunk(0)[:0]|shrunk(8)
    T.empty(9,device="meta")[2:5]|T.empty(3,dtype=T.complex64,device="meta").conj()
    T.empty(3,device="meta").requires_grad_()|T.empty(3,dtype=T.quint8,device="meta")|T.UntypedStorage(3,device="meta")
    T.UntypedStorage(0,device="meta")|T.TypedStorage(3,device="meta")|T.UntypedStorage([1,2])|T.UntypedStorage(0)
    T.FloatStorage([1.5])|T.FloatStorage()|T.UntypedStorage([1,2,3])[1:]
    T.from_file(p,True,4)|T.from_file(p,False,4)|T.from_file(p,True,0)|T.from_file(p,False,0)
    T.from_file(p,True,4).share_memory_()|T.UntypedStorage.from_file(p,True,4)|T.UntypedStorage.from_file(p,False,4)[1:]
    T.FloatStorage.from_file(p,True,2)
    T.quantize_per_tensor(T.arange(6.0),0.5,2,T.quint8)[1:]|T.quantize_per_tensor(T.arange(6.0),0.5,2,T.quint4x2)
    T.quantize_per_channel(T.ones(2,2),T.ones(2),T.zeros(2,dtype=T.int64),0,T.qint8)
"""


def shrunk(lib, nbytes):
    """A tensor of 24 bytes over a storage that has fewer."""
    x = lib.arange(6.0)
    x.untyped_storage().resize_(nbytes)
    return x


def sent(lib, source, there, path):
    """What a process sees of what it is sent, and what the sender then has; or the type of the error."""
    thing = eval(source, {"T": lib, "np": np, "p": str(path), "shrunk": lambda nbytes: shrunk(lib, nbytes)})
    try:
        if answer := there("keep", "sent", thing):
            return answer[1], lib is torch or answer[2] is not None
    except Exception as e:
        return exception_type(e), lib is torch or hasattr(e, "kind")
    return there("facts", "sent"), facts(thing)[-4:-1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("source", split(SENT))
def test_what_arrives_is_what_torch_receives(other, torch_other, tmp_path, source):
    path = tmp_path / "file"
    path.write_bytes(bytes(range(32)))
    assert sent(ref, source, other, path) == sent(torch, source, torch_other, path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "question",
    split("""
        t.qscheme()|t.q_scale()|t.q_per_channel_axis()|t.dequantize()|t.int_repr().tolist()|t.clone()|t.is_quantized
        repr(t)|t.fill_(1.0)|t.is_contiguous()|t.view(2,3).stride()|t.untyped_storage().tolist()|t[1:].qscheme()
        __import__("copy").copy(t)|__import__("pickle").loads(__import__("pickle").dumps(t))|t.resize_(2)
    """),
)
def test_quantized_tensors_lose_their_quantizer(other, torch_other, question):
    answers = []
    for lib, there in ((torch, torch_other), (ref, other)):
        there("keep", "q", lib.quantize_per_tensor(lib.arange(6.0), 0.5, 2, lib.quint8))
        answer = there("ask", "q", question)
        answers.append(answer[:2] if answer[0] == "error" else answer)
    assert answers[0] == answers[1]


def test_an_empty_storage_grows_on_arrival(other, torch_other):
    found = []
    for lib, there in ((torch, torch_other), (ref, other)):
        there("keep", "short", shrunk(lib, 0))
        found.append(there("facts", "short")[:-1])
    assert found[0] == found[1]


def test_a_storage_does_not_grow_where_torch_dies():
    x = shrunk(ref, 8)
    with pytest.raises(RuntimeError) as caught:
        # In the same process it is the same storage, which torch takes for resizable.
        ForkingPickler.loads(ForkingPickler.dumps(x))
    assert caught.value.kind == "resize"
    assert caught.value.fatal


@pytest.mark.parametrize("source", ["T.from_file(p, True, 4)", "T.empty(0)", "T.arange(3.0)"])
def test_file_system_sharing_copies_whatever_is_sent(tmp_path, source):
    path = tmp_path / "file"
    path.write_bytes(bytes(range(32)))
    found = []
    for lib in (torch, ref):
        lib.multiprocessing.set_sharing_strategy("file_system")
        try:
            t = eval(source, {"T": lib, "p": str(path)})
            found.append((facts(ForkingPickler.loads(ForkingPickler.dumps(t))), facts(t)))
            assert t.untyped_storage().filename != str(path)
        finally:
            lib.multiprocessing.set_sharing_strategy("file_descriptor")
    assert found[0] == found[1]


def test_storages_travel(other):
    u = ref.UntypedStorage([1, 2, 3])
    other("keep", "u", u)
    u.fill_(9)
    assert other("read", "u") == [9, 9, 9]
    assert other("give", "u") is u


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
    assert back.int_repr().tolist() == [10] * 5


def test_shared_memory_is_not_resized(other):
    x = ref.arange(4.0)
    other("keep", "r", x)
    assert other("resize", "r", 100)[:3] == ("error", "RuntimeError", "resize")
    assert other("new", "r")[:3] == ("error", "RuntimeError", "resize")
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
    # Folders there are those of programs with files.
    assert not [n for n in os.listdir("/dev/shm") if "stridecheck" in n and not os.path.isdir(f"/dev/shm/{n}")]


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


PLAIN = """
import multiprocessing
import os
import {library} as torch

def change(*things):
    for thing in things:
        thing[0] = 9

if __name__ == "__main__":
    x = torch.zeros(2)
    things = x, torch.UntypedStorage([1, 2]), torch.ByteStorage([1, 2])
    process = multiprocessing.get_context("spawn").Process(target=change, args=things)
    process.start()
    process.join()
    print(process.exitcode, x.is_shared(), *(thing[0].item() if thing is x else thing[0] for thing in things))
"""


@pytest.mark.parametrize("library", ["torch", "stridecheck.reference_impl"])
def test_python_s_own_module_sends_memory_too(tmp_path, library):
    # What travels is registered by importing the library, whichever module starts the process.
    script = tmp_path / "plain.py"
    script.write_text(PLAIN.format(library=library))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout == "0 True 9.0 9 9\n"


@pytest.mark.parametrize("lib", [torch, ref])
def test_processes_that_are_spawned_together(path, lib):
    mp, x = lib.multiprocessing, lib.zeros(3)
    assert mp.spawn(own_place, args=(x,), nprocs=1) is None
    assert x.tolist() == [1, 0, 0]
    context = mp.spawn(own_place, args=(x, 5), nprocs=2, join=False)
    assert len(set(context.pids())) == 2
    while not context.join():
        pass
    assert context.join()
    assert x.tolist() == [5, 6, 0]


def test_one_failing_process_ends_all(path):
    mp = ref.multiprocessing
    with pytest.raises(mp.ProcessRaisedException, match="Process 1 terminated") as raised:
        mp.spawn(fail, args=("raise",), nprocs=2)
    assert raised.value.error_index == 1
    assert str(raised.value).endswith("ValueError: enough\n")
    with pytest.raises(mp.ProcessExitedException, match="process 1 terminated with exit code 7") as left:
        mp.start_processes(fail, args=("exit",), nprocs=2)
    assert (left.value.exit_code, left.value.signal_name) == (7, None)
    with pytest.raises(mp.ProcessExitedException, match="process 1 terminated with signal SIGKILL") as killed:
        mp.start_processes(fail, args=("kill",), nprocs=2)
    assert (killed.value.exit_code, killed.value.signal_name) == (-9, "SIGKILL")
    with pytest.warns(FutureWarning):
        mp.spawn(fail, args=("",), nprocs=0, start_method="fork")
