"""`evenhand audit`: the report card of a judge, and a gate that refuses one that is not good enough."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli import options
from evenhand.cli.ask.asking_options import AskingOptions, JudgeServerOptions, ShowingOptions
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import DataOptions, ItemOptions, option
from evenhand.cli.waiting import waiting
from evenhand.files.outputs import Target

if TYPE_CHECKING:
    from evenhand.audit.gate import GateRule
    from evenhand.audit.gate_plan import Needed
    from evenhand.audit.report_card import AuditReport
    from evenhand.cli.ask.auditing import Audit
    from evenhand.stats.reliability.families import Families


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    force: bool = options.force()
    judge: str = option("--judge", required=True, help="provider/model, or local/smollm2.")
    server: JudgeServerOptions
    benchmark: str | None = option(
        "--benchmark", help="Whose items and answers are shown; a bundled sample by default."
    )
    source: DataOptions
    responses: tuple[Path, ...] = option(
        "--responses", multiple=True, type=click.Path(path_type=Path), help="Answers to show; repeatable."
    )
    models: tuple[str, ...] = option("--models", multiple=True, help="Only these models' answers; repeatable.")
    variant: str | None = option("--variant", help="Which variant of the answers (text-only-generic …).")
    allow_partial: bool = options.allow_partial()
    chosen: ItemOptions
    protocol: str | None = option("--protocol", help="A protocol's name or folder; the benchmark's first by default.")
    showing: ShowingOptions
    part: tuple[str, ...] = option(
        "--part", multiple=True, type=options.PART, help="Only this part of the audit; all by default. Repeatable."
    )
    budget: int = option("--budget", type=click.IntRange(1), default=1000, show_default=True, help="Trials at most.")
    require: tuple[str, ...] = option(
        "--require",
        type=options.WORDS,
        multiple=True,
        help='Rules: "swap_consistency>=0.8, coverage>=0.95, first_position in 0.4..0.6"; repeatable, all must hold.',
    )
    assume: tuple[str, ...] = option(
        "--assume",
        type=options.WORDS,
        multiple=True,
        help="With --dry-run: the judge that the rules are planned for, swap_consistency=0.95; repeatable.",
    )
    family: tuple[str, ...] = option(
        "--family", multiple=True, help="NAME=FAMILY: whose model it is, where the name does not tell; repeatable."
    )
    plot: tuple[Target, ...] = options.plot(
        "Draw the report card to this .html (one file, numbers and pictures), or its pictures to .svg or .png; "
        "repeatable."
    )
    seed: int = options.seed()
    replace: bool = option("--replace", is_flag=True, help="Use the new answers where the ledger holds others.")
    asking: AskingOptions
    store: str = options.store()
    as_json: bool = options.as_json()
    quiet: bool = options.quiet()


@click.command("audit")
@options.takes(AuditOptions)
def command(ctx: click.Context, given: AuditOptions) -> None:
    """Show a judge what tells whether it can be trusted, and say so in numbers.

    Its trials are no board's. Run the same command again and only what is missing is asked. Exit 4 where a rule of
    --require is not met, or not decided; 3 while trials wait in batches.
    """
    from evenhand.audit.report_card import audit_report, keep_report
    from evenhand.cli.ask.auditing import ask, audit_of, say_hopeless
    from evenhand.cli.ask.crew_processes import with_workers
    from evenhand.cli.ask.judging import ledger_for
    from evenhand.cli.sentences import GATE_NOT_MET

    _refuse_suffixes(given.plot)
    rules, needed = _rules(given)
    families = _families(given.family)
    ledger = ledger_for(given.store, dry_run=given.asking.dry_run)
    with waiting("Reading items and answers", quiet=given.quiet):
        audit = audit_of(ctx, given, ledger)
    if given.asking.dry_run:
        _print_plan(audit, needed, given)
        return
    say_hopeless(rules, audit.design)
    outcomes = with_workers(ctx, given.asking, lambda crew: ask(audit, quiet=given.quiet, crew=crew))
    if outcomes.cut_short or (outcomes.only_wait and not given.as_json):
        outcomes.print_summary()
        ctx.exit(outcomes.exit_code)
    with waiting("Working out the report card", quiet=given.quiet):
        report = audit_report(ledger, audit.design, rules=rules, seed=given.seed, families=families)
    if report.coverage.with_verdict:
        keep_report(ledger, report)
    _print(report, as_json=given.as_json)
    _draw(report, given.plot)
    outcomes.print_summary()
    ctx.exit(outcomes.exit_code if report.passed or outcomes.wait else GATE_NOT_MET)


def _families(given: Sequence[str]) -> "Families":
    from evenhand.stats.reliability.families import parse_families

    try:
        return parse_families(given)
    except ValueError as refusal:
        raise WrongUse(str(refusal)) from refusal


def _rules(given: AuditOptions) -> "tuple[tuple[GateRule, ...], tuple[Needed, ...]]":
    """The rules, and for a dry run how many cases each needs; read before anything is asked."""
    from evenhand.audit.gate import parse_assumptions, parse_rules
    from evenhand.audit.gate_plan import plan

    if given.assume and not given.asking.dry_run:
        raise WrongUse("--assume says for which judge a dry run plans, so it goes with --dry-run.")
    try:
        rules = parse_rules(", ".join(given.require)) if given.require else ()
        return rules, plan(rules, parse_assumptions(", ".join(given.assume))) if given.asking.dry_run else ()
    except ValueError as refusal:
        raise WrongUse(str(refusal)) from refusal


def _print_plan(audit: "Audit", needed: "Sequence[Needed]", given: AuditOptions) -> None:
    from evenhand.cli.ask.auditing import needed_json, needed_sentence
    from evenhand.cli.ask.outcome import LikelyRun, print_dry_run
    from evenhand.engine.run.expected import together
    from evenhand.engine.run.quote import added_up

    whole = audit.design.whole
    each = [order.dry_run() for order in audit.orders]
    expected = [order.expected(one) for order, one in zip(audit.orders, each, strict=True)]
    quoted = added_up(each)
    likely = LikelyRun(expected=together([one for one in expected if one is not None]))
    if given.as_json:
        document = {
            **quoted.as_json(),
            "max_cost": given.asking.max_cost,
            **likely.cost_json(),
            "rules": [needed_json(one, whole.get(one.rule.name)) for one in needed],
        }
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    print_dry_run(quoted, max_cost=given.asking.max_cost, as_json=False, likely=likely)
    if audit.design.left_out:
        click.echo(f"{audit.design.left_out} more trials would be in the whole design; --budget allows more of them.")
    for one in needed:
        click.echo(needed_sentence(one, whole.get(one.rule.name)))


def _refuse_suffixes(paths: Sequence[Target]) -> None:
    """Before a call is paid for a picture that cannot be written."""
    for path in paths:
        from evenhand.format.charts import SUFFIXES

        if path.suffix.lower() not in SUFFIXES:
            raise WrongUse(f"A picture is written as {', '.join(SUFFIXES)}; {path.name} ends in none of them.")


def _draw(report: "AuditReport", paths: Sequence[Target]) -> None:
    if not paths:
        return
    from evenhand.audit.charts import plot
    from evenhand.audit.section import write_page

    document = report.as_json()
    for path in paths:
        if path.suffix.lower() == ".html":
            write_page(document, path)
        else:
            plot(document, path)
        click.echo(f"Written: {path}", err=True)


def _print(report: "AuditReport", *, as_json: bool) -> None:
    from evenhand.audit.table import print_audit
    from evenhand.format.tables import console

    if as_json:
        click.echo(json.dumps(report.as_json(), ensure_ascii=False, allow_nan=False))
    else:
        print_audit(report, console())
