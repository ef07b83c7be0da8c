"""The other ways in: pytest-benchmark, and the throughput of checking."""

import json
import os
import subprocess
import sys


def test_pytest_benchmark_times_the_same_cases(tmp_path):
    # pytest-benchmark times nothing where it believes to be one of xdist's processes.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "--pyargs", "stridecheck.benchmarks", "--benchmark-only"),
            *("-k", "(copy/contiguous or conv2d/nchw) and float32/small and (numpy or torch)"),
            *("--benchmark-max-time=0.01", "--benchmark-json=saved.json", "-p", "no:cacheprovider", "-rs"),
        ],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    assert "3 passed, 1 skipped" in done.stdout
    assert "numpy, unsupported: op:conv2d" in done.stdout
    saved = json.loads((tmp_path / "saved.json").read_text())["benchmarks"]
    assert {one["group"] for one in saved} == {"copy/contiguous/float32/small", "conv2d/nchw/float32/small"}
    copy = next(one["extra_info"] for one in saved if "numpy" in one["name"] and "copy" in one["name"])
    assert 0.1 < copy["x_copy"] < 10
    assert (copy["layout"], copy["output_bytes"], copy["touched_bytes"]) == ("contiguous", 14_400, 28_800)


def test_pytest_benchmark_times_the_libraries_that_are_asked_for(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from stridecheck.conformance.adapters.numpy import Numpy\n\n"
        "class Mine(Numpy):\n    name = 'mine'\n\nadapter = Mine\n"
    )
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    environ |= {"STRIDECHECK_CASES": "copy/contiguous/float32/small", "STRIDECHECK_ADAPTERS": "mine.py,torch:nowhere"}
    command = [sys.executable, "-m", "pytest", "--pyargs", "stridecheck.benchmarks", "--benchmark-only", "-rs"]
    command += ["--benchmark-max-time=0.01", "--benchmark-json=saved.json", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120)
    assert "1 passed, 1 skipped" in done.stdout
    assert "torch:nowhere: " in done.stdout
    (saved,) = json.loads((tmp_path / "saved.json").read_text())["benchmarks"]
    assert (saved["extra_info"]["adapter"], saved["extra_info"]["threads"]) == ("mine", 1)
    environ["STRIDECHECK_THREADS"] = "many"
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert "STRIDECHECK_THREADS is a number of threads, from 1 on, not 'many'" in done.stdout


def test_the_throughput_is_printed_in_parts():
    done = subprocess.run(
        [sys.executable, "-m", "stridecheck.benchmarks.throughput", "--adapter", "numpy", "--programs", "30"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("programs a CPU second") == 3
    for part in ("worker", "recorded", "judge", "answers read", "drawing"):
        assert f"  {part} " in done.stdout


def test_the_throughput_of_nobody_is_a_usage_error():
    command = [sys.executable, "-m", "stridecheck.benchmarks.throughput", "--adapter", "nump"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "did you mean numpy?" in done.stderr
    assert "Traceback" not in done.stderr
