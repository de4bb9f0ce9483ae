"""A receipt held against the ledger: everything it says that can be worked out again is, and each difference is named.

What agrees proves that the receipt and this ledger tell the same; not that the judge was ever asked.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

from evenhand import __version__
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json, bytes_hash
from evenhand.domain.item import Item
from evenhand.format.number_ranges import from_ranges
from evenhand.ledger.read.fingerprints import Fingerprint, answer_numbers, judgement_numbers, traces
from evenhand.ledger.read.lookup import find_study
from evenhand.ledger.read.newest import newest
from evenhand.ledger.read.projection import StudyOnRecord, items_of, studies
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import find_intake
from evenhand.ledger.upkeep.chain import HeadError, continues, head_from
from evenhand.ledger.upkeep.check import misnamed
from evenhand.ledger.upkeep.signing import public_keys, signed_by
from evenhand.reports.errors import RankError
from evenhand.reports.papers.scores.visit_bench import ELO_ROUNDS
from evenhand.reports.receipts.damage import DAMAGED, why_unread
from evenhand.reports.receipts.ladder import LadderPlace, figure_in, figure_told
from evenhand.reports.receipts.reading import Behind, Receipt, ReceiptError, behind, telling
from evenhand.reports.receipts.receipt import answers_seal, is_digest, marks, seal, signed_content, told_by_the_record
from evenhand.reports.receipts.shown import shown_otherwise
from evenhand.reports.receipts.submission import other_answers, said_on_record, submission_on_record
from evenhand.reports.receipts.walk import Walked, walked

PREDICTIONS, SIGNATURE = "predictions", "signature"
_LONGEST = 200
"""Characters of a value that is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    name: str
    found: str
    """A sentence, where everything agrees."""
    differs: tuple[str, ...] = ()
    """Sentences: each thing that does not."""

    @property
    def ok(self) -> bool:
        return not self.differs

    def as_json(self) -> dict[str, Json]:
        return {"check": self.name, "ok": self.ok, "found": self.found if self.ok else None, "differs": [*self.differs]}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptVerification:
    checks: tuple[Check, ...]

    @property
    def verified(self) -> bool:
        return all(one.ok for one in self.checks)

    @property
    def agrees(self) -> bool:
        """Whether receipt and ledger tell the same, whatever file was given."""
        return all(one.ok for one in self.checks if one.name != PREDICTIONS)

    def as_json(self) -> dict[str, Json]:
        return {"schema": 1, "verified": self.verified, "checks": [one.as_json() for one in self.checks]}


def verify(ledger: Ledger, receipt: Receipt, *, predictions: bytes | None = None) -> ReceiptVerification:
    """`predictions`: a file that is said to be the one that was submitted."""
    held = _Held(ledger=ledger, receipt=receipt)
    work: list[tuple[str, Callable[[], Check]]] = [("seal", held.seal), ("file", held.file)]
    if predictions is not None:
        work.append((PREDICTIONS, lambda: same_file(receipt, predictions)))
    work += [
        ("submission", held.submission),
        ("shown", held.shown),
        ("numbers", held.numbers),
        ("judgements", held.judgements),
        ("row", held.row),
    ]
    if "chain" in receipt.document:  # receipts of earlier versions have none
        work.append(("chain", held.chain))
    return ReceiptVerification(checks=tuple(_guarded(name, check) for name, check in work))


def same_file(receipt: Receipt, data: bytes) -> Check:
    """Whether these are the bytes that were submitted; that needs no ledger."""
    given, submitted = bytes_hash(data), receipt.subject.file
    words = f"The file given is not the one submitted: its SHA-256 is {given}, not {submitted}."
    found = "The file given is the one that was submitted."
    return Check(name=PREDICTIONS, found=found, differs=() if given == submitted else (words,))


def signature_of(receipt: Receipt, keys: Collection[str]) -> Check:
    """Whether one of these keys signed it, all but the seal; that needs no ledger. No keys: the one that it names."""
    signer = signed_by(receipt.document.get(SIGNATURE), signed_content(receipt.document))
    found = f"It is word for word as the owner of the key {signer} signed it."
    if signer is None:
        return Check(name=SIGNATURE, found="", differs=(_NOT_SIGNED,))
    if keys and signer not in keys:
        words = f"It was signed with the key {signer}, which is not {'the one' if len(keys) == 1 else 'one'} given."
        return Check(name=SIGNATURE, found="", differs=(words,))
    return Check(name=SIGNATURE, found=found)


def _guarded(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except (ReceiptError, LedgerError, RankError, Misuse) as error:
        return Check(name=name, found="", differs=(str(error),))
    except DAMAGED as error:
        words = f"It cannot be worked out again: {why_unread(error)}. `evenhand ledger check` looks through the ledger."
        return Check(name=name, found="", differs=(words,))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Held:
    """A receipt beside the ledger."""

    ledger: Ledger
    receipt: Receipt

    def seal(self) -> Check:
        differs = [] if self._is_sealed() else [_NOT_SEALED]
        found = "The receipt is word for word as this ledger sealed it."
        if SIGNATURE in self.receipt.document:
            signed = signature_of(self.receipt, [one.key for one in public_keys(self.ledger)])
            differs += signed.differs
            found = f"{found} {signed.found}"
        return Check(name="seal", found=found, differs=tuple(differs))

    def chain(self) -> Check:
        try:
            then = head_from(self.receipt.document["chain"])
        except HeadError as error:
            return Check(name="chain", found="", differs=(str(error),))
        found = f"The ledger goes on from where it was when the receipt was made: head {then.hash}."
        return Check(name="chain", found=found, differs=tuple(continues(self.ledger, then)))

    def _is_sealed(self) -> bool:
        return seal(self.ledger, self.receipt.document) == self.receipt.seal

    def file(self) -> Check:
        name = self.receipt.subject.file
        try:
            held = bytes_hash(self.ledger.submitted.get(name))
        except KeyError:
            return Check(name="file", found="", differs=(f"The submitted file {name} is not in the ledger.",))
        words = f"The file kept in the ledger as {name} was changed: the SHA-256 of its bytes is {held}."
        found = f"The submitted file is in the ledger: SHA-256 {name}."
        return Check(name="file", found=found, differs=() if held == name else (words,))

    def submission(self) -> Check:
        self._reached()
        submission = submission_on_record(self.ledger, self.receipt)
        said = said_on_record(self.ledger, submission, self.receipt)
        differs = [*self._otherwise(said), *other_answers(self.ledger, submission, self.receipt)]
        found = "Team, model and approval are as they are on record, and the answers judged are those of the file."
        return Check(name="submission", found=found, differs=tuple(differs))

    def shown(self) -> Check:
        submission = submission_on_record(self.ledger, self.receipt)
        differs = tuple(shown_otherwise(self.ledger, submission, self.receipt))
        found = "The ledger keeps the receipt as it was given, and the row that pages show is the one in it."
        return Check(name="shown", found=found, differs=differs)

    def numbers(self) -> Check:
        """Whether anything was taken from the record since, or put into it before its end."""
        as_of, then = self.receipt.as_of, self._behind()
        differs = [
            *_gone_or_added("judgement", then.on_record, judgement_numbers(self.ledger, until=as_of.judgement)),
            *_gone_or_added("choice of an answer", then.answers, answer_numbers(self.ledger, until=as_of.answer)),
            *self._other_choices(),
        ]
        found = (
            f"All {len(then.on_record):,} judgements up to number {as_of.judgement:,} and {len(then.answers):,} "
            f"choices of answers up to number {as_of.answer:,} are on record, and no others."
        )
        return Check(name="numbers", found=found, differs=tuple(differs))

    def _other_choices(self) -> list[str]:
        """Receipts of earlier versions do not tell; nor does one that this ledger has not sealed."""
        record = cast(Mapping[str, Json], self.receipt.document["record"])
        told, until = record.get("answers_seal"), self.receipt.as_of.answer
        if told is None or not self._is_sealed() or told == answers_seal(self.ledger, until=until):
            return []
        return [_OTHER_CHOICES.format(until=until)]

    def judgements(self) -> Check:
        """Of every judgement behind the board: request, reply, reading, answers, item."""
        then, chosen = self._behind(), self._studies
        items = self._items
        walk = walked(self.ledger, then.marks, chosen[0], items)
        stand = "are unchanged" if self._is_sealed() else "are on record"
        differs = [*self._misnamed(chosen), *self._items_gone(items), *walk.differs, *self._changed(then, walk)]
        found = (
            f"{len(then.row):,} judgements behind the row and {len(then.marks):,} behind the board {stand}, with "
            f"the requests, replies, answers and items they rest on; {walk.agreed:,} were read again from their "
            f"replies and say the same; {walk.not_read:,} have no reply, or a reader that is not here."
        )
        return Check(name="judgements", found=found, differs=tuple(differs))

    def row(self) -> Check:
        self._reached()
        if gone := self._items_gone(self._items):
            return Check(name="row", found="", differs=tuple(gone))
        receipt, chosen = self.receipt, self._studies
        told = told_by_the_record(
            self.ledger,
            replace(receipt.subject, ladder=self._ladder()),
            receipt.as_of,
            chosen,
            elo_rounds=self._elo_rounds(),
            telling=telling(receipt),
            placings="placed" in receipt.document,
        )
        differs = [*self._counting(told), *self._otherwise(told)]
        row = cast(Mapping[str, Json], told["row"])
        if "shown" in row:
            found = f"The row comes out to the last digit: {row['shown']} of {row['shown_n']} items."
            return Check(name="row", found=found, differs=tuple(differs))
        rating = "no finite rating"
        if row["rating"] is not None:
            rating = f"rating {row['rating']} ({row['rating_lower']} to {row['rating_upper']})"
        found = (
            f"The row comes out to the last digit: {row['model']}, {rating}, rank {row['rank']} ({row['rank_lower']} "
            f"to {row['rank_upper']}) of {row['models']}."
        )
        if differs and (version := self._made_by()) != __version__:
            differs.append(f"The receipt was made by evenhand {version}, and is checked by {__version__}.")
        return Check(name="row", found=found, differs=tuple(differs))

    def _ladder(self) -> LadderPlace | None:
        """Which items are in reserve only the ledger knows, and which submission was shown before only the receipt."""
        row = self.receipt.document.get("row")
        if not isinstance(row, Mapping) or "compared_with" not in row:
            return None
        intake = find_intake(self.ledger, submission_on_record(self.ledger, self.receipt).intake)
        compared = cast(Mapping[str, Json], row)["compared_with"]
        before = compared if isinstance(compared, str) else None
        known = None if before is None else figure_told(self.ledger, before)
        return LadderPlace(
            before=before,
            reserved=frozenset(() if intake is None else intake.terms.reserved),
            figure=known if known == figure_in(row) else None,
        )

    def _elo_rounds(self) -> int:
        """As the receipt was made; those of earlier versions gave Elo no interval."""
        row = self.receipt.document.get("row")
        visit = cast(Mapping[str, Json], row).get("visit") if isinstance(row, Mapping) else None
        return ELO_ROUNDS if isinstance(visit, Mapping) and "elo_rounds" in visit else 0

    def _made_by(self) -> Json:
        made = self.receipt.document.get("made")
        return cast(Mapping[str, Json], made).get("evenhand") if isinstance(made, Mapping) else None

    def _otherwise(self, told: Mapping[str, Json]) -> list[str]:
        return [
            f"{path}: the receipt says {_short(said)}, the record gives {_short(gives)}."
            for path, said, gives in _differences(self.receipt.document, told)
        ]

    def _reached(self) -> None:
        """Raises ReceiptError where the ledger has not got so far."""
        as_of, now = self.receipt.as_of, newest(self.ledger)
        if as_of.judgement > now.judgement or as_of.answer > now.answer:
            raise ReceiptError(
                f"The receipt speaks of judgement {as_of.judgement} and answer {as_of.answer}; this ledger ends at "
                f"{now.judgement} and {now.answer}."
            )

    def _behind(self) -> Behind:
        self._reached()
        return behind(self.receipt)

    @cached_property
    def _items(self) -> dict[str, Item]:
        """By digest."""
        try:
            return {item.digest: item for item in items_of(self.ledger, self.receipt.subject.board.data)}
        except DAMAGED:
            raise ReceiptError("An item of the benchmark cannot be read any more.") from None

    def _items_gone(self, items: Collection[str]) -> list[str]:
        try:
            study = find_study(self.ledger, self.receipt.subject.study)
        except DAMAGED:
            study = None
        gone = [] if study is None else [name for name in study.items if name not in items]
        return [f"The item {name[:12]} is not on record any more, or not in its benchmark's list." for name in gone]

    @cached_property
    def _studies(self) -> list[StudyOnRecord]:
        try:
            found = [one for one in studies(self.ledger) if one.key in self.receipt.studies]
        except DAMAGED as error:
            wrong = " ".join(self._misnamed(()))
            raise ReceiptError(wrong or f"The studies on record cannot be read: {why_unread(error)}.") from None
        missing = {*self.receipt.studies} - {one.key for one in found}
        if missing or not found:
            raise ReceiptError(f"Studies of the board are not on record: {', '.join(sorted(missing))}.")
        return found

    def _misnamed(self, chosen: Sequence[StudyOnRecord]) -> list[str]:
        board = self.receipt.subject.board
        extractors = {one.condition.extractor for one in chosen if one.condition.extractor}
        names = {"study": self.receipt.studies, "rater": {board.rater, *extractors}, "condition": (board.condition,)}
        return [
            f"The {kind} {name[:12]} is not on record as its name says."
            for kind, some in names.items()
            for name in misnamed(self.ledger, kind, some)
        ]

    def _changed(self, then: Behind, walk: Walked) -> list[str]:
        """Which judgements are not what they were; each has a mark, the digests tell of all together."""
        gone = [
            f"Judgement {number} is not on record any more."
            for number in sorted(then.marks.keys() - walk.hashes.keys())
        ]
        record = cast(Mapping[str, Json], self.receipt.document["record"])
        behind_row = [one for number, one in walk.hashes.items() if number in then.row]
        of_board = is_digest(self.ledger, record.get("board_sha256"), walk.hashes.values())
        of_row = is_digest(self.ledger, record.get("row_sha256"), behind_row)
        now = marks(self.ledger, walk.hashes)
        changed = [number for number, mark in now.items() if mark != then.marks[number]]
        if not self._is_sealed() and ((of_board and of_row) or 2 * len(changed) > len(now)):
            return gone  # another ledger's marks tell nothing, nor do its digests
        if of_board and of_row:
            return [*gone, *(_MOVED.format(number=number) for number in changed)]
        named = [_CHANGED.format(one=one, calls=_calls(one)) for one in traces(self.ledger, changed)]
        return [*gone, *named] or [_OTHER_DIGEST.format(what="board" if of_row else "row")]

    def _counting(self, told: Mapping[str, Json]) -> list[str]:
        """Whether the same judgements count on the board as then."""
        now = cast(Mapping[str, str], told["record"])
        then, until = self._behind(), self.receipt.as_of.judgement
        board, row = (from_ranges(now[name], most=until) for name in ("board_judgements", "row_judgements"))
        told_of_row = f"The judgements behind the row are {now['row_judgements']}, not those the receipt says."
        return [
            *(
                f"Judgement {number} does not count on the board any more."
                for number in sorted(then.marks.keys() - {*board})
            ),
            *(_TAKEN_UP.format(number=number) for number in board if number not in then.marks),
            *(() if then.row == frozenset(row) else (told_of_row,)),
        ]


_NOT_SIGNED = "The signature is not that of what the receipt says: it was edited."
_NOT_SEALED = "The receipt is not as this ledger sealed it: it was edited, or another ledger made it."
_CHANGED = (
    "Judgement {one.seq} (trial {one.trial:.12}{calls}) is not what it was: its verdict, its reader, its calls or a "
    "reply was changed."
)
_MOVED = "Judgement {number} is another than the one that had this number: judgements have changed places."
_OTHER_CHOICES = (
    "The choices of answers up to number {until} are not what they were: an item, a model, a variant or an answer was "
    "changed, or two have changed places."
)
_OTHER_DIGEST = "The digest of the {what} in the receipt is not that of its judgements, and none of those was changed."
_TAKEN_UP = (
    "Judgement {number} counts on the board and is not in the receipt: it was added, or is of a trial that was judged "
    "for something else and that a study of the board took up since."
)
_ELSEWHERE = frozenset(
    f"record.{name}"
    for name in (
        "judgements",
        "answers",
        "answers_seal",
        "row_judgements",
        "row_sha256",
        "board_judgements",
        "board_sha256",
        "board_marks",
    )
)
"""Fields that are compared judgement by judgement."""


def _gone_or_added(what: str, then: Collection[int], now: Collection[int]) -> list[str]:
    return [
        *(f"The {what} of number {number} is not on record any more." for number in sorted({*then} - {*now})),
        *(
            f"The {what} of number {number} was added since the receipt was made."
            for number in sorted({*now} - {*then})
        ),
    ]


def _calls(one: Fingerprint) -> str:
    return "".join(f", call {key[:12]}" for key in one.calls)


def _differences(said: Json, gives: Json, path: str = "") -> Iterator[tuple[str, Json, Json]]:
    """Each place where what the receipt says is not what the record gives; fields that only the receipt has are passed
    over at the top, where the record tells nothing of them."""
    if isinstance(said, Mapping) and isinstance(gives, Mapping):
        for name in gives if not path else dict.fromkeys((*gives, *said)):
            yield from _differences(said.get(name), gives.get(name), f"{path}.{name}" if path else name)
    elif path not in _ELSEWHERE and said != gives:
        yield path, said, gives


def _short(value: Json) -> str:
    words = json.dumps(value, ensure_ascii=False)
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"
