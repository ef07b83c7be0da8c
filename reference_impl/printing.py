"""What a tensor looks like in text: as PyTorch prints it, with the options that it has for that."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from .core import is_leaf, requires_grad, values
from .promotion import get_default_dtype

if TYPE_CHECKING:
    from .tensors import Tensor


@dataclass
class Options:
    """How numbers are printed."""

    precision: int = 4
    """Digits behind the point."""
    threshold: float = 1000
    """Elements that are all printed."""
    edgeitems: int = 3
    """How many of each end are printed, of more."""
    linewidth: int = 80
    """Characters in a line."""
    sci_mode: bool | None = None
    """Whether numbers have exponents; None looks at them."""


_options = Options()
_PROFILES = {
    name: {"precision": precision, "threshold": threshold, "edgeitems": edge, "linewidth": 80}
    for name, precision, threshold, edge in (("default", 4, 1000, 3), ("short", 2, 1000, 2), ("full", 4, inf, 3))
}


def set_printoptions(
    precision: Any = None, threshold: Any = None, edgeitems: Any = None, linewidth: Any = None, profile: Any = None,
    sci_mode: Any = None,
) -> None:  # fmt: skip
    """Change what is given, of those of a profile or those before; `sci_mode` is set by every call.

    Source: torch 2.13.

    >>> set_printoptions(precision=2)
    >>> torch.tensor([1.12345])
    tensor([1.12])
    >>> set_printoptions(profile="default")
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in (_PROFILES.get(profile, {}) | {k: v for k, v in given.items() if v is not None}).items():
        setattr(_options, name, value)
    _options.sci_mode = sci_mode


Formatter = Callable[[Any], str]


def as_text(t: "Tensor") -> str:
    """A tensor's elements and what is not evident from them.

    Raises: dtype where PyTorch has no numbers of the dtype. Source: `torch._tensor_str`, torch 2.13.

    >>> as_text(torch.tensor([[1.5, -2.0], [0.25, 3.0]]))
    'tensor([[ 1.5000, -2.0000],\\n        [ 0.2500,  3.0000]])'
    """
    told = []
    default = get_default_dtype()
    known = (default, dt.complex128 if default is dt.float64 else dt.complex64, dt.int64, dt.bool_)
    shape = t._layout.shape
    if t._storage._is_meta:
        told += ["device='meta'", f"size={shape}"]
    elif (0 in shape and len(shape) != 1) or (0 not in shape and not _options.edgeitems):
        told.append(f"size={shape}")
    # Of no elements the dtype is not evident.
    if t.dtype not in (known[:1] if t._storage._is_meta or 0 in shape else known):
        told.append(f"dtype={t.dtype}")
    if not is_leaf(t):
        told.append("grad_fn=<...>")
    elif requires_grad(t):
        told.append("requires_grad=True")
    return with_suffixes("tensor(" + ("..." if t._storage._is_meta else elements(t)), told)


def with_suffixes(text: str, told: list[str]) -> str:
    """A text that is opened by a bracket, with what else is told of a tensor, in lines that are not too long."""
    length = len(text) - text.rfind("\n") + 1
    for suffix in told:
        fits = length + len(suffix) + 2 <= _options.linewidth
        text += (", " if fits else ",\n       ") + suffix
        length = length + len(suffix) + 2 if fits else len("tensor(") + len(suffix)
    return text + ")"


def elements(t: "Tensor") -> str:
    """The elements in brackets, aligned; the first and last three along each dimension where there are many."""
    if not t.numel():
        return "[]"
    if t.dtype.category == "raw" and t.dtype is not dt.complex32:
        return str(t.tolist())
    a = np.array(t.tolist()) if t.dtype.is_complex or t.dtype.is_floating_point else values(t)
    many = a.ndim > 0 and a.size > _options.threshold
    shown = np.array([*_shown(a)]) if many else a.reshape(-1)
    if a.dtype.kind != "c":
        format, width = _formatter(shown)
        return _nested(a, len("tensor("), many, format, width)
    (real, width), (imag, imag_width) = _formatter(shown.real), _formatter(shown.imag)

    def both(x: complex) -> str:
        second = imag(x.imag).lstrip() + "j"
        return real(x.real) + (second if second[0] in "+-" else "+" + second)

    return _nested(a, len("tensor("), many, both, width + imag_width + 1)


def _ends(a: Any) -> Iterator[Any]:
    """The parts of an array that are printed, of many; None in the place of those between."""
    edge = _options.edgeitems
    if len(a) <= 2 * edge:
        return iter(a)
    return chain(a[:edge], (None,), a[len(a) - edge :])


def _shown(a: Any) -> Iterator[Any]:
    """The single elements that are printed, of many."""
    for part in _ends(a):
        if part is not None:
            yield from _shown(part) if np.ndim(part) else (part,)


def _formatter(shown: Any) -> tuple[Formatter, int]:
    """How numbers are written so that all of them are alike, and how wide each is."""
    if shown.dtype.kind != "f":
        width = max((len(str(x)) for x in shown.tolist()), default=1)
        return lambda x: str(x).rjust(width), width
    numbers = [x for x in shown.tolist() if isfinite(x) and x]
    whole = all(x == int(x) for x in numbers)
    sizes = [abs(x) for x in numbers] or [1.0]
    exponents = max(sizes) / min(sizes) > 1000 or max(sizes) > 1e8 or min(sizes) < 1e-4
    if (exponents if _options.sci_mode is None else _options.sci_mode) and numbers:
        plain = f".{_options.precision}e"
    else:
        plain = ".0f" if whole else f".{_options.precision}f"
    # A whole number ends in a point.
    tail = "." if plain == ".0f" else ""
    width = max((len(format(x, plain) + tail) for x in numbers), default=1)
    return lambda x: (format(x, plain) + (tail if isfinite(x) else "")).rjust(width), width


def _nested(a: Any, indent: int, many: bool, formatted: Formatter, width: int) -> str:
    if not a.ndim:
        return formatted(a.item())
    parts = _ends(a) if many else iter(a)
    if a.ndim > 1:
        rows = ["..." if part is None else _nested(part, indent + 1, many, formatted, width) for part in parts]
        gap: str = "," + "\n" * (a.ndim - 1) + " " * (indent + 1)
        return "[" + gap.join(rows) + "]"
    words = [(" ..." if _options.edgeitems else "...") if x is None else formatted(x.item()) for x in parts]
    count = max(1, (_options.linewidth - indent) // (width + 2))
    lines = [", ".join(words[k : k + count]) for k in range(0, len(words), count)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
