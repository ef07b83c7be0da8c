"""Questions about tensors and dtypes, as functions."""

from types import ModuleType
from typing import TYPE_CHECKING, Any

from .core import CONJ, NEG, TensorBase
from .dtypes import dtype
from .errors import LayoutAssertionError, LayoutError
from .promotion import as_dtype, common_dtype
from .promotion import can_cast as _can_cast

if TYPE_CHECKING:
    from .tensors import Tensor


def is_tensor(obj: Any) -> bool:
    """Whether an object is a tensor."""
    return isinstance(obj, TensorBase)


_HOMES = {"storage": "torch.storage", "typed_storage": "torch.storage"}
"""Modules of ours that PyTorch has, too; other names lie in `torch` itself."""


def typename(obj: Any) -> str:
    """PyTorch's name of a tensor's class for its dtype, of a class, of a function, or of an object's class.

    Source: torch 2.13.

    >>> typename(torch.zeros(2)), typename(torch.nn.Parameter), typename(torch.float16), typename(3)
    ('torch.FloatTensor', 'torch.nn.parameter.Parameter', 'torch.dtype', 'int')
    """
    if isinstance(obj, TensorBase):
        return obj.type()  # type: ignore[attr-defined, no-any-return]
    name: str | None = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None)
    named = obj if name is not None else type(obj)
    name = name or named.__qualname__
    if isinstance(obj, ModuleType):
        return name.replace(__package__, "torch")
    module = getattr(named, "__module__", None) or ""
    own, _, rest = module.partition(f"{__package__}.")
    if not own and rest:
        module = _HOMES.get(rest, f"torch.{rest}" if rest.startswith("nn.") else "torch")
    return name if module in ("", "builtins") else f"{module}.{name}"


def is_complex(input: "Tensor") -> bool:
    """Whether the dtype is complex."""
    return input.dtype.is_complex


def is_floating_point(input: "Tensor") -> bool:
    """Whether the dtype is floating point."""
    return input.dtype.is_floating_point


def is_signed(input: "Tensor") -> bool:
    """Whether the dtype has negative values."""
    return input.dtype.is_signed


def is_zerotensor(input: "Tensor") -> bool:
    """False: the reference has no tensors of zeros without memory. Source: `_is_zerotensor`, torch 2.13."""
    return False


def is_conj(input: "Tensor") -> bool:
    """Whether the conjugate bit is set. Source: facts 9.2, torch 2.13."""
    return bool(input._bits & CONJ)


def is_neg(input: "Tensor") -> bool:
    """Whether the negative bit is set. Source: facts 9.2, torch 2.13."""
    return bool(input._bits & NEG)


def is_same_size(input: "Tensor", other: "Tensor") -> bool:
    """Whether the shapes are the same."""
    return input._layout.shape == other._layout.shape


def is_nonzero(input: "Tensor") -> bool:
    """Whether the only element is not zero. Raises: size (RuntimeError) where there is not exactly one."""
    if input.numel() != 1:
        raise LayoutError("size", f"is_nonzero: the truth of {input.numel()} elements is ambiguous")
    return bool(input.item())


def numel(input: "Tensor") -> int:
    """Number of logical elements."""
    return input.numel()


def result_type(tensor: Any, other: Any) -> dtype:
    """The dtype in which an operator combines two tensors or numbers. Raises: dtype. Source: torch 2.13."""
    return common_dtype(tensor, other)


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a result of one dtype may be written into another. Raises: argument (TypeError). Source: facts 4.3.8."""
    return _can_cast(as_dtype(from_), as_dtype(to))


def assert_(condition: Any, message: str) -> None:
    """Python's `assert`. Raises: argument (AssertionError). Source: torch 2.13."""
    if not condition:
        raise LayoutAssertionError("argument", message)
