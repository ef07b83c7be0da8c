"""Functions of `nn.functional` as `torch` has them: arguments in the kernels' order, reductions by number.

They raise what the functions that they call raise, but leave out what `nn.functional` checks in Python.
Source: `native_functions.yaml`, torch 2.13.
"""

from typing import TYPE_CHECKING, Any

from . import classification_losses, embeddings, losses, normalization
from .overlap import internal_overlap

if TYPE_CHECKING:
    from .tensors import Tensor


def _reduction(number: int) -> str:
    """The name of a reduction. Python's functions have none by default, though the schema's default is 1."""
    return {1: "mean", 2: "sum"}.get(number, "none")


def batch_norm(
    input: "Tensor", weight: "Tensor | None", bias: "Tensor | None", running_mean: "Tensor | None",
    running_var: "Tensor | None", training: bool, momentum: float, eps: float, cudnn_enabled: bool,
) -> "Tensor":  # fmt: skip
    """`nn.functional.batch_norm`, of channels that may have a single element, too."""
    return normalization.batch_norm_of(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(
    input: "Tensor", weight: "Tensor | None", bias: "Tensor | None", running_mean: "Tensor | None",
    running_var: "Tensor | None", use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool,
) -> "Tensor":  # fmt: skip
    """`nn.functional.instance_norm`, of channels that may have a single element, too."""
    return normalization.instance_norm_of(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


def embedding(
    weight: "Tensor", indices: "Tensor", padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> "Tensor":
    """`nn.functional.embedding`, the table first."""
    return embeddings.embedding(indices, weight, None, None, 2.0, scale_grad_by_freq, sparse)


def embedding_renorm_(self: "Tensor", indices: "Tensor", max_norm: float, norm_type: float) -> "Tensor":
    """Rows of a table that are longer than a norm shortened to it in place. Raises: index, dtype."""
    embeddings.embedding(indices, self, None, max_norm, norm_type)
    return self


def kl_div(input: "Tensor", target: "Tensor", reduction: int = 0, *, log_target: bool = False) -> "Tensor":
    """`nn.functional.kl_div`."""
    return losses.kl_div(input, target, reduction=_reduction(reduction), log_target=log_target)


def binary_cross_entropy_with_logits(
    input: "Tensor", target: "Tensor", weight: "Tensor | None" = None, pos_weight: "Tensor | None" = None,
    reduction: int = 0,
) -> "Tensor":  # fmt: skip
    """`nn.functional.binary_cross_entropy_with_logits`."""
    return losses.binary_cross_entropy_with_logits(
        input, target, weight, reduction=_reduction(reduction), pos_weight=pos_weight
    )


def cosine_embedding_loss(
    input1: "Tensor", input2: "Tensor", target: "Tensor", margin: float = 0.0, reduction: int = 0
) -> "Tensor":
    """`nn.functional.cosine_embedding_loss`."""
    return losses.cosine_embedding_loss(input1, input2, target, margin, reduction=_reduction(reduction))


def hinge_embedding_loss(input: "Tensor", target: "Tensor", margin: float = 1.0, reduction: int = 0) -> "Tensor":
    """`nn.functional.hinge_embedding_loss`."""
    return losses.hinge_embedding_loss(input, target, margin, reduction=_reduction(reduction))


def margin_ranking_loss(
    input1: "Tensor", input2: "Tensor", target: "Tensor", margin: float = 0.0, reduction: int = 0
) -> "Tensor":
    """`nn.functional.margin_ranking_loss` of any shapes that broadcast."""
    return losses.ranking_loss(input1, input2, target, margin, _reduction(reduction))


def poisson_nll_loss(
    input: "Tensor", target: "Tensor", log_input: bool, full: bool, eps: float, reduction: int
) -> "Tensor":
    """`nn.functional.poisson_nll_loss`."""
    return losses.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_reduction(reduction))


def triplet_margin_loss(
    anchor: "Tensor", positive: "Tensor", negative: "Tensor", margin: float = 1.0, p: float = 2.0, eps: float = 1e-06,
    swap: bool = False, reduction: int = 0,
) -> "Tensor":  # fmt: skip
    """`nn.functional.triplet_margin_loss`."""
    return losses.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=_reduction(reduction))


def ctc_loss(
    log_probs: "Tensor", targets: "Tensor", input_lengths: Any, target_lengths: Any, blank: int = 0,
    reduction: int = 0, zero_infinity: bool = False,
) -> "Tensor":  # fmt: skip
    """`nn.functional.ctc_loss`."""
    return classification_losses.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, _reduction(reduction), zero_infinity
    )


def debug_has_internal_overlap(input: "Tensor") -> int:
    """Whether a tensor overlaps itself: 0 no, 1 yes, 2 what PyTorch does not find out. Source: facts 2.9."""
    return int(internal_overlap(input._layout.shape, input._layout.strides))
