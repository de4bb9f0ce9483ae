"""`evenhand audit`: the report card of a judge, and a gate that refuses one that is not good enough."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from evenhand.cli import options
from evenhand.cli.ask import asking_flags
from evenhand.cli.environment import Environment, WrongUse
from evenhand.cli.options import option

if TYPE_CHECKING:
    from evenhand.audit.gate import GateRule
    from evenhand.audit.gate_plan import Needed
    from evenhand.audit.report_card import AuditReport
    from evenhand.cli.ask.auditing import Audit
    from evenhand.files.outputs import Target
    from evenhand.stats.reliability.families import Families


@click.command("audit")
@options.writes("plot")
@option("--judge", required=True, help="provider/model, or local/smollm2.")
@option("--base-url", help="Address of the judge's server, if --judge-base-url is not given.")
@option("--judge-base-url", help="Address of the judge's server.")
@option("--judge-api-key-env", help="Variable that holds the judge's key.")
@option("--endpoint-name", help="A lasting name for a server whose address changes.")
@option("--benchmark", help="Whose items and answers are shown; a bundled sample by default.")
@option("--data", type=click.Path(path_type=Path), help="The benchmark's file, where it is not bundled.")
@option("--responses", multiple=True, type=click.Path(path_type=Path), help="Answers to show; repeatable.")
@option("--models", multiple=True, help="Only these models' answers; repeatable.")
@options.allow_partial
@option("--limit", type=click.IntRange(1), help="Only the first N items.")
@option("--sample", type=click.IntRange(1), help="Only N items, sampled with --seed.")
@option("--category", multiple=True, help="Only items of this category; repeatable.")
@option("--items", multiple=True, help="Only these items; repeatable.")
@option("--protocol", help="A protocol's name or folder; the benchmark's first by default.")
@option("--see", type=click.Choice(["images", "caption", "both", "none"]), help="What the judge is shown of the image.")
@option("--readout", type=click.Choice(["free", "constrained"]), default="free", show_default=True)
@option(
    "--fence",
    type=click.Choice(["none", "nonce", "token"]),
    default="none",
    show_default=True,
    help="nonce: wrap the answers. token: read only a closing line with a token that no candidate knows.",
)
@option("--extractor", help="Model that finds the decision in a reply that has no readable one; the judge by default.")
@option("--extractor-base-url", help="Address of the extractor's server.")
@option("--extractor-api-key-env", help="Variable that holds the extractor's key.")
@option("--image-detail", type=click.Choice(["low", "high", "auto"]), help="The OpenAI `detail` value.")
@option("--max-image-edge", type=click.IntRange(16), help="Shrink images to this many pixels.")
@option(
    "--part",
    multiple=True,
    type=options.PART,
    help="Only this part of the audit; all by default. Repeatable.",
)
@option("--budget", type=click.IntRange(1), default=1000, show_default=True, help="Trials at most.")
@option(
    "--require",
    type=options.WORDS,
    multiple=True,
    help='Rules: "swap_consistency>=0.8, coverage>=0.95, first_position in 0.4..0.6"; repeatable, all must hold.',
)
@option(
    "--assume",
    type=options.WORDS,
    multiple=True,
    help="With --dry-run: the judge that the rules are planned for, swap_consistency=0.95; repeatable.",
)
@option("--family", multiple=True, help="NAME=FAMILY: whose model it is, where the name does not tell; repeatable.")
@option(
    "--plot",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw the report card to this .html (one file, numbers and pictures), or its pictures to .svg or .png; "
    "repeatable.",
)
@option("--seed", type=int, default=0, show_default=True, help="Random seed.")
@option("--replace", is_flag=True, help="Use the new answers where the ledger holds others.")
@asking_flags.settings_flags
@asking_flags.how_much_flags
@options.store
@options.as_json
@options.quiet
@click.pass_context
def command(ctx: click.Context, **flags: Any) -> None:
    """Show a judge what tells whether it can be trusted, and say so in numbers.

    Its trials are no board's. Run the same command again and only what is missing is asked. Exit 4 where a rule of
    --require is not met, or not decided.
    """
    from evenhand.audit.report_card import audit_report, keep_report
    from evenhand.cli.ask.auditing import ask, audit_of, say_hopeless
    from evenhand.cli.ask.judging import ledger_for
    from evenhand.cli.sentences import GATE_NOT_MET

    _refuse_suffixes(flags["plot"])
    rules, needed = _rules(flags)
    families = _families(flags["family"])
    env = cast(Environment, ctx.obj)
    ledger = ledger_for(flags["store"], dry_run=flags["dry_run"])
    audit = audit_of(ctx, {**flags, "against": None}, env, ledger)
    if flags["dry_run"]:
        _print_plan(audit, needed, flags)
        return
    say_hopeless(rules, audit.design)
    outcomes = asyncio.run(ask(audit, quiet=flags["quiet"]))
    if outcomes.cut_short:
        outcomes.print_summary()
        ctx.exit(outcomes.exit_code)
    report = audit_report(ledger, audit.design, rules=rules, seed=flags["seed"], families=families)
    if report.coverage.with_verdict:
        keep_report(ledger, report)
    _print(report, as_json=flags["as_json"])
    _draw(report, flags["plot"])
    outcomes.print_summary()
    ctx.exit(outcomes.exit_code if report.passed else GATE_NOT_MET)


def _families(given: Sequence[str]) -> "Families":
    from evenhand.stats.reliability.families import parse_families

    try:
        return parse_families(given)
    except ValueError as refusal:
        raise WrongUse(str(refusal)) from refusal


def _rules(flags: dict[str, Any]) -> "tuple[tuple[GateRule, ...], tuple[Needed, ...]]":
    """The rules, and for a dry run how many cases each needs; read before anything is asked."""
    from evenhand.audit.gate import parse_assumptions, parse_rules
    from evenhand.audit.gate_plan import plan

    if flags["assume"] and not flags["dry_run"]:
        raise WrongUse("--assume says for which judge a dry run plans, so it goes with --dry-run.")
    try:
        rules = parse_rules(", ".join(flags["require"])) if flags["require"] else ()
        return rules, plan(rules, parse_assumptions(", ".join(flags["assume"]))) if flags["dry_run"] else ()
    except ValueError as refusal:
        raise WrongUse(str(refusal)) from refusal


def _print_plan(audit: "Audit", needed: "Sequence[Needed]", flags: dict[str, Any]) -> None:
    from evenhand.cli.ask.auditing import needed_json, needed_sentence
    from evenhand.cli.ask.outcome import print_dry_run
    from evenhand.engine.run.quote import added_up

    whole = audit.design.whole
    quoted = added_up([order.dry_run() for order in audit.orders])
    if flags["as_json"]:
        document = {
            **quoted.as_json(),
            "max_cost": flags["max_cost"],
            "rules": [needed_json(one, whole.get(one.rule.name)) for one in needed],
        }
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    print_dry_run(quoted, max_cost=flags["max_cost"], as_json=False)
    if audit.design.left_out:
        click.echo(f"{audit.design.left_out} more trials would be in the whole design; --budget allows more of them.")
    for one in needed:
        click.echo(needed_sentence(one, whole.get(one.rule.name)))


def _refuse_suffixes(paths: "Sequence[Target]") -> None:
    """Before a call is paid for a picture that cannot be written."""
    for path in paths:
        from evenhand.format.charts import SUFFIXES

        if path.suffix.lower() not in SUFFIXES:
            raise WrongUse(f"A picture is written as {', '.join(SUFFIXES)}; {path.name} ends in none of them.")


def _draw(report: "AuditReport", paths: "Sequence[Target]") -> None:
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
