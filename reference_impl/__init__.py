"""What a strided tensor must do: PyTorch's layout semantics over NumPy memory, with PyTorch's own names.

``import stridecheck.reference_impl as torch`` runs code that was written for the layout part of torch.
"""

# Names that hide Python's, and names under which PyTorch has the same function twice, are the point of this namespace;
# it is packed so that the whole of it can be seen.
# ruff: noqa: A004, F401, I001

from types import FunctionType as _FunctionType

# fmt: off
from . import errors, nn
from .activations import (
    celu, celu_, hardshrink, prelu, rrelu_, selu, selu_, threshold, threshold_,
    torch_alpha_dropout as alpha_dropout, torch_alpha_dropout_ as alpha_dropout_, torch_dropout as dropout,
    torch_dropout_ as dropout_, torch_feature_alpha_dropout as feature_alpha_dropout,
    torch_feature_alpha_dropout_ as feature_alpha_dropout_, torch_feature_dropout as feature_dropout,
    torch_feature_dropout_ as feature_dropout_, torch_rrelu as rrelu,
)
from .adaptive_pooling import adaptive_avg_pool1d, adaptive_max_pool1d_with_indices as adaptive_max_pool1d
from .advanced_indexing import argwhere, index_put, index_put_, nonzero, nonzero_static, unravel_index
from .arithmetic import (
    abs, abs as absolute, abs_, add, mul, mul as multiply, neg, neg as negative, neg_, neg_ as negative_, relu, relu_,
    rsub, sub, sub as subtract,
)
from .calls import add_numpy_names as _add_numpy_names, refusing as _refusing, with_numpy_names as _with_numpy_names
from .choosing import addcdiv, addcmul, allclose, equal, isclose, lerp, where
from .clamping import clamp, clamp as clip, clamp_, clamp_ as clip_, clamp_max, clamp_max_, clamp_min, clamp_min_
from .combining import block_diag, cartesian_prod, combinations, diagflat, kron
from .constructors import (
    empty, empty_like, empty_permuted, empty_strided, eye, full, full_like, ones, ones_like, scalar_tensor, zeros,
    zeros_like,
)
from .contraction import einsum, inner, tensordot
from .convolution import (
    conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d, convolution,
)
from .copies import clone, fill_, resolve_conj, resolve_neg, zero_
from .determinism import (
    are_deterministic_algorithms_enabled, is_deterministic_algorithms_warn_only_enabled, use_deterministic_algorithms,
)
from .devices import device, get_default_device, set_default_device
from .differences import cumulative_trapezoid, diff, gradient, trapezoid, trapezoid as trapz
from .distances import cdist, dist, pdist
from .division import div, div as divide, div as true_divide, floor_divide
from .dtype_view import conj, conj_view as _conj, imag, neg_view as _neg_view, real, view_as_complex, view_as_real
from .dtypes import ALL as _ALL, dtype
from .embedding_bags import torch_embedding_bag as embedding_bag
from .factories import factory as _factory, make_factories as _make_factories
from .extremes import amax, amin, aminmax, argmax, argmin, max, min
from .factorizations import (
    geqrf, lu_unpack, lu_with_info as lu, old_cholesky as cholesky, old_qr as qr, old_svd as svd, orgqr, ormqr,
)
from .formats import (
    channels_last, channels_last_3d, contiguous_format, jagged, layout, memory_format, preserve_format, sparse_bsc,
    sparse_bsr, sparse_coo, sparse_csc, sparse_csr, strided, _mkldnn,
)
from .from_values import tensor
from .grad_mode import (
    enable_grad, inference_mode, is_grad_enabled, is_inference, is_inference_mode_enabled, no_grad, set_grad_enabled,
)
from .histograms import histogramdd
from .index_ops import gather, index_select, masked_fill, masked_scatter, masked_select, take, take_along_dim
from .index_writes import index_add, index_copy, index_fill, put, scatter, scatter_add
from .joining import (
    broadcast_shapes, broadcast_tensors, cat, cat as concatenate, column_stack, concat, diag, diag_embed, dstack,
    hstack, meshgrid, stack, tile, torch_repeat_interleave as repeat_interleave, trace, vstack,
    vstack as row_stack,
)
from .layout import Layout
from .linear_algebra import addmm, addmv, addmv_, baddbmm, bmm, dot, mm, mv, vdot
from .losses import cosine_similarity, pairwise_distance
from .matrices import (
    logdet, matrix_exp, matrix_power, old_det as det, old_slogdet as slogdet, old_vander as vander,
)
from .metadata import as_strided_, detach_, resize_as_, shape_as_tensor as _shape_as_tensor
from .moments import corrcoef, cov, std, std_mean, var, var_mean
from .nan_reductions import nanmean, nansum
from .native_normalization import native_batch_norm, native_group_norm, native_layer_norm
from .normalization import group_norm, layer_norm, rms_norm
from .norms import renorm, torch_norm as norm
from .numpy_bridge import asarray, as_tensor, frombuffer, from_numpy
from .order_statistics import kthvalue, median, mode, msort, nanmedian, nanquantile, quantile
from .padding import constant_pad_nd
from .pointwise_ops import (
    acos, acos as arccos, acos_, acos_ as arccos_, asin, asin as arcsin, asin_, asin_ as arcsin_, atan, atan as arctan,
    atan2, atan2 as arctan2, atan_, atan_ as arctan_, bitwise_and, bitwise_not, bitwise_or, bitwise_xor, ceil, ceil_,
    conj_physical, conj_physical_, conj_physical_copy as _conj_physical,
    cos, cosh, cosh_, cos_, eq, erf, erf_, exp, exp2, exp2_, expm1, expm1_, exp_, floor,
    floor_, fmod, frac, frac_, ge, ge as greater_equal, gt, gt as greater, isfinite, isinf, isnan, le, le as less_equal,
    log, log10, log10_, log1p, log1p_, log2, log2_, logical_and, logical_not, logical_or, logical_xor, log_, lt,
    lt as less, maximum, minimum, ne, ne as not_equal, positive, reciprocal, reciprocal_, remainder, round, round_,
    rsqrt, rsqrt_, sgn, sigmoid, sigmoid_, sign, sin, sinh, sinh_, sin_, sqrt, sqrt_, tan, tanh, tanh_, tan_, trunc,
    trunc as fix, trunc_, trunc_ as fix_,
)
from .pooling import avg_pool1d, max_pool1d, max_pool1d_with_indices, max_pool2d, max_pool3d
from .powers import float_power, pow, square, square_
from .predicates import (
    can_cast, is_zerotensor as _is_zerotensor, is_complex, is_conj,
    assert_ as _assert, is_floating_point, is_neg, is_nonzero, is_same_size, is_signed, is_tensor, numel,
    result_type, typename,
)
from .printing import set_printoptions
from .products import addbmm, addr, cross, ger, matmul, outer
from .promotion import get_default_dtype, promote_types, set_default_dtype
from .quantized_dispatch import install as _let_functions_know_quantised_tensors
from .randomness import (
    bernoulli, multinomial, normal, poisson, rand, randint, randint_like, randn, randn_like, randperm,
    rand_like,
)
from .ranges import arange, linspace, logspace, range_with_end as range
from .reductions import all, any, count_nonzero, hash_tensor, logsumexp, mean, prod, sum
from .scans import (
    argsort, cummax, cummin, cumprod, cumsum, flip, fliplr, flipud, logcumsumexp, log_softmax, roll, rot90, softmax,
    sort, topk,
)
from .scatter_reduction import index_reduce, scatter_reduce
from .searching import bincount, bucketize, histc, histogram, isin, searchsorted, unique, unique_consecutive
from .shadow import marks_of as element_marks
from .segments import segment_reduce, segment_reduce as _segment_reduce
from .short_time_fourier import istft, stft
from .shuffles import channel_shuffle, channel_shuffle as native_channel_shuffle, pixel_shuffle, pixel_unshuffle
from .size import Size
from .slicing_ops import (
    as_strided, chunk, diagonal, dsplit, hsplit, narrow, select, split_with_sizes, tensor_split, torch_split as split,
    unbind, vsplit,
)
from .solving import (
    cholesky_inverse, cholesky_solve, inverse, old_lu_solve as lu_solve, pinverse, triangular_solve,
)
from .number_parts import complex, frexp, ldexp, ldexp_, nextafter, polar
from .special_functions import (
    acosh, acosh as arccosh, acosh_, acosh_ as arccosh_, angle, asinh, asinh as arcsinh, asinh_, asinh_ as arcsinh_,
    atanh, atanh as arctanh, atanh_, atanh_ as arctanh_, bitwise_left_shift, bitwise_right_shift, copysign,
    deg2rad, deg2rad_, digamma, erfc, erfc_, erfinv, fill, fmax, fmin, gcd, gcd_, heaviside, hypot, i0, i0_,
    igamma, igammac, isneginf, isposinf, isreal, lcm, lcm_, lgamma, logaddexp, logaddexp2, logit, logit_,
    mvlgamma, nan_to_num, nan_to_num_, polygamma, rad2deg, rad2deg_, signbit, sinc, sinc_, xlogy,
    xlogy_,
)
from .shared_memory import init_reductions as _init_reductions
from .storage import UntypedStorage
from .tensors import Tensor
from .threads import get_num_threads, set_num_threads
from .triangles import tril, tril_indices, triu, triu_indices
from .typed_storage import cuda, is_storage, TypedStorage
from .view_copies import (
    adjoint, alias_copy, as_strided_copy, as_strided_scatter, detach_copy, diagonal_copy, diagonal_scatter, expand_copy,
    narrow_copy, permute_copy, select_copy, select_scatter, slice_copy, slice_inverse, slice_scatter, split_copy,
    split_with_sizes_copy, squeeze_copy, transpose_copy, t_copy, unbind_copy, unfold_copy, unsafe_chunk, unsafe_split,
    unsafe_split_with_sizes, unsqueeze_copy, view_as_complex_copy, view_as_real_copy, view_copy,
)
from .view_ops import (
    atleast_1d, atleast_2d, atleast_3d, broadcast_to, detach, flatten, moveaxis, movedim, permute, ravel, reshape,
    squeeze, swapaxes, swapdims, t, transpose, unflatten, unsqueeze,
)
from .windows import bartlett_window, blackman_window, hamming_window, hann_window, kaiser_window
# fmt: on

# However a tensor is sent to another process, both see the same memory.
_init_reductions()

# Rarely used, and found when first asked for: what they import costs more than everything above.
_LAZY = {
    "autograd": "",
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
    "functional": "",
    "from_dlpack": "dlpack",
    "from_file": "mapped_file",
    "linalg": "",
    "load": "serialization",
    "masked": "",
    "multiprocessing": "",
    "ops": "",
    "random": "",
    "save": "serialization",
    "serialization": "",
    "signal": "",
    "special": "",
    "sparse_coo_tensor": "sparse",
    "to_dlpack": "dlpack",
    "utils": "",
}
_LAZY.update(
    (name, module)
    for module, names in {
        "kernel_functions": "_adaptive_avg_pool2d _adaptive_avg_pool3d _aminmax _cast_Byte _cast_Char _cast_Double "
        "_cast_Float _cast_Half _cast_Int _cast_Long _cast_Short _conj_copy _dim_arange _is_all_true _is_any_true "
        "_index_put_impl_ _log_softmax _logcumsumexp _neg_view_copy _softmax _stack _unique _unique2 _unsafe_index "
        "_unsafe_index_put binomial conv_tbc frobenius_norm get_device native_dropout norm_except_dim nuclear_norm "
        "_embedding_bag _int_mm _masked_softmax _safe_softmax _weight_norm",
        "contraction": "_trilinear",
        "grid_sampling": "affine_grid_generator grid_sampler grid_sampler_2d grid_sampler_3d",
        "least_squares": "chain_matmul pca_lowrank svd_lowrank",
        "products": "bilinear",
        "native_functions": "batch_norm binary_cross_entropy_with_logits cosine_embedding_loss ctc_loss "
        "_debug_has_internal_overlap embedding embedding_renorm_ hinge_embedding_loss instance_norm kl_div "
        "margin_ranking_loss poisson_nll_loss triplet_margin_loss",
        "number_limits": "finfo iinfo",
        "recurrent": "gru lstm rnn_relu rnn_tanh",
        "recurrent_cells": "gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell",
        "generator": "Generator default_generator get_rng_state initial_seed manual_seed seed set_rng_state",
        "quantized_constructors": "_empty_affine_quantized _empty_per_channel_affine_quantized empty_quantized "
        "_make_per_channel_quantized_tensor _make_per_tensor_quantized_tensor",
        "quantized_pooling": "quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d",
        "quantizers": "per_channel_symmetric per_tensor_symmetric qscheme",
        "simulated_quantization": "fake_quantize_per_channel_affine fake_quantize_per_tensor_affine "
        "quantize_per_tensor_dynamic",
    }.items()
    for name in names.split()
)


def __getattr__(name):  # type: ignore[no-untyped-def]
    """A module or function that is imported late, or a class of storages or tensors named after a dtype."""
    from importlib import import_module

    if name in _LAZY:
        module = import_module("." + (_LAZY[name] or name), __name__)
        found = getattr(module, name.lstrip("_")) if _LAZY[name] else module
        # One object however often it is asked for.
        globals()[name] = found = _with_numpy_names(found) if isinstance(found, _FunctionType) else found
        return found
    if name.startswith("_foreach_"):
        from . import foreach

        return foreach.function(name)
    if name.endswith("Tensor"):
        from .tensor_types import TYPES

        if name in TYPES:
            return TYPES[name]
    if name.endswith("Storage"):
        from . import typed_storage

        return getattr(typed_storage, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_make_factories(
    globals(),
    "arange as_tensor asarray bartlett_window blackman_window empty empty_permuted empty_strided eye full "
    "hamming_window hann_window kaiser_window linspace logspace ones rand randint randn randperm scalar_tensor "
    "tensor tril_indices triu_indices zeros",
)
normal, range = _factory(normal, by_default=False), _factory(range, by_default=False)
_add_numpy_names(
    globals(),
    but_not="block_diag broadcast_tensors cartesian_prod cdist einsum meshgrid norm split stft tensordot unique "
    "unique_consecutive",
)

from math import e, inf, nan, pi  # noqa: E402 - after the function of this module that finds what is missing

newaxis = None

for _name in ("eig", "lstsq", "matrix_rank", "solve", "symeig"):
    globals()[_name] = _refusing(_name, errors.LayoutError, "argument", "was removed from PyTorch")

# The dtypes under PyTorch's names; `bool`, `int` and `float` hide Python's from here on.
globals().update(_ALL)
half, double = _ALL["float16"], _ALL["float64"]
short, long = _ALL["int16"], _ALL["int64"]
chalf, cfloat, cdouble = _ALL["complex32"], _ALL["complex64"], _ALL["complex128"]
bit = _ALL["uint1"]
float = _ALL["float32"]
int = _ALL["int32"]

_let_functions_know_quantised_tensors()

# It takes arrays: what looks at the arguments of tensors' functions would cost more than a small copy.
from .kernels import strided_copy  # noqa: E402
