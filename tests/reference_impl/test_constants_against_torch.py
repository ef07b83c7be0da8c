"""What is no operator: limits of dtypes, constants, and shapes as sequences."""

import pytest
import stridecheck.reference_impl as ref
import torch

from .agreement import disagreement

DTYPES = sorted(name for name in dir(torch) if isinstance(getattr(torch, name), torch.dtype))


@pytest.mark.parametrize("limits", ["finfo", "iinfo"])
@pytest.mark.parametrize("name", DTYPES)
def test_limits_of_dtypes(name, limits):
    shown = ("bits", "dtype", "min", "max") + (("eps", "tiny", "resolution") if limits == "finfo" else ())
    attributes = ", ".join(f"x.{attribute}" for attribute in shown)
    assert disagreement(f"(lambda x: (repr(x), {attributes}))(T.{limits}(T.{name}))") is None


LIMITS = [
    "T.finfo().dtype", "repr(T.finfo(float))", "repr(T.iinfo(type=int))", "T.iinfo()", "T.finfo('float32')",
    "T.finfo(None)", "T.finfo(dtype=T.half)", "T.finfo(T.half) == T.finfo(T.half)", "T.finfo(T.half) != T.finfo()",
    "(T.pi, T.e, T.inf, T.newaxis)",
]  # fmt: skip
SHAPES = [
    "S + (3,)", "(3,) + S", "S * 2", "2 * S", "S[1:]", "S[-1]", "S + S", "sum([S, S], T.Size())", "S + [3]", "[3] + S",
    "S + ('a',)", "('a',) + S", "S * 1.5", "S == (2, 3)", "S.numel()", "T.ones(S + (1,)).shape[:2] + S[2:]",
]  # fmt: skip
COUNTS = [
    "T.tensor([1, 0, 2])", "T.tensor([1, 2], dtype=T.int32)", "repeats=T.tensor([2])",
    "T.tensor([1, 2]), output_size=3", "T.tensor([1, 2]), output_size=4",
    "T.tensor([[1, 2]])", "T.tensor(2)", "T.tensor([1.0])", "T.tensor([-1])",
    "T.tensor([1]), dim=0", "3", "T.empty(0, dtype=T.long)",
]  # fmt: skip


@pytest.mark.parametrize("expression", SHAPES)
def test_shapes_as_sequences(expression):
    given = f"(lambda S: (lambda x: (type(x).__name__, x))({expression}))(T.zeros(2, 3).shape)"
    left, right = (run(given, lib) for lib in (torch, ref))
    assert left == right


def run(expression, lib):
    try:
        return eval(expression, {"T": lib})
    except Exception as e:
        return TypeError if isinstance(e, TypeError) else e


@pytest.mark.parametrize("expression", LIMITS + [f"T.repeat_interleave({counts})" for counts in COUNTS])
def test_constants_and_counts(expression):
    assert disagreement(expression) is None
