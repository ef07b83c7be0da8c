"""Settings for all of the suite's own tests."""

import signal

from hypothesis import settings

# A CI may start everything with Ctrl-C ignored, which child processes would inherit; tests send it to them.
signal.signal(signal.SIGINT, signal.default_int_handler)

# No test is timed: a first example compiles kernels, and CI machines are slow.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")
