"""Says a drawn step otherwise: arguments by their names, and optional ones that nothing else gives.

Libraries read a parameter in more places than one: an argument by name takes another way through them than one by
place, and what most callers leave out is tried least. Every operation is drawn both ways, whoever draws its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from ..operations import OPERATIONS, overload
from ..program import Argument, DType, MemoryFormat, Step, refs_in
from .source import Source

BY_NAME = 12
"""Percent of steps whose last arguments are given by name."""
BY_NUMPYS_NAME = 30
"""Percent of arguments given by name that are given by NumPy's, where it has another that PyTorch takes, too."""
OPTIONAL = 20
"""Percent of steps that are given an optional argument more, where nothing else draws one."""

Drawn: TypeAlias = Callable[[Source], Argument]


def _one_of(*values: Argument) -> Drawn:
    return lambda source: source.choice(values)


_FORMS = frozenset({"function", "method"})
_FACTOR = _one_of(2, 3, 0.5)
_INTO = _one_of(DType("float64"), DType("float32"), DType("int64"), DType("complex64"))
_INTO_REAL = _one_of(DType("float64"), DType("float32"))
_YES, _NO = _one_of(True), _one_of(False)

_IN_PYTHON = frozenset(["split", "unflatten", "norm", "stride", "size", "is_set_to", "tensordot", "einsum"])
"""Functions and methods that Python parses the arguments of, and those whose names are not NumPy's."""
_OVERLOADED = frozenset(["tensor_split", "hsplit", "vsplit", "dsplit", "scatter", "scatter_", "where", "view", "copy_"])
"""Operations with a parameter that has one name or another: by what is given for it, or otherwise than documented."""

_TABLE: Mapping[str, tuple[str, Drawn]] = {
    "alpha": ("add sub add_ sub_ index_add index_add_", _FACTOR),
    "dtype": ("sum nansum prod cumsum cumprod", _INTO),
    "dtype ": ("mean nanmean norm linalg.vector_norm softmax log_softmax nn.functional.softmin", _INTO_REAL),
    "dtype  ": ("full_like new_full cumsum_ cumprod_ new_empty_strided", _INTO),
    "largest": ("topk", _NO),
    "accumulate": ("put put_", _YES),
    "memory_format": (
        "resize_as_", _one_of(*map(MemoryFormat, ("contiguous_format", "channels_last", "preserve_format"))),
    ),
    "dim": ("diff size stride", _one_of(-1, 0, 1, -2)),
    "n": ("diff", _one_of(2, 0, 3)),
    "non_blocking": (
        "copy_ to UntypedStorage.copy_ TypedStorage.copy_ UntypedStorage.cuda TypedStorage.cuda UntypedStorage.hpu "
        "TypedStorage.hpu UntypedStorage.to TypedStorage.to UntypedStorage.type TypedStorage.type", _YES,
    ),
    "inplace": (
        "nn.functional.mish nn.functional.hardswish nn.functional.relu6 nn.functional.selu nn.functional.celu "
        "nn.functional.leaky_relu nn.functional.threshold nn.functional.dropout", _YES,
    ),
    "alpha ": ("nn.functional.elu nn.functional.celu", _one_of(0.5, 2.0)),
    "nan": ("nan_to_num nan_to_num_", _one_of(1.0, 0.0)),
    "posinf": ("nan_to_num nan_to_num_", _one_of(2.0)),
    "neginf": ("nan_to_num nan_to_num_", _one_of(-2.0)),
    "dim  ": ("sum nansum mean std var amax amin", _one_of(())),
    "approximate": ("nn.functional.gelu", _one_of("tanh")),
    "beta": ("nn.functional.softplus", _one_of(2.0)),
    "threshold": ("nn.functional.softplus", _one_of(1.0)),
    "momentum": ("nn.functional.batch_norm", _one_of(0.5)),
    "equal_nan": ("isclose allclose", _YES),
    "rtol": ("isclose allclose", _one_of(0.5, 0.0)),
    "atol": ("isclose allclose", _one_of(0.5, 2.0, 0.0)),
    "requires_grad": ("requires_grad_", _NO),
    "requires_grad ": ("frombuffer", _YES),
    "device": ("as_tensor tensor asarray", _one_of("cpu")),
    "min_val": ("nn.functional.hardtanh", _one_of(-2.0, 0.5)),
    "max_val": ("nn.functional.hardtanh", _one_of(2.0, 0.5)),
    "p": ("nn.functional.dropout", _one_of(0.0, 0.25)),
    "beta ": ("nn.functional.local_response_norm", _one_of(0.5, 1.0)),
    "alpha  ": ("nn.functional.local_response_norm", _one_of(0.5)),
    "k": ("nn.functional.local_response_norm", _one_of(2.0)),
    "wrap": ("fill_diagonal_", _YES),
    "count_include_pad": ("nn.functional.avg_pool2d nn.functional.avg_pool1d nn.functional.avg_pool3d", _NO),
    "dilation": ("nn.functional.max_pool1d nn.functional.max_pool2d nn.functional.max_pool3d", _one_of(2)),
    "eps": (
        "nn.functional.group_norm nn.functional.layer_norm nn.functional.batch_norm nn.functional.normalize",
        _one_of(0.5),
    ),
    "dim ": ("concat", _one_of(0, -1, 1)),
}  # fmt: skip
"""Operations and their values, by parameter; spaces after a name tell apart what has other values elsewhere."""

_OPTIONAL: Mapping[str, tuple[tuple[str, Drawn], ...]] = {
    name: tuple([(key.strip(), drawn) for key, (names, drawn) in _TABLE.items() if name in names.split()])
    for names, _ in _TABLE.values()
    for name in names.split()
}


def respelled(source: Source, step: Step) -> Step:
    """The step with an optional argument more, or with its last arguments by name; mostly as it is."""
    entry = overload(step)
    if (options := _OPTIONAL.get(entry)) and source.chance(OPTIONAL):
        step = _given(step, *source.choice(options), source)
    if len(step.args) > 1 and source.chance(BY_NAME):
        step = _named(step, source.integer(1, len(step.args) - 1))
    return _as_numpy(source, step) if step.kwargs else step


_NUMPYS = {"dim": "axis", "keepdim": "keepdims", "other": "x2"}


def _as_numpy(source: Source, step: Step) -> Step:
    """The step with some of its keywords by NumPy's names: functions written in C++ take them, those in Python not."""
    operation = OPERATIONS[overload(step)]
    if operation.form not in _FORMS or operation.owner or step.op in _IN_PYTHON or "." in step.op:
        return step
    kwargs = [
        (_NUMPYS[name] if name in _NUMPYS and source.chance(BY_NUMPYS_NAME) else name, value)
        for name, value in step.kwargs
    ]
    # Operands keep their order.
    if [name for name, value in sorted(kwargs, key=lambda item: item[0]) if any(refs_in((value,)))] != [
        name for name, value in kwargs if any(refs_in((value,)))
    ]:
        return step
    return replace(step, kwargs=_by_name(kwargs))


def _given(step: Step, name: str, drawn: Drawn, source: Source) -> Step:
    """The step with one argument more by name, unless it has that already."""
    place = OPERATIONS[overload(step)].parameters.index(name)
    if place < len(step.args) or any(key == name for key, _ in step.kwargs):
        return step
    return replace(step, kwargs=_by_name([*step.kwargs, (name, drawn(source))]))


def _named(step: Step, first: int) -> Step:
    """The step with its arguments from a place on by name, where Python can say it so."""
    operation = OPERATIONS[overload(step)]
    if operation.form not in _FORMS or operation.owner or step.op in _OVERLOADED or "Storage" in step.op:
        return step
    if len(step.args) > len(operation.parameters) or (operation.variadic and not isinstance(step.args[-1], tuple)):
        return step
    named = list(zip(operation.parameters[first:], step.args[first:], strict=False))
    # Operands keep their order: rules tell them apart by it.
    tensors = [name for name, value in named if any(refs_in((value,)))]
    if tensors != sorted(tensors):
        return step
    return replace(step, args=step.args[:first], kwargs=_by_name([*step.kwargs, *named]))


def _by_name(keywords: list[tuple[str, Argument]]) -> tuple[tuple[str, Argument], ...]:
    return tuple(sorted(keywords, key=lambda item: item[0]))
