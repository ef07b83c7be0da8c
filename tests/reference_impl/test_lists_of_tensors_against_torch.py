"""`_foreach_` functions: what each tensor of a list becomes, how it is laid out, and which lists are refused."""

import pytest
import torch
from stridecheck.reference_impl.foreach import _OPERANDS

from .agreement import disagreement


def names(lib):
    a = [lib.arange(1.0, 7).view(2, 3).t(), lib.arange(1.0, 7).view(2, 3)[:, ::2]]
    return {"a": a, "b": [x * 2 for x in a], "c": [lib.ones(2), lib.arange(3)]}


CALLS = [
    "add(a, 1)", "add(a, [1, 2.5])", "add(a, b, alpha=2)", "add(c, T.tensor(2.0))", "add(c, T.ones(3))", "add(c, [1])",
    "add(c, c[:1])", "add([], 1)", "add([1], 1)", "add(a, 'x')", "add(tuple(a), 1)", "add(T.ones(2, 2), 1)",
    "add([], [])", "add(a, 1, alpha=2)", "add(a, [1, 2], alpha=2)", "add(self=a, scalar=1)", "add(a, True)",
    "add(a, other=b)", "add(a, what=1)", "sub(a, b, alpha=2)", "sub(a, 1)", "mul(a, b)", "div(a, 2)", "div(c, c)",
    "max(a)", "max(c)", "maximum(a, 3)", "maximum(a, b)", "minimum(a, [1.0, 2.0])", "clamp_max(a, 3)",
    "clamp_min(a, b)", "pow(a, 2)", "pow(2, a)", "pow(a, b)", "pow(a, [1, 2])", "addcmul(a, a, b, 2)",
    "addcmul(a, b, b, [1, 2])", "addcmul(a, a, b)", "addcmul(a, a, b, T.tensor([1.0, 2.0]))",
    "addcdiv(a, a, b, value=2)", "lerp(a, b, 0.5)", "lerp(a, b, b)", "clone(a)", "lerp(a, b, [0.5, 0.25])",
    "copy_(a, b)", "copy_(c, c)", "zero_(a)", "sqrt(c)", "sqrt_(c)", "add_(a, 1)", "add_(a, b)", "add_(a, [1, 2])",
    "add_((x for x in a), 1)", "mul_(a, b)", "pow_(a, 2)", "lerp_(a, b, 0.5)", "addcmul_(a, a, b, 2)",
    "clamp_max_(a, 2)", "maximum_(a, 2)", "add_([T.ones(2)], [T.ones(3, 2)])", "round_(a)",
    "add_([T.ones(2).expand(2, 2)], 1)", "add_([a[0], a[0][:1]], 1)", "add([T.ones(2, requires_grad=True)], 1)",
    "add_([T.ones(2, requires_grad=True)], 1)", "add_([T.ones(2), T.ones(2, dtype=T.int)], 1.5)", "nothing(a)",
    "add([T.ones(2, requires_grad=True), T.ones(2)], 1)", "max([T.ones(2), T.ones(2, requires_grad=True)])",
    "pow(2, [T.ones(2), T.ones(2, requires_grad=True)])", "mul(a, T.ones(1, requires_grad=True).sum())",
    "sign([T.ones(2, dtype=T.int), T.ones(2, requires_grad=True)])", "pow(T.ones(1, requires_grad=True).sum(), a)",
    "zero_([a[0], T.ones(2, requires_grad=True)])", "add_([a[0], a[1].expand(4, 2, 2)], 1)",
    "copy_([a[0], a[1].requires_grad_()], [a[1], a[0]])",
    "copy_([c[0], a[0]], [c[0] * 2, a[1].requires_grad_()])", "max_(a)", "norm_(a)",
    "max([T.ones(0)])", "abs([T.ones(2, dtype=T.cfloat)])", "mm([a[0]], [a[1]])",
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_each_tensor_of_a_list(call):
    assert disagreement(f"(T._foreach_{call}, a, c)", names) is None


@pytest.mark.parametrize("order", ["", ", 1", ", ord=3", ", float('inf')"])
def test_norms_of_a_list(order):
    assert disagreement(f"[x.round(decimals=3) for x in T._foreach_norm(a{order})]", names) is None


@pytest.mark.parametrize("name", [name for name, operands in _OPERANDS.items() if not operands])
def test_layouts_of_functions_of_each_element(name):
    assert hasattr(torch, f"_foreach_{name}")
    if name != "zero_":
        assert disagreement(f"[(x.shape, x.stride()) for x in T._foreach_{name}(a)]", names) is None
