"""Everything that is made from results files, written beside them.

Each file is written under another name and then renamed: who looks on, or kills the process, has the old
page or the new one, never half of one.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from .run import Run, load

CSV = "csv"
"""Directory of the CSV files inside a results directory."""


def render(run: Run, out: Path) -> list[Path]:
    """Write report.html, summary.md, junit.xml, badge.json and csv/ into a directory; the answer lists them.

    Raises
    ------
    OSError
        The directory cannot be written; files that were there are whole.
    """
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in _files(run, out):
        path = out / name
        path.parent.mkdir(exist_ok=True)
        write_whole(path, text)
        written.append(path)
    return written


def render_dirs(directories: Iterable[Path], out: Path) -> list[Path]:
    """Read and merge results directories or files, and `render` them.

    Raises
    ------
    ResultsError
        A results file is missing, broken or empty; nothing is written then.
    OSError
        The output directory cannot be written.
    """
    return render(load(directories), out)


def _files(run: Run, out: Path) -> Iterator[tuple[str, str]]:
    # What CI needs comes first: were the page to fail, the outcome would still be told.
    from .badge import badge
    from .junit import junit

    yield "junit.xml", '<?xml version="1.0" encoding="UTF-8"?>\n' + junit(run) + "\n"
    yield "badge.json", json.dumps(badge(run), ensure_ascii=False, indent=2) + "\n"

    from .frames import columns
    from .html import page
    from .markdown import markdown

    yield "summary.md", markdown(run)
    for name, frame in run.frames.tables().items():
        yield f"{CSV}/{name}.csv", frame.to_csv(index=False, lineterminator="\n")
    yield f"{CSV}/columns.csv", columns().to_csv(index=False, lineterminator="\n")
    yield "report.html", page(run, out)


RENDERED = ("junit.xml", "badge.json", "summary.md", "report.html")
"""What is written beside results, but for the CSV files."""


def remove_rendered(out: Path) -> bool:
    """Remove what `render` writes into a directory; answers if there was any."""
    paths = [path for path in (*[out / name for name in RENDERED], *(out / CSV).glob("*.csv")) if path.exists()]
    for path in paths:
        path.unlink()
    return bool(paths)


def write_whole(path: Path, text: str) -> None:
    """Write a text file in one go: readers see the old content or the new, never a part."""
    try:
        _write_whole(path, text)
    except OSError as error:  # which names the temporary file, or none
        raise OSError(error.errno, error.strerror, str(path)) from None


def _write_whole(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n", errors="backslashreplace") as file:
            file.write(text)
        temporary.chmod(0o666 & ~_umask())  # mkstemp makes files that only their owner may read
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
