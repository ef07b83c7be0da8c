"""What both storage classes answer alike: conversions to other dtypes, and the devices that are not there."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NoReturn

from .calls import with_checked_calls
from .devices import cpu, device
from .dtypes import ALL, dtype
from .errors import (
    LayoutAssertionError,
    LayoutAttributeError,
    LayoutError,
    LayoutImportError,
    LayoutTypeError,
    LayoutValueError,
    UnsupportedError,
)
from .notices import warn_of_device

if TYPE_CHECKING:
    from .storage import UntypedStorage
    from .typed_storage import TypedStorage


@with_checked_calls
class StorageMethods:
    """Methods that `UntypedStorage` and `TypedStorage` share.

    A subclass tells what its bytes are, how a result of its own kind is made, and how its values are converted.

    Source: facts 7.2 and 7.4, torch 2.13.
    """

    __slots__ = ()

    def _plain(self) -> "UntypedStorage":
        """The bytes; a typed storage warns here that it is deprecated."""
        return self  # type: ignore[return-value]

    def _alike(self, storage: "UntypedStorage") -> Any:
        """A storage of the same kind over other bytes."""
        return storage

    def _refuse_quantized(self, kind: str) -> None:
        """Storages of quantised dtypes stay where they are."""

    def _move_to(self, wanted: dtype) -> "TypedStorage":
        raise NotImplementedError

    # -------------------------------------------------------------------------------------------------- devices

    @property
    def is_cuda(self) -> bool:
        """False: the reference lives on the CPU."""
        return self._plain().device.type == "cuda"

    @property
    def is_hpu(self) -> bool:
        """False: the reference lives on the CPU."""
        return self._plain().device.type == "hpu"

    @property
    def _cdata(self) -> int:
        """A number by which storages are told apart while they live. Source: facts 7.3.1."""
        return id(self._plain())

    def get_device(self) -> int | None:
        """None: the CPU has no index."""
        return self._plain().device.index

    def cpu(self) -> Any:
        """The storage itself where it is on the CPU; a typed one is wrapped anew over the same memory.

        Raises: device (NotImplementedError) for a meta storage.
        """
        plain = self._plain()
        return self._alike(plain if not plain._is_meta else _moved(plain, cpu))

    def to(self, *, device: Any, non_blocking: bool = False) -> Any:
        """The storage itself where it is on that device already; a copy on `cpu` written with an index.

        Raises: device (the exception depends on the device, as PyTorch's does), argument (TypeError).
        Source: facts 7.2, torch 2.13.
        """
        plain = self._plain()
        where: Any = _device(device)
        self._refuse_quantized(where.type.upper())
        return self._alike(_moved(plain, where))

    def cuda(self, device: Any = None, non_blocking: bool = False) -> Any:
        """Nothing: there is no CUDA. Raises: device (TypeError; RuntimeError for a device other than the first)."""
        plain = self._plain()
        self._refuse_quantized("CUDA")
        return self._alike(_moved(plain, _device("cuda", device or None)))

    def hpu(self, device: Any = None, non_blocking: bool = False) -> Any:
        """Nothing: there is no HPU. Raises: device (AssertionError; RuntimeError for quantised dtypes)."""
        plain = self._plain()
        self._refuse_quantized("HPU")
        return self._alike(_moved(plain, _device("hpu", device or None)))

    def is_pinned(self, device: Any = None) -> bool:
        """False: without an accelerator no memory is page-locked. Raises: device (RuntimeError) for an unknown one."""
        self._plain()
        return is_pinned(device)

    def pin_memory(self, device: Any = None) -> NoReturn:
        """Nothing: there is no accelerator to pin memory for.

        Raises: device (RuntimeError; TypeError for a meta storage). Source: facts 7.8, torch 2.13.
        """
        if self._plain()._is_meta:
            raise LayoutTypeError("device", "pin_memory: only CPU memory can be pinned")
        pin_memory(device)

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Name of the class, or the storage's bytes in a storage of another class.

        The other storage is made with as many *elements* as this one has bytes, so that only one-byte dtypes fit.

        Raises: size (RuntimeError), argument (AttributeError: no class; TypeError: a storage or a tensor; RuntimeError:
        a class of tensors; ModuleNotFoundError, ValueError: no module), device (AssertionError: classes of another
        device).
        Source: facts 7.4.9, torch 2.13.
        """
        plain = self._plain()
        if dtype is None:
            return self._type_name()
        wanted = _named_class(dtype) if isinstance(dtype, str) else dtype
        from .storage import UntypedStorage
        from .typed_storage import TypedStorage

        if wanted is UntypedStorage:
            return plain
        # PyTorch asks for the attribute, which its classes of tensors answer with a property, and then calls.
        if not hasattr(wanted, "is_sparse"):
            raise LayoutAttributeError("argument", f"type: {wanted!r} is no class of storages (facts 7.4.9)")
        if not isinstance(wanted, type):
            raise LayoutTypeError("argument", f"type: a {type(wanted).__name__} cannot be called")
        if not issubclass(wanted, TypedStorage):
            # Those named after a dtype make a tensor, which copies no storage; the class of all is not called at all.
            wrong = LayoutError if wanted.__name__ == "Tensor" else LayoutTypeError
            raise wrong("argument", f"type: {wanted!r} is a class of tensors (facts 7.4.9)")
        return wanted(len(plain)).copy_(plain, non_blocking)

    def _type_name(self) -> str:
        return "torch.storage.UntypedStorage"

    def __getattr__(self, name: str) -> Any:
        raise LayoutAttributeError(
            "argument", f"{type(self).__name__} has no attribute {name!r} (facts 7.2 and 7.4.12)"
        )

    # ---------------------------------------------------------------------------------------------- conversions

    def double(self) -> "TypedStorage":
        """Each element converted to float64, in new memory."""
        return self._move_to(ALL["float64"])

    def float(self) -> "TypedStorage":
        """Each element converted to float32, in new memory."""
        return self._move_to(ALL["float32"])

    def half(self) -> "TypedStorage":
        """Each element converted to float16, in new memory."""
        return self._move_to(ALL["float16"])

    def long(self) -> "TypedStorage":
        """Each element converted to int64, in new memory."""
        return self._move_to(ALL["int64"])

    def int(self) -> "TypedStorage":
        """Each element converted to int32, in new memory."""
        return self._move_to(ALL["int32"])

    def short(self) -> "TypedStorage":
        """Each element converted to int16, in new memory."""
        return self._move_to(ALL["int16"])

    def char(self) -> "TypedStorage":
        """Each element converted to int8, in new memory."""
        return self._move_to(ALL["int8"])

    def byte(self) -> "TypedStorage":
        """Each element converted to uint8, in new memory."""
        return self._move_to(ALL["uint8"])

    def bool(self) -> "TypedStorage":
        """Each element converted to bool, in new memory."""
        return self._move_to(ALL["bool"])

    def bfloat16(self) -> "TypedStorage":
        """Each element converted to bfloat16, in new memory."""
        return self._move_to(ALL["bfloat16"])

    def complex_double(self) -> "TypedStorage":
        """Each element converted to complex128, in new memory."""
        return self._move_to(ALL["complex128"])

    def complex_float(self) -> "TypedStorage":
        """Each element converted to complex64, in new memory."""
        return self._move_to(ALL["complex64"])

    def float8_e5m2(self) -> "TypedStorage":
        """Each element converted to float8_e5m2, in new memory."""
        return self._move_to(ALL["float8_e5m2"])

    def float8_e4m3fn(self) -> "TypedStorage":
        """Each element converted to float8_e4m3fn, in new memory."""
        return self._move_to(ALL["float8_e4m3fn"])

    def float8_e5m2fnuz(self) -> "TypedStorage":
        """Each element converted to float8_e5m2fnuz, in new memory."""
        return self._move_to(ALL["float8_e5m2fnuz"])

    def float8_e4m3fnuz(self) -> "TypedStorage":
        """Each element converted to float8_e4m3fnuz, in new memory."""
        return self._move_to(ALL["float8_e4m3fnuz"])


_device = device


def is_pinned(device: Any = None) -> bool:
    """False, whatever memory is asked about. Raises: device (RuntimeError) for an unknown device."""
    if device is not None:
        _device(device)
        warn_of_device("is_pinned")
    return False


def pin_memory(device: Any = None) -> NoReturn:
    """Nothing, whatever memory is to be pinned; PyTorch asks first whether it is. Raises: device (RuntimeError)."""
    is_pinned(device)
    if device is not None:
        warn_of_device("pin_memory")
        if _device(device).type == "cpu":
            raise LayoutError("device", "pin_memory: the CPU is not an accelerator (facts 7.2)")
    raise LayoutError("device", "pin_memory: there is no accelerator (facts 7.2)")


def _moved(plain: "UntypedStorage", where: device) -> "UntypedStorage":
    if plain.device == where:
        return plain
    if where.type == "cpu":
        from .storage import UntypedStorage

        return UntypedStorage._allocate(len(plain)).copy_(plain)
    message = f"storage to({where}): the reference lives on the CPU (facts 7.2)"
    if where.type == "cuda" and (where.index is None or where.index >= 0):
        # PyTorch compares the index of the device with 0, a missing one, too: what is not less is made the current one.
        raise LayoutTypeError("device", message) if where.index is None else LayoutError("device", message)
    if where.type == "xpu":
        raise UnsupportedError("device", message)
    if where.type == "mps":
        raise LayoutAttributeError("device", message)
    if where.type == "mtia":
        raise LayoutError("device", message)
    raise LayoutAssertionError("device", message)


def _named_class(name: str) -> Any:
    from . import typed_storage
    from .storage import UntypedStorage

    module, _, last = name.rpartition(".")
    if module not in ("torch", "torch.storage", "torch.cuda"):
        # PyTorch imports what is before the first dot, and takes one attribute after the other.
        package = name.partition(".")[0]
        if not package:
            raise LayoutValueError("argument", f"type: an empty name of a module in {name!r}")
        if find_spec(package) is None and package != "torch":
            raise LayoutImportError("argument", f"type: no module of a class {name!r}")
        raise LayoutAttributeError("argument", f"type: {name!r} is no class of storages (facts 7.4.9)")
    if last == "UntypedStorage":
        return UntypedStorage
    found = getattr(typed_storage.cuda if module == "torch.cuda" else typed_storage, last, None)
    if found is None:
        raise LayoutAttributeError("argument", f"type: no class {name!r}")
    return found
