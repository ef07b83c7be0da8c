"""What becomes of a view's history when its base is written: taken over, or gone for one of several outputs."""

import pytest
import stridecheck.reference_impl as ref
import torch

from .agreement import disagreement, exception_type, run
from .twins import base_of

# torch warns of deprecated uses; a warning refuses nothing.
pytestmark = pytest.mark.filterwarnings("ignore")

# `a` and `b` are views of the result `y`, made before it is written.
EXPRESSIONS = [
    "a.view(3)", "a.view(7)", "a.view(T.int32)", "a.view_as(b)", "a.reshape(3)", "a.reshape(1, 3)", "a.flatten()",
    "a.flatten(1, 1)", "a.unflatten(0, (1, 1))", "a.ravel()", "a.permute(1, 0)", "a.permute(9, 0)",
    "a.transpose(0, 7)", "a.t()", "a.T", "a.mT", "a[0]", "a[9]", "a[...]", "a[()]", "a[None]", "a[:1]",
    "a.narrow(0, 0, 1)", "a.narrow(7, 0, 1)", "a.narrow(0, 9, 1)", "a.select(0, 9)", "a.select(7, 0)",
    "a.expand(4, 3)", "a.expand_as(y)", "a.squeeze()", "a.squeeze(7)", "a.unsqueeze(9)", "a.unfold(9, 1, 1)",
    "a.unfold(0, 9, 1)", "a.diagonal(0, 0, 0)", "a.as_strided((9, 9), (9, 9))", "a.as_strided((2,), (1,))",
    "a.detach()", "a.contiguous()", "a.clone()", "a.clone(memory_format=T.channels_last)", "a.to(T.float64)",
    "a.to(T.int64)", "a.to(T.float32)", "a.tolist()", "a.is_contiguous()", "a.is_set_to(b)", "a.fill_(1)", "a.zero_()",
    "a.copy_(y[:1].detach())", "y[:1].copy_(a)", "T.zeros(1, 3).copy_(a)", "T.zeros(1, 3).copy_(b)",
    "T.zeros(1, 3, dtype=T.int64).copy_(a)", "T.zeros(2, 2).copy_(a)", "a.add_(1)", "T.ones(1, 3).add_(a)",
    "T.ones(1, 3, dtype=T.int64).add_(a)", "T.ones(9).mul_(a)", "a.add(1)", "a.add(T.ones(9))", "T.ones(3)+a",
    "a.neg()", "a.abs()", "a.relu()", "a.sum()", "a.sum(9)", "a.sum(0, dtype=T.int64)", "a.mean()", "a.amax()",
    "a.argmax(0)", "a.max(0)", "a.max(9)", "a.all()", "a.cumsum(0)", "a.cumsum(9)", "a.softmax(0)", "a.softmax(9)",
    "a.sort()", "a.argsort()", "a.argsort(9)", "a.topk(1)", "a.topk(9)", "a.flip(0)", "a.flip(9)", "a.roll(1)",
    "a.roll(1, 9)", "T.cat([a, a])", "T.cat([a, a], 9)", "T.cat([T.ones(1, 3), a])", "T.stack([a])", "T.stack([a], 9)",
    "a.index_select(0, T.tensor([0]))", "a.index_select(9, T.tensor([0]))",
    "a.masked_fill(T.ones(1, 3, dtype=T.bool), 1)", "a.masked_select(T.ones(1, 3, dtype=T.bool))",
    "a.masked_select(T.ones(1, 3))", "a.matmul(a.detach().t())", "a.matmul(T.ones(9))", "a.matmul(T.ones(3))",
    "a.matmul(T.ones(2, 3, 4))", "a.type(T.int64)", "a.type(T.float32)", "a.resize_(3)", "a.resize_as_(b)",
    "a.set_(y)", "a.set_()", "a.as_strided_((1,), (1,))", "a.squeeze_()", "a.t_()", "a.detach_()", "a.split(1)",
    "a.split(1, 9)", "a.chunk(2, 9)", "a.tensor_split(2)", "a.tensor_split(2, 9)", "a.unbind()", "a.unbind(9)",
    "a.__setitem__(0, 1)", "a.__setitem__(9, 1)", "a.__setitem__((9, 9, 9), 1)", "a.movedim(0, 1)", "a.movedim(0, 9)",
    "a.swapaxes(0, 9)", "a.swapaxes(0, 1)", "a.is_leaf", "a.view(-1, -1)", "a.expand(1)", "a.unflatten(9, (1, 1))",
    "a.prod(9)", "a.prod(0)", "a.cumprod(0)", "a.reshape_as(T.ones(3))", "a.reshape(7)",
]  # fmt: skip
WAYS = {
    "several outputs": "y.split(1)",
    "views of one": "[v.view(1, 3) for v in y.split(1)]",
    "plain views": "(y[:1], y[1:])",
}
WRITES = ["y.add_(1)", "y.view(6).mul_(2)", "y.detach().zero_()", "y.t_().t_()", "None"]


def operands(lib, way, write):
    x = lib.arange(6.0).view(2, 3).requires_grad_()
    y = x * 2
    a, b = eval(way, {"y": y})
    eval(write, {"y": y})
    return {"x": x, "y": y, "a": a, "b": b}


def refusal(expression, lib, names):
    error = run(expression, lib, names)[1]
    return error and (base_of(error) if isinstance(error, RuntimeError) else exception_type(error))


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize("way", WAYS)
def test_a_history_that_is_gone_is_asked_for_first(way, expression):
    for write in WRITES:
        got = [refusal(expression, lib, operands(lib, WAYS[way], write)) for lib in (torch, ref)]
        assert got[0] is got[1], write


def test_only_one_of_several_outputs_loses_its_history():
    for lib in (torch, ref):
        assert operands(lib, WAYS["plain views"], "y.add_(1)")["a"].is_leaf is False
        with pytest.raises(RuntimeError):
            _ = operands(lib, WAYS["several outputs"], "y.add_(1)")["a"].is_leaf


@pytest.mark.parametrize("lib", [torch, ref])
def test_a_view_keeps_what_it_took_over(lib):
    """A view that was asked for its history while its base had one still has it when the base is cut off."""
    for asked in (False, True):
        base, weight = lib.zeros(2), lib.zeros(2).requires_grad_()
        view = base.view(2)
        base.add_(weight)
        if asked:
            assert not view.is_leaf
        base.detach_()
        assert view.requires_grad is asked


@pytest.mark.parametrize("dtype", ["int64", "bool", "int3", "float8_e5m2"])
def test_what_a_value_with_a_history_leaves(dtype):
    """Filled with it an integer has one too; copied it has none; multiplied by it, a copy must be kept first."""
    for expression in ("x.fill_(w)", "x.__setitem__(0, w)", "x[0].__setitem__((), w)", "x.copy_(w)", "x.mul_(w)"):
        got = []
        for lib in (torch, ref):
            x = lib.zeros(32, dtype=lib.uint8).view(getattr(lib, dtype))[:4].view(2, 2)
            names = {"x": x, "w": lib.tensor(1.0).requires_grad_()}
            got.append((refusal(expression, lib, names), x.requires_grad, x.is_leaf, x._version))
        assert got[0] == got[1], expression


BACKWARD = [
    "x.backward()", "g.backward()", "g.backward(T.ones(2))", "g.backward(3)", "x.backward([x])",
    "s.backward(inputs=[])", "s.backward(inputs=3)", "s.backward(foo=3)", "s.backward(T.tensor(1j))",
    "(s * 1j).backward()", "T.arange(1).backward()",
    "T.autograd.backward([s, s], [None])", "T.autograd.backward([s, T.ones(())])", "T.autograd.backward(3)",
    "T.autograd.backward([])", "T.autograd.backward(s, None, None, False, x, [])",
]  # fmt: skip


@pytest.mark.parametrize("expression", BACKWARD)
def test_what_is_asked_before_gradients_are_computed(expression):
    def names(lib):
        g = lib.ones(2, 3, requires_grad=True)
        return {"x": lib.ones(2, 3), "g": g, "s": g.sum()}

    assert disagreement(expression, names) is None


def test_gradients_are_not_computed():
    with pytest.raises(ref.errors.UnspecifiedError, match=r"no engine"):
        ref.ones(2, requires_grad=True).sum().backward()
