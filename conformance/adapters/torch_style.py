"""Mixin for libraries in PyTorch's style: same method names, strides and offsets in elements, storages as objects."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from ..idiom import torch_template, write_argument
from ..layout import extent
from ..operations import OPERATIONS, Operation, overload
from ..program import Argument, Input, Ref, Step, Storage
from .table_style import takes_by
from .templated import Templated

# Pieces of messages that are stable across versions, most telling first; facts §§1-6 list them.
ERROR_KINDS = (
    ("offset must be non-negative", "index"),
    ("no greater than buffer length", "index"),
    ("unsupported ScalarType", "dtype"),
    ("can't convert meta device type", "device"),
    ("CPU memory can be pinned", "device"),
    ("CPU tensors can be pinned", "device"),
    ("instances of 'NoneType' and 'int'", "device"),
    ("requires an integer input type", "dtype"),
    ("out of bounds for storage", "bounds"),
    ("refer to a single memory location", "overlap"),
    ("refers to a single memory location", "overlap"),
    ("view size is not compatible", "view"),
    ("must match the size of tensor", "broadcast"),
    ("doesn't match the broadcast shape", "broadcast"),
    ("must match the existing size", "broadcast"),
    ("must be greater or equal to the number of dimensions", "broadcast"),
    ("leading, non-existing dimension", "broadcast"),
    ("can't be cast to the desired output type", "dtype"),
    ("Padding length must be divisible", "size"),
    ("Number of channels must be divisible", "size"),
    ("must be divisible by", "dtype"),
    ("self.stride(-1) must be 1", "dtype"),
    ("self.dim() cannot be 0 to view", "dtype"),
    ("required rank", "format"),
    ("memory format", "format"),
    ("emory_format", "format"),
    ("step must be", "step"),
    ("step is", "step"),
    ("step cannot be zero", "step"),
    ("overflow", "overflow"),
    ("not resizable", "resize"),
    ("Dimension out of range", "dimension"),
    ("Dimension specified as 0", "dimension"),
    ("repeated dim", "dimension"),
    ("duplicate dims", "dimension"),
    ("appears multiple times", "dimension"),
    ("dimensions cannot be identical", "dimension"),
    ("number of dimensions in the tensor input does not match", "dimension"),
    ("same number of dims", "dimension"),
    ("0-dim tensor", "dimension"),
    ("<= 2 dimensions", "dimension"),
    ("only supported on matrices", "dimension"),
    ("start_dim cannot come after end_dim", "dimension"),
    ("Negative strides are not supported", "size"),
    ("mismatch in length of strides", "size"),
    ("invalid storage offset", "index"),
    ("is invalid for input of size", "size"),
    ("only one dimension can be inferred", "size"),
    ("is ambiguous", "size"),
    ("invalid shape dimension", "size"),
    ("don't multiply up", "size"),
    ("must be non-empty", "size"),
    ("non-negative", "size"),
    ("maximum size for tensor at dimension", "size"),
    ("but must be >= 0", "size"),
    ("exceeds dimension size", "index"),
    ("start out of range", "index"),
    ("out of range for tensor of size", "index"),
    ("is out of bounds for dimension", "index"),
    ("too many indices", "dimension"),
    ("requires grad", "grad"),
)

_FUNCTION = re.compile(r"(?<![\w.])torch\.([\w.]+)\(")
"""Functions of the library in an expression."""

CHECKS: Mapping[str, str] = {
    "shape": "(str({x}.dtype)[6:], list({x}.shape))",
    "strides": "[s for s, n in zip({x}.stride(), {x}.shape) if n > 1]",
    "layout": "(list({x}.stride()), {x}.storage_offset())",
    "contiguity": "[{x}.is_contiguous(memory_format=f) for f in "
    "(torch.contiguous_format, torch.channels_last, torch.channels_last_3d)]",
    "row-major": "{x}.is_contiguous()",
    "base": "{x}._base is {y}",
    "flags": "({x}._version, {x}.requires_grad, {x}._is_view())",
    "values": "repr({x}.tolist())",
    "same-storage": "{x}.untyped_storage() is {y}",
    "storage-of": "{x}.untyped_storage()",
    "guarded": "torch.frombuffer({x}, dtype=torch.uint8).untyped_storage()",
    "byte": "{x}.untyped().tolist()",
    "nbytes": "{x}.nbytes()",
    "storage": "({x}.nbytes(), {x}.resizable(), {x}.is_shared())",
    "array": "({x}.dtype.str, {x}.shape, {x}.strides, {x}.flags.writeable)",
}
"""Expressions that scripts compare with what should be."""


_ASKED: Mapping[str, tuple[str, ...]] = {
    "numpy.asarray": ("__array__", "__array_interface__"),
    "numpy.from_dlpack": ("__dlpack__",),
    "copy.copy": ("__copy__", "__reduce_ex__", "__reduce__"),
    "copy.deepcopy": ("__deepcopy__", "__reduce_ex__", "__reduce__"),
    "pickle": ("__reduce_ex__", "__reduce__", "__getstate__"),
    "__bool__": ("__bool__", "__len__"),
    "__eq__": (),
}
"""Methods of which Python or NumPy asks for one where an operation is theirs: a class without them has not got it.

What `object` has for everybody is meant where there are none: PyTorch's storages are compared by it.
"""


def _defines(owner: Any, name: str) -> bool:
    """Whether a class has a method of its own, or of a base that is not `object`, which has some for everybody."""
    return getattr(owner, name, None) is not getattr(object, name, None)


def _numbers(x: Any) -> list[Any]:
    """The elements of a tensor, RuntimeError where its storage holds them no more: PyTorch would read past its end."""
    past = extent(tuple(x.shape), tuple(x.stride()), x.storage_offset())[1]
    if x.numel() and past * x.element_size() > x.untyped_storage().nbytes():
        raise RuntimeError("the storage of a quantizer's parameter is too small")
    numbers: list[Any] = x.tolist()
    return numbers


class TorchStyle(Templated):
    """Drives a module with PyTorch's names; a subclass sets `name`, `versions` and `capabilities`.

    Source: the facts pages this project was built from, measured on torch 2.13.0.
    """

    name: str
    observes_storage = True
    prefix = "torch."
    imports = ""
    """What a script begins with; by default the namespace under the name of torch."""
    checks: Mapping[str, str] = CHECKS
    ports: Mapping[str, str] = takes_by("torch.from_dlpack")

    def __init__(self, namespace: Any, dtypes: tuple[str, ...]) -> None:
        super().__init__(namespace, {name: getattr(namespace, name) for name in dtypes})
        name = namespace.__name__
        self.imports = self.imports or ("import torch" if name == "torch" else f"import {name} as torch")
        self._channels_last = namespace.channels_last
        self._channels_last_3d = namespace.channels_last_3d
        self._tensor_type = namespace.Tensor
        self._storage_type = namespace.UntypedStorage
        classes = (self._storage_type, getattr(namespace, "TypedStorage", None))
        self._storage_types = tuple([found for found in classes if found is not None])

    @cached_property
    def _empty(self) -> Callable[..., Any]:
        empty: Callable[..., Any] = self.namespace.empty
        return empty

    def storage(self, data: Any, backing: str) -> Any:
        """An owned storage is allocated and filled; a guarded one is the buffer itself."""
        if backing == "guarded" and len(data):
            return self.namespace.frombuffer(data, dtype=self.namespace.uint8).untyped_storage()
        storage = self._storage_type(len(data))
        ctypes.memmove(storage.data_ptr(), bytes(data), len(data))
        return storage

    def tensor(self, storage: Any, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
        """A tensor set on the storage; `.data` gives it a version counter that starts at 0."""
        return self._empty(0, dtype=self._dtypes[dtype]).set_(storage, offset, shape, strides).data

    def require_grad(self, x: Any) -> Any:
        """The tensor itself, as a leaf that requires gradients."""
        return x.requires_grad_()

    def scope(self) -> dict[str, Any]:
        """What the names in templates mean."""
        return {"torch": self.namespace}

    def template(self, step: Step) -> str | None:
        """The step's expression in the library's idiom; None where it has nothing of that name."""
        operation = OPERATIONS.get(overload(step))
        if operation is not None and (operation.owner or operation.form == "expression"):
            return torch_template(step) if self._has(operation) else None
        is_method = _defines(self._tensor_type, step.op)
        if operation is not None and operation.form != "function" and "out" not in dict(step.kwargs):
            return torch_template(step) if is_method else None
        if self._has_function(step.op):
            return torch_template(step, "function")
        return torch_template(step, "method") if is_method and operation is None else None

    def _has(self, operation: Operation) -> bool:
        """Whether the library has what an operation of another class, or an expression, is made of."""
        if operation.form == "expression":
            if not all(self._has_function(path) for path in _FUNCTION.findall(operation.expression)):
                return False
            kind, _, method = operation.name.rpartition(".")
            if kind in ("UntypedStorage", "TypedStorage"):
                asked, asker = _ASKED.get(method, (method,)), getattr(self.namespace, kind, None)
            else:
                asked, asker = _ASKED.get(operation.name, ()), self._tensor_type
            return not asked or any(_defines(asker, name) for name in asked)
        attribute, owner = (
            operation.name.removeprefix(f"{operation.owner}."),
            getattr(self.namespace, operation.owner, None),
        )
        is_declared = attribute in getattr(owner, "__annotations__", ())
        return operation.owner == "ndarray" or hasattr(owner, attribute) or is_declared

    def _has_function(self, path: str) -> bool:
        owner = self.namespace
        for name in path.split("."):
            owner = getattr(owner, name, None)
        return callable(owner)

    def is_tensor(self, x: Any) -> bool:
        """Whether an object is a tensor."""
        return isinstance(x, self._tensor_type)

    def lift(self, x: Any) -> Any:
        """Results are taken as they are."""
        return x

    def describe(self, x: Any) -> tuple[str, tuple[int, ...], tuple[int, ...], int, str, int | None, str | None]:
        """What the tensor says of itself."""
        contiguity = (
            ("T" if x.is_contiguous() else "F")
            + ("T" if x.is_contiguous(memory_format=self._channels_last) else "F")
            + ("T" if x.is_contiguous(memory_format=self._channels_last_3d) else "F")
        )
        return (
            self._name_of_dtype(x.dtype),
            tuple(x.shape),
            tuple(x.stride()),
            x.storage_offset(),
            contiguity,
            x._version,
            self.flags(x),
        )

    def flags(self, x: Any) -> str | None:
        """One letter for each flag that is set: g requires_grad, l leaf, c conjugate, n negative, v view.

        None where PyTorch refuses to tell: a view among several whose base was written to has no history any more.
        """
        text = "g" if x.requires_grad else ""
        try:
            text += "l" if x.is_leaf else ""
        except RuntimeError:
            return None
        if x.is_conj():
            text += "c"
        if x.is_neg():
            text += "n"
        return text + "v" if x._is_view() else text

    def storage_of(self, x: Any) -> Any:
        """The storage object, the same one as long as it lives."""
        return x.untyped_storage()

    def bytes_of(self, storage: Any) -> bytes:
        """All bytes, read by address: no operation of the library sees it."""
        nbytes, address = storage.nbytes(), storage.data_ptr()
        return ctypes.string_at(address, nbytes) if nbytes and address else b""

    def extent_of(self, storage: Any) -> tuple[int, int]:
        """Where the bytes lie."""
        return storage.data_ptr(), storage.nbytes()

    def is_storage(self, x: Any) -> bool:
        """Whether an object is a storage of either class."""
        return isinstance(x, self._storage_types)

    def describe_storage(self, x: Any) -> tuple[Any, str | None, str]:
        """What a storage says of itself: r resizable, s shared, f by name, m on meta."""
        plain = getattr(x, "_untyped_storage", x)
        flags = "r" * bool(plain.resizable()) + "s" * bool(plain.is_shared()) + "f" * (plain.filename is not None)
        flags += "m" * (plain.device.type == "meta")
        return plain, None if plain is x else self._name_of_dtype(x.dtype), flags

    def _name_of_dtype(self, dtype: Any) -> str:
        return self._dtype_names.get(dtype) or str(dtype).removeprefix("torch.")

    def quantizer_of(self, x: Any) -> str | None:
        """Scheme, scales and zero points; where there are none to be had, `unknown`."""
        try:
            scheme = str(x.qscheme()).removeprefix("torch.")
            if scheme == "per_tensor_affine":
                return f"{scheme} {x.q_scale()} {x.q_zero_point()}"
            scales, points = _numbers(x.q_per_channel_scales()), _numbers(x.q_per_channel_zero_points())
            return f"{scheme} {scales} {points} {x.q_per_channel_axis()}"
        except (RuntimeError, SystemError, MemoryError):  # sizes that a refused resize has left behind
            return "unknown"

    def base_of(self, x: Any) -> Any:
        """PyTorch's `_base`."""
        return x._base

    def shadow_of(self, storage: Any) -> bytes | None:
        """A real library does not know which bytes are specified."""
        return None

    def read(self, x: Any) -> bytes:
        """Elements, row-major: asked in an exchange, and of devices whose memory cannot be addressed."""
        for step in ("detach", "resolve_conj", "resolve_neg", "cpu"):
            x = getattr(x, step)() if hasattr(x, step) else x
        flat = x.contiguous().reshape(-1)
        return bytes(flat.view(self.namespace.uint8).tolist()) if flat.numel() else b""

    def memory_format(self, name: str) -> Any:
        """The memory format of that name."""
        return getattr(self.namespace, name)

    def error_kind(self, error: Exception) -> str | None:
        """Kind by stable pieces of PyTorch's messages."""
        text = str(error)
        for fragment, kind in ERROR_KINDS:
            if fragment in text:
                return kind
        if isinstance(error, TypeError):
            return "argument"
        return None

    # How the same things are printed, for standalone scripts.

    def write(self, argument: Argument, value: Callable[[Ref], str]) -> str:
        """An argument as source text."""
        return write_argument(
            argument, dtype=lambda name: f"{self.prefix}{name}", memory_format=self.prefix, value=value
        )

    def write_storage(self, name: str, storage: Storage, data: str) -> str:
        """Source that makes a storage from the bytes expression `data`."""
        return f"{name} = torch.tensor(list({data}), dtype=torch.uint8).untyped_storage()"

    def write_input(self, name: str, item: Input, storage: str) -> str:
        """Source that makes an input over a storage."""
        leaf = ".requires_grad_()" if item.requires_grad else ""
        return (
            f"{name} = torch.empty(0, dtype=torch.{item.dtype})"
            f".set_({storage}, {item.offset}, {item.shape}, {item.strides}).data{leaf}"
        )
