"""Mixin for libraries in NumPy's style: strides in bytes, storages found through `base`, functions with `out=`."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

from ..layout import extent
from ..program import ITEMSIZES, Input, Storage
from .table_style import TableStyle

TEMPLATES: Mapping[str, str] = {
    "view": "{self}.reshape({size}, copy=False)",
    "view.dtype": "{self}.view({dtype})",
    "view_as": "{self}.reshape({other}.shape, copy=False)",
    "reshape": "{self}.reshape({shape})",
    "reshape_as": "{self}.reshape({other}.shape)",
    "ravel": "{self}.ravel()",
    "permute": "np.transpose({self}, {dims})",
    "transpose": "np.swapaxes({self}, {dim0}, {dim1})",
    "swapaxes": "np.swapaxes({self}, {axis0}, {axis1})",
    "swapdims": "np.swapaxes({self}, {dim0}, {dim1})",
    "movedim": "np.moveaxis({self}, {source}, {destination})",
    "moveaxis": "np.moveaxis({self}, {source}, {destination})",
    "T": "{self}.T",
    "mT": "{self}.mT",
    "__getitem__": "{self}[{index:index}]",
    "__setitem__": "{self}.__setitem__({index}, {value})",
    "expand": "np.broadcast_to({self}, {size})",
    "expand_as": "np.broadcast_to({self}, {other}.shape)",
    "broadcast_to": "np.broadcast_to({self}, {size})",
    "squeeze": "np.squeeze({self}, {dim})",
    "unsqueeze": "np.expand_dims({self}, {dim})",
    "unfold": "np.lib.stride_tricks.sliding_window_view({self}, {size}, {dimension}, writeable=True)"
    "[(slice(None),) * ({dimension} % {self}.ndim) + (slice(None, None, {step}),)]",
    "diagonal": "np.diagonal({self}, {offset}, {dim1}, {dim2})",
    "as_strided": "as_strided({self}, {size}, {stride}, {storage_offset})",
    "contiguous": "np.ascontiguousarray({self})",
    "clone": "np.copy({self}, order='K')",
    "tolist": "{self}.tolist()",
    "fill_": "{self}.fill({value}) or {self}",
    "zero_": "{self}.fill(0) or {self}",
    "copy_": "np.copyto({self}, {src}, casting='unsafe') or {self}",
    "add_": "np.add({self}, {other}, out={self})",
    "sub_": "np.subtract({self}, {other}, out={self})",
    "mul_": "np.multiply({self}, {other}, out={self})",
    "relu_": "np.maximum({self}, 0, out={self})",
    "add": "np.add({self}, {other})",
    "sub": "np.subtract({self}, {other})",
    "mul": "np.multiply({self}, {other})",
    "neg": "np.negative({self})",
    "abs": "np.abs({self})",
    "relu": "np.maximum({self}, 0)",
    "to": "{self}.astype({self}.dtype if {dtype} is None else {dtype}, copy={copy})",
    "type": "{self}.astype({dtype!}, copy=False)",
    "tensor_split": "np.array_split({self}, {indices_or_sections}, {dim})",
    "unbind": "np.unstack({self}, axis={dim})",
    "mean": "np.mean({self}, {dim}, keepdims={keepdim})",
    "prod": "np.prod({self}, {dim}, keepdims={keepdim})",
    "amax": "np.amax({self}, None if {dim} == () else {dim}, keepdims={keepdim})",
    "amin": "np.amin({self}, None if {dim} == () else {dim}, keepdims={keepdim})",
    "argmax": "np.argmax({self}, {dim}, keepdims={keepdim})",
    "all": "np.all({self}, {dim}, keepdims={keepdim})",
    "cumsum": "np.cumsum({self}, {dim})",
    "cumprod": "np.cumprod({self}, {dim})",
    "argsort": "np.argsort({self}, {dim}, stable={stable})",
    "flip": "np.flip({self}, {dims})",
    "roll": "np.roll({self}, {shifts}, {dims})",
    "cat": "np.concatenate({tensors}, {dim})",
    "stack": "np.stack({tensors}, {dim})",
    "index_select": "np.take({self}, {index}, {dim})",
    "masked_select": "{self}[{mask}]",
    "matmul": "np.matmul({self}, {other})",
    "sum": "np.sum({self}, axis={dim}, dtype={dtype}, keepdims={keepdim})",
}
"""PyTorch's operations in NumPy's idiom; what is not here is unsupported."""


def numpy_like(prefix: str, without: str = "") -> dict[str, str]:
    """NumPy's templates for a module of the same names that is called otherwise, but for some operations.

    >>> numpy_like("jnp")["swapaxes"]
    'jnp.swapaxes({self}, {axis0}, {axis1})'
    """
    left_out = without.split()
    return {n: t.replace("np.", f"{prefix}.") for n, t in TEMPLATES.items() if n not in left_out}


ERROR_KINDS = (
    ("cannot reshape array", "size"),
    ("can only specify one unknown dimension", "size"),
    ("negative dimensions are not allowed", "size"),
    ("all elements of broadcast shape must be non-negative", "size"),
    ("window shape cannot be larger", "size"),
    ("Unable to avoid creating a copy", "view"),
    ("could not be broadcast", "broadcast"),
    ("doesn't match the broadcast shape", "broadcast"),
    ("input operand has more dimensions", "broadcast"),
    ("could not broadcast", "broadcast"),
    ("read-only", "read-only"),
    ("Cannot cast ufunc", "dtype"),
    ("is too small for requested array", "bounds"),
    ("strides is incompatible with shape", "bounds"),
    ("repeated axis", "dimension"),
    ("axes don't match array", "dimension"),
    ("must be of length", "size"),
    ("strides", "size"),
    ("axis1 and axis2 cannot be the same", "dimension"),
    ("must have the same number of elements", "dimension"),
    ("diag requires an array of at least two dimensions", "dimension"),
    ("not equal to one", "size"),
    ("slice step cannot be zero", "step"),
    ("window", "size"),
)

CHECKS: Mapping[str, str] = {
    "shape": "({x}.dtype.name, list({x}.shape))",
    "strides": "[s // {x}.itemsize for s, n in zip({x}.strides, {x}.shape) if n > 1]",
    "layout": "([s // {x}.itemsize for s in {x}.strides], (at({x}) - at(root({x}))) // {x}.itemsize)",
    "row-major": "{x}.flags.c_contiguous",
    "values": "repr({x}.tolist())",
    "same-storage": "root({x}) is root({y})",
    "storage-of": "{x}",
    "guarded": "np.frombuffer({x}, np.uint8)",
    "byte": "{x}.ravel('K').view(np.uint8).tolist()",
    "nbytes": "{x}.nbytes",
}
"""Expressions that scripts compare with what should be."""

HELPERS: Mapping[str, str] = {
    "root": 'def root(x): return root(x.base) if hasattr(getattr(x, "base", None), "__array_interface__") else x',
    "at": 'def at(x): return x.__array_interface__["data"][0]',
    "as_strided": """def as_strided(x, size, stride, offset):
    start = at(x) - at(root(x)) if offset is None else offset * x.itemsize
    return np.ndarray(size, x.dtype, root(x), start, [s * x.itemsize for s in stride])""",
}
"""PyTorch's `as_strided`, which counts from the memory that an array lies in, not from the array; and its parts."""


def root_of(x: Any) -> Any:
    """The array that owns an array's memory (or wraps foreign memory): the end of the chain of bases.

    `as_strided` and `sliding_window_view` put an object that is no array into the chain; it has a `base` too.
    """
    while getattr(x, "base", None) is not None and hasattr(x.base, "__array_interface__"):
        x = x.base
    return x


def _before(root: Any) -> int:
    """Bytes of memory before the first element: of dimensions that go backwards."""
    strides = getattr(root, "strides", None)  # of memory that is no array the interface alone tells
    return -extent(root.shape, strides, 0)[0] if strides else 0


class NumpyStyle(TableStyle):
    """Drives a module with NumPy's names; a subclass sets `name`, `versions` and `capabilities`."""

    observes_storage = True
    checks: Mapping[str, str] = CHECKS
    helpers: Mapping[str, str] = HELPERS
    templates: Mapping[str, str] = TEMPLATES
    error_kinds: Sequence[tuple[str, str]] = ERROR_KINDS

    def __init__(self, namespace: Any, dtypes: Mapping[str, Any]) -> None:
        super().__init__(namespace, {name: namespace.dtype(dtype) for name, dtype in dtypes.items()})

    # What differs between NumPy and libraries whose memory is elsewhere.

    def address_of(self, x: Any) -> int:
        """Address of the first element (of where it would be, for an empty array)."""
        address: int = x.__array_interface__["data"][0]
        return address

    def wrap(self, data: Any) -> Any:
        """A byte array over a writable buffer, without a copy."""
        return self.namespace.frombuffer(data, dtype=self.namespace.uint8)

    def make(self, root: Any, dtype: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
        """An array over `root`'s memory; strides and offset in bytes, bounds checked by the library."""
        return self.namespace.ndarray(shape, dtype, root, offset, strides)

    def storage(self, data: Any, backing: str) -> Any:
        """The byte array that the inputs lie in."""
        if backing == "guarded" and len(data):
            return self.wrap(data)
        return self.namespace.array(bytearray(data), dtype=self.namespace.uint8)

    def tensor(self, storage: Any, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
        """An array over the storage."""
        itemsize = ITEMSIZES[dtype]
        return self.make(storage, self._dtypes[dtype], shape, tuple([s * itemsize for s in strides]), offset * itemsize)

    def is_tensor(self, x: Any) -> bool:
        """Whether an object is an array."""
        return isinstance(x, self.namespace.ndarray)

    def lift(self, x: Any) -> Any:
        """NumPy answers with a scalar where PyTorch answers with a 0-dim tensor."""
        generic = getattr(self.namespace, "generic", ())
        return self.namespace.asarray(x) if isinstance(x, generic) else x

    def describe(self, x: Any) -> tuple[str, tuple[int, ...], tuple[int, ...], int, str, None, None]:
        """What the array says of itself; strides and offset in elements, rounded down where they are not whole."""
        itemsize = x.itemsize
        root = self.storage_of(x)
        offset = self.address_of(x) - self.address_of(root) + _before(root)
        return (
            self._dtype_names.get(x.dtype, str(x.dtype)),
            x.shape,
            tuple([s // itemsize for s in x.strides]),
            offset // itemsize,
            ("T" if x.flags.c_contiguous else "F") + "--",
            None,
            None,
        )

    def storage_of(self, x: Any) -> Any:
        """The array at the end of the chain of bases."""
        return root_of(x)

    def bytes_of(self, storage: Any) -> bytes:
        """All bytes of the root array in memory order, whatever the order of its dimensions."""
        address, nbytes = self.extent_of(storage)
        return ctypes.string_at(address, nbytes) if nbytes else b""

    def extent_of(self, storage: Any) -> tuple[int, int]:
        """Where the root array lies: one that was taken from elsewhere may have gaps, or go backwards."""
        address, nbytes = self.address_of(storage), storage.nbytes
        if not storage.flags.c_contiguous:
            low, past = extent(storage.shape, storage.strides, 0)
            nbytes = past - 1 + storage.itemsize - low
        return address - _before(storage), nbytes

    def read(self, x: Any) -> bytes:
        """Elements, row-major."""
        return bytes(x.tobytes("C"))

    def index(self, items: tuple[Any, ...]) -> Any:
        """Basic indexing answers with an array, not a scalar, where an Ellipsis is in the index."""
        return items if any(item is ... for item in items) else (*items, ...)

    def error_kind(self, error: Exception) -> str | None:
        """NumPy's axis errors are no index errors."""
        return "dimension" if type(error).__name__ == "AxisError" else super().error_kind(error)

    # How the same things are printed, for standalone scripts.

    def write_dtype(self, name: str) -> str:
        """A dtype as source text."""
        return f'np.dtype("{self._dtypes[name].name}")'

    def write_storage(self, name: str, storage: Storage, data: str) -> str:
        """Source that makes a storage from the bytes expression `data`."""
        return f"{name} = np.array(bytearray({data}))"

    def write_input(self, name: str, item: Input, storage: str) -> str:
        """Source that makes an input over a storage."""
        itemsize = ITEMSIZES[item.dtype]
        strides = tuple(s * itemsize for s in item.strides)
        return (
            f"{name} = np.ndarray({item.shape}, {self.write_dtype(item.dtype)}, {storage}, "
            f"{item.offset * itemsize}, {strides})"
        )
