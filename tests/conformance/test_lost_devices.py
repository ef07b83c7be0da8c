"""Libraries whose device is lost: what they raise afterwards, and how they end, is no program's fault."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from stridecheck.conformance.answers import AdapterFailed, Broken
from stridecheck.conformance.campaign import Campaign
from stridecheck.conformance.check import Options, check
from stridecheck.conformance.expectations import Expectations
from stridecheck.conformance.program import Program, Ref, Step
from stridecheck.conformance.runner import Worker
from stridecheck.conformance.units import units_of
from stridecheck.reports.records import Adapter, Failure, Footer, Unit, read_results

from .misbehaving import GOOD, GUILTY, answers_of, is_well, lost_after

DEVICE = """
gone = False

def negative(*args):
    if gone:
        raise RuntimeError("error 700")
    return -args[0]


class OnDevice(Mine):
    def lost(self):
        return "error 700" if gone else ""

    def operation(self, step):
        return negative if step.op == "neg" else super().operation(step)


adapter = OnDevice
"""


@pytest.mark.parametrize("before", [0, 2])
def test_a_program_that_brings_its_device_down(before, library):
    """What is raised afterwards says nothing of the programs that it is raised at: a fresh process runs them."""
    source = library("global gone; gone = True; raise RuntimeError('error 700')")
    Path(source).write_text(Path(source).read_text() + DEVICE)
    programs = [*[GOOD] * before, GUILTY, GOOD, GOOD]
    with Worker(source) as worker:
        worker.start()
        answers = answers_of(worker, programs)
    assert [is_well(answer) for answer in answers] == [program is not GUILTY for program in programs]
    assert answers[before] == Broken("crash", f"{source} lost its device (error 700)", device_lost=True)


def test_a_program_that_brings_the_device_down_behind_its_back(library):
    """Where only a later program notices, the guilty one is found, as after any death."""
    source = library("global gone; gone = True")
    Path(source).write_text(Path(source).read_text() + DEVICE)
    with Worker(source) as worker:
        worker.start()
        worker.submit(list(enumerate([GOOD, GUILTY, GOOD])))
        answers = dict(worker.collect())
    assert [is_well(answers[number]) for number in range(3)] == [True, False, True]
    assert "lost its device (error 700), in a later one (program " in answers[1].reason


LOST_FOR_GOOD = """
from stridecheck.conformance.program import Step


class Lost(Mine):
    forks = FORKS

    def lost(self):
        if os.path.exists(PATH):
            LOST
        return ""

    def operation(self, step):
        if step.op == "relu":
            open(PATH, "w").close()
        if os.path.exists(PATH):
            END
        return super().operation(step)

    def answer(self, question):
        self.operation(Step(question, ()))
        return question


adapter = Lost
"""


@pytest.fixture
def lost_for_good(library, tmp_path):
    """Writes an adapter whose device is lost by `relu`, for all processes, with how it ends and what it says then."""

    def make(end, lost="return 'off the bus'", *, forks=True, at_import=""):
        source = library("pass", at_import.format(gone=str(tmp_path / "gone")))
        head = f"PATH, FORKS = {str(tmp_path / 'gone')!r}, {forks}\n"
        text = LOST_FOR_GOOD.replace("END", end).replace("LOST", lost)
        Path(source).write_text(Path(source).read_text() + head + text)
        return source

    return make


def failure_of(worker):
    """Why the worker had no answer to the program that loses the device, and to those after it."""
    answers = {}
    worker.submit(list(enumerate([GOOD, GUILTY, GOOD, GOOD])))
    with pytest.raises(AdapterFailed) as failed:
        answers.update(worker.collect())
    assert list(answers) == [0]
    assert failed.value.kind == "error"
    return failed.value.reason


@pytest.mark.parametrize("forks", [True, False])
@pytest.mark.parametrize("end", ["raise RuntimeError('error 700')", "os.abort()", "time.sleep(60)"])
def test_a_device_that_is_lost_for_good_is_blamed_on_no_program(end, forks, lost_for_good):
    """An adapter that loads all the same would have each later program called a crash, and the run complete."""
    source = lost_for_good(end, forks=forks)
    with Worker(source, program_timeout=2) as worker:
        worker.start()
        assert re.search(r"at program .*off the bus|off the bus.* at program", failure_of(worker))
    with Worker(source) as worker, pytest.raises(AdapterFailed, match=r"lost its device \(off the bus\)"):
        worker.start()


WAYS_TO_SAY_SO = {
    "os.abort()": "lost() did not answer: killed by SIGABRT",
    "os._exit(3)": "lost() did not answer: exited with status 3",
    "os.kill(os.getpid(), signal.SIGKILL)": "lost() did not answer: killed by SIGKILL",
    "time.sleep(60)": "lost() did not answer within 1 s",
    "sys.exit(3)": "SystemExit: 3 (mine.py:",
    "raise KeyboardInterrupt": "KeyboardInterrupt: (mine.py:",
    "return 'off\\n\\tthe  bus' + chr(0xd800)": r"off the bus\ud800",
    "return 'off ' * 1000": "off " * 100,
}


@pytest.mark.parametrize("end", ["raise RuntimeError('error 700')", "os.abort()"])
@pytest.mark.parametrize("lost", WAYS_TO_SAY_SO)
def test_a_device_that_cannot_even_be_asked_is_lost(lost, end, lost_for_good):
    """It may end the process that asks, or keep it, and is blamed on no program for that."""
    with Worker(lost_for_good(end, lost)) as worker:
        worker.start()
        worker.start_timeout = 1.0
        worker.distrust()  # the process that is there has more time
        reason = failure_of(worker)
    assert f"lost its device ({WAYS_TO_SAY_SO[lost]}" in reason
    assert len(reason) < 1000
    assert reason.isprintable()


def test_memory_that_is_taken_while_a_device_is_asked_for(lost_for_good):
    """It is no program's; what is taken when a process first asks is what it takes to use the device."""
    hoards = "[bytearray(1 << 20) for _ in range(600)] and time.sleep(60)"
    with Worker(lost_for_good("raise RuntimeError('error 700')", hoards), memory=100 << 20) as worker:
        worker.start()
        worker.start_timeout = 3.0
        worker.distrust()
        reason = failure_of(worker)
    assert "lost() did not answer: killed: its memory grew by more than 100 MiB" in reason
    assert "lost() did not answer within 3 s" in reason


def test_a_device_that_ends_whoever_asks_in_a_server(lost_for_good):
    """Where nothing is forked, each process that is asked imports the library anew."""
    with Worker(lost_for_good("os.abort()", "os.abort()", forks=False)) as worker:
        worker.start()
        assert "lost() did not answer: killed by SIGABRT" in failure_of(worker)


@pytest.mark.parametrize("does", ["raise ImportError('no device')", "os.abort()"])
def test_a_library_that_does_not_load_without_its_device(does, lost_for_good):
    """An adapter may ask for its device while it is loaded: that it loads no more says nothing of a program either."""
    at_import = f"if os.path.exists({{gone!r}}): {does}"
    with Worker(lost_for_good("os.abort()", forks=False, at_import=at_import)) as worker:
        worker.start()
        reason = failure_of(worker)
    assert reason.startswith("killed by SIGABRT, at program ")
    assert ("no device" in reason) == ("no device" in does)


SLOW = """
raised = 0


class Slow(Mine):
    def lost(self):
        if raised:
            END
        return ""


adapter = Slow
"""


def test_what_a_program_raises_may_be_asked_about_for_longer_than_the_program_may_take(library):
    """The device has a deadline of its own: a well one that is slow to say so costs no program."""
    source = library("global raised; raised += 1; raise RuntimeError('refused')")
    Path(source).write_text(Path(source).read_text() + SLOW.replace("END", "time.sleep(1.5)"))
    with Worker(source, program_timeout=1) as worker:
        worker.start()
        before, refused, after = answers_of(worker, [GOOD, GUILTY, GOOD])
    assert is_well(before)
    assert is_well(after)
    assert refused[1].raised.text == "refused"


def test_what_becomes_of_an_array_may_be_asked_about_for_longer(adapter_file):
    """Where two libraries hand on arrays, too."""
    source = """
import time
from stridecheck.conformance.adapters.numpy import Numpy
from stridecheck.conformance.protocol import Unsupported


class Mine(Numpy):
    name = "mine"
    made = 0

    def tensor(self, *layout):
        self.made += 1
        raise Unsupported("layout:any")

    def lost(self):
        if self.made:
            time.sleep(1.5)
        return ""


adapter = Mine
"""
    with Worker(f"exchange:{adapter_file(source)}>numpy", program_timeout=1) as worker:
        worker.start()
        ((_, answer),) = worker.ask(["dlpack", "row-major"])
        assert answer["outcome"] == "not offered"


def test_whoever_is_killed_while_it_asks_has_lost_nothing(library, tmp_path):
    """Somebody else may kill a process at any moment: if it does not happen again, the program has its answer."""
    source = library("global raised; raised += 1; raise RuntimeError('refused')")
    killed = tmp_path / "killed"
    end = "os.path.exists(PATH) or open(PATH, 'w').close() or os.kill(os.getpid(), signal.SIGKILL)"
    text = SLOW.replace("END", end).replace("PATH", repr(str(killed)))
    Path(source).write_text(Path(source).read_text() + text)
    with Worker(source) as worker:
        worker.start()
        _, refused, _ = answers_of(worker, [GOOD, GUILTY, GOOD])
    assert killed.exists()
    assert refused[1].raised.text == "refused"


def test_what_forks_to_ask_may_end_its_child_as_it_likes(library):
    """A child that exits is no answer; the process that has forked it gives one."""
    source = library("pass")
    asks = "class Asks(Mine):\n    def lost(self):\n        os.fork() or sys.exit(3)\n\n\nadapter = Asks\n"
    Path(source).write_text(Path(source).read_text() + asks)
    with Worker(source) as worker:
        worker.start()
        assert all(map(is_well, answers_of(worker, [GOOD, GOOD])))


@pytest.mark.parametrize("then", ["    raise Unsupported('700') from error", "    pass\nraise Unsupported('700')"])
def test_a_loss_that_an_adapter_takes_for_a_lack(then, library):
    """What was raised on the way is asked about, whatever the adapter has made of it."""
    raises = f"try: raise RuntimeError('700')\nexcept RuntimeError as error:\n{then}"
    source = library(f"global gone; gone = True\n{raises}")
    more = "from stridecheck.conformance.protocol import Unsupported\n"
    Path(source).write_text(Path(source).read_text() + more + DEVICE)
    with Worker(source) as worker:
        worker.start()
        _, answer = answers_of(worker, [GOOD, GUILTY])
    assert answer == Broken("crash", f"{source} lost its device (error 700)", device_lost=True)


def test_a_device_that_is_lost_for_good_is_blamed_on_no_question(lost_for_good):
    """Though the process was killed, and said nothing of its device: the next one does."""
    with Worker(lost_for_good("os.abort()")) as worker:
        worker.start()
        assert worker.ask("well") == [("well", "well")]
        with pytest.raises(AdapterFailed, match="off the bus"):
            worker.ask("relu")


ASKED = """
class Asked(OnDevice):
    def answer(self, question):
        global gone
        gone = not os.path.exists(question)
        if CURED:
            open(question, "w").close()
        return question


adapter = Asked
"""


@pytest.mark.parametrize("is_cured", [True, False])
def test_a_question_at_which_the_device_was_lost_is_asked_once_more(is_cured, library, tmp_path):
    """In a fresh process, where there is one: whether it happens again is told."""
    source = library()
    Path(source).write_text(Path(source).read_text() + DEVICE + ASKED.replace("CURED", str(is_cured)))
    with Worker(source) as worker:
        worker.start()
        ((_, lost),) = worker.ask(str(tmp_path / "mark"))
        assert worker.ask(source) == [(source, source)]
    more = "; it did not happen again" if is_cured else ""
    assert lost == Broken("crash", f"{source} lost its device (error 700){more}", not is_cured, device_lost=True)


def test_an_adapter_that_cannot_say_whether_its_device_is_lost(library):
    """It is no adapter to ask anything, and says why: its programs are no crashes."""
    source = library("pass")
    cannot = "class Cannot(Mine):\n    def lost(self):\n        return 1 / 0\n\n\nadapter = Cannot\n"
    Path(source).write_text(Path(source).read_text() + cannot)
    with Worker(source) as worker, pytest.raises(AdapterFailed, match=r"ZeroDivisionError: division by zero \("):
        worker.start()


def test_an_adapter_that_answers_nothing_when_it_is_asked_for_its_device(library):
    """It is told at once, not after as many tries as a process that is killed has."""
    source = library("pass")
    hangs = "class Hangs(Mine):\n    def lost(self):\n        time.sleep(60)\n\n\nadapter = Hangs\n"
    Path(source).write_text(Path(source).read_text() + hangs)
    late = r"lost\(\) did not answer within 3 s"
    with Worker(source, start_timeout=3) as worker, pytest.raises(AdapterFailed, match=late):
        worker.start()


def test_a_device_may_be_lost_while_a_failure_is_shrunk(adapter_file, tmp_path):
    """The adapter failed, what was answered before is there, and the run goes on when the device is back."""
    asked = Options(adapters=(adapter_file(lost_after(10**9)),), programs=512, workers=1)
    assert check(asked, tmp_path / "well") == 1  # NumPy's deviations, of which nothing is known under this name
    units = [one for one in read_results(tmp_path / "well" / "results.jsonl") if isinstance(one, Unit)]
    calls = (tmp_path / "made").stat().st_size
    found = set()
    for after in range(calls // 4, calls, max(1, calls // 7)):
        (tmp_path / "made").unlink()
        adapter_file(lost_after(after))
        out = tmp_path / f"lost-{after}"
        assert check(asked, out) in (1, 3)
        records = list(read_results(out / "results.jsonl"))
        assert isinstance(records[-1], Footer)
        failed = [one for one in records if isinstance(one, Adapter) and one.status == "failed"]
        whole = sum(isinstance(one, Unit) for one in records)
        assert len(failed) == (whole < len(units)), after  # lost as the last failures are shrunk, it has missed nothing
        assert all("off the bus" in one.reason for one in failed)
        assert not [one for one in records if isinstance(one, Failure) and one.outcome in ("crash", "timeout", "error")]
        found.add(whole)
    assert len(found) > 1  # some in the midst of a unit, some between


LOST_BY_SHRINKING = """
class Lost(Mine):
    begun = False

    def storage(self, *memory):
        self.begun = True
        return super().storage(*memory)

    def operation(self, step):
        if step.op == "relu" and self.begun:
            open(PATH, "w").close()
        self.begun = False
        if self.lost():
            raise RuntimeError("error 700")
        return super().operation(step)

    def lost(self):
        return "off the bus" if os.path.exists(PATH) else ""


adapter = Lost
"""


def test_what_was_answered_before_the_device_was_lost_is_written(library, tmp_path, oracle, rules):
    """A unit is answered while failures of the one before it wait to be shrunk: its counts are there, too."""
    source = library()
    text = LOST_BY_SHRINKING.replace("PATH", repr(str(tmp_path / "gone")))
    Path(source).write_text(Path(source).read_text() + text)
    wrong = Program(GOOD.storages, GOOD.inputs, (*GOOD.steps, Step("relu", (Ref(1),))))
    found = []
    with Worker(source) as worker:
        worker.start()
        told = Campaign(worker, oracle, rules, Expectations()).run(units_of([wrong] * 3, "corpus", size=1))
        with pytest.raises(AdapterFailed, match="off the bus"):
            found.extend(record for records in told for record in records)
    assert [(one.unit, one.outcomes) for one in found if isinstance(one, Unit)] == [
        ("corpus:0-1", {"fail": 1}),
        ("corpus:1-2", {"fail": 1}),
    ]
    assert {one.source for one in found if isinstance(one, Failure)} == {"corpus:0-1", "corpus:1-2"}
