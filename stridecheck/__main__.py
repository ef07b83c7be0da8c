"""The command `stridecheck`: a light way in, for Ctrl-C may come while the heavy modules are still being imported."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Output(io.FileIO):
    """Standard output that never fails in the middle of a command: what it cannot take is remembered and thrown away.

    So a command does all its work, whoever reads, and its own handling of OSError is about its own files.
    """

    error: OSError | None = None

    def write(self, data: ReadableBuffer, /) -> int:
        """Write, or remember why not."""
        try:
            return super().write(data)
        except OSError as error:
            self.error = error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return memoryview(data).nbytes


def _watched() -> _Output | None:
    """Put it in the place of standard output; None where that is closed."""
    if sys.stdout is None:
        return None
    raw = _Output(sys.stdout.fileno(), "w", closefd=False)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw), sys.stdout.encoding, sys.stdout.errors, line_buffering=sys.stdout.isatty()
    )
    return raw


def main() -> None:
    """Run the command line; interrupted, it ends with 130 and one line, and with 3 where its output is lost.

    A reader that has had enough (`| head`) is no error: the exit code is that of what was done.
    """
    output = _watched()
    if sys.stderr is None:  # closed: what would be said there is for nobody
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        from stridecheck.cli import main as commands

        commands()
    except KeyboardInterrupt:
        sys.stderr.write("stridecheck: interrupted\n")
        raise SystemExit(130) from None
    finally:
        if output is not None and output.error is not None and not isinstance(output.error, BrokenPipeError):
            sys.stderr.write(f"stridecheck: standard output: {output.error.strerror}\n")
            raise SystemExit(3)


if __name__ == "__main__":
    main()
