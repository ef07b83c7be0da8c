"""Conformance tests and benchmarks for tensor memory layout, with PyTorch as the standard.

This module stays light: worker processes import it in environments that hold nothing but the library under test.
"""

from importlib import import_module as _import_module
from pathlib import Path as _Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import Results, check
    from .pytest_plugin import parametrize_rules

__version__ = "0.1.0"
__all__ = ["Results", "check", "parametrize_rules"]

_PLACES = {"Results": "api", "check": "api", "parametrize_rules": "pytest_plugin"}

# Python started in the root of a checkout finds this folder before the installed package; the rooms lie beside it then.
_root = _Path(__file__).parent.parent
if (_root / "conformance" / "__init__.py").is_file() and (_root / "pyproject.toml").is_file():
    __path__.append(str(_root))


def __getattr__(name: str) -> Any:
    """What the package offers, imported when it is first asked for."""
    if name not in _PLACES:
        raise AttributeError(f"module 'stridecheck' has no attribute {name!r}")
    return getattr(_import_module(f"stridecheck.{_PLACES[name]}"), name)
