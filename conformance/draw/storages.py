"""Draws steps on storages: every method of both classes, and the ways in which storages come about.

Storages that others lie in, or that are shared, are not asked to move: what would come of it is not defined.
"""

from __future__ import annotations

from dataclasses import replace

from ..observation import StorageObject
from ..program import ITEMSIZES, Argument, DType, File, Ref, Slice
from .inventory import Family, Inventory, StepDrawer, pick
from .layouts import draw_layout, draw_shape
from .source import Source
from .steps import ODD, Arguments, ref_of

DTYPES = ("float32", "int16", "uint8", "int64", "bool", "complex64", "float64", "bfloat16", "int8", "float16", "int32")
SWAPPED = ("int16", "float32", "complex64", "float64", "int8", "bool", "bits8", "complex128")
NAMES = ("torch.FloatStorage", "torch.ByteStorage", "torch.CharStorage", "torch.BoolStorage",
         "torch.storage.UntypedStorage", "torch.Nothing", "xyz", "torch.cuda.FloatStorage")  # fmt: skip
DEVICES = ("cpu", "cpu:0", "meta", "cuda", "cuda:0", "hpu", "mps", "xyz")
CLASSES = {
    "DoubleStorage": "float64", "FloatStorage": "float32", "HalfStorage": "float16", "LongStorage": "int64",
    "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8", "ByteStorage": "uint8",
    "BoolStorage": "bool", "BFloat16Storage": "bfloat16", "ComplexDoubleStorage": "complex128",
    "ComplexFloatStorage": "complex64", "QInt8Storage": "qint8", "QInt32Storage": "qint32",
    "QUInt8Storage": "quint8", "QUInt4x2Storage": "quint4x2", "QUInt2x4Storage": "quint2x4", "Storage": "float32",
}  # fmt: skip


def chosen(source: Source, there: Inventory, *, typed: bool, movable: bool = False) -> tuple[Ref, StorageObject] | None:
    """A storage of one of the classes; `movable` where its memory may be given up."""
    keys = [
        key
        for key, state in there.storages.items()
        if (state.dtype is not None) == typed and not (movable and (state.storage in there.fixed or "s" in state.flags))
    ]
    key = pick(source, keys)
    return None if key is None else (ref_of(key), there.storages[key])


def draw_bytes(source: Source, count: int) -> bytes:
    """That many bytes."""
    return bytes([source.integer(0, 255) for _ in range(count)])


def _asked(typed: bool, *, movable: bool = False) -> StepDrawer:
    """A method without arguments."""

    def draw(source: Source, there: Inventory) -> Arguments | None:
        found = chosen(source, there, typed=typed, movable=movable)
        return None if found is None else ((found[0],), {})

    return draw


def _brought(typed: bool) -> StepDrawer:
    """Storages brought to the processor, rather those that are elsewhere."""

    def draw(source: Source, there: Inventory) -> Arguments | None:
        elsewhere = {key: state for key, state in there.storages.items() if "m" in state.flags}
        among = replace(there, storages=elsewhere) if elsewhere and source.chance(80) else there
        found = chosen(source, among, typed=typed)
        return None if found is None else ((found[0],), {})

    return draw


def _with(typed: bool, draw: object, *, movable: bool = False) -> StepDrawer:
    """A method whose arguments are drawn for the storage by `draw(source, there, state)`."""

    def drawer(source: Source, there: Inventory) -> Arguments | None:
        found = chosen(source, there, typed=typed, movable=movable)
        if found is None:
            return None
        ref, state = found
        made: tuple[Argument, ...] | None = draw(source, there, state)  # type: ignore[operator]
        return None if made is None else ((ref, *made), {})

    return drawer


def _length(state: StorageObject) -> int:
    """Elements of a storage."""
    return state.nbytes // ITEMSIZES.get(state.dtype or "uint8", 1)


def _place(source: Source, there: Inventory, state: StorageObject) -> tuple[Argument, ...]:
    size = _length(state)
    if source.chance(ODD):
        return (source.choice((size, -size - 1, 1.0, "a", None)),)
    if source.chance(45 if state.dtype is None else ODD):
        bounds = [source.integer(-size - 1, size + 2) if source.chance(65) else None for _ in range(2)]
        return (Slice(bounds[0], bounds[1], source.choice((2, -1)) if source.chance(ODD) else None),)
    return (source.integer(-size, size - 1) if size else 0,)


def _element(source: Source, there: Inventory, state: StorageObject) -> Argument:
    """A value for an element: a number, one that an earlier step has answered with, at times none that fits."""
    if source.chance(ODD):
        return source.choice(("a", None, 1.5))
    known = there.number(source)
    if known is not None and source.chance(25):
        return known
    if state.dtype is None:
        return source.choice((0, 1, 7, 200, 255, 256, 300, -1, -200, 70_000, True))
    if state.dtype == "bool":
        return source.chance(50)
    if state.dtype.startswith(("float", "bfloat", "complex")):
        return source.choice((0, 2, 0.5, 1.5, -3))
    return source.choice((0, 1, 7, 1.5, True))


def _assigned(source: Source, there: Inventory, state: StorageObject) -> tuple[Argument, ...]:
    size = _length(state)
    place: Argument = source.integer(0, max(size - 1, 0))
    if source.chance(35):
        start = source.integer(-size, size)
        place = Slice(start, source.integer(0, size + 1), 2 if source.chance(20) else None)
    elif size and source.chance(20):
        place = -source.integer(1, size)
    elif source.chance(ODD):
        place = source.choice((size, -1, 1.0))
    return place, _element(source, there, state)


def _filled(source: Source, there: Inventory, state: StorageObject) -> tuple[Argument, ...]:
    return (_element(source, there, state),)


def _another(source: Source, there: Inventory, state: StorageObject) -> tuple[Argument, ...] | None:
    """Another storage, rather one of as many elements, of whatever dtype; at times, where there is none, itself."""
    alike = [key for key, other in there.storages.items() if _length(other) == _length(state)]
    others = [key for key in alike if there.storages[key] is not state]
    if not others and source.chance(70):
        return None
    # As wide and of another dtype: what tells a copy of bytes from a conversion.
    kin = [k for k in others if there.storages[k].nbytes == state.nbytes and there.storages[k].dtype != state.dtype]
    others = kin or others
    alike = others if others and source.chance(80) else alike
    key = pick(source, alike if alike and not source.chance(20) else there.storages)
    return None if key is None else (ref_of(key),)


def _resized(source: Source, there: Inventory, state: StorageObject) -> tuple[Argument, ...]:
    size = _length(state)
    if source.chance(ODD):
        return (source.choice((-1, 1.5)),)
    return (source.choice((0, 1, size, size + 2, 2 * size, max(size - 4, 0))),)


def _swapped(source: Source, there: Inventory, state: StorageObject) -> tuple[Argument, ...] | None:
    if "m" in state.flags:
        return None
    return (DType(source.choice(SWAPPED)),) if not source.chance(ODD) else (3,)


def _named(source: Source, there: Inventory, state: StorageObject) -> tuple[Argument, ...]:
    return () if source.chance(40) else (source.choice(NAMES),)


def _numbered(source: Source, there: Inventory, state: StorageObject) -> tuple[Argument, ...]:
    return () if source.chance(50) else (source.integer(0, 1),)


def _pinned(source: Source, there: Inventory, state: StorageObject) -> tuple[Argument, ...]:
    return () if source.chance(60) else (source.choice(("cpu", "cuda")),)


def _moved(typed: bool) -> StepDrawer:
    def draw(source: Source, there: Inventory) -> Arguments | None:
        found = chosen(source, there, typed=typed)
        device = "cpu" if source.chance(40) else source.choice(DEVICES)
        return None if found is None else ((found[0],), {"device": device})

    return draw


# How storages come about.


def _of_tensor(source: Source, there: Inventory) -> Arguments | None:
    key = pick(source, [*there.tensors, *there.nowhere, *there.coded])
    return None if key is None else ((ref_of(key),), {})


def _set_to(source: Source, there: Inventory) -> Arguments | None:
    """A tensor over somebody else's storage, flat or under a layout that the storage may have to grow for."""
    # Other bytes than 0 and 1 are no bool.
    key = pick(source, [key for key, x in there.tensors.items() if x.dtype != "bool"])
    storage = pick(source, there.storages)
    if key is None or storage is None:
        return None
    ref, over = ref_of(key), ref_of(storage)
    if source.chance(30):
        return (ref, over), {}
    drawn = draw_layout(source, shape=draw_shape(source, 0, 3))
    offset = source.integer(0, 5) if not source.chance(ODD // 2) else -1
    if source.chance(40):
        return (ref, over, offset, drawn.shape), {}
    return (ref, over, offset, drawn.shape, drawn.strides), {}


def _shared(source: Source, there: Inventory) -> Arguments | None:
    free = [key for key, x in there.tensors.items() if x.storage not in there.fixed]
    key = pick(source, free)
    return None if key is None else ((ref_of(key),), {})


def _untyped(source: Source, there: Inventory) -> Arguments:
    keywords: dict[str, Argument] = {}
    if source.chance(12):
        keywords["device"] = source.choice(("meta", "meta", "cpu", "cuda", "xyz"))
    if source.chance(ODD):
        return (source.choice((-1, 1.5, "ab", (1, 2.5), None)),), keywords
    size = source.choice((0, 8, 16, 24, 48, 7))
    if source.chance(30):
        return (size,), keywords
    if source.chance(15):
        return (draw_bytes(source, size),), {}
    return (tuple([source.integer(-1, 300) for _ in range(min(size, 24))]),), keywords


def _numbers(source: Source, dtype: str, count: int) -> tuple[Argument, ...]:
    if dtype == "bool":
        return tuple([source.chance(50) for _ in range(count)])
    whole = not dtype.startswith(("float", "bfloat", "complex"))
    return tuple([source.integer(0, 2) if whole else source.choice((0, 1, 2.5, -0.5)) for _ in range(count)])


def _wrapping(source: Source, there: Inventory) -> Argument:
    key = pick(source, [key for key, state in there.storages.items() if state.dtype is None or source.chance(ODD)])
    return None if key is None else ref_of(key)


def _typed(source: Source, there: Inventory) -> Arguments:
    dtype = source.choice(DTYPES)
    wrapped = _wrapping(source, there)
    if source.chance(8):
        dtype = source.choice(("uint16", "uint32", "float8_e5m2"))
    if wrapped is not None and source.chance(70):
        return (), {"wrap_storage": wrapped, "dtype": DType(dtype)}
    keywords: dict[str, Argument] = {"dtype": DType(dtype)} if source.chance(85) else {}
    if source.chance(8):
        keywords["device"] = source.choice(("meta", "cpu", "cuda"))
    first: Argument = source.integer(0, 6) if source.chance(30) else _numbers(source, dtype, source.integer(0, 6))
    if source.chance(ODD):
        first = source.choice((-1, 1.5, "ab"))
    return (first,), keywords


def _kin(source: Source, there: Inventory) -> Arguments | None:
    """As many elements as another storage has, each as wide."""
    key = pick(source, [key for key, state in there.storages.items() if state.dtype in DTYPES and _length(state)])
    if key is None:
        return None
    other = there.storages[key]
    dtype = source.choice([name for name in DTYPES if ITEMSIZES[name] == ITEMSIZES[other.dtype or "uint8"]])
    return (_numbers(source, dtype, _length(other)),), {"dtype": DType(dtype)}


def _of_class(name: str) -> StepDrawer:
    dtype = CLASSES.get(name, "float32")

    def draw(source: Source, there: Inventory) -> Arguments:
        wrapped = _wrapping(source, there)
        if wrapped is not None and source.chance(40):
            return (), {"wrap_storage": wrapped}
        if source.chance(ODD):
            return source.choice(((1, 2), (1.5,), ("a",))), {}
        return (source.integer(0, 5) if source.chance(30) else _numbers(source, dtype, source.integer(0, 5)),), {}

    return draw


def _buffered(fixed: str = "") -> StepDrawer:
    """`from_buffer`; a class named after a dtype takes none."""

    def draw(source: Source, there: Inventory) -> Arguments:
        count = source.choice((0, 8, 16, 24, 9))
        keywords: dict[str, Argument] = {}
        if not fixed or source.chance(ODD):
            keywords["dtype"] = DType(source.choice((*DTYPES, "uint16", "float8_e5m2")))
        if source.chance(30):
            keywords["count"] = source.choice((-1, 0, 1, 2, 9))
        if source.chance(30):
            keywords["offset"] = source.choice((0, 1, 8, count, -1))
        orders = ("native", "little", "big") if not source.chance(ODD) else ("", "x")
        given = (draw_bytes(source, count), source.choice(orders)) if not source.chance(8) else (draw_bytes(source, 8),)
        return given, keywords

    return draw


def _mapped() -> StepDrawer:
    """`from_file`; a class named after a dtype counts elements."""

    def draw(source: Source, there: Inventory) -> Arguments | None:
        if not there.files:
            return None
        path = File(source.choice(there.files) if not source.chance(10) else source.choice((90, -1)))
        length = source.choice((0, 1, 2, 5, 8, 16, 20, 24)) if not source.chance(ODD) else -1
        return (path, source.chance(50), length), {}

    return draw


def _file_tensor(source: Source, there: Inventory) -> Arguments | None:
    if not there.files:
        return None
    # Other bytes than 0 and 1 are no bool.
    dtypes = [d for d in DTYPES if d != "bool"]
    keywords: dict[str, Argument] = {"dtype": DType(source.choice(dtypes))} if source.chance(70) else {}
    return (File(source.choice(there.files)), source.chance(50), source.choice((0, 1, 2, 4, 9))), keywords


CONVERSIONS = (
    "bool", "byte", "char", "short", "int", "long", "half", "bfloat16", "float", "double", "complex_float",
    "complex_double", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
)  # fmt: skip
_QUESTIONS = (
    "nbytes", "size", "element_size", "resizable", "is_shared", "get_device", "device", "filename", "is_cuda", "is_hpu",
    "is_sparse", "data_ptr", "__len__", "__bool__",
)  # fmt: skip
_READING = ("tolist", "__iter__", "__repr__")


def _both(owner: str, *, typed: bool) -> Family:
    """What both classes have."""

    def entry(weight: int, name: str, drawer: StepDrawer) -> tuple[int, tuple[str, StepDrawer]]:
        return weight, (f"{owner}.{name}", drawer)

    return (
        *(entry(2, name, _asked(typed)) for name in CONVERSIONS),
        *(entry(2, name, _asked(typed)) for name in (*_QUESTIONS, *_READING)),
        *(entry(4, name, _asked(typed)) for name in ("clone", "untyped")),
        entry(4, "cpu", _brought(typed)),
        entry(12, "__getitem__", _with(typed, _place)),
        entry(12, "__setitem__", _with(typed, _assigned)),
        entry(12, "fill_", _with(typed, _filled)),
        entry(20 if typed else 12, "copy_", _with(typed, _another)),
        entry(8, "resize_", _with(typed, _resized, movable=True)),
        entry(6, "share_memory_", _asked(typed, movable=True)),
        entry(2, "__eq__", _with(typed, _another)),
        entry(3, "type", _with(typed, _named)),
        entry(3, "to", _moved(typed)),
        entry(2, "cuda", _with(typed, _numbered)),
        entry(2, "hpu", _with(typed, _numbered)),
        entry(2, "is_pinned", _with(typed, _pinned)),
        entry(2, "pin_memory", _with(typed, _pinned)),
    )


UNTYPED: Family = (
    *_both("UntypedStorage", typed=False),
    (4, ("UntypedStorage.byteswap", _with(False, _swapped))),
    (3, ("UntypedStorage.new", _asked(False, movable=True))),
    (2, ("UntypedStorage.mps", _asked(False))),
    (1, ("UntypedStorage.is_sparse_csr", _asked(False))),
)
"""Methods of untyped storages."""
TYPED: Family = (
    *_both("TypedStorage", typed=True),
    (3, ("TypedStorage.dtype", _asked(True))),
    (6, ("TypedStorage.pickle_storage_type", _asked(True))),
)
"""Methods of typed storages."""
MAKING: Family = (
    (90, ("untyped_storage", _of_tensor)), (60, ("storage", _of_tensor)), (8, ("share_memory_", _shared)),
    (60, ("set_", _set_to)),
    (2, ("pin_memory", _of_tensor)), (2, ("is_pinned", _of_tensor)), (2, ("is_shared", _of_tensor)),
    (4, ("data_ptr", _of_tensor)), (30, ("UntypedStorage", _untyped)), (50, ("TypedStorage", _typed)),
    (60, ("TypedStorage", _kin)),
    (12, ("UntypedStorage.from_buffer", _buffered())), (4, ("TypedStorage.from_buffer", _buffered())),
    (4, ("FloatStorage.from_buffer", _buffered("float32"))), (2, ("ByteStorage.from_buffer", _buffered("uint8"))),
    (2, ("ShortStorage.from_buffer", _buffered("int16"))), (90, ("UntypedStorage.from_file", _mapped())),
    (6, ("TypedStorage.from_file", _mapped())), (16, ("FloatStorage.from_file", _mapped())),
    (10, ("ShortStorage.from_file", _mapped())), (24, ("from_file", _file_tensor)),
    *((1, (name, _of_class(name))) for name in CLASSES),
    (1, ("cuda.FloatStorage", _of_class("FloatStorage"))), (1, ("cuda.ByteStorage", _of_class("ByteStorage"))),
)  # fmt: skip
"""How storages come about."""
