"""Paddle on the CPU: views over strided memory as PyTorch's, offsets in bytes, storages told by address."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

os.environ.setdefault("GLOG_minloglevel", "3")

import numpy as np
import paddle

from ..capabilities import ASPECTS, Capabilities
from ..discovery import without_variants
from ..layout import extent
from ..program import ITEMSIZES, Input, Storage
from .memory import Region, RegionStyle
from .table_style import TableStyle, dtypes_of, methods, takes_by

INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
DTYPES = dtypes_of(paddle, ("bool", *INTEGERS, "float16", "bfloat16", "float32", "float64", "complex64", "complex128"))
TEMPLATES = methods(
    """__getitem__ __setitem__ view view_as reshape flatten unflatten ravel swapaxes swapdims moveaxis t T mT narrow
    expand expand_as broadcast_to squeeze unsqueeze unfold diagonal detach contiguous() clone() tolist is_contiguous()
    fill_ zero_ copy_(src) add_(other) sub_(other) mul_(other) neg abs matmul cumsum(dim) cumprod(dim) flip roll
    masked_fill masked_select chunk tensor_split unbind squeeze_ unsqueeze_ t_ detach_ mean(dim, keepdim)
    prod(dim, keepdim) argmax all argsort"""
) | {
    "view.dtype": "{self}.view({dtype})",
    "permute": "{self}.transpose({dims})",
    "transpose": "{self}.swapaxes({dim0}, {dim1})",
    "as_strided": "{self}.as_strided({size}, {stride}, "
    "{self}.offset if {storage_offset} is None else {storage_offset} * {self}.element_size())",
    "add": "{self} + {other}",
    "sub": "{self} - {other}",
    "mul": "{self} * {other}",
    "relu_": "paddle.nn.functional.relu_({self})",
    "type": "{self}.astype({dtype!})",
    "sum": "{self}.sum({dim}, keepdim={keepdim}, dtype={dtype})",
    "amax": "{self}.amax(None if {dim} == () else {dim}, {keepdim})",
    "amin": "{self}.amin(None if {dim} == () else {dim}, {keepdim})",
    "cat": "paddle.concat({tensors}, {dim})",
    "stack": "paddle.stack({tensors}, {dim})",
    "index_select": "{self}.index_select({index}, {dim})",
}


class Paddle(RegionStyle, TableStyle):
    """Eager Paddle on the CPU, its stride kernels on, as they are by default."""

    name = "paddle"
    ports: Mapping[str, str] = takes_by("paddle.from_dlpack", buffer="paddle.to_tensor")
    tensor_type = paddle.Tensor
    prefix = "paddle"
    imports = "import numpy as np, paddle"
    templates: Mapping[str, str] = TEMPLATES
    not_offered = ("not registered", "must be Tensor", "must be int or float", "not implemented", "Unimplemented")
    capabilities = Capabilities(  # as_strided checks no bounds; nobody promises strides that address nothing
        frozenset(DTYPES),
        frozenset({"free-strides", "infer-size", "guarded", "view-check", "index-check", "write-through"}),
        frozenset(ASPECTS) - {"flags", "layout", "error-kind"},
    )
    checks: Mapping[str, str] = {
        "shape": "(str({x}.dtype)[7:], list({x}.shape))",
        "strides": "[s for s, n in zip({x}.strides, {x}.shape) if n > 1]",
        "row-major": "{x}.is_contiguous()",
        "values": "repr({x}.tolist())",
        "same-storage": "{x}.data_ptr() - {x}.offset == {y}.data_ptr() - {y}.offset",
        "storage-of": "{x}",
    }

    def __init__(self) -> None:
        warnings.filterwarnings("ignore")
        super().__init__(paddle, DTYPES)
        paddle.set_device("cpu")

    def storage(self, data: Any, backing: str) -> Region:
        """Memory of Paddle's own, or a buffer that it is lent through DLPack."""
        row = np.frombuffer(data if backing == "guarded" else bytearray(data), np.uint8)
        x = paddle.from_dlpack(row) if backing == "guarded" else paddle.to_tensor(row)
        return self.regions.at(x.data_ptr(), len(data), x)

    def tensor(self, storage: Region, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
        """A strided view of the memory; its offset is in bytes."""
        n, kind = ITEMSIZES[dtype], self._dtypes[dtype]
        if storage.nbytes < n:
            return paddle.empty(shape, kind)
        return paddle.as_strided(storage.keeper[: storage.nbytes // n * n].view(kind), shape, strides, offset * n)

    laid_out = tensor  # also of negative strides, which no program asks for

    def describe(self, x: Any) -> tuple[str, tuple[int, ...], tuple[int, ...], int, str, None, None]:
        """What the tensor says of itself."""
        dtype, offset = x.dtype.name.lower(), x.offset // x.element_size()  # uint16 prints itself as bfloat16
        return dtype, tuple(x.shape), tuple(x.strides), offset, "T--" if x.is_contiguous() else "F--", None, None

    def storage_of(self, x: Any) -> Region | None:
        """The memory that the tensor's holder has, held by an alias of it; an empty tensor has none."""
        if x.size and x.offset + extent(x.shape, x.strides, 0)[1] * x.element_size() > x._holder_size():
            return self.regions.at(0, 0, x)  # it lies outside: what is there is not to be read
        return self.regions.at(x.data_ptr() - x.offset, x._holder_size(), x.detach()) if x.size else None

    def read(self, x: Any) -> bytes:
        """Elements, row-major."""
        return bytes(x.numpy().tobytes())

    def write_storage(self, name: str, storage: Storage, data: str) -> str:
        """Source that makes a storage from the bytes expression `data`."""
        return f"{name} = paddle.to_tensor(np.frombuffer(bytearray({data}), np.uint8))"

    def write_input(self, name: str, item: Input, storage: str) -> str:
        """Source that makes an input over a storage."""
        whole = f"{storage}[:{storage}.size // {ITEMSIZES[item.dtype]} * {ITEMSIZES[item.dtype]}]"
        offset = item.offset * ITEMSIZES[item.dtype]
        return f"{name} = {whole}.view(paddle.{item.dtype}).as_strided({item.shape}, {item.strides}, {offset})"


adapter = without_variants("paddle", Paddle)
