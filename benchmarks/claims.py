"""Claims about memory layout that circulate without machine, sizes or method, each with what is measured to try it.

A claim has a figure: a range of ratios (of time or of bytes, second over first), or whether a statement holds. Both
sides of a trial take turns in one process, and several processes measure it. A trial agrees where the ratios of all
processes lie in the range, contradicts where none does and all lie on one side of it, and leaves it open otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median, median_low
from typing import Any

from stridecheck.conformance import machine
from stridecheck.conformance.check import Progress, Silent
from stridecheck.conformance.options import command_line
from stridecheck.reports import records
from stridecheck.reports.records import ExitCode

from .bench import Measurer, Options
from .trials import Measured, NotTried

PROCESSES = 3
"""Processes that measure each contest: their medians differ by more than blocks of one do."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim: what is said, in which words the figure is given, and what that means for a trial."""

    id: str
    says: str
    claimed: str
    """The figure as it is published."""
    low: float | None = 1.0
    """Smallest ratio that agrees, second over first; 1 for a statement; None where there is no figure to try."""
    high: float | None = 1.0
    why: str = ""
    """One sentence: why it is as it is."""


def _around(ratio: float, tolerance: float = 0.15) -> dict[str, float]:
    """The range of ratios that a published one means."""
    return {"low": ratio / (1 + tolerance), "high": ratio * (1 + tolerance)}


def _between(low: float, high: float) -> dict[str, float]:
    return {"low": low, "high": high}


HOLDS = _between(1, 1)
NO_FIGURE: dict[str, float | None] = {"low": None, "high": None}
FASTER = _between(0.0, 0.97)
"""Said to be faster, without a figure: by 3 % at least."""

CLAIMS: Sequence[Claim] = (
    Claim(
        "contiguous.matmul", "A matrix product takes half as long again on a non-contiguous operand", "+50 %",
        **_around(1.5),
        why="BLAS takes a transposed operand as it is; only strides that no BLAS knows are copied first, which is less "
        "than the product itself unless the matrix is small.",
    ),
    Claim(
        "contiguous.conv2d", "A convolution takes three quarters longer on a non-contiguous input", "+75 %",
        **_around(1.75),
        why="oneDNN reorders its input in any case; what a stride costs beyond that is one more copy of the input.",
    ),
    Claim(
        "contiguous.add", "Elementwise operations take as long on a non-contiguous tensor", "no difference",
        **_around(1.0),
        why="The result keeps a dense operand's strides, so that both are read in memory's order; gaps are read too, "
        "and cost.",
    ),
    Claim(
        "contiguous.transpose", "A transpose takes two and a half times as long on a non-contiguous tensor", "+150 %",
        **_around(2.5),
        why="The transpose of a transposed tensor is contiguous already: nothing is copied at all.",
    ),
    Claim(
        "contiguous.general", "Contiguous tensors are 50 to 75 % faster than non-contiguous ones", "50 to 75 %",
        **_between(1.5, 1.75),
        why="There is no such thing as non-contiguous: a transpose often costs nothing, a step what the gaps cost.",
    ),
    Claim(
        "column-major.matmul", "Column-major order suits matrix work", "faster",
        **FASTER,
        why="The product of two transposed matrices is the transposed product in the other order: BLAS does the same "
        "work.",
    ),
    Claim(
        "row-major.most", "Row-major order suits most work", "faster",
        **FASTER,
        why="What counts is that an operation goes along memory: an elementwise one always does, a sum along the "
        "dimension that is contiguous.",
    ),
    Claim(
        "in-place.add.time", "Adding in place takes as long as out of place", "1 ms against 1 ms",
        **_around(1.0),
        why="The same elements are read and written, but fresh memory has to be had from the system, and its pages "
        "touched, where it is large.",
    ),
    Claim(
        "in-place.relu.time", "ReLU in place takes as long as out of place", "2 ms against 2 ms",
        **_around(1.0),
        why="As for add: what differs is the fresh memory.",
    ),
    Claim(
        "in-place.add.memory", "Adding two tensors in place saves half of the memory", "50 %",
        **_around(0.5, 0.05),
        why="Of three tensors (two operands, one result) one is saved, a third.",
    ),
    Claim(
        "in-place.relu.memory", "ReLU in place saves half of the memory", "50 %",
        **_around(0.5, 0.05),
        why="Of two tensors (operand and result) one is saved.",
    ),
    Claim(
        "in-place.memory", "In-place operations save 33 to 50 % of memory", "33 to 50 %",
        **_between(0.5, 0.67),
        why="One tensor of two or three; of a chain of operations more.",
    ),
    Claim(
        "in-place.low", "In-place operations take little memory, products and convolutions much", "low; high",
        **HOLDS,
        why="In place nothing is allocated; products and convolutions allocate their result, convolutions their "
        "workspace too.",
    ),
    Claim(
        "in-place.matmul", "matmul in place saves a third of the memory", "33 %",
        **HOLDS,
        why="There is none: each element of a product needs a whole row and column of its operands.",
    ),
    Claim(
        "in-place.conv2d", "conv2d in place saves a third of the memory", "33 %",
        **HOLDS,
        why="There is none, for the same reason.",
    ),
    Claim(
        "memory.detach", "detach is a copy and takes much memory", "high memory",
        **HOLDS,
        why="detach answers with a view of the same storage.",
    ),
    Claim(
        "memory.views", "Views take little memory and time, clone much", "low; high",
        **HOLDS,
        why="A view is new metadata over the same storage.",
    ),
    Claim(
        "int8.dynamic.time", "Dynamic INT8 quantisation makes a model 2.5 times as fast", "100 ms → 40 ms",
        **_around(0.4),
        why="Only linear layers are quantised, and gain where reading their weights is what takes the time.",
    ),
    Claim(
        "int8.dynamic.memory", "Dynamic INT8 quantisation lowers memory to 40 %", "100 MB → 40 MB",
        **_around(0.4),
        why="Weights of linear layers take one byte instead of four; convolutions stay as they are.",
    ),
    Claim(
        "int8.static.time", "Static INT8 quantisation makes a model 3.3 times as fast", "100 ms → 30 ms",
        **_around(0.3),
        why="It depends on the processor's 8-bit instructions and on how much of the time is convolutions.",
    ),
    Claim(
        "int8.static.memory", "Static INT8 quantisation lowers memory to 35 %", "100 MB → 35 MB",
        **_around(0.35),
        why="All weights take one byte instead of four; scales and metadata are added, which tell in a small model.",
    ),
    Claim(
        "half.time", "Mixed precision makes a model twice as fast", "100 ms → 50 ms",
        **_around(0.5),
        why="On a CPU it depends on bfloat16 instructions; without them it is emulated, and slower.",
    ),
    Claim(
        "half.memory", "Mixed precision halves memory", "100 MB → 50 MB",
        **_around(0.5),
        why="Autocast keeps the weights in FP32 and makes bfloat16 copies of them beside.",
    ),
    Claim(
        "int8.general", "Quantisation makes inference 2 to 3 times faster", "2 to 3 times",
        **_between(1 / 3, 1 / 2),
        why="As for dynamic quantisation above.",
    ),
    Claim(
        "checkpointing.memory", "Gradient checkpointing lowers memory by half", "50 %",
        **_around(0.5),
        why="Only activations are saved, not weights and their gradients: the deeper the net and the larger the batch, "
        "the more.",
    ),
    Claim(
        "conversion.nhwc", "permute(0, 2, 3, 1).contiguous() of a batch of images, the usual conversion time", "",
        **NO_FIGURE,
        why="Compared with a plain copy of the same bytes: interleaving three channels need not cost more, but does.",
    ),
    Claim(
        "contiguous.between", "contiguous() between the convolutions of a model helps", "faster",
        **FASTER,
        why="In NCHW it does nothing; in channels_last it undoes the layout, and each convolution puts it back.",
    ),
    Claim(
        "channels-last.model", "Converting a model to channels_last helps (26 to 76 % on a Xeon)", "26 to 76 %",
        **_between(1 / 1.76, 1 / 1.26),
        why="Convolutions need not reorder their input; what that is worth depends on the net and the library.",
    ),
    Claim(
        "transpose.helper",
        "A helper that calls contiguous() only where strides ask for it beats transpose + contiguous", "faster",
        **FASTER,
        why="contiguous() looks at the strides itself and answers with its operand where nothing is to be done.",
    ),
    Claim(
        "reshape.by-hand", "reshape by hand (view where the element count agrees) is faster than reshape", "faster",
        **FASTER,
        why="reshape makes the view itself; Python in front of it only adds to that.",
    ),
    Claim(
        "reshape.by-hand.correct", "reshape by hand answers as reshape does", "correct",
        **HOLDS,
        why="Equal element counts do not make a view possible: on a transposed tensor view raises.",
    ),
    Claim(
        "loader.by-hand", "Batches concatenated by a hand-written loader are memory-efficient", "less memory",
        **_between(0.0, 0.95),
        why="Both make one tensor a batch; DataLoader's samples are views as well.",
    ),
    Claim(
        "load.shared", "Loading tensors that point to one storage is faster than loading independent ones", "faster",
        **FASTER,
        why="One storage is read at once; of large tensors the reading is all that counts, and the bytes are the same.",
    ),
    Claim(
        "storage.byte", "A storage conversion such as storage.byte() changes the original", "changes it",
        **HOLDS,
        why="Conversions answer with a new storage.",
    ),
    Claim(
        "pinned.copies", "Pinned memory makes host-to-device copies faster", "faster",
        **FASTER,
        why="The device reads pinned memory itself; pageable memory is copied to pinned first.",
    ),
    Claim(
        "channels-last.gpu", "A net in mixed precision is faster in channels_last on a GPU (ResNet-50 by 22 %, on "
        "Volta 8 to 35 %)", "8 to 35 %",
        **_between(1 / 1.35, 1 / 1.08),
        why="Tensor cores take channels innermost; in NCHW each convolution transposes its input first.",
    ),
)  # fmt: skip
"""All claims, in the order of the page."""


def try_claims(
    out: Path, progress: Progress | None = None, chosen: Sequence[Claim] = CLAIMS, globs: Sequence[str] = ()
) -> int:
    """Try claims, write `results.jsonl` into the directory `out`, and answer with the exit code.

    `globs` is what they were chosen by, for the command line that the report shows.

    Raises
    ------
    OSError
        The directory cannot be written.
    """
    progress = progress or Silent()
    out.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    with records.ResultsWriter(out / "results.jsonl") as writer:
        here = find_spec("torch") is not None
        command = command_line("claims", (), {"only": globs}, {"only": ()})
        versions = {"torch": version("torch")} if here else {}
        writer.write(machine.header(command, {"processes": PROCESSES, **versions}))
        reason = "" if here else "torch is not installed here: pip install torch"
        if not here:
            writer.write(records.Adapter("torch:cpu", "skipped", reason))
        progress.begin("claims", len(chosen))
        failed = 0
        with ExitStack() as stack:
            measurers = [stack.enter_context(Measurer(Options())) for _ in range(PROCESSES)]
            for claim in chosen if here else ():
                measured = _measured(claim, measurers)
                if isinstance(measured, NotTried):
                    failed += measured.is_wrong
                    progress.note(f"{claim.id}: {measured.reason}")
                    verdict = "failed" if measured.is_wrong else "not tried"
                    writer.write(records.Claim(claim.id, claim.says, claim.claimed, verdict, measured.reason))
                else:
                    writer.write(_judged(claim, measured))
                progress.advance(1)
        codes = [ExitCode.EXPECTED if chosen else ExitCode.NOTHING_JUDGED] if here else [ExitCode.COULD_NOT_RUN]
        code = ExitCode.of([*codes, ExitCode.UNEXPECTED] if failed else codes)
        if reason:
            progress.note(f"torch: skipped, {reason}")
        writer.write(records.Footer(machine.now(), round(time.monotonic() - begun, 3), code))
    return code


def _measured(claim: Claim, measurers: Sequence[Measurer]) -> list[Measured] | NotTried:
    """What every process has measured, one after the other; nothing more where one could not."""
    found: list[Measured] = []
    for measurer in measurers:
        one = measurer.measure(claim.id)
        if isinstance(one, NotTried):
            return one
        found.append(one)
    return found


def _judged(claim: Claim, measured: Sequence[Measured]) -> records.Claim:
    trials = [_trial(claim, [process[number] for process in measured]) for number in range(len(measured[0]))]
    return records.Claim(
        claim.id, claim.says, claim.claimed, _verdict(trials), claim.why, claim.low, claim.high, tuple(trials)
    )


def _verdict(trials: Sequence[Mapping[str, Any]]) -> str:
    says = {trial["says"] for trial in trials}
    if says == {"measured"}:
        return "measured"
    if {"agrees", "contradicts"} <= says:
        return "depends"
    if says == {"open"}:
        return "cannot tell"
    return "confirmed" if "agrees" in says else "refuted"


def _trial(claim: Claim, measured: Sequence[tuple[str, Any, Any]]) -> dict[str, Any]:
    """One trial over all processes: its ratio with the interval, and whether that meets what is claimed."""
    label, first, _ = measured[0]
    if isinstance(first, list):
        # Round by round, for what slows the machine slows both sides.
        ratios = [median(b / a for a, b in zip(one[1], one[2], strict=True)) for one in measured]
        sides = [(median(one[1]), median(one[2])) for one in measured]
        unit = "ns"
    else:
        sides = [(float(one[1]), float(one[2])) for one in measured]
        ratios = [b / a for a, b in sides]
        unit = "holds" if isinstance(first, bool) else "bytes"
    ratio, low, high = median_low(ratios), min(ratios), max(ratios)
    # Both sides of the process whose ratio is shown: those of different ones need not go together.
    shown = sides[ratios.index(ratio)]
    if claim.low is None or claim.high is None:
        says = "measured"
    elif claim.low <= low and high <= claim.high:
        says = "agrees"
    else:
        says = "contradicts" if high < claim.low or low > claim.high else "open"
    return {"label": label, "unit": unit, "first": shown[0], "second": shown[1],
            "ratio": ratio, "low": low, "high": high, "says": says}  # fmt: skip
