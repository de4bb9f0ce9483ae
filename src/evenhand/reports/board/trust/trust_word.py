"""How far a judge can be trusted, in one sentence: what its verdicts say and what its audit found, together."""

from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias

from evenhand.reports.board.trust.audit_on_record import AuditOnRecord, Audits, problems_found
from evenhand.stats.reliability import Conclusion, Summary

Kind: TypeAlias = Literal["good", "unsure", "bad"]

_UNKNOWN = "Not known: no pair of answers was seen in both orders."
_ORDER_ALONE = "Its verdicts hold when the answers swap positions."
_GOOD: Conclusion = "no sign of trouble in what was measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustWord:
    words: str
    kind: Kind
    """`good` only where neither the verdicts nor an audit show a fault."""
    alone: str
    """The words without what people say of it."""


class StandsBesidePeople(Protocol):
    """How a judge stands beside people who judged the same cases."""

    @property
    def standing(self) -> str: ...

    @property
    def sentence(self) -> str: ...


def trust_word(summary: Summary | None, audits: Audits | None, people: StandsBesidePeople | None = None) -> TrustWord:
    """`summary` of the board's own verdicts, None where they tell nothing of order; `audits` of its judge; `people`:
    how it stands beside them, where some judged the same cases."""
    alone = _without_people(summary, audits)
    if people is None:
        return alone
    kind = "unsure" if alone.kind == "good" and people.standing == "below" else alone.kind
    return replace(alone, words=f"{alone.words} {people.sentence}", kind=kind)


def trust_question(judge: str | None, *, human: bool = False) -> str:
    """What the words answer, with the judge's name: after a sentence on models "it" could be any of them.

    `human`: `judge` is a person, or several raters by their number.
    """
    return f"Can {'the verdicts of ' if human else ''}{judge or 'this judge'} be trusted?"


def _without_people(summary: Summary | None, audits: Audits | None) -> TrustWord:
    faults = [] if audits is None else list(dict.fromkeys(filter(None, map(_found, audits.told))))
    if summary is None:
        return _word(_UNKNOWN, *faults, kind="unsure")
    if summary.conclusion == "not to be trusted":
        return _word(summary.reading[0], *faults, kind="bad")
    if summary.conclusion != _GOOD:
        return _word(summary.reading[0], *faults, kind="unsure")
    if faults:
        return _word(_ORDER_ALONE, *faults, kind="unsure")
    return _word(summary.reading[0], kind="good")


def _word(*sentences: str, kind: Kind) -> TrustWord:
    return TrustWord(words=" ".join(sentences), kind=kind, alone=" ".join(sentences))


def _found(audit: AuditOnRecord) -> str | None:
    faults = problems_found(audit.report)
    otherwise = f", made otherwise than this board ({', '.join(audit.differs)})," if audit.differs else ""
    return None if faults is None else f"Its audit{otherwise} found problems: {faults}"
