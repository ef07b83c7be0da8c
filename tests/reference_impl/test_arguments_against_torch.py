"""Arguments of a wrong kind are refused as torch's parser refuses them, before a function looks at anything else."""

import copy
import inspect
import pickle
from collections import namedtuple
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from typing import Any

import pytest
import stridecheck.reference_impl as ref
import torch
from stridecheck.conformance.opinfo import unwatched
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_unflatten

from .agreement import disagreement, exception_type
from .test_storage_surface import split
from .twins import words

for _space in ("fft", "linalg", "masked", "special"):
    import_module(f"stridecheck.reference_impl.{_space}")

NO_TENSORS: list[Any] = [[1], None, 1]
LEFT_OUT = {
    "gradient": "distances of a dimension may be numbers, whatever the others are",
    "meshgrid": "without a tensor there is nothing to make a grid of",
    "normal": "a method of another name takes other arguments",
    "to": "what is no tensor may be a device or a dtype",
}
"""Functions whose tensors are not asked for, with the reason; nor are operators, which ask the other side instead."""


def to_ref(x: Any) -> Any:
    if isinstance(x, torch.Tensor):
        return ref.tensor(x.tolist(), dtype=getattr(ref, str(x.dtype)[6:])).reshape(tuple(x.shape))
    return getattr(ref, str(x)[6:]) if isinstance(x, (torch.dtype, torch.memory_format)) else x


def named(lib: Any, name: str) -> Any:
    for part in name.split("."):
        lib = getattr(lib, part, None)
    return lib


def error_of(function: Any, args: Any, kwargs: Any) -> Exception | None:
    try:
        function(*args, **kwargs)
    except Exception as error:
        return error
    return None


def calls(operator: Any) -> Iterator[tuple[list[Any], Any]]:
    """Arguments that an operator takes, one call for each set of their types."""
    dtype = torch.float32 if operator.supports_dtype(torch.float32, "cpu") else torch.int64
    seen = set()
    for sample in islice(unwatched(operator.sample_inputs, "cpu", dtype), 4):
        leaves, spec = tree_flatten(((sample.input, *sample.args), sample.kwargs))
        key = (*map(type, leaves), str(spec))
        if key not in seen and len(seen) < 2 and all(not torch.is_tensor(x) or x.numel() < 1000 for x in leaves):
            seen.add(key)
            yield leaves, spec


def refusals(operator: Any, samples: list[Any], owners: Any) -> Iterator[str]:
    """Where torch refuses what is no tensor, and the reference does not, or the other way round."""
    theirs, ours = (named(owner, operator.name) for owner in owners)
    if not callable(theirs) or not inspect.isfunction(ours):
        return
    is_method = owners[0] is torch.Tensor
    for leaves, spec in samples:
        args, kwargs = tree_unflatten(leaves, spec)
        if error_of(theirs, args, kwargs):
            continue
        for place, given in enumerate(leaves):
            for x in NO_TENSORS if torch.is_tensor(given) and not (is_method and place == 0) else ():
                wrong = [x if k == place else y.detach() if torch.is_tensor(y) else y for k, y in enumerate(leaves)]
                expected = error_of(theirs, *tree_unflatten(wrong, spec))
                got = error_of(ours, *tree_unflatten([to_ref(y) for y in wrong], spec))
                if x is None and not isinstance(expected, AttributeError) and got is None:
                    continue  # as if the argument had not been given
                if not agree(expected, got, at_most=inspect.isfunction(theirs)):
                    yield f"{operator.name}, {x!r} at {place}: torch {expected!r:.90} against {got!r:.90}"


def agree(expected: Exception | None, got: Exception | None, *, at_most: bool) -> bool:
    """Whether both refuse; what torch has in Python may take a number, or fail by what it does first."""
    if got is None:
        return expected is None
    refused = exception_type(got) is TypeError and getattr(got, "kind", "") == "argument"
    if at_most:
        return refused or (hasattr(got, "kind") and exception_type(got) is exception_type(expected))
    if expected is None or not hasattr(got, "kind"):
        return False
    return exception_type(got) is exception_type(expected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(8))
def test_what_is_no_tensor_is_refused_where_a_tensor_is_meant(part: int) -> None:
    asked = [o for o in op_db if o.name not in LEFT_OUT and not o.name.startswith("_")]
    found = []
    for operator in asked[part::8]:
        samples = list(calls(operator))
        for owners in ((torch, ref), (torch.Tensor, ref.Tensor)):
            found += refusals(operator, samples, owners)
    assert not found, "\n".join(found)


WHOLE = words(
    """
    x.select(0,{n}) x.select({n},0) x.narrow(0,0,{n}) x.narrow(0,{n},0) x.unfold(0,{n},1) x.roll({n},0) x.roll(1,{n})
    x.roll(({n},),(0,)) x.sum({n}) x.sum(({n},)) x.chunk({n}) x[{n}] x[{n}:] x[:,{n}] x.split({n}) x.split(({n},))
    T.split(x,{n}) x.split(1,{n}) x.as_strided(({n},),(1,)) x.transpose(0,{n}) x.reshape({n}) x.reshape({n},-1)
    x.reshape(({n},)) x.repeat({n},1) x.repeat(({n},1)) T.zeros({n}) x.size({n}) x.flatten({n}) x.permute({n},1)
    x.squeeze({n}) x.squeeze(({n},)) x.expand({n},3) x.cumsum({n}) x.flip({n}) x.diagonal({n}) x.tensor_split({n})
    T.unsafe_split(x,{n}) x.split_with_sizes(({n},)) x.unsqueeze({n}) T.cat([x],{n}) x.topk({n}) x.movedim(0,{n})
    x.index_select({n},T.tensor([0])) x.repeat_interleave({n}) x.tril({n}) x.view({n},-1) x.tile({n}) x.var({n})
    x.as_strided((1,),({n},)) x.as_strided((1,),(1,),{n})
    """
)


@pytest.mark.parametrize("number", words("np.uint64(2**63) 2**63 -2**63-1 2**64 np.uint64(1) np.bool_(1) True 1.0"))
def test_a_whole_number_past_64_bits_is_a_value_error_alone_and_a_type_error_in_a_sequence(number: str) -> None:
    found = [disagreement(e.format(n=number), lambda lib: {"x": lib.arange(6.0).reshape(2, 3)}) for e in WHOLE]
    assert not [d for d in found if d and "without a kind" not in d]


RANGES = words(
    "T.arange({n}) T.arange(0,{n}) T.arange(0,4,{n}) T.range(0,{n}) T.linspace(0,{n},3) T.logspace(0,{n},3).dtype"
    " T.logspace(0,1,3,{n}).dtype T.linspace(0,3,{n}) T.arange({n},dtype=T.int64) T.arange({n},dtype=T.complex64)"
)
BOUNDS = words(
    "np.bool_(1) np.complex64(2+1j) np.float32(2.5) 2+0j 2+1j np.complex128(2) np.uint64(2**63) 2**64 -2**63-1 True"
    " np.uint8(3) np.longdouble(2) T.tensor(2) T.tensor(2+0j) T.tensor(2.5) 'a' None [1]"
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("bound", BOUNDS)
def test_ranges_take_every_number_that_torch_takes(bound: str) -> None:
    found = [disagreement(e.format(n=bound)) for e in RANGES]
    assert not [d for d in found if d]


SURFACE = """
    T.zeros(3).set_(x,None,None)|T.zeros(3).set_(x,None)|T.zeros(3).set_(x.untyped_storage(),None,None)
    T.zeros(3).set_(x.untyped_storage(),0,(2,),None)|T.zeros(3).set_(x)|T.zeros(3).set_()|T.zeros(3).set_(x,1,(2,))
    2. in x|9 in x|1j in x|True in x|None in x|'a' in x|x[0] in x|T.ones(4) in x|[1.] in x|np.float32(2) in x
    np.bool_(1) in x|2 in T.zeros(0)|T._conj(x)|T._conj(c)|T._neg_view(x)|T._neg_view(c)|T._conj_physical(x.t())
    T._conj_physical(c.conj())|x._conj_physical()|x._is_zerotensor()|T._is_zerotensor(c)|T._shape_as_tensor(x)
    T._shape_as_tensor(T.tensor(1.))|x.new_tensor(np.uint64(2**63))|x.new_tensor(np.complex128(2+1j))|x.split(np.int8(1))
    T.range(0,3,pin_memory=True)|T.addcmul(x,x,x,value=1j)|T.addcmul(x,x,x,value=2+0j)|T.addcmul(c,c,c,value=1j)
    x.addcmul_(x,x,value=1j)|T.addcdiv(x,x,x,value=1j)|T.addcmul(x,x,x,value=np.uint64(2**63))|T.lerp(x,x,1j)
    T.lerp(x,x,2+0j)|x.lerp_(x,1j)|x.clamp(1j)|x.clamp(2+0j)|x.clamp_(1j)|x.clamp(max=1j)|x.clamp(1,2j)
    T.sparse_coo_tensor(T.tensor([[0]]),T.tensor([1.]),pin_memory=True)
"""
TYPES = """
    T.FloatTensor|T.FloatTensor.dtype|T.FloatTensor.is_cuda|issubclass(T.FloatTensor,T.Tensor)|T.HalfTensor([1,0])
    T.FloatTensor(2,3).shape|T.FloatTensor((2,3))|T.FloatTensor(T.Size([2,3])).shape|T.FloatTensor(2.5)|T.FloatTensor('a')
    T.FloatTensor(None)|T.FloatTensor(T.tensor([1]))|T.FloatTensor(x)|T.FloatTensor(x.untyped_storage())|T.FloatTensor()
    T.FloatTensor(T.DoubleStorage(2))|T.FloatTensor(T.FloatStorage([1,2]))|T.FloatTensor(np.ones(2))|T.LongTensor([1.5])
    T.FloatTensor([[1],[2]])|T.FloatTensor([[1],[2,3]])|T.FloatTensor(2,device='meta')|T.FloatTensor(size=(2,)).shape
    T.FloatTensor(other=x)|T.FloatTensor(-1)|T.FloatTensor(c)|T.FloatTensor(dtype=T.float32)|T.BoolTensor([2])
    T.FloatTensor(x.t())|T.BFloat16Tensor([1.])|T.ComplexFloatTensor|T.cuda.FloatTensor|T.cuda.FloatTensor([1.])
    T.cuda.FloatTensor.dtype|isinstance(x,T.cuda.FloatTensor)|isinstance(x,T.FloatTensor)|isinstance(x,T.LongTensor)
    isinstance(T.empty(2,device='meta'),T.FloatTensor)|isinstance(1,T.FloatTensor)|x.type(T.DoubleTensor)|x.type('FloatTensor')
    x.type(T.FloatTensor)|T.arange(2).type(T.Tensor)|T.arange(2).type('torch.Tensor')|x.type(T.cuda.FloatTensor)
    x.type('torch.cuda.FloatTensor')|x.type('torch.FooTensor')|x.type(int)|x.type(3)|x.to(T.DoubleTensor)
    type("Own",(T.FloatTensor,),{})|copy.copy(T.FloatTensor) is T.FloatTensor
    pickle.loads(pickle.dumps(T.FloatTensor)) is T.FloatTensor
"""
# Where Python itself refuses, nothing of ours is raised.
KINDLESS = "without a kind"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", [SURFACE, TYPES], ids=["surface", "types"])
def test_a_small_thing_is_as_it_is_in_torch(text: str) -> None:
    def operands(lib: Any) -> dict[str, Any]:
        c = lib.tensor([1 + 2j, 3 - 1j])
        return {"x": lib.arange(6.0).reshape(2, 3), "c": c, "copy": copy, "pickle": pickle}

    found = [d for e in split(text) if (d := disagreement(e, operands)) and KINDLESS not in d]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "name", words("shape device is_leaf ndim nbytes grad_fn output_nr is_quantized is_sparse is_cuda")
)
def test_what_is_told_of_a_tensor_cannot_be_set(name: str) -> None:
    for lib in (torch, ref):
        with pytest.raises(AttributeError):
            setattr(lib.zeros(2), name, 1)


MISTAKEN = split(
    "T.tril_indices()|T.sum(x,1,2,3,4)|x.sum(foo=1)|T.add(x)|x.t(3)|T.pca_lowrank(x,2,q=3)|T.eye()|T.nn.functional.relu()"
    "|x.view()|x.transpose(0)|T.full((2,))|T.cat()|T.empty_strided((2,))|T.split(x)|x.unfold(0)"
)


@pytest.mark.parametrize("mistaken", MISTAKEN)
def test_a_call_that_fits_no_signature_is_refused_as_one(mistaken: str) -> None:
    """Whatever lies around a function that Python cannot call so."""
    assert not disagreement(mistaken, lambda lib: {"x": lib.arange(6.0).reshape(2, 3)})


KINDS_OF_NUMBERS = split(
    "x.sum(1,keepdim=1)|x.sum(1,keepdim=np.bool_(True))|x.max(1,None)|x.std(1,unbiased=1)|x.std(1,unbiased=None)"
    "|x.sort(stable=1)|x.sort(stable=None)|T.unique(x,sorted=0)|x.norm(2,1,1)|x.to(T.float64,copy=1)"
    "|x.to(T.float64,non_blocking=None)|T.zeros(2,requires_grad=None)|T.zeros_like(x,requires_grad=1)"
    "|F.max_pool2d(x[None],2,ceil_mode=1)|F.max_pool2d(x[None],2,return_indices=0)|F.relu(x,inplace=1)"
    "|F.dropout(x,0.5,training=1)|F.kl_div(x,x,log_target=0)|F.batch_norm(x,x[0],x[0],momentum=None)"
    "|F.layer_norm(x,(3,),eps=None)|F.elu(x,'a')|F.elu(x,np.float64(2))|F.softplus(x,np.array(1))"
    "|F.interpolate(x[None,None],size=2,antialias=0)|F.gaussian_nll_loss(x,x,x+1,full=1).shape"
    "|T.from_dlpack(x,copy=0)|x.contiguous(memory_format=1)|x.is_contiguous(memory_format=None)|x.to(tensor=x.int())|x.to(other=x.int())"
    "|x.unsqueeze(T.tensor(True))|x.unsqueeze(np.array(1))|x.unsqueeze(T.tensor(1))"
    "|x.index_put_([T.tensor([0]),None],x[:1])|T.index_put(x,(None,T.tensor([0])),x[:,:1])"
    "|x[T.Size([0,1])]|x[x.max(0).indices.shape[:1]]|x[N(0,1)]|x.__setitem__(N(0,1),5) or x"
    "|x+2**63|x.int()+2**63|x.long()*(2**64-1)|x.long()>2**63|x.byte()-2**63|x<2**64|x+(-2**63-1)"
    "|T.where(x>1,x,2**63)|T.where(x>1,x.long(),2**63)"
)


@pytest.mark.parametrize("expression", KINDS_OF_NUMBERS)
def test_flags_numbers_and_indices_are_of_the_kinds_that_torch_takes(expression: str) -> None:
    def names(lib: Any) -> dict[str, Any]:
        return {"x": lib.arange(6.0).reshape(2, 3), "F": lib.nn.functional, "N": namedtuple("N", "a b")}

    assert not disagreement(expression, names)
