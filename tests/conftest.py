"""Settings for all of the suite's own tests."""

from hypothesis import settings

# No test is timed: a first example compiles kernels, and CI machines are slow.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")
