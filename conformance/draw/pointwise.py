"""Draws elementwise operations: of one operand, of several, comparisons, conversions, and their in-place twins."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..observation import TensorState
from ..operations import group
from ..program import Argument
from .compute import SELF
from .source import Source
from .steps import (
    ODD,
    Arguments,
    Drawer,
    Values,
    another,
    any_other,
    broadcasts,
    formatted,
    no_arguments,
    number,
    operand,
    ref_of,
    with_operand,
)

REAL = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
NUMBERS = (*REAL, *COMPLEX, *INTEGERS)
"""Dtypes that most operations are defined for."""


def _fits(x: TensorState) -> Callable[[TensorState], bool]:
    return lambda v: broadcasts(v.shape, x.shape) or broadcasts(x.shape, v.shape)


def _exponent(source: Source, x: TensorState, values: Values) -> Arguments:
    return (source.choice((0, 1, 2, 3, -1, 0.5)) if source.chance(60) else another(source, x, values, _fits(x)),), {}


def _divided(source: Source, x: TensorState, values: Values) -> Arguments:
    keywords: dict[str, Argument] = {}
    if source.chance(50):
        keywords["rounding_mode"] = source.choice(("floor", "trunc"))
    return (operand(source, x, values),), keywords


def with_tensor(source: Source, x: TensorState, values: Values) -> Arguments:
    """Another tensor that broadcasts with it."""
    return (another(source, x, values, _fits(x)),), {}


def _two_tensors(source: Source, x: TensorState, values: Values) -> Arguments:
    others = tuple([another(source, x, values, _fits(x)) for _ in range(2)])
    return others, {"value": number(source, x)} if source.chance(40) else {}


def _towards(source: Source, x: TensorState, values: Values) -> Arguments:
    weight = 0.5 if source.chance(70) else another(source, x, values, _fits(x))
    return (another(source, x, values, _fits(x)), weight), {}


def _bounds(source: Source, x: TensorState, values: Values) -> Arguments:
    which = source.integer(0, 9)
    if which < 6:
        return (), {"min": number(source, x)} if which < 3 else {"max": number(source, x)}
    if which < 8:
        return (number(source, x), number(source, x)), {}
    return (another(source, x, values, _fits(x)), another(source, x, values, _fits(x))), {}


def _bound(source: Source, x: TensorState, values: Values) -> Arguments:
    return (number(source, x),), {}


def masks(x: TensorState, values: Values) -> list[str]:
    """Keys of bool tensors that broadcast with x."""
    return [k for k, v in values.items() if v.dtype == "bool" and _fits(x)(v)]


def _chosen(source: Source, x: TensorState, values: Values) -> Arguments:
    conditions = masks(x, values)
    condition = source.choice(conditions if conditions and not source.chance(ODD) else list(values))
    other = operand(source, x, values)
    return ((ref_of(condition), SELF, other) if source.chance(60) else (ref_of(condition), other, SELF)), {}


def _decimals(source: Source, x: TensorState, values: Values) -> Arguments:
    return (), {"decimals": source.integer(-1, 2)} if source.chance(30) and x.dtype in REAL else {}


def _kept(source: Source, x: TensorState, values: Values) -> Arguments:
    return (), {"training": False}


def _negative_slope(source: Source, x: TensorState, values: Values) -> Arguments:
    return (), {"negative_slope": 0.25} if source.chance(40) else {}


def _limit(source: Source, x: TensorState, values: Values) -> Arguments:
    return (0.5, 2.0), {}


def _in_place_by_flag(source: Source, x: TensorState, values: Values) -> Arguments:
    return (), {"inplace": True} if source.chance(30) else {}


_DRAWERS: Mapping[str, Drawer] = {
    "round": _decimals,
    "round_": _decimals,
    "pow": _exponent,
    "pow_": _exponent,
    "float_power": _exponent,
    "div": _divided,
    "div_": _divided,
    "where": _chosen,
    "lerp": _towards,
    "lerp_": _towards,
    "addcmul": _two_tensors,
    "addcmul_": _two_tensors,
    "addcdiv": _two_tensors,
    "addcdiv_": _two_tensors,
    "clamp": _bounds,
    "clamp_": _bounds,
    "clamp_min": _bound,
    "clamp_max": _bound,
    "nn.functional.dropout": _kept,
    "nn.functional.leaky_relu": _negative_slope,
    "nn.functional.threshold": _limit,
    **dict.fromkeys(("nn.functional.silu", "nn.functional.elu", "nn.functional.hardtanh"), _in_place_by_flag),
    **dict.fromkeys(
        ("copysign", "copysign_", "heaviside", "isclose", "maximum", "minimum", "fmax", "fmin", "atan2", "atan2_",
         "hypot", "hypot_", "nextafter", "nextafter_", "logaddexp", "logical_and", "logical_or", "logical_xor",
         "logical_and_", "logical_or_", "logical_xor_"),
        with_tensor,
    ),
}  # fmt: skip
_OF_ONE = {
    *group("unary").split(),
    *(name for name in group("in-place").split() if name.removesuffix("_") in group("unary").split()),
}
_ELSEWHERE = frozenset(
    [
        "neg",
        "abs",
        "relu",
        "add",
        "sub",
        "mul",
        "fill_",
        "zero_",
        "copy_",
        "add_",
        "sub_",
        "mul_",
        "relu_",
        "__setitem__",
    ]
)
"""Drawn with the basic steps."""


def _drawer(name: str) -> Drawer:
    return _DRAWERS.get(name) or (no_arguments if name in _OF_ONE else with_operand)


POINTWISE: tuple[tuple[int, tuple[str, Drawer]], ...] = (
    *((1, (name, _drawer(name))) for name in group("unary").split() if name not in _ELSEWHERE),
    *((2, (name, _drawer(name))) for name in group("binary", "ternary").split() if name not in _ELSEWHERE),
    *((1, (name, _drawer(name))) for name in group("in-place").split() if name not in _ELSEWHERE),
    *((1, (name, formatted)) for name in group("conversions").split() if name not in ("type", "type_as")),
    (3, ("where", _chosen)),
    (5, ("type_as", any_other)),
    (1, ("positive", no_arguments)),
)
"""(weight, (operation, how its arguments are drawn))."""


DEFINED: Mapping[str, tuple[str, ...]] = {
    **{name: (*NUMBERS, "bool") for _, (name, _) in POINTWISE},
    **{name: REAL for name in group("unary").split() if name.startswith("nn.")},
    **dict.fromkeys(("floor", "ceil", "trunc", "frac", "deg2rad", "rad2deg", "erf", "erfc", "fmod", "remainder",
                     "floor_divide", "maximum", "minimum", "clamp", "clamp_min", "clamp_max", "fmax", "fmin", "round",
                     "clamp_", "isposinf", "isneginf", "lt", "le", "gt", "ge",
                     "heaviside", "copysign", "signbit", "atan2", "sign", "nan_to_num", "xlogy", "lt_", "le_", "gt_",
                     "ge_", "sign_", "nan_to_num_"),
                    (*REAL, *INTEGERS)),
    **dict.fromkeys(("hypot", "hypot_", "nextafter", "nextafter_", "logaddexp", "atan2_", "copysign_", "floor_",
                     "ceil_", "trunc_", "frac_", "round_", "erf_", "erfc_", "xlogy_", "fmod_", "remainder_",
                     "floor_divide_", "sinh", "cosh", "sinh_"), REAL),
    **dict.fromkeys(("lerp", "lerp_", "addcdiv", "addcdiv_", "div_", "exp_", "exp2_", "expm1_", "log_", "log2_",
                     "log10_", "log1p_", "sqrt_", "rsqrt_", "sin_", "cos_", "tan_", "atan_", "sinh_", "tanh_",
                     "sigmoid_", "reciprocal_"), (*REAL, *COMPLEX)),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "bitwise_and_", "bitwise_or_",
                     "bitwise_xor_", "bitwise_not_"), (*INTEGERS, "bool")),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), INTEGERS),
}  # fmt: skip
"""Dtypes that each is defined for: others are never drawn, for which kernels there are says nothing of memory."""

REFUSED: Mapping[str, tuple[str, ...]] = dict.fromkeys(
    ("exp_", "exp2_", "expm1_", "log_", "log2_", "log10_", "log1p_", "sqrt_", "rsqrt_", "sin_", "cos_", "tan_", "atan_",
     "sinh_", "tanh_", "sigmoid_", "reciprocal_", "atan2_", "copysign_", "erf_", "erfc_"),
    INTEGERS,
)  # fmt: skip
"""Dtypes that do not hold the results of some: that such a write is refused is said by the facts, not by kernels."""

NEEDED: Mapping[str, Callable[[TensorState, Values], bool]] = {"where": lambda x, values: bool(masks(x, values))}
"""What some of them need to succeed."""
