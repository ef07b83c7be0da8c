"""Settings for all of the suite's own tests."""

import gc
import signal
from importlib.metadata import PackageNotFoundError, distribution, requires

import pytest
from hypothesis import settings
from packaging.requirements import Requirement
from stridecheck.conformance.discovery import BUNDLED, EXTRAS

# A CI may start everything with Ctrl-C ignored, which child processes would inherit; tests send it to them.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Programs and observations have no cycles, and the corpus stays: looking at them again and again costs a tenth.
gc.set_threshold(50_000)

# No test is timed: a first example compiles kernels, and CI machines are slow.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")


@pytest.fixture(scope="session")
def absent():
    """Modules whose library is not here, an adapter's as its extra declares it: what is missing, by module."""
    found = {BUNDLED[name]: _missing(name.replace("_", "-")) for name in EXTRAS}
    found["stridecheck.reference_impl.kernels.device_kernel"] = [] if _is_installed("triton") else ["triton"]
    return {module: names for module, names in found.items() if names}


def _missing(extra):
    wanted = [Requirement(text) for text in requires("stridecheck")]
    mine = [
        r for r in wanted if r.marker and r.marker.evaluate({"extra": extra}) and not r.marker.evaluate({"extra": ""})
    ]
    assert mine, f"no extra {extra}"
    return [r.name for r in mine if not _is_installed(r.name)]


def _is_installed(name):
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
