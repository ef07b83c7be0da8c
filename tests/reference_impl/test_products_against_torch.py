"""Products of matrices answer as torch's do: layout, views, versions, `out=`, errors, values within a tolerance."""

import pytest
import stridecheck.reference_impl as ref
import torch
from stridecheck.reference_impl import shadow
from stridecheck.reference_impl.layout import Layout

from .operands import Drawer
from .twins import Pair, fuzz


def draw_product(rng, pair):
    d = Drawer(rng, pair)
    n, k, m, b, k2 = d.n, d.k, d.m, d.b, d.k2
    kind = rng.choice("mm bmm mv dot vdot addmm baddbmm addmv addmm_ baddbmm_ addmv_ outer inner".split())  # noqa: SIM905
    shapes = {
        "mm": ([n, k], [k2, m], [n, m]), "bmm": ([b, n, k], [b, k2, m], [b, n, m]), "mv": ([n, k], [k2], [n]),
        "dot": ([k], [k2], []), "vdot": ([k], [k2], []), "outer": ([n], [m], [n, m]),
        "inner": (d.broadcast([n, k]), d.broadcast([m, k2]), None),
        "addmm": ([n, k], [k2, m], [n, m]), "baddbmm": ([b, n, k], [b, k2, m], [b, n, m]), "addmv": ([n, k], [k2], [n]),
    }  # fmt: skip
    left, right, out = shapes[kind.removesuffix("_")]
    a = {"i": d.tensor(left), "j": d.tensor(right)}
    if not kind.startswith(("add", "badd")):
        tail = "" if out is None else d.out(out, a)
        return f"T.{kind}(v[i], v[j]{tail})", a
    if kind.endswith("_"):
        a["c"] = d.tensor(out)
        return f"v[c].{kind}(v[i], v[j]{d.factors()})", a
    a["c"] = d.tensor(d.broadcast(out))
    return f"T.{kind}(v[c], v[i], v[j]{d.factors()}{d.out(out, a)})", a


def draw_matmul(rng, pair):
    d = Drawer(rng, pair)
    n, k, m, k2 = d.n, d.k, d.m, d.k2
    lead = [rng.choice([0, 1, 2, 3]) for _ in range(rng.randint(0, 3))]
    if rng.random() < 0.5:
        left = rng.choice([[k], [n, k], [*d.broadcast(lead), n, k], [*lead, n, k]])
        right = rng.choice([[k2], [k2, m], [*d.broadcast(lead), k2, m], [*lead, k2, m]])
        return "v[i] @ v[j]", {"i": d.tensor(left, same=1), "j": d.tensor(right, same=1)}
    a = {"i": d.tensor([*lead, k]), "j": d.tensor([m, k2] if rng.random() < 0.9 else [k2])}
    if rng.random() < 0.3:
        return "T.nn.functional.linear(v[i], v[j])", a
    a["c"] = d.tensor(rng.choice([[m], [m], [1], [], [1, m], [m, 1], [lead[-1] if lead else 1, m]]))
    return "T.nn.functional.linear(v[i], v[j], v[c])", a


def draw_contraction(rng, pair):
    d = Drawer(rng, pair)
    if rng.random() < 0.3:
        a = {"i": d.tensor([d.b, d.n, d.k]), "j": d.tensor([d.k2, d.n, d.m])}
        pairs = rng.choice(
            [([2], [0]), ([2, 1], [0, 1]), ([1], [1]), 0, ([1, 2], [1, 0]), ([-1], [-3]), 1, 4, ([0], [5])]
        )
        return "T.tensordot(v[i], v[j], dims=p)", {**a, "p": pairs}
    sizes = {c: rng.choice([1, 2, 3]) for c in "abcd"}
    if rng.random() < 0.05:
        sizes["a"] = 0
    terms = ["".join(rng.choice("abcd") for _ in range(rng.randint(0, 3))) for _ in range(rng.choice([1, 2, 2, 2, 3]))]
    used = sorted(set("".join(terms)))
    right = "".join(rng.sample(used, rng.randint(0, len(used)))) if used else ""
    equation = ",".join(terms) + ("->" + right if rng.random() < 0.8 else "")
    if rng.random() < 0.1 and all(terms):
        equation = ",".join("..." + t[1:] for t in terms) + "->..."
    slots = [d.tensor([1 if rng.random() < 0.1 else sizes[c] for c in t], same=1) for t in terms]
    return f"T.einsum(q, {', '.join(f'v[{s}]' for s in slots)})", {"q": equation}


FAMILIES = {"product": draw_product, "matmul": draw_matmul, "contraction": draw_contraction}


@pytest.mark.parametrize("family", FAMILIES)
def test_products_agree_with_torch(family):
    found = fuzz(f"p-{family}", 700, FAMILIES[family], steps=1)
    assert not found, "\n".join(found)


def check(expression, make):
    """One expression over inputs made alike on both sides agrees."""
    pair = Pair()
    make(pair)
    assert pair.step(expression) is None


@pytest.mark.parametrize(
    ("equation", "shape"),
    [
        ("ij->ji", (2, 3)),
        ("ii->i", (3, 3)),
        ("ijj->ij", (2, 3, 3)),
        ("i->i", (3,)),
        ("...i->i...", (2, 3)),
        ("ij->", (2, 3)),
    ],
)
def test_einsum_of_one_operand_is_a_view_unless_it_sums(equation, shape):
    a = ref.ones(shape)
    b = ref.einsum(equation, a)
    assert (b.untyped_storage() is a.untyped_storage()) == (equation != "ij->")
    assert b.stride() == torch.einsum(equation, torch.ones(shape)).stride()


@pytest.mark.parametrize(("equation", "order"), [("bz,az->ab", "ab"), ("az,bz->ab", "ab"), ("acz,bz->abc", "acb")])
def test_einsum_multiplies_the_other_way_round_where_that_leaves_the_output_in_order(equation, order):
    sizes = {"a": 2, "b": 3, "c": 4, "z": 5}
    left, right = equation.split("->")[0].split(",")
    out = ref.einsum(equation, ref.ones([sizes[c] for c in left]), ref.ones([sizes[c] for c in right]))
    assert (
        "".join(sorted(equation.split("->")[1], key=lambda c: -out.stride()[equation.split("->")[1].index(c)])) == order
    )


def test_sums_of_integers_are_exact_and_sums_of_floats_have_a_tolerance():
    a = ref.full((2, 40), 7)
    assert shadow.marks_of(a @ a.T) is None
    f = a.to(ref.float32)
    assert (shadow.marks_of(f @ f.T) == shadow.TOLERANCE).all()


def test_sums_that_cancel_are_not_specified():
    a = ref.tensor([[1e8, 0.1, -1e8]])
    assert (shadow.marks_of(a @ ref.ones(3, 1)) == shadow.UNSPECIFIED).all()


def test_an_output_that_an_input_shares_is_not_specified():
    a = ref.ones(2, 2)
    ref.mm(a, a, out=a)
    assert (shadow.marks_of(a) == shadow.UNSPECIFIED).all()


def test_a_matrix_that_requires_grad_times_a_stack_is_a_transposed_view_where_that_is_contiguous():
    def make(pair):
        pair.add(Layout((2, 3), (3, 1), 0), "float32", requires_grad=True)
        pair.add(Layout((5, 3, 1), (3, 1, 1), 0), "float32")

    check("v[0] @ v[1]", make)
