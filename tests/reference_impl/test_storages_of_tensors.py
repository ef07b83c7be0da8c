"""Constructors over storages, pinned memory, warnings, what has no storage, how storages are called: as in torch."""

import contextlib
import copy
import io
import warnings

import pytest
import stridecheck.reference_impl as ref
import torch
from stridecheck.reference_impl import notices

from .agreement import disagreement
from .test_storage_surface import names, split  # noqa: F401 - a fixture

TABLE = {
    "constructors": """
        x.set_(None)|x.set_(source=None)|x.set_(None,0,(2,))|x.set_()|x.storage_type() is F|i16.storage_type()
        T.arange(3).storage_type() is T.LongStorage|meta.storage_type()|x._typed_storage()|x.new(x.untyped_storage())
        x.new(x.storage())|x.new()|x.new(2,3).shape|x.new((2,3))|x.new([2.5,3])|x.new(T.Size([2,3])).stride()|x.new(x[2:])
        x.new(T.arange(3))|x.new(U([0]*7))|T.arange(3).new(U([1]*16))|T.arange(3).new(F([1.]))|x.new(meta)
        T.Tensor(x.untyped_storage())|T.Tensor(x.storage())|T.Tensor(T.arange(3).storage())|T.Tensor(U([0]*5))|T.Tensor()
        T.Tensor(T.arange(3).untyped_storage())|T.Tensor(2,3).shape|T.Tensor((2,3))|T.Tensor([[1,2],[3,4]])|T.Tensor(x[1:])
        T.Tensor(T.arange(3))|T.Tensor(T.Size([2,3])).shape|T.Tensor(3.5)|T.Tensor("a")|T.Tensor(None)|T.Tensor(-1)
        T.Tensor(np.arange(3.))|T.Tensor(2,device="meta")|T.Tensor(2,dtype=T.int8)|T.Tensor(size=(2,)).shape
        T.Tensor(data=[1.])|T.Tensor(True)|T.Tensor(np.int64(3)).shape|x.new(3,device="meta")|x.new(size=(2,)).shape
        meta.new(3).device|meta.new(meta.untyped_storage()).shape|x.new(meta.untyped_storage())|x.new(-1)|x.new("a")
        x.new(other=x).shape|T.Tensor(x,x)|T.Tensor(2.5,3)|T.Tensor(sp)|x.new(sp)|x.new(x.untyped_storage()).data_ptr()==0
        isinstance(T.Tensor(2),T.Tensor)|T.Tensor(range(3))|T.Tensor({1:2})|i16.new(3).dtype|sp._typed_storage()
    """,
    "pinned": """
        x.new_zeros(2,pin_memory=True)|x.new_ones(2,pin_memory=True)|x.new_empty(2,pin_memory=True)
        x.new_full((2,),1,pin_memory=True)|x.new_empty_strided((2,),(1,),pin_memory=True)|T.zeros_like(x,pin_memory=True)
        T.ones_like(x,pin_memory=True)|T.full_like(x,1,pin_memory=True)|T.empty_like(x,pin_memory=True)
        T.rand_like(x,pin_memory=True)|T.randint_like(x,3,pin_memory=True)|T.from_file(p,size=2,pin_memory=True)
        T.from_file(p,size=2,pin_memory=False)|T.empty(3,device="meta",pin_memory=True).device|T.empty(0,pin_memory=True)
        T.zeros(3,device="meta",pin_memory=True).device|T.full((3,),1.,device="meta",pin_memory=True).device
        T.empty_strided((3,),(1,),device="meta",pin_memory=True).device|T.empty_like(meta,pin_memory=True).device
        T.empty_like(x,device="meta",pin_memory=True).device|meta.new_zeros(2,pin_memory=True).device
        x.new_zeros(2,device="meta",pin_memory=True).device|T.arange(3,pin_memory=True)|T.eye(3,pin_memory=True)
        T.rand(3,pin_memory=True)|T.randn(3,pin_memory=True)|T.randint(3,(2,),pin_memory=True)|T.randperm(3,pin_memory=True)
        T.linspace(0,1,3,pin_memory=True)|T.logspace(0,1,3,pin_memory=True)|T.scalar_tensor(1,pin_memory=True)
        T.tril_indices(2,2,pin_memory=True)|T.hann_window(3,pin_memory=True)|T.empty(3,pin_memory=1)
        T.empty(3,pin_memory=None).shape|T.empty_like(x,pin_memory=3)|T.full((2,),1.,pin_memory=True)
        T.empty_permuted((2,3),(0,1),device="meta",pin_memory=True).device|x.new_zeros(2,pin_memory=False)
    """,
    "past a storage's end": """
        short(2,3).t()|short(6).t().stride()|short(6).transpose(0,-1).stride()|short(2,3).transpose(1,1).stride()
        short(2,3).transpose(0,1)|short(2,3).swapaxes(-1,1).stride()|short(2,3).transpose_(0,0).stride()|short(2,3).t_()
        short(6).t_().stride()|short(6)[:]|short(6)[0:6]|short(6)[:,].stride()|short(6)[...,:].stride()|short(6)[:2]
        short(2,3)[:]|short(2,3)[:,:].stride()|short(2,3)[0,0]|short(2,3)[0,:1]|short(3,2)[0,0]|short(2,3)[:1,:1]
        f(short(2,3),(0,0),1)|short(6).T|short(2,3).view(3,2).stride()
    """,
    "no longer shared": """
        s.share_memory_().resize_(0)|[s.share_memory_().resize_(0),s.is_shared(),s.resizable(),s.size()]
        u.share_memory_().resize_(0)|u.share_memory_().resize_(0).is_shared()|u.share_memory_().resize_(0).resizable()
        u.share_memory_().resize_(0).clone()|u.share_memory_().resize_(0).share_memory_().is_shared()
        u.share_memory_().resize_(0).data_ptr()|u.share_memory_().resize_(0).filename|U(0).share_memory_().resize_(0)
        [x.share_memory_().untyped_storage().resize_(0).nbytes(),x.is_shared(),x.data_ptr()]
    """,
    "without a storage": """
        T.zeros(2).set_(sp)|sp.is_pinned()|sp.is_pinned("cuda")|sp.pin_memory()|sp.pin_memory("cuda")|float(sp[0])|sp[0:1]
        setattr(x,"data",meta)|setattr(meta,"data",x)|setattr(x,"data",sp)|setattr(meta,"data",T.empty(3,device="meta"))
        sp.narrow(0,0,1)|sp.squeeze()|sp.storage_type()|meta.is_pinned()|meta.pin_memory()|meta.pin_memory("cuda")
        x.is_set_to(sp)|sp.is_set_to(x)|sp[5]|x.set_(meta)|setattr(x.requires_grad_(),"data",meta)
    """,
    "calls": """
        U(sequence=[1,2])|U(sequence=(1,2))|U(sequence=3)|U(sequence=[1],device="meta")|U(u)|U(u).data_ptr()==u.data_ptr()
        U(sequence=u)|U(F([1,2]))|U(np.array(3))|U(np.array([3]))|U(T.tensor([3]))|U(size=T.tensor(3)).nbytes()
        U(size=np.array(3))|U(size=[1])|U(size="a")|U(size=True)|U(sequence=[1],size=2)|U(3,sequence=[1])
        u[np.array(1)]|u[np.array([1])]|f(u,np.array(1),3)|u.resize_(np.array(2))|U.from_file("",True,4)
        U.from_file("",False,4)|U.from_file("",True,4).filename|U.from_file("",True,4).is_shared()|U.from_file("",True,-4)
        U.from_file("a\\0b")|U.from_file("a\\0b",True,4)|T.from_file(p+"\\0b",True,4)|T.from_file("",True,4)
        u.fill_(value=3)|u.resize_(size=2)|u.copy_(u,3)|u.copy_(u,None)|u.copy_(u,non_blocking=3)|u.copy_(u,"a")|u.copy_(u,0)
        T.is_storage(obj=u)|T.is_storage(u)|T.is_storage()|T.from_file(p,1,2)|T.from_file(p,None,2)|F.from_file(p,1,2)
        f(F([1]),0,np.float32(3))|f(F([1]),0,np.float64(3))|f(F([1]),0,np.int32(3))|f(ms,0,np.float32(3))
        f(ms,0,np.float64(3))|f(ms,0,np.int32(3))|f(ms,0,np.bool_(True))|F([1]).copy_(F([2]),3)|u.cuda("cpu")|u.cuda("xyz")
        u.cuda(T.device("cpu"))|u.cuda(1.5)|u.cuda(True)|u.hpu("cpu")|u.hpu(1.5)|F([1]).cuda("cpu")|T.device("cuda","a")
        T.device("cuda",True)|u.type("")|u.type(".a")|u.type("os.path")|u.type("xyz")|u.type("a.b")|u.type("torch.")
    """,
}


FAKE = {
    "y.untyped_storage().nbytes()": 24,
    "y.untyped_storage().device.type": "meta",
    "y.device.type": "cpu",
    "y.untyped_storage().data_ptr()": 0,
    "y[1:].untyped_storage()._cdata == y.untyped_storage()._cdata": True,
    "y[1:].storage_offset()": 1,
    "y.untyped_storage().resize_(8).nbytes()": 8,
    "y.untyped_storage().fill_(0).nbytes()": 24,
    "y.untyped_storage().clone().nbytes()": 24,
    "y.untyped_storage().new().nbytes()": 0,
    "y.untyped_storage().is_shared()": False,
    "y.storage_type()": None,
    "y._typed_storage().device.type": "meta",
    "y.storage()[0]": NotImplementedError,
    "y.untyped_storage()[0]": NotImplementedError,
    "y.untyped_storage()[0:1]": NotImplementedError,
    "y.untyped_storage().tolist()": NotImplementedError,
    "y.share_memory_()": RuntimeError,
    "y.untyped_storage().share_memory_()": RuntimeError,
    "y.untyped_storage().pin_memory()": TypeError,
    "y.set_(torch.UntypedStorage(8))": RuntimeError,
    "y.numpy()": RuntimeError,
    "y.tolist()": RuntimeError,
    "y[0].item()": RuntimeError,
    "torch.save(y, io.BytesIO())": AttributeError,
    "copy.deepcopy(y).untyped_storage().device.type": "meta",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("question", FAKE)
def test_what_fake_tensors_answer_about_their_storages(question):
    """Of torch alone, as section 7.7 says: the oracle has no such mode."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    expected = FAKE[question]
    refused = isinstance(expected, type)
    with FakeTensorMode(), pytest.raises(expected) if refused else contextlib.nullcontext():
        scope = {"y": torch.arange(6.0), "torch": torch, "copy": copy, "io": io}
        assert eval(question, scope) == expected


@pytest.fixture
def more(names, tmp_path, monkeypatch):  # noqa: F811
    # A file without a name is made here.
    monkeypatch.chdir(tmp_path)

    def make(lib):
        def short(*shape):
            made = lib.arange(6.0).view(shape)
            made.untyped_storage().resize_(8)
            return made

        return {
            "short": short,
            **names(lib),
            "meta": lib.empty(3, device="meta"),
            "sp": lib.sparse_coo_tensor([[0]], [1.0], (3,)),
            "i16": lib.zeros(2, dtype=lib.uint16),
        }

    return make


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", TABLE)
def test_calls_agree_with_torch(part, more):
    expressions = split(TABLE[part])
    found = [d for e in expressions if (d := disagreement(e, more))]
    assert not found, f"{len(found)} of {len(expressions)}:\n" + "\n".join(found)


def given(expression, lib, scope):
    """The categories of the warnings of an expression, typed storages' deprecation as if it came first."""
    if lib is ref:
        notices.given.clear()
    else:
        torch.storage._warn_typed_storage_removal.__dict__.pop("has_warned", None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with contextlib.suppress(RuntimeError, TypeError, AssertionError):
            eval(expression, {"T": lib, "F": lib.FloatStorage, "TS": lib.TypedStorage, **scope})
    return sorted(w.category.__name__ for w in caught)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "expression",
    split("""
        F.dtype|T.cuda.FloatStorage.dtype|T.Storage.dtype|TS.from_file(p,False,2)|F.from_file(p,False,2)|u.float()
        T.cuda.FloatStorage.from_buffer(bytes(4),"native")|T.cuda.FloatStorage.from_file(p,False,0)|F([1])|TS(3).dtype
        isinstance(3,F)|T.BoolStorage|T.is_storage(u)|x.is_pinned("cuda")|x.is_pinned("cpu")|x.is_pinned()|x.is_pinned(None)
        x.pin_memory("cuda")|x.pin_memory("cpu")|x.pin_memory()|u.is_pinned("cuda")|u.pin_memory("cuda")|u.is_pinned()
        [x.is_pinned("cuda") for _ in "ab"]|T.empty(3,device="meta").pin_memory("cuda")
        x._typed_storage()|x.storage_type()
    """),
)
def test_warnings_are_given_where_torch_gives_them(expression, names, monkeypatch):  # noqa: F811
    monkeypatch.setattr(notices, "given", set())
    found = [given(expression, lib, {k: v for k, v in names(lib).items() if k in "xup"}) for lib in (torch, ref)]
    assert found[0] == found[1]


@pytest.mark.parametrize("lib", [torch, ref])
def test_storages_are_told_apart_by_a_number(lib):
    x, y = lib.arange(4.0), lib.arange(4.0)
    assert x[1:].untyped_storage()._cdata == x.storage()._cdata == x.untyped_storage()._cdata
    assert x.untyped_storage()._cdata != y.untyped_storage()._cdata


@pytest.mark.parametrize("lib", [torch, ref])
def test_the_module_of_storages_has_both_classes(lib):
    assert lib.storage.TypedStorage is lib.TypedStorage
    assert lib.storage.UntypedStorage is lib.UntypedStorage
    assert not hasattr(lib.storage, "ThirdStorage")
