"""The kernel of view decisions: layouts one after the other, by the rule of `decisions.py`.

It is told addresses of eight-byte integers: of shapes, strides, ranks, requested shapes, their ranks, answers and
strides that are found, then the lengths of a row of shapes and of requested ones.
"""

from typing import Any

from .jit import part
from .llvm import field, peek, poke

_NEVER_FULL = (1 << 63) - 1


@part
def decide(descriptor: int, chunks: int, unused: int, first: int, last: int, tag: Any) -> int:
    """Decide layouts `first` up to `last`; `chunks` has room for a pair of integers for each length, and one more."""
    shapes, strides, ndims, targets = (
        field(descriptor, 0),
        field(descriptor, 1),
        field(descriptor, 2),
        field(descriptor, 3),
    )
    target_ndims, found, result = field(descriptor, 4), field(descriptor, 5), field(descriptor, 6)
    width, target_width = 8 * field(descriptor, 7), 8 * field(descriptor, 8)
    for i in range(first, last):
        shape, stride, ndim = shapes + i * width, strides + i * width, peek(ndims + 8 * i)
        target, target_ndim = targets + i * target_width, peek(target_ndims + 8 * i)
        to = result + i * target_width
        numel = wanted = 1
        for d in range(ndim):
            numel *= peek(shape + 8 * d)
        for d in range(target_ndim):
            wanted *= peek(target + 8 * d)
        answer = 1
        if numel != wanted:
            answer = -1
        elif ndim == 0:
            for d in range(target_ndim):
                poke(to + 8 * d, 1)
        elif numel == 0:
            _empty(shape, stride, ndim, target, target_ndim, to)
        else:
            _chunks(shape, stride, ndim, chunks)
            answer = _placed(chunks, target, target_ndim, to)
        poke(found + 8 * i, answer)
    return 0


@part
def _empty(shape: int, stride: int, ndim: int, target: int, target_ndim: int, result: int) -> None:
    same = ndim == target_ndim
    for d in range(target_ndim):
        same = same and peek(shape + 8 * d) == peek(target + 8 * d)
    step = 1
    for d in range(target_ndim - 1, -1, -1):
        poke(result + 8 * d, peek(stride + 8 * d) if same else step)
        step *= max(peek(target + 8 * d), 1)


# Which dimensions merge is random to the processor, and a branch that it guesses wrong costs as much as ten of these
# lines: so nothing below branches on it, and each length is asked once whatever the last one was.


@part
def _chunks(shape: int, strides: int, ndim: int, chunks: int) -> None:
    """Dimensions that lie as one, innermost first: the stride and the number of elements of each such chunk."""
    base, block, chunk = peek(strides + 8 * ndim - 8), peek(shape + 8 * ndim - 8), chunks
    poke(chunk, base)
    poke(chunk + 8, block)
    for d in range(ndim - 2, -1, -1):
        length, stride = peek(shape + 8 * d), peek(strides + 8 * d)
        merges = (length == 1) | (stride == block * base)
        chunk += 16 * (1 - merges)
        base = base if merges else stride
        block = block * length if merges else length
        poke(chunk, base)
        poke(chunk + 8, block)
    poke(chunk + 24, _NEVER_FULL)  # a shape that does not fit stays here


@part
def _placed(chunks: int, target: int, target_ndim: int, result: int) -> Any:
    """1 and the strides where each chunk is filled exactly by some of the target's lengths; else 0 and zeros."""
    chunk, taken, fits = chunks, 1, True
    for d in range(target_ndim - 1, -1, -1):
        length = peek(target + 8 * d)
        # Only the first chunk can hold one element: lengths of 1 merge. So no chunk is ever passed over.
        turns = (taken >= peek(chunk + 8)) & (length != 1)
        fits &= (taken == peek(chunk + 8)) | (not turns)
        chunk += 16 * turns
        taken = 1 if turns else taken
        poke(result + 8 * d, taken * peek(chunk))
        taken *= length
    fits &= taken == peek(chunk + 8)
    for d in range(target_ndim):
        poke(result + 8 * d, peek(result + 8 * d) * fits)
    return int(fits)
