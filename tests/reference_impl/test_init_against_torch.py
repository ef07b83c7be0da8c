"""torch.nn.init: what is written in place, how often, to which tensor, and what is refused."""

import inspect
import warnings

import numpy as np
import pytest
import stridecheck.reference_impl as ref
import torch
from stridecheck.reference_impl import shadow

from .agreement import disagreement
from .operands import Drawer
from .twins import fuzz

CALLS = [
    "constant_(v[x], 0.5)", "constant_(v[x], 2)", "zeros_(v[x])", "ones_(v[x])", "uniform_(v[x])",
    "uniform_(v[x], 1, 3)", "normal_(v[x])", "normal_(v[x], 1.0, 0.5)", "eye_(v[x])", "dirac_(v[x])",
    "dirac_(v[x], 2)", "dirac_(v[x], groups=-1)", "xavier_uniform_(v[x])", "xavier_normal_(v[x], gain=2.0)",
    "kaiming_uniform_(v[x])", "kaiming_uniform_(v[x], 2, 'FAN_OUT')",
    "kaiming_normal_(v[x], mode='fan_out', nonlinearity='relu')", "kaiming_normal_(v[x], mode='fan')",
    "kaiming_normal_(v[x], nonlinearity='gelu')", "orthogonal_(v[x])", "orthogonal_(v[x], gain=2)",
    "sparse_(v[x], 0.5)", "sparse_(v[x], 1.0)", "sparse_(v[x], 0.0, 2.0)",
    "trunc_normal_(v[x], 0.0, 1.0, -20.0, 20.0)", "constant(v[x], 1.0)",
]  # fmt: skip


def draw_init(rng, pair):
    d = Drawer(rng, pair, ["float32", "float32", "float64", "bfloat16", "float16", "complex64", "int64", "bool"])
    call = rng.choice(CALLS)
    rank = 2 if call.startswith(("eye", "sparse")) else 3 if call.startswith("dirac") else rng.choice([1, 2, 2, 3])
    if rng.random() < 0.1:
        rank = rng.choice([0, 1, 2, 3, 4, 5])
    shape = [rng.choice([1, 2, 3, 4, 0]) for _ in range(rank)]
    if call.startswith("xavier") and rank >= 2 and (shape[:2] == [0, 0] or 0 in shape[2:]):
        shape[0] = 1
        shape[2:] = [n or 1 for n in shape[2:]]  # a division by zero is Python's
    return f"T.nn.init.{call}", {"x": d.tensor(shape, 0.3, 1)}


def test_writes_agree_with_torch():
    found = fuzz("init", 1200, draw_init, steps=2)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "expression",
    [
        *[f"T.nn.init.calculate_gain({name!r})" for name in ("linear", "conv_transpose3d", "sigmoid", "tanh", "relu")],
        *[f"T.nn.init.calculate_gain({rest})" for rest in ("'selu'", "'leaky_relu'", "'leaky_relu', 0.2", "'relu', 3")],
        *[f"T.nn.init.calculate_gain({rest})" for rest in ("'leaky_relu', True", "'leaky_relu', 'a'", "'gelu'")],
        "T.nn.init.constant_([1.0], 0)",
        "T.nn.init.uniform_(None)",
        "T.nn.init.kaiming_uniform_(T.ones(2, 2), mode=1)",
        "T.nn.init.dirac_(T.ones(2, 2, 0))",
        "T.nn.init.dirac_(T.ones(3, 2, 2), 2)",
        "T.nn.init.normal_(T.ones(2), std=-1)",
        "T.nn.init.eye_(T.ones(2, 3).expand(2, 2, 3)[0])",
        "T.nn.init.ones_(T.ones(3).expand(2, 3))",
    ],
)
def test_gains_and_refusals_are_torchs(expression):
    assert disagreement(expression) is None


def test_a_truncated_normal_is_written_once_or_twice():
    """Twice where something that was drawn lay outside, which nobody knows before."""
    for lib in (torch, ref):
        wide, narrow = lib.empty(1000), lib.empty(1000)
        assert lib.nn.init.trunc_normal_(wide, 0.0, 1.0, -30.0, 30.0) is wide
        assert lib.nn.init.trunc_normal_(narrow) is narrow
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch finds it far off
            far = lib.nn.init.trunc_normal_(lib.empty(1000), 0.0, 1.0, 3.0, 4.0)
        assert [t._version for t in (wide, narrow, far)] == [1, 2, 2]


def test_what_is_drawn_is_not_specified_and_what_is_written_is():
    drawn, sure = ref.nn.init.sparse_(ref.zeros(4, 3), 0.5), ref.nn.init.sparse_(ref.empty(4, 3), 1.0)
    assert np.all(shadow.marks_of(drawn) == shadow.UNSPECIFIED)
    assert shadow.marks_of(sure) is None
    assert sure.tolist() == torch.zeros(4, 3).tolist()


@pytest.mark.parametrize("call", CALLS)
def test_on_meta_the_same_is_counted(call):
    call = call.replace("v[x]", "x")
    shape = (4, 2, 3) if call.startswith("dirac") else (4, 3)
    assert disagreement(f"T.nn.init.{call}", lambda lib: {"x": lib.empty(shape, device="meta")}) is None


@pytest.mark.parametrize("name", torch.functional.__all__)
def test_functional_has_the_functions_of_torch(name):
    ours, theirs = (inspect.unwrap(getattr(module, name)) for module in (ref.functional, ref))
    assert ours is theirs


COMPLEX = [
    f"{call}.requires_grad"
    for call in (
        "T.nn.functional.bilinear(x, x, w)", "T.nn.functional.bilinear(x.detach(), x.detach(), w, b)",
        "T.bilinear(x.detach(), x.detach(), w, None)", "T.nn.functional.silu(x)",
        "T.nn.functional.silu(x * 1, True)", "x.nan_to_num()", "(x * 1).nan_to_num_()",
        "T.select_scatter(x, x[0], 0, 0)", "T.slice_scatter(x, x[:1], 0, 0, 1)", "T.nn.functional.embedding(i, x)",
        "x.index_reduce(0, i, x, 'prod')", "(x * 1).index_reduce_(0, i, x, 'prod')",
        "x.scatter_reduce(0, i[:, None].expand(2, 2), x, 'sum')", "T.geqrf(x)[0]", "T.normal(x, 1.0)",
        "x[:0].median()", "(x * 1).scatter_reduce_(0, i[:, None].expand(2, 2), x, 'sum')", "T.bernoulli(x[:0])",
        "x[:0].cummax(0)[0]", "x[:0].softmax(0)", "x[:0].log_softmax(0)", "x.sigmoid()", "x.diagonal_scatter(x[0])",
        "x.cumprod(0)",
    )
]  # fmt: skip


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("expression", COMPLEX)
def test_complex_numbers_have_gradients_where_they_have_in_torch(expression, grad):
    def names(lib):
        x = lib.tensor([[1 + 2j, 3 - 1j], [0.5j, 2 + 0j]])
        w, b = lib.ones(3, 2, 2, dtype=lib.complex64), lib.ones(3, dtype=lib.complex64).requires_grad_()
        return {"x": x.requires_grad_(grad), "i": lib.tensor([0, 1]), "w": w, "b": b}

    assert disagreement(expression, names) is None
