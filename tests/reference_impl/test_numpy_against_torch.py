"""NumPy's numbers and arrays beside tensors, and its functions of tensors: what comes of them is what torch says."""

import numpy as np
import pytest
import stridecheck.reference_impl as ref
import torch

from .agreement import disagreement
from .test_storage_surface import split
from .twins import words

NUMBERS = words(
    "np.float32(2) np.float64(2) np.float16(2) np.longdouble(2) np.int64(2) np.int32(2) np.uint8(2) np.uint64(2**63)"
    " np.bool_(True) np.complex64(1+2j)"
)
OF_NUMBERS = words(
    """
    {x}+{n} {x}-{n} {x}*{n} {x}//{n} {x}**{n} {x}=={n} {x}>{n} {n}+{x} {n}-{x} {n}%{x} {n}<{x} {x}.add_({n})
    {x}.clamp({n},{n}) {x}.fill_({n}) {x}.add({x},alpha={n}) T.where(T.tensor(True),{x},{n}) {x}.__setitem__(0,{n})
    T.full((2,),{n}) {x}.new_full((2,),{n}) T.full_like({x},{n}) T.result_type({x},{n}) T.maximum({x},{n})
    """
)

BESIDE = {
    "arrays": """
        f+a|f-a|f*a|f/a|f//a|f%a|f**a|f@a|i&j|i<<j|f==a|f!=a|f<a|a+f|a-f|a/f|a//f|a**f|a@f|j^i|a==f|a>=f|j>>i
        do(x=f,op="+=",y=a)|do(x=i,op="/=",y=a)|do(x=i,op="<<=",y=j)|do(x=f,op="@=",y=a)|do(x=a,op="+=",y=f)
        f+np.array(2)|np.array(2)-i|c*np.array([1j,2,3])|f==a[::-1]|f==a.astype(">f8")|f==np.ones(2)|f.eq(a)|f.add(a)
        T.maximum(f,a)|f.pow(a)|f.requires_grad_()+a|f.bfloat16()*a|f+np.array([None]*3)|f+np.matrix([1,2,3])
    """,
    "others": """
        f=="a"|f!="a"|f==None|f==[1,1,1]|f+"a"|f+None|f+[1,2,3]|f<"a"|f*[1,2]|T.tensor([2])*[1,2]|f**"a"|"a"/f
        f[np.bool_(True)]|f[np.int64(1)]|1<<i|1>>i|do(x=i,op="<<=",y=1)|do(x=i,op=">>=",y=1)
    """,
    "functions": """
        np.add(i,1)|np.add(a,f)|np.exp(f)|np.exp(f[::2])|np.isnan(f)|np.greater(f,0)|np.exp(c)|np.exp(c.conj())
        np.exp(f.bfloat16())|np.exp(f.requires_grad_())|np.exp(T.tensor(1.))|np.exp(T.ones(2,3).t())|np.divmod(i,2)
        np.matmul(f,f)|np.exp(f,out=a)|np.add.reduce(f)|np.add.outer(f,f)|np.clip(f,0,1)|np.cumsum(f)|np.argmax(f)
        np.where(f>0,f,2)|np.sum(f)|np.mean(f)|np.max(f)|np.prod(f)|np.sum(f,axis=0)|np.std(f)|np.round(f)|np.sort(f)
        np.concatenate([f,f])|np.reshape(f,(3,1))|np.zeros_like(f)|np.abs(f)|f.add(f,out=f)|f.sum(out=f)
        f.__array_priority__|f.__array_wrap__(a)|f.__array_wrap__(a>0)|f.__array_wrap__(np.array(["a"]))
    """,
    "conversion": """
        np.array(f)|np.array(f,np.int8)|np.array(f,copy=True)|np.array(f,copy=None)|np.asarray(f,copy=True)
        np.array([f,f])|f.__array__()|f.__array__(np.float64)|f.__array__(dtype=None)|f.__array__(copy=True)
        f.__array__(copy=None)|np.asarray(c,np.float32)
    """,
}

# Where Python or NumPy itself refuses, nothing of ours is raised.
KINDLESS = "without a kind"


def operands(lib):
    def do(x, op, y):
        names = {"x": x, "y": y}
        exec(f"x {op} y", names)
        return names["x"]

    return {
        "do": do, "a": np.array([1.0, 2, 3]), "j": np.array([1, 2, 3]), "f": lib.ones(3), "i": lib.arange(3),
        "c": lib.tensor([1 + 2j, 3 - 1j, 2j]),
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", NUMBERS)
def test_a_scalar_of_numpys_is_the_python_number_that_torch_reads(number):
    expressions = [e.format(x=x, n=number) for e in OF_NUMBERS for x in "fi"]
    found = [d for e in expressions if (d := disagreement(e, operands)) and KINDLESS not in d]
    assert not found, "\n".join(found)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", BESIDE)
def test_numpy_and_tensors_meet_as_they_do_in_torch(part):
    found = [d for e in split(BESIDE[part]) if (d := disagreement(e, operands)) and KINDLESS not in d]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("lib", [torch, ref])
def test_numpy_warns_that_a_tensor_knows_no_wish_to_copy(lib):
    with pytest.warns(DeprecationWarning, match="copy"):
        np.array(lib.ones(2))
