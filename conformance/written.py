"""What happened to a program as it is written down: by a library's process, and in the record of what the oracle does.

Mostly a library does what the oracle did. Where both have written the same letters there is nothing to read and nothing
to judge. What is of one side alone stands apart (`observation.apart`): the words of errors, the marks of the oracle.
Bytes that nobody specifies are written as 0.
"""

from __future__ import annotations

import json
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, overload

from . import jsonl, observation
from .elements import cleared
from .observation import Observation

_BEGIN = len('["0123456789abcdef",')
_first_json = json.JSONDecoder().raw_decode


class Written(Sequence[Observation]):
    """Observations as text, a JSON array; `aside` has what is of one side alone.

    Raises
    ------
    ValueError
        When looked at: the text says something else.
    """

    __slots__ = ("_aside", "_observations", "text")

    def __init__(self, text: bytes, aside: dict[str, Any]) -> None:
        self.text, self._aside = text, aside
        self._observations: list[Observation] | None = None

    @property
    def observations(self) -> list[Observation]:
        """The observations, read once."""
        if self._observations is None:
            try:
                self._observations = observation.together(jsonl.loads(self.text), **self._aside)
            except (KeyError, TypeError, ValueError, IndexError) as error:
                raise ValueError(f"no observations ({type(error).__name__}: {error})") from None
        return self._observations

    def __bool__(self) -> bool:
        return self.text != b"[]"

    def __len__(self) -> int:
        return len(self.observations)

    def __iter__(self) -> Iterator[Observation]:
        return iter(self.observations)

    @overload
    def __getitem__(self, place: int) -> Observation: ...
    @overload
    def __getitem__(self, place: slice) -> list[Observation]: ...
    def __getitem__(self, place: int | slice) -> Observation | list[Observation]:
        return self.observations[place]

    def ends(self, count: int) -> list[str]:
        """How each of `count` steps ended: it `raised`, was `skipped`, or neither; without reading observations."""
        if b'"raised":' not in self.text and b'"skipped":' not in self.text:
            return [""] * count
        steps = jsonl.loads(self.text)
        return ["raised" if "raised" in one else "skipped" if "skipped" in one else "" for one in steps]

    def is_like(self, other: Written) -> bool:
        """Whether another text has the same letters, and its errors are not of other kinds where both have some."""
        if self.text != other.text:
            return False
        kinds = zip(self._aside.get("said", ()), other._aside.get("said", ()), strict=True)
        return all(not ours or not theirs or ours == theirs for (_, ours), (_, theirs) in kinds)

    def told_by(self, line: bytes, number: int) -> Written | None:
        """What a library's process says of the program of a number in a line, if in these letters; else None.

        Bytes that nobody specifies may be others, and are not kept.

        >>> Written(b'[{}]', {}).told_by(b'{"number":3,"observations":[{}]}', 3).text
        b'[{}]'
        """
        begin = b'{"number":%d,"observations":' % number
        if not line.startswith(begin):
            return None
        if line.startswith(self.text, len(begin)):
            rest = line[len(begin) + len(self.text) :]
            if rest == b"}":
                return Written(self.text, {})
            with suppress(ValueError):
                return Written(self.text, jsonl.loads(b"{" + rest.removeprefix(b",")))
        elif "marks" in self._aside:
            with suppress(ValueError, KeyError, TypeError, IndexError):
                return self._told_but_for_marks(**jsonl.loads(line))
        return None

    def _told_but_for_marks(self, number: int, observations: list[Any], **aside: Any) -> Written | None:
        for place, name, marks in self._aside["marks"]:
            storages = observations[place]["storages"]
            content = cleared(a2b_base64(storages[name][0]), a2b_base64(marks))
            storages[name][0] = b2a_base64(content, newline=False).decode()
        return Written(self.text, aside) if jsonl.dumps(observations) == self.text else None


def write(observations: Sequence[Observation]) -> Written:
    """Observations as a library's process would write them; what is looked at is as it was.

    >>> write([Observation(skipped=True)]).text
    b'[{"skipped":true}]'
    """
    data, aside = observation.apart([specified(one) for one in observations])
    written = Written(jsonl.dumps(data), aside)
    written._observations = list(observations)
    return written


def specified(done: Observation) -> Observation:
    """An observation with 0 in the place of bytes that nobody specifies."""
    if all(state.shadow is None for state in done.storages.values()):
        return done
    storages = {
        name: state if state.shadow is None else state._replace(data=cleared(state.data, state.shadow))
        for name, state in done.storages.items()
    }
    return done._replace(storages=storages)


def to_line(id: str, observations: Sequence[Observation]) -> str:
    """A program's id and its observations as the line of a record, without the newline."""
    data, aside = observation.apart(observations)
    return json.dumps([id, aside, data], separators=(",", ":"))


def from_line(line: bytes) -> Written:
    """The observations of a line that `to_line` wrote.

    Raises
    ------
    ValueError
        It is no such line.

    >>> from_line(to_line("0123456789abcdef", [Observation(skipped=True)]).encode()).text
    b'[{"skipped":true}]'
    """
    if line.startswith(b"{},", _BEGIN):
        return Written(line[_BEGIN + 3 : line.rindex(b"]")], {})
    aside, end = _first_json(line.decode(), _BEGIN)
    return Written(line[end + 1 : line.rindex(b"]")], aside)
