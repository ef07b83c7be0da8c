"""The directory that a run writes: one run at a time, and what an earlier one left there is not lost."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class InUse(Exception):
    """Another run is writing into the directory."""


@contextmanager
def begun_in(out: Path, *, anew: bool = True) -> Iterator[bool]:
    """Begin a run in a directory: an earlier one's results are kept as `results.previous.jsonl`; answers if there were.

    What was made of them goes, for it would tell of another run than the results beside it. Where the run turns out to
    be none and has tried nothing, all is put back as it was, and an error that ended it says so.

    Raises
    ------
    InUse
        Another run is writing there; nothing is touched.
    OSError
        The directory cannot be written.
    """
    from stridecheck.reports.render import remove_rendered, render_dirs

    results, previous = out / "results.jsonl", out / "results.previous.jsonl"
    before_previous = out / ".results.before-previous.jsonl"
    with _alone_in(out):
        aside, was_rendered = anew and results.is_file(), False
        if aside:
            if previous.exists():
                previous.replace(before_previous)
            results.replace(previous)
            was_rendered = remove_rendered(out)
        try:
            yield aside
        except BaseException as error:
            if aside and is_idle(results):
                error.add_note(f"the results in {out} are those of an earlier run, as they were")
            raise
        finally:
            if aside and is_idle(results):
                previous.replace(results)
                if before_previous.exists():
                    before_previous.replace(previous)
                if was_rendered:
                    render_dirs([out], out)
            elif aside:
                before_previous.unlink(missing_ok=True)


def is_idle(results: Path) -> bool:
    """Whether a run has tried nothing: its results, where it has any, tell of libraries at most."""
    from stridecheck.reports.records import Adapter, Concluded, Footer, Header, ResultsError, read_results

    try:
        return all(isinstance(record, Header | Adapter | Concluded | Footer) for record in read_results(results))
    except ResultsError:  # there are none, or the disk was full before anything was tried
        return True


@contextmanager
def _alone_in(out: Path) -> Iterator[None]:
    """Make the directory, and lock it; one that was made and stays empty goes again.

    A lock on the directory leaves no file behind, and goes with the process, however that ends.
    """
    made = not out.exists()
    out.mkdir(parents=True, exist_ok=True)
    handle = os.open(out, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUse(f"another run is writing into {out}: give this one a directory of its own (--out)") from None
        except OSError as error:  # some network file systems have no locks
            if error.errno not in (errno.EBADF, errno.ENOLCK, errno.ENOTSUP, errno.EINVAL):
                raise
        yield
    finally:
        os.close(handle)
        if made:
            with suppress(OSError):
                out.rmdir()
