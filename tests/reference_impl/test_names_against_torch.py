"""Arguments have PyTorch's names: those of its schemas, and NumPy's where its parser takes them."""

import importlib
import inspect
import types

import pytest
import torch

from stridecheck import reference_impl as ref

NAMESPACES = {
    "torch": ("", ref, torch),
    "Tensor": ("", ref.Tensor, torch.Tensor),
    "nn.functional": ("", ref.nn.functional, torch.nn.functional),
    **{
        name: (f"{name}_", importlib.import_module(f"stridecheck.reference_impl.{name}"), getattr(torch, name))
        for name in ("linalg", "special", "fft")
    },
}
QUANTISED = {"int_repr", "qscheme", *(f"q_{of}" for of in ("scale", "zero_point")), *(
    f"q_per_channel_{of}" for of in ("axis", "scales", "zero_points")
)}  # fmt: skip
"""Methods that refuse every tensor but a quantised one, whatever they are given."""
SPARSE = {"is_coalesced", "coalesce", "indices", "values", *(f"{of}_indices" for of in ("crow", "col", "ccol", "row"))}
"""Likewise, every tensor but a sparse one."""
NOT_IN_PYTHON = {
    *("cudnn_enable", "cudnn_enabled"),  # told by the library itself
    *("out_dtype", "input_scale", "scale"),  # of kernels for other devices
    *(
        "dtype",
        "layout",
        "device",
        "requires_grad",
        "pin_memory",
        "memory_format",
    ),  # of `to` and `*_like`, by their own tests
    *("scalar", "scalar1", "scalar2"),  # of `result_type`, which takes numbers and tensors in any place
    "generator",  # of `rrelu`, which draws
    *("src", "tensors"),  # of overloads that Python does not see, of `copy_`, or as a method, of `dequantize`
}


def schema_names(name, *, method):
    """Arguments of a native function over its overloads; results that are written into are not among them."""
    found = set()  # not of TorchScript's own operators, on numbers and lists
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}"):
        is_native = torch._C._dispatch_has_kernel(str(schema).partition("(")[0])
        if is_native and not any(argument.is_out for argument in schema.arguments):
            found |= {"input" if argument.name == "self" else argument.name for argument in schema.arguments}
    found -= {"input"} if method else set()
    return {"input" if name == "x" else name for name in found}


def native_functions():
    for space, (prefix, ours, theirs) in NAMESPACES.items():
        for name in sorted(dir(ours)):
            function, native = getattr(ours, name), getattr(theirs, name, None)
            if (
                name.startswith("_")
                or name in QUANTISED | SPARSE
                or not isinstance(function, types.FunctionType)
                or native is None
            ):
                continue
            if not isinstance(native, types.FunctionType):
                yield pytest.param(function, prefix + name, space == "Tensor", id=f"{space}.{name}")


@pytest.mark.parametrize(("function", "name", "is_method"), list(native_functions()))
def test_takes_every_argument_by_its_name(function, name, is_method):
    parameters = inspect.signature(function).parameters
    wanted = schema_names(name, method=is_method) - NOT_IN_PYTHON
    if name == "to":  # whose parser has a name of its own for what the schema calls other
        wanted = wanted - {"other"} | {"tensor"}
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):  # what it takes shows when it is called
        assert is_unknown(function, "no_such_name")
        assert not [name for name in wanted if is_unknown(function, name)]
        return
    known = {
        *parameters,
        *(["input"] if "x" in parameters else []),
        *(["input"] if next(iter(parameters), "") == "self" else []),
    }
    assert wanted <= known


NEEDED = {"full_like": (1,), "randint_like": (1,), "new_tensor": (1,), "new_full": ((1,), 1)}
"""Arguments beside the tensor without which a call is refused before its keywords are looked at."""


def is_unknown(function, name):
    """Whether a function refuses a keyword for its name."""
    first = [] if name == "input" else [ref.tensor(X)]
    second = NEEDED.get(function.__name__, ()) if name not in ("size", "fill_value", "low", "high", "data") else ()
    try:
        function(*first, *second, **{name: None})
    except Exception as error:
        return f"unknown keyword {name}" in str(error) or f"unexpected keyword argument '{name}'" in str(error)
    return False


X = (2.0, 7.0, 1.0, 8.0)
CALLS = [
    ("sum", {"axis": 0}), ("sum", {"axis": 0, "keepdims": True}), ("mean", {"axis": 0}), ("std", {"axis": 0}),
    ("softmax", {"axis": 0}), ("argmax", {"axis": 0}), ("squeeze", {"axis": 0}), ("unsqueeze", {"axis": 0}),
    ("select", {"axis": 0, "index": 1}), ("chunk", {"chunks": 2, "axis": 0}), ("unbind", {"axis": 0}),
    ("narrow", {"axis": 0, "start": 0, "length": 1}), ("unbind_copy", {"axis": 0}), ("sort", {"axis": 0}),
    ("add", {"x2": 1}), ("flip", {"axis": (0,)}), ("norm", {"axis": 0}), ("split", {"split_size": 1, "axis": 0}),
    ("sum", {"axis": 0, "dim": 0}), ("zeros_like", {"axis": 0}), ("new_zeros", {"size": (2,), "axis": 0}),
    ("neg_", {}), ("erfc_", {}), ("det", {}), ("unique", {"axis": 0}), ("permute", {"axes": (0,)}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kwargs"), CALLS, ids=[f"{name}-{'-'.join(kwargs)}" for name, kwargs in CALLS])
@pytest.mark.parametrize("first", ["method", "input", "x", "a", "x1", "other"])
def test_takes_numpys_names_where_pytorch_does(name, kwargs, first):
    def is_taken(module):
        x = module.tensor(X)
        try:
            if first == "method":
                getattr(x, name)(**kwargs)
            else:
                getattr(module, name)(**{first: x}, **kwargs)
        except (TypeError, AttributeError):
            return False
        except RuntimeError:
            pass  # what is refused are the values
        return True

    assert is_taken(ref) == is_taken(torch)
