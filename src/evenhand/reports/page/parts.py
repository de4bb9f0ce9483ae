"""What a report's page is made of."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from evenhand.audit.document import AUDIT_COMMAND
from evenhand.audit.section import audit_section
from evenhand.format.figure import figure
from evenhand.format.words import per_cent
from evenhand.ledger.read.lookup import calls_on_record
from evenhand.ledger.read.projection import judged
from evenhand.reports.board.audit_hint import audit_command
from evenhand.reports.board.audit_on_record import audit_sentences
from evenhand.reports.board.trust_word import trust_word
from evenhand.reports.page import sheets
from evenhand.reports.page.charts import report_charts
from evenhand.reports.page.report import Report
from evenhand.reports.page.words import order_sentences, sampling, summary
from evenhand.reports.papers.catalog import paper_of_score
from evenhand.stats.reliability.summary import grounds

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamplePrompt:
    protocol: str
    item: str
    models: tuple[str, ...]
    """In the order shown."""
    messages: tuple[tuple[str, str], ...]
    """Role and words; an image stands as its digest."""


def example_prompts(report: Report) -> Iterator[ExamplePrompt]:
    """None of a protocol under which no model was asked."""
    for studies in (report.studies.board, report.studies.graded):
        items = list(dict.fromkeys(case.item for case in report.cases.cases[:1]))
        for one in judged(report.ledger, studies, items=items) if studies else ():
            calls = calls_on_record(report.ledger, dict.fromkeys(one.judgement.calls[:1]))
            if calls:
                yield ExamplePrompt(
                    protocol=studies[0].condition.protocol,
                    item=one.label,
                    models=one.models,
                    messages=tuple((role, _words(parts)) for role, parts in calls[0].request["messages"]),
                )
                break


def _words(parts: list[Any]) -> str:
    return "\n".join(
        part if isinstance(part, str) else f"[image {cast(dict[str, str], part)['image'][:16]}]" for part in parts
    )


def page_values(report: Report) -> dict[str, Any]:
    """What the page's template asks for. Raises ChartError where pictures cannot be drawn."""
    origin, audits, found = report.board.origin, report.audits, report.board.reliability
    return {
        "origin": origin,
        "left_out": sampling(report),
        "cases": report.cases,
        "figures": {name: _figures(name, charts) for name, charts in report_charts(report).items()},
        "summary": summary(report),
        "trust": trust_word(found, audits),
        "tiles": _tiles(report),
        "board": sheets.board_sheet(report.board),
        "legend": sheets.board_legend(report.board),
        "notes": [*report.board.told, *report.board.notes],
        "scores": report.scores,
        "paper_of": paper_of_score,
        "wins": sheets.wins_sheet(report.board),
        "categories": sheets.categories_sheet(report) if report.by_category else None,
        "order_sentences": order_sentences(report),
        "order": sheets.order_sheet(report),
        "reading": None if found is None else grounds(found, audited=audits is not None and bool(audits.told)),
        "audit_sentences": None if audits is None else audit_sentences(audits, origin, command=_audit(report)),
        "audits": [] if audits is None else [audit_section(one.report) for one in audits.told],
        "coverage": sheets.coverage_sheet(report),
        "cost": sheets.cost_sheet(report) if report.runs else None,
        "settings": sheets.settings(report),
        "prompts": list(example_prompts(report)),
    }


def _audit(report: Report) -> str:
    return audit_command(report.ledger, report.board.origin, audited=AUDIT_COMMAND, handed_on=True)


def _figures(name: str, charts: Sequence[Any]) -> "Markup":
    """The picture, and once more for a page too narrow for it, where there is one; else it has to be scrolled."""
    from markupsafe import Markup

    wide, *narrow = charts
    return Markup("").join(
        [figure(wide, _ALT[name]), *(figure(one, _ALT[name], kind="narrow", larger=1) for one in narrow)]
    )


_ALT = {
    "board": "Ratings of the models with their 95 % intervals; the table below has the numbers.",
    "matrix": "How often each model won against each other; the table below has the numbers.",
    "categories": "Win rate of each model in each category; the table below has the numbers.",
    "order": "What the judge chose when the answers swapped positions; the table below has the numbers.",
    "reliability": "How often the judge keeps its verdict and chooses the first shown; the sentences below say it.",
}


def _tiles(report: Report) -> dict[str, str]:
    board, cases = report.board, report.cases
    return {
        "Models": f"{len(board.models):,}",
        "Items": "–" if board.items is None else f"{board.items:,}",
        "Judgements": f"{cases.judgements:,}",
        "Coverage" if report.graded is None else "Coverage of preferences": per_cent(board.coverage.share),
        "Pairs that disagree": f"{cases.disagreeing:,}",
    }
