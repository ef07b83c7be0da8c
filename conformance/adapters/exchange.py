"""Two libraries in one process, for handing arrays from one to the other: `exchange:numpy>torch`."""

from __future__ import annotations

import sys
from typing import Any

from ..capabilities import Capabilities
from ..discovery import UnknownAdapter, find
from ..handover import hand_over
from ..offers import CASES, PROTOCOLS, Library
from ..ports import check_ports
from ..serving import has_device, why_lost


class Exchange:
    """A producer and a consumer; it runs no programs, it answers questions."""

    capabilities = Capabilities(frozenset(), frozenset(), frozenset())

    def __init__(self, name: str, producer: Library, consumer: Library) -> None:
        self.name = name
        self.producer, self.consumer = producer, consumer
        self.forks = getattr(producer, "forks", True) and getattr(consumer, "forks", True)
        self.patience = max(float(getattr(one, "patience", 0)) for one in (producer, consumer))
        self.lost = self._lost if has_device(producer) or has_device(consumer) else None

    def versions(self) -> dict[str, str]:
        """Versions of both, and Python's: what a memoryview knows depends on it."""
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        return _versions(self.producer) | _versions(self.consumer) | {"python": python}

    def _lost(self) -> str:
        """Why one of the two answers no more; empty where both do."""
        for library in (self.producer, self.consumer):
            if reason := why_lost(library):
                return f"{library.name}: {reason}"
        return ""

    def answer(self, question: Any) -> Any:
        """What becomes of a case by a protocol, as `Arrived` has it."""
        protocol, case = question
        return hand_over(self.producer, self.consumer, protocol, CASES[case])._asdict()


def _versions(library: Library) -> dict[str, str]:
    """An adapter's versions by names that are its own: two may both have a `device`.

    A list has them in a line, between tabs, each name before a blank.
    """
    own = library.name.partition(":")[0]
    told = {name if name == own else f"{own}:{name}": version for name, version in library.versions().items()}
    return {"-".join(name.split()): " ".join(str(version).split()) for name, version in told.items()}


def adapter(variant: str = "") -> Exchange:
    """The pair of libraries that `PRODUCER>CONSUMER` names.

    Raises
    ------
    UnknownAdapter
        It names no two adapters.
    PortError
        The consumer takes arrays by something that can mean nothing.
    """
    names = variant.split(">")  # which no adapter's name has, and few paths
    if len(names) != 2:
        raise UnknownAdapter(f"exchange is between two libraries, as in exchange:numpy>torch, not {variant!r}")
    producer, consumer = (find(name)[0]() for name in names)
    check_ports(consumer, PROTOCOLS)
    # Their own names, in which a list could not tell `>` and tabs from its own.
    own = [" ".join(one.name.replace(">", " ").split()) for one in (producer, consumer)]
    return Exchange(f"exchange:{'>'.join(own)}", producer, consumer)
