"""What is measured to try a claim: two calls beside each other, or a statement that holds or does not.

Each contest says what is compared, on which sizes; `claims.py` says what is claimed of it. PyTorch is driven directly:
models, loaders and files are no programs of one step.
"""

from __future__ import annotations

import io
import os
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from stridecheck.conformance.adapters.torch import peak_bytes
from torch import Tensor

from . import models
from .clock import Call
from .device_contests import channels_last_on_device, pinned_uploads
from .model_calls import forward
from .trials import Bytes, Contest, Statement, Trial


def _matrix(n: int) -> Tensor:
    torch.manual_seed(models.SEED)
    return torch.randn(n, n)


def _stepped(x: Tensor) -> Tensor:
    """The same elements in every second column of wider memory."""
    wide = x.new_zeros(*x.shape[:-1], 2 * x.shape[-1])
    wide[..., ::2] = x
    return wide[..., ::2]


def _transposed(x: Tensor) -> Tensor:
    """The same elements, columns in memory one after the other."""
    return x.transpose(-1, -2).contiguous().transpose(-1, -2)


def _row_major(x: Tensor) -> Tensor:
    return x


_RELAID = {"transposed": _transposed, "every second column": _stepped}


def relaid(what: str, function: Callable[[Tensor], Any], make: Callable[[], Tensor]) -> list[Contest]:
    """A function on a row-major operand against the same elements laid out otherwise."""

    def pair(lay: Callable[[Tensor], Tensor]) -> tuple[Call, Call]:
        x = make()
        return partial(function, x), partial(function, lay(x))

    return [Contest(f"{what}, {name}", partial(pair, lay)) for name, lay in _RELAID.items()]


def matmul_relaid() -> list[Contest]:
    """A square matrix product whose first operand is not contiguous."""
    return [
        contest
        for n in (64, 256, 1024)
        for contest in relaid(f"{n} × {n}", partial(_times, _matrix(n)), partial(_matrix, n))
    ]


def _times(y: Tensor, x: Tensor) -> Tensor:
    return x @ y


def conv_relaid() -> list[Contest]:
    """A convolution whose input is not contiguous."""
    found = []
    for batch, side in ((1, 28), (8, 56)):
        torch.manual_seed(models.SEED)
        weight = torch.randn(64, 64, 3, 3)
        make = partial(torch.randn, batch, 64, side, side)
        found += relaid(f"{batch} × 64 × {side} × {side}", partial(F.conv2d, weight=weight, padding=1), make)
    return found


def add_relaid() -> list[Contest]:
    """Doubling (x + x) of operands that are not contiguous."""
    return [contest for n in (64, 512, 2048) for contest in relaid(f"{n} × {n}", lambda x: x + x, partial(_matrix, n))]


def transpose_relaid() -> list[Contest]:
    """t().contiguous() on operands that are not contiguous."""
    return [
        contest
        for n in (64, 512, 2048)
        for contest in relaid(f"{n} × {n}", lambda x: x.t().contiguous(), partial(_matrix, n))
    ]


def sum_relaid() -> list[Contest]:
    """sum(-1) on operands that are not contiguous."""
    return [
        contest
        for n in (64, 512, 2048)
        for contest in relaid(f"sum(-1), {n} × {n}", lambda x: x.sum(-1), partial(_matrix, n))
    ]


def all_relaid() -> list[Contest]:
    """Every operation above."""
    prefixed = [("matmul", matmul_relaid()), ("conv2d", conv_relaid()), ("add", add_relaid())]
    found = [Contest(f"{name}, {one.label}", one.make) for name, group in prefixed for one in group]
    return found + sum_relaid()


def column_major_products() -> list[Contest]:
    """Products and row sums on column-major operands against row-major ones."""

    def pair(n: int) -> tuple[Call, Call]:
        x, y = _matrix(n), _matrix(n)
        return partial(torch.matmul, x, y), partial(torch.matmul, _transposed(x), _transposed(y))

    return [Contest(f"{n} × {n}", partial(pair, n)) for n in (64, 256, 1024)]


def row_major_work() -> list[Contest]:
    """Operations on a column-major matrix against the same elements in row-major order."""

    def pair(function: Callable[[Tensor], Any]) -> tuple[Call, Call]:
        x = _matrix(512)
        return partial(function, _transposed(x)), partial(function, x)

    work: dict[str, Callable[[Tensor], Any]] = {
        "x + x": lambda x: x + x,
        "relu": torch.relu,
        "sum(0)": lambda x: x.sum(0),
        "sum(-1)": lambda x: x.sum(-1),
        "softmax(-1)": lambda x: x.softmax(-1),
        "x @ x": lambda x: x @ x,
    }
    return [Contest(f"{name}, 512 × 512", partial(pair, function)) for name, function in work.items()]


def in_place(out_of_place: Callable[[Tensor], Any], in_place: Callable[[Tensor], Any]) -> list[Contest]:
    """An operation and its form in place."""

    def pair(n: int) -> tuple[Call, Call]:
        x = _matrix(n).relu_()
        return partial(out_of_place, x), partial(in_place, x)

    return [Contest(f"{n} × {n}", partial(pair, n)) for n in (64, 512, 2048)]


def in_place_bytes(operands: int, out_of_place: Callable[[Tensor], Any], in_place: Callable[[Tensor], Any]) -> Bytes:
    """Memory at the peak, operands included, in place over out of place."""

    def count() -> tuple[int, int]:
        x = _matrix(1024)
        held = operands * x.nbytes
        return held + peak_bytes(partial(out_of_place, x)), held + peak_bytes(partial(in_place, x))

    plural = "" if operands == 1 else "s"
    return Bytes(f"1024 × 1024, with {operands} operand{plural}", count)


def network_times(second: Callable[[torch.nn.Module, Tensor], Call], *, linear: bool = True) -> list[Contest]:
    """The forward pass of an MLP and a convolutional net in FP32 against another form of them."""

    def pair(model: torch.nn.Module, x: Tensor) -> tuple[Call, Call]:
        return forward(model, x), second(model, x)

    found = [Contest("conv net, 16 × 3 × 64 × 64", lambda: pair(models.conv_net(), torch.randn(16, 3, 64, 64)))]
    if linear:
        found += [Contest(f"MLP of 4 × 1024, batch {batch}", partial(_fresh, pair, batch, 1024)) for batch in (1, 64)]
    return found


def _fresh(pair: Callable[[torch.nn.Module, Tensor], tuple[Call, Call]], *shape: int) -> tuple[Call, Call]:
    return pair(models.mlp(), torch.randn(*shape))


def dynamic(model: torch.nn.Module, x: Tensor) -> Call:
    """Forward in dynamic INT8."""
    return forward(models.dynamic_int8(model), x)


def static(model: torch.nn.Module, x: Tensor) -> Call:
    """Forward in static INT8."""
    return forward(models.static_int8(model, x), x)


def mixed(model: torch.nn.Module, x: Tensor) -> Call:
    """Forward under bfloat16 autocast."""
    return forward(model, x, torch.bfloat16)


def weight_bytes() -> list[Bytes]:
    """Saved weights in FP32 and in dynamic INT8."""

    def count(make: Callable[[], torch.nn.Module]) -> tuple[int, int]:
        model = make()
        return models.parameter_bytes(model), models.parameter_bytes(models.dynamic_int8(model))

    return [
        Bytes("weights of the MLP", partial(count, models.mlp)),
        Bytes("weights of the conv net", partial(count, models.conv_net)),
    ]


def static_weight_bytes() -> list[Bytes]:
    """Saved weights in FP32 and in static INT8."""

    def count() -> tuple[int, int]:
        model = models.conv_net()
        return models.parameter_bytes(model), models.parameter_bytes(
            models.static_int8(model, torch.randn(4, 3, 32, 32))
        )

    return [Bytes("weights of the conv net", count)]


def autocast_bytes() -> list[Bytes]:
    """Memory at the peak of a forward pass, weights included, in FP32 and under bfloat16 autocast."""

    def count(make: Callable[[], torch.nn.Module], *shape: int) -> tuple[int, int]:
        model, x = make(), torch.randn(*shape)
        held = sum(parameter.nbytes for parameter in model.parameters()) + x.nbytes
        return held + peak_bytes(forward(model, x)), held + peak_bytes(mixed(model, x))

    return [
        Bytes("MLP of 4 × 1024, batch 64", partial(count, models.mlp, 64, 1024)),
        Bytes("conv net, 16 × 3 × 64 × 64", partial(count, models.conv_net, 16, 3, 64, 64)),
    ]


def checkpointing() -> list[Bytes]:
    """Memory at the peak of forward and backward, without and with checkpointing."""

    def count(layers: int, batch: int) -> tuple[int, int]:
        peaks = []
        for step in (models.train_step, models.train_step_checkpointed):
            model, x = models.mlp(256, layers).train(), torch.randn(batch, 256, requires_grad=True)
            peaks.append(peak_bytes(partial(step, model, x)))
        return peaks[0], peaks[1]

    return [
        Bytes(f"MLP of {layers} × 256, batch {batch}", partial(count, layers, batch))
        for layers, batch in ((4, 64), (16, 64), (16, 4096), (64, 4096))
    ]


def layout_conversion() -> list[Contest]:
    """permute(0, 2, 3, 1).contiguous() of a batch of images against a plain copy of as many bytes."""

    def pair() -> tuple[Call, Call]:
        x = torch.randn(128, 3, 224, 224)
        return x.clone, lambda: x.permute(0, 2, 3, 1).contiguous()

    return [Contest("128 × 3 × 224 × 224", pair)]


def contiguous_between() -> list[Contest]:
    """A net without and with contiguous() after each ReLU, on both memory formats."""

    def pair(memory_format: torch.memory_format) -> tuple[Call, Call]:
        x = torch.randn(16, 3, 64, 64).contiguous(memory_format=memory_format)
        nets = [models.conv_net(between) for between in (None, Tensor.contiguous)]
        plain, between = (net.to(memory_format=memory_format) for net in nets)  # type: ignore[call-overload]
        return forward(plain, x), forward(between, x)

    return [
        Contest("conv net, NCHW", partial(pair, torch.contiguous_format)),
        Contest("conv net, channels_last", partial(pair, torch.channels_last)),
    ]


def channels_last_model() -> list[Contest]:
    """A convolutional net in NCHW against channels_last: forward, forward under autocast, forward and backward."""

    def pair(call: Callable[[torch.nn.Module, Tensor], Call]) -> tuple[Call, Call]:
        x = torch.randn(16, 3, 64, 64)
        last: Any = models.conv_net().to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        return call(models.conv_net(), x), call(last, x.contiguous(memory_format=torch.channels_last))

    return [
        Contest("forward, FP32", partial(pair, forward)),
        Contest("forward, bfloat16 autocast", partial(pair, mixed)),
        Contest("forward and backward, FP32", partial(pair, lambda model, x: partial(models.train_step, model, x))),
    ]


def transpose_helper() -> list[Contest]:
    """Transposing and copying against a helper that calls contiguous() only where the strides ask for it."""

    def helper(x: Tensor) -> Tensor:
        y = x.t()
        return y if y.is_contiguous() else y.contiguous()

    def pair(lay: Callable[[Tensor], Tensor], n: int) -> tuple[Call, Call]:
        x = lay(_matrix(n))
        return lambda: x.t().contiguous(), partial(helper, x)

    return [
        Contest(f"{n} × {n}, {name}", partial(pair, lay, n))
        for n in (64, 1024)
        for name, lay in (("row-major", _row_major), ("transposed", _transposed))
    ]


def _reshape_by_hand(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The helper that circulates: `view` where the number of elements agrees, else `reshape`."""
    count = 1
    for size in shape:
        count *= size
    return x.view(shape) if count == x.numel() else x.reshape(shape)


def reshape_by_hand() -> list[Contest]:
    """PyTorch's reshape against a helper in Python, on a row-major matrix."""

    def pair(n: int) -> tuple[Call, Call]:
        x = _matrix(n)
        return partial(x.reshape, (n * n,)), partial(_reshape_by_hand, x, (n * n,))

    return [Contest(f"{n} × {n}", partial(pair, n)) for n in (64, 1024)]


def reshape_by_hand_is_correct() -> list[Statement]:
    """Whether the helper answers as `reshape` does on a transposed matrix."""

    def holds() -> bool:
        x = _matrix(64).t()
        try:
            return torch.equal(_reshape_by_hand(x, (64 * 64,)), x.reshape(64 * 64))
        except RuntimeError:
            return False

    return [Statement("64 × 64, transposed", holds)]


def batches_by_hand() -> list[Bytes]:
    """Memory of an epoch through DataLoader against a loader that concatenates the samples of a batch itself."""

    def count() -> tuple[int, int]:
        data = torch.randn(512, 3, 32, 32)
        samples = torch.utils.data.TensorDataset(data)

        def loader() -> None:
            for _ in torch.utils.data.DataLoader(samples, batch_size=64):
                pass

        def by_hand() -> None:
            for start in range(0, len(data), 64):
                torch.cat([data[i : i + 1] for i in range(start, start + 64)])

        return peak_bytes(loader), peak_bytes(by_hand)

    return [Bytes("512 images in batches of 64", count)]


def shared_storage_loading() -> list[Contest]:
    """Loading 16 independent tensors against loading 16 that lie in one storage; from a file and from memory."""

    def tensors(n: int) -> tuple[list[Tensor], list[Tensor]]:
        base = torch.randn(16, n)
        return [row.clone() for row in base], list(base)

    def from_file(n: int) -> tuple[Call, Call]:
        calls = []
        for saved in tensors(n):
            with tempfile.NamedTemporaryFile(prefix="stridecheck-claims-", delete=False) as file:
                torch.save(saved, file)
            calls.append(partial(torch.load, file.name))
            weakref.finalize(calls[-1], os.unlink, file.name)  # tens of MB, which go with the call that reads them
        return calls[0], calls[1]

    def from_memory(n: int) -> tuple[Call, Call]:
        calls = []
        for saved in tensors(n):
            buffer = io.BytesIO()
            torch.save(saved, buffer)
            calls.append(partial(_load, buffer.getvalue()))
        return calls[0], calls[1]

    return [
        Contest(f"16 tensors of {n:,} elements, from {where}", partial(make, n))
        for n in (1000, 250_000)
        for where, make in {"a file": from_file, "memory": from_memory}.items()
    ]


def _load(saved: bytes) -> Any:
    return torch.load(io.BytesIO(saved))


def detach_copies() -> list[Statement]:
    """Whether detach() makes a copy."""

    def holds() -> bool:
        x = _matrix(16).requires_grad_()
        return x.detach().data_ptr() != x.data_ptr()

    return [Statement("16 × 16", holds)]


def views_move_nothing() -> list[Statement]:
    """Whether view and reshape of a row-major tensor take no memory, and clone as much as its operand."""

    def holds() -> bool:
        x = _matrix(256)
        moved = [peak_bytes(call) for call in (lambda: x.view(-1), lambda: x.reshape(-1), x.clone)]
        return moved == [0, 0, x.nbytes]

    return [Statement("256 × 256", holds)]


def in_place_allocates_nothing() -> list[Statement]:
    """Whether operations in place allocate nothing, and products and convolutions at least their result."""

    def holds() -> bool:
        x, image, weight = _matrix(256), torch.randn(4, 16, 32, 32), torch.randn(16, 16, 3, 3)
        nothing = [peak_bytes(call) for call in (lambda: x.add_(x), lambda: x.mul_(x), x.relu_)]
        return (
            nothing == [0, 0, 0]
            and peak_bytes(lambda: x @ x) >= x.nbytes
            and peak_bytes(lambda: F.conv2d(image, weight, padding=1)) >= image.nbytes
        )

    return [Statement("add_, mul_, relu_ against matmul, conv2d", holds)]


def in_place_exists(name: str) -> list[Statement]:
    """Whether PyTorch has an operation in place."""
    return [
        Statement(
            f"torch.Tensor.{name}_ or torch.nn.functional.{name}_",
            lambda: hasattr(Tensor, f"{name}_") or hasattr(F, f"{name}_"),
        )
    ]


def conversion_changes_original() -> list[Statement]:
    """Whether a storage's conversion changes the storage that it is called on."""

    def holds() -> bool:
        storage = torch.tensor([1.5, 300.0]).untyped_storage()
        before = storage.tolist()
        storage.byte()
        return bool(storage.tolist() != before)

    return [Statement("UntypedStorage.byte()", holds)]


TRIALS: Mapping[str, Callable[[], Sequence[Trial]]] = {
    "contiguous.matmul": matmul_relaid,
    "contiguous.conv2d": conv_relaid,
    "contiguous.add": add_relaid,
    "contiguous.transpose": transpose_relaid,
    "contiguous.general": all_relaid,
    "column-major.matmul": column_major_products,
    "row-major.most": row_major_work,
    "in-place.add.time": lambda: in_place(lambda x: x + x, lambda x: x.add_(x)),
    "in-place.relu.time": lambda: in_place(Tensor.relu, Tensor.relu_),
    "in-place.add.memory": lambda: [in_place_bytes(2, lambda x: x + x, lambda x: x.add_(x))],
    "in-place.relu.memory": lambda: [in_place_bytes(1, Tensor.relu, Tensor.relu_)],
    "in-place.memory": lambda: [
        in_place_bytes(2, lambda x: x + x, lambda x: x.add_(x)),
        in_place_bytes(1, Tensor.relu, Tensor.relu_),
    ],
    "in-place.low": in_place_allocates_nothing,
    "in-place.matmul": lambda: in_place_exists("matmul"),
    "in-place.conv2d": lambda: in_place_exists("conv2d"),
    "memory.detach": detach_copies,
    "memory.views": views_move_nothing,
    "int8.dynamic.time": lambda: network_times(dynamic),
    "int8.dynamic.memory": weight_bytes,
    "int8.static.time": lambda: network_times(static, linear=False),
    "int8.static.memory": static_weight_bytes,
    "half.time": lambda: network_times(mixed),
    "half.memory": autocast_bytes,
    "int8.general": lambda: network_times(dynamic),
    "checkpointing.memory": checkpointing,
    "conversion.nhwc": layout_conversion,
    "contiguous.between": contiguous_between,
    "channels-last.model": channels_last_model,
    "transpose.helper": transpose_helper,
    "reshape.by-hand": reshape_by_hand,
    "reshape.by-hand.correct": reshape_by_hand_is_correct,
    "loader.by-hand": batches_by_hand,
    "load.shared": shared_storage_loading,
    "storage.byte": conversion_changes_original,
    "pinned.copies": pinned_uploads,
    "channels-last.gpu": channels_last_on_device,
}
"""Claim's id -> what makes its trials."""
ON_DEVICE = frozenset({"pinned.copies", "channels-last.gpu"})
"""Claims whose trials take a CUDA device."""
