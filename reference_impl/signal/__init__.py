"""The part of `torch.signal` that there is: `windows`."""

from . import windows as windows
