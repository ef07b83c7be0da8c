"""Recurrent networks and their cells: layout, views, versions, history and values of answers, and what is refused."""

import numpy as np
import pytest
import stridecheck.reference_impl as ref
import torch
from stridecheck.reference_impl import shadow

from .agreement import disagreement
from .operands import Drawer, for_onednn
from .twins import fuzz

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
DTYPES = ["float32", "float32", "float64", "float64", "bfloat16", "complex64", "int64", "bool", "complex32"]


class Network:
    """Draws the weights of a network, and now and then one that does not fit where PyTorch looks at shapes."""

    def __init__(self, rng, pair, name):
        # Half precision goes through oneDNN or not, by the processor.
        self.rng, self.d = rng, Drawer(rng, pair, for_onednn(DTYPES))
        self.name, self.gates = name, GATES[name]
        # What oneDNN is given is not checked, and what does not fit is read past its end.
        self.is_unchecked = name == "lstm" and self.d.dtype in ("float32", "bfloat16")
        self.i, self.h, self.b = rng.choice([0, 1, 3]), rng.choice([1, 2, 3]), rng.choice([0, 1, 2, 3])
        self.a = {}

    def tensor(self, name, shape):
        shape = list(shape)
        if not self.is_unchecked and self.rng.random() < 0.02 and name[0] != "b":
            shape[-1] += 1
        self.a[name] = self.d.tensor(shape, 0.1, 1 if self.is_unchecked else 0.99)
        return f"v[{name}]"

    def weights(self, at, width, projected=0):
        rows, hidden = self.gates * self.h, projected or self.h
        found = [self.tensor(f"wi{at}", [rows, width]), self.tensor(f"wh{at}", [rows, hidden])]
        if self.biases:
            found += [self.tensor(f"bi{at}", [rows]), self.tensor(f"bh{at}", [rows])]
        return found + ([self.tensor(f"p{at}", [projected, self.h])] if projected else [])

    def states(self, count, batch, projected=0):
        first = self.tensor("h", [count, batch, projected or self.h])
        return f"[{first}, {self.tensor('c', [count, batch, self.h])}]" if self.name == "lstm" else first

    def call(self, input, batch, last):
        """The call of a whole network; `last` is what follows `bidirectional`."""
        rng = self.rng
        layers, both = rng.choice([1, 1, 2, 3]), rng.random() < 0.4
        self.biases = rng.random() < 0.7
        count = layers * (1 + both)
        projected = self.h + 1 if self.name == "lstm" and rng.random() < 0.2 else 0
        if projected:
            self.is_unchecked = False
        wide = (projected or self.h) * (1 + both)
        params = [w for k in range(count) for w in self.weights(k, self.i if k < 1 + both else wide, projected)]
        dropout = rng.choice(["0.0", "0.0", "0", "0.5"])
        if not self.is_unchecked and rng.random() < 0.03:
            layers += rng.choice([-1, 1])
        return (
            f"T.{self.name}({input}, {self.states(count, batch, projected)}, [{', '.join(params)}], {self.biases}, "
            f"{layers}, {dropout}, {rng.random() < 0.5}, {both}{last})"
        )


def draw_padded(rng, pair):
    n = Network(rng, pair, rng.choice(list(GATES)))
    first = rng.random() < 0.5
    steps = rng.choice([1, 2, 3, 3, 0])
    batch = n.b
    input = n.tensor("x", [batch, steps, n.i] if first else [steps, batch, n.i])
    if not n.is_unchecked and rng.random() < 0.05:
        batch += 1
    return n.call(input, batch, f", {first}"), n.a


def draw_packed(rng, pair):
    n = Network(rng, pair, rng.choice(list(GATES)))
    sizes = sorted((rng.choice([1, 2, 3]) for _ in range(rng.choice([1, 2, 3]))), reverse=True)
    batch = sizes[0]
    # Where all are of one length, oneDNN is given them.
    n.is_unchecked &= len(set(sizes)) == 1
    input = n.tensor("x", [sum(sizes) + (not n.is_unchecked and rng.random() < 0.05), n.i])
    n.a["s"] = [rng.randint(0, 3) for _ in sizes] if not n.is_unchecked and rng.random() < 0.05 else sizes
    return n.call(f"{input}, T.tensor(s)", batch, ""), n.a


def draw_cell(rng, pair):
    n = Network(rng, pair, rng.choice(list(GATES)))
    n.is_unchecked, n.biases = False, rng.random() < 0.7
    input = n.tensor("x", [n.b, n.i])
    states = [n.tensor(name, [n.b, n.h]) for name in ("h", "c")[: 1 + (n.name == "lstm")]]
    hx = f"({', '.join(states)})" if len(states) == 2 else states[0]
    return f"T.{n.name}_cell({input}, {hx}, {', '.join(n.weights('', n.i))})", n.a


@pytest.mark.parametrize("draw", [draw_padded, draw_packed, draw_cell], ids=lambda draw: draw.__name__[5:])
def test_programs_agree_with_torch(draw):
    found = fuzz(draw.__name__, 400, draw, steps=1)
    assert not found, "\n".join(found)


def small(rng, *shape, dtype):
    return (rng.standard_normal(shape) / 4).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", GATES)
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("form", ["padded", "batch_first", "packed"])
def test_values_are_within_what_is_claimed_and_most_are_claimed(name, dtype, form, both):
    packed, first = form == "packed", form == "batch_first"
    rng = np.random.default_rng(1)
    steps, batch, width, hidden, layers = 3, 4, 5, 6, 1
    # A chain of worst cases: of float32 little is left after a few steps.
    if dtype == "float64":
        layers = 2
    count, rows = layers * (1 + both), GATES[name] * hidden
    params = []
    for k in range(count):
        own = width if k < 1 + both else hidden * (1 + both)
        params += [small(rng, *s, dtype=dtype) for s in ((rows, own), (rows, hidden), (rows,), (rows,))]
    shape = (9, width) if packed else (batch, steps, width) if first else (steps, batch, width)
    x, states = small(rng, *shape, dtype=dtype), [small(rng, count, batch, hidden, dtype=dtype) for _ in range(2)]

    def call(lib):
        given = [lib.from_numpy(a.copy()) for a in (x, *states, *params)]
        hx = given[1:3] if name == "lstm" else given[1]
        sizes = [lib.tensor([4, 3, 2])] if packed else []
        last = [] if packed else [first]
        return getattr(lib, name)(given[0], *sizes, hx, given[3:], True, layers, 0.0, False, both, *last)

    for theirs, ours in zip(call(torch), call(ref), strict=True):
        known = shadow.marks_of(ours) == shadow.TOLERANCE
        assert dtype == "float32" or known.mean() > 0.8
        a, b = theirs.numpy().astype(np.float64), ours.numpy().astype(np.float64)
        assert np.all((np.abs(a - b) <= (4e-6 if dtype == "float32" else 1e-12) * np.abs(a))[known])


X, H = "T.ones(3, 2, 4)", "T.ones(1, 2, 5)"
D = "T.ones(3, 2, 4).double(), (T.ones(1, 2, 5).double(), T.ones(1, 2, 5).double())"


def weights(gates, *, width=4, hidden=5, biases=True, double=False):
    rows = gates * hidden
    shapes = [(rows, width), (rows, hidden), *([(rows,), (rows,)] if biases else [])]
    return "[" + ", ".join(f"T.ones({s})" + ".double()" * double for s in shapes) + "]"


G, L = weights(3), weights(4)
REST = "True, 1, 0.0, False, False"
REFUSED = [
    f"T.gru({X}, {H}, {G}, {REST})",
    f"T.gru({X}, {H}, {G}, {REST}, 0)",
    f"T.gru({X}, {H}, {G}, 1, 1, 0.0, False, False, False)",
    f"T.gru({X}, {H}, {G}, True, 1.0, 0.0, False, False, False)",
    f"T.gru({X}, {H}, {G}, True, True, 0.0, False, False, False)",
    f"T.gru({X}, {H}, {G}, np.bool_(True), 1, 0, False, False, False)",
    f"T.gru({X}, ({H},), {G}, {REST}, False)",
    f"T.gru({X}, {H}, {H}, {REST}, False)",
    f"T.gru({X}, {H}, [None], {REST}, False)",
    f"T.gru({X}, {H}, {G}, {REST}, False, False)",
    f"T.gru({X}, {H}, {G}, {REST}, batchfirst=False)",
    f"T.gru({X}, {H}, {G} + {G}, {REST}, False)",
    f"T.gru({X}, {H}, {G}[:3], {REST}, False)",
    f"T.gru({X}, {H}, [], {REST}, False)",
    f"T.gru({X}, {H}, {G}, True, 0, 0.0, False, False, False)",
    f"T.gru({X}, {H}[:0], [], True, 0, 0.0, False, False, False)",
    f"T.gru({X}, {H}, {G}, True, -1, 0.0, False, False, False)",
    f"T.gru({X}, {H}, {G}, True, 1, 0.0, False, True, False)",
    f"T.gru({X}[:0], {H}, {G}, {REST}, False)",
    f"T.gru({X}[0], {H}, {G}, {REST}, False)",
    f"T.gru({X}[0, 0], {H}, {G}, {REST}, False)",
    f"T.gru(T.tensor(1.0), {H}, {G}, {REST}, True)",
    f"T.gru({X}[None], {H}, {G}, {REST}, False)",
    f"T.gru({X}, {H}[0], {G}, {REST}, False)",
    f"T.gru({X}, T.tensor(1.0), {G}, {REST}, False)",
    f"T.gru({X}, {H}[:, :1], {G}, {REST}, False)",
    f"T.gru({X}.double(), {H}, {G}, {REST}, False)",
    f"T.gru({X}, {H}.to('meta'), {G}, {REST}, False)",
    f"T.gru({X}, T.ones(2, 2, 5), {G} + {G}, True, 2, 2.0, True, False, False)",
    f"T.gru({X}, T.ones(2, 2, 5), {G} + {weights(3, width=5)}, True, 2, 2.0, True, False, False)",
    f"T.gru(T.ones(5, 4), T.tensor([2, 2, 1]).int(), {H}, {G}, {REST})",
    f"T.gru(T.ones(5, 4), T.tensor(2), {H}, {G}, {REST})",
    f"T.gru(T.ones(5, 4), T.tensor([2, 9, 2, 9, 1])[::2], {H}, {G}, {REST})",
    f"T.gru(T.ones(5, 4), T.tensor([2, 1])[:0], {H}, {G}, {REST})",
    f"T.gru(T.ones(5, 4), T.tensor([2, -1]), {H}, {G}, {REST})",
    f"T.gru(T.ones(5, 4), T.tensor([2, 2, 2]), {H}, {G}, {REST})",
    f"T.gru(T.ones(5, 4), T.tensor([0]), {H}, {G}, {REST})",
    f"T.gru(T.ones(5, 4), T.tensor([2, 2, 1]).to('meta'), {H}, {G}, {REST})",
    f"T.gru(T.ones(5, 4), T.tensor([2, 2, 1]), {H}, {G}, {REST}, False)",
    f"T.lstm({X}, {H}, {L}, {REST}, False)",
    f"T.lstm({X}, ({H},), {L}, {REST}, False)",
    f"T.lstm({X}[0], ({H}, {H}), {L}, {REST}, False)",
    f"T.lstm({X}, ({H}[0], {H}[0]), {L}, {REST}, False)",
    f"T.lstm({X}[:0], ({H}, {H}), {L}, {REST}, False)",
    f"T.lstm({X}, ({H}, {H}), {L}[:3], {REST}, False)",
    f"T.lstm({X}, ({H}, {H}), [], {REST}, False)",
    f"T.lstm({X}, ({H}, {H}), {L}, True, 2, 0.0, False, False, False)",
    f"T.lstm({X}, ({H}, {H}), {L} + {weights(4, width=5)}, True, 2, 0.0, False, False, False)",
    f"T.lstm({X}, ({H}, {H}), {L}, True, 0, 0.0, False, False, False)",
    f"T.lstm({X}, ({H}, {H}), {L}, True, -1, 0.0, False, False, False)",
    f"T.lstm({X}, ({H}, {H}), {weights(4, double=True)}, {REST}, False)",
    f"T.lstm({X}, ({H}.double(), {H}), {L}, {REST}, False)",
    f"T.lstm({X}, ({H}, {H}), {L}[:2] + [T.ones(19), T.ones(20)], {REST}, False)",
    f"T.lstm({X}, (T.ones(1, 2, 0), T.ones(1, 2, 0)), {weights(4, hidden=0)}, {REST}, False)",
    f"T.lstm({X}, ({H}[:, :, :3], {H}), {L}, {REST}, False)",
    f"T.lstm({D}, {L}, {REST}, False)",
    f"T.lstm({X}, ({H}, {H}), {L}, True, 1, 0.0, False, False)",
    f"T.gru_cell({X}[0, 0], {H}[0], *{G})",
    f"T.gru_cell({X}[0], {H}[0, 0], *{G})",
    f"T.gru_cell({X}[0], {H}[0], T.ones(15), T.ones(15, 5))",
    f"T.gru_cell({X}[0], {H}[0], T.ones(14, 4), T.ones(15, 5))",
    f"T.gru_cell({X}[0], {H}[0], T.ones(14, 4), T.ones(14, 5))",
    f"T.gru_cell({X}[0][:, :3], {H}[0], *{G})",
    f"T.gru_cell({X}[0], {H}[0][:1], *{G})",
    f"T.gru_cell({X}[0], {H}[0], *{G}[:3], T.ones(3))",
    f"T.gru_cell({X}[0], {H}[0].double(), *{G})",
    f"T.gru_cell({X}[0], {H}[0], {G}[0])",
    f"T.gru_cell({X}[0], ({H}[0],), *{G})",
    f"T.lstm_cell({X}[0], {H}[0], *{L})",
    f"T.lstm_cell({X}[0], ({H}[0],), *{L})",
    f"T.lstm_cell({X}[0], ({H}[0], 1), *{L})",
    f"T.lstm_cell({X}[0], ({H}[0], {H}[0][:1]), *{L})",
    f"T.lstm_cell({X}[0], ({H}[0], {H}[0]), T.ones(19, 4), T.ones(20, 5))",
    f"T.rnn_relu_cell({X}[0].cfloat(), {H}[0].cfloat(), T.ones(5, 4).cfloat(), T.ones(5, 5).cfloat())",
    f"T.rnn_tanh_cell({X}[0], {H}[0], T.ones(4, 4), T.ones(5, 5))",
]


@pytest.mark.parametrize("expression", REFUSED)
def test_refuses_what_torch_refuses(expression):
    assert disagreement(expression) is None


@pytest.mark.parametrize("expression", REFUSED)
def test_refused_is_refused(expression):
    with pytest.raises(Exception):  # noqa: B017, PT011
        eval(expression, {"T": torch, "np": np})


ALLOWED = [
    f"T.gru({X}.to('meta'), {H}.to('meta'), [p.to('meta') for p in {G}], {REST}, False)",
    f"T.lstm({X}.to('meta'), ({H}.to('meta'), {H}.to('meta')), [p.to('meta') for p in {L}], {REST}, False)",
    f"T.gru_cell({X}[0].to('meta'), {H}[0].to('meta'), *[p.to('meta') for p in {G}])",
    f"T.lstm({X}, (T.ones(3, 2, 5), T.ones(2, 2, 5)), {L}, {REST}, False)",
    f"T.lstm({X}.double(), ({H}.double(), T.ones(2, 2, 5).double()), {weights(4, double=True)}, {REST}, False)",
    f"T.lstm(T.ones(4, 4), T.tensor([2, 2]), ({H}, {H}), {L}, {REST})",
    f"T.lstm(T.ones(2, 3, 4), ({H}, {H}), {L}, True, 1, 0.5, True, False, True)[1:]",
    f"T.gru({X}, {H}, {G}, True, T.tensor(1), T.tensor(0.0), False, False, False)",
    f"T.gru({X}, {H}, {G}, True, 1, True, False, False, False)",
    f"T.gru({X}, {H}, {G}, True, np.int64(1), np.float32(0), False, False, False)",
    f"T.gru(input={X}, hx={H}, params=tuple({G}), has_biases=True, num_layers=1, dropout=0.0, train=True, "
    "bidirectional=False, batch_first=False)",
    f"T.gru(batch_sizes=T.tensor([2, 1]), data=T.ones(3, 4), hx={H}, params={G}, has_biases=True, num_layers=1, "
    "dropout=0.0, train=True, bidirectional=False)",
    f"T.gru({X}, {H}, {G}, True, 1, 2.0, True, False, False)",
    f"T.gru(T.ones(5, 4), T.tensor([[2], [2], [1]]), {H}, {G}, {REST})",
    f"T.gru(T.ones(5, 4), T.tensor([1, 2, 2]), {H}, {G}, {REST})",
    f"T.gru(T.ones(5, 4), T.tensor([2, 2, 1, 0]), {H}, {G}, {REST})",
    f"T.lstm({X}, ({H}, {H}), {L} + {L}, {REST}, False)",
    f"T.lstm({X}, ({H}, {H}), {L}, False, 1, 0.0, False, False, False)",
    f"T.lstm({X}, ({H}, {H}), {L}[:2] + [T.ones(1), T.ones(20)], {REST}, False)",
    f"T.rnn_relu_cell({X}[0], {H}[0].double(), T.ones(5, 4), T.ones(5, 5).double())",
]


def layout(x):
    return tuple(x.shape), tuple(x.stride()), str(x.dtype), x._is_view(), x._version, x.untyped_storage().nbytes()


@pytest.mark.parametrize("expression", ALLOWED)
def test_takes_what_torch_takes(expression):
    theirs, ours = (eval(expression, {"T": lib, "np": np}) for lib in (torch, ref))
    if not isinstance(theirs, tuple):
        theirs, ours = (theirs,), (ours,)
    assert [layout(x) for x in theirs] == [layout(x) for x in ours]


MISREAD = [
    f"T.lstm({X}.double(), (T.ones(2, 2, 5).double(), {H}.double()), {weights(4, double=True)}, {REST}, False)",
    f"T.lstm(T.ones(1, 3, 2, 4), ({H}, {H}), {L}, {REST}, False)",
    f"T.lstm({X}, ({H}[:, :1], {H}[:, :1]), {L}, {REST}, False)",
    f"T.lstm({X}, ({H}, {H}[:, :1]), {L}, {REST}, False)",
    f"T.lstm({X}, ({H}, {H}), {weights(4, width=3)}, {REST}, False)",
    f"T.lstm({X}, ({H}, {H}), {L}[:2] + [T.ones(19), T.ones(19)], {REST}, False)",
    f"T.gru({X}, {H}, [p[:2] for p in {G}], {REST}, False)",
    f"T.gru(T.ones(5, 4), T.tensor([2])[1:], {H}, {G}, {REST})",
]


@pytest.mark.parametrize("expression", MISREAD)
def test_where_torch_reads_memory_that_is_not_its_own_nothing_is_expected(expression):
    """PyTorch's process may end here, so that it is not asked (torch 2.13)."""
    with pytest.raises(RuntimeError) as caught:
        eval(expression, {"T": ref})
    assert caught.value.fatal
