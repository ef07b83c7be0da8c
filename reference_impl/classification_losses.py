"""Losses between scores of classes and the classes that were meant: margins, connectionist temporal classification.

A loss of one sample has no dimension, of a batch one; reduced losses have none. All are row-major (facts 4.4).
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import arithmetic, clamping, dtypes, pointwise_ops, reductions, shadow, view_ops
from .core import TensorBase, check_constant, check_tensors, values
from .errors import LayoutError, LayoutTypeError, LayoutValueError, UnsupportedError
from .kept import keeps
from .losses import cross_entropy, pairwise_distance, reduction_named
from .parsing import parsed
from .products import linear
from .results import finish, need_kernel, wide

if TYPE_CHECKING:
    from .tensors import Tensor


def _frames(name: str, input: "Tensor") -> tuple[int, int]:
    """Number of samples and of classes. Raises: dimension."""
    shape = input._layout.shape
    if len(shape) > 2 or (shape and not shape[-1]):
        raise LayoutError("dimension", f"{name}: scores of a sample or of a batch are needed, got shape {shape}")
    return (shape[0] if len(shape) == 2 else 1), (shape[-1] if shape else 1)


def _loss(losses: Any, sizes: Any, reduction: str, *inputs: "Tensor", batched: bool) -> "Tensor":
    """The losses of samples, reduced and rounded; unspecified where there is no sample, as nothing is written.

    `sizes` are the absolute values of the terms of each loss.
    """
    d = inputs[0].dtype
    terms = inputs[0].numel()
    if reduction == "none" and batched:
        return finish(losses, d, *inputs, magnitude=sizes, terms=terms)
    if not losses.size:
        nothing = finish(np.zeros(()), d, *inputs)
        shadow.leave_unspecified(nothing)
        return nothing
    reduced = np.mean if reduction == "mean" else np.sum
    return finish(reduced(losses), d, *inputs, magnitude=reduced(sizes), terms=terms)


@keeps("input", "target", "weight", rule="1<0 2<0")
def multi_margin_loss(
    input: "Tensor", target: "Tensor", p: int = 1, margin: float = 1.0, weight: "Tensor | None" = None,
    size_average: Any = None, reduce: Any = None, reduction: str = "mean",
) -> "Tensor":  # fmt: skip
    """Powers of what scores miss to lie a margin below the one that was meant.

    Shapes: (n, c) and (n,), or (c,) and (), the weights (c,).
    Raises: argument (ValueError), dimension, size, index, dtype. Source: torch 2.13.
    """
    name = "multi_margin_loss"
    reduction = reduction_named(reduction, size_average, reduce)
    check_tensors(name, input, target)
    if p not in (1, 2):
        raise LayoutValueError("argument", f"{name}: p must be 1 or 2, got {p}")
    check_constant(name, "weight", weight)
    if weight is not None and weight.ndim != 1:
        raise LayoutValueError("dimension", f"{name}: weights of {weight.ndim} dimensions")
    samples, classes = _frames(name, input)
    if target.ndim > 1 or target.numel() != samples:
        raise LayoutError("size", f"{name}: a target of {target._layout.shape} for {samples} samples")
    if weight is not None and weight.numel() != classes:
        raise LayoutError("size", f"{name}: {weight.numel()} weights for {classes} classes")
    batched = target.ndim > 0
    if not input.numel():
        return _loss(np.zeros(samples), 0.0, reduction, input, batched=batched)
    need_kernel(name, input.dtype, "f")
    _need_double_or_float(name, input)
    if target.dtype is not dtypes.int64 or (weight is not None and weight.dtype is not input.dtype):
        raise LayoutError("dtype", f"{name}: a target of {target.dtype} for scores of {input.dtype}")
    meant = values(target).reshape(-1)
    _in_range(name, meant, 0, classes)
    scores = wide(input).reshape(samples, classes)
    rows = np.arange(samples)
    with np.errstate(all="ignore"):
        own = scores[rows, meant][:, None]
        missed = np.maximum(margin - own + scores, 0)
        # The error of a power is that of its base times its derivative.
        sizes = (abs(margin) + np.abs(own) + np.abs(scores)) * (1 if p == 1 else 2 * missed)
        missed = missed**p
        missed[rows, meant] = 0
        if weight is not None:
            factors = wide(weight)[meant][:, None]
            missed, sizes = missed * factors, sizes * np.abs(factors)
        losses, magnitude = missed.sum(1) / classes, sizes.sum(1) / classes
    return _loss(losses, magnitude, reduction, input, *(() if weight is None else (weight,)), batched=batched)


def _need_double_or_float(name: str, input: "Tensor") -> None:
    if input.dtype.itemsize < 4:
        raise UnsupportedError("dtype", f"{name}: PyTorch has no kernel for {input.dtype}")


def _in_range(name: str, found: Any, low: int, high: int) -> None:
    if found.size and not (found.min() >= low and found.max() < high):
        raise LayoutError("index", f"{name}: classes from {found.min()} to {found.max()}, not in [{low}, {high})")


@keeps("input", "target", rule="1<0")
def multilabel_margin_loss(
    input: "Tensor", target: "Tensor", size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> "Tensor":
    """What the scores of other classes miss to lie 1 below those of the classes that a -1 ends.

    Shapes: both (n, c) or (c,).
    Raises: argument (ValueError), dimension, size, index, dtype. Source: torch 2.13.
    """
    name = "multilabel_margin_loss"
    reduction = reduction_named(reduction, size_average, reduce)
    check_tensors(name, input, target)
    samples, classes = _frames(name, input)
    shape, wanted = input._layout.shape, target._layout.shape
    if not (wanted == shape or (len(shape) < 2 and len(wanted) < 2 and target.numel() == classes)):
        raise LayoutError("size", f"{name}: a target of {wanted} for scores of {shape}")
    batched = len(wanted) > 1
    if not input.numel():
        return _loss(np.zeros(samples), 0.0, reduction, input, batched=batched)
    labels = values(target).reshape(samples, classes)
    _in_range(name, labels, -1, classes)
    need_kernel(name, input.dtype, "f")
    _need_double_or_float(name, input)
    if target.dtype is not dtypes.int64:
        raise LayoutError("dtype", f"{name}: classes must be int64, got {target.dtype}")
    listed = np.cumprod(labels >= 0, axis=1).astype(bool)
    scores = wide(input).reshape(samples, classes)
    losses, sizes = np.zeros(samples), np.zeros(samples)
    with np.errstate(all="ignore"):
        for n in range(samples):
            meant = labels[n][listed[n]]
            others = np.delete(scores[n], meant)
            own = scores[n][meant][:, None]
            losses[n] = np.maximum(1 - own + others, 0).sum() / classes
            sizes[n] = (1 + np.abs(own) + np.abs(others)).sum() / classes
    return _loss(losses, sizes, reduction, input, batched=batched)


@parsed(in_python="swap")
def triplet_margin_with_distance_loss(
    anchor: "Tensor", positive: "Tensor", negative: "Tensor", *, distance_function: Any = None, margin: float = 1.0,
    swap: bool = False, reduction: str = "mean",
) -> "Tensor":  # fmt: skip
    """How much nearer the positive is than the negative, by a distance of one's own.

    Raises: argument (ValueError), dimension, broadcast, dtype. Source: torch 2.13.
    """
    name = "triplet_margin_with_distance_loss"
    reduction = reduction_named(reduction)
    if margin <= 0:
        raise LayoutValueError("argument", f"{name}: margin must be positive, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise LayoutError("dimension", f"{name}: the tensors differ in dimensions")
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = pointwise_ops.minimum(far, distance(positive, negative))
    loss = clamping.clamp_min(arithmetic.sub(arithmetic.add(near, margin), far), 0)
    if reduction == "none":
        return loss
    return reductions.sum(loss) if reduction == "sum" else reductions.mean(loss)


def linear_cross_entropy(
    input: "Tensor", linear_weight: "Tensor", target: "Tensor", *, linear_bias: "Tensor | None" = None,
    weight: "Tensor | None" = None, reduction: str = "mean", ignore_index: int | None = None,
    label_smoothing: float = 0.0, options: Any = None,
) -> "Tensor":  # fmt: skip
    """`cross_entropy` of what a linear layer makes of the input; `options` say how the work is parted.

    Shapes: (n, k) or (k,), the layer's weight (c, …, k).
    Raises: dimension, size, and as `linear` and `cross_entropy`. Source: torch 2.13.
    """
    name = "linear_cross_entropy"
    shape, layer = input._layout.shape, linear_weight._layout.shape
    if len(shape) not in (1, 2) or len(layer) < 2:
        raise LayoutError("dimension", f"{name}: an input of {shape} and weights of {layer}")
    *batch, features = shape
    if features != layer[-1]:
        raise LayoutError("size", f"{name}: {features} features for weights of {layer}")
    if linear_bias is not None and linear_bias._layout.shape != layer[:-1]:
        raise LayoutError("size", f"{name}: a bias of {linear_bias._layout.shape} for weights of {layer}")
    if len(layer) > 2 and not batch:
        raise LayoutError("dimension", f"{name}: weights of {layer} need a batch")
    scores = (*batch, *layer[:-1])
    if target._layout.shape == scores and ignore_index is not None:
        raise LayoutError("argument", f"{name}: ignore_index is for classes, not for probabilities")
    if len(layer) > 2:
        linear_weight = view_ops.reshape(linear_weight, (-1, features))
        linear_bias = None if linear_bias is None else view_ops.reshape(linear_bias, (-1,))
    logits = view_ops.reshape(linear(input, linear_weight, linear_bias), scores)
    ignored = -100 if ignore_index is None else ignore_index
    return cross_entropy(
        logits, target, weight, ignore_index=ignored, reduction=reduction, label_smoothing=label_smoothing
    )


@keeps("log_probs", "targets", rule="1<0")
def ctc_loss(
    log_probs: "Tensor", targets: "Tensor", input_lengths: Any, target_lengths: Any, blank: int = 0,
    reduction: str = "mean", zero_infinity: bool = False,
) -> "Tensor":  # fmt: skip
    """Connectionist temporal classification loss; its values are not specified here.

    Shapes: (t, n, c), targets (n, s) or one after the other, lengths (n,); or without n.
    Raises: argument (ValueError, TypeError), dimension, size, index, dtype. Source: torch 2.13.
    """
    name = "ctc_loss"
    reduction = reduction_named(reduction)
    check_tensors(name, log_probs, targets)
    if isinstance(input_lengths, TensorBase) != isinstance(target_lengths, TensorBase):
        raise LayoutTypeError("argument", f"{name}: both lengths are tensors, or both sequences")
    times, labels = (_counts(name, x) for x in (input_lengths, target_lengths))
    if not log_probs.numel():
        raise LayoutError("size", f"{name}: log_probs of shape {log_probs._layout.shape} are empty")
    batched = log_probs.ndim == 3
    shape = log_probs._layout.shape if batched else (*log_probs._layout.shape[:1], 1, *log_probs._layout.shape[1:])
    if len(shape) != 3:
        raise LayoutError("dimension", f"{name}: log_probs of shape {log_probs._layout.shape}")
    if not 1 <= (targets.ndim if batched else targets.ndim + (targets.ndim == 0)) <= 2:
        raise LayoutError("dimension", f"{name}: targets of shape {targets._layout.shape}")
    longest, batch, classes = shape
    if not 0 <= blank < classes:
        raise LayoutError("index", f"{name}: the blank {blank} is none of {classes} classes")
    if len(times) != batch or len(labels) != batch:
        raise LayoutError("size", f"{name}: {len(times)} and {len(labels)} lengths for a batch of {batch}")
    if min(times) < 0 or max(times) > longest or min(labels) < 0:
        raise LayoutError("size", f"{name}: lengths {times} of {longest}, and {labels}")
    if targets.ndim == 1 and targets.numel() != sum(labels):
        raise LayoutError("size", f"{name}: {targets.numel()} targets for lengths {labels}")
    if targets.ndim == 2 and (targets._layout.shape[0] != batch or targets._layout.shape[1] < max(labels)):
        raise LayoutError("size", f"{name}: targets of shape {targets._layout.shape} for lengths {labels}")
    need_kernel(name, log_probs.dtype, "f")
    _need_double_or_float(name, log_probs)
    losses = finish(np.zeros(batch), log_probs.dtype, log_probs)
    shadow.leave_unspecified(losses)
    if reduction == "none":
        return losses if batched else view_ops.squeeze(losses, 0)
    return reductions.mean(losses) if reduction == "mean" else reductions.sum(losses)


def _counts(name: str, lengths: Any) -> tuple[int, ...]:
    if not isinstance(lengths, TensorBase):
        return tuple(lengths)
    if lengths.dtype.category != "int":
        raise LayoutError("dtype", f"{name}: lengths must be integers, got {lengths.dtype}")
    return tuple(values(lengths).reshape(-1).tolist())
