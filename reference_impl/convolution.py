"""Convolutions, transposed ones too: channels-last where input or weight suggests it and the backend can (facts 4.6).

A convolution over one dimension is one over two with a height of 1; complex ones are three real ones. Both show in the
layout.
"""

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from . import arithmetic, shadow
from . import dtypes as dt
from . import views as vw
from .contiguity import is_channels_last, is_contiguous, is_contiguous_in, suggested_format, suggested_strides
from .copies import resolved
from .core import as_int, check_tensors, recorded, view_of
from .errors import LayoutError, LayoutTypeError, UnsupportedError
from .formats import contiguous_format
from .kept import check_kept
from .layout import Layout, Shape, Strides, channels_last_strides, contiguous_strides
from .linear_algebra import same_dtype
from .output_layout import output_strides
from .padding import pad
from .results import finish, need_kernel, wide
from .slicing_ops import select
from .threads import get_num_threads
from .view_ops import reshape_to, unsqueeze
from .views import squeeze
from .views import unsqueeze as unsqueezed

if TYPE_CHECKING:
    from .tensors import Tensor

# Below this many elements oneDNN is not worth its start; PyTorch's own loops over volumes are row-major.
_LARGE_INPUT = 20480


def per_dim(value: Any, count: int, name: str) -> tuple[int, ...]:
    """An argument given once for all spatial dimensions, or for each.

    Raises: size (RuntimeError) for a wrong count, argument (TypeError).

    >>> per_dim(2, 3, "stride"), per_dim([1, 2], 2, "stride")
    ((2, 2, 2), (1, 2))
    """
    if isinstance(value, (tuple, list)):
        found = tuple([as_int(v, name) for v in value])
        if len(found) == 1:
            return found * count
        if len(found) != count:
            raise LayoutError("size", f"{name}: {len(found)} values for {count} spatial dimensions")
        return found
    return (as_int(value, name),) * count


class _Geometry:
    """The checked numbers of one convolution: steps, padding, holes, groups; what a transposed one adds at the end."""

    def __init__(
        self,
        name: str,
        spatial: int,
        stride: Any,
        padding: Any,
        dilation: Any,
        groups: Any,
        transposed: bool,
        extra: Any,
    ) -> None:
        self.name, self.spatial, self.transposed = name, spatial, transposed
        self.groups = as_int(groups, "groups")
        if self.groups <= 0:
            raise LayoutError("size", f"{name}: {groups} groups")
        self.steps = per_dim(stride, spatial, "stride")
        self.pads = per_dim(padding, spatial, "padding")
        self.holes = per_dim(dilation, spatial, "dilation")
        self.extra = per_dim(extra, spatial, "output_padding")
        if min(self.pads) < 0 or min(self.extra) < 0:
            raise LayoutError("size", f"{name}: padding {self.pads} or output padding {self.extra} is negative")
        if min(self.steps) <= 0 or min(self.holes) <= 0:
            raise LayoutError("size", f"{name}: stride {self.steps} and dilation {self.holes} must be positive")

    def check(self, input: Shape, weight: Shape, bias: Any) -> None:
        """Refuse shapes that do not fit each other."""
        if len(input) != len(weight):
            raise LayoutError("dimension", f"{self.name}: an input of shape {input} for a weight of shape {weight}")
        if weight[0] < self.groups or weight[0] % self.groups:
            raise LayoutError("size", f"{self.name}: a weight of shape {weight} for {self.groups} groups")
        wanted, made = (weight[0], weight[1] * self.groups) if self.transposed else (weight[1] * self.groups, weight[0])
        if input[1] != wanted:
            raise LayoutError(
                "size", f"{self.name}: {input[1]} channels where the weight of shape {weight} has {wanted}"
            )
        if bias is not None and bias._layout.shape != (made,):
            raise LayoutError("size", f"{self.name}: a bias of shape {bias._layout.shape} for {made} channels")
        if not self.transposed and any(
            n + 2 * p < h * (k - 1) + 1 for n, p, h, k in zip(input[2:], self.pads, self.holes, weight[2:], strict=True)
        ):
            raise LayoutError(
                "size", f"{self.name}: the kernel {weight[2:]} is larger than the padded input {input[2:]}"
            )

    def lengths(self, input: Shape, weight: Shape) -> Shape:
        """Spatial lengths of the output."""
        every = zip(input[2:], weight[2:], self.steps, self.pads, self.holes, self.extra, strict=True)
        if self.transposed:
            return tuple([(n - 1) * s - 2 * p + h * (k - 1) + e + 1 for n, k, s, p, h, e in every])
        return tuple([(n + 2 * p - h * (k - 1) - 1) // s + 1 for n, k, s, p, h, _ in every])


def convolution(
    input: "Tensor", weight: "Tensor", bias: "Tensor | None", stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int,
) -> "Tensor":  # fmt: skip
    """`conv*d` or `conv_transpose*d`, by the weight's dimensions. Raises: as those. Source: torch 2.13."""
    spatial = max(1, min(3, weight.ndim - 2))
    if input.ndim != weight.ndim:
        raise LayoutError("dimension", f"convolution: an input of {input.ndim} dimensions, a weight of {weight.ndim}")
    return _convolve(
        "convolution", spatial, input, weight, bias, stride, padding, dilation, groups, transposed=transposed,
        output_padding=output_padding if transposed else 0,
    )  # fmt: skip


def _convolve(
    name: str, spatial: int, input: "Tensor", weight: "Tensor", bias: "Tensor | None", stride: Any, padding: Any,
    dilation: Any, groups: Any, *, transposed: bool = False, output_padding: Any = 0,
) -> "Tensor":  # fmt: skip
    check_tensors(name, input, weight, *(() if bias is None else (bias,)))
    if input.ndim == spatial + 1:
        batched = _convolve(
            name, spatial, unsqueeze(input, 0), weight, bias, stride, padding, dilation, groups,
            transposed=transposed, output_padding=output_padding,
        )  # fmt: skip
        return view_of(batched, squeeze(batched._layout, (0,)))
    if input.ndim != spatial + 2:
        raise LayoutError(
            "dimension", f"{name}: {spatial + 1} or {spatial + 2} dimensions are needed, got {input._layout.shape}"
        )
    if weight.ndim < 3:
        raise LayoutError("dimension", f"{name}: the weight has shape {weight._layout.shape}")
    if isinstance(padding, str):
        input, padding = _named_padding(name, spatial, input, weight, padding, stride, dilation)
    check_kept(name, "0<1,2 1<0,2", (input, weight, bias))
    geometry = _Geometry(name, spatial, stride, padding, dilation, groups, transposed, output_padding)
    geometry.check(input._layout.shape, weight._layout.shape, bias)
    return _checked(geometry, input, weight, bias)


def _named_padding(
    name: str, spatial: int, input: "Tensor", weight: "Tensor", padding: str, stride: Any, dilation: Any
) -> tuple["Tensor", Any]:
    """The padding that 'same' or 'valid' stands for; what is uneven is added to the input beforehand."""
    steps = per_dim(stride, spatial, "stride")
    if padding == "valid":
        return input, 0
    if padding != "same":
        raise LayoutError("argument", f"{name}: padding must be 'valid' or 'same', got {padding!r}")
    if any(s != 1 for s in steps):
        raise LayoutError("size", f"{name}: padding='same' needs a stride of 1")
    if weight.ndim != input.ndim:
        raise LayoutError("dimension", f"{name}: a weight of shape {weight._layout.shape} for {spatial} dimensions")
    holes = per_dim(dilation, spatial, "dilation")
    total = [h * (k - 1) for h, k in zip(holes, weight._layout.shape[2:], strict=True)]
    if min(total) < 0:
        raise LayoutError("size", f"{name}: a kernel without elements cannot be centred")
    pairs: list[int] = []
    for t in reversed(total):
        pairs += [0, t % 2]
    return (pad(input, pairs) if any(pairs) else input), tuple([t // 2 for t in total])


def _checked(g: _Geometry, input: "Tensor", weight: "Tensor", bias: "Tensor | None") -> "Tensor":
    input, weight = resolved(input), resolved(weight)
    shape, kernel = input._layout.shape, weight._layout.shape
    made = kernel[1] * g.groups if g.transposed else kernel[0]
    out_shape = (shape[0], made, *g.lengths(shape, kernel))
    inputs = (input, weight) if bias is None else (input, weight, bias)
    d = input.dtype
    if 0 in shape:
        if shape[0] and shape[1]:
            raise LayoutError("size", f"{g.name}: an input of shape {shape} is empty, yet has a batch and channels")
        # Of no channels come none, whatever the weight says.
        return _empty(g, input, weight, bias, out_shape if shape[1] else (shape[0], 0, *out_shape[2:]))
    if any(e >= n and e >= h for e, n, h in zip(g.extra, g.steps, g.holes, strict=True)):
        raise LayoutError("size", f"{g.name}: output padding {g.extra} is not smaller than stride or dilation")
    least = 0 if g.transposed and _uses_onednn(g, _flat(shape), _flat(kernel), d.to_real()) else 1
    if min(out_shape[2:]) < least:
        # Memory of another format is asked for before oneDNN looks at the lengths.
        x, w = (unsqueezed(t._layout, 2) if g.spatial == 1 else t._layout for t in (input, weight))
        overflows = least == 0 and _either(x, w) is not contiguous_format
        raise LayoutError("overflow" if overflows else "size", f"{g.name}: the output would have shape {out_shape}")
    if 0 in kernel:
        raise LayoutError("size", f"{g.name}: the weight of shape {kernel} is empty")
    need_kernel(g.name, d, "ifch")
    if d.category == "int" and d is not dt.int64 and (g.transposed or any(h > 1 for h in g.holes)):
        raise UnsupportedError("dtype", f"{g.name}: PyTorch has no kernel for {d} where it is transposed or dilated")
    same_dtype(g.name, *inputs)
    strides = _strides(g, input, weight, out_shape)
    if d is dt.complex32:
        return shadow.leave_unspecified(finish(np.zeros(out_shape, np.complex64), d, *inputs, strides=strides))
    if 0 in out_shape:
        return finish(np.zeros(out_shape, d.numpy), d, *inputs, strides=strides)
    x, w = wide(input), wide(weight)
    b = None if bias is None else wide(bias).reshape(-1, *[1] * g.spatial)
    with np.errstate(all="ignore"):
        result = correlate(x, w, g)
        magnitude = correlate(np.abs(x), np.abs(w), g) if d.category != "int" else None
        if b is not None:
            result = result + b
            magnitude = None if magnitude is None else magnitude + np.abs(b)
        if d.is_complex and magnitude is not None:
            # Three real convolutions and their differences.
            magnitude = magnitude * 6
    terms = kernel[0] * kernel[1] * prod(kernel[2:])
    made_of = finish(result, d, *inputs, strides=strides, magnitude=magnitude, terms=terms, roundings=1)
    # oneDNN fills blocks of half numbers up with zeros, and 0 times what is infinite or NaN is NaN.
    spreads = d in (dt.float16, dt.bfloat16) and not (np.isfinite(x).all() and np.isfinite(w).all())
    if spreads or _misread(g, weight):
        shadow.leave_unspecified(made_of)
    if g.spatial == 3 and g.transposed and g.groups == 1 and not d.is_complex and not _uses_onednn(g, shape, kernel, d):
        # PyTorch's loop allocates a tensor like the input and resizes it.
        made_of._storage.resize_(max(result.size, input.numel()) * d.itemsize)
    return made_of


def _misread(g: _Geometry, weight: "Tensor") -> bool:
    """Whether oneDNN takes wrong elements of a weight: one for groups, channels-last but for dimensions of length 1."""
    shape, strides, _ = weight._layout
    return (
        g.groups > 1
        and len(shape) == 4
        and is_channels_last(shape, strides)
        and strides != channels_last_strides(shape)
    )


def _flat(shape: Shape) -> Shape:
    return (*shape[:2], 1, shape[2]) if len(shape) == 3 else shape


def _empty(g: _Geometry, input: "Tensor", weight: "Tensor", bias: "Tensor | None", shape: Shape) -> "Tensor":
    """An input without batch or channels: PyTorch multiplies it with one weight and views the product."""
    x = input
    if g.spatial == 1:
        x = unsqueeze(input, 2)
        shape = _flat(shape)
    flat = reshape_to(weight, (weight.numel(),))
    if x._layout.shape[1]:
        made = arithmetic.mul(x, select(flat, 0, 0))
    else:
        made = arithmetic.mul(reshape_to(x, (0,)), reshape_to(flat, (0,)))
    layout = vw.view(made._layout, shape)
    if made.dtype.is_complex:
        # Made of three real results, and empty tensors count as row-major.
        layout = Layout(shape, contiguous_strides(shape), 0)
    made._layout = squeeze(layout, (2,)) if g.spatial == 1 else layout
    return recorded(made, input, weight, bias)


def correlate(x: Any, w: Any, g: _Geometry) -> Any:
    """Values of a convolution: every window of the padded input times the kernel, group by group."""
    axes = tuple(range(2, 2 + g.spatial))
    steps = g.steps
    if g.transposed:
        x, w = _untransposed(x, w, g)
        steps = (1,) * g.spatial
    else:
        x = np.pad(x, [(0, 0), (0, 0), *[(p, p) for p in g.pads]])
    reach = [h * (k - 1) + 1 for h, k in zip(g.holes, w.shape[2:], strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(x, reach, axis=axes)
    windows = windows[
        (slice(None), slice(None), *[slice(None, None, s) for s in steps], *[slice(None, None, h) for h in g.holes])
    ]
    parts = []
    into, out = w.shape[1], w.shape[0] // g.groups
    contracted = [1, *range(2 + g.spatial, 2 + 2 * g.spatial)]
    for k in range(g.groups):
        inside = windows[:, k * into : (k + 1) * into]
        made = np.tensordot(inside, w[k * out : (k + 1) * out], axes=(contracted, [1, *axes]))
        parts.append(np.moveaxis(made, -1, 1))
    return np.concatenate(parts, 1)


def _untransposed(x: Any, w: Any, g: _Geometry) -> tuple[Any, Any]:
    """Input and weight whose plain convolution is the transposed one: zeros between the elements, the kernel turned."""
    spread = np.zeros([*x.shape[:2], *[(n - 1) * s + 1 for n, s in zip(x.shape[2:], g.steps, strict=True)]], x.dtype)
    spread[(slice(None), slice(None), *[slice(None, None, s) for s in g.steps])] = x
    around = [h * (k - 1) - p for h, k, p in zip(g.holes, w.shape[2:], g.pads, strict=True)]
    pads = [(a, a + e) for a, e in zip(around, g.extra, strict=True)]
    x = np.pad(spread, [(0, 0), (0, 0), *[(max(a, 0), max(b, 0)) for a, b in pads]])
    x = x[
        (
            slice(None),
            slice(None),
            *[slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(pads, x.shape[2:], strict=True)],
        )
    ]
    w = np.flip(w, tuple(range(2, w.ndim)))
    grouped = w.reshape(g.groups, w.shape[0] // g.groups, *w.shape[1:]).swapaxes(1, 2)
    return x, grouped.reshape(-1, *grouped.shape[2:])


def _strides(g: _Geometry, input: "Tensor", weight: "Tensor", shape: Shape) -> Strides:
    """Strides of the output of shape `shape`, as the backend that PyTorch chooses for these operands lays it out."""
    x, w = input._layout, weight._layout
    if not input.dtype.is_complex:
        return _backend_strides(g, x, w, input.dtype, shape)
    # Real parts, imaginary parts and their sums are convolved one by one; the sums are fresh.
    part = input.dtype.to_real()
    a = _backend_strides(g, _parts(x), _parts(w), part, shape)
    fresh_x = Layout(x.shape, output_strides(x.shape, ((x.shape, _parts(x).strides),) * 2), 0)
    fresh_w = Layout(w.shape, output_strides(w.shape, ((w.shape, _parts(w).strides),) * 2), 0)
    c = _backend_strides(g, fresh_x, fresh_w, part, shape)
    imaginary = output_strides(shape, ((shape, output_strides(shape, ((shape, c), (shape, a)))), (shape, a)))
    real = output_strides(shape, ((shape, a), (shape, a)))
    return output_strides(shape, ((shape, real), (shape, imaginary)))


def _parts(layout: Layout) -> Layout:
    """Layout of the real or imaginary parts, in elements of half the size."""
    return Layout(layout.shape, tuple([2 * s for s in layout.strides]), 2 * layout.offset)


def _backend_strides(g: _Geometry, x: Layout, w: Layout, d: dt.dtype, shape: Shape) -> Strides:
    if g.spatial == 1:
        row = x if is_contiguous(x.shape, x.strides) else Layout(x.shape, contiguous_strides(x.shape), 0)
        flat = _flat(shape)
        grouped = g.groups > 1 and not _uses_onednn(g, _flat(x.shape), _flat(w.shape), d)
        strides = _laid_out(g, unsqueezed(row, 2), unsqueezed(w, 2), flat, grouped=grouped)
        return strides[:2] + strides[3:]
    if g.spatial == 3 and not _uses_onednn(g, x.shape, w.shape, d):
        return contiguous_strides(shape)
    return _laid_out(g, x, w, shape, grouped=g.groups > 1 and not _uses_onednn(g, x.shape, w.shape, d))


def _laid_out(g: _Geometry, x: Layout, w: Layout, shape: Shape, *, grouped: bool) -> Strides:
    """Both operands are copied to the format that one of them suggests, and are asked again: lengths of 1 may lose it.

    PyTorch's own loops take the groups one by one and join them with `cat`, which asks once more.
    """
    format = _either(x, w)
    x, w = _brought_to(x, format), _brought_to(w, format)
    if not grouped:
        return suggested_strides(shape, _either(x, w))
    part = (shape[0], shape[1] // g.groups, *shape[2:])
    narrow_x = _part(x, (x.shape[0], x.shape[1] // g.groups, *x.shape[2:]))
    narrow_w = _part(w, (w.shape[0] // g.groups, *w.shape[1:]))
    strides = suggested_strides(part, _either(narrow_x, narrow_w))
    return suggested_strides(shape, suggested_format(part, strides))


def _part(whole: Layout, shape: Shape) -> Layout:
    """One group of an operand, contiguous in the format that the whole suggests."""
    return _brought_to(Layout(shape, whole.strides, 0), suggested_format(whole.shape, whole.strides))


def _brought_to(layout: Layout, format: Any) -> Layout:
    if is_contiguous_in(layout.shape, layout.strides, format):
        return layout
    return Layout(layout.shape, suggested_strides(layout.shape, format), 0)


def _either(x: Layout, w: Layout) -> Any:
    for layout in (x, w):
        found = suggested_format(layout.shape, layout.strides)
        if found is not contiguous_format:
            return found
    return contiguous_format


def _uses_onednn(g: _Geometry, x: Shape, w: Shape, d: dt.dtype) -> bool:
    """Whether PyTorch hands a convolution to oneDNN, on a processor with AVX-512."""
    if g.transposed and any(e >= s for e, s in zip(g.extra, g.steps, strict=True)):
        return False
    if d is dt.bfloat16:
        return True
    if d is not dt.float32:
        return False
    plain = (w[-2], w[-1], *g.steps, *g.holes) == (1,) * (2 + 2 * g.spatial)
    if plain and x[0] < 16 and get_num_threads() == 1:
        return False  # a kernel of one element is a product of matrices
    return g.groups > 1 or (w[-1] > 3 and w[-2] > 3) or x[0] > 1 or prod(x[:4]) > _LARGE_INPUT


def conv1d(input: "Tensor", weight: "Tensor", bias: "Tensor | None" = None, stride: Any = 1, padding: Any = 0,
           dilation: Any = 1, groups: int = 1) -> "Tensor":  # fmt: skip
    """Convolution over one dimension.

    Shapes: (n, c, l) or (c, l), weight (o, c / groups, k), bias (o,) to (n, o, l') or a view without n.
    Raises: dimension, size, argument, dtype. Source: facts 4.6, torch 2.13.
    """
    return _convolve("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(input: "Tensor", weight: "Tensor", bias: "Tensor | None" = None, stride: Any = 1, padding: Any = 0,
           dilation: Any = 1, groups: int = 1) -> "Tensor":  # fmt: skip
    """Convolution over two dimensions, channels-last where the input or the weight suggests it.

    Shapes: (n, c, h, w) or (c, h, w), weight (o, c / groups, k, l), bias (o,) to (n, o, h', w') or a view without n.
    Raises: dimension, size, argument, dtype. Source: facts 4.6, torch 2.13.
    """
    return _convolve("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(input: "Tensor", weight: "Tensor", bias: "Tensor | None" = None, stride: Any = 1, padding: Any = 0,
           dilation: Any = 1, groups: int = 1) -> "Tensor":  # fmt: skip
    """Convolution over three dimensions; channels-last for short floats and for float32 that is worth oneDNN's start.

    Shapes: (n, c, d, h, w) or (c, d, h, w), weight (o, c / groups, j, k, l), bias (o,).
    Raises: dimension, size, argument, dtype. Source: facts 4.6, torch 2.13.
    """
    return _convolve("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(input: "Tensor", weight: "Tensor", bias: "Tensor | None" = None, stride: Any = 1, padding: Any = 0,
                     output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> "Tensor":  # fmt: skip
    """Transposed convolution over one dimension.

    Shapes: (n, c, l) or (c, l), weight (c, o / groups, k), bias (o,).
    Raises: dimension, size, dtype. Source: facts 4.6, torch 2.13.
    """
    return _transposed("conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(input: "Tensor", weight: "Tensor", bias: "Tensor | None" = None, stride: Any = 1, padding: Any = 0,
                     output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> "Tensor":  # fmt: skip
    """Transposed convolution over two dimensions, channels-last where the input or the weight suggests it.

    Shapes: (n, c, h, w) or (c, h, w), weight (c, o / groups, k, l), bias (o,).
    Raises: dimension, size, dtype. Source: facts 4.6, torch 2.13.
    """
    return _transposed("conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(input: "Tensor", weight: "Tensor", bias: "Tensor | None" = None, stride: Any = 1, padding: Any = 0,
                     output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> "Tensor":  # fmt: skip
    """Transposed convolution over three dimensions.

    Shapes: (n, c, d, h, w) or (c, d, h, w), weight (c, o / groups, j, k, l), bias (o,).
    Raises: dimension, size, dtype. Source: facts 4.6, torch 2.13.
    """
    return _transposed("conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation)


def _transposed(
    name: str, spatial: int, input: "Tensor", weight: "Tensor", bias: "Tensor | None", stride: Any, padding: Any,
    output_padding: Any, groups: Any, dilation: Any,
) -> "Tensor":  # fmt: skip
    if isinstance(padding, str):
        raise LayoutTypeError("argument", f"{name}: padding must be ints, got {padding!r}")
    return _convolve(
        name, spatial, input, weight, bias, stride, padding, dilation, groups, transposed=True,
        output_padding=output_padding,
    )  # fmt: skip
