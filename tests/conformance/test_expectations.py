"""Known deviations: what the file may say, when a failure is expected, and when an expectation is out of date."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from stridecheck.conformance import corpus
from stridecheck.conformance.check import Options, check
from stridecheck.conformance.discovery import EXTRAS
from stridecheck.conformance.expectations import BUNDLED, ExpectationError, Expectations, bundled, load
from stridecheck.conformance.judge import Difference
from stridecheck.reports.records import Failure, Footer, Unit, read_results

from stridecheck import __version__

from .conftest import prefix_with

ENTRY = """
[[expect]]
name = "own order"
reason = "It sorts dimensions its own way."
rules = ["view.*", "clone.*"]
aspects = ["strides"]
"""


@pytest.fixture
def entries(tmp_path):
    """Writes an expectation file, and the list beside it, and answers the path."""

    def write(text, listed=()):
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        path.with_suffix(".txt").write_text("".join(f"{line}\n" for line in listed))
        return path

    return write


def _difference(aspect, message=""):
    return Difference(0, "1", aspect, None, None, message)


class _Rule:
    def __init__(self, id):
        self.id = id


@pytest.mark.parametrize(
    ("operation", "aspect", "rules", "covered"),
    [
        ("view", "strides", ["view.layout"], True),
        ("clone", "strides", ["errors.accepted", "clone.preserves"], True),
        ("view", "layout", ["view.layout"], False),
        ("view", "strides", ["errors.accepted"], False),
        ("view", "strides", [], False),
    ],
)
def test_a_deviation_is_known_by_rule_and_aspect(operation, aspect, rules, covered, entries):
    """An expectation covers a difference whose aspect it names and one of whose rules its globs match."""
    found = load(entries(ENTRY), {}).match(operation, _difference(aspect), [_Rule(id) for id in rules])
    assert (found is not None) == covered


def test_operations_narrow_an_expectation(entries):
    """Where operations are named, the difference must be one of theirs too."""
    found = load(entries(ENTRY + 'operations = ["clone", "expand*"]\n'), {})
    rules = [_Rule("view.layout")]
    assert found.match("expand_as", _difference("strides"), rules)
    assert not found.match("view", _difference("strides"), rules)


def test_a_piece_of_the_message_narrows_an_expectation(entries):
    """Of causes under the same rules, only the one that says so is expected."""
    found = load(entries(ENTRY + 'says = "out of shape"\n'), {})
    rules = [_Rule("view.layout")]
    assert found.match("view", _difference("strides", "r0: is out of shape"), rules)
    assert not found.match("view", _difference("strides", "r0: is out of order"), rules)
    with pytest.raises(ExpectationError, match="says is a piece of a message, not ' '"):
        load(entries(ENTRY + 'says = " "\n'), {})
    with pytest.raises(ExpectationError, match="what ends in a crash says nothing"):
        load(entries(ENTRY.replace("aspects = [", 'says = "x"\naspects = ["crash", ')), {})


@pytest.mark.parametrize(
    ("versions", "holds"),
    [("<2", False), (">=2.0", True), (">=2.0,<2.3", False), ("==2.3.*", True), (">=2.3.1", True), ("", True)],
)
def test_an_expectation_holds_for_a_range_of_versions(versions, holds, entries):
    """A version condition is compared with the library's version, local parts and pre-releases included."""
    path = entries(ENTRY + f'versions = "{versions}"\n')
    assert bool(load(path, {"lib": "2.3.1rc1+cpu"}).entries) == (holds and versions != ">=2.3.1")
    assert bool(load(path, {"lib": "2.3.1", "driver": "NVIDIA 550 (open)"}).entries) == holds


BROKEN = {
    "[[expect": "mine.toml: ",
    "\udcff": "mine.toml: ",
    '[expect]\nname = "x"': "holds [[expect]] tables",
    "[[expected]]": "holds [[expect]] tables and nothing else, not expected",
    "expect = [3]": "expectation 1: is no table",
    ENTRY + 'owner = "me"': "expectation 1: unknown field owner",
    ENTRY.replace('reason = "It sorts dimensions its own way."', ""): "expectation 1: has no reason",
    ENTRY.replace('rules = ["view.*", "clone.*"]', ""): "has no rules",
    ENTRY.replace('["view.*", "clone.*"]', '"view.*"'): "rules is a list of texts, not 'view.*'",
    ENTRY.replace('"clone.*"', '"clones.*"'): "no rule matches clones.*; `stridecheck rules` lists all",
    ENTRY.replace('["strides"]', '["stride"]'): "no aspect stride; there are raises, error-kind, shape",
    ENTRY.replace('"own order"', "7"): "name is text, not 7",
    ENTRY + 'versions = "2 or so"': "'2 or so' is no version range",
    ENTRY + ENTRY: "two expectations have the same name, own order",
}


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: BROKEN[text])
def test_a_file_that_means_nothing_is_refused(text, tmp_path):
    """A mistake in the file is named with the file and the entry: an expectation never silently covers nothing."""
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(ExpectationError) as error:
        load(path, {"lib": "1"})
    assert BROKEN[text] in str(error.value)
    assert "mine.toml" in str(error.value)


def test_a_missing_file_and_a_broken_list_are_named(entries, tmp_path):
    """A file that was asked for and is not there is an error, and so is a line of the list that is none."""
    with pytest.raises(ExpectationError, match=r"absent\.toml: No such file"):
        load(tmp_path / "absent.toml", {})
    with pytest.raises(ExpectationError, match=r"mine\.txt, line 2: a line is `NAME PROGRAM`, not 'nonsense'"):
        load(entries(ENTRY, ["own order 0123", "nonsense"]), {})


def test_a_list_is_written_sorted_and_read_again(entries):
    """The list has one sorted line for each pair, names with spaces included, and says the same when it is read."""
    path = entries(ENTRY)
    said = load(path, {}).write_list({"own order": {"ffff", "0000"}})
    assert said == f"wrote {path.with_suffix('.txt')} (lines added: 2, removed: 0)"
    assert path.with_suffix(".txt").read_text() == "own order 0000\nown order ffff\n"
    again = load(path, {})
    assert again.is_listed("0000", "own order")
    assert not again.is_listed("1111", "own order")
    assert again.write_list({"own order": {"ffff", "0000"}}) == f"{path.with_suffix('.txt')} is unchanged"


def test_an_update_forgets_only_what_it_has_seen(entries):
    """Programs that were not run stay listed, those that ran and passed do not, nor do those of removed entries."""
    path = entries(ENTRY, ["own order 0000", "own order 1111", "gone 2222"])
    load(path, {}, is_update=True).write_list({"own order": {"3333"}}, ran={"0000", "3333"})
    assert path.with_suffix(".txt").read_text() == "own order 1111\nown order 3333\n"


def test_a_list_that_names_an_entry_which_is_gone_is_refused(entries):
    """A name that was changed in one of the two files would otherwise make all that is listed under it unknown."""
    path = entries(ENTRY, ["# programs of the corpus, from the first: 9", "own order 0000", "own odour 1111"])
    with pytest.raises(ExpectationError, match=r"mine\.txt, line 3: mine\.toml has no expectation 'own odour'"):
        load(path, {})


def test_an_update_keeps_the_list_of_other_versions(entries):
    """What is listed under an expectation for another version of the library is not lost."""
    path = entries(ENTRY + 'versions = "<2"\n', ["own order 0000"])
    found = load(path, {"lib": "3.0"})
    assert found.entries == ()
    assert not found.is_listed("0000", "own order")
    found.write_list({})
    assert path.with_suffix(".txt").read_text() == "own order 0000\n"


def test_known_of_other_versions_only_is_said(entries):
    """A library of a version that no entry is about has no known deviations: that is told, not found out."""
    path = entries(ENTRY + 'versions = ">=3"')
    assert load(path, {"mine": "2.1"}).remark.startswith("what is known of its deviations is of other versions (>=3)")
    assert load(path, {"mine": "3.0"}).remark == ""
    assert Expectations().remark == ""


KNOWN = [path.stem.replace("-", ":", 1) for path in sorted(BUNDLED.glob("*.toml"))]
PINS = dict(
    line.split("==")
    for line in (Path(__file__).parents[2] / "ci" / "libraries.txt").read_text(encoding="utf-8").splitlines()
    if "==" in line
)
VERSIONS = PINS | {"paddle": PINS["paddlepaddle"]}
"""Versions that every bundled expectation holds for, by what adapters call them."""
THIRD = [name for name in KNOWN if name in EXTRAS and name != "torch"]
"""Libraries of third parties whose deviations are known."""


def test_bundled_files_can_be_read_and_give_reasons():
    """The expectations that come with the suite are valid, each has a reason of more than a few words and versions."""
    assert len(KNOWN) >= 13
    for adapter in KNOWN:
        found = bundled(adapter, VERSIONS)
        assert found.entries
        assert all(len(entry.reason.split()) > 8 and entry.reason.endswith(".") for entry in found.entries)
        assert all(entry.versions for entry in found.entries)
    assert bundled("nobody", {}) == Expectations()


@pytest.mark.parametrize("name", THIRD)
def test_what_is_known_of_third_parties_is_of_versions_that_were_checked(name):
    """All of it holds for the pinned version, whatever the versions beside it; of a later one all is unexpected."""
    first, second, *_ = (int(number) for number in VERSIONS[name].split("."))
    assert bundled(name, {name: VERSIONS[name], "numpy": "9"}).others == ()
    for later in (f"{first}.{second + 1}.0", f"{first + 1}.0"):
        found = bundled(name, {"numpy": VERSIONS[name], name: later})
        assert found.entries == ()
        assert found.remark.startswith("what is known of its deviations is of other versions (>=")


def test_bundled_lists_name_programs_of_the_corpus():
    """Every listed program is in the corpus: what was redrawn is not left behind."""
    ids = {program.id for program in corpus.read()}
    for adapter in KNOWN:
        assert set(bundled(adapter, VERSIONS).listed) <= ids


def test_the_page_of_releases_says_what_is_expected():
    """Each change between releases of PyTorch stands there with its range, its reason and its number of programs."""
    page = (Path(__file__).parents[2] / "docs" / "releases.md").read_text(encoding="utf-8")
    rows = {line for line in page.splitlines() if line.startswith("| `")}
    entries = tomllib.loads((BUNDLED / "torch-cpu.toml").read_text(encoding="utf-8"))["expect"]
    listed = Counter(line.split()[0] for line in (BUNDLED / "torch-cpu.txt").read_text(encoding="utf-8").splitlines())
    ranged = [entry for entry in entries if entry["name"][0].isdigit()]
    assert rows == {f"| `{e['versions']}` | {e['reason']} | `{e['name']}` | {listed[e['name']]} |" for e in ranged}
    assert len(ranged) >= 25


# Whole runs with a library that deviates in one way: `clone` answers with zeros.

PROGRAMS = 150
DEVIANT = """
from stridecheck.conformance.adapters.reference import Reference


class Deviant(Reference):
    name = "deviant"

    def operation(self, step):
        real = super().operation(step)
        return (lambda *args: real(*args).zero_()) if step.op == "clone" else real


adapter = Deviant
"""
EXPECTED = """
[[expect]]
name = "zeros"
reason = "Its clones are zero."
rules = ["*"]
aspects = ["values", "storage", "flags", "raises"]
operations = ["clone"]
"""


@pytest.fixture
def run(adapter_file, tmp_path):
    """Checks the deviant on the corpus' first programs with an expectation file; answers code and failures."""

    def run_(expect, programs=PROGRAMS, source=DEVIANT, **options):
        out = tmp_path / "out"
        code = check(Options((adapter_file(source, "deviant.py"),), programs=programs, expect=expect, **options), out)
        records = list(read_results(out / "results.jsonl"))
        assert records[-1].exit_code == code
        assert isinstance(records[-1], Footer)
        return code, [record for record in records if isinstance(record, Failure)]

    return run_


@pytest.fixture(scope="module")
def updated(tmp_path_factory):
    """The list that --update-expectations writes."""
    folder = tmp_path_factory.mktemp("updated")
    source, path = folder / "deviant.py", folder / "mine.toml"
    source.write_text(DEVIANT)
    path.write_text(EXPECTED)
    options = Options((str(source),), programs=PROGRAMS, expect=path, update_expectations=True)
    assert check(options, folder / "out") == 1  # nothing was listed yet
    lines = path.with_suffix(".txt").read_text().splitlines()
    assert len(lines) >= 2
    return lines


@pytest.fixture
def listed(entries, updated):
    """The expectation file, with that list."""
    return entries(EXPECTED, updated)


def test_expected_failures_are_no_news(run, listed):
    """Listed failures are xfail with the reason, and the run is green."""
    code, failures = run(listed)
    assert code == 0
    assert {(f.outcome, f.expectation) for f in failures} == {("xfail", "Its clones are zero.")}


def test_a_failure_that_is_not_listed_is_red(run, listed):
    """A deviation that an entry covers, on a program that is not in its list, is a failure all the same."""
    reach, lacks, first, *others = listed.with_suffix(".txt").read_text().splitlines()
    listed.with_suffix(".txt").write_text("\n".join([reach, lacks, *others]) + "\n")
    code, failures = run(listed)
    assert code == 1
    assert {f.program for f in failures if f.outcome == "fail"} == {first.split()[-1]}


def test_beyond_its_reach_a_list_says_nothing(run, listed):
    """Programs after those that a list was made of are judged by the entries alone, as random ones are."""
    path, first = listed.with_suffix(".txt"), prefix_with("clone") - 1
    _, _, *lines = path.read_text().splitlines()
    path.write_text(f"# programs of the corpus, from the first: {first}\n")
    code, failures = run(listed)
    assert code == 0
    assert {f.outcome for f in failures} == {"xfail"}
    assert len(lines) == len({f.program for f in failures})
    listed.write_text(ENTRY)
    path.unlink()
    assert run(listed)[0] == 1


def test_the_lines_of_an_entry_may_reach_less_far(run, listed):
    """What another version does was found out on fewer programs, perhaps: those after them are as random ones."""
    listed.with_suffix(".txt").write_text("")
    for programs, code in ((prefix_with("clone") - 1, 0), (PROGRAMS, 1)):
        listed.write_text(f"{EXPECTED}programs = {programs}\n")
        assert run(listed)[0] == code


@pytest.mark.parametrize("programs", ["0", '"10"', "true"])
def test_a_number_of_programs_is_one(tmp_path, programs):
    """Any other is refused by the entry's name and place."""
    (tmp_path / "known.toml").write_text(f"{ENTRY}programs = {programs}\n")
    with pytest.raises(ExpectationError, match="expectation 1: programs is a number"):
        load(tmp_path / "known.toml", {})


def test_a_longer_run_makes_a_list_reach_further(run, listed):
    """An update says of how many programs the list is; over the whole corpus it has nothing to say of that."""
    path, first = listed.with_suffix(".txt"), prefix_with("clone") - 1
    whole = path.read_text()
    path.unlink()
    run(listed, programs=first, update_expectations=True)
    assert path.read_text() == f"# programs of the corpus, from the first: {first}\n{LACKS_NOTHING}"
    run(listed, update_expectations=True)
    assert path.read_text() == whole
    load(listed, {}).write_list({})
    assert path.read_text() == LACKS_NOTHING


def test_a_listed_program_that_passes_is_red(run, listed, whole_corpus):
    """What is expected to fail and does not is told by program and entry."""
    passing = next(e.program.id for e in whole_corpus[:100] if all(s.op != "clone" for s in e.program.steps))
    with listed.with_suffix(".txt").open("a") as file:
        file.write(f"zeros {passing}\n")
    code, failures = run(listed)
    assert code == 1
    (xpass,) = [f for f in failures if f.outcome == "xpass"]
    assert f"program {passing} is listed under 'zeros', but passes" in xpass.message


def test_a_listed_program_that_is_not_judged_any_more_is_red(run, listed):
    """A library that no longer claims what it was known to get wrong has changed, too; an update drops it."""
    modest = DEVIANT.replace(
        "        real =", "        if step.op == 'clone':\n            raise Unsupported\n        real ="
    )
    modest = modest.replace("class", "from stridecheck.conformance.protocol import Unsupported\n\n\nclass", 1)
    code, failures = run(listed, source=modest)
    assert code == 1
    assert {f.outcome for f in failures} == {"xpass"}
    programs = [f for f in failures if "is listed under" in f.message]
    assert len(programs) == len(listed.with_suffix(".txt").read_text().splitlines()) - 2
    assert "is listed under 'zeros', but is not supported any more" in programs[0].message
    run(listed, source=modest, update_expectations=True)
    reach, lacks = listed.with_suffix(".txt").read_text().splitlines()
    assert reach == f"# programs of the corpus, from the first: {PROGRAMS}"
    assert lacks.startswith("# not supported by ")


def test_of_the_whole_corpus_a_list_holds_nothing_else(tmp_path):
    """A program that there is none of is told, and says nothing for its entry, which may match nothing."""
    known = tmp_path / "known.toml"
    known.write_text(ENTRY)
    known.with_suffix(".txt").write_text("own order deadbeefdeadbeef\n")
    found = load(known, {})
    (entry,) = found.entries
    unit = Unit("mine", "corpus:0-1", 1, {}, {"view.is-view": {"strides": {"pass": 1}}})
    assert found.strays({"0123456789abcdef"}) == {"own order": ["deadbeefdeadbeef"]}
    assert found.strays({"deadbeefdeadbeef"}) == {}
    assert entry not in [one for one, _ in found.idle([unit])]
    assert entry in [one for one, _ in found.idle([unit], {"0123456789abcdef"})]


@pytest.mark.parametrize(
    ("aspects", "is_idle"), [("crash", True), ("timeout", True), ("strides", True), ("flags", False)]
)
def test_an_entry_about_what_ends_a_process_is_found_idle_too(aspects, is_idle, entries):
    """No rule has counts of crashes where there are none."""
    found = load(entries(ENTRY.replace("strides", aspects)), {})
    unit = Unit("mine", "corpus:0-1", 1, {}, {"view.is-view": {"strides": {"pass": 1}}})
    assert bool(found.idle([unit])) == is_idle


LACKS_NOTHING = f"# not supported by stridecheck {__version__}: nothing\n"
LOSING = """
import os
from stridecheck.conformance.adapters.numpy import Numpy

class Mine(Numpy):
    name = "mine"

    def operation(self, step):
        return None if step.op == os.environ.get("LOST") else super().operation(step)

adapter = Mine
"""


def test_what_the_same_versions_do_no_more_is_red(adapter_file, tmp_path, monkeypatch):
    """A program that passed and is not supported is a change; with other versions it is another library."""
    known, spec = tmp_path / "known.toml", adapter_file(LOSING)
    known.write_text("")
    asked = Options((spec,), programs=300, expect=known)
    check(replace(asked, update_expectations=True), tmp_path / "update")
    made = known.with_suffix(".txt").read_text()
    assert check(asked, tmp_path / "again") in (0, 1)
    before = _told(tmp_path / "again")
    assert not any("not supported any more" in message for message in before)
    monkeypatch.setenv("LOST", "permute")
    assert check(asked, tmp_path / "lost") == 1
    assert [message for message in _told(tmp_path / "lost") if "op:permute is not supported any more" in message]
    known.with_suffix(".txt").write_text(re.sub(r"by numpy [\d.]+", "by numpy 1.0", made))
    check(asked, tmp_path / "other")
    assert not any("not supported any more" in message for message in _told(tmp_path / "other"))
    monkeypatch.delenv("LOST")
    check(replace(asked, update_expectations=True), tmp_path / "update")
    lines = known.with_suffix(".txt").read_text().splitlines()
    assert {"# not supported by numpy 1.0: ", "# not supported by numpy "} <= {
        found[0] for line in lines if (found := re.match("# not supported by numpy (1.0: )?", line))
    }


def _told(out):
    return [one.message for one in read_results(out / "results.jsonl") if isinstance(one, Failure)]


@pytest.mark.parametrize("reaches_all", [True, False])
def test_an_entry_that_matches_nothing_is_red(run, listed, reaches_all):
    """An entry whose rules and aspects were judged without a failure is out of date, however far the list reaches.

    Unless it says that it is about programs beyond.
    """
    if reaches_all:
        _, *lines = listed.with_suffix(".txt").read_text().splitlines(keepends=True)
        listed.with_suffix(".txt").write_text("".join(lines))
    listed.write_text(f"{EXPECTED}{ENTRY}")
    code, failures = run(listed)
    assert code == 1
    (xpass,) = [f for f in failures if f.outcome == "xpass"]
    assert "expectation 'own order' matched nothing, though its rules were judged" in xpass.message
    listed.write_text(f"{EXPECTED}{ENTRY}beyond = true\n")
    assert run(listed)[0] == 0
    listed.write_text(f'{EXPECTED}{ENTRY}beyond = "yes"\n')
    with pytest.raises(ExpectationError, match="beyond is true or false, not 'yes'"):
        load(listed, {})


def test_an_entry_whose_rules_did_not_run_says_nothing(run, listed):
    """An entry about rules that no program of the run exercised is left alone."""
    listed.write_text(EXPECTED + ENTRY.replace('["view.*", "clone.*"]', '["storage.byteswap"]'))
    assert run(listed)[0] == 0


def test_a_prefix_says_nothing_about_the_rest(run, listed):
    """A run over fewer programs does not turn entries about the others red, and an update keeps their lines."""
    first = prefix_with("clone") - 1
    before = listed.with_suffix(".txt").read_text()
    assert run(listed, programs=first)[0] == 0
    assert run(listed, programs=first, update_expectations=True)[0] == 0
    assert listed.with_suffix(".txt").read_text() == before


def test_the_end_of_a_process_can_be_expected(run, entries):
    """An operation that ends its process is covered by an entry about crashes, and by none about aspects."""
    source = DEVIANT.replace("real(*args).zero_()", '__import__("os").kill(__import__("os").getpid(), 11)')
    few = prefix_with("clone")
    path = entries(EXPECTED)
    assert run(path, few, source)[0] == 1
    path.write_text(EXPECTED.replace('["values", "storage", "flags", "raises"]', '["crash"]'))
    run(path, few, source, update_expectations=True)
    code, failures = run(path, few, source)
    assert code == 0
    assert {(f.outcome, f.expectation) for f in failures} == {("xfail", "Its clones are zero.")}
    assert "SIGSEGV" in failures[0].message
    assert "xpass" in {f.outcome for f in run(path, few)[1]}  # once it no longer crashes


def test_random_programs_need_no_list(run, entries):
    """Failures of random programs are covered by the entry alone, and that counts as a match."""
    code, failures = run(entries(EXPECTED), programs=0, examples=150)
    assert {f.outcome for f in failures} == {"xfail"}
    assert code == 0


def test_an_update_without_all_rules_is_refused(run, listed):
    """A list made under --rules would miss the others: that is a mistake of usage, and nothing is run."""
    with pytest.raises(ExpectationError, match="--update-expectations needs all rules"):
        run(listed, rules="view.*", update_expectations=True)


def test_an_update_needs_a_file(run):
    """Without an expectation file there is nothing to update, and the message says what to give."""
    with pytest.raises(ExpectationError, match="deviant has no expectation file to update: give --expect FILE"):
        run(None, update_expectations=True)


def test_records_of_a_run_are_plain_json(run, listed, tmp_path):
    """Every line of the results is strict JSON, whatever the values in it were."""
    run(listed)
    for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines():
        json.loads(line, parse_constant=pytest.fail)
