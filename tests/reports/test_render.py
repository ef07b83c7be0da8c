"""Everything is written whole or not at all."""

import json
import os
import subprocess
import sys

import pytest
from stridecheck.reports import render as module
from stridecheck.reports.records import ResultsError
from stridecheck.reports.render import render_dirs, write_whole

FILES = {
    "report.html",
    "summary.md",
    "junit.xml",
    "badge.json",
    *(f"csv/{name}.csv" for name in ("outcomes", "failures", "timings", "mutants", "adapters", "columns")),
}


def test_everything_lies_beside_the_results(write, sample):
    out = write(sample.whole())
    written = render_dirs([out], out)
    assert {str(path.relative_to(out)) for path in written} == FILES
    assert {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()} == FILES | {"results.jsonl"}
    assert json.loads((out / "badge.json").read_text())["schemaVersion"] == 1
    assert (out / "junit.xml").read_text().startswith("<?xml")


def test_the_same_results_give_the_same_files(write, sample, tmp_path):
    out = write(sample.whole())
    one, other = (tmp_path / "a" / "x", tmp_path / "b" / "x")
    render_dirs([out], one)
    render_dirs([out], other)
    for name in FILES:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def test_a_broken_file_leaves_what_was_there(write, sample):
    out = write(sample.whole())
    (out / "report.html").write_text("old")
    with (out / "results.jsonl").open("a") as file:
        file.write("{}\n")
    with pytest.raises(ResultsError, match=r"results\.jsonl, line \d+: a record is an object"):
        render_dirs([out], out)
    assert (out / "report.html").read_text() == "old"
    assert not (out / "badge.json").exists()


def test_a_file_is_replaced_whole_or_kept(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    write_whole(path, "old")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "fdopen", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_files_have_the_permissions_that_the_user_asks_for(tmp_path):
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "page.html", "text")
    finally:
        os.umask(before)
    assert (tmp_path / "page.html").stat().st_mode & 0o777 == 0o640


def test_a_path_with_a_space_and_a_directory_to_be_made(write, sample, tmp_path):
    out = tmp_path / "my reports" / "of today"
    render_dirs([write(sample.whole(), "my results")], out)
    assert (out / "report.html").exists()


def test_records_need_nothing_but_the_standard_library():
    code = (
        "import sys; import stridecheck.reports.records; "
        "heavy = {'pandas', 'numpy', 'jinja2', 'altair', 'vl_convert'} & set(sys.modules); "
        "raise SystemExit(', '.join(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_badge_and_junit_do_not_import_pandas():
    code = (
        "import sys; import stridecheck.reports.badge, stridecheck.reports.junit, stridecheck.reports.run; "
        "raise SystemExit(int('pandas' in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
