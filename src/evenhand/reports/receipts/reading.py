"""A receipt read from its file: what it speaks of, so that it can be held against the ledger."""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, TypeVar, cast

from evenhand.domain.errors import EvenhandError
from evenhand.domain.identity import Json
from evenhand.domain.submission import Approved, Entered
from evenhand.format.number_ranges import from_ranges
from evenhand.ledger.read.as_of import AsOf
from evenhand.ledger.submissions.intakes import BoardIdentity
from evenhand.reports.receipts.receipt import KIND, MARK, SCHEMA, ReceiptSubject
from evenhand.reports.receipts.row import AsReleased, Telling

T = TypeVar("T", str, int)

_LARGEST = 2**63 - 1
_SHA256 = re.compile("[0-9a-f]{64}")


class ReceiptError(EvenhandError):
    """A file that is no receipt."""

    code = "EH-RECEIPT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    document: Mapping[str, Json]
    """All of it, as read."""
    subject: ReceiptSubject
    as_of: AsOf
    studies: tuple[str, ...]
    """Keys of the board's studies."""
    seal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """The judgements that a receipt rests on, by number."""

    on_record: frozenset[int]
    """All that were in the ledger."""
    answers: frozenset[int]
    """Choices of which answer stands."""
    row: frozenset[int]
    marks: Mapping[int, bytes]
    """Of every judgement behind the board."""


def read_receipt(data: bytes) -> Receipt:
    """Raises ReceiptError where it is none, or of a schema that is not known here."""
    document = _document(data)
    look = _Looking(document=document)
    if document.get("kind") != KIND:
        raise ReceiptError(f"It is no receipt: its field `kind` is not {KIND!r}.")
    if look.of(int, "schema") != SCHEMA:
        raise ReceiptError(f"It is a receipt of schema {document['schema']}; this version of Evenhand knows {SCHEMA}.")
    return Receipt(
        document=document,
        subject=_subject(look),
        as_of=AsOf(judgement=look.sequence("record", "judgement"), answer=look.sequence("record", "answer")),
        studies=look.texts("board_studies"),
        seal=look.of(str, "seal"),
    )


def behind(receipt: Receipt) -> Behind:
    """As many as its own numbers say: whoever asks has seen that the ledger has got so far.

    Raises ReceiptError where its lists contradict each other or cannot be read.
    """
    look, until = _Looking(document=receipt.document), receipt.as_of
    board = look.numbers("board_judgements", until.judgement)
    try:
        marks = base64.b64decode(look.of(str, "record", "board_marks"), validate=True)
    except (binascii.Error, ValueError):
        raise ReceiptError("Its field `record.board_marks` is not base64.") from None
    if len(marks) != MARK * len(board):
        raise ReceiptError("Its field `record.board_marks` does not fit the number of its judgements.")
    return Behind(
        on_record=frozenset(look.numbers("judgements", until.judgement)),
        answers=frozenset(look.numbers("answers", until.answer)),
        row=frozenset(look.numbers("row_judgements", until.judgement)),
        marks={number: marks[MARK * place : MARK * (place + 1)] for place, number in enumerate(board)},
    )


def telling(receipt: Receipt) -> Telling | None:
    """Receipts of earlier versions tell everything, whatever is withheld; later ones whatever is on enough items, and
    as it lay. Raises ReceiptError where it cannot be read."""
    row, look = receipt.document.get("row"), _Looking(document=receipt.document)
    if not isinstance(row, Mapping) or "withheld" not in row:
        return None
    if "released" not in row:
        return Telling(deal="dealt" in row)
    path = ("row", "released")
    free = look.numbers("open", receipt.as_of.judgement, within=path)
    return Telling(released=AsReleased(version=look.sequence(*path, "version"), open=frozenset(free)))


def _document(data: bytes) -> dict[str, Json]:
    try:
        document: object = json.loads(data, parse_constant=_refuse, object_pairs_hook=_fields)
    except (ValueError, RecursionError):
        raise ReceiptError("It is no receipt: it is not a JSON document.") from None
    if not isinstance(document, dict):
        raise ReceiptError("It is no receipt: it is not a JSON object.")
    try:
        json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):  # 1e999, half a character, or a thousand brackets
        raise ReceiptError("It is no receipt: it holds a number, a character or a nesting that none has.") from None
    return cast(dict[str, Json], document)


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON.")


def _fields(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Of a field that stands there twice a person reads the one and a program the other."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ReceiptError("It is no receipt: a field in it stands there twice.")
    return found


def _subject(look: "_Looking") -> ReceiptSubject:
    return ReceiptSubject(
        submission=look.of(str, "submission", "id"),
        label=look.of(str, "submission", "label"),
        file=look.sha256("file_sha256"),
        entered=Entered(
            model=look.of(str, "submission", "model"),
            version=look.of(str, "submission", "version"),
            team=look.of(str, "submission", "team"),
            link=look.of(str, "submission", "link"),
        ),
        board=BoardIdentity(
            data=look.sha256("benchmark", "data"),
            rater=look.sha256("judge", "key"),
            condition=look.sha256("asked", "key"),
            variant=look.of(str, "variant"),
        ),
        study=look.sha256("study", "key"),
        approved=Approved(
            budget=None,
            opponents=look.texts("approved", "opponents"),
            battles=look.of(int, "approved", "battles"),
            reference_battles=look.of(int, "approved", "reference_battles"),
            seed=look.of(int, "approved", "seed"),
            **_looks(look),
        ),
        counted=look.texts("counted"),
    )


class _Looks(TypedDict, total=False):
    until: str
    looks: int
    max_calls: int


def _looks(look: "_Looking") -> _Looks:
    """Where the model was placed among its nearest: until when, as it was approved."""
    approved = look.document.get("approved")
    if not isinstance(approved, Mapping) or "until" not in approved:
        return {}
    return {
        "until": look.of(str, "approved", "until"),
        "looks": look.of(int, "approved", "looks"),
        "max_calls": look.of(int, "approved", "max_calls"),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looking:
    """Fields by their path; what is not there, or is something else, raises ReceiptError."""

    document: Mapping[str, Json]

    def of(self, kind: type[T], *path: str) -> T:
        value = self._at(path)
        if not isinstance(value, kind) or isinstance(value, bool):
            what = "text" if kind is str else "a whole number"
            raise ReceiptError(f"It is no whole receipt: its field `{'.'.join(path)}` is not {what}.")
        return value

    def sequence(self, *path: str) -> int:
        value = self.of(int, *path)
        if not 0 <= value <= _LARGEST:
            raise ReceiptError(f"It is no whole receipt: its field `{'.'.join(path)}` is no number that a ledger has.")
        return value

    def sha256(self, *path: str) -> str:
        value = self.of(str, *path)
        if not _SHA256.fullmatch(value):
            raise ReceiptError(f"It is no whole receipt: its field `{'.'.join(path)}` is not a SHA-256.")
        return value

    def texts(self, *path: str) -> tuple[str, ...]:
        value: Any = self._at(path)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in cast(list[object], value)):
            raise ReceiptError(f"It is no whole receipt: its field `{'.'.join(path)}` is not a list of names.")
        return tuple(cast(list[str], value))

    def numbers(self, name: str, most: int, *, within: tuple[str, ...] = ("record",)) -> list[int]:
        path = (*within, name)
        try:
            return from_ranges(self.of(str, *path), most=most)
        except ValueError as error:
            raise ReceiptError(f"Its field `{'.'.join(path)}` cannot be read: {error}") from None

    def _at(self, path: tuple[str, ...]) -> object:
        found: object = self.document
        for name in path:
            found = cast(Mapping[str, object], found).get(name) if isinstance(found, Mapping) else None
        return found
