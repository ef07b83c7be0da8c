"""What is wrong with values that are no plain tensors, and with what tensors say of themselves or have recorded.

Declared after the corpus had been drawn, in families that no mutant was in: `docs/mutants.md` has what came of it.
"""

from __future__ import annotations

from typing import Any

from ...program import Slice
from ...situations import (
    CONJUGATED,
    EXPANDED,
    GRAD,
    NEGATED,
    SCALAR,
    VIEW,
    Situation,
    dtype,
    is_argument,
    on_operand,
)
from ..call import Call
from ..mutant import Mutant
from ..wrongs import asked, copied, indexed

VIEWS = "select narrow __getitem__ transpose permute view unsqueeze squeeze expand"
BUFFERS = "UntypedStorage.from_buffer TypedStorage.from_buffer FloatStorage.from_buffer ShortStorage.from_buffer"
BY_SLICE = Situation("a slice", lambda e: isinstance(e.argument("index"), Slice))
BY_NUMBER_FROM_END = Situation(
    "a number counted from the end", lambda e: type(e.argument("index")) is int and e.argument("index") < 0
)


def _turned(op: str) -> Any:
    """It is done to what has the bit turned."""
    return lambda call: call.on(call.do(op, call.x))


def _keeps_bit(call: Call) -> Any:
    """The copy is stored unresolved, and has the bit."""
    return call.do("conj", call.on(call.do("conj", call.x)))


def _in_memory_once(call: Call) -> int:
    """Elements that there are in memory."""
    found = 1
    for size, stride in zip(call.before.shape, call.before.strides, strict=True):
        found *= size if stride or not size else 1
    return found


MUTANTS = (
    # Storages.
    Mutant("storage.from-end", "A storage's index counted from the end is one too far.", "UntypedStorage.__getitem__",
           indexed(lambda i: i - 1 if type(i) is int and i < -1 else i), BY_NUMBER_FROM_END),
    Mutant("storage.slice-copies", "A slice of a storage is a copy.", "UntypedStorage.__getitem__",
           lambda c: c.do("UntypedStorage.clone", c.right()), BY_SLICE, like="numpy/numpy#30307"),
    Mutant("storage.slice-start", "A slice of a storage starts one byte later.", "UntypedStorage.__getitem__",
           indexed(lambda i: slice((i.start or 0) + 1, i.stop) if isinstance(i, slice) else i), BY_SLICE),
    Mutant("storage.one-byte-more", "UntypedStorage(n) has a byte more.", "UntypedStorage",
           asked(size=lambda c, x: c.event.argument("size") + 1),
           Situation("a number of bytes", lambda e: type(e.argument("size")) is int and e.argument("size") >= 0)),
    Mutant("typed.float-is-itself", "float() of a storage of float32 is that storage.", "TypedStorage.float",
           lambda c: c.x),
    Mutant("typed.cpu-copies", "cpu() of a typed storage copies.", "TypedStorage.cpu",
           lambda c: c.do("TypedStorage.clone", c.x)),
    Mutant("typed.untyped-copies", "untyped() of a typed storage copies.", "TypedStorage.untyped",
           lambda c: c.do("UntypedStorage.clone", c.right())),
    Mutant("from_buffer.order", "from_buffer takes every byte order for the machine's.", BUFFERS,
           asked(byte_order=lambda c, x: "native"), is_argument("byte_order", "big")),
    Mutant("from_buffer.offset", "from_buffer starts at the buffer's beginning.", BUFFERS,
           asked(offset=lambda c, x: 0), Situation("offset", lambda e: bool(e.argument("offset"))),
           like="numpy/numpy#13036"),
    Mutant("from_file.not-shared", "A shared file is mapped privately.",
           "UntypedStorage.from_file TypedStorage.from_file from_file", asked(shared=lambda c, x: False),
           is_argument("shared", True)),
    Mutant("share_memory_.answers-copy", "share_memory_ answers a copy.", "share_memory_", copied),
    # What tensors say of themselves.
    Mutant("element_size.of-complex", "element_size of complex numbers is that of a part.", "element_size itemsize",
           lambda c: c.right() // 2, dtype("complex64", "complex128")),
    Mutant("numel.of-expanded", "numel of an expanded tensor counts what is in memory.", "numel", _in_memory_once,
           EXPANDED),
    Mutant("dim.of-scalar", "A 0-dim tensor says that it has one dimension.", "dim ndim", lambda c: 1, SCALAR),
    Mutant("is_leaf.always", "Every tensor says that it is a leaf.", "is_leaf", lambda c: True),
    Mutant("is_neg.never", "is_neg says no.", "is_neg", lambda c: False),
    Mutant("is_same_size.by-count", "is_same_size compares numbers of elements.", "is_same_size",
           lambda c: c.do("numel", c.args[0]) == c.do("numel", c.args[1])),
    Mutant("requires_grad.of-views", "Views say that they require no grad.", "requires_grad", lambda c: False, VIEW),
    Mutant("q_scale.whole", "q_scale is rounded down.", "q_scale", lambda c: float(int(c.right()))),
    # Bits and gradients.
    Mutant("conj.written-through", "Writes through a conjugate bit store what was written.",
           "fill_ mul_ add_ copy_ __setitem__", _turned("conj"), CONJUGATED),
    Mutant("conj.clone-keeps", "clone keeps the conjugate bit.", "clone", _keeps_bit, CONJUGATED),
    Mutant("neg.views-lose", "Views lose the negative bit.", VIEWS, _turned("_neg_view"), NEGATED),
    Mutant("grad.clone-detaches", "clone and contiguous copies require no grad.", "clone",
           lambda c: c.do("detach", c.right()), GRAD),
    Mutant("grad.views-detach", "Views of what requires grad require none.", VIEWS,
           lambda c: c.on(c.do("detach", c.x)), GRAD),
    Mutant("grad.integers", "Comparisons of what requires grad are refused.", "eq ne lt gt argmax argmin",
           lambda c: c.do("requires_grad_", c.right()), GRAD & on_operand("real", lambda x: x.dtype == "float32")),
)  # fmt: skip
