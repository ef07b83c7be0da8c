"""Threads that share work: none writes any more once the caller has its answer, or its error."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from stridecheck.reference_impl.kernels.pool import _Job, share


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_of_one_part_waits_for_the_others(error):
    caller, helping, done = threading.get_ident(), threading.Event(), []

    def part(first, last):
        if threading.get_ident() == caller:
            assert helping.wait(10)
            raise error
        helping.set()
        time.sleep(0.1)
        done.append(first)
        return 0

    with pytest.raises(error):
        share(part, 8, 2)
    # What others had begun is done; what nobody had begun is left.
    assert len(done) == 1
    time.sleep(0.3)
    assert len(done) == 1


def test_who_comes_after_a_job_has_ended_does_none_of_it():
    done = []
    job = _Job(lambda first, last: done.append(first) or 0, iter([(0, 1)]))
    job.finish()
    job.help()
    assert done == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
def test_an_interrupt_while_others_still_write_is_raised_when_they_are_done():
    caller, taken, done = threading.get_ident(), threading.Event(), []

    def part(first, last):
        if threading.get_ident() == caller:
            assert taken.wait(10)
        elif not taken.is_set():
            taken.set()
            time.sleep(0.1)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
            done.append(first)
        return 0

    with pytest.raises(KeyboardInterrupt):
        share(part, 8, 2)
    assert done


def test_a_small_job_does_not_wait_for_workers_that_are_busy():
    begun, enough = threading.Event(), threading.Event()

    def slow(first, last):
        begun.set()
        return int(not enough.wait(10))

    answers = []
    other = threading.Thread(target=lambda: answers.append(share(slow, 2, 2)))
    other.start()
    assert begun.wait(10)
    assert share(lambda first, last: 0, 8, 2) == 0
    enough.set()
    other.join()
    assert answers == [0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
def test_a_forked_child_copies_whatever_its_parents_threads_were_at():
    script = """
import os, signal, threading, warnings
import numpy as np
from stridecheck.reference_impl import strided_copy
from stridecheck.reference_impl.kernels import objects
warnings.simplefilter("ignore")
held, enough = threading.Event(), threading.Event()
strided_copy(np.zeros((500, 500)), np.ones((500, 500)).T, threads=2)

def hold():
    with objects._lock:
        held.set()
        enough.wait()

threading.Thread(target=hold).start()
held.wait()
child = os.fork()
if child == 0:
    signal.alarm(60)
    a = np.zeros((600, 400))
    strided_copy(a, np.ones((400, 600)).T, threads=2)
    strided_copy(a.astype("u1"), np.ones((400, 600), "u1").T, threads=2)
    os._exit(int(a.all()))
enough.set()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
"""
    subprocess.run([sys.executable, "-c", script], check=True)
