"""Tuning is off unless asked for; what it remembers is used again; files that are no use are named and ignored."""

import json
import subprocess
import sys
import warnings

import pytest
from stridecheck.reference_impl.kernels import tuning
from stridecheck.reference_impl.kernels.normal import normal
from stridecheck.reference_impl.kernels.planner import plan_for
from stridecheck.reference_impl.kernels.plans import OWN, Host

AT_16 = Host(dst_phase=16)


@pytest.fixture
def plan():
    return plan_for(normal((300, 400), (3200, 8), (8, 2400), 8), Host())


def test_the_fastest_variant_is_remembered(tmp_path, plan):
    path = tmp_path / "there" / "kernels.json"
    asked = []

    def measure(choice):
        asked.append(choice)
        return 1.0 if choice.order == "dst" else 2.0

    best = tuning.Tuning(path, "some").choose(plan, plan.form, AT_16, measure)
    assert best.order == "dst"
    assert asked[0] == OWN
    count = len(asked)
    assert tuning.Tuning(path, "some").choose(plan, plan.form, AT_16, measure) == best
    assert len(asked) == count
    tuning.Tuning(path, "some").choose(plan, plan.form, Host(), measure)
    assert len(asked) == 2 * count


def test_a_small_difference_leaves_the_planners_choice(tmp_path, plan):
    chosen = tuning.Tuning(tmp_path / "k.json", "some").choose(
        plan, plan.form, Host(), lambda choice: 2.0 if choice == OWN else 1.95
    )
    assert chosen == OWN


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "damaged: JSONDecodeError"), ("[]", "damaged: TypeError"), ('{"version": 1}', "damaged: KeyError"),
        ('{"version": 1, "model": "some", "plans": {}}', "version 1"),
        ('{"version": NOW, "model": "other", "plans": {}}', "'other'"),
        ('{"version": NOW, "model": "some", "plans": {"x": {"order": "up"}}}', "no such choice"),
        ('{"version": NOW, "model": "some", "plans": {"x": {"a_bytes": 1e9}}}', "no such choice"),
        ('{"version": NOW, "model": "some", "plans": {"x": {"z": 1}}}', "damaged: TypeError"),
        (b"\xff\xfe", "cannot be read"),
    ],
)  # fmt: skip
def test_files_that_are_no_use_are_ignored_with_a_warning(tmp_path, plan, content, said):
    path = tmp_path / "kernels.json"
    text = content if isinstance(content, bytes) else content.replace("NOW", str(tuning._VERSION)).encode()
    path.write_bytes(text)
    with pytest.warns(UserWarning, match=said):
        tuned = tuning.Tuning(path, "some")
    assert tuned.choose(plan, plan.form, Host(), lambda choice: 1.0) == OWN
    assert json.loads(path.read_text())["model"] == "some"


def test_a_directory_that_cannot_be_written_is_no_failure(tmp_path, plan):
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "below" / "kernels.json"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tuned = tuning.Tuning(path, "some")
    with pytest.warns(UserWarning, match="cannot be kept"):
        assert tuned.choose(plan, plan.form, Host(), lambda choice: 1.0) == OWN


def test_it_is_asked_for_by_the_environment(tmp_path):
    script = """
import numpy as np
from stridecheck.reference_impl import strided_copy
a = np.arange(1500 * 1000, dtype=np.float32).reshape(1500, 1000)
b = np.zeros((1000, 1500), np.float32)
strided_copy(b, a.T)
assert np.array_equal(b, a.T)
"""
    for wanted in ("", "1"):
        environment = {"XDG_CACHE_HOME": str(tmp_path), tuning.VARIABLE: wanted, "PATH": ""}
        subprocess.run([sys.executable, "-c", script], check=True, env=environment)
        assert len(list(tmp_path.rglob("kernels-*.json"))) == bool(wanted)


def test_what_is_repeated_is_not_tuned_as_its_first_turn_is(tmp_path):
    transposed = normal((1500, 1000), (4000, 4), (4, 6000), 4)
    repeated = normal((9, 1500, 1000), (6_000_000, 4000, 4), (0, 4, 6000), 4)
    tuned = tuning.Tuning(tmp_path / "k.json", "some")
    best = [
        tuned.choose(plan_for(form, Host()), form, Host(), lambda choice, order=order: 1.0 + (choice.order != order))
        for form, order in ((transposed, "dst"), (repeated, "src"))
    ]
    assert [choice.order for choice in best] == ["dst", "src"]
