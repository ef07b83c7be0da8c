"""The command line: which commands there are, and what they have in common."""

from __future__ import annotations

from importlib import import_module
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
