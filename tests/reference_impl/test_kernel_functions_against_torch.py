"""Operators beneath the public ones, marked tensors, lengths, and generators of random numbers."""

import pytest

from .agreement import disagreement

TENSORS = {
    "a": lambda lib: lib.arange(6.0).reshape(2, 3),
    "p": lambda lib: lib.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1),
    "w": lambda lib: lib.ones(2, 3, requires_grad=True),
    "n": lambda lib: lib.tensor([3, 1, 3]),
}
KERNELS = """
    T.native_dropout(a, 0.0, True)|T.native_dropout(a, 1.0, True)|T.native_dropout(p, 0.5, False)
    T.native_dropout(p, 0.0, True)|T.native_dropout(T.ones(0, 3), 0.5, True)|T.native_dropout(a.long(), 0.5, True)
    T.native_dropout(a.long(), 0.5, False)|T.native_dropout(w, 0.0, True)|T.native_dropout(a, 2.0, True)
    T.native_dropout(a, 0.5, 1)|T.frobenius_norm(a)|T.frobenius_norm(a, 1)|T.frobenius_norm(a, [0, 1])
    T.frobenius_norm(a, ())|T.frobenius_norm(a, (0,), True)|T.frobenius_norm(p, (0, 1), True)
    T.frobenius_norm(p, (0, 1, 2))|T.frobenius_norm(a.long(), 0)|T.frobenius_norm(a, (0, 0))
    T.frobenius_norm(a, (0, 5))|T.frobenius_norm(w, (0, 1))|T.frobenius_norm(a, None)
    T.frobenius_norm(a, 0, out=T.empty(0))|T.nuclear_norm(a, True).shape|T.nuclear_norm(p).shape|T.nuclear_norm(a, 0)
    T.norm_except_dim(a)|T.norm_except_dim(p, 2, 2).stride()|T.norm_except_dim(p, 2, 1).shape
    T._weight_norm(p, T.norm_except_dim(p)).stride()|T._weight_norm(p, T.norm_except_dim(p, 2, 1), 1).stride()
    T._weight_norm(T.ones(0, 5).t(), T.ones(5, 1))|T._weight_norm(a.double(), T.ones(2, 1).double()).stride()
    T._safe_softmax(a.masked_fill(a < 3, -T.inf) * 1, 1)|T._safe_softmax(p * 0, 0)|T._safe_softmax(w, 0, T.half).dtype
    T.norm_except_dim(p, 2, -1).shape|T._unique2(n)|T._unique2(n, True, True, True)|T._unique2(n, return_inverse=True)
    T._unique2(n, False, False, True)|T._unique2(a.t(), True, True, True)|T._unique2(w)
    T._unique(n)|T._unique(n, True, True)
    T.conv_tbc(T.ones(5, 2, 3), T.ones(2, 3, 4), T.ones(4), 1)|T.conv_tbc(p, T.ones(2, 3, 4), T.ones(4), 1)
    T.conv_tbc(T.ones(5, 2, 3), T.ones(2, 2, 4), T.ones(4))|T._aminmax(a)|T._aminmax(a, 0)|T._softmax(p * 0, 0, False)
    T._softmax(a, 0, True)|T._stack([a, a], 1)|T._is_all_true(a > -1)|T._is_any_true(a > 9)|T._is_all_true(a)
    T._cast_Float(a.long())|T._cast_Float(a) is a|T._cast_Int(p)|T._conj_copy(a.to(T.cfloat))|T._neg_view_copy(a)
    T._adaptive_avg_pool2d(T.ones(1, 2, 4, 4), (2, 2))|T._dim_arange(a, 1)|T._unsafe_index(a, [n.clamp(0, 1)])
    T._index_put_impl_(a, [n.clamp(0, 1)], T.tensor(1.0))|T._unsafe_index_put(a, [n.clamp(0, 1)], T.tensor(1.0))
    T._int_mm(a.to(T.uint8), p[:3, 0].to(T.int8))|T._int_mm(a.to(T.int8), p[:3, 0].to(T.int8)).stride()
    T._int_mm(a.to(T.int8), a.to(T.int8))|T._int_mm(a, a.t())|T._int_mm(a.to(T.int8), n.to(T.int8))
    T._int_mm(a.to(T.int8), a.t().to(T.int8), out=T.empty(2, 2, dtype=T.int32))
    T._int_mm(a.to(T.int8), a.t().to(T.int8), out=T.empty(0, dtype=T.int32))
    T._masked_softmax(a * 0, a > 1)|T._masked_softmax(a * 0, a > 1, 0, 3)|T._masked_softmax(a, a)
    T._masked_softmax(p[None] * 0, a[:1, :2] > 1, 2, 1).stride()|T._masked_softmax(p[None] * 0, a > 1)
    T._masked_softmax(p[None, :, :, :2].contiguous() * 0, a[:, :2] > 1, 3, 0)|T._masked_softmax(a.int(), a > 1)
    T._trilinear(a, a, a, [], [], [], [1])|T._trilinear(a, a, a, [], [], [], [1], 0)
    T._trilinear(n, a, w, [0], [], [], [0], 0)|T._trilinear(a[0], n, a[1], [1, 2], [0, 2], [0, 1], [1], 2)
    T._trilinear(a, a, a, [], [], [], [0], 2)
    T._trilinear(a, a.double(), a, [], [], [], [1], 0)|T._trilinear(w, a, a, [], [], [], [0, 1], 0)
    T._embedding_bag(a, n[1:2], n[:0])[0]|T._embedding_bag(a, n * 0, n[1:] - 1, False, 1)[0]|T._embedding_bag(w, n, n)
    T._embedding_bag(a, n[1:2], T.tensor([0, 1]), include_last_offset=True)[2].shape
    T._embedding_bag(a, n * 0, n * 0, padding_idx=9)[0]|T._embedding_bag(a, n * 0, n * 0, padding_idx=None)
    a.slice_inverse(a.t())|a[1:].slice_inverse(p[0], 0, 1)|T.slice_inverse(a[:, 1:], a.int(), 7, None, None, -1)
    T.slice_inverse(w[1:], a, 0, 1)|T.slice_inverse(a, p)|a.slice_inverse(3)|T._assert(a, 'x')|T._assert([], 'x')
    a.resize(3, 2)|a.t().resize(6)|a[1:].resize(3, 1)|p.resize(24)|a.resize(5)|a.resize((3, 2))|w.resize(6)|a.resize()
    a.resize_as(a.t())|p.resize_as(p.mT)|a.resize_as(n)|(w * 2).resize(6)|a.resize(-6)
    a.to(T.cfloat).conj().new(2)|a.to(T.cfloat).conj().imag.new()|a.to(T.cfloat).new(a.to(T.cfloat).conj())
    a.sort(0, stable=True)|a.sort(dim=0, stable=True)|T.sort(a, 0, False, stable=True)|T.argsort(a, 0, stable=True)
    a.sort(0, True)
    T.binomial(T.ones(3), T.ones(3).double())|T.binomial(p, p * 0).stride()|T.get_device(a)|T.eig(a)|T.matrix_rank(a)
    a.lstsq(a)|a.reinforce(1)|a.is_distributed()|a.register_hook(print)|w.register_hook(print).remove()
"""
MARKED = """
    T.nn.Buffer(a)|T.nn.Buffer()|T.nn.Buffer(w)|T.nn.Buffer(a, persistent=False).persistent|T.nn.Buffer(3)
    isinstance(T.nn.Buffer(a), T.nn.Buffer)|isinstance(a, T.nn.Buffer)|type(T.nn.Buffer(a)) is T.Tensor
    T.nn.parameter.Buffer is T.nn.Buffer|T.nn.Buffer(a, True)|isinstance(T.nn.Buffer(a), T.nn.Parameter)
    T.nn.Buffer(a).data_ptr() == a.data_ptr()|a.as_subclass(T.nn.Parameter)|a.as_subclass(T.Tensor)._base is a._base
    type(a.as_subclass(T.nn.Parameter)) is T.nn.Parameter|a.as_subclass(int)|a.as_subclass(3)|w.as_subclass(T.Tensor)
    T.Tensor._make_subclass(T.nn.Parameter, a)|T.Tensor._make_subclass(T.Tensor, a, True)
    T.Tensor._make_subclass(int, a)
"""
LENGTHS = """
    T.Size()|T.Size([2.0])|T.Size('ab')|T.Size(3)|T.Size([True])|T.Size([np.int64(2)])|T.Size([np.float64(2)])
    T.Size([T.tensor(2)])|T.Size([T.tensor(2.0)])|T.Size([T.tensor([2, 3])])|T.Size(T.tensor([2, 3]))|T.Size(range(3))
    T.Size(x for x in (1, 2))|T.Size([-1])|T.Size([2**70])|T.Size([2**63])|T.Size([None])|T.Size([np.bool_(True)])
    T.Size([1], [2])|T.Size(size=[1])|T.Size([T.tensor(2, device='meta')])|T.Size([2]) + (2.0,)|T.Size([2]) + (True,)
    T.Size([2]) + (T.tensor(3),)|(2.0,) + T.Size([1])|T.Size([2]) + [3]|T.Size([2**40, 2**40]).numel()
    type(T.Size([True])[0]) is int|T.zeros(2, 3).shape + T.zeros(2).shape
"""
SEEDS = """
    T.Generator().device|T.Generator('cpu').initial_seed()|T.Generator().manual_seed(5).initial_seed()
    T.Generator().manual_seed('a')|T.Generator().manual_seed(-1).initial_seed()|T.Generator().manual_seed(2**64)
    T.manual_seed(-1).initial_seed()|T.manual_seed('3').initial_seed()|T.manual_seed('a')|T.manual_seed(2**65)
    T.manual_seed(3.7).initial_seed()|(T.manual_seed(7), T.initial_seed())[1]|T.get_rng_state().shape
    T.set_rng_state(T.get_rng_state())|T.set_rng_state(3)|T.set_rng_state(T.ones(2))|T.default_generator.device
    T.rand(2, generator=T.Generator().manual_seed(1)).shape|T.Generator('nowhere')|type(T.seed()) is int
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", [KERNELS, MARKED, LENGTHS, SEEDS], ids=["kernels", "marked", "lengths", "seeds"])
def test_small_names_do_what_they_do_in_torch(text):
    def operands(lib):
        return {name: make(lib) for name, make in TENSORS.items()}

    expressions = [e.strip() for line in text.strip().splitlines() for e in line.split("|")]
    found = [d for e in expressions if (d := disagreement(e, operands)) and "without a kind" not in d]
    assert not found, "\n".join(found)
