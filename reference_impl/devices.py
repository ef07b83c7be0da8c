"""Devices: the reference lives on the CPU, and on `meta`, where there is no memory."""

from typing import Any, Final, NoReturn, Self

import numpy as np

from .backing import MISSING, as_length
from .calls import checked
from .errors import LayoutAssertionError, LayoutError, LayoutImportError, LayoutTypeError, LayoutValueError

TYPES: Final = frozenset(
    (
        "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
        "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
    )
)  # fmt: skip


def is_count(x: Any) -> bool:
    """Whether PyTorch's parser of arguments takes an object for an integer that no tensor is: NumPy's, but no bool."""
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def _checked(given: Any) -> int:
    """The index of a device. Raises: argument (TypeError), overflow (ValueError), device (RuntimeError)."""
    if not is_count(given) and getattr(given, "ndim", None) != 0:
        raise LayoutTypeError("argument", f"the index of a device must be an int, got {given!r}")
    index = as_length(given, "index")
    if not -(2**63) <= index < 2**63:
        raise LayoutValueError("overflow", f"the index {index} of a device does not fit 64 bits")
    if index < 0:
        raise LayoutError("device", f"the index of a device is not negative, got {index}")
    return index


def _in_8_bits(index: int) -> int | None:
    found = (index + 128) % 256 - 128
    return None if found == -1 else found


class device:  # noqa: N801 - PyTorch's own name
    """A place where memory lies, by PyTorch's name for it; an index has 8 bits, and -1 stands for none.

    Raises: device (RuntimeError) for a name or an index that PyTorch has not, overflow (ValueError), argument
    (TypeError).
    Source: `device`, torch 2.13.

    >>> device("cpu", 3), device(b"meta")
    (device(type='cpu', index=3), device(type='meta'))
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    @checked
    def __init__(self, *where: Any, type: Any = MISSING, index: Any = MISSING, device: Any = MISSING) -> None:
        # Under its own keyword the first argument is a name; the other signature calls it `device`.
        named = type is not MISSING
        given = [x for x in (*where[:1], type, device) if x is not MISSING]
        index = index if len(where) < 2 else where[1] if len(where) == 2 and index is MISSING else where
        alone = index is MISSING
        if len(given) != 1 or (device is not MISSING and not alone):
            raise LayoutTypeError("argument", "a device is told by one argument, or by a name and an index")
        self._tell(given[0], index, alone=alone, named=named)

    def _tell(self, where: Any, index: Any, *, alone: bool, named: bool) -> None:
        if isinstance(where, _device) and alone and not named:
            self.type, self.index = where.type, where.index
            return
        if is_count(where) and alone and not named:
            if not -(2**63) <= where < 2**63:
                raise LayoutValueError("overflow", f"device {where}: the number does not fit 64 bits")
            raise LayoutError("device", f"device {where}: there is no accelerator to count")
        if not isinstance(where, (str, bytes)):
            raise LayoutTypeError("argument", f"device must be a name, got {where!r}")
        try:
            kind, colon, number = (where if isinstance(where, str) else where.decode()).partition(":")
        except UnicodeDecodeError as e:
            raise LayoutValueError("argument", f"a device's name {where!r} is no text: {e}") from None
        counted = number.isascii() and number.isdigit() and (number == "0" or number[0] != "0")
        if kind not in TYPES or (colon and not (counted and alone and int(number) < 2**31)):
            raise LayoutError("device", f"no device is called {where!r}")
        self.type = kind
        self.index = None
        if colon:
            self.index = _in_8_bits(int(number))
        elif not alone and index is not None:
            self.index = _in_8_bits(_checked(index))

    def __enter__(self) -> Self:
        default.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        default.pop()

    def __reduce__(self) -> Any:
        return device, (self.type,) if self.index is None else (self.type, self.index)

    def __repr__(self) -> str:
        return (
            f"device(type='{self.type}')" if self.index is None else f"device(type='{self.type}', index={self.index})"
        )

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


_device = device
cpu = device("cpu")
meta = device("meta")
default: list[device | None] = [None]
"""The default device, if any, above those that it will be again."""


def get_default_device() -> device:
    """Where memory is asked for unless told: on the CPU. Raises: device, for a default that is not there.

    >>> with device("meta"):
    ...     get_default_device()
    device(type='meta')
    """
    found = default[-1]
    if found is None:
        return cpu
    if found.index is None:
        is_meta(found)
    return found


def set_default_device(device: Any) -> None:
    """Where factories make tensors unless told, or None for the CPU. Raises: device, argument (TypeError)."""
    default[-1] = None if device is None else _device(device)


def is_meta(where: Any) -> bool:
    """Whether memory is asked for on `meta` rather than on the CPU.

    Raises: device (RuntimeError) for a device that is not there, with PyTorch's type of exception for each.
    Source: facts 7.1, torch 2.13.

    >>> is_meta("meta"), is_meta(None)
    (True, False)
    """
    if where is None or where is cpu:
        return False
    kind = device(where).type
    if kind not in ("cpu", "meta"):
        refuse(kind)
    return kind == "meta"


def refuse(kind: str) -> NoReturn:
    """The error of asking for memory on a device that is not there."""
    message = f"the reference lives on the CPU, got device {kind}"
    if kind in ("cuda", "xpu"):
        raise LayoutAssertionError("device", message)
    if kind in ("hpu", "privateuseone"):
        raise LayoutImportError("device", message)
    raise LayoutError("device", message)


def check_device(where: Any, pin_memory: Any = False) -> None:
    """Refuse any device but the CPU, and pinned memory.

    Raises: device (RuntimeError; AssertionError for CUDA); as `check_pinned`.
    """
    if where is not None and where is not cpu and is_meta(where):
        raise LayoutError("device", "the reference computes on the CPU, got device meta")
    check_pinned(pin_memory)


def check_pinned(pin_memory: Any, nowhere: bool = False) -> None:
    """Refuse to pin memory, which needs an accelerator; where there is no memory nothing is asked for.

    Raises: device (RuntimeError), argument (TypeError). Source: facts 7.8.4, torch 2.13.
    """
    if pin_memory is not None and not isinstance(pin_memory, bool):
        raise LayoutTypeError("argument", f"pin_memory must be a bool, got {type(pin_memory).__name__}")
    if pin_memory and not nowhere:
        raise LayoutError("device", "pin_memory=True needs an accelerator (facts 7.8.4)")
