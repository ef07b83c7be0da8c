"""Views that keep every element: new sizes, expansion, permutation, dimensions of length 1.

"When does view fail?" is `view_strides`.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import prod

from .errors import LayoutError
from .layout import CACHE, Layout, Shape, Strides, check_numel, contiguous_strides, wrap_dim


@lru_cache(CACHE)
def infer_size(shape: Shape, numel: int) -> Shape:
    """A requested shape with its one -1 filled in from the number of elements.

    Raises: size (two -1, a length below -1, a product that does not match, a -1 that could be anything).
    Source: facts 3.1.1 and 3.1.2, torch 2.13.

    >>> infer_size((2, -1), 6)
    (2, 3)
    """
    unknown = -1
    known = 1
    for d, length in enumerate(shape):
        if length == -1:
            if unknown >= 0:
                raise LayoutError("size", f"shape {shape}: only one length can be left to infer (facts 3.1.2)")
            unknown = d
        elif length < 0:
            raise LayoutError("size", f"shape {shape}: the length {length} is negative (facts 3.1.2)")
        else:
            known *= length
    if known == numel and unknown < 0:
        return shape
    if unknown >= 0:
        if known > 0 and numel % known == 0:
            return (*shape[:unknown], numel // known, *shape[unknown + 1 :])
        if known == 0 and numel == 0:
            raise LayoutError("size", f"shape {shape}: with no elements the length -1 can be any value (facts 3.1.2)")
    raise LayoutError("size", f"shape {shape} does not hold the input's {numel} elements (facts 3.1.2)")


@lru_cache(CACHE)
def view_strides(shape: Shape, strides: Strides, new_shape: Shape) -> Strides | None:
    """Strides under which the same memory has `new_shape`, or None where no strides do: the rule of `view`.

    Going from the right, neighbouring dimensions form a block as long as memory steps through them evenly: the
    stride of the outer one is the length of the block so far times the stride at its right end. Dimensions of
    length 1 join any block, but one at the right end sets the block's stride. The new dimensions must cut along the
    edges of the blocks.

    Shapes: both hold the same number of elements (`infer_size` sees to it).
    Source: facts 3.1.4 (docs/semantics/03-views.md), torch 2.13; rules view.merge-blocks, errors.view-strides.

    >>> view_strides((3, 2), (1, 3), (6,)) is None
    True
    >>> view_strides((4, 6), (6, 1), (2, 2, 3, 2))
    (12, 6, 2, 1)
    >>> view_strides((2, 1, 3), (7, 50, 2), (2, 1, 1, 3))
    (7, 6, 6, 2)
    """
    if not shape:
        return (1,) * len(new_shape)
    if 0 in shape:
        return strides if shape == new_shape else contiguous_strides(new_shape)
    result = [0] * len(new_shape)
    d = len(new_shape) - 1
    base = strides[-1]
    block = taken = 1
    for old in range(len(shape) - 1, -1, -1):
        block *= shape[old]
        if old and (shape[old - 1] == 1 or strides[old - 1] == block * base):
            continue
        while d >= 0 and (taken < block or new_shape[d] == 1):
            result[d] = taken * base
            taken *= new_shape[d]
            d -= 1
        if taken != block:
            return None
        if old:
            base = strides[old - 1]
            block = taken = 1
    return tuple(result) if d < 0 else None


@lru_cache(CACHE)
def view(layout: Layout, shape: Shape) -> Layout:
    """Layout of `view(shape)`.

    Raises: size (see `infer_size`); view where the strides do not allow it (see `view_strides`).
    Source: facts 3.1, torch 2.13.

    >>> view(Layout((2, 6), (6, 1), 3), (4, -1))
    Layout(shape=(4, 3), strides=(3, 1), offset=3)
    """
    new_shape = infer_size(shape, prod(layout.shape))
    strides = view_strides(layout.shape, layout.strides, new_shape)
    if strides is None:
        raise LayoutError(
            "view",
            f"shape {layout.shape} with strides {layout.strides} has no view of shape {new_shape}: a new dimension "
            "would cross memory that is not evenly stepped; reshape would copy (facts 3.1.4)",
        )
    return Layout(new_shape, strides, layout.offset)


@lru_cache(CACHE)
def reshape(layout: Layout, shape: Shape) -> tuple[Shape, Layout | None]:
    """Inferred shape and layout of `reshape(shape)`; None where it must copy.

    Raises: size (see `infer_size`).
    Source: facts 3.3.1, torch 2.13.

    >>> reshape(Layout((3, 2), (1, 3)), (-1,))
    ((6,), None)
    """
    new_shape = infer_size(shape, prod(layout.shape))
    strides = view_strides(layout.shape, layout.strides, new_shape)
    return new_shape, None if strides is None else Layout(new_shape, strides, layout.offset)


@lru_cache(CACHE)
def expand(layout: Layout, shape: Shape) -> Layout:
    """Layout of `expand(shape)`: lengths of 1 are repeated with stride 0, -1 keeps a length.

    A dimension that stays as it is keeps its stride; a new leading one of length 1 gets the stride of a contiguous
    outer dimension, unless the input has no dimensions at all: then every stride is 0.

    Raises: broadcast (a length other than 1 that does not match, too few dimensions, -1 in a new dimension);
    overflow where the elements no longer count in 64 bits, or for lengths below -1.
    Source: facts 3.5, torch 2.13.

    >>> expand(Layout((4, 1), (3, 7)), (2, 4, 5)).strides
    (0, 3, 0)
    >>> expand(Layout((), ()), (1, 1)).strides, expand(Layout((1,), (1,)), (1, 1)).strides
    ((0, 0), (1, 1))
    """
    old, old_strides, offset = layout
    lead = len(shape) - len(old)
    if lead < 0:
        raise LayoutError("broadcast", f"expand: shape {shape} has fewer dimensions than the input's {old} (facts 3.5)")
    if not old:
        return Layout(_counted(shape), (0,) * len(shape), offset)
    lengths = list(shape)
    strides = [0] * len(shape)
    for i in range(len(shape) - 1, -1, -1):
        length = lengths[i]
        if i < lead:
            if length == -1:
                raise LayoutError("broadcast", f"expand: shape {shape}: -1 in new dimension {i} (facts 3.5)")
            if length == 1:
                strides[i] = lengths[i + 1] * strides[i + 1]
        elif length in (-1, old[i - lead]):
            lengths[i] = old[i - lead]
            strides[i] = old_strides[i - lead]
        elif old[i - lead] != 1:
            raise LayoutError(
                "broadcast",
                f"expand: length {length} does not match the existing {old[i - lead]} at dimension {i} (facts 3.5)",
            )
    return Layout(_counted(tuple(lengths)), tuple(strides), offset)


def _counted(shape: Shape) -> Shape:
    # PyTorch finds a negative length only through the product of all: beside a 0 it makes a tensor of negative size.
    if shape and min(shape) < 0:
        raise LayoutError("overflow", f"expand: shape {shape} has a negative length (facts 3.5)")
    check_numel(shape)
    return shape


@lru_cache(CACHE)
def permute(layout: Layout, dims: tuple[int, ...]) -> Layout:
    """Layout of `permute(dims)`: dimension `dims[i]` becomes dimension i.

    Raises: dimension (RuntimeError for a wrong count or a repetition, IndexError out of range).
    Source: facts 3.6, torch 2.13.

    >>> permute(Layout((2, 3, 4), (12, 4, 1)), (2, 0, -2))
    Layout(shape=(4, 2, 3), strides=(1, 12, 4), offset=0)
    """
    shape, strides, offset = layout
    ndim = len(shape)
    if len(dims) != ndim:
        raise LayoutError("dimension", f"permute: {len(dims)} dimensions given for {ndim} (facts 3.6)")
    wrapped = [wrap_dim(d, ndim) for d in dims]
    if len(set(wrapped)) != ndim:
        raise LayoutError("dimension", f"permute: dimensions {dims} repeat one (facts 3.6)")
    return Layout(tuple([shape[d] for d in wrapped]), tuple([strides[d] for d in wrapped]), offset)


@lru_cache(CACHE)
def transpose(layout: Layout, dim0: int, dim1: int) -> Layout:
    """Layout of `transpose(dim0, dim1)`.

    Raises: dimension (IndexError).
    Source: facts 3.6, torch 2.13.

    >>> transpose(Layout((2, 3), (3, 1)), 0, 1)
    Layout(shape=(3, 2), strides=(1, 3), offset=0)
    """
    shape, strides, offset = layout
    a, b = wrap_dim(dim0, len(shape)), wrap_dim(dim1, len(shape))
    if a == b:
        return layout
    sizes, steps = list(shape), list(strides)
    sizes[a], sizes[b] = sizes[b], sizes[a]
    steps[a], steps[b] = steps[b], steps[a]
    return Layout(tuple(sizes), tuple(steps), offset)


@lru_cache(CACHE)
def movedim_order(ndim: int, source: tuple[int, ...], destination: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation by which `movedim` moves dimensions; the others keep their order.

    Raises: dimension (RuntimeError for different counts or a repetition, IndexError out of range).
    Source: facts 3.6, torch 2.13.

    >>> movedim_order(3, (0,), (-1,))
    (1, 2, 0)
    """
    if len(source) != len(destination):
        raise LayoutError("dimension", f"movedim: source {source} and destination {destination} differ in length")
    src = [wrap_dim(d, ndim) for d in source]
    dst = [wrap_dim(d, ndim) for d in destination]
    for dims in (src, dst):
        if len(set(dims)) != len(dims):
            raise LayoutError("dimension", f"movedim: dimensions {tuple(dims)} repeat one (facts 3.6)")
    order = [-1] * ndim
    if ndim == 0:
        return ()
    for s, d in zip(src, dst, strict=True):
        order[d] = s
    rest = iter([d for d in range(ndim) if d not in src])
    return tuple(d if d >= 0 else next(rest) for d in order)


@lru_cache(CACHE)
def unsqueeze(layout: Layout, dim: int) -> Layout:
    """Layout of `unsqueeze(dim)`: the new dimension steps over the whole of the one now at its place, 1 at the end.

    Raw lengths: before a dimension of length or stride 0 the inserted stride is 0.

    Raises: dimension (IndexError) outside [-(ndim+1), ndim].
    Source: facts 3.4, torch 2.13.

    >>> unsqueeze(Layout((2, 3), (1, 2)), 1).strides, unsqueeze(Layout((2, 0, 3), (3, 3, 1)), 1).strides
    ((1, 6, 2), (3, 0, 3, 1))
    """
    shape, strides, offset = layout
    d = wrap_dim(dim, len(shape) + 1)
    step = shape[d] * strides[d] if d < len(shape) else 1
    return Layout((*shape[:d], 1, *shape[d:]), (*strides[:d], step, *strides[d:]), offset)


@lru_cache(CACHE)
def squeeze(layout: Layout, dims: tuple[int, ...] | None = None) -> Layout:
    """Layout of `squeeze()`: dimensions of length 1 dropped, all or those of `dims`; the others keep their strides.

    Raises: dimension (IndexError out of range, RuntimeError for a repetition).
    Source: facts 3.4, torch 2.13.

    >>> squeeze(Layout((1, 3, 1), (9, 2, 5))), squeeze(Layout((1, 3, 1), (9, 2, 5)), (1, 2)).shape
    (Layout(shape=(3,), strides=(2,), offset=0), (1, 3))
    """
    shape, strides, offset = layout
    if dims is None:
        keep = [d for d in range(len(shape)) if shape[d] != 1]
    else:
        wrapped = [wrap_dim(d, len(shape)) for d in dims]
        if len(set(wrapped)) != len(wrapped):
            raise LayoutError("dimension", f"squeeze: dimensions {dims} repeat one (facts 3.4)")
        keep = [d for d in range(len(shape)) if shape[d] != 1 or d not in wrapped]
    return Layout(tuple([shape[d] for d in keep]), tuple([strides[d] for d in keep]), offset)


def flatten_shape(shape: Shape, start: int, end: int) -> Shape | None:
    """Shape that `flatten(start, end)` asks of `reshape`; None where it returns the tensor itself.

    Raises: dimension (IndexError out of range, RuntimeError where start lies behind end).
    Source: facts 3.3.2, torch 2.13.

    >>> flatten_shape((2, 3, 4), 0, 1), flatten_shape((2, 3), 1, 1) is None
    ((6, 4), True)
    """
    a, b = wrap_dim(start, len(shape)), wrap_dim(end, len(shape))
    if a > b:
        raise LayoutError("dimension", f"flatten: start {start} comes after end {end} (facts 3.3.2)")
    if not shape:
        return (1,)
    if a == b:
        return None
    return (*shape[:a], prod(shape[a : b + 1]), *shape[b + 1 :])


def unflatten_shape(shape: Shape, dim: int, sizes: Sequence[int]) -> Shape:
    """Shape that `unflatten(dim, sizes)` asks of `view`.

    Raises: dimension (IndexError), size (an empty list, or lengths that do not multiply up).
    Source: facts 3.3.4, torch 2.13.

    >>> unflatten_shape((4, 6), 1, (2, -1))
    (4, 2, 3)
    """
    if not sizes:
        raise LayoutError("size", "unflatten: sizes are empty (facts 3.3.4)")
    d = wrap_dim(dim, len(shape))
    if not shape:
        raise LayoutError("dimension", "unflatten: the tensor has no dimensions (facts 3.3.4)")
    return (*shape[:d], *infer_size(tuple(sizes), shape[d]), *shape[d + 1 :])


def broadcasts_to(shape: Shape, target: Shape) -> bool:
    """Whether a shape becomes another by repeating lengths of 1 and adding leading dimensions.

    Source: facts 3.5, torch 2.13.

    >>> broadcasts_to((3, 1), (2, 3, 4)), broadcasts_to((2,), (3,))
    (True, False)
    """
    lead = len(target) - len(shape)
    return lead >= 0 and all(n in (1, target[lead + d]) for d, n in enumerate(shape))
