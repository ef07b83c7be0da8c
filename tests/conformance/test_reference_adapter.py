"""The oracle's adapter reads from where things stand; what users call says the same."""

from __future__ import annotations

import pytest
from stridecheck.conformance import corpus
from stridecheck.conformance.adapters import reference
from stridecheck.conformance.adapters.torch_style import TorchStyle
from stridecheck.conformance.draw.programs import draw_program
from stridecheck.conformance.draw.source import Seeded
from stridecheck.conformance.execute import Execution
from stridecheck.conformance.program import Input, Program, Storage
from stridecheck.conformance.protocol import Undefined


class _Asking(reference.Reference):
    """The same adapter by public methods alone."""

    tensor, describe, flags = TorchStyle.tensor, TorchStyle.describe, TorchStyle.flags
    storage_of, bytes_of = TorchStyle.storage_of, TorchStyle.bytes_of


def _programs():
    yield from corpus.read(200)
    yield from (draw_program(Seeded(f"asked:{n}"), reference.adapter(), draw="all").program for n in range(200))


def test_what_is_read_is_what_methods_say():
    """Layout, contiguity, version, flags, storage and bytes of every tensor after every program."""
    near, asking = reference.adapter(), _Asking()
    seen = 0
    for program in _programs():
        run = Execution(near, program.storages, program.inputs)
        try:
            for step in program.steps:
                run.step(step)
        except Undefined:
            continue
        for x in run.live.values():
            assert near.describe(x) == asking.describe(x)
            assert near.storage_of(x) is asking.storage_of(x)
            assert near.bytes_of(x.untyped_storage()) == asking.bytes_of(x.untyped_storage())
            seen += 1
    assert seen > 500


@pytest.mark.parametrize("nbytes", [24, 64])
def test_inputs_are_the_tensors_that_set_would_give(nbytes):
    """An input is what `set_` and `.data` make, also where it reaches past its storage."""
    program = Program((Storage(nbytes),), (Input("float32", (2, 3), (4, 1), 1),), ())
    made = [Execution(adapter, program.storages, program.inputs) for adapter in (reference.adapter(), _Asking())]
    assert made[0].states == made[1].states
    # What a storage has grown by is not specified.
    ours, theirs = (run.contents["s0"] for run in made)
    assert ours.shadow == theirs.shadow
    assert ours.data[:nbytes] == theirs.data[:nbytes]
