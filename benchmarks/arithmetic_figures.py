"""What the reference's arithmetic reaches, in figures: `python -m stridecheck.benchmarks.arithmetic_figures`.

Sums, rectifications and reductions between layouts as programs have them, beside NumPy's and torch's: medians of
interleaved rounds in one process, by the processor time of one thread, into results that are there already.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial
from itertools import product
from typing import Any

import click
import numpy as np
from stridecheck.conformance.program import ITEMSIZES
from stridecheck.reference_impl.kernels import arithmetic

from .clock import Runner, race, thread_block
from .kernel_figures import EFFORT, Array, against, aligned, geometric_mean

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]

Sides = tuple[Array, Array, Array]
"""A target and two operands that broadcast to it."""


def _square(dtype: str, nbytes: int) -> Sides:
    side = math.isqrt(nbytes // ITEMSIZES[dtype])
    return aligned((side, side), dtype), aligned((side, side), dtype), aligned((side, side), dtype)


def _images(dtype: str, nbytes: int, channels: int) -> Sides:
    """Images of 56 × 56, channels nearest in memory."""
    shape = (max(1, nbytes // (56 * 56 * channels * ITEMSIZES[dtype])), 56, 56, channels)
    return aligned(shape, dtype), aligned(shape, dtype), aligned(shape, dtype)


def _one_across(dtype: str, nbytes: int) -> Sides:
    out, x, y = _square(dtype, nbytes)
    return out, x.T, y


def _both_across(dtype: str, nbytes: int) -> Sides:
    out, x, y = _square(dtype, nbytes)
    return out.T, x, y


def _row_repeated(dtype: str, nbytes: int) -> Sides:
    out, x, y = _square(dtype, nbytes)
    return out, x, y[0]


def _column_repeated(dtype: str, nbytes: int) -> Sides:
    out, x, y = _square(dtype, nbytes)
    return out, x, y[:, :1]


def _stepped(dtype: str, nbytes: int) -> Sides:
    out, x, y = _square(dtype, nbytes)
    return out[:, ::2], x[:, ::2], y[:, ::2]


def _narrow(dtype: str, nbytes: int) -> Sides:
    out, x, y = _square(dtype, nbytes)
    part = slice(3, out.shape[1] // 2)
    return out[:, part], x[:, part], y[:, part]


def _bias(dtype: str, nbytes: int, channels: int) -> Sides:
    out, x, _ = _images(dtype, nbytes, channels)
    return out, x, aligned((channels,), dtype)


def _channels_last(dtype: str, nbytes: int) -> Sides:
    """An operand with channels last, the other and the target with channels first."""
    _, x, _ = _images(dtype, nbytes, 64)
    shape = (x.shape[0], 64, 56, 56)
    return aligned(shape, dtype), x.transpose(0, 3, 1, 2), aligned(shape, dtype)


LAYOUTS: dict[str, Callable[[str, int], Sides]] = {
    "dense": _square, "one across": _one_across, "both across": _both_across, "row repeated": _row_repeated,
    "column repeated": _column_repeated, "stepped": _stepped, "narrow": _narrow,
    "bias of 3": partial(_bias, channels=3), "bias of 64": partial(_bias, channels=64), "channels last": _channels_last,
}  # fmt: skip
"""Layouts by name, of about so many bytes."""


def _bound(operation: str, sides: Sides) -> dict[str, Runner]:
    """An operation on some layouts, as each library has it."""
    out, x, y = sides
    if operation in _AXES:
        axes = tuple(range(x.ndim))[_AXES[operation]]
        out = aligned([1 if d in axes else n for d, n in enumerate(x.shape)], str(x.dtype))
    tensors: list[Any] = [torch.from_numpy(side) for side in (out, x, y)] if torch else [None] * 3
    a, b, c = tensors
    calls: dict[str, Callable[[], Any]]
    if operation == "add":
        calls = {"ours": partial(arithmetic.binary, "add", out, x, y), "numpy": partial(np.add, x, y, out=out)}
        calls |= {"torch": partial(torch.add, b, c, out=a)} if torch else {}
    elif operation == "relu":
        calls = {"ours": partial(arithmetic.unary, "relu", out, x), "numpy": partial(np.maximum, x, 0, out=out)}
        calls |= {"torch": partial(torch.clamp_min, b, 0, out=a)} if torch else {}
    else:
        calls = {
            "ours": partial(arithmetic.reduce, "sum", out, x, axes),
            "numpy": partial(np.sum, x, axis=axes, dtype=x.dtype, keepdims=True, out=out),
        }
        calls |= {"torch": partial(torch.sum, b, axes, keepdim=True, dtype=b.dtype, out=a)} if torch else {}
    return {name: Runner(call, thread_block) for name, call in calls.items()}


_DTYPES = ("uint8", "int16", "float32", "float64")
_AXES = {"sum of first": slice(1), "sum of last": slice(-1, None), "sum of all": slice(None)}
"""Reductions, and the dimensions that they go over."""
OPERATIONS = ("add", "relu", *_AXES)


@click.command()
@click.option("--cases", default="*", show_default=True, help="Glob of operation/layout/dtype.")
@click.option("--megabytes", default=64.0, show_default=True, help="Size of one side.")
def main(cases: str, megabytes: float) -> None:
    """Print how the reference's arithmetic stands beside NumPy's and torch's, on one thread."""
    if torch:
        torch.set_num_threads(1)
    ratios: dict[tuple[str, str], list[float]] = defaultdict(list)
    for operation, (layout, sides_of), dtype in product(OPERATIONS, LAYOUTS.items(), _DTYPES):
        if not fnmatchcase(f"{operation}/{layout}/{dtype}", cases):
            continue
        runners = _bound(operation, sides_of(dtype, int(megabytes * 1e6)))
        race(list(runners.values()), EFFORT)
        found = {name: runner.median_ns for name, runner in runners.items()}
        click.echo(f"{operation:12} {layout:15} {dtype:8} {found['ours'] / 1e3:10.1f} us  {against(found)}")
        for peer in found.keys() - {"ours"}:
            ratios[operation, peer].append(found[peer] / found["ours"])
    for operation, peer in sorted(ratios):
        of = ratios[operation, peer]
        click.echo(f"geometric mean, {operation} ({len(of)} cases): {peer} / ours {geometric_mean(of):.2f}")


if __name__ == "__main__":
    main()
