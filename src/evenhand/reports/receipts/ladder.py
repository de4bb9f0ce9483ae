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
from evenhand.domain.trial import Condition
from evenhand.domain.verdict import Preference
from evenhand.ledger.read.as_of import AsOf
from evenhand.ledger.read.projection import StudyOnRecord, items_of, studies
from evenhand.ledger.read.same_replies import answers_since, asked_alike, asked_in
from evenhand.ledger.read.votes import JudgedBattles, judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import BoardIdentity, Intake, intakes_on_record
from evenhand.ledger.submissions.placements import judge_of, studies_of
from evenhand.ledger.submissions.store import (
    Submission,
    receipt_on_record,
    submissions_on_record,
    submitted_models,
)
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import ProtocolError
from evenhand.reports.board.withheld.chosen import letters
from evenhand.reports.board.withheld.released import FEWEST
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
    in_turn = _published_in_turn(submissions_on_record(ledger, intake=intake.id))
    new = _new_answers(ledger, intake) if in_turn and intake.terms.reserved else {}
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


def _published_in_turn(found: Iterable[Submission]) -> list[Submission]:
    """Those that ever were."""
    first = {one.id: event.seq for one in found for event in reversed(one.events) if isinstance(event.said, Published)}
    return sorted((one for one in found if one.id in first), key=lambda one: first[one.id])


_Said: TypeAlias = tuple[str, str]
"""An answer in letters alone, and the question."""


def _new_answers(ledger: Ledger, intake: Intake) -> dict[str, dict[str, _Said]]:
    """By submission and item those of its answers that nobody knows anything about, wherever this judge is asked in the
    same words: given by none that was published on a ladder before, with or without a figure, withdrawn or not; nor by
    any model whose verdicts are told one by one. Where each figure rests on five of these, none is left of any that
    are added and taken from each other with less. As the record was when it was judged, as the figure is."""
    question = asked_in(ledger, [one.digest for one in items_of(ledger, intake.board.data)])
    alike = {one.id: one.terms.ladder for one in judged_alike(ledger, intake.board)}
    every = submissions_on_record(ledger)
    in_turn = _published_in_turn([one for one in every if alike.get(one.intake, False)])
    told_apart = {one.label for one in every if not alike.get(one.intake, True)}
    said: dict[str, list[tuple[int, str, _Said]]] = {}
    unknown = {REFERENCE, *(one.label for one in every)} - told_apart - {one.label for one in in_turn}
    for at, answer in answers_since(ledger, question, but_of=unknown):
        what = (letters(answer.text), question[answer.item])
        said.setdefault(answer.model, []).append((at, answer.item, what))
    others = [one for model, some in said.items() if labelled(model) is None or model in told_apart for one in some]
    published, found = set[_Said](), dict[str, dict[str, _Said]]()
    for one in in_turn:
        until = _as_of(ledger, one).answer
        mine = [(item, what) for at, item, what in said.get(one.label, ()) if at <= until]
        known = published | {what for at, _, what in others if at <= until}
        heard = {item for item, what in mine if what in known}
        found[one.id] = {item: what for item, what in mine if item not in heard}
        published |= {what for _, what in mine}
    return found


def judged_alike(ledger: Ledger, board: BoardIdentity) -> list[Intake]:
    """Those whose judge this board's is, asked in the same words; itself, too. None before anything was judged."""
    here = judge_of(ledger, board)
    alike = {(board.rater, board.condition), *asked_alike(ledger, board.rater, board.condition)}
    found: list[Intake] = []
    for one in intakes_on_record(ledger):
        there = judge_of(ledger, one.board) if (one.board.rater, one.board.condition) in alike else None
        if here is not None and there is not None and asks_the_same(here.condition, there.condition):
            found.append(one)
    return found


def asks_the_same(here: Condition, there: Condition) -> bool:
    """Whether the judge may be asked in the same words, whatever goes to an extractor: under one name they seldom
    change, and a copy has another. Where a protocol is gone nobody can tell any more."""
    if here.protocol == there.protocol or here.prompt_hash == there.prompt_hash:
        return True
    try:
        ours, theirs = (load_protocol(one.protocol).asks(here.readout) for one in (here, there))
    except ProtocolError:
        return True
    return ours == theirs


def _published(
    ledger: Ledger, intake: Intake, one: Submission, *, new: Mapping[str, _Said], publications: int
) -> Estimate:
    """As its receipt found the record, whatever was judged or replaced since: of two figures that differ in one item
    everybody would read its verdict. How many answers that have a verdict are to be `new` is counted over all items, so
    that whether there is a figure does not tell which are in reserve."""
    judged = one.standing.judged
    receipt: Mapping[str, Json] = {} if judged is None else judged.receipt
    if not intake.terms.reserved:
        return _shown(receipt.get("row"))
    placed = receipt.get("study")
    key = placed.get("key") if isinstance(placed, Mapping) else None
    asked = {item for study in studies_of(ledger, intake.board) if study.key == key for item in study.items}
    if judged is None or judged.partial or not asked:
        return Estimate(value=None, reason="not every battle that was wanted has been judged")
    chosen = [study for study in studies(ledger) if study.key == key]
    judged_then = judged_battles(ledger, chosen, as_of=_as_of(ledger, one))
    scores, held = item_scores(judged_then, one.label), {*intake.terms.reserved}
    wanted = fewest_new(len(asked | held), len(held), among=FEWEST)
    reserved = scores.keys() & held
    in_all, in_reserve = ({new[item] for item in some & new.keys()} for some in (scores.keys(), reserved))
    if len(in_all) < wanted or len(in_reserve) < FEWEST:
        return Estimate(value=None, reason="too few of its answers are new beside what was published before")
    # What another board tells of its other battles, taken off, leaves these.
    if 0 < len(_met_reference(judged_then) & held) < FEWEST:
        return Estimate(value=None, reason="too few of its battles are against the reference to hide each other")
    kept = [scores[item] for item in sorted(reserved)]
    share = reserve_share(kept, publications=publications)
    return Estimate(
        value=rounded(kept),
        lower=None if share.lower is None else math.floor(share.lower * 100) / 100,
        upper=None if share.upper is None else math.ceil(share.upper * 100) / 100,
        n=len(kept),
    )


def _met_reference(judged: JudgedBattles) -> set[str]:
    """The items on which somebody did, and the judge decided."""
    decided = judged.results.each()
    return {item for item, models, ending in decided if REFERENCE in models and isinstance(ending, Preference)}


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
