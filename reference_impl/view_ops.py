"""Views of every element: view, permute, expand, squeeze and their kin; geometry is decided in views.py."""

from typing import TYPE_CHECKING, Any

from . import dtype_view, views
from .copies import contiguous, copy_elements
from .core import (
    TensorBase,
    as_dims,
    as_int,
    as_int_list,
    as_ints,
    bad_arguments,
    build,
    check_history,
    check_tensors,
    detached,
    given_once,
    recorded,
    view_of,
)
from .dtypes import dtype
from .errors import LayoutError
from .layout import Layout, contiguous_strides
from .parsing import parsed
from .promotion import as_dtype
from .storage import UntypedStorage

if TYPE_CHECKING:
    from .tensors import Tensor


def view(input: "Tensor", *shape: Any, size: Any = None, dtype: Any = None) -> "Tensor":
    """The same memory under a new shape, or under a new dtype.

    Raises: size, view (see `views.view`); dtype (see `dtype_view`); argument (TypeError).
    Source: facts 3.1 and 3.2, torch 2.13.

    >>> torch.arange(6).view(2, -1).stride()
    (3, 1)
    >>> torch.zeros(2, 6)[:, ::2].view(2, 1, 3).stride()
    (6, 6, 2)
    """
    if not shape:
        if dtype is not None:
            return dtype_view.view_dtype(input, dtype)
        if size is None:
            raise bad_arguments("view", "no shape given")
        shape = (as_int_list(size, "size"),)
    elif len(shape) == 1 and isinstance(shape[0], (_dtype, type)):
        return dtype_view.view_dtype(input, as_dtype(shape[0]))
    return view_of(input, views.view(input._layout, as_ints(shape)), free=True)


_dtype = dtype


def view_as(input: "Tensor", other: "Tensor") -> "Tensor":
    """`view(other.shape)`.

    >>> torch.arange(6).view_as(torch.zeros(3, 2)).shape
    torch.Size([3, 2])
    """
    return view_of(input, views.view(input._layout, other._layout.shape), free=True)


def reshape_to(input: "Tensor", shape: tuple[int, ...]) -> "Tensor":
    """`reshape` to a tuple of ints."""
    new_shape, layout = views.reshape(input._layout, shape)
    if layout is not None:
        return view_of(input, layout, free=True)
    out = build(
        UntypedStorage._allocate(input.numel() * input.dtype.itemsize),
        Layout(input._layout.shape, contiguous_strides(input._layout.shape), 0),
        input.dtype,
    )
    copy_elements(out, input)
    out._layout = Layout(new_shape, contiguous_strides(new_shape), 0)
    return recorded(out, input)


def reshape(input: "Tensor", *shape: Any, **kwargs: Any) -> "Tensor":
    """A view where the strides allow one, else a row-major copy; always a new tensor object.

    Raises: size (see `views.infer_size`); argument (TypeError).
    Source: facts 3.3.1, torch 2.13.

    >>> x = torch.zeros(2, 3)
    >>> x.reshape(6).data_ptr() == x.data_ptr(), x.t().reshape(6).data_ptr() == x.data_ptr()
    (True, False)
    """
    shape = given_once("reshape", shape, kwargs, "shape")
    if not shape:
        raise bad_arguments("reshape", "no shape given")
    return reshape_to(input, as_ints(shape))


def reshape_as(input: "Tensor", other: "Tensor") -> "Tensor":
    """`reshape(other.shape)`.

    >>> torch.arange(6).reshape_as(torch.zeros(3, 2)).stride()
    (2, 1)
    """
    return reshape_to(input, other._layout.shape)


def flatten(input: "Tensor", start_dim: int = 0, end_dim: int = -1) -> "Tensor":
    """Dimensions from start to end merged: the tensor itself where there is nothing to merge, else as `reshape`.

    Raises: dimension. Source: facts 3.3.2, torch 2.13.

    >>> x = torch.zeros(2, 3, 4)
    >>> x.flatten(1).shape, x.flatten(1, 1) is x
    (torch.Size([2, 12]), True)
    """
    shape = views.flatten_shape(input._layout.shape, as_int(start_dim, "start_dim"), as_int(end_dim, "end_dim"))
    return input if shape is None else reshape_to(input, shape)


def unflatten(input: "Tensor", dim: int, sizes: Any) -> "Tensor":
    """One dimension split into several; always a view.

    Raises: dimension, size. Source: facts 3.3.4, torch 2.13.

    >>> torch.zeros(4, 6).t().unflatten(0, (2, 3)).stride()
    (3, 1, 6)
    """
    shape = views.unflatten_shape(input._layout.shape, as_int(dim, "dim"), as_int_list(sizes, "sizes"))
    return view_of(input, views.view(input._layout, shape), free=True)


def ravel(input: "Tensor") -> "Tensor":
    """A flat view of a contiguous tensor, a flat copy of another.

    Source: facts 3.3.3, torch 2.13.

    >>> x = torch.zeros(2, 3)
    >>> x.ravel().data_ptr() == x.data_ptr(), x.t().ravel().data_ptr() == x.data_ptr()
    (True, False)
    """
    return reshape_to(contiguous(input), (-1,)) if input.numel() else reshape_to(input, (0,))


def permute(input: "Tensor", *dims: Any, **kwargs: Any) -> "Tensor":
    """A view with dimensions in another order. Raises: dimension. Source: facts 3.6, torch 2.13.

    >>> torch.zeros(2, 3, 4).permute(2, 0, 1).stride()
    (1, 12, 4)
    """
    dims = given_once("permute", dims, kwargs, "dims")
    check_history(input)
    return view_of(input, views.permute(input._layout, as_ints(dims, "dims")))


def transpose(input: "Tensor", dim0: int, dim1: int) -> "Tensor":
    """A view with two dimensions exchanged. Raises: dimension. Source: facts 3.6, torch 2.13.

    >>> torch.zeros(2, 3).transpose(0, 1).stride()
    (1, 3)
    """
    if type(dim0) is not int or type(dim1) is not int:
        dim0, dim1 = as_int(dim0, "dim0"), as_int(dim1, "dim1")
    check_history(input)
    layout = views.transpose(input._layout, dim0, dim1)
    return view_of(input, layout, free=same_dim(input, dim0, dim1))


def same_dim(input: "Tensor", dim0: int, dim1: int) -> bool:
    """Whether two dimensions are one, so that PyTorch transposes nothing and does not look at the storage either."""
    return (dim0 - dim1) % (input.ndim or 1) == 0


def swapaxes(input: "Tensor", axis0: int, axis1: int) -> "Tensor":
    """`transpose` under NumPy's name.

    >>> torch.zeros(2, 3).swapaxes(0, 1).stride()
    (1, 3)
    """
    return transpose(input, axis0, axis1)


def swapdims(input: "Tensor", dim0: int, dim1: int) -> "Tensor":
    """`transpose` under another name.

    >>> torch.zeros(2, 3).swapdims(0, 1).stride()
    (1, 3)
    """
    return transpose(input, dim0, dim1)


def t_layout(input: "Tensor", name: str) -> Layout:
    """Layout of `t()`. Raises: dimension (RuntimeError) above rank 2. Source: facts 3.6, torch 2.13."""
    shape, strides, offset = input._layout
    if len(shape) > 2:
        raise LayoutError("dimension", f"{name}() expects at most 2 dimensions, got {len(shape)} (facts 3.6)")
    return Layout(shape[::-1], strides[::-1], offset)


def t(input: "Tensor") -> "Tensor":
    """A view of a matrix transposed. Raises: dimension above rank 2. Source: facts 3.6, torch 2.13.

    >>> torch.zeros(2, 3).t().stride()
    (1, 3)
    """
    return view_of(input, t_layout(input, "t"), free=input.ndim < 2)


def numpy_T(input: "Tensor") -> "Tensor":  # noqa: N802 - PyTorch's own name
    """A view with all dimensions reversed. Source: facts 3.6, torch 2.13.

    >>> torch.zeros(2, 3).T.stride()
    (1, 3)
    """
    shape, strides, offset = input._layout
    return view_of(input, Layout(shape[::-1], strides[::-1], offset))


def mT(input: "Tensor") -> "Tensor":  # noqa: N802 - PyTorch's own name
    """A view with the last two dimensions exchanged.

    Raises: dimension (RuntimeError) for rank 1. Source: facts 3.6, torch 2.13.

    >>> torch.zeros(2, 3, 4).mT.stride()
    (12, 1, 4)
    """
    if input.ndim == 1:
        raise LayoutError("dimension", "mT needs a matrix or a batch of matrices, got one dimension (facts 3.6)")
    if input.ndim == 0:
        return input
    return view_of(input, views.transpose(input._layout, -2, -1))


def movedim(input: "Tensor", source: Any, destination: Any) -> "Tensor":
    """A view with dimensions moved to other places. Raises: dimension. Source: facts 3.6, torch 2.13.

    >>> torch.zeros(2, 3, 4).movedim(0, -1).shape
    torch.Size([3, 4, 2])
    """
    one = not isinstance(source, (tuple, list))
    if one == isinstance(destination, (tuple, list)):
        raise bad_arguments("movedim", "source and destination must both be ints or both be tuples")
    src = as_dims(source, "source")
    dst = as_dims(destination, "destination")
    order = views.movedim_order(input.ndim, src, dst)
    return view_of(input, views.permute(input._layout, order))


moveaxis = movedim


def expand(input: "Tensor", *size: Any, implicit: bool = False, **kwargs: Any) -> "Tensor":
    """A view with lengths of 1 repeated by stride 0.

    Raises: broadcast, overflow (see `views.expand`). Source: facts 3.5, torch 2.13.

    >>> torch.zeros(3, 1).expand(2, -1, 4).stride()
    (0, 1, 0)
    """
    size = given_once("expand", size, kwargs, "size")
    return view_of(input, views.expand(input._layout, as_ints(size)))


def broadcast_to(input: "Tensor", size: Any) -> "Tensor":
    """`expand(size)`.

    >>> torch.zeros(3, 1).broadcast_to((3, 4)).stride()
    (1, 0)
    """
    return view_of(input, views.expand(input._layout, as_int_list(size, "size")))


def expand_as(input: "Tensor", other: "Tensor") -> "Tensor":
    """`expand(other.shape)`.

    >>> torch.zeros(3, 1).expand_as(torch.zeros(3, 4)).stride()
    (1, 0)
    """
    return view_of(input, views.expand(input._layout, other._layout.shape))


@parsed(given_only="dim")
def squeeze(input: "Tensor", dim: Any = None) -> "Tensor":
    """A view without dimensions of length 1. Raises: dimension. Source: facts 3.4, torch 2.13.

    >>> torch.zeros(1, 3, 1).squeeze().shape, torch.zeros(1, 3, 1).squeeze(1).shape
    (torch.Size([3]), torch.Size([1, 3, 1]))
    """
    check_history(input)
    return view_of(input, squeeze_layout(input, dim))


def squeeze_layout(input: "Tensor", dim: Any) -> Layout:
    """Layout of `squeeze` for None, one dimension, or several."""
    if dim is None:
        return views.squeeze(input._layout)
    return views.squeeze(input._layout, as_dims(dim, "dim"))


def unsqueeze(input: "Tensor", dim: int) -> "Tensor":
    """A view with a new dimension of length 1. Raises: dimension. Source: facts 3.4, torch 2.13.

    >>> torch.zeros(2, 3).unsqueeze(1).stride()
    (3, 3, 1)
    """
    check_history(input)
    return view_of(input, views.unsqueeze(input._layout, dim if type(dim) is int else as_int(dim, "dim")))


def atleast_1d(*tensors: Any) -> Any:
    """At least one dimension: the tensor itself, or a view. Source: facts 3.4, torch 2.13.

    >>> torch.atleast_1d(torch.tensor(5)).shape
    torch.Size([1])
    """
    return _each("atleast_1d", tensors, lambda x: x if x.ndim else reshape_to(x, (1,)))


def atleast_2d(*tensors: Any) -> Any:
    """At least two dimensions: the tensor itself, or a view. Source: facts 3.4, torch 2.13.

    >>> torch.atleast_2d(torch.zeros(3)).shape
    torch.Size([1, 3])
    """
    return _each(
        "atleast_2d", tensors, lambda x: x if x.ndim > 1 else unsqueeze(x, 0) if x.ndim else reshape_to(x, (1, 1))
    )


def atleast_3d(*tensors: Any) -> Any:
    """At least three dimensions: the tensor itself, or a view. Source: facts 3.4, torch 2.13.

    >>> torch.atleast_3d(torch.zeros(3)).shape
    torch.Size([1, 3, 1])
    """

    def one(x: "Tensor") -> "Tensor":
        if x.ndim > 2:
            return x
        if x.ndim == 0:
            return reshape_to(x, (1, 1, 1))
        return unsqueeze(x, -1) if x.ndim == 2 else unsqueeze(unsqueeze(x, 0), -1)

    return _each("atleast_3d", tensors, one)


def _each(name: str, tensors: tuple[Any, ...], one: Any) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], TensorBase):
        return one(tensors[0])
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    check_tensors(name, *tensors)
    return tuple([one(x) for x in tensors])


def detach(input: "Tensor") -> "Tensor":
    """The same memory without history: no view, but under the same version counter. Source: facts 5.3, torch 2.13.

    >>> x = torch.zeros(2, requires_grad=True)
    >>> x.detach().requires_grad, x.detach()._is_view()
    (False, False)
    """
    return detached(input)
