"""Draws steps that exchange memory with other libraries: NumPy's arrays, buffers, array interfaces and DLPack.

What is copied out of memory with unspecified bytes would say something else each time, so arrays are copied and read
only where every byte is known.
"""

from __future__ import annotations

from ..observation import ForeignState, TensorState
from ..program import Argument, DType, Ref, Slice
from .inventory import Family, Inventory, StepDrawer, pick
from .layouts import edit_shape
from .source import Source
from .steps import FLOATING, ODD, Arguments, ref_of
from .storages import DTYPES, draw_bytes

NUMPY_DTYPES = ("float64", "float32", "int64", "uint8", "bool", "complex64")


def any_tensor(source: Source, there: Inventory) -> tuple[Ref, TensorState] | None:
    """A tensor, now and then a quantised one or one on meta: what they cannot do is refused in their own way."""
    rare = {**there.coded, **there.nowhere}
    values = rare if rare and source.chance(8) else there.tensors
    key = pick(source, values)
    return None if key is None else (ref_of(key), values[key])


def of_tensor(source: Source, there: Inventory) -> Arguments | None:
    """Nothing but a tensor."""
    found = any_tensor(source, there)
    return None if found is None else ((found[0],), {})


def _foreign(
    source: Source, there: Inventory, *kinds: str, exact: bool = False, forward: bool = False
) -> tuple[Ref, ForeignState] | None:
    """A foreign value of some kinds: `exact` where its bytes are known, `forward` where no stride is negative."""
    keys = [
        key
        for key, state in there.foreign.items()
        if state.kind in kinds
        and not (exact and not there.is_exact(state) and 0 not in state.shape)
        and not (forward and min(state.strides or (), default=0) < 0)
    ]
    key = pick(source, keys)
    return None if key is None else (ref_of(key), there.foreign[key])


def _of_array(*, exact: bool = False) -> StepDrawer:
    def draw(source: Source, there: Inventory) -> Arguments | None:
        found = _foreign(source, there, "array", exact=exact)
        return None if found is None else ((found[0],), {})

    return draw


def _exported(source: Source, there: Inventory) -> Arguments | None:
    found = any_tensor(source, there)
    keywords: dict[str, Argument] = {"force": True} if source.chance(20) else {}
    return None if found is None else ((found[0],), keywords)


def _as_array(source: Source, there: Inventory) -> Arguments | None:
    found = any_tensor(source, there)
    if found is None:
        return None
    converts = source.chance(25) and there.is_exact(found[1])
    return (found[0], source.choice(NUMPY_DTYPES)) if converts else (found[0],), {}


def _capsule_options(source: Source) -> dict[str, Argument]:
    options: dict[str, Argument] = {}
    if source.chance(60):
        options["max_version"] = source.choice(((1, 0), (1, 3), (1, 9), (0, 9), (2, 0)))
    if source.chance(20):
        options["copy"] = source.chance(50)
    if source.chance(10):
        options["dl_device"] = source.choice(((1, 0), (2, 0)))
    if source.chance(ODD):
        options["stream"] = source.choice((1, -1, None, "a"))
    return options


def _capsule(source: Source, there: Inventory) -> Arguments | None:
    found = any_tensor(source, there)
    return None if found is None else ((found[0],), _capsule_options(source))


def _imported(source: Source, there: Inventory) -> Arguments | None:
    """A tensor, an array or a capsule; one that was used up is refused."""
    found = _foreign(source, there, "capsule", "array", forward=True) if source.chance(55) else None
    if found is None:
        tensor = any_tensor(source, there)
        if tensor is None:
            return None
        ref, copies = tensor[0], True
    else:
        ref, copies = found[0], found[1].kind == "array" and there.is_exact(found[1])
    keywords: dict[str, Argument] = {"copy": source.chance(50)} if copies and source.chance(25) else {}
    if source.chance(ODD):
        keywords["device"] = source.choice(("cpu", "meta", "cuda"))
    return (ref,), keywords


def _capsule_taken(source: Source, there: Inventory) -> Arguments | None:
    found = _foreign(source, there, "capsule")
    return None if found is None else ((found[0],), {})


def _data(source: Source, there: Inventory, *, copies: bool) -> Argument:
    """What tensors are made of: an array, numbers, at times a storage, a tensor or nothing that fits."""
    if source.chance(15):
        held = pick(source, [key for key, x in there.storages.items() if not copies or there.is_exact(x)])
        if held is not None:
            return ref_of(held)
    found = _foreign(source, there, "array", exact=copies)
    if found is not None and not source.chance(20):
        return found[0]
    tensor = any_tensor(source, there)
    if tensor is not None and source.chance(30) and (not copies or there.is_exact(tensor[1])):
        return tensor[0]
    if source.chance(ODD):
        return source.choice(("a", None))
    return source.choice(((1, 2, 3), (0.5, 2.5), 3, True, ((1, 2), (3, 4)), (), (1, 2.5)))


def _from_array(source: Source, there: Inventory) -> Arguments | None:
    found = _foreign(source, there, "array")
    if source.chance(ODD):
        return (source.choice(((1, 2), 3)),), {}
    return None if found is None else ((found[0],), {})


def _as_tensor(source: Source, there: Inventory) -> Arguments:
    converts = source.chance(35)
    data = _data(source, there, copies=converts)
    return (data,), {"dtype": DType(source.choice(DTYPES))} if converts else {}


def _tensor(source: Source, there: Inventory) -> Arguments:
    keywords: dict[str, Argument] = {"dtype": DType(source.choice(DTYPES))} if source.chance(40) else {}
    if source.chance(8):
        keywords["requires_grad"] = True
    return (_data(source, there, copies=True),), keywords


def _as_any(source: Source, there: Inventory) -> Arguments:
    copies = source.chance(60)
    data: Argument = draw_bytes(source, source.choice((8, 16, 9, 0))) if source.chance(20) else None
    if data is None:
        data = _data(source, there, copies=copies)
    keywords: dict[str, Argument] = {}
    if copies:
        keywords["copy"] = source.choice((True, False))
    known = there.tensors.get(data.key) if isinstance(data, Ref) else None
    if source.chance(30):
        has = known is not None and known.dtype in DTYPES and source.chance(30)
        keywords["dtype"] = DType(known.dtype if known is not None and has else source.choice(DTYPES))
    if source.chance(10):
        keywords["requires_grad"] = source.chance(50)
        if keywords["requires_grad"] and not source.chance(2 * ODD):
            # Other dtypes have no gradients.
            if known is None or not known.dtype.startswith(FLOATING):
                keywords["dtype"] = DType(source.choice(("float32", "float64", "complex64")))
            else:
                keywords.pop("dtype", None)
    return (data,), keywords


def _buffered(source: Source, there: Inventory) -> Arguments | None:
    found = _foreign(source, there, "array", "buffer")
    length = source.choice((8, 16, 24, 9, 0))
    buffer: Argument = found[0] if found is not None and source.chance(60) else draw_bytes(source, length)
    # Other bytes than 0 and 1 are no bool.
    keywords: dict[str, Argument] = {"dtype": DType(source.choice([d for d in DTYPES if d != "bool"]))}
    if source.chance(30):
        keywords["count"] = source.choice((-1, 0, 1, 2, 9))
    if source.chance(30):
        keywords["offset"] = source.choice((0, 1, 8, 99, -1))
    return (buffer,), keywords


def _viewed(source: Source, there: Inventory) -> Arguments | None:
    """What has the buffer protocol, and now and then a tensor, which has not."""
    found = _foreign(source, there, "array", "buffer")
    if found is None or source.chance(ODD):
        return of_tensor(source, there)
    return (found[0],), {}


def _parted(source: Source, there: Inventory) -> Arguments | None:
    """An index of slices: arrays may run backwards."""
    found = _foreign(source, there, "array")
    if found is None or not found[1].shape:
        return None
    items: list[Argument] = []
    for size in found[1].shape[: source.integer(1, len(found[1].shape))]:
        start, stop = source.integer(0, size), source.integer(0, size + 1)
        options = (Slice(None, None, 2), Slice(None, None, -1), Slice(start, stop), Slice(start), Slice(), ...)
        item = source.choice(options)
        if item is not ... or ... not in items:
            items.append(item)
    return (found[0], tuple(items)), {}


def _seen_as(source: Source, there: Inventory) -> Arguments | None:
    found = _foreign(source, there, "array")
    if found is None:
        return None
    itemsize = found[1].itemsize
    names = {1: ("uint8", "int8"), 2: ("int16", "float16"), 4: ("float32", ">f4"), 8: ("float64", "complex64", ">i8")}
    return (found[0], source.choice(names.get(itemsize, ("complex128",)))), {}


def _reshaped(source: Source, there: Inventory) -> Arguments | None:
    found = _foreign(source, there, "array", exact=True)
    return None if found is None else ((found[0], edit_shape(source, found[1].shape)), {})


def _copied(source: Source, there: Inventory) -> Arguments | None:
    found = _foreign(source, there, "array", exact=True)
    return None if found is None else ((found[0], source.choice(("C", "F", "K", "A"))), {})


def _converted(source: Source, there: Inventory) -> Arguments | None:
    found = _foreign(source, there, "array", exact=True)
    return None if found is None else ((found[0], source.choice((*NUMPY_DTYPES[:4], ">f4"))), {})


def _array_capsule(source: Source, there: Inventory) -> Arguments | None:
    found = _foreign(source, there, "array", forward=True)
    options: dict[str, Argument] = {"max_version": (1, 0)} if source.chance(60) else {}
    return None if found is None else ((found[0],), options)


def _filled(source: Source, there: Inventory) -> Arguments | None:
    found = _foreign(source, there, "array")
    return None if found is None or not found[1].writable else ((found[0], source.choice((0, 1))), {})


def _locked(source: Source, there: Inventory) -> Arguments | None:
    found = _foreign(source, there, "array")
    return None if found is None else ((found[0],), {"write": source.chance(20)})


EXCHANGING: Family = (
    (26, ("numpy", _exported)), (6, ("__array__", _as_array)), (10, ("numpy.asarray", _as_array)),
    (8, ("numpy.from_dlpack", of_tensor)), (16, ("__dlpack__", _capsule)), (3, ("__dlpack_device__", of_tensor)),
    (3, ("utils.dlpack.to_dlpack", of_tensor)), (4, ("utils.dlpack.from_dlpack", _capsule_taken)),
    (20, ("from_dlpack", _imported)), (26, ("from_numpy", _from_array)), (10, ("as_tensor", _as_tensor)),
    (12, ("tensor", _tensor)), (14, ("asarray", _as_any)), (14, ("frombuffer", _buffered)),
    (8, ("memoryview", _viewed)), (16, ("ndarray.__getitem__", _parted)), (4, ("ndarray.T", _of_array())),
    (4, ("ndarray.__array_interface__", _of_array())), (4, ("ndarray.view", _seen_as)),
    (3, ("ndarray.reshape", _reshaped)), (8, ("ndarray.copy", _copied)), (3, ("ndarray.astype", _converted)),
    (6, ("ndarray.__dlpack__", _array_capsule)), (3, ("ndarray.tolist", _of_array(exact=True))),
    (6, ("ndarray.fill", _filled)), (5, ("ndarray.setflags", _locked)),
)  # fmt: skip
"""Exchange with other libraries."""
