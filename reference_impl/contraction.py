"""Products summed over chosen dimensions: tensordot, inner, einsum, taken apart into the steps that PyTorch takes.

Whether the answer is a view, and in which order its dimensions lie in memory, follows from these steps; they are
PyTorch's one by one.
"""

from collections import deque
from math import prod
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, Any

from . import arithmetic, slicing_ops, view_ops
from .constructors import zeros
from .contiguity import is_contiguous
from .core import TensorBase, as_dims, as_int, check_tensors, recorded
from .errors import LayoutError, LayoutTypeError, LayoutValueError
from .grad_mode import no_grad
from .index_places import as_new
from .kept import keeps
from .layout import Layout, contiguous_strides, wrap_dim
from .linear_algebra import bmm, deliver, dot, mm, same_dtype
from .out import write_out
from .pointwise import check_operands
from .reductions import sum as total
from .view_ops import reshape_to

if TYPE_CHECKING:
    from .tensors import Tensor

_ELLIPSIS = 52
_LETTERS = ascii_uppercase + ascii_lowercase


def inner(input: "Tensor", other: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Products over the last dimensions of both; a plain product where one has no dimensions.

    Shapes: (…a, k) and (…b, k) to (…a, …b).
    Raises: size, dtype. Source: facts 4.4, torch 2.13.
    """
    check_operands("inner", (input, other))
    if not input.ndim or not other.ndim:
        return arithmetic.mul(input, other, out=out)
    if input._layout.shape[-1] != other._layout.shape[-1]:
        raise LayoutError("size", f"inner: the last lengths of {input._layout.shape} and {other._layout.shape} differ")
    result = tensordot(input, other, dims=([-1], [-1]))
    if isinstance(out, TensorBase) and out.dtype is not result.dtype:
        raise LayoutError("dtype", f"inner: out must have the dtype {result.dtype}, got {out.dtype}")
    return write_out(out, result, input, other, composed=True)


def tensordot(a: "Tensor", b: "Tensor", dims: Any = 2, out: "Tensor | None" = None) -> "Tensor":
    """Products over pairs of dimensions: the last of `a` with the first of `b`, or as listed; a view of a product.

    Shapes: the dimensions of `a` that are left, then those of `b`.
    Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    check_tensors("tensordot", a, b)
    first, second = _tensordot_dims(a, b, dims)
    if len(first) != len(second):
        raise LayoutError("dimension", f"tensordot: {first} and {second} pair no dimensions")
    same_dtype("tensordot", a, b)
    left = [wrap_dim(d, a.ndim) for d in first]
    right = [wrap_dim(d, b.ndim) for d in second]
    x, y = a, b
    for i, j in zip(left, right, strict=True):
        m, n = x._layout.shape[i], y._layout.shape[j]
        if n == 1 and m != 1:
            x = _summed(x, i)
        elif m == 1 and n != 1:
            y = _summed(y, j)
        elif m != n:
            raise LayoutError("size", f"tensordot: dimensions {i} and {j} have lengths {m} and {n}")
    if len(set(left)) != len(left) or len(set(right)) != len(right):
        raise LayoutError("dimension", f"tensordot: {first} or {second} repeats a dimension")
    keep_a = [d for d in range(a.ndim) if d not in left]
    keep_b = [d for d in range(b.ndim) if d not in right]
    shape = tuple([a._layout.shape[d] for d in keep_a] + [b._layout.shape[d] for d in keep_b])
    rows = prod([a._layout.shape[d] for d in keep_a])
    columns = prod([b._layout.shape[d] for d in keep_b])
    terms = prod([x._layout.shape[d] for d in left])
    p = view_ops.permute(x, (*keep_a, *left))
    q = view_ops.permute(y, (*right, *keep_b))
    made = (
        _full_contraction(p, q, len(left))
        if rows == columns == 1
        else mm(reshape_to(p, (rows, terms)), reshape_to(q, (terms, columns)))
    )
    result = reshape_to(made, shape)
    if out is None:
        return result
    return _tensordot_out(out, result, a, b)


def _full_contraction(p: "Tensor", q: "Tensor", count: int) -> "Tensor":
    """One number: a `dot` where both operands lie in order, else products rounded to the dtype, then summed."""
    if is_contiguous(*p._layout[:2]) and is_contiguous(*q._layout[:2]):
        return dot(reshape_to(p, (p.numel(),)), reshape_to(q, (q.numel(),)))
    # Lengths of 1 that are not summed are left out, so that both are views of one shape.
    a, b = view_ops.squeeze(p, tuple(range(p.ndim - count))), view_ops.squeeze(q, tuple(range(count, q.ndim)))
    return total(arithmetic.mul(a, b), dtype=a.dtype)


def _tensordot_out(out: "Tensor", result: "Tensor", a: "Tensor", b: "Tensor") -> "Tensor":
    if not isinstance(out, TensorBase):
        raise LayoutTypeError("argument", f"tensordot: out must be a Tensor, got {type(out).__name__}")
    return deliver("tensordot", out, result._layout.shape, result.dtype, (a, b), lambda: result, repeats=(False, False))


def _tensordot_dims(a: "Tensor", b: "Tensor", dims: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if isinstance(dims, TensorBase):
        dims = dims.tolist() if dims.ndim else dims.item()  # type: ignore[attr-defined]
    if isinstance(dims, (tuple, list)):
        if len(dims) == 2 and all(isinstance(x, (tuple, list)) for x in dims):
            return as_dims(dims[0], "dims"), as_dims(dims[1], "dims")
        if len(dims) == 2:
            raise LayoutTypeError("argument", f"tensordot: dims must be an int or two lists of ints, got {dims!r}")
        raise LayoutValueError("argument", f"tensordot: dims must be an int or two lists of ints, got {dims!r}")
    if not isinstance(dims, int):
        raise LayoutError("argument", f"tensordot: dims must be an int or two lists of ints, got {dims!r}")
    count = as_int(dims, "dims")
    if count < 0 or count > min(a.ndim, b.ndim):
        raise LayoutError("dimension", f"tensordot: {count} dimensions cannot be paired (facts 4.4)")
    return tuple(range(-count, 0)), tuple(range(count))


def _summed(t: "Tensor", dim: int) -> "Tensor":
    return total(t, (dim,), keepdim=True, dtype=t.dtype)


def einsum(*args: Any) -> "Tensor":
    """Sums of products of operands whose dimensions are named: `einsum("ij,jk->ik", a, b)`.

    A permutation or a diagonal of one operand is a view; without `->` the output has the names that occur once, sorted.

    Raises: argument (ValueError for too few arguments), dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    if len(args) < 2:
        raise LayoutValueError("argument", "einsum: an equation and at least one operand are needed")
    if isinstance(args[0], TensorBase):
        args = _from_lists(args)
    equation, operands = args[0], args[1:]
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    if not isinstance(equation, str) or any(not isinstance(x, TensorBase) for x in operands):
        raise LayoutTypeError("argument", "einsum: an equation (str) and tensors are needed")
    if not operands:
        raise LayoutError("argument", "einsum: at least one operand is needed")
    return _contract(*_aligned(equation, operands), count=len(operands))


def _from_lists(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """`einsum(a, [0, 1], b, [1, 2], [0, 2])` in letters."""

    def text(labels: Any) -> str:
        found = []
        for s in labels:
            if s is Ellipsis:
                found.append("...")
            elif not 0 <= s < 52:
                raise LayoutValueError("argument", f"einsum: the label {s} is not in [0, 52)")
            else:
                found.append(_LETTERS[s])
        return "".join(found)

    equation = ",".join(text(labels) for labels in args[1::2])
    operands = args[0::2]
    if len(args) % 2:
        equation += "->" + text(args[-1])
        operands = operands[:-1]
    return (equation, *operands)


def _labels(text: str, where: str) -> list[int]:
    """Numbers of the letters of one term, `_ELLIPSIS` for `...`."""
    text = text.replace(" ", "")
    found: list[int] = []
    i = 0
    while i < len(text):
        if text[i] == ".":
            if _ELLIPSIS in found or text[i : i + 3] != "...":
                raise LayoutError("argument", f"einsum: a stray '.' in the term {text!r} of {where}")
            found.append(_ELLIPSIS)
            i += 3
            continue
        if text[i] not in _LETTERS:
            raise LayoutError("argument", f"einsum: the character {text[i]!r} in the term {text!r} of {where}")
        found.append(_LETTERS.index(text[i]))
        i += 1
    return found


class _Plan:
    """Where each label's dimension lies once all operands are permuted alike: output first, then what is summed."""

    def __init__(self, terms: list[list[int]], operands: tuple["Tensor", ...], right: str | None) -> None:
        count = [0] * 52
        self.covered = 0
        for k, (labels, x) in enumerate(zip(terms, operands, strict=True)):
            named = len(labels) - (_ELLIPSIS in labels)
            if named > x.ndim or (_ELLIPSIS not in labels and named != x.ndim):
                raise LayoutError("dimension", f"einsum: {named} labels for operand {k} of shape {x._layout.shape}")
            if _ELLIPSIS in labels:
                self.covered = max(self.covered, x.ndim - named)
            for label in labels:
                if label != _ELLIPSIS:
                    count[label] += 1
        self.place: dict[int, int] = {}
        self.ellipsis = 0
        self.width = 0
        shown = right is None
        if right is None:
            self.width = self.covered
            for label in range(52):
                if count[label] == 1:
                    self._add(label)
        else:
            for label in _labels(right, "the output"):
                if label == _ELLIPSIS:
                    shown = True
                    self.ellipsis = self.width
                    self.width += self.covered
                elif not count[label] or label in self.place:
                    raise LayoutError(
                        "argument", f"einsum: {_LETTERS[label]!r} of the output repeats or is in no operand"
                    )
                else:
                    self._add(label)
        self.kept = self.width
        if not shown:
            self.ellipsis = self.width
            self.width += self.covered
        for label in range(52):
            if count[label] and label not in self.place:
                self._add(label)

    def _add(self, label: int) -> None:
        self.place[label] = self.width
        self.width += 1


def _aligned(equation: str, operands: tuple["Tensor", ...]) -> tuple[deque["Tensor"], _Plan, list[int]]:
    left, arrow, right = equation.partition("->")
    parts = left.split(",")
    if len(parts) != len(operands):
        raise LayoutError("argument", f"einsum: {len(parts)} terms for {len(operands)} operands")
    terms = [_labels(p, f"operand {k}") for k, p in enumerate(parts)]
    plan = _Plan(terms, operands, right if arrow else None)
    sizes: dict[int, int] = {}
    uses = [0] * plan.width
    ops: deque[Tensor] = deque()
    for k, (labels, x) in enumerate(zip(terms, operands, strict=True)):
        ops.append(_align(x, labels, plan, sizes, uses, k))
    return ops, plan, uses


def _align(x: "Tensor", labels: list[int], plan: _Plan, sizes: dict[int, int], uses: list[int], k: int) -> "Tensor":
    """An operand permuted to the plan's order, repeated labels taken as diagonals, missing ones of length 1."""
    order = [-1] * plan.width
    dim = 0

    def take(position: int) -> None:
        nonlocal dim
        length = x._layout.shape[dim]
        if length != 1:
            if sizes.setdefault(position, length) != length:
                raise LayoutError(
                    "size", f"einsum: operand {k} has length {length} where others have {sizes[position]}"
                )
            uses[position] += 1
        order[position] = dim
        dim += 1

    named = len(labels) - (_ELLIPSIS in labels)
    rank = x.ndim
    for label in labels:
        if label == _ELLIPSIS:
            for j in range(plan.covered - (rank - named), plan.covered):
                take(plan.ellipsis + j)
        elif order[plan.place[label]] == -1:
            take(plan.place[label])
        else:
            before = order[plan.place[label]]
            if x._layout.shape[dim] != x._layout.shape[before]:
                raise LayoutError("size", f"einsum: the repeated {_LETTERS[label]!r} of operand {k} names two lengths")
            x = view_ops.movedim(slicing_ops.diagonal(x, 0, before, dim), -1, before)
    for position, d in enumerate(order):
        if d == -1:
            x = view_ops.unsqueeze(x, dim)
            order[position] = dim
            dim += 1
    return view_ops.permute(x, tuple(order))


def _contract(ops: deque["Tensor"], plan: _Plan, uses: list[int], *, count: int) -> "Tensor":
    """Multiply the operands from the left, summing each dimension as soon as nothing else needs it."""
    while len(ops) > 1:
        a, b = ops.popleft(), ops.popleft()
        both: list[int] = []
        only_a: list[int] = []
        only_b: list[int] = []
        for d in range(plan.kept, plan.width):
            wide_a, wide_b = a._layout.shape[d] != 1, b._layout.shape[d] != 1
            if wide_a and wide_b:
                uses[d] -= 1
                if uses[d] == 1:
                    both.append(d)
                    uses[d] = 0
            elif uses[d] == 1 and (wide_a or wide_b):
                (only_a if wide_a else only_b).append(d)
                uses[d] = 0
        ops.appendleft(_pair(_sum(a, only_a), _sum(b, only_b), both))
    result = ops[0]
    if plan.width == plan.kept:
        return result
    if count > 1:
        return view_ops.view(result, result._layout.shape[: plan.kept])
    return _sum(result, list(range(plan.kept, plan.width)), keepdim=False)


def _sum(t: "Tensor", dims: list[int], *, keepdim: bool = True) -> "Tensor":
    return total(t, tuple(dims), keepdim=keepdim) if dims else t


def _pair(left: "Tensor", right: "Tensor", summed: list[int]) -> "Tensor":
    """Product of two operands of equal rank summed over dimensions, which stay with length 1: a view of a `bmm`."""
    if not summed:
        return arithmetic.mul(left, right)
    p, q = left._layout.shape, right._layout.shape
    rest = [d for d in range(len(p)) if d not in summed]
    shared = [d for d in rest if p[d] != 1 and q[d] != 1]
    left_only = [d for d in rest if p[d] != 1 and q[d] == 1]
    right_only = [d for d in rest if p[d] == 1]
    for d in (*shared, *summed):
        if p[d] != q[d]:
            raise LayoutError("size", f"einsum: lengths {p[d]} and {q[d]} do not agree")
    if left_only and right_only and right_only[-1] < left_only[0]:
        # The other way round the product comes out in order.
        left, right, left_only, right_only = right, left, right_only, left_only
        p, q = q, p
    size = (
        *[p[d] for d in (*shared, *left_only)],
        *[1 for _ in summed],
        *[q[d] for d in right_only],
    )
    order = [*shared, *left_only, *summed, *right_only]
    batch, terms = prod([p[d] for d in shared]), prod([p[d] for d in summed])
    a = reshape_to(view_ops.permute(left, tuple(order)), (batch, prod([p[d] for d in left_only]), terms))
    b = reshape_to(
        view_ops.permute(right, (*shared, *summed, *right_only, *left_only)),
        (batch, terms, prod([q[d] for d in right_only])),
    )
    back = [0] * len(order)
    for position, d in enumerate(order):
        back[d] = position
    return view_ops.permute(view_ops.view(bmm(a, b), size), tuple(back))


@keeps("i1", "i2", "i3")
def trilinear(
    i1: "Tensor", i2: "Tensor", i3: "Tensor", expand1: Any, expand2: Any, expand3: Any, sumdim: Any, unroll_dim: int = 1
) -> "Tensor":
    """Products of three tensors, summed over dimensions, slice by slice along one; row-major.

    Each has a new dimension of length 1 at the places that its list names.

    Raises: dimension (also IndexError), size, dtype. Source: `torch._trilinear`, 2.13.
    """
    rank = i1.ndim + len(expand1)
    if not 0 <= unroll_dim < rank:
        raise LayoutError("dimension", f"_trilinear: unroll_dim {unroll_dim} of {rank} dimensions")
    new = [_dim_set(x, rank) for x in (expand1, expand2, expand3)]
    summed = _dim_set(sumdim, rank)
    operands = [i1, i2, i3]
    for k in range(3):
        for d in sorted(new[k]):
            operands[k] = view_ops.unsqueeze(operands[k], d)
        if operands[k].ndim != rank:
            raise LayoutError("dimension", f"_trilinear: {operands[k].ndim} dimensions instead of {rank}")
    lengths = []
    for d in range(rank):
        given = [x._layout.shape[d] for x, added in zip(operands, new, strict=True) if d not in added]
        lengths.append(given[-1] if given else 0)
    own = summed - {unroll_dim}
    early, late = sorted(own & new[2]), sorted(own - new[2])
    with no_grad():
        total_of = zeros([1 if d in summed else n for d, n in enumerate(lengths)], dtype=i1.dtype)
        for n in range(lengths[unroll_dim]):
            a, b, c = [
                slicing_ops.narrow(x, unroll_dim, 0 if unroll_dim in added else n, 1)
                for x, added in zip(operands, new, strict=True)
            ]
            part = _summed_pair(_summed_pair(a, b, early), c, late)
            arithmetic.add_(total_of if unroll_dim in summed else slicing_ops.narrow(total_of, unroll_dim, n, 1), part)
    shape = tuple([n for d, n in enumerate(lengths) if d not in summed])
    total_of._layout = Layout(shape, contiguous_strides(shape), 0)
    return recorded(as_new(total_of), i1, i2, i3)


def _summed_pair(a: "Tensor", b: "Tensor", dims: list[int]) -> "Tensor":
    """`_pair`, where what only one operand has is summed before."""
    wide_a, wide_b = ([d for d in dims if x._layout.shape[d] != 1] for x in (a, b))
    return _pair(_sum(a, [d for d in wide_a if d not in wide_b]), _sum(b, [d for d in wide_b if d not in wide_a]), dims)


def _dim_set(dims: Any, rank: int) -> set[int]:
    found = [wrap_dim(d, rank) for d in as_dims(dims, "dims")]
    if len(set(found)) != len(found):
        raise LayoutError("dimension", f"_trilinear: {dims} repeats a dimension")
    return set(found)
