"""What a strided tensor must do: PyTorch's layout semantics over NumPy memory, with PyTorch's own names.

``import stridecheck.reference_impl as torch`` runs code that was written for the layout part of torch.
"""

# Names that hide Python's, and names under which PyTorch has the same function twice, are the point of this namespace.
# ruff: noqa: A004, F401

from . import errors as errors
from . import nn as nn
from .activations import celu as celu
from .activations import celu_ as celu_
from .activations import hardshrink as hardshrink
from .activations import prelu as prelu
from .activations import rrelu as rrelu
from .activations import selu as selu
from .activations import selu_ as selu_
from .activations import threshold as threshold
from .activations import threshold_ as threshold_
from .activations import torch_alpha_dropout as alpha_dropout
from .activations import torch_dropout as dropout
from .activations import torch_feature_alpha_dropout as feature_alpha_dropout
from .adaptive_pooling import adaptive_avg_pool1d as adaptive_avg_pool1d
from .advanced_indexing import argwhere as argwhere
from .advanced_indexing import index_put as index_put
from .advanced_indexing import index_put_ as index_put_
from .advanced_indexing import nonzero as nonzero
from .advanced_indexing import nonzero_static as nonzero_static
from .advanced_indexing import unravel_index as unravel_index
from .arithmetic import abs as abs
from .arithmetic import abs as absolute
from .arithmetic import abs_ as abs_
from .arithmetic import add as add
from .arithmetic import mul as mul
from .arithmetic import mul as multiply
from .arithmetic import neg as neg
from .arithmetic import neg as negative
from .arithmetic import neg_ as neg_
from .arithmetic import neg_ as negative_
from .arithmetic import relu as relu
from .arithmetic import relu_ as relu_
from .arithmetic import rsub as rsub
from .arithmetic import sub as sub
from .arithmetic import sub as subtract
from .choosing import addcdiv as addcdiv
from .choosing import addcmul as addcmul
from .choosing import allclose as allclose
from .choosing import equal as equal
from .choosing import isclose as isclose
from .choosing import lerp as lerp
from .choosing import where as where
from .clamping import clamp as clamp
from .clamping import clamp as clip
from .clamping import clamp_ as clamp_
from .clamping import clamp_ as clip_
from .clamping import clamp_max as clamp_max
from .clamping import clamp_max_ as clamp_max_
from .clamping import clamp_min as clamp_min
from .clamping import clamp_min_ as clamp_min_
from .combining import block_diag as block_diag
from .combining import cartesian_prod as cartesian_prod
from .combining import combinations as combinations
from .combining import diagflat as diagflat
from .combining import kron as kron
from .constructors import empty as empty
from .constructors import empty_like as empty_like
from .constructors import empty_permuted as empty_permuted
from .constructors import empty_strided as empty_strided
from .constructors import eye as eye
from .constructors import full as full
from .constructors import full_like as full_like
from .constructors import ones as ones
from .constructors import ones_like as ones_like
from .constructors import scalar_tensor as scalar_tensor
from .constructors import zeros as zeros
from .constructors import zeros_like as zeros_like
from .contraction import einsum as einsum
from .contraction import inner as inner
from .contraction import tensordot as tensordot
from .convolution import conv1d as conv1d
from .convolution import conv2d as conv2d
from .convolution import conv3d as conv3d
from .convolution import conv_transpose1d as conv_transpose1d
from .convolution import conv_transpose2d as conv_transpose2d
from .convolution import conv_transpose3d as conv_transpose3d
from .copies import clone as clone
from .copies import fill_ as fill_
from .copies import resolve_conj as resolve_conj
from .copies import resolve_neg as resolve_neg
from .copies import zero_ as zero_
from .devices import device as device
from .differences import cumulative_trapezoid as cumulative_trapezoid
from .differences import diff as diff
from .differences import gradient as gradient
from .differences import trapezoid as trapezoid
from .differences import trapezoid as trapz
from .distances import cdist as cdist
from .distances import dist as dist
from .distances import pdist as pdist
from .division import div as div
from .division import div as divide
from .division import div as true_divide
from .division import floor_divide as floor_divide
from .dtype_view import conj as conj
from .dtype_view import imag as imag
from .dtype_view import real as real
from .dtype_view import view_as_complex as view_as_complex
from .dtype_view import view_as_real as view_as_real
from .dtypes import ALL as _ALL
from .dtypes import dtype as dtype
from .extremes import amax as amax
from .extremes import amin as amin
from .extremes import aminmax as aminmax
from .extremes import argmax as argmax
from .extremes import argmin as argmin
from .extremes import max as max
from .extremes import min as min
from .factorizations import geqrf as geqrf
from .factorizations import lu_unpack as lu_unpack
from .factorizations import old_cholesky as cholesky
from .factorizations import old_qr as qr
from .factorizations import old_svd as svd
from .factorizations import orgqr as orgqr
from .formats import channels_last as channels_last
from .formats import channels_last_3d as channels_last_3d
from .formats import contiguous_format as contiguous_format
from .formats import memory_format as memory_format
from .formats import preserve_format as preserve_format
from .from_values import tensor as tensor
from .grad_mode import enable_grad as enable_grad
from .grad_mode import is_grad_enabled as is_grad_enabled
from .grad_mode import no_grad as no_grad
from .grad_mode import set_grad_enabled as set_grad_enabled
from .index_ops import gather as gather
from .index_ops import index_select as index_select
from .index_ops import masked_fill as masked_fill
from .index_ops import masked_scatter as masked_scatter
from .index_ops import masked_select as masked_select
from .index_ops import take as take
from .index_ops import take_along_dim as take_along_dim
from .index_writes import index_add as index_add
from .index_writes import index_copy as index_copy
from .index_writes import index_fill as index_fill
from .index_writes import put as put
from .index_writes import scatter as scatter
from .index_writes import scatter_add as scatter_add
from .joining import broadcast_shapes as broadcast_shapes
from .joining import broadcast_tensors as broadcast_tensors
from .joining import cat as cat
from .joining import cat as concatenate
from .joining import column_stack as column_stack
from .joining import concat as concat
from .joining import diag as diag
from .joining import diag_embed as diag_embed
from .joining import dstack as dstack
from .joining import hstack as hstack
from .joining import meshgrid as meshgrid
from .joining import repeat_interleave as repeat_interleave
from .joining import stack as stack
from .joining import tile as tile
from .joining import trace as trace
from .joining import vstack as row_stack
from .joining import vstack as vstack
from .kernels import strided_copy as strided_copy
from .layout import Layout as Layout
from .linear_algebra import addmm as addmm
from .linear_algebra import addmv as addmv
from .linear_algebra import baddbmm as baddbmm
from .linear_algebra import bmm as bmm
from .linear_algebra import dot as dot
from .linear_algebra import mm as mm
from .linear_algebra import mv as mv
from .linear_algebra import vdot as vdot
from .losses import cosine_similarity as cosine_similarity
from .losses import pairwise_distance as pairwise_distance
from .matrices import det as det
from .matrices import logdet as logdet
from .matrices import matrix_exp as matrix_exp
from .matrices import matrix_power as matrix_power
from .matrices import old_vander as vander
from .matrices import slogdet as slogdet
from .metadata import as_strided_ as as_strided_
from .metadata import detach_ as detach_
from .metadata import resize_as_ as resize_as_
from .moments import corrcoef as corrcoef
from .moments import cov as cov
from .moments import std as std
from .moments import std_mean as std_mean
from .moments import var as var
from .moments import var_mean as var_mean
from .nan_reductions import nanmean as nanmean
from .nan_reductions import nansum as nansum
from .normalization import group_norm as group_norm
from .normalization import layer_norm as layer_norm
from .norms import renorm as renorm
from .norms import torch_norm as norm
from .numpy_bridge import as_tensor as as_tensor
from .numpy_bridge import asarray as asarray
from .numpy_bridge import from_numpy as from_numpy
from .numpy_bridge import frombuffer as frombuffer
from .order_statistics import kthvalue as kthvalue
from .order_statistics import median as median
from .order_statistics import mode as mode
from .order_statistics import msort as msort
from .order_statistics import nanmedian as nanmedian
from .order_statistics import nanquantile as nanquantile
from .order_statistics import quantile as quantile
from .padding import constant_pad_nd as constant_pad_nd
from .pointwise_ops import acos as acos
from .pointwise_ops import acos as arccos
from .pointwise_ops import acos_ as acos_
from .pointwise_ops import acos_ as arccos_
from .pointwise_ops import asin as arcsin
from .pointwise_ops import asin as asin
from .pointwise_ops import asin_ as arcsin_
from .pointwise_ops import asin_ as asin_
from .pointwise_ops import atan as arctan
from .pointwise_ops import atan as atan
from .pointwise_ops import atan2 as arctan2
from .pointwise_ops import atan2 as atan2
from .pointwise_ops import atan_ as arctan_
from .pointwise_ops import atan_ as atan_
from .pointwise_ops import bitwise_and as bitwise_and
from .pointwise_ops import bitwise_not as bitwise_not
from .pointwise_ops import bitwise_or as bitwise_or
from .pointwise_ops import bitwise_xor as bitwise_xor
from .pointwise_ops import ceil as ceil
from .pointwise_ops import ceil_ as ceil_
from .pointwise_ops import conj_physical as conj_physical
from .pointwise_ops import conj_physical_ as conj_physical_
from .pointwise_ops import cos as cos
from .pointwise_ops import cos_ as cos_
from .pointwise_ops import cosh as cosh
from .pointwise_ops import cosh_ as cosh_
from .pointwise_ops import eq as eq
from .pointwise_ops import erf as erf
from .pointwise_ops import erf_ as erf_
from .pointwise_ops import exp as exp
from .pointwise_ops import exp2 as exp2
from .pointwise_ops import exp2_ as exp2_
from .pointwise_ops import exp_ as exp_
from .pointwise_ops import expm1 as expm1
from .pointwise_ops import expm1_ as expm1_
from .pointwise_ops import floor as floor
from .pointwise_ops import floor_ as floor_
from .pointwise_ops import fmod as fmod
from .pointwise_ops import frac as frac
from .pointwise_ops import frac_ as frac_
from .pointwise_ops import ge as ge
from .pointwise_ops import ge as greater_equal
from .pointwise_ops import gt as greater
from .pointwise_ops import gt as gt
from .pointwise_ops import isfinite as isfinite
from .pointwise_ops import isinf as isinf
from .pointwise_ops import isnan as isnan
from .pointwise_ops import le as le
from .pointwise_ops import le as less_equal
from .pointwise_ops import log as log
from .pointwise_ops import log1p as log1p
from .pointwise_ops import log1p_ as log1p_
from .pointwise_ops import log2 as log2
from .pointwise_ops import log2_ as log2_
from .pointwise_ops import log10 as log10
from .pointwise_ops import log10_ as log10_
from .pointwise_ops import log_ as log_
from .pointwise_ops import logical_and as logical_and
from .pointwise_ops import logical_not as logical_not
from .pointwise_ops import logical_or as logical_or
from .pointwise_ops import logical_xor as logical_xor
from .pointwise_ops import lt as less
from .pointwise_ops import lt as lt
from .pointwise_ops import maximum as maximum
from .pointwise_ops import minimum as minimum
from .pointwise_ops import ne as ne
from .pointwise_ops import ne as not_equal
from .pointwise_ops import positive as positive
from .pointwise_ops import reciprocal as reciprocal
from .pointwise_ops import reciprocal_ as reciprocal_
from .pointwise_ops import remainder as remainder
from .pointwise_ops import round as round
from .pointwise_ops import round_ as round_
from .pointwise_ops import rsqrt as rsqrt
from .pointwise_ops import rsqrt_ as rsqrt_
from .pointwise_ops import sgn as sgn
from .pointwise_ops import sigmoid as sigmoid
from .pointwise_ops import sigmoid_ as sigmoid_
from .pointwise_ops import sign as sign
from .pointwise_ops import sin as sin
from .pointwise_ops import sin_ as sin_
from .pointwise_ops import sinh as sinh
from .pointwise_ops import sinh_ as sinh_
from .pointwise_ops import sqrt as sqrt
from .pointwise_ops import sqrt_ as sqrt_
from .pointwise_ops import tan as tan
from .pointwise_ops import tan_ as tan_
from .pointwise_ops import tanh as tanh
from .pointwise_ops import tanh_ as tanh_
from .pointwise_ops import trunc as fix
from .pointwise_ops import trunc as trunc
from .pointwise_ops import trunc_ as fix_
from .pointwise_ops import trunc_ as trunc_
from .pooling import avg_pool1d as avg_pool1d
from .pooling import max_pool1d as max_pool1d
from .pooling import max_pool1d_with_indices as max_pool1d_with_indices
from .pooling import max_pool2d as max_pool2d
from .pooling import max_pool3d as max_pool3d
from .powers import float_power as float_power
from .powers import pow as pow
from .powers import square as square
from .powers import square_ as square_
from .predicates import can_cast as can_cast
from .predicates import is_complex as is_complex
from .predicates import is_conj as is_conj
from .predicates import is_floating_point as is_floating_point
from .predicates import is_neg as is_neg
from .predicates import is_nonzero as is_nonzero
from .predicates import is_same_size as is_same_size
from .predicates import is_signed as is_signed
from .predicates import is_tensor as is_tensor
from .predicates import numel as numel
from .predicates import result_type as result_type
from .products import addbmm as addbmm
from .products import addr as addr
from .products import cross as cross
from .products import ger as ger
from .products import matmul as matmul
from .products import outer as outer
from .promotion import get_default_dtype as get_default_dtype
from .promotion import promote_types as promote_types
from .promotion import set_default_dtype as set_default_dtype
from .randomness import bernoulli as bernoulli
from .randomness import manual_seed as manual_seed
from .randomness import multinomial as multinomial
from .randomness import normal as normal
from .randomness import rand as rand
from .randomness import rand_like as rand_like
from .randomness import randint as randint
from .randomness import randint_like as randint_like
from .randomness import randn as randn
from .randomness import randn_like as randn_like
from .randomness import randperm as randperm
from .ranges import arange as arange
from .ranges import linspace as linspace
from .ranges import logspace as logspace
from .reductions import all as all
from .reductions import any as any
from .reductions import count_nonzero as count_nonzero
from .reductions import logsumexp as logsumexp
from .reductions import mean as mean
from .reductions import prod as prod
from .reductions import sum as sum
from .scans import argsort as argsort
from .scans import cummax as cummax
from .scans import cummin as cummin
from .scans import cumprod as cumprod
from .scans import cumsum as cumsum
from .scans import flip as flip
from .scans import fliplr as fliplr
from .scans import flipud as flipud
from .scans import log_softmax as log_softmax
from .scans import logcumsumexp as logcumsumexp
from .scans import roll as roll
from .scans import rot90 as rot90
from .scans import softmax as softmax
from .scans import sort as sort
from .scans import topk as topk
from .scatter_reduction import index_reduce as index_reduce
from .scatter_reduction import scatter_reduce as scatter_reduce
from .searching import bincount as bincount
from .searching import bucketize as bucketize
from .searching import histc as histc
from .searching import histogram as histogram
from .searching import isin as isin
from .searching import searchsorted as searchsorted
from .searching import unique as unique
from .searching import unique_consecutive as unique_consecutive
from .shadow import marks_of as element_marks
from .shuffles import channel_shuffle as channel_shuffle
from .shuffles import pixel_shuffle as pixel_shuffle
from .shuffles import pixel_unshuffle as pixel_unshuffle
from .size import Size as Size
from .solving import cholesky_inverse as cholesky_inverse
from .solving import cholesky_solve as cholesky_solve
from .solving import inv as inverse
from .solving import old_lu_solve as lu_solve
from .solving import pinverse as pinverse
from .solving import triangular_solve as triangular_solve
from .special_functions import acosh as acosh
from .special_functions import acosh as arccosh
from .special_functions import acosh_ as acosh_
from .special_functions import acosh_ as arccosh_
from .special_functions import angle as angle
from .special_functions import asinh as arcsinh
from .special_functions import asinh as asinh
from .special_functions import asinh_ as arcsinh_
from .special_functions import asinh_ as asinh_
from .special_functions import atanh as arctanh
from .special_functions import atanh as atanh
from .special_functions import atanh_ as arctanh_
from .special_functions import atanh_ as atanh_
from .special_functions import bitwise_left_shift as bitwise_left_shift
from .special_functions import bitwise_right_shift as bitwise_right_shift
from .special_functions import complex as complex
from .special_functions import copysign as copysign
from .special_functions import deg2rad as deg2rad
from .special_functions import deg2rad_ as deg2rad_
from .special_functions import digamma as digamma
from .special_functions import erfc as erfc
from .special_functions import erfc_ as erfc_
from .special_functions import erfinv as erfinv
from .special_functions import fill as fill
from .special_functions import fmax as fmax
from .special_functions import fmin as fmin
from .special_functions import frexp as frexp
from .special_functions import gcd as gcd
from .special_functions import gcd_ as gcd_
from .special_functions import heaviside as heaviside
from .special_functions import hypot as hypot
from .special_functions import i0 as i0
from .special_functions import i0_ as i0_
from .special_functions import igamma as igamma
from .special_functions import igammac as igammac
from .special_functions import isneginf as isneginf
from .special_functions import isposinf as isposinf
from .special_functions import isreal as isreal
from .special_functions import lcm as lcm
from .special_functions import lcm_ as lcm_
from .special_functions import ldexp as ldexp
from .special_functions import ldexp_ as ldexp_
from .special_functions import lgamma as lgamma
from .special_functions import logaddexp as logaddexp
from .special_functions import logaddexp2 as logaddexp2
from .special_functions import logit as logit
from .special_functions import logit_ as logit_
from .special_functions import mvlgamma as mvlgamma
from .special_functions import nan_to_num as nan_to_num
from .special_functions import nan_to_num_ as nan_to_num_
from .special_functions import nextafter as nextafter
from .special_functions import polar as polar
from .special_functions import polygamma as polygamma
from .special_functions import rad2deg as rad2deg
from .special_functions import rad2deg_ as rad2deg_
from .special_functions import signbit as signbit
from .special_functions import sinc as sinc
from .special_functions import sinc_ as sinc_
from .special_functions import xlogy as xlogy
from .special_functions import xlogy_ as xlogy_
from .storage import UntypedStorage as UntypedStorage
from .tensors import Tensor as Tensor
from .triangles import tril as tril
from .triangles import tril_indices as tril_indices
from .triangles import triu as triu
from .triangles import triu_indices as triu_indices
from .typed_storage import TypedStorage as TypedStorage
from .typed_storage import cuda as cuda
from .typed_storage import is_storage as is_storage
from .view_copies import adjoint as adjoint
from .view_copies import alias_copy as alias_copy
from .view_copies import as_strided_copy as as_strided_copy
from .view_copies import as_strided_scatter as as_strided_scatter
from .view_copies import detach_copy as detach_copy
from .view_copies import diagonal_copy as diagonal_copy
from .view_copies import diagonal_scatter as diagonal_scatter
from .view_copies import expand_copy as expand_copy
from .view_copies import narrow_copy as narrow_copy
from .view_copies import permute_copy as permute_copy
from .view_copies import select_copy as select_copy
from .view_copies import select_scatter as select_scatter
from .view_copies import slice_copy as slice_copy
from .view_copies import slice_scatter as slice_scatter
from .view_copies import split_copy as split_copy
from .view_copies import split_with_sizes_copy as split_with_sizes_copy
from .view_copies import squeeze_copy as squeeze_copy
from .view_copies import t_copy as t_copy
from .view_copies import transpose_copy as transpose_copy
from .view_copies import unbind_copy as unbind_copy
from .view_copies import unfold_copy as unfold_copy
from .view_copies import unsafe_chunk as unsafe_chunk
from .view_copies import unsafe_split as unsafe_split
from .view_copies import unsafe_split_with_sizes as unsafe_split_with_sizes
from .view_copies import unsqueeze_copy as unsqueeze_copy
from .view_copies import view_as_complex_copy as view_as_complex_copy
from .view_copies import view_as_real_copy as view_as_real_copy
from .view_copies import view_copy as view_copy
from .view_ops import as_strided as as_strided
from .view_ops import atleast_1d as atleast_1d
from .view_ops import atleast_2d as atleast_2d
from .view_ops import atleast_3d as atleast_3d
from .view_ops import broadcast_to as broadcast_to
from .view_ops import chunk as chunk
from .view_ops import detach as detach
from .view_ops import diagonal as diagonal
from .view_ops import dsplit as dsplit
from .view_ops import flatten as flatten
from .view_ops import hsplit as hsplit
from .view_ops import moveaxis as moveaxis
from .view_ops import movedim as movedim
from .view_ops import narrow as narrow
from .view_ops import permute as permute
from .view_ops import ravel as ravel
from .view_ops import reshape as reshape
from .view_ops import select as select
from .view_ops import split_with_sizes as split_with_sizes
from .view_ops import squeeze as squeeze
from .view_ops import swapaxes as swapaxes
from .view_ops import swapdims as swapdims
from .view_ops import t as t
from .view_ops import tensor_split as tensor_split
from .view_ops import torch_split as split
from .view_ops import transpose as transpose
from .view_ops import unbind as unbind
from .view_ops import unflatten as unflatten
from .view_ops import unsqueeze as unsqueeze
from .view_ops import vsplit as vsplit
from .windows import bartlett_window as bartlett_window
from .windows import blackman_window as blackman_window
from .windows import hamming_window as hamming_window
from .windows import hann_window as hann_window

strided = "torch.strided"

# Rarely used, and found when first asked for: what they import costs more than everything above.
_LAZY = {
    "_empty_affine_quantized": "quantized",
    "_empty_per_channel_affine_quantized": "quantized",
    "dequantize": "quantized",
    "int_repr": "quantized",
    "per_channel_affine": "quantizers",
    "per_channel_affine_float_qparams": "quantizers",
    "per_tensor_affine": "quantizers",
    "q_per_channel_axis": "quantized",
    "q_per_channel_scales": "quantized",
    "q_per_channel_zero_points": "quantized",
    "q_scale": "quantized",
    "q_zero_point": "quantized",
    "quantize_per_channel": "quantized",
    "quantize_per_tensor": "quantized",
    "fft": "",
    "from_dlpack": "dlpack",
    "from_file": "mapped_file",
    "linalg": "",
    "load": "serialization",
    "masked": "",
    "multiprocessing": "",
    "save": "serialization",
    "special": "",
    "sparse_coo_tensor": "sparse",
    "to_dlpack": "dlpack",
}


def __getattr__(name):  # type: ignore[no-untyped-def]
    """A module or function that is imported late, or a storage class named after a dtype."""
    from importlib import import_module

    if name in _LAZY:
        module = import_module("." + (_LAZY[name] or name), __name__)
        return getattr(module, name.lstrip("_")) if _LAZY[name] else module
    if name.endswith("Storage"):
        from . import typed_storage

        return getattr(typed_storage, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


inf = float("inf")
nan = float("nan")

# The dtypes under PyTorch's names; `bool`, `int` and `float` hide Python's from here on.
globals().update(_ALL)
half, double = _ALL["float16"], _ALL["float64"]
short, long = _ALL["int16"], _ALL["int64"]
chalf, cfloat, cdouble = _ALL["complex32"], _ALL["complex64"], _ALL["complex128"]
bit = _ALL["uint1"]
float = _ALL["float32"]
int = _ALL["int32"]
