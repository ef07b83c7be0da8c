"""What a strided tensor must do: PyTorch's layout semantics over NumPy memory, with PyTorch's own names.

``import stridecheck.reference_impl as torch`` runs code that was written for the layout part of torch.
"""

from . import errors as errors
from .arithmetic import abs as abs
from .arithmetic import add as add
from .arithmetic import mul as mul
from .arithmetic import neg as neg
from .arithmetic import relu as relu
from .arithmetic import rsub as rsub
from .arithmetic import sub as sub
from .constructors import arange as arange
from .constructors import empty as empty
from .constructors import empty_like as empty_like
from .constructors import empty_permuted as empty_permuted
from .constructors import empty_strided as empty_strided
from .constructors import eye as eye
from .constructors import full as full
from .constructors import full_like as full_like
from .constructors import linspace as linspace
from .constructors import manual_seed as manual_seed
from .constructors import ones as ones
from .constructors import ones_like as ones_like
from .constructors import rand as rand
from .constructors import rand_like as rand_like
from .constructors import randint as randint
from .constructors import randn as randn
from .constructors import randn_like as randn_like
from .constructors import scalar_tensor as scalar_tensor
from .constructors import tensor as tensor
from .constructors import zeros as zeros
from .constructors import zeros_like as zeros_like
from .copies import clone as clone
from .copies import resolve_conj as resolve_conj
from .copies import resolve_neg as resolve_neg
from .device import device as device
from .dtype_view import conj as conj
from .dtype_view import imag as imag
from .dtype_view import real as real
from .dtype_view import view_as_complex as view_as_complex
from .dtype_view import view_as_real as view_as_real
from .dtypes import ALL as _ALL
from .dtypes import dtype as dtype
from .elementwise import broadcast_shapes as broadcast_shapes
from .grad_mode import enable_grad as enable_grad
from .grad_mode import is_grad_enabled as is_grad_enabled
from .grad_mode import no_grad as no_grad
from .grad_mode import set_grad_enabled as set_grad_enabled
from .kernels import strided_copy as strided_copy
from .layout import Layout as Layout
from .memory_format import channels_last as channels_last
from .memory_format import channels_last_3d as channels_last_3d
from .memory_format import contiguous_format as contiguous_format
from .memory_format import memory_format as memory_format
from .memory_format import preserve_format as preserve_format
from .numpy_bridge import as_tensor as as_tensor
from .numpy_bridge import asarray as asarray
from .numpy_bridge import from_numpy as from_numpy
from .numpy_bridge import frombuffer as frombuffer
from .promotion import get_default_dtype as get_default_dtype
from .promotion import promote_types as promote_types
from .promotion import set_default_dtype as set_default_dtype
from .shadow import marks_of as element_marks
from .size import Size as Size
from .storage import UntypedStorage as UntypedStorage
from .tensor import Tensor as Tensor
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
from .view_ops import split as split
from .view_ops import split_with_sizes as split_with_sizes
from .view_ops import squeeze as squeeze
from .view_ops import swapaxes as swapaxes
from .view_ops import swapdims as swapdims
from .view_ops import t as t
from .view_ops import tensor_split as tensor_split
from .view_ops import transpose as transpose
from .view_ops import unbind as unbind
from .view_ops import unflatten as unflatten
from .view_ops import unsqueeze as unsqueeze
from .view_ops import vsplit as vsplit

strided = "torch.strided"
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
