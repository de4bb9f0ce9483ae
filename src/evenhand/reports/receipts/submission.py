"""What a receipt says of the submission itself, held against what team and owner put on record."""

from collections.abc import Iterator

from evenhand.domain.identity import Json
from evenhand.domain.submission import Approved
from evenhand.engine.tasks.joining import BoardToJoin, joined_board, submitted_answers
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import find_intake
from evenhand.ledger.submissions.store import Submission, find_submission
from evenhand.reports.receipts.damage import DAMAGED
from evenhand.reports.receipts.reading import Receipt
from evenhand.reports.receipts.receipt import ReceiptSubject, said_of, uncounted


def submission_on_record(ledger: Ledger, receipt: Receipt) -> Submission:
    """Raises LedgerError where there is none, or none that can be read."""
    try:
        found = find_submission(ledger, receipt.subject.submission)
    except DAMAGED:
        words = f"What was said about submission {receipt.subject.submission} cannot be read any more."
        raise LedgerError(words) from None
    if found is None:
        raise LedgerError(f"The ledger knows no submission {receipt.subject.submission}.")
    return found


def said_on_record(ledger: Ledger, submission: Submission, receipt: Receipt) -> dict[str, Json]:
    """What the receipt must say of it. Which others counted at the time only the receipt tells."""
    upload, approved = submission.standing.upload, submission.standing.approved
    subject = ReceiptSubject(
        submission=submission.id,
        label=submission.label,
        file="" if upload is None else upload.file,
        entered=submission.entered,
        board=receipt.subject.board,
        study=receipt.subject.study,
        approved=approved or Approved(budget=None, opponents=(), battles=0, reference_battles=0, seed=0),
        counted=receipt.subject.counted,
    )
    return said_of(subject, uncounted(ledger, subject))


def other_answers(ledger: Ledger, submission: Submission, receipt: Receipt) -> Iterator[str]:
    """Sentences: where the answers that stood on record are not those of the submitted file.

    Raises LedgerError where the board is not the one that it was submitted to, Misuse where its file cannot be read.
    """
    if submission.standing.upload is None:
        raise LedgerError(f"That submission {submission.id} has a file is not on record any more.")
    intake = find_intake(ledger, submission.intake)
    if intake is None or intake.board != receipt.subject.board:
        raise LedgerError(f"Submission {submission.id} was not made to the board that the receipt speaks of.")
    board = joined_board(ledger, intake)
    submitted = {one.item: one.digest for one in submitted_answers(ledger, board, submission)}
    judged = _judged(ledger, board, receipt)
    for item in board.benchmark.items:
        if submitted.get(item.digest) != judged.get(item.digest):
            yield f"The answer to item {item.label} that was judged is not the one in the submitted file."


def _judged(ledger: Ledger, board: BoardToJoin, receipt: Receipt) -> dict[str, str]:
    """By item, the submitted model's answer that stood then."""
    items = (item.digest for item in board.benchmark.items)
    held = ledger.responses_to(items, variant=receipt.subject.board.variant, until=receipt.as_of.answer)
    return {one.item: one.digest for one in held if one.model == receipt.subject.label}
