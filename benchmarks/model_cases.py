"""Models, loaders and copies to a device as cases: PyTorch's own objects, timed as a whole.

`stridecheck bench --cases 'model.*,device.*'` times them; a run that names no cases leaves them out, since they take
minutes. What is called is in `model_calls.py`. To widen them, add a line to `MODELS`, and a function there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from stridecheck.conformance.protocol import Adapter, Unsupported

from .cases import AnyCase
from .operands import SHAPES, Shape

if TYPE_CHECKING:
    from .prepare import Prepared


@dataclass(frozen=True, slots=True)
class Model:
    """One thing to be timed as a whole: over which layouts and precisions, and on what input."""

    says: str
    layouts: tuple[str, ...]
    shapes: Mapping[str, Shape]
    """Shape of the input by size class."""
    dtypes: tuple[str, ...] = ("float32",)
    """PyTorch's name of a dtype, or what a model of float32 is made to compute in, see `PRECISIONS`."""
    weights: int = 0
    """Numbers that stay, roughly."""
    each: int = 1
    """Numbers that are held for each number of the input, roughly."""


PRECISIONS: Mapping[str, str] = {
    "float32": "",
    "int8_dynamic": "in dynamic INT8 (torch.ao.quantization)",
    "int8_static": "in static INT8 (torch.ao.quantization)",
    "int8_torchao": "in dynamic INT8 (torchao)",
    "bfloat16_autocast": "under autocast to bfloat16",
    "float16_autocast": "under autocast to float16",
}
"""What a model computes in, by the name that stands in a case in place of a dtype."""

_LAYOUTS: Mapping[str, str] = {
    "contiguous": "row-major",
    "nchw": "weights and images in NCHW",
    "channels_last": "weights and images in channels_last",
    "pageable": "from or to memory that can be paged",
    "pinned": "from or to memory that is pinned",
}

_IMAGES = {"small": (1, 3, 64, 64), "large": (16, 3, 64, 64)}
_ROWS = {"small": (1, 1024), "large": (64, 1024)}
_DEEP = {"small": (64, 256), "large": (1024, 256)}
_EPOCH = {"small": (64, 3, 32, 32), "large": (1024, 3, 32, 32)}
_FORMATS = ("nchw", "channels_last")
_MIXED = ("float32", "bfloat16_autocast")

MODELS: Mapping[str, Model] = {
    "model.conv_net": Model(
        "a convolutional net, forward", _FORMATS, _IMAGES, ("float32", "int8_dynamic", "int8_static",
        "bfloat16_autocast", "float16_autocast"), weights=30_000, each=70,
    ),
    "model.conv_net_contiguous": Model(
        "a convolutional net with contiguous() after each layer, forward", _FORMATS, _IMAGES, each=70,
    ),
    "model.conv_net_train": Model(
        "a convolutional net, forward and backward", _FORMATS, _IMAGES, _MIXED, weights=60_000, each=200,
    ),
    "model.conv_net_contiguous_train": Model(
        "a convolutional net with contiguous() after each layer, forward and backward", _FORMATS, _IMAGES, _MIXED,
        weights=60_000, each=200,
    ),
    "model.mlp": Model(
        "an MLP of 4 layers of 1024, forward", ("contiguous",), _ROWS, tuple(PRECISIONS), weights=10_000_000, each=10,
    ),
    "model.mlp_train": Model(
        "an MLP of 16 layers of 256, forward and backward", ("contiguous",), _DEEP, _MIXED, weights=2_000_000, each=80,
    ),
    "model.mlp_train_checkpointed": Model(
        "the same, activations kept at the ends of 4 segments only and computed again", ("contiguous",), _DEEP, _MIXED,
        weights=2_000_000, each=40,
    ),
    "model.loader": Model(
        "an epoch of images in batches of 64 through DataLoader", ("pageable", "pinned"), _EPOCH, each=2,
    ),
    "model.loader_by_hand": Model(
        "an epoch of images in batches of 64 that are concatenated by hand", ("pageable", "pinned"), _EPOCH, each=2,
    ),
    "device.upload": Model("a copy to the device", ("pageable", "pinned"), SHAPES["matrix"], each=2),
    "device.download": Model("a copy from the device", ("pageable", "pinned"), SHAPES["matrix"], each=2),
}  # fmt: skip
"""What is timed as a whole, by the name that it has in a case."""


@dataclass(frozen=True)
class ModelCase(AnyCase):
    """A model, a loader or a copy to a device as a case: `model.mlp/contiguous/int8_dynamic/small`.

    >>> case = ModelCase("model.conv_net", "channels_last", "float32", "large")
    >>> case.shape, case.recipe
    ((16, 3, 64, 64), {})
    """

    @property
    def says(self) -> str:
        """What is done, in which precision, and how it lies in memory."""
        parts = (MODELS[self.operation].says, PRECISIONS[self.dtype], _LAYOUTS[self.layout])
        return "; ".join(part for part in parts if part)

    @property
    def shape(self) -> Shape:
        """Shape of the input."""
        return MODELS[self.operation].shapes[self.size]

    @property
    def held_bytes(self) -> int:
        """Bytes of weights, input, and what is computed on the way, gradients included."""
        model = MODELS[self.operation]
        return 4 * (model.weights + model.each * math.prod(self.shape))

    def preparer(self, oracle: Adapter | None) -> Callable[[Any], Prepared]:
        """The model built and run once; its answer is compared with that of its plain form, not with the oracle's."""
        return partial(_ready, self)


def _ready(case: ModelCase, adapter: Any) -> Prepared:
    try:
        from .model_calls import ready
    except ImportError:
        raise Unsupported("models are PyTorch's, which is not installed here") from None
    return ready(case, adapter)


def model_cases() -> Sequence[ModelCase]:
    """Everything that is timed as a whole."""
    return [
        ModelCase(name, layout, dtype, size)
        for name, model in MODELS.items()
        for layout in model.layouts
        for dtype in model.dtypes
        for size in model.shapes
    ]
