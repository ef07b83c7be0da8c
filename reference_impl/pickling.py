"""Copies of single objects: what `pickle`, `copy.copy` and `copy.deepcopy` make of tensors and storages."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from .backing import no_data
from .copies import clone
from .core import CONJ, NEG, build, is_leaf, requires_grad
from .dtypes import QUANTIZED, dtype
from .errors import LayoutAttributeError, LayoutError, LayoutKeyError, UnsupportedError
from .layout import Layout, Shape, Strides, check_bounds, contiguous_strides
from .metadata import set_explicit
from .storage import UntypedStorage
from .typed_storage import LEGACY_NAMES, TypedStorage, typed

if TYPE_CHECKING:
    from .tensors import Tensor

# Newer dtypes, which PyTorch writes as untyped storages; what is neither here nor named after a class it cannot write.
UNTYPED = frozenset(
    (
        *dt.FLOAT8, *dt.BARE_UINT, dt.complex32, dt.float4_e2m1fn_x2, dt.bits8, dt.bits16, dt.bits1x8, dt.bits2x4,
        dt.bits4x2,
    )
)  # fmt: skip

State = tuple[bytes, bytes | None, int]


def check_written(d: dtype) -> None:
    """Refuse a dtype whose storages PyTorch cannot write.

    Raises: dtype (KeyError). Source: facts 7.9.4, torch 2.13.
    """
    if d not in LEGACY_NAMES and d not in UNTYPED:
        raise LayoutKeyError("dtype", f"dtype {d} is not recognized (facts 7.9.4)")


def _state(storage: UntypedStorage, d: dtype) -> State:
    if storage._is_meta:
        raise no_data("pickle")
    # What fills no element is not written.
    nbytes = len(storage) // d.itemsize * d.itemsize
    shadow = storage._shadow
    return storage._bytes[:nbytes].tobytes(), None if shadow is None else shadow[:nbytes].tobytes(), nbytes


def _storage(state: State) -> UntypedStorage:
    data, shadow, nbytes = state
    storage = UntypedStorage._allocate(nbytes)
    storage._bytes[...] = np.frombuffer(data, np.uint8)
    storage._shadow = None if shadow is None else np.frombuffer(shadow, np.uint8).copy()
    return storage


def _unreadable(what: str) -> Any:
    raise LayoutAttributeError("argument", f"a pickled {what} cannot be read back: use save (facts 7.2)")


def _typed(state: State, d: dtype) -> TypedStorage:
    return typed(_storage(state), d)


def _tensor(state: State, layout: tuple[Any, ...], d: dtype, leaf_grad: bool, bits: int) -> "Tensor":
    return rebuilt(_storage(state), Layout(*layout), d, leaf_grad, bits)


def rebuilt(
    storage: UntypedStorage, layout: Layout, d: dtype, leaf_grad: bool, bits: int, shape: Shape = (0,)
) -> "Tensor":
    """A tensor put together again: one of a `shape`, empty mostly, whose storage and layout are then set.

    It is a leaf, whose version counts the setting. As by `set_`, a storage that has become too short for the layout
    grows to what that requires; not for quantised dtypes.

    Raises: bounds for quantised dtypes, and for a layout of that very shape; resize. Source: facts 6.3 and 7.9.
    """
    t = build(storage, layout, d)
    if d in QUANTIZED:
        check_bounds(layout, d.itemsize, len(storage) * d.pack)
    else:
        t._layout = Layout(shape, contiguous_strides(shape), 0)
        set_explicit(t, storage, layout.offset, layout.shape, layout.strides)
    t._bits = bits
    t._leaf_grad = leaf_grad
    t._versions[0] = 1
    t._seen = 1
    return t


def rebuilt_nowhere(shape: Shape, strides: Strides, d: dtype, leaf_grad: bool) -> "Tensor":
    """What any copy of a meta tensor is put together as: only its shape and strides, in a storage just long enough.

    Raises: device (NotImplementedError) for a quantised dtype.
    """
    if d in QUANTIZED:
        raise UnsupportedError("device", f"there are no codes of {d} on meta (facts 10.1.24)")
    layout = Layout(shape, strides, 0)
    t = build(UntypedStorage._nowhere(layout.required_bytes(d.itemsize)), layout, d)
    t._leaf_grad = leaf_grad
    return t


def reduce_untyped(storage: UntypedStorage) -> Any:
    """What pickle writes of an untyped storage; reading it back raises argument (AttributeError).

    Raises: device (NotImplementedError) for a meta storage. Source: facts 7.2 and 7.7.
    """
    if storage._is_meta:
        raise no_data("pickle")
    return _unreadable, ("UntypedStorage",)


def reduce_typed(storage: TypedStorage) -> Any:
    """What pickle writes of a typed storage: all its bytes. Raises: dtype (KeyError). Source: facts 7.4.11 and 7.9."""
    if storage.dtype not in LEGACY_NAMES:
        raise LayoutKeyError("dtype", f"dtype {storage.dtype} is not recognized (facts 7.4.11)")
    return _typed, (_state(storage._untyped_storage, storage.dtype), storage.dtype)


def reduce_tensor(t: "Tensor", protocol: Any = None) -> Any:
    """What pickle writes of a tensor: its layout and the whole storage, once for each tensor over it.

    History is dropped, the flag and attributes are kept; bits stay bits. Tensors of newer dtypes are written, but
    cannot be read back. Of a meta tensor shape and strides are written, whatever its dtype.

    Raises: dtype (KeyError). Source: facts 7.9.3, 7.9.4, 7.9.8 and 7.9.11, torch 2.13.
    """
    reduced: Any
    if t._storage._is_meta:
        reduced = rebuilt_nowhere, (*t._layout[:2], t.dtype, requires_grad(t))
    else:
        check_written(t.dtype)
        if t.dtype in UNTYPED:
            return _unreadable, (f"tensor of {t.dtype}",)
        state = _state(t._storage, t.dtype)
        reduced = _tensor, (state, tuple(t._layout), t.dtype, requires_grad(t), t._bits)
    return (_with_attributes, (*reduced, vars(t))) if vars(t) else reduced


def _with_attributes(rebuild: Any, state: Any, attributes: dict[str, Any]) -> "Tensor":
    t: Tensor = rebuild(*state)
    vars(t).update(attributes)
    return t


def copy_tensor(t: "Tensor") -> "Tensor":
    """Another tensor object over the same memory: a leaf, no view; of a meta tensor one with a storage of its own.

    It has the same attributes.

    Raises: argument (AttributeError) for newer dtypes, as reading back what is pickled of them does.
    Source: facts 7.9.8, 7.9.10 and 7.9.11, torch 2.13.
    """
    if t._storage._is_meta:
        new = rebuilt_nowhere(*t._layout[:2], t.dtype, requires_grad(t))
    elif t.dtype in UNTYPED:
        _unreadable(f"tensor of {t.dtype}")
    else:
        new = rebuilt(t._storage, t._layout, t.dtype, requires_grad(t), t._bits)
    vars(new).update(vars(t))
    return new


def deepcopy_tensor(t: "Tensor", memo: dict[int, Any]) -> "Tensor":
    """A tensor with the same layout over a copy of the whole storage, shared by what is copied in one call.

    Conjugate and negative bits are resolved, which leaves a dense copy of the elements alone; `grad` and attributes are
    copied along.

    Raises: grad (RuntimeError) for a tensor with history. Source: facts 7.9.9, torch 2.13.
    """
    import copy

    done = memo.get(id(t))
    if done is not None:
        return done  # type: ignore[no-any-return]
    if not is_leaf(t):
        raise LayoutError("grad", "only tensors without history (graph leaves) can be deep-copied (facts 7.9.9)")
    if t._storage._is_meta:
        new = clone(t)
        new._has_fn = False
    else:
        new = rebuilt(copy.deepcopy(t._storage, memo), t._layout, t.dtype, False, 0, ())
        if t._bits & CONJ:
            new = new.conj_physical()
        if t._bits & NEG:
            new = new.neg()
    new._leaf_grad = requires_grad(t)
    memo[id(t)] = new
    if t.grad is not None:
        new.grad = copy.deepcopy(t.grad, memo)
    vars(new).update(copy.deepcopy(vars(t), memo))
    return new
