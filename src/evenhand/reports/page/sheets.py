"""A report's tables."""

import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from evenhand.domain.estimate import Estimate, whole
from evenhand.domain.identity import Json
from evenhand.domain.trial import seen
from evenhand.domain.verdict import Reason
from evenhand.format.sheet import MISSING, Sheet
from evenhand.format.supported import share_words
from evenhand.format.words import count, per_cent
from evenhand.ledger.read.spending import Spent
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.store.runs import RunOnRecord
from evenhand.reports.board.board import Board, BoardRow
from evenhand.reports.board.shown.columns import BoardColumn, if_missing, interval_of, order_corrected, span
from evenhand.reports.board.shown.leaders import components
from evenhand.reports.board.shown.legend import OWN_RANGE, SIMULTANEOUS, TIER, legend
from evenhand.reports.board.shown.table import titled
from evenhand.reports.page.report import BoardReport, Report
from evenhand.reports.papers.catalog import paper_of_score
from evenhand.stats.reliability import Coverage
from evenhand.stats.reliability.order_bias import Swapped


def all_sheets(report: Report) -> list[Sheet]:
    """In the order of the page."""
    return [
        board_sheet(report.board),
        *(sheet for score in report.scores for sheet in paper_of_score(score).sheets(score)),
        *(sheet for table in report.grades for sheet in table.sheets),
        wins_sheet(report.board),
        *([categories_sheet(report)] if report.by_category else []),
        order_sheet(report),
        coverage_sheet(report),
        *([cost_sheet(report)] if report.runs else []),
        settings_sheet(report),
    ]


def long_sheet(sheets: Sequence[Sheet]) -> Sheet:
    """Every cell of every table in a row of its own: a CSV file is one table."""
    rows = [
        (sheet.title, row[0], heading, cell)
        for sheet in sheets
        for row in sheet.rows
        for heading, cell in zip(sheet.headings[1:], row[1:], strict=True)
    ]
    return Sheet(title="Report", headings=("table", "row", "column", "value"), rows=tuple(rows))


def board_sheet(board: Board, asked: Sequence[BoardColumn] = ()) -> Sheet:
    """`asked`: columns beside the board's own."""
    share = board.rated_by.shown_as == "share"
    missing = if_missing(board)
    more = {} if missing is None else {"rank if own missing": missing.cells}
    corrected = order_corrected(board).cells if board.findings.of_rows else None
    more |= {"without order": corrected} if corrected else {}
    medians = {
        one.model: share_words(replace(one.rating, value=one.median)) if share else f"{one.median:.1f}"
        for one in board.models
        if one.median is not None
    }
    more |= {"median": medians} if medians else {}
    more |= {one.heading: one.cells for one in asked if one.cells}
    apart = components(board) > 1
    headings = (
        "rank",
        OWN_RANGE,
        f"{SIMULTANEOUS} range",
        TIER,
        "rating",
        "95 % interval",
        "win rate",
        "won – lost – tied",
        "n",
    )
    rows = [
        (
            one.model,
            *([MISSING if one.component is None else str(one.component)] if apart else []),
            MISSING if one.rank is None else str(one.rank),
            span(one.rank_own_lower, one.rank_own_upper),
            span(one.rank_lower, one.rank_upper),
            MISSING if one.tier is None else str(one.tier),
            _rating(one, share=share),
            interval_of(one, share=share),
            share_words(one.win_rate),
            " – ".join(count(round(number, 1)) for number in (one.wins, one.losses, one.ties)),
            count(round(one.rating.n, 1)),
            *(cells.get(one.model, MISSING) for cells in more.values()),
        )
        for one in board.models
    ]
    first = ("model", "component") if apart else ("model",)
    return Sheet(title=f"Ratings, {titled(board)}", headings=(*first, *headings, *more), rows=tuple(rows))


def board_legend(board: Board) -> str:
    """What `board_sheet`'s columns of ranks mean; empty where they have none."""
    ranged = any(one.rank_lower is not None for one in board.models)
    return legend("rows" if board.items is None else "items") if ranged else ""


def _rating(one: BoardRow, *, share: bool) -> str:
    if one.rating.value is None:
        return MISSING
    mark = "*" if one.provisional else ""
    return (share_words(one.rating) if share else f"{one.rating.value:.1f}") + mark


def wins_sheet(board: Board) -> Sheet:
    observed = board.findings.observed
    place = {model: code for code, model in enumerate(observed.models)}
    models = [one.model for one in board.models]
    rows = [
        (row, *(_met(float(observed.share[place[row], place[column]]), row, column) for column in models))
        for row in models
    ]
    return Sheet(title="Share won by the row against the column", headings=("model", *models), rows=tuple(rows))


def _met(share: float, row: str, column: str) -> str:
    return MISSING if row == column or share != share else per_cent(share)


def categories_sheet(report: BoardReport) -> Sheet:
    models = [one.model for one in report.board.models]
    rows = [
        (name, *(_rate(rates[model].win_rate) if model in rates else MISSING for model in models))
        for name, rates in report.by_category.items()
    ]
    title = "Win rate in each category, a tie half a win, verdicts in brackets"
    return Sheet(title=title, headings=("category", *models), rows=tuple(rows))


def _rate(rate: Estimate) -> str:
    return f"{share_words(rate)} ({count(rate.n)})"


def order_sheet(report: BoardReport) -> Sheet:
    swapped = report.swapped or Swapped(same_winner=0, tie_twice=0, first_twice=0, second_twice=0, tie_once=0)
    parts = {
        "the same winner": swapped.same_winner,
        "a tie both times": swapped.tie_twice,
        "the first shown both times": swapped.first_twice,
        "the second shown both times": swapped.second_twice,
        "a tie in one order only": swapped.tie_once,
    }
    rows = [
        (name, count(round(number, 1)), per_cent(number / swapped.pairs if swapped.pairs else None))
        for name, number in parts.items()
    ]
    return Sheet(title="What the judge chose when the answers swapped positions", headings=("", "pairs", "share"),
                 rows=tuple(rows))  # fmt: skip


def judgings(report: Report) -> list[JudgedBattles]:
    return [one for one in (report.judged, report.graded) if one is not None]


def coverage_sheet(report: Report) -> Sheet:
    found = {one.study.condition.protocol: one.coverage for one in judgings(report)}
    reasons: list[Reason] = sorted({reason for one in found.values() for reason in one.reasons})
    headings = ("protocol", "wanted", "with a verdict", "share", "not asked", *reasons)
    rows = [
        (name, *_covered(one), *(f"{one.reasons.get(reason, 0):,}" for reason in reasons))
        for name, one in found.items()
    ]
    return Sheet(title="Showings wanted, and what became of them", headings=headings, rows=tuple(rows))


def _covered(one: Coverage) -> tuple[str, ...]:
    return f"{one.wanted:,}", f"{one.with_verdict:,}", per_cent(one.share), f"{one.not_asked:,}"


def cost_sheet(report: Report) -> Sheet:
    headings = ("run", "began", "protocol", "replies", "requests", "tokens in", "tokens out", "took", "cost")
    protocols = {one.key: one.condition.protocol for one in report.studies.everything}
    rows = [_run_row(report, one, protocols[one.study or ""]) for one in report.runs]
    return Sheet(title="What each run asked and cost", headings=headings, rows=tuple(rows))


def _run_row(report: Report, run: RunOnRecord, protocol: str) -> tuple[str, ...]:
    began = time.strftime("%Y-%m-%d %H:%M", time.gmtime(run.at))
    took = "not ended" if run.ended_at is None else _duration(run.ended_at - run.at)
    spent = report.spent.get(run.id)
    if spent is None:
        return run.id, began, protocol, "0", "0", MISSING, MISSING, took, MISSING
    counted = spent.uncounted < spent.replies
    tokens = [f"{number:,}" if counted else MISSING for number in (spent.input_tokens, spent.output_tokens)]
    return run.id, began, protocol, f"{spent.replies:,}", f"{spent.requests:,}", *tokens, took, _cost(spent)


def _cost(spent: Spent) -> str:
    if spent.unpriced == spent.replies:
        return "unknown"
    more = f" and {spent.unpriced:,} of unknown price" if spent.unpriced else ""
    return f"${spent.cost_usd:,.4f}{more}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def settings_sheet(report: Report) -> Sheet:
    rows = [(f"{part}: {name}", value) for part, facts in settings(report).items() for name, value in facts.items()]
    return Sheet(title="Settings and versions", headings=("", "value"), rows=tuple(rows))


def settings(report: Report) -> dict[str, dict[str, str]]:
    """Every setting and version that the numbers hang on, part after part."""
    study, board = report.judged.study, report.board
    found: dict[str, dict[str, str]] = {
        "Benchmark": {
            "name": study.benchmark,
            "data": study.data,
            "items in all": f"{len(report.items):,}",
            "variant": study.variant or "default",
            "licence": report.terms.licence or MISSING,
            "citation": report.terms.citation or MISSING,
        },
        "Judge": {
            "name": board.origin.judge or MISSING,
            "kind": "people" if board.origin.human else "model",
            "endpoint": study.rater.endpoint or MISSING,
            "the endpoint said it ran": "; ".join(report.endpoints) or MISSING,
            **{
                name.replace("_", " "): _set(report, name, value)
                for name, value in study.rater.settings.as_json().items()
            },
        },
    }
    for one in judgings(report):
        readers = report.sources[one.study.condition.protocol].readers
        found[f"Asked under {one.study.condition.protocol}"] = {**_asked(one), "reader": ", ".join(readers) or MISSING}
    found["Board"] = {name.replace("_", " "): setting_words(value) for name, value in board.settings.items()}
    found["Record"] = {"head of its chain": report.head.hash}
    found["Runs"] = {"Evenhand versions": ", ".join(sorted({one.version for one in report.runs})) or MISSING}
    return found


def _set(report: Report, name: str, value: Json) -> str:
    """What was asked for, and what became of it where the endpoint did not take it."""
    judgements = sum(len(one.results) for one in judgings(report))
    changed: Counter[str] = Counter()
    for one in judgings(report):
        for remark, number in one.results.remarked().items():
            changed.update({words: number for words in _instead(name, remark.adapted)})
    told = [
        words if number == judgements else f"{words} in {number:,} of {judgements:,} judgements"
        for words, number in changed.items()
    ]
    return f"asked {setting_words(value)}; {', '.join(told)}" if told else setting_words(value)


def _instead(name: str, adapted: Sequence[str]) -> set[str]:
    """Of a judgement's remarks those of one setting; a setting sent under another name is as asked."""
    found: set[str] = set()
    for sentence in adapted:
        if f"does not take {name}: its default was used" in sentence:
            found.add("the endpoint's default was used")
        elif capped := re.search(rf"caps {name} at (\S+): that was sent", sentence):
            found.add(f"{capped[1]} was sent")
    return found


def _asked(judged: JudgedBattles) -> dict[str, str]:
    study, condition = judged.study, judged.study.condition
    return {
        "prompt": condition.prompt_hash or MISSING,
        "readout": condition.readout,
        "sees": seen(condition) or "unknown: imported",
        "fenced": "yes" if condition.fenced else "no",
        "image detail": condition.image_detail or "as the endpoint chooses",
        "largest image edge": str(condition.max_image_edge or "as it is"),
        "extractor": study.extractor.name if study.extractor else (condition.extractor or "none"),
        "orders": study.orders,
        "replicates": str(study.replicates),
        "against": study.against or "each other",
    }


def setting_words(value: Json) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{whole(value):g}"
    return MISSING if value is None else str(value)
