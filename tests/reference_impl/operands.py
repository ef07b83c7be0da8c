"""Inputs of one step of a program over operators on matrices and images."""

import torch

from .twins import random_layout

DTYPES = ["float32", "float32", "float64", "int64", "complex64", "bool", "bfloat16", "float16", "uint8", "int32"]
FLOATS = ["float32", "float32", "float64", "bfloat16", "float16"]


def for_onednn(dtypes):
    """Those that go to oneDNN on this processor as the facts say: bfloat16 only where it has AVX-512."""
    return [d for d in dtypes if d != "bfloat16" or torch.ops.mkldnn._is_mkldnn_bf16_supported()]


class Drawer:
    """Draws the inputs of one step: mostly of one dtype, some with gradients, some of a length that does not fit."""

    def __init__(self, rng, pair, dtypes=DTYPES):
        self.rng, self.pair = rng, pair
        self.dtype = rng.choice(dtypes)
        self.n, self.k, self.m, self.b = (rng.choice([0, 1, 1, 2, 3, 4]) for _ in range(4))
        self.k2 = self.k if rng.random() < 0.95 else self.k + 1

    def tensor(self, shape, grads=0.1, same=0.95):
        dtype = self.dtype if self.rng.random() < same else self.rng.choice(DTYPES)
        floats = dtype.startswith(("float", "bfloat", "complex"))
        grad = floats and self.rng.random() < grads
        return self.pair.add(random_layout(self.rng, shape=list(shape)), dtype, requires_grad=grad)

    def broadcast(self, shape):
        """A shape that broadcasts to another."""
        stretched = [1 if self.rng.random() < 0.3 else x for x in shape]
        return stretched[self.rng.randint(0, len(stretched)) if self.rng.random() < 0.3 else 0 :]

    def factors(self):
        text = ""
        if self.rng.random() < 0.4:
            text += f", beta={self.rng.choice([0, 2, 0.5, -1.5, True])}"
        if self.rng.random() < 0.4:
            text += f", alpha={self.rng.choice([0, 2, 0.5, -1.5])}"
        return text

    def some(self, count, choices):
        """One number for all dimensions, or one for each."""
        if self.rng.random() < 0.6:
            return self.rng.choice(choices)
        return tuple(self.rng.choice(choices) for _ in range(count))

    def out(self, shape, a):
        """An `out=` of the result's shape or another, in the dtype or another."""
        if self.rng.random() < 0.75:
            return ""
        if self.rng.random() < 0.2:
            shape = [x + 1 for x in shape] if self.rng.random() < 0.5 else [0]
        a["o"] = self.tensor(shape, 0.05, 0.9)
        return ", out=v[o]"
