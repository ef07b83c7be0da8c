"""`finfo` and `iinfo`: what numbers a dtype holds."""

from math import floor, log10
from typing import Any

import numpy as np

from . import dtypes as dt
from .errors import LayoutTypeError, UnsupportedError
from .promotion import as_dtype, get_default_dtype


class _Limits:
    """Limits of a dtype, equal where the dtype is."""

    __hash__ = None  # type: ignore[assignment]
    _shown: tuple[str, ...]

    def __init__(self, d: dt.dtype) -> None:
        self.bits = 8 * d.itemsize
        self.dtype = d.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Limits) and other.dtype == self.dtype

    def __repr__(self) -> str:
        shown = "".join(f"{name}={getattr(self, name):g}, " for name in self._shown)
        return f"{type(self).__name__}({shown}dtype={self.dtype})"


class finfo(_Limits):  # noqa: N801 - PyTorch's own name
    """Limits of a floating-point dtype, of that of its parts for a complex one; of the default dtype without any.

    Raises: argument (TypeError). Source: `torch.finfo`, torch 2.13.

    >>> finfo(dt.bfloat16)
    finfo(resolution=0.01, min=-3.38953e+38, max=3.38953e+38, eps=0.0078125, smallest_normal=1.17549e-38, \
tiny=1.17549e-38, dtype=bfloat16)
    """

    _shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")

    def __init__(self, *type: Any, **kwargs: Any) -> None:
        d = _taken("finfo", type, kwargs).to_real() if type or kwargs else get_default_dtype()
        if d.category != "float":
            raise LayoutTypeError("argument", f"finfo: {d} is not floating point")
        super().__init__(d)
        limits = dt.finfo(d.numpy)
        self.min, self.max = float(limits.min), float(limits.max)
        self.smallest_normal = self.tiny = float(limits.smallest_normal)
        # PyTorch's of this one is twice the distance from 1 to the next number over.
        self.eps = 0.125 if d is dt.float8_e5m2fnuz else float(limits.eps)
        self.resolution = 10.0 ** -floor(-log10(self.eps))


class iinfo(_Limits):  # noqa: N801 - PyTorch's own name
    """Limits of a dtype of whole numbers. Raises: argument, dtype (TypeError). Source: `torch.iinfo`, torch 2.13.

    >>> iinfo(dt.uint8), iinfo(dt.int64).max
    (iinfo(min=0, max=255, dtype=uint8), 9223372036854775807)
    """

    _shown = ("min", "max")

    def __init__(self, *type: Any, **kwargs: Any) -> None:
        d = _taken("iinfo", type, kwargs)
        if d in dt.QUANTIZED:
            raise UnsupportedError("dtype", f"iinfo of {d}: codes are no numbers")
        if d.category != "int":
            raise LayoutTypeError("argument", f"iinfo: {d} has no whole numbers")
        super().__init__(d)
        limits = np.iinfo(d.numpy)
        self.min, self.max = int(limits.min), int(limits.max)


def _taken(name: str, given: tuple[Any, ...], named: dict[str, Any]) -> dt.dtype:
    given = (*given, *named.values())
    if len(given) != 1 or not named.keys() <= {"type"} or given[0] is None:
        raise LayoutTypeError("argument", f"{name} takes one dtype, got {given}")
    return as_dtype(given[0])
