"""PyTorch's names for orders of dimensions in memory, and for how a tensor is kept at all."""

from typing import Any

from .errors import LayoutTypeError, UnsupportedError


class Named:
    """One of a few values that PyTorch calls by name, and that are copied and sent to other processes by it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> str:
        return self.name


class memory_format(Named):  # noqa: N801 - PyTorch's own name
    """An order of dimensions in memory; the four instances are all there are."""

    __slots__ = ("rank",)

    def __init__(self, name: str, rank: int | None) -> None:
        super().__init__(name)
        self.rank = rank

    def __reduce_ex__(self, protocol: Any) -> str:
        # PyTorch calls it by a name with a dot, which older protocols would write as an attribute of a module.
        if protocol < 4:
            raise LayoutTypeError("argument", f"{self} is not pickled by protocol {protocol}")
        return self.name


class layout(Named):  # noqa: N801 - PyTorch's own name
    """How a tensor is kept: under strides, or as one of the sparse kinds; the instances here are all there are.

    >>> torch.zeros(2).layout is torch.strided
    True
    """

    __slots__ = ()


contiguous_format = memory_format("contiguous_format", None)
channels_last = memory_format("channels_last", 4)
channels_last_3d = memory_format("channels_last_3d", 5)
preserve_format = memory_format("preserve_format", None)

strided = layout("strided")
sparse_coo = layout("sparse_coo")
sparse_csr = layout("sparse_csr")
sparse_csc = layout("sparse_csc")
sparse_bsr = layout("sparse_bsr")
sparse_bsc = layout("sparse_bsc")
jagged = layout("jagged")
_mkldnn = layout("_mkldnn")


def check_layout(name: str, x: Any) -> None:
    """Refuse what is no layout, and the layouts that are not strided, of which the reference makes no tensors.

    Raises: argument (TypeError), format (NotImplementedError).
    """
    if x is None or x is strided:
        return
    if not isinstance(x, layout):
        raise LayoutTypeError("argument", f"{name}: layout must be a layout, got {type(x).__name__}")
    raise UnsupportedError("format", f"{name}: there are no tensors of layout {x} here")
