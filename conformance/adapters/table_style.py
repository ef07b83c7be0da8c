"""Mixin for libraries that are driven by a table of expressions: PyTorch's names on one side, theirs on the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..capabilities import Capabilities
from ..errors import text_of
from ..idiom import lacking, named_template, template_faults, write_argument
from ..operations import OPERATIONS
from ..program import Argument, Ref, Step
from ..protocol import Unsupported
from .templated import Templated


def takes_by(dlpack: str, **others: str) -> dict[str, str]:
    """Ports of a library: its function for DLPack, with and without a copy, and those for other protocols.

    >>> takes_by("np.from_dlpack", buffer="np.asarray")["dlpack copy"]
    'np.from_dlpack({x}, copy=True)'
    """
    found = {"dlpack": f"{dlpack}({{x}})", "dlpack 0": f"{dlpack}({{x}})"}
    found |= {f"dlpack {name}": f"{dlpack}({{x}}, copy={copy})" for name, copy in (("copy", True), ("share", False))}
    return found | {protocol: f"{function}({{x}})" for protocol, function in others.items()}


def dtypes_of(module: Any, names: Iterable[str]) -> dict[str, Any]:
    """Dtypes of a module by PyTorch's names, which are its own: those that this release has.

    >>> from types import SimpleNamespace
    >>> dtypes_of(SimpleNamespace(int8=1), ["int8", "bfloat16"])
    {'int8': 1}
    """
    return {name: getattr(module, name) for name in names if hasattr(module, name)}


def why_lost(ask: Callable[[], Any]) -> str:
    """Why a device answers no more, by what it says when it is asked for something small; empty where it answers.

    >>> why_lost(lambda: 1 / 0)
    'division by zero'
    """
    try:
        ask()
    except Exception as error:
        return " ".join(text_of(error).split("\n", 1)[0].split()) or type(error).__name__
    return ""


def methods(signatures: str) -> dict[str, str]:
    """Templates of operations that are methods as in PyTorch, with the parameters named, by default all of them.

    >>> methods("expand_as add(other) T")
    {'expand_as': '{self}.expand_as({other})', 'add': '{self}.add({other})', 'T': '{self}.T'}
    """
    templates = {}
    for signature in signatures.replace(", ", ",").split():
        name, _, given = signature.rstrip(")").partition("(")
        operation = OPERATIONS[name]
        parameters = given.split(",") if given else operation.parameters[1:] if "(" not in signature else ()
        called = f".{name}({', '.join(f'{{{p}}}' for p in parameters)})"
        templates[name] = "{self}" + {"property": f".{name}", "index": "[{index:index}]"}.get(operation.form, called)
    return templates


class TableStyle(Templated):
    """Drives a module by `templates`; a subclass adds how tensors are made, seen and read.

    A template is an expression over PyTorch's parameter names, `"np.swapaxes({self}, {dim0}, {dim1})"`; in it, `prefix`
    is the module. What has no template is unsupported.
    """

    name: str
    tensor_type: Any
    """What the library's tensors are instances of."""
    prefix = "np"
    """Name of the module in templates and scripts."""
    imports = ""
    """What a script begins with; by default the module under that name."""
    checks: Mapping[str, str] = {}
    """Expressions that scripts compare with what should be."""
    helpers: Mapping[str, str] = {}
    """Source of functions that templates and checks call and the library lacks, by name, those first that others call.

    A script defines what it needs of them.
    """
    templates: Mapping[str, str] = {}
    capabilities: Capabilities
    error_kinds: Sequence[tuple[str, str]] = ()
    """Pieces of the library's messages with the kind of error that they tell, most telling first."""
    not_offered: Sequence[str] = ()
    """Pieces of messages by which the library says that it has no such kernel: the program is then unsupported."""
    ports: Mapping[str, str] = {}
    """How the library takes arrays of others: an expression of `{x}` for each protocol in `handover.PROTOCOLS`."""

    def __init__(self, namespace: Any, dtypes: Mapping[str, Any]) -> None:
        super().__init__(namespace, dtypes)
        with suppress(AttributeError):  # of a subclass whose scope needs what it makes later
            if faults := template_faults(self.templates, self.scope()):
                raise TypeError(f"templates: {'; '.join(faults)}")
        self.imports = self.imports or f"import {namespace.__name__} as {self.prefix}"

    def versions(self) -> dict[str, str]:
        """Versions that can change a verdict."""
        library: str = self.namespace.__name__.partition(".")[0]
        return {library: str(self.namespace.__version__)}

    def scope(self) -> dict[str, Any]:
        """What the names in templates mean."""
        names = {self.prefix: self.namespace}
        for source in self.helpers.values():
            exec(source, names)
        return names

    def guard(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Errors by which the library says that it has no such kernel are told apart."""
        if not self.not_offered:
            return function

        def run(*args: Any) -> Any:
            try:
                return function(*args)
            except Exception as error:
                missing = self.missing(error)
                if missing is None:
                    raise
                raise missing from error

        return run

    def missing(self, error: Exception) -> Unsupported | None:
        """What an error says that the library does not have, if it says so (`not_offered`)."""
        text = text_of(error)
        if not any(fragment in text for fragment in self.not_offered):
            return None
        return Unsupported(f"kernel:{text.strip().splitlines()[0][:80]}")

    def template(self, step: Step) -> str | None:
        """The step's expression in the library's idiom; None where there is none, or a release lacks what it calls."""
        template = named_template(step, self.templates)
        return None if template is None or lacking(template, self.scope()) else template

    def is_tensor(self, x: Any) -> bool:
        """Whether an object is one of the library's tensors."""
        return isinstance(x, self.tensor_type)

    def lift(self, x: Any) -> Any:
        """Results are taken as they are."""
        return x

    def is_storage(self, x: Any) -> bool:
        """There are no storages as objects."""
        return False

    def describe_storage(self, x: Any) -> tuple[Any, str | None, str]:
        """Never asked for."""
        raise NotImplementedError

    def quantizer_of(self, x: Any) -> str | None:
        """Nothing is quantised."""
        return None

    def base_of(self, x: Any) -> Any:
        """Nothing is recorded as a view of anything: not claimed."""
        return None

    def shadow_of(self, storage: Any) -> bytes | None:
        """A real library does not know which bytes are specified."""
        return None

    def memory_format(self, name: str) -> Any:
        """There are no memory formats; contiguous_format is what functions do anyway."""
        return None

    def error_kind(self, error: Exception) -> str | None:
        """Kind by the exception's class where that says it, then by pieces of its message."""
        if isinstance(error, IndexError):
            return "index"
        text = str(error)
        for fragment, kind in self.error_kinds:
            if fragment in text:
                return kind
        return "argument" if isinstance(error, TypeError) else None

    # How the same things are printed, for standalone scripts.

    def write(self, argument: Argument, value: Callable[[Ref], str]) -> str:
        """An argument as source text."""
        return write_argument(argument, dtype=self.write_dtype, memory_format="", value=value)

    def write_dtype(self, name: str) -> str:
        """A dtype as source text."""
        return f"{self.prefix}.{name}"
