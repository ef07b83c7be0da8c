"""Fixtures of the kernels' tests."""

import pytest
from stridecheck.reference_impl.kernels import engine


@pytest.fixture(scope="module")
def shared():
    """Threads share even what is small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "SHARED", 0)
        yield
