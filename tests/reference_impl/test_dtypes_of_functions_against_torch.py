"""Functions take and refuse the dtypes that PyTorch's do: factories, and those that no random program draws."""

import warnings

import pytest
import torch

from stridecheck import reference_impl as ref

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex32",
    "complex64",
    "complex128",
    "float8_e4m3fn",
    "float8_e5m2",
]
CALLS = (
    "T.ones(2,dtype=d)", "T.zeros(2,dtype=d)", "T.full((2,),1,dtype=d)", "T.full((2,),True,dtype=d)",
    "T.eye(2,dtype=d)", "T.eye(0,dtype=d)", "T.linspace(0,1,3,dtype=d)", "T.linspace(0,1,0,dtype=d)",
    "T.linspace(0,1,1,dtype=d)", "T.logspace(0,1,3,dtype=d)", "T.logspace(0,1,0,dtype=d)",
    "T.logspace(0,1,1,dtype=d)", "T.arange(3,dtype=d)", "T.arange(0,dtype=d)", "T.range(0,2,dtype=d)",
    "T.tril_indices(2,2,dtype=d)", "T.triu_indices(2,2,dtype=d)", "T.tril_indices(0,0,dtype=d)",
    "T.hann_window(3,dtype=d)", "T.hamming_window(3,dtype=d)", "T.kaiser_window(3,dtype=d)",
    "T.bartlett_window(3,dtype=d)", "T.blackman_window(3,dtype=d)", "T.hann_window(1,dtype=d)",
    "T.hann_window(0,dtype=d)", "T.empty(2,dtype=d)", "T.scalar_tensor(1,dtype=d)", "T.tensor([1,0],dtype=d)",
    "T.complex(T.ones(2,dtype=d),T.ones(2,dtype=d))", "T.polar(T.ones(2,dtype=d),T.ones(2,dtype=d))",
    "T.vander(T.ones(2,dtype=d))", "T.fft.fftfreq(3,dtype=d)", "T.fft.rfftfreq(3,dtype=d)",
    "T.nn.functional.one_hot(T.ones(2,dtype=d))", "T.meshgrid(T.ones(2,dtype=d),indexing='ij')",
    "T.cartesian_prod(T.ones(2,dtype=d),T.ones(2,dtype=d))", "T.combinations(T.ones(2,dtype=d))",
    "T.block_diag(T.ones(2,dtype=d),T.ones(2,dtype=d))", "T.ones_like(T.zeros(2),dtype=d)",
    "T.full_like(T.zeros(2),1,dtype=d)", "T.linspace(T.tensor(0.),T.tensor(1.),3,dtype=d)", "T.round(o(3))",
    "T.round(o(3),decimals=1)", "T.round(o(3),decimals=0)", "T.round(z(0),decimals=1)", "o(3).round_(decimals=2)",
    "T.special.round(o(3),decimals=-1)", "F.hinge_embedding_loss(o(3),o(3))",
    "F.hinge_embedding_loss(o(3),o(3),reduction='none')", "F.hinge_embedding_loss(o(3),T.ones(3))",
    "F.hinge_embedding_loss(o(3),T.ones(3,dtype=T.int64),reduction='sum')", "F.kl_div(o(3),o(3))",
    "F.kl_div(o(3),T.ones(3))", "F.kl_div(T.ones(3),o(3))", "F.kl_div(o(3),o(3),log_target=True)",
    "F.soft_margin_loss(o(3),o(3))", "F.soft_margin_loss(o(3),o(3),reduction='none')",
    "F.soft_margin_loss(z(0),z(0))", "F.threshold(o(3),0,-1)", "F.threshold(o(3),-5,1)", "F.threshold(o(3),300,1)",
    "F.threshold(o(3),0.5,1)", "F.threshold(z(0),0,-1)", "F.threshold_(o(3),0,-1)", "F.hardtanh(o(3))",
    "F.hardtanh(o(3),0,5)", "F.hardtanh(o(3),-300,300)", "F.hardtanh(o(3),-2,-1)", "F.hardtanh(z(0))",
    "F.relu6(o(3))", "F.hardtanh_(o(3))", "T.isin(o(3),o(2))", "T.isin(o(3),1)", "T.isin(1,o(3))",
    "T.isin(z(0),o(2))", "T.isin(o(2),z(0))", "T.isin(o(2),o(40))", "T.isin(o(3),o(1))",
    "T.isin(o(3),o(2),assume_unique=True)", "T.index_reduce(o(2),0,i64,o(2),'amax')",
    "T.index_reduce(z(0),0,i64[:0],z(0),'prod')", "T.index_reduce(o(2),0,i64,o(2),'mean')",
    "T.index_reduce(o(2),0,i64,o(2),'prod',include_self=False)", "T.index_reduce(o(2),0,i64[:0],z(0),'prod')",
    "T.index_reduce(o(1),0,i64[:1],o(1),'amin')", "T.index_reduce(o(2,2),0,i64,o(2,2),'amin')",
    "T.scatter_reduce(o(2),0,i64,o(2),'sum')", "T.scatter_reduce(o(2),0,i64,o(2),'amax',include_self=False)",
    "T.scatter_reduce(o(2),0,i64,o(2),'amax')", "T.scatter_reduce(o(2),0,i64,o(2),'mean',include_self=False)",
    "T.scatter_reduce(o(2),0,i64,o(2),'prod')", "T.scatter_reduce(o(2),0,i64[:0],z(0),'sum')",
    "T.scatter_reduce(o(2),0,i64,o(2),'sum',include_self=False)", "T.index_fill(o(2),0,i64,1)",
    "T.index_fill(o(2),0,i64,-1)", "T.index_fill(o(2),0,i64,1.5)", "F.cosine_embedding_loss(o(2,3),o(2,3),T.ones(2))",
    "F.cosine_similarity(o(2,3),o(2,3))", "F.bilinear(o(2,3),o(2,4),o(5,3,4))",
    "F.bilinear(o(2,3),o(2,4),o(5,3,4),o(5))", "T.cdist(o(2,3),o(4,3))", "T.cdist(o(2,3),o(4,3),p=1.)",
    "T.cdist(z(0,3),o(4,3))", "T.cdist(o(30,3),o(30,3))", "T.cdist(z(2,0),z(4,0))", "T.mvlgamma(o(3),1)",
    "T.linalg.vander(o(3))", "T.linalg.vander(o(3),N=4)", "T.linalg.vecdot(o(3),o(3))",
    "T.linalg.vecdot(o(2,3),o(2,3))", "T.linalg.vecdot(z(0),z(0))", "T.dot(o(3),o(3))", "T.vdot(o(3),o(3))",
    "T.lu_unpack(o(2,2),T.tensor([1,2],dtype=T.int32))", "T.lu_unpack(z(0,0),T.zeros(0,dtype=T.int32))",
    "T.lu_unpack(o(2,2),T.tensor([1,2],dtype=T.int32),unpack_data=False)",
    "T.lu_unpack(o(2,2),T.tensor([1,2],dtype=T.int32),unpack_pivots=False)",
    "T.lu_unpack(o(2,3),T.tensor([1,2],dtype=T.int32))", "T.bmm(o(5,2,3),o(5,3,4))", "T.addcmul(o(2),o(2),o(2))",
    "T.addcdiv(o(2),o(2),o(2))", "T.addcmul(o(2),o(2),o(2),value=2)", "T.addcmul(z(0),z(0),z(0))",
    "T.addcmul(o(2,1),o(2),o(2))", "T.histogram(o(3),2)", "T.histogram(o(3),2,range=(0.,1.))",
    "T.histogram(o(3),o(2))", "T.histc(o(3),2)", "F.conv1d(o(1,2,4),o(3,2,2))", "F.conv2d(o(1,2,4,4),o(3,2,2,2))",
    "F.conv3d(o(1,2,4,4,4),o(3,2,2,2,2))", "F.conv_transpose2d(o(1,2,4,4),o(2,3,2,2))",
    "F.conv_transpose1d(o(1,2,4),o(2,3,2))", "F.conv2d(o(1,2,4,4),o(2,1,2,2),groups=2)",
    "F.conv2d(o(1,2,4,4),o(3,2,2,2),o(3))", "F.conv2d(o(1,2,4,4),o(3,2,2,2),dilation=2)",
    "F.conv2d(o(1,2,4,4),o(3,2,1,1))", "F.gaussian_nll_loss(o(3),o(3),o(3))", "F.nll_loss(o(2,3),i64)",
    "F.nll_loss(o(2,3),i64,weight=o(3))", "F.nll_loss(o(2,3,4),T.zeros(2,4,dtype=T.int64))",
    "F.cross_entropy(o(2,3),i64)", "F.rrelu(o(3))", "F.rrelu(o(3),training=True)", "T.linalg.det(o(2,2))",
    "T.linalg.slogdet(o(2,2))", "T.linalg.eig(o(2,2))", "T.linalg.eigvals(o(2,2))", "T.normal(o(2),o(2))",
    "T.normal(o(2),1.)", "T.normal(0.,o(2))", "T.renorm(o(2,2),2,0,1)", "T.linalg.vector_norm(o(3))",
)  # fmt: skip
"""Expressions of `T`, torch or the reference, and of a dtype `d`; `o` makes ones of it, `z` zeros."""


def outcome(module, call, dtype):
    """Dtype and shape of what comes of a call, or the exception that PyTorch's users would catch."""
    d = getattr(module, dtype)
    names = {
        "T": module, "F": module.nn.functional, "d": d, "i64": module.tensor([0, 1]),
        "o": lambda *shape: module.ones(shape, dtype=d), "z": lambda *shape: module.zeros(shape, dtype=d),
    }  # fmt: skip
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = eval(call, names)
    except Exception as error:
        return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
    first = result[0] if isinstance(result, tuple) else result
    return str(first.dtype), tuple(first.shape)


@pytest.mark.parametrize("call", CALLS)
def test_takes_the_dtypes_that_pytorch_takes(call):
    wrong = {
        dtype: (theirs, ours)
        for dtype in DTYPES
        if (theirs := outcome(torch, call, dtype)) != (ours := outcome(ref, call, dtype))
    }
    assert not wrong
