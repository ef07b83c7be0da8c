"""What functions over LAPACK share: column-major results, checks of matrices, values that are left unspecified.

These depend on the library and on the condition of the matrix: computed with NumPy to see whether that succeeds.
"""

# ruff: noqa: N803 - PyTorch's own names

from collections import namedtuple
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import dtypes as dt
from . import shadow
from .core import values
from .errors import LayoutError, UnsupportedError
from .layout import Strides, contiguous_strides
from .out import check_out, resize_output, write_out
from .promotion import can_cast
from .results import finish

if TYPE_CHECKING:
    from .tensors import Tensor

Early = Literal["floats", "precise", "nothing"]
Kernel = Literal["filled", "always", "never"]
_COMPUTED = frozenset((dt.float32, dt.float64, dt.complex64, dt.complex128))


def column_major(shape: tuple[int, ...]) -> Strides:
    """Strides of matrices stored column by column, one after the other.

    >>> column_major((2, 3, 4))
    (12, 1, 3)
    """
    strides = list(contiguous_strides(shape))
    if len(shape) >= 2:
        strides[-2], strides[-1] = 1, max(shape[-2], 1)
    return tuple(strides)


def check_matrices(
    name: str, A: "Tensor", *, square: bool = False, early: Early = "floats", kernel: Kernel = "filled"
) -> None:
    """Refuse what is no stack of matrices. Raises: dimension, size (where not square), dtype as `check_dtype`."""
    if len(A._layout.shape) < 2:
        raise LayoutError("dimension", f"{name}: at least 2 dimensions are needed, got shape {A._layout.shape}")
    if square and A._layout.shape[-1] != A._layout.shape[-2]:
        raise LayoutError("size", f"{name}: square matrices are needed, got shape {A._layout.shape}")
    check_dtype(name, A, early=early, kernel=kernel)


def check_dtype(name: str, A: "Tensor", *, early: Early = "floats", kernel: Kernel = "filled") -> None:
    """Refuse dtypes that LAPACK does not compute in.

    What `early` names is asked for before a kernel is looked for: floating point or complex, in full precision, or
    nothing. A kernel is looked for where there are elements, always, or never.

    Raises: dtype (RuntimeError early, NotImplementedError where there is no kernel).
    """
    d = A.dtype
    if early != "nothing" and not (d.is_floating_point or d.is_complex):
        raise LayoutError("dtype", f"{name}: floating point or complex is needed, got {d}")
    if early == "precise" and is_low_precision(d):
        raise LayoutError("dtype", f"{name}: low precision is not supported, got {d}")
    if d not in _COMPUTED and (kernel == "always" or (kernel == "filled" and A.numel())):
        raise UnsupportedError("dtype", f"{name}: PyTorch has no kernel for {d}")


def wide_values(A: "Tensor") -> Any:
    """The elements as numbers of double precision."""
    return values(A).astype(np.complex128 if A.dtype.is_complex else np.float64)


def tried(f: Any, *arrays: Any, shapes: tuple[tuple[int, ...], ...]) -> Any:
    """What NumPy finds; zeros where it refuses or the matrices are empty."""
    with np.errstate(all="ignore"):
        try:
            found = f(*arrays)
        except (np.linalg.LinAlgError, ValueError, ZeroDivisionError, IndexError):
            found = tuple(np.zeros(s, arrays[0].dtype) for s in shapes)
    found = found if isinstance(found, tuple) else (found,)
    return tuple(x if np.shape(x) == s else np.zeros(s, arrays[0].dtype) for x, s in zip(found, shapes, strict=True))


def refuse_singular(name: str, A: "Tensor", f: Any) -> None:
    """Refuse matrices that cannot be factorised. Raises: argument (RuntimeError)."""
    if not A.numel() or shadow.marks_of(A) is not None:
        return
    try:
        with np.errstate(all="ignore"):
            f(values(A))
    except np.linalg.LinAlgError as e:
        raise LayoutError("argument", f"{name}: {e}") from None


def lapack_result(a: Any, d: Any, *inputs: Any, columns: bool = True) -> "Tensor":
    """A result of LAPACK's: column-major unless told, its values left unspecified."""
    t = finish(np.asarray(a), d, *inputs, strides=column_major(a.shape) if columns else None)
    return shadow.leave_unspecified(t)


def zeros_of(shape: tuple[int, ...], d: Any = dt.int32) -> "Tensor":
    """A row-major tensor of zeros."""
    return finish(np.zeros(shape, d.numpy), d)


@cache
def _named(names: str) -> Any:
    """A class of results that are read by name, too.

    >>> _named("Q R")(1, 2).R
    2
    """
    return namedtuple("results", names)


def write_outs(
    out: Any, results: tuple["Tensor", ...], *inputs: Any, names: str = "", row_major: bool = False,
    order: tuple[int, ...] = (), copies: bool = False,
) -> Any:  # fmt: skip
    """Results, by name where there are several, written into the tensors of `out` where that is given.

    Each is resized, in the `order` that PyTorch makes them in, before the next is looked at. Where it `copies`, it
    converts, and lays out row-major what it cannot compute in place.

    Raises: dtype (RuntimeError).
    """
    named = _named(names)._make if names else tuple
    if out is None:
        return named(results)
    given = out if isinstance(out, (tuple, list)) else (out,)
    pairs = list(zip(given, results, strict=True))
    if copies:
        for target, t in pairs:
            check_out(target, *inputs)
            if not can_cast(t.dtype, target.dtype):
                raise LayoutError("dtype", f"a {t.dtype} result cannot be cast to {target.dtype}")
        row_major = not all(target.dtype is t.dtype and _takes(target, t) for target, t in pairs)
    else:
        for k in order or range(len(results)):
            target, t = pairs[k]
            check_out(target, *inputs)
            if target.dtype is not t.dtype:
                raise LayoutError("dtype", f"out must have the dtype {t.dtype}, got {target.dtype}")
            resize_output(target, t._layout.shape, None if row_major else t._layout.strides)
    return named([write_out(target, t, *inputs, row_major=row_major) for target, t in pairs])


def _takes(target: "Tensor", t: "Tensor") -> bool:
    """Whether LAPACK can write to a tensor: an empty one, or one of a result's layout."""
    return 0 in target._layout.shape or target._layout[:2] == t._layout[:2]


def info_of(A: "Tensor") -> "Tensor":
    """What LAPACK says of each matrix: 0 where it succeeded."""
    t = zeros_of(A._layout.shape[:-2])
    return shadow.leave_unspecified(t)


def is_low_precision(d: Any) -> bool:
    """Whether matrices of this dtype are not factorised."""
    return d in (dt.float16, dt.bfloat16, dt.complex32) or d in dt.FLOAT8
