"""Who has brought a process down: what ran at its end, what ran before, or nobody that could be told."""

from __future__ import annotations

from pathlib import Path

import pytest
from stridecheck.conformance import exchanges
from stridecheck.conformance.answers import AdapterFailed, Broken
from stridecheck.conformance.program import Program, Ref, Step
from stridecheck.conformance.runner import Worker

from .misbehaving import GOOD, GUILTY, answers_of, is_well


@pytest.mark.parametrize("alone", ["pass", "raise ValueError('not today')"])
@pytest.mark.parametrize("before", [0, 1, 5])
def test_the_guilty_program_is_found_among_those_before_it(before, alone, library):
    """A program that brings down a later one is the crash; the one that died is answered as if it had run alone.

    Also where that is an error of the adapter.
    """
    fine = Program(GOOD.storages, GOOD.inputs, (Step("abs", (Ref(0),)),))
    source = library("global poisoned; poisoned = True", at_import="poisoned = False")
    path = Path(source)
    path.write_text(
        path.read_text().replace(
            "        return misbehave",
            "        if poisoned and step.op == 'abs': os.abort()\n"
            f"        if step.op == 'abs': {alone}\n        return misbehave",
        )
    )
    programs = [*[GOOD] * before, GUILTY, GOOD, GOOD, fine, GOOD]
    with Worker(source) as worker:
        worker.start()
        worker.submit(list(enumerate(programs)))
        answers = dict(worker.collect())  # the guilty one is answered twice: the last word counts
    is_fine = alone == "pass"
    assert [is_well(answers[number]) for number in range(len(programs))] == [
        program is not GUILTY and (is_fine or program is not fine) for program in programs
    ]
    assert is_fine or "not today" in answers[before + 3].reason
    assert answers[before] == Broken("crash", f"killed by SIGABRT, in a later one (program {fine.id})")


@pytest.mark.parametrize(("signalled", "told"), [("SIGKILL", False), ("SIGTERM", False), ("SIGSEGV", True)])
def test_a_death_that_does_not_happen_again(signalled, told, library, tmp_path):
    """One from outside is no verdict; one of the library's own is told, with the remark that it happened once."""
    once = f"""
path = {str(tmp_path / "once")!r}
if not os.path.exists(path):
    open(path, "w").close()
    os.kill(os.getpid(), signal.{signalled})
"""
    with Worker(library(once)) as worker:
        worker.start()
        answers = answers_of(worker, [GOOD, GUILTY, GOOD])
    assert is_well(answers[0])
    assert is_well(answers[2])
    if told:
        assert answers[1] == Broken("crash", f"killed by {signalled}; it did not happen again", happened_again=False)
    else:
        assert isinstance(answers[1], list)


SPOILT = """
import ctypes
import numpy
from stridecheck.conformance.adapters.numpy import Numpy

class Spoiling(numpy.ndarray):
    def __del__(self):
        Mine.is_spoilt = True

def taken(x):
    if Mine.is_spoilt:
        ctypes.string_at(0)
    y = numpy.from_dlpack(x)
    return y.view(Spoiling) if y.strides == (32, 8) else y

class Mine(Numpy):
    name = "mine"
    ports = {"dlpack": "taken({x})"}
    is_spoilt = False

    def scope(self):
        return super().scope() | {"taken": taken}

adapter = Mine
"""


def test_the_array_that_brings_down_a_later_one_is_found(adapter_file, tmp_path):
    """As of programs: the one that died is answered as if it had come first."""
    spec = adapter_file(SPOILT)
    with Worker(f"exchange:numpy>{spec}") as worker:
        worker.start()
        for case in ("row-major", "transposed", "stepped"):
            ((_, answer),) = worker.ask(["dlpack", case])
            assert answer["outcome"] == "shared"
        (guilty, crash), (innocent, answer) = worker.ask(["dlpack", "padded rows"])
    assert (guilty[1], innocent[1], answer["outcome"]) == ("stepped", "padded rows", "shared")
    assert crash == Broken("crash", "killed by SIGSEGV, in a later one (dlpack, padded rows)")
    known = tmp_path / "known.txt"
    assert exchanges.exchange([spec], tmp_path / "out", expect=known, update_expectations=True) == 0
    assert "crash: stepped" in known.read_text()
    assert exchanges.exchange([spec], tmp_path / "out", expect=known) == 0


GREEDY = """
import time
import numpy
from stridecheck.conformance.adapters.numpy import Numpy

def taken(x):
    y = numpy.from_dlpack(x)
    if y.strides == (4, 12) and not Mine.kept:
        Mine.kept.append(bytearray(b"x") * (40 << 20))
    if y.strides == (32, 8):
        held = bytearray(b"x") * (80 << 20)
        time.sleep(0.3)
    return y

class Mine(Numpy):
    name = "mine"
    ports = {"dlpack": "taken({x})"}
    kept = []

    def scope(self):
        return super().scope() | {"taken": taken}

adapter = Mine
"""


def test_memory_that_many_arrays_fill_together_is_nobodys_fault(adapter_file):
    """The array that it does not suffice for is answered as if it had come first, as a program is."""
    with Worker(f"exchange:numpy>{adapter_file(GREEDY)}", memory=100 << 20) as worker:
        worker.start()
        for case in ("row-major", "transposed", "stepped", "padded rows"):
            ((asked, answer),) = worker.ask(["dlpack", case])
            assert (asked[1], answer["outcome"]) == (case, "shared")
        assert worker.restarts > 0


ANSWERING = """
import os, signal
from stridecheck.conformance.adapters.numpy import Numpy

class Mine(Numpy):
    name = "mine"
    is_poisoned, answered = False, 0

    def answer(self, question):
        Mine.answered += 1
        Mine.is_poisoned |= question == "poison"
        {}
        return question

adapter = Mine
"""
TERMINATED = "if question == 'later' and Mine.is_poisoned: os.kill(os.getpid(), signal.SIGTERM)"
HUNTED = "if Mine.answered == 6: os.kill(os.getpid(), signal.SIGTERM)"
FORKING = "if question == 'fork': os.fork()"


def test_a_death_from_outside_that_happens_again_after_what_ran_before_is_none(adapter_file):
    """A library can end its process by a signal as somebody else would."""
    with Worker(adapter_file(ANSWERING.format(TERMINATED))) as worker:
        worker.start()
        for question in ("fine", "poison", "well"):
            assert worker.ask(question) == [(question, question)]
        guilty = Broken("crash", "killed by SIGTERM, in a later one (later)")
        assert worker.ask("later") == [("poison", guilty), ("later", "later")]


def test_who_ends_what_has_grown_is_nobodys_crash(adapter_file):
    """A daemon sends SIGTERM to large processes: all together are too large, and no two of them."""
    with Worker(adapter_file(ANSWERING.format(HUNTED))) as worker:
        worker.start()
        for question in "abcdefgh":
            assert worker.ask(question) == [(question, question)]


def test_a_library_that_forks_while_it_is_asked_answers_once(adapter_file):
    """Its child ends when it comes to answer."""
    with Worker(adapter_file(ANSWERING.format(FORKING))) as worker:
        worker.start()
        for question in ("well", "fork", "well again", "fork", "at last"):
            assert worker.ask(question) == [(question, question)]


ASKED = """
class Asked(Mine):
    def answer(self, question):
        if question == "relu":
            misbehave(0)
        return question


adapter = Asked
"""


@pytest.fixture(params=[2, 3], ids=["while it is looked for", "afterwards"])
def dying_once(request, library, tmp_path):
    """An adapter whose process dies once, at `relu`, and that cannot be started more than a few times."""
    starts = f"""
with open({str(tmp_path / "starts")!r}, "a") as made: made.write(".")
if os.path.getsize(made.name) > {request.param}: raise RuntimeError("no more")
"""
    once = f"mark = {str(tmp_path / 'once')!r}\nif not os.path.exists(mark): open(mark, 'w').close(); os.abort()"
    source = Path(library(once, at_import=starts, forks=False))
    source.write_text(source.read_text() + ASKED)
    return str(source)


ONCE = Broken("crash", "killed by SIGABRT; it did not happen again", happened_again=False)


def test_that_a_program_was_no_end_again_is_known_without_another_process(dying_once):
    """What is known of it is told before it is told that the library cannot be started any more."""
    answers = []
    with Worker(dying_once) as worker:
        worker.start()
        worker.submit(list(enumerate([GOOD, GUILTY, GOOD])))
        with pytest.raises(AdapterFailed, match="no more"):
            answers.extend(worker.collect())
    assert [number for number, _ in answers] == [0, 1]
    assert answers[1][1] == ONCE


def test_that_a_question_was_no_end_again_is_known_without_another_process(dying_once):
    """As of programs; it is the next question that has no process."""
    with Worker(dying_once) as worker:
        worker.start()
        assert worker.ask("well") == [("well", "well")]
        assert worker.ask("relu") == [("relu", ONCE)]
        with pytest.raises(AdapterFailed, match="no more"):
            worker.ask("well")


POISONED = """
class Asked(Mine):
    is_poisoned = False

    def answer(self, question):
        if question == "poison":
            Asked.is_poisoned = True
        if question == "later" and Asked.is_poisoned:
            os.abort()
        return question


adapter = Asked
"""


@pytest.mark.parametrize("starts", [3, 4])
def test_a_crash_that_happened_again_is_one_though_nobody_can_be_found(starts, library, tmp_path):
    """Where there is no process to go on looking in."""
    count = f"""
with open({str(tmp_path / "starts")!r}, "a") as made: made.write(".")
if os.path.getsize(made.name) > {starts}: raise RuntimeError("no more")
"""
    source = Path(library(at_import=count, forks=False))
    source.write_text(source.read_text() + POISONED)
    with Worker(str(source)) as worker:
        worker.start()
        for question in ("fine", "poison", "well", "well"):
            worker.ask(question)
        assert worker.ask("later") == [("later", Broken("crash", "killed by SIGABRT"))]
