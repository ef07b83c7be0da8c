"""The part of `torch.nn` that the reference has: `functional`."""

from . import functional as functional
