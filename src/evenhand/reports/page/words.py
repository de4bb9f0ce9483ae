"""A report's summary in words."""

from evenhand.domain.estimate import Estimate
from evenhand.reports.beside import interval, order_corrected
from evenhand.reports.board import Board
from evenhand.reports.board_table import METHOD_WORDS, counted_units
from evenhand.reports.page.report import Report
from evenhand.reports.page.sheets import judgings
from evenhand.reports.scores.creation_score import CreationScore

_NAMED = 6


def summary(report: Report) -> list[str]:
    """The first sentences of the page, the most important first."""
    return [
        _what(report),
        _leader(report.board),
        *_paper(report),
        order_corrected(report.board).sentences[0],
        _contradictions(report),
        _cost(report),
    ]


def sampling(report: Report) -> str | None:
    """What the list of judgements leaves out; None where it is whole."""
    cases = report.cases
    if not cases.sampled:
        return None
    return (
        f"The list of judgements holds {cases.listed:,} of {cases.judgements:,}: every pair of answers with a "
        f"disagreement or a failure, and of the others a sample drawn with seed {report.seed}. Board, tables and "
        "pictures rest on all of them."
    )


def _what(report: Report) -> str:
    board, protocols = report.board, [one.study.condition.protocol for one in judgings(report)]
    coverage = board.coverage
    return (
        f"{_counted(len(board.models), 'model')} met in {counted_units(board)} of {board.origin.benchmark}, judged by "
        f"{board.origin.judge} under {' and '.join(protocols)}; {coverage.with_verdict:,} of {coverage.wanted:,} "
        "showings have a verdict."
    )


def _leader(board: Board) -> str:
    rated = [one for one in board.models if one.rating.value is not None]
    if not rated:
        return "No model has a finite rating."
    best, top = rated[0], [one.model for one in board.models if one.tier == 1]
    share = board.method == "win-rate"
    value = f"{100 * (best.rating.value or 0):.1f} %" if share else f"{best.rating.value:.0f}"
    first = f"{best.model} leads with {value} by {METHOD_WORDS[board.method]}{_bounds(best.rating, share=share)}"
    if len(top) == len(board.models) > 1:
        return f"{first}, but no two models are surely apart."
    if len(top) > 1:
        others = [name for name in top if name != best.model]
        more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
        return f"{first}; nobody is surely better than {', '.join(others[:_NAMED])}{more} either."
    return f"{first}." if not top else f"{first}, and is surely ahead of every other model."


def _bounds(rating: Estimate, *, share: bool) -> str:
    bounds = interval(rating, share=share)
    return "" if bounds == "–" else f" (95 % interval {bounds})"


def _paper(report: Report) -> list[str]:
    """Creation-MMBench's best by Reward."""
    said: list[str] = []
    for score in report.scores:
        if not isinstance(score, CreationScore) or not score.models:
            continue
        best = score.models[0]
        reward, vfs = best.whole.dual.preference.reward, best.whole.dual.vfs
        if reward.value is None:
            continue
        grade = "" if vfs.value is None else f" and a Visual Factuality Score of {vfs.value:.2f} of 10"
        said.append(f"Against {score.baseline}, {best.model} has the highest Reward, {reward.value:+.2f}{grade}.")
    return said


def _contradictions(report: Report) -> str:
    cases = report.cases
    have = "has" if cases.failing == 1 else "have"
    return (
        f"Of {_counted(cases.pairs, 'pair')} of answers {cases.disagreeing:,} got verdicts that disagree, and "
        f"{cases.failing:,} {have} a showing without a verdict."
    )


def _cost(report: Report) -> str:
    spent = report.spent.values()
    replies, unpriced = sum(one.replies for one in spent), sum(one.unpriced for one in spent)
    if not replies:
        return "No model was asked for these verdicts."
    dollars = sum(one.cost_usd for one in spent)
    price = "its price is unknown" if unpriced == replies else f"it cost ${dollars:,.2f}"
    lacking = f", and the price of {unpriced:,} replies is unknown" if 0 < unpriced < replies else ""
    return f"It took {_counted(replies, 'reply', 'replies')}; {price}{lacking}."


def _counted(number: int, one: str, several: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else several or one + 's'}"
