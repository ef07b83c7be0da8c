"""Copies, arithmetic and writes answer as torch's do: output layout, promotion, overlap errors, bytes, versions."""

import pytest

from .twins import fuzz, random_layout, words

DTYPES = [
    "float32",
    "float32",
    "float32",
    "int64",
    "int32",
    "uint8",
    "complex64",
    "bool",
    "float64",
    "bfloat16",
    "float16",
    "int16",
]
WIDE = [
    "float32",
    "int64",
    "bool",
    "complex64",
    "bfloat16",
    "uint16",
    "int8",
    "complex32",
    "float8_e4m3fn",
    "float8_e5m2",
    "uint64",
    "complex128",
    "bits8",
    "uint4",
    "float16",
]


def new_input(rng, pair, shape=None):
    layout = random_layout(rng, max_len=3, shape=shape)
    if pair.t and rng.random() < 0.3:
        j = rng.randrange(len(pair.t))
        dtype = pair.r[j].dtype
        if layout.required_bytes(dtype.itemsize) <= pair.r[j].untyped_storage().nbytes():
            return pair.add(layout, dtype.name, storage=j)
    return pair.add(layout, rng.choice(DTYPES))


def partner(rng, pair, i):
    """A value that often broadcasts with value i."""
    r = rng.random()
    if r < 0.25:
        return rng.randrange(len(pair.t))
    shape = list(pair.t[i].shape)
    if r < 0.6 or not shape:
        return new_input(rng, pair, shape)
    shape = [1 if rng.random() < 0.3 else n for n in shape][rng.randint(0, len(shape)) if rng.random() < 0.4 else 0 :]
    if rng.random() < 0.05:
        shape.insert(0, 2)
    return new_input(rng, pair, shape)


def view_into(rng, pair, i):
    """An expression for a view of value i, to write through."""
    x = pair.t[i]
    choices = ["v[i]", "v[i]", "v[i].detach()", "v[i].data"]
    if x.dim():
        choices += [
            "v[i][1:]",
            "v[i][::2]",
            "v[i][0:1]",
            "v[i].t()" if x.dim() <= 2 else "v[i].transpose(0, -1)",
            "v[i][:-1]",
        ]
        choices += ["v[i].unfold(0, min(2, v[i].shape[0]), 1)", "v[i].view(-1)", "v[i][..., :1].expand(v[i].shape)"]
    if x.is_complex():
        choices += ["v[i].conj()", "v[i].imag", "v[i].conj().imag", "v[i].real"]
    return rng.choice(choices)


def number(rng):
    return rng.choice([0, 1, 2, -3, 1.5, 0.1, True, -2.5, 300, 2 + 1j, 7])


def draw_write(rng, pair):
    if not pair.t or (rng.random() < 0.3 and len(pair.t) < 3):
        new_input(rng, pair)
    i = rng.randrange(len(pair.t))
    x = view_into(rng, pair, i)
    a = {"i": i}
    kind = rng.choice(
        words(
            "unary unary_ binary binary binary_ binary_ scalar scalar_ fill copy_ copy_ clone to like new "
            "zero setitem setitem contiguous assign sub_alpha convert rsub "
        )
    )
    if kind == "unary":
        return f"{x}.{rng.choice(['neg', 'abs', 'relu'])}()", a
    if kind == "unary_":
        return f"{x}.{rng.choice(['neg_', 'abs_', 'relu_'])}()", a
    if kind == "binary":
        return f"{x}.{rng.choice(['add', 'sub', 'mul'])}(v[j])", {**a, "j": partner(rng, pair, i)}
    if kind == "binary_":
        y = rng.choice(
            [
                "v[j]",
                "v[j]",
                "v[i]",
                "v[i].t()" if pair.t[i].dim() == 2 else "v[j]",
                "v[i][:-1]" if pair.t[i].dim() else "v[j]",
                "v[i][0]" if pair.t[i].dim() and pair.t[i].shape[0] else "v[j]",
            ]
        )
        return f"{x}.{rng.choice(['add_', 'sub_', 'mul_'])}({y})", {**a, "j": partner(rng, pair, i)}
    if kind == "scalar":
        return f"{x}.{rng.choice(['add', 'sub', 'mul'])}(k)", {**a, "k": number(rng)}
    if kind == "rsub":
        return f"k - {x}", {**a, "k": number(rng)}
    if kind == "sub_alpha":
        return f"{x}.{rng.choice(['add', 'sub', 'add_'])}(v[j], alpha=k)", {
            **a,
            "j": partner(rng, pair, i),
            "k": number(rng),
        }
    if kind == "scalar_":
        return f"{x}.{rng.choice(['add_', 'sub_', 'mul_'])}(k)", {**a, "k": number(rng)}
    if kind == "fill":
        return f"{x}.fill_(k)", {**a, "k": number(rng)}
    if kind == "zero":
        return f"{x}.zero_()", a
    if kind == "copy_":
        y = rng.choice(
            [
                "v[j]",
                "v[j]",
                "v[i]",
                "v[i].t()" if pair.t[i].dim() == 2 else "v[j]",
                "v[i][:-1]" if pair.t[i].dim() else "v[j]",
            ]
        )
        return f"{x}.copy_({y})", {**a, "j": partner(rng, pair, i)}
    if kind == "clone":
        return f"{x}.clone()", a
    if kind == "contiguous":
        return f"{x}.contiguous()", a
    if kind == "to":
        f = rng.choice(["contiguous_format", "preserve_format", "channels_last"])
        return f"{x}.to(getattr(T, d), memory_format=T.{f})", {**a, "d": rng.choice(DTYPES)}
    if kind == "convert":
        return f"{x}.to(getattr(T, d), copy=k)", {**a, "d": rng.choice(DTYPES), "k": rng.random() < 0.5}
    if kind == "like":
        return f"T.{rng.choice(['zeros_like', 'ones_like', 'empty_like'])}({x})", a
    if kind == "new":
        return f"{x}.{rng.choice(['new_zeros', 'new_ones', 'new_empty'])}((2, 3))", a
    if kind == "setitem":
        return f"{x}.__setitem__(k, n)", {
            **a,
            "k": rng.choice([0, slice(1, None), Ellipsis, slice(0, 0), None]),
            "n": number(rng),
        }
    if kind == "assign":
        return f"{x}.__setitem__(k, v[j])", {
            **a,
            "k": rng.choice([0, slice(1, None), Ellipsis, slice(None)]),
            "j": partner(rng, pair, i),
        }
    raise AssertionError(kind)


@pytest.mark.parametrize("seed", range(4))
def test_writes_agree_with_torch(seed):
    found = fuzz(f"w{seed}", 400, draw_write)
    assert not found, "\n".join(found)


def draw_dtype(rng, pair):
    if not pair.t:
        pair.add(random_layout(rng, max_ndim=2), rng.choice(WIDE))
    i = rng.randrange(len(pair.t))
    j = pair.add(random_layout(rng, shape=tuple(pair.t[i].shape)), rng.choice(WIDE)) if rng.random() < 0.5 else i
    step = rng.choice(
        [
            "v[i].to(getattr(T, d))",
            "v[i].clone()",
            "v[i].copy_(v[j])",
            "v[i] + v[j]",
            "v[i] * v[j]",
            "v[i] - v[j]",
            "-v[i]",
            "v[i].abs()",
            "v[i].relu()",
            "v[i].fill_(1)",
            "v[i].zero_()",
            "v[i].add_(v[j])",
            "v[i].mul_(v[j])",
            "v[i].contiguous()",
            "v[i].view(getattr(T, d))",
            "v[i] + 1.5",
            "v[i] * 3",
        ]
    )
    return step, {"i": i, "j": j, "d": rng.choice(WIDE)}


@pytest.mark.parametrize("seed", range(2))
def test_every_dtype_agrees_with_torch(seed):
    found = fuzz(f"d{seed}", 400, draw_dtype)
    assert not found, "\n".join(found)
