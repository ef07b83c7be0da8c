"""Operations by PyTorch's names: their parameters, how Python spells them, and whether they write.

One line per operation. Adapters in PyTorch's style need no more than this table; adapters in another style bind a
step's arguments to these parameter names and fill them into templates of their own (`idiom.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .program import Argument, DType, Step
from .signatures import SIGNATURES


class Operation(NamedTuple):
    """Parameters of one operation, in PyTorch's order.

    `form` is how Python spells it: `method`, `function`, `property`, `index`, `assign` or `expression`, whose text is
    in `expression`. A parameter written `*size` takes a tuple or all that follows. `owner` is the class whose method it
    is, empty for tensors. `writes` is true where the first argument's memory or metadata is changed, `by_address` where
    the result depends on how the operand lies in memory, not only on its elements, `reads` where what it answers
    depends on elements, `address` where it answers with one.
    """

    name: str
    parameters: tuple[str, ...]
    defaults: Mapping[str, Any]
    form: str
    writes: bool
    by_address: bool
    variadic: bool
    reads: bool = False
    address: bool = False
    owner: str = ""
    expression: str = ""
    out: bool = False
    """Whether it takes a tensor to write its result into, as `out=`."""
    group: str = ""
    """Heading that it stands below in the table, empty where it has none."""


def _table(lines: str) -> Iterator[Operation]:
    group = ""
    for line in lines.splitlines():
        if line.startswith("["):
            group = line.strip("[]")
        elif line:
            yield from _parse(line, group)


def _parse(line: str, group: str) -> Iterator[Operation]:
    form, rest = line.split(maxsplit=1)
    signature, _, expression = rest.partition(") = ")
    path, _, inside = signature.removesuffix(")").partition("(")
    parameters, defaults, variadic = [], {}, False
    for part in inside.split(", "):
        parameter, _, default = part.partition("=")
        if parameter.startswith("*"):
            parameter, variadic = parameter[1:], True
        parameters.append(parameter)
        if default:
            defaults[parameter] = eval(default, {"__builtins__": {}})
    kind = form.rstrip("!@?&>")
    for before, name in _names(path):
        is_class = kind not in ("function", "expression") and (before[:1].isupper() or before == "ndarray")
        yield Operation(
            f"{before}.{name}" if before else name, tuple(parameters), defaults, kind, "!" in form, "@" in form,
            variadic, "?" in form, "&" in form, before if is_class else "", expression, ">" in form, group,
        )  # fmt: skip


def _names(path: str) -> Iterator[tuple[str, str]]:
    """(what stands before the dot, name after it) of each operation that a line is about."""
    before, _, last = path.rpartition(".")
    for place in before.split("|"):
        for name in last.split("|"):
            yield place, name


OPERATIONS: Mapping[str, Operation] = {operation.name: operation for operation in _table(SIGNATURES)}


def group(*names: str) -> str:
    """Operations of these groups, with spaces between.

    >>> group("ternary")
    'where lerp addcmul addcdiv clamp clamp_min clamp_max'
    """
    found = [operation.name for operation in OPERATIONS.values() if operation.group in names]
    if missing := set(names) - {operation.group for operation in OPERATIONS.values()}:
        raise ValueError(f"the table has no group {', '.join(sorted(missing))}")
    return " ".join(found)


def writes_to(step: Step) -> Argument | None:
    """The argument whose memory or metadata a step changes: its first, or what it is given as `out=`.

    >>> writes_to(Step("add", (0, 1), (("out", 2),))), writes_to(Step("add_", (0, 1))), writes_to(Step("add", (0, 1)))
    (2, 0, None)
    """
    for name, value in step.kwargs:
        if name == "out":
            return value
    operation = OPERATIONS.get(overload(step))
    return step.args[0] if operation is not None and operation.writes and step.args else None


def overload(step: Step) -> str:
    """Name of the table's entry that a step means: PyTorch tells `view(dtype)` from `view(size)` by the argument.

    >>> overload(Step("view", (0, DType("int8"))))
    'view.dtype'
    """
    if step.op == "view" and len(step.args) == 2 and isinstance(step.args[1], DType):
        return "view.dtype"
    return step.op


_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x2": "other"}
"""What NumPy calls parameters that PyTorch has by another name, and takes by either."""


def bind(step: Step) -> dict[str, Argument]:
    """Arguments of a step by parameter name, defaults filled in, variadic sizes gathered into one tuple.

    Raises
    ------
    KeyError
        There is no such operation.
    ValueError
        The arguments do not fit its parameters.

    >>> bind(Step("transpose", (0, 1, 2)))
    {'self': 0, 'dim0': 1, 'dim1': 2}
    """
    operation = OPERATIONS[overload(step)]
    args, parameters = step.args, operation.parameters
    if operation.variadic and (
        len(args) > len(parameters) or (len(args) == len(parameters) and not isinstance(args[-1], tuple))
    ):
        last = len(parameters) - 1
        args = (*args[:last], args[last:])
    bound = dict(operation.defaults)
    if len(args) > len(parameters):
        raise ValueError(f"{step.op} takes {len(parameters)} arguments, got {len(args)}")
    bound.update(zip(parameters, args, strict=False))
    for name, value in step.kwargs:
        ours = name if name in parameters else _NUMPY_NAMES.get(name, name)
        if ours not in parameters and not (name == "out" and operation.out):
            raise ValueError(f"{step.op} has no parameter {name!r}")
        bound[ours] = value
    if missing := [name for name in parameters if name not in bound]:
        raise ValueError(f"{step.op} needs {', '.join(missing)}")
    return bound
