"""Draws quantised tensors, views and copies of them, and the questions that they answer.

Arithmetic on them is missing in PyTorch: that it is refused is drawn now and then.
"""

from __future__ import annotations

from math import prod

from ..observation import TensorState
from ..program import PACKED, QUANTISED, Argument, DType, Ref
from .changes import DRAWERS
from .inventory import Family, Inventory, StepDrawer, of_every_tensors, pick
from .layouts import draw_shape
from .source import Source
from .steps import ODD, Arguments, Values, ref_of

WHOLE = tuple(name for name in QUANTISED if name not in PACKED)
SCALES = (0.5, 0.25, 1.0, 2.0, 0.1)


def _float(source: Source, there: Inventory) -> tuple[Ref, TensorState] | None:
    """A tensor of float32, now and then one that cannot be quantised."""
    meant = [k for k, x in there.tensors.items() if x.dtype == "float32" and there.is_exact(x)]
    key = pick(source, meant if meant and not source.chance(ODD) else there.tensors)
    return None if key is None else (ref_of(key), there.tensors[key])


def _zero_point(source: Source, dtype: str) -> int:
    return source.choice((0, 3, 10, 300, -1)) if source.chance(ODD) else source.integer(0, 3)


def _target(source: Source) -> str:
    if source.chance(ODD):
        return source.choice(("float32", "int8"))
    return source.choice(WHOLE) if not source.chance(25) else source.choice(tuple(PACKED))


def _per_tensor(source: Source, there: Inventory) -> Arguments | None:
    found = _float(source, there)
    dtype = _target(source)
    if found is None:
        return None
    return (found[0], source.choice(SCALES), _zero_point(source, dtype), DType(dtype)), {}


def _parameters(source: Source, there: Inventory) -> Arguments:
    """Scales or zero points for the steps that come: as many as a dimension of a tensor that may be quantised has.

    Where there are scales already, zero points for them.
    """
    lengths = [n for x in there.tensors.values() if x.dtype == "float32" for n in x.shape if 0 < n < 7] or [2]
    scaled = [n for n in lengths if _rows(there, ("float64", "float32"), n) and not _rows(there, ("int64",), n)]
    length = source.choice(scaled or lengths)
    whole = bool(scaled) and not source.chance(20)
    numbers = tuple([source.integer(0, 3) if whole else source.choice(SCALES) for _ in range(length)])
    return (numbers,), {"dtype": DType("int64" if whole else source.choice(("float64", "float32")))}


def _rows(there: Inventory, kinds: tuple[str, ...], length: int) -> list[str]:
    """Tensors that hold that many scales or zero points."""
    return [k for k, x in there.tensors.items() if x.shape == (length,) and x.dtype in kinds and there.is_exact(x)]


def _per_channel(source: Source, there: Inventory) -> Arguments | None:
    found = _float(source, there)
    if found is None or not found[1].shape:
        return None
    shape = found[1].shape
    fitting = []
    for axis, length in enumerate(shape):
        scales = _rows(there, ("float32", "float64"), length)
        points = _rows(there, ("int64",), length) or (_rows(there, ("float32",), length) if source.chance(50) else [])
        if scales and points:
            fitting.append((axis, source.choice(scales), source.choice(points)))
    if not fitting:
        return None
    axis, scale, point = source.choice(fitting)
    packed = there.tensors[point].dtype == "float32"
    dtype = source.choice(tuple(PACKED)) if packed and not source.chance(ODD) else source.choice(WHOLE)
    return (found[0], ref_of(scale), ref_of(point), axis, DType(dtype)), {}


def _fresh(source: Source, there: Inventory) -> Arguments:
    keywords: dict[str, Argument] = {
        "scale": source.choice(SCALES), "zero_point": source.integer(0, 3), "dtype": DType(_target(source)),
    }  # fmt: skip
    return (draw_shape(source, 0, 3),), keywords


def _fresh_channels(source: Source, there: Inventory) -> Arguments | None:
    """Codes that nobody has written, with scales that there are already."""
    scales = [k for k, x in there.tensors.items() if len(x.shape) == 1 and x.dtype in ("float32", "float64")]
    points = [k for k, x in there.tensors.items() if len(x.shape) == 1 and x.dtype in ("float32", "int64")]
    pairs = [(a, b) for a in scales for b in points if there.tensors[a].shape == there.tensors[b].shape]
    pairs = [(a, b) for a, b in pairs if there.is_exact(there.tensors[a]) and there.is_exact(there.tensors[b])]
    if not pairs:
        return None
    scale, point = source.choice(pairs)
    length = there.tensors[scale].shape[0]
    shape = list(draw_shape(source, 1, 3))
    axis = source.integer(0, len(shape) - 1)
    shape[axis] = length if not source.chance(ODD) else length + 1
    keywords: dict[str, Argument] = {
        "scales": ref_of(scale), "zero_points": ref_of(point), "axis": axis, "dtype": DType(_target(source)),
    }  # fmt: skip
    return (tuple(shape),), keywords


def _coded(source: Source, there: Inventory) -> tuple[Ref, TensorState] | None:
    key = pick(source, there.coded)
    return None if key is None else (ref_of(key), there.coded[key])


def _asked(source: Source, there: Inventory) -> Arguments | None:
    found = _coded(source, there)
    if found is None and not source.chance(ODD):
        return None
    if found is None or source.chance(ODD // 2):
        key = pick(source, there.tensors)
        return None if key is None else ((ref_of(key),), {})
    return (found[0],), {}


_VIEWS = (
    "view", "reshape", "permute", "transpose", "__getitem__", "select", "narrow", "unsqueeze", "squeeze", "flatten",
    "expand", "as_strided", "t", "detach", "contiguous", "clone", "ravel", "movedim", "fill_", "swapaxes", "unflatten",
    "unfold", "diagonal", "mT", "transpose_", "t_", "as_strided_", "squeeze_", "unsqueeze_", "split", "unbind",
)  # fmt: skip


def _whole_bytes(there: Inventory) -> Values:
    return {k: x for k, x in there.coded.items() if x.dtype not in PACKED and prod(x.shape) < 200}


def _like_any(name: str) -> StepDrawer:
    """An operation of every tensor's, on one with codes that fill whole bytes."""
    return of_every_tensors(DRAWERS[name], _whole_bytes)


def _copied(source: Source, there: Inventory) -> Arguments | None:
    found = _coded(source, there)
    key = pick(source, [*there.coded, *there.tensors])
    if found is None or key is None or found[1].dtype in PACKED:
        return None
    alike = [k for k, x in {**there.coded, **there.tensors}.items() if x.shape == found[1].shape]
    return (found[0], ref_of(source.choice(alike))), {}


def _of_channels(source: Source, there: Inventory) -> Arguments | None:
    """A tensor with scales by channel, rather."""
    key = pick(source, [k for k, x in there.coded.items() if "channel" in (x.quantizer or "")])
    if source.chance(ODD):
        return _asked(source, there)
    return None if key is None else ((ref_of(key),), {})


def _joined(source: Source, there: Inventory) -> Arguments | None:
    """Codes, perhaps of two scales, in one tensor."""
    found = _coded(source, there)
    if found is None:
        return None
    alike = [k for k, x in there.coded.items() if x.dtype == found[1].dtype and x.shape[1:] == found[1].shape[1:]]
    other = ref_of(source.choice(alike or list(there.coded)))
    return (((found[0], other),), {}) if found[1].shape else None


def _later_part(source: Source, there: Inventory) -> Arguments | None:
    """All but what comes first along a dimension: of channels, all scales but the first."""
    fitting = [(k, dim) for k, x in there.coded.items() for dim, size in enumerate(x.shape) if size > 2]
    if not fitting:
        return None
    key, dim = source.choice(fitting)
    return (ref_of(key), dim, 1, there.coded[key].shape[dim] - 1), {}


def _along(source: Source, there: Inventory) -> Arguments | None:
    found = _coded(source, there)
    if found is None or not found[1].shape:
        return None
    return (found[0], source.integer(-len(found[1].shape), len(found[1].shape) - 1)), {}


def _flipped(source: Source, there: Inventory) -> Arguments | None:
    found = _along(source, there)
    return None if found is None else ((found[0][0], (found[0][1],)), {})


def _repeated(source: Source, there: Inventory) -> Arguments | None:
    found = _coded(source, there)
    return None if found is None else ((found[0], tuple([source.integer(1, 2) for _ in found[1].shape])), {})


def _between(source: Source, there: Inventory) -> Arguments | None:
    found = _coded(source, there)
    return None if found is None else ((found[0], source.choice((-1.0, 0.5, 1.0)), source.choice((1.0, 2.5, 20.0))), {})


def _compared(source: Source, there: Inventory) -> Arguments | None:
    found = _coded(source, there)
    return None if found is None else ((found[0], ref_of(source.choice(list(there.coded)))), {})


def _refused(source: Source, there: Inventory) -> Arguments | None:
    found = _coded(source, there)
    return None if found is None else ((found[0], found[0]), {})


def _seen_as(source: Source, there: Inventory) -> Arguments | None:
    """Codes under the dtype that they have in memory, or another."""
    key = pick(source, [k for k, x in there.coded.items() if x.dtype not in PACKED])
    if key is None:
        return None
    plain = {"quint8": "uint8", "qint8": "int8", "qint32": "int32"}[there.coded[key].dtype]
    return (ref_of(key), DType(plain if not source.chance(2 * ODD) else source.choice(("float32", "int16")))), {}


CODING: Family = (
    (30, ("quantize_per_tensor", _per_tensor)), (40, ("quantize_per_channel", _per_channel)),
    (26, ("tensor", _parameters)), (5, ("_empty_affine_quantized", _fresh)), (36, ("int_repr", _asked)),
    (8, ("_empty_per_channel_affine_quantized", _fresh_channels)),
    (24, ("dequantize", _asked)), (4, ("q_scale", _asked)), (4, ("q_zero_point", _asked)), (4, ("qscheme", _asked)),
    (14, ("q_per_channel_scales", _of_channels)),
    (6, ("q_per_channel_zero_points", _of_channels)), (6, ("q_per_channel_axis", _of_channels)),
    (24, ("clone", _like_any("clone"))), (24, ("permute", _like_any("permute"))),
    (20, ("__getitem__", _like_any("__getitem__"))), (10, ("narrow", _like_any("narrow"))),
    (10, ("contiguous", _like_any("contiguous"))), *((4, (name, _like_any(name))) for name in _VIEWS),
    (10, ("view", _seen_as)), (8, ("save_load", _asked)), (4, ("copy.deepcopy", _asked)), (4, ("numpy", _asked)),
    (3, ("relu", _asked)), (3, ("clamp", _between)), (2, ("sort", _along)), (2, ("max", _along)),
    (2, ("flip", _flipped)),
    (5, ("cat", _joined)), (2, ("stack", _joined)), (2, ("repeat", _repeated)), (2, ("eq", _compared)),
    (1, ("lt", _compared)), (6, ("narrow", _later_part)),
    (6, ("copy_", _copied)), (3, ("equal", _compared)), (2, ("add", _refused)), (2, ("mul", _refused)),
)  # fmt: skip
"""Quantised tensors."""
