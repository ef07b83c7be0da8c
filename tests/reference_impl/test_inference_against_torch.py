"""Inference mode: which tensors track no version, what may be done to them, and how the modes nest."""

import contextlib
import copy
import warnings

import pytest
import stridecheck.reference_impl as ref
import torch

from .agreement import exception_type
from .twins import base_of


def lines(text):
    """The statements of a text."""
    return [line.strip() for line in text.strip().splitlines()]


# `i` was made in inference mode and `g` there with requires_grad, `n` and the leaf `w` outside; `vn`, `vw`, `vi` are
# views made inside, `h` is a result of `w`.
STATEMENTS = lines("""
    x = i
    x = g
    x = vn
    x = vw
    x = vi
    x = i.view(6)
    x = i.split(1)[0]
    x = i[0]
    x = i.unbind()[0]
    x = i.expand(4, 2, 3)
    x = i._neg_view()
    x = n.view(6)
    x = n.split(1)[0]
    x = w.view(6)
    x = vw.view(2, 3)
    x = i.detach()
    x = i.data
    x = i.detach().view(6)
    x = n.detach()
    x = n.data
    x = i.view(T.int32)
    x = n.view(T.int32)
    x = i + 1
    x = n.t().contiguous()
    x = n.unsafe_split(1)[0]
    x = copy.copy(i)
    x = copy.deepcopy(i)
    x = T.nn.Parameter(n)
    x = T.nn.Parameter(i)
    x = T.nn.Parameter(i, False)
    x = T.empty(0).set_(i)
    x = T.from_dlpack(n)
    x = T.tensor([1.0])
    x = T.empty(2, device='meta')
    x = w * 2
    x = w + i
    x = g * 2
    x = g + g
    x = g.view(6)
    x = h.add_(i)
    i.add_(1)
    i[0] = 7
    i.view(6).fill_(3)
    i.copy_(n)
    i.add_(T.ones(9))
    i.t_()
    i.unsqueeze_(0)
    i.set_(n)
    i.set_()
    i.resize_(3)
    i.resize_(2, 3)
    i.as_strided_((1,), (1,))
    i.data.add_(1)
    i.detach().add_(1)
    i.detach().view(6).add_(1)
    T.add(n, n, out=i)
    T.add(n[0], n[0], out=i)
    T.add(i, i, out=n)
    T.zeros(2, 3, out=i)
    T.nn.init.ones_(i)
    g.clamp_(2)
    g.eq_(i)
    g.xlogy_(2)
    g.fill_(2)
    T.nn.functional.dropout(i, 1.0, inplace=True)
    T.nn.functional.embedding(T.tensor([0]), i, max_norm=0.5)
    n.add_(i)
    n.set_(i)
    n.data = i
    i.requires_grad_()
    i.requires_grad_(False)
    g.requires_grad_(False)
    g.detach_()
    h.detach_()
    g.add_(1)
    w.add_(1)
    h.add_(w)
    vn.add_(1)
    vn.add_(w.view(6))
    vw.add_(1)
    vi.add_(1)
    n.view(6).add_(1)
    n.t_()
    x = T.is_inference(3)
""")
# Operators that keep an inference tensor for a gradient, and some that do not: `j` and `m` are an index and a mask.
KEPT = lines("""
    w * i
    i * w
    w + i
    w / i
    i / w
    w % i
    i % w
    i ** w
    h.mul_(i)
    h.lerp_(n, i)
    T.lerp(i, w, 0.5)
    T.addcdiv(i, n, w)
    T.addcdiv(w, i, n)
    T.div(w, i, rounding_mode='floor')
    T.maximum(w, i)
    w.clamp(min=i)
    w @ i.t()
    i @ w.t()
    w @ i.expand(4, 2, 3).mT
    T.addmm(i[:, :2], w, n.t())
    T.nn.functional.linear(w, n, i[:, 0])
    T.nn.functional.linear(w, i)
    T.einsum('ij,kj->ik', w, i)
    T.where(m, w, n)
    T.where(n > 0, w, i)
    w[j]
    w[m]
    w[[0, 1]]
    h.__setitem__(j, n)
    h.__setitem__(j[:1], i)
    h.__setitem__(T.tensor([0, 1]), i)
    w.masked_fill(m, 2)
    w.gather(0, j[None])
    h.scatter(0, j[None], n)
    h.scatter_add(0, j[None], n)
    h.index_add(0, j, n)
    T.nn.functional.embedding(j, w)
    T.nn.functional.layer_norm(w, (3,), n[0], i[0])
    T.nn.functional.layer_norm(w, (3,), i[0], n[0])
    T.nn.functional.batch_norm(w, i[0], i[0])
    T.nn.functional.conv1d(w, n[None, :, :1], i[0, :1])
    T.nn.functional.conv1d(w, i[None, :, :1])
    T.nn.functional.cross_entropy(w, j)
    T.nn.functional.mse_loss(w, i)
    T.nn.functional.l1_loss(w, i)
    T.nn.functional.smooth_l1_loss(w, i)
    T.nn.functional.scaled_dot_product_attention(w, n, i)
    T.matmul(w[0], i.expand(4, 2, 3).mT)
    T.matmul(i.expand(4, 2, 3), w[0])
    T.ldexp(i, w)
    T.ldexp(w, i)
    T.linalg.multi_dot([i, n.t(), w])
    T.linalg.multi_dot([i, n.t(), n, w.t()])
    T.linalg.multi_dot([w, i.t(), n, n.t(), n])
    T.linalg.multi_dot([n, n.t(), i, w.t(), n])
    T.tensordot(w[None], i.t()[..., None], [[1, 2], [1, 0]])
    T.tensordot(w, i.t(), [[0, 1], [1, 0]])
    T.tensordot(w[None, None], i.t(), [[2, 3], [1, 0]])
    T.gradient(i, spacing=[w[0]], dim=1)[0]
    T.gradient(w, spacing=[i[0]], dim=1)[0]
    T.nn.functional.conv1d(i[None], w.expand(2, 2, 3)[..., :2], padding='same')
    T.nn.functional.conv1d(i[None], w.expand(2, 2, 3), padding='same')
    T.linalg.solve(w[:, :2], i)
    T.linalg.solve(i[:, :2] + T.eye(2), w)
    g * n
    g * g
    g * w
""")
CONSTANT = lines("""
    T.nn.functional.batch_norm(n, w[0], n[0], training=True)
    T.nn.functional.batch_norm(n, n[0], w[0])
    T.nn.functional.batch_norm(n[:0], w[0], w[0])
    T.nn.functional.instance_norm(n[None], n[0, :2], w[0, :2])
    T.native_batch_norm(n, None, None, w[0], n[0], False, 0.1, 0.1)
    T.nn.functional.nll_loss(n, k, w[0])
    T.nn.functional.cross_entropy(n, k, w[0])
    T.nn.functional.cross_entropy(n, n, w[0])
    T.nn.functional.binary_cross_entropy(n, n, w)
    T.nn.functional.binary_cross_entropy_with_logits(n, n, w)
    T.nn.functional.binary_cross_entropy_with_logits(n, n, pos_weight=w)
    T.nn.functional.multi_margin_loss(n, k, weight=w[0])
    T.nn.functional.soft_margin_loss(n, w)
    T.nn.functional.multilabel_soft_margin_loss(n, n, w)
    T.linalg.pinv(n, rtol=w[0, 0])
    T.linalg.pinv(n, atol=w[0, 0])
    T.fake_quantize_per_tensor_affine(n, w[0, 0], T.tensor(0), 0, 9)
    T.fake_quantize_per_channel_affine(n, w[0], T.zeros(3), 1, 0, 9)
""")
MODES = lines("""
    T.inference_mode().mode
    T.inference_mode().clone().mode
    T.inference_mode(mode=False).mode
    T.inference_mode(both)()
    T.inference_mode()(both)()
    T.inference_mode(False)(both)()
    T.no_grad(both)()
    T.no_grad()(T.inference_mode(both))()
    T.inference_mode()(T.enable_grad(both))()
    T.inference_mode()(T.inference_mode(False)(both))()
    T.no_grad()(T.inference_mode(False)(both))()
    T.set_grad_enabled(1)
    T.set_grad_enabled(both)
    T.set_grad_enabled(False)(both)()
    T.inference_mode()(int)(3)
    [*T.no_grad()(steps)(), *both()]
    [*T.inference_mode()(steps)(), *both()]
    T.autograd.no_grad()(both)()
""")


def made(lib):
    """Tensors of all kinds, made in and out of inference mode."""
    with lib.inference_mode():
        i, g = lib.ones(2, 3), lib.ones(2, 3, requires_grad=True)
    n, w = lib.ones(2, 3), lib.ones(2, 3).requires_grad_()
    with lib.inference_mode():
        vn, vw, vi = n.view(6), w.view(6), i.view(6)
    return {"T": lib, "copy": copy, "i": i, "g": g, "n": n, "w": w, "vn": vn, "vw": vw, "vi": vi, "h": w * 2}


def state(x):
    """What a tensor tells of its history, and its elements."""
    if not hasattr(x, "is_inference"):
        return x
    try:
        version = x._version
    except RuntimeError:
        version = None
    told = x.is_inference(), version, x._is_view(), x._base is None, x.requires_grad
    return told, tuple(x.shape), x.stride(), values_of(x)


def values_of(x):
    """The elements; none of a tensor on meta."""
    return None if x.device.type == "meta" else x.detach().tolist()


def outcome(lib, statement, inside):
    """The type of exception of a statement, and the state of all tensors after it."""
    scope = made(lib)
    error = None
    with lib.inference_mode() if inside else contextlib.nullcontext(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(statement, scope)
        except Exception as e:
            error = base_of(e) if isinstance(e, RuntimeError) else exception_type(e)
        return error, [state(scope.get(name)) for name in ("x", "i", "n", "w", "g", "h")]


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_inference_tensors_are_as_in_torch(statement, inside):
    assert outcome(ref, statement, inside) == outcome(torch, statement, inside)


@pytest.mark.parametrize("expression", KEPT + CONSTANT)
def test_what_cannot_be_differentiated_is_refused_as_in_torch(expression):
    def outcome(lib):
        scope = made(lib)
        with lib.inference_mode():
            scope |= {"j": lib.tensor([0, 1]), "m": scope["i"] > 0}
        scope["k"] = lib.tensor([0, 1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                x = eval(expression, scope)
            except Exception as e:
                return exception_type(e)
        return getattr(x, "requires_grad", None)

    assert outcome(ref) == outcome(torch)


@pytest.mark.parametrize("expression", MODES)
def test_modes_nest_as_in_torch(expression):
    got = []
    for lib in (torch, ref):

        def both(lib=lib):
            return lib.is_grad_enabled(), lib.is_inference_mode_enabled(), lib.ones(2).is_inference()

        def steps(both=both):
            yield both()
            yield both()

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                got.append(eval(expression, {"T": lib, "both": both, "steps": steps}))
            except Exception as e:
                got.append(exception_type(e))
        assert lib.is_grad_enabled()
        assert not lib.is_inference_mode_enabled()
    assert got[0] == got[1]


def test_an_operator_stands_behind_every_tensor_that_is_no_leaf():
    for lib in (torch, ref):
        w = lib.ones(2, requires_grad=True)
        y = w * 2
        before = y.grad_fn
        assert w.grad_fn is None
        assert y.detach().grad_fn is None
        assert y.grad_fn is before is not None
        assert y.view(1, 2).grad_fn not in (None, before)
        y.add_(1)
        assert y.grad_fn not in (None, before)
