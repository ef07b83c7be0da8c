"""What the reference's copy kernels reach, in figures: `python -m stridecheck.benchmarks.kernel_figures`.

Like `stridecheck bench --cases 'copy.*'`, but the kernel alone, over arrays that begin at multiples of 64 bytes as
PyTorch's do and NumPy's do not, on any number of threads; and what no case of the suite shows: small copies, first
calls, decisions.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from stridecheck.conformance.program import ITEMSIZES, Slice
from stridecheck.reference_impl import kernels, strided_copy

from .clock import Call, Effort, Runner, block, race, thread_block
from .conversions import CONVERSIONS, ConversionCase, conversions

Array = NDArray[Any]

_PERMUTATIONS = [name for name, conversion in CONVERSIONS.items() if conversion.order]
EFFORT = Effort(block_ns=300_000, case_ns=3_000_000_000, least=3, most=11)
"""On one thread: what takes long has fewer rounds."""
_EFFORT = Effort(case_ns=400_000_000)
_FIRST_CALL = """
import time, numpy as np, numba
from stridecheck.reference_impl import strided_copy
a = np.zeros((600, 500), np.{dtype}); b = np.zeros((500, 600), np.{dtype})
start = time.perf_counter(); strided_copy(b, a.T); print(time.perf_counter() - start)
"""


def aligned(shape: Sequence[int], dtype: str) -> Array:
    """A row-major array of ones that begins at a multiple of 64 bytes."""
    nbytes = math.prod(shape) * ITEMSIZES[dtype]
    memory = np.empty(nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    memory[start : start + nbytes] = 1
    return memory[start : start + nbytes].view(dtype).reshape(shape)


def arrays(case: ConversionCase) -> tuple[Array, Array]:
    """Target and source of a conversion."""
    conversion = CONVERSIONS[case.layout]
    source = aligned(case._memory, case.dtype)
    if conversion.order:
        source = source.transpose(conversion.order)
    elif conversion.view is None:
        source = np.broadcast_to(source, case.shape)
    else:
        cuts = conversion.view.args[1]
        assert isinstance(cuts, tuple)
        source = source[tuple(slice(cut.start, cut.stop, cut.step) for cut in cuts if isinstance(cut, Slice))]
    return aligned(source.shape, case.dtype), source


def _torch_copy(threads: int) -> Callable[[Array, Array], Callable[[], Any]] | None:
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(threads)

    def bound(dst: Array, src: Array) -> Callable[[], Any]:
        with warnings.catch_warnings():
            # What is repeated is not writable; nobody writes to it.
            warnings.simplefilter("ignore", UserWarning)
            source = torch.from_numpy(src)
        return partial(torch.from_numpy(dst).copy_, source)

    return bound


def compare(dst: Array, src: Array, threads: int = 1) -> dict[str, float]:
    """Nanoseconds of one copy by each library, and of the best dense copy of as many bytes."""
    torch_copy = _torch_copy(threads)
    to, at = (aligned((dst.nbytes,), "uint8") for _ in range(2))
    calls: dict[str, Call] = {
        "ours": partial(strided_copy, dst, src, threads),
        "numpy": partial(np.copyto, dst, src),
        "dense ours": partial(strided_copy, to, at, threads),
        "dense numpy": partial(np.copyto, to, at),
    }
    if torch_copy is not None:
        calls["torch"] = torch_copy(dst, src)
        calls["dense torch"] = torch_copy(to, at)
    runners = {name: Runner(call, thread_block if threads == 1 else block) for name, call in calls.items()}
    race(list(runners.values()), EFFORT if threads == 1 else _EFFORT)
    found = {name: runner.median_ns for name, runner in runners.items()}
    found["limit"] = min(found.pop(name) for name in list(found) if name.startswith("dense"))
    return found


def _large(glob: str, threads: int) -> Iterator[str]:
    by_dtype: dict[str, list[tuple[str, dict[str, float]]]] = defaultdict(list)
    for case in conversions():
        if fnmatchcase(f"{case.layout}/{case.dtype}", glob):
            dst, src = arrays(case)
            found = compare(dst, src, threads)
            by_dtype[case.dtype].append((case.layout, found))
            share = kernels.plan(dst, src).touched_bytes / (2 * dst.nbytes)
            yield (
                f"{case.layout:18} {case.dtype:8} x_copy {found['ours'] / found['limit']:5.2f}"
                f"  x_traffic {found['ours'] / found['limit'] / share:5.2f}  limit {found['limit'] / 1e6:6.2f} ms"
                f"  {against(found)}"
            )
    for names, label in ((tuple(CONVERSIONS), "all"), (tuple(_PERMUTATIONS), "permutations")):
        chosen = [(dtype, found) for dtype, rows in by_dtype.items() for name, found in rows if name in names]
        for dtype in [*by_dtype, "all"]:
            of = [found for kind, found in chosen if dtype in (kind, "all")]
            if of:
                yield f"geometric mean, {label}, {dtype} ({len(of)} cases): " + ", ".join(
                    f"{name} {geometric_mean([f[above] / f[below] for f in of if above in f]):.2f}"
                    for name, above, below in (
                        ("x_copy", "ours", "limit"),
                        ("torch / ours", "torch", "ours"),
                        ("numpy / ours", "numpy", "ours"),
                    )
                )  # fmt: skip


def geometric_mean(values: Sequence[float]) -> float:
    """The mean of ratios; NaN of none."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def against(found: dict[str, float]) -> str:
    """The peers' times over ours, in words."""
    peers = {name: found[name] for name in ("torch", "numpy") if name in found}
    loses = "  slower than the better one" if found["ours"] > 1.05 * min(peers.values()) else ""
    return "  ".join(f"{name} {ns / found['ours']:6.2f} x ours" for name, ns in peers.items()) + loses


def _sizes() -> Iterator[str]:
    for kilobytes in (1, 4, 70, 260, 1000, 4000):
        for dtype in ("uint8", "float32"):
            side = math.isqrt(kilobytes * 1000 // ITEMSIZES[dtype])
            square = aligned((side, 2 * side), dtype)
            sources = {
                "dense": aligned((side, side), dtype),
                "transpose": square[:, :side].T,
                "narrow": square[:, 3 : side + 3],
                "step 2": square[:, ::2],
                "repeated": np.broadcast_to(square[:, :1], (side, side)),
            }
            for name, source in sources.items():
                found = compare(aligned((side, side), dtype), source)
                yield f"{kilobytes:5} kB {dtype:8} {name:10} {found['ours'] / 1e3:8.2f} us  {against(found)}"


def _first_calls() -> Iterator[str]:
    for dtype in ("uint8", "float32"):
        command = [sys.executable, "-c", _FIRST_CALL.format(dtype=dtype)]
        took = sorted(float(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(6))
        yield f"first call in a process that has imported numba, {dtype}: median {took[3]:.3f} s"


def _decisions() -> Iterator[str]:
    from stridecheck.reference_impl.kernels.decisions import decide

    rng, n = np.random.default_rng(0), 1_000_000
    shapes = rng.integers(1, 4, (n, 4))
    order = np.argsort(rng.random((n, 4)), 1)
    lengths = np.take_along_axis(shapes, order, 1)
    steps = np.cumprod(np.concatenate([np.ones((n, 1), np.int64), lengths[:, :-1]], 1), 1)
    strides = np.empty_like(shapes)
    np.put_along_axis(strides, order, steps, 1)
    targets = np.take_along_axis(shapes, np.argsort(rng.random((n, 4)), 1), 1)
    four = np.full(n, 4)
    times = []
    for _ in range(9):
        found, result = np.zeros(n, np.int64), np.zeros((n, 4), np.int64)
        start = time.thread_time()
        decide(shapes, strides, four, targets, four, found, result)
        times.append(time.thread_time() - start)
    yield f"view decisions with strides: {n / sorted(times)[4] / 1e6:.1f} million a second, {found.mean():.0%} viewable"


@click.command()
@click.option("--only", type=click.Choice(["large", "sizes", "first", "decisions"]), help="One part; default: all.")
@click.option("--cases", default="*", show_default=True, help="Glob of conversion/dtype for the large copies.")
@click.option("--threads", default=1, show_default=True, help="Threads of the large copies.")
def main(only: str | None, cases: str, threads: int) -> None:
    """Print what the copy kernels reach beside torch and NumPy: medians of interleaved rounds in one process.

    One thread is timed by its processor time, several by the clock on the wall.
    """
    parts: dict[str, Callable[[], Iterator[str]]] = {
        "large": partial(_large, cases, threads), "sizes": _sizes, "first": _first_calls, "decisions": _decisions,
    }  # fmt: skip
    for name, part in parts.items():
        if only in (None, name):
            for line in part():
                click.echo(line)


if __name__ == "__main__":
    main()
