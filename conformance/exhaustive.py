"""Every small layout with every view target: a scope that can be counted, not sampled.

`python -m stridecheck.conformance.exhaustive` checks the oracle's view rule against brute force over all of it: a view
exists where some strides address, in row-major order, the same places that the layout does.
"""

from __future__ import annotations

import argparse
import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from math import prod
from typing import NamedTuple

from stridecheck.reference_impl import views
from stridecheck.reference_impl.errors import LayoutError
from stridecheck.reference_impl.layout import Layout

from .layout import addressed, extent, in_order
from .program import Input, Program, Ref, Step, Storage

Shape = tuple[int, ...]


def shapes(rank: int, sizes: Sequence[int] = (0, 1, 2, 3)) -> Iterator[Shape]:
    """All shapes of at most `rank` dimensions of the given sizes."""
    for dims in range(rank + 1):
        yield from itertools.product(sizes, repeat=dims)


@cache
def dense_layouts(rank: int = 4) -> tuple[Layout, ...]:
    """All dense layouts of sizes 0 to 3: each shape in each order of its dimensions, without repetitions.

    >>> len(dense_layouts(3))
    329
    """
    found: dict[Layout, None] = {}
    for shape in shapes(rank):
        for order in itertools.permutations(range(len(shape))):
            found[Layout(shape, in_order(shape, order), 0)] = None
    return tuple(found)


@cache
def free_layouts(rank: int = 3, strides: Sequence[int] = (0, 1, 2, 3, 4, 6)) -> tuple[Layout, ...]:
    """Layouts with gaps, overlap and stride 0: sizes 1 to 3, each stride free."""
    return tuple(
        Layout(shape, chosen, 0)
        for shape in shapes(rank, (1, 2, 3))
        for chosen in itertools.product(strides, repeat=len(shape))
    )


@cache
def _targets(rank: int) -> dict[int, tuple[Shape, ...]]:
    """Shapes of at most `rank` dimensions by number of elements."""
    by_numel: dict[int, list[Shape]] = defaultdict(list)
    for shape in shapes(rank):
        by_numel[prod(shape)].append(shape)
    return {numel: tuple(found) for numel, found in by_numel.items()}


def pairs(layouts: Sequence[Layout], rank: int) -> Iterator[tuple[Layout, Shape]]:
    """Each layout with each shape of equal element count."""
    targets = _targets(rank)
    for layout in layouts:
        for target in targets.get(prod(layout.shape), ()):
            yield layout, target


def brute_force(layout: Layout, target: Shape) -> Shape | None:
    """Strides (0 for sizes of 1) with which a shape addresses the same places in the same order; None where none do.

    The layout has at least one element.

    >>> brute_force(Layout((2, 3), (3, 1), 0), (6,)), brute_force(Layout((2, 3), (1, 2), 0), (6,))
    ((1,), None)
    """
    places = [*addressed(layout.shape, layout.strides, 0)]
    strides, step = [0] * len(target), 1
    for dim in range(len(target) - 1, -1, -1):
        if target[dim] > 1:
            strides[dim] = places[step]
        step *= target[dim]
    return tuple(strides) if places == [*addressed(target, strides, 0)] else None


class Scope(NamedTuple):
    """What was looked at, and what was not as it should be."""

    layouts: int
    pairs: int
    with_elements: int
    viewable: int
    wrong: tuple[tuple[Layout, Shape], ...]


def check_view_rule(layouts: Sequence[Layout], rank: int) -> Scope:
    """Compare the oracle's view rule with brute force over all pairs; empty tensors view as anything."""
    seen = elements = viewable = 0
    wrong = []
    for layout, target in pairs(layouts, rank):
        seen += 1
        try:
            strides: Shape | None = views.view(layout, target).strides
        except LayoutError:
            strides = None
        viewable += strides is not None
        if prod(target) == 0:
            right = strides is not None
        else:
            elements += 1
            expected = brute_force(layout, target)
            got = None if strides is None else tuple(0 if n == 1 else s for n, s in zip(target, strides, strict=True))
            right = got == expected
        if not right:
            wrong.append((layout, target))
    return Scope(len(layouts), seen, elements, viewable, tuple(wrong))


def programs(*, rank: int = 4) -> Iterator[Program]:
    """One program for each pair with elements: the view is asked of the library itself."""
    for layout, target in pairs(dense_layouts(rank), rank):
        if prod(target):
            yield _program(layout, target)
    for layout, target in pairs(free_layouts(min(rank, 3)), min(rank, 3)):
        yield _program(layout, target)


def _program(layout: Layout, target: Shape) -> Program:
    nbytes = extent(layout.shape, layout.strides, 0)[1] * 4
    return Program(
        (Storage(nbytes),), (Input("float32", layout.shape, layout.strides),), (Step("view", (Ref(0), target)),)
    )


def main() -> None:
    """Check the oracle's view rule against brute-force address enumeration, and print the counted scope."""
    parser = argparse.ArgumentParser(description=main.__doc__, prog="python -m stridecheck.conformance.exhaustive")
    parser.add_argument("--rank", type=int, default=4, help="most dimensions of dense layouts (default: %(default)s)")
    rank = parser.parse_args().rank
    total = 0
    for name, layouts, most in (
        ("dense", dense_layouts(rank), rank),
        ("gapped, overlapping, stride 0", free_layouts(min(rank, 3)), min(rank, 3)),
    ):
        scope = check_view_rule(layouts, most)
        total += len(scope.wrong)
        print(
            f"{name}: {scope.layouts:,} layouts, {scope.pairs:,} pairs ({scope.with_elements:,} with elements), "
            f"{scope.viewable:,} viewable, {len(scope.wrong)} wrong"
        )
        for layout, target in scope.wrong[:5]:
            print(f"  {layout} viewed as {target}")
    raise SystemExit(1 if total else 0)


if __name__ == "__main__":
    main()
