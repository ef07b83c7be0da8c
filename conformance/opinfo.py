"""PyTorch's own operator samples as programs: every sample and error input of `OpInfo`, over a few dtypes.

`python -m stridecheck.conformance.opinfo` takes them from torch, with its testing helpers (and `expecttest`), and
writes them as data, which runs read (`samples.py`). The samples are PyTorch's, the layouts those it thought of.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from fnmatch import fnmatchcase
from functools import partial
from typing import Any
from unittest.mock import patch

import torch
from torch.overrides import TorchFunctionMode, resolve_name

from .program import ITEMSIZES, Argument, DType, Input, MemoryFormat, Program, Ref, Slice, Step, Storage
from .samples import PATH, Sample, write

DTYPES = ("float32", "complex64", "int64", "bool", "bfloat16")
MAX_BYTES = 1 << 16
"""Storages larger than this are left out: a sample says no more with a million elements."""


class _CannotSay(Exception):
    """A sample that holds what a program cannot."""


def samples(operators: str = "*", dtypes: tuple[str, ...] = DTYPES) -> Iterator[Sample]:
    """Samples of the operators whose names match a glob, those that can be written as programs.

    The same torch gives the same samples, in the same order.
    """
    from torch.testing._internal.common_methods_invocations import op_db

    names = {str(getattr(torch, name)): name for name in ITEMSIZES if hasattr(torch, name)}
    for operator in sorted(op_db, key=lambda o: (o.name, o.variant_test_name)):
        if not fnmatchcase(operator.name, operators):
            continue
        for dtype in dtypes:
            wanted = getattr(torch, dtype)
            yield from _converted(operator, "sample", names, partial(_inputs, operator, wanted))
        yield from _converted(operator, "error", names, partial(_errors, operator))


def _inputs(operator: Any, dtype: Any) -> Iterator[Any]:
    if operator.supports_dtype(dtype, "cpu"):
        yield from unwatched(operator.sample_inputs, "cpu", dtype)


def _errors(operator: Any) -> Iterator[Any]:
    if operator.error_inputs_func is not None:
        for error in unwatched(operator.error_inputs, "cpu"):
            yield error.sample_input


def unwatched(make: Callable[..., Iterable[Any]], *args: Any) -> Iterator[Any]:
    """What an `OpInfo` makes, without what takes longest and is of no use here.

    That is a search through the whole stack for the test that asks, and a note of the stack for each kind of device
    whose numbers are to be drawn again one day: the processor's alone are drawn.
    """
    with ExitStack() as left_out:
        for module in ("common_utils", "opinfo.core"):
            left_out.enter_context(patch(f"torch.testing._internal.{module}.extract_test_fn", lambda: None))
        left_out.enter_context(patch("torch.manual_seed", torch.default_generator.manual_seed))
        yield from make(*args)


def _converted(operator: Any, kind: str, names: dict[str, str], make: Callable[[], Iterator[Any]]) -> Iterator[Sample]:
    convert = _program if _is_public(operator.name) else _recorded
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = list(make())
        except Exception:  # some samples need what is not installed here
            return
        for sample in made:
            try:
                yield Sample(operator.name, kind, convert(operator, sample, names))
            except _CannotSay:
                continue


def _is_public(name: str) -> bool:
    """Whether torch has a function or a method of an operator's name."""
    owner: Any = torch
    for part in name.split("."):
        owner = getattr(owner, part, None)
    return callable(owner) or hasattr(torch.Tensor, name)


def _program(operator: Any, sample: Any, names: dict[str, str]) -> Program:
    """A sample as a program of one step, the operator by its name."""
    builder = _Builder(names)
    args, kwargs = builder.arguments((sample.input, *sample.args), sample.kwargs)
    return builder.program((Step(operator.name.removeprefix("torch."), args, kwargs),))


def _recorded(operator: Any, sample: Any, names: dict[str, str]) -> Program:
    """A sample of an operator that has no name of its own, as the calls that its function makes."""
    builder = _Builder(names)
    builder.arguments((sample.input, *sample.args), sample.kwargs)  # written down before a call changes them
    try:
        with _Recorder(builder) as recorder:
            operator.op(sample.input, *sample.args, **sample.kwargs)
    except _CannotSay:
        raise
    except Exception as error:
        # A refusal is a step like any other; an operator that does not get as far has no kernel here.
        if not recorder.steps:
            raise _CannotSay(str(error)) from None
    return builder.program(tuple(recorder.steps))


class _Recorder(TorchFunctionMode):
    """Writes down calls of torch's functions as steps; what reads an attribute is none."""

    def __init__(self, builder: _Builder) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self._builder = builder

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(resolve_name(func))
        if name.endswith(".__get__"):
            return func(*args, **(kwargs or {}))
        builder = self._builder
        given = builder.arguments(args, kwargs or {})
        self.steps.append(Step(_program_name(name), *given))
        result = func(*args, **(kwargs or {}))
        builder.made(result)
        return result


def _program_name(name: str) -> str:
    """The name of a step for what torch calls a function.

    >>> _program_name("torch.Tensor.uniform_"), _program_name("aten.slice.Tensor")
    ('uniform_', 'ops.aten.slice.Tensor')
    """
    if not name.startswith("torch."):
        return f"ops.{name}"
    return name.removeprefix("torch.").removeprefix("Tensor.")


def _bytes_of(storage: Any) -> bytes:
    return ctypes.string_at(storage.data_ptr(), storage.nbytes()) if storage.nbytes() else b""


class _Builder:
    """Collects the storages and inputs of a sample while its arguments are written down."""

    def __init__(self, names: dict[str, str]) -> None:
        self.storages: list[Storage] = []
        self.inputs: list[Input] = []
        self._names = names
        self._storage_of: dict[int, int] = {}
        self._input_of: dict[int, Ref] = {}
        self._steps = 0
        self._alive: list[Any] = []

    def arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Argument, ...], tuple[tuple[str, Argument], ...]]:
        """Arguments of a call as a step has them."""
        named = tuple((key, self.argument(value)) for key, value in sorted(kwargs.items()))
        return tuple(self.argument(a) for a in args), named

    def made(self, result: Any) -> None:
        """Take note of what a step made: later steps name it by the step's slot."""
        slot, self._steps = len(self.inputs) + self._steps, self._steps + 1
        items = result if isinstance(result, (tuple, list)) else (result,)
        for number, item in enumerate(items):
            if isinstance(item, torch.Tensor) and id(item) not in self._input_of:
                self._input_of[id(item)] = Ref(slot) if item is result else Ref(slot, number)
                self._alive.append(item)

    def program(self, steps: tuple[Step, ...]) -> Program:
        """The program of these steps.

        Raises
        ------
        _CannotSay
            What they say makes no program.
        """
        program = Program(tuple(self.storages), tuple(self.inputs), steps)
        try:
            program.check()
        except ValueError as error:
            raise _CannotSay(str(error)) from None
        return program

    def argument(self, value: Any) -> Argument:
        """The argument as a program has it; tensors become inputs."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, (list, tuple)):
            return tuple(self.argument(item) for item in value)
        if isinstance(value, torch.dtype):
            return DType(self._named(value))
        if isinstance(value, torch.memory_format):
            return MemoryFormat(str(value).removeprefix("torch."))
        if isinstance(value, slice):
            return Slice(value.start, value.stop, value.step)
        if value is None or value is ... or type(value) in (bool, int, float, complex, str):
            return value
        raise _CannotSay(f"{type(value).__name__} as an argument")

    def _named(self, dtype: Any) -> str:
        if str(dtype) not in {f"torch.{name}" for name in ITEMSIZES}:
            raise _CannotSay(f"{dtype}")
        return str(dtype).removeprefix("torch.")

    def _tensor(self, x: Any) -> Ref:
        if id(x) in self._input_of:
            return self._input_of[id(x)]
        if self._steps:
            raise _CannotSay("a tensor from outside the steps")
        if (
            type(x) is not torch.Tensor
            or x.layout != torch.strided
            or x.is_conj()
            or x.is_neg()
            or x.device.type != "cpu"
        ):
            raise _CannotSay("a tensor that is more than strided")
        storage = x.untyped_storage()
        if storage.nbytes() > MAX_BYTES:
            raise _CannotSay("large")
        if storage._cdata not in self._storage_of:
            self._storage_of[storage._cdata] = len(self.storages)
            self.storages.append(Storage(storage.nbytes(), "literal", "owned", _bytes_of(storage)))
        self._alive += [x, storage]
        ref = Ref(len(self.inputs))
        self.inputs.append(
            Input(
                self._named(x.dtype),
                tuple(x.shape),
                tuple(x.stride()),
                int(x.storage_offset()),
                self._storage_of[storage._cdata],
                x.requires_grad,
            )
        )
        self._input_of[id(x)] = ref
        return ref


def main() -> None:
    """Write the samples of the torch that is here."""
    print(f"{write(samples(), torch.__version__.partition('+')[0]):,} samples in {PATH.name}")


if __name__ == "__main__":
    main()
