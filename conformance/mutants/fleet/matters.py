"""What is wrong around the numbers: views, memory, exchange, histories, and what is left by what is refused.

A third fleet: see `numbers`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...observation import TensorState
from ...program import DType, Ref, Slice
from ...situations import (
    CHANNELS_LAST,
    CHANNELS_LAST_3D,
    CONJUGATED,
    EMPTY,
    EXPANDED,
    GRAD,
    HISTORY,
    NEGATED,
    OFFSET,
    OTHER_BITS,
    OVERLAPPING,
    SCALAR,
    STEPPED,
    VIEW,
    Situation,
    asks,
    dtype,
    given,
    is_argument,
    on_operand,
    on_other,
    rank_over,
)
from ..call import Call, Geometry
from ..hands import lay_out, set_base, set_version
from ..mutant import Mutant
from ..wrongs import (
    Refused,
    Wrong,
    accepts,
    another_object,
    asked,
    cleared,
    copied,
    counts,
    ignores_bits,
    itself,
    leaves,
    nowhere,
    packed,
    past_bits,
    refuses,
    relaid,
    repacked,
    where_legal,
    without_bits,
)
from .numbers import as_dtype, if_possible

LOADS = "pickle save_load copy.deepcopy"
FROM_MEMORY = "from_dlpack utils.dlpack.from_dlpack"
RARE_VIEWS = "movedim moveaxis swapaxes swapdims unflatten diagonal mT view_as expand_as reshape_as"
WRITERS = "[index writes] lerp_ clamp_ addcmul_ sqrt_ neg_ div_ pow_ tril_ triu_ cumsum_"
STORED = "UntypedStorage.__setitem__ TypedStorage.__setitem__"
OTHER_GRAD = on_other("other requires grad", lambda o: "g" in (o.flags or ""))
ALONE = on_operand("one image", lambda x: len(x.shape) == 4 and x.shape[0] == 1 and 0 not in x.shape)


def _moved_first(call: Call) -> Any:
    y = call.right()
    return y.movedim(-1, 0)


def _destinations_sorted(call: Call) -> Any:
    return call.with_arguments(destination=tuple(sorted(call.event.argument("destination"))))


def _several(name: str) -> Situation:
    return Situation(f"several of {name}", lambda e: isinstance(e.argument(name), tuple) and len(e.argument(name)) > 1)


def _has(name: str, number: int) -> Situation:
    return Situation(
        f"{number} in {name}", lambda e: isinstance(e.argument(name), tuple) and number in e.argument(name)
    )


def _splits(e: Any) -> bool:
    size = e.argument("size")
    return isinstance(size, tuple) and len(size) > len(e.x.shape) > 0


def _one_dim(e: Any) -> bool:
    rank = len(e.x.shape)
    ends = e.argument("start_dim"), e.argument("end_dim")
    return rank > 0 and all(type(d) is int for d in ends) and ends[0] % rank == ends[1] % rank


def _middle(e: Any) -> bool:
    rank = len(e.x.shape)
    start, end = e.argument("start_dim"), e.argument("end_dim")
    return type(start) is int and type(end) is int and rank > 2 and 0 < start % rank < end % rank


def _as_plain(call: Call) -> Any:
    return call.right().conj()


def _no_bases(call: Call) -> Any:
    outcome = call.right()
    for y in call.tensors(outcome):
        set_base(y, None)
    return outcome


def _detached(call: Call) -> Any:
    outcome = call.right()
    if isinstance(outcome, (tuple, list)):
        return type(outcome)([y.detach() for y in outcome])
    return outcome.detach()


def _all_detached(call: Call) -> Any:
    def bare(arg: Any) -> Any:
        if isinstance(arg, tuple):
            return tuple([bare(item) for item in arg])
        return arg.detach() if call.adapter.is_tensor(arg) else arg

    return call.given([bare(arg) for arg in call.args])


def _grown_apart(call: Call) -> Any:
    """Growing takes memory of its own, and leaves views behind."""
    nbytes = call.x.untyped_storage().nbytes()
    outcome = call.right()
    if call.x.untyped_storage().nbytes() > nbytes:
        call.x._storage = call.do("copy.deepcopy", call.x.detach())._storage
    return outcome


def _as_vector(call: Call) -> Any:
    outcome = call.right()
    for y in call.tensors(outcome):
        if tuple(y.shape) == ():
            lay_out(y, call.geometry(y)._replace(shape=(1,), strides=(1,)))
    return outcome


def _refuses_growth(call: Call) -> Any:
    source = call.args[1] if len(call.args) > 1 else None
    if source is None or not callable(getattr(source, "nbytes", None)):
        return call.right()
    before = source.nbytes()
    outcome = call.right()
    if source.nbytes() > before:
        raise Refused("bounds")
    return outcome


def _version_kept(call: Call) -> Any:
    outcome = call.right()
    for y in call.tensors(outcome):
        set_version(y, call.x._version)
    return outcome


def _emptied(call: Call) -> None:
    lay_out(call.x, call.before._replace(shape=(0,), strides=(1,)))


def _converted(call: Call) -> Any:
    """Numbers of another dtype are converted."""
    mine, source = call.args[0], call.args[1]
    if mine.dtype == source.dtype or mine.nbytes() != source.nbytes():
        return call.right()
    for place, number in enumerate(source.tolist()):
        mine[place] = number
    return mine


def _from_end(index: Any) -> bool:
    return type(index) is int and index < 0


def _place_before(call: Call) -> Any:
    place = call.args[1]
    return call.given([call.args[0], place - 1 if -len(call.args[0]) < place else place, *call.args[2:]])


def _signed_bytes(call: Call) -> Any:
    return [item - 256 if item > 127 else item for item in call.right()]


def _same_content(call: Call) -> Any:
    one, other = call.args[:2]
    return type(one) is type(other) and one.tolist() == other.tolist()


def _bytes_as_size(call: Call) -> Any:
    return call.args[0].untyped().resize_(call.args[1])


def _words_swapped(call: Call) -> Any:
    """Numbers of eight bytes are swapped in halves."""
    storage = call.right()
    raw = storage.untyped()
    data = raw._bytes
    for start in range(0, len(data) // 8 * 8, 8):
        half = bytes(data[start : start + 4])
        data[start : start + 4] = data[start + 4 : start + 8]
        data[start + 4 : start + 8] = list(half)
    return storage


def _of_copy(call: Call) -> Any:
    return call.given([call.args[0].copy(), *call.args[1:]])


def _read_only_copied(call: Call) -> Any:
    array = call.args[0]
    writable = getattr(getattr(array, "flags", None), "writeable", True)
    return call.right() if writable else _of_copy(call)


def _array_of(*names: str) -> Wrong:
    """An array of these dtypes is refused."""

    def wrong(call: Call) -> Any:
        if str(getattr(call.args[0], "dtype", "")) in names:
            raise Refused("dtype")
        return call.right()

    return wrong


def _copy_if_needed(call: Call) -> Any:
    return call.with_arguments(copy=None)


def _as_half(call: Call) -> Any:
    y = call.right()
    ns = call.adapter.namespace
    return y.view(ns.float16) if y.dtype == ns.bfloat16 else y


def _halves(call: Call) -> Any:
    """What lies halfway between two codes is rounded away from 0."""
    x, scale = call.x, call.event.argument("scale")
    return call.on(x + x.sign() * (scale * 2**-12))


def _first_scale(call: Call) -> Any:
    scales = call.args[1]
    return call.given([call.x, scales[:1].expand(tuple(scales.shape)).contiguous(), *call.args[2:]])


def _not_contiguous(state: TensorState) -> TensorState:
    if state.contiguity == "FTF" and state.shape[0] == 1:
        return state._replace(contiguity="FFF")
    return state


def _nothing_packed(call: Call, y: Geometry) -> tuple[int, ...]:
    return call.before.shape


def _by_value(wrong: Callable[[Call], Any]) -> Wrong:
    return accepts(if_possible(wrong))


def _is_leaf_view(e: Any) -> bool:
    flags = e.x.flags or ""
    return "g" in flags and "v" in flags


MUTANTS = (
    # Views.
    Mutant("rare-views.no-offset", "movedim, unflatten, diagonal and the like of a slice start at the beginning.",
           RARE_VIEWS, relaid(offset=nowhere), OFFSET & VIEW),
    Mutant("expand.minus-one", "expand refuses -1.", "expand", refuses("size"), _has("size", -1)),
    Mutant("expand.of-expanded", "expand of what is expanded copies.", "expand broadcast_to expand_as", copied,
           EXPANDED),
    Mutant("unfold.size-zero", "Windows of size 0 are refused.", "unfold", refuses("size"), is_argument("size", 0)),
    Mutant("unfold.of-scalar", "unfold of a 0-dim tensor is refused.", "unfold", refuses("dimension"), SCALAR),
    Mutant("diagonal.first", "diagonal of several matrices comes first, not last.", "diagonal",
           if_possible(_moved_first), rank_over(2)),
    Mutant("movedim.sorted", "movedim of several dimensions sorts where they go.", "movedim moveaxis",
           if_possible(_destinations_sorted), _several("destination")),
    Mutant("mT.of-vectors", "mT and adjoint of vectors answer them.", "mT adjoint H mH", accepts(itself),
           on_operand("below two", lambda x: len(x.shape) < 2)),
    Mutant("t.of-three", "t and H of three dimensions swap the last two.", "t H t_copy",
           accepts(lambda c: c.x.transpose(-2, -1)), rank_over(2)),
    Mutant("view.splits-stepped", "view refuses to split a stepped dimension.", "view", where_legal(refuses("view")),
           STEPPED & Situation("more dimensions", _splits)),
    Mutant("reshape.of-scalar", "reshape of a 0-dim tensor copies.", "reshape ravel", copied, SCALAR),
    Mutant("flatten.middle", "flatten of dimensions in the middle copies.", "flatten", copied,
           Situation("in the middle", _middle)),
    Mutant("flatten.one-dim", "flatten of one dimension is a new tensor over the same memory.", "flatten",
           another_object,
           Situation("one dim", _one_dim)),
    Mutant("unflatten.minus-one", "unflatten refuses -1.", "unflatten", refuses("size"), _has("sizes", -1)),
    Mutant("as_strided.loses-bit", "as_strided and unfold of a conjugate resolve nothing and lose the bit.",
           "as_strided unfold diagonal", if_possible(_as_plain), CONJUGATED),
    Mutant("view.dtype-of-conjugate", "A conjugate is seen as another dtype.", "view.dtype",
           _by_value(past_bits), CONJUGATED | NEGATED),
    Mutant("view.dtype-of-nothing", "Nothing that is seen as another item size keeps its sizes.", "view.dtype",
           relaid(shape=_nothing_packed), EMPTY),
    Mutant("view.dtype-truths", "Bytes that are seen as truths are converted.", "view.dtype",
           if_possible(lambda c: c.x.bool()), dtype("uint8", "int8", "float8_e5m2")
           & Situation("as truths", lambda e: e.argument("dtype") == DType("bool"))),
    Mutant("view.dtype-float8", "Bytes are not seen as float8.", "view.dtype", refuses("dtype"),
           Situation("as float8", lambda e: isinstance(e.argument("dtype"), DType)
                     and e.argument("dtype").name.startswith("float8"))),
    Mutant("squeeze.dims-not-one", "squeeze of several dimensions refuses those that are longer.", "squeeze squeeze_",
           refuses("size"), _several("dim") & Situation("longer", lambda e: any(
               -len(e.x.shape) <= d < len(e.x.shape) and e.x.shape[d] > 1 for d in e.argument("dim")))),
    Mutant("views.no-base", "real, imag, view_as_real and diagonal are recorded as no views.",
           "real imag view_as_real view_as_complex diagonal unfold", _no_bases),
    Mutant("reshape.no-base", "reshape and flatten are recorded as no views.", "reshape flatten ravel reshape_as",
           lambda c: (y := c.right(), y if y is c.x else _no_bases(c))[1]),
    # Formats.
    Mutant("channels-last.one-image", "Functions of one image in channels_last are row-major.",
           "[unary] [binary] clone", repacked(packed), CHANNELS_LAST & ALONE),
    Mutant("contiguity.one-image", "One image in channels_last does not say so.", shows=_not_contiguous),
    Mutant("format.wrong-rank", "channels_last of other than four dimensions is row-major.",
           "contiguous clone to [like factories]", _by_value(lambda c: c.x.clone().contiguous()),
           asks("channels_last", "channels_last_3d")),
    Mutant("like.channels-last-3d", "zeros_like of channels_last_3d is row-major.", "[like factories] [conversions] to",
           repacked(packed), CHANNELS_LAST_3D),
    Mutant("like.expanded", "zeros_like and clone of expanded rows and permuted columns are row-major.",
           "[like factories] clone neg relu", repacked(packed), EXPANDED & rank_over(2)),
    # Bits.
    Mutant("conj.of-negative", "conj forgets a negative bit.", "conj adjoint mH", if_possible(past_bits),
           NEGATED),
    Mutant("resolve_neg.conjugate", "resolve_neg resolves a conjugate, too.", "resolve_neg",
           if_possible(lambda c: c.right().resolve_conj()), CONJUGATED),
    Mutant("equal.bits", "equal and is_set_to ignore bits.", "equal allclose", ignores_bits, OTHER_BITS | CONJUGATED),
    Mutant("fills.bits", "fill_ and masked_fill_ through a conjugate store what they are given.",
           "masked_fill_ index_fill_ __setitem__", if_possible(lambda c: (c.on(without_bits(c, c.x)), c.x)[1]),
           CONJUGATED | NEGATED),
    Mutant("pickle.of-negative", "A negative bit is not stored.", LOADS, if_possible(past_bits), NEGATED),
    # Metadata.
    Mutant("resize_.grows-apart", "resize_ that grows leaves views of the memory behind.", "resize_ resize_as_",
           if_possible(_grown_apart)),
    Mutant("resize_.to-scalar", "resize_ to no dimensions leaves one.", "resize_", _as_vector,
           is_argument("size", ())),
    Mutant("set_.dtype", "set_ to memory of another dtype is accepted.", "set_", accepts(itself)),
    Mutant("set_.grows", "set_ past the end of a storage is refused.", "set_", _refuses_growth),
    Mutant("set_.refused-empties", "set_ that is refused has emptied the tensor.", "set_ as_strided_ resize_",
           leaves(_emptied)),
    Mutant("resize_.no-version", "resize_ counts no version.", "resize_ resize_as_",
           counts(0)),
    Mutant("views_.base", "Changes of metadata in place forget what the tensor is a view of.",
           "squeeze_ unsqueeze_ transpose_ t_ as_strided_ swapaxes_", _no_bases, VIEW),
    # Writes that are refused, or should be.
    Mutant("index-writes.refused-clears", "Writes through an index that are refused have cleared the tensor.",
           "[index writes]", leaves(cleared)),
    Mutant("maths_.refused-clears", "Functions in place that are refused have cleared the tensor.",
           "sqrt_ exp_ div_ pow_ lerp_ clamp_ addmm_ addcmul_ bitwise_and_ logical_and_ cumsum_", leaves(cleared)),
    Mutant("index-writes.accepts-expanded", "Writes to expanded tensors are accepted and lost.", WRITERS,
           accepts(itself), EXPANDED),
    Mutant("index-writes.accepts-windows", "Writes to overlapping windows are accepted and lost.", WRITERS,
           accepts(itself), OVERLAPPING & ~EXPANDED),
    Mutant("storage.refused-fills", "Assignment to a storage that is refused has cleared it.", STORED,
           leaves(lambda c: c.args[0].fill_(0))),
    # Storages.
    Mutant("typed.copy-converts", "copy_ to a typed storage converts numbers of another dtype.",
           "TypedStorage.copy_", if_possible(_converted)),
    Mutant("typed.resize-in-bytes", "resize_ of a typed storage counts bytes.", "TypedStorage.resize_",
           if_possible(_bytes_as_size)),
    Mutant("storage.set-from-end", "Assignment to a storage counts from the end one too far.", STORED,
           if_possible(_place_before), Situation("from the end", lambda e: _from_end(e.argument("index")))),
    Mutant("storage.set-step", "Assignment to a stepped slice of a storage writes all.", STORED,
           if_possible(lambda c: c.given([c.args[0], slice(c.args[1].start, c.args[1].stop), *c.args[2:]])),
           Situation("a step", lambda e: isinstance(e.argument("index"),
           Slice) and (e.argument("index").step or 1) > 1)),
    Mutant("storage.signed-bytes", "Bytes of a storage are listed as signed.", "UntypedStorage.tolist "
           "UntypedStorage.__iter__", _signed_bytes),
    Mutant("storage.equal-content", "Storages are equal where their bytes are.",
           "UntypedStorage.__eq__ TypedStorage.__eq__", if_possible(_same_content)),
    Mutant("from_buffer.big-eight", "Numbers of eight bytes in big order are swapped in halves of four.",
           "UntypedStorage.from_buffer TypedStorage.from_buffer", if_possible(_words_swapped),
           is_argument("byte_order", "big") & Situation("eight bytes", lambda e: getattr(
               e.argument("dtype"), "name", "") in ("int64", "float64"))),
    Mutant("storage.truth", "A storage without bytes is true.", "TypedStorage.__bool__ UntypedStorage.__bool__",
           lambda c: True),
    # Exchange.
    Mutant("numpy.bfloat16", "numpy of bfloat16 is float32.", "numpy __array__ numpy.asarray",
           accepts(lambda c: c.on(c.x.float())), dtype("bfloat16")),
    Mutant("numpy.force", "numpy ignores force.", "numpy", asked(force=lambda c, x: False), is_argument("force", True)),
    Mutant("numpy.array-dtype", "__array__ ignores a dtype.", "__array__ numpy.asarray",
           if_possible(asked(dtype=lambda c, x: None)), given("dtype")),
    Mutant("from_numpy.read-only", "What cannot be written is copied.", "from_numpy as_tensor asarray",
           if_possible(_read_only_copied)),
    Mutant("from_numpy.negative-strides", "An array of negative strides is copied.", "from_numpy",
           accepts(_of_copy)),
    Mutant("from_numpy.uint16", "Arrays of uint16, uint32 and uint64 are refused.", "from_numpy as_tensor",
           _array_of("uint16", "uint32", "uint64")),
    Mutant("asarray.copy-false", "asarray(copy=False) copies what it cannot share.", "asarray from_dlpack",
           accepts(_copy_if_needed), is_argument("copy", False)),
    Mutant("tensor.whole-numbers", "tensor of whole numbers is int32.", "tensor as_tensor", as_dtype("int32"),
           is_argument("dtype", None) & Situation("whole numbers", lambda e: isinstance(e.argument("data"), int) or (
               isinstance(e.argument("data"), tuple) and not isinstance(e.argument("data"), Ref)
               and all(type(i) is int for i in e.argument("data")) and bool(e.argument("data"))))),
    Mutant("frombuffer.grad", "frombuffer, asarray and tensor ignore requires_grad.", "frombuffer asarray tensor",
           if_possible(asked(requires_grad=lambda c, x: False)), is_argument("requires_grad", True)),
    Mutant("dlpack.copy", "from_dlpack ignores copy=True.", f"{FROM_MEMORY} __dlpack__",
           if_possible(asked(copy=lambda c, x: None)), is_argument("copy", True)),
    Mutant("dlpack.bfloat16", "bfloat16 comes through DLPack as float16.", FROM_MEMORY, if_possible(_as_half)),
    # Copies.
    Mutant("deepcopy.version", "deepcopy keeps the version.", "copy.deepcopy pickle", if_possible(_version_kept)),
    Mutant("pickle.expanded", "What is expanded is stored whole.", "pickle save_load", repacked(packed), EXPANDED),
    Mutant("pickle.scalar", "A 0-dim tensor is stored as one of one dimension.", LOADS, _as_vector, SCALAR),
    Mutant("deepcopy.history", "deepcopy of what has a history copies it.", "copy.deepcopy",
           accepts(lambda c: c.on(c.x.detach())), HISTORY & GRAD),
    # Histories.
    Mutant("grad.of-second", "Results require grad only where the first operand does.",
           "[binary] [ternary] [joins] [products]", if_possible(_detached), OTHER_GRAD & ~GRAD),
    Mutant("out.grad", "out= of operands that require grad is accepted.", "[unary] [binary] [ternary] [reductions]",
           accepts(_all_detached), given("out")),
    Mutant("grad.leaf-view-written", "A view of a leaf that requires grad is written.", "add_ mul_ fill_ zero_ copy_",
           accepts(_all_detached), Situation("a view that requires grad", _is_leaf_view)),
    Mutant("to.grad-lost", "Conversions of what requires grad require none.", "to [conversions]",
           if_possible(_detached),
           GRAD & Situation("another dtype", lambda e: e.entry != "to" or isinstance(e.argument("dtype"), DType))),
    # Quantised.
    Mutant("quantize.halves-up", "Halves between two codes are rounded away from 0.", "quantize_per_tensor",
           if_possible(_halves)),
    Mutant("quantize.first-scale", "Quantising per channel takes the first scale for all.", "quantize_per_channel",
           if_possible(_first_scale)),
    Mutant("int_repr.signed", "Codes of quint8 are int8.", "int_repr",
           if_possible(lambda c: c.right().view(c.adapter.namespace.int8)), on_operand("quint8", lambda x: x.dtype
                                                                                       == "quint8")),
    Mutant("q_scales.float32", "Scales per channel are float32.", "q_per_channel_scales", as_dtype("float32")),
    Mutant("dequantize.0-dim", "dequantize of a 0-dim tensor has one dimension.", "dequantize", _as_vector, SCALAR),
)  # fmt: skip
