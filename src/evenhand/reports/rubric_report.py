"""A report of answers that were graded alone by criteria: the table, and every answer with its grades."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.domain.identity import Json
from evenhand.domain.item import Item
from evenhand.domain.verdict import Grades
from evenhand.files.outputs import Place, path_of
from evenhand.format.charts import write_out
from evenhand.format.html import rendered
from evenhand.format.words import counted, unbroken
from evenhand.ledger.read.projection import StudyOnRecord, items_of
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.submitted_models import counted_battles
from evenhand.reports.page.writing import WrittenReport
from evenhand.reports.papers.paper import ScoredTable
from evenhand.reports.rubric import rubric_of, table_of_grades

LISTED = 2_000
"""Answers that the page lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedAnswer:
    model: str
    text: str
    grades: str
    """In words, one after the other; or why there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricReport:
    benchmark: str
    table: ScoredTable
    answers: tuple[tuple[Item, tuple[GradedAnswer, ...]], ...]
    """Of each item, in the benchmark's order."""

    @property
    def headline(self) -> str:
        return f"{self.benchmark}: answers graded by criteria"

    @property
    def answered(self) -> int:
        return sum(len(some) for _, some in self.answers)

    @property
    def document(self) -> dict[str, Json]:
        return {"schema": 1, "summary": list(self.table.sentences), "grades": [dict(self.table.document)]}


def rubric_report(ledger: Ledger, judging: Sequence[StudyOnRecord]) -> RubricReport:
    """Of one judging's studies."""
    study = judging[0]
    items = items_of(ledger, study.data)
    told = _grades(ledger, judging)
    held = ledger.responses_to([item.digest for item in items], variant=study.variant)
    texts = {(one.item, one.model): one.text for one in held}
    answers = [
        (
            item,
            tuple(
                GradedAnswer(model=model, text=texts.get((item.digest, model), ""), grades=said)
                for (digest, model), said in sorted(told.items())
                if digest == item.digest
            ),
        )
        for item in items
    ]
    return RubricReport(
        benchmark=study.benchmark,
        table=table_of_grades(ledger, judging),
        answers=tuple(one for one in answers if one[1]),
    )


def _grades(ledger: Ledger, judging: Sequence[StudyOnRecord]) -> Mapping[tuple[str, str], str]:
    """By item and model what each showing was given."""
    rubric = rubric_of(judging[0])
    judged = counted_battles(ledger, judging)
    results, said = judged.results, dict[tuple[str, str], list[str]]()
    models: list[int] = results.first_model.tolist()
    items: list[int] = results.item.code.tolist()
    endings: list[int] = results.ending.tolist()
    for model, item, code in zip(models, items, endings, strict=True):
        ended = results.endings[code]
        words = (
            ", ".join(f"{name} {value:g}" for name, value in zip(rubric.names, ended.values, strict=True))
            if isinstance(ended, Grades)
            else f"no grades ({getattr(ended, 'reason', 'another verdict')})"
        )
        name = judged.names.get(results.models[model], results.models[model])
        said.setdefault((results.item.names[item], name), []).append(words)
    return {key: "; ".join(some) for key, some in said.items()}


def write_rubric_report(report: RubricReport, place: Place) -> WrittenReport:
    """Raises ChartError where it cannot be written, OutputRefused."""
    listed, left = list[tuple[Item, tuple[GradedAnswer, ...]]](), LISTED
    for item, answers in report.answers:
        if left <= 0:
            break
        listed.append((item, answers[:left]))
        left -= len(answers)
    page = rendered(
        "reports/rubric_report.html",
        title=report.headline,
        notes=[unbroken(one) for one in report.table.sentences],
        sheets=report.table.sheets,
        answers=listed,
        more=counted(report.answered - LISTED, "answer") if report.answered > LISTED else None,
    )
    write_out(place, str(page).encode())
    path = path_of(place)
    return WrittenReport(path=path, bytes=path.stat().st_size, pictures=0, pictures_left_out=0)
