"""`stridecheck rules`: what the rules say."""

from __future__ import annotations

from fnmatch import fnmatchcase

import click

from stridecheck.conformance.classify import Rule
from stridecheck.conformance.program import Program
from stridecheck.reports.records import ExitCode

from .common import fail, told


@click.command()
@click.argument("rule", default="*", metavar="[ID|GLOB]")
def rules(rule: str) -> None:
    """Show a rule, or list those that a glob matches: all, family by family, where none is given.

    The list is plain text: `stridecheck rules | grep contiguous`.

    \b
    Examples
      stridecheck rules view.merge-blocks
      stridecheck rules 'view.*'
    """
    from stridecheck.conformance.rules import catalogue, matching_none

    known = catalogue().rules
    if problem := matching_none([rule]):
        fail(ExitCode.USAGE, problem)
    if rule not in known:
        _list([one for id, one in known.items() if fnmatchcase(id, rule)])
        return
    one = known[rule]
    click.echo(f"{one.id}\n\n  {one.sentence}\n")
    click.echo(
        f"  family      {one.family}\n  source      {one.source}\n  aspects     {', '.join(sorted(one.aspects))}"
    )
    click.echo(f"  operations  {', '.join(sorted(one.operations)) or 'all'}")
    _show_programs(rule)


def _list(rules: list[Rule]) -> None:
    """Rules by families, in the order of the report."""
    width = max(len(rule.id) for rule in rules)
    families = dict.fromkeys(rule.family for rule in rules)
    for family in families:
        click.echo(family)
        for rule in rules:
            if rule.family == family:
                click.echo(f"  {rule.id:<{width}}  {rule.sentence}")


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
