"""A builder of results files like those of a real run: several adapters and families, hostile text."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from stridecheck.reports.records import Adapter, Failure, Footer, Header, Record, ResultsWriter, Timing, Unit

FAMILIES = {
    "views": ["merge-blocks", "split-dim", "transpose-swaps", "narrow-offset", "select-drops", "expand-zero"],
    "contiguity": ["row-major", "size-one-free", "empty-always", "channels-last"],
    "memory-format": ["clone-preserves", "contiguous-noop", "to-channels-last"],
    "in-place": ["write-through", "copy-broadcast", "overlap-rejected"],
    "errors": ["view-incompatible", "as-strided-bounds"],
}
ASPECTS = {
    "views": ["raises", "shape", "values", "sharing", "strides", "layout", "storage"],
    "contiguity": ["contiguity", "strides"],
    "memory-format": ["sharing", "strides", "layout", "contiguity", "values"],
    "in-place": ["values", "storage", "flags"],
    "errors": ["raises", "error-kind"],
}
NUMPY_DEVIATES = ("expand-zero", "to-channels-last", "channels-last")
HOSTILE = "<script>alert(1)</script> </pre>\x00\x1b[31m \u202e]]> | `` ``` \ud800"

Write = Callable[[Path, Iterable[Record]], Path]


def header(**changes: object) -> Header:
    values = {
        "suite": "0.1.0",
        "commit": "d3b9278aa1",
        "started": "2026-11-20T05:30:00+00:00",
        "command": "stridecheck check torch:cpu numpy cupy --programs 2048 --seed 7 --out out",
        "arguments": {"programs": 2048, "seed": 7, "workers": 2},
        "machine": {
            "cpu": "Xeon 8581C",
            "cores": 2,
            "memory_bytes": 8 << 30,
            "python": "3.11.2",
            "threads": 1,
        },
        "rules": tuple(
            {
                "id": f"{family}.{name}",
                "family": family,
                "sentence": f"A tensor under {name.replace('-', ' ')} keeps what is said here of strides "
                "and storage offset, whatever its memory format is.",
                "source": "https://pytorch.org/docs/2.13/tensor_view.html" if number % 2 else "facts 3.2",
                "aspects": ASPECTS[family],
            }
            for family, names in FAMILIES.items()
            for number, name in enumerate(names)
        ),
    }
    return Header(**(values | changes))  # type: ignore[arg-type]


def adapters() -> list[Adapter]:
    return [
        Adapter("reference", "ready", versions={"stridecheck": "0.1.0"}, capabilities={"resize": True}),
        Adapter("torch:cpu", "ready", versions={"torch": "2.13.0+cpu", "numpy": "2.4.6"}),
        Adapter("numpy", "ready", versions={"numpy": "2.4.6"}, capabilities={"dtypes": ["float32", "int64"]}),
        Adapter("cupy", "skipped", reason="no CUDA device: cudaErrorNoDevice"),
    ]


def units(programs: int = 512) -> list[Unit]:
    """Four units per adapter; numpy fails two rules and is known to deviate in three."""
    random_ = random.Random(3)
    records = []
    for name in ("reference", "torch:cpu", "numpy"):
        for number in range(4):
            counts: dict[str, dict[str, dict[str, int]]] = {}
            for family, rules in FAMILIES.items():
                for rule in rules:
                    for aspect in ASPECTS[family]:
                        cell = {"pass": random_.randrange(40, 400)}
                        deviates = name == "numpy" and rule in NUMPY_DEVIATES
                        if deviates and aspect in ("strides", "contiguity"):
                            cell["xfail"] = random_.randrange(3, 30)
                        if name == "numpy" and rule == "narrow-offset" and aspect == "layout":
                            cell["fail"] = 2
                        if name == "numpy" and family == "errors" and aspect == "error-kind":
                            cell = {"unsupported": 31}
                        if name == "torch:cpu" and rule == "overlap-rejected" and aspect == "flags":
                            cell["xfail"] = 1
                        counts.setdefault(f"{family}.{rule}", {})[aspect] = cell
            outcomes = {"pass": programs}
            unsupported = {}
            if name == "numpy":
                outcomes = {"pass": programs - 82, "fail": 2, "xfail": 40, "unsupported": 40}
                outcomes |= {"crash": 1} if number == 3 else {}
                unsupported = {"memory-format": 25, "resize": 15}
            if name == "torch:cpu":
                outcomes = {"pass": programs - 1, "xfail": 1}
            unit = f"corpus:{number * programs}-{(number + 1) * programs}"
            records.append(Unit(name, unit, programs, outcomes, counts, unsupported))
    return records


def _observation(strides: list[int], byte: int) -> dict[str, object]:
    data = base64.b64encode(bytes(range(1, 40)) + bytes([byte]) * 57).decode()
    return {
        "results": [None],
        "values": {"3": ["float32", [2, 3], strides, 4, "F--", "s0", 0, "v0", None]},
        "storages": {"s0": [data]},
    }


def failure(number: int = 0, outcome: str = "fail", adapter: str = "numpy", **changes: object) -> Failure:
    values = {
        "adapter": adapter,
        "program": f"{number:04x}c0ffee5eed",
        "outcome": outcome,
        "step": 2,
        "operation": "narrow",
        "value": "3",
        "aspect": "layout",
        "rules": ("views.narrow-offset", "views.select-drops"),
        "expected": {"strides": [1, 4], "offset": 4},
        "got": {"strides": [3, 1], "offset": 0},
        "message": "the strides of value 3 are (3, 1), but should be (1, 4) under views.narrow-offset",
        "source": "corpus",
        "attribution": "numpy differs and breaks an invariant: a view lies in the memory of what it is a view of",
        "found": {"storages": [{"nbytes": 96}], "steps": []},
        "shrunk": {"storages": [{"nbytes": 96}], "steps": []},
        "listing": "x = float32 tensor, shape (4, 3), strides (1, 4), offset 0\n"
        "v1 = x.transpose(0, 1)           # shape (3, 4), strides (4, 1)\n"
        "v2 = v1.select(0, 1)             # shape (4,), strides (1,), offset 4\n"
        "v3 = v1.narrow(0, 1, 2)          # <- differs: strides",
        "expected_observation": _observation([1, 4], 7),
        "got_observation": _observation([3, 1], 9),
        "repro": '"""Exits 1 while the deviation is there."""\n'
        "import numpy as np\n\n"
        "x = np.lib.stride_tricks.as_strided(np.arange(24, dtype='float32'), (4, 3), (4, 16))\n"
        "v3 = x.T[1:3]\n"
        "raise SystemExit(v3.strides != (4, 16))\n",
    }
    return Failure(**(values | changes))  # type: ignore[arg-type]


def failures() -> list[Failure]:
    crash = failure(
        100,
        "crash",
        step=3,
        operation="as_strided",
        value="",
        aspect="",
        rules=(),
        expected=None,
        got=None,
        message="the process died with SIGSEGV while step 3 ran",
        expected_observation=None,
        got_observation=None,
    )
    hostile = failure(
        101,
        message=HOSTILE,
        got=HOSTILE,
        listing=HOSTILE,
        repro=HOSTILE,
        operation=HOSTILE,
        attribution=HOSTILE,
    )
    known = [
        failure(200 + number, "xfail", expectation=reason, operation=operation, aspect="strides", rules=(rule,))
        for number, (reason, operation, rule) in enumerate(
            [
                (
                    "NumPy's broadcast_to is read-only and keeps no stride of a size-1 axis",
                    "expand",
                    "views.expand-zero",
                )
            ]
            * 9
            + [
                (
                    "NumPy knows no memory formats: copies are C or F ordered",
                    "to",
                    "memory-format.to-channels-last",
                )
            ]
            * 31
        )
    ]
    torch_known = failure(
        300,
        "xfail",
        "torch:cpu",
        expectation="version counters of overlapping views",
        rules=("in-place.overlap-rejected",),
    )
    return [*[failure(number) for number in range(7)], crash, hostile, *known, torch_known]


def timing(adapter: str, operation: str, layout: str, size_class: str, x_copy: float, **changes: object) -> Timing:
    side = {"large": 2048, "small": 64}[size_class]
    median = side * side / 2 * x_copy
    values = {
        "case": f"{operation}/{layout}/float32/{size_class}",
        "adapter": adapter,
        "operation": operation,
        "layout": layout,
        "dtype": "float32",
        "shape": (side, side),
        "size_class": size_class,
        "threads": 1,
        "status": "ok",
        "samples_ns": tuple(median * (0.96 + 0.01 * block) for block in range(9)),
        "median_ns": median,
        "output_bytes": side * side * 4,
        "touched_bytes": side * side * 8,
        "copied": layout != "expanded",
        "x_copy": x_copy,
        "x_traffic": x_copy / 2,
    }
    return Timing(**(values | changes))  # type: ignore[arg-type]


def timings() -> list[Timing]:
    random_ = random.Random(5)
    records = []
    for size_class in ("large", "small"):
        for operation in ("copy", "add", "relu", "sum", "matmul", "conv2d", "transpose-copy"):
            for number, layout in enumerate(("contiguous", "transposed", "stepped", "expanded", "channels_last")):
                for adapter, factor in (("torch:cpu", 1.0), ("numpy", 1.7), ("reference", 5.0)):
                    x_copy = factor * (1 + number * random_.random() * 2.5)
                    record = timing(adapter, operation, layout, size_class, x_copy)
                    if adapter == "numpy" and operation == "conv2d":
                        record = Timing(
                            *(
                                record.case,
                                adapter,
                                operation,
                                layout,
                                "float32",
                                record.shape,
                                size_class,
                                1,
                            ),
                            status="unsupported",
                            reason="no conv2d",
                        )
                    records.append(record)
    return records


def footer(exit_code: int = 1) -> Footer:
    return Footer("2026-11-20T05:32:13+00:00", 133.4, exit_code)


def whole() -> list[Record]:
    return [header(), *adapters(), *units(), *failures(), *timings(), footer()]


def write_results(directory: Path, records: Iterable[Record]) -> Path:
    """A results file of these records; a library that none of them introduces is, before the first that is about it."""
    directory.mkdir(parents=True, exist_ok=True)
    introduced: set[str] = set()
    with ResultsWriter(directory / "results.jsonl") as writer:
        for record in records:
            if isinstance(record, Adapter):
                introduced.add(record.name)
            elif isinstance(record, Unit | Failure | Timing) and record.adapter not in introduced:
                introduced.add(record.adapter)
                writer.write(Adapter(record.adapter, "ready"))
            writer.write(record)
    return directory


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes records as `NAME/results.jsonl` below the test's directory; answers the directory."""

    def write_(records: Iterable[Record], name: str = "out") -> Path:
        return write_results(tmp_path / name, records)

    return write_


class Sample:
    """Records of a realistic run, whole or in parts."""

    hostile = HOSTILE
    header = staticmethod(header)
    adapters = staticmethod(adapters)
    units = staticmethod(units)
    failure = staticmethod(failure)
    failures = staticmethod(failures)
    timing = staticmethod(timing)
    timings = staticmethod(timings)
    footer = staticmethod(footer)
    whole = staticmethod(whole)
    write = staticmethod(write_results)


@pytest.fixture(scope="session")
def sample() -> type[Sample]:
    return Sample
