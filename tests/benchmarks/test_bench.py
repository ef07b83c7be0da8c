"""`stridecheck bench` from end to end: what stands in the file, what the exit code says, what survives."""

import json
import math
import os
import signal
import statistics
import subprocess
import time
from importlib.util import find_spec

import pytest
from stridecheck.benchmarks import clock, memory
from stridecheck.benchmarks.bench import Options, bench
from stridecheck.benchmarks.cases import Case, UnknownCase
from stridecheck.benchmarks.clock import QUICK
from stridecheck.benchmarks.measure import Session, Time
from stridecheck.reports.records import Adapter, Footer, Header, Timing, read_results
from stridecheck.reports.run import load

from ..commands import COMMAND, run

TINY = ("copy/transposed/float32/small", "conv2d/nchw/float32/small")

ADAPTER = """
from stridecheck.conformance.adapters.numpy import Numpy

class Bad(Numpy):
    name = "bad"
    calls = 0

    def operation(self, step):
        function = super().operation(step)
        if step.op == "add":
            return lambda x, y: x
        if step.op == "mul":
            return self.sometimes
        return function

    def sometimes(self, x, y):
        self.calls += 1
        if self.calls > 3:
            raise RuntimeError("worn out")
        return x * y

def adapter():
    return Bad()
"""


def timings(directory):
    records = list(read_results(directory / "results.jsonl"))
    return {(record.case, record.adapter): record for record in records if isinstance(record, Timing)}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    out = tmp_path_factory.mktemp("with space") / "bench out"
    done = run("bench", *[word for name in TINY for word in ("--cases", name)], "--quick", "--out", str(out))
    # The quick set has no small cases, so that is one that measures nothing.
    assert done.returncode == 4, done.stderr
    assert "none of the cases that match is in the quick set" in done.stderr
    assert "  nothing judged, nothing measured" in done.stdout
    assert "program" not in done.stdout
    done = run("bench", *[word for name in TINY for word in ("--cases", name)], "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return out


def test_the_file_has_a_header_adapters_timings_and_a_footer(tiny):
    records = list(read_results(tiny / "results.jsonl"))
    header, footer = records[0], records[-1]
    assert isinstance(header, Header)
    assert header.command == f"stridecheck bench --cases {TINY[0]} --cases {TINY[1]}"
    assert header.machine["threads"] == 1
    assert set(header.arguments["clock_ns"]) == {"turn", "loop", "bound"}
    assert isinstance(footer, Footer)
    assert footer.exit_code == 0
    assert [record.name for record in records if isinstance(record, Adapter)] == ["torch:cpu", "numpy", "reference"]
    assert len(timings(tiny)) == 6


def test_raw_samples_stay_and_the_figures_follow_from_them(tiny):
    assert timings(tiny)[TINY[1], "numpy"].status == "unsupported"
    for timing in timings(tiny).values():
        if timing.status != "ok":
            assert timing.samples_ns == ()
            assert timing.reason == "op:conv2d"
            continue
        assert len(timing.samples_ns) >= 7
        assert timing.median_ns == pytest.approx(statistics.median(timing.samples_ns), rel=1e-3)
        assert timing.x_copy > 0
        assert timing.output_bytes == math.prod(timing.shape) * 4
        # A copy touches two bytes for each that it writes, so both weigh the same.
        if timing.operation == "copy":
            assert timing.touched_bytes == 28_800
            assert timing.x_traffic == pytest.approx(timing.x_copy, rel=1e-3)


def test_a_record_holds_the_program_that_was_timed(tiny):
    for timing in timings(tiny).values():
        operation, layout, dtype, size = timing.case.split("/")
        assert timing.program == json.loads(json.dumps(Case(operation, layout, dtype, size).program.to_json()))


def test_the_report_is_rendered_and_joins_with_that_of_a_check(tiny, tmp_path):
    assert "copy" in (tiny / "report.html").read_text()
    assert run("check", "numpy", "--programs", "5", "--out", str(tmp_path / "check")).returncode == 0
    done = run("report", str(tmp_path / "check"), str(tiny), "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    merged = load([tmp_path / "check", tiny])
    assert merged.units
    assert len(merged.timings) == 6
    assert "cases timed" in done.stdout


def test_the_list_names_cases_and_runs_none(tmp_path):
    done = run("bench", "--list", "--cases", "conv2d", cwd=tmp_path)
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        f"conv2d/{layout}/float32/{size}" for layout in ("nchw", "channels_last") for size in ("small", "cache")
    ]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--cases", "copi"], 2, "no case 'copi'; near it: copy"),
        (["--cases", TINY[0], "--adapters", "nump"], 2, "did you mean numpy?"),
        (["--cases", TINY[0], "--adapters", " , "], 2, "names none"),
        (["--cases", TINY[0], "--adapters", "cupy,numpy"], 3, "pip install 'cupy-cuda12x>=14'"),
        (["--cases", "conv2d/nchw/float32/small", "--adapters", "numpy"], 4, ""),
        (["--threads", "0"], 2, "--threads"),
        (["--self-test", "--quick", "--cases", "narrow"], 4, "none of the cases that match is in the quick set"),
        (["--self-test", "--baseline", "old"], 2, "compares with no --baseline"),
        (["--cases", TINY[0], "--adapters", "numpy", "--out", "/proc/none"], 3, "/proc/none"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(arguments, code, says, tmp_path):
    if "cupy,numpy" in arguments and find_spec("cupy") is not None:
        pytest.skip("cupy is installed here")
    done = run("bench", *arguments, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_the_number_of_threads_comes_from_the_environment_too(tmp_path):
    done = run(
        *("bench", "--cases", TINY[0], "--adapters", "numpy", "--out", str(tmp_path)),
        env={**os.environ, "STRIDECHECK_THREADS": "2"},
    )
    assert done.returncode == 0, done.stderr
    header, *_ = read_results(tmp_path / "results.jsonl")
    assert header.machine["threads"] == header.arguments["threads"] == 2
    assert {timing.threads for timing in timings(tmp_path).values()} == {2}


def test_a_case_that_fails_on_one_library_does_not_stop_the_others(tmp_path):
    (tmp_path / "bad.py").write_text(ADAPTER)
    cases = [f"{operation}/contiguous/float32/small" for operation in ("add", "mul", "relu")]
    done = run(
        *("bench", *[word for name in cases for word in ("--cases", name)]),
        *("--adapters", "bad.py,numpy", "--out", "out"),
        cwd=tmp_path,
    )
    assert done.returncode == 1, done.stderr
    assert "add/contiguous/float32/small on bad: wrong result" in done.stderr
    found = timings(tmp_path / "out")
    assert {case: found[case, "bad"].status for case in cases} == dict(
        zip(cases, ("error", "error", "ok"), strict=True)
    )
    assert {found[case, "numpy"].status for case in cases} == {"ok"}
    assert found[cases[0], "bad"].reason.startswith("wrong result: element (0, 0) is")
    assert found[cases[1], "bad"].reason == "raised RuntimeError while timed: worn out"
    assert found[cases[1], "bad"].median_ns == 0


@pytest.mark.parametrize("text", ["raise RuntimeError('broken')", "import sys; sys.exit(9)", "adapter = 1 +"])
def test_a_library_that_does_not_load_is_recorded_and_the_others_go_on(text, tmp_path):
    (tmp_path / "broken.py").write_text(text)
    options = Options(TINY[:1], (str(tmp_path / "broken.py"), "numpy"))
    assert bench(options, tmp_path / "out") == 3
    adapters = [r for r in read_results(tmp_path / "out" / "results.jsonl") if isinstance(r, Adapter)]
    assert [(a.name, a.status) for a in adapters] == [("broken", "failed"), ("numpy", "ready")]
    assert timings(tmp_path / "out")[TINY[0], "numpy"].status == "ok"


@pytest.mark.parametrize(
    ("ends", "reason"),
    [
        ("os.abort()", "killed by SIGABRT"),
        ("sys.exit(0)", "exited with status 0"),
        ("os._exit(0)", "exited with status 0"),
    ],
)
def test_a_library_that_ends_its_process_does_not_end_the_run(tmp_path, ends, reason):
    """What a foreign library does in an operation happens in its own process first, and the others are timed."""
    (tmp_path / "dying.py").write_text(
        "import os, sys\nfrom stridecheck.conformance.adapters.numpy import Numpy\n"
        "class Dying(Numpy):\n"
        "    name = 'dying'\n"
        "    def operation(self, step):\n"
        f"        return (lambda *a: {ends}) if step.op == 'relu' else super().operation(step)\n"
        "adapter = Dying\n"
    )
    cases = ("relu/contiguous/float32/small", "copy/contiguous/float32/small")
    assert bench(Options(cases, (str(tmp_path / "dying.py"), "numpy")), tmp_path / "out") == 1
    found = timings(tmp_path / "out")
    assert found[cases[0], "dying"].status == "error"
    assert reason in found[cases[0], "dying"].reason
    assert {found[key].status for key in found if key != (cases[0], "dying")} == {"ok"}


def test_a_library_that_dies_while_times_are_taken_is_found(tmp_path):
    """In the turns of several libraries the guilty one cannot be told at once: each is timed by itself then."""
    (tmp_path / "dying.py").write_text(ADAPTER.replace("raise RuntimeError", "import os; os.abort()"))
    case = "mul/contiguous/float32/small"
    assert bench(Options((case,), (str(tmp_path / "dying.py"), "numpy")), tmp_path / "out") == 1
    found = timings(tmp_path / "out")
    assert (found[case, "bad"].status, found[case, "bad"].reason) == ("error", "killed by SIGABRT")
    assert found[case, "numpy"].status == "ok"
    assert found[case, "numpy"].x_copy > 0


def test_a_library_that_hangs_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr("stridecheck.benchmarks.bench.CASE_SECONDS", 3.0)
    (tmp_path / "hanging.py").write_text(ADAPTER.replace("raise RuntimeError", "import time; time.sleep"))
    text = (tmp_path / "hanging.py").read_text().replace('("worn out")', "(1000)")
    (tmp_path / "hanging.py").write_text(text)
    case = "mul/contiguous/float32/small"
    assert bench(Options((case,), (str(tmp_path / "hanging.py"),)), tmp_path / "out") == 1
    assert timings(tmp_path / "out")[case, "bad"].reason == "no answer within 3 s"


def test_a_library_named_twice_is_timed_once(tmp_path):
    assert bench(Options(TINY[:1], ("numpy", "numpy")), tmp_path) == 0
    assert len(timings(tmp_path)) == 1


@pytest.fixture
def session():
    session = Session(effort=QUICK)
    assert session.load("numpy").adapter.status == "ready"
    return session


def test_too_little_memory_is_recorded_with_what_is_needed(session, monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1_000_000)
    (small,) = session.time(Time(Case("relu", "contiguous", "float32", "small"), ("numpy",)))
    (cache,) = session.time(Time(Case("relu", "contiguous", "float32", "cache"), ("numpy",)))
    assert small.status == "ok"
    assert (cache.status, cache.reason) == ("unsupported", "needs about 0.01 GB of memory, 0.00 GB are free")


def test_a_library_that_runs_out_of_memory_is_recorded_and_the_others_go_on(tmp_path):
    (tmp_path / "greedy.py").write_text(ADAPTER.replace("return lambda x, y: x", "raise MemoryError"))
    case = "add/contiguous/float32/small"
    assert bench(Options((case,), (str(tmp_path / "greedy.py"), "numpy")), tmp_path / "out") == 0
    found = timings(tmp_path / "out")
    assert (found[case, "bad"].status, found[case, "numpy"].status) == ("unsupported", "ok")
    assert found[case, "bad"].reason.startswith("needs about 0.00 GB of memory")


def test_memory_at_the_peak_is_that_of_the_result(tmp_path):
    """An addition holds its result, one in place nothing, in torch and in NumPy."""
    cases = ("add/contiguous/float32/cache", "add_/contiguous/float32/cache")
    assert bench(Options(cases, ("torch", "numpy")), tmp_path) == 0
    found = timings(tmp_path)
    for adapter in ("torch:cpu", "numpy"):
        assert found[cases[0], adapter].peak_bytes == pytest.approx(1_000_000, rel=0.02)
        assert (found[cases[1], adapter].peak_bytes or 0) < 20_000


def test_cold_caches_cost_time(tmp_path):
    """Emptied before each call, caches make a small copy slower; the record says so and is compared with none other."""
    name = "copy/contiguous/float32/cache"
    for cold in (False, True):
        assert bench(Options((name,), ("numpy",), cold=cold), tmp_path / str(cold)) == 0
    warm, cold = (timings(tmp_path / str(cold))[name, "numpy"] for cold in (False, True))
    assert (warm.cache, cold.cache) == ("warm", "cold")
    assert min(cold.samples_ns) > min(warm.samples_ns)
    assert run("diff", str(tmp_path / "False"), str(tmp_path / "True")).returncode == 2


def test_a_run_is_compared_with_an_earlier_one(tmp_path):
    """Both sides are measured by several processes; the comparison is printed and written."""
    command = ("bench", "--cases", TINY[0], "--adapters", "numpy", "--processes", "2", "--visits", "2")
    assert run(*command, "--out", str(tmp_path / "old")).returncode == 0
    done = run(*command, "--out", str(tmp_path / "new"), "--baseline", str(tmp_path / "old"))
    assert done.returncode in (0, 1), done.stderr
    assert "1 case timed in both runs" in done.stdout
    assert (done.returncode == 1) == ("1 slower" in done.stdout)
    assert (tmp_path / "new" / "diff.csv").is_file()
    records = [record for record in read_results(tmp_path / "new" / "results.jsonl") if isinstance(record, Timing)]
    assert [(record.process, record.visit) for record in records] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_a_case_that_fails_does_not_hide_the_comparison(tmp_path):
    (tmp_path / "bad.py").write_text(ADAPTER)
    cases = "add/contiguous/float32/small,relu/contiguous/float32/small"
    command = ("bench", "--cases", cases, "--adapters", "bad.py,numpy", "--out")
    assert run(*command, "old", cwd=tmp_path).returncode == 1
    done = run(*command, "new", "--baseline", "old", cwd=tmp_path)
    assert done.returncode == 1
    assert "3 cases timed in both runs" in done.stdout


def test_a_bad_baseline_is_told_before_anything_is_timed(tmp_path):
    done = run("bench", "--cases", TINY[0], "--baseline", "absent", "--out", "new", cwd=tmp_path)
    assert done.returncode == 2
    assert "absent: no such results file" in done.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda header: header["machine"].update(cpu="Other"),
            "times of different processors cannot be compared: Other",
        ),
        (lambda header: header.update(schema=99), "in schema 99, this version reads 1"),
        (None, "has timed none of the cases asked for, but copy/transposed/float32/small"),
    ],
)
def test_a_baseline_that_cannot_be_compared_with_costs_no_time(change, says, tiny, tmp_path):
    header, *others = (tiny / "results.jsonl").read_text().splitlines()
    header = json.loads(header)
    if change:
        change(header)
    (tmp_path / "results.jsonl").write_text("\n".join([json.dumps(header), *others]) + "\n")
    case = TINY[0] if change else "relu/contiguous/float32/small"
    done = run("bench", "--cases", case, "--baseline", str(tmp_path), "--out", str(tmp_path / "new"))
    assert done.returncode == 2
    assert says in done.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("option", [("--threads", "2"), ("--cold",)])
def test_a_baseline_of_other_threads_or_caches_costs_no_time(option, tiny, tmp_path):
    done = run("bench", "--cases", TINY[0], *option, "--baseline", str(tiny), "--out", str(tmp_path / "new"))
    assert done.returncode == 2
    assert "the baseline's times are of 1 thread and warm caches, not of" in done.stderr
    assert not (tmp_path / "new").exists()


def test_the_self_test_plants_a_slow_down_and_says_what_was_found(tmp_path):
    done = run(
        *("bench", "--self-test", "--pairs", "1", "--cases", TINY[0], "--adapters", "numpy"),
        *("--processes", "2", "--out", str(tmp_path)),
    )
    assert done.returncode == 0, done.stderr
    assert "same code, 1 comparison" in done.stdout
    assert "10% slower, 1 comparison" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"run-00", "run-01", "slow-01"}


def test_a_planted_slow_down_takes_its_time():
    """The samples of a call that is slowed down are longer by the planted part; a machine may be busy meanwhile."""

    def times_as_long():
        plain, slow = (clock.Runner(lambda: sum(range(2000)), slowdown=part) for part in (0.0, 1.0))
        clock.race([plain, slow], clock.QUICK)
        return slow.median_ns / plain.median_ns

    assert any(1.5 < times_as_long() < 2.5 for _ in range(5))


def test_an_unknown_case_leaves_no_directory_behind(tmp_path):
    with pytest.raises(UnknownCase):
        bench(Options(("nonsense",)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_interrupted_run_leaves_a_file_that_is_good(tmp_path):
    process = subprocess.Popen(
        [*COMMAND, "bench", "--adapters", "numpy", "--out", str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
    )
    results = tmp_path / "results.jsonl"
    deadline = time.monotonic() + 60
    while not (results.exists() and results.read_text().count('"timing"') >= 2):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert f"what was done is in {results}" in said
    assert "Traceback" not in said
    run_ = load([tmp_path])
    assert not run_.complete
    assert len(run_.timings) >= 2
    assert "ended before it was done" in run("report", str(tmp_path)).stdout
