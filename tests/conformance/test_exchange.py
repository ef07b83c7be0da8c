"""Arrays handed from one library to another: what arrives is seen, and what is not as the list says is red."""

from __future__ import annotations

import sys

import pytest
from stridecheck.conformance import arrivals, exchanges
from stridecheck.conformance.adapters.exchange import Exchange
from stridecheck.conformance.adapters.numpy import Numpy
from stridecheck.conformance.check import Silent
from stridecheck.conformance.handover import hand_over
from stridecheck.conformance.offers import CASES, PROTOCOLS
from stridecheck.conformance.protocol import Unsupported
from stridecheck.conformance.runner import Worker
from stridecheck.conformance.serving import has_device
from stridecheck.reports.records import Adapter, Footer, Handover, read_results

from ..commands import run
from .misbehaving import lost_after


@pytest.fixture(scope="module")
def between(tmp_path_factory):
    """Everything between NumPy and torch: the exit code, and what became of each array."""
    out = tmp_path_factory.mktemp("exchange")
    code = exchanges.exchange(["numpy", "torch"], out)
    records = list(read_results(out / "results.jsonl"))
    assert isinstance(records[-1], Footer)
    found = [one for one in records if isinstance(one, Handover)]
    return code, {(one.producer, one.consumer, one.protocol, one.case): one for one in found}


def test_what_numpy_and_torch_hand_each_other_is_as_listed(between):
    """Every pair, protocol and case is tried, nothing of it is new or gone; a crash costs one array."""
    code, found = between
    assert code == 0
    assert all(one.is_listed for one in found.values())
    assert len(found) == 4 * len(PROTOCOLS) * len(CASES)
    assert found["numpy", "torch:cpu", "dlpack", "reversed"].outcome == "crash"
    assert found["numpy", "torch:cpu", "dlpack", "read-only"].read_only == "lost"
    assert found["numpy", "numpy", "dlpack", "read-only"].read_only == "kept"
    for case in ("row-major", "transposed", "stepped", "expanded", "off by 4 bytes", "bool", "complex64"):
        one = found["torch:cpu", "numpy", "dlpack", case]
        assert (one.outcome, one.strides) == ("shared", True), case
        assert one.writes == "fb" or case == "expanded"


def test_strides_that_address_nothing_are_seen(between):
    """DLPack keeps them here and buffers rewrite them; of an empty copy they are neither: none of it is harm."""
    _, found = between
    for case in ("size 1, odd stride", "size 1 last", "empty, odd strides"):
        assert found["numpy", "torch:cpu", "dlpack", case].idle == "kept"
        assert found["numpy", "numpy", "buffer", case].idle == "row-major"
        assert not found["numpy", "numpy", "buffer", case].is_harm
    assert found["numpy", "torch:cpu", "dlpack copy", "size 1 last"].idle == "row-major"
    assert found["numpy", "torch:cpu", "dlpack copy", "empty, odd strides"].idle == "other"
    assert found["numpy", "torch:cpu", "dlpack", "row-major"].idle == ""


def test_what_is_new_or_gone_is_red_and_an_update_mends_it(tmp_path):
    """Of an unknown pair harm alone is red, in both directions; once the list has it, so is all else."""
    mine = tmp_path / "known.txt"
    mine.write_text("numpy\tnumpy\tbuffer\tbool\tdamaged\n")
    assert exchanges.exchange(["numpy"], tmp_path, expect=mine) == 1
    marked = [one for one in read_results(tmp_path / "results.jsonl") if isinstance(one, Handover) and not one.is_known]
    assert [(one.protocol, one.case, one.is_harm) for one in marked] == [("buffer", "bool", False)]
    assert exchanges.exchange(["numpy"], tmp_path, expect=mine, update_expectations=True) == 0
    assert exchanges.exchange(["numpy"], tmp_path, expect=mine) == 0
    lines = mine.read_text().splitlines()
    assert len(lines) == 1 + len(PROTOCOLS)
    bundled = exchanges.KNOWN.read_text().splitlines()
    assert set(lines[1:]) <= set(bundled)
    mine.write_text(mine.read_text().replace("dlpack share\tshared fb: *", "dlpack share\tcopied --: *"))
    assert exchanges.exchange(["numpy"], tmp_path, expect=mine) == 1
    marked = [one for one in read_results(tmp_path / "results.jsonl") if isinstance(one, Handover) and not one.is_known]
    assert {(one.protocol, one.outcome, one.expected) for one in marked} == {("dlpack share", "shared", "copied --")}


def test_a_pair_is_known_by_its_own_names(tmp_path):
    """Two of one name would be one library: what the second does is told of neither."""
    mine = tmp_path / "known.txt"
    arrivals.write(mine, arrivals.Arrivals())
    spec = "stridecheck.conformance.adapters.numpy:Numpy"
    assert exchanges.exchange(["numpy", "numpy"], tmp_path, expect=mine, update_expectations=True) == 0
    assert exchanges.exchange(["numpy", spec], tmp_path, expect=mine) == 2
    assert {way[:2] for way in arrivals.read(mine).ways} == {("numpy", "numpy")}
    failed = [one for one in read_results(tmp_path / "results.jsonl") if isinstance(one, Adapter) and one.reason]
    assert len(failed) == 3
    assert all("both have the names numpy → numpy" in one.reason for one in failed)


@pytest.mark.parametrize("content", [None, "numpy numpy buffer bool damaged\n", b"\xff"])
def test_a_list_that_is_none_is_refused(content, tmp_path):
    """A list that is missing, or has other lines, is told in one line, and nothing that is there is written over."""
    mine = tmp_path / "known.txt"
    if content is not None:
        mine.write_bytes(content if isinstance(content, bytes) else content.encode())
    done = run("exchange", "numpy", "--expect", mine, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.startswith(f"stridecheck: {mine}")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out" / "results.jsonl").exists()


class _Gone(Numpy):
    """Its device is lost after the first case, of which it makes an array for each library's writes."""

    left = 2

    def tensor(self, *layout):
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("device not available")
        return super().tensor(*layout)

    def lost(self):
        return "gone" if self.left < 0 else ""


def test_of_a_device_that_is_lost_nothing_else_is_said():
    """What fails then is no refusal: the worker asks for the device, and is told whose it is that is gone."""
    pair = Exchange("exchange:gone>numpy", _Gone(), Numpy())
    found = pair.answer(["dlpack", "row-major"])
    assert (found["outcome"], pair.lost()) == ("shared", "")
    found = pair.answer(["dlpack", "row-major"])
    assert found["detail"].endswith("RuntimeError: device not available")
    assert pair.lost() == "numpy: gone"
    pair.producer.lost = lambda: 1 / 0
    assert pair.lost().startswith("numpy: ZeroDivisionError: division by zero (")
    assert not has_device(Exchange("exchange:numpy>numpy", Numpy(), Numpy()))


def test_a_device_that_is_lost_for_good_is_blamed_on_no_array(adapter_file, tmp_path):
    """What was handed over before is kept, the pair failed, and those without the device go on."""
    mine = adapter_file(lost_after(11))
    done = run("exchange", "numpy", mine, "--out", tmp_path / "out")
    assert done.returncode == 1
    records = list(read_results(tmp_path / "out" / "results.jsonl"))
    failed = [one for one in records if isinstance(one, Adapter) and one.status == "failed"]
    assert failed
    assert all("lost its device (mine: off the bus)" in one.reason for one in failed)
    handed = [one for one in records if isinstance(one, Handover)]
    assert sum((one.producer, one.consumer) == ("numpy", "numpy") for one in handed) == len(PROTOCOLS) * len(CASES)
    assert 0 < sum(one.producer == "mine" for one in handed) < len(CASES)
    assert not {one.outcome for one in handed} & {"crash", "error", "timeout"}
    assert "mine → mine: not tried" in done.stdout


class _LostInWrite(Numpy):
    """Its device is lost by a write, and its arrays are read all the same."""

    gone = False

    def operation(self, step):
        def fill(x, value):
            self.gone = True
            raise RuntimeError("off the bus")

        return fill

    def lost(self):
        return "off the bus" if self.gone else ""


def test_a_device_that_a_write_has_lost_has_not_refused_it():
    """Whatever raised, the device is asked for."""
    pair = Exchange("exchange:numpy>lost", Numpy(), _LostInWrite())
    pair.answer(["dlpack", "row-major"])
    assert pair.lost() == "numpy: off the bus"


class _LostInSilence(_LostInWrite):
    """Its adapter turns what the library raises into what it does not claim."""

    def operation(self, step):
        def fill(x, value):
            self.gone = True
            raise Unsupported("kernel:off the bus")

        return fill


def test_a_device_whose_loss_is_told_as_something_else_is_asked_for():
    pair = Exchange("exchange:numpy>lost", Numpy(), _LostInSilence())
    found = pair.answer(["dlpack", "row-major"])
    assert (found["outcome"], found["writes"]) == ("shared", ".b")
    assert pair.lost() == "numpy: off the bus"


SPILLING = """
import ctypes
import os
from pathlib import Path
from stridecheck.conformance.adapters.numpy import Numpy

class Mine(Numpy):
    name = "mine"
    spoilt = False

    def operation(self, step):
        def fill(x, value):
            x[...] = value
            if x.dtype == "int8":
                ctypes.memset(x.ctypes.data, 65, 64)
                type(self).spoilt = True
        return fill

    def tensor(self, storage, dtype, shape, strides, offset):
        if type(self).spoilt and dtype != "int8" or dtype == "int64" and not Path({mark!r}).exists():
            Path({mark!r}).touch()
            os.abort()
        return super().tensor(storage, dtype, shape, strides, offset)

adapter = Mine
"""


def test_what_a_write_past_an_array_breaks_later_is_blamed_on_no_other(adapter_file, tmp_path):
    """The process is not used again; a crash that does not happen again in a fresh one is told, and on no list."""
    spec, mine = adapter_file(SPILLING.format(mark=str(tmp_path / "crashed"))), tmp_path / "mine.txt"
    assert exchanges.exchange([spec], tmp_path / "out", expect=mine, update_expectations=True) == 1
    assert "damaged astray" in mine.read_text()
    assert "crash" not in mine.read_text()
    records = read_results(tmp_path / "out" / "results.jsonl")
    found = {(one.protocol, one.case): one for one in records if isinstance(one, Handover)}
    assert found["dlpack", "int8"].detail == "what mine writes to it changes memory beside it"
    assert [way for way, one in found.items() if one.outcome == "crash"] == [("dlpack", "int64")]
    assert found["dlpack", "int64"].detail.endswith("; it did not happen again")


def test_a_device_that_raises_when_it_is_asked_for_is_lost():
    """As in a check, whichever side it is on."""

    class Raising(Numpy):
        def lost(self):
            raise OSError("no driver")

    for pair in ((Raising(), Numpy()), (Numpy(), Raising())):
        assert Exchange("exchange:one>other", *pair).lost().startswith("numpy: OSError: no driver")


def test_versions_are_told_apart_by_adapter():
    """Two may both have a `device`; a list has each name before a blank, and all in one line."""

    class Mine(Numpy):
        name = "mine:gpu"

        def versions(self):
            return {"mine": "1", "device": "big\tone", "my lib": "2"}

    told = Exchange("exchange:mine>numpy", Mine(), Numpy()).versions()
    assert {"mine": "1", "mine:device": "big one", "mine:my-lib": "2"}.items() <= told.items()
    assert all(" " not in name for name in told)


AWKWARD = """
from stridecheck.conformance.adapters.numpy import Numpy

class Mine(Numpy):
    name = "mine"

    def is_tensor(self, x):
        raise LookupError("which?")

adapter = Mine
"""


def test_an_adapter_of_any_file_name_may_fail_in_its_own_way(adapter_file, tmp_path):
    """A dash in a path parts no names, and an adapter's exception is told as one, not as a crash."""
    spec = adapter_file(AWKWARD, "my-library.py")
    assert exchanges.exchange([spec], tmp_path / "out") == 1
    found = [one for one in read_results(tmp_path / "out" / "results.jsonl") if isinstance(one, Handover)]
    assert {one.outcome for one in found} == {"not offered", "refused", "error"}
    assert all("LookupError: which?" in one.detail for one in found if one.outcome == "error")


def test_what_an_adapter_fails_in_is_on_no_list(adapter_file, tmp_path):
    """An update is red for it, and so is each run after that."""
    spec, mine = adapter_file(AWKWARD), tmp_path / "mine.txt"
    for update in (True, False):
        assert exchanges.exchange([spec], tmp_path / "out", expect=mine, update_expectations=update) == 1
        found = [one for one in read_results(tmp_path / "out" / "results.jsonl") if isinstance(one, Handover)]
        assert {one.outcome for one in found if not one.is_known} == {"error"}
    assert "error" not in mine.read_text()


def test_an_adapter_that_does_not_say_what_it_takes_takes_nothing():
    """Ports are asked of no adapter: one without them is handed nothing, and hands on what it has."""

    class Portless(Numpy):
        def __getattribute__(self, name):
            if name == "ports":
                raise AttributeError(name)
            return super().__getattribute__(name)

    found = hand_over(Numpy(), Portless(), "dlpack", CASES["row-major"])
    assert (found.outcome, found.detail) == ("not offered", "numpy takes no dlpack")
    assert hand_over(Portless(), Numpy(), "dlpack", CASES["row-major"]).outcome == "shared"


LEAKING = """
from stridecheck.conformance.adapters.numpy import Numpy

class Mine(Numpy):
    name = "mine"
    patience = 60
    kept = []

    def tensor(self, *layout):
        self.kept.append(bytearray(b"x") * (12 << 20 if self.kept else FIRST))
        return super().tensor(*layout)

adapter = Mine
"""


@pytest.mark.parametrize("first", [12 << 20, 150 << 20])
def test_a_library_that_keeps_memory_is_renewed(first, adapter_file):
    """As in a check: it is no array's fault. What each process takes for its first array is no leak."""
    spec = adapter_file(LEAKING.replace("FIRST", str(first)))
    with Worker(f"exchange:{spec}>{spec}", memory=200 << 20, program_timeout=5) as worker:
        worker.start()
        assert worker.program_timeout == 60  # which the adapter asks for
        answers = [answer for _ in range(12) for _, answer in worker.ask(["dlpack", "row-major"])]
        assert [answer["outcome"] for answer in answers] == ["shared"] * 12
        assert 1 < worker.restarts < 12


MISTYPED = """
from dataclasses import replace
from stridecheck.conformance.adapters.numpy import Numpy

class Mine(Numpy):
    name = "mine"
    ports = {"dlpack": "np.from_dlpak({x})"}

    def __init__(self):
        super().__init__()
        self.capabilities = replace(self.capabilities, dtypes=frozenset())

adapter = Mine
"""


def test_a_library_that_nothing_is_handed_to_is_named(adapter_file, tmp_path):
    """A function that no release has is one that this release has not: the run is green of another pair alone."""
    done = run("exchange", "numpy", adapter_file(MISTYPED), "--out", tmp_path / "out")
    assert done.returncode == 4
    assert "mine: nothing was handed to it, or by it" in done.stderr


ALIKE = """
import numpy
from stridecheck.conformance.adapters.numpy import Numpy

class Interface(numpy.ndarray):
    def __dlpack__(self, **asked):
        raise BufferError

class Dlpack(numpy.ndarray):
    @property
    def __array_interface__(self):
        raise AttributeError

class Mine(Numpy):
    name = "{name}"
    ports = {ports}
    observes_storage = False

    def describe(self, x):
        return x.dtype.name, x.shape, None, None, "---", None, None

    def tensor(self, *layout):
        return super().tensor(*layout).view({kind})

    def buffer(self, x):
        raise BufferError

adapter = Mine
"""


def test_libraries_that_have_nothing_in_common_are_named(adapter_file, tmp_path):
    """That each is handed its own arrays is no exchange."""
    one = adapter_file(ALIKE.format(name="one", ports={"interface": "np.asarray({x})"}, kind="Interface"), "one.py")
    takes = {"dlpack": "np.from_dlpack({x})"}
    other = adapter_file(ALIKE.format(name="other", ports=takes, kind="Dlpack"), "other.py")
    notes = []

    class Noting(Silent):
        def note(self, text):
            notes.append(text)

    assert exchanges.exchange([one, other], tmp_path, Noting()) == 4
    assert {"one: nothing was handed to it, or by it", "other: nothing was handed to it, or by it"} <= {*notes}
    assert exchanges.exchange([one], tmp_path) == 0


ONCE = """
import os
from pathlib import Path
from stridecheck.conformance.adapters.numpy import Numpy

MARK = Path({mark!r})

def taken(x):
    import numpy
    y = numpy.from_dlpack(x)
    if y.shape == (0, 4) and MARK.exists():
        MARK.unlink()
        os.abort()
    return y

class Mine(Numpy):
    name = "mine"
    ports = {{"dlpack": "taken({{x}})"}}

    def scope(self):
        return super().scope() | {{"taken": taken}}

adapter = Mine
"""


def test_a_crash_that_does_not_happen_again_is_always_red(adapter_file, tmp_path):
    """Also where one is known."""
    mark, known = tmp_path / "mark", tmp_path / "known.txt"
    spec = adapter_file(ONCE.format(mark=str(mark)))
    known.write_text("mine\tmine\tdlpack\tempty\tcrash\n")
    mark.touch()
    assert exchanges.exchange([spec], tmp_path / "out", expect=known) == 1
    found = [one for one in read_results(tmp_path / "out" / "results.jsonl") if isinstance(one, Handover)]
    assert [one.case for one in found if not one.is_known] == ["empty"]


def test_a_name_that_is_none_is_wrong_usage_in_another_environment_too(tmp_path):
    """Where it cannot be known here; nothing is left of a run of nothing, and of others what there is."""
    out = tmp_path / "out"
    assert run("exchange", "nosuch", "--python", sys.executable, "--out", out).returncode == 2
    assert not (out / "results.jsonl").exists()
    done = run("exchange", "numpy", "nosuch", "--python", sys.executable, "--out", out)
    assert done.returncode == 2
    assert "unknown adapter 'nosuch'" in done.stderr
    assert any(isinstance(one, Handover) for one in read_results(out / "results.jsonl"))


GOES_AWAY = """
import os
from pathlib import Path
from stridecheck.conformance.adapters.numpy import Numpy

if Path({mark!r}).exists():
    raise ImportError("the device is gone")

class Mine(Numpy):
    name = "mine"
    forks = False

    def tensor(self, storage, dtype, shape, strides, offset):
        if dtype == "bool":
            Path({mark!r}).touch()
            os.abort()
        return super().tensor(storage, dtype, shape, strides, offset)

adapter = Mine
"""


def test_a_library_that_goes_away_midway_costs_its_pairs_alone(adapter_file, tmp_path):
    """It ended its process and cannot be started again: that is told and red, and the other pairs are gone on with."""
    spec = adapter_file(GOES_AWAY.format(mark=str(tmp_path / "mark")))
    assert exchanges.exchange([spec, "numpy"], tmp_path / "out") == 1
    records = list(read_results(tmp_path / "out" / "results.jsonl"))
    assert isinstance(records[-1], Footer)
    failed = [one for one in records if isinstance(one, Adapter) and one.status != "ready"]
    assert {one.reason for one in failed} == {"the device is gone"}
    assert [one.status for one in failed] == ["failed", "failed", "failed"]
    last = [one for one in records if isinstance(one, Handover) and one.producer == "mine"][-1]
    assert (last.case, last.outcome) == ("bool", "crash")
    assert any(one.producer == one.consumer == "numpy" for one in records if isinstance(one, Handover))


def test_a_library_that_is_not_there_is_an_error_unless_it_may_be_missing(tmp_path):
    """As in a check: what was asked for and did not run is not green."""
    spec = tmp_path / "absent.py"
    spec.write_text("import stridecheck_no_such_library\n")
    asked = ["numpy", str(spec)]
    assert exchanges.exchange(asked, tmp_path / "out") == 3
    assert exchanges.exchange(asked, tmp_path / "out", skip_missing=True) == 0
