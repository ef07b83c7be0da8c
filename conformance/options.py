"""What to check and how: the options of a run, as the command line and the results file have them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from .runner import MEMORY, PROGRAM_TIMEOUT, START_TIMEOUT

LONGEST = 1e6
"""Seconds that anything may be waited for: eleven days; clocks of the operating system end soon after."""
SHORTEST = 0.01
"""Seconds that a program is given at least: with none, whatever runs is too late."""
_LEAST = {"programs": 0, "examples": 0, "relayouts": 0, "memory": 0, "workers": 1}
_LEAST_SECONDS = {"seconds": 0.0, "timeout": SHORTEST, "start_timeout": SHORTEST}
WHERE = ("workers", "scheduler", "resume")
"""Options that say where and how a run goes on, and not what it finds out."""


def is_wanted(rule: str, globs: str) -> bool:
    """Whether a rule is one of those that globs, with commas between them, name.

    >>> is_wanted("view.rows", "squeeze.*,view.*"), is_wanted("view.rows", "squeeze.*")
    (True, False)
    """
    return any(fnmatchcase(rule, glob) for glob in globs.split(","))


@dataclass(frozen=True)
class Options:
    """What to check and how; the defaults are the corpus alone, which is deterministic.

    Raises
    ------
    ValueError
        A number, a time or the shard is out of its range.
    """

    adapters: tuple[str, ...]
    rules: str = "*"
    """Globs, with commas between them."""
    programs: int | None = None
    """Corpus programs to run: a prefix is a fair sample; None means all, 0 none."""
    examples: int = 0
    """Random programs to run after the corpus."""
    seconds: float = 0.0
    """Time to go on drawing random programs."""
    seed: int = 0
    draw: str = "tensors"
    """What random programs are about: `tensors`, `mixed` (values of every kind), or `all`."""
    driver: str = "seeded"
    """Who draws them: `seeded`, or `hypothesis`, which remembers what failed."""
    example_database: str = ""
    """Where it does: a directory, `module:attribute` or `github:OWNER/REPOSITORY`; empty is the default directory."""
    exhaustive: bool = False
    """Whether every small layout is viewed as every small shape."""
    opinfo: str = ""
    """Glob of PyTorch's operators whose own samples are run too."""
    relayouts: int = 0
    """How often each of those samples is run again over drawn layouts."""
    expect: Path | None = None
    """Expectation file in the place of the bundled one."""
    update_expectations: bool = False
    python: str = ""
    """Interpreter of the environment that has the library; empty means this one."""
    skip_missing: bool = False
    """Whether a library or device that is not here is skipped, with its reason, instead of ending with an error."""
    timeout: float = PROGRAM_TIMEOUT
    start_timeout: float = START_TIMEOUT
    memory: int = MEMORY >> 20
    """MiB by which the library's process may grow; 0 sets no limit."""
    workers: int = 1
    """Processes of this machine that run units at the same time, each with a library of its own."""
    shard: tuple[int, int] = (1, 1)
    """Which part of the run this is, and of how many: of two shards the first runs every other unit."""
    scheduler: str = ""
    """Address of a Dask scheduler whose cluster runs the units; `local` starts one."""
    resume: bool = False
    """Whether a run that was ended goes on where it was."""

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            if (number := getattr(self, name)) is not None and number < least:
                raise ValueError(f"{name} must be {least} or more, not {number}")
        for name, shortest in _LEAST_SECONDS.items():
            if not shortest <= (seconds := getattr(self, name)) <= LONGEST:  # nor is nan
                raise ValueError(f"{name} must be from {shortest:g} to {LONGEST:,.0f} seconds, not {seconds}")
        if not 1 <= self.shard[0] <= self.shard[1]:
            raise ValueError(f"shard must be (I, N) with I from 1 to N, not {self.shard}")
        globs = sorted({glob.strip() for glob in self.rules.split(",")})  # one text for what means the same
        object.__setattr__(self, "rules", "*" if "*" in globs else ",".join(globs))

    def to_json(self) -> dict[str, Any]:
        """The options as JSON data."""
        return {name: str(value) if isinstance(value, Path) else value for name, value in asdict(self).items()}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Options:
        """The options that `to_json` wrote; what else a run's header has beside them is left out.

        >>> options = Options(("numpy",), shard=(1, 3), expect=Path("mine.toml"))
        >>> Options.from_json(options.to_json() | {"scope": 7}) == options
        True
        """
        data = {one.name: data[one.name] for one in fields(Options) if one.name in data}
        paths = {"expect": Path(data["expect"])} if data.get("expect") else {}
        return Options(**{**data, **paths, "adapters": tuple(data["adapters"]), "shard": tuple(data["shard"])})


def command_line(
    command: str, arguments: Sequence[str], options: Mapping[str, Any], defaults: Mapping[str, Any]
) -> str:
    """The command that does the same again, fit to be pasted into a shell.

    >>> command_line("claims", (), {"only": ["a.*", "b"], "list": True, "seed": 0}, {"seed": 0})
    "stridecheck claims --only 'a.*' --only b --list"
    """
    words = ["stridecheck", command, *arguments]
    for name, value in options.items():
        if value != defaults.get(name):
            flag = f"--{name.replace('_', '-')}"
            for one in value if isinstance(value, list | tuple) else [value]:
                words += [flag] if one is True else [flag, str(one)]
    return shlex.join(words)


def check_line(options: Options) -> str:
    """The command that checks the same again."""
    given, defaults = ({**vars(one), "shard": "/".join(map(str, one.shard))} for one in (options, Options(())))
    return command_line("check", given.pop("adapters"), given, defaults)
