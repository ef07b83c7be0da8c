"""The part of `torch.utils` that the reference has: `dlpack`."""

from . import dlpack as dlpack
