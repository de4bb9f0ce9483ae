"""The Grade Score of one or several judges under one or several prompts, as it is read off the record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.trial import Readout
from evenhand.engine.tasks.grading import PreparedGrade, TiedRow, third_showings
from evenhand.format.result import Result
from evenhand.format.words import wide_notes
from evenhand.ledger.read.projection import adaptations
from evenhand.ledger.store.record import Ledger
from evenhand.reports.grade.claims import Claim, Graded, claims
from evenhand.stats.intervals import clustered_share
from evenhand.stats.reliability.coverage import Coverage
from evenhand.stats.reliability.grade_score.comparison import RunSpread, run_spread
from evenhand.stats.reliability.grade_score.highest_graded import GradedChoice, HighestGraded, highest_graded
from evenhand.stats.reliability.grade_score.option_rows import OptionRow
from evenhand.stats.reliability.grade_score.score import GradeScore, grade_score, modal_agreement
from evenhand.stats.reliability.grade_score.scored_rows import Policy

_OF_OWN_OPTIONS = ("grade_score", "llm_score", "choice_score", "chance", "attainable", "above_chance", "incomplete")
"""Names, or beginnings of names, of what is told of the scores without the unrelated option."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeCell:
    """One judge under one prompt, with or without the unrelated option: a cell of the paper's tables."""

    judge: str
    prompt: int
    unrelated: bool
    readout: Readout
    score: GradeScore
    own: GradeScore | None
    """The same trials scored as if the unrelated option had not been there; None where there was none."""
    people: Estimate
    """How often the option chosen most is the one that people put first."""
    coverage: Coverage
    spread: RunSpread | None
    """None with one replicate."""
    notes: tuple[str, ...]
    """How the judge was asked otherwise than the paper states."""
    ties: "TieBreaks | None" = None
    """None where no third showing was wanted."""
    highest: HighestGraded | None = None
    """None where the prompt asks for no grades."""
    grades: tuple[tuple[tuple[float, ...] | None, ...], ...] = ()
    """Of each row and each of its showings, in the order shown, where the prompt asks for them."""
    orders: str = ""
    """In which each row was shown: `all`, or how many were drawn; empty: its rotations."""

    @property
    def graded(self) -> Graded:
        return Graded(
            judge=self.judge,
            prompt=self.prompt,
            unrelated=self.unrelated,
            score=self.score,
            own=self.own,
            spread=self.spread,
        )

    def as_json(self) -> dict[str, Json]:
        own: dict[str, Json] = {}
        if self.own is not None:
            document = self.own.as_json()
            own = {name: value for name, value in document.items() if name.startswith(_OF_OWN_OPTIONS)}
        rows = self.score.rows.as_json()
        for row, given in zip(rows, self.grades, strict=False):
            cast("dict[str, Json]", row)["grades"] = [None if one is None else list(one) for one in given]
        return {
            "judge": self.judge,
            "prompt": self.prompt,
            "unrelated": self.unrelated,
            "readout": self.readout,
            **self.score.as_json(),
            "rows": rows,
            "unrelated_removed_from_scoring": own or None,
            **self.people.as_json("human_agreement"),
            "run_spread": self.spread.as_json() if self.spread else None,
            **(self.highest.as_json() if self.highest else {}),
            **({"third_showing": self.ties.as_json()} if self.ties else {}),
            "coverage": self.coverage.as_json(),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TieBreaks:
    """What a third showing made of the rows whose showings left a tie. The scores go without it."""

    tied: Estimate
    """Of the rows whose every showing was read, how many were tied; clustered by item."""
    rows: tuple[tuple[TiedRow, int | None], ...]
    """Each with the option that the third showing chose; None where nothing was read, or it was not asked yet."""
    people: Estimate
    """How often the option chosen most, with the third showing, is the one that people put first."""

    @property
    def decided(self) -> int:
        return sum(chosen in one.options for one, chosen in self.rows)

    @property
    def elsewhere(self) -> int:
        """For an option that was not among the tied ones, so that the tie stands."""
        return sum(chosen is not None and chosen not in one.options for one, chosen in self.rows)

    @property
    def unread(self) -> int:
        return sum(chosen is None for _, chosen in self.rows)

    def as_json(self) -> dict[str, Json]:
        rows: list[Json] = [
            {
                "item": one.row.item.label,
                "replicate": one.replicate,
                "tied_options": list(one.options),
                "order": list(one.order),
                "selected_option": chosen,
            }
            for one, chosen in self.rows
        ]
        return {
            **self.tied.as_json("tied"),
            "asked": len(self.rows),
            "decided": self.decided,
            "for_another_option": self.elsewhere,
            "unread": self.unread,
            **self.people.as_json("human_agreement"),
            "rows": rows,
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GradeReport(Result):
    table: ClassVar[str] = "cells"
    shown: ClassVar[tuple[str, ...]] = (
        "judge",
        "prompt",
        "unrelated",
        "grade_score",
        "grade_score_lower",
        "grade_score_upper",
        "chance",
        "trials_read",
    )  # fmt: skip

    source: str
    """The file's or the benchmark's name."""
    cells: tuple[GradeCell, ...]
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    """Rows of the data that were not asked about, by reason."""
    runs: tuple[str, ...] = ()
    """That the cells were asked in; empty where nobody was asked for it."""

    @property
    def headline(self) -> str:
        judges = ", ".join(dict.fromkeys(cell.judge for cell in self.cells))
        scores = [cell.score.grade_score.value for cell in self.cells]
        one = f": {scores[0]:.3f}" if len(scores) == 1 and scores[0] is not None else f": {len(scores)} cells"
        return f"Grade Score of {judges} on {self.source}{one}"

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(note for cell in self.cells for note in cell.notes))

    @property
    def claims(self) -> tuple[Claim, ...]:
        return claims([cell.graded for cell in self.cells])

    def as_json(self) -> dict[str, Json]:
        """One cell's document flat, several under `cells`."""
        about: dict[str, Json] = {"schema": 1, "source": self.source}
        left_out: Json = dict(self.left_out)
        ending: dict[str, Json] = {"left_out": left_out, "findings": [claim.as_json() for claim in self.claims]}
        if self.runs:
            ending["runs"] = list(self.runs)
        cells = self.rows()
        if len(cells) == 1:
            return {**about, **cells[0], **ending}
        return {**about, "cells": cells, **ending}

    def rows(self) -> list[dict[str, Json]]:
        return [{**cell.as_json(), "one_option": self.left_out.get("one_option", 0)} for cell in self.cells]

    def chart(self) -> Any:
        """The paper's tables as heat maps."""
        from evenhand.reports.grade.chart import grade_chart

        return grade_chart(self)


def graded_cell(
    prepared: PreparedGrade,
    ledger: Ledger,
    *,
    prompt: int,
    policy: Policy,
    best: Mapping[str, int],
    third: bool = False,
) -> GradeCell:
    """What the record holds of this study, and of the third showings of its ties where they are wanted.

    `best`: by item, the option that people put first.
    """
    asking, study = prepared.asking, prepared.study
    found = prepared.choices(ledger)
    rows = prepared.option_rows(found)
    grades = prepared.grades(found) if asking.protocol.grading and asking.condition.readout == "free" else None
    unrelated = any(row.unrelated for row in prepared.rows)
    score = grade_score(rows, policy=policy, seed=study.seed)
    return GradeCell(
        judge=asking.rater.name,
        prompt=prompt,
        unrelated=unrelated,
        readout=asking.condition.readout,
        score=score,
        own=grade_score(rows, policy=policy, remove_unrelated=True, seed=study.seed) if unrelated else None,
        people=modal_agreement(score, best),
        coverage=prepared.coverage(found),
        spread=run_spread(rows, policy=policy) if study.replicates > 1 else None,
        notes=_notes(
            wide_notes([score.grade_score.clusters]), asking.deviations, sorted(adaptations(ledger, study.rater))
        ),
        ties=_ties(prepared, ledger, score, best) if third else None,
        highest=None if grades is None else highest_graded(_graded_choices(rows, grades)),
        grades=tuple(grades or ()),
        orders=study.option_orders,
    )


def _ties(prepared: PreparedGrade, ledger: Ledger, score: GradeScore, best: Mapping[str, int]) -> TieBreaks:
    rows = score.rows.rows
    third = third_showings(prepared, rows)
    chosen = third.chosen(third.choices(ledger)) if third else []
    broken = tuple(zip(third.tied, chosen, strict=True)) if third else ()
    decided = {(one.row.item.label, one.replicate): option for one, option in broken if option in one.options}
    read = [row for row in rows if row.options > 1 and None not in row.selected_positions]
    return TieBreaks(
        tied=clustered_share(
            [float(len(row.most_chosen) > 1) for row in read], [1.0] * len(read), [row.item for row in read]
        ),
        rows=broken,
        people=modal_agreement(score, best, decided=decided),
    )


def _graded_choices(
    rows: Sequence[OptionRow], grades: Sequence[Sequence[tuple[float, ...] | None]]
) -> list[GradedChoice]:
    return [
        GradedChoice(item=row.item, place=place, grades=given)
        for row, of_row in zip(rows, grades, strict=True)
        for place, given in zip(row.selected_positions, of_row, strict=True)
        if place is not None
    ]


def _notes(*several: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(sentence for one in several for sentence in one))
