"""How a library takes what others hand it: an expression of `{x}` for each protocol, looked at before one is run.

Standard library only: workers look at them where the library is.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping
from typing import Any, Protocol

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
    said = f"the port {template!r} of {library.name} for {protocol}"
    try:
        tree = ast.parse(f"lambda x: {template.format(x='x')}", mode="eval")
    except (SyntaxError, LookupError, ValueError) as error:
        raise PortError(f"{said} is no expression of {{x}}: {error}") from None
    scope = library.scope()
    known = {"x", *scope, *dir(builtins)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in known:
            raise PortError(f"{said} names {node.id}, which is not in the adapter's scope")
        if isinstance(node, ast.Attribute) and (missing := _missing(node, scope)):
            raise Unsupported(f"{library.name} has no {missing}")
    function: Callable[[Any], Any] = eval(compile(tree, "<port>", "eval"), scope)
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


def _missing(node: ast.Attribute, scope: Mapping[str, Any]) -> str:
    """What of `module.part.function` is not there; empty where all of it is, or where it is a part of no module."""
    names = [node.attr]
    while isinstance(node.value, ast.Attribute):
        node = node.value
        names.append(node.attr)
    if not isinstance(node.value, ast.Name) or node.value.id not in scope:
        return ""
    place, path = scope[node.value.id], node.value.id
    for name in reversed(names):
        path += f".{name}"
        if not hasattr(place, name):
            return path
        place = getattr(place, name)
    return ""
