"""The row of a team on a ladder, and the figure that is published of a submission; neither tells of single items."""

import hmac
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.response import REFERENCE
from evenhand.domain.submission import Judged, Published, labelled
from evenhand.domain.verdict import Preference
from evenhand.ledger.read.as_of import AsOf
from evenhand.ledger.read.projection import StudyOnRecord, items_of, studies
from evenhand.ledger.read.same_replies import answers_since, asked_in
from evenhand.ledger.read.votes import JudgedBattles, judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import Intake
from evenhand.ledger.submissions.store import (
    Submission,
    receipt_on_record,
    submissions_on_record,
    submitted_models,
)
from evenhand.reports.board.chosen import is_short, letters
from evenhand.reports.board.released import FEWEST
from evenhand.reports.receipts.row import rows_with
from evenhand.stats.ladder import ExpectedBias, expected_bias, fewest_new, reserve_share, rounded, step


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderPlace:
    """What a submission's row hangs on, besides its own verdicts."""

    before: str | None
    """Label of the team's submission that is shown till then."""
    reserved: frozenset[str]
    """Items that do not count in it."""
    figure: "ShownFigure | None" = None
    """What the team was told of that submission, which stays as it was; None of receipts by earlier versions, which
    told what the record said at the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFigure:
    share: float
    n: int


def figure_in(row: Json) -> ShownFigure | None:
    """Of a ladder's row; None where it shows nothing."""
    if not isinstance(row, Mapping):
        return None
    share, n = row.get("shown"), row.get("shown_n")
    if not isinstance(share, float | int) or not isinstance(n, int):
        return None
    return ShownFigure(share=share, n=n)


def figure_told(ledger: Ledger, model: str) -> ShownFigure | None:
    """What the receipt of this submission showed of it, by its label; None where it showed another one's."""
    submission = labelled(model)
    receipt = None if submission is None else receipt_on_record(ledger, submission)
    row = None if receipt is None else receipt.get("row")
    return figure_in(row) if isinstance(row, Mapping) and row.get("shown_of") == model else None


def drawn_reserve(items: Iterable[str], *, share: float, seed: int, secret: bytes) -> tuple[str, ...]:
    """Of these digests, so large a share by lot; without the ledger's secret the seed does not tell which."""

    def lot(item: str) -> bytes:
        return hmac.digest(secret, f"reserve {seed} {item}".encode(), "sha256")

    every = sorted(items, key=lot)
    return tuple(sorted(every[: round(share * len(every))]))


def place_of(ledger: Ledger, intake: Intake, submission: Submission) -> LadderPlace | None:
    """Before it is judged; None where the intake is no ladder."""
    if not intake.terms.ladder:
        return None
    rows = [
        (event.seq, event.said.receipt.get("row"))
        for one in submissions_on_record(ledger, intake=intake.id, person=submission.person)
        for event in one.events
        if one.id != submission.id and isinstance(event.said, Judged)
    ]
    last = max(rows, key=lambda one: one[0], default=(0, None))[1]
    shown = last.get("shown_of") if isinstance(last, Mapping) else None
    return LadderPlace(
        before=shown if isinstance(shown, str) else None,
        reserved=frozenset(intake.terms.reserved),
        figure=None if not isinstance(shown, str) else figure_told(ledger, shown),
    )


def ladder_row(
    ledger: Ledger, label: str, place: LadderPlace, chosen: Sequence[StudyOnRecord], as_of: AsOf
) -> dict[str, Json]:
    """`shown`: items won of `shown_n`, as a share, by the submission `shown_of`; `changed`: whether by this one. Where
    it is not, the figure is the one that the team knows: worked out again after an answer was replaced, it would tell
    of that item."""
    others = submitted_models(ledger).keys() - {label, place.before}
    judged = judged_battles(ledger, chosen, without=others, as_of=as_of)
    new = _apart(item_scores(judged, label), place.reserved)
    held = {} if place.before is None else _apart(item_scores(judged, place.before), place.reserved)
    changed = not _in_part(judged, label) and _is_shown(held, new)
    figure = _figure(new) if changed else place.figure or _figure(held)
    return {
        "model": label,
        "feedback": "ladder",
        "shown": None if figure is None else figure.share,
        "shown_n": 0 if figure is None else figure.n,
        "shown_of": label if changed else place.before,
        "changed": changed,
        "compared_with": place.before,
    }


def _figure(scores: Mapping[str, float]) -> ShownFigure | None:
    return ShownFigure(share=rounded([*scores.values()]), n=len(scores)) if scores else None


def _is_shown(held: Mapping[str, float], new: Mapping[str, float]) -> bool:
    """Never by fewer items than a batch of withheld verdicts has: a row that moved by one would tell its verdict."""
    if not held:
        return len(new) >= FEWEST
    both = sorted(held.keys() & new.keys())
    if len(both) < FEWEST:
        return False
    found = step([held[item] for item in both], [new[item] for item in both])
    return found.up and found.moved >= FEWEST


def _in_part(judged: JudgedBattles, label: str) -> bool:
    """Two rows, of a part and of the whole, would tell what came between. What got no reply is asked again."""
    without_reply = judged.results.failed & rows_with(judged.results, label)
    return bool(without_reply.any()) or any(label in one.models for one in judged.not_asked)


def item_scores(judged: JudgedBattles, label: str) -> dict[str, float]:
    """By item, from 0 for lost to 1 for won, over all its battles and orders that have a verdict."""
    found: dict[str, list[float]] = {}
    for item, (first, second), ending in judged.results.each():
        if label in (first, second) and isinstance(ending, Preference):
            won = (ending.value > 0) - (ending.value < 0)
            found.setdefault(item, []).append(0.5 + (won if label == first else -won) / 2)
    return {item: math.fsum(scores) / len(scores) for item, scores in found.items()}


def _apart(scores: Mapping[str, float], reserved: Collection[str]) -> dict[str, float]:
    return {item: score for item, score in scores.items() if item not in reserved}


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFigure:
    submission: Submission
    share: Estimate
    """Of the reserve; without one, of the row that was shown, which has no interval."""
    publications: int
    """That its interval allows for."""

    def as_json(self) -> dict[str, Json]:
        return {
            "submission": self.submission.id,
            "name": self.submission.entered.shown,
            **self.share.as_json("share"),
            "publications": self.publications,
        }


def published_figures(ledger: Ledger, intake: Intake) -> list[PublishedFigure]:
    """Of a ladder: the best first. What was published and withdrawn has none, and counts among the publications."""
    if not intake.terms.ladder:
        return []
    ever = [(_first_published(one), one) for one in submissions_on_record(ledger, intake=intake.id)]
    in_turn = [one for at, one in sorted(ever, key=lambda one: one[0] or 0) if at is not None]
    new = _new_answers(ledger, intake, in_turn) if intake.terms.reserved else {}
    found = [
        PublishedFigure(
            submission=one,
            share=_published(ledger, intake, one, new=new.get(one.id, {}), publications=len(in_turn)),
            publications=len(in_turn),
        )
        for one in in_turn
        if one.standing.published
    ]
    return sorted(found, key=lambda one: -(one.share.value or 0.0))


def _first_published(one: Submission) -> int | None:
    return next((event.seq for event in one.events if isinstance(event.said, Published)), None)


_Said: TypeAlias = tuple[str, str]
"""An answer in letters alone, and the item; of a longer one the question, as other items may ask the same."""


def _new_answers(ledger: Ledger, intake: Intake, in_turn: Sequence[Submission]) -> dict[str, dict[str, _Said]]:
    """By submission and item those of its answers that nobody knows anything about: given by none that was published
    before, with or without a figure, withdrawn or not; nor, but for short ones, which are the same by themselves, by
    any model whose verdicts are told one by one. Where each figure rests on five of these, none is left of any that
    are added and taken from each other with less. None where they are fewer than are sure to have five in reserve,
    counted over all items: whether there is a figure does not tell which those are."""
    items = [one.digest for one in items_of(ledger, intake.board.data)]
    wanted = fewest_new(len(items), len(intake.terms.reserved), among=FEWEST)
    question = asked_in(ledger, items)
    told_apart = {REFERENCE, *(label for label, one in submitted_models(ledger).items() if one.ladder)}
    by_model: dict[str, list[tuple[int, str, _Said]]] = {}
    for at, answer in answers_since(ledger, question, but_of=told_apart - {one.label for one in in_turn}):
        text = letters(answer.text)
        said = (text, answer.item if is_short(text) else question[answer.item])
        by_model.setdefault(answer.model, []).append((at, answer.item, said))
    others = [one for model, some in by_model.items() if model not in told_apart for one in some]
    published, found = set[_Said](), dict[str, dict[str, _Said]]()
    for one in in_turn:
        until = _as_of(ledger, one).answer
        known = published | {said for at, _, said in others if at <= until and not is_short(said[0])}
        mine = [(item, said) for _, item, said in by_model.get(one.label, ())]
        new = {item: said for item, said in mine if said not in known}
        found[one.id] = new if len({*new.values()}) >= wanted else {}
        published |= {said for _, said in mine}
    return found


def _published(
    ledger: Ledger, intake: Intake, one: Submission, *, new: Mapping[str, _Said], publications: int
) -> Estimate:
    """As its receipt found the record, whatever was judged or replaced since: of two figures that differ in one item
    everybody would read its verdict."""
    judged = one.standing.judged
    receipt: Mapping[str, Json] = {} if judged is None else judged.receipt
    if not intake.terms.reserved:
        return _shown(receipt.get("row"))
    if judged is None or judged.partial:
        return Estimate(value=None, reason="not every battle that was wanted has been judged")
    placed = receipt.get("study")
    key = placed.get("key") if isinstance(placed, Mapping) else None
    chosen = [study for study in studies(ledger) if study.key == key]
    scores = item_scores(judged_battles(ledger, chosen, as_of=_as_of(ledger, one)), one.label) if chosen else {}
    reserved = scores.keys() & {*intake.terms.reserved}
    kept = [scores[item] for item in sorted(reserved)]
    if len(kept) < FEWEST:
        return Estimate(value=None, reason=f"fewer than {FEWEST} items of the reserve have a verdict")
    resting_on = {new[item] for item in reserved & new.keys()}
    if len(resting_on) < FEWEST:
        return Estimate(value=None, reason="too few of its answers are new beside what was published before")
    share = reserve_share(kept, publications=publications)
    return Estimate(
        value=rounded(kept),
        lower=None if share.lower is None else math.floor(share.lower * 100) / 100,
        upper=None if share.upper is None else math.ceil(share.upper * 100) / 100,
        n=len(kept),
    )


def _as_of(ledger: Ledger, one: Submission) -> AsOf:
    """Of its last receipt."""
    receipt = receipt_on_record(ledger, one.id)
    record = None if receipt is None else receipt.get("record")
    judgement, answer = (record.get(name) if isinstance(record, Mapping) else 0 for name in ("judgement", "answer"))
    assert isinstance(judgement, int)
    assert isinstance(answer, int)
    return AsOf(judgement=judgement, answer=answer)


def _shown(row: Json) -> Estimate:
    figure = figure_in(row)
    if figure is None:
        return Estimate(value=None, reason="nothing is shown yet")
    return Estimate(value=float(figure.share), n=figure.n, reason="nothing is held in reserve")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How much was asked of the withheld part."""

    submissions: int
    """Judged, whatever became of them."""
    most: int
    """Of one team."""
    publications: int
    bias: ExpectedBias | None
    """Of the team that asked most; None where no team asked twice."""


def asked_of(ledger: Ledger, intake: Intake) -> Asked:
    found = submissions_on_record(ledger, intake=intake.id)
    judged = [one for one in found if any(isinstance(event.said, Judged) for event in one.events)]
    by_team = [sum(one.person == team for one in judged) for team in {one.person for one in judged}]
    most = max(by_team, default=0)
    return Asked(
        submissions=len(judged),
        most=most,
        publications=sum(any(isinstance(event.said, Published) for event in one.events) for one in found),
        bias=expected_bias("ladder" if intake.terms.ladder else "items", most),
    )
