"""`save` and `load`, `pickle`, `copy` and `deepcopy`: what stays shared, what is kept, what is refused, as in torch."""

import copy
import io
import pickle
import random

import numpy as np
import pytest
import stridecheck.reference_impl as ref

from .agreement import disagreement
from .test_storage_surface import split
from .twins import random_layout

TABLE = {
    "pickle": """
        pk(x[1:])|pk(x)|pk(g)|pk(nl)|pk(c)|pk(n)|pk(gg)|pk(gg).grad|same(*pk([x,x[1:]]))
        [a is b for a,b in [pk([x,x])]]|pk(e)|pk(x.untyped_storage())|pk(x.storage())|pk(T.zeros(3,dtype=T.uint16))
        pk(T.empty(3,dtype=T.uint4))|pk(T.zeros(3,dtype=T.complex32))|pk(x.view(T.bool))
        pk(T.empty(3,device="meta"))|pk({"a":x,"b":[x[2:]]})|pk(T.empty(0,3))|pk(x[5:5])|pk(g[1:])|pk(T.float32)
        pk(x.shape)|pk(T.zeros(3,dtype=T.bfloat16))|pk(T.zeros(2,dtype=T.float8_e5m2))
        pk(x).untyped_storage().resizable()|pk(T.channels_last)
    """,
    "copy": """
        copy.copy(x[1:])|copy.copy(g)|copy.copy(nl)|copy.copy(g[1:])|copy.copy(c)|copy.copy(n)|copy.copy(gg).grad
        copy.copy(e)|copy.copy(x).data_ptr()==x.data_ptr()|same(copy.copy(x),x)|copy.copy(T.empty(2,device="meta"))
        copy.copy(x) is x|[copy.copy(x).fill_(3),x]|copy.copy(x.untyped_storage()).data_ptr()==x.data_ptr()
        copy.copy(x.storage())
    """,
    "deepcopy": """
        dc(x[1:])|dc(x)|dc(g)|dc(nl)|dc(g[1:])|dc(c)|dc(n)|dc(c[1:])|dc(gg)|dc(gg).grad|dc(e)|same(*dc([x,x[1:]]))
        [a is b for a,b in [dc([x,x])]]|dc(x[::2])|dc(T.empty(3,device="meta"))|dc(T.empty(3,device="meta")[1:])
        dc(T.empty(2,dtype=T.uint4)).dtype|dc(x.untyped_storage())
        [a is b.untyped_storage() for a,b in [dc([x.untyped_storage(),x])]]|dc(x.storage())
        [a.untyped() is b.untyped_storage() for a,b in [dc([x.storage(),x])]]|dc(x).untyped_storage().resizable()
        dc({"a":x,"b":(x[2:],1)})|dc(c.resolve_conj()[1:])|dc(T.empty(0,3))
        dc(T.from_numpy(np.arange(3.))).untyped_storage().resizable()|dc(x.share_memory_()).is_shared()
        dc(x.view(T.uint16))|dc(c.conj())
    """,
    "save": """
        rt(x[1:])|rt(x)|rt(nl)|rt(g)|rt(g[1:])|rt(c)|rt(n)|rt(gg)|rt(gg).grad|rt(e)|same(*rt([x,x[1:]]))
        [a is b for a,b in [rt([x,x])]]
        [a.untyped_storage() is b.untyped() for a,b in [rt([x.view(T.uint8),x.untyped_storage()])]]
        rt(x.untyped_storage())|rt([x,x.untyped_storage()])|rt(x.untyped_storage()).nbytes()|rt(x.storage())
        rt([x,x.storage()])|[a.untyped_storage() is b.untyped() for a,b in [rt([x,x.storage()])]]
        rt([x,x.view(T.int32)])|rt([x,x.view(T.uint16)])|rt([x.view(T.uint16),x.view(T.float8_e5m2)])
        rt([x.view(T.uint8),x.view(T.uint16)])|rt([T.empty(0),T.empty(0,dtype=T.int8)])|rt(T.empty(3,device="meta"))
        rt(x,map_location="meta")|rt(x,map_location="cpu")|rt(x,map_location="cuda")|rt(T.empty(3,dtype=T.uint4))
        rt(T.float32)|rt(x.shape)|rt({"a":(1,2.5,None,True,"s",b"b",1+2j,[x])})|rt(T.device("cpu"))
        T.load(io.BytesIO(b""))|T.load("/nonexist")|T.load(3)|T.save(x,3)|T.save(x,"/nonexist/a")|T.load("/")
        rt(x,mmap=True)|rt(x.share_memory_()).is_shared()|rt(x).untyped_storage().resizable()
        rt(x[2:4]).untyped_storage().nbytes()|rt(x[2:4].clone()).untyped_storage().nbytes()|rt(cl)
        rt(T.zeros(2,dtype=T.bfloat16))|rt(T.zeros(2,dtype=T.float8_e8m0fnu))|rt(T.zeros(2,dtype=T.complex32))
        rt([x.untyped_storage(),x.untyped_storage()])[0].nbytes()|rt({1,2})|rt(10**30)|rt(float("inf"))
        rt([[],{},()])|rt(T.BoolStorage([True]))|rt(x[0])|rt(T.empty(0,3))|rt(TS([1,2],dtype=T.uint16))|T.save()
        same(*rt([x,x[1:]],map_location="meta"))|rt(x[1:],map_location="meta").storage_offset()
        [a is b for a,b in [rt([x,x],map_location="meta")]]|[a is b for a,b in [rt([x.storage(),x.storage()])]]
        [a is b for a,b in [rt([x.storage(),x.storage()],map_location="meta")]]
        [a is b for a,b in [rt([T.empty(0).storage(),T.empty(0).storage()])]]
        (lambda s:[a is b for a,b in [rt([s,s])]])(T.empty(0).untyped_storage())
        (lambda e:same(*rt([e,e[:]])))(T.empty(0))|same(*rt([x[6:],x[6:]]))
        [rt(x,map_location=T.device("cpu"))]|rt(T.zeros(2,dtype=T.uint8).view(T.bits8)).dtype
        (rt(x),x.untyped_storage().resizable())[1]|rt(T.tensor([True,False]))|rt(x,weights_only=True)|rt([x,g,nl])
    """,
    "meta": """
        W(copy.copy(v)) for v|W(pk(v)) for v|W(rt(v)) for v|W(dc(v)) for v|W(rt(v,map_location="meta")) for v
    """,
    "newer": """
        rt(T.zeros(2,dtype=T.complex32).requires_grad_())|rt(T.zeros(2).requires_grad_().to(T.float8_e5m2))
        rt(T.empty(0,dtype=T.complex32).requires_grad_())|pk(m.untyped_storage())|pk(m.storage())|rt(m.storage())
        copy.copy(T.zeros(2,dtype=T.complex32).requires_grad_())|copy.copy(m.untyped_storage()).nbytes()
        rt(m.untyped_storage())|same(*rt([m,m[1:]]))|same(*dc([m,m[1:]]))|dc(T.ones(2,dtype=T.complex32).conj())
        [a is b for a,b in [rt([m,m])]]|W(dc(m).detach())
        rt(T.quantize_per_tensor(x,1.,0,T.qint8),map_location="meta")
    """,
    "shrunk": """
        W(copy.copy(cut(x,8)))|W(copy.copy(cut(x,0)))|[copy.copy(cut(x,8)),x.untyped_storage().nbytes()][1]
        W(dc(cut(x,8)))|W(dc(cut(x,0)))|W(pk(cut(x,8)))|W(pk(cut(x,0)))|rt(cut(x,8))|rt(cut(x,0))|dc(cut(x,8))[:2].tolist()
        W(copy.copy(cut(x[5],8)))|W(dc(cut(x[5],8)))|W(dc(cut(x[5],0)))|W(pk(cut(x[5],8)))|W(copy.copy(cut(g,4)))
        [W(t) for t in dc([cut(x[3:],4),x])]|[W(t) for t in pk([cut(x[3:],4),x])]|W(dc(cut(c,4)))|W(copy.copy(cut(c,4)))
        [W(t) for t in dc([x[3:],cut(x,0)])]|W(copy.copy(cut(m,4)))|W(dc(cut(m,4)))|W(pk(cut(m,4)))|cut(x,24).numpy()
        copy.copy(cut(q,1))|dc(cut(q,1))|pk(cut(q,1))|copy.copy(cut(q,6)).shape|copy.copy(cut(q4,1))
    """,
}
META = (
    "m[2:5]", "m.view(2,5).t()", "m[:1].expand(3)", "m[::3]", "m.as_strided((2,2),(1,1),1)", "m[10:]", "m.detach()",
    'T.empty(3,dtype=T.complex64,device="meta").conj()', "m._neg_view()", 'T.empty(0,3,device="meta")',
    'T.empty(3,dtype=T.float8_e5m2,device="meta").requires_grad_()', 'T.empty(3,dtype=T.uint4,device="meta")',
    'T.empty(3,dtype=T.complex32,device="meta")', 'T.empty(3,device="meta").requires_grad_()[1:]',
)  # fmt: skip
TABLE["meta"] = "|".join(
    e.strip().removesuffix(" for v").replace("(v", f"({m}") for e in TABLE["meta"].split("|") for m in META
)


def shown(t):
    """All but the storage's length that a meta tensor says of itself."""
    layout = tuple(t.shape), t.stride(), t.storage_offset()
    return str(t.dtype), *layout, t._version, t.requires_grad, t.is_leaf, t.is_conj(), t.is_neg(), t._is_view()


def make(lib):
    def rt(o, **kwargs):
        f = io.BytesIO()
        lib.save(o, f)
        f.seek(0)
        return lib.load(f, **kwargs)

    x = lib.arange(6.0)
    g = lib.arange(6.0)
    g.requires_grad_()
    gg = lib.ones(2)
    gg.requires_grad_()
    gg.grad = lib.ones(2)
    c = lib.tensor([1 + 2j, 3 - 1j]).conj()

    def cut(t, nbytes):
        t.untyped_storage().resize_(nbytes)
        return t

    return {
        "cut": cut, "q": lib.quantize_per_tensor(lib.arange(6.0), 1.0, 0, lib.quint8),
        "q4": lib.quantize_per_tensor(lib.arange(6.0), 1.0, 0, lib.quint4x2),
        "W": lambda t: (*shown(t), t.untyped_storage().nbytes()), "m": lib.empty(10, device="meta"),
        "x": x, "g": g, "nl": g * 2, "gg": gg, "c": c, "n": c.imag, "e": lib.ones(1).expand(3), "rt": rt, "copy": copy,
        "dc": copy.deepcopy, "pk": lambda o: pickle.loads(pickle.dumps(o)), "io": io,
        "same": lambda a, b: a.untyped_storage() is b.untyped_storage(),
        "cl": lib.arange(24.0).reshape(1, 2, 3, 4).contiguous(memory_format=lib.channels_last),
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", TABLE)
def test_copies_agree_with_torch(part):
    expressions = split(TABLE[part])
    found = [d for e in expressions if (d := disagreement(e, make))]
    assert not found, f"{len(found)} of {len(expressions)}:\n" + "\n".join(found)


def saved(obj):
    f = io.BytesIO()
    ref.save(obj, f)
    return f.getvalue()


def test_each_storage_is_written_once_and_whole():
    x = ref.arange(1000.0)
    one, many = saved(x[:2]), saved([x, x[:2], x[500:], x.storage()])
    assert 4000 <= len(one) < len(many) < 4000 + 1500


def test_random_sharing_survives():
    for n in range(150):
        rng = random.Random(n)
        storage = ref.UntypedStorage([rng.randrange(256) for _ in range(2000)])
        layouts = [random_layout(rng) for _ in range(rng.randint(1, 4))]
        tensors = [ref.empty(0).set_(storage, lo.offset, lo.shape, lo.strides) for lo in layouts]
        loaded = ref.load(io.BytesIO(saved(tensors)))
        assert all(t.untyped_storage() is loaded[0].untyped_storage() for t in loaded)
        assert [tuple(t._layout) for t in loaded] == [tuple(t._layout) for t in tensors]
        assert loaded[0].untyped_storage().tolist() == storage.tolist()


def test_damaged_files_are_refused_whole():
    data = saved({"a": ref.arange(100.0), "b": [ref.arange(50, dtype=ref.int16).reshape(5, 10)[:, 2:]]})
    refused = accepted = tried = 0
    for n in range(1500):
        rng = random.Random(n)
        hurt = bytearray(data)
        kind = rng.randrange(4)
        if kind == 0:
            hurt = hurt[: rng.randrange(1, len(hurt))]
        elif kind == 1:
            at = rng.randrange(len(hurt))
            hurt[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            hurt += bytes(rng.randrange(1, 100))
        else:
            a, b = sorted(rng.randrange(len(hurt)) for _ in range(2))
            del hurt[a : b + 1]
        if bytes(hurt) == data or not hurt:
            continue
        tried += 1
        try:
            found = ref.load(io.BytesIO(bytes(hurt)))
        except Exception as e:
            refused += getattr(e, "kind", None) == "file"
        else:
            # Only padding is not covered by a checksum.
            assert kind == 1
            assert found["a"].tolist() == list(range(100))
            accepted += 1
    assert refused + accepted == tried > 1400
    assert accepted < tried / 10


def test_a_table_that_lies_is_refused():
    import json
    import struct
    import zlib

    from stridecheck.reference_impl.serialization import MAGIC

    def forge(**changes):
        storages = [{"nbytes": 8, "data": [0, 8, zlib.crc32(bytes(8))], "marks": None}]
        table = {"object": {"tensor": 0}, "storages": storages,
                 "tensors": [[0, "float32", [2], [1], 0, False, 0, None]], "length": 64, **changes}  # fmt: skip
        text = json.dumps(table).encode()
        head = struct.pack("<8sQI", MAGIC, len(text), zlib.crc32(text)) + text
        return io.BytesIO(head + bytes(-len(head) % 64) + bytes(64))

    assert ref.load(forge()).tolist() == [0, 0]
    lies = [
        {"tensors": [[0, "float32", [3], [1], 0, False, 0, None]]},
        {"tensors": [[0, "float32", [2], [-1], 0, False, 0, None]]},
        {"tensors": [[0, "float32", [-2], [1], 0, False, 0, None]]},
        {"tensors": [[0, "float32", [2], [1], -1, False, 0, None]]},
        {"tensors": [[0, "nothing", [2], [1], 0, False, 0, None]]},
        {"tensors": [[1, "float32", [2], [1], 0, False, 0, None]]},
        {"tensors": [[0, "float32", [2], [1, 1], 0, False, 0, None]]},
        {"tensors": [[0, "float32", [2], [10**400], 0, False, 0, None]]},
        {"tensors": []},
        {"object": {"exec": "1"}},
        {"object": {"tensor": 0, "untyped": 0}},
        {"object": {"tensor": "a"}},
        {"storages": []},
        {"storages": [{"nbytes": 8, "data": [0, 9, 0], "marks": None}]},
        {"storages": [{"nbytes": 8, "data": [60, 8, 0], "marks": None}]},
        {"length": -1},
    ]
    for lie in lies:
        with pytest.raises(RuntimeError) as caught:
            ref.load(forge(**lie))
        assert caught.value.kind == "file", lie


def test_only_plain_data_is_written():
    loop = []
    loop.append(loop)
    for thing in (object(), np.arange(3), lambda: 1, range(3), loop, type):
        with pytest.raises(TypeError) as caught:
            saved(thing)
        assert caught.value.kind == "argument"


def test_a_mapped_file_stays_as_it_is(tmp_path):
    path = tmp_path / "saved"
    ref.save([ref.arange(6.0), ref.arange(3)], path)
    before = path.read_bytes()
    x, y = ref.load(path, mmap=True)
    x.fill_(9.0)
    assert x.tolist() == [9.0] * 6
    assert y.tolist() == [0, 1, 2]
    assert path.read_bytes() == before
    assert not x.untyped_storage().resizable()
    assert ref.load(str(path))[0].tolist() == list(range(6))


def test_unspecified_bytes_stay_unspecified():
    x = ref.empty(4)
    loaded = ref.load(io.BytesIO(saved(x)))
    assert ref.element_marks(loaded).tolist() == [255] * 4
    assert ref.element_marks(pickle.loads(pickle.dumps(x))).tolist() == [255] * 4


def test_an_array_over_memory_that_was_given_up_is_refused():
    # Torch makes one, of freed memory or past its end.
    for nbytes in (0, 8):
        x = ref.arange(6.0)
        x.untyped_storage().resize_(nbytes)
        for read in (x.numpy, lambda x=x: np.asarray(x)):
            with pytest.raises(RuntimeError) as caught:
                read()
            assert (caught.value.kind, caught.value.fatal) == ("bounds", True)
