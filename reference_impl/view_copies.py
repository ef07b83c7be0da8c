"""Copies that are named after views (`*_copy`), writes into copies (`*_scatter`), and transposes with conjugation."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import dtype_view, slicing, slicing_ops, view_ops
from .calls import with_numpy_names
from .contiguity import is_contiguous
from .copies import clone, copy_, write_copy
from .core import (
    CONJ,
    TensorBase,
    as_int,
    as_ints,
    bad_arguments,
    build,
    check_inplace,
    detached,
    given_once,
    recorded,
    records_history,
    view_of,
)
from .dtypes import dtype as _dtype
from .errors import LayoutError, LayoutTypeError
from .formats import contiguous_format
from .layout import Layout, contiguous_strides, wrap_dim
from .out import check_new, write_out
from .overlap import Internal, internal_overlap
from .reductions import sum as _sum
from .results import check_real_gradient
from .versions import inference
from .views import broadcasts_to, transpose

if TYPE_CHECKING:
    from .tensors import Tensor


def _viewed(input: "Tensor", size: Any = None, dtype: Any = None) -> "Tensor":
    # Copied anyway, so that sizes which the strides do not allow are no obstacle.
    if dtype is not None or isinstance(size, (_dtype, type)):
        return view_ops.view(input, size if dtype is None else dtype)
    return view_ops.reshape(input, size)


_REAL_ONLY = ("select_copy", "slice_copy", "slice_scatter", "select_scatter")


def _without_bits(input: Any) -> Any:
    """The tensor itself, or a copy without its bits: PyTorch takes what is called with it for no views (facts 9.7)."""
    return input.resolve_conj().resolve_neg()


def _copied(view: Any) -> Any:
    if isinstance(view, (tuple, list)):
        return tuple([_copied(v) for v in view])
    return clone(view, memory_format=contiguous_format)


def _into_each(name: str, out: Any, parts: tuple[Any, ...]) -> None:
    if not isinstance(out, (tuple, list)):
        raise LayoutTypeError("argument", f"{name}: out must be a tuple of tensors, got {type(out).__name__}")
    if len(out) != len(parts):
        raise LayoutError("size", f"{name}: {len(out)} outputs for {len(parts)} results")
    for target, part in zip(out, parts, strict=True):
        if name == "split_copy":
            copy_(target, part.detach())  # which no history follows
            continue
        if name == "unbind_copy" and target._layout.shape != part._layout.shape:
            check_inplace(target, part)
            target._versions[0] += 1  # resizing is counted, too
        write_out(target, part, exact=not name.startswith("split"), composed=True)


def _copy_of(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    taken = with_numpy_names(function)

    def copy(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        args = tuple([_without_bits(arg) if isinstance(arg, TensorBase) else arg for arg in args])
        kwargs = {key: _without_bits(arg) if isinstance(arg, TensorBase) else arg for key, arg in kwargs.items()}
        result = _copied(taken(*args, **kwargs))
        if name in _REAL_ONLY and args[0].dtype.is_complex and records_history(args[0]):
            raise LayoutError("grad", f"{name}: no gradients through complex numbers")
        if out is None:
            return result

        if isinstance(result, tuple):
            _into_each(name, out, result)
            return None
        if name != "narrow_copy":
            return write_out(out, result, *args[:1], exact=True, composed=True)
        check_new(out, args[0] if args else kwargs.get("input"), result.dtype, result._layout.shape)
        # Bytes are moved from the output's first element on, whatever its strides.
        line = detached(out)
        line._layout = Layout(out._layout.shape, contiguous_strides(out._layout.shape), out._layout.offset)
        write_out(line, result, *args[:1], exact=True)
        return out

    copy.__name__ = copy.__qualname__ = name
    copy.__doc__ = f"`{function.__name__}` as a row-major copy. Raises: as `{function.__name__}`. Source: facts 3.13."
    return copy


view_copy = _copy_of(_viewed, "view_copy")
as_strided_copy = _copy_of(slicing_ops.as_strided, "as_strided_copy")
permute_copy = _copy_of(view_ops.permute, "permute_copy")
expand_copy = _copy_of(view_ops.expand, "expand_copy")
transpose_copy = _copy_of(view_ops.transpose, "transpose_copy")
t_copy = _copy_of(view_ops.t, "t_copy")
squeeze_copy = _copy_of(view_ops.squeeze, "squeeze_copy")
unsqueeze_copy = _copy_of(view_ops.unsqueeze, "unsqueeze_copy")
select_copy = _copy_of(slicing_ops.select, "select_copy")
diagonal_copy = _copy_of(slicing_ops.diagonal, "diagonal_copy")


def _itself(input: "Tensor") -> "Tensor":
    return input


# Unlike `detach`, its copy keeps its history.
detach_copy = _copy_of(_itself, "detach_copy")


def _checked_narrow(input: "Tensor", dim: int, start: int, length: int) -> "Tensor":
    """`narrow` with the errors of a copying operator."""
    if not input.ndim or dim >= input.ndim:
        raise LayoutError("dimension", f"narrow_copy: dimension {dim} of {input.ndim}")
    wrap_dim(as_int(dim, "dim"), input.ndim)
    if length < 0:
        raise LayoutError("index", f"narrow_copy: a negative length {length}")
    return slicing_ops.narrow(input, dim, start, length)


alias_copy = _copy_of(_itself, "alias_copy")
unfold_copy = _copy_of(slicing_ops.unfold, "unfold_copy")
narrow_copy = _copy_of(_checked_narrow, "narrow_copy")
split_copy = _copy_of(slicing_ops.split, "split_copy")
split_with_sizes_copy = _copy_of(slicing_ops.split_with_sizes, "split_with_sizes_copy")
unbind_copy = _copy_of(slicing_ops.unbind, "unbind_copy")
view_as_real_copy = _copy_of(dtype_view.view_as_real, "view_as_real_copy")
view_as_complex_copy = _copy_of(dtype_view.view_as_complex, "view_as_complex_copy")


def slice_view(input: "Tensor", dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> "Tensor":
    """A view of a range along a dimension, as the operator behind `x[a:b:c]` makes it.

    Raises: dimension (IndexError), step (RuntimeError). Source: facts 3.7, torch 2.13.
    """
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    if as_int(step, "step") <= 0:
        raise LayoutError("step", f"slice: step {step} is not positive (facts 3.7)")
    bounds = [None if b is None else as_int(b, "bound") for b in (start, end)]
    return view_of(input, slicing.slice_dim(input._layout, d, bounds[0], bounds[1], step))


slice_copy = _copy_of(slice_view, "slice_copy")


def whole_clone(input: "Tensor") -> "Tensor":
    """A copy of the whole storage under the same layout; of the elements alone where some of them repeat.

    Source: torch 2.13, clone_preserve_strides.
    """
    if internal_overlap(*input._layout[:2]) is Internal.YES:
        return clone(input)
    # Element by element: bools become 0 or 1.
    whole = Layout((len(input._storage._bytes) // input.dtype.itemsize,), (1,), 0)
    result = build(clone(build(input._storage, whole, input.dtype))._storage, input._layout, input.dtype)
    result._bits = input._bits
    return result


def _scattered(
    name: str, input: "Tensor", src: "Tensor", view: Callable[["Tensor"], "Tensor"], out: "Tensor | None" = None
) -> "Tensor":
    input = _without_bits(input)
    result = whole_clone(input)
    part = view(result)
    if name in _REAL_ONLY and input.dtype.is_complex and records_history(input, src):
        raise LayoutError("grad", f"{name}: no gradients through complex numbers")
    if part._layout.shape != src._layout.shape:
        raise LayoutError("size", f"{name}: a source of shape {src._layout.shape} for a part of {part._layout.shape}")
    write_copy(part, src)
    return write_out(out, recorded(result, input, src), input, src, exact=True, composed=True, row_major=True)


def diagonal_scatter(input: "Tensor", src: "Tensor", offset: int = 0, dim1: int = 0, dim2: int = 1) -> "Tensor":
    """A copy with a source in the place of a diagonal. Raises: dimension, size. Source: torch 2.13."""
    return _scattered("diagonal_scatter", input, src, lambda t: slicing_ops.diagonal(t, offset, dim1, dim2))


def select_scatter(input: "Tensor", src: "Tensor", dim: int, index: int) -> "Tensor":
    """A copy with a source in the place of one index. Raises: dimension, index, size. Source: torch 2.13."""
    return _scattered("select_scatter", input, src, lambda t: slicing_ops.select(t, dim, index))


def slice_scatter(
    input: "Tensor", src: "Tensor", dim: int = 0, start: Any = None, end: Any = None, step: int = 1, *,
    out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """A copy with a source in the place of a range. Raises: dimension, step, size. Source: torch 2.13."""
    return _scattered("slice_scatter", input, src, lambda t: slice_view(t, dim, start, end, step), out)


def slice_inverse(
    input: "Tensor", src: "Tensor", dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> "Tensor":
    """What a slice was taken from: a view of its memory as another tensor lies in its own, whatever the slice was.

    Raises: bounds. Source: torch 2.13.
    """
    check_real_gradient("slice_inverse", input.dtype, input)
    return slicing_ops.as_strided(input, *src._layout)


def as_strided_scatter(input: "Tensor", src: "Tensor", size: Any, stride: Any, storage_offset: Any = None) -> "Tensor":
    """A copy with a source under an explicit layout. Raises: as `as_strided`, size, grad. Source: torch 2.13."""
    if input.requires_grad and not is_contiguous(*input._layout[:2]):
        raise LayoutError("grad", "as_strided_scatter: a tensor that requires grad must be contiguous")
    layout = (size, stride, storage_offset)
    return _scattered("as_strided_scatter", input, src, lambda t: slicing_ops.as_strided(t, *layout))


def adjoint(input: "Tensor") -> "Tensor":
    """The last two dimensions exchanged and the conjugate bit flipped: a view.

    Raises: dimension (RuntimeError) for rank 1. Source: facts 3.6 and 9.6, torch 2.13.
    """
    if input.ndim == 1:
        raise LayoutError("dimension", "adjoint: a matrix or a batch of matrices is needed (facts 3.6)")
    if input.ndim == 0:
        return dtype_view.conj(input)
    v = view_of(input, transpose(input._layout, -2, -1))
    if input.dtype.is_complex:
        v._bits ^= CONJ
    return v


def matrix_H(input: "Tensor") -> "Tensor":  # noqa: N802 - PyTorch's own name
    """`adjoint` of one matrix. Raises: dimension (RuntimeError) for another rank. Source: facts 3.6, torch 2.13."""
    if input.ndim not in (0, 2):
        raise LayoutError("dimension", f"H: a matrix is needed, got {input.ndim} dimensions (facts 3.6)")
    return adjoint(input)


def _untracked(pieces: tuple["Tensor", ...]) -> tuple["Tensor", ...]:
    for p in pieces:
        # The same memory, not recorded as views, each with a version counter of its own.
        if not inference[0]:
            p._base = None
            p._made = 0
        if not p._inference:
            p._versions = [0]
    return pieces


def unsafe_split(input: "Tensor", split_size: Any, dim: int = 0) -> tuple["Tensor", ...]:
    """`split` not tracked as views. Raises: as `split`. Source: facts 3.9, torch 2.13."""
    return _untracked(slicing_ops.split(_without_bits(input), as_int(split_size, "split_size"), dim))


def unsafe_split_with_sizes(input: "Tensor", split_sizes: Any, dim: int = 0) -> tuple["Tensor", ...]:
    """`split_with_sizes` not tracked as views. Raises: as `split_with_sizes`. Source: facts 3.9, torch 2.13."""
    return _untracked(slicing_ops.split_with_sizes(_without_bits(input), split_sizes, dim))


def unsafe_chunk(input: "Tensor", chunks: int, dim: int = 0) -> tuple["Tensor", ...]:
    """`chunk` not tracked as views. Raises: as `chunk`. Source: facts 3.9, torch 2.13."""
    return _untracked(slicing_ops.chunk(_without_bits(input), chunks, dim))


def sum_to_size(self: "Tensor", *size: Any, **kwargs: Any) -> "Tensor":
    """Sums over what broadcasting a shape would have repeated; the tensor itself where the shape is its own.

    Raises: broadcast (RuntimeError). Source: facts 3.3.5, torch 2.13.
    """
    size = given_once("sum_to_size", size, kwargs, "size")
    if not size:
        raise bad_arguments("sum_to_size", "no size given")
    shape = as_ints(size)
    own = self._layout.shape
    if not shape:
        return _sum(self)
    if not broadcasts_to(shape, own):
        raise LayoutError("broadcast", f"sum_to_size: shape {shape} does not broadcast to {own}")
    if shape == own:
        return self
    lead = len(own) - len(shape)
    dims = [*range(lead), *[lead + d for d, n in enumerate(shape) if n == 1 and own[lead + d] != 1]]
    result = _sum(self, tuple(dims), True) if dims else self
    if not lead:
        return result
    return view_of(result, Layout(shape, result._layout.strides[lead:], result._layout.offset))
