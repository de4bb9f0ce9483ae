"""What of a submission's answers the owner has to decide about before the judge is asked: orders and verdicts in them,
and answers by which figures against the reference would tell single verdicts."""

import re
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypedDict

from evenhand.domain.errors import Misuse
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.submission import SubmissionState, labelled
from evenhand.engine.tasks.joining import BoardToJoin, protocol_of, submitted_texts
from evenhand.ledger.read.projection import items_of
from evenhand.ledger.read.same_replies import answered_as_the_reference, answers_ever, questions_on_record
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.store import Submission, submissions_on_record
from evenhand.protocols.plain import plain
from evenhand.protocols.protocol import Protocol
from evenhand.protocols.skeleton import decoded
from evenhand.reports.board.withheld.chosen import ChosenAnswers, EarlierAnswers, chosen_answers
from evenhand.reports.board.withheld.released import FEWEST, cells_of, open_items
from evenhand.reports.receipts.ladder import judged_alike
from evenhand.site.http.visibility import everybody_sees

SAMPLES = 5
"""Answers that speak to the judge, of which the owner reads the words."""
SAMPLE_LONGEST = 300
"""Characters."""


class Found(TypedDict):
    """Fields of an estimate."""

    orders: int
    verdicts: int
    steering: tuple[str, ...]
    repeated: int
    like: str
    same: int
    changed: int
    within: str


def found_in(
    ledger: Ledger,
    board: BoardToJoin,
    submission: Submission,
    answers: Sequence[Response],
    *,
    met: Collection[str],
) -> Found:
    """`met`: the items on which it meets the reference."""
    protocol, labels = protocol_of(board), {item.digest: item.label for item in board.items}
    speaking = [(one, meant) for one in answers if (meant := protocol.meant(one.text))]
    chosen = _chosen(ledger, board, submission, answers, met)
    return {
        "orders": sum(meant.order for _, meant in speaking),
        "verdicts": sum(meant.verdict for _, meant in speaking),
        "steering": tuple(
            f"{labels.get(one.item, one.item)}: {_spoken(protocol, one.text)}" for one, _ in speaking[:SAMPLES]
        ),
        "repeated": chosen.repeated,
        "like": chosen.like,
        "same": chosen.same,
        "changed": chosen.changed,
        "within": chosen.within,
    }


def _spoken(protocol: Protocol, answer: str) -> str:
    """The sentence of the answer that speaks to the judge, as plain words where it is written in a code; the answer's
    beginning where no sentence does for itself."""
    for text in (*decoded(answer), answer):
        sentences = [one for one in re.split(r"(?<=[.!?])\s+|\n+", plain(text)) if one.strip()]
        if words := next((one for one in sentences if protocol.meant(one)), ""):
            return f"{'' if text == answer else 'decoded: '}{' '.join(words.split())}"[:SAMPLE_LONGEST]
    return " ".join(answer.split())[:SAMPLE_LONGEST]


def _chosen(
    ledger: Ledger, board: BoardToJoin, submission: Submission, answers: Sequence[Response], met: Collection[str]
) -> ChosenAnswers:
    own, terms = board.intake.board, board.intake.terms
    if everybody_sees(ledger, own.data) or (len(met) < FEWEST and not terms.ladder):
        return ChosenAnswers()  # all of it is public, or no figure rests on it
    items = _hiding(ledger, board)
    asked = {item.digest for item in items}
    texts = {one.item: one.text for one in answers if one.item in asked}
    known = _Asked.on(ledger, board)
    # A team's one row of a ladder moves by five items or not at all, so that it may climb.
    submitted = _submitted(ledger, board, submission, known, climbs=len(met) < FEWEST)
    earlier = [*_founding(ledger, known), *submitted]
    return chosen_answers(
        texts,
        items,
        earlier,
        met=None if terms.ladder else met,
        reserved=asked & {*terms.reserved},
        cells=cells_of(ledger, own.data),
    )


def _hiding(ledger: Ledger, board: BoardToJoin) -> Sequence[Item]:
    """Those on which the reference plays and a verdict against it is withheld: no other helps to hide one. Of what was
    open and is closed again new verdicts are withheld. A ladder tells no verdict by item, whoever is met."""
    own = board.intake.board
    if board.intake.terms.ladder:
        return board.items
    given = ledger.responses_to([one.digest for one in board.items], variant=own.variant, plain=board.plain)
    played = {one.item for one in given if one.model == REFERENCE}
    told = open_items(ledger, own.data) | answered_as_the_reference(ledger, board.items)
    return [one for one in board.items if one.digest in played and one.digest not in told]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a board asks, and where the same is asked, under whichever label or skill."""

    here: frozenset[str]
    alike: Mapping[str, tuple[str, ...]]
    """By each item on record, those of the board that ask the same; one and the same tuple for all of one question."""

    @classmethod
    def on(cls, ledger: Ledger, board: BoardToJoin) -> "_Asked":
        every, here = questions_on_record(ledger), dict[Hashable, list[str]]()
        for item in board.items:
            here.setdefault(every[item.digest], []).append(item.digest)
        asking = {question: tuple(items) for question, items in here.items()}
        return cls(
            here=frozenset(item.digest for item in board.items),
            alike={item: asking[question] for item, question in every.items() if question in asking},
        )

    def held(self, answers: Mapping[str, str]) -> tuple[dict[str, str], dict[str, frozenset[str]]]:
        """By item of the board what is answered to it, or else to one that asks the same; and all that is answered to
        any that asks the same, where there are several."""
        texts = {item: text for item, text in answers.items() if item in self.here}
        said: dict[tuple[str, ...], dict[str, None]] = {}
        for item, text in answers.items():
            if item in self.alike:
                said.setdefault(self.alike[item], {})[text] = None
        also: dict[str, frozenset[str]] = {}
        for items, given in said.items():
            every, first = frozenset(given), next(iter(given))
            for item in items:
                texts.setdefault(item, first)
            if len(every) > 1:
                also |= dict.fromkeys(items, every)
        return texts, also


def _founding(ledger: Ledger, asked: _Asked) -> list[EarlierAnswers]:
    """Their answers are public, so anybody can submit them with one changed; also of those that play on another board
    alone, which may share items, or ask the same under another skill. In every variant, and those that were replaced
    since: all of them may have been seen."""
    standing = ledger.responses_to(asked.alike, variant=None)
    stand = {one.digest for one in standing}
    replaced = [one for one in answers_ever(ledger, asked.alike) if one.digest not in stand]
    given: dict[tuple[str, str, int], dict[str, str]] = {}
    for one in (*standing, *replaced):
        if one.model == REFERENCE or labelled(one.model) is not None:
            continue
        keys = ((one.model, one.variant, n) for n in count())
        next(some for key in keys if one.item not in (some := given.setdefault(key, {})))[one.item] = one.text
    held = [(model, *asked.held(answers)) for (model, *_), answers in sorted(given.items())]
    return [EarlierAnswers(name=name, own=False, founding=True, texts=texts, also=also) for name, texts, also in held]


def _submitted(
    ledger: Ledger, board: BoardToJoin, this: Submission, asked: _Asked, *, climbs: bool
) -> Iterator[EarlierAnswers]:
    """Of whichever team, also where it was withdrawn since: its figures may have been seen. On whichever benchmark that
    this judge is asked in the same words: two may share items, or ask the same under other labels, and replies are not
    asked for twice, whichever words go to an extractor. `climbs`: whether not the team's own of this intake."""
    alike = judged_alike(ledger, board.intake.board)
    ladders = {one.id for one in alike if one.terms.ladder}
    benchmarks = {
        one.id: Benchmark(
            name=one.benchmark, items=tuple(items_of(ledger, one.board.data)), licence="", citation="", protocols=()
        )
        for one in alike
    }
    for one in submissions_on_record(ledger):
        if one.intake not in benchmarks or not _came_before(one, this, ladders):
            continue
        if climbs and (one.intake, one.person) == (this.intake, this.person):
            continue
        answers = _answers_of(ledger, benchmarks[one.intake], one)
        texts, also = asked.held(answers)
        upload = one.standing.upload
        if texts and upload is not None:
            yield EarlierAnswers(
                name=f"{one.entered.shown} [{one.id}]",
                own=one.person == this.person,
                texts=texts,
                also=also,
                elsewhere=max(0, upload.answered - sum(item in asked.alike for item in answers)),
            )


def _answers_of(ledger: Ledger, benchmark: Benchmark, one: Submission) -> dict[str, str]:
    """By item, from its file, or where that is gone as they were put on record when it was judged. Raises Misuse where
    neither is there and it may be judged yet: nobody could say then what is like it."""
    if answers := submitted_texts(ledger, benchmark, one):
        return answers
    items = [item.digest for item in benchmark.items]
    found = {given.item: given.text for given in answers_ever(ledger, items) if given.model == one.label}
    if not found and one.standing.stage not in ("judged", "refused", "withdrawn"):
        upload = one.standing.upload
        raise Misuse(
            f"What it says cannot be held against submission {one.id}, which came before it: that one's file "
            f"{'' if upload is None else upload.file} is not in {ledger.submitted.where}, or was altered; copy it from "
            "a backup, or refuse that one.",
            code="EH-FILE-MISSING",
        )
    return found


def _came_before(one: Submission, this: Submission, ladders: Collection[str]) -> bool:
    """Of two that wait the one that was confirmed first is judged as it is, and the owner asked about the other."""
    stands = one.standing
    if stands.confirmed is None or not _gets_figures(stands, ladder=one.intake in ladders):
        return False
    return stands.confirmed_seq < this.standing.confirmed_seq


def _gets_figures(stands: SubmissionState, *, ladder: bool) -> bool:
    """That single verdicts could be told by, now or when it is approved, perhaps anew. On a ladder they rest on
    whatever it meets."""
    approved, judged = stands.approved, stands.judged
    if not stands.on_the_board and judged is None:
        return False  # none was ever shown
    if stands.against_reference >= FEWEST or (ladder and approved is not None):
        return True
    if not stands.on_the_board or (stands.stage == "judged" and not (judged and judged.partial)):
        return False
    return approved is None or not (approved.nearest or approved.despite == "without_reference")
