"""Changes of a tensor's own metadata, storages that grow, flags and history: as torch leaves them, errors included."""

import pytest

from .twins import fuzz, random_layout, words

DTYPES = ["float32", "float32", "int64", "complex64", "uint8"]


def pick(rng, pair, grad=True):
    if not pair.t or (rng.random() < 0.4 and len(pair.t) < 4):
        layout = random_layout(rng, max_ndim=3, max_len=3)
        dtype = rng.choice(DTYPES)
        if pair.t and rng.random() < 0.4:
            j = rng.randrange(len(pair.t))
            if layout.required_bytes(pair.r[j].itemsize) <= pair.r[j].untyped_storage().nbytes():
                return pair.add(layout, pair.r[j].dtype.name, storage=j)
        return pair.add(layout, dtype, requires_grad=grad and dtype in ("float32", "complex64") and rng.random() < 0.3)
    return rng.randrange(len(pair.t))


def shape(rng, negative=False):
    s = [rng.choice([0, 1, 2, 3, 4]) for _ in range(rng.randint(0, 3))]
    if negative and s and rng.random() < 0.05:
        s[rng.randrange(len(s))] = -1
    return tuple(s)


def dim(rng, x):
    return rng.randint(-x.dim() - 1, x.dim())


def draw_metadata(rng, pair):
    i = pick(rng, pair, grad=rng.random() < 0.3)
    x = pair.t[i]
    a = {"i": i, "j": pick(rng, pair, grad=False)}
    kind = rng.choice(
        words(
            "resize_ resize_ resize_f resize_as_ set0 set1 sets setx setx setx sett as_strided_ squeeze_ "
            "unsqueeze_ transpose_ t_ data= detach_ sresize sfill write view clone view2 setself "
        )
    )
    s = shape(rng)
    st = tuple(rng.choice([0, 1, 2, 3, 5]) for _ in s)
    if kind == "resize_":
        return rng.choice(["v[i].resize_(s)", "v[i].resize_(*s)"] if s else ["v[i].resize_(s)"]), {
            **a,
            "s": s if rng.random() < 0.8 else tuple(x.shape),
        }
    if kind == "resize_f":
        return "v[i].resize_(s, memory_format=getattr(T, f))", {
            **a,
            "s": rng.choice([s, tuple(x.shape), (2, 3, 2, 2)]),
            "f": rng.choice(["contiguous_format", "channels_last", "preserve_format"]),
        }
    if kind == "resize_as_":
        return rng.choice(["v[i].resize_as_(v[j])", "v[i].resize_as_(v[j], memory_format=T.preserve_format)"]), a
    if kind == "set0":
        return "v[i].set_()", a
    if kind == "set1":
        return "v[i].set_(v[j])", a
    if kind == "sets":
        return "v[i].set_(v[j].untyped_storage())", a
    if kind in ("setx", "sett"):
        source = "v[j].untyped_storage()" if kind == "setx" else "v[j]"
        same = tuple(x.shape) if rng.random() < 0.3 else s
        st = tuple(rng.choice([0, 1, 2, 3, 5]) for _ in same)
        if st and rng.random() < 0.04:
            st = (*st[:-1], -1)
        if rng.random() < 0.04:
            st = (*st, 1)
        return f"v[i].set_({source}, o, s{', t' if rng.random() < 0.6 else ''})", {
            **a,
            "o": rng.choice([0, 0, 1, 3, -1]),
            "s": same,
            "t": st,
        }
    if kind == "setself":
        return "v[i].set_(v[i].untyped_storage(), o, s)", {**a, "o": rng.randint(0, 3), "s": s}
    if kind == "as_strided_":
        return "v[i].as_strided_(s, t)", {**a, "s": s, "t": st}
    if kind == "squeeze_":
        return rng.choice(["v[i].squeeze_()", "v[i].squeeze_(d)"]), {**a, "d": dim(rng, x)}
    if kind == "unsqueeze_":
        return "v[i].unsqueeze_(d)", {**a, "d": dim(rng, x)}
    if kind == "transpose_":
        return f"v[i].{rng.choice(['transpose_', 'swapaxes_'])}(d, e)", {**a, "d": dim(rng, x), "e": dim(rng, x)}
    if kind == "t_":
        return "v[i].t_()", a
    if kind == "data=":
        return "setattr(v[i], 'data', v[j])", a
    if kind == "detach_":
        return "v[i].detach_()", a
    if kind == "sresize":
        return "v[i].untyped_storage().resize_(n).nbytes()", {
            **a,
            "n": pair.r[i].untyped_storage().nbytes() + rng.randint(0, 9),
        }
    if kind == "sfill":
        return "v[i].untyped_storage().fill_(1).nbytes()", a
    if kind == "write":
        return rng.choice(["v[i].fill_(1)", "v[i].add_(1)", "v[i].zero_()"]), a
    if kind == "clone":
        return rng.choice(["v[i].clone()", "v[i] + 1", "v[i].contiguous()"]), a
    return rng.choice(
        [
            "v[i].detach()",
            "v[i].data",
            "v[i][0:1]",
            "v[i].view(v[i].shape)",
            "v[i].unsqueeze(0)",
            "v[i].expand(v[i].shape)",
        ]
    ), a


@pytest.mark.parametrize("seed", range(3))
def test_metadata_agrees_with_torch(seed):
    found = fuzz(f"m{seed}", 500, draw_metadata, steps=5)
    assert not found, "\n".join(found)


def draw_grad(rng, pair):
    i = pick(rng, pair)
    a = {"i": i, "j": pick(rng, pair)}
    x = rng.choice(["v[i]", "v[i]", "v[i][0:1]", "v[i].detach()", "v[i].data"]) if pair.t[i].dim() else "v[i]"
    return rng.choice(
        [
            f"{x}.add_(1)",
            f"{x}.mul_(v[j])",
            f"{x}.copy_(v[j])",
            f"{x}.fill_(0)",
            f"{x}.zero_()",
            f"{x}.__setitem__(Ellipsis, 1)",
            f"{x} + v[j]",
            f"{x} * 2",
            f"{x}.clone()",
            f"{x}.sum()",
            f"{x}.view(-1)",
            f"{x}.unbind(0)" if pair.t[i].dim() else "v[i].exp()",
            f"{x}.chunk(2)" if pair.t[i].dim() else "v[i].neg()",
            f"{x}.requires_grad_()",
            f"{x}.requires_grad_(False)",
            f"{x}.resize_(3)",
            f"{x}.set_(v[j])",
            f"{x}.unsqueeze_(0)",
            f"{x}.detach_()",
            f"no_grad(T, lambda: {x}[...])",
            f"no_grad(T, lambda: {x} + 1)",
            f"no_grad(T, lambda: {x}.add_(1))",
            f"T.add({x}, 1, out=v[j])",
            f"{x}.to(T.float64)",
            f"{x}.relu_()",
            f"{x} > 0",
            f"{x}.view(T.int32)",
            f"{x}.long()",
            f"{x}.reshape(-1)",
            f"{x}.expand(2, *v[i].shape)" if "[0:1]" not in x else "v[i].abs()",
            f"{x}.contiguous()",
            f"T.cat([{x}, {x}])",
            f"{x}.matmul(v[j])",
            "v[i].numpy() is not None",
            f"T.zeros_like({x})",
            f"{x}.real",
            f"{x}.index_fill_(0, T.tensor([0]), 1)",
            f"{x}.masked_fill(v[j] == 0, 1)",
            f"{x}.softmax(-1)",
            "T.ones(2, requires_grad=True)",
            "T.tensor([1], requires_grad=True)",
            f"{x}.split(1)",
            f"{x}.squeeze()",
        ]
    ), {**a, "no_grad": no_grad}


def no_grad(library, function):
    with library.no_grad():
        return function()


@pytest.mark.parametrize("seed", range(3))
def test_history_agrees_with_torch(seed):
    found = fuzz(f"g{seed}", 400, draw_grad, steps=4)
    assert not found, "\n".join(found)
