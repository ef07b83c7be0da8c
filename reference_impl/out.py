"""Results written into given tensors: by `out=`, and in place."""

from typing import TYPE_CHECKING, Any

from . import shadow
from .conversion import cast, cast_marks
from .copies import store, to_copy, write_copy
from .core import (
    CONJ,
    NEG,
    TensorBase,
    check_inplace,
    check_internal_overlap,
    check_overlap,
    order_marks,
    records_history,
    values,
    written,
)
from .dtypes import dtype
from .errors import LayoutError, LayoutTypeError
from .layout import Layout, Shape, Strides, check_numel, contiguous_strides
from .promotion import can_cast

if TYPE_CHECKING:
    from .tensors import Tensor


def check_out(out: Any, *inputs: Any) -> None:
    """Refuse an `out` that is no tensor, or gradients through it.

    Raises: argument (TypeError), grad (RuntimeError). Source: facts 5.4, torch 2.13.
    """
    if not isinstance(out, TensorBase):
        raise LayoutTypeError("argument", f"out must be a Tensor, got {type(out).__name__}")

    if records_history(out, *inputs):
        raise LayoutError("grad", "out= does not support automatic differentiation (facts 5.4)")


def check_one_bit(*outs: Any) -> None:
    """Refuse outputs of which two have the same bit: the fallback for it copies one back.

    Raises: argument (RuntimeError). Source: facts 9.15, torch 2.13.
    """
    for bit in (CONJ, NEG):
        if sum(bool(t._bits & bit) for t in outs) > 1:
            raise LayoutError("argument", "several outputs have the same bit (facts 9.15)")


def resize_output(out: "Tensor", shape: Shape, strides: Strides | None = None) -> None:
    """Give `out` the shape of a result, growing its storage; nothing where it has that shape.

    Raises: resize. Source: facts 4.3.6, torch 2.13.
    """
    if out._layout.shape == shape:
        return
    check_numel(shape)
    offset = out._layout.offset
    # Strides come after the storage has grown: where it cannot, the output is left row-major.
    out._layout = Layout(shape, contiguous_strides(shape), offset)
    grow(out)
    if strides is not None and not out._bits:  # with a bit it takes over the sizes of a copy
        out._layout = Layout(shape, strides, offset)


def check_new(out: Any, input: Any, d: dtype, shape: Shape) -> None:
    """What is done to an `out` that is given before a kernel is looked for: it is checked, and resized to row-major.

    Raises: argument (TypeError), grad, dtype, resize. Source: facts 4.3.6, torch 2.13.
    """
    if out is not None:
        check_out(out, input)
        if out.dtype is not d:
            raise LayoutError("dtype", f"an out of {d} is needed, got {out.dtype}")
        resize_output(out, shape)


def grow(t: "Tensor") -> None:
    """Grow a storage to what its tensor's layout requires. Raises: resize. Source: facts 6.1, torch 2.13."""
    layout = t._layout
    needed = layout.span * t.dtype.itemsize
    if needed > len(t._storage._bytes):
        t._storage.resize_(needed)


def write_out(
    out: "Tensor | None",
    result: "Tensor",
    *inputs: Any,
    exact: bool = False,
    apart: bool = False,
    composed: bool = False,
    row_major: bool = False,
    moving: bool = False,
) -> "Tensor":
    """Deliver an operator's fresh result, or copy it into `out`.

    `exact` where the operator converts nothing, `apart` where it looks for overlap, `composed` where PyTorch computes
    aside and copies, which automatic differentiation follows as it does any write in place. `row_major` where an
    output of another shape becomes so, however the result is laid out; `moving` where elements are written under
    another index than they are read at.

    Raises: grad, dtype, overlap, resize. Source: facts 4.3.6 and 5.2, torch 2.13.
    """
    if out is None:
        return result
    strides = None if row_major else result._layout.strides
    if composed and isinstance(out, TensorBase):
        check_inplace(out, *inputs)
        resize_output(out, result._layout.shape, strides)
        check_internal_overlap(out)
    else:
        check_out(out, *inputs)
    if exact and out.dtype is not result.dtype:
        raise LayoutError("dtype", f"a {result.dtype} result needs an out of that dtype, got {out.dtype}")
    if apart:
        check_overlap(out, *inputs)
    if not can_cast(result.dtype, out.dtype):
        raise LayoutError("dtype", f"a {result.dtype} result cannot be cast to {out.dtype} (facts 4.3.8)")

    resize_output(out, result._layout.shape, strides)
    if row_major:
        check_internal_overlap(out)
    plain = values(result)
    marks = cast_marks(plain, result.dtype, out.dtype, shadow.marks_of(result))
    order = order_marks(out, *inputs, moving=moving)
    store(out, cast(plain, result.dtype, out.dtype), marks if order is None else order)
    written(out, *(inputs if composed else ()))
    return out


def write_over(self: "Tensor", result: "Tensor", *inputs: Any) -> "Tensor":
    """Copy a result over a tensor, for operators that PyTorch computes aside and writes in place.

    Raises: grad, size, dtype, overlap. Source: facts 5, torch 2.13.
    """
    check_inplace(self, *inputs)
    if result._layout.shape != self._layout.shape:
        raise LayoutError("size", f"a result of {result._layout.shape} does not fit {self._layout.shape}")
    if not can_cast(result.dtype, self.dtype):
        raise LayoutError("dtype", f"a {result.dtype} result cannot be cast to {self.dtype} (facts 4.3.8)")
    result._has_fn = False
    if self._bits and result.dtype is not self.dtype:
        result = to_copy(result, self.dtype)  # into the copy that is copied back
    write_copy(self, result)
    written(self, *inputs)
    return self
