"""Submitted models on record, each as far as its team, the owner and the worker have brought it."""

from collections.abc import Iterable, Mapping

from evenhand.domain.item import Item
from evenhand.domain.response import Response
from evenhand.domain.submission import (
    Approved,
    Confirmed,
    Entered,
    Judged,
    Published,
    Said,
    SubmissionTerms,
    Uploaded,
    Withdrawn,
    label,
)
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import BoardIdentity, find_intake, intakes_on_record, open_intake
from evenhand.ledger.submissions.store import begin_submission, tell

ANSWER = "words of the parrot"
JUDGED = Judged(receipt={"schema": 1})
STAGES: Mapping[str, tuple[Said, ...]] = {
    "judging": (),
    "anonymous": (JUDGED,),
    "published": (JUDGED, Published()),
    "withdrawn": (JUDGED, Withdrawn()),
    "taken back": (JUDGED, Published(), Withdrawn()),
}
"""What has been said of a submission since it was approved."""


def submitted(ledger: Ledger, items: Iterable[Item], stage: str) -> str:
    """The label of a new one that has answered the items."""
    if not intakes_on_record(ledger):
        board = BoardIdentity(data="d" * 64, rater="r" * 64, condition="c" * 64)
        open_intake(ledger, "birds", board, SubmissionTerms(policy="no"), by="owner")
    intake = find_intake(ledger, intakes_on_record(ledger)[0].id)
    assert intake is not None
    one = begin_submission(ledger, intake, Entered(model="Parrot", version="1", team="Birds"), person="team")
    uploaded = Uploaded(file="f" * 64, name="p.csv", size=1, answered=6, faults=0)
    upload = tell(ledger, one, uploaded, person="team").upload_seq
    tell(ledger, one, Confirmed(about=upload), person="team")
    tell(ledger, one, Approved(budget=1.0, opponents=("a",), battles=2, reference_battles=0, seed=0), person="owner")
    model = label(one)
    ledger.add_responses([Response(item=item.digest, model=model, text=f"{ANSWER} {item.label}") for item in items])
    for said in STAGES[stage]:
        tell(ledger, one, said, person=None)
    return model


def all_stages(ledger: Ledger, items: Iterable[Item]) -> dict[str, str]:
    """A label for each stage."""
    asked = tuple(items)
    return {stage: submitted(ledger, asked, stage) for stage in STAGES}
