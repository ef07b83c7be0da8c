"""A library's own way to write an operation: one expression, compiled to run it and printed to reproduce it.

A template is a Python expression with placeholders `{0}`, `{1}`, … for the positional arguments of a step and `{name}`
for its keywords; `{1:index}` prints as the inside of square brackets. Standard library only: workers compile templates.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from symtable import symtable
from typing import Any

from .operations import OPERATIONS, overload
from .program import Argument, DType, File, MemoryFormat, Ref, Slice, Step

_PLACEHOLDER = re.compile(r"\{(\w+)(:index)?(!)?\}")
TEMPLATE = "<template>"
"""Where tracebacks say that a compiled template is."""
_MODULE = re.compile(r"(?<![\w.])(copy|io|numpy|pickle)\.")


class TemplateError(Exception):
    """An adapter's expression that can mean nothing, whatever it is given."""


def compile_template(template: str, names: tuple[str, ...], namespace: Mapping[str, Any]) -> Callable[..., Any]:
    """A function of the placeholders `names`, in that order, that evaluates the template in `namespace`.

    What it raises is the library's doing, as the template names nothing that is not there.

    Raises
    ------
    TemplateError
        It is no expression, or has a place or a name that means nothing.

    >>> compile_template("{0} + {other}", ("0", "other"), {})(2, 3)
    5
    """
    for match in _PLACEHOLDER.finditer(template):
        if match[1] not in names:
            raise TemplateError(f"{template!r} has a place {match[0]}, for which there is no value")
    body, parameters = _filled(template), [f"_{name}" for name in names]
    scope = {name: import_module(name) for name in modules_of(template)} | dict(namespace)
    try:
        unknown = free_names(body) - {*parameters, *scope, *dir(builtins)}
    except SyntaxError as error:
        raise TemplateError(f"{template!r} is no expression: {error.msg}") from None
    if unknown:
        raise TemplateError(f"{template!r} names {', '.join(sorted(unknown))}, which is not in the adapter's scope")
    code = compile(f"lambda {', '.join(parameters)}: ({body}\n)", TEMPLATE, "eval")  # it may end with a comment
    function: Callable[..., Any] = eval(code, scope)
    return function


def lacking(template: str, namespace: Mapping[str, Any]) -> str:
    """What a template calls of a module (`module.part.function`) and the module has not; empty where it has all.

    What it calls on a condition it may do without.

    >>> import math
    >>> lacking("math.cos(math.versine({x}))", {"math": math})
    'math.versine'
    >>> lacking("math.versine({x}) if hasattr(math, 'versine') else 1 - math.cos({x})", {"math": math})
    ''
    """
    for node in _certain(ast.parse(_filled(template), mode="eval")):
        if isinstance(node, ast.Attribute):
            root, *names = ast.unparse(node).split(".")
            if root in namespace and not _reaches(namespace[root], names):
                return ".".join([root, *names])
    return ""


def _certain(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes of an expression but for those that are evaluated on a condition."""
    yield node
    match node:
        case ast.IfExp(test):
            within: Iterable[ast.AST] = [test]
        case ast.BoolOp(values=[first, *_]):
            within = [first]
        case _:
            within = ast.iter_child_nodes(node)
    for child in within:
        yield from _certain(child)


def _reaches(place: Any, names: Sequence[str]) -> bool:
    """Whether each name is in what the ones before lead to; so it is, as far as is known, where one is called."""
    for name in names:
        if not name.isidentifier():
            return True
        try:
            place = getattr(place, name)
        except Exception:  # a module that loads its parts late may lack what one of them needs
            return False
    return True


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


def template_faults(table: Mapping[str, str], names: Collection[str] = ()) -> list[str]:
    """What is wrong in a table of templates with parameter names, in words; nothing that its expressions may hold.

    `names` mean something in the templates besides Python's own and what they are given.

    >>> template_faults({"type": "{self}.astype({dtpye!})", "t": "{ self }.T", "sum": "f({i: {self} for i in {dim}})"})
    ["type: '{dtpye!}' is no place for one of self, dtype", "t: 'self' stands outside of a place: {self}"]
    >>> template_faults({"sqeeze": "{self}.squeeze()"})
    ["sqeeze: there is no such operation, but 'squeeze'"]
    """
    meant = {*names, *dir(builtins)}
    return [
        f"{entry}: {fault}"
        for entry, template in table.items()
        for fault in _faults(entry, template, meant.union(modules_of(template)))
    ]


def _faults(entry: str, template: str, meant: Collection[str]) -> Iterator[str]:
    operation = OPERATIONS.get(entry)
    if operation is None:
        close = get_close_matches(entry, OPERATIONS, 1)
        yield "there is no such operation" + (f", but {close[0]!r}" if close else "")
        return
    known = dict.fromkeys([*operation.parameters, *operation.defaults])
    places = list(_PLACEHOLDER.finditer(template))
    for place in places:
        if place[1] not in known:
            yield f"{place[0]!r} is no place for one of {', '.join(known)}"
    numbers = itertools.count()
    try:
        free = free_names(_PLACEHOLDER.sub(lambda _: f"_place_{next(numbers)}", template))
    except SyntaxError as error:
        yield f"{template!r} is no expression: {error.msg}"
        return
    for number, place in enumerate(places):
        if f"_place_{number}" not in free:
            yield f"{place[0]!r} stands where no value can"
    for name in known:
        if name in free and name not in meant:
            yield f"{name!r} stands outside of a place: {{{name}}}"


def _filled(template: str) -> str:
    """The template with a name in each place, as it is compiled."""
    return _PLACEHOLDER.sub(lambda match: f"_{match[1]}", template.strip())


def free_names(expression: str) -> set[str]:
    """Names that an expression takes from around it, and does not bind itself.

    Raises
    ------
    SyntaxError
        It is no expression.

    >>> sorted(free_names("[f(x.size) for x in y]"))
    ['f', 'y']
    """
    ast.parse(expression.strip(), mode="eval")  # it must stand without the parentheses around it, too
    found: set[str] = set()
    tables = symtable(f"lambda: ({expression}\n)", TEMPLATE, "eval").get_children()
    while tables:
        table = tables.pop()
        found |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
        tables += table.get_children()
    return found


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
