"""`torch.special`: special functions by name."""

# Names that hide Python's are the point of this namespace.
# ruff: noqa: A004, F401

from .calls import add_numpy_names as _add_numpy_names
from .pointwise_ops import erf as erf
from .pointwise_ops import exp2 as exp2
from .pointwise_ops import expm1 as expm1
from .pointwise_ops import log1p as log1p
from .pointwise_ops import sigmoid as expit
from .pointwise_ops import special_round as round
from .reductions import logsumexp as logsumexp
from .scans import log_softmax as log_softmax
from .scans import softmax as softmax
from .special_functions import SPECIAL as _SPECIAL
from .special_functions import logit as logit
from .special_functions import mvlgamma as multigammaln
from .special_functions import polygamma as polygamma

globals().update(_SPECIAL)
_add_numpy_names(globals())
