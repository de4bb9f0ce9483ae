"""Boards that take submissions, and under which terms: those set last stand."""

import hashlib
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, func, select

from evenhand.domain.identity import canonical_json
from evenhand.domain.submission import SubmissionTerms
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.statements import insert_all
from evenhand.ledger.store.submission_schema import intake_terms, intakes


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardIdentity:
    """What the studies of one board agree in."""

    data: str
    """Digest of the benchmark's data."""
    rater: str
    condition: str
    variant: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    id: str
    benchmark: str
    board: BoardIdentity
    at: float
    terms: SubmissionTerms

    @property
    def policy_hash(self) -> str:
        return policy_hash(self.terms.policy)


class IntakeTaken(Exception):
    """A sentence."""


def policy_hash(policy: str) -> str:
    """What a team accepts is these words and no others."""
    return hashlib.sha256(policy.encode()).hexdigest()


def open_intake(ledger: Ledger, benchmark: str, board: BoardIdentity, terms: SubmissionTerms, *, by: str) -> str:
    """The new one's id. Raises IntakeTaken where this board takes submissions already."""
    intake = secrets.token_hex(4)
    row = {
        "id": intake,
        "benchmark": benchmark,
        "data": board.data,
        "rater": board.rater,
        "condition": board.condition,
        "variant": board.variant,
        "by": by,
        "at": time.time(),
    }
    with ledger.writing() as connection:
        same = select(intakes.c.id).where(
            intakes.c.data == board.data,
            intakes.c.rater == board.rater,
            intakes.c.condition == board.condition,
            intakes.c.variant == board.variant,
        )
        if connection.execute(same).first() is not None:
            raise IntakeTaken("This board takes submissions already; change its terms instead (Admin, Submissions).")
        insert_all(connection, intakes, [row])
        insert_all(connection, intake_terms, [_terms_row(intake, terms, by)])
    return intake


def set_terms(ledger: Ledger, intake: str, terms: SubmissionTerms, *, by: str) -> None:
    with ledger.writing() as connection:
        insert_all(connection, intake_terms, [_terms_row(intake, terms, by)])


_NEWEST = select(func.max(intake_terms.c.seq)).group_by(intake_terms.c.intake)
_INTAKES = (
    select(intakes, intake_terms.c.content)
    .join(intake_terms, intake_terms.c.intake == intakes.c.id)
    .where(intake_terms.c.seq.in_(_NEWEST))
    .order_by(intakes.c.at, intakes.c.id)
)


def intakes_on_record(ledger: Ledger, intake: str | None = None) -> Sequence[Intake]:
    """In the order they came; or the one of this id."""
    query = _INTAKES if intake is None else _INTAKES.where(intakes.c.id == intake)
    with ledger.reading() as connection:
        return [_intake(row) for row in connection.execute(query)]


def find_intake(ledger: Ledger, intake: str) -> Intake | None:
    return next(iter(intakes_on_record(ledger, intake)), None)


def _terms_row(intake: str, terms: SubmissionTerms, by: str) -> dict[str, Any]:
    return {"intake": intake, "content": canonical_json(terms.as_json()), "by": by, "at": time.time()}


def _terms(row: Row[Any]) -> SubmissionTerms:
    try:
        fields: dict[str, Any] = json.loads(row.content)
        reserved: tuple[str, ...] = tuple(fields.pop("reserved", ()))
        if reserved:  # an earlier version let some be missing, and of how many items a figure is tells which are in it
            fields["missing_allowed"] = 0
        return SubmissionTerms(**fields, reserved=reserved)
    except (ValueError, TypeError, AttributeError):
        raise LedgerError(f"The terms of intake {row.id} cannot be read any more.") from None


def _intake(row: Row[Any]) -> Intake:
    return Intake(
        id=row.id,
        benchmark=row.benchmark,
        board=BoardIdentity(data=row.data, rater=row.rater, condition=row.condition, variant=row.variant),
        at=row.at,
        terms=_terms(row),
    )
