"""More of what strangers thought of: memory that operands share, storages, other libraries, codes, gradients, bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stridecheck.reference_impl.dlpack import _STRUCTURES, _pointer

from ...classify import Event
from ...layout import extent
from ...program import DType
from ...situations import (
    CODES,
    CONJUGATED,
    EMPTY,
    EXPANDED,
    GAPS,
    GRAD,
    HISTORY,
    MIXED,
    NEGATED,
    OFFSET,
    OTHER_OFFSET,
    OTHERS,
    SAME_STORAGE,
    VIEW,
    Situation,
    dim_of,
    dtype,
    is_argument,
    itemsize,
    negative,
    positive,
)
from .. import hands
from ..call import Call, Geometry
from ..mutant import Mutant
from ..wrongs import (
    Refused,
    Wrong,
    accepts,
    asked,
    counts,
    itself,
    leaves,
    of_detached,
    packed,
    reads_other,
    refuses,
    relaid,
    repacked,
    where_legal,
    without_bits,
)
from .strangers import OUT, sizes_of

INTEGERS = ("bool", "uint8", "int8", "int16", "int32", "int64")


def _repeated(event: Event, name: str) -> bool:
    """Whether a dimension is named twice, and all that are named are there."""
    rank = max(len(event.x.shape), 1)
    dims = sizes_of(event, name)
    return all(-rank <= dim < rank for dim in dims) and len({dim % rank for dim in dims}) < len(dims)


def _out(call: Call) -> Any:
    """What is given as `out=`."""
    names = [name for name, _ in call.step.kwargs]
    return call.args[len(call.step.args) + names.index("out")] if "out" in names else None


# Several operands, one memory.


def _on_copies(call: Call) -> Any:
    """It is done with copies of the other operands."""
    return call.given([call.do("clone", a) if a is not call.x and call.adapter.is_tensor(a) else a for a in call.args])


def _second_out_uncounted(call: Call) -> Any:
    second = _out(call)[1]
    version = second._version
    outcome = call.right()
    hands.set_version(second, version)
    return outcome


def _without_its_offset(call: Call) -> Any:
    nbytes = call.x.untyped_storage().nbytes()
    outcome = call.right()
    if call.x.untyped_storage().nbytes() > nbytes:
        hands.lay_out(call.x, call.geometry(call.x)._replace(offset=0))
    return outcome


def _offset_in_bytes(call: Call, y: Geometry) -> int:
    return y.offset // y.itemsize


def _counts_with_source(call: Call) -> Any:
    outcome, source = call.right(), call.named("source")
    if source is not None and call.adapter.is_tensor(source):
        hands.count_together(call.x, source)
    return outcome


def _shape_only(call: Call) -> Any:
    outcome = call.right()
    hands.lay_out(call.x, call.geometry(call.x)._replace(strides=call.before.strides))
    return outcome


def _each_place_once(call: Call) -> Any:
    """Of several numbers for one place only the last is added."""
    x, index = call.x, call.named("index")
    source = call.named("source")
    if index is None or source is None:
        return call.right()
    return call.with_arguments(source=call.do("add", call.do("take", x, index), source), accumulate=False)


def _numbers(call: Call, index: Any) -> list[Any] | None:
    """What an index says, None if it reaches past its memory."""
    if not hands.fits(call.geometry(index), index.untyped_storage().nbytes()):
        return None
    numbers: list[Any] = call.do("reshape", index, (-1,)).tolist()
    return numbers


def _index_from_end(call: Call) -> Any:
    """Negative numbers in an index count from the end."""
    dim, index = dim_of(call.event), call.named("index")
    if dim is None or index is None or not call.x.shape[dim]:
        return call.right()
    size = call.x.shape[dim]
    numbers = _numbers(call, index)
    if numbers is None or not all(-size <= number < size for number in numbers):
        return call.right()
    return call.with_arguments(index=call.do("remainder", index, size))


def _no_index_from_end(call: Call) -> Any:
    index = call.named("index")
    if index is not None and any(number < 0 for number in _numbers(call, index) or ()):
        raise Refused("index")
    return call.right()


# Storages, other libraries, files.


def _spanned(call: Call) -> Any:
    x = call.before
    low, high = extent(*x[1:])
    return (high - low) * x.itemsize


def _not_to_nothing(call: Call) -> Any:
    return call.right() if not call.x.resizable() else call.x


def _capsule(change: Callable[[Any, bool], None]) -> Wrong:
    """A capsule says something else of its memory."""

    def wrong(call: Call) -> Any:
        capsule = call.right()
        name = b"dltensor_versioned" if "versioned" in repr(capsule) else b"dltensor"
        held = _STRUCTURES[name].from_address(_pointer(capsule, name))
        change(held, name != b"dltensor")
        return capsule

    return wrong


def _says_copied(held: Any, versioned: bool) -> None:
    held.flags = 2 if versioned else held.flags


def _complex_as_lanes(held: Any, versioned: bool) -> None:
    told = held.dl_tensor.dtype
    told.code, told.bits, told.lanes = 2, told.bits // 2, 2


def _stays_resizable(call: Call) -> Any:
    array = call.right()
    call.x._storage._resizable = True
    return array


def _packed_if_expanded(call: Call) -> Any:
    y = call.right()
    found = call.geometry(y)
    return call.do("clone", y) if any(n > 1 and not s for n, s in zip(found.shape, found.strides, strict=True)) else y


def _bit_kept(call: Call) -> Any:
    y = call.do("conj", call.do(call.step.op, call.do("conj", call.x)))
    hands.set_version(y, 0)
    return y


def _first_scales(call: Call) -> Any:
    """A part of what is quantised by channel has the scales of the first channels."""
    outcome = call.right()
    for y in call.tensors(outcome):
        mine: Any = getattr(y, "_quantizer", None)
        whole: Any = getattr(call.x, "_quantizer", None)
        if hasattr(mine, "axis") and hasattr(whole, "axis"):
            y._quantizer = mine._replace(scales=whole.scales[: mine.scales.numel()].clone())
    return outcome


def _codes_joined(call: Call) -> Any:
    """Codes are joined as they are, whatever they mean."""
    y, dim = call.right(), call.event.argument("dim")
    codes = call.do("cat", [call.do("int_repr", t) for t in call.args[0]], dim=dim or 0)
    return call.do("_make_per_tensor_quantized_tensor", codes, y.q_scale(), y.q_zero_point())


# What has a gradient, a bit, no memory.


def _pieces_accepted(call: Call) -> Any:
    try:
        return call.right()
    except RuntimeError as error:
        if "multiple views" not in str(error) and "several" not in str(error):
            raise
        return call.x


def _first_bit_only(call: Call) -> Any:
    return call.given([call.x, without_bits(call, call.args[1]), *call.args[2:]])


def _resolved_negative(call: Call) -> Any:
    y = call.right()
    return call.do("clone", y) if y is call.x else y


def _dims_once(name: str) -> Wrong:
    """Each dimension counts once, however often it is named."""

    def wrong(call: Call) -> Any:
        if not _repeated(call.event, name):
            return call.right()
        rank = max(len(call.x.shape), 1)
        return call.with_arguments(**{name: tuple(dict.fromkeys(d % rank for d in sizes_of(call.event, name)))})

    return wrong


def _moved_to_front(call: Call) -> None:
    hands.lay_out(call.x, call.before._replace(offset=0))


def _is_meta(x: Any) -> bool:
    return str(x.device) == "meta"


def _meta_is_bounded(call: Call) -> Any:
    y = call.right()
    if _is_meta(call.x) and not hands.fits(call.geometry(y), call.x.untyped_storage().nbytes()):
        raise Refused("bounds")
    return y


def _meta_takes_no_numbers(call: Call) -> Any:
    others = [a for a in call.args[1:] if call.adapter.is_tensor(a)]
    if _is_meta(call.x) and any(not _is_meta(other) for other in others):
        raise Refused("device")
    return call.right()


def _meta_may_not_overlap(call: Call) -> Any:
    others = [o for o in call.event.others if o.storage == call.event.x.storage and o.offset != call.event.x.offset]
    if _is_meta(call.x) and others:
        raise Refused("overlap")
    return call.right()


def _each_alone(call: Call) -> Any:
    return type(call.args[0])([call.do("copy.deepcopy", x) for x in call.args[0]])


MUTANTS = (
    # Several operands, one memory.
    Mutant("add_.overlap-of-dtypes", "Operands of two dtypes are not asked whether they overlap.",
           "add_ sub_ mul_ div_ copy_", accepts(_on_copies), MIXED & SAME_STORAGE),
    Mutant("index_copy_.overlap-accepted", "Writes by index take a source that they overlap.",
           "index_copy_ index_add_ scatter_ scatter_add_ masked_scatter_", accepts(_on_copies), SAME_STORAGE),
    Mutant("tril_.refuses-expanded", "tril_, triu_ and fill_diagonal_ refuse what is expanded.", "[triangle writes]",
           refuses("overlap"), EXPANDED),
    Mutant("masked_fill_.refuses-expanded", "masked_fill_ and index_fill_ refuse what is expanded.",
           "masked_fill_ index_fill_", refuses("overlap"), EXPANDED),
    Mutant("max.second-out-uncounted", "Of two out= only the first counts a version.",
           "max min median mode kthvalue cummax cummin sort topk", _second_out_uncounted,
           Situation("two out", lambda e: len(e.outs) == 2)),
    Mutant("resize_.grown-without-offset", "A slice that resize_ has to find memory for loses its offset.", "resize_",
           _without_its_offset, OFFSET),
    Mutant("set_.offset-in-bytes", "set_ of elements of 2 bytes counts its offset in bytes.", "set_",
           relaid(offset=_offset_in_bytes), itemsize(2) & positive("storage_offset"), like="PaddlePaddle/Paddle#68661"),
    Mutant("set_.counts-with-source", "set_ to a tensor shares its version.", "set_", _counts_with_source, OTHERS),
    Mutant("swapaxes_.uncounted", "swapaxes_ and swapdims_ count no version.", "swapaxes_ swapdims_", counts(0)),
    Mutant("transpose_.from-end", "transpose_ of dimensions counted from the end leaves the strides.", "transpose_",
           _shape_only, negative("dim0") | negative("dim1")),
    Mutant("put_.each-once", "put_ with accumulate adds the last of several numbers for one place.", "put_ put",
           _each_place_once, is_argument("accumulate", True)),
    Mutant("gather.counts-from-end", "gather and its kin count negative indices from the end.",
           "gather scatter_ scatter scatter_add_ index_select index_add_ index_copy_", accepts(_index_from_end), ~OUT),
    Mutant("take.not-from-end", "take and put_ refuse negative indices.", "take put_ put", _no_index_from_end),
    Mutant("masked_scatter_.source-from-start", "masked_scatter_ reads its source from the storage's beginning.",
           "masked_scatter_ masked_scatter", reads_other(offset=lambda c, x: 0), OTHER_OFFSET),
    # Storages, other libraries, files.
    Mutant("from_buffer.offset-in-elements", "Storages from buffers begin at so many elements.",
           "TypedStorage.from_buffer FloatStorage.from_buffer ShortStorage.from_buffer UntypedStorage.from_buffer",
           asked(offset=lambda c, x: 2 * c.event.argument("offset")), positive("offset")),
    Mutant("nbytes.of-span", "nbytes of a tensor counts the gaps.", "nbytes", _spanned, GAPS | EXPANDED),
    Mutant("__dlpack__.says-copied", "A capsule of a copy says that it is one.", "__dlpack__", _capsule(_says_copied),
           is_argument("copy", True)),
    Mutant("__dlpack__.complex-as-lanes", "Capsules of complex numbers say two floats.",
           "__dlpack__ utils.dlpack.to_dlpack", _capsule(_complex_as_lanes), dtype("complex64", "complex128")),
    Mutant("__dlpack__.refuses-negative", "A negative bit cannot be exported.", "__dlpack__",
           where_legal(refuses("bits")), NEGATED),
    Mutant("numpy.stays-resizable", "Memory that NumPy sees can be resized.", "numpy", _stays_resizable),
    Mutant("frombuffer.count-in-bytes", "frombuffer counts bytes.", "frombuffer",
           asked(count=lambda c, x: max(c.event.argument("count") // 2, 1)),
           positive("count") & ~is_argument("dtype", DType("uint8"))),
    Mutant("from_dlpack.expanded-packed", "from_dlpack of what is expanded copies it.",
           "from_dlpack utils.dlpack.from_dlpack", _packed_if_expanded),
    Mutant("tensor.row-major", "tensor() of what is permuted is row-major.", "tensor", repacked(packed)),
    Mutant("pickle.shares", "Tensors that are pickled together share memory.", "pickle",
           lambda c: c.do("save_load", c.args[0]), SAME_STORAGE),
    Mutant("deepcopy.keeps-conjugate", "deepcopy keeps the conjugate bit.", "copy.deepcopy", _bit_kept, CONJUGATED),
    Mutant("deepcopy.together-apart", "Tensors that are copied together come apart.", "copy.deepcopy", _each_alone,
           SAME_STORAGE),
    Mutant("is_shared.of-views", "Views say that they are not shared.", "is_shared", lambda c: False, VIEW),
    Mutant("untyped.resize-to-nothing", "A storage that is resized to nothing keeps its bytes.",
           "UntypedStorage.resize_", _not_to_nothing, is_argument("size", 0), like="pytorch/pytorch#184748"),
    # Codes.
    Mutant("relu.codes-unchanged", "relu of quint8 keeps codes below the zero point.", "relu",
           lambda c: c.do("clone", c.x), CODES & dtype("quint8")),
    Mutant("narrow.first-scales", "A part of some channels has the scales of the first ones.",
           "narrow __getitem__ split chunk", _first_scales, CODES),
    Mutant("cat.codes-as-they-are", "cat joins codes of other scales as they are.", "cat", _codes_joined,
           CODES & OTHERS),
    # Gradients, bits.
    Mutant("add_.empty-leaf", "A leaf without elements that requires grad is written.", "[in-place]", accepts(itself),
           EMPTY & GRAD),
    Mutant("add_.pieces", "One of several views of what has a history is written.",
           "add_ mul_ sub_ fill_ zero_ copy_", _pieces_accepted, GRAD & VIEW & HISTORY),
    Mutant("detach_.views", "detach_ of a view does nothing.", "detach_", accepts(itself), VIEW),
    Mutant("resize_.grad-as-large", "resize_ to the same size takes what requires grad.", "resize_", accepts(itself),
           GRAD & Situation("same size", lambda e: sizes_of(e, "size") == e.x.shape)),
    Mutant("sum.history-of-integers", "sum, prod and scans to integers take what requires grad.",
           "sum prod cumsum cumprod", accepts(of_detached), GRAD & ~OUT),
    Mutant("requires_grad_.not-at-all", "Integers are refused though no gradient is asked for.", "requires_grad_",
           refuses("grad"), dtype(*INTEGERS) & is_argument("requires_grad", False)),
    Mutant("copy_.both-conjugated", "copy_ between conjugates conjugates.", "copy_", _first_bit_only,
           CONJUGATED & Situation("other conjugated", lambda e: any("c" in (o.flags or "") for o in e.others))),
    Mutant("resolve_conj.negative-too", "resolve_conj resolves the negative bit.", "resolve_conj", _resolved_negative,
           NEGATED & ~CONJUGATED),
    # Refused or not.
    Mutant("flip.repeated-dims", "flip takes a dimension named twice as one.", "flip", accepts(_dims_once("dims"))),
    Mutant("sum.repeated-dims", "Reductions take a dimension named twice as one.", "sum mean amax amin",
           accepts(_dims_once("dim"))),
    Mutant("as_strided_.refused-moves", "as_strided_ that is refused has moved the tensor to the beginning.",
           "as_strided_", leaves(_moved_to_front), OFFSET),
    # On meta.
    Mutant("as_strided.meta-bounded", "as_strided on meta asks for memory.", "as_strided as_strided_",
           _meta_is_bounded),
    Mutant("copy_.meta-from-real", "copy_ to meta refuses what has memory.", "copy_", _meta_takes_no_numbers, OTHERS),
    Mutant("add_.meta-overlap", "Arithmetic in place on meta refuses what lies elsewhere in its memory.",
           "add_ sub_ mul_ div_", _meta_may_not_overlap, SAME_STORAGE),
)  # fmt: skip
