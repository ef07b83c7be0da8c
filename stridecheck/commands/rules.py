"""`stridecheck rules`: what the rules say."""

from __future__ import annotations

import click

from stridecheck.conformance.program import Program
from stridecheck.reports.records import ExitCode

from .common import fail, told


@click.command()
@click.argument("rule", required=False, metavar="[ID]")
def rules(rule: str | None) -> None:
    """List all rules, one a line, or show one.

    The list is plain text: `stridecheck rules | grep contiguous`.
    """
    from stridecheck.conformance.rules import catalogue

    known = catalogue().rules
    if rule is None:
        width = max(len(id) for id in known)
        for one in known.values():
            click.echo(f"{one.id:<{width}}  {one.sentence}")
        return
    if rule not in known:
        import difflib

        close = difflib.get_close_matches(rule, known, 3)
        hint = f"; did you mean {', '.join(close)}?" if close else "; `stridecheck rules` lists all"
        fail(ExitCode.USAGE, f"no rule {rule!r}{hint}")
    one = known[rule]
    click.echo(f"{one.id}\n\n  {one.sentence}\n")
    click.echo(
        f"  family      {one.family}\n  source      {one.source}\n  aspects     {', '.join(sorted(one.aspects))}"
    )
    click.echo(f"  operations  {', '.join(sorted(one.operations)) or 'all'}")
    _show_programs(rule)


def _show_programs(rule: str, count: int = 3) -> None:
    """The first corpus programs that exercise a rule."""
    from stridecheck.conformance import corpus
    from stridecheck.conformance.adapters import reference
    from stridecheck.conformance.listing import listing
    from stridecheck.conformance.operations import overload
    from stridecheck.conformance.recorded import exercised, expected
    from stridecheck.conformance.rules import catalogue

    oracle, operations = reference.adapter(), catalogue().rules[rule].operations
    shown: list[Program] = []
    total = 0
    with told():
        for program in corpus.read():
            if operations and operations.isdisjoint(map(overload, program.steps)):
                continue
            found = exercised(program, expected(program, oracle), catalogue())
            if any(one.id == rule for step in found for one in step):
                total += 1
                if len(shown) < count:
                    shown.append(program)
    click.echo(f"  programs    {total} of the corpus\n")
    for program in shown:
        click.echo(f"  program {program.id}")
        for line in listing(program).splitlines():
            click.echo(f"    {line}")
