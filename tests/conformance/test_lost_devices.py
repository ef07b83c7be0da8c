"""Libraries whose device is lost: what they raise afterwards, and how they end, is no program's fault."""

from __future__ import annotations

from pathlib import Path

import pytest
from stridecheck.conformance.check import Options, check
from stridecheck.conformance.runner import AdapterFailed, Broken, Worker
from stridecheck.reports.records import Adapter, Failure, Footer, Unit, read_results

from .misbehaving import GOOD, GUILTY, answers_of, is_well

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
    assert "lost its device (error 700), in a later program" in answers[1].reason


LOST_FOR_GOOD = """
class Lost(Mine):
    forks = FORKS

    def lost(self):
        return "off the bus" if os.path.exists(PATH) else ""

    def operation(self, step):
        if step.op == "relu":
            open(PATH, "w").close()
        if self.lost():
            END
        return super().operation(step)


adapter = Lost
"""


@pytest.mark.parametrize("forks", [True, False])
@pytest.mark.parametrize("end", ["raise RuntimeError('error 700')", "os.abort()", "time.sleep(60)"])
def test_a_device_that_is_lost_for_good_is_blamed_on_no_program(end, forks, library, tmp_path):
    """An adapter that loads all the same would have each later program called a crash, and the run complete."""
    gone = tmp_path / "gone"
    source = library("pass")
    head = f"PATH, FORKS = {str(gone)!r}, {forks}\n"
    Path(source).write_text(Path(source).read_text() + head + LOST_FOR_GOOD.replace("END", end))
    answers = {}
    with Worker(source, program_timeout=2) as worker:
        worker.start()
        worker.submit(list(enumerate([GOOD, GUILTY, GOOD, GOOD])))
        with pytest.raises(AdapterFailed, match=r"at program .*off the bus|off the bus.* at program") as failed:
            answers.update(worker.collect())
        assert failed.value.kind == "error"
    assert list(answers) == [0]
    with Worker(source) as worker, pytest.raises(AdapterFailed, match=r"lost its device \(off the bus\)"):
        worker.start()


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
    with Worker(source, start_timeout=3) as worker, pytest.raises(AdapterFailed, match=r"gave no answer within 3 s"):
        worker.start()


LOST_AFTER = """
from pathlib import Path
from stridecheck.conformance.adapters.numpy import Numpy


class Mine(Numpy):
    name = "mine"
    made = Path(__file__).with_name("made")

    def tensor(self, *layout):
        with self.made.open("a") as made:
            made.write(".")
        if self.lost():
            raise RuntimeError("error 700")
        return super().tensor(*layout)

    def lost(self):
        return "off the bus" if self.made.exists() and self.made.stat().st_size >= AFTER else ""


adapter = Mine
"""


def test_a_device_may_be_lost_while_a_failure_is_shrunk(adapter_file, tmp_path):
    """The adapter failed, what was answered before is there, and the run goes on when the device is back."""
    asked = Options(adapters=(adapter_file(LOST_AFTER.replace("AFTER", "10**9")),), programs=512, workers=1)
    assert check(asked, tmp_path / "well") == 1  # NumPy's deviations, of which nothing is known under this name
    units = [one for one in read_results(tmp_path / "well" / "results.jsonl") if isinstance(one, Unit)]
    calls = (tmp_path / "made").stat().st_size
    found = set()
    for after in range(calls // 4, calls, max(1, calls // 12)):
        (tmp_path / "made").unlink()
        adapter_file(LOST_AFTER.replace("AFTER", str(after)))
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
