"""Raters beside each other as in Creation-MMBench's Table 7: by model and pooled, in both orders and in one."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from evenhand.domain.identity import Json
from evenhand.format.sheet import MISSING, Sheet
from evenhand.format.words import counted
from evenhand.reports.alignment.judge_pairs import Evaluation, JudgePair, Question
from evenhand.reports.alignment.report import AlignmentReport
from evenhand.reports.paired_words import about_p, difference_cells
from evenhand.reports.papers.scores.raw_sheet import flat, raw_sheet
from evenhand.stats.reliability.agreement.alignment import Alignment, AlignmentFigures

POOLED = "pooled"
_UNKNOWN = "judge"
_METHODS = {"none": "LLM", "caption": "LLM", "images": "MLLM", "both": "MLLM", None: _UNKNOWN}
"""By what the judge was shown: Table 7's LLM-as-a-judge and MLLM-as-a-judge."""
_TITLES: dict[tuple[Question, Evaluation], str] = {
    ("images", "dual"): "Shown more of the image against less, both orders",
    ("images", "non-dual"): "Shown more of the image against less, one order",
    ("judges", "dual"): "Judge against judge, both orders",
    ("judges", "non-dual"): "Judge against judge, one order",
    ("orders", "dual"): "Both orders against one",
}

_Row: TypeAlias = tuple[str, str, str, dict[Evaluation, AlignmentFigures]]
"""Method, rater, model."""


def has_table_7(report: AlignmentReport) -> bool:
    """Whether all raters used five levels, against one baseline."""
    return report.baseline is not None and {report.human_levels, *(one.levels for one in report.judges)} == {5}


def table_7(report: AlignmentReport, *, by_model: bool = True) -> Sheet:
    """As the paper prints it; Consistency in per cent. A dash where a rater was not asked so.

    `by_model` false: only what is pooled.
    """
    headings = ("dual MAE", "dual Consistency", "non-dual MAE", "non-dual Consistency")
    named = _names(report)
    cells = [
        (
            f"{method}: {named.get(rater, rater)}",
            model,
            *(_cell(of.get(how), name) for how in _WAYS for name in ("mae", "consistency")),
        )
        for method, rater, model, of in _rows(report)
        if by_model or model == POOLED
    ]
    return Sheet(
        title="Alignment with people, as in Table 7 of Creation-MMBench",
        headings=("rater", "model", *headings),
        rows=tuple(cells),
        names=2,
    )


def _names(report: AlignmentReport) -> dict[str, str]:
    """Judges by their own names, where the method before it tells their ways apart."""
    times = Counter((_METHODS[one.way.see], one.way.judge) for one in report.judges)
    alone = [one for one in report.judges if times[_METHODS[one.way.see], one.way.judge] == 1]
    return {one.alignment.rater: one.way.judge for one in alone}


def long_table_7(report: AlignmentReport) -> Sheet:
    """For programs: a row for each rater, model and evaluation, with every figure and its interval."""
    ways = {one.alignment.rater: one.way for one in report.judges}
    rows: list[dict[str, Json]] = []
    for method, rater, model, of in _rows(report):
        for how, figures in of.items():
            way = ways.get(rater)
            said: dict[str, Json] = {
                "method": None if method == _UNKNOWN else f"{method}-as-a-judge",
                "rater": rater,
                "judge": rater if way is None else way.judge,
                "see": None if way is None else way.see,
                "model": model,
                "evaluation": how,
            }
            rows.append({**said, **flat(figures.as_json())})
    return raw_sheet("table 7", rows)


_WAYS: tuple[Evaluation, Evaluation] = ("dual", "non-dual")


def _rows(report: AlignmentReport) -> Iterable[_Row]:
    """Judges who were shown no image, those who were shown some, and people, as the paper has them."""
    order = list(dict.fromkeys(_METHODS.values()))
    judges = sorted(report.judges, key=lambda one: order.index(_METHODS[one.way.see]))
    for one in judges:
        yield from _of_rater(_METHODS[one.way.see], one.alignment.rater, one.dual, one.single)
    for person in report.humans.raters:
        yield from _of_rater("Human", person.rater, None, person)


def _of_rater(method: str, rater: str, dual: Alignment | None, single: Alignment | None) -> Iterable[_Row]:
    known: dict[Evaluation, Alignment | None] = {"dual": dual, "non-dual": single}
    found = {how: {**dict(one.models), POOLED: one.pooled} for how in _WAYS if (one := known[how]) is not None}
    models = dict.fromkeys(name for of in found.values() for name in of if name != POOLED)
    for model in (*models, POOLED):
        yield method, rater, model, {how: found[how][model] for how in _WAYS if model in found.get(how, {})}


def _cell(figures: AlignmentFigures | None, name: str) -> str:
    value = None if figures is None else figures.mae.value if name == "mae" else figures.consistency.value
    if value is None:
        return MISSING
    return f"{value:.2f}" if name == "mae" else f"{100 * value:.2f} %"


def pair_sheets(report: AlignmentReport) -> list[Sheet]:
    """The paired tests, one sheet for each question and evaluation. An MAE below 0 is nearer to people."""
    return [
        Sheet(
            title=f"{title}: the first less the other, on the cases that both have",
            headings=(
                *("first", "other", "MAE", "MAE 95 %", "MAE p"),
                *("Consistency, points", "Consistency 95 %", "Consistency p"),
            ),
            names=2,
            rows=tuple(
                (
                    one.rater if question != "orders" else f"{one.rater}, both",
                    one.less if question != "orders" else "one",
                    *difference_cells(one.found.mae, lambda value: f"{value:+.3f}"),
                    *difference_cells(one.found.consistency, lambda value: f"{100 * value:+.1f}"),
                )
                for one in pairs
            ),
        )
        for (question, how), title in _TITLES.items()
        if (pairs := [one for one in report.pairs if (one.question, one.evaluation) == (question, how)])
    ]


def pair_sentences(pairs: Sequence[JudgePair]) -> list[str]:
    """Whether judges come nearer to people with the images: the paper's claim."""
    told: list[str] = []
    for how in _WAYS:
        shown = [one for one in pairs if (one.question, one.evaluation) == ("images", how)]
        if shown:
            nearer = sum(one.found.mae.finding == "lower" for one in shown)
            more = sum(one.found.consistency.finding == "higher" for one in shown)
            orders = "both orders" if how == "dual" else "one order"
            judges = counted(len({one.judge for one in shown}), "judge")
            # A judge may have been shown three things, or be there with several settings.
            of = judges if len({one.judge for one in shown}) == len(shown) else f"{len(shown)} pairs, of {judges}"
            told.append(
                f"Shown more of the image, in {orders}: MAE lower for {nearer} of {of}, Consistency higher for {more}."
            )
    return [*told, about_p("for the rows of one table")] if pairs else told
