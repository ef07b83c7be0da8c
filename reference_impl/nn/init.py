"""`torch.nn.init`: initial values of parameters, written in place while no history is recorded.

What is drawn is not specified; what is written once, twice or element by element shows in the version (facts 5.3.6).
"""

from collections.abc import Callable
from functools import wraps
from math import ceil, erf, exp, pi, sqrt
from typing import TYPE_CHECKING, Any

from .. import constructors, factorizations, joining, shadow
from ..core import TensorBase
from ..errors import LayoutAttributeError, LayoutValueError, UnspecifiedError
from ..grad_mode import no_grad
from ..nowhere import also_nowhere

if TYPE_CHECKING:
    from ..tensors import Tensor

_GAINS = {
    "linear": 1, "conv1d": 1, "conv2d": 1, "conv3d": 1, "conv_transpose1d": 1, "conv_transpose2d": 1,
    "conv_transpose3d": 1, "sigmoid": 1, "tanh": 5.0 / 3, "relu": sqrt(2.0), "selu": 3.0 / 4,
}  # fmt: skip


def _writing(function: Callable[..., "Tensor"]) -> Callable[..., "Tensor"]:
    """A function that writes to its first argument without history. Raises: argument (AttributeError) for no tensor."""

    @wraps(function)
    def write(tensor: "Tensor", *args: Any, **kwargs: Any) -> "Tensor":
        if not isinstance(tensor, TensorBase):
            raise LayoutAttributeError("argument", f"{function.__name__}: a {type(tensor).__name__} is no tensor")
        with no_grad():
            return function(tensor, *args, **kwargs)

    return write


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much a function of `nn.functional` shrinks what goes through it, inverted. Raises: argument (ValueError).

    >>> calculate_gain("leaky_relu", 0)
    1.4142135623730951
    """
    if nonlinearity != "leaky_relu":
        if nonlinearity not in _GAINS:
            raise LayoutValueError(
                "argument", f"calculate_gain: one of {[*_GAINS, 'leaky_relu']}, not {nonlinearity!r}"
            )
        return _GAINS[nonlinearity]
    slope = 0.01 if param is None else param
    if isinstance(slope, bool) or not isinstance(slope, (int, float)):
        raise LayoutValueError("argument", f"calculate_gain: the slope must be a number, got {slope!r}")
    return sqrt(2.0 / (1 + slope**2))


@_writing
def constant_(tensor: "Tensor", val: float) -> "Tensor":
    """Write one value everywhere. Raises: as `Tensor.fill_`, but for leaves that require grad. Source: torch 2.13."""
    return tensor.fill_(val)


@_writing
def ones_(tensor: "Tensor") -> "Tensor":
    """Write ones. Raises: as `constant_`. Source: torch 2.13."""
    return tensor.fill_(1.0)


@_writing
def zeros_(tensor: "Tensor") -> "Tensor":
    """Write zeros. Raises: as `constant_`. Source: torch 2.13."""
    return tensor.zero_()


@_writing
def uniform_(tensor: "Tensor", a: float = 0.0, b: float = 1.0, generator: Any = None) -> "Tensor":
    """Write uniform values. Raises: as `Tensor.uniform_`, but for leaves that require grad. Source: torch 2.13."""
    return tensor.uniform_(a, b, generator=generator)


@_writing
def normal_(tensor: "Tensor", mean: float = 0.0, std: float = 1.0, generator: Any = None) -> "Tensor":
    """Write normal values. Raises: as `Tensor.normal_`, but for leaves that require grad. Source: torch 2.13."""
    return tensor.normal_(mean, std, generator=generator)


@_writing
def trunc_normal_(
    tensor: "Tensor", mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> "Tensor":
    """Write normal values between two bounds; a second time, as a copy, where some of the first lay outside.

    Whether some did depends on what is drawn; here it is what is more likely.

    Raises: as `Tensor.normal_` or, where little of the distribution lies inside, `Tensor.uniform_`.
    Source: facts 5.3.6, torch 2.13.
    """
    if tensor._storage._is_meta:
        return tensor
    if not std:
        raise UnspecifiedError("trunc_normal_: Python divides by zero")
    inside = (erf((b - mean) / std / sqrt(2.0)) - erf((a - mean) / std / sqrt(2.0))) / 2
    if inside > 0.3:
        low, high = (tensor.new_tensor(x).item() for x in (a, b))
        tensor.normal_(mean, std, generator=generator)
        outside = tensor.lt(low).logical_or(tensor.gt(high))
        again = inside ** outside.numel() < 0.5
    else:
        tensor.uniform_(a, b, generator=generator).gt(0)  # which complex numbers are refused by
        again = _accepted(inside, mean, std, a, b) ** tensor.numel() < 0.5
    if again:
        tensor.copy_(constructors.empty_like(tensor))
    return tensor


def _accepted(inside: float, mean: float, std: float, a: float, b: float) -> float:
    """Which share of uniform numbers between two bounds is taken for normal ones: the density's mean by its peak."""
    peak = exp(-0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2) * (b - a)
    return min(1.0, abs(inside * std) * sqrt(2 * pi) / peak) if peak else 0.0


@_writing
@also_nowhere
def eye_(tensor: "Tensor") -> "Tensor":
    """Write an identity matrix. Raises: dimension (ValueError), overlap, dtype. Source: torch 2.13."""
    _need_dims(tensor, tensor.ndim == 2, "2")
    constructors.eye(*tensor._layout.shape, out=tensor, requires_grad=tensor.requires_grad)
    return tensor


@_writing
def dirac_(tensor: "Tensor", groups: int = 1) -> "Tensor":
    """Write kernels of convolutions that leave as many channels of each group as they are as there are outputs.

    Raises: dimension and size (ValueError), index (IndexError; windows without elements), overlap. Source: torch 2.13.
    """
    _need_dims(tensor, tensor.ndim in (3, 4, 5), "3, 4 or 5")
    outputs, inputs, *window = tensor._layout.shape
    if not groups:
        raise UnspecifiedError("dirac_: Python divides by zero")
    if outputs % groups:
        raise LayoutValueError("size", f"dirac_: {outputs} outputs in {groups} groups")
    if tensor._storage._is_meta:
        return tensor
    tensor.zero_()
    each = outputs // groups
    middle = [n // 2 for n in window]
    for first in range(0, each * max(groups, 0), each or 1):
        for k in range(min(each, inputs)):
            tensor[(first + k, k, *middle)] = 1
    return tensor


def _fans(tensor: "Tensor") -> tuple[int, int]:
    """How many inputs an output is made of, and the other way round. Raises: dimension (ValueError)."""
    _need_dims(tensor, tensor.ndim >= 2, "2 or more")
    shape = tensor._layout.shape
    window = 1
    for n in shape[2:]:
        window *= n
    return shape[1] * window, shape[0] * window


def _need_dims(tensor: "Tensor", fits: bool, wanted: str) -> None:
    if not fits:
        raise LayoutValueError("dimension", f"{wanted} dimensions are needed, got shape {tensor._layout.shape}")


def _xavier(tensor: "Tensor", gain: float) -> float:
    fans = sum(_fans(tensor))
    if not fans:
        raise UnspecifiedError("xavier: Python divides by zero")
    return gain * sqrt(2.0 / fans)


@_writing
def xavier_uniform_(tensor: "Tensor", gain: float = 1.0, generator: Any = None) -> "Tensor":
    """Uniform values by the lengths of both sides. Raises: dimension (ValueError), and as `uniform_`."""
    bound = sqrt(3.0) * _xavier(tensor, gain)
    return tensor.uniform_(-bound, bound, generator=generator)


@_writing
def xavier_normal_(tensor: "Tensor", gain: float = 1.0, generator: Any = None) -> "Tensor":
    """Normal values by the lengths of both sides. Raises: dimension (ValueError), and as `normal_`."""
    return tensor.normal_(0.0, _xavier(tensor, gain), generator=generator)


def _kaiming(tensor: "Tensor", a: float, mode: str, nonlinearity: str) -> float:
    if not isinstance(mode, str):
        raise LayoutAttributeError("argument", f"kaiming: the mode must be a str, got {type(mode).__name__}")
    if mode.lower() not in ("fan_in", "fan_out"):
        raise LayoutValueError("argument", f"kaiming: the mode is 'fan_in' or 'fan_out', not {mode!r}")
    fan_in, fan_out = _fans(tensor)
    return calculate_gain(nonlinearity, a) / sqrt(fan_in if mode.lower() == "fan_in" else fan_out)


@_writing
def kaiming_uniform_(
    tensor: "Tensor", a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> "Tensor":
    """Uniform values by the length of one side; nothing where there are no elements.

    Raises: dimension and argument (ValueError), and as `uniform_`. Source: torch 2.13.
    """
    if not tensor.numel():
        return tensor
    bound = sqrt(3.0) * _kaiming(tensor, a, mode, nonlinearity)
    return tensor.uniform_(-bound, bound, generator=generator)


@_writing
def kaiming_normal_(
    tensor: "Tensor", a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> "Tensor":
    """Normal values by the length of one side. Raises: as `kaiming_uniform_`. Source: torch 2.13."""
    if not tensor.numel():
        return tensor
    return tensor.normal_(0, _kaiming(tensor, a, mode, nonlinearity), generator=generator)


@_writing
def orthogonal_(tensor: "Tensor", gain: float = 1, generator: Any = None) -> "Tensor":
    """Write a matrix with orthogonal rows or columns; nothing where there are no elements.

    Raises: dimension (ValueError), dtype, view (strides over which no matrix can be laid). Source: torch 2.13.
    """
    _need_dims(tensor, tensor.ndim >= 2, "2 or more")
    if not tensor.numel() or tensor._storage._is_meta:
        return tensor
    rows = tensor._layout.shape[0]
    shape = (rows, tensor.numel() // rows)
    drawn = tensor.new_empty(shape).normal_(0, 1, generator=generator)
    q, r = factorizations.qr(drawn.t_() if shape[0] < shape[1] else drawn)
    signs = joining.diag(r, 0).sign()
    q.mul_(signs)
    if shape[0] < shape[1]:
        q.t_()
    tensor.view_as(q).copy_(q)
    return tensor.mul_(gain)


@_writing
def sparse_(tensor: "Tensor", sparsity: float, std: float = 0.01, generator: Any = None) -> "Tensor":
    """Write normal values, and zeros to a share of each column: a write to each, wherever in it.

    Raises: dimension (ValueError), and as `normal_`. Source: facts 5.3.6, torch 2.13.
    """
    _need_dims(tensor, tensor.ndim == 2, "2")
    if tensor._storage._is_meta:
        return tensor
    rows, columns = tensor._layout.shape
    count = ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for k in range(columns):
        tensor[:count, k] = 0
    if rows and columns:
        if count < rows:
            return shadow.leave_unspecified(tensor)
        shadow.stamp(tensor, None)
    return tensor


# Their old names, which warn.
uniform, normal, constant, eye, dirac = uniform_, normal_, constant_, eye_, dirac_
xavier_uniform, xavier_normal = xavier_uniform_, xavier_normal_
kaiming_uniform, kaiming_normal = kaiming_uniform_, kaiming_normal_
orthogonal, sparse = orthogonal_, sparse_
