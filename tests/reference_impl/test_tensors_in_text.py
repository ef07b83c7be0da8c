"""Tensors are printed as torch prints them, by `repr`, `str` and `format`."""

import random

import pytest
import stridecheck.reference_impl as ref
import torch

from .agreement import disagreement
from .test_storage_surface import split

PRINTED = """
    T.zeros(())|T.ones(2,3)|T.zeros(0)|T.zeros(2,0)|T.empty(0,dtype=T.int64)|T.tensor([True,False])|T.tensor([1+2j]).conj()
    T.zeros(3,requires_grad=True)|T.zeros(3,dtype=T.float16)|T.zeros(2,device="meta")|T.zeros(2,device="meta",dtype=T.int8)
    T.ones(2,2,2)|T.tensor([float("nan"),float("inf"),1])|T.tensor([1e-5,1.])|T.tensor([123456.,.5])|T.arange(2000)
    T.arange(10000.).reshape(100,100)|T.arange(30000.).reshape(3,100,100)|T.zeros(2,3).t()|T.arange(3.)._neg_view()
    T.zeros(2,dtype=T.float8_e5m2)|T.zeros(2,dtype=T.complex32)|T.tensor([[1,-2],[30,4]])|T.arange(100)|T.arange(40.)*1.5
    T.quantize_per_tensor(T.ones(2),.5,0,T.quint8)|T.zeros(3)+1j|T.zeros(1,dtype=T.float64,requires_grad=True)
    T.quantize_per_channel(T.ones(2,2),T.tensor([.5,1]),T.tensor([0,1]),0,T.qint8)|T.zeros(60,dtype=T.bool)
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", ["repr(x)", "f'{x}'"])
def test_prints_what_torch_prints(form):
    found = [d for e in split(PRINTED) if (d := disagreement(form, lambda lib, e=e: {"x": eval(e, {"T": lib})}))]
    assert not found, "\n".join(found)


def test_a_number_is_formatted_as_one():
    assert f"{ref.tensor(1.5):.2f} {ref.tensor(3):4d}" == f"{torch.tensor(1.5):.2f} {torch.tensor(3):4d}"


DTYPES = (
    "float32 float64 float16 bfloat16 int64 int8 bool complex64 complex128 uint8 uint16 float8_e5m2".split()  # noqa: SIM905
)


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_numbers_are_printed_alike(dtype):
    rng = random.Random(dtype)
    for _ in range(40):
        shape = [rng.choice([0, 1, 2, 3, 7, 30]) for _ in range(rng.choice([0, 1, 1, 2, 2, 3]))]
        scale, whole = rng.choice([1, 1, 100, 1e-6, 1e6]), rng.random() < 0.5 or "int" in dtype or dtype == "bool"
        numbers = [
            rng.randint(0, 99) if whole else rng.uniform(-scale, scale) for _ in range(torch.Size(shape).numel())
        ]
        if numbers and not whole and rng.random() < 0.3:
            numbers[0] = rng.choice([0.0, 3.0, float("nan"), -float("inf")])
        if "complex" in dtype:
            numbers = [complex(x, rng.choice([x, -2, 0.5])) for x in numbers]
        theirs, ours = (repr(lib.tensor(numbers, dtype=getattr(lib, dtype)).reshape(shape)) for lib in (torch, ref))
        assert ours == theirs


OPTIONS = """
    precision=2|threshold=5|threshold=5,edgeitems=1|linewidth=30|profile="short"|profile="full"|sci_mode=True|sci_mode=False
    profile="short",precision=6|threshold=0,edgeitems=0|precision=0
"""


@pytest.mark.filterwarnings("ignore")
def test_prints_with_options_as_torch_does():
    found = []
    try:
        for options in split(OPTIONS):
            for lib in (torch, ref):
                eval(f"lib.set_printoptions({options})", {"lib": lib})
            for e in split(PRINTED):
                difference = disagreement("repr(x)", lambda lib, e=e: {"x": eval(e, {"T": lib})})
                found += [f"{options}: {difference}"] if difference else []
    finally:
        for lib in (torch, ref):
            lib.set_printoptions(profile="default")
    assert not found, "\n".join(found)
