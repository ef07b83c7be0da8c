"""The clock: what it binds, in which order it measures, what a failing call does. Nothing here asserts a time."""

import gc
from functools import partial
from time import sleep

import pytest
from stridecheck.benchmarks import clock
from stridecheck.benchmarks.clock import Effort, Runner, bind, block, overhead_ns, race, thread_block
from stridecheck.conformance.collector import collector_held

BRIEF = Effort(block_ns=20_000, warm_ns=200_000, case_ns=500_000, least=3, most=4)


def keyword_only(a, *, b=1):
    return a + b


def several(*items):
    return sum(items)


@pytest.mark.parametrize(
    ("function", "arguments", "result"),
    [
        (lambda a, b: (a, b), (1, 2), (1, 2)),
        (lambda a, b=5: (a, b), (1, 2), (1, 2)),
        (lambda: "none", (), "none"),
        (keyword_only, (2,), 3),
        (several, (1, 2, 3), 6),
        (partial(several, 1), (2,), 3),
        (max, (3, 4), 4),
    ],
)
def test_a_bound_call_is_the_call_with_its_arguments(function, arguments, result):
    assert bind(function, arguments)() == result


def test_a_bound_closure_keeps_its_cells():
    def make(base):
        return lambda x: base + x

    assert bind(make(10), (1,))() == 11


def test_binding_leaves_the_function_as_it_was():
    def subtract(a, b=1):
        return a - b

    bind(subtract, (5, 3))
    assert subtract(5) == 4


def test_a_block_calls_so_often_and_waits_for_the_device_on_both_sides():
    calls = []
    assert block(lambda: calls.append("call"), 3, lambda: calls.append("wait")) > 0
    assert calls == ["wait", "call", "call", "call", "wait"]


def test_time_that_a_thread_waits_is_not_its_own():
    calls = []

    def wait():
        sleep(0.01)
        calls.append("call")

    assert thread_block(wait, 3) < block(wait, 3)
    assert len(calls) == 6


def test_arguments_cost_next_to_nothing_beside_the_call_itself():
    # A ratio, because both are measured in the same moment on the same machine; partial() would be near 2.
    # Others may take the core at any moment: one quiet one is enough.
    ratios = (found["bound"] / found["loop"] for found in (overhead_ns(BRIEF) for _ in range(60)))
    assert any(ratio < 1.5 for ratio in ratios)


def test_things_compared_take_turns_and_each_follows_each(monkeypatch):
    order = []
    runners = [Runner(partial(order.append, name)) for name in "abc"]
    # Every block is one call, so that the calls show the order of the blocks.
    monkeypatch.setattr(Runner, "calibrate", lambda self, effort: None)
    monkeypatch.setattr(clock, "_LONE", 0)
    race(runners, Effort(least=40, most=40))
    rounds = ["".join(order[k : k + 3]) for k in range(0, 120, 3)]
    assert {"".join(sorted(turn)) for turn in rounds} == {"abc"}
    assert len(set(rounds)) == 6
    assert [len(runner.samples_ns) for runner in runners] == [40, 40, 40]


def test_a_call_that_raises_is_out_and_the_others_go_on():
    left = iter([None] * 40)
    breaks, works = Runner(lambda: next(left)), Runner(lambda: None)
    race([breaks, works], BRIEF)
    assert isinstance(breaks.error, StopIteration)
    assert breaks.samples_ns == []
    assert works.error is None
    assert len(works.samples_ns) >= BRIEF.least


def test_an_interrupt_is_not_taken_for_a_failing_call():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        race([Runner(interrupted)], BRIEF)


def test_a_short_call_is_repeated_and_a_long_one_is_not():
    short, long = Runner(lambda: None), Runner(lambda: sum(range(20_000)))
    race([short, long], BRIEF)
    assert short.number > 50 * long.number


def test_the_collector_is_held_while_measuring_and_let_go_afterwards():
    with collector_held():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError, match="out"), collector_held():
        raise ValueError("out")
    assert gc.isenabled()


def test_a_race_of_nobody_ends():
    race([], BRIEF)
