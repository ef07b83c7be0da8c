"""The XML is JUnit as CI systems read it, and colours a build only where nobody expected it."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from stridecheck.reports.junit import junit
from stridecheck.reports.records import Claim, Handover, Mutant, Unit
from stridecheck.reports.run import load

CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "property": set(),
    "testcase": {"failure", "error", "skipped"},
    "failure": set(),
    "error": set(),
    "skipped": set(),
}
REQUIRED = {
    "testsuites": {"tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped"},
    "property": {"name", "value"},
    "testcase": {"name", "classname", "time"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
    "skipped": {"message"},
}


@pytest.fixture
def parse(write):
    def parse_(records):
        root = ElementTree.fromstring(junit(load([write(records)])).encode())
        for element in root.iter():
            assert {child.tag for child in element} <= CHILDREN[element.tag]
            assert REQUIRED.get(element.tag, set()) <= set(element.attrib)
        for suite in root:
            assert int(suite.get("tests")) == len(suite.findall("testcase"))
            for state, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
                assert int(suite.get(name)) == len(suite.findall(f"testcase/{state}"))
            names = [(case.get("classname"), case.get("name")) for case in suite.findall("testcase")]
            assert len(names) == len(set(names))
        return root

    return parse_


def cases(root, suite):
    return {case.get("name"): case for case in root.findall(f"testsuite[@name='{suite}']/testcase")}


def test_one_suite_per_adapter_and_one_case_per_rule(parse, sample):
    root = parse(sample.whole())
    assert [suite.get("name") for suite in root] == ["reference", "torch:cpu", "numpy", "cupy"]
    assert len(cases(root, "torch:cpu")) == 18
    assert cases(root, "numpy")["views.expand-zero"].get("classname") == "numpy.views"


def test_a_failure_carries_message_program_and_script(parse, sample):
    failure = cases(parse(sample.whole()), "numpy")["views.narrow-offset"].find("failure")
    assert "should be (1, 4)" in failure.get("message")
    assert "v3 = v1.narrow(0, 1, 2)" in failure.text
    assert "raise SystemExit" in failure.text
    assert "and 5 more failures of this rule" in failure.text


def test_a_known_deviation_is_skipped_with_its_reason(parse, sample):
    case = cases(parse(sample.whole()), "numpy")["memory-format.to-channels-last"]
    assert case.find("skipped").get("message") == (
        "known deviation: NumPy knows no memory formats: copies are C or F ordered"
    )


def test_a_crash_of_no_rule_is_an_error_of_its_own(parse, sample):
    case = cases(parse(sample.whole()), "numpy")["programs that belong to no rule"]
    assert "SIGSEGV" in case.find("error").get("message")


def test_a_rule_that_was_not_judged_is_skipped_not_passed(parse, sample):
    counts = {"views.split-dim": {"shape": {"unsupported": 3}}, "views.select-drops": {"x": {"pass": 1}}}
    unit = Unit("numpy", "u", 1, {"pass": 1}, counts)
    named = cases(parse([sample.header(), unit, sample.footer(0)]), "numpy")
    assert named["views.split-dim"].find("skipped").get("message") == "not judged: not supported (3 steps)"
    assert named["views.merge-blocks"].find("skipped").get("message") == "not judged: no program exercised it"
    assert named["views.select-drops"].find("skipped") is None


def test_an_adapter_that_was_not_there_is_skipped_and_one_that_broke_is_an_error(parse, sample):
    failed = type(sample.adapters()[0])("broken", "failed", reason="ImportError")
    root = parse([sample.header(), sample.adapters()[3], failed, sample.footer(3)])
    assert "no CUDA device" in cases(root, "cupy")["start"].find("skipped").get("message")
    assert cases(root, "broken")["start"].find("error").get("message") == "ImportError"


def test_an_incomplete_run_is_an_error(parse, sample):
    root = parse([sample.header(), *sample.units()])
    assert cases(root, "stridecheck")["run"].find("error") is not None
    assert root.get("errors") == "1"


def test_red_counts_without_a_failure_record_fail_their_rule(parse, sample):
    unit = Unit("numpy", "u", 1, {"xpass": 1}, {"views.split-dim": {"shape": {"xpass": 1, "pass": 8}}})
    case = cases(parse([sample.header(), unit, sample.footer()]), "numpy")["views.split-dim"]
    assert case.find("failure").get("message") == "1 judged step with an unexpected outcome"


def test_only_timings_make_empty_suites(parse, sample):
    root = parse([sample.header(), *sample.timings(), sample.footer(0)])
    assert root.get("tests") == "0"


def test_a_timing_that_failed_is_an_error(parse, sample):
    """Once for each case and library, however many processes failed, and even where another has timed it."""
    failed = replace(sample.timings()[0], status="error", reason="killed by SIGKILL")
    timings = [failed, replace(failed, process=1, reason="other"), replace(failed, status="ok", process=2)]
    root = parse([sample.header(), *timings, replace(failed, cache="cold"), sample.footer()])
    (warm, cold) = cases(root, "torch:cpu").values()
    assert warm.get("name") == "copy/contiguous/float32/large, 1 thread, warm"
    assert warm.find("error").get("message") == "killed by SIGKILL"
    assert cold.find("error") is not None
    assert root.get("errors") == "2"


def test_a_claim_is_a_case(parse, sample):
    """Whatever it came to; one that could not be tried is an error, one that lacks what it takes is skipped."""
    claims = [Claim(verdict, "It is faster.", "faster", verdict, f"why {verdict}") for verdict in
              ("refuted", "not tried", "failed")]  # fmt: skip
    told = cases(parse([sample.header(), *claims, sample.footer()]), "claims")
    assert len(told["refuted"]) == 0
    assert told["not tried"].find("skipped").get("message") == "why not tried"
    assert told["failed"].find("error").get("message") == "why failed"


def test_a_way_that_arrays_were_handed_is_a_case(parse, sample):
    """A failure where something was not expected, in the terminal's words; known harm and nothing offered skipped."""
    shared = Handover("numpy", "torch", "dlpack", "row-major", "shared", strides=True, writes="fb")
    crash = replace(shared, case="reversed", outcome="crash", detail="killed by SIGABRT", is_known=False)
    lost = replace(shared, protocol="buffer", case="read-only", read_only="lost")
    nothing = replace(shared, producer="torch", consumer="numpy", outcome="not offered", strides=None)
    root = parse(
        [sample.header(), shared, crash, lost, replace(shared, protocol="interface"), nothing, sample.footer()]
    )
    told = cases(root, "exchange")
    failure = told["numpy → torch, dlpack"].find("failure")
    assert failure.get("message") == "numpy → torch, dlpack, reversed: crash: killed by SIGABRT, not expected"
    assert "read-only no more" in told["numpy → torch, buffer"].find("skipped").get("message")
    assert len(told["numpy → torch, interface"]) == 0
    assert told["torch → numpy, dlpack"].find("skipped").get("message") == "not offered"
    assert (root.get("tests"), root.get("failures")) == ("4", "1")


def test_a_mutant_is_a_case(parse, sample):
    """One that survived is a failure, one that could not be tried an error, in the terminal's words."""
    killed = Mutant("clone.gaps", "clone keeps gaps.", "reference", "killed", 14, 3)
    survived = Mutant("view.copies", "view copies.", "reference", "survived", 400, 7)
    untried = Mutant("add.wraps", "add wraps.", "torch", "untried", 0, 0, message="torch is not installed here")
    root = parse([sample.header(), killed, survived, untried, sample.footer()])
    told = cases(root, "mutants")
    assert len(told["clone.gaps"]) == 0
    assert told["view.copies"].find("failure").get("message") == "not found out by 7 programs that could show it"
    assert told["add.wraps"].find("error").get("message") == "not tried: torch is not installed here"
