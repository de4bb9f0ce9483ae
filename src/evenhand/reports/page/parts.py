"""A report's parts as HTML: what others wrote is escaped, and nothing in it is a script."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, cast

from evenhand.audit.section import audit_section
from evenhand.format.figure import figure
from evenhand.format.printable import printable
from evenhand.format.sheet import Sheet
from evenhand.format.tables import per_cent, unbroken
from evenhand.ledger.read.lookup import calls_on_record
from evenhand.ledger.read.projection import judged
from evenhand.reports.board.audit_on_record import audit_sentences
from evenhand.reports.board.trust_word import trust_word
from evenhand.reports.page import sheets
from evenhand.reports.page.charts import report_charts
from evenhand.reports.page.report import Report
from evenhand.reports.page.words import order_sentences, summary
from evenhand.reports.papers.catalog import paper_of_score


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


_PIECES = re.compile(r"\S{1,24}\s*|\s+")


def shown(text: str) -> str:
    """Words that others wrote, as HTML."""
    return escape(printable(text))


def said(sentence: str) -> str:
    """A sentence of ours, as HTML."""
    return shown(unbroken(sentence))


def sections(report: Report) -> dict[str, str]:
    """The slots of the page, by name. Raises ChartError where pictures cannot be drawn."""
    figures = {name: _figures(name, charts) for name, charts in report_charts(report).items()}
    return {
        "summary": _list(summary(report), "summary") + _conclusion(report),
        "tiles": _tiles(report),
        "board": figures.get("board", "") + table(sheets.board_sheet(report.board), "board"),
        "notes": _list([*report.board.told, *report.board.notes], "notes"),
        "paper": _paper(report),
        "paper_link": _paper_link(report),
        "matrix": figures.get("matrix", "") + _folded(sheets.wins_sheet(report.board)),
        "categories": _categories(report, figures.get("categories", "")),
        "order": _order(report, figures.get("order", "")),
        "judge_section": _judge(report, figures.get("reliability", "")),
        "coverage": table(sheets.coverage_sheet(report)),
        "cost": _cost(report),
        "settings": _settings(report),
        "prompts": _prompts(report),
    }


def _figures(name: str, charts: Sequence[Any]) -> str:
    """The picture, and once more for a page too narrow for it, where there is one; else it has to be scrolled."""
    wide, *narrow = charts
    return "".join([figure(wide, _ALT[name]), *(figure(one, _ALT[name], kind="narrow", larger=1) for one in narrow)])


_ALT = {
    "board": "Ratings of the models with their 95 % intervals; the table below has the numbers.",
    "matrix": "How often each model won against each other; the table below has the numbers.",
    "categories": "Win rate of each model in each category; the table below has the numbers.",
    "order": "What the judge chose when the answers swapped positions; the table below has the numbers.",
    "reliability": "How often the judge keeps its verdict and chooses the first shown; the sentences below say it.",
}


def table(sheet: Sheet, kind: str = "") -> str:
    sheet = sheet.known
    heads = "".join(f'<th scope="col">{_folding(heading)}</th>' for heading in sheet.headings)
    rows = "\n".join(
        f'<tr><th scope="row">{_folding(row[0])}</th>{"".join(f"<td>{shown(cell)}</td>" for cell in row[1:])}</tr>'
        for row in sheet.rows
    )
    named = f' class="{kind}"' if kind else ""
    return (
        f'<div class="frame" role="region" aria-label="{shown(sheet.title)}" tabindex="0"><table{named}>\n'
        f"<caption>{shown(sheet.title)}</caption>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n"
        "</table></div>\n"
    )


def _folding(name: str) -> str:
    """Words that others wrote, as HTML; one too long for a column may go on in the next line."""
    return "<wbr>".join(map(shown, _PIECES.findall(name)))


def _folded(sheet: Sheet) -> str:
    return f"<details><summary>{shown(sheet.title)}, as a table</summary>\n{table(sheet)}</details>\n"


def _list(sentences: Sequence[str], kind: str) -> str:
    return f'<ul class="{kind}">\n' + "\n".join(f"<li>{said(one)}</li>" for one in sentences) + "\n</ul>\n"


def _tiles(report: Report) -> str:
    board, cases = report.board, report.cases
    tiles: Mapping[str, str] = {
        "Models": f"{len(board.models):,}",
        "Items": "–" if board.items is None else f"{board.items:,}",
        "Judgements": f"{cases.judgements:,}",
        "Coverage" if report.graded is None else "Coverage of preferences": per_cent(board.coverage.share),
        "Pairs that disagree": f"{cases.disagreeing:,}",
    }
    return "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in tiles.items())


def _paper(report: Report) -> str:
    if not report.scores:
        return ""
    made: list[str] = []
    for score in report.scores:
        first, *others = paper_of_score(score).sheets(score)
        made += [table(first), *map(_folded, others), _list(paper_of_score(score).notes(score), "notes")]
    title = paper_of_score(report.scores[0]).title
    lead = '<p class="lead">As the benchmark\'s paper counts.</p>'
    return f'<section id="paper"><h2>{title}</h2>\n{lead}{"".join(made)}</section>'


def _paper_link(report: Report) -> str:
    return f'<a href="#paper">{paper_of_score(report.scores[0]).figure}</a>' if report.scores else ""


def _categories(report: Report, figure: str) -> str:
    if not report.by_category:
        return '<p class="quiet">The items have no categories.</p>'
    return figure + _folded(sheets.categories_sheet(report))


def _order(report: Report, figure: str) -> str:
    return figure + _list(order_sentences(report), "notes") + _folded(sheets.order_sheet(report))


def _conclusion(report: Report) -> str:
    """How far the judge can be trusted, in one sentence and its colour."""
    found = trust_word(report.board.reliability, report.audits)
    return f'<p class="verdict {found.kind}">{said(found.words)}</p>'


def _judge(report: Report, figure: str) -> str:
    found = report.board.reliability
    made = [_conclusion(report), *([] if found is None else [figure, _list(found.reading[1:], "notes")])]
    if report.audits is not None:
        made.append(_list(audit_sentences(report.audits, report.board.origin), "notes"))
        made += [audit_section(one.report) for one in report.audits.told]
    return "\n".join(made)


def _cost(report: Report) -> str:
    if not report.runs:
        return '<p class="quiet">No run of Evenhand made these judgements.</p>'
    return table(sheets.cost_sheet(report))


def _settings(report: Report) -> str:
    parts = [
        f'<div class="facts"><h3>{shown(part)}</h3><dl>'
        + "".join(f"<div><dt>{shown(name)}</dt><dd>{shown(value)}</dd></div>" for name, value in facts.items())
        + "</dl></div>"
        for part, facts in sheets.settings(report).items()
    ]
    return f'<div class="columns">{"".join(parts)}</div>'


def _prompts(report: Report) -> str:
    """The first question that was asked under each protocol, word for word."""
    made: list[str] = []
    for prompt in example_prompts(report):
        turns = "".join(
            f'<h4>{shown(role)}</h4><p class="written">{shown(words)}</p>' for role, words in prompt.messages
        )
        made.append(
            f'<details class="prompt"><summary>What was sent under {shown(prompt.protocol)}: item '
            f"{shown(prompt.item)}, {shown(' before '.join(prompt.models))}</summary>{turns}</details>"
        )
    return "".join(made)
