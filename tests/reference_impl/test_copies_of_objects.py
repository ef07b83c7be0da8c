"""`save` and `load`, `pickle`, `copy` and `deepcopy`: what stays shared, what is kept, what is refused, as in torch."""

import collections
import copy
import io
import pickle
import random

import numpy as np
import pytest
import stridecheck.reference_impl as ref
from stridecheck.reference_impl import errors

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
    "containers": """
        rt(collections.OrderedDict(a=x,b=1))["a"]|type(rt(collections.OrderedDict(a=1))).__name__
        rt(collections.Counter("aab")).most_common()|rt(noted(collections.OrderedDict(a=1),[2])).note
        is_in(rt(within([1])))|is_in(rt(within({})))|is_in(rt(within(collections.OrderedDict())))
        (lambda l:[l.append((l,)),(lambda r:r[0][0] is r)(rt(l))][1])([])
        one([1])|one({1:2})|one((1,2))|one({1,2})
        one(bytearray(b"ab"))|one(b"abc"*50)|one(collections.OrderedDict(a=1))|one(collections.Counter("a"))
        one(x.shape)|one(T.device("cpu"))|one(10**30)|one(2.5)|rt(T.per_tensor_affine)|T.save([[]]*3,io.BytesIO())
    """,
    "places": """
        rt(x,map_location={"cpu":"meta"}).device|rt(x,map_location={"cpu":"cpu"})|rt(x,map_location={"cuda":"meta"})
        rt(x,map_location={})|rt(x,map_location={"cpu":"cuda"})|rt(x,map_location={"cpu":3})
        rt(x,map_location={"cpu":T.device("meta")})|rt(x,map_location=lambda s,l:s)|rt(x,map_location=lambda s,l:None)
        asked(x)|asked([x,T.empty(0),T.ones(1)])|asked([x,x[1:]])|asked([x,m])|asked([x.untyped_storage(),F([1])])
        asked(T.empty(0).storage())|rt(x[:1],map_location=lambda s,l:s.clone())|rt(x,map_location=lambda s,l:3)
        W(rt(x,map_location=lambda s,l:U(4)))|W(rt(x,map_location=lambda s,l:U(24,device="meta")))
        rt(x,map_location=lambda s,l:F([1]))|rt(x,map_location=3)|rt(x,map_location=[1])|rt(x,map_location="xyz")
        rt(x,map_location="")|rt(x,map_location="cpu:0")|rt(x,map_location=T.device("cpu:0"))|rt(x,map_location=b"cpu")
        rt(3,map_location="cuda")|rt(3,map_location="xyz")|rt(3,map_location=3)
        same(*rt([x,x[1:]],map_location=lambda s,l:s.clone()))|same(*rt([x,x[1:]],map_location={"cpu":"meta"}))
    """,
    "attributes": """
        rt(noted(x,3)).note|copy.copy(noted(x,[1])).note is x.note|dc(noted(x,[1])).note is x.note|dc(x)
        pk(noted(x,[1])).note|vars(noted(x,1))|rt(noted(c,1)).note|rt(noted(g,[2])).note|rt(noted(m,3)).note
        copy.copy(noted(m,3)).note|dc(noted(m,3)).note|pk(noted(m,3)).note|rt(noted(x.view(T.uint16),3)).note
        rt(noted(q,3)).note|noted(x.untyped_storage(),3).note|noted(F([1]),3).note|noted(x,3).untyped_storage().resizable()
        [hasattr(t,"note") for t in (noted(x,1).clone(),x.detach(),x[1:],x.data)]|hasattr(rt(noted(F([1]),3)),"note")
        [hasattr(f(noted(U([1]),3)),"note") for f in (copy.copy,dc,rt)]|W(rt(noted(x,3)))|W(copy.copy(noted(x,3)))
        noted(x,[x.view(2,3)]) is x|same(*(lambda t:[t,t.note])(rt(noted(x,x[2:]))))
    """,
    "calls": """
        T.save(x,io.BytesIO(),foo=3)|T.load(io.BytesIO(b"abc"),foo=3)|rt(x,foo=3)|T.save(x,io.BytesIO(),pickle,2)
        T.save(x,io.BytesIO(),pickle,2,True,False)|T.save(x,io.BytesIO(),pickle,2,True,False,1)
        T.save(x,io.BytesIO(),pickle_module=pickle,pickle_protocol=2)|T.save(obj=x,f=io.BytesIO())
        T.save(x,io.BytesIO(),None)|T.save(x,io.BytesIO(),pickle,99)|T.save(x)|T.load()|rt(x,pickle_module=None)
        rt(x,pickle_module=pickle)|rt(x,weights_only=True,pickle_module=pickle)|rt(x,encoding="ascii")
        [T.load(saved(x,pickle_protocol=k)) for k in (2,3)]|T.load(saved(x,pickle_protocol=4))
        T.load(saved([x],pickle_protocol=0))|T.load(saved(x,pickle_protocol=0),weights_only=False)
        T.load(saved({"a":1},pickle_protocol=-1))|T.load(saved(x,pickle_protocol=5),weights_only=False)
        rt(TS(wrap_storage=U([1,2,3]),dtype=T.int16))|rt(TS(wrap_storage=U([1,2]),dtype=T.int16))
        [pickle.loads(pickle.dumps(T.device("cpu",1),k)) for k in range(6)]|pickle.dumps(T.channels_last,3)
        [pickle.loads(pickle.dumps(x,k)) for k in range(6)]|pickle.loads(pickle.dumps(T.channels_last,4))
        T.load(io.StringIO("abc"))|T.load(io.StringIO("abc"),weights_only=False)|T.load(io.StringIO(""))
        T.save(x,io.StringIO())|rt(x,weights_only=False,encoding="ascii")|rt(x,weights_only=True,errors="strict")
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

    def noted(t, note):
        t.note = note
        return t

    def within(container):
        container.append(container) if isinstance(container, list) else container.update(a=container)
        return container

    def asked(o):
        seen = []
        rt(o, map_location=lambda s, place: seen.append((place, s, s.resizable(), s.is_shared())))
        return seen

    return {
        "noted": noted, "within": within, "asked": asked, "collections": collections, "pickle": pickle,
        "is_in": lambda o: any(v is o for v in (o if isinstance(o, list) else o.values())),
        "one": lambda o: [a is b for a, b in [rt([o, o])]],
        "cut": cut, "q": lib.quantize_per_tensor(lib.arange(6.0), 1.0, 0, lib.quint8),
        "q4": lib.quantize_per_tensor(lib.arange(6.0), 1.0, 0, lib.quint4x2),
        "W": lambda t: (*shown(t), t.untyped_storage().nbytes()), "m": lib.empty(10, device="meta"),
        "x": x, "g": g, "nl": g * 2, "gg": gg, "c": c, "n": c.imag, "e": lib.ones(1).expand(3), "rt": rt, "copy": copy,
        "dc": copy.deepcopy, "pk": lambda o: pickle.loads(pickle.dumps(o)), "io": io,
        "saved": lambda o, **how: (f := io.BytesIO(), lib.save(o, f, **how), f.seek(0))[0],
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
        table = {"object": {"object": 0}, "storages": storages, "arrays": [],
                 "objects": [tensor()], "length": 64, **changes}  # fmt: skip
        return written(json.dumps(table).encode())

    def tensor(storage=0, name="float32", shape=(2,), strides=(1,), offset=0):
        return ["tensor", [storage, name, shape, strides, offset, False, 0, None, None]]

    def written(text):
        head = struct.pack("<8sQI", MAGIC, len(text), zlib.crc32(text)) + text
        return io.BytesIO(head + bytes(-len(head) % 64) + bytes(64))

    assert ref.load(forge()).tolist() == [0, 0]
    lies = [
        {"objects": [tensor(shape=(3,))]},
        {"objects": [tensor(strides=(-1,))]},
        {"objects": [tensor(shape=(-2,))]},
        {"objects": [tensor(offset=-1)]},
        {"objects": [tensor(name="nothing")]},
        {"objects": [tensor(storage=1)]},
        {"objects": [tensor(strides=(1, 1))]},
        {"objects": [tensor(strides=(10**400,))]},
        {"objects": []},
        {"objects": [["tuple", [{"object": 0}]]]},
        {"objects": [["dict", [[1]], None]]},
        {"objects": [["list", 3]]},
        {"objects": 3},
        {"object": {"exec": "1"}},
        {"object": {"object": 0, "untyped": 0}},
        {"object": {"object": "a"}},
        {"object": {"object": []}},
        {"length": "64"},
        {"storages": []},
        {"storages": [{"nbytes": 8, "data": [0, 9, 0], "marks": None}]},
        {"storages": [{"nbytes": 8, "data": [60, 8, 0], "marks": None}]},
        {"length": -1},
    ]
    for lie in lies:
        with pytest.raises(RuntimeError) as caught:
            ref.load(forge(**lie))
        assert caught.value.kind == "file", lie
    for text in (b"", b"[]", b"3", b"{}", b'{"length": 64}', b"not json", b"\xff", b"[" * 100_000, b'{"length": null}'):
        with pytest.raises(RuntimeError) as caught:
            ref.load(written(text))
        assert caught.value.kind == "file", text[:20]


def test_only_plain_data_is_written():
    for thing in (object(), lambda: 1, type, collections.ChainMap(), memoryview(b"a")):
        with pytest.raises(TypeError) as caught:
            saved(thing)
        assert caught.value.kind == "argument"
    with pytest.raises(TypeError) as caught:
        saved(ref.sparse_coo_tensor([[0]], [1.0], (3,)))
    assert caught.value.kind == "format"


def test_a_tuple_that_contains_itself_is_read_back():
    # PyTorch writes it, and cannot read it back.
    loop = ([],)
    loop[0].append(loop)
    back = ref.load(io.BytesIO(saved(loop)))
    assert back[0][0] is back


def test_what_a_function_of_places_raises_is_its_own():
    def refuse(storage, place):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine") as caught:
        ref.load(io.BytesIO(saved(ref.arange(3))), map_location=refuse)
    assert not hasattr(caught.value, "kind")


def test_a_damaged_storage_is_found_in_a_mapped_file_too(tmp_path):
    # PyTorch does not look.
    path = tmp_path / "saved"
    data = bytearray(saved(ref.arange(6.0)))
    data[-64] ^= 1
    path.write_bytes(bytes(data))
    for mmap in (False, True):
        with pytest.raises(RuntimeError) as caught:
            ref.load(path, mmap=mmap)
        assert caught.value.kind == "file"


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


@pytest.mark.parametrize("kind", errors._OfKind.__subclasses__())
def test_an_error_travels_whole(kind):
    """A process that raises one tells another what it was, of which kind, and what was noted on it."""
    error = errors.fatal(kind("resize", "shared memory cannot be resized"))
    other = pickle.loads(pickle.dumps(error))
    assert (type(other), other.args, vars(other)) == (kind, error.args, {"kind": "resize", "fatal": True})
