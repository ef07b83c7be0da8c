"""tinygrad: views are symbolic, memory is not shown; what is computed is decided when a result is asked for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

# Without a compiler it interprets its own kernels: the same views and schedules, slowly.
os.environ.setdefault("DEV", "CPU" if shutil.which(os.environ.get("CC", "clang")) else "PYTHON")

import numpy
import tinygrad
from tinygrad import Tensor, dtypes

from ..capabilities import Capabilities
from ..discovery import without_variants
from .table_style import dtypes_of, methods
from .value_style import ASPECTS, CHECKS, FEATURES, ValueStyle

DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64",
)  # fmt: skip


class Tinygrad(ValueStyle):
    """tinygrad on the device that `DEV` names."""

    name = "tinygrad"
    # It takes NumPy's arrays and no protocol: what NumPy takes without a copy reaches it so.
    ports: Mapping[str, str] = dict.fromkeys(("buffer", "interface"), "tinygrad.Tensor(numpy.asarray({x}))")
    tensor_type = Tensor
    prefix = "tinygrad"
    imports = f"import os; os.environ['DEV'] = {os.environ['DEV']!r}\nimport tinygrad"
    templates: Mapping[str, str] = methods(
        """__getitem__ __setitem__ view reshape flatten unflatten permute transpose T expand squeeze(dim) unsqueeze
        diagonal detach contiguous() clone() tolist unfold neg abs relu matmul add(other) sub(other) mul(other) all
        cumsum(dim) cumprod(dim) softmax(dim) roll(shifts, dims) split chunk masked_fill masked_select argmax
        sum(dim, keepdim) mean(dim, keepdim) prod(dim, keepdim) sort(dim, descending) argsort(dim, descending)"""
    ) | {
        "view.dtype": "{self}.bitcast({dtype})",
        "view_as": "{self}.view({other}.shape)",
        "reshape_as": "{self}.reshape({other}.shape)",
        "swapaxes": "{self}.transpose({axis0}, {axis1})",
        "swapdims": "{self}.transpose({dim0}, {dim1})",
        "broadcast_to": "{self}.expand({size})",
        "expand_as": "{self}.expand({other}.shape)",
        "copy_": "{self}.assign({src}.expand({self}.shape).cast({self}.dtype))",
        "zero_": "{self}.assign({self}.zeros_like())",
        "add_": "{self}.assign({self} + {other})",
        "sub_": "{self}.assign({self} - {other})",
        "mul_": "{self}.assign({self} * {other})",
        "relu_": "{self}.assign({self}.relu())",
        "type": "{self}.cast({dtype!})",
        "flip": "{self}.flip({dims}).clone()",  # a view else (tinygrad-21)
        "amax": "{self}.max(None if {dim} == () else {dim}, {keepdim})",
        "amin": "{self}.min(None if {dim} == () else {dim}, {keepdim})",
        "cat": "tinygrad.Tensor.cat(*{tensors}, dim={dim})",
        "stack": "tinygrad.Tensor.stack(*{tensors}, dim={dim})",
    }
    not_offered = ("not supported", "unsupported", "NotImplemented")
    row = "tinygrad.Tensor({data}, dtype=tinygrad.dtypes.uint8).bitcast({dtype})"
    checks: Mapping[str, str] = CHECKS | {"shape": "({x}.dtype.name, list({x}.shape))"}

    def __init__(self) -> None:
        super().__init__(tinygrad, dtypes_of(dtypes, DTYPES))
        here = frozenset(name for name, dtype in self._dtypes.items() if _computes(dtype))
        self.capabilities = Capabilities(here, FEATURES | {"infer-size"}, ASPECTS)

    def scope(self) -> dict[str, Any]:
        """What the names in templates and ports mean."""
        return super().scope() | {"numpy": numpy}

    def buffer(self, x: Any) -> memoryview:
        """What it offers in the place of the buffer protocol: its elements, copied."""
        return memoryview(x.data())

    def versions(self) -> dict[str, str]:
        """Versions that can change a verdict, with the device."""
        return {"tinygrad": version("tinygrad"), "device": tinygrad.Device.DEFAULT}

    def whole(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with its results read, and what it assigned to: some of what is wrong shows only then."""

        def run(*inputs: Any) -> Any:
            results = function(*inputs)
            made = [x for r in results for x in (r if isinstance(r, (tuple, list)) else (r,)) if self.is_tensor(x)]
            for x in (*inputs, *made):
                x.realize()
            for x in made:
                self.read(x)
            return results

        return run

    def host(self, x: Any) -> bytes:
        """Elements of a tensor."""
        if 0 in x.shape:
            return b""
        x = x.clone() if x.device is None else x  # else by a compiler (tinygrad-10); memoryviews know halves from 3.12
        return bytes((x.bitcast(dtypes.uint16) if x.dtype.itemsize == 2 else x).data().tobytes())

    def write_dtype(self, name: str) -> str:
        """A dtype as source text."""
        return f"tinygrad.dtypes.{name}"


def _computes(dtype: Any) -> bool:
    """Whether the device's compiler knows the dtype: clang has no bfloat16 for some processors."""
    try:
        (Tensor([1.0, 0.0]).cast(dtype) + Tensor([1.0, 0.0]).cast(dtype)).realize()
    except Exception:
        return False
    return True


adapter = without_variants("tinygrad", Tinygrad)
