"""Conformance tests and benchmarks for tensor memory layout, with PyTorch as the standard.

This module stays light: worker processes import it in environments that hold nothing but the library under test.
"""

from pathlib import Path as _Path

__version__ = "0.1.0"

# Python started in the root of a checkout finds this folder before the installed package; the rooms lie beside it then.
_root = _Path(__file__).parent.parent
if (_root / "conformance" / "__init__.py").is_file() and (_root / "pyproject.toml").is_file():
    __path__.append(str(_root))
