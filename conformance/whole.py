"""Runs each step together with all before it, as one function: for compilers, and for libraries that are lazy.

Both may keep, drop or reorder what happens inside, and looking in between would change what they do, so only what the
whole function leaves behind is judged. An observation is what the program up to its step leaves behind, run over fresh
inputs, against what the program up to the step before left. Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol

from .execute import Execution, raised_by
from .idiom import modules_of
from .observation import Observation
from .program import Program, Step
from .protocol import Adapter, Unsupported
from .repro import Idiom, function_source


class WholeAdapter(Adapter, Idiom, Protocol):
    """An adapter whose library takes functions over tensors as a whole."""

    def whole(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function as the library runs it, compiled anew or forced at its end."""

    def scope(self) -> dict[str, Any]:
        """What the names in printed steps mean."""

    def missing(self, error: Exception) -> Unsupported | None:
        """What an error says that the library does not have, if it says so."""


def execute_whole(program: Program, adapter: WholeAdapter) -> list[Observation]:
    """Observations of a whole program: the inputs first, then one for each step.

    A step that raises is left out of what is run after it, as are those that need its result.

    Raises
    ------
    Unsupported
        The library does not have an operation of the program.
    ProtocolError
        The adapter did not build an input as asked.
    """
    for step in program.steps:
        if all(ref.slot < len(program.inputs) for ref in step.refs()):
            _refuse(step, adapter)  # before anything is built, which may take long
    seen = Execution(adapter, program.storages, program.inputs)
    observations = [seen.initial]
    kept: list[int] = []
    for number in range(len(program.steps)):
        fresh = Execution(adapter, program.storages, program.inputs)
        try:
            seen, observation = _observe(program, [*kept, number], adapter, fresh, seen)
            kept += [] if observation.skipped else [number]
        except Unsupported:
            raise
        except Exception as error:
            missing = adapter.missing(error)
            if missing is not None:
                raise missing from error
            # What a function that raised did to its inputs is seen; what it made before is lost with it.
            raised = raised_by(error, adapter)
            observation = Observation(raised=raised) if kept else fresh.refused(raised)
        observations.append(observation)
    return observations


def _observe(
    program: Program, steps: Sequence[int], adapter: WholeAdapter, fresh: Execution, seen: Execution
) -> tuple[Execution, Observation]:
    """Run some steps as one function; the execution after it, and the last step's observation."""
    made = {*range(len(program.inputs)), *(program.slot_of(number) for number in steps[:-1])}
    if any(ref.slot not in made for ref in program.steps[steps[-1]].refs()):
        return seen, Observation(skipped=True)
    function = _function(program, steps, adapter)
    inputs = [fresh.live[str(number)] for number in range(len(program.inputs))]
    *before, last = zip(steps, adapter.whole(function)(*inputs), strict=True)
    fresh.follow(seen)  # entering a step asks for what those before it left
    for number, outcome in before:
        fresh.enter(program.slot_of(number), program.steps[number], outcome)
    number, outcome = last
    return fresh, fresh.take(program.slot_of(number), program.steps[number], outcome)


def _refuse(step: Step, adapter: WholeAdapter) -> None:
    """Raise Unsupported for what cannot be a step of a function that is taken as a whole."""
    if step.op == "set_" and len(step.args) + len(step.kwargs) == 1:
        raise Unsupported("set_:what a function that is taken as a whole has let go of is not seen")
    if list(step.files()):
        raise Unsupported("files:a function that is taken as a whole has no folder")
    if adapter.template(step) is None:
        raise Unsupported(f"op:{step.op}")


def _function(program: Program, numbers: Sequence[int], adapter: WholeAdapter) -> Callable[..., Any]:
    """Some steps as a function of the inputs, made of the very text that scripts print."""
    steps = [program.steps[number] for number in numbers]
    for step in steps:
        _refuse(step, adapter)
    source = function_source(program, numbers, adapter)
    assert source is not None
    modules = {name for step in steps for name in modules_of(adapter.template(step) or "")}
    scope = {name: import_module(name) for name in modules} | adapter.scope()
    exec(compile(source, "<program>", "exec"), scope)
    function: Callable[..., Any] = scope["program"]
    return function
