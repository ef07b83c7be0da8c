"""Functions over lists of tensors: one operator, done to each in turn."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final

from .core import TensorBase, as_scalar, check_differentiable, check_inplace, recorded, written
from .errors import LayoutAttributeError, LayoutError, LayoutTypeError
from .norms import vector_norm
from .tensors import Tensor

_UNARY: Final = (
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round "
    "rsqrt sigmoid sign sin sinh sqrt tan tanh trunc"
)
_OTHER: Final = ("other scalar scalars",)
_OPERANDS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(_UNARY.split(), ()),
    **dict.fromkeys(("add", "sub", "mul", "div", "clamp_max", "clamp_min", "maximum", "minimum"), _OTHER),
    **dict.fromkeys(("addcdiv", "addcmul"), ("tensor1", "tensor2", "value scalars")),
    "pow": ("exponent",), "lerp": ("tensors1", "weight weights"), "norm": ("ord", "dtype"), "max": (), "clone": (),
    "zero_": (), "copy_": ("src", "non_blocking"), "mm": ("mat2",),
}  # fmt: skip
"""Operators, and what follows their first operand by all names that it may have."""
_NOT_IN_PLACE: Final = frozenset(("norm", "max", "clone", "mm"))
# Numbers and tensors alike bound elements, and a NaN stays one.
_SAME: Final = {"maximum": "clamp_min", "minimum": "clamp_max"}
_ALONE: Final = {"clone": frozenset(("memory_format",)), "add": frozenset(("alpha",)), "sub": frozenset(("alpha",))}


def function(name: str) -> Callable[..., Any]:
    """The function of a name: a tuple of results, or the list itself of what is written in place.

    Operands are given one for each tensor, or one number for all of them.

    All results have the history of all operands.

    Raises: argument (AttributeError) where PyTorch has none, or none is here; the function raises argument (TypeError),
    size (RuntimeError) for lists of different lengths or none, grad, and as its operator. Source: torch 2.13.

    >>> torch._foreach_add([torch.ones(2), torch.arange(3)], [1, 10])
    (tensor([2., 2.]), tensor([10, 11, 12]))
    """
    operator = name.removeprefix("_foreach_")
    plain = operator if operator in _OPERANDS else operator.removesuffix("_")
    if plain not in _OPERANDS or (operator != plain and plain in _NOT_IN_PLACE):
        raise LayoutAttributeError("argument", f"module 'torch' has no attribute {name!r}")

    def foreach(self: Any, *operands: Any, **kwargs: Any) -> Any:
        given = [*operands, *_by_name(name, _OPERANDS[plain][len(operands) :], kwargs, _ALONE.get(plain, frozenset()))]
        if len(given) > len(_OPERANDS[plain]):
            raise LayoutTypeError("argument", f"{name}: {len(given)} operands")
        tensors = self
        if plain == "pow" and operator == "pow" and not isinstance(self, (list, tuple)) and given:
            tensors, given = given[0], [_number(name, self)]
        _check_list(name, tensors)
        if not tensors:
            raise LayoutError("size", f"{name}: a list must have at least one tensor")
        each = [_for_each(name, x, len(tensors)) for x in given]
        if "alpha" in kwargs and not (given and _are_tensors(given[0])):
            raise LayoutTypeError("argument", f"{name}: alpha goes with tensors")
        method = _method(operator, swapped=tensors is not self)
        columns: list[Any] = [tensors, *each]
        calls = list(zip(*columns, strict=True))
        if operator.endswith("_"):
            # No tensor is written before all are found to be writable.
            for call in calls:
                check_inplace(*call)
            if any(t._bits for t in tensors):
                raise LayoutError("argument", f"{name}: a tensor with the conjugate or negative bit is not written")
            for call in calls:
                method(*call, **kwargs)
            if plain == "copy_":
                # Of all of these functions, this one alone gives all that it writes one history.
                for t in tensors:
                    t._versions[0] -= 1
                    written(t, *tensors, *each[0])
            return self
        results = tuple(method(*call, **kwargs) for call in calls)
        given = [x for column in columns for x in column]
        for result in results:
            check_differentiable(result.dtype, *given)
        return tuple(recorded(result, *given) for result in results)

    foreach.__name__ = foreach.__qualname__ = name
    return foreach


def _by_name(name: str, missing: Sequence[str], kwargs: dict[str, Any], alone: frozenset[str]) -> list[Any]:
    """Operands that are given by name, taken out of the keywords. Raises: argument (TypeError)."""
    found = [kwargs.pop(key) for names in missing for key in names.split() if key in kwargs]
    if unknown := kwargs.keys() - alone:
        raise LayoutTypeError("argument", f"{name}: unknown keyword {min(unknown)}")
    return found


def _check_list(name: str, x: Any) -> None:
    if not isinstance(x, (list, tuple)) or not all(isinstance(t, TensorBase) for t in x):
        raise LayoutTypeError("argument", f"{name} takes a list of tensors, got {type(x).__name__}")


def _number(name: str, x: Any) -> Any:
    if isinstance(found := as_scalar(x), TensorBase):
        raise LayoutTypeError("argument", f"{name}: a number or a list is needed, got a tensor")
    return found


def _are_tensors(x: Any) -> bool:
    return isinstance(x, TensorBase) or (isinstance(x, (list, tuple)) and any(isinstance(t, TensorBase) for t in x))


def _for_each(name: str, x: Any, count: int) -> Sequence[Any]:
    """An operand of each tensor. Raises: argument (TypeError), dimension, size (RuntimeError)."""
    if isinstance(x, TensorBase) and x._layout.shape:
        if not name.startswith("_foreach_addc"):
            raise LayoutError("dimension", f"{name}: one tensor for all has no dimensions, got {x._layout.shape}")
        x = x.tolist()  # type: ignore[attr-defined]
    if not isinstance(x, (list, tuple)):
        if not isinstance(x, (TensorBase, bool, int, float, complex, type(None))) and not hasattr(x, "itemsize"):
            raise LayoutTypeError("argument", f"{name}: a number or a list is needed, got {type(x).__name__}")
        return [x] * count
    if _are_tensors(x):
        _check_list(name, x)
    if len(x) != count:
        raise LayoutError("size", f"{name}: {count} tensors, but {len(x)} operands")
    return x


def _method(operator: str, *, swapped: bool) -> Callable[..., Any]:
    if swapped:
        return lambda exponent, base: base**exponent
    if operator == "norm":
        return lambda t, order=2, dtype=None: vector_norm(t, order, dtype=dtype)
    plain = operator.removesuffix("_")
    bound: Callable[..., Any] = attrgetter(_SAME.get(plain, plain) + operator[len(plain) :])(Tensor)
    if plain in ("addcdiv", "addcmul"):
        return lambda t, a, b, value=1: bound(t, a, b, value=as_scalar(value))
    return bound
