"""Which operands an operator keeps for its derivative: an inference tensor cannot be kept (facts 5.5.4).

Each operator says it where it is defined. What is composed of others, such as `matmul`, says nothing itself: its parts
keep what they are given, and that may be a copy.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, Final, TypeVar

from .calls import checked
from .core import TensorBase, records_history, requires_grad
from .errors import LayoutError
from .parsing import place_of
from .versions import inferred

F = TypeVar("F", bound=Callable[..., Any])

EACH: Final = ""
"""Every operand is kept for the gradient of every other one."""

POINTWISE: Final = {
    **dict.fromkeys(
        ("mul", "pow", "atan2", "maximum", "minimum", "fmax", "fmin", "logaddexp", "logaddexp2", "xlogy",
         "special_xlog1py", "clamp", "smooth_l1_loss"),
        EACH,
    ),
    **dict.fromkeys(("fmod", "remainder", "igamma", "igammac", "special_zeta"), "0<1"),
    "nextafter": "1<0",
    "addcmul": "1<2 2<1",
    "addcdiv": "1<2 2<0,1",
    "lerp": "0<2 1<2 2<0,1",
}  # fmt: skip
"""Of elementwise operators, by the places of operands: `1<0,2` keeps the second for the first's and the third's."""


def check_kept(name: str, rule: str, operands: Sequence[Any]) -> None:
    """Refuse to keep an inference tensor for a gradient that is wanted; in place, PyTorch keeps a copy of the target.

    Raises: grad (RuntimeError), before anything is computed. Source: facts 5.5.4, torch 2.13.
    """
    if not inferred[0]:
        return
    given = [[*_tensors(x)] for x in operands]
    if not records_history(*(t for ts in given for t in ts)):
        return
    wanted = {place for place, ts in enumerate(given) if any(requires_grad(t) for t in ts)}
    for place, wanting in _pairs(rule, len(given)):
        if place == 0 and name.endswith("_"):
            continue
        if wanting & wanted and place < len(given) and any(t._inference for t in given[place]):
            what = f"operand {place}, kept for a gradient, is an inference tensor"
            raise LayoutError("grad", f"{name}: {what} (facts 5.5.4)")


def _pairs(rule: str, count: int) -> Iterator[tuple[int, set[int]]]:
    if not rule:
        yield from ((place, {*range(count)} - {place}) for place in range(count))
    for part in rule.split():
        kept, wanting = part.split("<")
        yield int(kept), {int(place) for place in wanting.split(",")}


def _tensors(x: Any) -> Iterator[TensorBase]:
    if isinstance(x, TensorBase):
        yield x
    elif isinstance(x, (tuple, list)):
        for item in x:
            yield from _tensors(item)


def keeps(*operands: str, rule: str = EACH) -> Callable[[F], F]:
    """A function that keeps operands, named in the order in which the rule counts them.

    Raises: as `check_kept`, before anything that the function itself refuses.
    """

    def decorate(function: F) -> F:
        places = [(place_of(name, function) or 0, name) for name in operands]
        inner = checked(function)

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if inferred[0]:  # asked here, too, as this is on every operator's way
                n = len(args)
                check_kept(function.__name__, rule, [args[k] if k < n else kwargs.get(name) for k, name in places])
            return inner(*args, **kwargs)

        return call  # type: ignore[return-value]

    return decorate
