"""multi_head_attention_forward, composed in PyTorch's order: each step's layout is that of its operator.

Whether projections are packed goes by identity: keys that are the values, and queries that are the keys, are projected
together, so that what follows are views of one tensor. Weights are only computed where they are asked for.
Source: torch/nn/functional.py, 2.13.
"""

from math import inf, sqrt
from typing import TYPE_CHECKING, Any

from . import dtypes as dt
from .activations import dropout
from .attention import scaled_dot_product_attention
from .constructors import zeros, zeros_like
from .core import check_tensors
from .errors import LayoutAssertionError, LayoutError, LayoutTypeError, UnspecifiedError
from .index_ops import masked_fill_
from .joining import cat
from .linear_algebra import baddbmm, bmm
from .padding import pad
from .parsing import parsed
from .products import linear
from .reductions import mean
from .scans import softmax

if TYPE_CHECKING:
    from .tensors import Tensor


def _need(holds: bool, message: str) -> None:
    if not holds:
        raise LayoutAssertionError("argument", f"multi_head_attention_forward: {message}")


@parsed(in_python="add_zero_attn training need_weights use_separate_proj_weight average_attn_weights is_causal")
def multi_head_attention_forward(
    query: "Tensor", key: "Tensor", value: "Tensor", embed_dim_to_check: int, num_heads: int,
    in_proj_weight: "Tensor | None", in_proj_bias: "Tensor | None", bias_k: "Tensor | None", bias_v: "Tensor | None",
    add_zero_attn: bool, dropout_p: float, out_proj_weight: "Tensor", out_proj_bias: "Tensor | None",
    training: bool = True, key_padding_mask: "Tensor | None" = None, need_weights: bool = True,
    attn_mask: "Tensor | None" = None, use_separate_proj_weight: bool = False, q_proj_weight: "Tensor | None" = None,
    k_proj_weight: "Tensor | None" = None, v_proj_weight: "Tensor | None" = None, static_k: "Tensor | None" = None,
    static_v: "Tensor | None" = None, average_attn_weights: bool = True, is_causal: bool = False,
) -> "tuple[Tensor, Tensor | None]":  # fmt: skip
    """Attention with several heads between projections, and the weights of the attention if wanted; no values.

    Shapes: (l, b, e), (s, b, e) and (s, b, e) to (l, b, e) and (b, l, s), or all without b.
    Raises: argument (AssertionError, RuntimeError), and as the operators that it is composed of. Source: torch 2.13.
    """
    check_tensors("multi_head_attention_forward", query, key, value)
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, batch, width = query._layout.shape
    key_padding_mask = _as_floats(key_padding_mask, query)
    if is_causal and attn_mask is None:
        raise LayoutError("argument", "multi_head_attention_forward: is_causal needs a mask")
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = _as_floats(attn_mask, query)
        is_causal = is_causal and key_padding_mask is None
    _need(width == embed_dim_to_check, f"embeddings of {embed_dim_to_check} were expected, got {width}")
    if not num_heads or (not width and need_weights):
        raise UnspecifiedError("multi_head_attention_forward: Python divides by zero")
    head = width // num_heads
    _need(head * num_heads == width, f"{width} cannot be divided by {num_heads} heads")
    if use_separate_proj_weight:
        _need(key._layout.shape[:2] == value._layout.shape[:2], "keys and values differ in length")
        weights = [w for w in (q_proj_weight, k_proj_weight, v_proj_weight) if w is not None]
        _need(len(weights) == 3, "a separate projection is missing")
        q, k, v = _projected([query, key, value], weights, in_proj_bias)
    else:
        _need(key._layout.shape == value._layout.shape, "keys and values differ in shape")
        _need(in_proj_weight is not None, "the projection is missing")
        assert in_proj_weight is not None
        q, k, v = _projected_together(query, key, value, in_proj_weight, in_proj_bias)
    attn_mask = _mask_of_heads(attn_mask, (length, key._layout.shape[0]), batch * num_heads)
    _need((bias_k is None) == (bias_v is None), "a bias of keys or values is missing")
    extra = 0
    if bias_k is not None and bias_v is not None:
        _need(static_k is None and static_v is None, "biases are not added to static keys and values")
        k, v = cat([k, bias_k.repeat(1, batch, 1)]), cat([v, bias_v.repeat(1, batch, 1)])
        extra += 1
    heads = batch * num_heads
    q = q.view(length, heads, head).transpose(0, 1)
    k, v = (_of_heads(t, static, heads, head) for t, static in ((k, static_k), (v, static_v)))
    if add_zero_attn:
        k, v = (cat([t, zeros(heads, 1, head, dtype=t.dtype)], 1) for t in (k, v))
        extra += 1
    for _ in range(extra):
        attn_mask = None if attn_mask is None else pad(attn_mask, (0, 1))
        key_padding_mask = None if key_padding_mask is None else pad(key_padding_mask, (0, 1))
    attn_mask = _merged(attn_mask, key_padding_mask, batch, num_heads, k._layout.shape[1])
    chance = dropout_p if training else 0.0
    if not need_weights:
        whole = (q, k, v, attn_mask, batch, num_heads)
        out = _attended(*whole, chance=chance, is_causal=is_causal).reshape(batch * length, width)
        out = linear(out, out_proj_weight, out_proj_bias)
        out = out.view(length, batch, out._layout.shape[1])
        return (out if batched else out.squeeze(1)), None
    scores = q.mul(sqrt(1.0 / head))
    _need(not (is_causal and attn_mask is None), "weights of a causal attention need a mask")
    keys = k.transpose(-2, -1)
    attention = bmm(scores, keys) if attn_mask is None else baddbmm(attn_mask, scores, keys)
    attention = softmax(attention, -1)
    if chance > 0.0:
        attention = dropout(attention, chance)
    out = bmm(attention, v).transpose(0, 1).reshape(length * batch, width)
    out = linear(out, out_proj_weight, out_proj_bias)
    out = out.view(length, batch, out._layout.shape[1])
    attention = attention.view(batch, num_heads, length, k._layout.shape[1])
    if average_attn_weights:
        attention = mean(attention, 1)
    return (out, attention) if batched else (out.squeeze(1), attention.squeeze(0))


def _check_shapes(
    query: "Tensor", key: "Tensor", value: "Tensor", padding: "Tensor | None", mask: "Tensor | None", num_heads: int
) -> bool:
    """Whether there are batches. Raises: argument (AssertionError)."""
    n = query.ndim
    _need(n in (2, 3), f"the query must have 2 or 3 dimensions, got {n}")
    _need(key.ndim == n and value.ndim == n, f"keys and values must have {n} dimensions")
    _need(padding is None or padding.ndim == n - 1, f"the padding mask must have {n - 1} dimensions")
    if mask is not None:
        _need(mask.ndim in (2, 3), f"the mask must have 2 or 3 dimensions, got {mask.ndim}")
        if n == 2 and mask.ndim == 3:
            wanted = (num_heads, query._layout.shape[0], key._layout.shape[0])
            _need(mask._layout.shape == wanted, f"the mask must have the shape {wanted}, got {mask._layout.shape}")
    return n == 3


def _as_floats(mask: "Tensor | None", query: "Tensor") -> "Tensor | None":
    """A mask of numbers that are added, from one of bools that leave out."""
    if mask is None or mask.dtype.is_floating_point:
        return mask
    _need(mask.dtype is dt.bool_, f"masks are bool or floating point, got {mask.dtype}")
    return masked_fill_(zeros_like(mask, dtype=query.dtype), mask, -inf)


def _projected(inputs: "list[Tensor]", weights: "list[Tensor]", bias: "Tensor | None") -> "list[Tensor]":
    width = inputs[0]._layout.shape[-1]
    biases: Any = (None,) * 3 if bias is None else bias.chunk(3)
    for t, w in zip(inputs, weights, strict=True):
        wanted = (width, t._layout.shape[-1])
        _need(w._layout.shape == wanted, f"a projection must have the shape {wanted}, got {w._layout.shape}")
    for b in biases:
        _need(b is None or b._layout.shape == (width,), f"biases of projections must have {width} elements each")
    return [linear(t, w, b) for t, w, b in zip(inputs, weights, biases, strict=True)]


def _projected_together(
    query: "Tensor", key: "Tensor", value: "Tensor", weight: "Tensor", bias: "Tensor | None"
) -> "list[Tensor]":
    width = query._layout.shape[-1]
    if key is not value:
        biases: Any = (None,) * 3 if bias is None else bias.chunk(3)
        return [linear(t, w, b) for t, w, b in zip((query, key, value), weight.chunk(3), biases, strict=True)]
    if query is key:
        return _pieces(linear(query, weight, bias), 3, width)
    w_q, w_kv = weight.split([width, 2 * width])
    b_q, b_kv = (None, None) if bias is None else bias.split([width, 2 * width])
    return [linear(query, w_q, b_q), *_pieces(linear(key, w_kv, b_kv), 2, width)]


def _pieces(joint: "Tensor", count: int, width: int) -> "list[Tensor]":
    """Projections that were computed together, as parts of one row-major tensor."""
    apart = joint.unflatten(-1, (count, width)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return [apart[i] for i in range(count)]


def _mask_of_heads(mask: "Tensor | None", size: tuple[int, int], heads: int) -> "Tensor | None":
    if mask is None:
        return None
    wanted = size if mask.ndim == 2 else (heads, *size)
    if mask._layout.shape != wanted:
        text = f"the mask must have the shape {wanted}, got {mask._layout.shape}"
        raise LayoutError("size", f"multi_head_attention_forward: {text}")
    return mask.unsqueeze(0) if mask.ndim == 2 else mask


def _of_heads(t: "Tensor", static: "Tensor | None", heads: int, head: int) -> "Tensor":
    if static is None:
        return t.view(t._layout.shape[0], heads, head).transpose(0, 1)
    shape = static._layout.shape
    if len(shape) < 3:
        raise LayoutTypeError("argument", "multi_head_attention_forward: static keys and values have 3 dimensions")
    _need(shape[0] == heads and shape[2] == head, f"static keys and values must be ({heads}, …, {head}), got {shape}")
    return static


def _merged(
    mask: "Tensor | None", padding: "Tensor | None", batch: int, num_heads: int, length: int
) -> "Tensor | None":
    if padding is None:
        return mask
    shape = padding._layout.shape
    _need(shape == (batch, length), f"the padding mask must have the shape {(batch, length)}, got {shape}")
    wide = padding.view(batch, 1, 1, length).expand(-1, num_heads, -1, -1).reshape(batch * num_heads, 1, length)
    return wide if mask is None else mask.add(wide)


def _attended(
    q: "Tensor", k: "Tensor", v: "Tensor", mask: "Tensor | None", batch: int, num_heads: int, *, chance: float,
    is_causal: bool,
) -> "Tensor":  # fmt: skip
    """What each head attends to, by the fused operator: (b, heads, l, e) with l outermost."""
    length, whole, head = q._layout.shape[1], k._layout.shape[1], q._layout.shape[2]
    if mask is not None:
        single = mask._layout.shape[0] == 1 and mask.ndim == 3
        mask = mask.unsqueeze(0) if single else mask.view(batch, num_heads, -1, whole)
    q = q.view(batch, num_heads, length, head)
    k, v = (t.view(batch, num_heads, whole, head) for t in (k, v))
    return scaled_dot_product_attention(q, k, v, mask, chance, is_causal).permute(2, 0, 1, 3)
