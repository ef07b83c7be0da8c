"""Arguments of a wrong kind are refused as torch's parser refuses them, before a function looks at anything else."""

import inspect
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from typing import Any

import pytest
import stridecheck.reference_impl as ref
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_unflatten

from .agreement import disagreement, exception_type
from .twins import words

for _space in ("fft", "linalg", "masked", "special"):
    import_module(f"stridecheck.reference_impl.{_space}")

NO_TENSORS: list[Any] = [[1], None, 1]
LEFT_OUT = {
    "gradient": "distances of a dimension may be numbers, whatever the others are",
    "index_put": "a tuple of indices may hold None, though not alone",
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
    for sample in islice(operator.sample_inputs("cpu", dtype), 12):
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
