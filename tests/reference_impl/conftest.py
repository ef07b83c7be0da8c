"""What the tests against torch share: both sides compute with the same number of threads."""

from __future__ import annotations

import pytest
import stridecheck.reference_impl as ref
import torch


@pytest.fixture(autouse=True)
def _as_many_threads():
    ref.set_num_threads(torch.get_num_threads())
