"""What tensors are made of: numbers and what dtype they suggest, storages that are adopted, producers that lend."""

import pytest

from .agreement import disagreement
from .test_storage_surface import split
from .twins import words

NUMBERS = words(
    """
    1 2**63 -2**63-1 2**64 10**400 True 1.5 -0.5 255.9 300. 1e30 float('nan') 9223372036854775807. 1j None 'a' b'ab'
    np.float64(1.5) np.float16(1) np.int32(3) np.uint64(2) np.bool_(True) np.complex64(2j) np.longdouble(1)
    np.array(5) np.array([1,2],'i4') np.str_('a') T.tensor(1.5) T.tensor(1,dtype=T.int8) T.tensor([2.]) T.ones(2)
    T.tensor(1j) T.ones((),device='meta') [] [[1],2] {1:2} {3} range(2) memoryview(b'ab') np.ulonglong(2)
    """
)
OF_NUMBERS = (
    "T.tensor({n})",
    "T.tensor([{n}])",
    "T.tensor([{n},1])",
    "T.tensor([True,{n}])",
    "T.as_tensor([{n}])",
    "T.asarray([{n}])",
    "i.new_tensor([{n}])",
    "T.tensor([{n}],device='meta').dtype",
    *(f"T.tensor([{{n}}],dtype=T.{d})" for d in words("bool uint8 uint64 int32 float16 complex32 complex64")),
)

DATA = {
    "storages": """
        of(u,T.tensor)|of(u,T.as_tensor)|of(u,T.asarray)|of(u,i.new_tensor)|of(u,T.tensor,dtype=T.int16)
        of(u,T.tensor,dtype=T.bool)|of(u,T.tensor,dtype=T.complex64,requires_grad=True)|of(u,T.tensor,dtype=T.quint8)
        of(u,T.as_tensor,dtype=T.float32)|of(u,T.asarray,copy=True)|of(u,T.asarray,copy=False)|of(u,T.tensor,dtype=T.bits8)
        of(U(list(range(13))),T.tensor,dtype=T.int32)|of(U(list(range(3))),T.tensor)|of(U(0),T.tensor)
        of(u,T.tensor,device="meta")|of(u,T.tensor,device="cpu")|T.tensor(U(16,device="meta"))|of(u,T.tensor,dtype=3)
        of(F([1,2,3]),T.tensor)|of(F([1,2,3]),T.tensor,dtype=T.int16)|of(F([1,2]),T.asarray)|of(F(),T.as_tensor)
        of(F([1,2]),i.new_tensor)|of(F([1,2]),i.new_tensor,dtype=T.float32)|of(T.LongStorage([1]),T.tensor)
        of(T.LongStorage([1]),T.as_tensor,dtype=T.int64)|T.tensor([u,u])|T.tensor([u,u],dtype=T.int8)
        T.tensor([F([1,2]),[3,4]])|T.tensor([F([1,2]),[3]])|T.asarray((F([1,2]),))|T.LongStorage([2**63])
    """,
    "producers": """
        T.asarray(DP(x))|T.asarray(DP(x.t()))|T.as_tensor(DP(x[1:]))|T.tensor(DP(x))|T.tensor(DP(x.t()),dtype=T.int8)
        [T.asarray(DP(x)).fill_(7),x]|[T.as_tensor(DP(x)).fill_(7),x]|[T.tensor(DP(x)).fill_(7),x]
        [T.asarray(DP(x),copy=True).fill_(7),x]|T.asarray(DP(x),copy=False)|[i.new_tensor(DP(x)).fill_(7),x]
        [T.asarray(DP(x),dtype=T.float32,device="cpu").fill_(7),x]|T.asarray(DP(x),requires_grad=True)
        T.asarray(DP(x),dtype=T.int16)|T.tensor([DP(x)])|T.as_tensor(DP(np.ones(3)))|T.asarray(DP(x.requires_grad_()))
        T.tensor(DP(x),device="meta").shape
    """,
    "arrays": """
        T.from_numpy(np.zeros(2,np.ulonglong))|T.from_numpy(np.zeros(2,np.longlong))|T.asarray(np.ulonglong(2))
        T.tensor(T.ones(2,device="meta"),device="cpu")|T.tensor(x,device="meta").shape|float(x)|int(x)|complex(x)|bool(x)
        T.tensor([1],dtype=T.bits8)|T.tensor([],dtype=T.bits8)|float(T.tensor(1j))|int(T.tensor(2+0j))|int(T.tensor(float("nan")))|int(T.tensor(float("inf")))
    """,
}


class Producer:
    """Forwards the protocol of DLPack, and is nothing else."""

    def __init__(self, lender):
        self.lender = lender

    def __dlpack__(self, **options):
        return self.lender.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.lender.__dlpack_device__()


def operands(lib):
    def of(storage, make, **options):
        t = make(storage, **options)
        return t, t.untyped_storage() is (storage if isinstance(storage, lib.UntypedStorage) else storage.untyped())

    return {
        "of": of, "DP": Producer, "u": lib.UntypedStorage(list(range(16))), "i": lib.arange(3),
        "x": lib.arange(6.0).view(2, 3).clone(),
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_is_stored_under_the_dtype_it_suggests_or_refused(number):
    found = [d for e in OF_NUMBERS if (d := disagreement(e.format(n=number), operands))]
    assert not found, "\n".join(found)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", DATA)
def test_data_is_adopted_or_copied_as_torch_does(part):
    found = [d for e in split(DATA[part]) if (d := disagreement(e, operands))]
    assert not found, "\n".join(found)
