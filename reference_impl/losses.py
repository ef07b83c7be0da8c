"""Losses of `torch.nn.functional`, composed as PyTorch composes them; what they compute within a tolerance at best."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import arithmetic, clamping, division, norms, pointwise_ops, powers, reductions, scans, shadow, view_ops
from . import dtypes as dt
from .activations import logsigmoid
from .choosing import where
from .constructors import ones_like, zeros_like
from .copies import clone, to
from .core import check_constant, check_tensors, values
from .errors import LayoutError, LayoutIndexError, LayoutValueError, UnsupportedError
from .grad_mode import no_grad
from .index_ops import masked_fill
from .joining import broadcast_tensors
from .kept import keeps
from .norms import vector_norm
from .output_layout import broadcast_shapes
from .parsing import parsed
from .pointwise import Op, apply, check_operands
from .promotion import get_default_dtype, promote_types
from .results import finish
from .special_functions import xlogy

if TYPE_CHECKING:
    from .tensors import Tensor


def reduction_named(reduction: str, size_average: Any = None, reduce: Any = None) -> str:
    """How the losses of samples become one: by name, or by the two older arguments. Raises: argument (ValueError)."""
    if size_average is not None or reduce is not None:
        averaged, reduced = size_average is None or size_average, reduce is None or reduce
        return "mean" if averaged and reduced else "sum" if reduced else "none"
    if reduction not in ("none", "mean", "sum"):
        raise LayoutValueError("argument", f"reduction must be 'none', 'mean' or 'sum', got {reduction!r}")
    return reduction


def _reduced(loss: "Tensor", reduction: str) -> "Tensor":
    if reduction == "none":
        return shadow.leave_unspecified(loss)
    return shadow.leave_unspecified(reductions.mean(loss) if reduction == "mean" else reductions.sum(loss))


def _structured(op: Op, input: "Tensor", target: "Tensor", reduction: str) -> "Tensor":
    """An elementwise loss whose memory is kept when it is reduced."""
    loss = apply(op, (input, target))
    if reduction == "none":
        return loss
    result = _reduced(loss, reduction)
    result._storage.resize_(max(len(loss._storage._bytes), len(result._storage._bytes)))
    return result


_MSE = Op("mse_loss", lambda a, b: (a - b) ** 2, "f", exact=False)


def _same_size(input: "Tensor", weight: "Tensor") -> None:
    if weight._layout.shape != input._layout.shape:
        raise LayoutValueError("size", "weights and input must have the same size")


def _weighted(errors: "Tensor", weight: "Tensor", reduction: str, *, by_weight: bool) -> "Tensor":
    loss = arithmetic.mul(errors, weight)
    if reduction == "mean" and by_weight:
        return shadow.leave_unspecified(division.div(reductions.sum(loss), reductions.sum(weight)))
    return _reduced(loss, reduction)


@parsed(asks_size=True)
@keeps("input", "target")
def mse_loss(
    input: "Tensor", target: "Tensor", size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    weight: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """Squares of differences. Raises: broadcast, dtype, argument. Source: facts 4.3, torch 2.13."""
    reduction = reduction_named(reduction, size_average, reduce)
    a, b = broadcast_tensors(input, target)
    if weight is None:
        return _structured(_MSE, a, b, reduction)
    _same_size(input, weight)
    return _weighted(powers.pow(arithmetic.sub(a, b), 2), weight, reduction, by_weight=True)


@parsed(asks_size=True)
def l1_loss(
    input: "Tensor", target: "Tensor", size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    weight: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """Sizes of differences. Raises: broadcast, dtype, argument. Source: facts 4.3, torch 2.13."""
    reduction = reduction_named(reduction, size_average, reduce)
    a, b = broadcast_tensors(input, target)
    errors = arithmetic.abs(arithmetic.sub(a, b))
    if weight is None:
        return _reduced(errors, reduction)
    _same_size(input, weight)
    return _weighted(errors, weight, reduction, by_weight=True)


@parsed(asks_size=True)
def smooth_l1_loss(
    input: "Tensor", target: "Tensor", size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    beta: float = 1.0,
) -> "Tensor":  # fmt: skip
    """`l1_loss`, squared below `beta`. Raises: broadcast, dtype, argument. Source: facts 4.3, torch 2.13."""
    if beta == 0.0:
        return l1_loss(input, target, size_average, reduce, reduction)
    reduction = reduction_named(reduction, size_average, reduce)
    a, b = broadcast_tensors(input, target)
    if beta < 0:
        raise LayoutError("argument", f"smooth_l1_loss: beta must not be negative, got {beta}")

    def compute(x: Any, y: Any) -> Any:
        z = np.abs(x - y)
        return np.where(z < beta, 0.5 * z * z / beta, z - 0.5 * beta)

    return _structured(Op("smooth_l1_loss", compute, "f", exact=False), a, b, reduction)


@parsed(asks_size=True)
@keeps("input", "target")
def huber_loss(
    input: "Tensor", target: "Tensor", reduction: str = "mean", delta: float = 1.0, weight: "Tensor | None" = None
) -> "Tensor":
    """Squares of differences, linear above `delta`. Raises: broadcast, dtype, argument. Source: facts 4.3."""
    reduction = reduction_named(reduction)
    a, b = broadcast_tensors(input, target)
    if weight is not None:
        _same_size(input, weight)
    if delta <= 0:
        raise LayoutError("argument", f"huber_loss: delta must be positive, got {delta}")

    def compute(x: Any, y: Any) -> Any:
        z = np.abs(x - y)
        return np.where(z <= delta, 0.5 * z * z, delta * (z - 0.5 * delta))

    loss = apply(Op("huber_loss", compute, "f", exact=False, like=True), (a, b))
    if weight is not None:
        return _weighted(loss, weight, reduction, by_weight=False)
    return loss if reduction == "none" else _reduced(loss, reduction)


def kl_div(
    input: "Tensor", target: "Tensor", size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    log_target: bool = False,
) -> "Tensor":  # fmt: skip
    """Divergence of distributions, the input in logarithms. Raises: broadcast, dtype, argument. Source: torch 2.13."""
    wanted = "sum" if reduction == "batchmean" and size_average is None and reduce is None else reduction
    if input.dtype.is_complex or target.dtype.is_complex:
        raise LayoutError("dtype", "kl_div: complex numbers are refused")
    if target.dtype in dt.FLOAT8 and input.dtype not in dt.FLOAT8:
        raise LayoutError("dtype", f"kl_div: {target.dtype} is not promoted with {input.dtype}")
    if "int" in (input.dtype.category, target.dtype.category) or input.dtype.category != target.dtype.category:
        raise LayoutError("dtype", f"kl_div: {input.dtype} and {target.dtype}, but floating point is needed")
    if log_target:
        loss = arithmetic.mul(pointwise_ops.exp(target), arithmetic.sub(target, input))
    else:
        loss = arithmetic.sub(xlogy(target, target), arithmetic.mul(target, input))
    result = _reduced(loss, reduction_named(wanted, size_average, reduce))
    if reduction == "batchmean" and input.ndim:
        result = shadow.leave_unspecified(division.div(result, input._layout.shape[0]))
    return result


def poisson_nll_loss(
    input: "Tensor", target: "Tensor", log_input: bool = True, full: bool = False, size_average: Any = None,
    eps: float = 1e-8, reduce: Any = None, reduction: str = "mean",
) -> "Tensor":  # fmt: skip
    """Negative logarithm of Poisson's likelihood. Raises: broadcast, dtype, argument. Source: torch 2.13."""
    reduction = reduction_named(reduction, size_average, reduce)
    if log_input:
        loss = arithmetic.sub(pointwise_ops.exp(input), arithmetic.mul(target, input))
    else:
        loss = arithmetic.sub(input, arithmetic.mul(target, pointwise_ops.log(arithmetic.add(input, eps))))
    if full:
        stirling = arithmetic.add(
            arithmetic.sub(arithmetic.mul(target, pointwise_ops.log(target)), target),
            arithmetic.mul(pointwise_ops.log(arithmetic.mul(target, 2 * math.pi)), 0.5),
        )

        loss = arithmetic.add_(loss, masked_fill(stirling, pointwise_ops.le(target, 1), 0))
    return _reduced(loss, reduction)


@parsed(in_python="full")
def gaussian_nll_loss(
    input: "Tensor", target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> "Tensor":
    """Negative logarithm of Gauss's likelihood. Raises: broadcast, dtype, size, argument. Source: torch 2.13."""
    check_operands("gaussian_nll_loss", (target,))
    if not isinstance(var, float):
        check_tensors("gaussian_nll_loss", var)
    if isinstance(var, float):
        if var < 0:
            raise LayoutValueError("argument", f"gaussian_nll_loss: var {var} is negative")
        var = arithmetic.mul(ones_like(input), var)
    elif var.numel() and dt.group_of(var.dtype) not in "bif":
        raise UnsupportedError("dtype", f"gaussian_nll_loss: PyTorch has no kernel for {var.dtype}")
    elif (values(var) < 0).any():
        raise LayoutValueError("argument", "gaussian_nll_loss: var has negative elements")
    own, spread = input._layout.shape, var._layout.shape
    if spread != own:
        if own[:-1] == spread:
            var = view_ops.unsqueeze(var, -1)
        elif len(own) != len(spread) or sum(b for a, b in zip(own, spread, strict=True) if a != b) != 1:
            raise LayoutValueError("size", f"gaussian_nll_loss: var of {spread} for an input of {own}")
    reduction_named(reduction)

    var = clone(var)
    with no_grad():
        clamping.clamp_(var, min=eps)
    error = division.div(powers.pow(arithmetic.sub(input, target), 2), var)
    loss = arithmetic.mul(arithmetic.add(pointwise_ops.log(var), error), 0.5)
    if full:
        loss = arithmetic.add_(loss, 0.5 * math.log(2 * math.pi))
    return _reduced(loss, reduction)


def _no_kernel(name: str, *tensors: Any) -> None:
    for t in tensors:
        if t is not None and t.dtype.category != "float":
            raise UnsupportedError("dtype", f"{name}: PyTorch has no kernel for {t.dtype}")


@parsed(asks_size=True)
@keeps("input", "target", "weight", rule="0<1 1<0 2<0,1")
def binary_cross_entropy(
    input: "Tensor", target: "Tensor", weight: "Tensor | None" = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> "Tensor":  # fmt: skip
    """Cross entropy of probabilities. Raises: size (ValueError), index, dtype, argument. Source: torch 2.13."""
    reduction = reduction_named(reduction, size_average, reduce)
    if target._layout.shape != input._layout.shape:
        raise LayoutValueError("size", f"binary_cross_entropy: {target._layout.shape} for {input._layout.shape}")
    if weight is not None:
        weight = view_ops.expand(weight, broadcast_shapes(target._layout.shape, weight._layout.shape))
    if input.dtype is not target.dtype:
        raise LayoutError("dtype", f"binary_cross_entropy: {input.dtype} and {target.dtype}")
    check_constant("binary_cross_entropy", "weight", weight)
    _no_kernel("binary_cross_entropy", input)
    if input.numel() and ((values(input) < 0) | (values(input) > 1)).any():
        raise LayoutError("index", "binary_cross_entropy: probabilities lie between 0 and 1")
    loss = apply(Op("binary_cross_entropy", lambda a, b: a * b, "f", like=True), (input, target))
    if reduction == "none":
        return shadow.leave_unspecified(loss)
    return _kept(loss, reduction)


def _kept(loss: "Tensor", reduction: str) -> "Tensor":
    # Reduced into the memory of the elementwise loss.
    result = _reduced(loss, reduction)
    result._storage.resize_(max(len(loss._storage._bytes), len(result._storage._bytes)))
    return result


@parsed(asks_size=True)
@keeps("input", "target", "weight", rule="0<1 1<0 2<0,1")
def binary_cross_entropy_with_logits(
    input: "Tensor", target: "Tensor", weight: "Tensor | None" = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean", pos_weight: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """Cross entropy of logits. Raises: size (ValueError), broadcast, dtype, argument. Source: torch 2.13."""
    reduction = reduction_named(reduction, size_average, reduce)
    if target._layout.shape != input._layout.shape:
        raise LayoutValueError("size", f"binary_cross_entropy_with_logits: {target._layout.shape} for the input")
    for what, t in (("weight", weight), ("pos_weight", pos_weight)):
        check_constant("binary_cross_entropy_with_logits", what, t)
    log_sigmoid = logsigmoid(input)
    rest = arithmetic.mul(arithmetic.rsub(target, 1), input)
    if pos_weight is not None:
        factor = arithmetic.add(arithmetic.mul(arithmetic.sub(pos_weight, 1), target), 1)
        loss = arithmetic.sub(rest, arithmetic.mul(factor, log_sigmoid))
    else:
        loss = arithmetic.sub(rest, log_sigmoid)
    if weight is not None:
        loss = arithmetic.mul(loss, weight)
    return _reduced(loss, reduction)


@keeps("input", "target", rule="1<0")
def soft_margin_loss(
    input: "Tensor", target: "Tensor", size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> "Tensor":
    """`log(1 + exp(-target * input))`. Raises: broadcast, dtype, argument, grad. Source: torch 2.13."""
    check_constant("soft_margin_loss", "target", target)
    if dt.group_of(input.dtype) == "i":
        raise LayoutError("dtype", f"soft_margin_loss: a result of floats does not fit {input.dtype}")
    product = arithmetic.mul(arithmetic.neg(input), target)
    loss = pointwise_ops.log1p(pointwise_ops.exp(product))
    reduction = reduction_named(reduction, size_average, reduce)
    return shadow.leave_unspecified(loss) if reduction == "none" else _kept(loss, reduction)


def hinge_embedding_loss(
    input: "Tensor", target: "Tensor", margin: float = 1.0, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> "Tensor":  # fmt: skip
    """Distances where the target is 1, else what is missing to a margin. Raises: broadcast, dtype. Source: torch."""
    reduction = reduction_named(reduction, size_average, reduce)
    zero = zeros_like(input)
    margin = int(margin) if input.dtype.category == "int" else margin  # a number of the tensor's own dtype
    missing = clamping.clamp_min_(arithmetic.rsub(input, margin), 0)
    apart = where(pointwise_ops.ne(target, 1), missing, zero)
    together = where(pointwise_ops.ne(target, -1), input, zero)
    return _reduced(arithmetic.add(apart, together), reduction)


@parsed(asks_size=True)
def margin_ranking_loss(
    input1: "Tensor", input2: "Tensor", target: "Tensor", margin: float = 0, size_average: Any = None,
    reduce: Any = None, reduction: str = "mean",
) -> "Tensor":  # fmt: skip
    """What is missing to a margin between two inputs. Raises: dimension, broadcast, dtype. Source: torch 2.13."""
    reduction = reduction_named(reduction, size_average, reduce)
    if not input1.ndim == input2.ndim == target.ndim:
        raise LayoutError("dimension", "margin_ranking_loss: the tensors differ in dimensions")
    return ranking_loss(input1, input2, target, margin, reduction)


def ranking_loss(input1: "Tensor", input2: "Tensor", target: "Tensor", margin: float, reduction: str) -> "Tensor":
    """`margin_ranking_loss` of tensors of any shapes that broadcast. Raises: broadcast, dtype. Source: torch 2.13."""
    product = arithmetic.mul(arithmetic.neg(target), arithmetic.sub(input1, input2))
    loss = clamping.clamp_min_(arithmetic.add(product, margin), 0)
    return _reduced(loss, reduction)


def cosine_similarity(x1: "Tensor", x2: "Tensor", dim: int = 1, eps: float = 1e-8) -> "Tensor":
    """Cosines of the angles between vectors along a dimension. Raises: dimension, broadcast, dtype. Source: torch."""
    d = promote_types(x1.dtype, x2.dtype)
    if d.category != "float":
        raise LayoutError("dtype", f"cosine_similarity: floating point is needed, got {d}")

    shape = broadcast_shapes(x1._layout.shape, x2._layout.shape)
    parts = []
    for x in (x1, x2):
        wide = view_ops.expand(to(x, d), shape)
        size = clone(vector_norm(wide, 2, dim, True))
        size = clamping.clamp_min(size, eps)
        parts.append(division.div(wide, size))
    return shadow.leave_unspecified(reductions.sum(arithmetic.mul(parts[0], parts[1]), dim))


@keeps("input1", "input2")
def cosine_embedding_loss(
    input1: "Tensor", input2: "Tensor", target: "Tensor", margin: float = 0, size_average: Any = None,
    reduce: Any = None, reduction: str = "mean",
) -> "Tensor":  # fmt: skip
    """How far cosines are from a target of 1 or below a margin. Raises: dimension, size, dtype. Source: torch 2.13."""
    reduction = reduction_named(reduction, size_average, reduce)
    if target.ndim not in (0, 1):
        raise LayoutError("dimension", f"cosine_embedding_loss: a target of {target.ndim} dimensions")
    wanted = 2 if target.ndim else 1
    if input1.ndim != wanted or input2.ndim != wanted:
        raise LayoutError("dimension", f"cosine_embedding_loss: inputs must have {wanted} dimensions")
    for t in (input1, input2):
        if t.dtype.is_complex or t.dtype in dt.FLOAT8:
            raise UnsupportedError("dtype", f"cosine_embedding_loss: PyTorch has no kernel for {t.dtype}")
    axis = wanted - 1
    shape = broadcast_shapes(input1._layout.shape, input2._layout.shape)
    rest = tuple([n for k, n in enumerate(shape) if k != axis])
    full = broadcast_shapes(rest, target._layout.shape)
    d = input1.dtype if input1.dtype.is_floating_point else get_default_dtype()
    loss = finish(np.zeros(full), d, input1, input2)
    return _reduced(loss, reduction)


def pairwise_distance(x1: "Tensor", x2: "Tensor", p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> "Tensor":
    """Distances between vectors in the last dimension. Raises: broadcast, dtype. Source: facts 4.4, torch 2.13."""
    last = -1
    return shadow.leave_unspecified(norms.torch_norm(arithmetic.add(arithmetic.sub(x1, x2), eps), p, last, keepdim))


def triplet_margin_loss(
    anchor: "Tensor", positive: "Tensor", negative: "Tensor", margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
) -> "Tensor":  # fmt: skip
    """How much nearer the positive is than the negative. Raises: dimension, size, dtype, argument. Source: torch."""
    reduction = reduction_named(reduction, size_average, reduce)
    if margin <= 0:
        raise LayoutValueError("argument", f"triplet_margin_loss: margin must be positive, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise LayoutError("dimension", "triplet_margin_loss: the tensors differ in dimensions")
    near, far = (pairwise_distance(anchor, x, p, eps) for x in (positive, negative))
    if swap:
        far = pointwise_ops.minimum(far, pairwise_distance(positive, negative, p, eps))
    loss = clamping.clamp_min(arithmetic.sub(arithmetic.add(near, margin), far), 0)
    return _reduced(loss, reduction)


@keeps("input", "target", "weight", rule="1<0 2<0,1")
def multilabel_soft_margin_loss(
    input: "Tensor", target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> "Tensor":  # fmt: skip
    """Cross entropies of each class, averaged. Raises: broadcast, dtype, argument. Source: torch 2.13."""
    reduction = reduction_named(reduction, size_average, reduce)
    loss = arithmetic.neg(
        arithmetic.add(
            arithmetic.mul(target, logsigmoid(input)),
            arithmetic.mul(arithmetic.rsub(target, 1), logsigmoid(arithmetic.neg(input))),
        )
    )
    if weight is not None:
        loss = arithmetic.mul(loss, weight)
    return _reduced(division.div(reductions.sum(loss, -1), input._layout.shape[-1]), reduction)


@keeps("input", "target", "weight", rule="1<0 2<0")
def nll_loss(
    input: "Tensor", target: "Tensor", weight: "Tensor | None" = None, size_average: Any = None,
    ignore_index: int = -100, reduce: Any = None, reduction: str = "mean",
) -> "Tensor":  # fmt: skip
    """Negative logarithms of the probabilities of classes, row-major. Raises: dimension, size, index, dtype."""
    return _nll("nll_loss", input, target, weight, reduction_named(reduction, size_average, reduce), ignore_index)


def _nll(name: str, input: "Tensor", target: "Tensor", weight: Any, reduction: str, ignore_index: int) -> "Tensor":
    shape, wanted = input._layout.shape, target._layout.shape
    if not shape:
        raise LayoutValueError("dimension", f"{name}: at least one dimension is needed")
    if len(shape) != 1 and wanted and shape[0] != wanted[0]:
        raise LayoutValueError("size", f"{name}: batches of {shape[0]} and {wanted[0]}")
    classes = shape[0] if len(shape) == 1 else shape[1]
    places = () if len(shape) == 1 else (shape[0], *shape[2:])
    if len(shape) > 2 and wanted[1:] != shape[2:]:
        kind: Any = LayoutValueError if len(shape) not in (3, 4) else LayoutError
        raise kind("size", f"{name}: a target of {wanted} for an input of {shape}")
    check_constant(name, "weight", weight)
    if len(shape) <= 2 and len(wanted) > 1:
        raise LayoutError("dimension", f"{name}: a target of {len(wanted)} dimensions")
    if weight is not None and weight._layout.shape != (classes,):
        raise LayoutError("size", f"{name}: {weight._layout.shape} weights for {classes} classes")
    if len(shape) not in (1, 2, 4) and not input.numel() and target.numel():
        raise LayoutError("size", f"{name}: a target of {wanted} for an empty input of {shape}")
    if target.dtype not in (dt.int64, dt.uint8):
        raise LayoutError("dtype", f"{name}: classes must be int64, got {target.dtype}")
    _no_kernel(name, input)
    if weight is not None and weight.dtype is not input.dtype:
        raise LayoutError("dtype", f"{name}: {weight.dtype} weights for {input.dtype}")
    if input.numel() and input.dtype in dt.FLOAT8:
        raise UnsupportedError("dtype", f"{name}: PyTorch has no kernel for {input.dtype}")
    if target.dtype is dt.uint8 and len(shape) > 2 and (target.numel() or reduction == "none"):
        # Bytes have a kernel for vectors; that of images refuses them when it reads.
        raise LayoutError("dtype", f"{name}: classes must be int64, got {target.dtype}")
    which = values(target).astype(np.int64)
    used = which[which != ignore_index]
    if used.size and (used.min() < 0 or used.max() >= classes):
        raise LayoutIndexError("index", f"{name}: a class is out of bounds for {classes} of them")
    size = wanted if len(shape) == 1 else places
    loss = shadow.leave_unspecified(finish(np.zeros(size if reduction == "none" else ()), input.dtype, input))
    # Images are what PyTorch has a kernel for: other ranks are brought to that of images and viewed back.
    return view_ops.view(loss, size) if reduction == "none" and len(shape) not in (1, 2, 4) else loss


@keeps("input", "target", "weight", rule="1<0 2<0")
def cross_entropy(
    input: "Tensor", target: "Tensor", weight: "Tensor | None" = None, size_average: Any = None,
    ignore_index: int = -100, reduce: Any = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> "Tensor":  # fmt: skip
    """`nll_loss` of `log_softmax`, or of probabilities. Raises: dimension, size, index, dtype, argument."""
    reduction = reduction_named(reduction, size_average, reduce)
    axis = 0 if input.ndim == 1 else 1
    if not 0.0 <= label_smoothing <= 1.0:
        raise LayoutError("argument", f"cross_entropy: label_smoothing must be in [0, 1], got {label_smoothing}")
    if input._layout.shape == target._layout.shape:
        if not target.dtype.is_floating_point:
            raise LayoutError("dtype", f"cross_entropy: probabilities must be floating point, got {target.dtype}")
        logs = scans.log_softmax(input, axis, input.dtype)
        if weight is not None and weight._layout.shape != (input._layout.shape[axis],):
            raise LayoutError("size", f"cross_entropy: {weight._layout.shape} weights for {input._layout.shape}")
        if label_smoothing > 0:
            target = arithmetic.add(arithmetic.mul(target, 1 - label_smoothing), label_smoothing / input.size(axis))
        products = arithmetic.mul(logs, target)
        if weight is not None:
            along = [-1 if dim == axis else 1 for dim in range(input.ndim)]
            products = arithmetic.mul(products, view_ops.view(weight, along))
        loss = arithmetic.neg(reductions.sum(products, axis))
        if reduction == "mean":
            total = division.div(reductions.sum(loss), max(loss.numel(), 1))
            return shadow.leave_unspecified(total)
        return _reduced(loss, reduction)
    logs = scans.log_softmax(input, axis, input.dtype)
    loss = _nll("cross_entropy", logs, target, weight, reduction, ignore_index)
    return shadow.leave_unspecified(arithmetic.mul(loss, 1 - label_smoothing)) if label_smoothing > 0 else loss
