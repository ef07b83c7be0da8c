"""Plans of dense arrays' copies in another order, made for any processor, and the tiles of transposes."""

from math import prod

from stridecheck.reference_impl.kernels.descriptor import A_CHUNK, A_INNER, B_CHUNK, B_INNER
from stridecheck.reference_impl.kernels.normal import normal
from stridecheck.reference_impl.kernels.planner import plan_for


def permuted(shape, order, itemsize, host):
    """The plan of a dense array's copy in another order; `order` as `transpose` takes it."""
    strides = [itemsize * prod(shape[k + 1 :]) for k in range(len(shape))]
    lengths = [shape[k] for k in order]
    dense = [itemsize * prod(lengths[k + 1 :]) for k in range(len(lengths))]
    return plan_for(normal(tuple(lengths), tuple(dense), tuple(strides[k] for k in order), itemsize), host)


def planned(shape, order, itemsize, host):
    """Bytes of a source row and of a target row in a tile of such a copy, and its plan."""
    plan = permuted(shape, order, itemsize, host)
    row = plan.descriptor
    assert plan.kernel == "transpose"
    return row[A_CHUNK] * row[A_INNER] * itemsize, row[B_CHUNK] * row[B_INNER] * itemsize, plan
