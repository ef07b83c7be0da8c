"""Runs each step together with all before it, as one function: for compilers, and for libraries that are lazy.

Both may keep, drop or reorder what happens inside, and looking in between would change what they do, so only what the
whole function leaves behind is judged. An observation is what the program up to its step leaves behind, run over fresh
inputs, against what the program up to the step before left. Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from .execute import Execution, raised_by
from .idiom import print_template
from .listing import value_name
from .observation import Observation
from .program import Argument, Program, Ref, Step
from .protocol import Adapter, Unsupported


class WholeAdapter(Adapter, Protocol):
    """An adapter whose library takes functions over tensors as a whole."""

    def whole(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function as the library runs it, compiled anew or forced at its end."""

    def scope(self) -> dict[str, Any]:
        """What the names in printed steps mean."""

    def template(self, step: Step) -> str | None:
        """The step's expression in the library's idiom; None where it has nothing of that name."""

    def write(self, argument: Argument, value: Callable[[Ref], str]) -> str:
        """An argument as source text."""


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
            observation = Observation(raised=raised_by(error, adapter))
        observations.append(observation)
    return observations


def _observe(
    program: Program, steps: Sequence[int], adapter: WholeAdapter, fresh: Execution, seen: Execution
) -> tuple[Execution, Observation]:
    """Run some steps as one function; the execution after it, and the last step's observation."""
    made = {*range(len(program.inputs)), *(program.slot_of(number) for number in steps[:-1])}
    if any(ref.slot not in made for ref in program.steps[steps[-1]].refs()):
        return seen, Observation(skipped=True)
    scope = adapter.scope()
    exec(compile(source(program, steps, adapter), "<program>", "exec"), scope)
    inputs = [fresh.live[str(number)] for number in range(len(program.inputs))]
    *before, last = zip(steps, adapter.whole(scope["program"])(*inputs), strict=True)
    for number, outcome in before:
        fresh.enter(program.slot_of(number), program.steps[number], outcome)
    fresh.follow(seen)
    number, outcome = last
    return fresh, fresh.take(program.slot_of(number), program.steps[number], outcome)


def source(program: Program, steps: Sequence[int], adapter: WholeAdapter, name: str = "program") -> str:
    """A function of the program's inputs that runs some of its steps and answers with all their results.

    Raises
    ------
    Unsupported
        The library does not have an operation.
    """
    lines = [f"def {name}({', '.join(f'x{number}' for number in range(len(program.inputs)))}):"]
    for number in steps:
        step = program.steps[number]
        template = adapter.template(step)
        if template is None:
            raise Unsupported(f"op:{step.op}")
        places = {str(i): a for i, a in enumerate(step.args)} | dict(step.kwargs)
        text = print_template(template, places, lambda a: adapter.write(a, lambda ref: value_name(ref, program)))
        lines.append(f"    r{number} = {text}")
    lines.append(f"    return {''.join(f'r{number}, ' for number in steps)}")
    return "\n".join(lines) + "\n"
