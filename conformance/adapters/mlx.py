"""MLX on the CPU: lazy arrays that are values; assignment binds an array anew, and indices are not checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

import mlx.core as mx

from ..capabilities import Capabilities
from ..discovery import without_variants
from ..layout import extent
from ..program import ITEMSIZES
from .numpy_style import numpy_like
from .table_style import dtypes_of, takes_by
from .value_style import ASPECTS, FEATURES, ValueStyle

DTYPES = {"bool": mx.bool_} | dtypes_of(mx, (
    "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64",
))  # fmt: skip
_WITHOUT = "T mT ravel as_strided unfold tensor_split to fill_ zero_ copy_ add_ sub_ mul_ relu_ masked_select"


class Mlx(ValueStyle):
    """MLX, its work done by the processor."""

    name = "mlx"
    ports: Mapping[str, str] = takes_by("mx.from_dlpack", buffer="mx.array")
    tensor_type = mx.array
    prefix = "mx"
    imports = "import mlx.core as mx\nmx.set_default_device(mx.cpu)"
    templates: Mapping[str, str] = numpy_like("mx", _WITHOUT) | {
        "view": "{self}.reshape({size})",
        "view_as": "{self}.reshape({other}.shape)",
        "flatten": "mx.flatten({self}, {start_dim}, {end_dim})",
        "unflatten": "mx.unflatten({self}, {dim}, {sizes})",
        "contiguous": "mx.contiguous({self})",
        "clone": "mx.array({self})",
        "type": "{self}.astype({dtype!})",
        "add": "{self} + {other}",
        "sub": "{self} - {other}",
        "mul": "{self} * {other}",
        "sum": "mx.sum({self}, {dim}, {keepdim})",
        "amax": "mx.max({self}, None if {dim} == () else {dim}, keepdims={keepdim})",
        "amin": "mx.min({self}, None if {dim} == () else {dim}, keepdims={keepdim})",
        "softmax": "mx.softmax({self}, {dim})",
        "argsort": "mx.argsort({self}, {dim})",
        "masked_fill": "mx.where({mask}, {value}, {self})",
    }
    row = "mx.array(list({data}), dtype=mx.uint8).view({dtype})"
    checks: Mapping[str, str] = {
        "shape": "(str({x}.dtype)[9:], list({x}.shape))",
        "values": "repr({x}.tolist())",
    }
    capabilities = Capabilities(frozenset(DTYPES), FEATURES, ASPECTS)
    forks = False  # after a fork, evaluation hangs

    def __init__(self) -> None:
        mx.set_default_device(mx.cpu)
        super().__init__(mx, DTYPES)

    def versions(self) -> dict[str, str]:
        """Versions that can change a verdict."""
        return {"mlx": version("mlx")}

    def whole(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with its results evaluated, and what it assigned to."""

        def run(*inputs: Any) -> Any:
            results = function(*inputs)
            mx.eval(inputs, results)
            return results

        return run

    def laid_out(self, storage: bytes, dtype: str, shape: Any, strides: Any, offset: int) -> Any:
        """Any strided view of the elements: one that overlaps, or goes backwards, can be handed over as well."""
        nbytes = max(extent(shape, strides, offset)[1], 1) * ITEMSIZES[dtype]
        row = self._make_row(storage.ljust(nbytes, b"\0")[:nbytes], self.dtype(dtype))
        return mx.as_strided(row, shape, strides, offset)

    def host(self, x: Any) -> bytes:
        """Elements of an array, read through the buffer protocol, which knows no bfloat16."""
        plain = mx.contiguous(x.view(mx.uint16) if self._dtype_names.get(x.dtype) == "bfloat16" else x)
        return memoryview(plain).tobytes() if x.size else b""

    def write_dtype(self, name: str) -> str:
        """A dtype as source text."""
        return "mx.bool_" if name == "bool" else f"mx.{name}"


adapter = without_variants("mlx", Mlx)
