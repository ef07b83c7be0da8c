"""Scripts: each one exits 1 on the library that deviates and 0 on one that does not, and needs nothing but it."""

from __future__ import annotations

import os
import re
from dataclasses import replace

import pytest
from stridecheck.conformance.adapters.numpy import Numpy
from stridecheck.conformance.adapters.torch import Torch
from stridecheck.conformance.check import Options, check
from stridecheck.conformance.claim import claim_of
from stridecheck.conformance.execute import execute
from stridecheck.conformance.expectations import bundled
from stridecheck.conformance.failures import found_in
from stridecheck.conformance.judge import Difference, judge
from stridecheck.conformance.program import DType, File, Input, MemoryFormat, Program, Ref, Slice, Step, Storage
from stridecheck.conformance.repro import Claim, script, shows
from stridecheck.conformance.runner import Worker
from stridecheck.reports.records import Failure, read_results

from . import planted
from .conftest import prefix_with
from .scripts import MAX_LINES, run, run_all, scripts_of, statuses


def _failures(path):
    return [r for r in read_results(path / "results.jsonl") if isinstance(r, Failure)]


@pytest.fixture(scope="module")
def numpy_run(tmp_path_factory):
    """What a check of NumPy on a part of the corpus leaves behind, without its expectations."""
    out = tmp_path_factory.mktemp("numpy")
    nothing = out / "nothing.toml"
    nothing.write_text("")
    check(Options(("numpy",), programs=900, expect=nothing), out)
    return _failures(out)


def test_scripts_of_numpys_deviations_show_them(numpy_run, tmp_path):
    """Every failure has a script; each needs NumPy alone, is short, and exits 1 while the deviation is there."""
    texts = scripts_of(numpy_run)
    assert len(texts) >= 50
    assert len({failure.aspect for failure in texts.values()}) >= 7
    for text in texts:
        assert len(text.splitlines()) <= MAX_LINES, text
        assert [line for line in text.splitlines() if "import" in line.split()] == ["import numpy as np"], text
    for text, status in zip(texts, statuses(texts, tmp_path), strict=True):
        assert status == 1, text
    by_aspect = {failure.aspect: text for text, failure in texts.items()}
    for (status, said), text in zip(run_all(by_aspect.values(), tmp_path), by_aspect.values(), strict=True):
        assert status == 1, text + said


def test_the_same_claims_hold_on_torch(numpy_run, oracle, rules, tmp_path):
    """What NumPy is said to do otherwise, torch does as it should: the same claim in torch's idiom exits 0."""
    torch, texts = Torch(), {}
    for failure in numpy_run:
        program = Program.from_json(failure.shrunk)
        if not _is_torchs_own(program, torch, oracle, rules):
            text = script(program, _claim(program, failure, oracle), torch)
            assert text, failure.message
            texts[text] = failure
    for text, status in zip(texts, statuses(texts, tmp_path), strict=True):
        assert status == 0, text


def _is_torchs_own(program, torch, oracle, rules):
    """Whether torch itself is known to break an invariant in a program."""
    expected = execute(program, oracle)
    known = bundled("torch:cpu", torch.versions())
    verdicts = judge(program, expected, execute(program, torch), torch.capabilities)
    found = [
        found_in(program, difference, of_step, known)
        for verdict, of_step in zip(verdicts, rules.classify(program, expected), strict=True)
        for difference in verdict.differences
    ]
    return bool(found) and all(one.expectation is not None for one in found)


def _claim(program, failure, oracle):
    """The claim of a failure, made anew from its program (the record has the script, not the claim)."""
    numpy = Numpy()
    expected = execute(program, oracle)
    for verdict in judge(program, expected, execute(program, numpy), numpy.capabilities):
        for difference in verdict.differences:
            if difference.aspect == failure.aspect and difference.step == failure.step:
                return Claim.from_json(claim_of(program, difference, expected).to_json())
    raise AssertionError(failure.message)


# One claim of each kind.

MATRIX_PARTS = (Storage(24),), (Input("float32", (2, 3), (3, 1)),)
MATRIX = Program(*MATRIX_PARTS, ())


def _difference(aspect, value="1", expected=None, got=None, detail=None, step=0):
    return Difference(step, value, aspect, expected, got, "it should be otherwise", detail)


KINDS = {
    "shape": (Step("t", (Ref(0),)), _difference("shape")),
    "strides": (Step("t", (Ref(0),)), _difference("strides")),
    "layout": (Step("__getitem__", (Ref(0), (Slice(1, None), 0))), _difference("layout")),
    "contiguity": (Step("t", (Ref(0),)), _difference("contiguity", expected="FFF")),
    "row-major": (Step("t", (Ref(0),)), _difference("contiguity", expected="F")),
    "flags": (Step("add_", (Ref(0), 1)), _difference("flags", "0")),
    "values": (Step("neg", (Ref(0),)), _difference("values")),
    "values, some of them": (Step("resize_", (Ref(0), (2, 5))), _difference("values", "0")),
    "how many": (Step("unbind", (Ref(0),)), _difference("shape", detail={"count": 2})),
    "a hidden view": (
        Step("repeat_interleave", (Ref(0), 2)),
        _difference("flags", expected=["view of value hidden", "lv"], got=["no view", "l"]),
    ),
    "a view of": (Step("t", (Ref(0),)), _difference("flags", expected=["view of value 0", "lv"], got=["no view", "l"])),
    "a scalar": (Step("is_contiguous", (Ref(0),)), _difference("values", expected="True")),
    "a list": (Step("tolist", (Ref(0),)), None),
    "a view": (Step("t", (Ref(0),)), _difference("sharing", detail={"storages": ("s0", "v1")})),
    "a copy": (Step("clone", (Ref(0),)), _difference("sharing", detail={"storages": ("v1", "s0")})),
    "itself": (Step("contiguous", (Ref(0),)), _difference("sharing", detail={"same-object": ("0", True)})),
    "a new object": (Step("t", (Ref(0),)), _difference("sharing", detail={"same-object": ("0", False)})),
    "a byte": (Step("zero_", (Ref(0),)), _difference("storage", "s0", detail={"byte": (5, 0)})),
    "a new storage's size": (Step("clone", (Ref(0),)), _difference("storage", "v1", detail={"nbytes": 24})),
    "raises": (Step("view", (Ref(0), (5,))), _difference("raises", "", ["RuntimeError", "", "size"])),
    "returns": (Step("view", (Ref(0), (6,))), _difference("raises", "", None, ["RuntimeError", "", "size"])),
    "error-kind": (
        Step("select", (Ref(0), 0, 9)),
        _difference("error-kind", "", ["IndexError", "", "index"], ["ValueError", "", None]),
    ),
    "error-type": (
        Step("select", (Ref(0), 0, 9)),
        _difference("error-kind", "", ["IndexError", "", "index"], ["ValueError", "", "index"]),
    ),
}


def _scripts_of(kind, oracle, idiom):
    step, difference = KINDS[kind]
    program = replace(MATRIX, steps=(step,))
    expected = execute(program, oracle)
    if difference is None:
        difference = _difference("values", expected=expected[1].results[0][1])
    claim = Claim.from_json(claim_of(program, difference, expected).to_json())
    return script(program, claim, idiom), claim


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_claim_is_a_script_that_holds_on_torch(kind, oracle, capsys):
    """In torch's idiom, each kind of claim makes a script, and on torch it finds nothing wrong."""
    text, claim = _scripts_of(kind, oracle, Torch())
    assert text
    assert len(text.splitlines()) <= MAX_LINES
    assert not shows(text, claim), text


class Contrary:
    """torch's idiom over a namespace in which every tensor is something else than it should be."""

    def __init__(self):
        self._torch = Torch()

    def __getattr__(self, name):
        return getattr(self._torch, name)

    def template(self, step):
        return "torch.arange(7, dtype=torch.int16)" if step.op != "select" else "[].index({0})"


@pytest.mark.parametrize(
    "kind", [k for k in KINDS if k not in ("a view", "a copy", "a new object", "a byte", "returns")]
)
def test_each_kind_of_claim_fails_where_it_does_not_hold(kind, oracle, capsys):
    """The same scripts over a library whose every operation answers with a strange tensor exit 1."""
    text, claim = _scripts_of(kind, oracle, Contrary())
    if kind == "flags":
        text = text.replace("got, want =", "x0.fill_(0).fill_(0); got, want =")
    assert shows(text, claim), text


class Names(Numpy):
    """An idiom in which a step is its operation's name, run as it stands, over nothing."""

    def __init__(self, imports):
        super().__init__()
        self.imports = imports

    def write_storage(self, name, storage, data):
        return f"{name} = 0"

    def write_input(self, name, item, storage):
        return f"{name} = 0"

    def template(self, step):
        return step.op


def _ending_scripts(imports, seconds, *operations):
    """Scripts that claim that an operation ends within a time, after these imports."""
    claim = Claim.from_json(claim_of(MATRIX, None, [], seconds=seconds).to_json())
    return [script(replace(MATRIX, steps=(Step(op),)), claim, Names(imports)) for op in operations]


def test_a_crash_and_a_hang_exit_1_and_a_mended_library_0(tmp_path):
    """The script of a crash ends with status 1 whatever ends the library, and with 0 where the program ends."""
    ends = {"os.abort()": 1, "time.sleep(60)": 1, "os._exit(0)": 1, "1 / 0": 0, "1 + 1": 0}
    texts = _ending_scripts("import os, time", 1.0, *ends)
    assert all(len(text.splitlines()) <= MAX_LINES for text in texts)
    assert [status for status, _ in run_all(texts, tmp_path)] == list(ends.values())


def test_a_slow_import_is_no_hang(tmp_path):
    """The time limit of a script begins when the library is imported: a loaded machine accuses nobody."""
    texts = _ending_scripts("import time; time.sleep(1.5)", 0.5, "1 + 1", "time.sleep(60)")
    assert [status for status, _ in run_all(texts, tmp_path)] == [0, 1]


CRASHING = """
import os
import time

NAME, right = "neg", Tensor.neg


def wrong(self):
    if self.dim() == 2:
        {}
    return right(self)
"""


@pytest.mark.parametrize(("how", "outcome"), [("os.abort()", "crash"), ("time.sleep(60)", "timeout")])
def test_the_script_of_a_crash_or_hang_shows_it(how, outcome, adapter_file, tmp_path):
    """A library that dies or hangs in an operation gets a script that imports it and exits 1."""
    path = adapter_file(planted.HEAD + CRASHING.format(how) + planted.TAIL, "crashing.py")
    program = Program(*MATRIX_PARTS, (Step("neg", (Ref(0),)),))
    with Worker(path, program_timeout=1.0) as worker:
        worker.start()
        worker.submit([(0, program)])
        ((_, answer),) = worker.collect()
        assert answer.outcome == outcome
        text = worker.script(program, claim_of(program, None, [], seconds=1.0))
        mended = replace(program, steps=(Step("abs", (Ref(0),)),))
        assert worker.script(mended, claim_of(mended, None, [], seconds=1.0)) == ""
    assert len(text.splitlines()) <= MAX_LINES
    assert run(text, tmp_path)[0] == 1


def test_steps_that_should_be_refused_do_not_end_a_script(oracle):
    """A program with a refused step goes on after it, on the library as on the oracle."""
    program = replace(MATRIX, steps=(Step("view", (Ref(0), (5,))), Step("neg", (Ref(0),))))
    claim = claim_of(program, _difference("values", "2", step=1), execute(program, oracle))
    claim = Claim.from_json(claim.to_json())
    text = script(program, claim, Torch())
    assert not shows(text, claim)
    assert len(text.splitlines()) <= MAX_LINES


def test_a_script_that_fails_before_its_first_step_shows_nothing(oracle):
    """A library without what a script makes its inputs by does not raise where it should not: the script is wrong."""
    step, difference = KINDS["returns"]
    program = replace(MATRIX, steps=(step,))
    claim = Claim.from_json(claim_of(program, difference, execute(program, oracle)).to_json())
    text = script(replace(program, steps=(Step("view", (Ref(0), (5,))),)), claim, Torch())
    assert shows(text, claim)
    for made, line in (("s0", "torch.tensor("), ("x0", "torch.empty(")):
        wrong = text.replace(line, line.replace("(", "_that_is_not_there("))
        assert f"{made} = torch." in wrong
        assert not shows(wrong, claim), wrong


@pytest.mark.parametrize("kind", ["returns", "error-type"])
def test_another_error_than_the_one_seen_shows_nothing(kind, oracle):
    """What a script raises counts in the step that the claim is about, and not where the idiom may be wrong.

    A step may take several lines, and an adapter may have made the error that was seen of the library's.
    """
    step, difference = KINDS[kind]
    program = replace(MATRIX, steps=(Step("neg", (Ref(0),)), step))
    claim = claim_of(program, difference._replace(step=1), execute(program, oracle))
    claim = Claim.from_json(claim.to_json())
    text = script(program, claim, Torch())
    seen, *_ = difference.got
    asked = re.search(r"r1 = (.*)", text)[1]
    for raises, what, is_shown in (
        (asked, seen, True),
        (asked, f"\n{seen}\n", True),
        (asked, "KeyError", True),
        (asked, "AttributeError", False),
        ("x0.neg()", seen, False),
    ):
        wrong = text.replace(raises, f"raising({what})").replace(
            "\n", "\ndef raising(e): raise e('as it was seen')\n", 1
        )
        assert shows(wrong, claim) == is_shown, wrong


def test_dtypes_formats_fills_and_guards_are_written(oracle):
    """A program with every part that can be written makes a script that torch runs."""
    program = Program(
        (Storage(64, "bool1"), Storage(16, "literal", data=bytes(range(16))), Storage(32, backing="guarded")),
        (
            Input("bool", (4,), (1,), 3),
            Input("int8", (2, 2, 2, 2), (8, 4, 2, 1), 0, 1),
            Input("int16", (3,), (-0,), 1, 2),
        ),
        (
            Step("to", (Ref(1),), (("dtype", DType("bfloat16")), ("memory_format", MemoryFormat("channels_last")))),
            Step("__getitem__", (Ref(3), (..., Slice(None, None, 2), None, -1))),
            Step("fill_", (Ref(4), 1.5)),
        ),
    )
    claim = claim_of(program, _difference("strides", "4", step=2), execute(program, oracle))
    claim = Claim.from_json(claim.to_json())
    text = script(program, claim, Torch())
    assert not shows(text, claim), text


def test_foreign_memory_is_foreign_in_a_script(oracle):
    """It cannot grow, so the step is refused; memory of the library's own would."""
    own = replace(MATRIX, steps=(Step("resize_", (Ref(0), (9,))),))
    foreign = replace(own, storages=(Storage(24, backing="guarded"),))
    claim = claim_of(foreign, _difference("raises", "", ["RuntimeError", "", "resize"]), execute(foreign, oracle))
    assert [shows(script(program, claim, Torch()), claim) for program in (foreign, own)] == [False, True]


@pytest.mark.parametrize(
    ("library", "write"),
    [(Torch, "ctypes.memset(x0.data_ptr() + 20, 7, 8)"), (Numpy, "ctypes.memset(x0.ctypes.data + 20, 7, 8)")],
)
def test_a_write_outside_a_storage_has_a_script(oracle, library, write):
    """The storage lies in the middle of a buffer, and the script looks at both ends of that."""
    program = replace(MATRIX, storages=(Storage(24, backing="guarded"),), steps=(Step("fill_", (Ref(0), 1)),))
    inputs, step = execute(program, oracle)
    ((difference,),) = [
        verdict.differences
        for verdict in judge(program, [inputs, step], [inputs, step._replace(damaged=("s0",))], library().capabilities)
        if verdict.differences
    ]
    claim = Claim.from_json(claim_of(program, difference, [inputs, step]).to_json())
    text = script(program, claim, library())
    assert len(text.splitlines()) <= MAX_LINES
    assert not shows(text, claim)
    (call,) = [line for line in text.splitlines() if line.startswith("r0 = ")]
    assert shows(text.replace(call, f"import ctypes; {write}"), claim)


def test_an_adapter_without_an_idiom_gets_no_script(oracle):
    """Where the adapter cannot print, there is no script rather than a wrong one."""
    assert script(MATRIX, Claim("ends", expected="1.0"), object()) == ""
    assert script(MATRIX, Claim("no such check"), Torch()) == ""
    assert script(replace(MATRIX, steps=(Step("is_set_to", (Ref(0), Ref(0))),)), Claim("returns"), Numpy()) == ""


MISLEADING = """
from stridecheck.conformance.adapters.reference import Reference


class Misleading(Reference):
    name = "misleading"

    def operation(self, step):
        return (lambda x: x.abs()) if step.op == "neg" else super().operation(step)


adapter = Misleading
"""


def test_a_script_that_shows_nothing_is_not_offered(adapter_file, tmp_path):
    """Where the adapter does otherwise than its idiom says, the failure is told without a script."""
    assert check(Options((adapter_file(MISLEADING),), programs=prefix_with("neg", 2)), tmp_path / "out") == 1
    failures = _failures(tmp_path / "out")
    assert {failure.operation for failure in failures} == {"neg"}
    assert any(failure.shrunk for failure in failures)
    assert {failure.repro for failure in failures} == {""}


def test_scripts_run_without_the_suites_environment():
    """The tests above start scripts with this interpreter, which must not have the suite's folders on its path."""
    assert "PYTHONPATH" not in os.environ or "stridecheck" not in os.environ["PYTHONPATH"]


def test_scripts_that_are_tried_leave_no_files(tmp_path, monkeypatch):
    """A script makes a folder of its own for the files it needs; where the suite tries one, that goes with it."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    program = Program(
        (Storage(8, "ramp1", "file"),), (), (Step("UntypedStorage.from_file", (File(0), False, 8)),)
    )  # fmt: skip
    claim = Claim("file", ("file0",), (0, 99), 0)
    with Worker("torch") as worker:
        worker.start()
        assert "mkdtemp" in worker.script(program, claim)
        assert [*tmp_path.rglob("file*")] == []
