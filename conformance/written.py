"""What happened to a program as it is written down: by a library's process, and in the record of what the oracle does.

Mostly a library does what the oracle did. Where both have written the same letters there is nothing to read and nothing
to judge. What is of one side alone stands apart (`observation.apart`): the words of errors, the marks of the oracle.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, overload

from . import jsonl, observation
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

    def ends(self) -> list[str]:
        """How each step ended: it `raised`, was `skipped`, or neither; without reading the observations."""
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

        >>> Written(b'[{}]', {}).told_by(b'{"number":3,"observations":[{}]}', 3).text
        b'[{}]'
        """
        begin = b'{"number":%d,"observations":' % number
        if not line.startswith(begin) or not line.startswith(self.text, len(begin)):
            return None
        rest = line[len(begin) + len(self.text) :]
        if rest == b"}":
            return Written(self.text, {})
        try:
            return Written(self.text, jsonl.loads(b"{" + rest.removeprefix(b",")))
        except ValueError:
            return None


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
