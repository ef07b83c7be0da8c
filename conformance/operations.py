"""Operations by PyTorch's names: their parameters, how Python spells them, and whether they write.

One line per operation. Adapters in PyTorch's style need no more than this table; adapters in another style bind a
step's arguments to these parameter names and fill them into templates of their own (`idiom.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .program import Argument, DType, Step


class Operation(NamedTuple):
    """Parameters of one operation, in PyTorch's order.

    `form` is how Python spells it: `method`, `function`, `property`, `index` or `assign`. A parameter written `*size`
    takes a tuple or all that follows. `writes` is true where the first argument's memory or metadata is changed,
    `by_address` where the result depends on how the operand lies in memory, not only on its elements.
    """

    name: str
    parameters: tuple[str, ...]
    defaults: Mapping[str, Any]
    form: str
    writes: bool
    by_address: bool
    variadic: bool


# `!` marks what writes, `@` what goes by address.
_SIGNATURES = """
method   view(self, *size)
method@  view.dtype(self, dtype)
method   view_as(self, other)
method   reshape(self, *shape)
method   reshape_as(self, other)
method   flatten(self, start_dim=0, end_dim=-1)
method   unflatten(self, dim, sizes)
method   ravel(self)
method   permute(self, *dims)
method   transpose(self, dim0, dim1)
method   swapaxes(self, axis0, axis1)
method   swapdims(self, dim0, dim1)
method   movedim(self, source, destination)
method   moveaxis(self, source, destination)
method   t(self)
property T(self)
property mT(self)
index    __getitem__(self, index)
method   narrow(self, dim, start, length)
method   select(self, dim, index)
method   expand(self, *size)
method   expand_as(self, other)
method   broadcast_to(self, size)
method   squeeze(self, dim=None)
method   unsqueeze(self, dim)
method   unfold(self, dimension, size, step)
method   diagonal(self, offset=0, dim1=0, dim2=1)
method@  as_strided(self, size, stride, storage_offset=None)
method   detach(self)
method   contiguous(self, memory_format=None)
method   clone(self, memory_format=None)
method   to(self, dtype=None, non_blocking=False, copy=False, memory_format=None)
method   tolist(self)
method   is_contiguous(self, memory_format=None)
method   is_set_to(self, tensor)
method!  fill_(self, value)
method!  zero_(self)
method!  copy_(self, src, non_blocking=False)
method!  add_(self, other, alpha=1)
method!  sub_(self, other, alpha=1)
method!  mul_(self, other)
method!  relu_(self)
assign!  __setitem__(self, index, value)
method   add(self, other, alpha=1)
method   sub(self, other, alpha=1)
method   mul(self, other)
method   neg(self)
method   abs(self)
method   relu(self)
method   matmul(self, other)
method   sum(self, dim=None, keepdim=False, dtype=None)
method!  resize_(self, size, memory_format=None)
method!  resize_as_(self, other, memory_format=None)
method!  set_(self, source=None, storage_offset=None, size=None, stride=None)
method!@ as_strided_(self, size, stride, storage_offset=None)
method!  squeeze_(self, dim=None)
method!  unsqueeze_(self, dim)
method!  transpose_(self, dim0, dim1)
method!  swapaxes_(self, axis0, axis1)
method!  t_(self)
method!  detach_(self)
method   split(self, split_size, dim=0)
method   chunk(self, chunks, dim=0)
method   tensor_split(self, indices_or_sections, dim=0)
method   unbind(self, dim=0)
method   type(self, dtype)
method   mean(self, dim=None, keepdim=False, dtype=None)
method   prod(self, dim=None, keepdim=False, dtype=None)
method   amax(self, dim=(), keepdim=False)
method   amin(self, dim=(), keepdim=False)
method   argmax(self, dim=None, keepdim=False)
method   max(self, dim=None, keepdim=False)
method   all(self, dim=None, keepdim=False)
method   cumsum(self, dim, dtype=None)
method   cumprod(self, dim, dtype=None)
method   softmax(self, dim, dtype=None)
method   sort(self, dim=-1, descending=False, stable=False)
method   argsort(self, dim=-1, descending=False, stable=False)
method   topk(self, k, dim=-1, largest=True, sorted=True)
method   flip(self, *dims)
method   roll(self, shifts, dims=None)
function cat(tensors, dim=0)
function stack(tensors, dim=0)
method   index_select(self, dim, index)
method   masked_fill(self, mask, value)
method   masked_select(self, mask)
function conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1)
"""


def _parse(line: str) -> Operation:
    form, signature = line.split(maxsplit=1)
    name, _, inside = signature.rstrip(")").partition("(")
    parameters, defaults, variadic = [], {}, False
    for part in inside.split(", "):
        parameter, _, default = part.partition("=")
        if parameter.startswith("*"):
            parameter, variadic = parameter[1:], True
        parameters.append(parameter)
        if default:
            defaults[parameter] = eval(default, {"__builtins__": {}})
    kind = form.rstrip("!@")
    return Operation(name, tuple(parameters), defaults, kind, "!" in form, "@" in form, variadic)


OPERATIONS: Mapping[str, Operation] = {
    operation.name: operation for operation in map(_parse, _SIGNATURES.strip().splitlines())
}


def overload(step: Step) -> str:
    """Name of the table's entry that a step means: PyTorch tells `view(dtype)` from `view(size)` by the argument.

    >>> overload(Step("view", (0, DType("int8"))))
    'view.dtype'
    """
    if step.op == "view" and len(step.args) == 2 and isinstance(step.args[1], DType):
        return "view.dtype"
    return step.op


def bind(step: Step) -> dict[str, Argument]:
    """Arguments of a step by parameter name, defaults filled in, variadic sizes gathered into one tuple.

    Raises
    ------
    KeyError
        There is no such operation.
    ValueError
        The arguments do not fit its parameters.

    >>> bind(Step("transpose", (0, 1, 2)))
    {'self': 0, 'dim0': 1, 'dim1': 2}
    """
    operation = OPERATIONS[overload(step)]
    args, parameters = step.args, operation.parameters
    if operation.variadic and (
        len(args) > len(parameters) or (len(args) == len(parameters) and not isinstance(args[-1], tuple))
    ):
        last = len(parameters) - 1
        args = (*args[:last], args[last:])
    bound = dict(operation.defaults)
    if len(args) > len(parameters):
        raise ValueError(f"{step.op} takes {len(parameters)} arguments, got {len(args)}")
    bound.update(zip(parameters, args, strict=False))
    for name, value in step.kwargs:
        if name not in parameters:
            raise ValueError(f"{step.op} has no parameter {name!r}")
        bound[name] = value
    if missing := [name for name in parameters if name not in bound]:
        raise ValueError(f"{step.op} needs {', '.join(missing)}")
    return bound
