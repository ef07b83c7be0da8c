"""NumPy, judged on what it claims: views, copies and writes, but no memory formats or version counters."""

from __future__ import annotations

import warnings

import numpy as np

from ..capabilities import Capabilities
from ..discovery import UnknownAdapter
from .numpy_style import NumpyStyle

DTYPES = {
    name: name
    for name in (
        "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
        "float16", "float32", "float64", "complex64", "complex128",
    )
}  # fmt: skip


class Numpy(NumpyStyle):
    """NumPy on the CPU."""

    name = "numpy"
    capabilities = Capabilities(
        frozenset(DTYPES),
        frozenset(
            {"free-strides", "negative-strides", "guarded", "bounds", "view-check", "overlap-check", "write-through"}
        ),
        frozenset(
            {
                "raises",
                "error-kind",
                "shape",
                "values",
                "sharing",
                "strides",
                "layout",
                "contiguity",
                "storage",
            }
        ),
    )

    def __init__(self) -> None:
        super().__init__(np, DTYPES)
        warnings.filterwarnings("ignore")


def adapter(variant: str = "") -> Numpy:
    """The adapter for `numpy`, which has no variants."""
    if variant:
        raise UnknownAdapter(f"numpy has no variant {variant!r}")
    return Numpy()
