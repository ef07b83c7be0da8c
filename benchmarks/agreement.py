"""Our clock beside `torch.utils.benchmark`, operation by operation: both must say the same.

    python -m stridecheck.benchmarks.agreement

The two take turns, many times and briefly, so that a machine that changes its speed changes it for both; their blocks
have as many calls, since a short block has more of what comes before its first.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping

import click
import torch
from torch.utils.benchmark import Timer

from .clock import Call, Effort, Runner, race

ROUNDS, ROUND_NS = 25, 60_000_000
GOAL = 0.03
"""Largest difference between the two clocks, as a part of the time."""


def operations() -> Mapping[str, Call]:
    """Ten operations of 20 microseconds and more."""
    torch.manual_seed(0)
    x, y, there = torch.randn(512, 512), torch.randn(512, 512), torch.empty(512, 512)
    image, weight = torch.randn(1, 16, 32, 32), torch.randn(16, 16, 3, 3)
    found: dict[str, Callable[[], object]] = {
        # Into memory that is there: in strides of a power of two, where fresh memory happens to lie tells by a third.
        "copy of a transposed matrix": lambda: there.copy_(x.t()),
        "clone, 4 MB": torch.randn(1024, 1024).clone,
        "x + y": lambda: x + y,
        "x + y, mixed strides": lambda: x.t() + y,
        "relu": x.relu,
        "sum(0)": lambda: x.sum(0),
        "softmax(-1)": lambda: x.softmax(-1),
        "x @ y": lambda: x @ y,
        "conv2d": lambda: torch.nn.functional.conv2d(image, weight, padding=1),
        "cat": lambda: torch.cat((x, y)),
    }
    return found


def compare(call: Call) -> tuple[float, float]:
    """Median nanoseconds a call, by our clock and by torch's; rounds alternate."""
    ours: list[float] = []
    theirs: list[float] = []
    timer = Timer("call()", globals={"call": call}, num_threads=1)
    for _ in range(ROUNDS):
        runner = Runner(call)
        race([runner], Effort(case_ns=ROUND_NS))
        ours.append(runner.median_ns)
        blocks = [timer.timeit(runner.number).median * 1e9 for _ in runner.samples_ns]
        theirs.append(statistics.median(blocks))
    return statistics.median(ours), statistics.median(theirs)


@click.command()
def main() -> None:
    """Print both times of each operation, and how far they are apart; exit 1 where that is more than 3 %."""
    torch.set_num_threads(1)
    worst = 0.0
    for name, call in operations().items():
        ours, theirs = compare(call)
        apart = ours / theirs - 1
        worst = max(worst, abs(apart))
        click.echo(f"{name:<30} {ours / 1e3:9.1f} us  torch.utils.benchmark {theirs / 1e3:9.1f} us  {apart:+.1%}")
    click.echo(f"furthest apart: {worst:.1%} (at most {GOAL:.0%})")
    raise SystemExit(worst > GOAL)


if __name__ == "__main__":
    main()
