"""`torch.autograd`: the modes, without the engine that computes gradients."""

from .grad_mode import enable_grad as enable_grad
from .grad_mode import inference_mode as inference_mode
from .grad_mode import no_grad as no_grad
from .grad_mode import set_grad_enabled as set_grad_enabled
from .history import backward as backward
