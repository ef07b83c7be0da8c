"""Standalone scripts: a program and what should hold after it, in the library's own idiom. Standard library only.

A script needs nothing but the library. It exits 1 while the deviation is there and 0 when it is gone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from textwrap import indent
from traceback import extract_tb
from typing import Any, Protocol, TypeAlias

from .errors import built_in
from .idiom import modules_of, print_template
from .listing import key_name, value_name
from .observation import owner_of
from .program import FILL_SOURCES, Argument, File, Input, Program, Ref, Step, Storage

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Claim:
    """What should hold after a program, as a script can check it.

    `check` names one of the idiom's expressions, or one of `BUILT_IN`; `values` are the value keys or storage names
    that it is about; `expected` is a literal; `raising` has the steps that raise on the oracle; `raised` names the type
    of the error that came where another should, or none.
    """

    check: str
    values: tuple[str, ...] = ()
    expected: Json = None
    step: int = -1
    raising: tuple[int, ...] = ()
    sentence: str = ""
    raised: str = ""

    def to_json(self) -> dict[str, Json]:
        """The fields."""
        return asdict(self) | {"expected": repr(self.expected)}

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> Claim:
        """The claim that `to_json` wrote; `expected` stays the text of a literal."""
        return cls(
            data["check"],
            tuple(data["values"]),
            data["expected"],
            data["step"],
            tuple(data["raising"]),
            data["sentence"],
            data["raised"],
        )


class Idiom(Protocol):
    """What an adapter has for printing; one that lacks it gets no scripts.

    One whose library takes functions as a whole has `call` too: what a script calls in the place of `program`. Where
    templates and checks call functions that the library lacks, `helpers` has their source by name, callees first.
    """

    imports: str
    checks: Mapping[str, str]
    """Expressions by name, with places `{x}`, `{y}` for values or storages."""

    def template(self, step: Step) -> str | None:
        """The step's expression."""

    def write(self, argument: Argument, value: Callable[[Ref], str]) -> str:
        """An argument as source text."""

    def write_storage(self, name: str, storage: Storage, data: str) -> str:
        """Source that makes a storage."""

    def write_input(self, name: str, item: Input, storage: str) -> str:
        """Source that makes an input."""


ANYTHING = "?"
"""Stands among expected values for one that is not specified."""
BUILT_IN: Mapping[str, str] = {
    "raises": "the step raises",
    "error": "the step raises an error of the type whose name is expected",
    "error-text": "the step raises another error than that of the type and beginning which are given",
    "returns": "the program does not raise where it should not",
    "ends": "the program ends by itself, within the seconds expected",
    "scalar": "the step answers with the number, truth or list whose text is expected",
    "file": "a file's byte at the place expected is the one expected",
    "guard": "nothing is written beside a storage that lies in the middle of a buffer",
}
"""Checks that need no expression of the idiom, with what holds where they succeed."""

PYTHONS: Mapping[str, str] = {
    "scalar": "repr({x})",
    "file": 'open(folder + "/{x}", "rb").read()',
    "same-object": "{x} is {y}",
    "count": "len({x}) if isinstance({x}, (tuple, list)) else None",
}
"""Expressions of checks that are Python's, whatever the library."""


def script(program: Program, claim: Claim, idiom: Idiom) -> str:
    """The script's text; empty where the idiom cannot print the program, or the claim."""
    checks = {**PYTHONS, **getattr(idiom, "checks", {})}
    if not hasattr(idiom, "checks") or (claim.check not in checks and claim.check not in BUILT_IN):
        return ""
    steps = program.steps[: claim.step + 1] if claim.step >= 0 else program.steps
    if claim.check == "guard" and "guarded" not in checks:
        return ""
    lines = _memory(program, steps, claim, idiom)
    for number, item in enumerate(program.inputs):
        lines.append(idiom.write_input(f"x{number}", item, f"s{item.storage}"))
    call = getattr(idiom, "call", "")
    written = _written_whole(program, claim, idiom, call) if call else _written(program, len(steps), claim, idiom)
    if written is None:
        return ""
    lines += written
    if claim.check == "guard":
        ends = f"i in range({BESIDE}, len(block) - {BESIDE})"
        lines += _compared(f"[i - {BESIDE} for i, byte in enumerate(block) if not {ends} and byte != {MARK}]", "[]")
    if claim.check in checks:
        lines += _comparison(checks[claim.check], program, claim, idiom)
    begin = [f"# {claim.sentence}"]
    helpers = _called(getattr(idiom, "helpers", {}), "\n".join(lines))
    if claim.check == "ends":
        # What crashes or hangs is a child, so that this too ends with status 1. What the import takes is not counted.
        begin += ["import os, signal", "if child := os.fork(): raise SystemExit(os.waitpid(child, 0)[1] != 7 << 8)"]
        timed = [f"signal.setitimer(signal.ITIMER_REAL, {claim.expected})", *lines]
        # What raises ends by itself, too.
        lines = ["try:", indent("\n".join(timed), "    "), "except Exception: pass", "os._exit(7)"]
    return "\n".join([*begin, *_imports(steps, idiom), *helpers, *lines]) + "\n"


def _written(program: Program, count: int, claim: Claim, idiom: Idiom) -> list[str] | None:
    """The first steps, one after the other; None where the library has nothing for one."""
    lines = []
    for number in range(count):
        text = step_source(program, number, idiom)
        if text is None:
            return None
        lines += _with_errors(text, number, claim)
    return lines


def _written_whole(program: Program, claim: Claim, idiom: Idiom, call: str) -> list[str] | None:
    """The steps up to the one claimed as one function, and its call; those before that raise are left out."""
    last = claim.step if claim.step >= 0 else len(program.steps) - 1
    numbers = [number for number in range(last + 1) if number == last or number not in claim.raising]
    source = function_source(program, numbers, idiom)
    if source is None:
        return None
    inputs = ", ".join(f"x{number}" for number in range(len(program.inputs)))
    results = "".join(f"r{number}, " for number in numbers).rstrip()
    return [source, *_with_errors(f"{results} = {call}({inputs})", last, claim)]


def function_source(program: Program, numbers: Sequence[int], idiom: Idiom) -> str | None:
    """A function `program` of the inputs that runs some steps and answers with all their results.

    None where the library has nothing for one of them.
    """
    steps = [step_source(program, number, idiom) for number in numbers]
    if None in steps:
        return None
    inputs = ", ".join(f"x{number}" for number in range(len(program.inputs)))
    results = "".join(f"r{number}, " for number in numbers).rstrip()
    return "\n    ".join([f"def program({inputs}):", *map(str, steps), f"return {results}"])


BESIDE, MARK = 64, 165
"""Bytes on either side of a storage that is claimed to be written beside, and what each of them holds."""


def _memory(program: Program, steps: Sequence[Step], claim: Claim, idiom: Idiom) -> list[str]:
    """Source that makes the storages, and the files that steps name."""
    has_files = any(list(step.files()) for step in steps)
    lines = ["import tempfile", "folder = tempfile.mkdtemp()"] if has_files else []
    for number, storage in enumerate(program.storages):
        data = repr(storage.data) if storage.fill == "literal" else FILL_SOURCES[storage.fill].format(n=storage.nbytes)
        if claim.check == "guard" and claim.values == (f"s{number}",):
            # A library is lent the middle of a buffer, whose ends are looked at afterwards.
            lines.append(f"block = bytearray(bytes([{MARK}]) * {BESIDE} + bytes({data}) + bytes([{MARK}]) * {BESIDE})")
            place = {"x": f"memoryview(block)[{BESIDE}:-{BESIDE}]"}
            lines.append(f"s{number} = {print_template(idiom.checks['guarded'], place, str)}")
        elif storage.backing == "guarded" and storage.nbytes and "guarded" in getattr(idiom, "checks", {}):
            # Foreign memory differs from a library's own: it cannot grow.
            place = {"x": f"bytearray({data})"}
            lines.append(f"s{number} = {print_template(idiom.checks['guarded'], place, str)}")
        elif storage.backing != "file":
            lines.append(idiom.write_storage(f"s{number}", storage, data))
        elif has_files:
            lines.append(f'with open(folder + "/{File(number).name}", "wb") as file: file.write({data})')
    return lines


def _with_errors(text: str, number: int, claim: Claim) -> list[str]:
    """A step with what becomes of the error that it raises, or should."""
    if number == claim.step and claim.check == "error-text":
        kind, said = ast.literal_eval(claim.expected)
        return [
            f"try: {text}",
            f"except {kind} as error: raise SystemExit(str(error).strip().startswith({said!r}) and str(error))",
            "except Exception: raise SystemExit(0)",
            'raise SystemExit("not raised")',
        ]
    if number == claim.step and claim.check in ("raises", "error"):
        kind = "Exception" if claim.check == "raises" else ast.literal_eval(claim.expected)
        return [f"try: {text}", f"except {kind}: raise SystemExit(0)", 'raise SystemExit("not raised")']
    return [f"try: {text}", "except Exception: pass"] if number in claim.raising else [text]


def _comparison(check: str, program: Program, claim: Claim, idiom: Idiom) -> list[str]:
    places = dict(zip("xyz", [_name(value, program, idiom) for value in claim.values], strict=False))
    expression, want = print_template(check, places, str), claim.expected
    if claim.check in ("byte", "file"):
        place, want = ast.literal_eval(claim.expected)
        expression += f"[{place}]"
    return _compared(expression, str(want), has_gaps=claim.check == "values" and ANYTHING in str(want))


def _compared(got: str, want: str, *, has_gaps: bool = False) -> list[str]:
    lines = [f"got, want = {got}, {want}", 'print("got", got, "want", want)']
    if not has_gaps:
        return [*lines, "raise SystemExit(got != want)"]
    pairs = f'[pair for pair in zip(got.split(","), want.split(",")) if {ANYTHING!r} not in pair[1]]'
    said = f"pairs = {pairs}  # {ANYTHING} is not specified"
    return [*lines, said, "raise SystemExit(any(a != b for a, b in pairs))"]


def _called(helpers: Mapping[str, str], text: str) -> list[str]:
    """Definitions of the functions that a text calls, and of those that these call."""
    needed: list[str] = []
    for name, source in reversed(list(helpers.items())):
        if re.search(rf"(?<![\w.]){name}\(", text):
            needed.insert(0, source)
            text += source
    return needed


def _imports(steps: Sequence[Step], idiom: Idiom) -> list[str]:
    """The library's import, and those of what its expressions use besides."""
    used = {module for step in steps for module in modules_of(idiom.template(step) or "")}
    return [idiom.imports, *(f"import {module}" for module in sorted(used))]


def shows(text: str, claim: Claim) -> bool:
    """Whether a script ends as one should where the deviation is there; run in its own process.

    A script that fails in another way (the adapter's idiom is not what it runs) would mislead: an error counts where
    it is what the claim is about, in the step that it is of, and of the type that was seen or of one by which libraries
    refuse, since an adapter may have made one of the other.
    """
    try:
        exec(compile(text, _SCRIPT, "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        return end.code not in (None, 0, False)
    except Exception as error:
        if claim.check not in _CLAIMED or (built_in(error) != claim.raised and isinstance(error, _OF_IDIOMS)):
            return False
        step = ast.parse(text).body[_CLAIMED[claim.check]]
        lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == _SCRIPT]
        return bool(lines) and step.lineno <= (lines[0] or 0) <= (step.end_lineno or 0)
    return False


_CLAIMED = {"returns": -1, "error": -2}
"""Which of a script's statements is the claimed step, for the checks that an error may fail."""
_OF_IDIOMS = (NameError, AttributeError, ImportError, SyntaxError, TypeError)
"""What Python raises where an idiom is not the library's."""
_SCRIPT = "<script>"
"""Where tracebacks say that a script is."""


def step_source(program: Program, number: int, idiom: Idiom) -> str | None:
    """A step as an assignment to the name of its result; None where the library has nothing of that name."""
    step = program.steps[number]
    template = idiom.template(step)
    if template is None:
        return None

    def write(argument: Argument) -> str:
        return idiom.write(argument, lambda ref: value_name(ref, program))

    places = {str(i): a for i, a in enumerate(step.args)} | dict(step.kwargs)
    return f"r{number} = {print_template(template, places, write)}"


def _name(value: str, program: Program, idiom: Idiom) -> str:
    """Source that means a value, or a storage: `s0` of the program, `v3` the one that value 3 showed first."""
    owner = owner_of(value)
    name = key_name(owner or value, program)
    return name if owner is None else idiom.checks["storage-of"].replace("{x}", name)
