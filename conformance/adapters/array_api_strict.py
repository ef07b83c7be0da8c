"""array-api-strict: the array API standard and nothing more; it says nothing of memory but for `copy=`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import array_api_strict as xp
import numpy

from ..capabilities import Capabilities
from ..discovery import without_variants
from ..offers import aligned
from .table_style import dtypes_of, takes_by
from .value_style import ASPECTS, FEATURES, ValueStyle

DTYPES = dtypes_of(xp, (
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float32", "float64", "complex64", "complex128",
))  # fmt: skip


class ArrayApiStrict(ValueStyle):
    """The strict namespace over NumPy."""

    name = "array_api_strict"
    ports: Mapping[str, str] = takes_by("xp.from_dlpack", buffer="xp.asarray")
    prefix = "xp"
    imports = "import array_api_strict as xp, numpy"
    templates: Mapping[str, str] = {
        "view": "xp.reshape({self}, {size})",
        "view_as": "xp.reshape({self}, {other}.shape)",
        "reshape": "xp.reshape({self}, {shape})",
        "reshape_as": "xp.reshape({self}, {other}.shape)",
        "permute": "xp.permute_dims({self}, {dims})",
        "movedim": "xp.moveaxis({self}, {source}, {destination})",
        "moveaxis": "xp.moveaxis({self}, {source}, {destination})",
        "mT": "{self}.mT",
        "__getitem__": "{self}[{index:index}]",
        "__setitem__": "{self}.__setitem__({index}, {value})",
        "expand": "xp.broadcast_to({self}, {size})",
        "expand_as": "xp.broadcast_to({self}, {other}.shape)",
        "broadcast_to": "xp.broadcast_to({self}, {size})",
        "squeeze": "xp.squeeze({self}, {dim})",
        "unsqueeze": "xp.expand_dims({self}, axis={dim})",
        "clone": "xp.asarray({self}, copy=True)",
        "type": "xp.astype({self}, {dtype!})",
        "add": "{self} + {other}",
        "sub": "{self} - {other}",
        "mul": "{self} * {other}",
        "add_": "{self}.__iadd__({other})",
        "sub_": "{self}.__isub__({other})",
        "mul_": "{self}.__imul__({other})",
        "neg": "-{self}",
        "abs": "abs({self})",
        "matmul": "xp.matmul({self}, {other})",
        "sum": "xp.sum({self}, axis={dim}, dtype={dtype}, keepdims={keepdim})",
        "mean": "xp.mean({self}, axis={dim}, keepdims={keepdim})",
        "prod": "xp.prod({self}, axis={dim}, keepdims={keepdim})",
        "amax": "xp.max({self}, axis=None if {dim} == () else {dim}, keepdims={keepdim})",
        "amin": "xp.min({self}, axis=None if {dim} == () else {dim}, keepdims={keepdim})",
        "argmax": "xp.argmax({self}, axis={dim}, keepdims={keepdim})",
        "all": "xp.all({self}, axis={dim}, keepdims={keepdim})",
        "cumsum": "xp.cumulative_sum({self}, axis={dim})",
        "cumprod": "xp.cumulative_prod({self}, axis={dim})",
        "argsort": "xp.argsort({self}, axis={dim}, descending={descending}, stable={stable})",
        "flip": "xp.asarray(xp.flip({self}, axis={dims}), copy=True)",  # a view else
        "roll": "xp.roll({self}, {shifts}, axis={dims})",
        "cat": "xp.concat({tensors}, axis={dim})",
        "stack": "xp.stack({tensors}, axis={dim})",
        "unbind": "xp.unstack({self}, axis={dim})",
        "index_select": "xp.take({self}, {index}, axis={dim})",
        "masked_select": "{self}[{mask}]",
    }
    row = "xp.asarray(numpy.frombuffer(bytearray({data}), str({dtype}).rpartition('.')[2]))"
    checks: Mapping[str, str] = {
        "shape": "(numpy.asarray({x}).dtype.name, list({x}.shape))",
        "values": "repr(numpy.asarray({x}).tolist())",
    }
    capabilities = Capabilities(frozenset(DTYPES), FEATURES, ASPECTS)

    def __init__(self) -> None:
        super().__init__(xp, DTYPES)

    @cached_property
    def _make_row(self) -> Callable[..., Any]:
        """As `row`, but where memory is aligned: else it is chance whether JAX shares what it is handed."""
        return lambda data, dtype: xp.asarray(numpy.frombuffer(aligned(data), str(dtype).rpartition(".")[2]))

    def scope(self) -> dict[str, Any]:
        """Rows are made of NumPy's arrays."""
        return super().scope() | {"numpy": numpy}

    def versions(self) -> dict[str, str]:
        """Versions that can change a verdict."""
        return {"array_api_strict": xp.__version__, "numpy": numpy.__version__}

    def is_tensor(self, x: Any) -> bool:
        """Whether an object is an array."""
        return hasattr(x, "__array_namespace__")

    def host(self, x: Any) -> bytes:
        """Elements of an array."""
        return numpy.asarray(x).tobytes("C")

    def index(self, items: tuple[Any, ...]) -> Any:
        """The standard wants every axis, or an ellipsis."""
        return items if any(item is ... for item in items) else (*items, ...)

    def write_dtype(self, name: str) -> str:
        """A dtype as source text."""
        return f"xp.{name}"


adapter = without_variants("array_api_strict", ArrayApiStrict)
