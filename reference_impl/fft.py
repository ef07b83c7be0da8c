"""`torch.fft`: the transformed dimension innermost in memory, batches in the order of their strides.

PyTorch's CPU build transforms with MKL: dimensions that are not transformed come first, by falling stride, then the
transformed ones; the result is dense in that order. Several dimensions of a real result are complex transforms, then a
real one.
"""

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from . import arithmetic, scans, shadow, slicing_ops
from . import dtypes as dt
from .calls import add_numpy_names
from .copies import clone, store, to
from .core import as_dims, as_int, as_ints, values
from .dtype_view import conj
from .errors import LayoutError, LayoutIndexError, UnsupportedError
from .factories import make_factories
from .layout import Shape, wrap_dim
from .out import write_out
from .padding import pad
from .pointwise_ops import conj_physical
from .promotion import get_default_dtype
from .ranges import arange, write_range
from .results import finish, need_kernel

if TYPE_CHECKING:
    from .tensors import Tensor

_COMPLEX = {dt.float16: dt.complex32, dt.float32: dt.complex64, dt.float64: dt.complex128}
_NORMS = {None: "backward", "backward": "backward", "ortho": "ortho", "forward": "forward"}


def _promoted(name: str, input: "Tensor", *, needs_complex: bool) -> "Tensor":
    d = input.dtype
    if d.category in ("bool", "int"):
        d = get_default_dtype()
    if d in (dt.float16, dt.bfloat16, dt.complex32) or d in dt.FLOAT8:
        raise LayoutError("dtype", f"{name}: PyTorch does not transform {input.dtype}")
    if needs_complex and not d.is_complex:
        d = _COMPLEX[d]
    return input if d is input.dtype else to(input, d)


def _scale(norm: Any, count: int, forward: bool, name: str) -> float:
    if norm not in _NORMS:
        raise LayoutError("argument", f"{name}: norm must be 'forward', 'backward' or 'ortho', got {norm!r}")
    kind = _NORMS[norm]
    if kind == "ortho":
        return 1 / float(np.sqrt(count)) if count else 1.0
    return 1 / count if count and (kind == "forward") == forward else 1.0


def _resized(input: "Tensor", dims: tuple[int, ...], sizes: tuple[int, ...]) -> "Tensor":
    lengths = input._layout.shape
    pads = [0] * (2 * len(lengths))
    must_pad = False
    for d, n in zip(dims, sizes, strict=True):
        if n < lengths[d]:
            input = slicing_ops.narrow(input, d, 0, n)
        elif n > lengths[d]:
            pads[2 * (len(lengths) - 1 - d) + 1] = n - lengths[d]
            must_pad = True
    return pad(input, tuple(pads)) if must_pad else input


def _sorted(input: "Tensor", dims: tuple[int, ...]) -> tuple[int, ...]:
    strides = input._layout.strides
    return tuple(sorted(dims, key=lambda d: -strides[d]))


def _laid_out(input: "Tensor", shape: Shape, dims: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of a transform's result: dense, batches first by falling stride, then the dimensions given."""
    own = input._layout.strides
    batch = sorted([d for d in range(len(shape)) if d not in dims], key=lambda d: -own[d])
    strides = [0] * len(shape)
    step = 1
    for d in reversed([*batch, *dims]):
        strides[d] = step
        step *= shape[d]
    return tuple(strides)


def _refuse_nothing(input: "Tensor") -> None:
    """Refuse to transform no signals at all: MKL takes no such configuration. Raises: size. Source: torch 2.13."""
    if not input.numel():
        raise LayoutError("size", f"fft: there is nothing to transform in shape {input._layout.shape}")


def _delivered(found: Any, d: Any, input: "Tensor", strides: tuple[int, ...]) -> "Tensor":
    result = finish(found, d, input, strides=strides)
    # Terms cancel: how far a result may be off depends on all of them.
    return shadow.leave_unspecified(result)


def _c2c(input: "Tensor", dims: tuple[int, ...], scale: float, forward: bool) -> "Tensor":
    if not dims:
        return clone(input)
    _refuse_nothing(input)
    shape = input._layout.shape
    a = values(input).astype(np.complex128)
    a = np.fft.fftn(a, axes=dims) if forward else np.fft.ifftn(a, axes=dims) * prod(shape[d] for d in dims)
    return _delivered(a * scale, input.dtype, input, _laid_out(input, shape, _sorted(input, dims)))


def _r2c(input: "Tensor", dims: tuple[int, ...], scale: float, *, onesided: bool) -> "Tensor":
    _refuse_nothing(input)
    shape = list(input._layout.shape)
    a: Any = values(input).astype(np.float64)
    a = np.fft.rfftn(a, axes=dims) if onesided else np.fft.fftn(a, axes=dims)
    if onesided:
        shape[dims[-1]] = shape[dims[-1]] // 2 + 1
    order = (*_sorted(input, dims[:-1]), dims[-1])
    return _delivered(a * scale, _COMPLEX[input.dtype], input, _laid_out(input, tuple(shape), order))


def _c2r(input: "Tensor", d: int, n: int, scale: float) -> "Tensor":
    _refuse_nothing(input)
    shape = list(input._layout.shape)
    shape[d] = n
    with np.errstate(all="ignore"):
        a = np.fft.irfft(values(input).astype(np.complex128), n, axis=d) * n
    return _delivered(a * scale, input.dtype.to_real(), input, _laid_out(input, tuple(shape), (d,)))


def _one(name: str, input: "Tensor", n: Any, dim: Any) -> tuple[int, int]:
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    if not input.ndim:
        raise LayoutIndexError("dimension", f"{name}: the tensor has no dimensions")
    length = input._layout.shape[d] if n is None else as_int(n, "n")
    return d, length


def _check_points(name: str, n: int) -> None:
    if n < 1:
        raise LayoutError("size", f"{name}: {n} points cannot be transformed")


def _check_real_out(name: str, out: Any) -> None:
    if out is not None and not out.dtype.is_floating_point:
        raise LayoutError("dtype", f"{name}: a floating point output is needed, got {out.dtype}")


def fft(input: "Tensor", n: Any = None, dim: int = -1, norm: Any = None, *, out: "Tensor | None" = None) -> "Tensor":
    """Discrete Fourier transform along a dimension. Raises: dimension, size, dtype, argument. Source: facts 4.4."""
    return _transformed("fft", input, n, dim, norm, out, forward=True)


def ifft(input: "Tensor", n: Any = None, dim: int = -1, norm: Any = None, *, out: "Tensor | None" = None) -> "Tensor":
    """Inverse of `fft`; of real numbers as a conjugate view. Raises: as `fft`. Source: facts 4.4, torch 2.13."""
    return _transformed("ifft", input, n, dim, norm, out, forward=False)


def _transformed(name: str, input: "Tensor", n: Any, dim: Any, norm: Any, out: Any, *, forward: bool) -> "Tensor":
    x = _promoted(name, input, needs_complex=False)
    d, length = _one(name, x, n, dim)
    _check_points(name, length)
    if n is not None:
        x = _resized(x, (d,), (length,))
    scale = _scale(norm, length, forward, name)
    if x.dtype.is_complex:
        return write_out(out, _c2c(x, (d,), scale, forward), input, row_major=True)
    found = _r2c(x, (d,), scale, onesided=False)
    return write_out(out, found if forward else conj(found), input, row_major=True)


def rfft(input: "Tensor", n: Any = None, dim: int = -1, norm: Any = None, *, out: "Tensor | None" = None) -> "Tensor":
    """First half of the transform of real numbers. Raises: as `fft`. Source: facts 4.4, torch 2.13."""
    return write_out(out, _half("rfft", input, n, dim, norm, forward=True), input, row_major=True)


def ihfft(input: "Tensor", n: Any = None, dim: int = -1, norm: Any = None, *, out: "Tensor | None" = None) -> "Tensor":
    """First half of the inverse transform, as a conjugate view. Raises: as `fft`. Source: torch 2.13."""
    return write_out(out, conj(_half("ihfft", input, n, dim, norm, forward=False)), input, exact=True)


def _half(name: str, input: "Tensor", n: Any, dim: Any, norm: Any, *, forward: bool) -> "Tensor":
    if input.dtype.is_complex:
        raise LayoutError("dtype", f"{name}: real numbers are needed, got {input.dtype}")
    x = _promoted(name, input, needs_complex=False)
    d, length = _one(name, x, n, dim)
    _check_points(name, length)
    if n is not None:
        x = _resized(x, (d,), (length,))
    return _r2c(x, (d,), _scale(norm, length, forward, name), onesided=True)


def irfft(input: "Tensor", n: Any = None, dim: int = -1, norm: Any = None, *, out: "Tensor | None" = None) -> "Tensor":
    """Real numbers of half a transform. Raises: as `fft`. Source: facts 4.4, torch 2.13."""
    _check_real_out("irfft", out)
    return write_out(out, _real("irfft", input, n, dim, norm, forward=False), input, row_major=True)


def hfft(input: "Tensor", n: Any = None, dim: int = -1, norm: Any = None, *, out: "Tensor | None" = None) -> "Tensor":
    """Real transform of half a symmetric signal. Raises: as `fft`. Source: torch 2.13."""
    _check_real_out("hfft", out)
    return write_out(out, _real("hfft", input, n, dim, norm, forward=True), input, row_major=True)


def _real(name: str, input: "Tensor", n: Any, dim: Any, norm: Any, *, forward: bool) -> "Tensor":
    x = _promoted(name, input, needs_complex=True)
    d, length = _one(name, x, n, dim)
    if n is None:
        length = 2 * (length - 1)
    _check_points(name, length)
    if n is not None:
        x = _resized(x, (d,), (length // 2 + 1,))
    scale = _scale(norm, length, forward, name)
    # The conjugate bit is applied by a copy.
    return _c2r(clone(conj(x)) if forward else x, d, length, scale)


def _several(
    name: str, input: "Tensor", s: Any, dim: Any, *, last_doubled: bool = False
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Dimensions and lengths of a transform over several of them."""
    if dim is not None:
        given = as_dims(dim, "dim")
        dims = tuple([wrap_dim(d, input.ndim) for d in given])
        if len(set(dims)) != len(dims):
            raise LayoutError("dimension", f"{name}: dimensions {given} repeat one")
        if dims and not input.ndim:
            raise LayoutIndexError("dimension", f"{name}: the tensor has no dimensions")
    lengths = None if s is None else as_ints((s,), "s")
    if lengths is not None:
        if dim is None:
            if len(lengths) > input.ndim:
                raise LayoutError("dimension", f"{name}: {len(lengths)} lengths for {input.ndim} dimensions")
            dims = tuple(range(input.ndim - len(lengths), input.ndim))
        elif len(dims) != len(lengths):
            raise LayoutError("dimension", f"{name}: {len(lengths)} lengths for {len(dims)} dimensions")
        sizes = tuple([input._layout.shape[d] if n == -1 else n for d, n in zip(dims, lengths, strict=True)])
        if last_doubled and lengths and lengths[-1] == -1:
            sizes = (*sizes[:-1], 2 * (input._layout.shape[dims[-1]] - 1))
    else:
        if dim is None:
            dims = tuple(range(input.ndim))
        sizes = tuple([input._layout.shape[d] for d in dims])
        if last_doubled and sizes:
            sizes = (*sizes[:-1], 2 * (sizes[-1] - 1))
    for n in sizes:
        _check_points(name, n)
    return dims, sizes


def fftn(input: "Tensor", s: Any = None, dim: Any = None, norm: Any = None, *, out: "Tensor | None" = None) -> "Tensor":
    """`fft` along several dimensions. Raises: dimension, size, dtype, argument. Source: torch 2.13."""
    return _transformed_n("fftn", input, s, dim, norm, out, forward=True)


def ifftn(
    input: "Tensor", s: Any = None, dim: Any = None, norm: Any = None, *, out: "Tensor | None" = None
) -> "Tensor":
    """Inverse of `fftn`. Raises: as `fftn`. Source: torch 2.13."""
    return _transformed_n("ifftn", input, s, dim, norm, out, forward=False)


def _transformed_n(name: str, input: "Tensor", s: Any, dim: Any, norm: Any, out: Any, *, forward: bool) -> "Tensor":
    dims, sizes = _several(name, input, s, dim)
    x = _resized(_promoted(name, input, needs_complex=True), dims, sizes)
    scale = _scale(norm, prod(sizes), forward, name)
    return write_out(out, _c2c(x, dims, scale, forward), input, row_major=True)


def rfftn(
    input: "Tensor", s: Any = None, dim: Any = None, norm: Any = None, *, out: "Tensor | None" = None
) -> "Tensor":
    """`rfft` along several dimensions. Raises: as `fftn`. Source: torch 2.13."""
    if input.dtype.is_complex:
        raise LayoutError("dtype", f"rfftn: real numbers are needed, got {input.dtype}")
    dims, sizes = _several("rfftn", input, s, dim)
    if not dims:
        raise LayoutError("dimension", "rfftn: at least one dimension must be transformed")
    x = _resized(_promoted("rfftn", input, needs_complex=False), dims, sizes)
    return write_out(out, _r2c(x, dims, _scale(norm, prod(sizes), True, "rfftn"), onesided=True), input, row_major=True)


def irfftn(
    input: "Tensor", s: Any = None, dim: Any = None, norm: Any = None, *, out: "Tensor | None" = None
) -> "Tensor":
    """`irfft` along several dimensions. Raises: as `fftn`. Source: torch 2.13."""
    _check_real_out("irfftn", out)
    return write_out(out, _real_n("irfftn", input, s, dim, norm, forward=False), input, row_major=True)


def hfftn(
    input: "Tensor", s: Any = None, dim: Any = None, norm: Any = None, *, out: "Tensor | None" = None
) -> "Tensor":
    """`hfft` along several dimensions. Raises: as `fftn`. Source: torch 2.13."""
    _check_real_out("hfftn", out)
    return write_out(out, _real_n("hfftn", input, s, dim, norm, forward=True), input, row_major=True)


def _real_n(name: str, input: "Tensor", s: Any, dim: Any, norm: Any, *, forward: bool) -> "Tensor":
    dims, sizes = _several(name, input, s, dim, last_doubled=True)
    if not dims:
        raise LayoutError("dimension", f"{name}: at least one dimension must be transformed")
    x = _promoted(name, input, needs_complex=True)
    x = _resized(x, dims, (*sizes[:-1], sizes[-1] // 2 + 1))
    scale = _scale(norm, prod(sizes), forward, name)
    if len(dims) > 1:
        x = _c2c(x, dims[:-1], 1.0, forward)
    return _c2r(clone(conj(x)) if forward else x, dims[-1], sizes[-1], scale)


def ihfftn(
    input: "Tensor", s: Any = None, dim: Any = None, norm: Any = None, *, out: "Tensor | None" = None
) -> "Tensor":
    """`ihfft` along several dimensions. Raises: as `fftn`. Source: torch 2.13."""
    if input.dtype.is_complex:
        raise LayoutError("dtype", f"ihfftn: real numbers are needed, got {input.dtype}")
    dims, sizes = _several("ihfftn", input, s, dim)
    if not dims:
        raise LayoutError("dimension", "ihfftn: at least one dimension must be transformed")
    x = _resized(_promoted("ihfftn", input, needs_complex=False), dims, sizes)
    half = _r2c(x, dims[-1:], _scale(norm, prod(sizes), False, "ihfftn"), onesided=True)
    if len(dims) == 1:
        return write_out(out, conj(half), input, row_major=True)
    return write_out(out, _c2c(conj_physical(half), dims[:-1], 1.0, False), input, row_major=True)


def fft2(
    input: "Tensor", s: Any = None, dim: Any = (-2, -1), norm: Any = None, *, out: "Tensor | None" = None
) -> "Tensor":
    """`fftn` along the last two dimensions. Raises: as `fftn`."""
    return fftn(input, s, dim, norm, out=out)


def ifft2(
    input: "Tensor", s: Any = None, dim: Any = (-2, -1), norm: Any = None, *, out: "Tensor | None" = None
) -> "Tensor":
    """`ifftn` along the last two dimensions. Raises: as `fftn`."""
    return ifftn(input, s, dim, norm, out=out)


def rfft2(
    input: "Tensor", s: Any = None, dim: Any = (-2, -1), norm: Any = None, *, out: "Tensor | None" = None
) -> "Tensor":
    """`rfftn` along the last two dimensions. Raises: as `fftn`."""
    return rfftn(input, s, dim, norm, out=out)


def irfft2(
    input: "Tensor", s: Any = None, dim: Any = (-2, -1), norm: Any = None, *, out: "Tensor | None" = None
) -> "Tensor":
    """`irfftn` along the last two dimensions. Raises: as `fftn`."""
    return irfftn(input, s, dim, norm, out=out)


def hfft2(
    input: "Tensor", s: Any = None, dim: Any = (-2, -1), norm: Any = None, *, out: "Tensor | None" = None
) -> "Tensor":
    """`hfftn` along the last two dimensions. Raises: as `fftn`."""
    return hfftn(input, s, dim, norm, out=out)


def ihfft2(
    input: "Tensor", s: Any = None, dim: Any = (-2, -1), norm: Any = None, *, out: "Tensor | None" = None
) -> "Tensor":
    """`ihfftn` along the last two dimensions. Raises: as `fftn`."""
    return ihfftn(input, s, dim, norm, out=out)


def fftshift(input: "Tensor", dim: Any = None) -> "Tensor":
    """Rolled so that frequency 0 is in the middle. Raises: dimension. Source: torch 2.13."""
    dims = tuple(range(input.ndim)) if dim is None else as_dims(dim, "dim")
    return scans.roll(input, [input._layout.shape[wrap_dim(d, input.ndim)] // 2 for d in dims], dims)


def ifftshift(input: "Tensor", dim: Any = None) -> "Tensor":
    """Inverse of `fftshift`. Raises: dimension. Source: torch 2.13."""
    dims = tuple(range(input.ndim)) if dim is None else as_dims(dim, "dim")
    return scans.roll(input, [(input._layout.shape[wrap_dim(d, input.ndim)] + 1) // 2 for d in dims], dims)


def fftfreq(
    n: int, d: float = 1.0, *, out: "Tensor | None" = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Frequencies of `fft`. Raises: dtype. Source: torch 2.13."""
    return _frequencies("fftfreq", n, d, out, dtype, requires_grad, half=False)


def rfftfreq(
    n: int, d: float = 1.0, *, out: "Tensor | None" = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Frequencies of `rfft`. Raises: dtype. Source: torch 2.13."""
    return _frequencies("rfftfreq", n, d, out, dtype, requires_grad, half=True)


def _frequencies(name: str, n: int, d: float, out: Any, dtype: Any, requires_grad: bool, *, half: bool) -> "Tensor":
    wanted = get_default_dtype() if dtype is None else dtype
    if not (wanted.is_floating_point or wanted.is_complex):
        raise LayoutError("dtype", f"{name}: floating point is needed, got {wanted}")
    if wanted.is_complex:
        raise UnsupportedError("dtype", f"{name}: PyTorch has no kernel for {wanted}")
    # As in C, halves are rounded towards zero, and a division by zero is infinite.
    steps = arange(int(n / 2) + 1 if half else n, dtype=wanted)
    with np.errstate(all="ignore"):
        scale = np.float64(1.0) / (n * d)
        numbers = np.arange(steps.numel())
        found = np.where(numbers * 2 < n, numbers, numbers - n) * scale if not half else numbers * scale
    result = arithmetic.mul_(steps, float(scale))

    store(result, found.astype(wanted.numpy), shadow.TOLERANCE)
    result._versions[0] = 0
    if out is not None:
        need_kernel(name, out.dtype, "if")
        return write_range(out, result)
    return result.requires_grad_() if requires_grad else result


make_factories(globals(), "fftfreq rfftfreq")
add_numpy_names(globals())
