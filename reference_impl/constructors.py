"""New tensors: empty, filled, and like another."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .calls import as_number, check_keywords
from .contiguity import format_strides
from .conversion import cast
from .copies import like_strides, scalar_array, write_fill, zero_
from .core import TensorBase, array, as_int, as_int_list, as_ints, build, check_flag, fresh, from_array
from .devices import check_device, check_pinned, is_meta
from .dtypes import dtype, group_of
from .errors import LayoutError, UnsupportedError
from .formats import contiguous_format, memory_format
from .layout import Layout, Shape, Strides, check_allocation, check_strided_allocation, contiguous_strides
from .out import resize_output, write_out
from .promotion import as_dtype, get_default_dtype, scalar_dtype
from .quantizers import packed_bytes
from .storage import UntypedStorage

if TYPE_CHECKING:
    from .tensors import Tensor


def flagged(t: "Tensor", requires_grad: bool | None) -> "Tensor":
    """The tensor, marked as one that gradients are wanted for.

    Raises: argument (TypeError), grad (RuntimeError) for other dtypes.
    """
    check_flag("requires_grad", requires_grad, optional=True)
    if requires_grad:
        if not (t.dtype.is_floating_point or t.dtype.is_complex):
            raise LayoutError(
                "grad",
                f"only tensors of floating point and complex dtype can require gradients, not {t.dtype}",
            )
        t._leaf_grad = True
    return t


def wants_meta(device: Any, pin_memory: bool = False) -> bool:
    """Whether memory is asked for on `meta`. Raises: device. Source: facts 7.7 and 7.8.4, torch 2.13."""
    meta = device is not None and is_meta(device)
    if pin_memory is not False:
        check_pinned(pin_memory, meta)
    return meta


def on_meta(t: "Tensor") -> "Tensor":
    """A tensor of the same layout over a meta storage of the same length. Source: facts 7.7, torch 2.13."""
    return build(UntypedStorage._nowhere(len(t._storage._bytes)), t._layout, t.dtype)


def uninitialised(shape: Shape, strides: Strides, d: dtype, meta: bool = False) -> "Tensor":
    """A tensor over fresh memory whose every byte is unspecified, or over none; `strides` must be dense."""
    nbytes = check_allocation(shape, d.itemsize)
    if d.pack > 1:
        nbytes = packed_bytes(shape, d)
    if meta:
        return build(UntypedStorage._nowhere(nbytes), Layout(shape, strides, 0), d)
    t = build(UntypedStorage._allocate(nbytes), Layout(shape, strides, 0), d)
    t._storage._shadow = shadow.all_unspecified(nbytes)
    return t


def dtype_or_default(d: Any) -> dtype:
    """The default dtype for None. Raises: argument (TypeError) for what is no dtype."""
    return get_default_dtype() if d is None else as_dtype(d)


def as_sizes(size: tuple[Any, ...], kwargs_size: Any = None) -> Shape:
    """Lengths given one by one, as one list, or by the name `size`. Raises: argument (TypeError), overflow."""
    if kwargs_size is not None:
        return as_int_list(kwargs_size, "size")
    return as_ints(size)


def empty(
    *size: Any,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: memory_format | None = contiguous_format,
    out: "Tensor | None" = None,
    **kwargs: Any,
) -> "Tensor":
    """Fresh memory with unspecified values.

    Raises: size (a negative length), overflow, format, memory, device. Source: facts 1.12, 1.19 and 1.20, torch 2.13.
    """
    meta = wants_meta(device, pin_memory)
    check_keywords("empty", kwargs, "size")
    shape = as_sizes(size, kwargs.get("size"))
    if out is not None:
        changed = out._layout.shape != shape
        resize_output(out, shape)
        out._versions[0] += changed
        return out
    d = dtype_or_default(dtype)
    check_allocation(shape, d.itemsize)
    strides = format_strides(shape, contiguous_format if memory_format is None else memory_format)
    made = flagged(uninitialised(shape, strides, d, meta), requires_grad)
    if d not in dt.QUANTIZED:
        return made
    from .quantized_methods import unquantized
    from .quantized_nowhere import nowhere

    return nowhere(made) if meta else unquantized(made)


def empty_strided(
    size: Any, stride: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> "Tensor":  # fmt: skip
    """Fresh memory under given strides, exactly as long as they require.

    Raises: dimension, size, overflow (see `layout.check_strided_allocation`). Source: facts 1.13, torch 2.13.
    """
    meta = wants_meta(device, pin_memory)
    d = dtype_or_default(dtype)
    shape, strides = as_int_list(size, "size"), as_int_list(stride, "stride")
    if d in dt.QUANTIZED:
        raise LayoutError("dtype", f"empty_strided is not supported for {d} (facts 10.1.8)")
    nbytes = check_strided_allocation(shape, strides, d.itemsize)
    if meta:
        layout_ = Layout(shape, accepted_strides(shape, strides), 0)
        return flagged(build(UntypedStorage._nowhere(nbytes), layout_, d), requires_grad)
    t = build(UntypedStorage._allocate(nbytes), Layout(shape, accepted_strides(shape, strides), 0), d)
    t._storage._shadow = shadow.all_unspecified(nbytes)
    return flagged(t, requires_grad)


def accepted_strides(shape: Shape, strides: Strides) -> Strides:
    """Strides as a tensor takes them: a negative one is silently replaced by that of a contiguous dimension.

    Source: torch 2.13, set_sizes_and_strides; reached only where the dimension has at most one index.
    """
    if not strides or min(strides) >= 0:
        return strides
    result = list(strides)
    for d in range(len(shape) - 1, -1, -1):
        if strides[d] < 0:
            result[d] = 1 if d == len(shape) - 1 else max(shape[d + 1], 1) * result[d + 1]
    return tuple(result)


def empty_permuted(
    size: Any, physical_layout: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> "Tensor":  # fmt: skip
    """Fresh memory, dense in an order of dimensions given from outermost to innermost.

    Raises: dimension (RuntimeError). Source: facts 1.14, torch 2.13.
    """
    meta = wants_meta(device, pin_memory)
    shape, order = as_int_list(size, "size"), as_int_list(physical_layout, "physical_layout")
    if len(order) != len(shape):
        raise LayoutError("dimension", f"empty_permuted: {len(order)} dimensions ordered for {len(shape)}")
    if any(not 0 <= o < len(shape) for o in order) or len(set(order)) != len(order):
        raise LayoutError("dimension", f"empty_permuted: {order} is no order of {len(shape)} dimensions")
    inner = contiguous_strides(tuple([shape[o] for o in order]))
    strides = [0] * len(shape)
    for o, s in zip(order, inner, strict=True):
        strides[o] = s
    return flagged(uninitialised(shape, tuple(strides), dtype_or_default(dtype), meta), requires_grad)


def _filled(shape: Shape, value: Any, d: dtype, meta: bool = False) -> "Tensor":
    if d in dt.QUANTIZED:
        raise UnsupportedError("dtype", f"zeros has no kernel for {d} (facts 10.1.8)")
    check_allocation(shape, d.itemsize)
    if meta:
        return uninitialised(shape, contiguous_strides(shape), d, meta)
    t = fresh(shape, contiguous_strides(shape), d)
    array(t)[...] = scalar_array(0, d) if d is dt.float8_e8m0fnu and type(value) is int else value
    return t


def _check_fillable(d: dtype) -> None:
    if d in dt.QUANTIZED:
        raise LayoutError("dtype", f"{d} has no quantizer to fill with (facts 10.1.8)")


def zeros(
    *size: Any, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False, out: "Tensor | None" = None, **kwargs: Any,
) -> "Tensor":  # fmt: skip
    """A contiguous tensor of zeros. Raises: as `empty`. Source: facts 1.12, torch 2.13."""
    meta = wants_meta(device, pin_memory)
    check_keywords("zeros", kwargs, "size")
    shape = as_sizes(size, kwargs.get("size"))
    if out is not None:
        resize_output(out, shape)
        return out.zero_()
    return flagged(_filled(shape, 0, dtype_or_default(dtype), meta), requires_grad)


def ones(
    *size: Any, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False, out: "Tensor | None" = None, **kwargs: Any,
) -> "Tensor":  # fmt: skip
    """A contiguous tensor of ones. Raises: as `empty`. Source: facts 1.12, torch 2.13."""
    meta = wants_meta(device, pin_memory)
    check_keywords("ones", kwargs, "size")
    shape = as_sizes(size, kwargs.get("size"))
    if out is not None:
        resize_output(out, shape)
        return out.fill_(1)
    d = dtype_or_default(dtype)
    _check_fillable(d)
    return flagged(_filled(shape, scalar_array(1, d), d, meta), requires_grad)


def full(
    size: Any, fill_value: Any, *, out: "Tensor | None" = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> "Tensor":  # fmt: skip
    """A contiguous tensor of one value; the value decides the dtype unless one is given.

    Raises: as `empty`. Source: facts 1.12, torch 2.13.
    """
    meta = wants_meta(device, pin_memory)
    shape = as_int_list(size, "size")
    if isinstance(fill_value, TensorBase):
        fill_value = fill_value.item()  # type: ignore[attr-defined]
    if out is not None:
        resize_output(out, shape)
        return out.fill_(fill_value)
    fill_value = as_number(fill_value)
    kind: type = type(fill_value)
    d = scalar_dtype(kind) if dtype is None else dtype_or_default(dtype)
    _check_fillable(d)
    return flagged(_filled(shape, scalar_array(fill_value, d), d, meta), requires_grad)


def scalar_tensor(
    s: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> "Tensor":  # fmt: skip
    """A tensor without dimensions."""
    d = get_default_dtype() if dtype is None else dtype
    return full((), s, dtype=d, device=device, requires_grad=requires_grad, pin_memory=pin_memory)


def eye(
    n: int, m: int | None = None, *, out: "Tensor | None" = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> "Tensor":  # fmt: skip
    """The identity matrix. Raises: size (a negative length), device. Source: torch 2.13."""
    check_device(device, pin_memory)
    rows = as_int(n, "n")
    columns = rows if m is None else as_int(m, "m")
    if rows < 0 or columns < 0:
        raise LayoutError("size", f"eye: a negative length in {(rows, columns)}")
    check_allocation((rows, columns), 8)
    d = dtype_or_default(dtype) if out is None else out.dtype
    if group_of(d) in "uh":
        raise UnsupportedError("dtype", f"eye: PyTorch has no kernel for {d}")
    result = from_array(cast(np.eye(rows, columns), dt.float64, d), d)
    if out is not None:
        return write_out(out, result)
    return flagged(result, requires_grad)


def empty_like(
    input: "Tensor", *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False, memory_format: memory_format | None = None,
) -> "Tensor":  # fmt: skip
    """Fresh memory with another tensor's shape and, unless told, its order of dimensions.

    Raises: format, device. Source: facts 4.1.8, torch 2.13.
    """
    meta = wants_meta(device_of(input) if device is None else device, pin_memory)
    d = input.dtype if dtype is None else dtype_or_default(dtype)
    if d in dt.QUANTIZED and d is not input.dtype:
        raise LayoutError("dtype", f"empty_like: a tensor of {d} needs a quantizer (facts 10.1.8)")
    return flagged(uninitialised(input._layout.shape, like_strides(input, memory_format), d, meta), requires_grad)


def zeros_like(input: "Tensor", **kwargs: Any) -> "Tensor":
    """`empty_like` filled with zeros. Raises: format, device. Source: facts 4.1.8, torch 2.13."""
    return full_like(input, 0, **kwargs) if input.dtype in dt.QUANTIZED else _zeros_like(input, **kwargs)


def _zeros_like(input: "Tensor", *, requires_grad: bool = False, **kwargs: Any) -> "Tensor":
    t = empty_like(input, **kwargs)
    zero_(t)  # which has kernels for more dtypes than filling has
    t._versions[0] = 0
    return flagged(t, requires_grad)


def ones_like(input: "Tensor", **kwargs: Any) -> "Tensor":
    """`empty_like` filled with ones. Raises: format, device. Source: facts 4.1.8, torch 2.13."""
    return full_like(input, 1, **kwargs)


def full_like(input: "Tensor", fill_value: Any, *, requires_grad: bool = False, **kwargs: Any) -> "Tensor":
    """`empty_like` filled with a value. Raises: format, device. Source: facts 4.1.8, torch 2.13."""
    t = empty_like(input, **kwargs)
    write_fill(t, fill_value)
    return flagged(t, requires_grad)


def device_of(t: "Tensor") -> str | None:
    """Where `new_*` of a tensor lies unless told: on `meta` as the tensor, else None."""
    return "meta" if t._storage._is_meta else None


def _placed(self: "Tensor", name: str, kwargs: dict[str, Any], *known: str) -> dict[str, Any]:
    """Where `new_*` of a tensor are told to lie. Raises: argument (TypeError) for other keywords."""
    check_keywords(name, kwargs, *known, "layout", "device", "pin_memory")
    return {"device": kwargs.get("device") or device_of(self), "pin_memory": kwargs.get("pin_memory", False)}


def new_empty(self: "Tensor", *size: Any, dtype: Any = None, requires_grad: bool = False, **kwargs: Any) -> "Tensor":
    """Contiguous fresh memory of this tensor's dtype. Raises: as `empty`. Source: facts 4.1.9, torch 2.13."""
    placed = _placed(self, "new_empty", kwargs, "size")
    return empty(as_sizes(size, kwargs.get("size")), dtype=dtype or self.dtype, requires_grad=requires_grad, **placed)


def new_zeros(self: "Tensor", *size: Any, dtype: Any = None, requires_grad: bool = False, **kwargs: Any) -> "Tensor":
    """Contiguous zeros of this tensor's dtype. Raises: as `empty`. Source: facts 4.1.9, torch 2.13."""
    placed = _placed(self, "new_zeros", kwargs, "size")
    return zeros(as_sizes(size, kwargs.get("size")), dtype=dtype or self.dtype, requires_grad=requires_grad, **placed)


def new_ones(self: "Tensor", *size: Any, dtype: Any = None, requires_grad: bool = False, **kwargs: Any) -> "Tensor":
    """Contiguous ones of this tensor's dtype. Raises: as `empty`. Source: facts 4.1.9, torch 2.13."""
    placed = _placed(self, "new_ones", kwargs, "size")
    return ones(as_sizes(size, kwargs.get("size")), dtype=dtype or self.dtype, requires_grad=requires_grad, **placed)


def new_full(
    self: "Tensor",
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    **kwargs: Any,
) -> "Tensor":
    """A contiguous tensor of one value, of this tensor's dtype. Raises: as `empty`. Source: facts 4.1.9, torch 2.13."""
    placed = _placed(self, "new_full", kwargs)
    return full(size, fill_value, dtype=dtype or self.dtype, requires_grad=requires_grad, **placed)


def new_empty_strided(
    self: "Tensor", size: Any, stride: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Fresh memory under given strides, of this tensor's dtype. Raises: as `empty_strided`. Source: facts 4.1.9."""
    return empty_strided(
        size, stride, dtype=dtype or self.dtype, device=device or device_of(self), requires_grad=requires_grad,
        pin_memory=pin_memory,
    )  # fmt: skip
