"""Views, reshapes and parts of tensors answer as torch's do: layout, sharing, identity, flags and errors."""

import pytest

from .twins import fuzz, random_layout, words

DTYPES = ["float32", "float32", "int64", "uint8", "complex64", "bool", "float64", "bfloat16"]


def pick(rng, pair, grow=0.5):
    """The index of an input, now and then a new one."""
    if not pair.t or (rng.random() < grow and len(pair.t) < 3):
        return pair.add(random_layout(rng), rng.choice(DTYPES), requires_grad=False)
    return rng.randrange(len(pair.t))


def dim(rng, x, extra=0):
    return rng.randint(-x.dim() - 1 - extra, x.dim() + extra)


def sizes_like(rng, x):
    """A shape that often has as many elements as x."""
    n = x.numel()
    out = []
    rest = n
    while rest > 1 and rng.random() < 0.8:
        k = rng.choice([d for d in range(1, rest + 1) if rest % d == 0])
        out.append(k)
        rest //= k
    out.append(rest)
    while rng.random() < 0.4:
        out.insert(rng.randint(0, len(out)), 1)
    if n == 0 and rng.random() < 0.7:
        out = [rng.choice([0, 1, 2, 3]) for _ in range(rng.randint(1, 3))]
        out[rng.randrange(len(out))] = 0
    r = rng.random()
    if r < 0.3:
        out[rng.randrange(len(out))] = -1
    elif r < 0.36:
        out[rng.randrange(len(out))] = rng.choice([-2, -1, 0, 5])
    if n == 1 and rng.random() < 0.2:
        return ()
    return tuple(out)


def draw_view(rng, pair):
    i = pick(rng, pair)
    x = pair.t[i]
    name = rng.choice(
        words(
            "view view reshape reshape flatten unflatten ravel permute permute transpose swapaxes t T mT "
            "movedim expand expand expand_as broadcast_to squeeze squeeze squeeze unsqueeze select narrow "
            "unfold diagonal as_strided as_strided view_as reshape_as split split_sizes chunk tensor_split "
            "tensor_split_at hsplit vsplit dsplit unbind view_dtype view_as_real view_as_complex real imag "
            "conj detach data atleast clone contiguous to_format getitem getitem getitem getitem is_set_to "
            "dim_order "
        )
    )
    nd = x.dim()
    a = {"i": i}
    if name in ("view", "reshape"):
        return f"v[i].{name}(*s)" if rng.random() < 0.5 else f"v[i].{name}(s)", {**a, "s": sizes_like(rng, x)}
    if name == "flatten":
        return "v[i].flatten(p, q)" if rng.random() < 0.8 else "v[i].flatten()", {
            **a,
            "p": dim(rng, x),
            "q": dim(rng, x),
        }
    if name == "unflatten":
        d = dim(rng, x)
        n = x.shape[d] if -nd <= d < nd else 4
        k = rng.choice([1, 2, n or 1])
        return "v[i].unflatten(d, s)", {**a, "d": d, "s": rng.choice([(k, -1), (-1, k), (1, n), (), (k, n // k)])}
    if name in ("ravel", "t", "detach", "clone", "contiguous"):
        return f"v[i].{name}()", a
    if name in ("T", "mT", "real", "imag", "data"):
        if name == "T" and nd > 2:
            return "v[i].mT", a
        return f"v[i].{name}", a
    if name == "permute":
        p = list(range(nd))
        rng.shuffle(p)
        if p and rng.random() < 0.3:
            p[rng.randrange(nd)] -= rng.choice([nd, nd, 1])
        if rng.random() < 0.05:
            p.append(0)
        return "v[i].permute(p)" if rng.random() < 0.5 or not p else "v[i].permute(*p)", {**a, "p": tuple(p)}
    if name in ("transpose", "swapaxes"):
        return f"v[i].{name}(p, q)", {**a, "p": dim(rng, x), "q": dim(rng, x)}
    if name == "movedim":
        if rng.random() < 0.6:
            return "v[i].movedim(p, q)", {**a, "p": dim(rng, x), "q": dim(rng, x)}
        k = rng.randint(0, nd)
        return "v[i].movedim(p, q)", {
            **a,
            "p": tuple(dim(rng, x) for _ in range(k)),
            "q": tuple(dim(rng, x) for _ in range(k if rng.random() < 0.9 else k + 1)),
        }
    if name in ("expand", "broadcast_to"):
        s = [n if rng.random() < 0.7 else -1 for n in x.shape]
        s = [rng.choice([n, 2, 3, 0]) if n == 1 else n for n in s]
        s = [rng.choice([1, 1, 2, 0]) for _ in range(rng.choice([0, 0, 1, 2]))] + s
        if s and rng.random() < 0.1:
            s[rng.randrange(len(s))] = rng.choice([-1, -2, 5, 2])
        if 0 in s:
            # torch takes negative lengths beside an empty one; the oracle refuses them (docs/semantics/corrections.md).
            s = [max(n, 0) if n < -1 or len(s) > x.dim() else n for n in s]
        if name == "expand" and rng.random() < 0.05 and s:
            s.pop()
        return f"v[i].{name}(s)", {**a, "s": tuple(s)}
    if name in ("expand_as", "view_as", "reshape_as"):
        return f"v[i].{name}(v[j])", {**a, "j": pick(rng, pair)}
    if name == "squeeze":
        r = rng.random()
        if r < 0.4:
            return "v[i].squeeze()", a
        if r < 0.7:
            return "v[i].squeeze(d)", {**a, "d": dim(rng, x)}
        return "v[i].squeeze(d)", {**a, "d": tuple(dim(rng, x) for _ in range(rng.randint(0, 2)))}
    if name == "unsqueeze":
        return "v[i].unsqueeze(d)", {**a, "d": dim(rng, x, 1)}
    if name == "select":
        d = dim(rng, x)
        n = x.shape[d] if -nd <= d < nd else 2
        return "v[i].select(d, k)", {**a, "d": d, "k": rng.randint(-n - 1, n)}
    if name == "narrow":
        d = dim(rng, x)
        n = x.shape[d] if -nd <= d < nd else 2
        return "v[i].narrow(d, k, n)", {**a, "d": d, "k": rng.randint(-n - 1, n + 1), "n": rng.randint(-1, n)}
    if name == "unfold":
        d = dim(rng, x)
        n = x.shape[d] if -nd <= d < nd else 2
        return "v[i].unfold(d, n, s)", {**a, "d": d, "n": rng.randint(-1, n + 1), "s": rng.randint(0, 3)}
    if name == "diagonal":
        return "v[i].diagonal(o, p, q)", {**a, "o": rng.randint(-4, 4), "p": dim(rng, x), "q": dim(rng, x)}
    if name == "as_strided":
        k = rng.randint(0, 3)
        s = tuple(rng.choice([1, 2, 3, 0]) for _ in range(k))
        st = tuple(
            rng.choice([0, 1, 2, 3, 5]) if rng.random() < 0.97 else -1
            for _ in range(k if rng.random() < 0.95 else k + 1)
        )
        return "v[i].as_strided(s, st, o)", {**a, "s": s, "st": st, "o": rng.choice([None, 0, 1, 4, 20, -1])}
    if name in ("split", "chunk", "tensor_split"):
        return f"v[i].{name}(k, d)", {**a, "k": rng.randint(-1, 5), "d": dim(rng, x)}
    if name == "split_sizes":
        d = dim(rng, x)
        n = x.shape[d] if -nd <= d < nd else 2
        k = rng.randint(0, n)
        return "v[i].split(k, d)", {**a, "k": [k, n - k] if rng.random() < 0.8 else [k, n], "d": d}
    if name == "tensor_split_at":
        return "v[i].tensor_split(k, d)", {
            **a,
            "k": tuple(rng.randint(-5, 5) for _ in range(rng.randint(0, 3))),
            "d": dim(rng, x),
        }
    if name in ("hsplit", "vsplit", "dsplit"):
        return f"v[i].{name}(k)", {**a, "k": rng.choice([1, 2, 3, [1], [1, 2], 0])}
    if name == "unbind":
        return "v[i].unbind(d)", {**a, "d": dim(rng, x)}
    if name == "view_dtype":
        return "v[i].view(getattr(T, d))", {
            **a,
            "d": rng.choice(["uint8", "int16", "float32", "float64", "complex64", "complex128", "bool"]),
        }
    if name in ("view_as_real", "view_as_complex"):
        return f"T.{name}(v[i])", a
    if name == "conj":
        return "v[i].conj()", a
    if name == "neg_view":
        return "v[i]._neg_view()", a
    if name == "atleast":
        return f"T.atleast_{rng.randint(1, 3)}d(v[i])", a
    if name == "is_set_to":
        return "v[i].is_set_to(v[j])", {**a, "j": rng.randrange(len(pair.t))}
    if name == "dim_order":
        formats = [f"T.{f}" for f in ("contiguous_format", "channels_last", "channels_last_3d") if rng.random() < 0.4]
        check = rng.choice(["True", "False", f"[{', '.join(formats)}]", "1"])
        return f"v[i].dim_order(ambiguity_check={check})", a
    if name == "to_format":
        f = rng.choice(["channels_last", "contiguous_format", "preserve_format", "channels_last_3d"])
        return f"v[i].{rng.choice(['to', 'clone', 'contiguous'])}(memory_format=T.{f})", a
    if name == "getitem":
        return "v[i][k]", {**a, "k": random_index(rng, x)}
    raise AssertionError(name)


def random_index(rng, x):
    items = []
    d = 0
    while d < x.dim() and rng.random() < 0.8:
        r = rng.random()
        n = x.shape[d]
        if r < 0.3:
            items.append(rng.randint(-n - (rng.random() < 0.1), max(n - 1, 0)))
            d += 1
        elif r < 0.75:
            b = [None, *range(-n - 1, n + 2)]
            items.append(
                slice(rng.choice(b), rng.choice(b), rng.choice([None, 1, 1, 2, 3, 3, 0 if rng.random() < 0.1 else 1]))
            )
            d += 1
        elif r < 0.88:
            items.append(None)
        elif Ellipsis not in items or rng.random() < 0.1:
            items.append(Ellipsis)
            d = rng.randint(d, x.dim())
    if len(items) == 1 and rng.random() < 0.7:
        return items[0]
    return tuple(items)


@pytest.mark.parametrize("seed", range(4))
def test_views_agree_with_torch(seed):
    found = fuzz(seed, 600, draw_view)
    assert not found, "\n".join(found)
