"""Checks the libraries that can be had here, each in an environment of its own, and what they hand to each other.

The third parties' environments are made by pip, as the extras of `pyproject.toml` and the pins of `ci/libraries.txt`
say; torch's modes run in the suite's own, and other releases of PyTorch where they are asked for. A library that cannot
be had is named with the reason, and the others go on.
Exit codes: 0 everything as expected, 1 something is not, 3 no library could be had.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from stridecheck.conformance import corpus
from stridecheck.conformance.expectations import BUNDLED
from stridecheck.reports.records import ExitCode

from .findings import Finding, alone, forked, read_findings, show

ENVIRONMENTS = Path(".cache", "libraries")
CONSTRAINTS = Path("ci", "libraries.txt")
FINDINGS = Path("docs", "findings")
OUT = Path("out", "libraries")
INSTALL_SECONDS = 600
CHECK_SECONDS = 1200
NO_SPACES = "inductor hands paths of its environment to the C++ compiler without quotes, and these have a space"


class Library(NamedTuple):
    """One library: how it is checked, and what part of the stated number of programs it gets."""

    adapter: str
    extra: str = ""
    """The extras that install it, between commas; empty for what the suite's own environment has."""
    share: float = 1.0
    release: str = ""
    """A release of PyTorch, in an environment of its own; empty for the one that is pinned."""
    is_handed: bool = False
    """Whether it and NumPy hand arrays to each other in its environment, since it fits into no other."""

    @property
    def is_apart(self) -> bool:
        """Whether it has an environment of its own."""
        return bool(self.extra or self.release)

    @property
    def name(self) -> str:
        """How it is called in file names: `torch:meta` is `torch-meta`, and a release `torch-2.12.1`."""
        return f"torch-{self.release}" if self.release else self.adapter.replace(":", "-").replace("_", "-")


LIBRARIES = (
    Library("torch:meta", share=6),
    Library("torch:fake"),
    # Each program is compiled: about a fifth of a second each, and a second.
    Library("torch:compile-aot_eager", share=0.1),
    Library("torch:compile", share=0.1),
    Library("array_api_strict", "array-api-strict", 60),
    Library("mlx", "mlx", 20),
    Library("dask", "dask", 1.5),
    Library("tinygrad", "tinygrad", 1),  # without a compiler it interprets
    Library("jax", "jax", 0.3),  # it compiles each operation once for each shape
    Library("paddle", "paddle"),
    Library("dpnp", "dpnp", 0.5, is_handed=True),
)
EXCHANGE = Library("exchange", "torch,array-api-strict,jax,mlx,paddle,tinygrad")
"""All that fit into one environment, handing arrays to each other."""
RELEASES = tuple(
    Library("torch:cpu", share=60, release=release)
    for release in ("2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0")
)
"""PyTorch as the registry has it, with CUDA in it: five gigabytes each, so only those that are asked for by name."""
DEFAULT_PROGRAMS = 1000


class Outcome(NamedTuple):
    """What came of one library: `had` tells whether it could be had, `red` whether something is not as expected."""

    had: bool
    red: bool
    told: str


def requirements(extra: str) -> list[str]:
    """What extras of the suite install, with NumPy, which their adapters hand bytes over with."""
    offered = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    return [*(wanted for name in extra.split(",") for wanted in offered[name]), "numpy>=2.1"]


def environment(library: Library, maker: str = sys.executable) -> tuple[Path | None, str]:
    """The interpreter of a library's environment, made or completed first; None and the reason where it cannot be.

    `maker` is the interpreter that makes one.
    """
    if not library.is_apart:
        python = Path(sys.executable)
        return (None, NO_SPACES) if library.adapter == "torch:compile" and " " in str(python) else (python, "")
    # `===`: a build of that release without CUDA, which a machine may have beside the registry's, is not meant.
    wanted = [f"torch==={library.release}", "numpy"] if library.release else requirements(library.extra)
    pins = [] if library.release else ["--constraint", str(CONSTRAINTS)]
    home = ENVIRONMENTS / library.name
    python, stamp = home / "bin" / "python", home / "installed"
    key = "\n".join([*wanted, CONSTRAINTS.read_text(encoding="utf-8")])
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == key:
        return python, ""
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--retries", "1"]
    for command in ([maker, "-m", "venv", str(home)], [*pip, *pins, *wanted]):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return None, f"not installed within {INSTALL_SECONDS} s"
        except OSError as error:
            return None, f"{command[0]}: {error.strerror}"
        if done.returncode:
            lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
            return None, next(
                (line for line in lines if line.startswith("ERROR")), lines[-1] if lines else "pip failed"
            )
    stamp.write_text(key, encoding="utf-8")
    return python, ""


def check(library: Library, python: Path, programs: int, *, update: bool = False) -> tuple[int, str]:
    """The exit code of a check, or of an exchange, and what it said in one line."""
    if library is EXCHANGE:
        return exchange(library, python, update=update)
    some = str(max(1, round(programs * library.share)))
    code, lines = _said(library.name, ["check", library.adapter, "--programs", some, "--timeout", "60"], python, update)
    return code, " · ".join(lines[:3])


def exchange(library: Library, python: Path, *, update: bool = False) -> tuple[int, str]:
    """The exit code of what NumPy and those of an environment hand to each other, and what it said in one line."""
    # A list each: what an environment has beside NumPy, and of which version, is nothing to the others.
    name = library.name if library is EXCHANGE else f"exchange-{library.name}"
    what = ["exchange", "numpy", *library.extra.replace("-", "_").split(","), "--expect", str(BUNDLED / f"{name}.txt")]
    code, lines = _said(name, what, python, update)
    unlisted = [line for line in lines[3 if code else 1 :] if line.endswith("judged by harm alone")]
    return code, " · ".join([*lines[: 3 if code else 1], *unlisted])


def _said(name: str, what: Sequence[str], python: Path, update: bool) -> tuple[int, list[str]]:
    """The exit code of a command of the suite, and what it said, but for where its report is."""
    command = [sys.executable, "-m", "stridecheck", *what, "--python", str(python), "--out", str(OUT / name)]
    command += ["--start-timeout", "300", *(["--update-expectations"] if update else [])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=CHECK_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return 1, [f"not done within {CHECK_SECONDS} s"]
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return done.returncode, [line.lstrip("✓ ") for line in lines if not line.startswith(("report:", "beside it:"))]


def forget_what_is_gone() -> None:
    """Leave programs that are no longer in the corpus out of these libraries' lists of known deviations."""
    ids = {program.id for program in corpus.read()}
    for path in (BUNDLED / f"{library.adapter.replace(':', '-')}.txt" for library in LIBRARIES):
        if path.is_file():
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            kept = [line for line in lines if line.startswith("#") or line.split()[-1] in ids]
            path.write_text("".join(kept), encoding="utf-8")


def run_findings(library: Library, python: Path) -> list[str]:
    """What is wrong with the findings about a library: those that show nothing, or something else.

    Of compiled programs inductor shows those that want it, and aot_eager the others. The exchange shows what eager
    torch does to arrays of other libraries.
    """
    page = FINDINGS / f"{'torch-cpu' if library is EXCHANGE else library.name.removesuffix('-aot-eager')}.md"
    on_page: Sequence[Finding] = read_findings(page) if page.is_file() else ()
    found = [one for one in on_page if one.needs_inductor == (library.adapter == "torch:compile")]
    with nullcontext(alone(python)) if library.is_apart else forked(python, "torch") as run:
        return [f"{one.id}: {problem}" for one in found if (problem := show(one, run))]


def main() -> int:
    """Check what was asked for, and say what came of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="python -m stridecheck.ci.libraries")
    parser.add_argument("--programs", type=int, default=DEFAULT_PROGRAMS, help="corpus programs (default: %(default)s)")
    parser.add_argument("--only", default="", help="libraries by name, between commas (default: all but releases)")
    parser.add_argument("--update", action="store_true", help="write the lists of known deviations anew")
    parser.add_argument("--python", default=sys.executable, help="interpreter of new environments (default: this one)")
    parser.add_argument(
        "--jobs",
        type=int,
        default=min(4, os.cpu_count() or 1),
        help="libraries at the same time (default: %(default)s)",
    )
    parser.add_argument("--no-findings", action="store_true", help="leave the scripts of docs/findings out")
    options = parser.parse_args()
    names = [name for name in options.only.split(",") if name]
    offered = {library.name: library for library in (*LIBRARIES, EXCHANGE, *RELEASES)}
    if unknown := sorted({*names} - {*offered}):
        parser.error(f"no library {', '.join(unknown)}; there are {', '.join(offered)}")
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs}: at least one library has to be checked")
    if options.update:
        options.jobs = 1  # releases of one library share a list
        forget_what_is_gone()
    wanted = [offered[name] for name in offered if name in names] if names else (*LIBRARIES, EXCHANGE)
    outcomes = []
    pool = ThreadPoolExecutor(options.jobs)
    try:
        # The exchange takes longest: begun last, it would be alone in the end.
        coming = {one: pool.submit(_timed, one, options) for one in sorted(wanted, key=lambda one: one is not EXCHANGE)}
        for library in wanted:
            outcome, seconds = coming[library].result()
            outcomes.append(outcome)
            mark = "✗" if outcome.red else "✓" if outcome.had else "–"
            print(f"{mark} {library.name}: {outcome.told} ({seconds:.0f} s)", flush=True)
    except KeyboardInterrupt:
        # What runs in other processes has been told, too; the threads would go on with what comes after it.
        os._exit(130)
    finally:
        pool.shutdown(cancel_futures=True)
    if not any(outcome.had for outcome in outcomes):
        return ExitCode.COULD_NOT_RUN
    return int(any(outcome.red for outcome in outcomes))


def _timed(library: Library, options: argparse.Namespace) -> tuple[Outcome, float]:
    begun = time.monotonic()
    return _one(library, options), time.monotonic() - begun


def _one(library: Library, options: argparse.Namespace) -> Outcome:
    python, reason = environment(library, options.python)
    if python is None:
        return Outcome(False, False, f"cannot be had here, {reason}")
    code, told = check(library, python, options.programs, update=options.update)
    if code == ExitCode.COULD_NOT_RUN and not library.is_apart:  # a mode of torch that lacks something here: a compiler
        return Outcome(False, False, told)
    # What is not listed yet is red while the list is being written; an exchange then is so where an adapter fails.
    is_red = code not in ((0, 1) if options.update and library is not EXCHANGE else (0,))
    if library.is_handed:
        handed, said = exchange(library, python, update=options.update)
        is_red, told = is_red or handed != 0, f"{told}\n    handed to and by NumPy: {said}"
    problems = [] if options.no_findings or options.update else run_findings(library, python)
    for problem in problems:
        told += f"\n    finding {problem}"
    return Outcome(True, is_red or bool(problems), told)


if __name__ == "__main__":
    raise SystemExit(main())
