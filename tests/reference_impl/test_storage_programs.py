"""Random programs that mix storages, tensors, views, set_, resizing and exchange leave the same memory as torch's.

Every step runs on both sides; then every live tensor, storage and array is compared: layout, flags, sharing, bytes.
What kills torch's process (a resized storage that others alias, or that is shared memory) is not drawn.
"""

import random

import numpy as np
import pytest
import stridecheck.reference_impl as ref

from .storage_twins import Memory
from .twins import random_layout

DTYPES = ["float32", "float32", "int16", "uint8", "int64", "bool", "complex64", "float64", "bfloat16", "int8"]
CASTS = [
    "half",
    "byte",
    "int",
    "double",
    "bool",
    "long",
    "bfloat16",
    "char",
    "short",
    "float",
    "complex_float",
    "float8_e5m2",
]


def number(rng, dtype):
    if dtype == "bool":
        return rng.random() < 0.5
    return rng.randint(0, 9) if rng.random() < 0.7 else rng.choice([1.5, 2.25])


def draw(rng, m):
    """One step: an expression and its arguments."""
    if not m.s or rng.random() < 0.06:
        i = m.storage([rng.randrange(256) for _ in range(rng.choice([0, 8, 16, 24, 48, 48, 7]))])
        return "s[i]", {"i": i}
    if not m.t or rng.random() < 0.06:
        m.add(random_layout(rng, max_ndim=3), rng.choice(DTYPES))
        return "v[-1].untyped_storage()", {}
    if rng.random() < 0.04:
        shape = tuple(rng.choice([1, 2, 3, 0]) for _ in range(rng.randint(0, 3)))
        a = np.arange(int(np.prod(shape))).astype(rng.choice(["f4", "i2", "u1", "f8", "?", "c8"])).reshape(shape)
        m.array(a)
    family = rng.choice(
        ["bits", "storage", "storage", "typed", "set", "set", "tensor", "tensor", "exchange", "exchange", "objects"]
    )
    return FAMILIES[family](rng, m)


def draw_storage(rng, m):
    i = rng.randrange(len(m.s))
    n = m.sr[i].nbytes()
    r = {"i": i, "k": rng.choice([0, 1, 200, 255, -1, 300]), "n": n}
    name = rng.choice(
        [
            "file",
            "fill",
            "item",
            "set",
            "alias",
            "clone",
            "copy",
            "swap",
            "resize",
            "nbytes",
            "type",
            "share",
            "cast",
            "list",
            "new",
            "buffer",
            "getout",
            "setout",
            "compare",
        ]
    )
    if name == "file":
        return "U.from_file(p(), b, c)", {"b": rng.random() < 0.5, "c": rng.choice([0, 8, 16, 20, 24, -1, 5])}
    if name == "fill":
        return "s[i].fill_(k)", r
    if name == "item":
        return ("s[i][k]" if m.exact(m.sr[i]) else "s[i].nbytes()"), {**r, "k": rng.randint(-n - 1, n)}
    if name == "set":
        return "s[i].__setitem__(j, k)", {**r, "j": rng.randint(-1, n)}
    if name == "alias":
        m.aliased.add(id(m.sr[i]))
        return "s[i][slice(b, e)]", {
            **r,
            "b": rng.choice([None, 0, 1, 4, -4]),
            "e": rng.choice([None, 0, 3, 8, -1, 99]),
        }
    if name == "clone":
        return "s[i].clone()", r
    if name == "copy":
        return "s[i].copy_(s[j])", {**r, "j": rng.randrange(len(m.s))}
    if name == "swap":
        return "s[i].byteswap(getattr(T, d))", {**r, "d": rng.choice([*DTYPES, "bits8"])}
    if name == "resize":
        if id(m.sr[i]) in m.aliased or m.sr[i].is_shared():
            return "s[i].resizable()", r
        return "s[i].resize_(k)", {**r, "k": rng.choice([0, n, n + 5, n * 2, max(n - 4, 0), -1, 1.5])}
    if name == "nbytes":
        return (
            "(s[i].nbytes(), len(s[i]), s[i].size(), s[i].element_size(), s[i].is_pinned(), s[i].filename is None)",
            r,
        )
    if name == "type":
        return "(s[i].type(), s[i].device, s[i].get_device(), s[i].is_cuda)", r
    if name == "share":
        if id(m.sr[i]) in m.aliased:
            return "s[i].is_shared()", r
        return "s[i].share_memory_()", r
    if name == "cast":
        return f"s[i].{rng.choice(CASTS)}()", r
    if name == "list":
        return ("s[i].tolist()" if m.exact(m.sr[i]) else "s[i].nbytes()"), r
    if name == "new":
        return ("s[i].new()" if m.sr[i].resizable() and not m.sr[i].is_shared() else "s[i].is_shared()"), r
    if name == "buffer":
        d, o = rng.choice(DTYPES), rng.choice(["native", "big", "little", "", "x"])
        data = bytes(rng.randrange(256) for _ in range(rng.choice([0, 8, 16, 24, 9])))
        return "U.from_buffer(data, o, count=c, offset=f, dtype=getattr(T, d))", {
            "data": data, "o": o, "d": d, "c": rng.choice([-1, -1, 0, 1, 2, 9]), "f": rng.choice([0, 0, 8, 1, -1, 99]),
        }  # fmt: skip
    if name == "getout":
        return "s[i][k]", {**r, "k": rng.choice([n, -n - 1, 1.0, True, "a", slice(None, None, 2)])}
    if name == "setout":
        return "s[i].__setitem__(j, k)", {
            **r,
            "j": rng.choice([n, 0, 1.0, slice(0, 3)]),
            "k": rng.choice([1, 1.5, "a"]),
        }
    return "s[i] == s[j]", {**r, "j": rng.randrange(len(m.s))}


def draw_typed(rng, m):
    i = rng.randrange(len(m.s))
    d = rng.choice(DTYPES)
    n = m.sr[i].nbytes() // getattr(ref, d).itemsize
    w = "TS(wrap_storage=s[i], dtype=getattr(T, d))"
    r = {"i": i, "d": d, "k": rng.randint(-n - 1, n), "x": number(rng, d)}
    exact = m.exact(m.sr[i])
    name = rng.choice(
        [
            "wrap",
            "item",
            "set",
            "fill",
            "copy",
            "clone",
            "cast",
            "size",
            "cpu",
            "slice",
            "resize",
            "tensor",
            "fresh",
            "tolist",
        ]
    )
    if name == "item" and exact:
        return f"repr({w}[k])", r
    if name == "set":
        return f"{w}.__setitem__(k, x)", r
    if name == "fill":
        return f"{w}.fill_(x)", r
    if name == "copy":
        return f"{w}.copy_(s[j])", {**r, "j": rng.randrange(len(m.s))}
    if name == "clone":
        return f"{w}.clone()", r
    if name == "cast":
        return f"{w}.{rng.choice(CASTS)}()", r
    if name == "cpu":
        return f"{w}.cpu()", r
    if name == "slice":
        return f"{w}.__setitem__(slice(b, e), x)", {**r, "b": rng.choice([None, 0, 1]), "e": rng.choice([None, 2, 9])}
    if name == "resize" and id(m.sr[i]) not in m.aliased and not m.sr[i].is_shared():
        return f"{w}.resize_(k)", {**r, "k": rng.choice([0, 1, n, n + 2])}
    if name == "tensor":
        return "v[j].storage()", {"j": rng.randrange(len(m.t))}
    if name == "fresh":
        return "TS(x, dtype=getattr(T, d))", {**r, "x": [number(rng, d) for _ in range(rng.randint(0, 3))]}
    if name == "tolist" and exact and d != "bool":
        return f"repr({w}.tolist())", r
    return f"({w}.size(), {w}.nbytes(), {w}.element_size(), {w}.type(), {w}.pickle_storage_type())", r


def draw_set(rng, m):
    i = rng.randrange(len(m.t))
    j = rng.randrange(len(m.s))
    k = rng.randrange(len(m.t))
    lo = random_layout(rng, max_ndim=3)
    d = rng.choice(DTYPES)
    grows = m.sr[j].nbytes() < max(lo.required_bytes(8), (lo.offset + lo.numel) * 8)
    if grows and (id(m.sr[j]) in m.aliased or m.sr[j].is_shared()):
        return "v[i].is_set_to(v[k])", {"i": i, "k": k}
    r = {"i": i, "j": j, "k": k, "o": lo.offset, "sz": lo.shape, "st": lo.strides, "d": d}
    name = rng.choice(
        ["new", "new", "set", "set", "nostride", "flat", "tensor", "empty", "tensor4", "resize", "resize", "data"]
    )
    if name == "new":
        return "T.empty(0, dtype=getattr(T, d)).set_(s[j], o, sz, st)", r
    if m.r[i]._bits:
        # torch sets a resolved copy and throws it away.
        return "v[i].is_conj()", r
    if name == "set":
        return "v[i].set_(s[j], o, sz, st)", {**r, "o": rng.choice([lo.offset, lo.offset, -1])}
    if name == "nostride":
        return "v[i].set_(s[j], o, sz)", r
    if name == "flat":
        return "v[i].set_(s[j])", r
    if name == "tensor":
        return "v[i].set_(v[k])", r
    if name == "empty":
        return "v[i].set_()", r
    owner = m.r[k if name == "tensor4" else i].untyped_storage()
    if id(owner) in m.aliased or owner.is_shared():
        return "v[i].is_set_to(v[k])", r
    if name == "tensor4":
        return "v[i].set_(v[k], o, sz, st)", r
    if name == "resize":
        return "v[i].resize_(sz)", r
    return "setattr(v[i], 'data', v[k])", r


def draw_tensor(rng, m):
    i = rng.randrange(len(m.t))
    x = m.r[i]
    r = {"i": i, "x": number(rng, x.dtype.name), "d": rng.choice(DTYPES), "k": rng.randrange(len(m.t))}
    name = rng.choice(
        [
            "view",
            "dtype",
            "slice",
            "strided",
            "detach",
            "data",
            "fill",
            "copy",
            "clone",
            "storage",
            "cast",
            "flags",
            "alias",
            "share",
        ]
    )
    if name in ("fill", "copy", "clone", "cast") and not (m.fits(i) and m.fits(r["k"])):
        name = "storage"
    if name == "view":
        return "v[i].view(-1)", r
    if name == "dtype":
        return "v[i].view(getattr(T, d))", r
    if name == "slice":
        return "v[i][q]", {**r, "q": rng.choice([slice(1, None), slice(None, None, 2), ..., None, 0, -1, slice(0, 0)])}
    if name == "strided":
        lo = random_layout(rng, max_ndim=2)
        return "v[i].as_strided(sz, st, o)", {**r, "sz": lo.shape, "st": lo.strides, "o": rng.choice([None, lo.offset])}
    if name == "detach":
        return "v[i].detach()", r
    if name == "data":
        return "v[i].data", r
    if name == "fill":
        return "v[i].fill_(x)", r
    if name == "copy":
        return "v[i].copy_(v[k])", r
    if name == "clone":
        return "v[i].clone()", r
    if name == "cast":
        return "v[i].to(getattr(T, d))", r
    if name == "share":
        owner = x.untyped_storage()
        return ("v[i].share_memory_()" if id(owner) not in m.aliased else "v[i].is_shared()"), r
    if name == "alias":
        return "v[i].untyped_storage() == v[k].untyped_storage()", r
    if name == "storage":
        return "v[i].untyped_storage()", r
    return "(v[i].is_shared(), v[i].is_pinned(), v[i].device, v[i].data_ptr() == v[i].untyped_storage().data_ptr())", r


def draw_exchange(rng, m):
    i = rng.randrange(len(m.t))
    x = m.r[i]
    r = {"i": i, "d": rng.choice(DTYPES), "c": rng.choice([None, None, True, False])}
    name = rng.choice(
        [
            "numpy",
            "asarray",
            "dlpack",
            "dlpackcopy",
            "npdlpack",
            "from_numpy",
            "as_tensor",
            "tasarray",
            "write",
            "buffer",
            "tensor",
        ]
    )
    if name in ("numpy", "asarray", "dlpack", "dlpackcopy", "npdlpack"):
        if not m.fits(i):
            return "v[i].storage_offset()", r
        if name != "dlpackcopy":
            m.aliased.add(id(x.untyped_storage()))
        readable = m.exact(x.untyped_storage()) and x.dtype.name != "bfloat16"
        return {
            "numpy": "v[i].numpy()",
            "asarray": "np.asarray(v[i])",
            "dlpack": "T.from_dlpack(v[i])",
            "dlpackcopy": "T.from_dlpack(v[i], copy=True)",
            "npdlpack": "np.from_dlpack(v[i]).tolist()" if readable else "v[i].dtype",
        }[name], r  # fmt: skip
    if name == "buffer":
        data = [rng.randrange(2) for _ in range(rng.choice([8, 16, 9, 0]))]
        return "T.frombuffer(bytearray(data), dtype=getattr(T, d), count=n, offset=o)", {
            **r, "data": data, "n": rng.choice([-1, -1, 1, 2, 0, 9]), "o": rng.choice([0, 0, 1, 8]),
        }  # fmt: skip
    r["j"] = rng.randrange(len(m.a)) if m.a else 0
    if not m.a or (name != "write" and not m.array_exact(r["j"])):
        return "v[i].dtype", r
    b = m.ar[r["j"]]
    r["q"] = rng.choice([..., slice(1, None), slice(None, None, 2), slice(None, None, -1), None]) if b.ndim else ...
    if name == "from_numpy":
        return "T.from_numpy(a[j][q])", r
    if name == "as_tensor":
        return rng.choice(["T.as_tensor(a[j][q])", "T.as_tensor(a[j][q], dtype=getattr(T, d))"]), r
    if name == "tasarray":
        return rng.choice(
            ["T.asarray(a[j][q], copy=c)", "T.asarray(a[j][q], dtype=getattr(T, d), copy=c)", "T.asarray(v[i], copy=c)"]
        ), r
    if name == "tensor":
        return "T.tensor(a[j][q])", r
    return "a[j].fill(1)", r


def draw_objects(rng, m):
    i, j, k = rng.randrange(len(m.t)), rng.randrange(len(m.t)), rng.randrange(len(m.s))
    r = {"i": i, "j": j, "k": k}
    if not (m.fits(i) and m.fits(j)):
        return "copy.deepcopy(s[k])", r
    things = [
        "copy.copy(v[i])", "copy.deepcopy(v[i])", "copy.deepcopy([v[i], v[j]])", "copy.deepcopy([v[i], s[k]])",
        "copy.copy(s[k])", "pickle.loads(pickle.dumps(v[i]))", "pickle.loads(pickle.dumps([v[i], v[j]]))", "save(s[k])",
        "copy.deepcopy(s[k])", "pickle.loads(pickle.dumps(s[k]))",
    ]  # fmt: skip
    # What torch writes of a storage with a part of an element at its end, it cannot read.
    if all(m.r[n].untyped_storage().nbytes() % m.r[n].itemsize == 0 for n in (i, j)):
        things += ["save(v[i], v[j])", "save(v[i])"] + ["save(v[i], s[k])"] * (m.sr[k].nbytes() > 0)
    return rng.choice(things), r


BITS = [
    "v[i].conj()", "v[i].imag", "v[i].real", "v[i]._neg_view()", "T.view_as_real(v[i])", "T.view_as_complex(v[i])",
    "v[i].resolve_conj()", "v[i].resolve_neg()", "v[i].contiguous()", "v[i].is_conj()", "v[i].is_neg()",
    "v[i].requires_grad_()", "v[i].detach()", "v[i].mT", "v[i].T",
]  # fmt: skip


def draw_bits(rng, m):
    i = rng.randrange(len(m.t))
    r = {"i": i}
    x = m.r[i]
    expression = rng.choice(BITS)
    if "_neg_view" in expression and x.dtype.name in ("bool", "complex64"):
        # Even printing one raises in torch; of complex numbers the signs of zeros are the loop's.
        return "v[i].is_neg()", r
    if "resolve" in expression or "contiguous" in expression:
        return (expression if m.fits(i) else "v[i].is_conj()"), r
    return ("v[i].mT" if expression.endswith(".T") and x.ndim > 2 else expression), r


FAMILIES = {
    "bits": draw_bits,
    "storage": draw_storage,
    "typed": draw_typed,
    "set": draw_set,
    "tensor": draw_tensor,
    "exchange": draw_exchange,
    "objects": draw_objects,
}


def programs(seed, count, steps=12):
    """Run random programs; the differences found, at most five, and the number of steps."""
    found, total = [], 0
    for n in range(count):
        rng = random.Random(f"{seed}-{n}")
        m, history = Memory(), []
        for _ in range(rng.randint(2, steps)):
            expression, arguments = draw(rng, m)
            history.append((expression, arguments))
            difference = m.run(expression, **arguments)
            total += 1
            if difference:
                inputs = [(str(x.dtype), tuple(x._layout)) for x in m.r]
                found.append(f"program {seed}-{n}: {history}\n   {inputs}\n   {difference}")
                break
        m.close()
        if len(found) >= 5:
            break
    return found, total


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(4))
def test_mixed_programs_agree_with_torch(seed):
    found, _ = programs(seed, 250)
    assert not found, "\n".join(found)
