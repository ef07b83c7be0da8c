"""Functions of `nn.functional` under `torch`: arguments in the kernels' order, and what Python leaves unchecked."""

import pytest

from .agreement import disagreement

LAST = "T.ones(2, 3, 4, 5).to(memory_format=T.channels_last)"
TABLE = "T.arange(6.0).view(3, 2)"
PAIR = "T.ones(2, 3), T.ones(2, 3)"
NORMALISED = [
    f"T.batch_norm({LAST}, None, None, T.zeros(3), T.ones(3), False, 0.1, 0.0, True)",
    "T.batch_norm(T.ones(1, 3), None, None, None, None, True, 0.1, 1e-5, True)",
    "T.batch_norm(T.ones(2, 3), None, None, None, None, False, 0.1, 1e-5, True)",
    "T.instance_norm(T.ones(2, 3, 1), None, None, None, None, True, 0.1, 1e-5, True)",
    "T.instance_norm(T.ones(2, 3, 1), None, None, None, None, False, 0.1, 1e-5, True)",
    f"T.instance_norm({LAST}, None, None, None, None, True, 0.1, 1e-5, True)",
    "T.rms_norm(T.zeros(2, 3), (3,))", "T.rms_norm(T.ones(2, 3), [4])",
]  # fmt: skip
TABLES = [
    f"T.embedding({TABLE}, T.tensor([[0, 2]]))", f"T.embedding({TABLE}, T.tensor(0), padding_idx=17)",
    f"T.embedding({TABLE}, T.tensor([3]))", "T.embedding(T.arange(6.0), T.tensor([3]))",
    f"T.embedding_renorm_({TABLE} * 0, T.tensor([1]), 1.0, 2.0)",
]  # fmt: skip
LOSSES = [
    *(f"T.{name}({PAIR}{more}{reduction})"
      for name, more in (("kl_div", ""), ("binary_cross_entropy_with_logits", ", None, None"),
                         ("hinge_embedding_loss", ", 1.0"), ("margin_ranking_loss", ", T.ones(2, 3), 0.0"),
                         ("poisson_nll_loss", ", True, False, 1e-8"), ("triplet_margin_loss", ", T.ones(2, 3)"))
      for reduction in ("", ", reduction=0", ", reduction=1", ", reduction=2", ", reduction=5")),
    "T.cosine_embedding_loss(T.ones(2, 3), T.ones(2, 3), T.ones(2))",
    "T.ctc_loss(T.zeros(4, 1, 3), T.ones(1, 2, dtype=T.long), T.tensor([4]), T.tensor([2]))",
]  # fmt: skip
IN_PLACE = [
    *(f"T.{name}_(T.ones(2, 3, 4), 0.5, False)"
      for name in ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout")),
    "T.dropout_(T.ones(3), 1.0, True)._version", "T.dropout_(T.ones(3), 1.5, True)",
    "T.dropout_(T.ones(1).expand(3), 1.0, True)",
    "T.feature_dropout(T.ones(3), 0.5, True)", "T.addmv_(T.ones(2), T.ones(2, 3), T.ones(3))", "T.rrelu_(T.ones(2))",
    "T.nn.functional.relu_(T.tensor([-1.0, 2.0]))", "T.nn.functional.rrelu_(T.ones(2))",
    f"T.native_channel_shuffle({LAST}, 3)", f"T.nn.functional.native_channel_shuffle({LAST}, 3)",
]  # fmt: skip
OVERLAPS = ["T.ones(3).expand(2, 3)", "T.ones(3)", "T.arange(9).as_strided((3, 3), (2, 1))", "T.ones(4)[::2]"]


def layout_of(expression):
    """A loss by its shape and strides: its value is compared elsewhere, with a tolerance."""
    return f"(lambda x: (tuple(x.shape), x.stride(), str(x.dtype)))({expression})"


@pytest.mark.parametrize("expression", [*NORMALISED, *TABLES, *IN_PLACE, *map(layout_of, LOSSES)])
def test_arguments_of_kernels(expression):
    assert disagreement(expression) is None


@pytest.mark.parametrize("tensor", OVERLAPS)
def test_what_pytorch_says_of_a_tensor_that_overlaps_itself(tensor):
    assert disagreement(f"T._debug_has_internal_overlap({tensor})") is None


@pytest.mark.parametrize("operands", ["1, T.tensor(2.0)", "T.tensor(2.0), 1", "T.tensor(2.0), T.tensor(1)"])
def test_where_into_an_output_takes_tensors_alone(operands):
    assert disagreement(f"T.where(T.tensor([True]), {operands}, out=T.empty(1))") is None
