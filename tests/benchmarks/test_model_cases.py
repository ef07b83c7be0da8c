"""Models as cases: chosen by globs only, compared with their plain form, timed and recorded as every case is."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from stridecheck.benchmarks import model_calls
from stridecheck.benchmarks.bench import Options, bench
from stridecheck.benchmarks.cases import select
from stridecheck.benchmarks.model_cases import MODELS, PRECISIONS, ModelCase, model_cases
from stridecheck.benchmarks.prepare import CaseFailed
from stridecheck.conformance.adapters import numpy
from stridecheck.conformance.adapters import torch as adapters
from stridecheck.conformance.adapters.torch_device import OnDevice
from stridecheck.conformance.protocol import Unsupported
from stridecheck.reports.records import Timing, read_results

HERE = [
    case
    for case in model_cases()
    if case.size == "small" and not case.operation.startswith("device.") and case.layout != "pinned"
    and case.dtype != "int8_torchao"
]  # fmt: skip


def test_they_are_timed_only_where_they_are_asked_for():
    assert not {case.name for case in select()} & {case.name for case in model_cases()}
    assert select(["model.*", "device.*"]) == list(model_cases())
    assert not select(["model.*"], quick=True)
    assert {case.operation for case in model_cases()} == set(model_calls._CALLS) == set(MODELS)


@pytest.mark.parametrize("case", HERE, ids=lambda case: case.name)
def test_a_model_answers_as_its_plain_form_does(case):
    ready = case.preparer(None)(adapters.adapter())
    assert ready.output_bytes > 0
    assert ready.copied is None
    assert len(ready.call()) >= 1
    assert case.held_bytes > ready.output_bytes


def test_a_model_that_answers_otherwise_is_no_case_to_time(monkeypatch):
    wrong = model_calls._work

    def work(case, device):
        found = wrong(case, device)
        if case.layout != "channels_last":
            return found
        return replace(found, call=lambda: [tensor + 1 for tensor in found.call()])

    monkeypatch.setattr(model_calls, "_work", work)
    with pytest.raises(CaseFailed, match="differs from that of the plain form"):
        model_calls.ready(ModelCase("model.conv_net", "channels_last", "float32", "small"), adapters.adapter())


def test_channels_last_is_the_layout_of_weights_and_images():
    model, x = model_calls._laid(
        model_calls._conv_net(False),
        ModelCase("model.conv_net", "channels_last", "float32", "small"),
        torch.device("cpu"),
    )
    assert x.is_contiguous(memory_format=torch.channels_last)
    assert model.convs[1].weight.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize(
    ("case", "adapter", "reason"),
    [
        (ModelCase("model.mlp", "contiguous", "float32", "small"), numpy.adapter, "run by torch or torch:DEVICE only"),
        (
            ModelCase("model.mlp", "contiguous", "float32", "small"),
            lambda: adapters.adapter("meta"),
            "run by torch or torch:DEVICE only",
        ),
        (ModelCase("model.loader", "pinned", "float32", "small"), adapters.adapter, "pinned for a device"),
        (ModelCase("device.upload", "pageable", "float32", "small"), adapters.adapter, "needs one"),
        (
            ModelCase("model.mlp", "contiguous", "int8_static", "small"),
            lambda: OnDevice("meta", torch.device("meta")),
            "on the CPU only",
        ),
    ],
)
def test_what_cannot_be_timed_here_is_unsupported(case, adapter, reason):
    with pytest.raises(Unsupported, match=reason):
        case.preparer(None)(adapter())


def test_what_is_not_installed_is_unsupported(monkeypatch):
    monkeypatch.setattr(model_calls, "find_spec", lambda name: None)
    with pytest.raises(Unsupported, match="pip install torchao"):
        ModelCase("model.mlp", "contiguous", "int8_torchao", "small").preparer(None)(adapters.adapter())


def test_a_run_times_models_beside_other_cases(tmp_path):
    cases = (
        "model.loader_by_hand/pageable/float32/small, copy/contiguous/float32/small",
        "model.mlp/*/int8_dynamic/small",
    )
    assert bench(Options(cases, ("torch", "numpy")), tmp_path) == 0
    found = {(r.case, r.adapter): r for r in read_results(tmp_path / "results.jsonl") if isinstance(r, Timing)}
    assert len(found) == 6
    mlp = found["model.mlp/contiguous/int8_dynamic/small", "torch:cpu"]
    assert (mlp.status, mlp.x_copy, mlp.touched_bytes, mlp.program) == ("ok", None, 0, {})
    assert mlp.peak_bytes > 0
    assert len(mlp.samples_ns) >= 7
    loader = found["model.loader_by_hand/pageable/float32/small", "torch:cpu"]
    assert loader.output_bytes == 64 * 3 * 32 * 32 * 4
    assert loader.x_copy > 1
    assert found["model.mlp/contiguous/int8_dynamic/small", "numpy"].status == "unsupported"


def test_checkpointing_holds_less():
    """What is measured of both forms is what the claim is about."""
    plain, checkpointed = [
        ModelCase(f"model.mlp_train{form}", "contiguous", "float32", "large").preparer(None)(adapters.adapter())
        for form in ("", "_checkpointed")
    ]
    assert adapters.peak_bytes(checkpointed.call) < 0.8 * adapters.peak_bytes(plain.call)


def test_every_precision_is_told_in_words():
    for case in model_cases():
        assert case.dtype in PRECISIONS
        assert "\n" not in case.says
        assert PRECISIONS[case.dtype] in case.says


def test_pytest_benchmark_times_what_its_variable_asks_for(tmp_path):
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    command = [sys.executable, "-m", "pytest", "--pyargs", "stridecheck.benchmarks", "--benchmark-only"]
    command += ["-k", "torch", "--benchmark-max-time=0.01", "--benchmark-json=saved.json", "-p", "no:cacheprovider"]
    environ["STRIDECHECK_CASES"] = "model.mlp/*/float32/small"
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
    (saved,) = json.loads((tmp_path / "saved.json").read_text())["benchmarks"]
    assert saved["group"] == "model.mlp/contiguous/float32/small"
    environ["STRIDECHECK_CASES"] = "model.mlq"
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert "near it: model.mlp" in done.stdout
