"""What a report's page is made of."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from evenhand.audit.document import AUDIT_COMMAND
from evenhand.audit.section import audit_section
from evenhand.format.charts import PAGE, PHONE, ChartError
from evenhand.format.figure import figure
from evenhand.format.words import per_cent
from evenhand.ledger.read.lookup import calls_on_record
from evenhand.ledger.read.projection import judged
from evenhand.reports.alignment.page import alignment_chart
from evenhand.reports.alignment.table import lead_sheet
from evenhand.reports.board.trust.audit_hint import audit_command
from evenhand.reports.board.trust.audit_on_record import audit_sentences
from evenhand.reports.board.trust.trust_word import trust_word
from evenhand.reports.bridging import newcomers_sheet
from evenhand.reports.judges.chart import judges_chart
from evenhand.reports.judges.table import judges_sheets
from evenhand.reports.page import sheets
from evenhand.reports.page.charts import report_charts
from evenhand.reports.page.report import BoardReport, Report
from evenhand.reports.page.words import order_sentences, people_sentences, sampling, summary, trust_asked
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


def board_values(report: BoardReport) -> dict[str, Any]:
    """What the page's template asks for of any board. Raises ChartError where pictures cannot be drawn."""
    board, people = report.board, report.people
    drawn = report_charts(report)
    if people is not None and people.judges:
        drawn["people"] = tuple(alignment_chart(people, width=width) for width in (PAGE, PHONE))
    return {
        "origin": board.origin,
        "heading": board.origin.benchmark,
        "title": f"{board.origin.benchmark}, judged by {board.origin.judge}",
        "figures": {name: _figures(name, charts) for name, charts in drawn.items()},
        "worth_reading": report.reading,
        "board": sheets.board_sheet(board),
        "legend": sheets.board_legend(board),
        "notes": [*board.told, *board.notes],
        "wins": sheets.wins_sheet(board),
        "categories": sheets.categories_sheet(report) if report.by_category else None,
        "order_sentences": order_sentences(report),
        "order": sheets.order_sheet(report),
        "reading": None if board.reliability is None else grounds(board.reliability, more=people is not None),
        "people_sentences": people_sentences(report),
        "people": lead_sheet(people) if people is not None and people.judges else None,
        "judges": None,
        "bridges": (),
    }


def page_values(report: Report) -> dict[str, Any]:
    """What the page's template asks for. Raises ChartError where pictures cannot be drawn."""
    origin, audits, found = report.board.origin, report.audits, report.board.reliability
    more = report.people is not None or (audits is not None and bool(audits.told))
    values = board_values(report)
    if report.judges is not None:
        with suppress(ChartError):  # of none both the price and people's verdicts are known
            charts = [judges_chart(report.judges, width=width) for width in (PAGE, PHONE)]
            values["figures"]["judges"] = _figures("judges", charts)
    return {
        **values,
        "battles": None,
        "battles_left_out": 0,
        "reading_links": _links(report),
        "left_out": sampling(report),
        "cases": report.cases,
        "summary": summary(report),
        "trust": trust_word(found, audits, report.beside_people),
        "trust_question": trust_asked(report),
        "tiles": _tiles(report),
        "scores": report.scores,
        "grades": report.grades,
        "paper_of": paper_of_score,
        "reading": None if found is None else grounds(found, more=more),
        "audit_sentences": None if audits is None else audit_sentences(audits, origin, command=_audit(report)),
        "audits": [] if audits is None else [audit_section(one.report) for one in audits.told],
        "judges": report.judges,
        "judges_sheets": [] if report.judges is None else judges_sheets(report.judges),
        "bridges": [(one, newcomers_sheet(one)) for one in report.bridges],
        "coverage": sheets.coverage_sheet(report),
        "cost": sheets.cost_sheet(report) if report.runs else None,
        "settings": sheets.settings(report),
        "prompts": list(example_prompts(report)),
    }


def _links(report: Report) -> list[str | None]:
    """Of what is worth reading first, where in the list of judgements it stands; None where that leaves it out."""
    digests = {item.label: item.digest for item in report.items}
    places = {(case.item, case.models): case.id for case in report.cases.cases}
    return [places.get((digests.get(one.item, ""), one.models)) for one in report.reading.cases]


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
    "people": "How often the judge agrees with people, beside people; the table below has the numbers.",
    "judges": "What each judge costs, and how often it agrees with people; the table below has the numbers.",
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
