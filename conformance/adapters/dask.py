"""dask.array over NumPy blocks: lazy graphs of values, cut so that most operations cross a border of blocks."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

import dask
import dask.array
import dask.base
import numpy

from ..capabilities import Capabilities
from ..discovery import without_variants
from .numpy import DTYPES
from .numpy_style import numpy_like
from .value_style import ASPECTS, FEATURES, ValueStyle

CHUNK = 7
"""Elements of a block of the row that an input is cut from."""
_WITHOUT = (
    "fill_ zero_ copy_ add_ sub_ mul_ relu_ as_strided contiguous view.dtype tensor_split unbind to argsort amax amin"
)


class Dask(ValueStyle):
    """dask.array with its scheduler in this thread; only assignment writes, and to no other array."""

    name = "dask"
    tensor_type = dask.array.Array
    prefix = "da"
    imports = f"import dask, dask.array as da, numpy\ndask.config.set(scheduler='synchronous')\nCHUNK = {CHUNK}"
    templates: Mapping[str, str] = numpy_like("da", _WITHOUT) | {
        "view": "{self}.reshape({size})",
        "reshape": "{self}.reshape({shape})",
        "view_as": "{self}.reshape({other}.shape)",
        "clone": "{self}.copy()",
        "type": "{self}.astype({dtype!})",
        "amax": "da.max({self}, None if {dim} == () else {dim}, keepdims={keepdim})",
        "amin": "da.min({self}, None if {dim} == () else {dim}, keepdims={keepdim})",
        "mT": "da.swapaxes({self}, -1, -2)",
        "tolist": "{self}.compute().tolist()",
        "unfold": "da.lib.stride_tricks.sliding_window_view({self}, {size}, {dimension})"
        "[(slice(None),) * ({dimension} % {self}.ndim) + (slice(None, None, {step}),)]",
    }
    # Documented: reshape only merges and splits whole blocks.
    not_offered = ("reshape only allows rechunk", "reshape only supports", "not implemented", "not supported")
    row = "da.from_array(numpy.frombuffer({data}, {dtype}), chunks=CHUNK)"
    checks: Mapping[str, str] = {
        "shape": "({x}.dtype.name, list({x}.shape))",
        "values": "repr({x}.compute().tolist())",
    }
    capabilities = Capabilities(frozenset(DTYPES), FEATURES, ASPECTS)

    def __init__(self) -> None:
        warnings.filterwarnings("ignore")
        dask.config.set(scheduler="synchronous")
        super().__init__(dask.array, {name: numpy.dtype(name) for name in DTYPES})

    def scope(self) -> dict[str, Any]:
        """Rows are made of NumPy's arrays."""
        return super().scope() | {"numpy": numpy, "CHUNK": CHUNK}

    def versions(self) -> dict[str, str]:
        """Versions that can change a verdict."""
        return {"dask": version("dask"), "numpy": numpy.__version__}

    def whole(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with its results computed: what is wrong with a graph shows only then."""
        compute: Callable[..., Any] = dask.base.compute

        def run(*inputs: Any) -> Any:
            results = function(*inputs)
            for x in results:
                if self.is_tensor(x) and any(math.isnan(size) for size in x.shape):
                    x.compute_chunk_sizes()  # how many elements a mask selects is known only then
            compute(results)
            return results

        return run

    def host(self, x: Any) -> bytes:
        """Elements of an array: this is where its graph runs."""
        return numpy.asarray(x.compute()).tobytes("C")

    def write_dtype(self, name: str) -> str:
        """A dtype as source text."""
        return f'numpy.dtype("{name}")'


adapter = without_variants("dask", Dask)
