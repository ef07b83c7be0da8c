"""Libraries with one bug each, as files: PyTorch's names over the reference, one function wrong.

Each file is adapter and library in one, as a third party's may be: its idiom imports that very file, so the scripts of
its failures run on the library with the bug.
"""

from __future__ import annotations

HEAD = '''
import contextlib
import ctypes
import sys
from pathlib import Path

from stridecheck import reference_impl
from stridecheck.conformance.adapters.reference import Reference
from stridecheck.conformance.program import ITEMSIZES, extent
from stridecheck.reference_impl import Tensor


def __getattr__(name):
    return getattr(reference_impl, name)


def reach(x):
    """One past the last byte that a tensor addresses."""
    return extent(tuple(x.shape), tuple(x.stride()), x.storage_offset())[1] * x.element_size()

'''
TAIL = """

setattr(Tensor, NAME, wrong)


class Planted(Reference):
    name = Path(__file__).stem
    imports = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import {Path(__file__).stem} as torch"


adapter = Planted
"""

BUGS = {
    "clone_ignores_offset": """
NAME, right = "clone", Tensor.clone


def wrong(self, **keywords):
    return right(self.as_strided(self.shape, self.stride(), 0), **keywords)
""",
    "contiguous_keeps_channels_last": """
NAME, right = "contiguous", Tensor.contiguous


def wrong(self, **keywords):
    if not keywords and self.is_contiguous(memory_format=reference_impl.channels_last):
        return self
    return right(self, **keywords)
""",
    "add_writes_one_too_far": """
NAME, right = "add_", Tensor.add_


def wrong(self, *rest, **named):
    result, storage = right(self, *rest, **named), self.untyped_storage()
    if self.numel() and reach(self) < storage.nbytes():
        ctypes.memset(storage.data_ptr() + reach(self), 0, 1)
    return result
""",
    "select_off_by_one_in_five_dims": """
NAME, right = "select", Tensor.select


def wrong(self, dim=None, index=None, axis=None):
    dim = axis if dim is None else dim
    if self.dim() == 5 and -5 <= dim < 5 and 0 <= index < self.shape[dim] - 1:
        index += 1
    return right(self, dim, index)
""",
    "refused_copy_changes_state": """
NAME, right = "copy_", Tensor.copy_


def wrong(self, *rest, **named):
    try:
        return right(self, *rest, **named)
    except Exception:
        with contextlib.suppress(Exception):  # of a dtype that nothing but bits can be read from
            self.zero_()
        raise
""",
    "neg_of_nothing_is_itself": """
NAME, right = "neg", Tensor.neg


def wrong(self):
    return self if self.numel() == 1 else right(self)
""",
}
"""Name -> the wrong function, and the name of the method that it takes the place of."""

CRASHES = {
    "contiguous_reads_address_zero": """
NAME, right = "contiguous", Tensor.contiguous


def wrong(self, **keywords):
    if self.dim() >= 3 and self.numel() > 4 and not self.is_contiguous():
        ctypes.string_at(0)
    return right(self, **keywords)
""",
}
"""The same for bugs that end the process with a segmentation fault."""


def source(bug: str) -> str:
    """The whole file of a bug's library."""
    return HEAD + (BUGS | CRASHES)[bug] + TAIL
