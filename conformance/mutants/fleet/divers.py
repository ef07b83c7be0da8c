"""A tenth author's, of storages: files, exchange, bits, codes, dtypes, the device meta, reductions, gathers, errors."""

from __future__ import annotations

from typing import Any

from ...program import DType, Ref, Slice
from ...situations import (
    BROADCASTS,
    CHANNELS_LAST,
    CONJUGATED,
    EMPTY,
    EXPANDED,
    FILLED,
    GRAD,
    NEGATED,
    OFFSET,
    OTHER_OFFSET,
    SCALAR,
    Situation,
    dtype,
    given,
    is_argument,
    itemsize,
    negative,
    on_other,
    positive,
    rank,
    rank_over,
)
from .. import hands
from ..call import Call
from ..mutant import Mutant
from ..wrongs import (
    Refused,
    argument,
    asked,
    ignores_bits,
    itself,
    nowhere,
    packed,
    raises_as,
    reads,
    reads_other,
    relaid,
    repacked,
    retyped,
    tolerates,
    where_legal,
)


def _sliced_copy(call: Call) -> Any:
    return call.do("UntypedStorage.clone", call.right())


FROM_END = Situation(
    "a slice from the end",
    lambda e: isinstance(e.argument("index"), Slice) and (e.argument("index").start or 0) < 0,
)


def _but_last(call: Call) -> Any:
    if str(call.x.device) == "meta":
        return call.right()
    count = len(call.x)
    kept = call.do("TypedStorage.__getitem__", call.x, count - 1) if count % 2 else None
    outcome = call.right()
    if kept is not None:
        call.do("TypedStorage.__setitem__", call.x, count - 1, kept)
    return outcome


def _bytes_for_elements(call: Call) -> Any:
    return call.with_arguments(size=int(call.event.argument("size")) // call.x.element_size())


def _never_shrinks(call: Call) -> Any:
    size = call.event.argument("size")
    return call.x if type(size) is int and 0 <= size < call.x.nbytes() else call.right()


def _same_type_itself(call: Call) -> Any:
    wanted = {"TypedStorage.float": "float32", "TypedStorage.double": "float64", "TypedStorage.long": "int64"}
    return call.x if call.x.dtype == call.adapter.dtype(wanted[call.step.op]) else call.right()


def _equal_contents(call: Call) -> Any:
    other = call.args[1]
    if not call.adapter.is_storage(other) or "meta" in (str(call.x.device), str(other.device)):
        return call.right()
    return call.x.tolist() == other.tolist()


def _second_apart(call: Call) -> Any:
    outcome = list(call.right())
    return [outcome[0], *[call.do("clone", y) if call.adapter.is_tensor(y) else y for y in outcome[1:]]]


SEVERAL = Situation("several tensors", lambda e: isinstance(e.argument("obj"), tuple) and len(e.argument("obj")) > 1)


def _clone(call: Call) -> Any:
    return call.do("clone", call.x)


def _fills_the_memory(call: Call) -> Any:
    call.on(call.do("conj", call.x))
    return call.x


def _bits_of_halves(call: Call) -> Any:
    codes = call.do("view", call.x, call.adapter.dtype("int16"))
    return call.do("ne", codes, 0)


def _saturated(call: Call) -> Any:
    return call.on(call.do("clamp", call.x, -128, 127))


TO_BOOL = Situation("to bool", lambda e: e.entry == "bool" or e.argument("dtype") == DType("bool"))
TO_BYTES = Situation("to int8", lambda e: e.entry == "char" or e.argument("dtype") == DType("int8"))


def _nonnegative(dims: Any) -> Any:
    return tuple([d for d in dims if d >= 0])


MIXED_DIMS = Situation(
    "dims from both ends",
    lambda e: isinstance(e.argument("dim"), tuple) and len({d < 0 for d in e.argument("dim")}) == 2,
)


def _last_of_equals(call: Call) -> Any:
    dim = call.event.argument("dim") % max(len(call.before.shape), 1)
    found = call.on(call.do("flip", call.x, (dim,)))
    return call.do("add", call.do("neg", found), call.before.shape[dim] - 1)


def _clamped_index(call: Call) -> Any:
    least = call.before.shape[call.event.argument("dim")] - 1
    index = call.named("index")
    return call.with_arguments(index=call.do("clamp", index, 0, least))


def _second_without_dim(call: Call) -> Any:
    outcome = call.right()
    y = call.geometry(outcome[1])
    dim = call.event.argument("dim") % max(len(y.shape), 1)
    hands.lay_out(
        outcome[1],
        y._replace(shape=y.shape[:dim] + y.shape[dim + 1 :], strides=y.strides[:dim] + y.strides[dim + 1 :]),
    )
    return outcome


def _looks_on_meta(kind: str) -> Any:
    def wrong(call: Call) -> Any:
        if str(call.x.device) == "meta":
            raise Refused(kind)
        return call.right()

    return wrong


MUTANTS = (
    Mutant(
        "diver-storage.tail",
        "A slice of a storage from its end is a copy.",
        "UntypedStorage.__getitem__",
        _sliced_copy,
        FROM_END,
    ),
    Mutant(
        "diver-typed.fill-odd",
        "fill_ of a typed storage of an odd number of elements leaves the last.",
        "TypedStorage.fill_",
        _but_last,
    ),
    Mutant(
        "diver-from_buffer.big",
        "A storage from a big-endian buffer begins at its start.",
        "UntypedStorage.from_buffer",
        asked(offset=nowhere),
        is_argument("byte_order", "big") & positive("offset"),
    ),
    Mutant(
        "diver-typed.resize",
        "resize_ of a typed storage takes bytes for elements.",
        "TypedStorage.resize_",
        _bytes_for_elements,
        positive("size"),
    ),
    Mutant(
        "diver-storage.keeps",
        "resize_ of a storage never makes it shorter.",
        "UntypedStorage.resize_",
        _never_shrinks,
    ),
    Mutant(
        "diver-typed.same",
        "A conversion of a typed storage to what it is answers itself.",
        "TypedStorage.float TypedStorage.double TypedStorage.long",
        _same_type_itself,
    ),
    Mutant(
        "diver-storage.equal",
        "Untyped storages are equal where their bytes are.",
        "UntypedStorage.__eq__",
        _equal_contents,
    ),
    Mutant(
        "diver-pickle.offset",
        "Pickling a vector loses its offset.",
        "pickle",
        relaid(offset=nowhere),
        OFFSET & rank(1),
    ),
    Mutant(
        "diver-file.shares",
        "Of several tensors in one file each has memory of its own.",
        "save_load",
        _second_apart,
        SEVERAL,
    ),
    Mutant(
        "diver-deepcopy.part",
        "A deep copy of a part holds no more than the part.",
        "copy.deepcopy",
        _clone,
        OFFSET & ~GRAD & ~CONJUGATED & Situation("one object", lambda e: isinstance(e.argument("x"), Ref)),
    ),
    Mutant(
        "diver-dlpack.halves",
        "from_dlpack of elements of two bytes begins at the start of the storage.",
        "from_dlpack utils.dlpack.from_dlpack",
        reads(offset=nowhere),
        OFFSET & itemsize(2),
        like="NVIDIA/cuda-python#2592",
    ),
    Mutant(
        "diver-asarray.copy",
        "asarray answers a tensor itself although a copy is asked for, with the dtype that it has.",
        "asarray",
        itself,
        is_argument("copy", True) & Situation("its dtype", lambda e: e.argument("dtype") == DType(e.x.dtype)),
    ),
    Mutant(
        "diver-frombuffer.count",
        "frombuffer with a count begins at the start of the buffer.",
        "frombuffer",
        asked(offset=nowhere),
        positive("count") & positive("offset"),
    ),
    Mutant(
        "diver-fill_.conjugated",
        "fill_ of a conjugated tensor by a complex number writes the number as it is.",
        "fill_",
        _fills_the_memory,
        CONJUGATED & Situation("complex number", lambda e: isinstance(e.argument("value"), complex)),
    ),
    Mutant(
        "diver-copy_.other-bit",
        "copy_ of a tensor with a bit from another storage forgets it in double precision.",
        "copy_",
        ignores_bits,
        dtype("complex128", "float64")
        & on_other("other with a bit", lambda o: bool({"c", "n"} & set(o.flags or "")))
        & ~CONJUGATED,
    ),
    Mutant(
        "diver-codes.images",
        "int_repr of images in channels_last is row-major.",
        "int_repr dequantize",
        repacked(packed),
        CHANNELS_LAST,
        like="pytorch/executorch#16429",
    ),
    Mutant(
        "diver-half.truth",
        "The negative zero in half precision is true.",
        "bool to",
        _bits_of_halves,
        dtype("float16", "bfloat16") & TO_BOOL & ~NEGATED & ~given("memory_format"),
    ),
    Mutant(
        "diver-bytes.saturate",
        "Integers that int8 does not hold become its largest and smallest.",
        "to char",
        _saturated,
        dtype("int16", "int32", "int64") & TO_BYTES,
    ),
    Mutant(
        "diver-sum.both-ends",
        "Reductions over dimensions from both ends that are kept forget the negative ones.",
        "sum mean amax amin nansum",
        asked(dim=argument("dim", _nonnegative)),
        MIXED_DIMS & given("keepdim"),
    ),
    Mutant(
        "diver-argmax.equals",
        "argmax and argmin of integers along a dimension answer the last of equals.",
        "argmax argmin",
        where_legal(_last_of_equals),
        dtype("int64", "int32", "int16", "int8", "uint8")
        & Situation("a dimension", lambda e: type(e.argument("dim")) is int)
        & rank_over(0)
        & ~given("keepdim")
        & ~Situation("out=", lambda e: bool(e.outs)),
    ),
    Mutant(
        "diver-gather.index",
        "gather from a vector reads its index from the start of the storage.",
        "gather index_select",
        reads_other(offset=nowhere),
        rank(1) & OTHER_OFFSET,
    ),
    Mutant(
        "diver-gather.past",
        "gather along the last dimension takes the last element for an index past the end.",
        "gather",
        tolerates(_clamped_index),
        negative("dim") & FILLED & Situation("no out=", lambda e: not e.outs),
    ),
    Mutant(
        "diver-meta.spread",
        "A write on the device meta looks for overlap.",
        "add_ mul_ copy_",
        _looks_on_meta("overlap"),
        EXPANDED,
    ),
    Mutant(
        "diver-five.indices",
        "An index out of range in five dimensions is another error.",
        "select __getitem__",
        raises_as(RuntimeError),
        rank(5),
    ),
    Mutant(
        "diver-pairs.keepdim",
        "The second of max and min along a kept dimension lacks it for three dimensions.",
        "max min median",
        _second_without_dim,
        rank(3)
        & given("keepdim")
        & Situation("a dimension", lambda e: type(e.argument("dim")) is int)
        & Situation("no out=", lambda e: not e.outs),
    ),
    Mutant(
        "diver-nonzero.rows",
        "nonzero of three dimensions and more is row-major.",
        "nonzero argwhere",
        repacked(packed),
        rank_over(2),
    ),
    Mutant(
        "diver-item.negative",
        "item and tolist of a 0-dim tensor show the memory without its bits.",
        "item tolist",
        ignores_bits,
        SCALAR & (NEGATED | CONJUGATED),
    ),
    Mutant(
        "diver-prod.nothing",
        "The product of nothing along a kept dimension is 0.",
        "prod",
        lambda call: call.do("mul", call.right(), 0),
        EMPTY & given("keepdim") & Situation("no out=", lambda e: not e.outs),
    ),
    Mutant(
        "diver-where.spread",
        "where takes a broadcast condition with an offset from the start of its storage.",
        "where",
        reads(offset=nowhere),
        OFFSET & BROADCASTS,
    ),
    Mutant(
        "diver-product.conjugated",
        "A matrix product takes a second operand that is conjugated and transposed as its memory has it.",
        "mm matmul",
        ignores_bits,
        on_other("other conjugated in another order", lambda o: o.contiguity[0] == "F" and "c" in (o.flags or "")),
    ),
    Mutant(
        "diver-cumprod.short",
        "Scans of short integers along a dimension from the end are short.",
        "cumsum cumprod",
        retyped(lambda call, y: call.adapter.dtype("int16")),
        dtype("int16") & negative("dim") & ~given("dtype") & Situation("no out=", lambda e: not e.outs),
    ),
)
