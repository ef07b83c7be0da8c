"""PyTorch's own samples as data: what torch gives, read without it."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from stridecheck.conformance import opinfo, samples
from stridecheck.conformance.corpus import CorpusError


@pytest.mark.skipif(
    torch.__version__.partition("+")[0] != samples.made_by(), reason="the samples are of another version of torch"
)
@pytest.mark.parametrize("operator", ["narrow", "as_strided", "cat"])
def test_the_data_are_what_torch_gives(operator):
    """Inputs and error inputs, each once, in torch's order."""
    live = dict.fromkeys((one.operator, one.kind, one.program.id) for one in opinfo.samples(operator))
    assert [(one.operator, one.kind, one.program.id) for one in samples.read(operator)] == list(live)


def test_they_are_read_without_torch():
    """A machine that has another library alone can run them on it."""
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "from stridecheck.conformance.options import Options\n"
        "from stridecheck.conformance.units import plan\n"
        "units = list(plan(Options(('numpy',), opinfo='narrow'), []))\n"
        "print(sum(len(unit.programs) for unit in units))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert int(done.stdout) == len({one.program.id for one in samples.read("narrow")}) > 10


def test_errors_are_among_them():
    """What PyTorch refuses is as much its behaviour as what it accepts."""
    assert {one.kind for one in samples.read("cat")} == {"sample", "error"}


def test_what_is_written_is_read(tmp_path):
    """Once each, with the version that they are of."""
    some = list(samples.read("narrow"))
    path = tmp_path / "some.jsonl.xz"
    assert samples.write([*some, some[0]], "9.9", path) == len(some)
    assert list(samples.read(path=path)) == some
    assert list(samples.read("cat", path)) == []
    assert samples.made_by(path) == "9.9"


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\xfd7zXZ\x00\x00"])
def test_a_damaged_file_is_told(tmp_path, content):
    """By its name, as the corpus is."""
    path = tmp_path / "broken.jsonl.xz"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=r"broken\.jsonl\.xz"):
        list(samples.read(path=path))
