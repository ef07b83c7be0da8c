"""What runs on a machine with a GPU: programs, exchange, copies on streams, timings by device events; one file.

It wants torch, CuPy, NumPy, Numba and Hypothesis, and no network; with ml_dtypes bfloat16 and float8 are judged, too.
What is missing is named and left out, JAX too. Each part has a process of its own: one that breaks, dies or takes too
long is recorded, with what it wrote until then, and the others go on. Exit codes: 0 everything as expected, 1 not, 3 no
GPU.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import traceback
import zipfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from stridecheck.benchmarks import device_figures
from stridecheck.conformance.check import Silent, check
from stridecheck.conformance.exchanges import exchange
from stridecheck.conformance.options import Options
from stridecheck.reference_impl.kernels import device
from stridecheck.reports.records import ExitCode

OUT = Path("out", "gpu")
RESULT = Path("out", "gpu.zip")
SIZES = (1 << 12, 1 << 20, 1 << 26)
"""Elements of the float32 tensors that are timed: in cache, in the second level, in memory."""
DRAWN = 40
"""Permutations that are timed beside those with a name."""
SECONDS = 1800.0
"""Most that a part may take."""
WORKERS = 2
"""Processes with a library of their own; each loads every kernel for itself, and a device takes turns between them."""
MEMORY = 8192
"""MiB by which a library may grow: kernels are loaded into the host's memory, too, as they are called first."""

Part = Callable[[], Mapping[str, Any]]


class _Notes(Silent):
    """Prints what a run has to say."""

    def note(self, text: str) -> None:
        print(f"  {text}", flush=True)


def programs() -> Mapping[str, Any]:
    """The corpus on `torch:cuda` and `cupy`, compared with the oracle; the records are in `programs/results.jsonl`."""
    options = Options(("torch:cuda", "cupy"), skip_missing=True, start_timeout=300.0, workers=WORKERS, memory=MEMORY)
    return {"exit_code": check(options, OUT / "programs", _Notes())}


def exchanges() -> Mapping[str, Any]:
    """Arrays handed between the libraries that are here; the records are in `exchange/results.jsonl`."""
    if any(importlib.util.find_spec(f"jax_cuda{version}_plugin") for version in (12, 13)):
        os.environ.setdefault("JAX_PLATFORMS", "cuda,cpu")  # else its arrays would lie on the host
    names = ["torch:cuda", "cupy", "numpy", "jax"]
    return {"exit_code": exchange(names, OUT / "exchange", _Notes(), skip_missing=True, start_timeout=300.0)}


def copies() -> Mapping[str, Any]:
    """Copies between pinned memory and strided device tensors on a stream of their own: what was sent comes back."""
    import torch

    wrong = []
    for name, make in _layouts(torch, 1 << 16).items():
        cuda: Any = torch.cuda
        there, stream = make("cuda"), cuda.Stream()
        sent = torch.arange(there.numel(), dtype=torch.float32).view(there.shape).pin_memory()
        back = torch.empty(there.shape).pin_memory()
        stream.wait_stream(cuda.current_stream())  # what makes the tensor runs on that one
        with cuda.stream(stream):
            there.copy_(sent, non_blocking=True)
            back.copy_(there, non_blocking=True)
        stream.synchronize()
        if not back.equal(sent):
            wrong.append(name)
    return {"exit_code": int(bool(wrong)), "wrong": wrong}


def timings() -> Mapping[str, Any]:
    """Copies of each layout into a row-major tensor, timed by events on the device: medians in microseconds."""
    import torch

    rows, clock = [], device_figures.events(torch)
    for size in SIZES:
        for name, make in _layouts(torch, size).items():
            x = make("cuda")
            copy = partial(torch.empty(x.shape, device="cuda").copy_, x)
            median = device_figures.medians({name: copy}, clock)[name]
            rows.append({"layout": name, "elements": x.numel(), "median": median})
    return {"exit_code": 0, "device": torch.cuda.get_device_name(), "timings": rows}


def permutations() -> Mapping[str, Any]:
    """The reference's copy kernel beside torch and a dense copy: large float32 permutations, in microseconds.

    Only wrong bits are an error; how far the goals are reached is in the rows.
    """
    if reason := device.unavailable():
        print(f"  skipped: {reason}")
        return {"exit_code": 0, "skipped": reason}
    import torch

    right = True
    with (OUT / "permutations.jsonl").open("w", encoding="utf-8") as file:
        for row in device_figures.figures(torch, [*device_figures.chosen(), *device_figures.drawn(DRAWN, seed=1)]):
            print(f"  {device_figures.line(row)}", flush=True)
            print(json.dumps(row), file=file, flush=True)  # what comes later may take too long
            right &= row["equal"]
    return {"exit_code": int(not right), "goal": device_figures.GOAL}


def _layouts(torch: Any, size: int) -> Mapping[str, Callable[[str], Any]]:
    """Layouts of about `size` elements, each made on a device by name."""
    side = int(size**0.5)
    return {
        "row-major": lambda device: torch.zeros(side, side, device=device),
        "transposed": lambda device: torch.zeros(side, side, device=device).T,
        "stepped": lambda device: torch.zeros(side, 2 * side, device=device)[:, ::2],
        "offset": lambda device: torch.zeros(side * side + 1, device=device)[1:].view(side, side),
        "padded rows": lambda device: torch.zeros(side, side + 3, device=device)[:, :side],
        "channels last": lambda device: torch.zeros(side // 8, 8, 2, side // 2, device=device).to(
            memory_format=torch.channels_last
        ),
    }


PARTS: Mapping[str, Part] = {
    "permutations": permutations,
    "timings": timings,
    "copies": copies,
    "programs": programs,
    "exchange": exchanges,
}
"""The short ones first."""


def apart(name: str, seconds: float) -> Mapping[str, Any]:
    """What a part found out, in a process of its own, or why it did not."""
    said = OUT / f"{name}.json"
    command = [sys.executable, "-m", "stridecheck.ci.gpu", "--here", name]
    process = subprocess.Popen(command, start_new_session=True)
    try:
        status = process.wait(seconds)
    except subprocess.TimeoutExpired:
        return {"exit_code": 1, "error": f"it took more than {seconds:g} s"}
    finally:  # with the libraries that it has started
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if not said.exists():
        return {"exit_code": 1, "error": f"it ended with {status}"}
    found: Mapping[str, Any] = json.loads(said.read_text(encoding="utf-8"))
    return found


def _pack(summary: Mapping[str, Any]) -> None:
    """Put what there is into the one file."""
    (OUT / "summary.json").write_text(json.dumps(summary, indent=1), encoding="utf-8")
    with zipfile.ZipFile(RESULT, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(OUT.rglob("*")):
            if path.suffix in (".json", ".jsonl"):
                archive.write(path, path.relative_to(OUT))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run parts, all of them if none is named, and put what there is into one file."""
    parser = argparse.ArgumentParser(prog="gpu", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"what to run: {', '.join(PARTS)}; default: all")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="most that each may take (%(default)g)")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if unknown := {*options.parts} - {*PARTS}:
        parser.error(f"no part is named {', '.join(sorted(unknown))}: there are {', '.join(PARTS)}")
    if options.here:
        for name in options.parts:
            try:
                found = PARTS[name]()
            except (Exception, SystemExit):
                traceback.print_exc()
                found = {"exit_code": 1, "error": traceback.format_exc()}
            (OUT / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")
        return 0
    try:
        import torch
    except ImportError as error:
        print(f"no torch here ({error}): nothing was run")
        return ExitCode.COULD_NOT_RUN
    if not torch.cuda.is_available():
        print(f"no GPU: torch {torch.__version__} finds none, nothing was run")
        return ExitCode.COULD_NOT_RUN
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    summary: dict[str, Any] = {
        "begun": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "cuda": str(torch.version.cuda),
        "device": torch.cuda.get_device_name(),
    }
    names = options.parts or [*PARTS]
    for name in names:
        print(f"{name} …", flush=True)
        summary[name] = apart(name, options.seconds)
        if said := summary[name].get("error"):
            print(f"  {said.splitlines()[-1]}", flush=True)
        _pack(summary)
    codes = {name: summary[name]["exit_code"] for name in names}
    print(f"{RESULT}: " + ", ".join(f"{name} {code}" for name, code in codes.items()))
    return int(any(codes.values()))


if __name__ == "__main__":
    sys.exit(main())
