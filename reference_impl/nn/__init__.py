"""The parts of `torch.nn` that the reference has: `functional`, `init` and `parameter`."""

from . import functional as functional
from . import init as init
from . import parameter as parameter
from .parameter import Buffer as Buffer
from .parameter import Parameter as Parameter
