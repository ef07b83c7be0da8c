"""The same bytes under another dtype, and complex numbers as pairs of reals."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from . import dtypes as dt
from .core import CONJ, NEG, build, view_of
from .dtypes import dtype
from .errors import LayoutError, LayoutTypeError
from .layout import CACHE, Layout, check_bounds

if TYPE_CHECKING:
    from .tensors import Tensor


@lru_cache(CACHE)
def recast(layout: Layout, old: int, new: int) -> Layout:
    """Layout of the same bytes in elements of another size.

    To narrower elements the last dimension grows; to wider ones it shrinks, and everything else must divide: the other
    strides also in dimensions of length 1 and without elements.

    Units: item sizes in bytes.
    Raises: dtype (RuntimeError).
    Source: facts 3.2, torch 2.13.

    >>> recast(Layout((2, 3), (3, 1), 1), 8, 4)
    Layout(shape=(2, 6), strides=(6, 1), offset=2)
    >>> recast(Layout((2, 4), (6, 1), 2), 4, 8)
    Layout(shape=(2, 2), strides=(3, 1), offset=1)
    """
    shape, strides, offset = layout
    if old == new:
        return layout
    if not shape:
        raise LayoutError("dtype", f"view(dtype): {old}-byte to {new}-byte elements without a dimension (facts 3.2)")
    if strides[-1] != 1:
        raise LayoutError("dtype", f"view(dtype): the last stride is {strides[-1]} and must be 1 (facts 3.2)")
    if old > new:
        r = old // new
        return Layout((*shape[:-1], shape[-1] * r), (*[s * r for s in strides[:-1]], 1), offset * r)
    r = new // old
    if shape[-1] % r:
        raise LayoutError("dtype", f"view(dtype): the last length {shape[-1]} is not divisible by {r} (facts 3.2)")
    if offset % r:
        raise LayoutError("dtype", f"view(dtype): the offset {offset} is not divisible by {r} (facts 3.2)")
    for d, s in enumerate(strides[:-1]):
        if s % r:
            raise LayoutError("dtype", f"view(dtype): stride {s} of dimension {d} is not divisible by {r} (facts 3.2)")
    return Layout((*shape[:-1], shape[-1] // r), (*[s // r for s in strides[:-1]], 1), offset // r)


def view_dtype(input: "Tensor", dtype: Any) -> "Tensor":
    """The same memory under another dtype: shares the version counter, but is not recorded as a view.

    Raises: dtype (RuntimeError), also with a conjugate or negative bit.
    Source: facts 3.2, torch 2.13.

    >>> torch.zeros(2, 4).view(torch.float64).shape
    torch.Size([2, 2])
    """
    if not isinstance(dtype, _dtype):
        raise LayoutTypeError("argument", f"view: expected a dtype, got {dtype!r}")
    if input._bits:
        raise LayoutError("dtype", "view(dtype) of a tensor with a conjugate or negative bit (facts 3.2)")
    layout = recast(input._layout, input.dtype.itemsize, dtype.itemsize)
    v = build(input._storage, layout, dtype)
    if not (v._inference or input._inference):
        v._versions = input._versions
    return v


_dtype = dtype


def view_as_real(input: "Tensor") -> "Tensor":
    """Complex numbers as pairs in a new last dimension.

    Raises: dtype (RuntimeError) for real input or a conjugate bit. Source: facts 3.11, torch 2.13.

    >>> torch.view_as_real(torch.zeros(3, dtype=torch.complex64)).stride()
    (2, 1)
    """
    if not input.dtype.is_complex:
        raise LayoutError("dtype", f"view_as_real needs a complex tensor, got {input.dtype} (facts 3.11)")
    if input._bits & CONJ:
        raise LayoutError("dtype", "view_as_real of an unresolved conjugate (facts 3.11)")
    return _real_view(input)


def _real_view(input: "Tensor") -> "Tensor":
    shape, strides, offset = input._layout
    v = view_of(input, Layout((*shape, 2), (*[2 * s for s in strides], 1), 2 * offset), free=True)
    v.dtype = input.dtype.to_real()
    return v


def view_as_complex(input: "Tensor") -> "Tensor":
    """Pairs in the last dimension as complex numbers.

    Raises: dtype, size, view (all RuntimeError). Source: facts 3.11, torch 2.13.

    >>> torch.view_as_complex(torch.zeros(3, 2)).stride()
    (1,)
    """
    shape, strides, offset = input._layout
    if input.dtype not in (dt.float16, dt.float32, dt.float64):
        raise LayoutError("dtype", f"view_as_complex needs half, float or double, got {input.dtype} (facts 3.11)")
    if not shape:
        raise LayoutError("dimension", "view_as_complex needs a dimension (facts 3.11)")
    if shape[-1] != 2:
        raise LayoutError("size", f"view_as_complex needs a last length of 2, got {shape[-1]} (facts 3.11)")
    if strides[-1] != 1:
        raise LayoutError("view", f"view_as_complex needs a last stride of 1, got {strides[-1]} (facts 3.11)")
    if any(s % 2 for s, n in zip(strides[:-1], shape[:-1], strict=True) if n != 1) or offset % 2:
        raise LayoutError("view", f"view_as_complex: strides {strides} and offset {offset} must be even (facts 3.11)")
    v = view_of(input, Layout(shape[:-1], tuple([s // 2 for s in strides[:-1]]), offset // 2), free=True)
    v.dtype = input.dtype.to_complex()
    return v


def real(input: "Tensor") -> "Tensor":
    """A view of the real parts; the tensor itself where it is real. Source: facts 3.11, torch 2.13.

    >>> torch.zeros(3, dtype=torch.complex64).real.stride()
    (2,)
    """
    if not input.dtype.is_complex:
        return input
    return _part(input, 0)


def imag(input: "Tensor") -> "Tensor":
    """A view of the imaginary parts, with the negative bit for a conjugate.

    Raises: dtype (RuntimeError) for real input. Source: facts 3.11 and 9.6, torch 2.13.

    >>> torch.zeros(3, dtype=torch.complex64).imag.storage_offset()
    1
    """
    if not input.dtype.is_complex:
        raise LayoutError("dtype", f"imag is not implemented for {input.dtype} (facts 3.11)")
    return _part(input, 1)


def _part(input: "Tensor", which: int) -> "Tensor":
    shape, strides, offset = input._layout
    layout = Layout(shape, tuple([2 * s for s in strides]), 2 * offset + which)
    part = input.dtype.to_real()
    if input._storage._short and not input._storage._is_meta:
        check_bounds(layout, part.itemsize, len(input._storage._bytes))
    v = view_of(input, layout, free=True)
    v.dtype = part
    bits = input._bits & NEG
    if which and input._bits & CONJ:
        bits ^= NEG
    v._bits = bits
    return v


def conj(input: "Tensor") -> "Tensor":
    """A view with the conjugate bit flipped; the tensor itself where it is real. Source: facts 9.1, torch 2.13.

    >>> x = torch.tensor([1 + 2j])
    >>> x.conj().is_conj(), x.conj().data_ptr() == x.data_ptr()
    (True, True)
    """
    return conj_view(input) if input.dtype.is_complex else input


def conj_view(input: "Tensor") -> "Tensor":
    """A view with the conjugate bit flipped. Raises: dtype (RuntimeError) for real input. Source: torch 2.13, _conj."""
    if not input.dtype.is_complex:
        raise LayoutError("dtype", f"_conj: {input.dtype} is not complex")
    v = view_of(input, input._layout, free=True)
    v._bits ^= CONJ
    return v


def neg_view(input: "Tensor") -> "Tensor":
    """A view with the negative bit flipped. Source: facts 9.11, torch 2.13."""
    v = view_of(input, input._layout, free=True)
    v._bits ^= NEG
    return v
