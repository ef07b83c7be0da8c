"""What is installed: one import package that holds all it needs and nothing else, whose modules can be imported."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

from .conftest import ROOT, SOURCES

ENVIRONMENT_BOUND = {
    "stridecheck.ci.build_hook": "hatchling",
    "stridecheck.conformance.opinfo": "torch",
    "stridecheck.conformance.adapters.torch": "torch",
    "stridecheck.conformance.test_adapter": "pytest",
    "stridecheck.pytest_plugin": "pytest",
}
"""Modules, other than adapters, that need what only some installations have."""


def _files(site):
    """What the wheel says that it holds: using it adds compiled files."""
    record = next(site.glob("*.dist-info/RECORD")).read_text(encoding="utf-8")
    return [Path(row[0]) for row in csv.reader(record.splitlines())]


def test_nothing_generic_is_installed(wheel):
    """Everything in the wheel is below `stridecheck/`, but for its metadata."""
    tops = {path.parts[0] for path in _files(wheel)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"stridecheck"}
    assert len(tops) == 2


def test_no_tests_and_no_leftovers_are_installed(wheel):
    """Neither the suite's own tests nor compiled files, caches or machine paths travel."""
    for path in _files(wheel):
        assert "tests" not in path.parts
        assert "__pycache__" not in path.parts
        assert path.suffix not in (".pyc", ".nbi", ".nbc", ".orig", ".rej")


def test_data_files_are_installed(wheel):
    """The corpus, the expectations with their lists, and the page's templates are in the wheel as in the checkout."""
    wanted = [
        path.relative_to(ROOT)
        for name in ("conformance/corpus", "conformance/expectations", "reports")
        for path in (ROOT / name).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    ]
    assert any(path.suffix == ".gz" for path in wanted)
    assert any(path.suffix == ".toml" for path in wanted)
    assert any("template" in str(path) for path in wanted)
    for path in wanted:
        assert (wheel / "stridecheck" / path).read_bytes() == (ROOT / path).read_bytes()


def test_every_module_of_the_checkout_is_in_the_wheel(wheel):
    """No Python file of the rooms is left out."""
    for name in SOURCES:
        for path in (ROOT / name).rglob("*.py"):
            inside = path.relative_to(ROOT / "stridecheck") if name == "stridecheck" else path.relative_to(ROOT)
            assert (wheel / "stridecheck" / inside).is_file()


def _run(wheel, code):
    """Python that sees the wheel's contents before anything else, started away from the checkout."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"import sys; sys.path.insert(0, {str(wheel)!r})\n{code}"],
        capture_output=True, text=True, check=False, cwd=wheel,
    )  # fmt: skip


def test_every_module_of_the_wheel_can_be_imported(wheel, absent):
    """Each module is imported from the wheel itself; those of a library that is not here may say that it is not."""
    modules = sorted(
        ".".join(path.with_suffix("").parts).removesuffix(".__init__")
        for path in _files(wheel)
        if path.suffix == ".py" and path.parts[0] == "stridecheck"
    )
    done = _run(
        wheel,
        f"""
import importlib
for name in {modules!r}:
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        print(name, error.name)
    else:
        assert module.__file__.startswith({str(wheel)!r}), module.__file__
""",
    )
    assert done.returncode == 0, done.stderr
    missing = dict(line.split() for line in done.stdout.splitlines())
    assert {name for name in missing if ENVIRONMENT_BOUND.get(name) != missing[name]} <= absent.keys()
    assert len(modules) > 60


def test_a_check_runs_from_the_wheel(wheel, tmp_path):
    """The installed suite finds its corpus, expectations, templates and worker, and judges."""
    code = f"sys.argv[1:] = ['check', 'numpy', '--programs', '20', '--out', {str(tmp_path)!r}]\n"
    done = _run(wheel, code + "from stridecheck.cli import main; main()")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 unexpected" in done.stdout
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_entry_points_name_what_there_is(wheel):
    """The command and the bundled adapters that the metadata names exist."""
    text = next(wheel.glob("*.dist-info")).joinpath("entry_points.txt").read_text()
    assert "stridecheck = stridecheck.__main__:main" in text
    assert "stridecheck = stridecheck.pytest_plugin" in text
    for name in ("reference", "torch", "numpy", "cupy"):
        assert f"{name} = stridecheck.conformance.adapters.{name}:adapter" in text
        assert (wheel / "stridecheck" / "conformance" / "adapters" / f"{name}.py").is_file()
