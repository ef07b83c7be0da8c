"""dpnp on a SYCL device (the CPU where there is no other): NumPy's names over unified shared memory."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# Installed by pip, the CPU's driver is where no loader looks for it.
if (Path(sys.prefix) / "lib" / "libintelocl.so").exists():
    os.environ.setdefault("OCL_ICD_FILENAMES", str(Path(sys.prefix) / "lib" / "libintelocl.so"))

import dpctl
import dpnp
import numpy

from ..capabilities import Capabilities
from ..discovery import without_variants
from ..program import ITEMSIZES, Input, Storage
from .memory import Region, RegionStyle
from .numpy import DTYPES
from .numpy_style import CHECKS, NumpyStyle, numpy_like
from .table_style import takes_by, why_lost


class Dpnp(RegionStyle, NumpyStyle):
    """dpnp's arrays: any strides over memory that it owns, writes through views seen by all."""

    name = "dpnp"
    ports: Mapping[str, str] = takes_by("dpnp.from_dlpack", buffer="dpnp.asarray", interface="dpnp.asarray")
    prefix = "dpnp"
    imports = "import dpnp, numpy"
    templates: Mapping[str, str] = numpy_like("dpnp", "unfold mT") | {
        "contiguous": "dpnp.asarray({self}, order='C')",
        "cat": "dpnp.concatenate({tensors}, axis={dim})",
        "stack": "dpnp.stack({tensors}, axis={dim})",
        "index_select": "dpnp.take({self}, {index}, axis={dim})",
    }
    helpers: Mapping[str, str] = {
        "as_strided": """def as_strided(x, size, stride, offset):
    memory, start = x.get_array().usm_data, x.get_array()._element_offset if offset is None else offset
    return dpnp.ndarray(size, x.dtype, buffer=memory, offset=start, strides=[s * x.itemsize for s in stride])""",
    }
    checks: Mapping[str, str] = {
        **CHECKS,
        "same-storage": "{x}.get_array().usm_data._pointer == {y}.get_array().usm_data._pointer",
        "byte": "numpy.frombuffer({x}.get_array().usm_data.tobytes(), numpy.uint8).tolist()",
    }
    not_offered = ("not implemented", "Unsupported", "not supported")
    # Strides that address nothing are promised by nobody.
    capabilities = Capabilities(
        frozenset(DTYPES),
        frozenset({"free-strides", "negative-strides", "bounds", "view-check", "index-check", "write-through"}),
        frozenset({"raises", "shape", "values", "sharing", "strides", "contiguity", "storage"}),
    )
    forks = False  # the queue's threads do not survive a fork: operations hang

    def __init__(self) -> None:
        if not dpctl.get_devices():
            raise ImportError("no SYCL device: pip install intel-opencl-rt brings one for the CPU")
        warnings.filterwarnings("ignore")
        super().__init__(dpnp, DTYPES)

    def versions(self) -> dict[str, str]:
        """Versions that can change a verdict, with the device's name."""
        return {"dpnp": dpnp.__version__, "dpctl": dpctl.__version__, "device": dpctl.SyclDevice().name}

    def storage(self, data: Any, backing: str) -> Region:
        """Memory on the device."""
        memory = dpnp.array(numpy.frombuffer(bytes(data), numpy.uint8)).get_array().usm_data
        return self.regions.at(memory._pointer, len(data), memory)

    def make(self, root: Region, dtype: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
        """An array over a region: dpnp takes strides in bytes and the offset in elements."""
        return dpnp.ndarray(shape, dtype, buffer=root.keeper, offset=offset // dtype.itemsize, strides=strides)

    def describe(self, x: Any) -> tuple[str, tuple[int, ...], tuple[int, ...], int, str, None, None]:
        """What the array says of itself."""
        array = x.get_array()
        contiguity = ("T" if x.flags.c_contiguous else "F") + "--"
        return x.dtype.name, x.shape, tuple(array.strides), array._element_offset, contiguity, None, None

    def storage_of(self, x: Any) -> Region | None:
        """The memory object that the array lies in; empty arrays own one element, as SYCL allocates no less."""
        memory = x.get_array().usm_data
        return self.regions.at(memory._pointer, memory.nbytes, memory) if x.size else None

    def bytes_of(self, storage: Region) -> bytes:
        """All bytes, copied to the host after what writes to them."""
        storage.keeper.sycl_queue.wait()
        return bytes(storage.keeper.tobytes())[: storage.nbytes]

    def read(self, x: Any) -> bytes:
        """Elements, row-major."""
        return bytes(dpnp.asnumpy(x).tobytes("C"))

    def lost(self) -> str:
        """Why the device answers no more; empty where it does."""
        return why_lost(lambda: dpnp.asnumpy(dpnp.zeros(1)))

    def write_dtype(self, name: str) -> str:
        """A dtype as source text."""
        return f'numpy.dtype("{name}")'

    def write_storage(self, name: str, storage: Storage, data: str) -> str:
        """Source that makes a storage from the bytes expression `data`."""
        return f"{name} = dpnp.array(numpy.array(bytearray({data})))"

    def write_input(self, name: str, item: Input, storage: str) -> str:
        """Source that makes an input over a storage."""
        layout = f"offset={item.offset}, strides={tuple(s * ITEMSIZES[item.dtype] for s in item.strides)}"
        return f"{name} = dpnp.ndarray({item.shape}, {self.write_dtype(item.dtype)}, buffer={storage}, {layout})"


adapter = without_variants("dpnp", Dpnp)
