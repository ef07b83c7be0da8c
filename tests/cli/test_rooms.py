"""Which room may import which other one: the table in docs/architecture.md is true."""

from __future__ import annotations

import ast
import re

import pytest

from .conftest import ROOT

ROOMS = ("reports", "reference_impl", "conformance", "benchmarks", "ci")


def _allowed(room):
    """The rooms, and the modules of rooms, that the table names in the room's last column."""
    table = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| `{room}/` \|.*\| (.*) \|$", table, re.MULTILINE)
    return {room, *re.findall(r"`([\w.]+)`", row)}


def _imports(path):
    """The modules of ours that a file imports, without `stridecheck.`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            depth = len(path.relative_to(ROOT).parts) - 1
            assert node.level <= depth, f"{path}:{node.lineno}: across folders import absolutely"
            names = [f"{node.module}.{alias.name}" for alias in node.names] if not node.level else []
        else:
            continue
        yield from (name.removeprefix("stridecheck.") for name in names if name.startswith("stridecheck."))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_what_the_table_says(room):
    """No file imports another room, or another module of one, than the room's line names."""
    allowed = _allowed(room) | {"__version__"}
    for path in (ROOT / room).rglob("*.py"):
        for name in _imports(path):
            parts = name.split(".")
            assert {parts[0], ".".join(parts[:2])} & allowed, f"{path.relative_to(ROOT)} imports {name}"
