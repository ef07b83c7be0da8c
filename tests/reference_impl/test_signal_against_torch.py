"""Windows and short-time transforms as torch makes them: layout, dtype, history, errors, values within a tolerance."""

import pytest
import stridecheck.reference_impl as ref
import torch
from stridecheck.reference_impl.layout import Layout

from .operands import Drawer
from .twins import Pair, fuzz

W = "T.signal.windows."
OF_THEIR_OWN = {
    "exponential": ("tau", [1.0, 0.5, 2.78, 0, -1]),
    "gaussian": ("std", [1.0, 0.5, 10.0, 0]),
    "kaiser": ("beta", [12.0, 14.3, 1.92, 0.5, 0.0, 100.0, -1]),
    "general_hamming": ("alpha", [0.54, 0.5, 0.0, 1.0]),
}


def draw_window(rng, pair):
    name = rng.choice(torch.signal.windows.__all__)
    more = {"sym": rng.random() < 0.5, "requires_grad": rng.random() < 0.3}
    if name in OF_THEIR_OWN and rng.random() < 0.7:
        parameter, choices = OF_THEIR_OWN[name]
        more[parameter] = rng.choice(choices)
    if name == "exponential" and rng.random() < 0.3:
        more["center"] = rng.choice([0.0, 2.5, -3.0])
    if name == "general_cosine":
        more["a"] = [rng.choice([0.5, 0.46, -1, 2]) for _ in range(rng.randint(0 if rng.random() < 0.1 else 1, 4))]
    if rng.random() < 0.4:
        more["d"] = rng.choice(["float64", "float64", "float32", "float16", "int64"])
    keywords = ", ".join(f"dtype=getattr(T, {v!r})" if k == "d" else f"{k}={v!r}" for k, v in more.items())
    return f"{W}{name}({rng.choice([0, 1, 1, 2, 3, 4, 10, 33, 64, -1])}, {keywords})", {}


def test_windows_agree_with_torch():
    found = fuzz("windows", 600, draw_window, steps=2)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "call",
    [
        "hann(4, layout=None)", "hann(4.5)", "hann('a')", "kaiser(1, beta='a')",
        "general_cosine(4, a=3)", "general_cosine(1, a=3)", "general_cosine(4, a=[1j])", "general_cosine(4, a=['x'])",
        "general_cosine(4, a=[[1.0, 2.0]])", "general_cosine(3, a=iter((0.5, 0.5)))", "gaussian(4, std=None)",
    ],
)  # fmt: skip
def test_odd_arguments_are_refused_as_by_torch(call):
    assert Pair().step(W + call) is None


def test_values_of_windows_are_specified_where_a_line_is_as_good_as_its_last_bits():
    """Not where terms cancel: at the ends of a window that begins with zero."""
    assert ref.element_marks(ref.signal.windows.exponential(10)).tolist() == [1] * 10
    assert ref.element_marks(ref.signal.windows.hann(10)).tolist() == [255] * 2 + [1] * 6 + [255] * 2


def test_windows_on_meta_have_no_memory():
    window = ref.signal.windows.kaiser(4, device="meta", requires_grad=True)
    assert (window.device.type, window.shape, window.requires_grad, window.is_leaf) == ("meta", (4,), True, False)


TRANSFORMED = ["float32", "float32", "float32", "float64", "complex64", "complex64", "bfloat16", "float16", "int64"]


def draw_frames(rng, pair, choices):
    """Lengths of frames, hops and windows, mostly such that fit; each as its keyword."""
    n = rng.choice(choices)
    hop = rng.choice([None, 1, 2, n // 2]) if n > 3 or rng.random() < 0.1 else rng.choice([1, 2, 1, 0])
    length = rng.choice([None, None, n, n - 1, max(n // 2, 1), n + 1 if rng.random() < 0.2 else n])
    return n, {"hop_length": hop, "win_length": length}


def draw_window_of(rng, d, n, length):
    of = n if length is None else length
    return d.tensor([max(of + (rng.random() < 0.05), 0)], 0.1, 0.6)


def written(more):
    return "".join(f", {k}={v}" for k, v in more.items())


def draw_stft(rng, pair):
    d = Drawer(rng, pair, TRANSFORMED)
    n, more = draw_frames(rng, pair, [4, 4, 5, 7, 8, 2, 3, 1, 0])
    shape = [rng.choice([5, 8, 11, 16, 1])]
    if rng.random() < 0.6:
        shape.insert(0, rng.choice([1, 2, 3, 3, 0]))
    a = {"i": d.tensor(shape, 0.2, 1)}
    if rng.random() < 0.6:
        a["w"], more["window"] = draw_window_of(rng, d, n, more["win_length"]), "v[w]"
    more["center"] = rng.random() < 0.6
    if more["center"] and rng.random() < 0.3:
        more["pad_mode"] = repr(rng.choice(["constant", "replicate", "circular", "other"]))
    if (not more["center"] and rng.random() < 0.5) or rng.random() < 0.05:
        more["align_to_window"] = rng.random() < 0.7
    more["normalized"] = rng.random() < 0.3
    if rng.random() < 0.3:
        more["onesided"] = rng.random() < 0.5
    if rng.random() < 0.95:
        more["return_complex"] = rng.random() < 0.8
    return f"{rng.choice(['T.stft(v[i], ', 'v[i].stft('])}{n}{written(more)})", a


def draw_istft(rng, pair):
    d = Drawer(rng, pair, ["complex64", "complex64", "complex128", "float32"])
    n, more = draw_frames(rng, pair, [4, 4, 5, 7, 8, 2, 3])
    onesided = rng.random() < 0.7
    shape = [n // 2 + 1 if onesided else n, rng.choice([1, 2, 3, 4, 6])]
    if rng.random() < 0.6:
        shape.insert(0, rng.choice([1, 2, 3, 3, 0]))
    a = {"i": d.tensor(shape, 0.2, 1)}
    if rng.random() < 0.6:
        length = n if more["win_length"] is None else more["win_length"]
        a["w"], more["window"] = pair.add(Layout((max(length, 0),), (1,), 0), "float32", fill="twos"), "v[w]"
        if rng.random() < 0.2:
            a["w"] = draw_window_of(rng, d, n, more["win_length"])
    more["center"] = rng.random() < 0.7
    more["normalized"] = rng.random() < 0.3
    if rng.random() < 0.3:
        more["onesided"] = onesided if rng.random() < 0.9 else not onesided
    if rng.random() < 0.3:
        more["length"] = rng.choice([3, 5, 8, 12, 20, 0])
    if rng.random() < 0.3:
        more["return_complex"] = rng.random() < 0.8
    return f"{rng.choice(['T.istft(v[i], ', 'v[i].istft('])}{n}{written(more)})", a


@pytest.mark.parametrize("draw", [draw_stft, draw_istft])
def test_transforms_agree_with_torch(draw):
    found = fuzz(draw.__name__, 600, draw, steps=1)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("call", ["fft(v[0])", "rfft(v[0])", "irfft(v[0])", "ifft(v[0], dim=0)", "fftn(v[0], dim=())"])
def test_no_signals_at_all_are_not_transformed(call):
    """MKL refuses such a configuration; without dimensions to transform there is nothing that it is asked."""
    pair = Pair()
    pair.add(Layout((2, 0, 8), (8, 8, 1), 0), "float32")
    assert pair.step(f"T.fft.{call}") is None
