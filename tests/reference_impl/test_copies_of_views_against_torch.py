"""Copies named after views, writes into copies, untracked splits, random fills and pairings answer as torch's do."""

import pytest

from .twins import fuzz, random_layout, words

DTYPES = ["float32", "float32", "int64", "complex64", "bool", "bfloat16"]


def new(rng, pair, shape=None, dtype=None):
    return pair.add(random_layout(rng, shape=shape, max_len=3, max_ndim=3), dtype or rng.choice(DTYPES))


def dim(rng, x):
    return rng.randint(-x.dim() - 1, x.dim())


def draw_copy(rng, pair):
    i = new(rng, pair) if not pair.t or rng.random() < 0.4 else rng.randrange(len(pair.t))
    x = pair.t[i]
    a = {"i": i, "d": dim(rng, x), "e": dim(rng, x), "k": rng.randint(0, 3)}
    return rng.choice(
        [
            "T.view_copy(v[i], (-1,))",
            "T.view_copy(v[i], T.int16)",
            "T.permute_copy(v[i], tuple(range(v[i].dim()))[::-1])",
            "T.transpose_copy(v[i], d, e)",
            "T.t_copy(v[i])",
            "T.squeeze_copy(v[i])",
            "T.unsqueeze_copy(v[i], d)",
            "T.select_copy(v[i], d, k)",
            "T.slice_copy(v[i], d, k)",
            "T.diagonal_copy(v[i], k)",
            "T.as_strided_copy(v[i], (2,), (1,))",
            "T.unfold_copy(v[i], d, 1, 1)",
            "T.detach_copy(v[i])",
            "T.unbind_copy(v[i])",
            "T.split_copy(v[i], 2)",
            "v[i].unsafe_chunk(2)",
            "v[i].unsafe_split(1)",
            "v[i].adjoint()",
            "v[i].mH",
            "v[i].sum_to_size(v[i].shape)",
            "v[i].sum_to_size(*[1] * k)",
        ]
    ), a


def draw_scatter(rng, pair):
    i = new(rng, pair)
    x = pair.t[i]
    d, k = dim(rng, x), rng.randint(0, 2)
    own = x.shape[d] if -x.dim() <= d < x.dim() else 1
    shape = list(x.shape)
    kind = rng.choice(words("diagonal select slice strided"))
    if kind == "select" and x.dim():
        shape.pop(d if -x.dim() <= d < x.dim() else 0)
    elif kind == "slice" and x.dim():
        shape[d if -x.dim() <= d < x.dim() else 0] = max(own - k, 0)
    elif kind == "diagonal":
        shape = list(x.diagonal().shape) if x.dim() > 1 else [2]
    elif kind == "strided":
        shape = [2]
    a = {"i": i, "j": new(rng, pair, shape, str(x.dtype)[6:] if rng.random() < 0.8 else None), "d": d, "k": k}
    return {
        "diagonal": "T.diagonal_scatter(v[i], v[j])",
        "select": "T.select_scatter(v[i], v[j], d, k)",
        "slice": "T.slice_scatter(v[i], v[j], d, k)",
        "strided": "T.as_strided_scatter(v[i], v[j], (2,), (1,))",
    }[kind], a


def draw_other(rng, pair):
    i = new(rng, pair)
    x = pair.t[i]
    a = {"i": i, "j": new(rng, pair, x.shape, str(x.dtype)[6:]), "k": new(rng, pair, [rng.randint(0, 3)])}
    return rng.choice(
        [
            "v[i].uniform_()",
            "v[i].normal_()",
            "v[i].random_(5)",
            "v[i].bernoulli_()",
            "v[i].exponential_()",
            "T.bernoulli(v[i] * 0)",
            "T.normal(v[i], 1.0)",
            "T.randperm(4)",
            "T.randint_like(v[i], 3)",
            "T.kron(v[i], v[j])",
            "T.block_diag(v[i], v[j])",
            "T.cartesian_prod(v[k], v[k])",
            "T.cartesian_prod(v[k])",
            "T.combinations(v[k])",
            "T.diagflat(v[i])",
            "v[i].lerp_(v[j], 0.25)",
            "v[i].addcmul_(v[j], v[j])",
            "T.numel(v[i])",
            "T.is_same_size(v[i], v[j])",
            "T.result_type(v[i], 1.5)",
            "T.can_cast(v[i].dtype, T.int32)",
            "v[i].is_nonzero()",
        ]
    ), a


@pytest.mark.parametrize("family", [draw_copy, draw_scatter, draw_other], ids=lambda f: f.__name__[5:])
def test_operators_agree_with_torch(family):
    found = fuzz(family.__name__, 400, family, steps=2)
    assert not found, "\n".join(found)
