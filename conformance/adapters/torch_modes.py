"""PyTorch's other ways to run the same program: without bytes (meta, fake), or compiled.

All three intend eager's metadata. Where they differ from it, a compiled program has other strides than its author saw.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch._subclasses import fake_tensor

from ..capabilities import ASPECTS
from ..program import Input, Step, Storage
from ..protocol import Unsupported
from .torch import Torch

WITHOUT_BYTES = frozenset(ASPECTS) - {"values", "storage"}
"""Aspects of tensors that have no elements."""


class Meta(Torch):
    """Tensors on the device `meta`: a layout over a storage that has a size and no bytes."""

    name = "torch:meta"
    # as_strided checks no bounds there, and there is no foreign memory to lie in.
    capabilities = replace(
        Torch.capabilities,
        features=Torch.capabilities.features - {"bounds", "guarded"},
        aspects=WITHOUT_BYTES,
        exact_errors=False,
        mode_of=Torch.name,
    )
    needs_data: tuple[type[Exception], ...] = (NotImplementedError,)
    """What an operation raises whose result depends on elements."""

    def storage(self, data: Any, backing: str) -> Any:
        """A storage of as many bytes as `data` has, none of which are there."""
        return self._storage_type(len(data), device="meta")

    def tensor(self, storage: Any, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
        """A tensor set on the storage."""
        empty = torch.empty(0, dtype=self._dtypes[dtype], device="meta")
        return empty.set_(storage, offset, shape, strides).data

    def bytes_of(self, storage: Any) -> bytes:
        """Nothing: no aspect that looks at bytes is claimed."""
        return b""

    def extent_of(self, storage: Any) -> tuple[int, int]:
        """How long it is, at no address; but what a program makes of numbers alone is on the CPU, and has one."""
        return super().extent_of(storage) if storage.device.type == "cpu" else (0, storage.nbytes())

    def describe_storage(self, x: Any) -> tuple[Any, str | None, str]:
        """What a storage says of itself, but for that it is on meta, where all are."""
        plain, dtype, flags = super().describe_storage(x)
        return plain, dtype, flags.replace("m", "")

    def operation(self, step: Step) -> Callable[..., Any] | None:
        """The compiled template of a step; where it asks for elements, the program is unsupported.

        So is one that moves something to meta: all lies there already, and nothing would move.
        """
        function = super().operation(step)
        if function is None or "meta" in (*step.args, *[value for _, value in step.kwargs]):
            return None

        def without_data(*args: Any) -> Any:
            try:
                return self.run(function, args)
            except self.needs_data as error:
                raise Unsupported(f"data:{step.op}") from error
            except RuntimeError as error:
                if "cannot be called on meta tensors" not in str(error):  # .item(), of an index that is a tensor
                    raise
                raise Unsupported(f"data:{step.op}") from error

        return without_data

    def run(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Run one operation."""
        return function(*args)

    def write_storage(self, name: str, storage: Storage, data: str) -> str:
        """Source that makes a storage."""
        return f'{name} = torch.UntypedStorage({storage.nbytes}, device="meta")'

    def write_input(self, name: str, item: Input, storage: str) -> str:
        """Source that makes an input over a storage."""
        return super().write_input(name, item, storage).replace(f"{item.dtype})", f'{item.dtype}, device="meta")', 1)


class Fake(Meta):
    """`FakeTensorMode`: tensors on `meta` that say they are on the CPU; the model of every compiled program."""

    name = "torch:fake"
    imports = (
        "import torch\nfrom torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode\n"
        "mode = FakeTensorMode().__enter__()"
    )
    needs_data = (
        fake_tensor.DataDependentOutputException,
        fake_tensor.DynamicOutputShapeException,
        fake_tensor.UnsupportedFakeTensorException,
        fake_tensor.UnsupportedOperatorException,
    )

    def __init__(self) -> None:
        super().__init__()
        # It logs each refused operation with a traceback, though the exception says the same.
        logging.getLogger("torch._subclasses.fake_tensor").setLevel(logging.CRITICAL)
        self.mode = fake_tensor.FakeTensorMode()

    def tensor(self, storage: Any, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
        """A tensor on the storage that says it is on the CPU."""
        meta = super().tensor(storage, dtype, shape, strides, offset)
        with self.mode:
            return fake_tensor.FakeTensor(self.mode, meta, torch.device("cpu"))

    def template(self, step: Step) -> str | None:
        """The step's expression; a deep copy copies the mode and frees its storages (finding torch-fake-6)."""
        return None if step.op == "copy.deepcopy" else super().template(step)

    def extent_of(self, storage: Any) -> tuple[int, int]:
        """How long it is: a storage under FakeTensorMode may not be asked for an address."""
        return 0, storage.nbytes()

    def run(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Run one operation under the mode."""
        with self.mode:
            return function(*args)

    def write_input(self, name: str, item: Input, storage: str) -> str:
        """Source that makes an input over a storage."""
        assignment, _, meta = super().write_input(name, item, storage).partition(" = ")
        return f'{assignment} = FakeTensor(mode, {meta}, torch.device("cpu"))'


class Compiled(Torch):
    """`torch.compile` of whole programs, static shapes, by one back end."""

    # Versions and views are eager's bookkeeping; compiled code promises what tensors look like afterwards.
    capabilities = replace(
        Torch.capabilities, aspects=Torch.capabilities.aspects - {"flags"}, exact_errors=False, mode_of=Torch.name
    )

    def __init__(self, backend: str) -> None:
        super().__init__()
        self.backend = backend
        self.forks = backend != "inductor"  # its threads do not survive a fork
        self.patience = 60.0 if backend == "inductor" else 20.0
        """Seconds that a program may take: a C++ compiler on a busy machine."""
        self.call = f'torch.compile(program, backend="{backend}", dynamic=False)'
        self.name = "torch:compile" if backend == "inductor" else f"torch:compile-{backend}"
        logging.getLogger("torch").setLevel(logging.CRITICAL)
        # Loaded before a child is forked for each crash: the compiler takes seconds to import.
        self.whole(lambda x: x + 1)(torch.zeros(2, 2))

    def whole(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, compiled for the very shapes and strides that it gets."""
        torch._dynamo.reset()
        return torch.compile(function, backend=self.backend, dynamic=False)

    def missing(self, error: Exception) -> None:
        """Nothing: it claims all that eager PyTorch does."""


def mode(variant: str) -> Torch | None:
    """The adapter of a variant of `torch` that is a mode; None where it is none.

    Raises
    ------
    ImportError
        The mode cannot be used here; the message says what is missing.
    """
    if variant == "meta":
        return Meta()
    if variant == "fake":
        return Fake()
    name, _, backend = variant.partition("-")
    if name != "compile":
        return None
    backend = backend or "inductor"
    known = sorted({*torch.compiler.list_backends(), "aot_eager", "eager"})
    if backend not in known:
        raise ImportError(f"torch.compile has no back end {backend!r} here; there are {', '.join(known)}")
    if backend == "inductor" and not any(shutil.which(name) for name in ("c++", "g++", "clang++")):
        raise ImportError("inductor compiles to C++, and there is no C++ compiler on the path")
    return Compiled(backend)
