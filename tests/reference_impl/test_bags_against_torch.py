"""Bags of rows of a table, as torch sums, averages and compares them, and what it notes for the gradient."""

import pytest
from stridecheck.reference_impl.layout import Layout

from .operands import Drawer
from .twins import fuzz, random_layout

TABLES = ["float32", "float32", "float32", "float64", "bfloat16", "float16", "int32"]


def whole(pair, numbers, dtype="int64", step=1):
    """A vector of given numbers, `step` apart in memory."""
    place = pair.add(Layout((len(numbers),), (step,), 1), dtype)
    for live in (pair.t, pair.r):
        for i, number in enumerate(numbers):
            live[place][i] = number
    return place


def draw_bags(rng, pair):
    d = Drawer(rng, pair, TABLES)
    rows, length = rng.choice([1, 3, 5]), rng.choice([0, 1, 3, 5, 6])
    wide = rng.random() < 0.15
    a = {"w": d.tensor([rows, rng.choice([1, 2, 3])], 0.3, 1)}
    index = [rng.randrange(-1 if wide else 0, rows + wide) for _ in range(length)]
    a["i"] = whole(pair, index, rng.choice(["int64", "int64", "int32"]), rng.choice([1, 2]))
    starts = [0, *sorted(rng.randrange(0, length + 1) for _ in range(rng.choice([0, 1, 2, 3])))]
    if rng.random() < 0.1:
        rng.shuffle(starts)
    if not length and rng.random() < 0.2:
        starts = []
    a["o"] = whole(pair, starts, rng.choice(["int64", "int64", "int32"]), rng.choice([1, 2]))
    factors = "None"
    mode = rng.choice([0, 0, 1, 2])
    if mode == 0 and rng.random() < 0.5:
        factors = "v[p]"
        a["p"] = pair.add(random_layout(rng, shape=[length]), d.dtype)
    # Rows without a bag may end torch's process.
    last, padding = (
        rng.random() < 0.3 and (len(starts) > 1 or not length),
        rng.choice(["", "", ", 0", ", -1", f", {rows}"]),
    )
    if rng.random() < 0.5:
        return f"T.embedding_bag(v[w], v[i], v[o], False, {mode}, False, {factors}, {last}{padding})", a
    more = f", padding_idx={padding[2:]}" if padding else ""
    if rng.random() < 0.3:
        more += f", max_norm={rng.choice([0.5, 3, 100.0])}, norm_type={rng.choice([1, 2.0, 3])}"
    shape, offsets = "", f"v[o], include_last_offset={last}"
    if length and rng.random() < 0.3:
        # Without offsets the bags are rows of equal length.
        shape, offsets = f".reshape({rng.choice([1, length])}, -1)", "None"
    factors += shape if factors != "None" else ""
    named = f"mode={['sum', 'mean', 'max'][mode]!r}, per_sample_weights={factors}{more}"
    return f"T.nn.functional.embedding_bag(v[i]{shape}, v[w], {offsets}, {named})", a


@pytest.mark.filterwarnings("ignore")
def test_bags_agree_with_torch():
    found = fuzz("bags", 1500, draw_bags, steps=1)
    assert not found, "\n".join(found)
