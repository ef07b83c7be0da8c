"""Memory that goes to other libraries and comes from them: NumPy, buffers, DLPack."""

from __future__ import annotations

from ..classify import NOTHING, Event
from ..layout import is_expanded, numel
from ..observation import ForeignState
from ._define import ANSWERS, ARRAYS, GEOMETRY, RAISING, Family

family = Family("exchange")
rule, succeeds, refused = family.rule, family.succeeds, family.refused

TO_NUMPY = "numpy __array__ numpy.asarray"
TO_DLPACK = "__dlpack__ utils.dlpack.to_dlpack"
FROM_DLPACK = "from_dlpack utils.dlpack.from_dlpack"
IMPORTS = f"from_numpy as_tensor tensor asarray frombuffer {FROM_DLPACK}"
EXPORTS = f"{TO_NUMPY} {TO_DLPACK} numpy.from_dlpack memoryview"
TOLD = "shape strides layout sharing flags"
"""What memory that is told of may be told wrongly."""


def _tensor_to(e: Event) -> bool:
    """A tensor was handed to another library."""
    return e.raised is None and e.x is not NOTHING


def _from_array(e: Event) -> bool:
    """A tensor was made over another library's memory."""
    return e.raised is None and isinstance(e.operand, ForeignState) and e.y is not NOTHING


def _in_place(e: Event) -> bool:
    return _from_array(e) and e.operand is not None and e.y.storage is not None and not e.copied


succeeds("exchange.leaves", "Handing memory on changes none of its bytes, and no other tensor.", "8.2",
         f"{EXPORTS} __dlpack_device__", ANSWERS)  # fmt: skip
succeeds("exchange.import-leaves", "Taking memory over changes none of its bytes.", "8.1", IMPORTS,
         "values sharing storage flags shape strides layout")  # fmt: skip
succeeds("exchange.arrays", "What NumPy does to an array is seen in all that lies in its memory.", "8.2.1", ARRAYS,
         ANSWERS)  # fmt: skip


@rule("numpy.imports", "from_numpy lies in the array's memory: offset 0, strides in elements, as long as they reach.",
      "8.1", "from_numpy as_tensor asarray", "shape strides layout sharing storage")  # fmt: skip
def _(e: Event) -> bool:
    return _from_array(e)


@rule("numpy.not-resizable", "Memory that is taken over has a version of its own, and is no view.", "8.1", IMPORTS,
      "flags")  # fmt: skip
def _(e: Event) -> bool:
    return _from_array(e)


refused("numpy.import-refused", "Negative strides, strides between elements and unknown dtypes are refused.", "8.1.1",
        "from_numpy as_tensor tensor asarray")  # fmt: skip
succeeds("numpy.dtypes", "The dtype stays what it was, or is the one asked for.", "8.1.2",
         "from_numpy as_tensor tensor asarray", "shape")  # fmt: skip
succeeds("tensor.copies", "tensor() always copies, dense and in the order of what it copies.", "8.1", "tensor",
         "shape strides layout sharing storage")  # fmt: skip


@rule("numpy.broadcast", "Arrays that repeat elements are taken over with their strides of 0.", "8.1.4", IMPORTS,
      "strides sharing")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and is_expanded(e.y)


@rule("numpy.empty", "Of what has no elements sizes are taken over.", "8.1.5", IMPORTS, "shape layout")
def _(e: Event) -> bool:
    return e.raised is None and e.y is not NOTHING and numel(e.y) == 0


succeeds("frombuffer.shares", "frombuffer is one dimension over the buffer's memory, from its offset on.", "8.1",
         "frombuffer", "shape strides layout sharing storage")  # fmt: skip
refused("frombuffer.refused", "Lengths, offsets and counts that do not fit the buffer are refused.", "8.1.6",
        "frombuffer")  # fmt: skip


@rule("asarray.itself", "as_tensor and asarray of a tensor that needs no change answer it.", "8.1.7",
      "asarray as_tensor", "sharing")  # fmt: skip
def _(e: Event) -> bool:
    return e.same


@rule("asarray.copies", "asarray(copy=True), and what must be converted, has memory of its own.", "8.1.7",
      "asarray as_tensor", f"{GEOMETRY} sharing storage")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and not e.same and not _in_place(e)


@rule("numpy.shares", "numpy() lies in the tensor's memory, with its strides in bytes.", "8.2.1",
      "numpy __array__ numpy.asarray", TOLD)  # fmt: skip
def _(e: Event) -> bool:
    return _tensor_to(e)


@rule("numpy.expanded-writable", "An array over an expanded tensor has strides of 0 and can be written.", "8.2.1",
      TO_NUMPY, "strides flags")  # fmt: skip
def _(e: Event) -> bool:
    return _tensor_to(e) and is_expanded(e.x)


@rule("numpy.offset", "An array of a slice begins where the slice does.", "8.2.1", TO_NUMPY, "layout sharing")
def _(e: Event) -> bool:
    return _tensor_to(e) and bool(e.x.offset) and numel(e.x) > 0


@rule(
    "numpy.refused", "Tensors with gradients, bits, and dtypes that NumPy lacks are refused.", "8.2", TO_NUMPY, RAISING
)
def _(e: Event) -> bool:
    return e.raised is not None


@rule("numpy.force", "numpy(force=True) does away with gradients and bits.", "8.2.3", "numpy", TOLD)
def _(e: Event) -> bool:
    return e.raised is None and e.argument("force") is True


@rule("numpy.asarray", "numpy.asarray shares, and copies to another dtype.", "8.2.4", "__array__ numpy.asarray", TOLD)
def _(e: Event) -> bool:
    return e.raised is None


@rule("buffer.none", "Tensors have no buffer that memoryview could show, arrays have.", "8.2.4", "memoryview", RAISING)
def _(e: Event) -> bool:
    return e.raised is not None


succeeds("dlpack.capsule", "A capsule tells sizes, strides, dtype and where the first element lies.", "8.3.2",
         "__dlpack__ utils.dlpack.to_dlpack ndarray.__dlpack__", TOLD)  # fmt: skip
succeeds("dlpack.imports", "from_dlpack lies in the same memory; its offset is 0, its version its own.", "8.3.1",
         FROM_DLPACK, "shape layout sharing storage flags")  # fmt: skip


@rule("dlpack.strides", "Strides are passed on exactly, of sizes 1 and 0 too.", "8.3.2", FROM_DLPACK, "strides layout")
def _(e: Event) -> bool:
    return e.raised is None and e.y is not NOTHING


@rule("dlpack.expanded", "Strides of 0 are passed on.", "8.3.3", f"{FROM_DLPACK} {TO_DLPACK} numpy.from_dlpack",
      "strides sharing")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and (is_expanded(e.x) or is_expanded(e.y))


@rule("dlpack.once", "A capsule is taken over once; what is none is refused.", "8.3.4", FROM_DLPACK, RAISING)
def _(e: Event) -> bool:
    return e.raised is not None and (e.operand is None or isinstance(e.operand, ForeignState))


@rule(
    "dlpack.copy", "copy=True gives memory of its own.", "8.3.5", f"{FROM_DLPACK} __dlpack__", "sharing shape storage"
)
def _(e: Event) -> bool:
    return e.raised is None and e.argument("copy") is True


succeeds("dlpack.device", "__dlpack_device__() is the CPU, number 0.", "8.3.5", "__dlpack_device__", "values")


@rule("dlpack.refused", "Gradients, conjugate bits, quantised dtypes, meta tensors and streams are refused.", "8.3.5",
      f"{TO_DLPACK} {FROM_DLPACK} numpy.from_dlpack __dlpack_device__", RAISING)  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is not None


succeeds("dlpack.dtypes", "Every dtype that DLPack has a name for keeps it.", "8.3.6",
         f"{FROM_DLPACK} {TO_DLPACK}", "shape")  # fmt: skip
succeeds("dlpack.to-numpy", "NumPy takes over a tensor with its strides.", "8.3.6", "numpy.from_dlpack", TOLD)
succeeds("factory.empty", "empty() is row-major, in memory of its own.", "4.1.8", "empty",
         "shape strides layout sharing storage flags")  # fmt: skip

succeeds("dlpack.unasked", "utils.dlpack.to_dlpack asks for neither gradients nor bits: it shows the memory as it is.",
         "8.3.9", "utils.dlpack.to_dlpack", "sharing strides shape")  # fmt: skip


@rule("dlpack.read-only", "Memory that is read-only is taken over all the same.", "8.3.8", FROM_DLPACK, "sharing shape")
def _(e: Event) -> bool:
    return e.raised is None and isinstance(e.operand, ForeignState)


RULES = family.rules
