"""PyTorch's own samples of operators that no program is drawn of: a share of them, as they are and laid out anew."""

from itertools import islice

import pytest
from stridecheck.conformance.adapters import reference, torch
from stridecheck.conformance.draw.relayout import relayout
from stridecheck.conformance.draw.source import Seeded
from stridecheck.conformance.execute import execute
from stridecheck.conformance.judge import judge
from stridecheck.conformance.opinfo import samples
from stridecheck.conformance.protocol import Undefined, Unsupported

FAMILIES = [
    "*_lowrank",
    "*grid_sampl*",
    "*segment_reduce",
    "*stft",
    "_upsample_bilinear2d_aa",
    "histogramdd",
    "linalg.cond",
    "linalg.ldl_*",
    "linalg.lstsq",
    "linalg.tensor*",
    "lu",
    "masked.*",
    "max_pool2d_with_indices_backward",
    "nn.functional.bilinear",
    "nn.functional.ctc_loss",
    "nn.functional.embedding_bag",
    "nn.functional.fractional_max_pool?d",
    "nn.functional.linear_cross_entropy",
    "nn.functional.max_unpool?d",
    "nn.functional.multi*_margin_loss",
    "nn.functional.multi_head_attention_forward",
    "nn.functional.triplet_margin_with_distance_loss",
    "nn.functional.upsample_*",
    "ormqr",
    "signal.windows.*",
    "slice",
]
LARGEST = 40
"""Samples of one family that are run."""


@pytest.fixture(scope="module")
def oracle():
    return reference.adapter()


@pytest.fixture(scope="module")
def library():
    return torch.adapter()


@pytest.mark.filterwarnings("ignore")  # of torch, that an operator is deprecated
@pytest.mark.parametrize("operators", FAMILIES)
def test_samples_are_judged_without_a_difference(operators, oracle, library):
    """The oracle has the operators of a family, and torch does with their samples what the oracle does."""
    programs = {sample.program.id: sample.program for sample in samples(operators, ("float32", "int64", "bfloat16"))}
    assert programs
    step = max(1, len(programs) // LARGEST)
    for program in islice(programs.values(), 0, None, step):
        for tried in (program, relayout(Seeded(program.id), program)):
            try:
                expected, got = (execute(tried, adapter) for adapter in (oracle, library))
            except Undefined:
                continue
            except Unsupported as lacking:
                pytest.fail(f"{lacking}: {tried}")
            verdicts = judge(tried, expected, got, library.capabilities)
            assert not [d for v in verdicts for d in v.differences], tried
