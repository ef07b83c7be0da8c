"""What all functions that make tensors have in common: where they make them, and what they deliver into."""

from collections.abc import Callable, Mapping, MutableMapping
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any

from .calls import tell_refusal
from .constructors import flagged, on_meta
from .core import requires_grad
from .devices import check_pinned, default, device, is_meta
from .errors import LayoutError
from .out import check_out
from .promotion import as_dtype

if TYPE_CHECKING:
    from .tensors import Tensor

_KNOW_META = frozenset(
    """
    empty empty_strided empty_permuted zeros ones full scalar_tensor tensor as_tensor asarray sparse_coo_tensor
    """.split()  # noqa: SIM905 - names
)
"""Functions that allocate nothing for what lies on meta; of the others a tensor in memory is forgotten."""
_RESIZE = frozenset(("empty", "randn"))
"""Functions that call `resize_` of what they deliver into."""


def factory(function: Callable[..., "Tensor"], *, by_default: bool = True) -> Callable[..., "Tensor"]:
    """A function that makes tensors on meta, too, by default where the default device says, and checks its `out`.

    `by_default` says that the default device concerns it.

    Raises: device, dtype (RuntimeError: what is asked for is not what `out` is), grad; as the function.
    Source: facts 4.1.13 and 7.7, torch 2.13.
    """
    name = function.__name__
    delivers = "out" in signature(function).parameters

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> "Tensor":
        where = kwargs.get("device")
        if where is None and by_default and default[-1] is not None:
            where = kwargs["device"] = default[-1]
        wanted, forgotten = None, False
        if delivers and kwargs.get("out") is not None:
            wanted, kwargs = kwargs.get("requires_grad", False), _delivering(name, kwargs)
        elif where is not None and name not in _KNOW_META and is_meta(where):
            check_pinned(kwargs.pop("pin_memory", False), nowhere=True)
            wanted, forgotten = kwargs.pop("requires_grad", False), True
            del kwargs["device"]
        try:
            made = function(*args, **kwargs)
        except TypeError as error:
            tell_refusal(error)
            raise
        made = on_meta(made) if forgotten else made
        return made if wanted is None else flagged(made, wanted)

    return call


def _delivering(name: str, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a function that delivers into `out`, without those that `out` has answered."""
    out = kwargs["out"]
    check_out(out)
    d, where = kwargs.get("dtype"), kwargs.get("device")
    if d is not None and as_dtype(d) is not out.dtype:
        raise LayoutError("dtype", f"{name}: {d} is asked for, but out has {out.dtype} (facts 4.1.13)")
    if where is not None and device(where).type != out.device.type:
        raise LayoutError("device", f"{name}: device {where} is asked for, but out is on {out.device} (facts 4.1.13)")
    if name in _RESIZE and requires_grad(out):
        raise LayoutError("grad", f"{name}: cannot resize a tensor that requires grad (facts 5.4)")
    return {k: x for k, x in kwargs.items() if k not in ("dtype", "device", "pin_memory", "requires_grad")}


def make_factories(namespace: MutableMapping[str, Any], names: str) -> None:
    """Make the functions of a namespace with these names factories."""
    for name in names.split():
        namespace[name] = factory(namespace[name])
