"""Quantised tensors: codes in memory, and the scale by which they are read."""

from __future__ import annotations

from ..classify import NOTHING, Event
from ..observation import TensorState
from ..program import QUANTISED
from ._define import ANSWERS, GEOMETRY, RAISING, VIEWS, Family, viewed

family = Family("quantised")
rule, succeeds, refused = family.rule, family.succeeds, family.refused

BY_TENSOR = "quantize_per_tensor _empty_affine_quantized _make_per_tensor_quantized_tensor"
BY_CHANNEL = "quantize_per_channel _empty_per_channel_affine_quantized"
QUESTIONS = "q_scale q_zero_point qscheme q_per_channel_axis"
CHANNELS = "q_per_channel_scales q_per_channel_zero_points"


def _codes(state: TensorState) -> bool:
    return state.dtype in QUANTISED


succeeds("quantised.leave", "Quantising and reading codes changes nothing that there was.", "10.1.2",
         f"{BY_TENSOR} {BY_CHANNEL} int_repr dequantize {QUESTIONS} {CHANNELS} equal", ANSWERS)  # fmt: skip
succeeds("quantised.codes", "Codes are rounded half to even and kept within their dtype.", "10.1.2",
         "quantize_per_tensor quantize_per_channel", "storage values")  # fmt: skip
succeeds("quantised.layout", "quantize_per_tensor, int_repr and dequantize keep channels_last, and are else row-major.",
         "10.1.3", f"{BY_TENSOR} int_repr dequantize", f"{GEOMETRY} sharing")  # fmt: skip
succeeds(
    "quantised.int-repr", "int_repr() copies the codes as integers.", "10.1.3", "int_repr", "storage sharing shape"
)
succeeds("quantised.dequantised", "dequantize() is float32, in memory of its own.", "10.1.3", "dequantize",
         "shape sharing storage")  # fmt: skip


@rule("quantised.views", "Views share codes and what they mean.", "10.1.4", VIEWS, f"{GEOMETRY} sharing values")
def _(e: Event) -> bool:
    return viewed(e) and _codes(e.x) and _codes(e.y)


@rule("quantised.seen-as-codes", "A view under the dtype of the codes copies nothing.", "10.1.5", "view.dtype",
      f"{GEOMETRY} sharing")  # fmt: skip
def _(e: Event) -> bool:
    return viewed(e) and (_codes(e.x) or _codes(e.y))


succeeds("quantised.channels", "quantize_per_channel is row-major, with a scale and a zero point for each channel.",
         "10.1.6", BY_CHANNEL, f"{GEOMETRY} sharing flags storage")  # fmt: skip
succeeds("quantised.channels-asked", "Scales of channels are float64, zero points int64, in memory of their own.",
         "10.1.6", CHANNELS, "shape sharing storage")  # fmt: skip


@rule("quantised.channels-stay", "What has scales by channel is not permuted.", "10.1.6", VIEWS, RAISING)
def _(e: Event) -> bool:
    return e.raised is not None and _codes(e.x)


@rule("quantised.packed", "Codes narrower than a byte are packed row by row.", "10.1.7", "*", "storage shape")
def _(e: Event) -> bool:
    return e.raised is None and e.y is not NOTHING and e.y.dtype in ("quint4x2", "quint2x4") and not e.same


@rule(
    "quantised.refused", "Codes are not computed with: what has no kernel for them is refused.", "10.1.8", "*", RAISING
)
def _(e: Event) -> bool:
    return e.raised is not None and _codes(e.x)


@rule("quantised.copies", "clone, contiguous and resize_ keep what codes mean.", "10.1.8", "clone contiguous resize_",
      f"{GEOMETRY} values storage")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and _codes(e.x)


refused("quantised.new-refused", "What is not float32, and zero points out of range, is not quantised.", "10.1.9",
        f"{BY_TENSOR} {BY_CHANNEL}")  # fmt: skip
refused("quantised.asked-refused", "Scales of channels are asked of what has them, one scale of what has one.", "10.1.9",
        f"{QUESTIONS} {CHANNELS} int_repr dequantize equal")  # fmt: skip


@rule("quantised.saved", "Saving keeps what codes mean.", "10.1.10", "save_load pickle copy.deepcopy",
      "values storage shape")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and _codes(e.x)


succeeds("quantised.asked", "Scale, zero point, axis and scheme are those that it was quantised with.", "10.1.9",
         QUESTIONS, "values")  # fmt: skip
succeeds("quantised.equal", "equal compares codes and what they mean.", "10.1.8", "equal", "values")


@rule("quantised.float-points", "Zero points that are no integers are added before rounding.", "10.1.11",
      "quantize_per_channel", "storage values")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and any(o.dtype == "float32" for o in e.others[1:2])


@rule("quantised.filled", "fill_ and copy_ write codes, and record no history.", "10.1.12", "fill_ copy_",
      "storage flags values")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and _codes(e.x)


@rule("quantised.plain", "dequantize() of what is float32 already answers it.", "10.1.13", "dequantize", "sharing")
def _(e: Event) -> bool:
    return e.same


RULES = family.rules
