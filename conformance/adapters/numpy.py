"""NumPy, judged on what it claims: views, copies and writes, but no memory formats or version counters."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..capabilities import Capabilities
from ..discovery import UnknownAdapter
from .numpy_style import NumpyStyle
from .table_style import takes_by

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
    ports: Mapping[str, str] = takes_by("np.from_dlpack", buffer="np.asarray", interface="np.asarray")
    capabilities = Capabilities(
        frozenset(DTYPES),
        frozenset(
            {
                "free-strides",
                "negative-strides",
                "guarded",
                "bounds",
                "view-check",
                "overlap-check",
                "index-check",
                "write-through",
            }
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

    def freeze(self, x: Any) -> Any:
        """The array, made read-only."""
        x.flags.writeable = False
        return x


def adapter(variant: str = "") -> Numpy:
    """The adapter for `numpy`, which has no variants."""
    if variant:
        raise UnknownAdapter(f"numpy has no variant {variant!r}")
    return Numpy()
