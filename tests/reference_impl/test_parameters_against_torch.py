"""Parameters: what they share, what becomes of them in operators and copies, and how they look."""

import copy
import io
import pickle

import pytest
import torch

from stridecheck import reference_impl as ref

from .agreement import disagreement


def save_load(lib, x):
    f = io.BytesIO()
    lib.save(x, f)
    f.seek(0)
    return lib.load(f)


def names(lib):
    data = lib.arange(10.0)[2:8:2]
    p = lib.nn.Parameter(data)
    p.word = "learnt"
    again = lambda x: pickle.loads(pickle.dumps(x))  # noqa: E731
    return {
        "P": lib.nn.Parameter, "data": data, "p": p, "copy": copy.copy, "deepcopy": copy.deepcopy, "pickled": again,
        "saved": lambda x: save_load(lib, x), "kind": lambda x: (type(x).__name__, isinstance(x, lib.nn.Parameter)),
    }  # fmt: skip


COPIES = ("copy", "deepcopy", "pickled", "saved")
EXPRESSIONS = [
    "p", "p.data_ptr() == data.data_ptr()", "(data.add_(1), p._version, p.data._version)", "P(data, False)", "P()",
    "P(T.arange(3))", "P(T.arange(3), False)", "P([1.0])", "P(data, 1)", "P(data, requires_grad=None)",
    "P(data, what=1)", "P(P(data))", "P(P(data)) is data", "P(data.clone().requires_grad_() * 2)",
    "P(T.ones(2, device='meta'))", "P(T.ones(2, dtype=T.cfloat).conj())", "P(data.expand(2, 3))",
    "p.add_(1)", "isinstance(data, P)", "isinstance(3, P)", "T.nn.parameter.Parameter is P", "issubclass(P, T.Tensor)",
    "(setattr(data, '_is_param', True), isinstance(data, P))", "isinstance(p, T.FloatTensor)", "(p[0], p[0].is_leaf)",
    *(f"kind({x})" for x in ("p", "p + 1", "p.view(-1)", "p.detach()", "p.data", "p.clone()", "p.to(T.float32)",
                             "p.requires_grad_(False)", "p.detach_()", "T.empty_like(p)", "p.to(T.float64)")),
    *(f"repr({x})" for x in ("p", "P()", "P(data, False)", "P(T.tensor(2.0))", "P(T.ones(2, device='meta'))",
                             "pickled(p)", "deepcopy(P(T.ones(3, dtype=T.float64)))")),
    "format(P(T.tensor(2.0)))",
    *(f"{how}({x})" for how in COPIES for x in ("p", "P(data, False)", "P(T.ones(2, dtype=T.cfloat).conj())")),
    *(f"({how}(p).data_ptr() == p.data_ptr(), kind({how}(p)), vars({how}(p)))" for how in COPIES),
    *(f"(lambda x: x[0] is x[1])({how}([p, p]))" for how in COPIES),
    "copy(P(T.ones(2).to(T.float8_e5m2)))", "saved(P(T.ones(2).to(T.float8_e5m2)))",
]  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_parameters(expression):
    assert disagreement(expression, names) is None


def test_a_class_of_ones_own_keeps_its_name():
    for lib in (torch, ref):
        mine = type("Mine", (lib.nn.Parameter,), {})
        assert type(copy.deepcopy(mine(lib.ones(2)))) is mine
        assert type(copy.copy(mine(lib.ones(2)))) is lib.nn.Parameter
        assert issubclass(mine, lib.nn.Parameter)
