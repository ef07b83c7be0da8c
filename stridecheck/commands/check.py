"""`stridecheck check`: judge libraries."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from stridecheck.conformance.check import Options, asks_for_nothing, check
from stridecheck.conformance.draw.programs import DRAWS
from stridecheck.reports.records import ExitCode

from .common import Seconds, count_option, fail, out_option, run_in, seconds_option, told
from .exit_codes import EXIT_CODES


def _shard(context: click.Context, parameter: click.Parameter, value: str) -> tuple[int, int]:
    """`I/N`, with I from 1 to N."""
    number, _, of = value.partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise click.BadParameter(f"{value!r} is no I/N with I from 1 to N, like 2/3")
    return int(number), int(of)


@click.command("check", epilog=EXIT_CODES)
@click.argument("adapters", nargs=-1, required=True, metavar="ADAPTER...")
@click.option(
    "--rules",
    default=("*",),
    multiple=True,
    metavar="GLOB",
    show_default="*",
    callback=lambda context, parameter, globs: ",".join(globs),
    help="Only programs that exercise these rules; may be given more than once.",
)
@click.option(
    "--programs", type=click.IntRange(0), metavar="N", help="Only the first N corpus programs: a fair sample."
)
@click.option("--examples", type=click.IntRange(0), default=0, metavar="N", help="Also N random programs.")
@click.option("--seconds", type=Seconds(0), default=0.0, metavar="S", help="Also random programs for S seconds.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random programs.")
@click.option(
    "--draw",
    type=click.Choice(DRAWS),
    default="tensors",
    show_default=True,
    help="What random programs are about: tensors alone, or mixed with storages, arrays, files and the like.",
)
@click.option(
    "--driver",
    type=click.Choice(("seeded", "hypothesis")),
    default="seeded",
    show_default=True,
    help="Who draws random programs; Hypothesis remembers what failed, and tries it first the next time.",
)
@click.option(
    "--example-database",
    default="",
    metavar="PLACE",
    help="Where Hypothesis remembers it: a directory, module:attribute (a database of Hypothesis', like one in Redis), "
    "or github:OWNER/REPOSITORY; default: $STRIDECHECK_EXAMPLES, or .hypothesis/stridecheck.",
)
@click.option(
    "--expect",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Known deviations, in the place of the bundled file.",
)
@click.option(
    "--update-expectations", is_flag=True, help="Write the list of corpus programs that fail under each expectation."
)
@click.option(
    "--exhaustive",
    is_flag=True,
    help="Also every small layout with every view target and every small argument (about 77,000 programs).",
)
@click.option("--opinfo", default="", metavar="GLOB", help="Also PyTorch's own samples of these operators ('*': all).")
@click.option(
    "--relayouts", type=click.IntRange(0), default=0, metavar="N", help="Each of them N times in drawn layouts."
)
@click.option("--skip-missing", is_flag=True, help="Libraries and devices that are not here are skipped, not an error.")
@click.option("--python", default="", metavar="PATH", help="Interpreter of the environment that has the library.")
@seconds_option("--timeout", "Seconds for one program; more where its adapter asks for more.", 10.0)
@seconds_option("--start-timeout", "Seconds for a library to import, and to say whether it has lost its device.", 90.0)
@click.option(
    "--memory",
    type=click.IntRange(0),
    default=2048,
    show_default=True,
    metavar="MIB",
    help="Memory by which the library's process may grow; 0 sets no limit.",
)
@count_option("--workers", "Processes that judge at the same time, each with a library of its own.")
@click.option(
    "--shard",
    callback=_shard,
    default="1/1",
    show_default=True,
    metavar="I/N",
    help="Only every N-th unit from the I-th on: N machines share a run, `report` puts it together.",
)
@click.option(
    "--scheduler",
    default="",
    metavar="ADDRESS",
    help="Dask scheduler whose cluster judges (tcp://host:8786); `local` starts one.",
)
@click.option("--resume", is_flag=True, help="Go on with the run in DIR that was ended, where it was.")
@out_option()
def check_command(out: Path, **options: Any) -> None:
    """Judge libraries against the rules of PyTorch's memory layout.

    ADAPTER is an installed name (torch, numpy, cupy, reference), module:attribute, or a path to a Python file. Each
    runs in a process of its own. Without --examples or --seconds only the corpus runs: the same outcome every time.

    \b
    Examples
      stridecheck check torch
      stridecheck check numpy --rules 'view.*' --programs 200
      stridecheck check my_library/adapter.py --seconds 60 --python .venv/bin/python
      stridecheck check torch --examples 1000000 --workers 16 --resume
    """
    asked = Options(**options)
    with told():
        _refuse_idle(asked)
    if asked.driver == "hypothesis" and not asked.example_database:
        asked = replace(asked, example_database=os.environ.get("STRIDECHECK_EXAMPLES", ""))
    code = run_in(out, lambda bars: check(asked, out, bars), anew=not asked.resume)
    raise SystemExit(code)


def _refuse_idle(options: Options) -> None:
    """Refuse options that would do nothing."""
    if problem := asks_for_nothing(options):
        fail(ExitCode.USAGE, problem)
    if options.example_database and options.driver != "hypothesis":
        fail(
            ExitCode.USAGE,
            "--example-database needs --driver hypothesis: seeded programs are drawn again by their seed",
        )
    if options.relayouts and not options.opinfo:
        fail(ExitCode.USAGE, "--relayouts needs --opinfo: it lays those samples out anew")
