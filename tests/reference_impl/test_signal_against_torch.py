"""Windows as torch makes them: length, dtype, history, storage, errors, values within a tolerance."""

import pytest
import stridecheck.reference_impl as ref
import torch

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
