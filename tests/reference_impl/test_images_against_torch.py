"""Operators on images answer as torch's do: format of the output, views, versions, errors, values within tolerance."""

import itertools

import pytest
import stridecheck.reference_impl as ref
import torch
from stridecheck.reference_impl.layout import Layout

from .operands import DTYPES, FLOATS, Drawer, for_onednn
from .twins import Pair, fuzz

F = "T.nn.functional."


def lengths(rng, count, choices=(1, 2, 3, 4, 5)):
    return [rng.choice(choices) for _ in range(count)]


def draw_convolution(rng, pair):
    spatial, transposed = rng.choice([1, 2, 2, 2, 3]), rng.random() < 0.35
    d = Drawer(rng, pair, for_onednn(DTYPES))
    groups = rng.choice([1, 1, 1, 2, 3])
    n = rng.choice([1, 2, 1, 2, 0] if rng.random() < 0.3 else [1, 2])
    into, out = groups * rng.choice([1, 1, 2, 3]), groups * rng.choice([1, 1, 2])
    kernel = [4] * spatial if rng.random() < 0.1 else lengths(rng, spatial, [1, 1, 2, 3])
    batch = [n] if rng.random() < 0.85 else []
    weight = [into, out // groups] if transposed else [out, into // groups]
    a = {
        "i": d.tensor([*batch, into + (rng.random() < 0.02), *lengths(rng, spatial)], same=1),
        "w": d.tensor([*weight, *kernel], same=0.98),
    }
    bias = "None"
    if rng.random() < 0.5:
        bias, a["b"] = "v[b]", d.tensor([out if rng.random() < 0.97 else out + 1], same=1)
    more = ""
    if rng.random() < 0.4:
        more += f", stride={d.some(spatial, [1, 2, 3])}"
    if rng.random() < 0.5:
        more += f", padding={d.some(spatial, [0, 1, 2])}"
    elif not transposed and rng.random() < 0.15:
        more += f", padding={rng.choice(['same', 'valid', 'other'])!r}"
    if rng.random() < 0.2:
        more += f", dilation={d.some(spatial, [1, 2])}"
    if transposed and rng.random() < 0.2:
        more += f", output_padding={d.some(spatial, [0, 1])}"
    name = f"conv{'_transpose' if transposed else ''}{spatial}d"
    return f"{F}{name}(v[i], v[w], {bias}, groups={groups}{more})", a


def draw_pooling(rng, pair):
    spatial = rng.choice([1, 2, 2, 3])
    d = Drawer(rng, pair, DTYPES if rng.random() < 0.3 else FLOATS)
    batch = [rng.choice([1, 2, 2, 0])] if rng.random() < 0.85 else []
    a = {"i": d.tensor([*batch, rng.choice([1, 2, 3]), *lengths(rng, spatial)])}
    kind = rng.choice(["max", "max", "avg", "amax", "aavg"])
    more = ""
    if kind in ("amax", "aavg"):
        some = [1, 2, 3, 4, 1, None] if spatial > 1 else [1, 2, 3, 4, 0]
        size = rng.choice([1, 2, 3]) if rng.random() < 0.4 else tuple(lengths(rng, spatial, some))
        more += ", return_indices=True" if kind == "amax" and rng.random() < 0.6 else ""
        return f"{F}adaptive_{kind[1:]}_pool{spatial}d(v[i], k{more})", {**a, "k": size}
    a["k"] = d.some(spatial, [1, 2, 2, 3])
    if rng.random() < 0.6:
        more += f", stride={d.some(spatial, [1, 2, 3])}"
    if rng.random() < 0.5:
        more += f", padding={d.some(spatial, [0, 1, 1])}"
    if rng.random() < 0.3:
        more += ", ceil_mode=True"
    if kind == "max":
        more += f", dilation={d.some(spatial, [1, 2])}" if rng.random() < 0.2 else ""
        more += ", return_indices=True" if rng.random() < 0.6 else ""
    else:
        more += ", count_include_pad=False" if rng.random() < 0.3 else ""
        more += f", divisor_override={rng.choice([1, 3, 0])}" if spatial > 1 and rng.random() < 0.2 else ""
    return f"{F}{kind}_pool{spatial}d(v[i], k{more})", a


def draw_norm(rng, pair):
    d = Drawer(rng, pair, FLOATS if rng.random() < 0.95 else DTYPES)
    kind = rng.choice(["batch", "batch", "instance", "layer", "group", "rms"])
    shape = [rng.choice([1, 2, 3]), rng.choice([1, 2, 4]), *lengths(rng, rng.choice([0, 1, 2, 2, 3]), [1, 2, 3, 4])]
    if rng.random() < 0.05:
        shape[0] = 0
    a = {"i": d.tensor(shape, same=1)}

    def parameter(name, size):
        if rng.random() < 0.4:
            return "None"
        a[name] = d.tensor(size, 0.05, 0.97)
        return f"v[{name}]"

    if kind in ("batch", "instance"):
        running = "None, None"
        if rng.random() < 0.6:
            # Variances are positive and no two of them one place in memory.
            a["m"] = pair.add(Layout((shape[1],), (1,), 2), d.dtype, fill="ramp")
            a["q"] = pair.add(Layout((shape[1],), (1,), 1), d.dtype, fill="twos")
            running = "v[m], v[q]"
        flag = f", {'training' if kind == 'batch' else 'use_input_stats'}={rng.random() < 0.5}"
        parameters = f"{parameter('w', shape[1:2])}, {parameter('b', shape[1:2])}"
        return f"{F}{kind}_norm(v[i], {running}, {parameters}{flag})", a
    if kind == "group":
        groups = rng.choice([1, 2, shape[1]])
        return f"{F}group_norm(v[i], {groups}, {parameter('w', shape[1:2])}, {parameter('b', shape[1:2])})", a
    ending = shape[-rng.randint(1, 2) :]
    parameters = parameter("w", ending) + (f", {parameter('b', ending)}" if kind == "layer" else "")
    return f"{F}{kind}_norm(v[i], {ending}, {parameters})", a


def draw_padding(rng, pair):
    d = Drawer(rng, pair)
    ndim = rng.randint(0, 5)
    shape = lengths(rng, ndim, [1, 2, 3, 4])
    if ndim and rng.random() < 0.06:
        shape[rng.randrange(ndim)] = 0
    mode = rng.choice(["constant", "reflect", "replicate", "circular"])
    pairs = rng.randint(0, ndim) if mode == "constant" else max(0, min(3, ndim - rng.choice([1, 2])))
    pads = lengths(rng, 2 * pairs, [0, 1, 2, 1] if rng.random() < 0.8 else [-2, -1, 0, 1, 3])
    value = f", value={rng.choice([0, 1, 2.5, -1, 300, 1e10])}" if mode == "constant" and rng.random() < 0.4 else ""
    return f"{F}pad(v[i], k, mode={mode!r}{value})", {"i": d.tensor(shape, same=1), "k": tuple(pads)}


def draw_interpolation(rng, pair):
    spatial = rng.choice([1, 2, 2, 3])
    d = Drawer(rng, pair, FLOATS if rng.random() < 0.9 else DTYPES)
    linear = {1: "linear", 2: rng.choice(["bilinear", "bicubic"]), 3: "trilinear"}[spatial]
    mode = rng.choice(
        ["nearest", "nearest-exact", "area", linear, linear, "bilinear" if rng.random() < 0.1 else linear]
    )
    shape = [rng.choice([1, 2]), rng.choice([1, 2, 3]), *lengths(rng, spatial, [1, 2, 3, 5, 7])]
    if rng.random() < 0.6:
        to = f"size={rng.choice([1, 2, 3, 5])}" if rng.random() < 0.4 else f"size={lengths(rng, spatial)}"
    else:
        to = f"scale_factor={d.some(spatial, [2.0, 0.5, 1.5, 1.3])}"
        to += f", recompute_scale_factor={rng.random() < 0.5}" if rng.random() < 0.3 else ""
    corners = f", align_corners={rng.random() < 0.5}" if "linear" in mode or mode == "bicubic" else ""
    return f"{F}interpolate(v[i], {to}, mode={mode!r}{corners})", {"i": d.tensor(shape, same=1)}


def draw_rest(rng, pair):
    kind = rng.choice(["pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "embedding", "attention", "attention"])
    if kind == "embedding":
        d = Drawer(rng, pair)
        rows = rng.choice([1, 3, 5])
        index = pair.add(Layout((rng.choice([0, 1, 2]), 2), (1, 1), 3), rng.choice(["int64", "int32"]))
        a = {"i": index, "w": d.tensor([rows, rng.choice([1, 2, 3])], grads=0)}
        return f"{F}embedding(v[i], v[w])", a
    if kind == "attention":
        d = Drawer(rng, pair, FLOATS)
        lead, e = lengths(rng, rng.choice([0, 1, 2, 2, 2, 3]), [1, 2, 3]), rng.choice([2, 4, 8])
        left, right = rng.choice([1, 2, 3, 4]), rng.choice([1, 2, 3, 4])
        a = {x: d.tensor([*lead, n, e], same=1) for x, n in (("q", left), ("k", right), ("u", right))}
        swap = ".transpose(-3, -2).contiguous().transpose(-3, -2)" if len(lead) == 2 and rng.random() < 0.5 else ""
        told = f"is_causal={rng.random() < 0.3}"
        if rng.random() < 0.5:  # a mask, which may not fit, or lack dimensions that the fused kernel looks for
            shape = [n if rng.random() < 0.7 else rng.choice([1, 1, 1, 2]) for n in (*lead, left, right)]
            a["m"] = d.tensor(shape[rng.choice([0, 0, 0, 1, 2, 3]) :], same=1)
            told = f"attn_mask=v[m], is_causal={rng.random() < 0.2}"
        return f"{F}scaled_dot_product_attention(v[q]{swap}, v[k]{swap}, v[u]{swap}, {told})", a
    d = Drawer(rng, pair)
    factor = rng.choice([1, 2, 2, 3])
    shape = lengths(rng, rng.choice([3, 4, 4, 4, 5]), [1, 2, 3])
    if rng.random() < 0.95:
        if kind == "pixel_shuffle":
            shape[-3] *= factor * factor
        elif kind == "pixel_unshuffle":
            shape[-1] *= factor
            shape[-2] *= factor
        else:
            shape[1] *= factor
    return f"{F}{kind}(v[i], {factor})", {"i": d.tensor(shape, same=1)}


FAMILIES = {
    "convolution": draw_convolution, "pooling": draw_pooling, "norm": draw_norm, "padding": draw_padding,
    "interpolation": draw_interpolation, "rest": draw_rest,
}  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
def test_images_agree_with_torch(family):
    found = fuzz(f"i-{family}", 300, FAMILIES[family], steps=1)
    assert not found, "\n".join(found)


def channels_last(shape):
    return ref.empty(shape, memory_format=ref.channels_last).zero_()


@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool2d"])
def test_pooling_keeps_channels_last(name):
    out = getattr(ref.nn.functional, name)(channels_last((2, 3, 4, 6)), 2)
    assert out.stride() == (18, 1, 9, 3)


def test_a_weight_alone_makes_a_convolution_channels_last():
    assert ref.nn.functional.conv2d(ref.zeros(1, 3, 4, 4), channels_last((2, 3, 1, 1))).stride() == (32, 1, 8, 2)


def test_running_statistics_are_written_without_a_version():
    x, mean, var = ref.ones(2, 3), ref.zeros(3), ref.ones(3)
    ref.nn.functional.batch_norm(x, mean, var, training=True)
    assert mean._version == 0
    assert mean.tolist() == pytest.approx([0.1] * 3)


def test_a_convolution_without_a_batch_is_a_view_of_one_with_a_batch():
    pair = Pair()
    pair.add(Layout((3, 4, 4), (16, 4, 1), 0))
    pair.add(Layout((2, 3, 1, 1), (3, 1, 3, 3), 0))
    assert pair.step(f"{F}conv2d(v[0], v[1])") is None
    assert pair.r[-1]._is_view()
    assert pair.r[-1].stride() == (1, 8, 2)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_number_of_threads_decides_how_a_convolution_is_laid_out(threads):
    """With one thread, kernels of one element are products of matrices, which lay out groups one by one."""
    before = torch.get_num_threads()
    try:
        for library in (torch, ref):
            library.set_num_threads(threads)
        for n, (c, o, groups), length, kernel, stride, dilation in itertools.product(
            (1, 2, 16), ((2, 2, 2), (4, 4, 2), (2, 4, 1)), (1, 2), (1, 2), (1, 2), (1, 2)
        ):
            if dilation * (kernel - 1) >= length:
                continue
            got = []
            for library in (torch, ref):
                x = library.zeros(2000).as_strided((n, c, length), (c * length, 1, c))
                w = library.zeros(2000).as_strided((o, c // groups, kernel), (c // groups * kernel, kernel, 1))
                rows = library.conv1d(x, w, stride=stride, dilation=dilation, groups=groups)
                planes = library.conv2d(x.unsqueeze(3), w.unsqueeze(3), stride=stride, dilation=dilation, groups=groups)
                got.append((rows.stride(), planes.stride()))
            assert got[0] == got[1], (n, c, o, groups, length, kernel, stride, dilation)
    finally:
        for library in (torch, ref):
            library.set_num_threads(before)
