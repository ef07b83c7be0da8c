"""New tensors: from values, filled, empty, and like another."""

from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .contiguity import format_strides
from .conversion import cast
from .copies import like_strides, scalar_array
from .core import TensorBase, array, as_int, as_int_list, as_ints, build, fresh, from_array
from .devices import check_device, is_meta
from .dtypes import dtype
from .errors import LayoutError, LayoutTypeError, LayoutValueError, UnsupportedError
from .formats import contiguous_format, memory_format
from .layout import Layout, Shape, Strides, check_allocation, check_strided_allocation, contiguous_strides
from .promotion import get_default_dtype, scalar_dtype
from .quantizers import packed_bytes
from .storage import UntypedStorage

if TYPE_CHECKING:
    from .tensors import Tensor


def _flagged(t: "Tensor", requires_grad: bool) -> "Tensor":
    if requires_grad:
        if not (t.dtype.is_floating_point or t.dtype.is_complex):
            raise LayoutError(
                "grad",
                f"only tensors of floating point and complex dtype can require gradients, not {t.dtype}",
            )
        t._leaf_grad = True
    return t


def _place(device: Any, pin_memory: bool = False) -> bool:
    """Whether memory is asked for on `meta`. Raises: device. Source: facts 7.7 and 7.8.4, torch 2.13."""
    if pin_memory:
        raise LayoutError("device", "pin_memory=True needs an accelerator (facts 7.8.4)")
    return device is not None and is_meta(device)


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


def _dtype_of(d: Any) -> dtype:
    if d is None:
        return get_default_dtype()
    if not isinstance(d, dtype):
        raise LayoutTypeError("argument", f"dtype must be a dtype, got {d!r}")
    return d


def _sizes(size: tuple[Any, ...], kwargs_size: Any = None) -> Shape:
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
    memory_format: memory_format = contiguous_format,
    out: "Tensor | None" = None,
    **kwargs: Any,
) -> "Tensor":
    """Fresh memory with unspecified values.

    Raises: size (a negative length), overflow, format, memory, device. Source: facts 1.12, 1.19 and 1.20, torch 2.13.
    """
    meta = _place(device, pin_memory)
    shape = _sizes(size, kwargs.pop("size", None))
    if kwargs:
        raise LayoutTypeError("argument", f"empty: unknown keyword {next(iter(kwargs))}")
    if out is not None:
        from .out import resize_output

        resize_output(out, shape)
        return out
    d = _dtype_of(dtype)
    check_allocation(shape, d.itemsize)
    return _flagged(uninitialised(shape, format_strides(shape, memory_format), d, meta), requires_grad)


def empty_strided(
    size: Any, stride: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> "Tensor":  # fmt: skip
    """Fresh memory under given strides, exactly as long as they require.

    Raises: dimension, size, overflow (see `layout.check_strided_allocation`). Source: facts 1.13, torch 2.13.
    """
    meta = _place(device, pin_memory)
    d = _dtype_of(dtype)
    shape, strides = as_int_list(size, "size"), as_int_list(stride, "stride")
    if d in dt.QUANTIZED:
        raise LayoutError("dtype", f"empty_strided is not supported for {d} (facts 10.1.8)")
    nbytes = check_strided_allocation(shape, strides, d.itemsize)
    if meta:
        layout_ = Layout(shape, accepted_strides(shape, strides), 0)
        return _flagged(build(UntypedStorage._nowhere(nbytes), layout_, d), requires_grad)
    t = build(UntypedStorage._allocate(nbytes), Layout(shape, accepted_strides(shape, strides), 0), d)
    t._storage._shadow = shadow.all_unspecified(nbytes)
    return _flagged(t, requires_grad)


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
    meta = _place(device, pin_memory)
    shape, order = as_int_list(size, "size"), as_int_list(physical_layout, "physical_layout")
    if len(order) != len(shape):
        raise LayoutError("dimension", f"empty_permuted: {len(order)} dimensions ordered for {len(shape)}")
    if any(not 0 <= o < len(shape) for o in order) or len(set(order)) != len(order):
        raise LayoutError("dimension", f"empty_permuted: {order} is no order of {len(shape)} dimensions")
    inner = contiguous_strides(tuple([shape[o] for o in order]))
    strides = [0] * len(shape)
    for o, s in zip(order, inner, strict=True):
        strides[o] = s
    return _flagged(uninitialised(shape, tuple(strides), _dtype_of(dtype), meta), requires_grad)


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
    meta = _place(device, pin_memory)
    shape = _sizes(size, kwargs.pop("size", None))
    if out is not None:
        from .out import resize_output

        resize_output(out, shape)
        return out.zero_()
    return _flagged(_filled(shape, 0, _dtype_of(dtype), meta), requires_grad)


def ones(
    *size: Any, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False, out: "Tensor | None" = None, **kwargs: Any,
) -> "Tensor":  # fmt: skip
    """A contiguous tensor of ones. Raises: as `empty`. Source: facts 1.12, torch 2.13."""
    meta = _place(device, pin_memory)
    shape = _sizes(size, kwargs.pop("size", None))
    if out is not None:
        from .out import resize_output

        resize_output(out, shape)
        return out.fill_(1)
    d = _dtype_of(dtype)
    _check_fillable(d)
    return _flagged(_filled(shape, scalar_array(1, d), d, meta), requires_grad)


def full(
    size: Any, fill_value: Any, *, out: "Tensor | None" = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> "Tensor":  # fmt: skip
    """A contiguous tensor of one value; the value decides the dtype unless one is given.

    Raises: as `empty`. Source: facts 1.12, torch 2.13.
    """
    meta = _place(device, pin_memory)
    shape = as_int_list(size, "size")
    if isinstance(fill_value, TensorBase):
        fill_value = fill_value.item()  # type: ignore[attr-defined]
    if out is not None:
        from .out import resize_output

        resize_output(out, shape)
        return out.fill_(fill_value)
    kind: type = type(fill_value)
    d = scalar_dtype(kind) if dtype is None else _dtype_of(dtype)
    _check_fillable(d)
    return _flagged(_filled(shape, scalar_array(fill_value, d), d, meta), requires_grad)


def scalar_tensor(
    s: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> "Tensor":  # fmt: skip
    """A tensor without dimensions."""
    return full(
        (), s, dtype=get_default_dtype() if dtype is None else dtype, device=device, requires_grad=requires_grad
    )


def _random(shape: Shape, d: dtype, draw: Any) -> "Tensor":
    check_allocation(shape, d.itemsize)
    t = from_array(cast(np.asarray(draw(shape), np.float64), dt.float64, d), d)
    shadow.stamp(t, shadow.UNSPECIFIED)
    return t


def rand(
    *size: Any, generator: Any = None, out: "Tensor | None" = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False, **kwargs: Any,
) -> "Tensor":  # fmt: skip
    """Uniform random values in [0, 1); never compared with PyTorch's. Raises: as `empty`, dtype."""
    return _drawn("rand", size, kwargs, out, dtype, device, requires_grad)


def _drawn(
    name: str, size: tuple[Any, ...], kwargs: dict[str, Any], out: Any, dtype: Any, device: Any, requires_grad: bool
) -> "Tensor":
    check_device(device)
    shape = _sizes(size, kwargs.pop("size", None))
    for unknown in kwargs:
        if unknown != "names":
            raise LayoutTypeError("argument", f"{name}: unknown keyword {unknown}")
    d = _dtype_of(dtype) if out is None else out.dtype
    check_random(name, d)
    if out is not None:
        from .out import resize_output

        resize_output(out, shape)
        shadow.stamp(out, shadow.UNSPECIFIED)
        out._versions[0] += 1
        return out  # type: ignore[no-any-return]
    draw = _random_numbers().random if name == "rand" else _random_numbers().standard_normal
    return _flagged(_random(shape, d, draw), requires_grad)


def check_random(name: str, d: dtype) -> None:
    """Refuse dtypes that random numbers are not drawn in. Raises: dtype (NotImplementedError)."""
    if d.category not in ("float", "complex") or d in dt.FLOAT8:
        raise UnsupportedError("dtype", f"{name}: PyTorch has no kernel for {d}")


def randn(
    *size: Any, generator: Any = None, out: "Tensor | None" = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False, **kwargs: Any,
) -> "Tensor":  # fmt: skip
    """Normal random values; never compared with PyTorch's. Raises: as `empty`, dtype."""
    return _drawn("randn", size, kwargs, out, dtype, device, requires_grad)


def randint(
    low: Any = None, high: Any = None, size: Any = None, *, generator: Any = None, out: "Tensor | None" = None,
    dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> "Tensor":  # fmt: skip
    """Random integers; never compared with PyTorch's. Raises: argument (RuntimeError for an empty range), device."""
    check_device(device)
    if size is None:
        low, high, size = 0, low, high
    elif low is None or high is None:
        low, high = 0, low if high is None else high
    if high is None or size is None:
        raise LayoutTypeError("argument", "randint: a bound and a size are needed")
    low, high = as_int(low, "low"), as_int(high, "high")
    if low >= high:
        raise LayoutError("argument", f"randint: from {low} to {high} there is no integer")
    shape = as_int_list(size, "size")
    if out is not None:
        from .out import resize_output

        resize_output(out, shape)
        shadow.stamp(out, shadow.UNSPECIFIED)
        out._versions[0] += 1
        return out
    t = from_array(_random_numbers().integers(low, high, shape), dt.int64)
    t = t if dtype is None else t.to(dtype)
    shadow.stamp(t, shadow.UNSPECIFIED)
    return _flagged(t, requires_grad)


def manual_seed(seed: int) -> None:
    """Seed the random constructors."""
    _generator[:] = [np.random.default_rng(seed)]


# Made on first use: importing NumPy's generators takes longer than all the rest of this package.
_generator: list[Any] = []


def _random_numbers() -> Any:
    if not _generator:
        manual_seed(0)
    return _generator[0]


def arange(*args: Any, dtype: Any = None, out: "Tensor | None" = None, layout: Any = None, device: Any = None,
           requires_grad: bool = False, pin_memory: bool = False, **kwargs: Any) -> "Tensor":  # fmt: skip
    """Evenly stepped numbers from start to before end.

    Raises: size (RuntimeError: step 0, or bounds against its sign), argument. Source: torch 2.13.
    """
    if _place(device, pin_memory):
        return _flagged(on_meta(arange(*args, dtype=dtype, **kwargs)), requires_grad)
    start, end, step = 0, None, 1
    if len(args) == 1:
        end = args[0]
    elif len(args) == 2:
        start, end = args
    elif len(args) == 3:
        start, end, step = args
    start, end, step = kwargs.get("start", start), kwargs.get("end", end), kwargs.get("step", step)
    if end is None:
        raise LayoutTypeError("argument", "arange: no end given")
    given: tuple[Any, ...] = (start, end, step)
    start, end, step = (x.item() if hasattr(x, "item") else x for x in given)
    if out is not None:
        d = out.dtype
    elif dtype is not None:
        d = _dtype_of(dtype)
    else:
        d = dt.int64 if all(isinstance(x, int) for x in (start, end, step)) else get_default_dtype()
    if any(isinstance(x, float) and not np.isfinite(x) for x in (start, end, step)):
        raise LayoutError("size", f"arange: unbounded range from {start} to {end}")
    if d.category == "int":
        if step and not int(step):
            raise LayoutValueError("step", f"arange: step {step} is 0 as an integer")
        start, end, step = int(start), int(end), int(step)
    if step == 0:
        raise LayoutError("step", "arange: step must not be 0")
    if (end - start) / step < 0:
        raise LayoutError("size", f"arange: bounds {start} and {end} against the sign of step {step}")
    count = (
        len(range(start, end, step))
        if all(isinstance(x, int) for x in (start, end, step))
        else ceil((end - start) / step)
    )
    if d.category == "int":
        numbers = np.arange(count, dtype=np.int64) * int(step) + int(start)
        t = from_array(numbers.astype(d.numpy), d)
    else:
        exact = start + np.arange(count, dtype=np.float64) * step
        t = from_array(cast(exact, dt.float64, d), d)
        if d.itemsize < 4:
            # PyTorch counts in the short dtype itself, from a start that it has rounded.
            shadow.stamp(t, np.where(array(t).astype(np.float64) == exact, 0, shadow.UNSPECIFIED))
        elif any(isinstance(x, float) and not float(x).is_integer() for x in (start, step)):
            shadow.stamp(t, shadow.TOLERANCE)
    if out is not None:
        from .out import write_out

        return write_out(out, t)
    return _flagged(t, requires_grad)


def linspace(
    start: Any, end: Any, steps: int, *, out: "Tensor | None" = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> "Tensor":  # fmt: skip
    """Evenly spaced values with both ends; within a tolerance. Raises: size, dimension, device. Source: torch 2.13."""
    check_device(device)
    for x in (start, end):
        if isinstance(x, TensorBase) and x._layout.shape:
            raise LayoutError("dimension", "linspace: start and end must have no dimensions")
    given: tuple[Any, ...] = (start, end)
    start, end = (x.item() if hasattr(x, "item") else x for x in given)
    count = as_int(steps, "steps")
    if count < 0:
        raise LayoutError("size", f"linspace: {count} steps")
    complex_ends = isinstance(start, complex) or isinstance(end, complex)
    if out is not None:
        d = out.dtype
    elif dtype is None and complex_ends:
        d = scalar_dtype(complex)
    else:
        d = _dtype_of(dtype)
    if complex_ends and not d.is_complex:
        raise LayoutError("dtype", f"linspace: complex ends for {d}")
    if d.category == "int":
        start, end = int(start), int(end)
    steps_up = np.arange(count)
    width = (end - start) / (count - 1) if count > 1 else 0
    # The upper half is counted down from the end.
    found = np.where(steps_up < count / 2, start + width * steps_up, end - width * (count - 1 - steps_up))
    if count == 1:
        found = np.array([start])
    if d.category == "int":
        result = from_array(np.trunc(found).astype(d.numpy), d)
    else:
        wide = dt.complex128 if d.is_complex else dt.float64
        result = from_array(cast(found.astype(wide.numpy), wide, d), d)
        if count:
            shadow.stamp(result, shadow.TOLERANCE)
    if out is not None:
        from .out import write_out

        return write_out(out, result)
    return _flagged(result, requires_grad)


def eye(
    n: int, m: int | None = None, *, out: "Tensor | None" = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> "Tensor":  # fmt: skip
    """The identity matrix. Raises: size (a negative length), device. Source: torch 2.13."""
    check_device(device)
    rows = as_int(n, "n")
    columns = rows if m is None else as_int(m, "m")
    if rows < 0 or columns < 0:
        raise LayoutError("size", f"eye: a negative length in {(rows, columns)}")
    d = _dtype_of(dtype) if out is None else out.dtype
    result = from_array(cast(np.eye(rows, columns), dt.float64, d), d)
    if out is not None:
        from .out import write_out

        return write_out(out, result)
    return _flagged(result, requires_grad)


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> "Tensor":
    """A tensor with a copy of data: nested lists, numbers, arrays.

    An array keeps the order of its dimensions, a tensor is cloned.

    Raises: size (ValueError) for ragged lists, argument (TypeError), dtype. Source: facts 4.1.10 and 8.1, torch 2.13.
    """
    if _place(device, pin_memory):
        return _flagged(on_meta(tensor(data, dtype=dtype)), requires_grad)
    if isinstance(data, TensorBase):
        from .copies import to_copy

        t = to_copy(data, data.dtype if dtype is None else _dtype_of(dtype))  # type: ignore[arg-type]
        t._has_fn = False
        return _flagged(t, requires_grad)
    if isinstance(data, np.ndarray):
        from .numpy_bridge import dtype_from_numpy, tensor_from_array

        t = tensor_from_array(data, dtype_from_numpy(data.dtype) if dtype is None else _dtype_of(dtype))
        return _flagged(t, requires_grad)
    found, values = _parsed(data)
    d = found if dtype is None else _dtype_of(dtype)
    if d.category == "raw" and d is not dt.complex32:
        raise LayoutError("dtype", f"tensor: values of {d} cannot be given as numbers")
    if found is dt.int64 and d.category == "int" and values.size and d is not dt.int64:
        info = np.iinfo(d.numpy)
        if values.dtype == object or values.min() < (info.min if d.is_signed else -info.max) or values.max() > info.max:
            raise LayoutError("overflow", f"tensor: a value does not fit {d}")
        return _flagged(from_array(values.astype(d.numpy), d), requires_grad)
    if values.dtype == object:
        raise LayoutError("overflow", "tensor: an integer does not fit 64 bits")
    if found.category == "float" and d.category == "int" and not np.isfinite(values).all():
        raise LayoutError("overflow", f"tensor: a value does not fit {d}")
    if found.is_complex and not d.is_complex:
        raise LayoutTypeError("dtype", f"tensor: complex values for {d}")
    source = dt.float64 if found.category == "float" else dt.complex128 if found.is_complex else found
    return _flagged(from_array(cast(values, source, d), d), requires_grad)


def _parsed(data: Any) -> tuple[dtype, Any]:
    if isinstance(data, np.generic):
        from .numpy_bridge import dtype_from_numpy

        return dtype_from_numpy(data.dtype), np.asarray(data)
    if not isinstance(data, (bool, int, float, complex, list, tuple, range)):
        try:
            data = list(data)
        except TypeError:
            raise LayoutError("argument", f"tensor: cannot infer a dtype of {type(data).__name__}") from None
    plain = _plain(data)
    try:
        values = np.array(plain)
    except ValueError:
        raise LayoutValueError("size", "tensor: the lists differ in length or depth") from None
    kind = values.dtype.kind
    if kind == "b":
        return dt.bool_, values
    if kind in "iu":
        return dt.int64, values if kind == "i" else values.astype(object)
    if kind == "f":
        if not values.size:
            return get_default_dtype(), values
        return get_default_dtype(), values
    if kind == "c":
        return scalar_dtype(complex), values
    if kind == "O":
        return dt.int64, values
    raise LayoutTypeError("argument", f"tensor: cannot use values like {type(data).__name__}")


def _plain(data: Any) -> Any:
    if isinstance(data, (list, tuple, range)):
        return [_plain(x) for x in data]
    if isinstance(data, TensorBase):
        return data.tolist()  # type: ignore[attr-defined]
    if not isinstance(data, (bool, int, float, complex, np.generic, np.ndarray)):
        raise LayoutTypeError("argument", f"tensor: cannot use a {type(data).__name__} as a value")
    return data


def empty_like(
    input: "Tensor", *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False, memory_format: memory_format | None = None,
) -> "Tensor":  # fmt: skip
    """Fresh memory with another tensor's shape and, unless told, its order of dimensions.

    Raises: format, device. Source: facts 4.1.8, torch 2.13.
    """
    meta = input._storage._is_meta if device is None else is_meta(device)
    d = input.dtype if dtype is None else _dtype_of(dtype)
    return _flagged(uninitialised(input._layout.shape, like_strides(input, memory_format), d, meta), requires_grad)


def zeros_like(input: "Tensor", **kwargs: Any) -> "Tensor":
    """`empty_like` filled with zeros. Raises: format, device. Source: facts 4.1.8, torch 2.13."""
    return full_like(input, 0, **kwargs)


def ones_like(input: "Tensor", **kwargs: Any) -> "Tensor":
    """`empty_like` filled with ones. Raises: format, device. Source: facts 4.1.8, torch 2.13."""
    return full_like(input, 1, **kwargs)


def full_like(input: "Tensor", fill_value: Any, *, requires_grad: bool = False, **kwargs: Any) -> "Tensor":
    """`empty_like` filled with a value. Raises: format, device. Source: facts 4.1.8, torch 2.13."""
    from .copies import write_fill

    t = empty_like(input, **kwargs)
    write_fill(t, fill_value)
    return _flagged(t, requires_grad)


def rand_like(input: "Tensor", **kwargs: Any) -> "Tensor":
    """`empty_like` with unspecified values. Raises: format, device, dtype. Source: facts 4.1.8, torch 2.13."""
    check_random("rand_like", kwargs.get("dtype") or input.dtype)
    return empty_like(input, **kwargs)


randn_like = rand_like


def _near(t: "Tensor") -> str | None:
    return "meta" if t._storage._is_meta else None


def new_empty(self: "Tensor", *size: Any, dtype: Any = None, requires_grad: bool = False, **kwargs: Any) -> "Tensor":
    """Contiguous fresh memory of this tensor's dtype. Raises: as `empty`. Source: facts 4.1.9, torch 2.13."""
    device = kwargs.get("device") or _near(self)
    return empty(
        _sizes(size, kwargs.get("size")), dtype=dtype or self.dtype, device=device, requires_grad=requires_grad
    )


def new_zeros(self: "Tensor", *size: Any, dtype: Any = None, requires_grad: bool = False, **kwargs: Any) -> "Tensor":
    """Contiguous zeros of this tensor's dtype. Raises: as `empty`. Source: facts 4.1.9, torch 2.13."""
    device = kwargs.get("device") or _near(self)
    return zeros(
        _sizes(size, kwargs.get("size")), dtype=dtype or self.dtype, device=device, requires_grad=requires_grad
    )


def new_ones(self: "Tensor", *size: Any, dtype: Any = None, requires_grad: bool = False, **kwargs: Any) -> "Tensor":
    """Contiguous ones of this tensor's dtype. Raises: as `empty`. Source: facts 4.1.9, torch 2.13."""
    device = kwargs.get("device") or _near(self)
    return ones(_sizes(size, kwargs.get("size")), dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)


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
    device = kwargs.get("device") or _near(self)
    return full(size, fill_value, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)


def new_tensor(self: "Tensor", data: Any, *, dtype: Any = None, requires_grad: bool = False, **kwargs: Any) -> "Tensor":
    """A copy of data in this tensor's dtype. Raises: as `tensor`. Source: facts 4.1.9, torch 2.13."""
    device = kwargs.get("device") or _near(self)
    return tensor(data, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)


def new_empty_strided(self: "Tensor", size: Any, stride: Any, dtype: Any = None, **kwargs: Any) -> "Tensor":
    """Fresh memory under given strides, of this tensor's dtype. Raises: as `empty_strided`. Source: facts 4.1.9."""
    return empty_strided(size, stride, dtype=dtype or self.dtype, device=kwargs.get("device") or _near(self))
