"""What reading and writing by an index have in common: indices as arrays, their checks, values, marks."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow, slicing
from .conversion import cast, cast_marks, half_nans
from .copies import clone, scalar_array, write_copy
from .core import (
    TensorBase,
    array,
    check_layouts_apart,
    detached,
    values,
)
from .dtypes import dtype
from .errors import LayoutError

if TYPE_CHECKING:
    from .tensors import Tensor


def index_values(index: Any, name: str) -> Any:
    """An index tensor as an array of int64. Raises: dtype (RuntimeError)."""
    if not isinstance(index, TensorBase) or index.dtype not in (dt.int64, dt.int32):
        raise LayoutError("dtype", f"{name}: the index must be int32 or int64")
    return values(index).astype(np.int64, copy=False)


def with_marks(out: "Tensor", index: Any, marks: Any) -> "Tensor":
    """What was read by an index, known as well as its elements and the index are."""
    if shadow.marks_of(index) is not None:
        shadow.leave_unspecified(out)
    elif marks is not None:
        shadow.stamp(out, marks)
    return out


def check_gather(name: str, input: "Tensor", d: int, where: Any) -> None:
    """Refuse an index that reaches past the input beside its dimension. Raises: dimension, size (RuntimeError)."""
    shape = input._layout.shape or (1,)
    if where.ndim != input.ndim and max(where.ndim, 1) != max(input.ndim, 1):
        raise LayoutError("dimension", f"{name}: index and input differ in dimensions")
    for k, n in enumerate(where.shape):
        if k != d and n > shape[k]:
            raise LayoutError("size", f"{name}: the index shape {where.shape} is larger than {shape} at dimension {k}")


def check_first_slices(self: "Tensor", d: int, where: Any, source: "Tensor") -> None:
    """Refuse a source whose first slice partly covers the target's: slices are combined by an elementwise operator.

    Raises: overlap (RuntimeError). Source: facts 5.2.7, torch 2.13.
    """
    if self.ndim > 1 and self.numel() and where.size:
        check_layouts_apart(self, slicing.select(self._layout, d, 0), source, slicing.select(source._layout, d, 0))


def places_along(where: Any, d: int) -> tuple[Any, ...]:
    """NumPy's key of the elements that an index along a dimension names."""
    where = np.atleast_1d(where)
    grid = list(np.ogrid[tuple(slice(0, n) for n in where.shape)])
    grid[d] = where
    return tuple(grid)


def number_for(value: Any, d: dtype, name: str) -> tuple[Any, Any]:
    """A number, or a tensor of one, in a dtype, and what is known about it. Raises: dimension, overflow, argument."""
    if isinstance(value, TensorBase):
        if value._layout.shape:
            raise LayoutError(
                "dimension", f"{name}: a value without dimensions is needed, got shape {value._layout.shape}"
            )
        number: Any = value.item()  # type: ignore[attr-defined]
        if value.dtype is d or d is dt.bool_:
            found = values(value)
            return cast(found, value.dtype, d), shadow.merge((), shadow.marks_of(value), half_nans(found, d))
        return scalar_array(number, d), cast_marks(values(value), value.dtype, d, shadow.marks_of(value))
    return scalar_array(value, d), None


def write_where(self: "Tensor", chosen: Any, number: Any, marks: Any, unknown: bool) -> None:
    """Write a number where a mask says, through the tensor's bits; `unknown` says that the mask itself is not known."""
    if self._bits:  # all of a copy is copied back
        whole = clone(detached(self))
        write_where(whole, chosen, number, marks, unknown)
        write_copy(self, whole)
        return
    a = array(self)
    np.copyto(a, number, where=chosen)
    storage = self._storage
    if marks is None and storage._shadow is None and not unknown:
        return
    before = (
        np.zeros(a.shape, np.uint8)
        if storage._shadow is None
        else shadow.element_marks(storage._shadow, self._layout, self.dtype)
    )
    after = np.where(chosen, 0 if marks is None else marks, before).astype(np.uint8)
    shadow.stamp(self, shadow.UNSPECIFIED if unknown else after)


def as_new(t: "Tensor") -> "Tensor":
    """The `writable_copy` that was written to, as if it were fresh: no write counted, no history."""
    t._versions[0] = 0
    t._has_fn = False
    return t


def writable_copy(input: "Tensor", format: Any = None) -> "Tensor":
    """A copy for an operator in place to write to, in the same order of dimensions unless told; without history."""
    t = clone(input, memory_format=format)
    t._has_fn = False
    return t


def any_marks(*tensors: Any) -> bool:
    """Whether any bit of some tensor is not known."""
    return any(shadow.marks_of(t) is not None for t in tensors)


def check_scatter(name: str, self: "Tensor", d: int, where: Any, source: Any) -> None:
    """Refuse an index that reaches past the target or the source. Raises: dimension, size (RuntimeError)."""
    check_gather(name, self, d, where)
    if isinstance(source, TensorBase):
        if max(len(source._layout.shape), 1) != max(where.ndim, 1):
            raise LayoutError("dimension", f"{name}: index and source differ in dimensions")
        for k, n in enumerate(where.shape):
            if n > (source._layout.shape or (1,))[k]:
                raise LayoutError("size", f"{name}: the index is larger than the source at dimension {k}")
