"""`torch.linalg`: products, norms, factorisations and solutions by name."""

from .searching import linalg_cross as cross

__all__ = ["cross"]
