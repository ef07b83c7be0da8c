"""What tests of verdicts share: every difference of two runs, and observations as a worker hands them over."""

from __future__ import annotations

import json

from stridecheck.conformance.capabilities import Capabilities
from stridecheck.conformance.judge import judge
from stridecheck.conformance.observation import from_json, to_json
from stridecheck.conformance.program import ITEMSIZES

ALL = Capabilities(frozenset(ITEMSIZES), exact_errors=True)


def differences(program, expected, got, capabilities=ALL):
    return [d for verdict in judge(program, expected, got, capabilities) for d in verdict.differences]


def as_answered(observations):
    """The same observations as they come out of a worker."""
    return [from_json(json.loads(json.dumps(to_json(o)))) for o in observations]
