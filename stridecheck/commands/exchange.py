"""`stridecheck exchange`: arrays handed from each library to each other."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from stridecheck.conformance.exchanges import KNOWN, exchange
from stridecheck.conformance.runner import PROGRAM_TIMEOUT, START_TIMEOUT

from .common import out_option, run_in, seconds_option
from .exit_codes import EXIT_CODES


@click.command("exchange", epilog=EXIT_CODES)
@click.argument("libraries", nargs=-1, required=True, metavar="LIBRARY...")
@click.option("--python", default="", metavar="PATH", help="Interpreter of the environment that has the libraries.")
@click.option(
    "--expect", type=click.Path(dir_okay=False, path_type=Path), default=KNOWN, metavar="FILE",
    help="List of what is expected, in the place of the bundled one.",
)  # fmt: skip
@click.option("--update-expectations", is_flag=True, help="Take what is found as expected: write the list anew.")
@click.option("--skip-missing", is_flag=True, help="Libraries that are not here are skipped, not an error.")
@seconds_option("--timeout", "Seconds for one array.", PROGRAM_TIMEOUT)
@seconds_option("--start-timeout", "Seconds that two libraries may load.", START_TIMEOUT)
@out_option()
def exchange_command(libraries: tuple[str, ...], out: Path, **options: Any) -> None:
    """Hand arrays from each library to each other, by DLPack, buffers and array interfaces.

    Layouts and dtypes that are known for trouble: transposed, stepped, expanded, reversed, empty, misaligned,
    read-only, bfloat16, float8. Each is looked at where it arrives: elements, shape, strides, whether memory is shared,
    kept alive and let go, who sees whose writes, whether read-only memory still is, what became of strides that address
    nothing. Exit code 1 says that something is not as listed; of libraries or versions that the list does not know,
    that there was harm. One library alone hands its arrays to itself.

    \b
    Examples
      stridecheck exchange numpy torch
      stridecheck exchange numpy torch jax paddle --python env/bin/python
      stridecheck exchange numpy mine.py --expect mine.txt --update-expectations
    """
    for library in libraries:
        if ">" in library:
            raise click.UsageError(f"{library}: > stands between two libraries, and may be in no name or path of one")
    raise SystemExit(run_in(out, partial(exchange, libraries, out, **options), unit="pairs"))
