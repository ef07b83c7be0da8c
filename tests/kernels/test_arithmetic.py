"""Strided arithmetic is NumPy's, whatever the layouts; sums are right to rounding."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stridecheck.reference_impl.kernels import arithmetic

from .arrays import pairs

NUMPY = {
    "neg": np.negative, "abs": np.absolute, "relu": lambda x: np.where(x < 0, np.zeros((), x.dtype), x),
    "square": np.square, "add": np.add, "sub": np.subtract, "mul": np.multiply, "maximum": np.maximum,
    "minimum": np.minimum,
}  # fmt: skip
KINDS = {1: "i1", 2: "i2", 4: "f4", 8: "f8", 16: "f8"}
quick = settings(max_examples=80, deadline=None)


def numbers(array, seed):
    values = np.random.default_rng(seed).integers(-50, 50, array.shape)
    return values.astype(array.dtype)


def arrays(pair):
    """A target and an operand in the pair's layouts, and a second operand that broadcasts."""
    made = []
    for side, seed in ((pair.dst, None), (pair.src, 1)):
        array, memory = side.laid(pair.shape, KINDS[pair.itemsize], seed)
        if seed is not None:
            safe = np.frombuffer(memory.tobytes(), np.uint8)[: memory.size]
            memory[:] = safe % 64
        made.append((array, memory))
    (out, _), (x, _) = made
    y = numbers(np.zeros((1, *pair.shape[1:]), out.dtype), 2)
    return out, x, y


@pytest.mark.parametrize("name", [*arithmetic.UNARY, *arithmetic.BINARY])
@quick
@given(pairs(4000))
def test_each_operation_is_numpys(name, pair):
    out, x, y = arrays(pair)
    with np.errstate(all="ignore"):
        if name in arithmetic.UNARY:
            wanted = NUMPY[name](x)
            arithmetic.unary(name, out, x)
        else:
            wanted = NUMPY[name](x, y)
            arithmetic.binary(name, out, x, y)
    assert np.array_equal(out, wanted, equal_nan=True)


@pytest.mark.parametrize("name", arithmetic.REDUCTIONS)
@quick
@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.data())
def test_reductions_over_any_dimensions(name, shape, data):
    order = data.draw(st.permutations(range(len(shape))))
    axes = tuple(data.draw(st.sets(st.sampled_from(range(len(shape))))))
    x = numbers(np.zeros([shape[d] for d in order]), 3).transpose(np.argsort(order))
    if name == "prod":
        x = np.sign(x) + (x == 0)
    wanted = getattr(np, name)(x, axis=axes, keepdims=True) if axes else x
    out = np.zeros(wanted.shape)
    arithmetic.reduce(name, out, x, axes)
    assert np.array_equal(out, wanted)


def test_nan_goes_through_comparisons():
    x, y, out = np.array([np.nan, 1.0, -1.0]), np.array([0.0, np.nan, 2.0]), np.zeros(3)
    for name in ("maximum", "minimum"):
        arithmetic.binary(name, out, x, y)
        assert np.array_equal(out, NUMPY[name](x, y), equal_nan=True)
    arithmetic.unary("relu", out, x)
    assert np.array_equal(out, [np.nan, 1.0, 0.0], equal_nan=True)


def test_an_operand_that_overlaps_is_read_first():
    a = np.arange(10000.0).reshape(100, 100)
    wanted = a + a.T
    arithmetic.binary("add", a, a, a.T)
    assert np.array_equal(a, wanted)


def test_fills_leave_what_lies_between():
    memory = np.zeros((200, 300), np.int16)
    arithmetic.fill(memory[::2, ::3].T, 5)
    assert memory.sum() == 5 * 100 * 100
    assert (memory[::2, ::3] == 5).all()


def test_what_cannot_be_done_is_said():
    one = np.ones(4)
    with pytest.raises(ValueError, match="no operation 'log'; there are neg, abs, relu, square"):
        arithmetic.unary("log", one, one)
    with pytest.raises(ValueError, match="dtypes float64, float32"):
        arithmetic.unary("neg", one, np.ones(4, np.float32))
    with pytest.raises(ValueError, match="holds one element twice"):
        arithmetic.unary("neg", np.lib.stride_tricks.as_strided(one, (4,), (0,)), one)
    with pytest.raises(ValueError, match=r"amax: shape \(0,\) has no elements"):
        arithmetic.reduce("amax", np.zeros(1), np.zeros(0), (0,))
    with pytest.raises(ValueError, match=r"sum: out has shape \(4,\), should be \(1,\)"):
        arithmetic.reduce("sum", one, one, (0,))
