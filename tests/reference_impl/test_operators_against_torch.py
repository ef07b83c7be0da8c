"""Operators that compute: output layout, dtype, values within what is specified, errors, as torch has them."""

import pytest

from .twins import fuzz, random_layout, words

FLOATS = ["float32", "float32", "float64", "bfloat16", "float16"]
DTYPES = [*FLOATS, "int64", "int32", "uint8", "bool", "complex64"]


def new(rng, pair, shape=None, dtypes=DTYPES, max_ndim=4):
    return pair.add(random_layout(rng, shape=shape, max_ndim=max_ndim, max_len=3), rng.choice(dtypes))


def pick(rng, pair, dtypes=DTYPES, max_ndim=4):
    if not pair.t or (rng.random() < 0.5 and len(pair.t) < 4):
        return new(rng, pair, dtypes=dtypes, max_ndim=max_ndim)
    return rng.randrange(len(pair.t))


def dim(rng, x):
    return rng.randint(-x.dim(), max(x.dim() - 1, 0)) if rng.random() < 0.97 else 9


def dims(rng, x):
    k = rng.randint(0, x.dim())
    return tuple(rng.sample(range(-x.dim(), 0), k)) if rng.random() < 0.5 else tuple(rng.sample(range(x.dim()), k))


UNARY = words(
    "sqrt rsqrt exp log sin cos tanh sigmoid reciprocal floor ceil trunc round frac sign sgn isnan "
    "isinf isfinite bitwise_not logical_not neg abs relu square positive conj_physical erf exp2 "
    "expm1 log2 log1p atan "
)
BINARY = words(
    "add sub mul div floor_divide remainder fmod eq ne lt le gt ge logical_and logical_or "
    "logical_xor bitwise_and bitwise_or bitwise_xor maximum minimum pow atan2 "
)


def draw_pointwise(rng, pair):
    i = pick(rng, pair)
    x = pair.t[i]
    a = {"i": i}
    kind = rng.choice(
        words(
            "unary unary binary binary scalar where clamp lerp addcmul unary_ binary_ scalar_ out rscalar "
            "div_mode equal "
        )
    )
    if kind in ("binary", "binary_", "where", "lerp", "addcmul", "equal"):
        shape = [1 if rng.random() < 0.2 else n for n in x.shape][rng.choice([0, 0, 0, 1]) :]
        a["j"] = new(rng, pair, shape, [x.dtype.__str__()[6:]] if rng.random() < 0.6 else DTYPES)
        a["k"] = new(rng, pair, x.shape, ["bool"] if kind == "where" else [str(x.dtype)[6:]])
    number = rng.choice([0, 1, 2, -1, 3, 0.5, 1.5, -2.5, True, 2, 2])
    a["n"] = number
    if kind == "unary":
        return f"v[i].{rng.choice(UNARY)}()", a
    if kind == "unary_":
        return f"v[i].{rng.choice([n for n in UNARY if n[:3] not in ('isn', 'isi', 'isf', 'pos', 'con')])}_()", a
    if kind == "binary":
        return f"v[i].{rng.choice(BINARY)}(v[j])", a
    if kind == "binary_":
        return f"v[i].{rng.choice([n for n in BINARY if n not in ('maximum', 'minimum')])}_(v[j])", a
    if kind == "scalar":
        return f"v[i].{rng.choice([n for n in BINARY if n not in ('maximum', 'minimum', 'atan2')])}(n)", a
    if kind == "scalar_":
        return f"v[i].{rng.choice(['add', 'sub', 'mul', 'div', 'eq', 'lt', 'remainder', 'pow', 'floor_divide'])}_(n)", a
    if kind == "rscalar":
        return f"n {rng.choice(['+', '-', '*', '/', '//', '%', '**', '<', '=='])} v[i]", a
    if kind == "where":
        return rng.choice(["T.where(v[k], v[i], v[j])", "T.where(v[k], v[i], n)", "T.where(v[k], n, v[j])"]), a
    if kind == "clamp":
        return rng.choice(
            ["v[i].clamp(n, 3)", "v[i].clamp(min=n)", "v[i].clamp(max=n)", "v[i].clamp_(0, 2)", "v[i].clamp()"]
        ), a
    if kind == "lerp":
        return rng.choice(["v[i].lerp(v[j], n)", "v[i].lerp(v[j], v[k])"]), a
    if kind == "addcmul":
        return rng.choice(
            ["T.addcmul(v[i], v[j], v[k])", "T.addcmul(v[i], v[j], v[k], value=2)", "T.addcdiv(v[i], v[j], v[k])"]
        ), a
    if kind == "div_mode":
        return "v[i].div(n, rounding_mode=m)", {**a, "m": rng.choice(["floor", "trunc", None])}
    if kind == "equal":
        return rng.choice(["T.equal(v[i], v[j])", "v[i].isclose(v[j])"]), a
    a["o"] = new(
        rng, pair, x.shape if rng.random() < 0.7 else None, [str(x.dtype)[6:]] if rng.random() < 0.8 else DTYPES
    )
    return rng.choice(
        [
            "T.add(v[i], v[i], out=v[o])",
            "T.neg(v[i], out=v[o])",
            "T.mul(v[i], n, out=v[o])",
            "T.exp(v[i], out=v[o])",
            "T.sum(v[i], 0, out=v[o])",
            "T.cumsum(v[i], 0, out=v[o])",
            "T.cat([v[i]], out=v[o])",
        ]
    ), a


def draw_reduction(rng, pair):
    i = pick(rng, pair)
    x = pair.t[i]
    a = {"i": i, "d": dim(rng, x), "s": dims(rng, x), "k": rng.random() < 0.5}
    name = rng.choice(
        words(
            "sum sum mean amax amin max min argmax argmin all any std var norm prod logsumexp count_nonzero "
            "var_mean aminmax cumsum cumprod cummax cummin softmax log_softmax sort argsort topk flip roll "
            "rot90 sum_dtype "
        )
    )
    if name in ("sum", "mean", "amax", "amin", "std", "var", "norm", "all", "any", "logsumexp", "var_mean"):
        form = rng.choice(["(dim=s, keepdim=k)", "(dim=d, keepdim=k)", "()"])
        if name == "logsumexp" and form == "()":
            form = "(dim=d)"
        if name == "norm":
            form = rng.choice(["()", "(2, dim=d)", "(1, dim=s, keepdim=k)"])
        return f"T.{name}(v[i], {form[1:]}" if name == "var_mean" else f"v[i].{name}{form}", a
    if name == "sum_dtype":
        return "v[i].sum(d, dtype=getattr(T, t))", {**a, "t": rng.choice(DTYPES)}
    if name in ("max", "min", "argmax", "argmin", "prod"):
        return f"v[i].{name}{rng.choice(['()', '(d)', '(d, keepdim=k)'])}", a
    if name == "count_nonzero":
        return f"v[i].{name}{rng.choice(['()', '(d)'])}", a
    if name == "aminmax":
        return "v[i].aminmax(dim=d, keepdim=k)", a
    if name in ("cumsum", "cumprod", "cummax", "cummin", "softmax", "log_softmax"):
        return f"v[i].{name}(d)", a
    if name in ("sort", "argsort"):
        return f"v[i].{name}(stable=True, dim=d, descending=k)", a
    if name == "topk":
        return "v[i].topk(n, d, largest=k)", {**a, "n": rng.randint(0, 3)}
    if name == "flip":
        return "v[i].flip(s)", a
    if name == "roll":
        return rng.choice(["v[i].roll(n)", "v[i].roll(n, d)", "v[i].roll((1, n), (0, d))"]), {
            **a,
            "n": rng.randint(-4, 4),
        }
    return "v[i].rot90(n, p)", {**a, "n": rng.randint(-2, 5), "p": rng.choice([(0, 1), (1, 0), (0, 2), (-1, 0)])}


def index_tensor(rng, pair, length, shape=None, dtype="int64", repeat=True):
    """An index tensor with values in range, mostly, over an odd layout; its slot."""
    shape = shape if shape is not None else [rng.randint(0, 3) for _ in range(rng.choice([1, 1, 2]))]
    layout = random_layout(rng, shape=shape, allow_overlap=False)
    slot = pair.add(layout, dtype)
    for k, t in enumerate((pair.t[slot], pair.r[slot])):
        state = random_state(rng, slot)
        n = t.untyped_storage().nbytes() // t.itemsize
        data = [
            state.randrange(-length, length) if length and state.random() < 0.97 else state.randrange(max(length, 1))
            for _ in range(n)
        ]
        if not repeat:
            data = [abs(q) % max(length, 1) for q in data]
        flat = type(t).new_empty(t, (0,)).set_(t.untyped_storage(), 0, (n,), (1,))
        flat.data.copy_(flat.new_tensor(data))
        del k
    return slot


def random_state(rng, slot):
    import random

    if not hasattr(rng, "seeds"):
        rng.seeds = {}
    if slot not in rng.seeds:
        rng.seeds[slot] = rng.random()
    return random.Random(rng.seeds[slot])


def draw_index(rng, pair):
    i = pick(rng, pair)
    x = pair.t[i]
    a = {"i": i}
    kind = rng.choice(
        words(
            "get get get get set set set select gather take mselect mfill mfill_ ifill icopy iadd scatter "
            "scatter_src nonzero mask_get mask_set tril tril_ iput along mscatter "
        )
    )
    length = min(x.shape) if x.dim() else 1
    d = rng.randrange(x.dim()) if x.dim() else 0
    own = x.shape[d] if x.dim() else 1
    same = [str(x.dtype)[6:]]
    if kind in ("get", "set", "iput"):
        items = []
        shape = [rng.randint(1, 3) for _ in range(rng.choice([1, 1, 2]))]
        k = 0
        while k < x.dim() and rng.random() < 0.85:
            r = rng.random()
            if r < 0.5:
                s = [1 if rng.random() < 0.2 else n for n in shape]
                slot = index_tensor(rng, pair, x.shape[k], s, rng.choice(["int64", "int64", "int32"]))
                items.append(f"v[{slot}]")
                k += 1
            elif r < 0.6:
                items.append(repr([rng.randrange(x.shape[k]) if x.shape[k] else 0 for _ in range(shape[-1])]))
                k += 1
            elif r < 0.85:
                items.append(rng.choice([":", ":", "1:", "::2", "0", ":-1"]))
                k += 1
            elif r < 0.9:
                items.append(rng.choice(["None", "True"]))
            elif "..." not in items:
                items.append("...")
                k = rng.randint(k, x.dim())
        text = ", ".join(items) or "..."
        if kind == "get":
            return f"v[i][{text}]", a
        if kind == "iput":
            slot = index_tensor(rng, pair, own)
            return f"v[i].{rng.choice(['index_put', 'index_put_'])}((v[{slot}],), v[j], accumulate=k)", {
                **a,
                "j": new(rng, pair, rng.choice([[], [1], list(x.shape[1:])]), same),
                "k": rng.random() < 0.5,
            }
        j = new(
            rng,
            pair,
            rng.choice([[], [1], list(x.shape), list(x.shape[1:]), shape]),
            same if rng.random() < 0.9 else DTYPES,
        )
        return f"v[i].__setitem__(_[{text}], {rng.choice(['v[j]', '1', '2'])})", {**a, "j": j, "_": Getter()}
    if kind in ("mask_get", "mask_set", "mselect", "mfill", "mfill_", "mscatter"):
        shape = list(x.shape)
        if kind.startswith("mask"):
            lead = rng.randint(0, x.dim())
            at = rng.randint(0, x.dim() - lead)
            shape = shape[at : at + lead]
            if rng.random() < 0.1 and shape:
                shape[0] += 1
        elif rng.random() < 0.3:
            shape = shape[1:]
        m = new(rng, pair, shape, ["bool"] if rng.random() < 0.95 else ["uint8"])
        a |= {"m": m, "j": new(rng, pair, rng.choice([[], [1], shape]), same)}
        if kind == "mask_get":
            return f"v[i][{':, ' * at}v[m]]", a
        if kind == "mask_set":
            return f"v[i].__setitem__(_[{':, ' * at}v[m]], {rng.choice(['v[j]', '1', '0'])})", {**a, "_": Getter()}
        if kind == "mselect":
            return "v[i].masked_select(v[m])", a
        if kind == "mscatter":
            return f"v[i].{rng.choice(['masked_scatter', 'masked_scatter_'])}(v[m], v[j])", a
        return f"v[i].masked_fill{'_' if kind == 'mfill_' else ''}(v[m], {rng.choice(['1', '0.5', 'v[j]'])})", a
    if kind == "nonzero":
        return f"v[i].nonzero({rng.choice(['', 'as_tuple=True'])})", a
    if kind in ("tril", "tril_"):
        return f"v[i].{rng.choice(['tril', 'triu'])}{kind[4:]}(n)", {**a, "n": rng.randint(-2, 2)}
    if kind == "take":
        slot = index_tensor(rng, pair, max(x.numel(), 1))
        return f"v[i].take(v[{slot}])", a
    if kind in ("gather", "scatter", "scatter_src", "along"):
        shape = [rng.randint(1, max(n, 1)) for n in x.shape]
        if shape:
            shape[d] = rng.randint(0, 3)
        slot = index_tensor(rng, pair, own, shape, repeat=False)
        if kind == "gather":
            return f"v[i].gather({d}, v[{slot}])", a
        if kind == "along":
            return f"v[i].take_along_dim(v[{slot}], {d})", a
        name = (
            rng.choice(["scatter", "scatter_", "scatter_add", "scatter_add_"])
            if kind == "scatter_src"
            else rng.choice(["scatter", "scatter_"])
        )
        j = new(rng, pair, shape, same)
        return f"v[i].{name}({d}, v[{slot}], {'v[j]' if kind == 'scatter_src' else '1'})", {**a, "j": j}
    slot = index_tensor(rng, pair, own, [rng.randint(0, 3)], repeat=False)
    if kind == "select":
        return f"v[i].index_select({d}, v[{slot}])", a
    if kind == "ifill":
        return f"v[i].{rng.choice(['index_fill', 'index_fill_'])}({d}, v[{slot}], 1)", a
    shape = list(x.shape)
    if shape:
        shape[d] = pair.t[slot].numel()
    j = new(rng, pair, shape, same)
    name = {"icopy": ["index_copy", "index_copy_"], "iadd": ["index_add", "index_add_"]}[kind]
    del length
    return f"v[i].{rng.choice(name)}({d}, v[{slot}], v[j])", {**a, "j": j}


class Getter:
    """Spells an index as Python would hand it over."""

    def __getitem__(self, index):
        return index

    def __repr__(self):
        return "_"


def draw_join(rng, pair):
    i = pick(rng, pair)
    x = pair.t[i]
    a = {"i": i, "d": dim(rng, x)}
    kind = rng.choice(
        words(
            "cat cat cat stack stack hstack vstack dstack repeat tile interleave interleave_tensor diag "
            "diag_embed meshgrid broadcast trace column "
        )
    )
    if kind in ("cat", "stack", "hstack", "vstack", "dstack", "column"):
        shape = list(x.shape)
        if shape and kind != "stack" and rng.random() < 0.6:
            at = a["d"] if -len(shape) <= a["d"] < len(shape) else 0
            shape[at] = rng.randint(0, 3)
        a["j"] = new(rng, pair, shape, [str(x.dtype)[6:]] if rng.random() < 0.7 else DTYPES)
        a["e"] = pair.add(random_layout(rng, shape=[0]), "float32") if rng.random() < 0.1 else i
        if kind in ("cat", "stack"):
            parts = rng.choice(["[v[i], v[j]]", "(v[i], v[j], v[i])", "[v[i]]", "[v[e], v[j]]", "[v[i], v[e]]"])
            return f"T.{kind}({parts}, d)", a
        return f"T.{'column_stack' if kind == 'column' else kind}([v[i], v[j]])", a
    counts = tuple(rng.randint(0, 2) for _ in range(x.dim() + rng.choice([0, 0, 1, -1]))) if x.dim() else ()
    if kind == "repeat":
        return "v[i].repeat(c)", {**a, "c": counts}
    if kind == "tile":
        return "v[i].tile(c)", {**a, "c": counts}
    if kind == "interleave":
        return rng.choice(["v[i].repeat_interleave(n)", "v[i].repeat_interleave(n, d)"]), {**a, "n": rng.randint(0, 3)}
    if kind == "interleave_tensor":
        return "v[i].repeat_interleave(T.tensor(n), d)", {
            **a,
            "n": [rng.randint(0, 2) for _ in range(x.shape[a["d"]] if -x.dim() <= a["d"] < x.dim() else 1)],
        }
    if kind in ("diag", "trace"):
        return f"v[i].{kind}()", a
    if kind == "diag_embed":
        return "v[i].diag_embed(n)", {**a, "n": rng.randint(-1, 1)}
    if kind == "broadcast":
        return "T.broadcast_tensors(v[i], v[j])", {
            **a,
            "j": new(rng, pair, [1 if rng.random() < 0.5 else n for n in x.shape][1:]),
        }
    j = new(rng, pair, [rng.randint(0, 3)])
    return "T.meshgrid(v[j], v[k], indexing=m)", {
        **a,
        "j": j,
        "k": new(rng, pair, [rng.randint(1, 3)]),
        "m": rng.choice(["ij", "xy"]),
    }


def draw_linalg(rng, pair):
    d = [rng.choice([*FLOATS, "int64", "complex64", "int32"])] if rng.random() < 0.9 else DTYPES
    kind = rng.choice(
        words("mm bmm mv dot matmul matmul matmul outer addmm baddbmm linear linear_bias tensordot inner einsum ")
    )
    m, k, n, b = (rng.choice([1, 2, 3, 0 if rng.random() < 0.3 else 4]) for _ in range(4))
    k2 = k if rng.random() < 0.95 else k + 1
    if kind == "mm":
        return "v[i].mm(v[j])", {"i": new(rng, pair, [m, k], d), "j": new(rng, pair, [k2, n], d)}
    if kind == "bmm":
        return "v[i].bmm(v[j])", {"i": new(rng, pair, [b, m, k], d), "j": new(rng, pair, [b, k2, n], d)}
    if kind == "mv":
        return "v[i].mv(v[j])", {"i": new(rng, pair, [m, k], d), "j": new(rng, pair, [k2], d)}
    if kind == "dot":
        return "v[i].dot(v[j])", {"i": new(rng, pair, [k], d), "j": new(rng, pair, [k2], d)}
    if kind == "outer":
        return "T.outer(v[i], v[j])", {"i": new(rng, pair, [m], d), "j": new(rng, pair, [n], d)}
    if kind == "matmul":
        left = rng.choice([[k], [m, k], [b, m, k], [1, m, k], [2, b, m, k], []])
        right = rng.choice([[k2], [k2, n], [b, k2, n], [1, k2, n], [2, 1, k2, n]])
        return "v[i] @ v[j]", {"i": new(rng, pair, left, d), "j": new(rng, pair, right, d)}
    if kind == "addmm":
        c = rng.choice([[m, n], [n], [], [1, n], [m, 1]])
        return "T.addmm(v[c], v[i], v[j], beta=p, alpha=q)", {
            "c": new(rng, pair, c, d),
            "i": new(rng, pair, [m, k], d),
            "j": new(rng, pair, [k2, n], d),
            "p": rng.choice([1, 0, 2]),
            "q": rng.choice([1, 2]),
        }
    if kind == "baddbmm":
        return "T.baddbmm(v[c], v[i], v[j])", {
            "c": new(rng, pair, [b, m, n], d),
            "i": new(rng, pair, [b, m, k], d),
            "j": new(rng, pair, [b, k2, n], d),
        }
    if kind in ("linear", "linear_bias"):
        shape = rng.choice([[k], [m, k], [b, m, k], [2, b, m, k]])
        text = (
            "T.nn.functional.linear(v[i], v[j], v[c])"
            if kind == "linear_bias"
            else "T.nn.functional.linear(v[i], v[j])"
        )
        return text, {"i": new(rng, pair, shape, d), "j": new(rng, pair, [n, k2], d), "c": new(rng, pair, [n], d)}
    if kind == "tensordot":
        return "T.tensordot(v[i], v[j], 1)", {"i": new(rng, pair, [b, m, k], d), "j": new(rng, pair, [k2, n], d)}
    if kind == "inner":
        return "T.inner(v[i], v[j])", {"i": new(rng, pair, [m, k], d), "j": new(rng, pair, [n, k2], d)}
    return rng.choice(["T.einsum('ij->ji', v[i])", "T.einsum('ij->ij', v[i])"]), {"i": new(rng, pair, [m, k], d)}


def draw_image(rng, pair):
    d = [rng.choice(["float32", "float32", "float64", "bfloat16"])]
    kind = rng.choice(
        words(
            "conv conv max_pool avg_pool adaptive batch_norm pad pad nearest bilinear conv1d layer_norm "
            "activation adaptive_max "
        )
    )
    n, c, h, w = rng.choice([1, 2]), rng.choice([1, 2, 4]), rng.choice([1, 3, 4, 5]), rng.choice([1, 3, 4, 5])
    shape = [n, c, h, w] if rng.random() < 0.8 else [c, h, w]
    i = new(rng, pair, shape, d)
    a = {"i": i, "F": None}
    p = "T.nn.functional."
    if kind == "conv":
        g = rng.choice([1, 1, c])
        k = rng.choice([1, 2, 3])
        a["j"] = new(rng, pair, [g * rng.choice([1, 2]), c // g, k, rng.choice([1, k])], d)
        a["b"] = new(rng, pair, [pair.t[a["j"]].shape[0]], d)
        return f"{p}conv2d(v[i], v[j], {rng.choice(['None', 'v[b]'])}, stride=s, padding=q, dilation=e, groups={g})", {
            **a,
            "s": rng.choice([1, 2, (1, 2)]),
            "q": rng.choice([0, 1, (1, 0)]),
            "e": rng.choice([1, 1, 2]),
        }
    if kind == "conv1d":
        a["i"] = new(rng, pair, [n, c, w], d)
        a["j"] = new(rng, pair, [2, c, rng.choice([1, 2])], d)
        return f"{p}conv1d(v[i], v[j], stride=s)", {**a, "s": rng.choice([1, 2])}
    if kind in ("max_pool", "avg_pool"):
        more = rng.choice(["", ", ceil_mode=True"]) + (
            rng.choice(["", ", return_indices=True"])
            if kind == "max_pool"
            else rng.choice(["", ", count_include_pad=False"])
        )
        return f"{p}{kind}2d(v[i], k, stride=s, padding=q{more})", {
            **a,
            "k": rng.choice([1, 2, 3, (2, 1)]),
            "s": rng.choice([None, 1, 2]),
            "q": rng.choice([0, 0, 1]),
        }
    if kind in ("adaptive", "adaptive_max"):
        return f"{p}adaptive_{'avg' if kind == 'adaptive' else 'max'}_pool2d(v[i], k)", {
            **a,
            "k": rng.choice([1, 2, (1, 2), (2, None), (1, 1)]),
        }
    if kind == "batch_norm":
        ch = shape[1]
        a |= {"m": new(rng, pair, [ch], d), "q": new(rng, pair, [ch], d)}
        pair.t[a["q"]].data.fill_(2)
        pair.r[a["q"]].data.fill_(2)
        return rng.choice(
            [
                f"{p}batch_norm(v[i], v[m], v[q])",
                f"{p}batch_norm(v[i], None, None, training=True)",
                f"{p}batch_norm(v[i], v[m], v[q], v[m], v[q])",
            ]
        ), a
    if kind == "pad":
        count = rng.choice([1, 2, 2, 3])
        pads = [rng.randint(-1, 2) for _ in range(2 * count)]
        mode = rng.choice(["constant", "constant", "reflect", "replicate", "circular"])
        if mode != "constant":
            pads = pads[:4]
        return f"{p}pad(v[i], k, mode=m)", {**a, "k": tuple(pads), "m": mode}
    if kind == "nearest":
        return rng.choice([f"{p}interpolate(v[i], size=k)", f"{p}interpolate(v[i], scale_factor=f)"]), {
            **a,
            "k": tuple(rng.randint(1, 5) for _ in range(len(shape) - 2)),
            "f": rng.choice([2, 0.5, 1.5]),
        }
    if kind == "bilinear":
        a["i"] = new(rng, pair, [n, c, h, w], d)
        return f"{p}interpolate(v[i], size=k, mode='bilinear', align_corners=q)", {
            **a,
            "k": (rng.randint(1, 5), rng.randint(1, 5)),
            "q": rng.random() < 0.5,
        }
    if kind == "layer_norm":
        return f"{p}layer_norm(v[i], k)", {**a, "k": tuple(shape[-rng.randint(1, 2) :])}
    return f"{p}{rng.choice(words('relu leaky_relu silu gelu elu softplus hardtanh relu6 sigmoid tanh'))}(v[i])", a


FAMILIES = {
    "pointwise": draw_pointwise,
    "reduction": draw_reduction,
    "index": draw_index,
    "join": draw_join,
    "linalg": draw_linalg,
    "image": draw_image,
}


@pytest.mark.parametrize("family", FAMILIES)
def test_operators_agree_with_torch(family):
    found = fuzz(family, 500, FAMILIES[family], steps=2)
    assert not found, "\n".join(found)
