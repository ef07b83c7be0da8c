"""How rules are written down: a decorator that turns a predicate into a rule, and predicates that many rules share."""

from __future__ import annotations

from collections.abc import Callable

from ..capabilities import ASPECTS
from ..classify import NOTHING, Event, Rule
from ..layout import numel
from ..observation import TensorState
from ..operations import OPERATIONS, group
from ..program import MemoryFormat

GEOMETRY = "shape strides layout"
RAISING = "raises error-kind"
ANSWERS = "values shape sharing strides layout contiguity storage flags"
"""All that can be otherwise where a step is not refused."""
RESHAPING = "view view_as reshape reshape_as"
ELEMENTWISE = group("unary", "binary", "ternary")
WRITING = group("in-place", "triangle writes", "scan writes", "product writes", "index writes")
CONVERTING = f"to {group('conversions')}"
SPLITTING = f"split chunk tensor_split unbind {group('splits')}"
UNTYPED, TYPED, ARRAYS = (
    " ".join([name for name, operation in OPERATIONS.items() if name.startswith(f"{owner}.")])
    for owner in ("UntypedStorage", "TypedStorage", "ndarray")
)
"""What storages of both classes and NumPy's arrays can do."""
LEGACY = " ".join(
    [name for name in OPERATIONS if name.endswith("Storage") and name not in ("UntypedStorage", "TypedStorage")]
)
"""Classes named after a dtype."""
VIEWS = (
    "view view.dtype view_as unflatten permute transpose swapaxes swapdims movedim moveaxis t T mT narrow select expand "
    "expand_as broadcast_to squeeze unsqueeze unfold diagonal as_strided detach __getitem__"
)


class Family:
    """Collects the rules of one family: `@family.rule(id, sentence, source, operations, aspects)` over a predicate."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rules: list[Rule] = []

    def rule(
        self, id: str, sentence: str, source: str, operations: str, aspects: str = GEOMETRY
    ) -> Callable[[Callable[[Event], bool]], Callable[[Event], bool]]:
        """Register a predicate as a rule; operations and aspects are written with spaces between, `*` means all."""
        judged = frozenset(ASPECTS if aspects == "*" else aspects.split())
        assert judged <= set(ASPECTS), judged
        concerned = frozenset() if operations == "*" else frozenset(operations.split())

        def register(applies: Callable[[Event], bool]) -> Callable[[Event], bool]:
            self.rules.append(Rule(id, sentence, f"semantics §{source}", self.name, judged, concerned, applies))
            return applies

        return register

    def succeeds(self, id: str, sentence: str, source: str, operations: str, aspects: str) -> None:
        """Register a rule for every step of these operations that is not refused."""
        self.rule(id, sentence, source, operations, aspects)(not_refused)

    def refused(self, id: str, sentence: str, source: str, operations: str, kind: str | None = None) -> None:
        """Register a rule for every step of these operations that is refused, with an error of `kind` if given."""
        self.rule(id, sentence, source, operations, RAISING)(lambda e: e.raised is not None and kind in (None, e.kind))


def not_refused(event: Event) -> bool:
    """The step did something."""
    return event.raised is None


def succeeded(event: Event) -> bool:
    """The step made (or is) a tensor out of a tensor."""
    return event.x is not NOTHING and event.y is not NOTHING


def filled(event: Event) -> bool:
    """The step wrote its result into what it was given as `out=`."""
    return event.raised is None and bool(event.outs)


def viewed(event: Event) -> bool:
    """The step made another tensor over the memory of its operand."""
    return succeeded(event) and not event.same and not event.copied


def reshaped(event: Event) -> bool:
    """The step made a view of a tensor that has elements."""
    return viewed(event) and numel(event.x) > 0


def asked_format(event: Event) -> str:
    """The memory format that a step asks for, `preserve_format` where it asks for none."""
    asked = event.argument("memory_format")
    return asked.name if isinstance(asked, MemoryFormat) else "preserve_format"


def real_dims(state: TensorState) -> int:
    """Number of dimensions longer than 1."""
    return sum(1 for size in state.shape if size > 1)


def is_channels_last(state: TensorState) -> bool:
    """Whether the tensor is contiguous in channels_last or channels_last_3d."""
    return "T" in state.contiguity[1:]
