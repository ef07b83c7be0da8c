"""Products of matrices and vectors: mm, bmm, mv, dot and their `add` kin; row-major whatever the operands' layout (facts 4.4)."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .core import TensorBase
from .errors import LayoutError, LayoutTypeError
from .out import write_out
from .results import finish, need_kernel, wide

if TYPE_CHECKING:
    from .tensor import Tensor


def check_tensors(name: str, *operands: Any) -> None:
    """Refuse operands that are no tensors. Raises: argument (TypeError)."""
    for x in operands:
        if not isinstance(x, TensorBase):
            raise LayoutTypeError("argument", f"{name}: expected a Tensor, got {type(x).__name__}")


def _need_rank(name: str, t: "Tensor", rank: int) -> None:
    if t.ndim != rank:
        raise LayoutError("dimension", f"{name}: expected {rank} dimensions, got shape {t._layout.shape}")


def _same_dtype(name: str, *operands: "Tensor") -> None:
    if any(x.dtype is not operands[0].dtype for x in operands):
        raise LayoutError("dtype", f"{name}: operands of one dtype are needed, got {[x.dtype for x in operands]}")


def product(a: "Tensor", b: "Tensor") -> tuple[Any, Any]:
    """Product of two tensors' values, and the sum of the absolute values of its terms for floats."""
    x, y = wide(a), wide(b)
    with np.errstate(all="ignore"):
        result = np.matmul(x, y)
        if x.dtype.kind not in "fc":
            return result, None
        return result, np.matmul(np.abs(x), np.abs(y))


def mm(input: "Tensor", mat2: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Product of two matrices.

    Shapes: (n, k) and (k, m) to (n, m).
    Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    check_tensors("mm", input, mat2)
    _need_rank("mm", input, 2)
    _need_rank("mm", mat2, 2)
    if input.shape[1] != mat2.shape[0]:
        raise LayoutError("size", f"mm: shapes {input._layout.shape} and {mat2._layout.shape} cannot be multiplied")
    _same_dtype("mm", input, mat2)
    need_kernel("mm", input.dtype, "ifc")
    result, magnitude = product(input, mat2)
    t = finish(result, input.dtype, input, mat2, magnitude=magnitude, terms=input.shape[1])
    return write_out(out, t, input, mat2)
