"""A report's summary in words."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from evenhand.audit.document import AUDIT_COMMAND
from evenhand.domain.trial import seen
from evenhand.format.words import counted
from evenhand.reports.board.evidence import asked_words
from evenhand.reports.board.shown.columns import fitting, order_corrected
from evenhand.reports.board.shown.leaders import leaders
from evenhand.reports.board.shown.table import counted_units
from evenhand.reports.board.trust.trust_word import trust_question
from evenhand.reports.page.case_texts import people_among
from evenhand.reports.page.report import BoardReport, Report
from evenhand.reports.page.sheets import board_legend, judgings
from evenhand.reports.papers.catalog import paper_of_score


def summary(report: Report) -> list[str]:
    """The first sentences of the page, the most important first."""
    return [
        *leaders(report.board),
        _what(report),
        *_repeated(report),
        *report.board.told,
        *_paper(report),
        order_sentences(report)[0],
        *people_unknown(report),
        _contradictions(report),
        *_cost(report),
    ]


def trust_asked(report: Report) -> str:
    return trust_question(report.board.origin.judge, human=report.board.origin.human)


def people_sentences(report: BoardReport) -> list[str]:
    """What agreement with people comes to, where some judged the same cases."""
    return people_unknown(report) if report.people is None else list(report.people.conclusions)


def people_unknown(report: BoardReport) -> list[str]:
    """Why people are not compared; what agreement with them comes to is told with the judge's trust."""
    why = report.people_unknown
    return [] if why is None else [f"People judged these answers too, and are not compared: {why}"]


def order_sentences(report: BoardReport) -> list[str]:
    """What being shown first is worth; the record knows raters by keys, and a report knows people by numbers."""
    said = list(order_corrected(report.board).sentences)
    if not isinstance(report, Report):
        return said
    for key, number in people_among(report.studies.everything).items():
        said = [one.replace(f"rater {key}", f"person {number}").replace(key, f"person {number}") for one in said]
    return said


def notes(report: Report) -> list[str]:
    """What the tables rest on, each sentence once: of the board, then of the paper's tables."""
    of_papers = (note for score in report.scores for note in paper_of_score(score).notes(score))
    board = report.board
    said = [board_legend(board), *board.notes, *fitting(board).sentences, *of_papers]
    return list(dict.fromkeys(filter(None, said)))


def sampling(report: Report) -> str | None:
    """What the list of judgements leaves out; None where it is whole."""
    cases = report.cases
    if not cases.sampled:
        return None
    fault, others = "with a disagreement or a failure", len(cases.cases) - cases.faulty
    whole = cases.faulty == cases.with_a_fault
    faulty = "every pair" if whole else f"{cases.faulty:,} of the {counted(cases.with_a_fault, 'pair')}"
    return (
        f"The list of judgements below holds {cases.listed:,} of {cases.judgements:,}: {faulty} of answers {fault} and "
        f"{others:,} of the {cases.pairs - cases.with_a_fault:,} others, drawn with seed {report.seed}. "
        f"{counted(cases.pairs - len(cases.cases), 'more pair is', 'more pairs are')} not in this file: "
        "`evenhand export --judgements --out judgements.csv` writes them all. Board, tables and pictures rest on all."
    )


def _what(report: Report) -> str:
    board, judged = report.board, judgings(report)
    protocols = [
        asked_words(one.study.condition.protocol, seen(one.study.condition), pictured=one.pictured) for one in judged
    ]
    covered = [one.coverage for one in judged]
    read, wanted = sum(one.with_verdict for one in covered), sum(one.wanted for one in covered)
    return (
        f"{counted(len(board.models), 'model')} met in {counted_units(board)}{_named(board.origin.benchmark)}, judged "
        f"by {board.origin.judge} under {' and '.join(protocols)}; {read:,} of {counted(wanted, 'showing')} "
        f"{'has' if wanted == 1 else 'have'} a verdict."
    )


def _named(benchmark: str | None) -> str:
    """Nothing of a file of items that is called `items`."""
    return "" if benchmark in (None, "items") else f" of {benchmark}"


def _repeated(report: Report) -> list[str]:
    """What n counts where a showing was asked several times."""
    if report.replicates < 2:
        return []
    decided = sum(int(np.count_nonzero(one.results.decided)) for one in judgings(report))
    return [
        f"Each showing was asked {report.replicates} times: {decided:,} of "
        f"{counted(report.cases.judgements, 'judgement')} have a verdict. The votes of one showing share its weight, "
        "so n counts showings, and a showing has a verdict where one of its judgements has."
    ]


def _paper(report: Report) -> list[str]:
    """The best by the paper's own figure."""
    said = [paper_of_score(score).best(score) for score in report.scores]
    return [one for one in said if one is not None]


def _contradictions(report: Report) -> str:
    cases = report.cases
    have = "has" if cases.failing == 1 else "have"
    what = "showing" if report.replicates < 2 else "judgement"
    return (
        f"Of {counted(cases.pairs, 'pair')} of answers {cases.disagreeing:,} got verdicts that disagree, and "
        f"{cases.failing:,} {have} a {what} without a verdict."
    )


def _cost(report: Report) -> list[str]:
    spent = report.spent.values()
    replies, unpriced = sum(one.replies for one in spent), sum(one.unpriced for one in spent)
    known = sum((Counter(one.known) for one in report.sources.values()), Counter[str]())
    before = f"{counted(known.total(), 'reply')} {'was' if known.total() == 1 else 'were'} known before"
    if not replies and not known:
        return ["No model was asked for these verdicts."]
    if not replies:
        return [f"No model was asked anew: {before}, from {_where(known)}, whose price is not told here."]
    dollars = sum(one.cost_usd for one in spent)
    price = "its price is unknown" if unpriced == replies else f"it cost ${dollars:,.2f}"
    lacking = f", and the price of {counted(unpriced, 'reply is', 'replies is')} unknown" if unpriced else ""
    more = [f"Besides, {before}, from {_where(known)}; their price is not in that."] if known else []
    return [f"It took {counted(replies, 'reply')}; {price}{lacking if unpriced < replies else ''}.", *more]


def _where(known: Mapping[str, int]) -> str:
    """Of replies by the command of the run they came in."""
    audit, other = known.get(AUDIT_COMMAND, 0), sum(known.values()) - known.get(AUDIT_COMMAND, 0)
    if audit and other:
        return f"an audit of the judge ({audit:,}) and other runs ({other:,})"
    return "an audit of the judge" if audit else "other runs"
