"""What a tensor carries, and the few functions that make, read and write one: every family builds on these.

`TensorBase` only carries data. `Tensor` (tensors.py) adds PyTorch's names, each bound to a plain function of a
family module.
"""

from collections.abc import Mapping
from math import prod
from operator import index
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from . import shadow
from .backing import NoBytes, Unread
from .dtypes import BARE_UINT, FLOAT8, bool_, complex32, dtype
from .errors import LayoutError, LayoutTypeError, LayoutValueError, UnspecifiedError, UnsupportedError, fatal
from .layout import Layout, Shape, Strides, check_bounds, contiguous_strides
from .overlap import Internal, Mutual, has_internal_overlap, internal_overlap, mutual_overlap, shares_memory
from .shadow import CONJ as CONJ
from .shadow import NEG as NEG
from .storage import UntypedStorage
from .versions import Untracked, counter, inference

if TYPE_CHECKING:
    from .tensors import Tensor

Array = npt.NDArray[Any]

# How a view came about, where that forbids writing through it while gradients are recorded (facts 5.4).
MADE_MULTI = 1
MADE_NO_GRAD = 2
_MADE = {MADE_MULTI: "is one of several outputs of its operator", MADE_NO_GRAD: "was made in no_grad mode"}


class TensorBase:
    """Storage, layout, dtype and flags of a tensor.

    `_base` is the root that a view was made of, never a view itself; `_versions` holds the counter that a base
    shares with its views. `_leaf_grad` is the flag a user set, `_has_fn` says that the tensor is the result of a
    recorded operator, or is what stands for that operator once somebody has asked. `_inference` says that the tensor
    was made in inference mode.
    """

    __slots__ = (
        "__weakref__", "_base", "_bits", "_grad", "_has_fn", "_inference", "_layout", "_leaf_grad", "_made", "_seen",
        "_storage", "_versions", "dtype",
    )  # fmt: skip

    _storage: UntypedStorage
    _layout: Layout
    dtype: dtype
    _base: "Tensor | None"
    _bits: int
    _versions: list[int]
    _seen: int
    _made: int
    _leaf_grad: bool
    _has_fn: Any
    _inference: bool
    _grad: "Tensor | None"


_new = object.__new__
_class: Any = TensorBase
_grad_enabled: list[bool] = [True]
lends: list[bool] = [False]
"""Whether an operator runs on memory that stands for none, where PyTorch looks for no overlap (facts 5.1.6)."""


def register(cls: type) -> None:
    """Name the class of all tensors made from now on (called once, by tensors.py)."""
    global _class
    _class = cls


def build(storage: UntypedStorage, layout: Layout, dtype: dtype) -> "Tensor":
    """A tensor of its own (no view of another) over a storage."""
    t = _new(_class)
    t._storage = storage
    t._layout = layout
    t.dtype = dtype
    t._base = None
    t._bits = 0
    t._versions = counter()
    t._inference = inference[0]
    t._seen = 0
    t._made = 0
    t._leaf_grad = False
    t._has_fn = False
    t._grad = None
    return t  # type: ignore[no-any-return]


def fresh(shape: Shape, strides: Strides, dtype: dtype) -> "Tensor":
    """A tensor over new memory that its caller will fill; `strides` must be dense."""
    return build(UntypedStorage._allocate(prod(shape) * dtype.itemsize), Layout(shape, strides, 0), dtype)


def from_array(values: Array, dtype: dtype, strides: Strides | None = None) -> "Tensor":
    """A tensor over new memory holding an array's values, row-major unless told."""
    shape = values.shape
    out = fresh(shape, contiguous_strides(shape) if strides is None else strides, dtype)
    array(out)[...] = values
    return out


def view_of(t: "Tensor", layout: Layout, made: int = 0, *, free: bool = False) -> "Tensor":
    """A view of a tensor under another layout; of an inference tensor another one, which is no recorded view.

    Raises: bounds where the storage has shrunk below what the view addresses, unless it is one of those that PyTorch
    does not look at (`free`). Source: facts 5.5.1 and 6.6.2, torch 2.13.
    """
    base = t._base
    if t._storage._short and not free and type(t._storage._bytes) is not NoBytes:
        check_bounds(layout, t.dtype.itemsize, len(t._storage._bytes))
    if t._inference:
        return _alias(t, layout, Untracked((0,)))
    v = _new(_class)
    v._versions = versions = t._versions
    v._inference = False
    if base is not None and t._seen != versions[0]:
        check_history(t)
    v._storage = t._storage
    v._layout = layout
    v.dtype = t.dtype
    v._bits = t._bits
    v._seen = versions[0]
    v._leaf_grad = False
    v._grad = None
    if base is None:
        v._base = t
        v._has_fn = (t._leaf_grad or t._has_fn) and _grad_enabled[0]
    else:
        v._base = base
        v._has_fn = (t._leaf_grad or t._has_fn or base._leaf_grad or base._has_fn) and _grad_enabled[0]
    v._made = t._made or made if _grad_enabled[0] else MADE_NO_GRAD
    return v  # type: ignore[no-any-return]


def detached(t: "Tensor", *, share_version: bool = True) -> "Tensor":
    """A tensor over the same memory that is no recorded view: `detach`, `data`.

    That of an inference tensor is one, too, but counts its writes where inference mode is off.

    Source: facts 5.3.1 and 5.5.1, torch 2.13.
    """
    if t._inference:
        return _alias(t, t._layout, counter())
    return _alias(t, t._layout, t._versions if share_version else [0])


def _alias(t: "Tensor", layout: Layout, versions: list[int]) -> "Tensor":
    v = build(t._storage, layout, t.dtype)
    v._bits = t._bits
    v._versions = versions
    v._inference = t._inference
    return v


def as_class(t: "Tensor", cls: type) -> Any:
    """A tensor as one of a class of its own: the same storage, layout, history and versions."""
    out: Any = _new(cls)
    for name in TensorBase.__slots__:
        if name != "__weakref__":
            setattr(out, name, getattr(t, name))
    return out


def array(t: Any) -> Array:
    """The elements of a tensor as a NumPy array over its storage, conjugate and negative bits not applied.

    Raises: bounds where the storage has shrunk below what the layout addresses.
    """
    shape, strides, offset = t._layout
    d = t.dtype
    itemsize = d.itemsize
    data = t._storage._bytes
    if not len(data) and 0 not in shape:
        # NumPy takes an empty buffer for none, and allocates.
        _out_of_storage(t)
    try:
        return _ndarray(shape, d.numpy, data, offset * itemsize, tuple([s * itemsize for s in strides]))
    except (TypeError, ValueError):
        if 0 in shape and not t._storage._is_meta:
            return np.empty(shape, d.numpy)
        _out_of_storage(t)


def check_read(*inputs: Any) -> None:
    """Refuse inputs on meta, for an operator that may not read them here, but does in PyTorch. Raises: device."""
    for t in inputs:
        if isinstance(t, TensorBase) and t._storage._is_meta:
            raise Unread("device", "reading: a meta storage holds no data (facts 7.7)")


def _out_of_storage(t: Any) -> NoReturn:
    check_read(t)
    raise fatal(
        LayoutError(
            "bounds",
            f"{t._layout} of {t.dtype} addresses past its storage of {len(t._storage._bytes)} bytes (facts 6.6)",
        )
    )


_ndarray = np.ndarray


def values(t: Any) -> Array:
    """The elements of a tensor with conjugate and negative bits applied; a copy only if one is set."""
    a = array(t)
    if t._bits:
        a = with_bits(a, t)
    elif t.dtype is bool_:
        # A byte other than 0 and 1 reads as true (facts 11).
        a = a.view(np.uint8) != 0
    return a


def with_bits(a: Array, t: Any) -> Array:
    """Values with a tensor's conjugate and negative bits applied, which is its own inverse."""
    if t.dtype is complex32:
        # Held as raw bits: the imaginary half above, the real one below.
        flip = (0x80000000 if t._bits & CONJ else 0) ^ (0x80008000 if t._bits & NEG else 0)
        flipped: Array = a ^ np.uint32(flip)
        return flipped
    if t._bits & CONJ:
        a = np.conj(a)
    if t._bits & NEG:
        d = t.dtype
        if d is bool_ or d.category == "raw" or d in FLOAT8 or d in BARE_UINT:
            raise UnsupportedError("dtype", f"the negative bit: there is no kernel that negates {d} (facts 9.11)")
        a = np.negative(a)
    return a


def requires_grad(t: Any) -> bool:
    """Whether gradients flow to a tensor: by its own flag, by its history, or by its base's."""
    if t._leaf_grad or t._has_fn:
        return True
    base = t._base
    return base is not None and (base._leaf_grad or base._has_fn)


def is_leaf(t: Any) -> bool:
    """Whether a tensor has no history. Raises: grad (see `check_history`)."""
    _take_over(t)
    return not t._has_fn


def _take_over(t: Any) -> None:
    # A view whose base has been written since it was made, or last asked, takes over what has become of its base.
    base = t._base
    if base is None or t._seen == t._versions[0] or not (t._has_fn or base._leaf_grad or base._has_fn):
        return
    if t._made:
        raise LayoutError("grad", f"the base of this view, which {_MADE[t._made]}, has been written since (facts 5.4)")
    t._has_fn = True
    t._seen = t._versions[0]


def check_history(*operands: Any) -> None:
    """Ask operands for the history that a result of theirs is to have, before anything else is asked of them.

    Raises: grad (RuntimeError) for a view whose base has been written since, if it is one of several outputs or was
    made while gradients were off.
    Source: facts 5.4, torch 2.13.
    """
    if _grad_enabled[0]:
        for t in operands:
            if isinstance(t, TensorBase):
                _take_over(t)


def check_differentiable(d: dtype, *operands: Any) -> None:
    """Refuse to record a result of a dtype that has no gradient.

    Raises: grad (RuntimeError). Source: facts 5.4, torch 2.13.
    """
    if not has_gradient(d) and records_history(*operands):
        raise LayoutError("grad", f"a result of {d} has no gradient, but an operand requires one (facts 5.4)")


def check_constant(name: str, argument: str, t: Any) -> None:
    """Refuse a gradient of an argument that a derivable operator has no derivative for.

    Raises: grad (RuntimeError). Source: facts 5.4.7, torch 2.13.
    """
    if records_history(t):
        raise LayoutError("grad", f"{name}: there is no derivative by {argument}, which requires grad (facts 5.4.7)")


def records_history(*inputs: Any) -> bool:
    """Whether an operator over these inputs records history: gradients are on, and wanted for one of them."""
    if _grad_enabled[0]:
        for i in inputs:
            if isinstance(i, TensorBase) and requires_grad(i):
                # Among nothing but inference tensors PyTorch does not look (facts 5.5.4).
                return not i._inference or any(not getattr(x, "_inference", x is None) for x in inputs)
    return False


def check_inplace(t: Any, *inputs: Any) -> None:
    """Refuse a write that automatic differentiation could not follow.

    Raises: grad (RuntimeError) for a leaf that requires grad or a view of one, a view that is one of several
    outputs, and a view made while gradients were off.
    Source: facts 5.4, torch 2.13.
    """
    if not records_history(t, *inputs):
        return
    own = requires_grad(t)
    base = t._base
    if base is not None:
        if t._made:
            raise LayoutError(
                "grad", f"this view {_MADE[t._made]} and is written in place while gradients are recorded (facts 5.4)"
            )
        if own and is_leaf(base):
            raise LayoutError("grad", "a view of a leaf that requires grad is written in place (facts 5.4)")
    if own and is_leaf(t):
        raise LayoutError("grad", "a leaf that requires grad is written in place (facts 5.4)")
    check_history(*inputs)


def written(t: Any, *inputs: Any) -> None:
    """Count a write to a tensor, and record its history where an input requires grad."""
    versions = t._versions
    versions[0] += 1
    if records_history(*inputs):
        t._has_fn = True
        t._seen = versions[0]
        if t._base is not None:
            t._base._has_fn = True
    elif t._has_fn and _grad_enabled[0]:
        t._has_fn = True  # of another operator from now on


def has_gradient(d: dtype) -> bool:
    """Whether tensors of a dtype can have a gradient: floating point and complex ones."""
    return d.is_floating_point or d.is_complex


def recorded(out: "Tensor", *inputs: Any) -> "Tensor":
    """Give an operator's fresh result a history if an input requires grad. Raises: grad (see `check_history`)."""
    if has_gradient(out.dtype) and records_history(*inputs):
        check_history(*inputs)
        out._has_fn = True
    return out


def check_overlap(out: Any, *inputs: Any) -> None:
    """Refuse a write whose target certainly has repeated elements, or partly covers an input.

    What PyTorch's quick answers do not find is not refused, nor is what has the conjugate or negative bit, for which
    PyTorch writes and reads a copy.

    Raises: overlap (RuntimeError).
    Source: facts 5.1, 5.2 and 9.15, torch 2.13.
    """
    check_internal_overlap(out)
    for i in inputs:
        check_no_partial_overlap(out, i)


def check_no_partial_overlap(out: Any, input: Any) -> None:
    """Refuse a write whose target partly covers an input; the same elements in the same layout are allowed.

    Raises: overlap (RuntimeError).
    Source: facts 5.2, torch 2.13.
    """
    if input is not out and isinstance(input, TensorBase):
        check_layouts_apart(out, out._layout, input, input._layout)


def check_layouts_apart(out: Any, written: Layout, input: Any, read: Layout) -> None:
    """`check_no_partial_overlap` of parts of two tensors. Raises: overlap (RuntimeError)."""
    if _mutual(out, written, input, read) is Mutual.PARTIAL:
        raise _shares(out, input)


def check_no_overlap(out: Any, input: Any) -> None:
    """Refuse a write whose target shares any element with an input, which is read while it is written.

    Raises: overlap (RuntimeError).
    Source: facts 5.2, torch 2.13.
    """
    if (input is out and not out._bits) or (
        isinstance(input, TensorBase)
        and _mutual(out, out._layout, input, input._layout) in (Mutual.PARTIAL, Mutual.FULL)
    ):
        raise _shares(out, input)


def check_index(out: Any, index: Any) -> None:
    """Refuse an index in the memory that is written; where PyTorch cannot tell, it reads what it has written.

    Raises: overlap (RuntimeError); UnspecifiedError where the index is written over as it is read.
    Source: facts 5.2, torch 2.13.
    """
    check_no_overlap(out, index)
    check_settled(out, index)


def check_settled(out: Any, index: Any) -> None:
    """Say nothing of a write over the index that says where to write. Raises: UnspecifiedError."""
    if (
        index._storage is out._storage
        and not (lends[0] or out._bits or index._bits or out._storage._is_meta)
        and shares_memory(out._layout, out.dtype.itemsize, index._layout, index.dtype.itemsize)
    ):
        raise UnspecifiedError("the index lies in the memory that is written, and is read while it is")


def _mutual(out: Any, written: Layout, input: Any, read: Layout) -> Mutual:
    if input._storage is not out._storage or lends[0] or out._bits or input._bits or out._storage._is_meta:
        return Mutual.NO  # what has a bit is written and read in a copy, and on meta nothing is
    return mutual_overlap(written, out.dtype.itemsize, read, input.dtype.itemsize)


def _shares(out: Any, input: Any) -> LayoutError:
    return LayoutError(
        "overlap",
        f"the input {input._layout} and the tensor written to {out._layout} share elements of one storage (facts 5.2)",
    )


def without_bits(t: Any) -> Any:
    """A tensor as an operator sees it that has a kernel for bits of its own, and looks for overlap where it lies."""
    return build(t._storage, t._layout, t.dtype) if t._bits else t


def check_internal_overlap(out: Any) -> None:
    """Refuse a write to a tensor with a repeated dimension of stride 0; with a bit, the copy back refuses it (9.15).

    Raises: overlap (RuntimeError).
    Source: facts 5.1, torch 2.13.
    """
    if internal_overlap(out._layout.shape, out._layout.strides) is Internal.YES and not (
        lends[0] or out._bits or out._storage._is_meta
    ):
        raise LayoutError(
            "overlap",
            f"strides {out._layout.strides} at shape {out._layout.shape}: several elements of the tensor written to "
            "are one place in memory (facts 5.1)",
        )


def order_marks(out: Any, *inputs: Any, moving: bool = False) -> int | None:
    """UNSPECIFIED where the result of a write depends on its order, else None.

    That is: two elements of the target are one place in memory, or an input reads a place under another index than
    the one that writes it, which it may do in the very same layout where elements are `moving`.
    """
    shape, strides, _ = out._layout
    if internal_overlap(shape, strides) and has_internal_overlap(shape, strides):
        return shadow.UNSPECIFIED
    for i in inputs:
        if (
            isinstance(i, TensorBase)
            and (moving or i is not out)
            and i._storage is out._storage
            and not (i._bits or out._bits)
            and (moving or i._layout != out._layout or i.dtype.itemsize != out.dtype.itemsize)
            and shares_memory(out._layout, out.dtype.itemsize, i._layout, i.dtype.itemsize)
        ):
            return shadow.UNSPECIFIED
    return None


def is_tensor(x: Any) -> bool:
    """Whether an object is one of our tensors."""
    return isinstance(x, TensorBase)


def check_tensors(name: str, *operands: Any) -> None:
    """Refuse operands that are no tensors. Raises: argument (TypeError)."""
    for x in operands:
        if not isinstance(x, TensorBase):
            raise LayoutTypeError("argument", f"{name}: expected a Tensor, got {type(x).__name__}")


def as_int(x: Any, name: str = "argument") -> int:
    """An int from what PyTorch takes for one: ints, integers of NumPy, tensors of one; no bool, float or array.

    Raises: argument (TypeError); overflow (ValueError) past 64 bits.
    """
    if type(x) is int:
        if -(2**63) <= x < 2**63:
            return x
        raise LayoutValueError("overflow", f"{name}: {x} does not fit 64 bits (facts 1.19)")
    if isinstance(x, (bool, np.bool_, np.ndarray)) or (isinstance(x, TensorBase) and x.dtype is bool_):
        raise LayoutTypeError("argument", f"{name} must be an int, got {type(x).__name__}")
    try:
        found = index(x)
    except TypeError:
        raise LayoutTypeError("argument", f"{name} must be an int, got {type(x).__name__}") from None
    return found if -(2**63) <= found < 2**63 else as_int(found, name)


def as_ints(args: Any, name: str = "size") -> tuple[int, ...]:
    """A tuple of ints from varargs or from one sequence, as PyTorch takes sizes and dimensions: bools after the first.

    Raises: argument (TypeError), also where nothing is given; overflow (TypeError) past 64 bits.
    """
    if not args:
        raise LayoutTypeError("argument", f"{name} must be given")
    if len(args) == 1:
        only = args[0]
        kind = type(only)
        if kind is tuple or kind is list or isinstance(only, (tuple, list)):
            args = only
    for a in args:
        if type(a) is not int:
            # PyTorch tells bools from ints in the first place only.
            args = [int(a) if k and type(a) is bool else _element(a, name) for k, a in enumerate(args)]
            break
    result = tuple(args)
    if result and not (min(result) >= -(2**63) and max(result) < 2**63):
        raise LayoutTypeError("overflow", f"{name} {result} does not fit 64 bits (facts 1.19)")
    return result


def _element(x: Any, name: str) -> int:
    if isinstance(x, np.integer) or (isinstance(x, np.ndarray) and not x.ndim and x.dtype.kind in "iu"):
        return index(x)
    return as_int(x, name)


def as_dims(value: Any, name: str = "dim") -> tuple[int, ...]:
    """A tuple of ints from one int or one sequence of them.

    Raises: argument (TypeError); past 64 bits overflow (ValueError for an int alone, TypeError in a sequence).
    """
    return as_ints((value,), name) if isinstance(value, (tuple, list)) else (as_int(value, name),)


def as_int_list(value: Any, name: str) -> tuple[int, ...]:
    """A tuple of ints from one sequence.

    Raises: argument (TypeError).
    """
    if not isinstance(value, (tuple, list)):
        raise LayoutTypeError("argument", f"{name} must be a tuple of ints, got {type(value).__name__}")
    return as_ints((value,), name)


def as_scalar(x: Any) -> Any:
    """The number of a tensor without dimensions, which PyTorch takes for a number where it takes no tensor; else as is.

    Raises: device (RuntimeError) on meta. Source: `is_scalar` of PyTorch's parser of arguments.
    """
    if isinstance(x, TensorBase) and not x._layout.shape and not requires_grad(x):
        return x.item()  # type: ignore[attr-defined]
    return x


def check_flag(name: str, x: Any, *, optional: bool = False) -> None:
    """Refuse what is no bool of Python's, such as 1 or NumPy's. Raises: argument (TypeError)."""
    if not (isinstance(x, bool) or (optional and x is None)):
        raise LayoutTypeError("argument", f"{name} must be a bool, got {type(x).__name__}")


def bad_arguments(name: str, why: str = "") -> LayoutTypeError:
    """The error of a call that fits no signature."""
    return LayoutTypeError("argument", f"{name}: invalid combination of arguments{': ' + why if why else ''}")


def given_once(name: str, given: tuple[Any, ...], kwargs: Mapping[str, Any], keyword: str) -> tuple[Any, ...]:
    """Sizes or dimensions that are given one by one, as one sequence, or as one by their keyword.

    Raises: argument (TypeError; given twice, by another keyword, or not as a sequence).
    """
    if not kwargs:
        return given
    if unknown := [key for key in kwargs if key != keyword]:
        raise bad_arguments(name, f"unknown keyword {unknown[0]}")
    if given:
        raise bad_arguments(name, f"{keyword} is given twice")
    return (as_int_list(kwargs[keyword], keyword),)
