"""`torch.nn.functional`: images, activations, normalisation."""

from typing import TYPE_CHECKING, Any

from ..activations import alpha_dropout as alpha_dropout
from ..activations import celu as celu
from ..activations import celu_ as celu_
from ..activations import dropout as dropout
from ..activations import dropout1d as dropout1d
from ..activations import dropout2d as dropout2d
from ..activations import dropout3d as dropout3d
from ..activations import elu as elu
from ..activations import elu_ as elu_
from ..activations import feature_alpha_dropout as feature_alpha_dropout
from ..activations import gelu as gelu
from ..activations import glu as glu
from ..activations import gumbel_softmax as gumbel_softmax
from ..activations import hardshrink as hardshrink
from ..activations import hardsigmoid as hardsigmoid
from ..activations import hardswish as hardswish
from ..activations import hardtanh as hardtanh
from ..activations import hardtanh_ as hardtanh_
from ..activations import leaky_relu as leaky_relu
from ..activations import leaky_relu_ as leaky_relu_
from ..activations import logsigmoid as logsigmoid
from ..activations import mish as mish
from ..activations import normalize as normalize
from ..activations import prelu as prelu
from ..activations import relu6 as relu6
from ..activations import rrelu as rrelu
from ..activations import rrelu_ as rrelu_
from ..activations import selu as selu
from ..activations import selu_ as selu_
from ..activations import silu as silu
from ..activations import softmin as softmin
from ..activations import softplus as softplus
from ..activations import softshrink as softshrink
from ..activations import softsign as softsign
from ..activations import tanhshrink as tanhshrink
from ..activations import threshold as threshold
from ..activations import threshold_ as threshold_
from ..adaptive_pooling import adaptive_avg_pool1d as adaptive_avg_pool1d
from ..adaptive_pooling import adaptive_avg_pool2d as adaptive_avg_pool2d
from ..adaptive_pooling import adaptive_avg_pool3d as adaptive_avg_pool3d
from ..adaptive_pooling import adaptive_max_pool1d as adaptive_max_pool1d
from ..adaptive_pooling import adaptive_max_pool1d_with_indices as adaptive_max_pool1d_with_indices
from ..adaptive_pooling import adaptive_max_pool2d as adaptive_max_pool2d
from ..adaptive_pooling import adaptive_max_pool2d_with_indices as adaptive_max_pool2d_with_indices
from ..adaptive_pooling import adaptive_max_pool3d as adaptive_max_pool3d
from ..adaptive_pooling import adaptive_max_pool3d_with_indices as adaptive_max_pool3d_with_indices
from ..arithmetic import relu as _relu
from ..arithmetic import relu_ as relu_
from ..attention import scaled_dot_product_attention as scaled_dot_product_attention
from ..calls import add_numpy_names as _add_numpy_names
from ..classification_losses import ctc_loss as ctc_loss
from ..classification_losses import linear_cross_entropy as linear_cross_entropy
from ..classification_losses import multi_margin_loss as multi_margin_loss
from ..classification_losses import multilabel_margin_loss as multilabel_margin_loss
from ..classification_losses import triplet_margin_with_distance_loss as triplet_margin_with_distance_loss
from ..convolution import conv1d as conv1d
from ..convolution import conv2d as conv2d
from ..convolution import conv3d as conv3d
from ..convolution import conv_transpose1d as conv_transpose1d
from ..convolution import conv_transpose2d as conv_transpose2d
from ..convolution import conv_transpose3d as conv_transpose3d
from ..distances import pdist as pdist
from ..embedding_bags import embedding_bag as embedding_bag
from ..embeddings import embedding as embedding
from ..embeddings import one_hot as one_hot
from ..folding import fold as fold
from ..folding import local_response_norm as local_response_norm
from ..folding import unfold as unfold
from ..fractional_pooling import fractional_max_pool2d as fractional_max_pool2d
from ..fractional_pooling import fractional_max_pool2d_with_indices as fractional_max_pool2d_with_indices
from ..fractional_pooling import fractional_max_pool3d as fractional_max_pool3d
from ..fractional_pooling import fractional_max_pool3d_with_indices as fractional_max_pool3d_with_indices
from ..grid_sampling import affine_grid as affine_grid
from ..grid_sampling import grid_sample as grid_sample
from ..interpolation import interpolate as interpolate
from ..interpolation import upsample as upsample
from ..interpolation import upsample_bilinear as upsample_bilinear
from ..interpolation import upsample_nearest as upsample_nearest
from ..losses import binary_cross_entropy as binary_cross_entropy
from ..losses import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from ..losses import cosine_embedding_loss as cosine_embedding_loss
from ..losses import cosine_similarity as cosine_similarity
from ..losses import cross_entropy as cross_entropy
from ..losses import gaussian_nll_loss as gaussian_nll_loss
from ..losses import hinge_embedding_loss as hinge_embedding_loss
from ..losses import huber_loss as huber_loss
from ..losses import kl_div as kl_div
from ..losses import l1_loss as l1_loss
from ..losses import margin_ranking_loss as margin_ranking_loss
from ..losses import mse_loss as mse_loss
from ..losses import multilabel_soft_margin_loss as multilabel_soft_margin_loss
from ..losses import nll_loss as nll_loss
from ..losses import pairwise_distance as pairwise_distance
from ..losses import poisson_nll_loss as poisson_nll_loss
from ..losses import smooth_l1_loss as smooth_l1_loss
from ..losses import soft_margin_loss as soft_margin_loss
from ..losses import triplet_margin_loss as triplet_margin_loss
from ..multi_head_attention import multi_head_attention_forward as multi_head_attention_forward
from ..normalization import batch_norm as batch_norm
from ..normalization import group_norm as group_norm
from ..normalization import instance_norm as instance_norm
from ..normalization import layer_norm as layer_norm
from ..normalization import rms_norm as rms_norm
from ..padding import pad as pad
from ..pointwise_ops import sigmoid as _sigmoid
from ..pointwise_ops import tanh as _tanh
from ..pooling import avg_pool1d as avg_pool1d
from ..pooling import avg_pool2d as avg_pool2d
from ..pooling import avg_pool3d as avg_pool3d
from ..pooling import max_pool1d as max_pool1d
from ..pooling import max_pool1d_with_indices as max_pool1d_with_indices
from ..pooling import max_pool2d as max_pool2d
from ..pooling import max_pool2d_with_indices as max_pool2d_with_indices
from ..pooling import max_pool3d as max_pool3d
from ..pooling import max_pool3d_with_indices as max_pool3d_with_indices
from ..power_pooling import lp_pool1d as lp_pool1d
from ..power_pooling import lp_pool2d as lp_pool2d
from ..power_pooling import lp_pool3d as lp_pool3d
from ..products import bilinear as bilinear
from ..products import linear as linear
from ..scans import log_softmax as _log_softmax
from ..scans import softmax as _softmax
from ..shuffles import channel_shuffle as channel_shuffle
from ..shuffles import pixel_shuffle as pixel_shuffle
from ..shuffles import pixel_unshuffle as pixel_unshuffle
from ..unpooling import max_unpool1d as max_unpool1d
from ..unpooling import max_unpool2d as max_unpool2d
from ..unpooling import max_unpool3d as max_unpool3d

native_channel_shuffle = channel_shuffle

if TYPE_CHECKING:
    from ..tensors import Tensor


def relu(input: "Tensor", inplace: bool = False) -> "Tensor":
    """Elements, or 0 where they are negative."""
    return relu_(input) if inplace else _relu(input)


def sigmoid(input: "Tensor") -> "Tensor":
    """`torch.sigmoid`."""
    return _sigmoid(input)  # type: ignore[no-any-return]


def tanh(input: "Tensor") -> "Tensor":
    """`torch.tanh`."""
    return _tanh(input)  # type: ignore[no-any-return]


def softmax(input: "Tensor", dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> "Tensor":
    """Softmax along a dimension."""
    return _softmax(input, _default_dim(input) if dim is None else dim, dtype)


def log_softmax(input: "Tensor", dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> "Tensor":
    """Logarithm of the softmax along a dimension."""
    return _log_softmax(input, _default_dim(input) if dim is None else dim, dtype)


def _default_dim(input: "Tensor") -> int:
    return 0 if input.ndim in (0, 1, 3) else 1


# The others are written in Python.
_add_numpy_names(
    globals(),
    only="adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d celu_ channel_shuffle conv1d conv2d conv3d "
    "conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity elu_ gelu hardshrink hardtanh_ leaky_relu_ "
    "linear logsigmoid one_hot pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu selu_ softplus softshrink "
    "threshold_",
)
