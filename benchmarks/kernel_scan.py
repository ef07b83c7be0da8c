"""The reference's copies of layouts that nobody chose: `python -m stridecheck.benchmarks.kernel_scan --copies 200`.

Kernels are tuned on some conversions; whether a copy of any size and layout is behind torch or NumPy only shows where
layouts are drawn: permuted, with gaps, stepped, on either side; or, by `--shapes models`, as models have them, powers
of two and not much beside, whose rows crowd a few sets of the caches. The same seed draws the same copies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

import click
import numpy as np
from stridecheck.reference_impl import kernels

from .kernel_figures import Array, aligned, compare, geometric_mean

_LENGTHS = (2, 3, 4, 5, 7, 8, 12, 16, 20, 24, 28, 32, 33, 48, 56, 64, 100, 112, 128, 224, 256, 512)
_MEGABYTES = (0.1, 0.3, 1, 4, 16, 48)
_PLACES = (0, 16)
"""Bytes after the start of a line where a target begins: as PyTorch's memory does, and as NumPy's large arrays do."""
_BEHIND, _CLOSE, _RACES = 1.05, 0.95, 3
"""Of the time of the better one of torch and NumPy; from where on the median of so many races tells."""


def draw(random: Random) -> tuple[Array, Array]:
    """Target and source of a copy: permuted, with gaps or stepped, one of them or both.

    >>> dst, src = draw(Random(3))
    >>> dst.shape == src.shape and dst.dtype == src.dtype
    True
    """
    dtype = np.dtype(random.choice(["uint8", "int16", "float32", "float64"]))
    shape = _shape(random, int(random.choice(_MEGABYTES) * 1e6 / dtype.itemsize))
    order = random.sample(range(len(shape)), len(shape))
    kind = random.choice(["permuted", "cut", "both", "scattered"])
    wide = [n * 2 if kind in ("cut", "both") and random.random() < 0.3 else n for n in shape]
    cuts = [random.choice([slice(0, n), slice(0, None, w // n)]) for n, w in zip(shape, wide, strict=True)]
    src = aligned(wide, dtype.name)[tuple(cuts)]
    src = src.transpose(order) if kind != "cut" else src
    if kind != "scattered":
        return _placed(src.shape, dtype, random.choice(_PLACES)), src
    other = random.sample(range(src.ndim), src.ndim)
    return aligned([src.shape[k] for k in other], dtype.name).transpose(np.argsort(other)), src


def _shape(random: Random, items: int) -> list[int]:
    lengths = [random.choice(_LENGTHS) for _ in range(random.randint(1, 5))]
    while math.prod(lengths) > items:
        lengths[random.randrange(len(lengths))] = 2
    lengths.append(max(1, items // math.prod(lengths)))
    return random.sample(lengths, len(lengths))


def draw_of_models(random: Random) -> tuple[Array, Array]:
    """Target and source of a permutation of what models hold, both beginning with a line or at 16 as NumPy's do.

    Lengths are powers of two, three quarters and seven eighths of them; a quarter are small matrices in a row.

    >>> dst, src = draw_of_models(Random(3))
    >>> dst.shape == src.shape and dst.flags.c_contiguous
    True
    """
    dtype = np.dtype(random.choice(["uint8", "int16", "float32", "float64"]))
    items = int(random.choice(_MEGABYTES) * (1 << 20) / dtype.itemsize)
    if random.random() < 0.25:
        rows, columns = (random.choice(_SIDES) for _ in range(2))
        shape, order = [max(1, items // (rows * columns)), rows, columns], [0, 2, 1]
    else:
        bits = items.bit_length() - 1
        ends = sorted(random.sample(range(1, bits), random.randint(1, min(4, bits - 2))))
        exponents = [b - a for a, b in zip([0, *ends], [*ends, bits], strict=True)]
        shape = [int(2**k * random.choice([1, 1, 1, 0.75, 0.875])) if k > 2 else 2**k for k in exponents]
        order = random.sample(range(len(shape)), len(shape))
    place = random.choice(_PLACES)
    src = _placed(shape, dtype, place).transpose(order)
    return _placed(src.shape, dtype, place), src


def _placed(shape: Sequence[int], dtype: np.dtype[Any], place: int) -> Array:
    """A row-major array that begins so many bytes after the start of a line."""
    offset = place // dtype.itemsize
    return aligned([math.prod(shape) + offset], dtype.name)[offset:].reshape(shape)


def draw_permutation(random: Random) -> tuple[Array, Array]:
    """Target and source of a permutation of 64 MB, of two to six dimensions, both beginning with a line.

    >>> dst, src = draw_permutation(Random(3))
    >>> dst.shape == src.shape and dst.flags.c_contiguous and dst.nbytes > 40_000_000
    True
    """
    dtype = np.dtype(random.choice(["uint8", "int16", "float32", "float64"]))
    items, ndim = 64_000_000 // dtype.itemsize, random.randint(2, 6)
    shape = [items + 1]
    while math.prod(shape) * 2 > items:
        shape = [random.choice(_LENGTHS) for _ in range(ndim - 1)]
    shape.insert(random.randrange(ndim), items // math.prod(shape))
    order = list(range(ndim))
    while order == sorted(order):
        random.shuffle(order)
    src = aligned(shape, dtype.name).transpose(order)
    return aligned(src.shape, dtype.name), src


def draw_repeated(random: Random) -> tuple[Array, Array]:
    """Target and source of what is repeated along some dimensions: a bias, a mask, an image twice as large.

    >>> dst, src = draw_repeated(Random(3))
    >>> dst.shape == src.shape and dst.flags.c_contiguous and 0 in src.strides
    True
    """
    dtype = np.dtype(random.choice(["uint8", "int16", "float32", "float64"]))
    shape = [1]
    while len(shape) < 2:
        shape = _shape(random, int(random.choice(_MEGABYTES) * 1e6 / dtype.itemsize))
    repeated = set(random.sample(range(len(shape)), random.randint(1, len(shape) - 1)))
    few = [1 if k in repeated else n for k, n in enumerate(shape)]
    order = random.sample(range(len(few)), len(few)) if random.random() < 0.3 else list(range(len(few)))
    src = aligned([few[k] for k in order], dtype.name).transpose(np.argsort(order))
    return _placed(shape, dtype, random.choice(_PLACES)), np.broadcast_to(src, shape)


_SIDES = (2, 3, 4, 6, 7, 8, 9, 12, 14, 16, 20, 24, 32)
_DRAWN = {"any": draw, "models": draw_of_models, "permutations": draw_permutation, "repeated": draw_repeated}


@click.command()
@click.option("--copies", type=click.IntRange(1), default=200, show_default=True, help="How many copies.")
@click.option("--seed", default=1, show_default=True, help="Another seed draws others.")
@click.option("--shapes", type=click.Choice(list(_DRAWN)), default="any", show_default=True, help="What is drawn.")
def main(copies: int, seed: int, shapes: str) -> None:
    """Time drawn copies beside torch and NumPy, and print those that are behind the better one, the worst first."""
    random, found = Random(seed), []
    for _ in range(copies):
        dst, src = _DRAWN[shapes](random)
        races = [_raced(dst, src)]
        if races[0][0] > _CLOSE:
            races += [_raced(dst, src) for _ in range(_RACES - 1)]
        found.append((*sorted(races)[len(races) // 2], _words(dst, src), dst.dtype.name))
    for behind, over, words, _ in sorted(found, reverse=True):
        if behind > _BEHIND:
            click.echo(f"{behind:5.2f} x the better one's time, x_copy {over:5.2f}: {words}")
    ahead = geometric_mean([1 / row[0] for row in found])
    late = sum(row[0] > _BEHIND for row in found)
    click.echo(f"{copies} copies: geometric mean of the better one's time over ours {ahead:.2f}")
    click.echo(f"{late} are behind by more than 5 %; the worst takes {max(found)[0]:.2f} times as long")
    click.echo(f"geometric mean x_copy {geometric_mean([row[1] for row in found]):.2f}")
    for dtype in sorted({row[3] for row in found}):
        over, words = zip(*sorted(row[1:3] for row in found if row[3] == dtype), strict=True)
        click.echo(f"  {dtype}: {geometric_mean(over):.2f}, the largest {over[-1]:.2f}: {words[-1]}")


def _raced(dst: Array, src: Array) -> tuple[float, float]:
    """Our time over the better one's, and over the limit."""
    times = compare(dst, src)
    better = min(times[name] for name in ("torch", "numpy") if name in times)
    return times["ours"] / better, times["ours"] / times["limit"]


def _words(dst: Array, src: Array) -> str:
    return f"{kernels.plan(dst, src).kernel} of {dst.dtype} {dst.shape}, target {dst.strides}, source {src.strides}"


if __name__ == "__main__":
    main()
