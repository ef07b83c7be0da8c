"""The parts of `torch.nn` that the reference has: `functional` and `init`."""

from . import functional as functional
from . import init as init
