"""Draws steps on conjugate and negative bits, and on complex numbers seen as pairs."""

from __future__ import annotations

import numpy as np

from ..observation import TensorState
from .compute import COMPUTING, placed
from .inventory import Family, Inventory, StepDrawer, pick
from .source import Source
from .steps import BASIC, ODD, Arguments, Drawer, ref_of


def _is_complex(state: TensorState) -> bool:
    return state.dtype.startswith("complex")


def _has_bits(state: TensorState) -> bool:
    return bool({"c", "n"} & set(state.flags or ""))


def _of(*, complex_first: bool) -> StepDrawer:
    """A tensor, rather one that the operation is for."""

    def draw(source: Source, there: Inventory) -> Arguments | None:
        meant = [
            key
            for key, state in there.tensors.items()
            if (_is_complex(state) if complex_first else _has_bits(state)) or _has_bits(state)
        ]
        key = pick(source, meant if meant and not source.chance(2 * ODD) else there.tensors)
        return None if key is None else ((ref_of(key),), {})

    return draw


def _negative(source: Source, there: Inventory) -> Arguments | None:
    """What can be negated: with other dtypes the bit is set, but what looks at the elements is refused."""
    meant = [k for k, x in there.tensors.items() if x.dtype in NEGATED or _is_negated_exactly(x, there)]
    key = pick(source, meant)
    return None if key is None else ((ref_of(key),), {})


def _is_negated_exactly(x: TensorState, there: Inventory) -> bool:
    """Whether a tensor is complex and without a NaN, whose sign is left to the loop."""
    parts = {"complex64": np.float32, "complex128": np.float64}.get(x.dtype)
    if parts is None:
        return False
    data = there.contents[x.storage or ""].data
    numbers = np.frombuffer(data[: len(data) // np.dtype(parts).itemsize * np.dtype(parts).itemsize], parts)
    return bool(np.isfinite(numbers).all())


def _pairs(source: Source, there: Inventory) -> Arguments | None:
    """A tensor whose last dimension has the two parts."""
    meant = [k for k, x in there.tensors.items() if x.shape[-1:] == (2,) and x.dtype.startswith("float")]
    key = pick(source, meant if not source.chance(2 * ODD) else there.tensors)
    return None if key is None else ((ref_of(key),), {})


NEGATED = ("float16", "bfloat16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64")
"""Of complex numbers the signs of NaNs are left to the loop."""


def _within_pairs(source: Source, there: Inventory) -> Arguments | None:
    """All but the first of some pairs: what is seen as complex numbers then begins inside of memory."""
    meant = [k for k, x in there.tensors.items() if len(x.shape) > 1 and x.shape[-1] == 2 and x.shape[0] > 1]
    key = pick(source, meant)
    return None if key is None else ((ref_of(key), 0, 1, there.tensors[key].shape[0] - 1), {})


_LIKE_ANY: dict[str, Drawer] = {
    name: drawer
    for _, (name, drawer) in (*BASIC, *COMPUTING)
    if name in (
        "fill_", "copy_", "add_", "mul_", "__setitem__", "zero_", "neg", "add", "mul", "abs", "to", "select", "view",
        "permute", "__getitem__", "expand", "reshape", "flatten", "unsqueeze", "as_strided", "detach", "tolist",
        "matmul", "sum", "mean", "prod", "cumsum", "cat", "stack", "flip", "roll", "index_select",
    )
}  # fmt: skip


def _like_any(name: str) -> StepDrawer:
    """An operation of every tensor's, on one with a bit."""

    def draw(source: Source, there: Inventory) -> Arguments | None:
        key = pick(source, [k for k, x in there.tensors.items() if _has_bits(x)])
        if key is None:
            return None
        args, keywords = _LIKE_ANY[name](source, there.tensors[key], there.tensors)
        return placed(args, ref_of(key)), keywords

    return draw


TURNING: Family = (
    (30, ("conj", _of(complex_first=True))), (14, ("imag", _of(complex_first=True))),
    (10, ("real", _of(complex_first=True))), (8, ("mH", _of(complex_first=True))), (4, ("H", _of(complex_first=True))),
    (5, ("adjoint", _of(complex_first=True))), (6, ("conj_physical", _of(complex_first=True))),
    (12, ("resolve_conj", _of(complex_first=False))), (12, ("resolve_neg", _of(complex_first=False))),
    (4, ("is_conj", _of(complex_first=False))), (4, ("is_neg", _of(complex_first=False))),
    (8, ("_neg_view", _negative)), (16, ("view_as_real", _of(complex_first=True))), (16, ("view_as_complex", _pairs)),
    (16, ("narrow", _within_pairs)),
    (6, ("contiguous", _of(complex_first=False))), (6, ("clone", _of(complex_first=False))),
    (6, ("copy.deepcopy", _of(complex_first=False))), (6, ("save_load", _of(complex_first=False))),
    (4, ("numpy", _of(complex_first=False))), (4, ("numpy.asarray", _of(complex_first=False))),
    (4, ("__dlpack__", _of(complex_first=False))), *((4, (name, _like_any(name))) for name in _LIKE_ANY),
)  # fmt: skip
"""Bits, and views of complex numbers."""
