"""MLX on the CPU: lazy arrays that are values; assignment binds an array anew, and indices are not checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

import mlx.core as mx

from ..capabilities import Capabilities
from ..discovery import UnknownAdapter
from .value_style import ASPECTS, FEATURES, ValueStyle

DTYPES = {
    name: name.removesuffix("_")
    for name in (
        "bool_", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
        "float16", "bfloat16", "float32", "float64", "complex64",
    )
}  # fmt: skip


class Mlx(ValueStyle):
    """MLX, its work done by the processor."""

    name = "mlx"
    prefix = "mx"
    imports = "import mlx.core as mx\nmx.set_default_device(mx.cpu)"
    templates: Mapping[str, str] = {
        "view": "mx.reshape({self}, {size})",
        "view.dtype": "{self}.view({dtype})",
        "view_as": "mx.reshape({self}, {other}.shape)",
        "reshape": "mx.reshape({self}, {shape})",
        "reshape_as": "mx.reshape({self}, {other}.shape)",
        "flatten": "mx.flatten({self}, {start_dim}, {end_dim})",
        "unflatten": "mx.unflatten({self}, {dim}, {sizes})",
        "permute": "mx.transpose({self}, {dims})",
        "transpose": "mx.swapaxes({self}, {dim0}, {dim1})",
        "swapaxes": "mx.swapaxes({self}, {axis0}, {axis1})",
        "swapdims": "mx.swapaxes({self}, {dim0}, {dim1})",
        "movedim": "mx.moveaxis({self}, {source}, {destination})",
        "moveaxis": "mx.moveaxis({self}, {source}, {destination})",
        "T": "{self}.T",
        "__getitem__": "{self}[{index:index}]",
        "__setitem__": "{self}.__setitem__({index}, {value})",
        "expand": "mx.broadcast_to({self}, {size})",
        "expand_as": "mx.broadcast_to({self}, {other}.shape)",
        "broadcast_to": "mx.broadcast_to({self}, {size})",
        "squeeze": "mx.squeeze({self}, {dim})",
        "unsqueeze": "mx.expand_dims({self}, {dim})",
        "diagonal": "mx.diagonal({self}, {offset}, {dim1}, {dim2})",
        "contiguous": "mx.contiguous({self})",
        "clone": "mx.array({self})",
        "tolist": "{self}.tolist()",
        "type": "{self}.astype({dtype})",
        "add": "{self} + {other}",
        "sub": "{self} - {other}",
        "mul": "{self} * {other}",
        "neg": "-{self}",
        "abs": "mx.abs({self})",
        "relu": "mx.maximum({self}, 0)",
        "matmul": "mx.matmul({self}, {other})",
        "sum": "mx.sum({self}, {dim}, {keepdim})",
        "mean": "mx.mean({self}, {dim}, {keepdim})",
        "prod": "mx.prod({self}, {dim}, {keepdim})",
        "amax": "mx.max({self}, None if {dim} == () else {dim}, {keepdim})",
        "amin": "mx.min({self}, None if {dim} == () else {dim}, {keepdim})",
        "argmax": "mx.argmax({self}, {dim}, {keepdim})",
        "all": "mx.all({self}, {dim}, {keepdim})",
        "cumsum": "mx.cumsum({self}, {dim})",
        "cumprod": "mx.cumprod({self}, {dim})",
        "softmax": "mx.softmax({self}, {dim})",
        "argsort": "mx.argsort({self}, {dim})",
        "flip": "mx.flip({self}, {dims})",
        "roll": "mx.roll({self}, {shifts}, {dims})",
        "cat": "mx.concatenate({tensors}, {dim})",
        "stack": "mx.stack({tensors}, {dim})",
        "unbind": "mx.unstack({self}, {dim})",
        "index_select": "mx.take({self}, {index}, {dim})",
        "masked_fill": "mx.where({mask}, {value}, {self})",
    }
    error_kinds = (
        ("Cannot reshape array", "size"),
        ("can not infer", "size"),
        ("Invalid axis", "dimension"),
        ("Shapes", "broadcast"),
        ("repeat", "dimension"),
    )
    row = "mx.array(list({data}), dtype=mx.uint8).view({dtype})"
    checks: Mapping[str, str] = {
        "shape": "(str({x}.dtype)[9:], list({x}.shape))",
        "values": "repr({x}.tolist())",
        "same-object": "{x} is {y}",
    }
    capabilities = Capabilities(frozenset(DTYPES.values()), FEATURES, ASPECTS)
    forks = False  # after a fork, evaluation hangs

    def __init__(self) -> None:
        mx.set_default_device(mx.cpu)
        super().__init__(mx, {name: getattr(mx, attribute) for attribute, name in DTYPES.items()})

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

    def is_tensor(self, x: Any) -> bool:
        """Whether an object is an array."""
        return isinstance(x, mx.array)

    def host(self, x: Any) -> bytes:
        """Elements of an array, read through the buffer protocol, which knows no bfloat16."""
        plain = mx.contiguous(x.view(mx.uint16) if x.dtype == mx.bfloat16 else x)
        return memoryview(plain).tobytes() if x.size else b""

    def write_dtype(self, name: str) -> str:
        """A dtype as source text."""
        return f"mx.{name}" + "_" * (name == "bool")


def adapter(variant: str = "") -> Mlx:
    """The adapter for `mlx`, which has no variants."""
    if variant:
        raise UnknownAdapter(f"mlx has no variant {variant!r}")
    return Mlx()
