"""The command line: which commands there are, and what they have in common."""

from __future__ import annotations

import ast
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from stridecheck import __version__

from .commands.exit_codes import EXIT_CODES, INTERRUPTED

COMMANDS = {
    "check": "check:check_command",
    "bench": "bench:bench_command",
    "claims": "claims:claims_command",
    "report": "results:report",
    "diff": "results:diff",
    "rules": "rules:rules",
    "repro": "results:repro",
    "promote": "results:promote",
    "mutants": "mutants:mutants_command",
    "exchange": "exchange:exchange_command",
}
"""Where each command is, below `stridecheck.commands`: only the one that is called is imported."""


def _docstring(command: str) -> str:
    """What a command says of itself, from its source: importing all of them takes seconds."""
    module, function = COMMANDS[command].split(":")
    source = Path(__file__).parent / "commands" / f"{module}.py"
    body = ast.parse(source.read_text(encoding="utf-8")).body
    (found,) = (node for node in body if isinstance(node, ast.FunctionDef) and node.name == function)
    return ast.get_docstring(found) or ""


class _Commands(click.Group):
    """A group whose commands, when interrupted, end with one line and 130."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        # Extension modules that import NumPy turn a Ctrl-C meanwhile into an ImportError: it comes before them.
        import_module("numpy")
        module, function = COMMANDS[cmd_name].split(":")
        command: click.Command = getattr(import_module(f"stridecheck.commands.{module}"), function)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and (close := get_close_matches(args[0], COMMANDS, 1)):
            ctx.fail(f"No such command {args[0]!r}. Did you mean {close[0]!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        room = formatter.width - 6 - max(map(len, COMMANDS))
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, click.Command(name, help=_docstring(name)).get_short_help_str(room)) for name in COMMANDS]
            )

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("stridecheck: interrupted", err=True)
            ctx.exit(INTERRUPTED)


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}, epilog=EXIT_CODES
)
@click.version_option(__version__, prog_name="stridecheck")
def main() -> None:
    """Does a tensor library lay tensors out in memory as PyTorch does, and what does each layout cost?

    \b
    Start here
      stridecheck check torch numpy        judge libraries against the rules
      stridecheck bench                    time layouts
      stridecheck rules view.merge-blocks  what a rule says
      stridecheck repro out PROGRAM        a standalone script for a failure
    """


if __name__ == "__main__":
    main()
