"""The pytest form: `pytest --pyargs stridecheck.conformance --stridecheck-adapter NAME`, and `parametrize_rules`.

Programs are judged once, by the same `check` as on the command line, when the first test asks; each test then reads
one rule's verdict. Workers of pytest-xdist on one machine share that run through its directory. pytest imports this
module in every session, so it imports nothing heavy before a test is marked.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from stridecheck.conformance.check import Options
    from stridecheck.conformance.classify import Rule
    from stridecheck.reports.verdicts import RuleVerdict

MARKER = "stridecheck"
NO_RULE = "no-rule"
"""Id of the test of what belongs to no rule; it must not be lost for that."""

_OPTIONS: Mapping[str, tuple[Any, str, str]] = {
    "rules": (str, "GLOB", "Only these rules, and programs that exercise them."),
    "programs": (int, "N", "Only the first N corpus programs: a fair sample."),
    "examples": (int, "N", "Also N random programs."),
    "seed": (int, "N", "Seed of the random programs."),
    "expect": (str, "FILE", "Known deviations, in the place of the bundled file."),
    "python": (str, "PATH", "Interpreter of the environment that has the library."),
    "timeout": (float, "S", "Seconds for one program."),
}
"""Fields of `stridecheck.conformance.check.Options` that the command line of pytest sets, also for decorated tests."""


def parametrize_rules(
    adapter: str | Path, *, expected_failures: Mapping[str, str] | None = None, **options: Any
) -> pytest.MarkDecorator:
    """Mark a test to be run once for each rule, with the argument `rule`; `rule.check()` passes or fails it.

    `adapter` is what `stridecheck check` takes: an installed name, `module:attribute` or a file's path.
    `expected_failures` maps rules, by id or glob, to the reason why they fail; it is strict: a rule that passes though
    it is expected to fail is a failure. `options` are fields of `stridecheck.conformance.check.Options`;
    `rules` may be several globs.

    >>> @parametrize_rules("numpy", rules="transpose.*", programs=100)
    ... def test_layout(rule):
    ...     rule.check()
    """
    return pytest.mark.stridecheck(adapter, expected_failures=expected_failures or {}, **options)


class RunBroken(Exception):
    """The run behind a test judged nothing that could be relied on; no expected failure covers that."""


@dataclass(frozen=True)
class RuleCheck:
    """One rule on one library: what a decorated test gets as `rule`."""

    id: str
    sentence: str
    _run: _Run = field(repr=False)

    def check(self) -> None:
        """Fail the test where the rule does not hold; skip it where it was not judged, xfail it where that is known.

        Raises
        ------
        RunBroken
            The library could not be started, or the run not be finished.
        """
        __tracebackhide__ = True
        verdict = self._run.verdict(self.id)
        if verdict.state == "known":
            pytest.xfail(verdict.message)
        if verdict.state == "not judged":
            pytest.skip(verdict.message)
        if verdict.state != "pass":
            said = (verdict.details or verdict.message).rstrip()
            pytest.fail(f"{said}\n\n{self.id}: {self.sentence}\nagain: {self._run.command}", pytrace=False)


class _Run:
    """One run of the suite, made when the first test asks for it, and shared by all tests of the session."""

    def __init__(self, options: Options, directory: Path, session: str) -> None:
        self.options, self.directory, self.session = options, directory, session

    @property
    def command(self) -> str:
        from stridecheck.conformance.options import check_line

        return check_line(self.options)

    def verdict(self, rule: str) -> RuleVerdict:
        __tracebackhide__ = True
        from stridecheck.reports import verdicts

        judged = self._judged
        if isinstance(judged, str):
            raise RunBroken(judged)
        nothing = verdicts.RuleVerdict("pass") if rule == NO_RULE else verdicts.RuleVerdict("not judged", "not judged")
        return judged.get(verdicts.NO_RULE if rule == NO_RULE else rule, nothing)

    @cached_property
    def _judged(self) -> Mapping[str, RuleVerdict] | str:
        """Verdict by rule, or what went wrong: kept, so that it is not tried again for each rule."""
        from stridecheck.conformance.check import check
        from stridecheck.conformance.corpus import CorpusError
        from stridecheck.conformance.expectations import ExpectationError
        from stridecheck.reports.run import load
        from stridecheck.reports.verdicts import RuleVerdict, rule_verdicts

        self.directory.mkdir(parents=True, exist_ok=True)
        with (self.directory / "session").open("a+", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.seek(0)
            if lock.read() != self.session:  # results of another session are out of date
                try:
                    check(self.options, self.directory)
                except (CorpusError, ExpectationError, OSError) as error:
                    return str(error)
                lock.truncate(0)
                lock.write(self.session)
        run = load([self.directory])
        (adapter,) = run.adapters
        if adapter.status == "skipped":
            return {rule: RuleVerdict("not judged", adapter.reason) for rule in (*run.rules, "")}
        if adapter.status != "ready":
            return f"{adapter.name}: {adapter.reason}"
        return rule_verdicts(run, adapter.name)


class _Session:
    """What the tests of one pytest process share: where runs are kept, and what the command line says of them."""

    def __init__(self, config: pytest.Config) -> None:
        self.adapter: str | None = config.getoption("stridecheck_adapter")
        found = {name: config.getoption(f"stridecheck_{name}") for name in _OPTIONS}
        self.settings = {name: value for name, value in found.items() if value is not None}
        out: str | None = config.getoption("stridecheck_out")
        given = getattr(config, "workerinput", {}).get("stridecheck")
        if given is not None:  # a worker of pytest-xdist: its parent says where
            self.id, directory = given
            self.directory, self.temporary = Path(directory), False
        else:
            self.id = uuid.uuid4().hex
            self.directory = Path(out or Path(tempfile.gettempdir()) / f"stridecheck-{self.id}").absolute()
            self.temporary = out is None
        self._runs: dict[Options, _Run] = {}

    def run(self, adapter: str | Path | None, options: Mapping[str, Any]) -> _Run:
        """The run that these options ask for; the same options are the same run."""
        from stridecheck.conformance.check import Options
        from stridecheck.conformance.discovery import UnknownAdapter, find

        spec = self.adapter if adapter is None else str(adapter)
        if spec is None:
            _refuse("which library? give --stridecheck-adapter NAME")
        settings = {**options, **self.settings}
        if not isinstance(rules := settings.get("rules", "*"), str):
            settings["rules"] = ",".join(rules)
        if settings.get("expect"):
            settings["expect"] = Path(settings["expect"])
        try:
            asked = Options((spec,), **settings)
            if not asked.python:
                find(spec)
        except (TypeError, ValueError, UnknownAdapter) as error:
            _refuse(str(error).replace("Options.__init__()", "parametrize_rules()"))
        if asked not in self._runs:
            name = f"{Path(spec).stem}-{hashlib.sha256(repr(asked).encode()).hexdigest()[:8]}"
            self._runs[asked] = _Run(asked, self.directory / name.replace(":", "-"), self.id)
        return self._runs[asked]


_SESSION = pytest.StashKey[_Session]()


def _refuse(message: str) -> NoReturn:
    """End the collection of a test with one line, as pytest itself does."""
    pytest.fail(f"stridecheck: {message}", pytrace=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of the pytest form, in a group of their own."""
    group = parser.getgroup("stridecheck", "memory layout of a tensor library (stridecheck)")
    group.addoption(
        "--stridecheck-adapter",
        metavar="NAME",
        help="Library to check: an installed name, module:attribute or a file's path.",
    )
    for name, (kind, metavar, text) in _OPTIONS.items():
        group.addoption(f"--stridecheck-{name}", type=kind, metavar=metavar, help=text)
    group.addoption("--stridecheck-out", metavar="DIR", help="Keep results below DIR (render: stridecheck report DIR).")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; refuse an adapter that there is none of before anything is collected."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(adapter, *, expected_failures, **options): run the test once for each rule of memory layout.",
    )
    session = config.stash[_SESSION] = _Session(config)
    if session.adapter is not None and "python" not in session.settings:
        from stridecheck.conformance.discovery import UnknownAdapter, find

        try:
            find(session.adapter)
        except UnknownAdapter as error:
            raise pytest.UsageError(f"--stridecheck-adapter: {error}") from None


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove results that nobody asked to keep."""
    session = config.stash.get(_SESSION, None)
    if session is not None and session.temporary:
        shutil.rmtree(session.directory, ignore_errors=True)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist where its session's results are."""
    session = node.config.stash[_SESSION]
    node.workerinput["stridecheck"] = (session.id, str(session.directory))


def pytest_report_header(config: pytest.Config) -> str | None:
    """The settings, where there are any."""
    session = config.stash[_SESSION]
    said = {"adapter": session.adapter, **session.settings}
    if not session.temporary:
        said["out"] = str(session.directory)
    text = ", ".join(f"{name} {value}" for name, value in said.items() if value is not None)
    return f"stridecheck: {text}" if text else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each rule that is asked for, and one for what belongs to no rule."""
    marker = metafunc.definition.get_closest_marker(MARKER)
    if marker is None:
        return
    from stridecheck.conformance.options import is_wanted
    from stridecheck.conformance.rules import catalogue, matching_none

    options = dict(marker.kwargs)
    expected = options.pop("expected_failures", {})
    adapter = marker.args[0] if marker.args else None
    run = metafunc.config.stash[_SESSION].run(adapter, options)
    if problem := matching_none((*run.options.rules.split(","), *expected)):
        _refuse(problem)
    asked = [rule for rule in catalogue().rules.values() if is_wanted(rule.id, run.options.rules)]
    others = RuleCheck(NO_RULE, "What belongs to no rule is as expected too.", run)
    metafunc.parametrize("rule", [*_cases(asked, run, expected), pytest.param(others, id=NO_RULE)])


def _cases(rules: Sequence[Rule], run: _Run, expected: Mapping[str, str]) -> list[Any]:
    """Parameters of the tests; expected failures are strict, and cover nothing but the rule's own verdict."""
    cases = []
    for rule in rules:
        reasons = [reason for glob, reason in expected.items() if fnmatchcase(rule.id, glob)]
        marks = [pytest.mark.xfail(reason=reasons[0], strict=True, raises=pytest.fail.Exception)] if reasons else []
        sentence = f"{rule.sentence} ({rule.source})"
        cases.append(pytest.param(RuleCheck(rule.id, sentence, run), id=rule.id, marks=marks))
    return cases
