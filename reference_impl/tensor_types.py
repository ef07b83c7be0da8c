"""`FloatTensor` and its kin: classes that tell a tensor's dtype and device, as there were before `dtype` was."""

from typing import Any, Final, NoReturn

from . import legacy_constructors
from .copies import TYPE_NAMES
from .core import TensorBase
from .dtypes import dtype
from .errors import LayoutTypeError
from .formats import strided


class TensorType(type):
    """The class of `FloatTensor` and the others: calling one makes a plain tensor, and none is a subclass of it.

    Raises: as `Tensor.new`; argument (TypeError) for a device that is not there. Source: facts 6.3, torch 2.13.

    >>> torch.FloatTensor([1, 2]).tolist(), isinstance(torch.zeros(2), torch.FloatTensor), torch.LongTensor.dtype
    ([1.0, 2.0], True, torch.int64)
    """

    dtype: dtype
    is_cuda: bool
    is_sparse = False
    layout = strided

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """A tensor over a storage, of lengths, of data, or a view of a tensor of the same class."""
        if cls.is_cuda:
            raise LayoutTypeError("argument", f"{cls.__name__}: there is no device of its kind")
        return legacy_constructors.of_dtype(cls.dtype, *args, **kwargs)

    def __instancecheck__(cls, x: Any) -> bool:
        return (
            isinstance(x, TensorBase) and x.dtype is cls.dtype and not cls.is_cuda
            and not x._storage._is_meta and not x.is_sparse  # type: ignore[attr-defined]
        )  # fmt: skip

    def __repr__(cls) -> str:
        return f"<class 'torch.{'cuda.' * cls.is_cuda}{cls.__name__}'>"


def _subclassed(**kwargs: Any) -> NoReturn:
    raise LayoutTypeError("argument", "a class of tensors of one dtype has no subclasses")


def _type(name: str, d: dtype, *, is_cuda: bool) -> TensorType:
    made = TensorType(name, (), {"__slots__": (), "__module__": __package__, "__doc__": f"Tensors of {d}."})
    made.dtype, made.is_cuda = d, is_cuda
    made.__init_subclass__ = _subclassed  # type: ignore[method-assign]
    return made


# Complex numbers came later than `dtype`.
TYPES: Final = {
    f"{name}Tensor": _type(f"{name}Tensor", d, is_cuda=False) for name, d in TYPE_NAMES.items() if not d.is_complex
}
CUDA_TYPES: Final = {name: _type(name, t.dtype, is_cuda=True) for name, t in TYPES.items()}
