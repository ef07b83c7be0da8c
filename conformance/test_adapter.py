"""One test for each rule: `pytest --pyargs stridecheck.conformance --stridecheck-adapter NAME`."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.stridecheck
def test_rule(rule: Any) -> None:
    """The library does what the rule says, or is known not to."""
    rule.check()
