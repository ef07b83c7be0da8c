"""Layout conversions: chosen by globs only, programs that fit together, about as large as they say."""

import math

import pytest
from stridecheck.benchmarks.cases import CASES, select
from stridecheck.benchmarks.conversions import CONVERSIONS, DTYPES, MEGABYTES, conversions
from stridecheck.conformance.adapters import reference
from stridecheck.conformance.execute import Execution
from stridecheck.conformance.program import ITEMSIZES, Program


def test_they_are_timed_only_where_they_are_asked_for():
    assert not {case.name for case in select()} & {case.name for case in conversions()}
    assert select(["copy.*"]) == list(conversions())
    assert len(conversions()) == len(CONVERSIONS) * len(DTYPES)
    assert not select(["copy.*"], quick=True)
    assert all(case in CASES for case in select(["copy"]))


@pytest.mark.parametrize("case", conversions(), ids=lambda case: case.name)
def test_a_conversion_is_a_program_that_fits_together(case):
    case.program.check()
    assert Program.from_json(case.program.to_json()) == case.program
    size = math.prod(case.shape) * ITEMSIZES[case.dtype] / 1e6
    assert 0.8 * MEGABYTES < size < 1.1 * MEGABYTES


@pytest.mark.parametrize("name", CONVERSIONS)
def test_the_view_has_the_shape_that_is_copied(name):
    (case,) = select([f"copy.layout/{name}/uint8"])
    execution = Execution(reference.adapter(), case.program.storages, case.program.inputs)
    execution.step(case.program.steps[0])
    assert execution.states["2"].shape == case.shape
