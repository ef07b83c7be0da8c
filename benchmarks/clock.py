"""The clock: calls timed in blocks, things that are compared taking turns, the collector held.

A block is a tight loop over a call without arguments, long enough that reading the clock does not count. What is
compared runs block by block in turns in one process, so that a machine that changes its speed changes it for all.
"""

from __future__ import annotations

import statistics
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from random import Random
from time import perf_counter_ns, thread_time_ns
from typing import Any

from stridecheck.conformance.collector import collector_held

Call = Callable[[], Any]
Take = Callable[[Call, int], int]
"""Nanoseconds that so many calls take."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure: nanoseconds, and numbers of blocks for each thing that is compared."""

    block_ns: int = 1_000_000
    """Shortest block; the two readings of the clock around it take about 0.1 us."""
    warm_ns: int = 30_000_000
    """Longest time to wait for two blocks that agree."""
    case_ns: int = 150_000_000
    """No new round is begun after this time, once there are `least` rounds."""
    least: int = 7
    most: int = 25


FULL = Effort()
QUICK = Effort(block_ns=500_000, warm_ns=10_000_000, case_ns=80_000_000, least=5, most=40)

_LONE = 4
"""Blocks of fewer calls than this begin with one that is not timed."""
_AGREE = 0.05
"""Difference between two blocks, as a fraction, below which a call counts as warm."""


def bind(function: Callable[..., Any], arguments: Sequence[Any], needs: object = None) -> Call:
    """A call without arguments that costs no more than a call with them would; `needs` lives as long as it does.

    Arguments become the defaults of a copy of the function: reading them is as cheap as reading a local variable.

    >>> bind(lambda a, b: a - b, (5, 3))()
    2
    """
    if isinstance(function, types.FunctionType):
        code = function.__code__
        plain = not code.co_flags & 0x0C and not code.co_kwonlyargcount  # no *args, no **kwargs
        if plain and code.co_argcount == len(arguments):
            copy = types.FunctionType(
                code, function.__globals__, function.__name__, tuple(arguments), function.__closure__
            )
            copy.__dict__["needs"] = needs
            return copy
    call = partial(function, *arguments)
    call.__dict__["needs"] = needs
    return call


def block(call: Call, number: int, synchronize: Call | None = None) -> int:
    """Nanoseconds that `number` calls take; `synchronize` waits for a device, and is part of the time."""
    calls = repeat(None, number)
    if synchronize is None:
        start = perf_counter_ns()
        for _ in calls:
            call()
        return perf_counter_ns() - start
    synchronize()
    start = perf_counter_ns()
    for _ in calls:
        call()
    synchronize()
    return perf_counter_ns() - start


def thread_block(call: Call, number: int) -> int:
    """As `block`, by the processor time of this thread: what others take of the core meanwhile is left out."""
    calls = repeat(None, number)
    start = thread_time_ns()
    for _ in calls:
        call()
    return thread_time_ns() - start


@dataclass
class Runner:
    """One of the things that are compared: its call, how many calls make a block, and what was measured."""

    call: Call
    take: Take = block
    number: int = 1
    samples_ns: list[float] = field(default_factory=list)
    """Nanoseconds a call, one figure a block."""
    error: Exception | None = None
    """What the call raised; it is out of the race then."""
    before: Call | None = None
    """Called before each call, outside the time: empties the cache. A block is one call then."""
    slowdown: float = 0.0
    """A part of each block's time to wait in addition: a slow-down that is planted, to see whether it is found."""

    @property
    def median_ns(self) -> float:
        """Median over the blocks."""
        return statistics.median(self.samples_ns)

    def calibrate(self, effort: Effort) -> None:
        """Find how many calls make a block, and go on until two blocks agree or the time to warm up is over."""
        deadline = perf_counter_ns() + effort.warm_ns
        last = self._block() / self.number
        while True:
            now = self._block() / self.number
            if self.before is None and now * self.number < effort.block_ns:
                # At most tenfold: the first blocks are slower than the rest.
                wanted = 1.2 * effort.block_ns / max(now, 1.0)
                self.number = int(min(max(wanted, self.number + 1), 10 * self.number))
            elif abs(now - last) <= _AGREE * now or perf_counter_ns() > deadline:
                return
            last = now

    def measure(self) -> None:
        """Add one block to the samples."""
        self.samples_ns.append(self._block() / self.number)

    def attempt(self, what: Callable[[], None]) -> None:
        """Calibrate or measure, unless the call has failed before; keep what it raises."""
        if self.error is None:
            try:
                what()
            except Exception as error:
                self.error = error
                self.samples_ns.clear()

    def _block(self) -> int:
        if self.before is not None:
            self.before()
        elif self.number < _LONE:
            # The caches hold what another's block has left; in long blocks that is a small part.
            self.call()
        start = perf_counter_ns()
        taken = self.take(self.call, self.number)
        if not self.slowdown:
            return taken
        while perf_counter_ns() < start + (1 + self.slowdown) * taken:
            pass
        return perf_counter_ns() - start


def race(runners: Sequence[Runner], effort: Effort = FULL) -> None:
    """Measure all runners in turns, round by round, each round in another order.

    One whose call raises has no samples afterwards, but an `error`; the others go on.
    """
    with collector_held():
        for runner in runners:
            runner.attempt(partial(runner.calibrate, effort))
        deadline = perf_counter_ns() + effort.case_ns
        for turn, order in enumerate(orders(runners, effort.most)):
            if turn >= effort.least and perf_counter_ns() > deadline:
                return
            for runner in order:
                runner.attempt(runner.measure)


def orders(runners: Sequence[Runner], rounds: int) -> Iterator[list[Runner]]:
    """The runners, as many times, each time in another order: always the same ones.

    What ran before decides what the caches hold: in a fixed order the same runner would profit each time.
    """
    random = Random(0)
    for _ in range(rounds):
        yield random.sample(runners, len(runners))


def overhead_ns(effort: Effort = QUICK) -> Mapping[str, float]:
    """What the clock costs, in nanoseconds a call: `turn` of the loop alone, which is all that it adds to a call.

    `loop` is for an empty function, `bound` for one with two arguments: both hold the call of a Python function.
    """
    runners = {
        "turn": Runner(lambda: None, _turns),
        "loop": Runner(lambda: None),
        "bound": Runner(bind(lambda a, b: None, (1, 2))),
    }
    race(list(runners.values()), effort)
    return {name: round(min(runner.samples_ns), 1) for name, runner in runners.items()}


def _turns(call: Call, number: int) -> int:
    """Nanoseconds that the loop of `block` takes without its call."""
    turns = repeat(None, number)
    start = perf_counter_ns()
    for _ in turns:
        pass
    return perf_counter_ns() - start
