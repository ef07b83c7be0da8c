"""Layout conversions of 64 MB: the cases that the kernels of the reference are measured by, beside torch and NumPy.

`stridecheck bench --cases 'copy.*'` times them; a run that names no cases leaves them out, since they take minutes. To
widen them, add a line to `CONVERSIONS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from stridecheck.conformance.program import ITEMSIZES, Input, Program, Ref, Slice, Step, Storage
from stridecheck.reference_impl.layout import contiguous_strides

from .cases import Case
from .operands import Shape

MEGABYTES = 64


@dataclass(frozen=True, slots=True)
class Conversion:
    """One conversion: the row-major memory that is read, and the view of it that is copied to row-major memory."""

    says: str
    memory: Callable[[int], Shape]
    """Shape of the memory for a number of elements that the copy is to have, roughly."""
    order: tuple[int, ...] = ()
    """Permutation."""
    view: Step | None = None
    """The view, where it is no permutation."""


def _square(n: int) -> Shape:
    side = max(64, math.isqrt(n) // 64 * 64)
    return side, side


def _images(channels: int, side: int, last: bool) -> Callable[[int], Shape]:
    def shape(n: int) -> Shape:
        batch = max(1, n // (channels * side * side))
        return (batch, side, side, channels) if last else (batch, channels, side, side)

    return shape


def _rows(n: int, factor: int = 1) -> Shape:
    side = math.isqrt(n)
    return side, factor * side


def _odd(n: int) -> Shape:
    side = int(n**0.2) - 1 | 1
    return (side,) * 5


def _powers(ndim: int) -> Callable[[int], Shape]:
    """Lengths that are powers of two and make about `n` elements, the longer ones first."""

    def shape(n: int) -> Shape:
        bits = (n + n // 16).bit_length() - 1
        return tuple(1 << bits // ndim + (d < bits % ndim) for d in range(ndim))

    return shape


def _sliced(*slices: Slice) -> Step:
    return Step("__getitem__", (Ref(0), slices))


_ALL = Slice()
_NHWC, _NCHW = (0, 2, 3, 1), (0, 3, 1, 2)

CONVERSIONS: Mapping[str, Conversion] = {
    "transpose": Conversion("a matrix transposed", _square, (1, 0)),
    "nchw_to_nhwc_c3": Conversion("images of 3 channels", _images(3, 224, False), _NHWC),
    "nhwc_to_nchw_c3": Conversion("images of 3 channels, back", _images(3, 224, True), _NCHW),
    "nchw_to_nhwc_c64": Conversion("images of 64 channels", _images(64, 56, False), _NHWC),
    "nhwc_to_nchw_c64": Conversion("images of 64 channels, back", _images(64, 56, True), _NCHW),
    "nchw_to_nhwc_c256": Conversion("images of 256 channels", _images(256, 28, False), _NHWC),
    "nhwc_to_nchw_c256": Conversion("images of 256 channels, back", _images(256, 28, True), _NCHW),
    "heads": Conversion("permute(0, 2, 1, 3) of attention heads", lambda n: (16, 256, n >> 18, 64), (0, 2, 1, 3)),
    "keys": Conversion("permute(0, 2, 3, 1) of attention heads", lambda n: (16, n >> 19, 512, 64), (0, 2, 3, 1)),
    "reverse_4d": Conversion("four dimensions reversed", _powers(4), (3, 2, 1, 0)),
    "reverse_5d_odd": Conversion("five equal dimensions of odd length reversed", _odd, (4, 3, 2, 1, 0)),
    "permute_204153": Conversion("six dimensions", _powers(6), (2, 0, 4, 1, 5, 3)),
    "permute_520413": Conversion("six dimensions", _powers(6), (5, 2, 0, 4, 1, 3)),
    "permute_031524": Conversion("six dimensions", _powers(6), (0, 3, 1, 5, 2, 4)),
    "step_2": Conversion("every second column", lambda n: _rows(n, 2), view=_sliced(_ALL, Slice(None, None, 2))),
    "step_4": Conversion("every fourth column", lambda n: _rows(n, 4), view=_sliced(_ALL, Slice(None, None, 4))),
    "step_rows": Conversion(
        "every second row", lambda n: (2 * math.isqrt(n), math.isqrt(n)),
        view=_sliced(Slice(None, None, 2)),
    ),
    "narrow": Conversion(
        "columns from the middle of each row", lambda n: (math.isqrt(n), math.isqrt(n) + 80),
        view=_sliced(_ALL, Slice(40, -40)),
    ),
    "offset": Conversion("all but the first element", lambda n: (n + 1,), view=_sliced(Slice(1, None))),
    "rows_repeated": Conversion("one row, repeated", lambda n: (1, math.isqrt(n)), view=None),
    "columns_repeated": Conversion("one column, repeated", lambda n: (math.isqrt(n), 1), view=None),
}  # fmt: skip
"""Conversions by the name that they have in a case."""

DTYPES = ("uint8", "int16", "float32", "float64")


@dataclass(frozen=True)
class ConversionCase(Case):
    """A conversion as a case: `copy.layout/transpose/float32/64MB`."""

    @property
    def _conversion(self) -> Conversion:
        return CONVERSIONS[self.layout]

    @property
    def timed(self) -> int:
        """The copy alone."""
        return 1

    @property
    def says(self) -> str:
        """What is done."""
        return f"copy_ into a row-major tensor; {self._conversion.says}"

    @property
    def is_quick(self) -> bool:
        """Never."""
        return False

    @cached_property
    def _memory(self) -> Shape:
        return self._conversion.memory(MEGABYTES * 1_000_000 // ITEMSIZES[self.dtype])

    @property
    def shape(self) -> Shape:
        """Shape of what is copied."""
        memory, conversion = self._memory, self._conversion
        if conversion.order:
            return tuple(memory[d] for d in conversion.order)
        if conversion.view is None:
            return (max(memory),) * len(memory)
        slices = conversion.view.args[1]
        assert isinstance(slices, tuple)
        lengths = list(memory)
        for d, cut in enumerate(slices):
            assert isinstance(cut, Slice)
            lengths[d] = len(range(*slice(cut.start, cut.stop, cut.step).indices(memory[d])))
        return tuple(lengths)

    @cached_property
    def program(self) -> Program:
        """The program: memory, the view of it, the target, and the copy."""
        item, conversion = ITEMSIZES[self.dtype], self._conversion
        if conversion.order:
            view = Step("permute", (Ref(0), conversion.order))
        else:
            view = conversion.view or Step("expand", (Ref(0), self.shape))
        inputs = [
            Input(self.dtype, shape, contiguous_strides(shape), 0, number)
            for number, shape in enumerate((self._memory, self.shape))
        ]
        storages = [Storage(math.prod(entry.shape) * item, "ramp1") for entry in inputs]
        steps = (view, Step("copy_", (Ref(1), Ref(2))))
        return Program(tuple(storages), tuple(inputs), steps, (f"bench:{self.name}",))


def conversions() -> Sequence[ConversionCase]:
    """Every conversion in every dtype of its sizes."""
    return [ConversionCase("copy.layout", name, dtype, f"{MEGABYTES}MB") for dtype in DTYPES for name in CONVERSIONS]
