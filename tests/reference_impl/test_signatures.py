"""Every argument that PyTorch's Python takes is taken under the same name and with the same default."""

import ast
import inspect
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
import torch.nn.functional
import torch.signal.windows
from stridecheck.reference_impl.nn import functional
from stridecheck.reference_impl.signal import windows

from stridecheck import reference_impl

MISSING = object()


class Argument(NamedTuple):
    """One parameter of PyTorch's: `default` is MISSING where it must be given."""

    name: str
    default: object
    place: int | None
    """Position among those that may be given without a name; None for a keyword."""


# Arguments that the reference does not have, with the reason.
LEFT_OUT = {
    "names": "named tensors are not strided layout",
    "sparse_grad": "there is no backward engine",
}
# Arguments of single functions that are left alone, with the reason.
EXCEPTIONS = {
    "contiguous": {"memory_format"},  # the stub has it without its star
    "is_contiguous": {"memory_format"},  # likewise
    "tensor": {"dtype", "device", "requires_grad", "pin_memory"},  # likewise
    "new_tensor": {"dtype", "device", "requires_grad", "pin_memory"},  # likewise
    "as_tensor": {"dtype", "device"},  # likewise
    "from_numpy": {"ndarray"},  # the stub gives it a name, which the function does not take
    "round": {"decimals"},  # an overload without it is the same as 0
    "round_": {"decimals"},
    "copy_": {"src"},  # the stub's name; the argument parser takes `other`
    "requires_grad_": {"mode"},  # likewise `requires_grad`
    "empty": {"memory_format"},  # None stands for contiguous_format
    "linspace": {"steps"},  # the stub's default is refused
    "logspace": {"steps"},
    "hsplit": {"indices", "sections"},  # one argument by three names
    "vsplit": {"indices", "sections"},
    "dsplit": {"indices", "sections"},
    "repeat_interleave": {"repeats"},  # may be all there is
    "tensor_split": {"indices", "sections", "tensor_indices_or_sections"},
    "isin": {"element", "test_element"},  # a number by a name of its own
    "randint": {"high", "size"},  # shifted where the lower bound is left out
    "randint_like": {"high"},
    "max": {"other"},  # given at the place of `dim`
    "min": {"other"},
    "scatter": {"value"},  # given at the place of `src`
    "scatter_": {"value"},
    "set_": {"source"},
    "result_type": {"scalar", "scalar1", "scalar2"},  # numbers by names of their own
    "normal": {"out"},
    "slice_scatter": {"out"},
    "group_norm": {"cudnn_enabled"},  # a choice of backends
    "layer_norm": {"cudnn_enable"},  # likewise
    "mm": {"out_dtype"},  # for CUDA only
    "bmm": {"out_dtype"},
    "addmm": {"out_dtype"},
    "baddbmm": {"out_dtype"},
}
# Names that are no operators: PyTorch's own signature is of another kind.
OTHER_KIND = {
    "Size", "Tensor", "device", "dtype", "memory_format", "Layout", "UntypedStorage", "TypedStorage", "no_grad",
    "enable_grad", "set_grad_enabled", "errors", "nn", "strided_copy", "element_marks", "cuda", "is_storage",
}  # fmt: skip


@cache
def stub(owner: str) -> dict[str, list[ast.FunctionDef]]:
    """PyTorch's type stubs: what its argument parsers take, all overloads, by name."""
    folder = Path(find_spec("torch").origin).parent / "_C"
    tree = ast.parse((folder / ("_VariableFunctions.pyi" if owner == "torch" else "__init__.pyi")).read_text())
    body = tree.body
    if owner == "Tensor":
        body = next(n.body for n in body if isinstance(n, ast.ClassDef) and n.name == "TensorBase")
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
    return found


def value_of(node: ast.expr | None) -> object:
    if node is None:
        return MISSING
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)


def from_stub(node: ast.FunctionDef) -> list[Argument]:
    a = node.args
    plain = [*a.posonlyargs, *a.args]
    defaults = [None] * (len(plain) - len(a.defaults)) + list(a.defaults)
    result = [Argument(p.arg, value_of(d), k) for k, (p, d) in enumerate(zip(plain, defaults, strict=True))]
    return result + [Argument(p.arg, value_of(d), None) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]


def from_python(f: object) -> list[Argument]:
    return [
        Argument(
            p.name, MISSING if p.default is p.empty else p.default, k if p.kind is p.POSITIONAL_OR_KEYWORD else None
        )
        for k, p in enumerate(inspect.signature(f).parameters.values())
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]


THEIRS = {
    "torch": torch, "Tensor": torch.Tensor, "functional": torch.nn.functional, "windows": torch.signal.windows,
}  # fmt: skip
OURS = {"torch": reference_impl, "Tensor": reference_impl.Tensor, "functional": functional, "windows": windows}


def overloads(owner: str, name: str) -> list[list[Argument]]:
    """PyTorch's signatures of a name, or none where it has no signature to read."""
    theirs = getattr(THEIRS[owner], name, None)
    if inspect.isfunction(theirs) and not hasattr(theirs, "__wrapped__"):
        return [from_python(theirs)]
    if owner == "functional":
        try:
            return [from_python(theirs)] if theirs is not None else []
        except (TypeError, ValueError):
            return [from_stub(n) for n in stub("torch").get(name, ())]
    return [from_stub(n) for n in stub(owner).get(name, ())]


def public(owner: object) -> list[str]:
    return sorted(n for n in dir(owner) if not n.startswith("_") and inspect.isfunction(getattr(owner, n)))


CASES = (
    [("torch", n) for n in public(reference_impl) if n not in OTHER_KIND]
    + [("Tensor", n) for n in public(reference_impl.Tensor)]
    + [("functional", n) for n in public(functional)]
    + [("windows", n) for n in torch.signal.windows.__all__]
)


def plainly(value: object) -> object:
    """A default without its dress; what says "nothing" is None."""
    if (value in ([], (), False, "preserve_format") and value != 0) or value is False:
        return None
    if type(value).__name__ in ("memory_format", "dtype", "layout", "str"):
        return plainly_named(str(value).removeprefix("torch."))
    return value


def plainly_named(name: str) -> object:
    return None if name in ("preserve_format", "strided") else name


def complaints(owner: str, name: str) -> list[str]:
    """What PyTorch takes and the reference does not, argument by argument."""
    ours = getattr(OURS[owner], name)
    parameters = inspect.signature(ours).parameters
    kinds = {p.kind for p in parameters.values()}
    # What follows is gathered into one argument, whose name Python cannot give twice.
    gathers, takes_any = inspect.Parameter.VAR_POSITIONAL in kinds, inspect.Parameter.VAR_KEYWORD in kinds
    theirs = overloads(owner, name)
    found = []
    for argument in {a.name: a for signature in theirs for a in signature}.values():
        if argument.name in LEFT_OUT or argument.name in ("self", "input"):
            continue
        if argument.name in EXCEPTIONS.get(name, ()):
            continue
        mine = parameters.get(argument.name)
        if mine is None or mine.kind in (mine.VAR_POSITIONAL, mine.POSITIONAL_ONLY):
            if not takes_any:
                found.append(f"{argument.name} is not taken")
            continue
        same = [a for signature in theirs for a in signature if a.name == argument.name]
        defaults = [plainly(a.default) for a in same if a.default is not MISSING]
        optional = len(same) < len(theirs) or gathers
        if mine.default is mine.empty:
            if defaults:
                found.append(f"{argument.name} may be left out")
        elif defaults:
            if plainly(mine.default) not in [*defaults, *([None] if optional else [])]:
                found.append(f"{argument.name}={mine.default!r}, not {defaults}")
        elif not optional and not gathers:
            found.append(f"{argument.name} must be given")
        if gathers or any(a.place is None for a in same):
            continue
        if mine.kind is mine.KEYWORD_ONLY or list(parameters).index(argument.name) not in [a.place for a in same]:
            found.append(f"{argument.name} is not at place {same[0].place}")
    return found


@pytest.mark.parametrize(("owner", "name"), CASES, ids=[".".join(c) for c in CASES])
def test_takes_what_pytorch_takes(owner: str, name: str) -> None:
    """Names, order and defaults of arguments are PyTorch's."""
    assert complaints(owner, name) == []


def test_has_no_method_that_pytorch_has_not() -> None:
    """What runs on the reference runs on PyTorch: its tensors have no public name of their own."""
    own = [name for name in dir(reference_impl.Tensor) if not name.startswith("_")]
    theirs = torch.zeros(2, 2, dtype=torch.complex64)
    assert [name for name in own if not hasattr(theirs, name)] == []
