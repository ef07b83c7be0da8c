"""Rows of a table in bags, points in boxes, stretches of a dimension: as torch counts, sums and compares them."""

from itertools import pairwise

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
    if rng.random() < 0.1 and len(starts) > 1:
        starts = starts[1:]  # offsets that fall are not drawn: torch 2.13 refuses them or not, from run to run
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


def draw_grid(rng, pair):
    d = Drawer(rng, pair, ["float32", "float32", "float32", "float64", "int64", "float16"])
    n = rng.choice([1, 2, 2, 3, 0 if rng.random() < 0.2 else 1])
    lead = [rng.choice([1, 2, 5, 0 if rng.random() < 0.2 else 3]) for _ in range(rng.choice([1, 1, 2]))]
    a = {"i": d.tensor([*lead, n] if rng.random() < 0.97 else [n], 0.2, 1)}
    more = ""
    if rng.random() < 0.5:
        bins = rng.choice([1, 2, 3]) if rng.random() < 0.4 else [rng.choice([1, 2, 3]) for _ in range(n)]
        bins = rng.choice([0, -1, [2] * (n + 1), 2.0]) if rng.random() < 0.1 else bins
        if rng.random() < 0.4:
            ends = [rng.choice([(0, 10), (-3.0, 3.0), (1.5, 1.5), (2.5, 1.0)]) for _ in range(n)]
            more += f", range={[x for pair in ends[: n - (rng.random() < 0.1)] for x in pair]}"
    else:
        lines = [pair.add(Layout((rng.choice([2, 3, 4]),), (rng.choice([1, 2]),), 0), d.dtype) for _ in range(n)]
        if rng.random() < 0.1:
            lines.append(d.tensor([rng.choice([0, 1, 3])]))
        a.update((f"b{k}", line) for k, line in enumerate(lines))
        bins = "[" + ", ".join(f"v[b{k}]" for k in range(len(lines))) + "]"
    if rng.random() < 0.4:
        a["w"] = d.tensor(lead if rng.random() < 0.9 else [2], 0.2, 0.95)
        more += ", weight=v[w]"
    if rng.random() < 0.4:
        more += ", density=True"
    return f"T.histogramdd(v[i], {bins}{more})", a


def test_grids_agree_with_torch():
    found = fuzz("grids", 800, draw_grid, steps=1)
    assert not found, "\n".join(found)


def draw_segments(rng, pair):
    d = Drawer(rng, pair, ["float32", "float32", "float64", "bfloat16", "float16", "int64"])
    axis, length = rng.choice([0, 0, 1]), rng.choice([1, 3, 5, 0])
    lead = [rng.choice([1, 2])] * axis
    a = {"i": d.tensor([*lead, length, *rng.choice([[], [2], [2, 3]])], 0.2, 1)}
    edges = [0, *sorted(rng.randrange(0, length + 1) for _ in range(rng.choice([0, 1, 2]))), length]
    sizes = [b - a + (rng.random() < 0.02) for a, b in pairwise(edges)]
    name = rng.choice(["lengths", "offsets"])
    a["s"] = whole(pair, sizes if name == "lengths" else edges, rng.choice(["int64", "int32"]), rng.choice([1, 2]))
    more = f", axis={axis - (rng.random() < 0.1) * 3}" if axis or rng.random() < 0.3 else ""
    if rng.random() < 0.4:
        more += f", initial={rng.choice([1, 0.5, -2, float('inf')])}".replace("inf", "float('inf')")
    stretches = f"v[s].expand({lead[0]}, -1)" if lead else "v[s]"
    reduce = rng.choice(["sum", "mean", "max", "min", "prod", "amax", "other"])
    return f"T.segment_reduce(v[i], {reduce!r}, {name}={stretches}{more})", a


def test_segments_agree_with_torch():
    found = fuzz("segments", 600, draw_segments, steps=1)
    assert not found, "\n".join(found)
