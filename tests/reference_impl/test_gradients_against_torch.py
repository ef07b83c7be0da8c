"""The memory of a leaf's own gradient: what `backward` of a leaf makes, and adds to."""

import pytest
import stridecheck.reference_impl as ref
import torch
from hypothesis import given
from hypothesis import strategies as st

from .agreement import disagreement, plain

# PyTorch warns of a gradient whose dimensions of length 1 have strides of 0, as its leaf has.
pytestmark = pytest.mark.filterwarnings("ignore:grad and param do not obey")

LEAVES = {
    "row-major": ((2, 3), (3, 1), 0),
    "transposed": ((2, 3), (1, 2), 0),
    "stepped": ((2, 3), (6, 2), 1),
    "expanded": ((2, 3), (3, 0), 0),
    "at an offset": ((2, 3), (3, 1), 4),
    "channels last": ((2, 3, 2, 2), (12, 1, 6, 3), 0),
    "sizes of one": ((1, 2, 1), (7, 1, 9), 0),
    "one element": ((1, 1), (5, 7), 0),
    "without dimensions": ((), (), 3),
    "empty": ((2, 0), (0, 1), 0),
}


def over_memory(lib, shape, strides, offset=0, dtype="float32"):
    memory = lib.arange(64.0).to(getattr(lib, dtype)).untyped_storage()
    return lib.empty(0, dtype=getattr(lib, dtype)).set_(memory, offset, shape, strides).data


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64", "float8_e5m2"])
def test_the_first_gradient_lies_as_its_leaf_where_that_is_dense(leaf, dtype):
    """By whatever layout the gradient has that is given; else row-major, and always in memory of its own."""
    shape, strides, offset = LEAVES[leaf]
    for order in (range(len(shape)), reversed(range(len(shape)))):
        order, got = list(order), []
        for lib in (torch, ref):
            x = over_memory(lib, shape, strides, offset, dtype).requires_grad_()
            given = over_memory(lib, [shape[d] for d in order], lib.empty([shape[d] for d in order]).stride(), 2, dtype)
            given = given.permute([order.index(d) for d in range(len(shape))])
            assert x.backward(given) is None
            assert x.grad is x.grad
            assert x.grad.untyped_storage().data_ptr() not in (
                x.untyped_storage().data_ptr(), given.untyped_storage().data_ptr()
            ) or not x.numel()  # fmt: skip
            got.append(plain([x.grad, x, given]))
        assert repr(got[0]) == repr(got[1])


PROGRAMS = """
    x.backward(g.expand(2,3)), x.grad
    x.backward(w), x.backward(w), x.grad
    x.backward(w), x.backward(w, create_graph=True), x.grad
    x.backward(r, create_graph=True), x.grad
    s.backward(r, create_graph=True), s.grad
    x.backward(r), x.grad
    x.backward(w.double()), x.grad
    x.backward(w.double().t().contiguous().t()), x.grad
    s.backward(w.long()), s.grad
    x.backward(w > 1), x.grad
    x.backward(w + 0j)
    x.backward(w[0])
    x.backward(w.t())
    x.backward(x), x.grad, x.grad is x
    x.backward(w), x.backward(x.grad), x.grad
    x.backward(w._neg_view()), x.grad
    s.backward(w._neg_view()), s.grad
    setattr(x, "grad", o.t()), x.backward(w), x.grad, o
    setattr(x, "grad", o.t()), x.backward(w, create_graph=True), x.grad, o
    setattr(x, "grad", g.expand(2, 3)), x.backward(w), x.grad
    x.backward(w), setattr(x, "grad", None), x.backward(w), x.grad
    x.backward(w), setattr(x, "data", w.t()), x.backward(w), x.grad
    x.backward(w), setattr(x, "data", w.t()), x.backward(w.t())
    x.backward(w, inputs=[s]), x.grad, s.grad
    x.backward(w, inputs=[s, x]), x.grad, s.grad
    x.backward(w, inputs=x), x.grad
    x.backward(w, inputs=[w])
    x.backward(w, True), x.grad
    T.autograd.backward([x, s], [w, g.expand(2, 3)]), x.grad, s.grad
    x.backward(w.to("meta"))
    m.backward(w)
    m.backward(m.detach()), m.grad
    m.backward(m.detach().t().contiguous().t()), m.backward(m.detach()), m.grad
    z.backward(), z.grad
    z.backward(), z.backward(), z.grad
    T.tensor([1.0]).half().requires_grad_().backward()
    T.tensor([1j]).requires_grad_().backward()
    f.backward(w.to(T.float8_e5m2)), f.grad
    f.backward(w.to(T.float8_e5m2)), f.backward(w.to(T.float8_e5m2)), f.grad
    c.backward(w + 1j), c.grad
    c.backward((w + 1j).conj()), c.grad
    c.backward(w)
    v.backward(g), v.grad, g.grad
    x.backward(w), x.grad.zero_(), x, w
"""


@pytest.mark.parametrize("program", PROGRAMS.strip().splitlines())
def test_programs_leave_the_same_gradients(program):
    """What is added to, what is replaced, and what is refused first."""

    def names(lib):
        w = lib.arange(6.0).view(2, 3)
        g = lib.ones(1)
        return {
            "w": w, "g": g, "v": g[:1].requires_grad_(), "o": lib.zeros(3, 2), "r": lib.ones(2, 3, requires_grad=True),
            "x": lib.ones(3, 2).t().requires_grad_(), "s": lib.ones(4, 6)[::2, ::2].requires_grad_(),
            "m": lib.ones(2, 3, device="meta").requires_grad_(), "z": lib.ones(()).requires_grad_(),
            "f": lib.ones(2, 3).to(lib.float8_e5m2).requires_grad_(), "c": (lib.ones(2, 3) * 1j).requires_grad_(),
        }  # fmt: skip

    assert disagreement(program.strip(), names) is None


@given(st.data())
def test_any_layouts_of_a_leaf_and_its_gradients(data):
    """Whatever strides a leaf and two gradients have, zero and repeated ones too, the gradient is torch's."""
    shape = data.draw(st.lists(st.integers(0, 3), max_size=3).map(tuple))
    layouts = [data.draw(st.tuples(*[st.integers(0, 6) for _ in shape])) for _ in range(3)]
    got = []
    for lib in (torch, ref):
        leaf, *gradients = [over_memory(lib, shape, strides) for strides in layouts]
        leaf.requires_grad_()
        for gradient in gradients:
            leaf.backward(gradient)
        got.append(plain(leaf.grad))
    assert got[0] == got[1]


@pytest.mark.parametrize("root", [lambda x: x.sum(), lambda x: x.view(6), lambda x: x.clone()])
def test_gradients_of_what_has_a_history_are_not_computed(root):
    x = ref.ones(2, 3, requires_grad=True)
    y = root(x)
    with pytest.raises(ref.errors.UnspecifiedError, match=r"no engine"):
        y.backward(ref.ones(y.shape))
    assert x.grad is None
    with pytest.raises(ref.errors.UnspecifiedError, match=r"no engine"):
        ref.autograd.backward([x, x], [x.detach(), x.detach()])
    assert x.grad is None
