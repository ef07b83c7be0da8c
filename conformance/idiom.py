"""A library's own way to write an operation: one expression, compiled to run it and printed to reproduce it.

A template is a Python expression with placeholders `{0}`, `{1}`, … for the positional arguments of a step and `{name}`
for its keywords; `{1:index}` prints as the inside of square brackets. Standard library only: workers compile templates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from .operations import OPERATIONS, overload
from .program import Argument, DType, File, MemoryFormat, Ref, Slice, Step

_PLACEHOLDER = re.compile(r"\{(\w+)(:index)?(!)?\}")
TEMPLATE = "<template>"
"""Where tracebacks say that a compiled template is."""
_MODULE = re.compile(r"(?<![\w.])(copy|io|numpy|pickle)\.")


def compile_template(template: str, names: tuple[str, ...], namespace: Mapping[str, Any]) -> Callable[..., Any]:
    """A function of the placeholders `names`, in that order, that evaluates the template in `namespace`.

    >>> compile_template("{0} + {other}", ("0", "other"), {})(2, 3)
    5
    """
    body = _PLACEHOLDER.sub(lambda match: f"_{match[1]}", template)
    parameters = ", ".join(f"_{name}" for name in names)
    modules = {name: import_module(name) for name in modules_of(template)}
    code = compile(f"lambda {parameters}: {body}", TEMPLATE, "eval")
    function: Callable[..., Any] = eval(code, modules | dict(namespace))
    return function


def is_possible(template: str) -> bool:
    """Whether the modules that an expression needs besides the library's are installed.

    >>> is_possible("pickle.dumps({obj})")
    True
    """
    return all(find_spec(name) for name in modules_of(template))


def modules_of(template: str) -> list[str]:
    """Modules that an expression needs besides the library's.

    >>> modules_of("pickle.loads(pickle.dumps({obj}))")
    ['pickle']
    """
    return sorted(set(_MODULE.findall(template)))


def print_template(template: str, sources: Mapping[str, Argument], write: Callable[[Argument], str]) -> str:
    """The template as source text, each placeholder replaced by what `write` makes of its argument."""

    def fill(match: re.Match[str]) -> str:
        argument = sources[match[1]]
        return write_index(argument, write) if match[2] else write(argument)

    return _PLACEHOLDER.sub(fill, template)


def write_index(index: Argument, write: Callable[[Argument], str]) -> str:
    """An index as it stands between square brackets.

    >>> write_index((Slice(1, None, 2), ..., None), repr)
    '1::2, ..., None'
    """
    if not isinstance(index, tuple):
        return _write_item(index, write)
    if not index:
        return "()"
    return ", ".join([_write_item(item, write) for item in index]) + (
        "," if len(index) == 1 and index[0] is None else ""
    )


def _write_item(item: Argument, write: Callable[[Argument], str]) -> str:
    if isinstance(item, Slice):
        text = ":".join("" if part is None else str(part) for part in (item.start, item.stop, item.step))
        return text.removesuffix(":") if item.step is None else text
    return "..." if item is ... else write(item)


def write_argument(
    argument: Argument, *, dtype: Callable[[str], str], memory_format: str, value: Callable[[Ref], str]
) -> str:
    """An argument as source text; `dtype` writes a dtype, `memory_format` is the prefix of a memory format's name."""
    match argument:
        case Ref():
            return value(argument)
        case DType(name):
            return dtype(name)
        case MemoryFormat(name):
            return memory_format + name
        case Slice(start, stop, step):
            return f"slice({start}, {stop}, {step})"
        case File():
            return f'folder + "/{argument.name}"'
        case bytes():
            return f"bytearray({argument!r})"
        case tuple():
            inner = [write_argument(a, dtype=dtype, memory_format=memory_format, value=value) for a in argument]
            return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
        case float() if argument != argument or argument in (float("inf"), float("-inf")):
            return f'float("{argument}")'
        case _ if argument is ...:
            return "..."
    return repr(argument)


def torch_template(step: Step, form: str = "") -> str:
    """The template of a step in PyTorch's style: methods, properties and functions named as the program names them.

    What is not in the table of operations is a function under `torch` (`nn.functional.relu`, `linalg.inv`), unless
    another form is given. Methods take no `out=`; the functions of the same names do.
    """
    operation = OPERATIONS.get(overload(step))
    if any(name == "out" for name, _ in step.kwargs):
        form = "function"
    given = [f"{{{i}}}" for i in range(len(step.args))] + [f"{name}={{{name}}}" for name, _ in step.kwargs]
    attribute = step.op.removeprefix(f"{operation.owner}.") if operation is not None else step.op
    match form or (operation.form if operation is not None else "function"):
        case "property":
            return f"{{0}}.{attribute}"
        case "index":
            return "{0}[{1:index}]"
        case "assign":
            return "{0}.__setitem__({1}, {2})"
        case "function":
            return f"torch.{step.op}({', '.join(given)})"
        case "expression":
            assert operation is not None
            filled = named_template(step, {operation.name: operation.expression})
            return filled or f"{step.op}({', '.join(given)})"
    return f"{{0}}.{attribute}({', '.join(given[1:])})"


def wrong_places(table: Mapping[str, str]) -> list[str]:
    """What in a table of templates with parameter names is no place for a parameter, in words.

    >>> wrong_places({"type": "{self}.astype({dtpye!})", "t": "{self}.T"})
    ["type: '{dtpye!}' is no place for one of self, dtype"]
    >>> wrong_places({"type": "{self}.astype({dtype !})"})
    ["type: '{dtype !}' is no place for one of self, dtype"]
    """
    wrong = []
    for entry, template in table.items():
        if (operation := OPERATIONS.get(entry)) is not None:
            known = dict.fromkeys([*operation.parameters, *operation.defaults])
            places = [match[0] for match in _PLACEHOLDER.finditer(template) if match[1] not in known]
            places += _NEARLY.findall(_PLACEHOLDER.sub("", template))
            wrong += [f"{entry}: {place!r} is no place for one of {', '.join(known)}" for place in places]
    return wrong


_NEARLY = re.compile(r"\{\s*\w+\s*[!:][^{}]*\}|\{\w+\}")
"""What a place is meant to be: a set or a dictionary of one name is in no template."""


def named_template(step: Step, table: Mapping[str, str]) -> str | None:
    """The template of a step from a table of templates with parameter names, `"np.swapaxes({self}, {dim0}, {dim1})"`.

    Parameters that the step leaves out are filled with PyTorch's defaults; None where the table has no entry, or an
    entry without a place for an argument that the step gives, or with one (`{dtype!}`) for what it leaves out.

    >>> table = {"type": "{self}.astype({dtype!})"}
    >>> named_template(Step("type", (Ref(0), DType("int8"))), table), named_template(Step("type", (Ref(0),)), table)
    ('{0}.astype({1})', None)
    >>> named_template(Step("type", (Ref(0),)), {"type": "f({self}, {dtype!}, {dtype})"}) is None
    True
    """
    entry = overload(step)
    operation, template = OPERATIONS.get(entry), table.get(entry)
    if operation is None or template is None:
        return None
    last = len(operation.parameters) - 1
    places = {name: f"{{{i}}}" for i, name in enumerate(operation.parameters[: len(step.args)])}
    if operation.variadic and len(step.args) > len(operation.parameters):
        places[operation.parameters[last]] = f"({', '.join(f'{{{i}}}' for i in range(last, len(step.args)))})"
    places |= {name: f"{{{name}}}" for name, _ in step.kwargs}
    found = list(_PLACEHOLDER.finditer(template))
    if not places.keys() <= {match[1] for match in found} or any(m[3] and m[1] not in places for m in found):
        return None

    def place(match: re.Match[str]) -> str:
        given = places.get(match[1])
        if given is None:
            return repr(operation.defaults[match[1]])
        return given[:-1] + (match[2] or "") + "}" if given.endswith("}") else given

    return _PLACEHOLDER.sub(place, template)
