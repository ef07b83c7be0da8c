"""The calls of `model_cases.py`: each builds what it needs and answers with what is timed, PyTorch only.

Each answer is compared with that of the plain form (float32, the first layout of its line): a model that is fast and
wrong is an error, not a time.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import torch
from stridecheck.conformance.adapters.torch import Torch
from stridecheck.conformance.adapters.torch_device import OnDevice
from stridecheck.conformance.protocol import Unsupported
from torch import Tensor, nn

from . import models
from .device import take_of
from .model_cases import MODELS, ModelCase
from .prepare import CaseFailed, Prepared

TOLERANCES: Mapping[str, float] = {"float32": 1e-3, "float16": 0.005, "bfloat16": 0.03, "int8": 0.15}
"""Largest norm of the difference from the plain form, over the norm of that, by what the precision begins with."""

_BATCH = 64

_FORMATS: Mapping[str, torch.memory_format] = {
    "contiguous": torch.contiguous_format,
    "nchw": torch.contiguous_format,
    "channels_last": torch.channels_last,
}


@dataclass(frozen=True, slots=True)
class Work:
    """What is timed: a call that answers tensors, and the bytes that it moves where it does nothing else."""

    call: Callable[[], Sequence[Tensor]]
    moved_bytes: int = 0


def ready(case: ModelCase, adapter: Any) -> Prepared:
    """The case's call on an adapter of PyTorch's, run once and compared.

    Raises
    ------
    Unsupported
        The adapter is another library's or a mode's, or what the case needs is not here.
    CaseFailed
        The answer is not that of the plain form.
    """
    device = _device(adapter)
    work = _work(case, device)
    answer = [tensor.detach().cpu().clone() for tensor in work.call()]
    plain = replace(case, layout=MODELS[case.operation].layouts[0], dtype="float32")
    if case != plain:
        _check(case, [tensor.detach().cpu() for tensor in _work(plain, device).call()], answer)
    moved = work.moved_bytes
    return Prepared(
        call=work.call,
        take=take_of(adapter),
        output_bytes=moved or sum(tensor.nbytes for tensor in answer),
        touched_bytes=2 * moved,
        copied=None,
    )


def _device(adapter: Any) -> torch.device:
    if isinstance(adapter, OnDevice):
        return adapter.device
    if type(adapter) is not Torch:
        raise Unsupported("models are PyTorch's, and run by torch or torch:DEVICE only")
    return torch.device("cpu")


def _check(case: ModelCase, plain: Sequence[Tensor], answer: Sequence[Tensor]) -> None:
    for ours, theirs in zip(plain, answer, strict=True):
        if ours.shape != theirs.shape:
            raise CaseFailed(f"wrong result: it is {list(theirs.shape)}, but should be {list(ours.shape)}")
    ours, theirs = (torch.cat([one.flatten().double() for one in side]) for side in (plain, answer))
    error, tolerance = ((ours - theirs).norm() / ours.norm()).item(), TOLERANCES[case.dtype.split("_")[0]]
    if not error <= tolerance:
        raise CaseFailed(f"wrong result: it differs from that of the plain form by {error:.2g} of its norm")


def forward(model: nn.Module, x: Tensor, to: torch.dtype | None = None) -> Callable[[], Tensor]:
    """A forward pass, under autocast to a dtype if one is given."""

    def call() -> Tensor:
        with torch.inference_mode(), torch.autocast(x.device.type, to, enabled=to is not None):
            return model(x)  # type: ignore[no-any-return]

    return call


def _forward(build: Callable[[], nn.Module], case: ModelCase, device: torch.device) -> Work:
    model, x = _laid(build, case, device)
    if case.dtype.startswith("int8") and device.type != "cpu":
        raise Unsupported("PyTorch's quantised models run on the CPU only")
    if case.dtype == "int8_dynamic":
        model = models.dynamic_int8(model)
    elif case.dtype == "int8_static":
        model = models.static_int8(model, x)
    elif case.dtype == "int8_torchao":
        model = _torchao(model)
    call = forward(model, x, _autocast(case))
    return Work(lambda: (call(),))


def _torchao(model: nn.Module) -> nn.Module:
    if find_spec("torchao") is None:
        raise Unsupported("torchao is not installed here: pip install torchao")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torchao.quantization import Int8DynamicActivationInt8WeightConfig, quantize_

        quantize_(model, Int8DynamicActivationInt8WeightConfig())
    return model


def _train(
    build: Callable[[], Any], case: ModelCase, device: torch.device, step: Callable[[Any, Tensor], None]
) -> Work:
    """Forward and backward; the answer is the gradients."""
    model, x = _laid(build, case, device)
    model.train()
    to = _autocast(case)

    def call() -> Sequence[Tensor]:
        with torch.autocast(device.type, to, enabled=to is not None):
            step(model, x)
        return [parameter.grad for parameter in model.parameters() if parameter.grad is not None]

    return Work(call)


def _laid(build: Callable[[], nn.Module], case: ModelCase, device: torch.device) -> tuple[nn.Module, Tensor]:
    """The model and its input as the case says; the same numbers for every case of a shape."""
    memory_format = _FORMATS[case.layout]
    model: nn.Module = build().to(device=device, memory_format=memory_format)  # type: ignore[call-overload]
    torch.manual_seed(models.SEED)
    return model, torch.randn(case.shape).to(device).contiguous(memory_format=memory_format)


def _autocast(case: ModelCase) -> torch.dtype | None:
    name, _, how = case.dtype.partition("_")
    return getattr(torch, name) if how == "autocast" else None


def _images(case: ModelCase, device: torch.device) -> Tensor:
    if case.layout == "pinned" and device.type == "cpu":
        raise Unsupported("memory is pinned for a device, which there is none of")
    return torch.arange(math.prod(case.shape), dtype=torch.float32).reshape(case.shape)


def _data_loader(case: ModelCase, device: torch.device) -> Work:
    data, pin = _images(case, device), case.layout == "pinned"
    samples = torch.utils.data.TensorDataset(data)
    loader = torch.utils.data.DataLoader(samples, batch_size=_BATCH, pin_memory=pin)

    def call() -> Sequence[Tensor]:
        for (batch,) in loader:
            last = batch.to(device, non_blocking=pin)
        return (last,)

    return Work(call, data.nbytes)


def _by_hand(case: ModelCase, device: torch.device) -> Work:
    data, pin = _images(case, device), case.layout == "pinned"

    def call() -> Sequence[Tensor]:
        for start in range(0, len(data), _BATCH):
            batch = torch.cat([data[i : i + 1] for i in range(start, start + _BATCH)])
            last = (batch.pin_memory() if pin else batch).to(device, non_blocking=pin)
        return (last,)

    return Work(call, data.nbytes)


def _copied(case: ModelCase, device: torch.device, *, upload: bool) -> Work:
    """A copy between host and device, into memory that is there already."""
    if device.type == "cpu":
        raise Unsupported("a copy to or from a device needs one")
    host, there = _images(case, device), torch.empty(case.shape, device=device)
    host = host.pin_memory() if case.layout == "pinned" else host
    if not upload:
        there.copy_(host)
        host.zero_()
    target, source = (there, host) if upload else (host, there)
    return Work(lambda: (target.copy_(source),), host.nbytes)


def _conv_net(contiguous: bool) -> Callable[[], nn.Module]:
    return partial(models.conv_net, Tensor.contiguous if contiguous else None)


_CALLS: Mapping[str, Callable[[ModelCase, torch.device], Work]] = {
    "model.conv_net": partial(_forward, _conv_net(False)),
    "model.conv_net_contiguous": partial(_forward, _conv_net(True)),
    "model.conv_net_train": partial(_train, _conv_net(False), step=models.train_step),
    "model.conv_net_contiguous_train": partial(_train, _conv_net(True), step=models.train_step),
    "model.mlp": partial(_forward, models.mlp),
    "model.mlp_train": partial(_train, partial(models.mlp, 256, 16), step=models.train_step),
    "model.mlp_train_checkpointed": partial(_train, partial(models.mlp, 256, 16), step=models.train_step_checkpointed),
    "model.loader": _data_loader,
    "model.loader_by_hand": _by_hand,
    "device.upload": partial(_copied, upload=True),
    "device.download": partial(_copied, upload=False),
}


def _work(case: ModelCase, device: torch.device) -> Work:
    return _CALLS[case.operation](case, device)
