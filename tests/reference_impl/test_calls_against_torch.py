"""Single calls that answer, or refuse, as torch does: missing arguments, and what corrections.md says of operators."""

import pytest

from .agreement import disagreement
from .twins import words

MISSING = words(
    """
x.expand() x.permute() x.flip() x.tile() x.repeat() x.view() x.reshape() x.resize_() x.sum_to_size()
x.new_empty() x.new_zeros() x.new_ones() T.zeros() T.ones() T.empty() T.rand() T.randn()
x.hsplit() x.vsplit() x.dsplit() x.tensor_split() x.squeeze() x.t() x.T x.flatten() x.ravel()
x.expand(()) x.permute(()) x.flip(()) x.tile(()) x.repeat(()) s.expand(()) s.permute(()) s.view(()) s.repeat(())
T.zeros(()) x.new_zeros(()) x.rot90() x.mv(x) s.mv(x) x.trace() s.trace() x.retain_grad() x.diagonal()
"""
)

CORRECTED = [
    "T.stack([c, c], 1, out=T.empty(0))",
    "T.stack([c, c], 4, out=T.empty(0))",
    "T.stack([c, c], 1)",
    "T.stack([c, c], 1, out=T.zeros(2, 2, 3, 4, 5).permute(1, 0, 2, 3, 4))",
    "x.t().requires_grad_().as_strided_scatter(x, (2, 3), (3, 1))",
    "x.requires_grad_().as_strided_scatter(x, (2, 3), (3, 1))",
    "s.narrow_copy(0, 0, -1)",
    "s.narrow_copy(0, 0, 0)",
    "T.nn.functional.pad(c, (-6, 0, 0, 0), mode='reflect')",
    "T.nn.functional.pad(c, (-6, 0, -4, 0), mode='reflect')",
    "T.zeros(0, 3).index_fill(1, T.tensor([5]), 1)",
    "T.zeros(0, 3).index_fill(0, T.tensor([5]), 1)",
    "T.zeros(0, 0).index_fill(0, T.tensor(0), 1)",
    "T.zeros(3, 0).index_copy(0, T.tensor([5]), T.zeros(1, 0))",
    "T.zeros(0).index_fill(0, T.tensor([0]), 1)",
    "T.empty(1, dtype=T.uint3) @ T.empty(1, 1, 0, dtype=T.uint3)",
    "T.empty(2, 0, 1, dtype=T.bits8) @ T.empty(1, dtype=T.bits8)",
    "T.full((10,), 0.5).std()",
    "T.tensor([0.0, 1.0]).norm(dtype=T.int64)",
    "T.arange(3).norm(dtype=T.float32)",
    "x.norm('nuc', (0, 1, 1))",
    "c.norm('fro', (0, 1, 2))",
    "c.norm('fro', (0, 1)).shape",
    "x.norm('no')",
    "c.norm('nuc')",
    "T.randperm(200, dtype=T.int8)",
    "T.randint(300, (2,), dtype=T.uint8)",
    "T.randint(2, (2,), out=T.zeros(2, dtype=T.complex64))",
]

# Functions whose namesakes are parsed otherwise.
NAMESAKES = [
    *(f"T.masked.{name}(x, {arguments}).shape" for name in ("sum", "prod", "mean", "median", "amax")
      for arguments in ("keepdim=True", "None", "None, keepdim=True")),
    *(f"T.masked.{call}.shape" for call in ("logsumexp(x, None)", "std(x, 0, None)", "var(x, 0, unbiased=None)")),
    *(f"{place}.{name}([1.0], x, x)" for place in ("T", "T.nn.functional")
      for name in ("margin_ranking_loss", "binary_cross_entropy_with_logits")),
]  # fmt: skip


def operands(lib):
    return {
        "x": lib.arange(6.0).view(2, 3), "s": lib.tensor(1.0),
        "c": lib.arange(120.0).view(2, 3, 4, 5).contiguous(memory_format=lib.channels_last),
    }  # fmt: skip


@pytest.mark.parametrize("expression", MISSING + CORRECTED + NAMESAKES)
def test_a_call_answers_as_torchs_does(expression):
    assert disagreement(expression, operands) is None
