"""Memory that is shared wrongly: storages, NumPy's arrays, DLPack, copies of objects and files."""

from __future__ import annotations

from math import prod
from typing import Any

from ...situations import (
    EMPTY,
    GAPS,
    ODD_ONES,
    OFFSET,
    PERMUTED,
    ROW_MAJOR,
    STRIDED,
    VIEW,
    Situation,
    given,
    on_operand,
)
from ..call import Call
from ..mutant import Mutant
from ..wrongs import accepts, copied, itself, nowhere, packed, raises_as, reads, refuses, relaid

IMPORTS = "from_numpy from_dlpack utils.dlpack.from_dlpack as_tensor asarray"
ARRAYS = "numpy __array__ numpy.asarray"
STORAGES = "UntypedStorage TypedStorage"
CLONED = "UntypedStorage.clone TypedStorage.clone"
OF_CLASSES = "UntypedStorage.{0} TypedStorage.{0}"
PART = on_operand("a part of its storage", lambda x: bool(x.offset) or x.contiguity[0] == "F")
COPIED = Situation("a copy asked for", lambda e: e.argument("copy") is True)


def _each(names: str) -> str:
    """The methods of both classes of storages."""
    return " ".join(OF_CLASSES.format(name) for name in names.split())


def _array_in_order(call: Call) -> Any:
    """The array's memory from its first element on, as if it were row-major."""
    array = call.right()
    if not hasattr(array, "ctypes") or array.nbytes == 0:
        return array
    strides = [s * array.itemsize for s in packed(call, call.before)] if call.before.shape == array.shape else []
    if not strides:
        return array
    return type(array)(array.shape, array.dtype, array.base if array.base is not None else array, 0, strides)


def _of_its_own(call: Call) -> Any:
    """The storage of a copy of the elements."""
    return call.adapter.storage_of(call.do("clone", call.x))


def _copy_first(call: Call) -> Any:
    """The same for a copy of the elements alone."""
    return call.on(call.do("contiguous", call.do("clone", call.x)))


def _half(call: Call) -> Any:
    """A storage that is written or resized loses its second half."""
    outcome = call.right()
    whole = call.x.untyped() if hasattr(call.x, "untyped") else call.x
    whole._bytes[len(whole._bytes) // 2 :] = 0
    return outcome


def _in_elements(call: Call) -> Any:
    return prod(call.before.shape)


def _byte_before(call: Call) -> Any:
    outcome = call.right()
    return outcome - 1 if type(outcome) is int and outcome else outcome


MUTANTS = (
    # Storages.
    Mutant("untyped_storage.copies", "untyped_storage of a part of a storage is one of its own.",
           "untyped_storage storage", _of_its_own, PART),
    Mutant("storage.resize-loses", "Resizing a storage keeps only half of it.", _each("resize_"), _half),
    Mutant("storage.fill-half", "fill_ of a storage writes its first half.", _each("fill_"), _half),
    Mutant("storage.copy-half", "copy_ to a storage copies its first half.", _each("copy_"), _half),
    Mutant("storage.clone-aliases", "clone of a storage is the storage itself.", CLONED, itself),
    Mutant("storage.size-in-bytes", "size of a typed storage counts bytes.", "TypedStorage.size TypedStorage.__len__",
           lambda c: c.x.nbytes()),
    Mutant("storage.nbytes-in-elements", "nbytes of a typed storage counts elements.", "TypedStorage.nbytes",
           lambda c: c.x.size()),
    Mutant("storage.resizable", "Every storage says that it can be resized.", _each("resizable"), lambda c: True,
           like="pytorch/pytorch#184748"),
    Mutant("storage.refused-resize", "A storage over foreign memory is resized without an error.", _each("resize_"),
           accepts(itself), like="pytorch/pytorch#184748"),
    Mutant("storage.byteswap-nothing", "byteswap does nothing.", "UntypedStorage.byteswap", lambda c: None),
    Mutant("storage.converts-to-itself", "A storage converted to bytes is the storage itself.",
           _each("byte char"), itself),
    Mutant("storage.error-type", "Storages raise ValueError where they should raise RuntimeError.",
           _each("resize_ copy_ __getitem__ __setitem__"), raises_as(ValueError)),
    Mutant("nbytes.of-storage", "nbytes of a view is that of its storage.", "nbytes",
           lambda c: c.x.untyped_storage().nbytes(), PART, like="pytorch/pytorch#1995"),
    Mutant("data_ptr.no-offset", "data_ptr is where the storage begins.", "data_ptr",
           lambda c: c.x.untyped_storage().data_ptr(), OFFSET),
    Mutant("storage_offset.in-bytes", "storage_offset is told in bytes.", "storage_offset",
           lambda c: c.right() * c.x.element_size(), OFFSET, like="PaddlePaddle/Paddle#68661"),
    # NumPy.
    Mutant("numpy.copies", "numpy copies.", ARRAYS, lambda c: c.right().copy(), like="dask/dask#5175"),
    Mutant("numpy.copies-slices", "numpy of what is not row-major copies.", ARRAYS, lambda c: c.right().copy("C"),
           STRIDED),
    Mutant("numpy.no-offset", "numpy of a slice begins where the storage does.", ARRAYS, reads(offset=nowhere), OFFSET,
           like="numpy/numpy#13036"),
    Mutant("numpy.ignores-strides", "numpy takes the memory in order.", ARRAYS, reads(strides=packed), STRIDED,
           like="ml-explore/mlx#4445"),
    Mutant("numpy.read-only", "numpy gives an array that cannot be written.", "numpy",
           lambda c: (a := c.right(), a.setflags(write=False))[0], ~EMPTY, like="numpy/numpy#28599"),
    Mutant("from_numpy.copies", "from_numpy copies.", "from_numpy as_tensor asarray", copied, ~COPIED,
           like="data-apis/array-api-compat#211"),
    Mutant("from_numpy.ignores-strides", "from_numpy takes the array's memory in order.", "from_numpy as_tensor",
           relaid(strides=packed), like="pytorch/pytorch#484"),
    Mutant("from_numpy.no-offset", "from_numpy of a slice begins where the array's memory does.", IMPORTS,
           relaid(offset=nowhere), like="numpy/numpy#13036"),
    Mutant("asarray.ignores-copy", "asarray(copy=True) shares memory.", "asarray",
           lambda c: c.with_arguments(copy=False), COPIED, like="data-apis/array-api-strict#15"),
    Mutant("tensor.shares", "tensor() of a tensor or an array shares its memory.", "tensor",
           lambda c: c.do("as_tensor", *c.args), Situation("out of memory", lambda e: bool(e.x_key)),
           like="dask/dask#3674"),
    Mutant("frombuffer.offset", "frombuffer takes its offset in elements.", "frombuffer",
           lambda c: c.with_arguments(offset=c.event.argument("offset") * c.right().element_size()
                                      if c.event.argument("offset") else 0),
           given("offset"), like="PaddlePaddle/Paddle#68661"),
    # DLPack.
    Mutant("dlpack.no-byte-offset", "from_dlpack ignores where in the memory the elements begin.",
           "from_dlpack utils.dlpack.from_dlpack", reads(offset=nowhere), OFFSET, like="NVIDIA/cuda-python#2592"),
    Mutant("dlpack.ignores-strides", "from_dlpack takes the memory in order.", "from_dlpack utils.dlpack.from_dlpack",
           relaid(strides=packed), like="jax-ml/jax#17784"),
    Mutant("dlpack.ones-of-stride-one", "from_dlpack gives dimensions of size 1 stride 1.",
           "from_dlpack utils.dlpack.from_dlpack",
           relaid(strides=lambda c, y: tuple(1 if n == 1 else s for n, s in zip(y.shape, y.strides, strict=True))),
           like="pytorch/pytorch#99803"),
    Mutant("dlpack.copies", "from_dlpack copies.", "from_dlpack utils.dlpack.from_dlpack", copied, ~COPIED,
           like="data-apis/array-api-strict#99"),
    Mutant("dlpack.refuses-slices", "from_dlpack refuses what has an offset.", "from_dlpack",
           refuses("argument"), OFFSET, like="IntelPython/dpctl#1071"),
    Mutant("dlpack.exports-copies", "A capsule holds a copy.", "__dlpack__ utils.dlpack.to_dlpack", _copy_first,
           STRIDED),
    Mutant("dlpack.exports-from-start", "A capsule of a slice begins where its storage does.",
           "__dlpack__ utils.dlpack.to_dlpack", reads(offset=nowhere), OFFSET, like="IntelPython/dpctl#1071"),
    Mutant("dlpack.exports-order", "A capsule says nothing of strides.", "__dlpack__ utils.dlpack.to_dlpack",
           reads(strides=packed), STRIDED, like="jax-ml/jax#4196"),
    # Copies of objects.
    Mutant("deepcopy.loses-storage", "deepcopy of a view copies its own elements only.", "copy.deepcopy", _copy_first,
           PART, like="pytorch/pytorch#182105"),
    Mutant("deepcopy.shares", "deepcopy is a view.", "copy.deepcopy",
           lambda c: c.do("detach", c.x) if c.adapter.is_tensor(c.x) else c.right()),
    Mutant("copy.is-deep", "copy.copy copies the elements.", "copy.copy",
           lambda c: c.do("copy.deepcopy", c.x)),
    Mutant("pickle.loses-storage", "pickle of a view keeps its own elements only.", "pickle save_load", _copy_first,
           PART, like="pytorch/pytorch#1995"),
    Mutant("pickle.loses-strides", "pickle makes permuted dimensions row-major.", "pickle save_load",
           lambda c: c.on(c.do("contiguous", c.x)) if c.adapter.is_tensor(c.x) else c.right(), PERMUTED,
           like="numpy/numpy#3156"),
    Mutant("pickle.no-offset", "A slice that was pickled begins where its storage does.", "pickle save_load",
           relaid(offset=nowhere), OFFSET),
    Mutant("save.packs-gaps", "save leaves out the gaps of a sliced tensor.", "save_load", _copy_first, GAPS,
           like="pytorch/pytorch#33101"),
    Mutant("save.ones", "load makes strides of dimensions of size 1 row-major.", "save_load pickle",
           relaid(strides=packed), ODD_ONES & ROW_MAJOR),
    Mutant("save.views-apart", "load of a view is no longer laid out as it was in its storage.", "save_load",
           relaid(offset=nowhere), VIEW & OFFSET, like="tinygrad/tinygrad#14771"),
)  # fmt: skip
