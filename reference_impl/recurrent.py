"""lstm, gru, rnn_tanh, rnn_relu, composed in PyTorch's order: each step's layout is its operator's.

Values are computed once more, beside the composition, as numbers known within an error (`estimates`).
Source: aten/src/ATen/native/RNN.cpp and mkldnn/RNN.cpp, 2.13.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import arithmetic, joining
from . import dtypes as dt
from .activations import torch_dropout
from .calls import as_number
from .core import TensorBase, as_int, as_scalar, bad_arguments
from .errors import LayoutError, LayoutIndexError, fatal
from .estimates import Estimate, can_estimate, joined
from .grad_mode import is_grad_enabled
from .recurrent_cells import (
    Cell,
    Hidden,
    Weights,
    known,
    linear,
    next_gru,
    next_lstm,
    next_rnn_relu,
    next_rnn_tanh,
    size_of,
)
from .view_ops import reshape_to

if TYPE_CHECKING:
    from .tensors import Tensor


def _stack(parts: Sequence[Any]) -> Any:
    return joined(parts, np.stack, 0) if parts and isinstance(parts[0], Estimate) else joining.stack(parts)


def _cat(parts: Sequence[Any], dim: int = 0) -> Any:
    estimated = parts and isinstance(parts[0], Estimate)
    return joined(parts, np.concatenate, dim) if estimated else joining.cat(parts, dim)


# Layers in one direction: from an input and a first state to the output and the last state.


def _padded_layer(input: Any, hidden: Hidden, w: Weights, cell: Cell, backwards: bool) -> Any:
    steps = list(linear(input, w.w_ih, w.b_ih).unbind(0))
    if not steps:
        raise LayoutError("size", "a sequence of length 0 has no hidden state")
    outputs = []
    for step in reversed(steps) if backwards else steps:
        hidden = cell(known(step), hidden, w)
        outputs.append(hidden[0])
    return _stack(outputs[::-1] if backwards else outputs), hidden


def _part(hidden: Hidden, start: int, end: int) -> Hidden:
    return tuple([h.narrow(0, start, end - start) for h in hidden])


def _packed_layer(input: Any, hidden: Hidden, w: Weights, cell: Cell, backwards: bool, sizes: list[int]) -> Any:
    """A layer over rows of which each step takes as many as there are sequences left, longest sequences first."""
    rows = linear(input, w.w_ih, w.b_ih)
    return (_packed_backwards if backwards else _packed_forwards)(rows, hidden, w, cell, sizes)


def _packed_forwards(rows: Any, hidden: Hidden, w: Weights, cell: Cell, sizes: list[int]) -> Any:
    outputs, ended = [], []
    place, before = 0, sizes[0] if sizes else 0
    for size in sizes:
        step = rows.narrow(0, place, size)
        place += size
        if size < before:
            ended.append(_part(hidden, size, before))
            hidden = _part(hidden, 0, size)
        before = size
        hidden = cell(known(step), hidden, w)
        outputs.append(hidden[0])
    every = [hidden, *reversed(ended)]
    output = _cat(outputs)
    return output, tuple([_cat(states) for states in zip(*every, strict=True)])


def _packed_backwards(rows: Any, first: Hidden, w: Weights, cell: Cell, sizes: list[int]) -> Any:
    outputs = []
    place, before = (rows.value if isinstance(rows, Estimate) else rows).shape[0], sizes[-1]
    hidden = _part(first, 0, before)
    for size in reversed(sizes):
        if size > before:
            begun = _part(first, before, size)
            hidden = tuple([_cat(states) for states in zip(hidden, begun, strict=True)])
        place -= size
        step = rows.narrow(0, place, size)
        before = size
        hidden = cell(known(step), hidden, w)
        outputs.append(hidden[0])
    return _cat(outputs[::-1]), hidden


class _Network(NamedTuple):
    """What a call asks for beside its tensors."""

    cell: Cell
    layers: int
    dropout: float
    train: bool
    bidirectional: bool
    sizes: list[int] | None
    """Rows of each step, of packed sequences; None of padded ones."""

    @property
    def directions(self) -> int:
        """1 or 2."""
        return 2 if self.bidirectional else 1

    @property
    def drops(self) -> bool:
        """Whether some of what goes from one layer to the next is dropped."""
        return self.dropout != 0 and self.train and self.layers > 1

    def run(self, input: Any, states: Sequence[Any], weights: Sequence[Weights]) -> tuple[Any, list[Any]]:
        """The output of the last layer, and the last states of all, stacked."""
        first, *others = [s.unbind(0) for s in states]
        if any(len(s) < len(first) for s in others):
            raise fatal(LayoutError("size", "PyTorch looks for as many cell states as there are hidden states"))
        hiddens = list(zip(first, *others, strict=False))
        count = self.directions
        if len(hiddens) % count or len(weights) % count:
            raise LayoutError("size", "an odd number of states or weights for two directions")
        if self.layers * count != len(hiddens) or self.layers * count != len(weights):
            raise LayoutError("size", f"{len(hiddens)} states and {len(weights)} weights for {self.layers} layers")
        last: list[Hidden] = []
        for k in range(self.layers):
            outputs = []
            for d in range(count):
                at = k * count + d
                layer = (input, hiddens[at], weights[at], self.cell, d == 1)
                output, hidden = _padded_layer(*layer) if self.sizes is None else _packed_layer(*layer, self.sizes)
                outputs.append(output)
                last.append(hidden)
            input = outputs[0] if count == 1 else _cat(outputs, -1)
            if self.drops and k < self.layers - 1:
                input = torch_dropout(input, self.dropout, True)
        return input, [_stack([h[j] for h in last]) for j in range(len(states))]


def _gathered(params: Sequence["Tensor"], has_biases: bool, projected: bool) -> list[Weights]:
    """Parameters by layers and directions. Raises: size."""
    each = 2 + 2 * has_biases + projected
    if len(params) % each:
        raise LayoutError("size", f"{len(params)} parameters are no multiple of {each}")
    found = []
    for k in range(0, len(params), each):
        own = params[k : k + each]
        b_ih, b_hh = own[2:4] if has_biases else (None, None)
        found.append(Weights(own[0], own[1], b_ih, b_hh, own[-1] if projected else None))
    return found


def _check_devices(input: "Tensor", *others: "Tensor") -> None:
    for t in others:
        if t._storage._is_meta is not input._storage._is_meta:
            raise LayoutError("device", "the input and other tensors lie on different devices")


# What is given.

_PADDED = ["input", "hx", "params", "has_biases", "num_layers", "dropout", "train", "bidirectional", "batch_first"]
_PACKED = ["data", "batch_sizes", "hx", "params", "has_biases", "num_layers", "dropout", "train", "bidirectional"]


def _fits(name: str, x: Any, listed: bool) -> bool:
    """Whether PyTorch takes a value for an argument of that name; `listed` says that states are given as a list."""
    if name == "params" or (name == "hx" and listed):
        return isinstance(x, (tuple, list)) and all(isinstance(t, TensorBase) for t in x)
    if name in ("input", "data", "batch_sizes", "hx"):
        return isinstance(x, TensorBase)
    if name in ("num_layers", "dropout"):
        x = as_number(as_scalar(x))
        return isinstance(x, (int, float)) if name == "dropout" else isinstance(x, int) and not isinstance(x, bool)
    return isinstance(x, bool)


def _given(function: str, args: tuple[Any, ...], kwargs: dict[str, Any], listed: bool) -> dict[str, Any]:
    """Arguments by their names in the first of the two signatures that they fit. Raises: argument (TypeError)."""
    for names in (_PACKED, _PADDED):
        given = dict(zip(names, args, strict=False)) | kwargs
        named = len(args) + len(kwargs) == len(names) and given.keys() == set(names)
        if named and all(_fits(name, x, listed) for name, x in given.items()):
            given["num_layers"] = as_int(as_number(as_scalar(given["num_layers"])), "num_layers")
            given["dropout"] = float(as_scalar(given["dropout"]))
            return given
    raise bad_arguments(function)


def _sizes_in(batch_sizes: "Tensor") -> list[int]:
    """As many numbers as the tensor is long, read from memory one after the other, whatever its strides.

    Raises: dimension (IndexError), dtype, device. Source: torch 2.13.
    """
    if not batch_sizes.ndim:
        raise LayoutIndexError("dimension", "batch_sizes has no dimensions")
    if batch_sizes._storage._is_meta:
        raise LayoutError("device", "batch_sizes has no data")
    if batch_sizes.dtype is not dt.int64:
        raise LayoutError("dtype", f"batch_sizes must be int64, got {batch_sizes.dtype}")
    count, start = batch_sizes._layout.shape[0], batch_sizes._layout.offset * 8
    data = batch_sizes._storage._bytes[start : start + 8 * max(count, 1)]
    if len(data) < 8 * max(count, 1):
        raise fatal(LayoutError("bounds", "PyTorch reads batch_sizes past the end of its storage"))
    return list(data.view(np.int64)[:count].tolist()) if count else []


def _recurrent(name: str, cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> "tuple[Tensor, ...]":
    """The output and the last states."""
    listed = cell is next_lstm
    given = _given(name, args, kwargs, listed)
    states = list(given["hx"]) if listed else [given["hx"]]
    params = list(given["params"])
    packed = "data" in given
    input = given["data"] if packed else given["input"]
    projected = False
    if listed:
        if len(states) != 2:
            raise LayoutError("size", f"lstm: two states are needed, got {len(states)}")
        projected = size_of(states[0], 2) != size_of(states[1], 2)
    sizes = _sizes_in(given["batch_sizes"]) if packed else None
    first = not packed and given["batch_first"]
    fused = listed and not projected and _is_fused(input, *states, *params)
    flat = fused and sizes is not None and len(set(sizes)) == 1
    if flat and sizes:
        # Sequences of one length are not packed at all.
        input, sizes = reshape_to(input, (len(sizes), sizes[0], size_of(input, 1))), None
    network = _Network(cell, given["num_layers"], given["dropout"], given["train"], given["bidirectional"], sizes)
    if fused and sizes is None:
        weights = _fused_weights(input, states, params, given["has_biases"], network, first)
        states = [s.narrow(0, 0, len(weights)) for s in states]
    else:
        if sizes is None:
            _check_devices(input, *states, *params)
        weights = _gathered(params, given["has_biases"], projected)
    steps_first = input.transpose(0, 1) if first else input
    output, last = network.run(steps_first, states, weights)
    if first:
        output = output.transpose(0, 1) if listed else output.transpose_(0, 1)
    if not network.drops and can_estimate(input, *states, *params):
        with np.errstate(all="ignore"):
            value, lasts = network.run(Estimate.of(steps_first), [Estimate.of(s) for s in states], weights)
        for t, found in zip((output, *last), (value.transpose(0, 1) if first else value, *lasts), strict=True):
            found.settle(t)
    if flat:
        output = output.view(-1, output._layout.shape[2])
    return (output, *last)


def lstm(*args: Any, **kwargs: Any) -> "tuple[Tensor, Tensor, Tensor]":
    """Long short-term memory: outputs of the last layer at all steps, last hidden states and last cell states.

    `lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)`, or of packed
    sequences `lstm(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)`.

    Shapes: (t, b, i) and two states (layers * directions, b, h) to (t, b, directions * h) and such states; with
    `batch_first` a transposed view of it, of (b, t, i); packed rows (sum of batch_sizes, i).
    Raises: argument (TypeError), dimension (IndexError), size, broadcast, dtype, device. Source: facts 4.8, torch 2.13.
    """
    return _recurrent("lstm", next_lstm, args, kwargs)  # type: ignore[return-value]


def gru(*args: Any, **kwargs: Any) -> "tuple[Tensor, Tensor]":
    """Gated recurrent units; arguments as of `lstm`, with one state.

    With `batch_first` the output is no view, but has been transposed in place.
    Raises: as `lstm`. Source: facts 4.8, torch 2.13.
    """
    return _recurrent("gru", next_gru, args, kwargs)  # type: ignore[return-value]


def rnn_tanh(*args: Any, **kwargs: Any) -> "tuple[Tensor, Tensor]":
    """Elman's network with the hyperbolic tangent; as `gru`. Raises: as `lstm`. Source: facts 4.8, torch 2.13."""
    return _recurrent("rnn_tanh", next_rnn_tanh, args, kwargs)  # type: ignore[return-value]


def rnn_relu(*args: Any, **kwargs: Any) -> "tuple[Tensor, Tensor]":
    """Elman's network with rectified sums; as `gru`. Raises: as `lstm`. Source: facts 4.8, torch 2.13."""
    return _recurrent("rnn_relu", next_rnn_relu, args, kwargs)  # type: ignore[return-value]


# An LSTM's layer as one call to oneDNN, which looks at no shapes.


def _is_fused(input: "Tensor", *others: "Tensor") -> bool:
    """Whether PyTorch leaves an LSTM to oneDNN: short floats only on processors that compute in them."""
    d = input.dtype
    on_cpu = not any(t._storage._is_meta for t in (input, *others))
    taken = d in (dt.float32, dt.bfloat16) or (d is dt.float16 and not is_grad_enabled())
    return on_cpu and taken and input.numel() != 0


def _fused_weights(
    input: "Tensor",
    states: Sequence["Tensor"],
    params: list["Tensor"],
    has_biases: bool,
    network: _Network,
    first: bool,
) -> list[Weights]:
    """The parameters that oneDNN looks at, of each layer's two biases the sum.

    Raises: size, dtype, dimension (IndexError); fatal where it would read past the end of a tensor.
    """
    each, count = 2 + 2 * has_biases, network.layers * network.directions
    shape = input._layout.shape
    if len(shape) < 3:
        raise LayoutIndexError("dimension", f"lstm: an input of 3 dimensions is needed, got {shape}")
    if count <= 0:
        raise LayoutError("size", f"lstm: {network.layers} layers")
    if len(params) % each or len(params) < count * each:
        raise LayoutError("size", f"lstm: {len(params)} parameters for {network.layers} layers")
    for s in states:
        if s._layout.shape[0] < count:
            raise LayoutIndexError("index", f"lstm: states of {s._layout.shape} for {network.layers} layers")
    batch, hidden = shape[0 if first else 1], states[0]._layout.shape[2]
    if any(s._layout.shape[1:] != (batch, hidden) for s in states) or len(shape) > 3:
        raise _misread([input, *states])
    weights = []
    for k in range(count):
        w_ih, w_hh, *biases = params[k * each : (k + 1) * each]
        bias = arithmetic.add(*biases) if biases else None
        tensors = [w_ih, w_hh, *([] if bias is None else [bias])]
        if any(t.dtype is not input.dtype for t in (*tensors, *states)):
            raise LayoutError("dtype", f"lstm: an input of {input.dtype}, but not all of {[t.dtype for t in tensors]}")
        if not hidden:
            raise LayoutError("size", "lstm: oneDNN has no kernel for states without elements")
        wide = shape[2] if k < network.directions else hidden * network.directions
        if [w_ih._layout.shape, w_hh._layout.shape] != [(4 * hidden, wide), (4 * hidden, hidden)]:
            raise _misread(tensors)
        if bias is not None and bias.numel() != 4 * hidden:
            raise _misread(tensors)
        weights.append(Weights(w_ih, w_hh, None if bias is None else reshape_to(bias, (4 * hidden,))))
    return weights


def _misread(tensors: Sequence["Tensor"]) -> LayoutError:
    shapes = [t._layout.shape for t in tensors]
    return fatal(
        LayoutError("size", f"lstm: oneDNN takes shapes for granted, and reads past the end of some of {shapes}")
    )
