"""`torch.ops`: operators by the names of their schemas, `ops.aten.slice.Tensor`.

PyTorch generates the methods of `Tensor` and the functions of `torch` from these schemas, so a packet is found there
unless it is listed here: what has no other name. All overloads of a packet are one function of ours.
"""

from typing import Any

from .interpolation import upsample_bilinear2d_aa
from .unpooling import max_pool2d_with_indices_backward
from .view_copies import slice_view

_UNNAMED = {
    "max_pool2d_with_indices_backward": max_pool2d_with_indices_backward,
    "slice": slice_view,
    "_upsample_bilinear2d_aa": upsample_bilinear2d_aa,
}


class Packet:
    """The overloads of one operator, callable itself.

    >>> from stridecheck.reference_impl import arange
    >>> aten.slice.Tensor(arange(5), 0, 1, 4).tolist()
    [1, 2, 3]
    """

    def __init__(self, name: str, function: Any) -> None:
        self.__name__ = name
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the operator answers."""
        return self._function(*args, **kwargs)

    def __getattr__(self, overload: str) -> Any:
        if overload.startswith("_"):
            raise AttributeError(overload)
        return self._function


class _Library:
    """The operators of one library by name."""

    def __getattr__(self, name: str) -> Packet:
        from stridecheck import reference_impl

        function = _UNNAMED.get(name) or getattr(reference_impl.Tensor, name, None)
        function = function or getattr(reference_impl, name, None)
        if not callable(function):
            raise AttributeError(f"there is no operator {name!r}")
        return Packet(name, function)


aten = _Library()
