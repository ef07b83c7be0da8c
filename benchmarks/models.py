"""Small networks with random weights, which are timed and on which claims are tried: PyTorch only."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint_sequential

SEED = 0


def mlp(width: int = 1024, layers: int = 4) -> nn.Sequential:
    """Linear layers of equal width with ReLU between them: (N, width) to (N, width)."""
    torch.manual_seed(SEED)
    parts: list[nn.Module] = []
    for _ in range(layers):
        parts += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*parts).eval()


class ConvNet(nn.Module):
    """Three convolutions, pooling and a linear layer: (N, 3, H, W) to (N, 10); `between` is called after each ReLU."""

    def __init__(self, width: int = 32, between: Any = None) -> None:
        super().__init__()
        self.quant, self.dequant = torch.ao.quantization.QuantStub(), torch.ao.quantization.DeQuantStub()
        self.convs = nn.ModuleList(
            [nn.Conv2d(channels, width, 3, padding=1) for channels in (3, width, width)],
        )
        self.relu = nn.ReLU()
        self.pool = nn.AdaptiveAvgPool2d(4)
        self.linear = nn.Linear(16 * width, 10)
        self.between = between

    def forward(self, x: Tensor) -> Tensor:
        """Class scores of a batch of images."""
        x = self.quant(x)
        for conv in self.convs:
            x = self.relu(conv(x))
            if self.between is not None:
                x = self.between(x)
        x = self.pool(x)
        x = x.reshape(x.shape[0], -1)
        return self.dequant(self.linear(x))  # type: ignore[no-any-return]


def conv_net(between: Any = None) -> ConvNet:
    """A `ConvNet` with the same random weights each time."""
    torch.manual_seed(SEED)
    return ConvNet(between=between).eval()


def dynamic_int8(model: nn.Module) -> nn.Module:
    """The model with its linear layers in dynamic INT8: weights stored in 8 bits, activations quantised on the way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the module is deprecated for torchao, which not everybody has
        quantised: nn.Module = torch.ao.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)
    return quantised


def static_int8(model: nn.Module, example: Tensor) -> nn.Module:
    """The model in static INT8, calibrated on an example."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # A `ConvNet` says itself where its numbers become 8 bits and where they are numbers again.
        model = copy.deepcopy(model) if isinstance(model, ConvNet) else torch.ao.quantization.QuantWrapper(model)
        model.qconfig = torch.ao.quantization.get_default_qconfig(torch.backends.quantized.engine)
        prepared = torch.ao.quantization.prepare(model)
        prepared(example)
        quantised: nn.Module = torch.ao.quantization.convert(prepared)
    return quantised


def parameter_bytes(model: nn.Module) -> int:
    """Bytes that the model's weights take, packed ones included: the length of what is saved."""
    import io

    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    return buffer.getbuffer().nbytes


def train_step(model: nn.Module, x: Tensor) -> None:
    """Forward and backward; gradients are dropped first."""
    model.zero_grad(set_to_none=True)
    model(x).sum().backward()


def train_step_checkpointed(model: nn.Sequential, x: Tensor, segments: int = 4) -> None:
    """Forward and backward, activations kept at the ends of segments only and computed again."""
    model.zero_grad(set_to_none=True)
    checkpoint_sequential(model, segments, x, use_reentrant=False).sum().backward()
