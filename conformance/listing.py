"""Programs in words: a line for each storage, input and step, as PyTorch's users write them. Standard library only."""

from __future__ import annotations

from .idiom import print_template, torch_template, write_argument
from .observation import owner_of
from .program import Argument, Program, Ref, Step


def value_name(ref: Ref, program: Program) -> str:
    """Name of a value in listings and scripts: `x0` an input, `r2` the result of step 2, `r2[1]` an item of it."""
    inputs = len(program.inputs)
    name = f"x{ref.slot}" if ref.slot < inputs else f"r{ref.slot - inputs}"
    return name if ref.item is None else f"{name}[{ref.item}]"


def key_name(key: str, program: Program) -> str:
    """Name of a value's or storage's key as observations have it: `3.1` is `r2[1]` with one input, `v3` its storage."""
    if key.startswith(("s", "file")):
        return key
    if (owner := owner_of(key)) is not None:
        return f"the storage of {key_name(owner, program)}"
    slot, _, item = key.partition(".")
    return value_name(Ref(int(slot), int(item) if item else None), program)


def write_step(step: Step, program: Program) -> str:
    """One step in PyTorch's style."""

    def write(argument: Argument) -> str:
        return write_argument(
            argument,
            dtype=lambda name: f"torch.{name}",
            memory_format="torch.",
            value=lambda ref: value_name(ref, program),
        )

    places = {str(i): a for i, a in enumerate(step.args)} | dict(step.kwargs)
    return print_template(torch_template(step), places, write)


def listing(program: Program) -> str:
    """The whole program, a line for each part."""
    lines = []
    for number, storage in enumerate(program.storages):
        kind = f", {storage.backing}" if storage.backing == "guarded" else ""
        name, what = ("s", "storage") if storage.backing != "file" else ("file", "file")
        lines.append(f"{name}{number} = {what} of {storage.nbytes} bytes ({storage.fill}{kind})")
    for number, item in enumerate(program.inputs):
        lines.append(
            f"x{number} = {item.dtype} {item.shape} strides {item.strides} offset {item.offset} in s{item.storage}"
            + (" requires_grad" if item.requires_grad else "")
        )
    lines.extend(f"r{number} = {write_step(step, program)}" for number, step in enumerate(program.steps))
    return "\n".join(lines)
