"""Antialiased `interpolate`: layouts and values as in torch, where the reference says that it knows them."""

import random

import numpy as np
import pytest
import torch

from stridecheck import reference_impl as ref

RELATIVE = {"float32": 4e-6, "float64": 1e-12}


def both(lib, pixels, dtype, last, kwargs):
    x = lib.tensor(pixels, dtype=getattr(lib, dtype))
    return lib.nn.functional.interpolate(x.to(memory_format=lib.channels_last) if last else x, **kwargs)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos"])
@pytest.mark.parametrize("dtype", list(RELATIVE))
def test_antialiased_images(mode, dtype):
    rng = random.Random(mode + dtype)
    numbers = np.random.default_rng(len(mode))
    known_elements = all_elements = 0
    for _ in range(60):
        shape = rng.choice([1, 2]), rng.choice([1, 3, 5]), rng.randint(1, 9), rng.randint(1, 9)
        kwargs = {"mode": mode, "antialias": True}
        if mode != "lanczos" and rng.random() < 0.4:
            kwargs["align_corners"] = True
        if rng.random() < 0.5:
            kwargs["size"] = [rng.randint(1, 9), rng.randint(1, 9)]
        else:
            kwargs["scale_factor"] = [rng.choice([0.7, 1.05, 1.3, 2.0, 3.1]) for _ in range(2)]
            if min(int(n * f) for n, f in zip(shape[2:], kwargs["scale_factor"], strict=True)) < 1:
                continue
        pixels, last = (numbers.random(shape) * 10 + 3).tolist(), rng.random() < 0.3
        theirs, ours = (both(lib, pixels, dtype, last, kwargs) for lib in (torch, ref))
        assert (tuple(theirs.shape), theirs.stride()) == (tuple(ours.shape), ours.stride())
        marks, wanted = ref.element_marks(ours), theirs.double().numpy()
        known = np.ones(wanted.shape, bool) if marks is None else marks != ref.shadow.UNSPECIFIED
        all_elements, known_elements = all_elements + known.size, known_elements + known.sum()
        assert np.all((np.abs(ours.numpy() - wanted) <= RELATIVE[dtype] * np.abs(wanted)) | ~known), (shape, kwargs)
    # Short floats are known where the window is narrow, or nothing cancels.
    assert known_elements > (all_elements / 2 if dtype == "float64" else 0)
