"""`stridecheck bench`: time layouts."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from stridecheck.benchmarks import bench as benchmarks
from stridecheck.benchmarks.cases import describe, select
from stridecheck.benchmarks.self_test import self_test as measure_trust
from stridecheck.reports.records import ExitCode
from stridecheck.reports.run import Run, load

from .common import Bars, count_option, fail, out_option, run_in, show_comparison, told
from .exit_codes import EXIT_CODES


@click.command("bench", epilog=EXIT_CODES)
@click.option(
    "--cases",
    multiple=True,
    metavar="GLOB,...",
    envvar="STRIDECHECK_CASES",
    show_envvar=True,
    help="Only cases that match any glob, like copy or '*/transposed'; may be repeated.",
)
@click.option(
    "--adapters",
    default=",".join(benchmarks.DEFAULT_ADAPTERS),
    show_default=True,
    metavar="A,B",
    help="Libraries to time, as `check` names them. Of the default ones, those that are installed.",
)
@count_option("--threads", "Threads that one operation may use.", envvar="STRIDECHECK_THREADS", show_envvar=True)
@click.option("--quick", is_flag=True, help="Only the quick set, measured more briefly: half a minute.")
@count_option(
    "--processes", "Measure everything in N processes, one after the other: a comparison needs it on both sides."
)
@count_option("--visits", "Let each process come to all cases N times: what disturbs it at one visit counts at none.")
@click.option("--cold", is_flag=True, help="Empty the caches before each call.")
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="RESULTS",
    help="Compare with this earlier run, and exit with 1 where a case is slower.",
)
@click.option("--self-test", "self_test", is_flag=True, help="Measure how far comparisons can be trusted here.")
@count_option("--pairs", "Pairs of complete runs of the self-test.", 2)
@click.option("--list", "list_only", is_flag=True, help="List the cases and time nothing.")
@out_option()
@click.pass_context
def bench_command(
    context: click.Context,
    cases: tuple[str, ...],
    adapters: str,
    threads: int,
    quick: bool,
    processes: int,
    visits: int,
    cold: bool,
    baseline: Path | None,
    self_test: bool,
    pairs: int,
    list_only: bool,
    out: Path,
) -> None:
    """Time layouts: copies, arithmetic, matmul, conv2d and sums over contiguous, transposed, stepped, … tensors.

    A case is operation/layout/dtype/size. All libraries run in one process, in turns, and each result is compared with
    the oracle's. Beside every time stands x_copy: how many times as long it is as the best contiguous copy of the same
    output bytes in the same run; and x_traffic: the same against the cache lines that must be touched.

    Only where --cases asks for them: models and data loaders (model.*), copies to a device (device.*), and layout
    conversions of 64 MB (copy.*).

    \b
    Examples
      stridecheck bench --quick
      stridecheck bench --cases 'copy,sum*/*/*/large'
      stridecheck bench --adapters torch,my_library/adapter.py --threads 2
      stridecheck bench --list --cases '*/channels_last'
      stridecheck bench --cases 'model.*' --adapters torch
      stridecheck bench --processes 3 --visits 4 --out old
      stridecheck bench --processes 3 --visits 4 --out new --baseline old
    """
    with told():
        if list_only:
            for case in select(cases, quick=quick):
                click.echo(describe(case))
            return
    asked = context.get_parameter_source("adapters") is not ParameterSource.DEFAULT
    names = tuple(name.strip() for name in adapters.split(",") if name.strip()) if asked else ()
    if asked and not names:
        fail(ExitCode.USAGE, "--adapters names none")
    if self_test and baseline is not None:
        fail(ExitCode.USAGE, "--self-test makes its own runs: it compares with no --baseline")
    options = benchmarks.Options(cases, names, threads, quick, processes, visits, cold)
    if self_test:
        with told(out), Bars("cases") as bars:
            if not select(cases, quick=quick):
                fail(ExitCode.NOTHING_JUDGED, benchmarks.NONE_IS_QUICK)
            rates = measure_trust(options, pairs, out, bars)
        click.echo("\n".join(rates.lines()))
        return
    with told(out):
        old = _baseline(baseline, [case.name for case in select(cases, quick=quick)], options) if baseline else None
    code = run_in(out, lambda bars: benchmarks.bench(options, out, bars), unit="cases")
    if old is not None:
        with told(out):
            new = load([out])
            if any(timing.status == "ok" for timing in new.timings):  # what failed hides nothing of what did not
                compared = show_comparison(old, new, out)
                code = code or compared
    raise SystemExit(code)


def _baseline(path: Path, cases: list[str], options: benchmarks.Options) -> Run:
    """The run to compare with, looked at before anything is timed: a mistake costs nothing."""
    from stridecheck.conformance.machine import describe as describe_machine
    from stridecheck.reports.compare import check_baseline  # pandas takes a while to import

    old = load([path])
    cache = "cold" if options.cold else "warm"
    check_baseline(old, str(describe_machine()["cpu"]), cases, options.threads, cache)
    return old
