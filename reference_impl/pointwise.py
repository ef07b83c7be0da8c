"""The engine of elementwise operators: common dtype, broadcasting, output layout, marks, writes in place.

An `Op` says what is special about one operator; `apply` and `apply_` are the same for all of them.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from . import dtypes as dt
from . import shadow
from .calls import as_number
from .conversion import cast, cast_marks, digits, half_nans, nan_marks, pack_half_complex, unpack_half_complex
from .copies import reader, store, to_copy
from .core import (
    TensorBase,
    array,
    check_history,
    check_inplace,
    check_overlap,
    fresh,
    order_marks,
    recorded,
    values,
    written,
)
from .dtypes import dtype, group_of
from .errors import LayoutError, LayoutOverflowError, LayoutTypeError, UnspecifiedError, UnsupportedError
from .kept import POINTWISE, check_kept
from .out import check_out, resize_output, write_out
from .output_layout import broadcast_shapes, output_strides, preserved_strides
from .promotion import can_cast, common_dtype, get_default_dtype
from .results import inexact_marks
from .versions import inferred
from .views import expand

if TYPE_CHECKING:
    from .tensors import Tensor

SHORT_FLOATS = frozenset((dt.float16, dt.bfloat16))


@dataclass(slots=True, eq=False)
class Op:
    """What is special about one elementwise operator.

    `groups` are letters of `dtypes.group_of`: what PyTorch has a kernel for.
    """

    name: str
    compute: Callable[..., Any]
    groups: str
    _: KW_ONLY

    # The dtype of the result: "same" as the common one, "bool", "float" (integers are promoted first) or "real" (of
    # complex).
    result: str = "same"
    # Dtypes refused with a RuntimeError before any kernel is looked for.
    refusal: str = ""
    # Delivered into an `empty_like` of the input, where that has the shape of the result.
    like: bool = False
    # In place, automatic differentiation does not look at it.
    tracked: bool = True
    # Into an output, automatic differentiation follows it as it does any write in place.
    composed: bool = False
    # Overlap is not looked for.
    overlaps: bool = False
    # Of one tensor, yet written to every dtype that its result can be cast to.
    converts: bool = False
    # Its truth values are written to no other dtype.
    truth_only: bool = False
    # In place it makes a tensor of a number, which is no inference tensor; the others have a kernel for numbers.
    wraps_numbers: bool = False
    # By the second operand: integers refuse a zero, and a float that is only close to one has either sign.
    divides: bool = False
    # Short floats meet a scalar before it is rounded to them, in a kernel that has no float8.
    wide_scalar: bool = False

    # IEEE arithmetic fixes every bit.
    exact: bool = True
    # A complex product's four real ones may be fused, so that its bits depend on the vector width.
    exact_complex: bool = True
    # Rounded between the steps in short floats, so that a jump may fall on either side.
    exact_short: bool = True
    # A relative error of an input stays one.
    smooth: bool = False
    # Smooth where a number is positive, and ends at zero.
    ends_at_zero: bool = False
    # Of two zeros either may be the smaller, so that the sign of a zero is not specified.
    loose_zero: bool = False
    # Looks at the sign of a NaN, which is not specified.
    reads_signs: bool = False
    # Half of exp(x): some loops form the whole, which is infinite where the half is not yet.
    halves: bool = False
    # Adds up the sizes of the terms, where they may cancel; so many of them are rounded to a short float on the way.
    magnitude: Callable[..., Any] | None = None
    roundings: int = 0
    # What it would add up to in the formula of short floats alone, whose error does not shrink with the result.
    short_magnitude: float | None = None
    # Which results of floats whole registers and single numbers disagree on.
    unknown: Callable[..., Any] | None = None

    def check(self, common: dtype) -> None:
        """Refuse a dtype that PyTorch has no kernel for. Raises: dtype."""
        group = group_of(common)
        if group not in self.groups:
            if group in self.refusal:
                raise LayoutError("dtype", f"{self.name}: {common} is refused")
            raise UnsupportedError("dtype", f"{self.name}: PyTorch has no kernel for {common}")

    def only_out(self, operands: tuple[Any, ...], result: dtype, out: dtype) -> dtype | None:
        """The one dtype that `out` may be of; None where any will do that the result can be cast to."""
        if self.truth_only:
            return dt.bool_
        own: dtype = operands[0].dtype if isinstance(operands[0], TensorBase) else result
        if self.result == "real":
            # The size of a complex number is put into a complex tensor as one of its own dtype.
            return own if out.is_complex or not own.is_complex else None
        return result if len(operands) == 1 and self.result == "same" and not self.converts else None

    def dtypes(self, operands: tuple[Any, ...]) -> tuple[dtype, dtype]:
        """Dtype in which it is computed, and dtype of the result. Raises: dtype."""
        common = common_dtype(*operands)
        if self.result == "float" and common.category in ("bool", "int"):
            common = get_default_dtype()
        if self.result == "bool":
            return common, dt.bool_
        if self.result == "real":
            return common, common.to_real()
        return common, common


def operand_layout(x: Any, common: dtype) -> tuple[Any, Any]:
    """Shape and strides with which an operand takes part in the choice of the output's layout."""
    if not isinstance(x, TensorBase):
        return ((), ())
    shape, strides, _ = x._layout
    if x.dtype is not common or x._bits:
        strides = preserved_strides(shape, strides)
    return (shape, strides)


def operand_array(x: Any, common: dtype) -> Any:
    """An operand's values in the common dtype. Raises: overflow (OverflowError) for a number past 64 bits."""
    if isinstance(x, TensorBase):
        return cast(values(x), x.dtype, common)
    d = _NUMBER_DTYPES[type(x)]
    if d is dt.int64 and x >= 2**63:
        d = dt.uint64  # which promotes as int64 does
    try:
        return cast(np.array(x, d.numpy), d, common)
    except OverflowError:
        raise LayoutOverflowError("overflow", f"{x} does not fit 64 bits") from None


# Python's numbers keep their precision until they meet the common dtype.
_NUMBER_DTYPES = {bool: dt.bool_, int: dt.int64, float: dt.float64, complex: dt.complex128}


def operand_marks(op: Op, operands: tuple[Any, ...], shape: tuple[int, ...], common: dtype) -> Any:
    """What is known about a result, from what is known about its operands."""
    found = []
    for place, x in enumerate(operands):
        if isinstance(x, TensorBase) and (x._storage._shadow is not None or op.reads_signs):
            m = shadow.marks_of(x)
            if op.reads_signs and x.dtype is not common:
                m = shadow.merge(x._layout.shape, m, half_nans(values(x), x.dtype))
            if m is not None:
                # A NaN is a NaN whatever its bits.
                m = np.where(m == shadow.NAN, shadow.UNSPECIFIED if op.reads_signs else shadow.EXACT, m)
                if op.ends_at_zero:
                    m = np.where((m == shadow.TOLERANCE) & _may_be_zero(x), shadow.UNSPECIFIED, m)
                if not op.smooth or digits(x.dtype) < digits(common):  # the tolerance is one of fewer digits
                    m = np.where(m == shadow.TOLERANCE, shadow.UNSPECIFIED, m)
                elif place and op.divides:
                    # What is only close to zero has either sign, or a quotient of any size.
                    m = np.where((m == shadow.TOLERANCE) & (values(x) == 0), shadow.UNSPECIFIED, m)
                found.append(m.astype(np.uint8))
    return shadow.merge(shape, *found) if found else None


def _may_be_zero(x: Any) -> Any:
    """Which elements, known within a tolerance of the tensor's largest, may as well be zero or of the other sign."""
    size = np.abs(values(x).astype(np.complex128 if x.dtype.is_complex else np.float64))
    largest = size[np.isfinite(size)].max(initial=0.0)
    return size <= largest * {2: 2e-2, 4: 1e-5}.get(x.dtype.to_real().itemsize, 1e-11)


def _computed(op: Op, operands: tuple[Any, ...], common: dtype, result: dtype, shape: tuple[int, ...]) -> Any:
    """An operator's values, and what is known about them. Raises: dtype; what is not specified."""
    if common.category == "int" and op.divides:
        known = operand_marks(op, operands[1:], shape, common)
        if known is not None and shadow.UNSPECIFIED in known:
            raise UnspecifiedError(f"{op.name}: a divisor is not specified, and may be zero")
    if common in dt.FLOAT8 and op.wide_scalar and (_is_single(operands[1]) or _is_repeated(operands[1])):
        # The kernel for a number has no float8.
        raise UnsupportedError("dtype", f"{op.name}: PyTorch has no kernel for {common} with a scalar")
    arrays = _arrays(op, operands, common, result)
    r = _values(op, arrays, common, result)
    return r, _marks(op, operands, arrays, r, common, result)


def _arrays(op: Op, operands: tuple[Any, ...], common: dtype, result: dtype) -> list[Any]:
    """The operands as they are computed with: short floats as float, also float8 where it is rounded to it again."""
    if common in SHORT_FLOATS or (common in dt.FLOAT8 and result is common):
        wide = op.wide_scalar and len(operands) > 1 and _is_single(operands[1])
        return [
            operand_array(x, dt.float32) if wide and k == 1 else cast(operand_array(x, common), common, dt.float32)
            for k, x in enumerate(operands)
        ]
    arrays = [operand_array(x, common) for x in operands]
    return [unpack_half_complex(a) for a in arrays] if common is dt.complex32 else arrays


def _values(op: Op, arrays: list[Any], common: dtype, result: dtype) -> Any:
    """What an operator computes, in the dtype of the result."""
    with np.errstate(all="ignore"):
        r = np.asarray(op.compute(*arrays))
    if result is dt.complex32:
        return pack_half_complex(r)
    if result is common and (common in SHORT_FLOATS or common in dt.FLOAT8):
        r = cast(r, dt.float32, common)  # rounded once
    return r if r.dtype == result.numpy else r.astype(result.numpy)


def _marks(op: Op, operands: tuple[Any, ...], arrays: list[Any], r: Any, common: dtype, result: dtype) -> Any:
    """What is known about the values that an operator has computed; None where every bit is."""
    marks = operand_marks(op, operands, r.shape, common)
    if common.category not in ("float", "complex", "raw") and result.category != "float":
        return marks
    if common in SHORT_FLOATS and not op.exact_short:
        return np.full(r.shape, shadow.UNSPECIFIED, np.uint8)
    found = [marks, nan_marks(r, result)]
    exact = op.exact and (op.exact_complex or not common.is_complex)
    if (not exact or common is not result) and result.category != "bool":
        found.append(_rounding_marks(op, arrays, r, common, result))
    if op.unknown is not None and common.category == "float":
        with np.errstate(all="ignore"):
            found.append(_unspecified_where(op.unknown(*arrays)))
    if op.halves and result is not dt.float16:  # which is halved as float, where the whole has room
        limit = dt.LARGEST[dt.float32 if common in SHORT_FLOATS else result] / 2
        found.append(_unspecified_where(np.abs(r).astype(np.float64) > limit))
    if op.loose_zero and r.dtype.kind not in "iub":
        found.append(np.where(r == 0, np.uint8(shadow.TOLERANCE), np.uint8(shadow.EXACT)))
    known = [m for m in found if m is not None]
    return reduce(np.maximum, known) if known else None


def _rounding_marks(op: Op, arrays: list[Any], r: Any, common: dtype, result: dtype) -> Any:
    """What is known about values that IEEE arithmetic does not fix: a tolerance, unless terms cancel."""
    known: Any = np.full(r.shape, shadow.TOLERANCE, np.uint8)
    if result.category not in ("float", "complex") or result in dt.FLOAT8:
        return known
    short = common in SHORT_FLOATS
    size: Any = None
    if op.magnitude is not None:
        with np.errstate(all="ignore"):
            size = op.magnitude(*[np.abs(x) for x in arrays])
    elif short:
        size = op.short_magnitude
    if size is not None:
        r_wide = r.astype(np.complex128 if result.is_complex else np.float64)
        size = np.broadcast_to(size, r.shape).astype(np.float64)
        known = inexact_marks(r_wide, result, size, roundings=op.roundings if short else 0)
    if result.category == "float":
        # Vectorised functions take what is too small to be normal for zero, some of them.
        tiny = float(dt.finfo(result.numpy).tiny)
        known = np.where((r != 0) & (np.abs(r) < tiny), np.uint8(shadow.UNSPECIFIED), known)
    return known


def _unspecified_where(unknown: Any) -> Any:
    return np.where(unknown, np.uint8(shadow.UNSPECIFIED), np.uint8(shadow.EXACT))


def _is_single(x: Any) -> bool:
    return not isinstance(x, TensorBase) or (not x._layout.shape or x.numel() == 1)  # type: ignore[attr-defined]


def _is_repeated(x: "Tensor") -> bool:
    shape, strides, _ = x._layout
    return 0 not in shape and not any(n > 1 and s for n, s in zip(shape, strides, strict=True))


def check_operands(name: str, operands: tuple[Any, ...]) -> None:
    """Refuse operands that are neither tensors nor numbers. Raises: argument (TypeError)."""
    for x in operands:
        if not isinstance(x, (TensorBase, int, float, complex)):
            as_number(x)  # which says so where it is too large
            raise LayoutTypeError("argument", f"{name}: expected a tensor or a number, got {type(x).__name__}")


def apply(op: Op, operands: tuple[Any, ...], out: Any = None) -> "Tensor":
    """Run an elementwise operator into a fresh tensor, or into `out`.

    Raises: broadcast, dtype, overlap, grad. Source: facts 4.3, torch 2.13.
    """
    if out is not None:
        return apply_out(op, operands, out)
    if op.result != "bool":
        if inferred[0] and op.name in POINTWISE:
            check_kept(op.name, POINTWISE[op.name], operands)
        check_history(*operands)  # what has no gradient asks for no history
    shape = broadcast_shapes(*[x._layout.shape if isinstance(x, TensorBase) else () for x in operands])
    common, result = op.dtypes(operands)
    op.check(common)
    if (op.like and shape == operands[0]._layout.shape) or (op.result == "real" and common.is_complex):
        strides = preserved_strides(shape, operands[0]._layout.strides)
    else:
        strides = output_strides(shape, tuple([operand_layout(x, common) for x in operands]))
    t = fresh(shape, strides, result)
    r, marks = _computed(op, operands, common, result, shape)
    array(t)[...] = r
    if marks is not None:
        shadow.stamp(t, marks)
    return recorded(t, *operands)


def apply_(op: Op, self: "Tensor", others: tuple[Any, ...]) -> "Tensor":
    """Run an elementwise operator in place; strides never change.

    Raises: grad, overlap, broadcast, dtype, in this order. Source: facts 4.3.7, 4.3.8 and 5, torch 2.13.
    """
    if op.tracked:
        check_inplace(self, *(x if op.wraps_numbers or isinstance(x, TensorBase) else None for x in others))
    operands = (self, *others)
    if inferred[0] and op.name in POINTWISE:
        check_kept(op.name + "_", POINTWISE[op.name], operands)
    write_into(op, self, operands)
    written(self, *(others if op.tracked else ()))
    return self


def write_into(op: Op, target: "Tensor", operands: tuple[Any, ...]) -> None:
    """Compute and write to a tensor that keeps its shape and dtype."""
    if target._bits or not op.overlaps:
        check_overlap(target, *operands)
    shape = broadcast_shapes(*[x._layout.shape if isinstance(x, TensorBase) else () for x in operands])
    if shape != target._layout.shape:
        raise LayoutError(
            "broadcast",
            f"{op.name}: a result of shape {shape} does not fit the tensor written to of shape {target._layout.shape} "
            "(facts 4.3.7)",
        )
    if target._storage._is_meta and op.name in _WRITES_NOTHING:
        _check_promotion_on_meta(op, target, operands[1])
        return
    common, result = op.dtypes(operands)
    if not can_cast(result, target.dtype):
        raise LayoutError("dtype", f"{op.name}: a {result} result cannot be cast to {target.dtype} (facts 4.3.8)")
    op.check(common)
    order = order_marks(target, *[_spread(x, shape) for x in operands])
    try:
        r, marks = _computed(op, operands, common, result, shape)
    except LayoutError:
        # Integer division by zero is found while writing: what is there by then depends on the traversal.
        shadow.leave_unspecified(target)
        raise
    if result is not target.dtype:
        marks = cast_marks(r, result, target.dtype, marks)
        r = cast(r, result, target.dtype)
    if order is not None:
        marks = order
    store(target, r, marks)


_WRITES_NOTHING: Final = ("add", "sub", "mul", "logical_and", "logical_or", "logical_xor")
"""In place on meta these answer with what they were given; the dtype that numbers would have is not found out."""


def _check_promotion_on_meta(op: Op, target: "Tensor", other: Any) -> None:
    """Raises: dtype (RuntimeError) where a float would be added to integers, or what is no bool to bools."""
    if op.name not in ("add", "sub"):
        return
    dtype = other.dtype if isinstance(other, TensorBase) else None
    is_bool = dtype is dt.bool_ or isinstance(other, bool)
    is_float = isinstance(other, float) if dtype is None else dtype.is_floating_point
    is_integer = target.dtype.category == "int"  # raw bits are no numbers, and nobody asks
    if (is_float and is_integer) if target.dtype is not dt.bool_ else not is_bool:
        raise LayoutError("dtype", f"{op.name}: {target.dtype} in place, and another kind (facts 4.3.8)")


def _spread(x: Any, shape: tuple[int, ...]) -> Any:
    if not isinstance(x, TensorBase) or x._layout.shape == shape:
        return x

    return reader(x, expand(x._layout, shape))


def apply_out(op: Op, operands: tuple[Any, ...], out: "Tensor") -> "Tensor":
    """Run an elementwise operator into a given tensor, which is resized where its shape differs.

    Raises: grad, overlap, broadcast, dtype. Source: facts 4.3.6, torch 2.13.
    """
    if op.composed and isinstance(out, TensorBase):
        check_inplace(out, *operands)
    # Truth values have no gradients to lose.
    elif op.result != "bool" or not isinstance(out, TensorBase):
        check_out(out, *operands)
    if out._bits or not op.overlaps:
        check_overlap(out, *operands)
    shape = broadcast_shapes(*[x._layout.shape if isinstance(x, TensorBase) else () for x in operands])
    if out._layout.shape != shape and any(x is out for x in operands) and not out._bits:
        raise LayoutError(
            "broadcast", f"{op.name}: out is an input of shape {out._layout.shape}, and cannot be resized to {shape}"
        )
    common, result = op.dtypes(operands)
    only = op.only_out(operands, result, out.dtype)
    if only is not None and out.dtype is not only:
        raise LayoutError("dtype", f"{op.name}: a {result} result needs an output of {only}, got {out.dtype}")
    if not can_cast(result, out.dtype):
        raise LayoutError("dtype", f"{op.name}: a {result} result cannot be cast to {out.dtype} (facts 4.3.8)")
    try:
        op.check(common)
    except (LayoutError, UnsupportedError):
        # Kernels are looked for, and factors looked at, after all that is known of dtypes.
        if group_of(common) not in op.refusal:
            resize_output(out, shape, output_strides(shape, tuple([operand_layout(x, common) for x in operands])))
        raise
    if out._layout.shape != shape:
        try:
            r, marks = _computed(op, operands, common, result, shape)
        except LayoutError:
            # Integer division by zero is found while writing.
            resize_output(out, shape, output_strides(shape, tuple([operand_layout(x, common) for x in operands])))
            shadow.leave_unspecified(out)
            raise
        resize_output(out, shape, output_strides(shape, tuple([operand_layout(x, common) for x in operands])))
        # Overlap was looked for before the output was resized.
        order = order_marks(out, *[_spread(x, shape) for x in operands])
        if result is not out.dtype:
            marks = cast_marks(r, result, out.dtype, marks)
            r = cast(r, result, out.dtype)
        store(out, r, marks if order is None else order)
    else:
        write_into(op, out, operands)
    written(out, *(operands if op.composed else ()))
    return out


def apply_with_scalars(
    op: Op, input: Any, scalars: tuple[Any, ...], out: "Tensor | None", *, exact: bool = False
) -> "Tensor":
    """`apply` to one tensor of an operator that has its numbers within: they decide the dtype, but not the layout.

    `exact` where the result is not converted to the dtype of `out`.

    Raises: dtype, as `apply`.
    """
    common = common_dtype(input, *scalars)
    source = input
    if common is not input.dtype:
        source = to_copy(input, common)
    result = apply(op, (source,))
    result._has_fn = False
    return write_out(out, recorded(result, input), input, apart=True, exact=exact)
