"""pad: constant, reflect and replicate in the format that the input suggests, circular row-major (facts 4.4)."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import shadow
from .contiguity import suggested_format, suggested_strides
from .copies import clone, copy_, resolved, scalar_array
from .core import TensorBase, as_int_list, check_tensors, fresh, recorded, values
from .errors import LayoutError, LayoutTypeError, UnsupportedError
from .layout import contiguous_strides
from .results import need_kernel, rearranged
from .slicing_ops import narrow

if TYPE_CHECKING:
    from .tensors import Tensor

_NUMPY_MODES = {"reflect": "reflect", "replicate": "edge"}

Pairs = list[tuple[int, int]]


def pad(input: "Tensor", pad: Any, mode: str = "constant", value: Any = None) -> "Tensor":
    """A copy with its last dimensions lengthened, or shortened by negative counts.

    Units: `pad` holds pairs (before, after) in elements, the last dimension first.
    Raises: argument (TypeError, NotImplementedError), size, dimension, overflow, dtype. Source: facts 4.4, torch 2.13.
    """
    check_tensors("pad", input)
    counts = as_int_list(pad, "pad")
    if value is not None and not isinstance(value, (int, float, np.number)):
        raise LayoutTypeError("argument", f"pad: the value must be a number, got {type(value).__name__}")
    if mode not in ("constant", "circular", *_NUMPY_MODES):
        raise UnsupportedError("argument", f"pad: unknown mode {mode!r}")
    if len(counts) % 2:
        raise LayoutError("size", f"pad: {len(counts)} counts are no pairs")
    if len(counts) > 2 * input.ndim:
        raise LayoutError("size", f"pad: {len(counts) // 2} pairs for {input.ndim} dimensions")
    pairs = [(counts[i], counts[i + 1]) for i in range(0, len(counts), 2)][::-1]
    pads = [(0, 0)] * (input.ndim - len(pairs)) + pairs
    if mode == "constant":
        return _constant(input, pads, 0.0 if value is None else value)
    if value is not None and value != 0:
        raise LayoutError("argument", f"pad: mode {mode!r} takes no value")
    if not 1 <= len(pairs) <= 3 or input.ndim - len(pairs) not in (1, 2):
        raise UnsupportedError("dimension", f"pad: mode {mode!r} with {len(pairs)} pairs for {input.ndim} dimensions")
    return _circular(input, pads) if mode == "circular" else _mirrored(input, pads, mode, len(pairs))


def _shortened(input: "Tensor", pads: Pairs) -> "Tensor":
    """The part of the input that negative counts leave."""
    for d, (before, after) in enumerate(pads):
        for count, start in ((before, -before), (after, 0)):
            if count < 0:
                left = input._layout.shape[d] + count
                if left < 0:
                    raise LayoutError("size", f"pad: dimension {d} of {input._layout.shape} cannot lose {-count}")
                input = narrow(input, d, start, left)
    return input


def _constant(input: "Tensor", pads: Pairs, value: Any) -> "Tensor":
    input = resolved(input)
    source = _shortened(input, pads)
    if all(before <= 0 and after <= 0 for before, after in pads):
        return recorded(clone(source), input)
    d = input.dtype
    shape = tuple([n + b + a for n, (b, a) in zip(input._layout.shape, pads, strict=True)])
    result = np.full(shape, scalar_array(float(value) if d.category == "int" else value, d), d.numpy)
    place = tuple([slice(max(b, 0), n - max(a, 0)) for n, (b, a) in zip(shape, pads, strict=True)])
    result[place] = values(source)
    found = shadow.marks_of(source)
    marks = None
    if found is not None:
        marks = np.zeros(shape, np.uint8)
        marks[place] = found
    return rearranged(input, result, suggested_strides(shape, suggested_format(*input._layout[:2])), marks)


def _mirrored(input: "Tensor", pads: Pairs, mode: str, spatial: int) -> "Tensor":
    """`reflect` and `replicate`: lengthened first, then shortened."""
    input = resolved(input)
    shape = input._layout.shape
    # The batch alone may be empty.
    if 0 in shape[input.ndim - spatial - 1 :]:
        raise LayoutError("dimension", f"pad: mode {mode!r} of an input of shape {shape}, which has nothing to repeat")
    for (before, after), n in zip(pads[-spatial:], shape[-spatial:], strict=True):
        if mode == "reflect" and max(before, after) >= n:
            raise LayoutError("size", f"pad: mode 'reflect' cannot add {(before, after)} to a length of {n}")
    new = [n + before + after for n, (before, after) in zip(shape, pads, strict=True)]
    if min(new) < 0 or max(new[-spatial:]) < 1:
        # In two dimensions it is the number of elements that is refused, not a length.
        counted = mode == "reflect" and spatial == 2 and max(new[-spatial:]) >= 1
        raise LayoutError("overflow" if counted else "size", f"pad: shape {shape} would become {tuple(new)}")
    need_kernel("pad", input.dtype, "ifc")
    grown = [(max(b, 0), max(a, 0)) for b, a in pads]

    def lengthened(array: Any) -> Any:
        longer: Any = np.pad(array, grown, mode=_NUMPY_MODES[mode])  # type: ignore[call-overload]
        return longer[tuple([slice(max(-b, 0), n - max(-a, 0)) for n, (b, a) in zip(longer.shape, pads, strict=True)])]

    result = lengthened(values(input))
    marks = shadow.marks_of(input)
    strides = suggested_strides(result.shape, suggested_format(*input._layout[:2]))
    return rearranged(input, result, strides, None if marks is None else lengthened(marks))


def _circular(input: "Tensor", pads: Pairs) -> "Tensor":
    """The input is copied to the middle of a row-major tensor, whose ends are then copied to each other one by one."""
    shape = input._layout.shape
    new = []
    for n, (before, after) in zip(shape, pads, strict=True):
        if max(before, after) > n:
            raise LayoutError("size", f"pad: mode 'circular' cannot add {(before, after)} to a length of {n}")
        if n + before + after < 0:
            raise LayoutError("size", f"pad: a length of {n} cannot lose {(before, after)}")
        new.append(n + before + after)
    out = fresh(tuple(new), contiguous_strides(tuple(new)), input.dtype)
    if out.numel() and any(before < 0 or after < 0 for before, after in pads):
        # An end that is longer than what is left of the middle reads memory that nothing has written.
        shadow.leave_unspecified(out)
    inner, source = out, input
    for d, (before, after) in enumerate(pads):
        inner = _between(inner, d, max(before, 0), new[d] - max(after, 0))
        source = _between(source, d, max(-before, 0), shape[d] - max(-after, 0))
    copy_(inner, source)
    for d, (before, after) in enumerate(pads):
        end = new[d] - max(after, 0)
        if before > 0:
            copy_(_between(out, d, 0, before), _between(out, d, end - before, end))
        if after > 0:
            begin = max(before, 0)
            copy_(_between(out, d, new[d] - after, new[d]), _between(out, d, begin, begin + after))
    return out


def _between(t: "Tensor", dim: int, start: int, end: int) -> "Tensor":
    start, end = (min(max(x + t._layout.shape[dim] if x < 0 else x, 0), t._layout.shape[dim]) for x in (start, end))
    return narrow(t, dim, start, max(end - start, 0))


def constant_pad_nd(input: "Tensor", pad: Any, value: Any = 0) -> "Tensor":
    """`nn.functional.pad` with a constant. Raises: dimension, size, overflow. Source: facts 4.4, torch 2.13."""
    from .padding import pad as padded

    if not isinstance(input, TensorBase):
        raise LayoutTypeError("argument", f"constant_pad_nd: expected a Tensor, got {type(input).__name__}")
    if not isinstance(value, complex):
        return padded(input, tuple(pad), "constant", value)

    result = padded(input, tuple(pad))
    scalar_array(value, input.dtype)
    return shadow.leave_unspecified(result)
