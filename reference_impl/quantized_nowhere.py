"""Quantised dtypes on meta: PyTorch has a backend of that name, and hardly a kernel for it."""

from collections.abc import Callable
from typing import Any, NoReturn

from . import copies, pickling
from .backing import no_data
from .calls import refusing
from .contiguity import is_contiguous_in
from .core import as_class
from .errors import LayoutError, UnsupportedError
from .formats import contiguous_format, memory_format, preserve_format
from .quantized_methods import _KEPT, is_arithmetic
from .quantized_tensor import QuantizedTensor, quantized
from .quantizers import UNKNOWN
from .tensors import Tensor

_WITHOUT_KERNELS = (
    "detach", "conj", "resolve_conj", "resolve_neg", "positive", "squeeze_", "unsqueeze_", "transpose_", "swapaxes_",
    "swapdims_", "t_", "copy_",
)  # fmt: skip
_PARTS = (
    "select", "narrow", "unbind", "split", "split_with_sizes", "chunk", "tensor_split", "hsplit", "vsplit", "dsplit",
    "diagonal", "__getitem__", "__setitem__", "__iter__",
)  # fmt: skip
_COPYING = ("__repr__", "__copy__", "__deepcopy__")


class CodesNowhere(QuantizedTensor):
    """A tensor of a quantised dtype on meta: it can be asked what it is, and no more.

    Raises: device (NotImplementedError) for all else; dtype (RuntimeError) for parts, which would need a quantizer.
    Source: facts 10.1.24, torch 2.13.

    >>> q = torch.empty(2, dtype=torch.quint8, device="meta")
    >>> q.is_quantized, q.detach().stride(), q.contiguous() is q
    (True, (1,), True)
    """

    __slots__ = ()

    def contiguous(self, *, memory_format: memory_format = contiguous_format) -> "CodesNowhere":
        """The tensor itself. Raises: device (NotImplementedError) where it would have to be copied."""
        if not is_contiguous_in(*self._layout[:2], memory_format):
            raise no_data("contiguous")
        return self

    def to(self, *args: Any, **kwargs: Any) -> "CodesNowhere":
        """The tensor itself. Raises: device (NotImplementedError) where it would have to be copied."""
        wanted, copy, format, stays = copies._to_arguments(self, args, kwargs)
        if copy or stays is False or wanted is not self.dtype:
            raise no_data("to")
        return self if format is None or format is preserve_format else self.contiguous(memory_format=format)

    def view(self, *args: Any, **kwargs: Any) -> Any:
        """The memory under another dtype. Raises: as for any tensor; device (NotImplementedError) for other shapes."""
        found = Tensor.view(self, *args, **kwargs)
        if found.dtype is self.dtype:
            raise no_data("view")
        return found

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Nothing. Raises: dtype (RuntimeError): the class has no name."""
        raise LayoutError("dtype", f"type of {self.dtype} on meta")

    def _transposed(self) -> NoReturn:
        raise no_data("a transposition")

    # What is written of it, nobody can put together again.
    __reduce_ex__ = pickling.reduce_tensor
    data = property(lambda self: self.detach())
    real = property(lambda self: self)
    T = mT = H = mH = property(_transposed)  # noqa: N815 - PyTorch's own names


CodesNowhere.__name__ = CodesNowhere.__qualname__ = Tensor.__name__


def nowhere(t: Tensor) -> CodesNowhere:
    """A tensor of a quantised dtype on meta."""
    return quantized(t, UNKNOWN, CodesNowhere)  # type: ignore[return-value]


def _kernelless(name: str) -> Callable[..., Any]:
    function = getattr(Tensor, name)

    def method(self: CodesNowhere, *args: Any, **kwargs: Any) -> Any:
        found = function(self, *args, **kwargs)
        return found if found is self else nowhere(as_class(found, Tensor))

    method.__name__ = name
    return method


def bind() -> None:
    """Refuse what would need a kernel."""
    for name in dir(Tensor):
        own = name in vars(CodesNowhere) or name in _KEPT or name in ("item", "is_signed")
        hidden = name.startswith("_") and name not in _COPYING and not is_arithmetic(name)
        if not own and not hidden and callable(getattr(Tensor, name)):
            setattr(CodesNowhere, name, refusing(name, UnsupportedError, "device", "of codes on meta (facts 10.1.24)"))
    for name in _WITHOUT_KERNELS:
        setattr(CodesNowhere, name, _kernelless(name))
    for name in _PARTS:
        setattr(CodesNowhere, name, refusing(name, LayoutError, "dtype", "of codes on meta, without a quantizer"))


bind()
