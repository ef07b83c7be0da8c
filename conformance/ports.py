"""How a library takes what others hand it: an expression of `{x}` for each protocol, looked at before one is run.

Standard library only: workers look at them where the library is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from .idiom import TemplateError, compile_template, lacking
from .protocol import Unsupported


class PortError(Exception):
    """An adapter's port that can mean nothing, whatever is handed over."""


class Takes(Protocol):
    """What is asked of an adapter for its ports."""

    name: str
    ports: Mapping[str, str]

    def scope(self) -> dict[str, Any]:
        """What the names in the expressions mean."""


def port(library: Takes, protocol: str) -> Callable[[Any], Any]:
    """The function by which a library takes arrays.

    An error that it raises is the library's, as the expression names nothing that is not there.

    Raises
    ------
    Unsupported
        It takes none by this protocol, or the library lacks what the expression names: an older release.
    PortError
        It is no expression of `{x}`, or has a name that means nothing in the adapter's scope.

    >>> from types import SimpleNamespace
    >>> import numpy
    >>> library = SimpleNamespace(name="a", ports={"buffer": "np.asarray({x})"}, scope=lambda: {"np": numpy})
    >>> port(library, "buffer")(b"ab").shape
    ()
    """
    ports: Mapping[str, str] = getattr(library, "ports", {})  # no part of what every adapter has
    template = ports.get(protocol)
    if template is None:
        raise Unsupported(f"{library.name} takes no {protocol}")
    scope = library.scope()
    try:
        function = compile_template(template, ("x",), scope)
    except TemplateError as error:
        raise PortError(f"the port of {library.name} for {protocol}: {error}") from None
    if missing := lacking(template, scope):
        raise Unsupported(f"{library.name} has no {missing}")
    return function


def check_ports(library: Takes, protocols: Mapping[str, str]) -> None:
    """Look at all ports of a library before anything is handed over.

    Raises
    ------
    PortError
        One is for no protocol, or can mean nothing.
    """
    for protocol in getattr(library, "ports", {}):
        if protocol not in protocols:
            raise PortError(f"{library.name} has a port for {protocol!r}, which is none of {', '.join(protocols)}")
        try:
            port(library, protocol)
        except Unsupported:
            continue
