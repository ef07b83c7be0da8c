"""`x[…]` and `x[…] = v`: the basic part is a view; integer and mask tensors gather and scatter."""

from operator import index as _operator_index
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import dtypes as dt
from .advanced_indexing import gather_indexed, index_tensor, mask_tensor, scatter_indexed
from .conversion import cast, check_fillable
from .copies import reader, scalar_array, write_copy, write_fill
from .core import TensorBase, array, build, check_history, check_inplace, has_gradient, view_of, written
from .dtype_view import imag, real
from .errors import LayoutIndexError, LayoutTypeError, LayoutValueError, UnspecifiedError
from .layout import Layout, check_bounds
from .slicing import select, slice_dim
from .storage import UntypedStorage
from .views import expand, unsqueeze, view

if TYPE_CHECKING:
    from .tensors import Tensor


def _bound(x: Any) -> int:
    if type(x) is int:
        return x
    try:
        return _operator_index(x)
    except TypeError:
        raise LayoutTypeError("argument", f"slice indices must be integers or None, got {type(x).__name__}") from None


class Plan(NamedTuple):
    """Layout after the basic items of an index, and the tensor items left over, by the dimension they stand at."""

    layout: Layout
    tensors: dict[int, Any]


def _sliced(layout: Layout, dim: int, item: slice) -> Layout:
    step = 1 if item.step is None else _bound(item.step)
    # A step of 0 is refused before the bounds are looked at.
    start, stop = (None if bound is None or not step else _bound(bound) for bound in (item.start, item.stop))
    sliced = slice_dim(layout, dim, start, stop, step)
    # What names a whole dimension, not counted from its end, takes no view: the layout is the same object.
    return layout if step == 1 and not start and sliced == layout else sliced


def _is_basic_tensor(item: Any) -> bool:
    return not item._layout.shape and item.dtype.category == "int" and item.dtype is not dt.uint8


def plan(input: "Tensor", items: tuple[Any, ...]) -> Plan:
    """Apply the basic items of an index in order, and note the tensor items.

    Raises: index, dimension, step, argument. Source: facts 3.12, torch 2.13.
    """
    layout = input._layout
    tensors: dict[int, Any] = {}
    ndim = len(layout.shape)
    named = 0
    for item in items:
        if item is None or item is Ellipsis or item is True or item is False:
            continue
        if isinstance(item, TensorBase) and item.dtype in (dt.bool_, dt.uint8):
            named += len(item._layout.shape)
        else:
            named += 1
    if named > ndim:
        raise LayoutIndexError("dimension", f"{named} indices for a tensor of {ndim} dimensions (facts 3.7)")
    dim = 0
    for item in items:
        if layout is not input._layout:
            # Each item is a view of what the one before it left, which needs a history and has to lie in the storage.
            check_history(input)
            if input._storage._short and not input._storage._is_meta:
                check_bounds(layout, input.dtype.itemsize, input._storage.nbytes())
        kind = type(item)
        if dim >= len(layout.shape) and not (item is None or item is Ellipsis or isinstance(item, (bool, TensorBase))):
            # A second ellipsis leads there, and PyTorch reads how long that dimension is past the end of its sizes.
            if kind is not slice or item.start or item.stop is not None or item.step not in (None, 1):
                raise UnspecifiedError("an index of a dimension that there is none of, behind a second ellipsis")
            dim += 1
        elif kind is int:
            layout = select(layout, dim, item)
        elif kind is slice:
            layout = _sliced(layout, dim, item)
            dim += 1
        elif item is None:
            layout = unsqueeze(layout, dim)
            dim += 1
        elif item is Ellipsis:
            dim += ndim - named
        elif isinstance(item, bool):
            layout = unsqueeze(layout, dim)
            tensors[dim] = mask_tensor(bool(item))
            dim += 1
        elif isinstance(item, (TensorBase, list, tuple, range, np.ndarray)):
            item = item if isinstance(item, TensorBase) else index_tensor(item)
            if _is_basic_tensor(item):
                layout = select(layout, dim, int(item.item()))  # type: ignore[attr-defined]
                continue
            if not item._layout.shape and item.dtype in (dt.bool_, dt.uint8):
                layout = unsqueeze(layout, dim)
                tensors[dim] = mask_tensor(bool(item.item()))  # type: ignore[attr-defined]
                dim += 1
                continue
            tensors[dim] = item
            dim += len(item._layout.shape) if item.dtype in (dt.bool_, dt.uint8) else 1
        elif isinstance(item, np.integer):
            layout = select(layout, dim, int(item))
        else:
            try:
                layout = select(layout, dim, _operator_index(item))
            except TypeError:
                if isinstance(item, (str, bytes)):  # a sequence, whose items are no numbers
                    raise LayoutTypeError("argument", f"no index tensor is made of {kind.__name__}") from None
                raise LayoutIndexError(
                    "argument",
                    "only integers, slices, ellipsis, None and integer or boolean tensors are indices, got "
                    f"{kind.__name__} (facts 3.12)",
                ) from None
    return Plan(layout, tensors)


def _as_items(index: Any) -> tuple[Any, ...]:
    if isinstance(index, tuple):  # a Size and a named tuple, too
        return tuple(index)
    if isinstance(index, list) and _is_nested(index):
        return tuple(index)
    return (index,)


def _is_nested(items: list[Any]) -> bool:
    # A list that holds sequences, arrays and strings among them, slices or tensors is taken for a tuple, as old NumPy
    # did (facts 3.12).
    return len(items) < 32 and any(i is None or i is Ellipsis or isinstance(i, _NESTED) for i in items)


_NESTED = (slice, list, tuple, range, str, bytes, np.ndarray, TensorBase)


def getitem(self: "Tensor", index: Any) -> "Tensor":
    """A view for basic indices, a gathered copy where tensors, lists or masks take part.

    Raises: index, dimension, step, argument. Source: facts 3.12, torch 2.13.

    >>> x = torch.zeros(4, 6)
    >>> x[1, ::2].stride(), x[1, ::2].storage_offset(), x[[0, 2]].stride()
    ((2,), 6, (6, 1))
    """
    layout = self._layout
    if type(index) is int:
        return view_of(self, select(layout, 0, index))
    if not layout.shape and (
        type(index) is slice or (isinstance(index, (int, np.integer)) and not isinstance(index, (bool, np.bool_)))
    ):
        raise LayoutIndexError("dimension", "a 0-dim tensor takes no index or slice (facts 3.7)")
    p = plan(self, _as_items(index))
    # A slice on its own is taken also where it leaves everything, one among others is not.
    view = view_of(self, p.layout, free=p.layout is self._layout and type(index) is not slice)
    if p.tensors:
        return gather_indexed(view, p.tensors)
    return view


def setitem(self: "Tensor", index: Any, value: Any) -> None:
    """Write to what the index names: in place on the view, or scattered where tensors, lists or masks take part.

    Raises: index, dimension, step, argument, broadcast, overlap, grad. Source: facts 3.12 and 5.1.2, torch 2.13.

    >>> x = torch.zeros(4)
    >>> x[1::2] = 5
    >>> x.tolist()
    [0.0, 5.0, 0.0, 5.0]
    """
    if index is False:
        return
    if not isinstance(value, TensorBase):
        value = value_tensor(self, value)
    if index is True:
        # A plain copy under one more dimension, with the checks of a copy.
        assign(view_of(self, unsqueeze(self._layout, 0)), value)
        return
    if type(index) is int:
        target = getitem(self, index)
        tensors: dict[int, Any] = {}
    else:
        if not self._layout.shape and type(index) is slice:
            raise LayoutIndexError("dimension", "a 0-dim tensor takes no slice (facts 3.7)")
        p = plan(self, _as_items(index))
        tensors = p.tensors
        # What slices nothing off before index tensors is the tensor itself, which overlaps with itself also when empty.
        target = self if tensors and p.layout is self._layout else view_of(self, p.layout)
    if tensors:
        scatter_indexed(self, target, tensors, value)
        return
    assign(target, value)


def set_real(self: "Tensor", value: Any) -> None:
    """Write to the real parts, as assignment does. Raises: as `setitem`. Source: facts 3.11, torch 2.13."""
    setitem(real(self), ..., value)


def set_imag(self: "Tensor", value: Any) -> None:
    """Write to the imaginary parts through a conjugate bit. Raises: dtype for real input; else as `setitem`."""
    setitem(imag(self), ..., value)


def value_tensor(self: "Tensor", value: Any) -> "Tensor":
    """A number as a tensor of this one's dtype, as assignment takes it. Raises: argument, overflow, dtype."""
    if isinstance(value, np.integer):
        value = int(value)
    if not isinstance(value, (bool, int, float, complex)):
        raise LayoutTypeError("argument", f"can't assign a {type(value).__name__} to a tensor")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise LayoutValueError("overflow", f"{value} does not fit 64 bits")
    check_fillable(self.dtype)
    t = build(UntypedStorage._allocate(self.dtype.itemsize), Layout((), (), 0), self.dtype)
    if (
        self.dtype.category == "float"
        and self.dtype.itemsize < 4
        and not isinstance(value, complex)
        and not abs(value) > 1e300
    ):
        # Unlike `fill_`, assignment takes numbers that a short float cannot hold.
        array(t)[...] = cast(np.array(value, np.float64), dt.float64, self.dtype)
    else:
        array(t)[...] = scalar_array(value, self.dtype)
    return t


def assign(target: "Tensor", value: "Tensor") -> None:
    """Write a tensor to a view: copied where the shapes agree, spread where it has no dimensions, else broadcast."""
    shape = value._layout.shape
    source: Any = value
    if shape and shape != target._layout.shape:
        extra = 0
        while extra < len(shape) and shape[extra] == 1:
            extra += 1
        # Leading lengths of 1 are viewed away, so that a value may have more dimensions than its target. It is
        # broadcast before anything is asked of the target.
        source = reader(value, expand(view(value._layout, shape[extra:]), target._layout.shape))
    filled = bool(not shape and target._layout.shape)
    graph = (value,) if filled or has_gradient(target.dtype) else ()
    check_inplace(target, *graph)
    if filled:
        write_fill(target, value)
    else:
        write_copy(target, source)
    written(target, *graph)
