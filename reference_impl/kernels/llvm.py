"""Memory by address: loads, stores and hints that Numba has no words for, as LLVM instructions.

The item that is moved is told by the *type* of an argument (`TAGS`), so that one kernel compiles once for each item
size and register width, and its machine code can be kept on disk.
"""

import platform
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from . import machine
from .jit import instruction, part
from .plans import LARGE_FIRST, LINE

_X86 = platform.machine() in ("x86_64", "AMD64")

TAGS: dict[tuple[int | str, ...], Any] = {
    (1, 64): np.uint8(0), (2, 64): np.uint16(0), (4, 64): np.uint32(0), (8, 64): np.uint64(0),
    (16, 64): np.complex128(0),
    (1, 32): np.int8(0), (2, 32): np.int16(0), (4, 32): np.int32(0), (8, 32): np.int64(0), (16, 32): np.complex64(0),
    **{(name,): np.zeros((), name)[()] for name in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")},
}  # fmt: skip
"""A scalar whose type says item size and register width, both in bytes: unsigned means registers of 64 bytes; or one of
the numbers that a dtype names."""
MOST_LOOPS = 80
"""Loops of an odometer, at most: NumPy's arrays have 64 dimensions."""

_OF_TYPE = {
    types.uint8: (1, 64), types.uint16: (2, 64), types.uint32: (4, 64), types.uint64: (8, 64),
    types.complex128: (16, 64),
    types.int8: (1, 32), types.int16: (2, 32), types.int32: (4, 32), types.int64: (8, 32), types.complex64: (16, 32),
}  # fmt: skip

I32 = ir.IntType(32)
I64 = ir.IntType(64)
_POINTER = ir.IntType(8).as_pointer()


def meaning(tag: Any) -> tuple[int, int]:
    """Item size and register width, in bytes, that a word's Numba type stands for."""
    return _OF_TYPE[tag]


def item_type(item: int) -> Any:
    """The LLVM integer of an item."""
    return ir.IntType(8 * item)


def vector(nbytes: int, item: int) -> Any:
    """The LLVM vector of items that fills so many bytes."""
    return ir.VectorType(item_type(item), nbytes // item)


def constant(value: int) -> Any:
    """An address or an offset known when the kernel is compiled."""
    return ir.Constant(I64, value)


def load(builder: Any, address: Any, kind: Any) -> Any:
    """Load from any address, aligned or not."""
    return builder.load(builder.inttoptr(address, kind.as_pointer()), align=1, typ=kind)


def store(builder: Any, value: Any, address: Any, streamed: int = 0) -> None:
    """Store to any address; or past the caches, to an address that is a multiple of `streamed` bytes."""
    instruction = builder.store(value, builder.inttoptr(address, value.type.as_pointer()), align=streamed or 1)
    if streamed:
        instruction.set_metadata("nontemporal", builder.module.add_metadata([ir.Constant(I32, 1)]))


def shuffle(builder: Any, a: Any, b: Any, lanes: Any) -> Any:
    """Lanes of two vectors, those of the second counted on from the first's."""
    mask = ir.Constant(ir.VectorType(I32, len(lanes)), [ir.Constant(I32, lane) for lane in lanes])
    return builder.shuffle_vector(a, b, mask)


def emit_prefetch(builder: Any, address: Any, write: bool = False, level: int = 2) -> None:
    """Ask for the line of an address, which need not exist, into the second-level cache: a tile outgrows the first.

    `level`, as LLVM counts: 0 for what is read once, into the first-level cache alone; 3 for the first-level cache.
    """
    name = "llvm.prefetch.p0"
    kind = ir.FunctionType(ir.VoidType(), [_POINTER, I32, I32, I32])
    function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    builder.call(
        function,
        [builder.inttoptr(address, _POINTER), *[ir.Constant(I32, x) for x in (int(write), level, 1)]],
    )


@instruction
def peek(typingctx: Any, address: Any) -> Any:
    """The 8-byte integer at an address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return load(builder, args[0], I64)

    return types.intp(types.intp), generate


@instruction
def field(typingctx: Any, descriptor: Any, number: Any) -> Any:
    """One of the 8-byte integers of a descriptor."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return load(builder, builder.add(args[0], builder.mul(args[1], constant(8))), I64)

    return types.intp(types.intp, types.intp), generate


@instruction
def peek_byte(typingctx: Any, address: Any) -> Any:
    """The byte at an address, from 0 to 255."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(load(builder, args[0], item_type(1)), I64)

    return types.intp(types.intp), generate


@instruction
def poke(typingctx: Any, address: Any, value: Any) -> Any:
    """Write an 8-byte integer to an address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        store(builder, args[1], args[0])
        return context.get_dummy_value()

    return types.void(types.intp, types.intp), generate


def on_stack(nbytes: int) -> Any:
    """An intrinsic that gives the address of so many bytes on the stack of the function that asks for them."""

    @instruction
    def place(typingctx: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            memory = cgutils.alloca_once(builder, ir.ArrayType(I64, -(-nbytes // 8)))  # type: ignore[no-untyped-call]
            return builder.ptrtoint(memory, I64)

        return types.intp(), generate

    return place


odometer = on_stack(8 * MOST_LOOPS)
"""The address of an odometer, which has a place for each loop."""


def _called(name: str, numbers: int) -> Any:
    """An intrinsic that calls a C function of so many words, which answers with one."""
    words = [types.intp] * numbers

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(I64, [I64] * numbers)
        return builder.call(builder.module.globals.get(name) or ir.Function(builder.module, kind, name), args)

    if numbers == 0:

        @instruction
        def call(typingctx: Any) -> Any:
            return types.intp(), generate

    elif numbers == 1:

        @instruction
        def call(typingctx: Any, a: Any) -> Any:
            return types.intp(*words), generate

    else:

        @instruction
        def call(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
            return types.intp(*words), generate

    return call


malloc, free = _called("malloc", 1), _called("free", 1)
memmove, memset = _called("memmove", 3), _called("memset", 3)
py_bool = _called("PyBool_FromLong", 1)
release_gil, acquire_gil = _called("PyEval_SaveThread", 0), _called("PyEval_RestoreThread", 1)
"""Functions of the C library and of CPython; the last two let go of the interpreter's lock and take it again."""


@instruction
def call_at(typingctx: Any, address: Any, a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
    """Call the kernel at an address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(I64, [I64] * 5)
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])

    return types.intp(*[types.intp] * 6), generate


@instruction
def prefetch(typingctx: Any, address: Any) -> Any:
    """Ask for the line of an address, which need not exist."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit_prefetch(builder, args[0])
        return context.get_dummy_value()

    return types.void(types.intp), generate


@instruction
def prefetch_once(typingctx: Any, address: Any) -> Any:
    """Ask for the line of an address, which need not exist and will be read once.

    Past the second-level cache, but where the first is small: there fewer lines can be under way to it (measured: every
    2nd row 2.0 times a dense copy past the second, 1.5 through it). Not on Intel's processors, where lines that are
    asked for past the second level come from memory one after the other (a dense copy of 64 MB: 10.5 ms, 4.0 through
    it).
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        past = machine.first_bytes() >= LARGE_FIRST and not machine.is_intel()
        emit_prefetch(builder, args[0], level=0 if past else 2)
        return context.get_dummy_value()

    return types.void(types.intp), generate


@instruction
def prefetch_for_write(typingctx: Any, address: Any) -> Any:
    """Ask for the line of an address, to be written."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit_prefetch(builder, args[0], write=True, level=3)
        return context.get_dummy_value()

    return types.void(types.intp), generate


@instruction
def move(typingctx: Any, src: Any, dst: Any, tag: Any) -> Any:
    """Move one item."""
    kind = item_type(meaning(tag)[0])

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        store(builder, load(builder, args[0], kind), args[1])
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, tag), generate


@part
def on_line(address: int) -> Any:
    """The first address from there on at which a line begins."""
    return (address + LINE - 1) & -LINE


@instruction
def size_of(typingctx: Any, tag: Any) -> Any:
    """Bytes of an item, known when the kernel is compiled."""
    item = meaning(tag)[0]

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return constant(item)

    return types.intp(tag), generate


@instruction
def width_of(typingctx: Any, tag: Any) -> Any:
    """Bytes of a register, known when the kernel is compiled."""
    width = meaning(tag)[1]

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return constant(width)

    return types.intp(tag), generate


@instruction
def fence(typingctx: Any) -> Any:
    """Make streamed stores visible before what is stored afterwards."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if _X86:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(builder.module.declare_intrinsic("llvm.x86.sse.sfence", (), kind), [])
        else:
            builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), generate


def _copier(nbytes: int, number: int, streamed: bool) -> Any:
    """An intrinsic that copies `number` vectors of `nbytes` bytes: all are loaded before the first is stored."""

    @instruction
    def copy(typingctx: Any, src: Any, dst: Any) -> Any:
        kind = vector(nbytes, 1)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            offsets = [constant(k * nbytes) for k in range(number)]
            values = [load(builder, builder.add(args[0], at), kind) for at in offsets]
            for value, at in zip(values, offsets, strict=True):
                store(builder, value, builder.add(args[1], at), nbytes if streamed else 0)
            return context.get_dummy_value()

        return types.void(types.intp, types.intp), generate

    return copy


copy_1, copy_2, copy_4, copy_8, copy_16, copy_32, copy_64 = [_copier(1 << k, 1, False) for k in range(7)]
copy_256 = _copier(64, 4, False)
stream_64 = _copier(64, 1, True)
stream_256 = _copier(64, 4, True)
"""Copies of a fixed number of bytes; `stream_*` past the caches, to a multiple of 64 bytes."""
