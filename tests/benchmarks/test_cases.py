"""The list of cases: one name each, one timed step each, programs that run."""

import math

import numpy as np
import pytest
from stridecheck.benchmarks.cases import CASES, Case, UnknownCase, describe, select
from stridecheck.benchmarks.operations import OPERATIONS
from stridecheck.benchmarks.prepare import expected_answer
from stridecheck.conformance.adapters import numpy, reference
from stridecheck.conformance.capabilities import needs
from stridecheck.conformance.elements import elements
from stridecheck.conformance.execute import Execution, execute
from stridecheck.conformance.program import ITEMSIZES, Program, Ref
from stridecheck.reference_impl.layout import contiguous_strides

SMALL = list({case.small(): None for case in CASES})


def test_every_name_belongs_to_one_case():
    assert len({case.name for case in CASES}) == len(CASES)


def test_the_axes_cover_what_the_suite_promises():
    assert {"copy", "add", "mul", "relu", "matmul", "conv2d", "sum_first", "sum_last", "contiguous", "clone"} <= {
        case.operation for case in CASES
    }
    assert {"contiguous", "transposed", "stepped", "expanded", "channels_last"} <= {case.layout for case in CASES}
    assert {"small", "cache", "large", "pow2"} == {case.size for case in CASES}
    assert {case.operation for case in select(quick=True)} == {name for name, spec in OPERATIONS.items() if spec.quick}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_is_a_program_that_fits_together(case):
    case.program.check()
    assert Program.from_json(case.program.to_json()) == case.program
    timed, *others = case.program.steps[-case.timed :]
    assert timed.op == OPERATIONS[case.operation].op
    assert [step.args[0] for step in others] == [
        Ref(len(case.program.inputs) + len(case.program.steps) - case.timed + n) for n in range(len(others))
    ]
    assert case.program.inputs[0].dtype == case.dtype


GIVEN = ("contiguous", "nchw", "ncdhw", "reversed")
"""Layouts that an input has itself; the others are views."""
MAY_LACK = ("matmul", "conv2d", "sum_first", "sum_last")
"""Operations that an oracle of layouts could do without."""


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_a_case_runs_on_the_oracle_where_that_has_the_operation(case):
    oracle = reference.adapter()
    if oracle.operation(case.program.steps[-1]) is None:
        assert case.operation in MAY_LACK
        return
    if oracle.capabilities.missing(needs(case.program)):
        assert case.layout == "reversed"
        return
    observations = execute(case.program, oracle)
    assert not any(observation.raised for observation in observations)
    assert not any(observation.skipped for observation in observations)


@pytest.mark.parametrize("case", [case for case in SMALL if case.layout != "mixed"], ids=lambda case: case.name)
def test_the_operands_have_the_layout_that_the_name_says(case):
    before = case.program.steps[: -case.timed]
    adapter = numpy.adapter() if case.layout == "reversed" else reference.adapter()
    execution = Execution(adapter, case.program.storages, case.program.inputs)
    for step in before:
        execution.step(step)
    laid = 1 if case.operation == "copy" else 0
    views = [len(case.program.inputs) + n for n, step in enumerate(before) if step.args[0] == Ref(laid)]
    state = execution.states[str(laid if case.layout in GIVEN else views[0])]
    assert state.shape == case.shape
    row_major = contiguous_strides(case.shape)
    expected = {
        "contiguous": lambda s: s == row_major,
        "nchw": lambda s: s == row_major,
        "ncdhw": lambda s: s == row_major,
        "offset": lambda s: s == row_major and state.offset == 1,
        "reversed": lambda s: (
            s == (-row_major[0], *row_major[1:]) and state.offset == math.prod(case.shape[1:]) * (case.shape[0] - 1)
        ),
        "transposed": lambda s: s[-2] == 1 and s[-1] == case.shape[-2],
        "stepped": lambda s: s[-2:] == (2 * case.shape[-1], 2),
        "stepped_4": lambda s: s[-2:] == (4 * case.shape[-1], 4),
        "padded": lambda s: s[-2:] == (case.shape[-1] + 16, 1),
        "expanded": lambda s: s[0] == 0 and s[1:] == row_major[1:],
        "channels_last": lambda s: s[1] == 1 and s[3] == case.shape[1],
        "channels_last_3d": lambda s: s[1] == 1 and s[4] == case.shape[1],
        "attention": lambda s: s[1] == 64 and s[2] == 64 * case.shape[1],
        "permuted_6d": lambda s: sorted(s) != list(reversed(s)),
    }
    assert expected[case.layout](state.strides)


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_no_case_computes_what_no_number_can_hold(case):
    """Overflow would be a warning of NumPy's, and infinities hide wrong elements."""
    oracle = reference.adapter()
    answer = expected_answer(case.program, oracle, case.timed)
    if answer is None:
        assert case.operation in MAY_LACK or case.layout == "reversed"
        return
    for state in answer.states:
        if state.dtype.startswith("float"):
            values = elements(state, answer.storages)
            assert np.isfinite(np.ascontiguousarray(values).view(state.dtype)).all()


def test_size_classes_have_as_many_bytes_in_every_dtype():
    def nbytes(case):
        return math.prod(case.shape) * ITEMSIZES[case.dtype]

    for case in CASES:
        same = Case(case.operation, case.layout, "float32", case.size)
        assert nbytes(case) == pytest.approx(nbytes(same), rel=0.05)


@pytest.mark.parametrize(
    ("globs", "count"),
    [
        (["copy/stepped/float32/small"], 1),
        (["copy/stepped/float32"], 4),
        (["matmul/mixed", "matmul/mixed/*"], 2),
        (["co*v2d/*/small"], 2),
        (["copy/stepped/float32, matmul/mixed,"], 6),
        (["copy/stepped/float32,copy", "copy/*"], len([case for case in CASES if case.operation == "copy"])),
        ([], len(CASES)),
    ],
)
def test_globs_select_by_name_or_by_its_beginning(globs, count):
    assert len(select(globs)) == count


@pytest.mark.parametrize(
    ("glob", "near"),
    [
        ("copi", "near it: copy"),
        ("copy/transpose", "copy/transposed"),
        ("xyzzy", "no case 'xyzzy'; `stridecheck bench"),
    ],
)
def test_an_unknown_case_names_those_that_are_near(glob, near):
    with pytest.raises(UnknownCase, match="no case") as error:
        select([glob])
    assert near in str(error.value)


def test_each_unknown_glob_is_told_with_what_is_near_it():
    with pytest.raises(UnknownCase) as error:
        select(["copi,relu", "matmull/mixed"])
    assert "no case 'copi'; near it: copy" in str(error.value)
    assert "no case 'matmull/mixed'; near it: matmul/mixed" in str(error.value)
    assert "relu" not in str(error.value).replace("relu_", "")


def test_globs_that_are_empty_are_a_mistake():
    """A variable of a script that is empty does not ask for five minutes of everything."""
    with pytest.raises(UnknownCase, match="no case is named by ' , '"):
        select([" , "])


def test_a_description_is_one_line_with_name_and_shape():
    for case in CASES:
        line = describe(case)
        assert line.startswith(f"{case.name} ")
        assert "\n" not in line
