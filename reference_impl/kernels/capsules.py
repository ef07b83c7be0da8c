"""What DLPack calls when memory is given back, as machine code.

It may be called while an exception is on its way, where Python code would lose that exception, and from any thread. So
nothing is freed here: a structure is marked as given back in its field `manager_ctx`, and let go of later.
"""

from numba import cfunc, types

from .llvm import peek, peek_byte, poke

_POINTER, _NAME = 16, 24
"""Where CPython's capsules have their pointer and the address of their name, in bytes."""
CONTEXT, CONTEXT_VERSIONED = 48, 8
"""Where `manager_ctx` is in the two structures of DLPack, in bytes."""
_LENGTH = len("dltensor")


@cfunc(types.void(types.int64), cache=True)
def given_back(held: int) -> None:
    """The deleter of a structure without a version."""
    poke(held + CONTEXT, 1)


@cfunc(types.void(types.int64), cache=True)
def given_back_versioned(held: int) -> None:
    """The deleter of a structure with a version."""
    poke(held + CONTEXT_VERSIONED, 1)


@cfunc(types.void(types.int64), cache=True)
def destroyed(capsule: int) -> None:
    """The destructor of a capsule: one that nobody consumed still has the name that it was made with."""
    name = peek(capsule + _NAME)
    if peek_byte(name) == 100:  # the d of dltensor; consumers write used_ before it
        held = peek(capsule + _POINTER)
        poke(held + (CONTEXT if peek_byte(name + _LENGTH) == 0 else CONTEXT_VERSIONED), 1)
