"""Strided copies on a GPU: arrays that are told by `__cuda_array_interface__`, moved by one Triton kernel.

`copy` takes PyTorch's tensors on CUDA and CuPy's arrays alike: nothing but their layouts and addresses is asked for.
Triton comes with PyTorch's builds for CUDA and finds the device through it; it is imported by the first copy.

docs/gpu.md says what ran on which GPU, and what was proven without one.
"""

from typing import Any, NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt

from .device_plan import OWN, SECTOR, DeviceChoice, DevicePlan, plan_for_device
from .device_tables import tables_of
from .normal import normal

_CUDA = 2
"""DLPack's number for memory of a CUDA device."""
_KNOWN = 256
"""Launches that are remembered; each takes up to 160 kB of the device's memory, 290 where offsets are wide."""


class Launch(NamedTuple):
    """What a kernel is called with, beside the two addresses."""

    plan: DevicePlan
    constants: dict[str, Any]
    """The kernel's constants by name."""
    tables: npt.NDArray[np.uint8]
    """Where the items of a tile are, for the device's memory."""


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
    (float8) are viewed as integers first. The copy is queued on PyTorch's current stream: what other streams
    do with the arrays must be waited for. The first copy between two layouts waits for the device, and cannot be
    captured into a graph. `choice` stands in for the planner's own.
    Raises: RuntimeError with the reason where there is no Triton or no device, TypeError where an array is none of
    CUDA's, dtypes differ or elements are still to be conjugated or negated, ValueError where shapes differ, the target
    cannot be written, may be written twice in one place or share bytes with the source, or the arrays are not on the
    current device.

    >>> import torch  # doctest: +SKIP
    >>> a = torch.empty(4, 3, device="cuda")  # doctest: +SKIP
    >>> copy(a, torch.arange(12.0, device="cuda").view(3, 4).T)  # doctest: +SKIP
    """
    target, source = _as_array("copy", dst), _as_array("copy", src)
    if reason := unavailable():
        raise RuntimeError(f"device.copy: {reason}")
    _check("copy", target, source)
    if not target.flags.writeable:
        raise ValueError("device.copy: the target is read-only")
    _check_device(dst, src)
    if not target.size:
        return
    from .device_kernel import copy_tile
    from .engine import share_memory

    if share_memory(target, source):
        raise ValueError("device.copy: the target shares bytes with the source, or it is too hard to tell")

    launch, tables = _prepared(target, source, choice)
    start(copy_tile, launch, target.ctypes.data, source.ctypes.data, tables.data_ptr())


def plan(dst: Any, src: Any, choice: DeviceChoice = OWN) -> DevicePlan:
    """How `copy` copies between two arrays; `plan(…).explain()` says it in words. Asks for no device.

    Raises: TypeError where an array is none of CUDA's or dtypes differ, ValueError where shapes differ, there is no
    element, or the target may be written twice in one place.
    """
    target, source = _as_array("plan", dst), _as_array("plan", src)
    _check("plan", target, source)
    if not target.size:
        raise ValueError(f"device.plan: no element in {target.shape}")
    return plan_of(target, source, choice)


def start(kernel: Any, launch: Launch, dst: int, src: int, tables: int) -> None:
    """Call a kernel for a plan; the addresses are those of the first elements, and of the packed tables."""
    made = launch.plan
    shifts = made.form.dst_shift, made.form.src_shift
    kernel[(made.tiles,)](dst + shifts[0], src + shifts[1], tables, **launch.constants, num_warps=made.warps)


def launch_of(made: DevicePlan) -> Launch:
    """What `device_kernel.copy_tile` is compiled for and given."""
    tables = tables_of(made)
    constants = {
        "ITEM": made.item,
        "READ": tables.read,
        "WRITE": tables.write,
        "READS": len(tables.reads),
        "WRITES": len(tables.writes),
        "HOPS": len(tables.hops),
        "WIDE": tables.is_wide,
    }
    return Launch(made, constants, tables.packed())


class _Interface:
    """A NumPy array's description of memory that NumPy must not read."""

    def __init__(self, interface: dict[str, Any]) -> None:
        self.__array_interface__ = interface


def _as_array(caller: str, array: Any) -> npt.NDArray[Any]:
    # NumPy then knows shape, strides, itemsize and address; no element of it is ever asked for.
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        raise TypeError(f"device.{caller}: a {type(array).__name__} has no __cuda_array_interface__: it is not on CUDA")
    for is_left, what in (("is_conj", "conjugated"), ("is_neg", "negated")):
        if getattr(array, is_left, bool)():  # PyTorch tells the memory of those, too, as if it were the elements
            raise TypeError(f"device.{caller}: elements of a {type(array).__name__} are still to be {what}")
    told = {name: interface.get(name) for name in ("shape", "typestr", "data", "strides")}
    return np.asarray(_Interface({**told, "version": 3}))


def _check(caller: str, dst: npt.NDArray[Any], src: npt.NDArray[Any]) -> None:
    if dst.shape != src.shape:
        raise ValueError(f"device.{caller}: shapes differ: {dst.shape} and {src.shape}")
    if dst.dtype != src.dtype:
        raise TypeError(f"device.{caller}: dtypes differ: {dst.dtype} and {src.dtype}")


def _check_device(dst: Any, src: Any) -> None:
    from triton.runtime import driver

    current = (_CUDA, driver.active.get_current_device())
    for array in (dst, src):
        device = getattr(array, "__dlpack_device__", lambda: current)()
        if tuple(map(int, device)) != current:
            raise ValueError(f"device.copy: an array is on device {device}, the current one is {current}")


def plan_of(dst: npt.NDArray[Any], src: npt.NDArray[Any], choice: DeviceChoice = OWN) -> DevicePlan:
    """The plan for two arrays wherever they lie; raises ValueError where one place may be written twice."""
    form = normal(dst.shape, dst.strides, src.strides, dst.itemsize)
    if not form.writes_once:
        raise ValueError(f"device: strides {dst.strides} with shape {dst.shape} may write one place twice")
    aligns = (_align(dst.ctypes.data + form.dst_shift), _align(src.ctypes.data + form.src_shift))
    return plan_for_device(form, *aligns, choice)


_prepared_ones: dict[Any, tuple[Launch, Any]] = {}
"""Launches with their tables on the device, by layouts, alignments, choice and device."""


def _prepared(dst: npt.NDArray[Any], src: npt.NDArray[Any], choice: DeviceChoice) -> tuple[Launch, Any]:
    from triton.runtime import driver

    at = dst.ctypes.data % SECTOR, src.ctypes.data % SECTOR, driver.active.get_current_device()
    key = dst.shape, dst.strides, src.strides, dst.itemsize, *at, choice
    found = _prepared_ones.get(key)  # another thread may forget them all at any moment
    if found is None:
        launch = launch_of(plan_of(dst, src, choice))
        if len(_prepared_ones) >= _KNOWN:
            _prepared_ones.clear()
        found = _prepared_ones[key] = launch, to_device(launch.tables)
    return found


def to_device(tables: npt.NDArray[np.uint8]) -> Any:
    """Bytes in memory of the current device, there for every stream."""
    import torch  # which Triton has imported: it finds the device through it

    torch.cuda.synchronize()  # memory of tables that were forgotten may still be read on other streams
    there = torch.from_numpy(tables).cuda()
    torch.cuda.current_stream().synchronize()
    return there


def _align(address: SupportsIndex) -> int:
    number = int(address) % SECTOR
    return number & -number or SECTOR
