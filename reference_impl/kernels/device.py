"""Strided copies on a GPU: arrays that are told by `__cuda_array_interface__`, moved by one Triton kernel.

`copy` takes PyTorch's tensors on CUDA and CuPy's arrays alike: nothing but their layouts and addresses is asked for.
Triton comes with PyTorch's builds for CUDA and finds the device through it; it is imported by the first copy.

Nothing here has run on a GPU yet: docs/gpu.md says what was proven without one.
"""

from functools import lru_cache
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt

from .device_plan import OWN, DeviceChoice, DevicePlan, plan_for_device
from .normal import WORD, normal

_CUDA = 2
"""DLPack's number for memory of a CUDA device."""
_KNOWN = 4096
"""Plans that are remembered."""


class Launch(NamedTuple):
    """What a kernel is called with, beside the two addresses."""

    plan: DevicePlan
    constants: dict[str, Any]
    """The kernel's constants by name."""


def unavailable() -> str:
    """Why no copy can be made on a GPU here; empty where one can.

    >>> import stridecheck.reference_impl.kernels.device as device
    >>> isinstance(device.unavailable(), str)
    True
    """
    try:
        from triton.runtime import driver
    except ImportError as error:
        return f"Triton is not installed ({error})"
    try:
        backend = driver.active.get_current_target().backend
    except Exception as error:  # whatever is wrong with a driver is the reason
        return f"Triton finds no CUDA device: {error}"
    return "" if backend == "cuda" else f"Triton's device is {backend}, should be cuda"


def copy(dst: Any, src: Any, choice: DeviceChoice = OWN) -> None:
    """Copy elements between arrays of equal shape on the current CUDA device, whatever their strides, bit for bit.

    Both offer `__cuda_array_interface__`, as PyTorch's tensors and CuPy's arrays do; types that it has no name for
    (bfloat16, float8) are viewed as integers first. The copy is queued on PyTorch's current stream: what other streams
    do with the arrays must be waited for. `choice` stands in for the planner's own.
    Raises: RuntimeError with the reason where there is no Triton or no device, TypeError where an array is none of
    CUDA's or dtypes differ, ValueError where shapes differ, the target cannot be written, is written twice in one
    place or shares bytes with the source, or the arrays are not on the current device.

    >>> import torch  # doctest: +SKIP
    >>> a = torch.empty(4, 3, device="cuda")  # doctest: +SKIP
    >>> copy(a, torch.arange(12.0, device="cuda").view(3, 4).T)  # doctest: +SKIP
    """
    target, source = _described(dst), _described(src)
    if reason := unavailable():
        raise RuntimeError(f"device.copy: {reason}")
    _check(target, source)
    if not target.flags.writeable:
        raise ValueError("device.copy: the target is read-only")
    _check_device(dst, src)
    if not target.size:
        return
    from .device_tile import copy_tile
    from .engine import share_memory

    if share_memory(target, source):
        raise ValueError("device.copy: the target shares bytes with the source")

    launch = _launch(target, source, choice)
    start(copy_tile, launch, target.ctypes.data, source.ctypes.data)


def plan(dst: Any, src: Any, choice: DeviceChoice = OWN) -> DevicePlan:
    """How `copy` copies between two arrays; `plan(…).explain()` says it in words. Asks for no device.

    Raises: TypeError where an array is none of CUDA's or dtypes differ, ValueError where shapes differ, there is no
    element, or the target is written twice in one place.
    """
    target, source = _described(dst), _described(src)
    _check(target, source)
    if not target.size:
        raise ValueError(f"device.plan: no element in {target.shape}")
    return _launch(target, source, choice).plan


def start(kernel: Any, launch: Launch, dst: int, src: int) -> None:
    """Call a kernel for a plan; the addresses are those of the first elements."""
    made = launch.plan
    shifts = made.form.dst_shift, made.form.src_shift
    kernel[(made.tiles,)](dst + shifts[0], src + shifts[1], **launch.constants, num_warps=made.warps)


def constants_of(made: DevicePlan) -> dict[str, Any]:
    """What `device_tile.copy_tile` is compiled for, by the names of its parameters."""
    found: dict[str, Any] = {
        "ITEM": made.item,
        "DST_ALIGN": made.dst_align,
        "SRC_ALIGN": made.src_align,
        "WIDE": made.wide,
        "WHOLE": made.whole,
        "HOPS": tuple((hop.length, hop.dst, hop.src, hop.a, hop.b, hop.run) for hop in reversed(made.hops)),
    }
    for name, axis in (("A", made.a), ("B", made.b), ("RUN", made.run)):
        found |= {
            name: axis.tile,
            f"{name}_LENGTH": axis.length,
            f"{name}_DST": axis.steps("dst"),
            f"{name}_SRC": axis.steps("src"),
        }
    return found


class _Interface:
    """A NumPy array's description of memory that NumPy must not read."""

    def __init__(self, interface: dict[str, Any]) -> None:
        self.__array_interface__ = interface


def _described(array: Any) -> npt.NDArray[Any]:
    # NumPy then knows shape, strides, itemsize and address; no element of it is ever asked for.
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        raise TypeError(f"device.copy: a {type(array).__name__} has no __cuda_array_interface__: it is not on CUDA")
    told = {name: interface.get(name) for name in ("shape", "typestr", "data", "strides")}
    return np.asarray(_Interface({**told, "version": 3}))


def _check(dst: npt.NDArray[Any], src: npt.NDArray[Any]) -> None:
    if dst.shape != src.shape:
        raise ValueError(f"device.copy: shapes differ: {dst.shape} and {src.shape}")
    if dst.dtype != src.dtype:
        raise TypeError(f"device.copy: dtypes differ: {dst.dtype} and {src.dtype}")


def _check_device(dst: Any, src: Any) -> None:
    from triton.runtime import driver

    current = (_CUDA, driver.active.get_current_device())
    for array in (dst, src):
        device = getattr(array, "__dlpack_device__", lambda: current)()
        if tuple(map(int, device)) != current:
            raise ValueError(f"device.copy: an array is on device {device}, the current one is {current}")


def _launch(dst: npt.NDArray[Any], src: npt.NDArray[Any], choice: DeviceChoice) -> Launch:
    at = dst.ctypes.data % WORD, src.ctypes.data % WORD
    return _prepared(dst.shape, dst.strides, src.strides, dst.itemsize, *at, choice)


@lru_cache(_KNOWN)
def _prepared(
    shape: tuple[int, ...], dst_strides: tuple[int, ...], src_strides: tuple[int, ...], itemsize: int,
    dst_phase: int, src_phase: int, choice: DeviceChoice,
) -> Launch:  # fmt: skip
    form = normal(shape, dst_strides, src_strides, itemsize)
    if not form.writes_once:
        raise ValueError(f"device.copy: strides {dst_strides} with shape {shape} write one place twice")
    made = plan_for_device(form, _align(dst_phase + form.dst_shift), _align(src_phase + form.src_shift), choice)
    return Launch(made, constants_of(made))


def _align(address: SupportsIndex) -> int:
    number = int(address) % WORD
    return number & -number or WORD
