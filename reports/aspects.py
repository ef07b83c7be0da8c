"""The sides of an observation that are judged apart. Standard library only: worker processes read it."""

from __future__ import annotations

from collections.abc import Mapping

ASPECTS: Mapping[str, str] = {
    "raises": "whether the step raises an error",
    "error-kind": "which kind of error, where the library's error could be classified",
    "shape": "shape and dtype of the result",
    "values": "the elements",
    "sharing": "view or copy: whose memory the result lies in, and whether writes go through",
    "strides": "strides of dimensions longer than 1, of tensors that are not empty",
    "layout": "every stride and the offset, meaningful or not",
    "contiguity": "is_contiguous in each memory format",
    "storage": "every specified byte of every storage, and the guard bytes around it",
    "flags": "version counter, base, conjugate and negative bits, requires_grad",
}
"""Every aspect with what it covers, in the order in which they are shown."""
