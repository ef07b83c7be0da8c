"""Storages over a file's bytes: shared, where writes reach the file, and private, where they do not."""

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from .backing import Backing, as_length, map_descriptor
from .devices import check_device, is_meta
from .dtypes import QUANTIZED
from .errors import LayoutError, LayoutOverflowError, LayoutTypeError, LayoutValueError, UnsupportedError
from .promotion import get_default_dtype
from .storage import UntypedStorage
from .typed_storage import elements

if TYPE_CHECKING:
    from .tensors import Tensor


def map_file(filename: Any, shared: Any = False, nbytes: Any = 0) -> UntypedStorage:
    """A storage over the first bytes of a file; it is shared as `is_shared` says, and cannot be resized.

    A shared map makes the file if there is none and extends it to the length asked for; it never shortens it.
    A private one keeps what is written to itself, and needs a file that is long enough. Of a length of 0 nothing is
    opened. An empty name stands for PyTorch's own for a file that has none.

    Units: bytes.
    Raises: argument (TypeError; ValueError for a null character); file (RuntimeError) for a file that is missing, too
    short, unreadable or a directory, and for lengths that cannot be mapped.
    Source: facts 7.6, torch 2.13.
    """
    if not isinstance(filename, str):
        raise LayoutTypeError("argument", f"from_file: the file name must be a str, got {type(filename).__name__}")
    if "\0" in filename:
        raise LayoutValueError("argument", "from_file: an embedded null character in the file name")
    shared, nbytes = bool(as_length(shared, "shared")), as_length(nbytes, "nbytes")
    if not -(2**63) <= nbytes < 2**63:
        raise LayoutOverflowError("overflow", f"from_file: {nbytes} bytes do not fit 64 bits")
    filename = filename or "filename not specified"
    if nbytes == 0:
        return UntypedStorage._wrap(np.empty(0, np.uint8), Backing(0, shared=shared, filename=filename))
    flags = os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY
    try:
        descriptor = os.open(filename, flags, 0o600)
    except (OSError, ValueError) as e:
        raise LayoutError("file", f"from_file: unable to open {filename}: {e} (facts 7.6)") from None
    try:
        if os.path.isdir(filename) or nbytes < 0:
            raise LayoutError("file", f"from_file: unable to map {nbytes} bytes of {filename} (facts 7.6)")
        length = os.fstat(descriptor).st_size
        if length < nbytes:
            if not shared:
                raise LayoutError(
                    "file", f"from_file: {filename} has {length} bytes, smaller than the required {nbytes} (facts 7.6)"
                )
            try:
                os.ftruncate(descriptor, nbytes)
                # PyTorch makes sure of the space by writing a zero: at the file's begin, whatever was there.
                os.pwrite(descriptor, b"\0", 0)
            except (OSError, OverflowError) as e:
                raise LayoutError("file", f"from_file: unable to extend {filename} to {nbytes} bytes: {e}") from None
        data = map_descriptor(descriptor, nbytes, shared=shared)
    finally:
        os.close(descriptor)
    return UntypedStorage._wrap(data, Backing(nbytes, shared=shared, filename=filename))


def from_file(
    filename: Any, shared: Any = None, size: Any = 0, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """A flat tensor over the first elements of a file; see `map_file`.

    Units: `size` in elements.
    A name ends at a null character, as the system's do; it may be bytes, too.

    Raises: as `map_file`, dtype (NotImplementedError) for quantised dtypes, grad, device (NotImplementedError for meta;
    RuntimeError, also for pinned memory).
    Source: facts 7.6, torch 2.13.
    """
    if device is not None and is_meta(device):
        raise UnsupportedError("device", "from_file has no kernel for meta")
    check_device(device, pin_memory)
    if shared is not None and not isinstance(shared, bool):
        raise LayoutTypeError("argument", f"from_file: shared must be a bool, got {type(shared).__name__}")
    size = 0 if size is None else size
    d = get_default_dtype() if dtype is None else dtype
    if d in QUANTIZED:
        raise UnsupportedError("dtype", f"from_file has no kernel for {d} (facts 10.1.8)")
    if requires_grad and not (d.is_floating_point or d.is_complex):
        raise LayoutError("grad", f"only floating point and complex tensors can require gradients, not {d}")
    if isinstance(filename, bytes):
        filename = os.fsdecode(filename)
    if isinstance(filename, str):
        filename = filename.partition("\0")[0]
    t: Tensor = elements(map_file(filename, bool(shared), as_length(size, "size") * d.itemsize), d)
    return t.requires_grad_() if requires_grad else t
