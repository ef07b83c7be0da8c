"""lstm_cell, gru_cell, rnn_tanh_cell, rnn_relu_cell: one step of a recurrent network, in PyTorch's order.

Each step's layout is its operator's. Values are computed once more, beside them, as numbers known within an error
(`estimates`). Source: aten/src/ATen/native/RNN.cpp, 2.13.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import products
from .core import TensorBase
from .errors import LayoutError, LayoutIndexError, LayoutTypeError, fatal
from .estimates import Estimate, can_estimate

if TYPE_CHECKING:
    from .tensors import Tensor

Hidden = tuple[Any, ...]
"""What a cell hands on: the hidden state, of an LSTM the cell state, too; tensors or estimates of their values."""


class Weights(NamedTuple):
    """Parameters of one layer in one direction."""

    w_ih: "Tensor"
    w_hh: "Tensor"
    b_ih: "Tensor | None" = None
    b_hh: "Tensor | None" = None
    w_hr: "Tensor | None" = None


Cell = Callable[[Callable[[], Any], Hidden, Weights], Hidden]
"""From what the input comes to, the last states and the weights to the next states."""


def linear(x: Any, weight: "Tensor", bias: "Tensor | None") -> Any:
    """`nn.functional.linear` of a tensor, or of an estimate of one. Raises: as `products.linear`."""
    return x.linear(weight, bias) if isinstance(x, Estimate) else products.linear(x, weight, bias)


def _gates(x: Any, count: int) -> Any:
    found = x.unsafe_chunk(count, 1)
    if len(found) < count:
        raise fatal(LayoutError("size", f"{len(found)} gates, where PyTorch looks for {count}"))
    return found


def known(x: Any) -> Callable[[], Any]:
    """What a cell is given where its input has been gone through already."""
    return lambda: x


# Cells. Where what the input comes to is not computed before them, for all steps at once, the states mostly come first,
# which shows in the first of two errors.


def next_lstm(gates: Callable[[], Any], hidden: Hidden, w: Weights) -> Hidden:
    """The next states of an LSTM. Raises: size, broadcast, dtype. Source: facts 4.8.3, torch 2.13."""
    h, c = hidden
    i, f, g, o = _gates(linear(h, w.w_hh, w.b_hh).add_(gates()), 4)
    # PyTorch's order, which shows in the first of two errors.
    i, f, g, o = i.sigmoid_(), f.sigmoid_(), g.tanh_(), o.sigmoid_()
    c = (f * c).add_(i * g)
    h = o * c.tanh()
    if w.w_hr is not None:
        h = linear(h, w.w_hr, None)
    return h, c


def next_gru(gates: Callable[[], Any], hidden: Hidden, w: Weights) -> Hidden:
    """The next state of gated units, the input first. Raises: size, broadcast, dtype. Source: facts 4.8.3."""
    (h,) = hidden
    x_r, x_z, x_n = _gates(gates(), 3)
    h_r, h_z, h_n = _gates(linear(h, w.w_hh, w.b_hh), 3)
    r = h_r.add_(x_r).sigmoid_()
    z = h_z.add_(x_z).sigmoid_()
    n = x_n.add(h_n.mul_(r)).tanh_()
    return ((h - n).mul_(z).add_(n),)


def next_rnn_tanh(gates: Callable[[], Any], hidden: Hidden, w: Weights) -> Hidden:
    """The next state of Elman's network. Raises: size, broadcast, dtype. Source: facts 4.8.3, torch 2.13."""
    return (linear(hidden[0], w.w_hh, w.b_hh).add_(gates()).tanh(),)


def next_rnn_relu(gates: Callable[[], Any], hidden: Hidden, w: Weights) -> Hidden:
    """The next state of Elman's network, rectified. Raises: as `next_rnn_tanh`. Source: facts 4.8.3, torch 2.13."""
    return (linear(hidden[0], w.w_hh, w.b_hh).add_(gates()).relu(),)


# Single cells.


def size_of(t: "Tensor", dim: int) -> int:
    """The length of a dimension counted from 0. Raises: dimension (IndexError) where there is none."""
    if dim >= t.ndim:
        raise LayoutIndexError("dimension", f"dimension {dim} of a tensor of shape {t._layout.shape}")
    return t._layout.shape[dim]


def _check_input(input: "Tensor", w_ih: "Tensor") -> None:
    wanted = size_of(w_ih, 1)
    if size_of(input, 1) != wanted:
        raise LayoutError("size", f"a cell of inputs of {wanted} got {input._layout.shape}")


def _check_hidden(input: "Tensor", h: "Tensor", hidden: int) -> None:
    if size_of(input, 0) != size_of(h, 0) or size_of(h, 1) != hidden:
        raise LayoutError("size", f"a cell of {hidden} hidden elements got {input._layout.shape} and {h._layout.shape}")


def _check_weights(gates: int, w_ih: "Tensor", w_hh: "Tensor", hidden: int) -> None:
    if any(size_of(w, 0) != gates * hidden for w in (w_ih, w_hh)):
        raise LayoutError("size", f"weights of {w_ih._layout.shape} and {w_hh._layout.shape} for {hidden} elements")


def _cell(cell: Cell, input: "Tensor", hidden: Hidden, w: Weights) -> Hidden:
    results = cell(lambda: linear(input, w.w_ih, w.b_ih), hidden, w)
    if can_estimate(input, *hidden, *[t for t in w if t is not None]):
        with np.errstate(all="ignore"):
            x, states = Estimate.of(input), tuple([Estimate.of(h) for h in hidden])
            exact = cell(lambda: linear(x, w.w_ih, w.b_ih), states, w)
        for t, k in zip(results, exact, strict=True):
            k.settle(t)
    return results


def lstm_cell(
    input: "Tensor", hx: Any, w_ih: "Tensor", w_hh: "Tensor", b_ih: "Tensor | None" = None,
    b_hh: "Tensor | None" = None,
) -> "tuple[Tensor, Tensor]":  # fmt: skip
    """One step of an `lstm`: the next hidden state and cell state.

    Shapes: (b, i), two states (b, h), (4 h, i), (4 h, h) and two of (4 h,) to two of (b, h).
    Raises: argument (TypeError), dimension (IndexError), size, dtype. Source: facts 4.8, torch 2.13.
    """
    if not isinstance(hx, (tuple, list)) or not all(isinstance(t, TensorBase) for t in hx):
        raise LayoutTypeError("argument", "lstm_cell: hx must be a tuple of tensors")
    if len(hx) != 2:
        raise LayoutError("size", f"lstm_cell: two states are needed, got {len(hx)}")
    hidden = size_of(w_hh, 1)
    _check_input(input, w_ih)
    _check_weights(4, w_ih, w_hh, hidden)
    for state in hx:
        _check_hidden(input, state, hidden)
    h, c = _cell(next_lstm, input, tuple(hx), Weights(w_ih, w_hh, b_ih, b_hh))
    return h, c


def gru_cell(
    input: "Tensor", hx: "Tensor", w_ih: "Tensor", w_hh: "Tensor", b_ih: "Tensor | None" = None,
    b_hh: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """One step of a `gru`: the next hidden state.

    Shapes: (b, i), (b, h), (3 h, i), (3 h, h) and two of (3 h,) to (b, h).
    Raises: dimension (IndexError), size, dtype. Source: facts 4.8, torch 2.13.
    """
    _check_input(input, w_ih)
    _check_hidden(input, hx, size_of(w_hh, 1))
    _check_weights(3, w_ih, w_hh, size_of(w_hh, 1))
    return _cell(next_gru, input, (hx,), Weights(w_ih, w_hh, b_ih, b_hh))[0]  # type: ignore[no-any-return]


def rnn_tanh_cell(
    input: "Tensor", hx: "Tensor", w_ih: "Tensor", w_hh: "Tensor", b_ih: "Tensor | None" = None,
    b_hh: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """One step of `rnn_tanh`. Raises: dimension (IndexError), size, dtype. Source: facts 4.8, torch 2.13."""
    return _simple_cell(next_rnn_tanh, input, hx, Weights(w_ih, w_hh, b_ih, b_hh))


def rnn_relu_cell(
    input: "Tensor", hx: "Tensor", w_ih: "Tensor", w_hh: "Tensor", b_ih: "Tensor | None" = None,
    b_hh: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """One step of `rnn_relu`. Raises: dimension (IndexError), size, dtype. Source: facts 4.8, torch 2.13."""
    return _simple_cell(next_rnn_relu, input, hx, Weights(w_ih, w_hh, b_ih, b_hh))


def _simple_cell(cell: Cell, input: "Tensor", hx: "Tensor", w: Weights) -> "Tensor":
    hidden = size_of(w.w_hh, 1)
    _check_weights(1, w.w_ih, w.w_hh, hidden)
    _check_input(input, w.w_ih)
    _check_hidden(input, hx, hidden)
    return _cell(cell, input, (hx,), w)[0]  # type: ignore[no-any-return]
