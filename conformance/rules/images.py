"""Images and their like: the format that convolution, pooling, normalisation, padding and resampling answer in."""

from __future__ import annotations

from ..classify import Event
from ..layout import is_dense, numel
from ..observation import TensorState
from ..operations import group
from ._define import GEOMETRY, RAISING, Family, is_channels_last

family = Family("output-layout")
rule = family.rule

FLAT = "conv2d conv_transpose2d"
SPATIAL = "nn.functional.max_pool2d nn.functional.avg_pool2d nn.functional.lp_pool2d"
ADAPTIVE = "nn.functional.adaptive_avg_pool2d nn.functional.adaptive_max_pool2d"
PADDING = "nn.functional.pad"
SHUFFLING = "nn.functional.pixel_shuffle nn.functional.pixel_unshuffle nn.functional.channel_shuffle"
IMAGES = group("convolutions", "pooling", "normalization", "images")
LAID_OUT = f"{GEOMETRY} contiguity"


def _in_format(state: TensorState) -> bool:
    return is_channels_last(state) and state.contiguity[0] == "F"


@rule(
    "conv.channels-last",
    "A convolution answers in channels_last where its input or its weight suggests that.",
    "4.6.1",
    FLAT,
    LAID_OUT,
)
def _(e: Event) -> bool:
    return e.copied and _in_format(e.y)


@rule("conv.row-major", "A convolution answers row-major where neither suggests another format.", "4.6.1", FLAT,
      LAID_OUT)  # fmt: skip
def _(e: Event) -> bool:
    return e.copied and e.y.contiguity[0] == "T"


@rule("conv.by-weight", "A channels_last weight alone makes a convolution's result channels_last.", "4.6.1", FLAT,
      LAID_OUT)  # fmt: skip
def _(e: Event) -> bool:
    return e.copied and not is_channels_last(e.x) and any(_in_format(o) for o in e.others)


@rule("conv.unbatched", "The convolution of an image without a batch is a view of the batched result.", "4.6.2", FLAT,
      f"{LAID_OUT} flags")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied and len(e.x.shape) == 3


@rule(
    "conv.ambiguous",
    "Images of one channel or of 1×1 pixels count as row-major unless their strides say otherwise.",
    "4.6.3",
    FLAT,
    LAID_OUT,
)
def _(e: Event) -> bool:
    return e.copied and is_channels_last(e.x) and e.x.contiguity[0] == "T"


@rule("conv.gaps", "An input with gaps gives a dense result.", "4.6.4", group("convolutions"))
def _(e: Event) -> bool:
    return e.copied and not is_dense(e.x)


@rule("conv.lines", "A convolution of lines is one of images of height 1, viewed back.", "4.4", "conv1d conv_transpose1d",
      LAID_OUT)  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


@rule("conv.volumes", "A convolution of float64 volumes is row-major on the CPU.", "4.4", "conv3d", LAID_OUT)
def _(e: Event) -> bool:
    return e.copied and e.x.dtype == "float64"


@rule(
    "image.values",
    "What is computed of an image depends on its pixels, not on how they lie.",
    "4.4",
    IMAGES,
    "values",
)
def _(e: Event) -> bool:
    return e.raised is None and e.x.contiguity[0] == "F"


@rule("pool.suggested", "Pooling over two dimensions answers in the format that its input suggests.", "4.4",
      f"{SPATIAL} {ADAPTIVE}", LAID_OUT)  # fmt: skip
def _(e: Event) -> bool:
    return e.copied and _in_format(e.x) and numel(e.y) > 1


@rule("pool.row-major", "Pooling of any other image is row-major.", "4.4", f"{SPATIAL} {ADAPTIVE}", LAID_OUT)
def _(e: Event) -> bool:
    return e.copied and not is_channels_last(e.x)


@rule("pool.indices", "The indices of a maximum are laid out as the maximum is.", "4.4",
      "nn.functional.max_pool1d nn.functional.max_pool2d nn.functional.max_pool3d nn.functional.adaptive_max_pool1d "
      "nn.functional.adaptive_max_pool2d", "shape sharing strides")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and e.observation.is_tuple


@rule("pool.to-one", "Adaptive pooling to one place keeps the format in the strides of sizes 1.", "4.4",
      "nn.functional.adaptive_avg_pool2d nn.functional.adaptive_max_pool2d", "layout contiguity")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied and e.y.shape[-2:] == (1, 1)


@rule("pool.lines", "Pooling of lines is that of images of height 1, viewed back.", "4.4",
      "nn.functional.max_pool1d nn.functional.avg_pool1d nn.functional.adaptive_avg_pool1d "
      "nn.functional.adaptive_max_pool1d", f"{LAID_OUT} flags")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None


@rule("pool.volumes", "Pooling over three dimensions is row-major, but for the maximum.", "4.4",
      "nn.functional.avg_pool3d nn.functional.adaptive_avg_pool3d nn.functional.max_pool3d", LAID_OUT)  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


@rule("norm.batch", "batch_norm answers in the format that its input suggests.", "4.4", "nn.functional.batch_norm",
      LAID_OUT)  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


@rule("norm.batch-gaps", "batch_norm of an image with gaps is dense.", "4.4", "nn.functional.batch_norm")
def _(e: Event) -> bool:
    return e.copied and not is_dense(e.x)


@rule("norm.row-major", "layer_norm and instance_norm answer row-major.", "4.4",
      "nn.functional.layer_norm nn.functional.instance_norm", LAID_OUT)  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


@rule("norm.keeps", "group_norm, local_response_norm and normalize keep channels_last.", "4.4",
      "nn.functional.group_norm nn.functional.local_response_norm nn.functional.normalize", "strides contiguity")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied and _in_format(e.y)


@rule("pad.suggested", "Padding answers in the format that its input suggests.", "4.4", PADDING, LAID_OUT)
def _(e: Event) -> bool:
    return e.copied and _in_format(e.y)


@rule("pad.row-major", "Padding of any other tensor is row-major.", "4.4", PADDING, LAID_OUT)
def _(e: Event) -> bool:
    return e.copied and e.y.contiguity[0] == "T"


@rule("pad.nothing", "Padding by nothing, or cutting alone, is a copy in the input's order.", "4.4", PADDING,
      "strides sharing")  # fmt: skip
def _(e: Event) -> bool:
    pad = e.argument("pad")
    return e.copied and isinstance(pad, tuple) and max(pad, default=0) <= 0


@rule("resample.suggested", "Resampling answers in the format that its input suggests.", "4.4",
      "nn.functional.interpolate", LAID_OUT)  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


@rule("shuffle.suggested", "Pixel and channel shuffles answer in the format that their input suggests.", "4.4", SHUFFLING,
      LAID_OUT)  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


@rule("unfold.row-major", "Windows of images as columns, and back, are row-major.", "4.4",
      "nn.functional.unfold nn.functional.fold", LAID_OUT)  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


@rule("errors.image", "Channels, groups, kernels and paddings that do not fit are refused.", "4.4", IMAGES, RAISING)
def _(e: Event) -> bool:
    return e.raised is not None


RULES = family.rules
