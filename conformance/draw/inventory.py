"""What there is when a step is drawn: values of every kind, and what is known of the memory that they lie in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import prod
from typing import Any, TypeAlias

from stridecheck.reference_impl.shadow import UNSPECIFIED

from ..execute import Execution
from ..layout import extent
from ..observation import ForeignState, StorageObject, StorageState, TensorState
from ..program import ITEMSIZES, QUANTISED, Ref, Storage
from .source import Source
from .steps import Arguments, Drawer, Values, ref_of

MAX_NUMEL = 2_000
"""Values of more elements are not used as operands: programs stay small."""
CHOOSING = ("bool", "uint8", "int32", "int64")
"""Dtypes of indices and masks."""


@dataclass(eq=False)
class Inventory:
    """The values of a program after its last step.

    `tensors` are those that any operation may be drawn for; `coded` the quantised ones, `nowhere` those on meta, which
    few operations take.
    """

    tensors: Values
    coded: Values
    nowhere: Values
    storages: Mapping[str, StorageObject]
    foreign: Mapping[str, ForeignState]
    scalars: Mapping[str, Any]
    contents: Mapping[str, StorageState]
    files: Sequence[int] = field(default=())
    """Numbers of the program's files."""

    @cached_property
    def fixed(self) -> frozenset[str]:
        """Memory that must stay where it is: something else lies in it, or it lies in something else."""
        homes = {name: content.home for name, content in self.contents.items() if content.home is not None}
        return frozenset({*homes, *(home[0] for home in homes.values())})

    def is_exact(self, state: TensorState | StorageObject | ForeignState) -> bool:
        """Whether every byte of the memory that a value lies in is specified."""
        content = self.contents.get(state.storage or "")
        return content is not None and content.shadow is None

    def number(self, source: Source) -> Ref | None:
        """An integer that an earlier step has answered with."""
        found = [key for key, x in self.scalars.items() if type(x) is int and abs(x) < 1 << 20]
        return ref_of(source.choice(found)) if found else None


def inventory_of(execution: Execution, storages: Sequence[Storage]) -> Inventory:
    """What there is after the last step of a run on the oracle."""
    contents = execution.contents
    tensors: dict[str, TensorState] = {}
    coded: dict[str, TensorState] = {}
    nowhere: dict[str, TensorState] = {}
    for key, state in execution.states.items():
        numel, reach = _extent(state.shape, state.strides or (), state.offset or 0)
        if numel > MAX_NUMEL:
            continue
        content = contents[state.storage or ""]
        if content.home is not None and content.home[0] == "meta":
            nowhere[key] = state
        elif state.dtype in QUANTISED:
            coded[key] = state
        elif _is_operand(state, reach, content):
            tensors[key] = state
    return Inventory(
        tensors,
        coded,
        nowhere,
        storages={key: state for key, state in execution.others.items() if isinstance(state, StorageObject)},
        foreign={key: state for key, state in execution.others.items() if isinstance(state, ForeignState)},
        scalars={key: x for key, x in execution.scalars.items() if key not in execution.vague},
        contents=contents,
        files=[number for number, storage in enumerate(storages) if storage.backing == "file"],
    )


@lru_cache(maxsize=1 << 12)
def _extent(shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> tuple[int, int]:
    """Number of elements, and of those that a storage must hold; asked after every step, of mostly the same layouts."""
    return prod(shape), extent(shape, strides, offset)[1]


def _is_operand(state: TensorState, reach: int, content: StorageState) -> bool:
    """Whether a tensor is inside its storage; a refused `resize_` leaves some outside."""
    if reach * ITEMSIZES.get(state.dtype, 1) > len(content.data):
        return False
    # What fresh memory says as an index or a mask would decide even the shape of a result.
    return not (state.dtype in CHOOSING and content.shadow is not None and UNSPECIFIED in content.shadow)


def pick(source: Source, keys: Iterable[str]) -> str | None:
    """One of the keys, the last made the likelier; None where there is none."""
    found = list(keys)
    if not found:
        return None
    return found[-1] if source.chance(50) else source.choice(found)


StepDrawer: TypeAlias = Callable[[Source, Inventory], Arguments | None]
"""Draws the arguments of a step for what there is; None where that is not enough."""
Beside: TypeAlias = Callable[[Source, Inventory, TensorState], Values]
"""Tensors that may be operands beside one."""


def of_every_tensors(drawer: Drawer, own: Callable[[Inventory], Values], others: Beside | None = None) -> StepDrawer:
    """An operation of every tensor's, on one of those that `own` picks; beside it are `others`, else itself alone."""

    def draw(source: Source, there: Inventory) -> Arguments | None:
        fitting = own(there)
        key = pick(source, fitting)
        if key is None:
            return None
        x = fitting[key]
        args, keywords = drawer(source, x, {key: x} if others is None else others(source, there, x))
        return (ref_of(key), *args), keywords

    return draw


Family: TypeAlias = tuple[tuple[int, tuple[str, StepDrawer]], ...]
"""(weight, (operation, how its arguments are drawn))."""
