"""Attention of several heads, composed as torch composes it: layout, views, versions and history of both answers."""

from .operands import Drawer
from .twins import fuzz

CALL = "T.nn.functional.multi_head_attention_forward"


def draw_heads(rng, pair):
    d = Drawer(rng, pair, ["float32", "float32", "float64", "bfloat16"])
    heads, head = rng.choice([1, 2, 3]), rng.choice([1, 2, 4])
    width, length, whole = heads * head, rng.choice([1, 2, 3]), rng.choice([1, 2, 3])
    batched = rng.random() < 0.7
    batch = rng.choice([1, 2, 3]) if batched else 1
    lead = [batch] if batched else []
    kind = rng.choice(["self", "memory", "apart", "separate"])
    whole = length if kind == "self" else whole
    a = {"q": d.tensor([length, *lead, width], 0.2, 1)}
    names = {"self": ["q", "q", "q"], "memory": ["q", "k", "k"]}.get(kind, ["q", "k", "u"])
    for name in ("k", "u"):
        if name in names:
            a[name] = d.tensor([whole, *lead, width], 0.2, 1)
    more = {}
    together = "None"
    if kind == "separate":
        more["use_separate_proj_weight"] = True
        for name in ("q", "k", "v"):
            a[f"p{name}"], more[f"{name}_proj_weight"] = d.tensor([width, width], 0.2, 1), f"v[p{name}]"
    else:
        a["w"], together = d.tensor([3 * width, width], 0.2, 1), "v[w]"
    bias = "None"
    if rng.random() < 0.6:
        a["b"], bias = d.tensor([3 * width], 0.2, 1), "v[b]"
    added = "None, None"
    if rng.random() < 0.3:
        a["bk"], a["bv"], added = d.tensor([1, 1, width], 0.2, 1), d.tensor([1, 1, width], 0.2, 1), "v[bk], v[bv]"
    a["o"] = d.tensor([width, width], 0.2, 1)
    out = "None"
    if rng.random() < 0.6:
        a["ob"], out = d.tensor([width], 0.2, 1), "v[ob]"
    if rng.random() < 0.4:
        shape = [length, whole + (rng.random() < 0.1)]
        if rng.random() < 0.5:
            shape.insert(0, batch * heads)
        a["m"] = d.tensor(shape, 0, 0.6)
        more["attn_mask"] = rng.choice(["v[m]", "v[m] > 2"])
        if rng.random() < 0.3:
            more["is_causal"] = True
    if rng.random() < 0.3:
        a["pm"] = d.tensor([*lead, whole], 0, 1)
        more["key_padding_mask"] = rng.choice(["v[pm]", "v[pm] > 2"])
    more["need_weights"] = rng.random() < 0.6
    if rng.random() < 0.3:
        more["average_attn_weights"] = False
    inputs = ", ".join(f"v[{name}]" for name in names)
    rest = "".join(f", {k}={v}" for k, v in more.items())
    zero = rng.random() < 0.3
    return (
        f"{CALL}({inputs}, {width}, {heads}, {together}, {bias}, {added}, {zero}, "
        f"{rng.choice([0.0, 0.5])}, v[o], {out}, {rng.random() < 0.5}{rest})",
        a,
    )


def test_heads_agree_with_torch():
    found = fuzz("heads", 400, draw_heads, steps=1)
    assert not found, "\n".join(found)
