"""JSON lines by orjson, in a third of the time: what a library's process is told and says, and what is recorded.

A library's process may have nothing but the standard library, as a machine with a GPU and no network has: Python's own
does it there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

try:
    import orjson
except ImportError:
    orjson = None  # type: ignore[assignment]

_LONG = re.compile(rb"\d{19}")


def loads(line: str | bytes) -> Any:
    """What a line says; of whole numbers past 64 bits only as much as a float holds.

    Raises
    ------
    ValueError
        It is no JSON.

    >>> loads(b'{"number": 3}')
    {'number': 3}
    """
    if orjson is None:
        return json.loads(line)
    try:
        return orjson.loads(line)
    except ValueError:
        return json.loads(line)  # NaN and half a surrogate pair, which Python writes, are no JSON to others


def loads_exactly(line: bytes) -> Any:
    """What a line says, long whole numbers as they are.

    >>> loads_exactly(b'{"size": 1180591620717411303424}')["size"] == 2**70
    True
    """
    return json.loads(line) if _LONG.search(line) else loads(line)


def dumps(message: Any, default: Callable[[Any], Any] | None = None) -> bytes:
    """A message of finite numbers as one line, without the newline; `default` is asked for what is no JSON.

    >>> dumps({"batch": [1, 2**70]})
    b'{"batch":[1,1180591620717411303424]}'
    """
    try:
        if orjson is not None:
            return orjson.dumps(message)
    except TypeError:  # numbers past 64 bits, half a surrogate pair
        pass
    return json.dumps(message, separators=(",", ":"), default=default).encode()
