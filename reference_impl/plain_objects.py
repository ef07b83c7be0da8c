"""What `save` writes beside tensors, storages and containers: by name, as a text, or as NumPy's files have arrays."""

import io
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from . import dtypes as dt
from . import formats, quantizers
from .core import from_array
from .devices import device
from .dtypes import dtype
from .errors import LayoutTypeError
from .formats import layout
from .generator import Generator
from .nn.parameter import Parameter
from .quantizers import qscheme
from .size import Size
from .storage import UntypedStorage
from .tensors import Tensor

CLASSES: Final[dict[str, Any]] = {
    kind.__name__: kind
    for kind in (
        bool, int, float, str, bytes, list, dict, frozenset, range, slice, object, defaultdict, deque, dtype,
        tuple, complex, bytearray, set, OrderedDict, Counter, Size, device, UntypedStorage, Tensor, Parameter,
    )
}  # fmt: skip
"""Classes that are written by name."""

READ_CLASSES: Final = (complex, bytearray, set, OrderedDict, Counter, Size, device, UntypedStorage, Tensor, Parameter)
"""Those of them that PyTorch reads without being told that they are safe."""

SINGLE: Final = {"ellipsis": Ellipsis, "notimplemented": NotImplemented}
"""Objects of which there is one."""


def _generator(state: str) -> Generator:
    return Generator().set_state(from_array(np.frombuffer(bytes.fromhex(state), np.uint8), dt.uint8))


PLAIN: Final[dict[str, Callable[[Any], Any]]] = {
    "int": int,
    "float": float.fromhex,
    "complex": lambda parts: complex(*map(float.fromhex, parts)),
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "dtype": lambda name: dt.ALL[name],
    "qscheme": {x.name: x for x in vars(quantizers).values() if isinstance(x, qscheme)}.__getitem__,
    "device": device,
    "layout": {x.name: x for x in vars(formats).values() if isinstance(x, layout)}.__getitem__,
    "generator": _generator,
}
"""What makes an object of each kind that is written as a text."""


def is_named_tuple(x: Any) -> bool:
    """Whether an object is a named tuple of a class that is found under its own name, and adds nothing to a tuple."""
    kind = type(x)
    return _is_class_of_named_tuples(kind) and class_named(kind.__module__, kind.__qualname__) is kind


def _is_class_of_named_tuples(kind: Any) -> bool:
    return isinstance(kind, type) and kind.__bases__ == (tuple,) and "_fields" in vars(kind)


def class_named(module: str, name: str) -> Any:
    """A class of named tuples by its name, or None. No module is imported for it, and nothing of a module runs.

    >>> class_named("inspect", "ArgSpec"), class_named("os", "system"), class_named("urllib.parse", "nowhere")
    (None, None, None)
    """
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, "__dict__", {}).get(part)
    return found if _is_class_of_named_tuples(found) else None


def array_bytes(x: Any) -> tuple[str, bytes] | None:
    """An array, a scalar as one without dimensions, or a dtype as one without elements, in NumPy's own format.

    None for anything else. Raises: argument (TypeError) for objects in fields, which only a pickle could hold.

    >>> array_bytes(np.float32(1))[0], array_bytes([1])
    ('scalar', None)
    """
    if isinstance(x, np.dtype):
        kind, found = "npdtype", np.empty(0, x)
    elif type(x) is np.ndarray or isinstance(x, np.generic):
        kind, found = "ndarray" if type(x) is np.ndarray else "scalar", np.asarray(x)
    else:
        return None
    if found.dtype.hasobject:
        raise LayoutTypeError("argument", f"save: a {kind} of {found.dtype} is no plain data")
    file = io.BytesIO()
    np.lib.format.write_array(file, found, allow_pickle=False)
    return kind, file.getvalue()


def array_of_objects(shape: Any, by_columns: bool) -> tuple[Any, Any]:
    """An array of objects that are yet to come, and a flat view of it as it lies in memory."""
    made: Any = np.empty(tuple(shape), object, "F" if by_columns else "C")
    return made, made.reshape(-1, order="A")


def of_array_bytes(kind: str, data: Any) -> Any:
    """What `array_bytes` wrote: in memory of its own, and in the machine's order of bytes, as NumPy's own pickles.

    >>> of_array_bytes(*array_bytes(np.arange(3, dtype=">i2"))).dtype
    dtype('int16')
    """
    file = io.BytesIO(bytes(data))
    found = np.lib.format.read_array(file, allow_pickle=False, max_header_size=max(len(data), 1))
    if kind == "npdtype":
        return found.dtype
    d = found.dtype if found.dtype.names else found.dtype.newbyteorder("=")
    by_columns = found.flags.f_contiguous and not found.flags.c_contiguous
    made: Any = np.empty(found.shape, d, "F" if by_columns else "C")
    made[...] = found
    return made[()] if kind == "scalar" else made
