"""One expression on torch and on the reference: the same value, or the same type of exception, and a kind."""

import warnings
from pickle import UnpicklingError

import numpy as np
import stridecheck.reference_impl as ref
import torch

from .twins import base_of, short

# Exceptions that twins' programs never raise, before those that they do.
MORE = (
    AssertionError, AttributeError, OverflowError, KeyError, ModuleNotFoundError, EOFError, FileNotFoundError,
    IsADirectoryError, PermissionError, OSError, UnpicklingError,
)  # fmt: skip


def exception_type(error):
    """The builtin type of an exception, ours or torch's."""
    return next((b for b in MORE if isinstance(error, b)), base_of(error))


def plain(x):
    """A value in terms that both sides share: storages by bytes, tensors by layout and bytes."""
    if isinstance(x, (torch.UntypedStorage, ref.UntypedStorage)):
        return "untyped", str(x.device), x.nbytes() if x.device.type == "meta" else x.tolist()
    if isinstance(x, (torch.TypedStorage, ref.TypedStorage)):
        return "typed", str(x.dtype), plain(x.untyped())
    if isinstance(x, (torch.Tensor, ref.Tensor)):
        if x.layout == torch.strided or isinstance(x, ref.Tensor):
            return (
                "tensor", str(x.dtype), tuple(x.shape), tuple(x.stride()), x.storage_offset(), x.requires_grad,
                x.is_leaf, x.is_conj(), x.is_neg(), x._is_view(), x._version, plain(x.untyped_storage()),
            )  # fmt: skip
        return "sparse"
    if isinstance(x, np.ndarray):
        return "array", x.dtype.str, x.shape, x.strides, x.flags.writeable, x.tolist()
    if isinstance(x, (list, tuple)):
        return [plain(item) for item in x]
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (bool, int, float, complex, str, bytes, type(None))):
        return x
    return str(x)


def run(expression, lib, names):
    """The value of an expression over one library, or its exception."""
    scope = {
        "T": lib, "U": lib.UntypedStorage, "TS": lib.TypedStorage, "F": lib.FloatStorage, "np": np, **names,
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(eval(expression, scope)), None
        except Exception as e:
            return None, e


def disagreement(expression, make=lambda lib: {}):
    """What differs between torch and the reference, or None; `make` gives each library's names."""
    (tv, te), (rv, re_) = (run(expression, lib, make(lib)) for lib in (torch, ref))
    if (te is None) != (re_ is None):
        return f"{expression}: torch {short(te) if te else tv} against {short(re_) if re_ else rv}"
    if te is not None:
        if exception_type(te) is not exception_type(re_):
            return f"{expression}: torch {short(te)} against {short(re_)}"
        if not hasattr(re_, "kind"):
            return f"{expression}: error without a kind: {re_!r} (torch {short(te)})"
        return None
    same = tv == rv or repr(tv) == repr(rv)
    return None if same else f"{expression}: torch {tv!r} against {rv!r}"
