"""Writing in place: who sees a write, what it must leave alone, and which overlaps are refused or tolerated."""

from __future__ import annotations

from ..classify import NOTHING, Event
from ..layout import extent, is_dense, is_expanded, numel, strides
from ..observation import TensorState
from ..operations import OPERATIONS, group
from ..program import ITEMSIZES, Ref
from ._define import GEOMETRY, WRITING, Family, is_channels_last, succeeded

family = Family("in-place")
INDEXED = group("index writes")
FLAGGED = " ".join(name for name, operation in OPERATIONS.items() if "inplace" in operation.parameters)
rule = family.rule


def _wrote(e: Event) -> bool:
    return e.raised is None and e.x is not NOTHING


def _by_tensors(e: Event) -> bool:
    index = e.argument("index")
    return isinstance(index, tuple) and any(isinstance(item, Ref) for item in index)


def _bytes(state: TensorState) -> tuple[int, int]:
    low, high = extent(state.shape, strides(state), state.offset or 0)
    itemsize = ITEMSIZES.get(state.dtype, 1)
    return low * itemsize, high * itemsize


def _meet(a: TensorState, b: TensorState) -> bool:
    (a0, a1), (b0, b1) = _bytes(a), _bytes(b)
    return a.storage == b.storage and a0 < b1 and b0 < a1


@rule(
    "in-place.returns-self",
    "An in-place operation answers with the tensor itself.",
    "4.3.7",
    WRITING,
    "sharing shape",
)
def _(e: Event) -> bool:
    return e.same


@rule(
    "in-place.addressed-only",
    "A write changes the bytes that its tensor addresses and no others: gaps, neighbours, guards.",
    "1.3",
    WRITING,
    "storage",
)
def _(e: Event) -> bool:
    return _wrote(e)


@rule(
    "in-place.values",
    "Each element is computed from the operands' elements at its index.",
    "5.1",
    WRITING,
    "values",
)
def _(e: Event) -> bool:
    return _wrote(e)


@rule(
    "in-place.through-views",
    "A write through one tensor is seen through every other over the same memory.",
    "5.3",
    WRITING,
    "values storage",
)
def _(e: Event) -> bool:
    return _wrote(e) and any(key != e.x_key and _meet(e.x, state) for key, state in e.before.items())


@rule("in-place.other-storages", "A write leaves every other storage alone.", "1.7", WRITING, "storage")
def _(e: Event) -> bool:
    return _wrote(e) and any(state.storage != e.x.storage for state in e.before.values())


@rule(
    "in-place.keeps-layout",
    "A write never changes shape, strides or offset.",
    "4.3.7",
    WRITING,
    f"{GEOMETRY} contiguity",
)
def _(e: Event) -> bool:
    return _wrote(e)


@rule(
    "in-place.version",
    "A write adds one to the version counter, for the tensor and all that share it.",
    "5.3",
    WRITING,
    "flags",
)
def _(e: Event) -> bool:
    return _wrote(e)


@rule(
    "in-place.empty",
    "Writing to a tensor without elements changes no byte, but counts as a write.",
    "5.3",
    WRITING,
    "storage flags raises",
)
def _(e: Event) -> bool:
    return _wrote(e) and numel(e.x) == 0


@rule(
    "in-place.strided",
    "A tensor with gaps is written element by element, the gaps untouched.",
    "1.3",
    WRITING,
    "storage values",
)
def _(e: Event) -> bool:
    return _wrote(e) and numel(e.x) > 1 and not is_dense(e.x)


@rule(
    "in-place.offset",
    "A write starts at the tensor's offset, not at the start of its storage.",
    "1.3",
    WRITING,
    "storage values",
)
def _(e: Event) -> bool:
    return _wrote(e) and bool(e.x.offset)


@rule(
    "in-place.broadcasts",
    "The other operand is broadcast to the written tensor's shape.",
    "4.3.7",
    "add_ sub_ mul_ copy_ __setitem__",
    "values storage raises",
)
def _(e: Event) -> bool:
    return _wrote(e) and any(o.shape != e.x.shape for o in e.others)


@rule(
    "in-place.converts",
    "A source of another dtype is converted to the written tensor's.",
    "5.2.4",
    "add_ sub_ mul_ copy_ __setitem__",
    "values storage raises shape",
)
def _(e: Event) -> bool:
    return _wrote(e) and any(o.dtype != e.x.dtype for o in e.others)


@rule(
    "in-place.fill-expanded",
    "fill_ and zero_ may write to an expanded tensor.",
    "5.1.2",
    "fill_ zero_",
    "raises storage values",
)
def _(e: Event) -> bool:
    return succeeded(e) and is_expanded(e.x)


@rule(
    "in-place.same-memory",
    "An operand over exactly the same memory, element for element, is allowed.",
    "5.2.1",
    "add_ sub_ mul_ copy_",
    "raises storage values",
)
def _(e: Event) -> bool:
    return succeeded(e) and any(o[1:4] == e.x[1:4] and o.storage == e.x.storage for o in e.others)


@rule(
    "in-place.disjoint",
    "An operand elsewhere in the same storage is allowed.",
    "5.2.2",
    "add_ sub_ mul_ copy_",
    "raises storage values",
)
def _(e: Event) -> bool:
    return succeeded(e) and any(o.storage == e.x.storage and not _meet(o, e.x) for o in e.others)


@rule(
    "in-place.undecided-overlap",
    "Overlap of tensors with gaps is not looked for: the write goes through.",
    "5.2.3",
    WRITING,
    "raises",
)
def _(e: Event) -> bool:
    return succeeded(e) and not is_dense(e.x) and any(_meet(o, e.x) for o in e.others)


@rule(
    "in-place.self-overlap",
    "A tensor that overlaps itself without stride 0 may be written to.",
    "5.1.4",
    WRITING,
    "raises",
)
def _(e: Event) -> bool:
    reach = _bytes(e.x)[1] - _bytes(e.x)[0]
    return _wrote(e) and not is_expanded(e.x) and numel(e.x) * ITEMSIZES.get(e.x.dtype, 1) > reach


@rule(
    "in-place.item-assignment",
    "x[index] = value writes into the view that x[index] is.",
    "3.12",
    "__setitem__",
    "storage values sharing raises flags",
)
def _(e: Event) -> bool:
    return e.raised is None


@rule(
    "in-place.flag",
    "inplace=True writes into the operand and answers with it.",
    "4.3.7",
    FLAGGED,
    f"{GEOMETRY} sharing storage flags values",
)
def _(e: Event) -> bool:
    return e.same and e.argument("inplace") is True


# Writes by an index.


@rule(
    "index-write.elements",
    "A write by an index changes the elements that the index names and no others.",
    "3.12.5",
    INDEXED,
    "values storage",
)
def _(e: Event) -> bool:
    return _wrote(e)


@rule("index-write.layout", "A write by an index keeps the tensor's layout.", "4.3.7", INDEXED, GEOMETRY)
def _(e: Event) -> bool:
    return _wrote(e)


@rule("index-write.strided", "An index counts elements, however they lie.", "1.3", INDEXED, "values storage")
def _(e: Event) -> bool:
    return _wrote(e) and e.x.contiguity[0] == "F"


@rule(
    "index-write.expanded",
    "index_fill_, masked_fill_ and index_put_ write to expanded tensors still.",
    "5.1.3",
    "index_fill_ masked_fill_ index_put_ __setitem__",
    "raises",
)
def _(e: Event) -> bool:
    return _wrote(e) and is_expanded(e.x) and (e.entry != "__setitem__" or bool(e.others))


@rule(
    "in-place.advanced-assignment",
    "x[indices] = value writes where the index tensors say, and answers nothing.",
    "3.12.5",
    "__setitem__",
    "values storage sharing flags",
)
def _(e: Event) -> bool:
    return e.raised is None and _by_tensors(e)


@rule("in-place.triangle", "tril_ and triu_ write zeros outside the triangle.", "5.1.2", "tril_ triu_",
      "values storage")  # fmt: skip
def _(e: Event) -> bool:
    return _wrote(e)


@rule("in-place.scan", "cumsum_ and cumprod_ write each running sum where its element was.", "5.2.5", "cumsum_ cumprod_",
      "values storage")  # fmt: skip
def _(e: Event) -> bool:
    return _wrote(e)


@rule("in-place.product", "addmm_ and its like add a product to what is there.", "4.4", group("product writes"),
      "values storage")  # fmt: skip
def _(e: Event) -> bool:
    return _wrote(e)


@rule("in-place.channels-last", "A write to a channels_last tensor keeps it so.", "4.3.7", WRITING,
      "strides contiguity")  # fmt: skip
def _(e: Event) -> bool:
    return e.same and is_channels_last(e.x) and e.x.contiguity[0] == "F"


@rule("in-place.truth", "A comparison in place writes 0 and 1 of the tensor's own dtype.", "4.3.7",
      "eq_ ne_ lt_ le_ gt_ ge_ logical_and_ logical_or_ logical_xor_ logical_not_", "values shape")  # fmt: skip
def _(e: Event) -> bool:
    return _wrote(e) and e.x.dtype != "bool"


RULES = family.rules
