"""Programs of one line on torch and on the reference: the same error or result, layouts, and what `o` is afterwards.

All but the last statement of a line make tensors; the last one is compared.
"""

import warnings

import numpy as np
import stridecheck.reference_impl as ref
import torch
from stridecheck.reference_impl import shadow

from .agreement import exception_type


def told(x):
    """A result in terms that both sides share, and which of its values the reference does not specify."""
    if isinstance(x, (tuple, list)):
        parts = [told(y) for y in x]
        return [p[0] for p in parts], [p[1] for p in parts], [p[2] for p in parts]
    if not isinstance(x, (torch.Tensor, ref.Tensor)):
        return x if isinstance(x, (bool, int, float, complex, str, type(None))) else str(x), None, None
    marks = shadow.marks_of(x) if isinstance(x, ref.Tensor) else None
    layout = (str(x.dtype), tuple(x.shape), tuple(x.stride()), x.storage_offset(), x._version, x.is_leaf)
    return layout, x.detach().tolist(), marks


def outcome(program, lib):
    """The error or the result of the last statement, and what `o` is afterwards."""
    names = {"T": lib, "F": lib.nn.functional, "np": np}
    *before, last = program.split(";")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for statement in before:
            exec(statement.strip(), names)
        try:
            found, error = eval(last.strip(), names), None
        except Exception as e:
            found, error = None, e
    return error, told([found, names.get("o")])


def agrees(ours, theirs, marks):
    """Whether values are the same where they are specified."""
    if isinstance(marks, list):
        return all(agrees(a, b, m) for a, b, m in zip(ours, theirs, marks, strict=True))
    if marks is None:
        return repr(ours) == repr(theirs)
    if (marks == shadow.UNSPECIFIED).any():
        return True
    return np.allclose(np.array(ours), np.array(theirs), rtol=1e-2, equal_nan=True)


def differences(programs):
    """What torch and the reference do otherwise, of programs in lines."""
    differ = []
    for program in filter(None, map(str.strip, programs.splitlines())):
        theirs, (layout, values, _) = outcome(program, torch)
        ours, (own_layout, own_values, marks) = outcome(program, ref)
        if (theirs and exception_type(theirs)) is not (ours and exception_type(ours)):
            differ.append(f"{program}: torch {theirs!r} against {ours!r}")
        elif ours is not None and not hasattr(ours, "kind"):
            differ.append(f"{program}: error without a kind: {ours!r}")
        elif layout != own_layout or not agrees(own_values, values, marks):
            differ.append(f"{program}: torch {layout} {values} against {own_layout} {own_values}")
    return differ
