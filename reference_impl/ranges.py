"""Numbers in even steps: arange, linspace, logspace."""

from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .calls import as_number, as_real, check_keywords
from .constructors import dtype_or_default, flagged
from .conversion import cast
from .core import TensorBase, array, as_int, check_internal_overlap, from_array, values, view_of
from .devices import check_device
from .errors import LayoutError, LayoutOverflowError, LayoutTypeError, LayoutValueError
from .layout import Layout, check_allocation, contiguous_strides
from .out import write_out
from .promotion import get_default_dtype, scalar_dtype
from .results import need_kernel

if TYPE_CHECKING:
    from .tensors import Tensor


def _number(name: str, x: Any) -> Any:
    """The number that a bound is: of Python, of NumPy, or a tensor's only element.

    Raises: argument (TypeError), overflow (OverflowError past 64 bits with and without a sign).
    """
    if isinstance(x, TensorBase):
        x = x.item()  # type: ignore[attr-defined]
    elif isinstance(x, np.generic):
        x = as_number(x)
    if not isinstance(x, (int, float, complex)):
        raise LayoutTypeError("argument", f"{name}: expected a number, got {type(x).__name__}")
    if isinstance(x, int) and not -(2**63) <= x < 2**64:
        raise LayoutOverflowError("overflow", f"{name}: {x} does not fit 64 bits")
    return x


def _base(x: Any) -> float:
    """What `logspace` counts with: a real number of any size. Raises: argument (TypeError), also if it is complex."""
    found = x.item() if isinstance(x, TensorBase) else x  # type: ignore[attr-defined]
    if type(x) is complex or not isinstance(found, (int, float, complex, np.number, np.bool_)):
        raise LayoutTypeError("argument", f"logspace: the base must be a real number, got {type(x).__name__}")
    return float(found.real)


def _real(name: str, x: Any) -> Any:
    """A number that is counted with. Raises: overflow (RuntimeError) where it is not real, or fits no int64."""
    x = as_real(name, x)
    if isinstance(x, int) and x >= 2**63:
        raise LayoutError("overflow", f"{name}: {x} does not fit 64 bits")
    return x


def write_range(out: "Tensor", numbers: "Tensor") -> "Tensor":
    """Deliver into `out`, which keeps its shape if it has as many elements. Raises: as `write_out`; overlap."""
    shape = out._layout.shape
    if out.numel() == numbers.numel():
        check_internal_overlap(out)
        numbers = view_of(numbers, Layout(shape, contiguous_strides(shape), 0))
    return write_out(out, numbers)


def arange(*args: Any, dtype: Any = None, out: "Tensor | None" = None, layout: Any = None, device: Any = None,
           requires_grad: bool = False, pin_memory: bool = False, **kwargs: Any) -> "Tensor":  # fmt: skip
    """Evenly stepped numbers from start to before end.

    Raises: size (RuntimeError: step 0, or bounds against its sign), argument. Source: torch 2.13.
    """
    check_keywords("arange", kwargs, "start", "end", "step")
    check_device(device, pin_memory)
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
    given = [_number("arange", x) for x in (start, end, step)]
    if out is not None:
        d = out.dtype
    elif dtype is not None:
        d = dtype_or_default(dtype)
    else:
        d = dt.int64 if all(isinstance(x, int) for x in given) else get_default_dtype()
    need_kernel("arange", d, "if")
    start, end, step = [_real("arange", x) for x in given]
    if any(isinstance(x, float) and not np.isfinite(x) for x in (start, end, step)):
        raise LayoutError("size", f"arange: unbounded range from {start} to {end}")
    if step == 0:
        raise LayoutError("step", "arange: step must not be 0")
    if (end - start) * step < 0:
        raise LayoutError("size", f"arange: bounds {start} and {end} against the sign of step {step}")
    # How many there are is counted in whole numbers for int64 alone.
    if d is dt.int64:
        if not int(step):
            raise LayoutValueError("step", f"arange: step {step} is 0 as an integer")
        start, end, step = int(start), int(end), int(step)
    count = (
        len(range(start, end, step))
        if all(isinstance(x, int) for x in (start, end, step))
        else ceil((end - start) / step)
    )
    check_allocation((count,), 8)
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
        return write_range(out, t)
    return flagged(t, requires_grad)


def range_with_end(
    start: Any, end: Any, step: Any = 1, *, out: "Tensor | None" = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> "Tensor":  # fmt: skip
    """`torch.range`: evenly stepped numbers with the end, floats unless told. Raises: as `arange`, which it follows."""
    if pin_memory:
        raise LayoutTypeError("argument", "range: memory cannot be pinned")
    start, end, step = [_real("range", _number("range", x)) for x in (start, end, step)]
    d = out.dtype if out is not None else dtype_or_default(dtype)
    count = int((end - start) / step) + 1 if step and (end - start) / step >= 0 else 0
    bound = start + count * step if count else end  # where arange stops: it refuses what goes the other way
    return arange(start, bound, step, dtype=d, out=out, device=device, requires_grad=requires_grad)


def linspace(
    start: Any, end: Any, steps: int, *, out: "Tensor | None" = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> "Tensor":  # fmt: skip
    """Evenly spaced values with both ends; within a tolerance. Raises: size, dimension, device. Source: torch 2.13."""
    check_device(device, pin_memory)
    for x in (start, end):
        if isinstance(x, TensorBase) and x._layout.shape:
            raise LayoutError("dimension", "linspace: start and end must have no dimensions")
    start, end = _number("linspace", start), _number("linspace", end)
    count = as_int(steps, "steps")
    if count < 0:
        raise LayoutError("size", f"linspace: {count} steps")
    complex_ends = isinstance(start, complex) or isinstance(end, complex)
    if out is not None:
        d = out.dtype
    elif dtype is None and complex_ends:
        d = scalar_dtype(complex)
    else:
        d = dtype_or_default(dtype)
    if complex_ends and not d.is_complex:
        raise LayoutError("dtype", f"linspace: complex ends for {d}")
    if count > 1:
        need_kernel("linspace", d, "ifc")
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
        return write_range(out, result)
    return flagged(result, requires_grad)


def logspace(
    start: Any, end: Any, steps: int, base: Any = 10.0, *, out: "Tensor | None" = None, dtype: Any = None,
    layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> "Tensor":  # fmt: skip
    """Powers of a base with evenly spaced exponents. Raises: as `linspace`. Source: torch 2.13."""
    base = _base(base)
    line = linspace(start, end, steps, dtype=dtype if out is None else out.dtype, device=device, pin_memory=pin_memory)
    wide = dt.complex128 if line.dtype.is_complex else dt.float64
    given = linspace(start, end, steps, dtype=wide)
    with np.errstate(all="ignore"):
        a = np.power(complex(base) if wide.is_complex else base, values(given))
    array(line)[...] = cast(a, wide, line.dtype)
    # The exponents are rounded, which shows in large powers.
    shadow.leave_unspecified(line)
    if out is not None:
        return write_range(out, line)
    return line.requires_grad_() if requires_grad else line
