"""Finds adapters by name: bundled and entry points, `module:attribute`, or a file's path. Standard library only."""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from .capabilities import Capabilities
from .protocol import lacking

GROUP = "stridecheck.adapters"
_OURS = ("reference", "numpy")
EXTRAS = ("torch", "cupy", "paddle", "mlx", "tinygrad", "jax", "dpnp", "dask", "array_api_strict")
"""Bundled adapters whose library is an extra of the suite."""
BUNDLED: Mapping[str, str] = {name: f"stridecheck.conformance.adapters.{name}" for name in (*_OURS, *EXTRAS)}
"""Adapters that come with the suite: they are found also where only its source travels, as in `--python PATH`."""

OLDEST: Mapping[str, tuple[str, str]] = {
    "numpy": ("numpy", "2.1"),
    "torch": ("torch", "2.9"),
    "cupy": ("cupy-cuda12x", "14"),
    "paddle": ("paddlepaddle", "3.0"),
    "mlx": ("mlx", "0.29"),
    "tinygrad": ("tinygrad", "0.11"),
    "jax": ("jax", "0.6"),
    "dpnp": ("dpnp", "0.19"),
    "dask": ("dask", "2025.1"),
    "array_api_strict": ("array-api-strict", "2.4"),
}
"""What pip calls the library of each bundled adapter, and the oldest that is driven, as in `pyproject.toml`."""

_BUILDS: Mapping[str, tuple[str, ...]] = {
    "cupy": (
        "cupy",
        *(f"cupy-cuda{version}" for version in ("11x", "13x", "102", *range(110, 118))),
        *(f"cupy-rocm-{version}" for version in ("4-3", "5-0", "6-0", "7-0")),
    ),
    "paddle": tuple(f"paddlepaddle-{device}" for device in ("gpu", "xpu", "dcu", "npu")),
}
"""What pip calls other builds of a library: each is the same package, for other devices."""

_PARTS: Mapping[str, str] = {"mlx": "[cpu]", "dask": "[array]"}
"""What an adapter needs of its library beside what pip installs unasked, as in `pyproject.toml`."""

_MODULES = {
    **BUNDLED,
    "exchange": "stridecheck.conformance.adapters.exchange",
    "mutant": "stridecheck.conformance.mutants.adapter",
}
# `exchange:A>B` is two libraries at once; `mutant:ID` is the suite measuring itself (docs/mutants.md).


class UnknownAdapter(Exception):
    """No adapter of that name; the message lists what there is."""


class NotInstalled(Exception):
    """The library under test is not to be had here, or too old; the message says what installs it."""


def names() -> list[str]:
    """Every adapter that can be named, sorted."""
    found = importlib.metadata.entry_points(group=GROUP)
    return sorted({*BUNDLED, *(entry.name for entry in found)})


def _can_import(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _choices() -> str:
    """The names there are in words; a library is looked for, but not imported, which may take long or crash."""
    missing = [name for name in sorted(BUNDLED) if not _can_import("numpy" if name == "reference" else name)]
    installed = [name for name in names() if name not in missing]
    return f"installed: {', '.join(installed)}" + (f"; not installed here: {', '.join(missing)}" if missing else "")


def find(spec: str) -> tuple[Callable[[], Any], str]:
    """A function that loads the adapter of `spec`, and its canonical name (`torch` means `torch:cpu`).

    The library itself is not imported before the function is called.

    Raises
    ------
    UnknownAdapter
        There is no such name, module, attribute or file.
    """
    name, colon, variant = spec.partition(":")
    entries = {entry.name: entry for entry in importlib.metadata.entry_points(group=GROUP)}
    # An extra is called as pip calls its library, with dashes, where the adapter is called as Python's module is.
    known = {_undashed(one): one for one in (*entries, *_MODULES)}
    if name not in entries and _undashed(name) in known:
        name = known[_undashed(name)]
        spec = f"{name}{colon}{variant}"
    if name in _MODULES:
        return lambda: _bundled(name, variant), "torch:cpu" if spec == "torch" else spec
    if name in entries:
        return lambda: _make(entries[name].load(), variant, spec), spec
    if name.endswith(".py"):
        if not Path(name).is_file():
            raise UnknownAdapter(f"no file {name}")
        return lambda: _make(_attribute(_module_from(Path(name)), variant or "adapter", spec), "", spec), Path(
            name
        ).stem
    if variant and _can_import(name):
        return lambda: _make(_attribute(importlib.import_module(name), variant, spec), "", spec), spec
    library = _undashed(name.partition(".")[0])  # `dask.array` and the like are parts of one
    close = [library] if library in names() else difflib.get_close_matches(name, names(), 1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    raise UnknownAdapter(f"unknown adapter {spec!r}{hint}; {_choices()}; or give module:attribute or a path/to/file.py")


def _undashed(name: str) -> str:
    return name.replace("-", "_")


def _bundled(name: str, variant: str) -> Any:
    _refuse_old(name)
    try:
        module = importlib.import_module(_MODULES[name])
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "stridecheck":
            raise
        # A library that misses a part of itself may say so in its own words.
        lacking = f"{error.name} is not installed here" if error.name else str(error).rstrip(".")
        raise NotInstalled(f"{lacking}: {_advice(name, str(error.name))}") from None
    except (ImportError, OSError, AttributeError) as error:  # OSError: a shared library that cannot be opened
        if not is_changed(error):
            raise NotInstalled(f"{str(error).rstrip('.')}: {_advice(name, name)}") from None
        if _installed((_usual(name), *_BUILDS.get(name, ()))):
            raise  # it must not be passed over
        left = f"{error}, of which there is a folder here and no package"  # what an uninstalled one leaves behind
        raise NotInstalled(f"{left}: {_advice(name, name)}") from None
    return module.adapter(variant)


def is_changed(error: BaseException) -> bool:
    """Whether what was looked for is missing in a module that is there: its library has changed, or is broken."""
    return isinstance(error, AttributeError) or (
        isinstance(error, ImportError) and str(error).startswith("cannot import name")
    )


def _usual(name: str) -> str:
    """What pip calls the build of a library that extras install."""
    return OLDEST[name][0] if name in OLDEST else name


def _advice(name: str, lacking: str) -> str:
    """What to tell pip, and to take away before: two builds of a library would lie over each other."""
    builds = {} if _installed((_usual(name),)) else _installed(_BUILDS.get(name, ()))
    return "".join([f"pip uninstall {build} && " for build in builds]) + f"pip install {_package(name, lacking)}"


def _package(name: str, lacking: str) -> str:
    """What to tell pip: the library of a bundled adapter brings what it needs itself."""
    if name not in OLDEST:
        return lacking.split(".")[0]
    usual, oldest = OLDEST[name]
    return f"'{usual}{_PARTS.get(name, '')}>={oldest}'"


def _refuse_old(name: str) -> None:
    """Whether a library can be driven is decided before it is imported: what an old one lacks would fail anywhere."""
    if name not in OLDEST:
        return
    usual, oldest = OLDEST[name]
    found = _installed((usual, *_BUILDS.get(name, ())))
    # Of two builds in one place nobody can tell which is imported.
    if found and all(_numbers(version) < _numbers(oldest) for version in found.values()):
        distribution, version = next(iter(found.items()))
        if not _numbers(version):
            without = f"a version ({version!r} is none)" if version else "a version"
            again = f"pip install -I {_package(name, name)}"
            raise NotInstalled(f"{distribution} is installed by half, without {without}: {again}")
        raise NotInstalled(f"{distribution} {version} is too old, it must be {oldest} or later: {_advice(name, name)}")


def _installed(distributions: Iterable[str]) -> dict[str, str]:
    """Versions of those that are installed here."""
    found = {}
    for distribution in distributions:
        with suppress(importlib.metadata.PackageNotFoundError):
            found[distribution] = importlib.metadata.version(distribution) or ""  # None where its metadata is broken
    return found


def _numbers(version: str) -> list[int]:
    """The numbers that a version begins with.

    >>> _numbers("2.13.0+cpu") > _numbers("2.9")
    True
    """
    found = re.match(r"\d+(\.\d+)*", version)
    return [int(number) for number in found[0].split(".")] if found else []


def _module_from(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"stridecheck_adapter_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UnknownAdapter(f"{path} is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up while it is being executed
    spec.loader.exec_module(module)
    return module


def _attribute(module: Any, attribute: str, spec: str) -> Any:
    if not hasattr(module, attribute):
        raise UnknownAdapter(f"{spec}: there is no {attribute!r} in it")
    return getattr(module, attribute)


def _make(thing: Any, variant: str, spec: str) -> Any:
    """Adapters may be given as an object, a class, or a function of the variant."""
    made = thing
    if isinstance(thing, type):
        made = thing()
    elif callable(thing) and not hasattr(thing, "describe"):
        made = thing(variant) if variant else thing()
    if missing := lacking(made):
        raise UnknownAdapter(
            f"{spec} gives {made!r}, which is no adapter, for it has no {', '.join(missing)}: an adapter is an object, "
            "a class or a function that makes one (docs/adapters.md)"
        )
    if not (isinstance(made.name, str) and made.name and made.name.isprintable()):
        raise UnknownAdapter(f"{spec}: an adapter's name is text in one line, and not {made.name!r}")
    if not isinstance(made.capabilities, Capabilities):
        raise UnknownAdapter(
            f"{spec}: an adapter's capabilities are `Capabilities(...)`, and not {made.capabilities!r}"
        )
    return made


def without_variants(name: str, make: Callable[[], Any]) -> Callable[[str], Any]:
    """A factory of an adapter that has no variants: it refuses every one by name."""

    def adapter(variant: str = "") -> Any:
        if variant:
            raise UnknownAdapter(f"{name} has no variant {variant!r}")
        return make()

    return adapter
