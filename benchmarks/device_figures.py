"""What the reference's copy kernel reaches on a GPU, in figures: `python -m stridecheck.benchmarks.device_figures`.

Permutations of float32 of 512 MB into row-major memory, beside PyTorch's `copy_` and its dense copy of as many bytes,
timed by events on the device in interleaved rounds; with `--drawn 50` also permutations that nobody chose, of 256 MB
and more. `make gpu` runs it, too. It wants PyTorch for CUDA, with Triton.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from statistics import median
from typing import Any, NamedTuple

from stridecheck.reference_impl.kernels import device
from stridecheck.reference_impl.kernels.device_plan import DeviceChoice

from .conversions import CONVERSIONS

NBYTES = 512_000_000
"""Bytes of each target, roughly: some ten times a last-level cache of today."""
ROUNDS, FIRST = 20, 3
"""Timed rounds, and those before them, which compile kernels and raise clocks."""
GOAL = 0.9
"""Share of the dense copy's rate that a permutation is to reach."""

CHOICES: Mapping[str, DeviceChoice] = {
    "tiles of 8 kB": DeviceChoice(tile_bytes=1 << 13),
    "tiles of 16 kB": DeviceChoice(tile_bytes=1 << 14),
    "128 bytes a thread": DeviceChoice(thread_bytes=128),
    "groups of 1": DeviceChoice(group=1),
}
"""What the planner might choose otherwise, timed beside its own choice."""


class Permutation(NamedTuple):
    """A copy of row-major memory, its dimensions in another order, to row-major memory."""

    name: str
    memory: tuple[int, ...]
    """Shape of what is read."""
    order: tuple[int, ...]


def chosen(nbytes: int = NBYTES) -> list[Permutation]:
    """The permutations among the conversions, each of about so many bytes of float32."""
    named = [(name, conversion) for name, conversion in CONVERSIONS.items() if conversion.order]
    return [Permutation(name, tuple(found.memory(nbytes // 4)), found.order) for name, found in named]


def drawn(number: int, seed: int) -> Iterator[Permutation]:
    """Permutations of two to six dimensions, 256 MB to about 1 GB of float32: the same seed draws the same ones.

    >>> [permutation.order for permutation in drawn(3, 1)]
    [(0, 2, 1), (2, 1, 0), (2, 3, 1, 0)]
    """
    random = Random(seed)
    for turn in range(number):
        ndim, most = random.randint(2, 6), random.uniform(*_DRAWN_ITEMS)
        parts = [random.expovariate(1) + 0.1 for _ in range(ndim)]
        lengths = [max(2, round(most ** (part / sum(parts)))) for part in parts]
        if random.random() < 0.5:  # as models have them
            most = _DRAWN_ITEMS[0]
            lengths = [1 << (length.bit_length() - 1) for length in lengths]
        longest = lengths.index(max(lengths))
        lengths[longest] = math.ceil(most / (math.prod(lengths) // lengths[longest]))
        order = list(range(ndim))
        while order == sorted(order):
            random.shuffle(order)
        yield Permutation(f"drawn {turn}", tuple(lengths), tuple(order))


_DRAWN_ITEMS = 64 << 20, 256 << 20

Clock = Callable[[Callable[[], Any]], float]
"""Microseconds that a call takes on a device."""


def medians(calls: Mapping[str, Callable[[], Any]], clock: Clock) -> Mapping[str, float]:
    """Median microseconds of each call, in interleaved rounds of which each begins with another call.

    >>> medians({"a": lambda: 1, "b": lambda: 2}, lambda call: 10.0 * call())
    {'a': 10.0, 'b': 20.0}
    """
    names = list(calls)
    samples: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(FIRST + ROUNDS):
        first = turn % len(names)
        for name in (*names[first:], *names[:first]):
            took = clock(calls[name])
            if turn >= FIRST:
                samples[name].append(took)
    return {name: median(taken) for name, taken in samples.items()}


def events(torch: Any) -> Clock:
    """A clock of the device's own. It is kept busy meanwhile, so that what Python does before a launch is left out."""
    busy = torch.empty(NBYTES, dtype=torch.uint8, device="cuda")

    def clock(call: Callable[[], Any]) -> float:
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        for _ in range(_AHEAD):
            busy.zero_()
        begin.record()
        call()
        end.record()
        end.synchronize()
        return 1000.0 * float(begin.elapsed_time(end))

    return clock


_AHEAD = 8
"""Fills that are queued before what is timed, so that the device is never waiting for Python."""


def compare(
    torch: Any, permutation: Permutation, clock: Clock, *, place: str = "cuda", copy: Any = device.copy
) -> dict[str, Any]:
    """One permutation by ours and by PyTorch, and a dense copy of as many bytes: medians in microseconds.

    `equal`: whether all bits are PyTorch's. `share`: the dense copy's time over ours. Other choices are timed where
    ours was right.
    """
    name, memory, order = permutation
    number = math.prod(memory)
    source = torch.arange(number, dtype=torch.int32, device=place).view(torch.float32).view(memory)
    view = source.permute(order)
    ours, other = (torch.zeros(view.shape, device=place) for _ in range(2))
    copy(ours, view)
    other.copy_(view)
    equal = bool(torch.equal(ours.view(torch.int32), other.view(torch.int32)))
    row: dict[str, Any] = {"case": name, "memory": memory, "order": order, "bytes": 4 * number, "equal": equal}
    if equal:
        found = medians(
            {
                "ours": partial(copy, ours, view),
                "torch": partial(other.copy_, view),
                "dense": partial(other.view(-1).copy_, source.view(-1)),
            },
            clock,
        )
        others = {said: partial(copy, ours, view, choice) for said, choice in CHOICES.items()}
        row |= {
            **found,
            "share": found["dense"] / found["ours"],
            "against_torch": found["torch"] / found["ours"],
            "choices": dict(medians(others, clock)),
        }
    return row


def figures(torch: Any, permutations: Iterable[Permutation]) -> Iterator[dict[str, Any]]:
    """A row for each permutation, one after the other."""
    clock = events(torch)
    for permutation in permutations:
        yield compare(torch, permutation, clock)
        torch.cuda.empty_cache()


def line(row: Mapping[str, Any]) -> str:
    """A row of figures as it is printed.

    >>> row = {"case": "heads", "bytes": 512e6, "ours": 400.0, "torch": 500.0, "dense": 380.0, "share": 0.95,
    ...        "against_torch": 1.25, "equal": True, "choices": {"8 kB, 4 warps, groups of 1": 390.0}}
    >>> print(line(row)[:89])
    heads              400.0 us, 95 % of the dense copy's rate (2695 GB/s); torch 1.25 x ours
    """
    if not row["equal"]:
        return f"{row['case']:18} WRONG: bits are not PyTorch's"
    best = min(row["choices"], key=row["choices"].__getitem__)
    missed = "" if row["share"] >= GOAL and row["against_torch"] >= 1 else "  goal missed"
    return (
        f"{row['case']:18} {row['ours']:.1f} us, {100 * row['share']:.0f} % of the dense copy's rate "
        f"({2e-3 * row['bytes'] / row['dense']:.0f} GB/s); torch {row['against_torch']:.2f} x ours; "
        f"of others {row['choices'][best]:.1f} us, {best}{missed}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print every row; 0 where all bits are right, 1 where not, 3 where no copy can be made on a GPU."""
    parser = argparse.ArgumentParser(prog="device_figures", description=__doc__)
    parser.add_argument("--drawn", type=int, default=0, metavar="N", help="also N permutations that nobody chose")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws others")
    options = parser.parse_args(arguments)
    if reason := device.unavailable():
        print(f"no copy on a GPU here: {reason}")
        return 3
    import torch

    right = True
    for row in figures(torch, [*chosen(), *drawn(options.drawn, options.seed)]):
        print(line(row), flush=True)
        right &= row["equal"]
    return int(not right)


if __name__ == "__main__":
    sys.exit(main())
