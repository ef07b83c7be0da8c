"""A library that does its worst when it is imported or at one operation, and what its worker makes of that."""

from __future__ import annotations

from pathlib import Path

from stridecheck.conformance.program import Input, Program, Ref, Step, Storage

from ..commands import IMPORTER

GOOD = Program((Storage(24),), (Input("float32", (2, 3), (3, 1)),), (Step("neg", (Ref(0),)),))
GUILTY = Program(GOOD.storages, GOOD.inputs, (Step("relu", (Ref(0),)),))

# What a test does at `relu`, on a library that is well otherwise.
LIBRARY = """
import ctypes, os, signal, sys, threading, time
from stridecheck.conformance.adapters.numpy import Numpy
{at_import}

class Mine(Numpy):
    name = "mine"
    forks = {forks}

    def operation(self, step):
        return misbehave if step.op == "relu" else super().operation(step)


def misbehave(*args):
{at_relu}
    return args[0]


adapter = Mine
"""


LOST_AFTER = """
from pathlib import Path
from stridecheck.conformance.adapters.numpy import Numpy


class Mine(Numpy):
    name = "mine"
    made = Path(__file__).with_name("made")

    def tensor(self, *layout):
        with self.made.open("a") as made:
            made.write(".")
        if self.lost():
            raise RuntimeError("error 700")
        return super().tensor(*layout)

    def lost(self):
        return "off the bus" if self.made.exists() and self.made.stat().st_size >= AFTER else ""


adapter = Mine
"""


def lost_after(inputs):
    """An adapter whose device is lost for good once it has made so many inputs."""
    return LOST_AFTER.replace("AFTER", str(inputs))


def answers_of(worker, programs):
    worker.submit(list(enumerate(programs)))
    answers = list(worker.collect())
    assert [number for number, _ in answers] == list(range(len(programs)))
    return [answer for _, answer in answers]


def is_well(answer):
    return isinstance(answer, list) and len(answer) == 2 and answer[1].results == (None,)


KEEPERS = (b"resource_tracker", b"torch_shm_manager", IMPORTER.encode())
"""What keeps account of shared memory for Python and torch, and what runs the tests' commands."""


def children_of(pid):
    """Processes that descend from one, but for those that stay to the end."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
        if parent == pid and not any(keeper in _command(stat.parent) for keeper in KEEPERS):
            child = int(stat.parent.name)
            found += [child, *children_of(child)]
    return found


def _command(process):
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""
