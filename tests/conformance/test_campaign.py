"""Campaigns: what becomes of each program, what is counted, and that a run goes on when something breaks."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from stridecheck.conformance import corpus, failures
from stridecheck.conformance.adapters.reference import Reference
from stridecheck.conformance.answers import AdapterFailed, Broken, Unsupported
from stridecheck.conformance.campaign import Campaign
from stridecheck.conformance.check import Options, check
from stridecheck.conformance.discovery import UnknownAdapter
from stridecheck.conformance.execute import execute
from stridecheck.conformance.expectations import Expectation, Expectations
from stridecheck.conformance.operations import overload
from stridecheck.conformance.options import check_line
from stridecheck.conformance.program import DType, Input, Program, Ref, Step, Storage
from stridecheck.conformance.protocol import Unsupported as NotOffered
from stridecheck.conformance.units import Unit, units_of
from stridecheck.reports.records import Adapter, Failure, Footer, read_results
from stridecheck.reports.records import Unit as Counts

MATRIX = ((Storage(24),), (Input("float32", (2, 3), (3, 1)),))


def _program(*ops):
    return Program(*MATRIX, tuple(Step(op, (Ref(0),)) for op in ops))


class InProcess:
    """A worker without a process: answers by running an adapter here, and by what a test says of some operations."""

    name, versions = "here", {}
    program_timeout, forks = 1.0, True

    def __init__(self, adapter, answers=None):
        self.adapter, self.capabilities = adapter, adapter.capabilities
        self._says = answers or {}
        self.ran = 0
        self.is_trusted = True

    def distrust(self):
        self.is_trusted = False

    def submit(self, batch):
        self._batch = list(batch)

    def collect(self, expected):
        for number, program in self._batch:
            self.ran += 1
            said = next((self._says[step.op] for step in program.steps if step.op in self._says), None)
            try:
                yield number, said or execute(program, self.adapter)
            except NotOffered as error:
                yield number, Unsupported(str(error), error.seen)

    def script(self, program, claim, *, is_tried=True):
        return f"{claim.check} {is_tried}"


class WrongClone(Reference):
    """`clone` answers with zeros, and `relu` with ones."""

    def operation(self, step):
        if step.op == "clone":
            return lambda x, *rest: x.clone(*rest).zero_()
        return (lambda x: x.relu().fill_(1)) if step.op == "relu" else super().operation(step)


@pytest.fixture
def campaign(oracle, rules):
    """Makes a campaign on a library that is wrong in one way."""

    def make(adapter=None, answers=None, **options):
        return Campaign(
            worker=InProcess(adapter or Reference(), answers),
            oracle=options.pop("oracle", oracle),
            catalogue=rules,
            expectations=options.pop("expectations", Expectations()),
            **options,
        )

    return make


def _records(run, units):
    return [record for found in run.run(units) for record in found]


def _failures(written):
    return [record for record in written if isinstance(record, Failure)]


def test_each_program_is_counted_once_by_its_worst_outcome(campaign):
    """The outcomes of a unit add up to its programs: pass, fail, and those that were not run, with the reason."""
    run = campaign(WrongClone())
    needs_more = Program((Storage(8),), (Input("float32", (2,), (-1,), 1),), ())
    written = _records(
        run, [Unit("corpus:0-4", (_program("neg"), _program("clone", "neg"), _program("abs"), needs_more))]
    )
    (unit,) = [record for record in written if isinstance(record, Counts)]
    assert unit.outcomes == {"pass": 2, "fail": 1, "unsupported": 1}
    assert unit.unsupported == {"feature:negative-strides": 1}
    assert unit.counts["elementwise.values"]["values"] == {"pass": 3}
    assert unit.counts["clone.fresh"]["values"] == {"fail": 1}


class WithoutTanh(WrongClone):
    """It has no `tanh`, and does not know short floats."""

    capabilities = replace(Reference.capabilities, dtypes=Reference.capabilities.dtypes - {"float16"})

    def operation(self, step):
        return None if step.op in ("tanh", "tanh_") else super().operation(step)


class Lacking(Reference):
    """The reference without some of its operations, drawn by a seed."""

    def __init__(self, seed):
        super().__init__()
        self._seed = seed

    def operation(self, step):
        return None if self.lacks(overload(step)) else super().operation(step)

    def lacks(self, name):
        return hashlib.sha256(f"{self._seed} {name}".encode()).digest()[0] % 3 == 0


@pytest.mark.parametrize("seed", range(3))
def test_a_library_that_lacks_operations_is_not_blamed_for_it(seed, campaign):
    """Whatever it lacks: what is left out changes nothing that is judged, gradients and flags of storages included."""
    library = Lacking(seed)
    chosen = [p for p in corpus.read(20_000) if any(library.lacks(overload(step)) for step in p.steps)][seed::7]
    *found, counts = _records(campaign(library), [Unit("one", tuple(chosen))])
    assert [one.message for one in _failures(found)] == []
    assert counts.outcomes == {"unsupported": len(chosen)}
    assert len(counts.counts) > 200


@pytest.mark.parametrize("between", [Step("tanh", (Ref(0),)), Step("tanh_", (Ref(0),))], ids=["leaves", "changes"])
def test_what_only_makes_tensors_is_left_out(between, campaign):
    """What comes after it is judged; not what comes after a step that changes what was there."""
    wrong = Program(*MATRIX, (Step("neg", (Ref(0),)), between, Step("abs", (Ref(2),)), Step("clone", (Ref(0),))))
    *found, counts = _records(campaign(WithoutTanh()), [Unit("one", (wrong,))])
    assert counts.unsupported == {f"op:{between.op}": 1}
    assert counts.outcomes == ({"fail": 1} if between.op == "tanh" else {"unsupported": 1})
    assert {Program.from_json(one.shrunk).steps for one in _failures(found)} <= {(Step("clone", (Ref(0),)),)}


@pytest.mark.parametrize(
    ("last", "need"),
    [(Step("tanh", (Ref(1),)), "op:tanh"), (Step("to", (Ref(1), DType("float16"))), "dtype:float16")],
    ids=["operation", "dtype"],
)
def test_a_program_is_judged_until_what_is_not_supported(last, need, campaign):
    """What the steps before do wrong is told of a program without the step; else it counts as unsupported."""
    run = campaign(WithoutTanh())
    wrong, right = (Program(*MATRIX, (Step(op, (Ref(0),)), last, Step("add_", (Ref(2), 1)))) for op in ("clone", "neg"))
    *found, counts = _records(run, [Unit("one", (wrong, right))])
    assert counts.outcomes == {"fail": 1, "unsupported": 1}
    assert counts.unsupported == {need: 2}
    assert {aspect for by_aspect in counts.counts.values() for aspect in by_aspect} >= {"values", "strides"}
    assert not any(rule.startswith("in-place.") for rule in counts.counts)
    assert {Program.from_json(one.shrunk).steps for one in _failures(found)} == {(Step("clone", (Ref(0),)),)}


def test_a_units_counts_come_after_its_failures(campaign):
    """A unit's line is its last: where it is in the file, all of the unit is."""
    run = campaign(WrongClone())
    written = _records(run, units_of([_program("clone"), _program("neg"), _program("clone", "abs")], "corpus", size=1))
    kinds = [(type(r).__name__, getattr(r, "unit", "") or r.source) for r in written]
    last = {}
    for place, (kind, unit) in enumerate(kinds):
        last.setdefault(unit, []).append((place, kind))
    assert list(last) == ["corpus:0-1", "corpus:1-2", "corpus:2-3"]
    assert all(entries[-1][1] == "Unit" for entries in last.values())


def test_a_unit_without_failures_is_told_while_the_next_one_runs(campaign):
    """What is judged is on its way to the disk as soon as it can be: only a unit with failures waits for the worker."""
    run, told, collected = campaign(WrongClone()), [], []
    collect = run.worker.collect

    def collecting(expected):
        collected.append(len(told))
        yield from collect(expected)

    run.worker.collect = collecting
    told.extend(run.run(units_of([_program("neg"), _program("abs"), _program("t")], "corpus", size=1)))
    assert collected == [0, 1, 2]


def test_a_failure_outweighs_an_expected_one_of_the_same_aspect(campaign):
    """Where one value differs as expected and another does not, the step counts as failed."""
    inputs = (Input("float32", (2, 3), (3, 1)), Input("float32", (2, 3), (3, 1), 6))

    class TwoWrongs(Reference):
        """Writing through the first input also changes the second."""

        def operation(self, step):
            real = super().operation(step)
            if step.op != "zero_":
                return real

            def zero(x):
                real(x.as_strided((12,), (1,), 0))
                return x

            return zero

    known = Expectation("first", "It is known.", ("in-place.through-views",), ("values",))
    program = Program((Storage(48),), inputs, (Step("zero_", (Ref(0),)),))
    run = campaign(TwoWrongs(), expectations=Expectations(None, (known,), {program.id: frozenset({"first"})}))
    written = _records(run, [Unit("corpus:0-1", (program,))])
    counts = next(record for record in written if isinstance(record, Counts)).counts
    assert all(outcome == {"fail": 1} for rule in counts.values() for a, outcome in rule.items() if a == "storage")


def test_an_oracle_that_breaks_costs_one_program(campaign):
    """A bug of the oracle is an error of that program, told as the oracle's, and the others are judged."""

    class Breaking(Reference):
        def operation(self, step):
            return (lambda x: 1 / 0) if step.op == "abs" else super().operation(step)

        def tensor(self, storage, dtype, shape, strides, offset):
            if shape == (7,):
                raise ValueError("not today")
            return super().tensor(storage, dtype, shape, strides, offset)

    odd = Program((Storage(28),), (Input("float32", (7,), (1,)),), ())
    run = campaign(oracle=Breaking())
    written = _records(run, [Unit("corpus:0-4", (_program("neg"), _program("abs"), odd, _program("neg")))])
    assert [(f.outcome, f.message) for f in _failures(written)] == [
        ("error", "the oracle broke: ZeroDivisionError: division by zero"),
        ("error", "the oracle broke: input 0 could not be built: ValueError: not today"),
    ]
    assert sum(written[-1].outcomes.values()) == 4


def test_only_rules_that_are_asked_for_are_counted(campaign):
    """With a glob, programs that exercise no such rule are left out, and differences under other rules are not told."""
    run = campaign(WrongClone(), rules="elementwise.*")
    written = _records(run, [Unit("corpus:0-3", (_program("clone"), _program("clone", "neg"), _program("t")))])
    (unit,) = [record for record in written if isinstance(record, Counts)]
    assert unit.outcomes == {"pass": 1}
    assert {rule.split(".")[0] for rule in unit.counts} == {"elementwise"}
    assert _failures(written) == []


def test_rules_may_be_asked_for_by_several_globs(campaign):
    """Of globs with commas between them each counts."""
    run = campaign(WrongClone(), rules="elementwise.*,clone.*")
    (unit,) = [
        r
        for r in _records(run, [Unit("corpus:0-2", (_program("clone", "neg"), _program("t")))])
        if isinstance(r, Counts)
    ]
    assert {rule.split(".")[0] for rule in unit.counts} == {"clone", "elementwise"}


@pytest.mark.parametrize("glob", ["*", "clone.*", "elementwise.*"])
def test_what_is_known_does_not_depend_on_the_rules_asked_for(glob, campaign):
    """An expectation covers what is under its own rules, also where others are asked for that the program exercises."""
    known = Expectation("ends", "It ends its process.", ("clone.*",), ("crash",))
    program = _program("clone", "neg")
    listed = Expectations(entries=(known,), listed={program.id: frozenset({"ends"})})
    run = campaign(answers={"clone": Broken("crash", "killed by SIGSEGV")}, rules=glob, expectations=listed)
    assert {failure.outcome for failure in _failures(_records(run, [Unit("corpus:0-1", (program,))]))} == {"xfail"}


def test_a_library_that_is_as_expected_is_so_under_some_rules(tmp_path):
    """Differences under several rules are known by any of them, whichever was asked for."""
    assert check(Options(("numpy",), rules="view.*", programs=1000), tmp_path) == 0


def test_no_corpus_is_read_for_a_library_that_cannot_be_started(tmp_path, monkeypatch):
    """It takes seconds; that there is no such interpreter is told at once."""
    monkeypatch.setattr(corpus, "PATH", tmp_path / "not read.gz")
    with pytest.raises(UnknownAdapter, match="nothing was checked"):
        check(Options(("numpy",), python="/no/such/python"), tmp_path / "out")
    results = tmp_path / "out" / "results.jsonl"
    results.write_text("of an earlier run")
    with pytest.raises(corpus.CorpusError, match="not read"):
        check(Options(("numpy",)), tmp_path / "out")
    assert results.read_text() == "of an earlier run"


def test_known_deviations_of_a_unit_are_shown_by_one_example(campaign):
    """Every program that deviates as expected is recorded, and told by the first of the unit, which alone is shrunk."""
    known = Expectation("zeros", "They are zero.", ("*",), ("values", "storage", "flags"), ("clone",))
    programs = [_program(*["neg"] * n, "clone", "neg") for n in range(30)]
    listed = {program.id: frozenset({"zeros"}) for program in programs}
    run = campaign(WrongClone(), expectations=Expectations(None, (known,), listed))
    written = _records(run, [Unit("corpus:0-30", tuple(programs))])
    found = _failures(written)
    assert run.worker.ran < 2 * len(programs)
    assert {f.outcome for f in found} == {"xfail"}
    assert {f.program for f in found} == {program.id for program in programs}
    shrunk = {f.aspect: f.shrunk for f in found}
    assert all(len(Program.from_json(program).steps) == 1 for program in shrunk.values())
    assert all(f.shrunk == shrunk[f.aspect] and f.repro for f in found)
    assert written[-1].outcomes == {"xfail": 30}


def test_a_unit_that_is_run_again_has_the_same_records(campaign):
    """What other units have found before changes nothing: a run can be cut anywhere and gone on with."""
    known = Expectation("zeros", "They are zero.", ("*",), ("values",), ("clone",))
    programs = [_program(*["neg"] * n, *ops) for n in range(4) for ops in (("clone",), ("relu", "abs"))]
    expectations = Expectations(None, (known,), {program.id: frozenset({"zeros"}) for program in programs})
    units = list(units_of(programs, "corpus", size=2))
    whole = list(campaign(WrongClone(), expectations=expectations).run(units))
    assert [next(campaign(WrongClone(), expectations=expectations).run([unit])) for unit in units] == whole


def test_a_crash_accuses_the_operation_that_it_was_shrunk_to(campaign):
    """Where it crashed is the last step of the smallest program that does, and only that program's rules are red."""
    run = campaign(answers={"abs": Broken("crash", "killed by SIGSEGV")})
    written = _records(run, [Unit("corpus:0-1", (_program("t", "abs", "clone"),))])
    (crash,) = _failures(written)
    assert (crash.step, crash.operation, crash.where) == (0, "abs", "step 0")
    red = {rule for rule, aspects in written[-1].counts.items() if any("crash" in o for o in aspects.values())}
    assert red == set(crash.rules)
    assert "elementwise.values" in red
    assert not any(rule.startswith(("transpose.", "clone.")) for rule in red)


def test_a_crash_is_told_by_a_call_under_rules_of_the_program_as_found(campaign):
    """What dies whatever it is asked dies of refused calls too, which are under no rule of what failed."""
    program = Program((Storage(24),), (Input("float32", (2, 3), (3, 1)),), (Step("roll", (Ref(0), (1,), (0,))),))
    run = campaign(answers={"roll": Broken("crash", "killed by SIGSEGV")})
    (crash,) = _failures(_records(run, [Unit("corpus:0-1", (program,))]))
    assert "rearranged.values" in crash.rules
    assert Program.from_json(crash.shrunk) != program


def test_every_red_rule_has_a_failure_that_names_it(campaign):
    """Whatever goes wrong, a rule that is counted red is among the rules of a failure."""
    answers = {"abs": Broken("crash", "killed by SIGSEGV"), "neg": Broken("timeout", "no answer within 10 s")}
    run = campaign(WrongClone(), answers)
    programs = tuple(_program("t", op, "clone") for op in ("abs", "neg", "sum", "neg", "relu"))
    written = _records(run, [Unit("corpus:0-5", programs)])
    red = {
        (rule, outcome)
        for rule, aspects in written[-1].counts.items()
        for outcomes in aspects.values()
        for outcome in outcomes
        if outcome != "pass"
    }
    assert red == {(rule, failure.outcome) for failure in _failures(written) for rule in failure.rules}


def test_scripts_of_hangs_are_offered_untried_only_where_one_was_seen_to_hang(campaign):
    """Where the script of the first hang ends by itself, the load was to blame, and none is offered."""
    run = campaign(answers={"abs": Broken("timeout", "no answer within 10 s")})
    run.worker.script = lambda program, claim, *, is_tried=True: "" if is_tried else "untried"
    written = _records(run, [Unit("corpus:0-3", tuple(_program(*["neg"] * n, "abs") for n in range(1, 4)))])
    assert [f.repro for f in _failures(written)] == ["", "", ""]
    assert [f.where for f in _failures(written)][1:] == ["a step that is not known"] * 2


@pytest.mark.parametrize("end", ["timeout", "crash"])
def test_what_takes_long_is_shrunk_with_few_attempts(campaign, end):
    """A program that hangs takes the whole time limit, one that crashes a new process where none can be forked."""
    run = campaign(answers={"abs": Broken(end, "that was it")})
    run.worker.forks = end == "timeout"
    written = _records(run, [Unit("corpus:0-3", tuple(_program(*["neg"] * n, "abs") for n in range(1, 4)))])
    assert [f.outcome for f in _failures(written)] == [end] * 3
    assert run.worker.ran <= 3 + failures.MAX_ATTEMPTS_AT_HANG + 1
    assert [bool(f.shrunk) for f in _failures(written)] == [True, False, False]
    assert [f.repro for f in _failures(written)] == ["ends True", "ends False", "ends False"]


def test_a_crash_that_is_known_needs_no_list(campaign):
    """Nobody knows what a program that ended its process would have asked for, and not got: its entry is enough."""
    known = Expectations(None, (Expectation("known", "so it is", ("*",), ("crash",)),))
    for expectations, outcome in ((known, "xfail"), (Expectations(), "crash")):
        run = campaign(answers={"neg": Broken("crash", "ended")}, expectations=expectations)
        *_, counts = _records(run, [Unit("corpus:0-1", (_program("neg"),))])
        assert counts.outcomes == {outcome: 1}


def test_each_unit_shrinks_a_crash(campaign):
    """What crashes in one unit says nothing of the next: records are those of the unit, whatever ran before it."""
    run = campaign(answers={op: Broken("crash", "that was it") for op in ("abs", "relu")})
    run.worker.forks = False
    for op in ("abs", "relu"):
        (crash,) = _failures(_records(run, [Unit(f"corpus:{op}", (_program("neg", op),))]))
        assert crash.shrunk
        assert crash.operation == op


def test_a_failure_that_does_not_repeat_is_told_as_it_was(campaign):
    """Where the failing program passes when it is run again, the record has the program as found, and nothing else."""

    class OnlyOnce(Reference):
        """The first `clone` answers with zeros."""

        def operation(self, step):
            right = super().operation(step)
            if step.op != "clone":
                return right
            self.calls = getattr(self, "calls", 0) + 1
            return (lambda x: x.clone().zero_()) if self.calls == 1 else right

    run = campaign(OnlyOnce())
    program = _program("neg", "clone")
    written = _records(run, [Unit("corpus:0-1", (program,))])
    assert _failures(written)
    assert {(f.program, str(f.shrunk), f.repro) for f in _failures(written)} == {(program.id, "{}", "")}


@pytest.mark.parametrize(("strides", "is_trusted"), [((9, 1), False), ((2, 1), True)], ids=["outside", "inside"])
def test_a_tensor_outside_its_storage_ends_its_process(strides, is_trusted, campaign):
    """What is written through it lands anywhere, so that later programs are not judged there."""
    before, after = execute(_program("t"), Reference())
    elsewhere = {key: state._replace(strides=strides) for key, state in after.values.items()}
    run = campaign(answers={"t": [before, after._replace(values=elsewhere)]})
    assert _failures(_records(run, [Unit("corpus:0-1", (_program("t"),))]))
    assert run.worker.is_trusted == is_trusted


def test_every_failure_is_shrunk(campaign):
    """Many failures of one kind are all shrunk, each to one step, and programs that were tried are not run again."""
    run = campaign(WrongClone())
    written = _records(run, [Unit("corpus:0-20", tuple(_program(*["neg"] * n, "clone", "abs") for n in range(20)))])
    assert len({f.program for f in _failures(written)}) == 20
    for failure in _failures(written):
        small = Program.from_json(failure.shrunk)
        assert [step.op for step in small.steps] == ["clone"]
        assert small.inputs[0].shape == ()
        assert failure.expected_observation != failure.got_observation
    assert run.worker.ran < 20 * 10


def test_what_should_have_been_raised_is_told_with_pages_a_reader_has(campaign):
    """The oracle cites facts, and the pages of the semantics are what they are called outside."""

    class Lenient(Reference):
        def operation(self, step):
            return (lambda x, shape: x) if step.op == "view" else super().operation(step)

    program = Program(*MATRIX, (Step("view", (Ref(0), (-1, -1))),))
    (failure,) = _failures(_records(campaign(Lenient()), [Unit("corpus:0-1", (program,))]))
    for told in (failure.message, str(failure.expected), str(failure.expected_observation)):
        assert "semantics §3.1.2" in told
        assert "facts" not in told


def test_failures_are_not_shrunk_without_end(campaign, monkeypatch):
    """Beyond the limit of a unit failures are told by the program as found; the next unit begins anew."""
    monkeypatch.setattr(failures, "MAX_SHRUNK", 5)
    run = campaign(WrongClone())
    programs = [_program(*["neg"] * n, "clone") for n in range(20)]
    for records in run.run(units_of(programs, "corpus", size=10)):
        told = [bool(f.shrunk) for f in _failures(records)]
        assert len(told) >= 10
        assert told == [True] * 5 + [False] * (len(told) - 5)


def test_failures_of_different_causes_stay_different(campaign):
    """What is shrunk keeps its own symptom: an error that came for a result, and a result that came for an error."""

    class Contrary(Reference):
        """Reshaping to one dimension is refused, and to a wrong number of elements is not."""

        def operation(self, step):
            if step.op != "view":
                return super().operation(step)

            def view(x, size):
                if len(size) == 1:
                    return x.transpose(7, 8)
                return x

            return view

    views = [(6,), (2, 2), (6,), (5, 5)]
    programs = tuple(Program(*MATRIX, (Step("view", (Ref(0), size)), Step("neg", (Ref(0),)))) for size in views)
    run = campaign(Contrary())
    written = _records(run, [Unit("corpus:0-4", programs)])
    raised = [f for f in _failures(written) if f.aspect == "raises"]
    assert {f.program: f.expected is None for f in raised} == {p.id: len(p.steps[0].args[1]) == 1 for p in programs}
    for failure in raised:
        (step,) = Program.from_json(failure.shrunk).steps
        assert (len(step.args[1]) == 1) == (failure.expected is None)


def test_what_follows_from_other_strides_is_not_listed(campaign):
    """Of a tensor with another memory order the strides are told, not the layout and contiguity that they imply."""

    class Permuting(Reference):
        def operation(self, step):
            if step.op == "relu":
                return lambda x: x.relu().t().contiguous().t()
            return super().operation(step)

    run = campaign(Permuting())
    written = _records(run, [Unit("corpus:0-1", (_program("relu"),))])
    assert {f.aspect for f in _failures(written)} & {"strides", "layout", "contiguity"} >= {"strides"}
    assert sorted(f.aspect for f in _failures(written)).count("strides") == 1


def test_units_cover_all_programs_in_order():
    """Programs are cut into units by their places, and the names say which."""
    programs = [_program(*["neg"] * n) for n in range(5)]
    units = list(units_of(programs, "corpus", size=2))
    assert [unit.name for unit in units] == ["corpus:0-2", "corpus:2-4", "corpus:4-5"]
    assert [program for unit in units for program in unit.programs] == programs


# Whole checks.

VANISHING = """
import os
from stridecheck.conformance.adapters.numpy import Numpy

class Vanishing(Numpy):
    name = "vanishing"
    forks = False

    def operation(self, step):
        if step.op == "expand":
            os.path.exists(__file__) and os.remove(__file__)
            os._exit(3)
        return super().operation(step)

adapter = Vanishing
"""


def test_a_library_that_cannot_be_started_again_is_given_up(adapter_file, tmp_path):
    """Where a library dies and its restart fails, that is recorded with the reason, and the next library is checked."""
    options = Options((adapter_file(VANISHING), "reference"), programs=150)
    assert check(options, tmp_path / "out") == 1  # it had crashed
    records = list(read_results(tmp_path / "out" / "results.jsonl"))
    states = {(record.name, record.status) for record in records if isinstance(record, Adapter)}
    assert states == {("vanishing", "ready"), ("vanishing", "failed"), ("reference", "ready")}
    crashes = [r for r in records if isinstance(r, Failure) and r.outcome == "crash"]
    assert [crash.adapter for crash in crashes] == ["vanishing"]
    assert "expand" in crashes[0].listing
    assert sum(r.programs for r in records if isinstance(r, Counts) and r.adapter == "reference") == 150
    assert isinstance(records[-1], Footer)


def test_the_oracle_checked_against_itself_passes(tmp_path):
    """The reference in a worker is judged like any library, and nothing differs: nothing is lost on the way."""
    assert check(Options(("reference",), programs=4_000, examples=200), tmp_path) == 0
    records = list(read_results(tmp_path / "results.jsonl"))
    assert not [record for record in records if isinstance(record, Failure)]
    outcomes = [record.outcomes for record in records if isinstance(record, Counts)]
    assert sum(o.get("pass", 0) for o in outcomes) > 2_000


@pytest.mark.parametrize(
    "option",
    [
        {"programs": -1}, {"examples": -1}, {"relayouts": -1}, {"memory": -1}, {"workers": 0}, {"shard": (3, 2)},
        {"shard": (0, 1)}, {"seconds": -1}, {"timeout": 0}, {"timeout": float("nan")}, {"start_timeout": 1e7},
    ],
    ids=str,
)  # fmt: skip
def test_an_option_out_of_its_range_is_refused(option):
    """Also from Python, where no command line has looked at it; the message names the option."""
    (name,) = option
    with pytest.raises(ValueError, match=f"^{name} must be "):
        Options(("numpy",), **option)


@pytest.mark.parametrize(
    ("options", "command"),
    [
        (Options(("numpy",)), "stridecheck check numpy"),
        (Options(("a b.py", "torch"), programs=0, seed=3), "stridecheck check 'a b.py' torch --programs 0 --seed 3"),
        (
            Options(("numpy",), rules="view.*", skip_missing=True),
            "stridecheck check numpy --rules 'view.*' --skip-missing",
        ),
        (Options(("numpy",), shard=(2, 3), timeout=2.5), "stridecheck check numpy --timeout 2.5 --shard 2/3"),
    ],
)
def test_a_run_can_be_repeated_by_its_command_line(options, command):
    """The header has the command as one would paste it into a shell."""
    assert check_line(options) == command


def test_a_failure_to_start_says_what_kind_it_is():
    """An AdapterFailed has its reason as text, and its kind for the exit code."""
    error = AdapterFailed("missing", "no such library")
    assert (str(error), error.kind, error.reason) == ("no such library", "missing", "no such library")
