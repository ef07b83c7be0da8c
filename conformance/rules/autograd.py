"""Gradients: what requires them, what is a leaf, and which writes are refused because of them."""

from __future__ import annotations

from ..classify import NOTHING, Event
from ..layout import is_dense, is_expanded
from ..observation import TensorState
from ..operations import group
from ._define import ANSWERS, ELEMENTWISE, RAISING, VIEWS, WRITING, Family, filled, not_refused, succeeded, viewed

family = Family("autograd")
rule = family.rule

LOGICAL = "logical_and_ logical_or_ logical_xor_ logical_not_"
DIFFERENTIABLE = f"{ELEMENTWISE} {group('reductions', 'scans', 'products', 'rearrangements', 'joins')}"


def _grad(state: TensorState) -> bool:
    return "g" in (state.flags or "")


def _leaf(state: TensorState) -> bool:
    return "l" in (state.flags or "")


def _numbers(state: TensorState) -> bool:
    return state.dtype.startswith(("float", "bfloat", "complex"))


@rule("grad.views", "A view of a tensor that requires grad requires grad, and is no leaf.", "5.4", VIEWS, "flags")
def _(e: Event) -> bool:
    return viewed(e) and _grad(e.x) and e.entry not in ("view.dtype", "detach")


@rule(
    "grad.results",
    "What is computed from a tensor that requires grad requires grad, and is no leaf.",
    "5.4",
    DIFFERENTIABLE,
    "flags",
)
def _(e: Event) -> bool:
    return e.copied and _grad(e.y)


@rule("grad.integers", "Results without gradients, integers and truths, require none.", "5.4", "*", "flags")
def _(e: Event) -> bool:
    return succeeded(e) and not e.same and _grad(e.x) and not _numbers(e.y) and not filled(e)


@rule("grad.detached", "detach() drops the history and keeps the memory.", "5.4.2", "detach", "flags sharing")
def _(e: Event) -> bool:
    return succeeded(e) and _grad(e.x)


@rule(
    "grad.written",
    "A write from an operand that requires grad makes the tensor written to require it.",
    "5.4.1",
    WRITING,
    "flags",
)
def _(e: Event) -> bool:
    return e.raised is None and not _grad(e.x) and any(_grad(o) for o in e.others)


@rule(
    "grad.truths-untracked",
    "Logical operations in place are not looked at, also for a leaf that requires grad.",
    "5.4",
    LOGICAL,
    "raises flags",
)
def _(e: Event) -> bool:
    return e.same and (_grad(e.x) or any(_grad(o) for o in e.others))


@rule(
    "grad.requires-grad",
    "requires_grad_() sets the flag of the tensor itself, which counts as no write.",
    "5.3.4",
    "requires_grad_",
    "flags sharing shape strides layout contiguity storage values",
)
def _(e: Event) -> bool:
    return e.same


@rule("grad.asked", "is_leaf and requires_grad say whether there is history, and whether gradients are kept.", "5.4",
      "is_leaf requires_grad", "values raises")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None


@rule("grad.new-leaf", "A new tensor like one that requires grad requires none.", "4.1.8",
      group("like factories", "new factories"), "flags")  # fmt: skip
def _(e: Event) -> bool:
    return e.y is not NOTHING and _grad(e.x)


@rule("grad.as-leaf", "The gradient of a dense leaf has its strides, whatever those of the gradients given.", "4.7.1",
      "grad", "shape strides layout contiguity")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied and is_dense(e.x)


@rule("grad.row-major", "The gradient of a leaf that is not dense is row-major.", "4.7.4",
      "grad", "shape strides layout contiguity")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied and not is_dense(e.x)


@rule("grad.own-memory", "A gradient lies in memory of its own, as large as it needs.", "5.4.4",
      "grad", "sharing storage flags")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


@rule("grad.values", "A gradient is the sum of those given.", "4.7.3", "grad", "values")
def _(e: Event) -> bool:
    return e.y is not NOTHING


@rule("grad.kept", "A gradient is the same tensor each time it is asked for, and None where none was given.", "4.7.3",
      "grad", ANSWERS)  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and not e.copied


@rule("grad.expanded", "An expanded gradient is written out, and stays as it was.", "4.7.2",
      "backward", "raises storage flags")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and any(is_expanded(other) for other in e.others)


@rule("grad.added", "Later gradients are added to the first in place, which counts as a write to it.", "4.7.3",
      "backward", ANSWERS)  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and bool(e.observation.values)


@rule("grad.answers-nothing", "backward() answers nothing, and leaves all that it was given as it was.", "4.7.3",
      "backward", f"{ANSWERS} raises")  # fmt: skip
def _(e: Event) -> bool:
    return not_refused(e)


family.refused("errors.backward", "Gradients that do not fit, and tensors that require none, are refused.", "5.4",
               "backward")  # fmt: skip


@rule("errors.grad-leaf", "Writing in place to a leaf that requires grad is refused.", "5.4", "*", RAISING)
def _(e: Event) -> bool:
    return e.kind == "grad" and _grad(e.x) and _leaf(e.x) and not e.outs


@rule(
    "errors.grad-view",
    "Writing in place to a view of a leaf that requires grad is refused, and to one of several views.",
    "5.4",
    "*",
    RAISING,
)
def _(e: Event) -> bool:
    return e.kind == "grad" and "v" in (e.x.flags or "") and not e.outs


@rule("errors.grad-resize", "A tensor that requires grad is not resized.", "5.4", "resize_ resize_as_", RAISING)
def _(e: Event) -> bool:
    return e.kind == "grad"


@rule("errors.grad-integers", "Integers and truths cannot require grad.", "5.4", "requires_grad_", RAISING)
def _(e: Event) -> bool:
    return e.raised is not None and not _numbers(e.x)


RULES = family.rules
