"""The adapters `mutant:ID`: the library that a mutant is declared over, with its defect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..discovery import UnknownAdapter, find
from ..observation import TensorState
from ..operations import overload
from ..program import Step
from .call import Call
from .mutant import Mutant


class Mutated:
    """An adapter with a mutant's defect; everything else is the base's own."""

    def __init__(self, mutant: Mutant, base: Any) -> None:
        self.mutant, self.base = mutant, base
        self.name = f"mutant:{mutant.id}"

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name)

    def operation(self, step: Step) -> Callable[..., Any] | None:
        """The base's operation, done wrong where the mutant says so."""
        right, wrong = self.base.operation(step), self.mutant.does
        if right is None or wrong is None or not self.mutant.concerns(overload(step)):
            found: Callable[..., Any] | None = right
            return found

        def call(*args: Any) -> Any:
            made = Call(self.base, step, right, args)
            return wrong(made) if self.mutant.when(made.event) else right(*args)

        return call

    def describe(self, x: Any) -> tuple[Any, ...]:
        """What the base says of a tensor, changed where the mutant says so."""
        told = self.base.describe(x)
        if self.mutant.shows is None:
            return tuple(told)
        dtype, shape, strides, offset, contiguity, version, flags = told
        state = TensorState(dtype, shape, strides, offset, contiguity, None, version, None, flags)
        state = self.mutant.shows(state)
        return (*state[:5], state.version, state.flags)


def adapter(variant: str = "") -> Mutated:
    """The adapter for `mutant:ID`.

    Raises
    ------
    UnknownAdapter
        There is no such mutant.
    """
    from .fleet import FLEET

    if variant not in FLEET:
        raise UnknownAdapter(f"there is no mutant {variant!r}; `stridecheck mutants --list` names them")
    mutant = FLEET[variant]
    load, _ = find(mutant.base)
    return Mutated(mutant, load())
