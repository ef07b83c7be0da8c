"""Functions that make tensors: into `out`, on meta, and where the default device says."""

import warnings

import pytest
import stridecheck.reference_impl as ref
import torch

from .agreement import exception_type

FACTORIES = (
    "T.empty(6{})", "T.zeros(6{})", "T.ones(6{})", "T.full((6,), 1.0{})", "T.arange(6{})", "T.range(1, 6{})",
    "T.linspace(0, 1, 6{})", "T.logspace(0, 1, 6{})", "T.eye(6{})", "T.rand(6{})", "T.randn(6{})",
    "T.randint(3, (6,){})", "T.randperm(6{})", "T.fft.fftfreq(6{})",
)  # fmt: skip
OUTS = (
    "out=b", "out=b.t()", "out=b, dtype=T.float32", "out=b, dtype=T.int64", "out=b, device='meta'",
    "out=b, device='cpu'", "out=b, requires_grad=True", "out=3", "out=T.ones(1, 3).expand(6, 6)",
    "out=T.ones(1, 3).expand(2, 3)", "out=T.ones(6).expand(6)", "out=w", "out=w.detach()", "out=w, dtype=T.int64",
    "out=T.ones(1, 2, 3)", "out=T.ones(12)[::2]", "out=T.empty(0, dtype=T.int64)", "out=T.empty(0, dtype=T.cfloat)",
    "out=T.empty(0, device='meta')", "out=T.empty(0, device='meta'), device='cpu'",
)  # fmt: skip
WITHOUT_OUT = (
    "T.tril_indices(3, 3{})", "T.triu_indices(3, 2{})", "T.hann_window(5{})", "T.kaiser_window(5, False{})",
    "T.bartlett_window(5{})", "T.hamming_window(5{})", "T.blackman_window(5{})", "T.fft.rfftfreq(6{})",
    "T.signal.windows.cosine(5{})", "T.tensor([1.0]{})", "T.as_tensor([1]{})", "T.as_tensor(b{})", "T.asarray(b{})",
    "T.scalar_tensor(1{})", "T.empty_strided((2, 3), (1, 2){})", "T.empty_permuted((2, 3), (1, 0){})",
    "T.normal(0.0, 1.0, (2,){})", "T.ones_like(b{})", "b.new_zeros(2{})", "T.rand_like(b{})",
    "T.randperm(3, dtype=T.float32, requires_grad=True{})", "T.eye(2, 3, dtype=T.int64{})",
    "T.from_numpy(np.ones(2){})", "T.Tensor([1.0]{})",
)  # fmt: skip
BY_DEFAULT = ("with T.device('meta'): x = {}", "T.set_default_device('meta'); x = {}")


def outcome(lib, statement):
    """What a statement makes, or its type of exception."""
    import numpy as np

    scope = {"T": lib, "np": np, "b": lib.ones(2, 3), "w": lib.ones(2, 3, requires_grad=True)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(statement, scope)
        except Exception as e:
            return exception_type(e)
        finally:
            lib.set_default_device(None)
    x = scope["x"]
    return (
        str(x.dtype),
        str(x.device),
        tuple(x.shape),
        x.stride(),
        x._version,
        x.requires_grad,
        x.untyped_storage().nbytes(),
    )


@pytest.mark.parametrize("factory", FACTORIES[:-1])
@pytest.mark.parametrize("out", OUTS)
def test_what_is_delivered_into(factory, out):
    statement = "x = " + factory.format(", " + out)
    assert outcome(ref, statement) == outcome(torch, statement)


@pytest.mark.parametrize("factory", FACTORIES + WITHOUT_OUT)
def test_a_tensor_on_meta_is_one_without_bytes(factory):
    for statement in ("x = " + factory.format(", device='meta'"), *(s.format(factory.format("")) for s in BY_DEFAULT)):
        assert outcome(ref, statement) == outcome(torch, statement), statement


MODES = (
    "x = T.get_default_device()",
    "T.set_default_device('meta'); x = T.get_default_device()",
    "T.set_default_device(T.device('meta')); T.set_default_device(None); x = T.get_default_device()",
    "T.set_default_device('nowhere')",
    "T.set_default_device(3.5)",
    "T.set_default_device('cuda'); x = T.get_default_device()",
    "T.set_default_device('cuda:0'); x = T.get_default_device()",
    "T.set_default_device('cuda'); T.ones(2)",
    "with T.device('meta') as d: x = d",
    "with T.device('meta'):\n    with T.device('cpu'): x = T.get_default_device()",
    "with T.device('meta'):\n    with T.device('cpu'): pass\n    x = T.get_default_device()",
    "T.set_default_device('meta')\nwith T.device('cpu'): pass\nx = T.get_default_device()",
    "with T.device('meta'): x = T.ones(2, device='cpu').device",
    "x = T.device('meta')(lambda: T.ones(2).device)()",
    "with T.device('meta'): x = T.empty(2, out=T.ones(2, device='cpu')).device",
    "with T.device('meta'): x = (T.ones(2) + 1).device",
)


@pytest.mark.parametrize("statements", MODES)
def test_default_devices_nest_as_in_torch(statements):
    got = []
    for lib in (torch, ref):
        scope = {"T": lib}
        try:
            exec(statements, scope)
        except Exception as e:
            got.append(exception_type(e))
        else:
            got.append(repr(scope["x"]))
        finally:
            lib.set_default_device(None)
        assert str(lib.get_default_device()) == "cpu"
    assert got[0] == got[1]
