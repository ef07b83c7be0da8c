"""Operators beneath the public ones, which `torch` has, too, mostly under a leading underscore.

They take what kernels take: all arguments in order, no dtypes to convert to, no checks in Python.
Source: `native_functions.yaml`, torch 2.13.
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import (
    adaptive_pooling,
    arithmetic,
    choosing,
    division,
    extremes,
    linear_algebra,
    pointwise_ops,
    reductions,
    scans,
    searching,
    shadow,
    view_ops,
)  # fmt: skip
from . import dtypes as dt
from .advanced_indexing import index_put, index_put_
from .constructors import empty_like, ones_like, scalar_tensor
from .contiguity import is_contiguous
from .convolution import conv1d
from .copies import clone, to
from .core import (
    TensorBase,
    array,
    as_dims,
    as_int,
    as_ints,
    bad_arguments,
    check_flag,
    detached,
    from_array,
    recorded,
    values,
)
from .dtype_view import conj, neg_view
from .embedding_bags import embedding_bag_of
from .errors import LayoutError, LayoutIndexError, UnspecifiedError
from .formats import contiguous_format
from .indexing import getitem
from .joining import stack as joined
from .layout import Layout, contiguous_strides, wrap_dim
from .linear_algebra import need_rank
from .norms import matrix_norm, vector_norm
from .out import check_out, write_out
from .output_layout import preserved_strides
from .parsing import parsed
from .ranges import arange
from .results import finish, need_kernel, wide
from .view_ops import view
from .views import broadcasts_to

if TYPE_CHECKING:
    from .tensors import Tensor


def native_dropout(input: "Tensor", p: float, train: bool | None) -> "tuple[Tensor, Tensor]":
    """Dropout, and the mask of what is kept; of no elements the tensor itself, and one like it.

    Raises: argument (RuntimeError: a probability beyond 1, TypeError), dtype. Source: torch 2.13.

    >>> [t.dtype for t in native_dropout(torch.ones(2), 0.5, True)]
    [torch.float32, torch.bool]
    """
    check_flag("train", train, optional=True)
    if not input.numel():
        return input, empty_like(input)
    if train is False:
        return clone(input), ones_like(input, dtype=dt.bool_, memory_format=None)
    if not 0 <= p <= 1:
        raise LayoutError("argument", f"native_dropout: the probability must be in [0, 1], got {p}")
    if not input.dtype.is_floating_point and not input.dtype.is_complex:
        raise LayoutError("dtype", f"native_dropout: a scaled result does not fit {input.dtype}")
    mask = empty_like(input, dtype=dt.bool_)
    if p in (0, 1):
        array(mask)[...] = p == 0
        mask._storage._shadow = None
    result = arithmetic.mul(input, mask)
    if 0 < p < 1:
        shadow.leave_unspecified(result)
    return result, mask


def frobenius_norm(input: "Tensor", dim: Any, keepdim: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """The Euclidean norm along at most two dimensions, all unless one is named.

    Raises: dimension (RuntimeError above two, IndexError), dtype. Source: torch 2.13.

    >>> frobenius_norm(torch.tensor([[3.0, 4.0]]), 1)
    tensor([5.])
    """
    dims = as_dims(dim)
    if len(dims) > 2:
        raise LayoutError("dimension", f"frobenius_norm: at most 2 dimensions, got {len(dims)}")
    if len(dims) == 2:
        return matrix_norm(input, "fro", dims, keepdim, out=out)
    return vector_norm(input, 2, dims or None, keepdim, out=out)


def nuclear_norm(input: "Tensor", dim: Any = None, keepdim: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """The sum of the singular values of matrices. Raises: dimension, dtype. Source: torch 2.13."""
    if isinstance(dim, bool):
        dim, keepdim = None, dim
    dims = (-2, -1) if dim is None else as_dims(dim)
    return matrix_norm(input, "nuc", dims * 2 if len(dims) == 1 else dims, keepdim, out=out)


def norm_except_dim(v: "Tensor", pow: int = 2, dim: int = 0) -> "Tensor":
    """The norm over all dimensions but one, or over all for -1. Raises: dimension, dtype. Source: torch 2.13.

    >>> norm_except_dim(torch.ones(2, 3)).shape
    torch.Size([2, 1])
    """
    if dim == -1:
        return vector_norm(v, pow)
    if dim and dim != v.ndim - 1:
        return view_ops.transpose(norm_except_dim(view_ops.transpose(v, 0, dim), pow, 0), 0, dim)
    n = v._layout.shape[dim]
    rows = v.contiguous().view(*((n, -1) if not dim else (-1, n)))
    shape = (n, *(1,) * (v.ndim - 1)) if not dim else (*(1,) * (v.ndim - 1), n)
    return view(vector_norm(rows, pow, 0 if dim else 1), shape)


def weight_norm(v: "Tensor", g: "Tensor", dim: int = 0) -> "Tensor":
    """Weights of given norms along all dimensions but one; row-major where that is the first or the last.

    Raises: dimension, broadcast, dtype (RuntimeError). Source: torch 2.13.

    >>> weight_norm(torch.tensor([[3.0, 4.0]]), torch.tensor([[10.0]])).tolist()
    [[6.0, 8.0]]
    """
    v, g = v.contiguous(), g.contiguous()
    if dim in (0, v.ndim - 1):
        need_kernel("weight_norm", v.dtype, "f")
        if g.dtype is not v.dtype:
            raise LayoutError("dtype", f"weight_norm: {v.dtype} and {g.dtype}")
        v = clone(v, memory_format=contiguous_format)  # one kernel, into new memory
    return arithmetic.mul(v, division.div(g, norm_except_dim(v, 2, dim)))


embedding_bag = embedding_bag_of


def int_mm(input: "Tensor", mat2: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Product of two matrices of int8, the first perhaps of uint8, as int32; an output is not resized.

    Raises: dimension (also IndexError), size, dtype. Source: torch 2.13.

    >>> int_mm(torch.full((1, 3), 100, dtype=torch.int8), torch.full((3, 1), 100, dtype=torch.int8)).tolist()
    [[30000]]
    """
    if not input.ndim or mat2.ndim < 2:
        raise LayoutIndexError("dimension", "_int_mm: two matrices are needed")
    need_rank("_int_mm", input, 2)
    need_rank("_int_mm", mat2, 2)
    (n, k), (inner, m) = input._layout.shape, mat2._layout.shape
    if k != inner:
        raise LayoutError("size", f"_int_mm: {(n, k)} and {(inner, m)} cannot be multiplied")
    if input.dtype not in (dt.int8, dt.uint8) or mat2.dtype is not dt.int8:
        raise LayoutError("dtype", f"_int_mm: {input.dtype} and {mat2.dtype}")
    if out is not None and (
        out.dtype is not dt.int32 or out._layout.shape != (n, m) or not is_contiguous(*out._layout[:2])
    ):
        raise LayoutError("size", f"_int_mm: out must be contiguous, of int32 and shape {(n, m)}")
    return write_out(out, linear_algebra.mm(to(input, dt.int32), to(mat2, dt.int32)), input, mat2)


def masked_softmax(input: "Tensor", mask: "Tensor", dim: int | None = None, mask_type: int | None = None) -> "Tensor":
    """`softmax` along a dimension, the last by default, without what is masked, in the memory order of the input.

    A mask of an image's last two dimensions (type 0) or of its batch and its last (1), of any other its own shape (2).

    Raises: dtype, size, argument, dimension (IndexError). Source: torch 2.13.

    >>> masked_softmax(torch.zeros(3), torch.tensor([True, False, False])).tolist()
    [0.0, 0.5, 0.5]
    """
    if mask.dtype is not dt.bool_:
        raise LayoutError("dtype", f"_masked_softmax: the mask must be bool, got {mask.dtype}")
    shape = input._layout.shape
    kind = mask_type if mask.ndim == 2 and input.ndim == 4 else 2
    if kind not in (0, 1, 2):
        raise LayoutError("argument", f"_masked_softmax: mask_type must be 0, 1 or 2, got {kind}")
    wanted = {0: shape[2:3] * 2, 1: (*shape[:1], *shape[2:3]), 2: shape}[kind]
    if mask._layout.shape != wanted:
        raise LayoutError("size", f"_masked_softmax: a mask of {mask._layout.shape} for an input of {shape}")
    d = wrap_dim(-1 if dim is None else as_int(dim, "dim"), input.ndim)
    if input.numel():
        need_kernel("_masked_softmax", input.dtype, "f")
    if kind != 2 and shape[2] != shape[3]:
        if d != 3:
            raise LayoutError("size", f"_masked_softmax: a mask of {mask._layout.shape} does not expand to {shape}")
        raise UnspecifiedError("_masked_softmax: a mask is read as if the last two lengths were the same")
    if kind == 1:
        mask = view(mask, (shape[0], 1, 1, shape[2]))
    strides = preserved_strides(shape, input._layout.strides)
    kept = np.where(values(mask), -np.inf, wide(input))
    with np.errstate(all="ignore"):
        powers = np.exp(kept - kept.max(d, keepdims=True, initial=-np.inf)) if input.ndim else np.exp(kept - kept)
        found = powers / powers.sum(d, keepdims=True) if input.ndim else powers
    found = np.where(np.isnan(found), np.nan, found)
    made = finish(found, input.dtype, input, strides=strides)
    # PyTorch's kernel writes row by row, whatever the order of the result is.
    return made if is_contiguous(shape, strides) else shadow.leave_unspecified(made)


def safe_softmax(input: "Tensor", dim: int, dtype: Any = None) -> "Tensor":
    """`softmax` that is 0 where everything is masked out. Raises: as it.

    >>> safe_softmax(torch.full((2,), float("-inf")), 0).tolist()
    [0.0, 0.0]
    """
    found = scans.softmax(input, dim, dtype)
    masked = reductions.all(pointwise_ops.eq(input, -math.inf), dim, keepdim=True)
    return choosing.where(masked, scalar_tensor(0.0, dtype=found.dtype), found)  # type: ignore[no-any-return]


def unique2(
    input: "Tensor", sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> "tuple[Tensor, Tensor, Tensor]":
    """`unique` of all elements; what is not asked for is there, and empty. Raises: dtype. Source: torch 2.13.

    >>> unique2(torch.tensor([3, 1, 3]))[0].tolist()
    [1, 3]
    """
    found = searching.unique(input, sorted, return_inverse, return_counts)
    found = [*found] if isinstance(found, tuple) else [found]
    nothing = [from_array(np.zeros(0, np.int64), dt.int64) for _ in range(2)]
    inverse = found.pop(1) if return_inverse else nothing[0]
    return found[0], inverse, found[1] if return_counts else nothing[1]


def unique(input: "Tensor", sorted: bool = True, return_inverse: bool = False) -> "tuple[Tensor, Tensor]":
    """`_unique2` without counts. Raises: dtype."""
    return unique2(input, sorted, return_inverse)[:2]


def conv_tbc(input: "Tensor", weight: "Tensor", bias: "Tensor", pad: int = 0) -> "Tensor":
    """Convolution over time, which comes first; channels are last.

    Shapes: (t, n, i), weight (k, i, o), bias (o,) to (t', n, o), row-major.
    Raises: dimension, size, view, dtype. Source: torch 2.13.
    """
    if (input.ndim, weight.ndim, bias.ndim) != (3, 3, 1):
        raise LayoutError("dimension", "conv_tbc: input and weight have 3 dimensions, the bias has 1")
    if input._layout.shape[2] != weight._layout.shape[1] or bias._layout.shape[0] != weight._layout.shape[2]:
        raise LayoutError("size", "conv_tbc: the channels do not agree")
    for t in (input, weight):
        if t.dtype is not bias.dtype:
            raise LayoutError("dtype", f"conv_tbc: {t.dtype} and {bias.dtype}")
    view(input, (-1, weight._layout.shape[1]))  # so are its parts taken, one for each element of the kernel
    found = conv1d(view_ops.permute(input, (1, 2, 0)), view_ops.permute(weight, (2, 1, 0)), bias, 1, pad)
    return clone(view_ops.permute(found, (2, 0, 1)), memory_format=None).contiguous()


def aminmax(input: "Tensor", dim: Any = None, keepdim: bool = False) -> Any:
    """`aminmax`, of all elements or along a dimension. Raises: dimension, dtype, size."""
    return tuple(extremes.aminmax(input, dim=dim, keepdim=keepdim))


def softmax(input: "Tensor", dim: int, half_to_float: bool, *, out: "Tensor | None" = None) -> "Tensor":
    """`softmax` in the tensor's own dtype. Raises: argument (RuntimeError: a conversion), dimension, dtype."""
    _check_unconverted("softmax", half_to_float)
    return _into_memory(scans.softmax, input, dim, out)


def _into_memory(function: Any, input: "Tensor", dim: int, out: "Tensor | None") -> "Tensor":
    if not isinstance(out, TensorBase) or out._layout.shape != input._layout.shape:
        return function(input, dim, out=out)  # type: ignore[no-any-return]
    # The kernel writes from the output's first element on, whatever its strides.
    check_out(out, input)
    line = detached(out)
    line._layout = Layout(out._layout.shape, contiguous_strides(out._layout.shape), out._layout.offset)
    function(input, dim, out=line)
    return out


def log_softmax(input: "Tensor", dim: int, half_to_float: bool, *, out: "Tensor | None" = None) -> "Tensor":
    """`log_softmax` in the tensor's own dtype. Raises: as `_softmax`."""
    _check_unconverted("log_softmax", half_to_float)
    return _into_memory(scans.log_softmax, input, dim, out)


def _check_unconverted(name: str, half_to_float: bool) -> None:
    check_flag("half_to_float", half_to_float)
    if half_to_float:
        raise LayoutError("argument", f"{name}: the CPU converts no half to float on the way")


def logcumsumexp(input: "Tensor", dim: int, *, out: "Tensor | None" = None) -> "Tensor":
    """`logcumsumexp`. Raises: as it."""
    return scans.logcumsumexp(input, dim, out=out)


@parsed(out_first=True)
def stack(tensors: Any, dim: int = 0, *, out: "Tensor | None" = None) -> "Tensor":
    """`stack`. Raises: as it."""
    return joined(tensors, dim, out=out)


def is_all_true(input: "Tensor") -> "Tensor":
    """Whether all elements of a tensor of bools are true. Raises: dtype (RuntimeError)."""
    _check_bool("_is_all_true", input)
    return reductions.all(input)


def is_any_true(input: "Tensor") -> "Tensor":
    """Whether any element of a tensor of bools is true. Raises: dtype (RuntimeError)."""
    _check_bool("_is_any_true", input)
    return reductions.any(input)


def _check_bool(name: str, input: "Tensor") -> None:
    if input.dtype is not dt.bool_:
        raise LayoutError("dtype", f"{name}: a tensor of bools is needed, got {input.dtype}")


def conj_copy(input: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """A row-major copy with the conjugate values. Raises: dtype (RuntimeError) of real numbers; as `write_out`."""
    if not input.dtype.is_complex:
        raise LayoutError("dtype", f"_conj_copy: {input.dtype} is not complex")
    copy = clone(conj(input), memory_format=contiguous_format).resolve_conj()
    return write_out(out, copy, input, exact=True, composed=True)


def neg_view_copy(input: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """A row-major copy with the negative values. Raises: dtype; as `write_out`."""
    copy = clone(neg_view(input), memory_format=contiguous_format).resolve_neg()
    return write_out(out, copy, input, exact=True, composed=True)


def adaptive_avg_pool2d(input: "Tensor", output_size: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """`nn.functional.adaptive_avg_pool2d`. Raises: as it."""
    return write_out(out, adaptive_pooling.adaptive_avg_pool2d(input, as_ints((output_size,))), input)


def adaptive_avg_pool3d(input: "Tensor", output_size: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """`nn.functional.adaptive_avg_pool3d`. Raises: as it."""
    return write_out(out, adaptive_pooling.adaptive_avg_pool3d(input, as_ints((output_size,))), input)


def unsafe_index(input: "Tensor", indices: Any) -> "Tensor":
    """What index tensors name, a copy. Raises: argument, dtype (RuntimeError) for masks, index; as indexing."""
    if not isinstance(indices, (tuple, list)) or not all(isinstance(i, TensorBase) for i in indices):
        raise bad_arguments("_unsafe_index", "indices are a tuple of tensors")
    if not indices:
        raise LayoutIndexError("index", "_unsafe_index: no index given")
    for index in indices:
        if index.dtype not in (dt.int64, dt.int32):
            raise LayoutError("dtype", f"_unsafe_index: an index of {index.dtype}")
    return getitem(input, tuple(indices))


def index_put_impl_(
    input: "Tensor", indices: Any, values: "Tensor", accumulate: bool = False, unsafe: bool = False
) -> "Tensor":
    """`index_put_`. Raises: as it."""
    return index_put_(input, indices, values, accumulate)


def unsafe_index_put(input: "Tensor", indices: Any, values: "Tensor", accumulate: bool = False) -> "Tensor":
    """`index_put`. Raises: as it."""
    return index_put(input, indices, values, accumulate)


def get_device(input: "Tensor") -> int:
    """-1: the CPU has no index."""
    return -1


def dim_arange(like: "Tensor", dim: int) -> "Tensor":
    """The indices of a dimension. Raises: dimension (IndexError)."""
    found = arange(like.size(dim))
    found._versions[0] = 1  # delivered into what was made before
    return found


def _cast(name: str, d: dt.dtype) -> Any:
    def cast(input: "Tensor", non_blocking: bool = False) -> "Tensor":
        return to(input, d)

    cast.__name__ = name
    cast.__doc__ = f"The tensor in {d}, itself where it has that dtype."
    return cast


cast_Byte = _cast("_cast_Byte", dt.uint8)  # noqa: N816 - PyTorch's own name
cast_Char = _cast("_cast_Char", dt.int8)  # noqa: N816
cast_Double = _cast("_cast_Double", dt.float64)  # noqa: N816
cast_Float = _cast("_cast_Float", dt.float32)  # noqa: N816
cast_Half = _cast("_cast_Half", dt.float16)  # noqa: N816
cast_Int = _cast("_cast_Int", dt.int32)  # noqa: N816
cast_Long = _cast("_cast_Long", dt.int64)  # noqa: N816
cast_Short = _cast("_cast_Short", dt.int16)  # noqa: N816


def binomial(count: "Tensor", prob: "Tensor", generator: Any = None) -> "Tensor":
    """Random numbers of successes, row-major in the shape of `count`. Raises: dtype, broadcast (RuntimeError)."""
    if count.dtype is not prob.dtype:
        raise LayoutError("dtype", f"binomial: {count.dtype} and {prob.dtype}")
    need_kernel("binomial", count.dtype, "f")
    shape = count._layout.shape
    if not broadcasts_to(prob._layout.shape, shape):
        raise LayoutError("broadcast", f"binomial: {prob._layout.shape} does not broadcast to {shape}")
    drawn = from_array(np.zeros(shape, count.dtype.numpy), count.dtype)
    return recorded(shadow.leave_unspecified(drawn), count, prob)
