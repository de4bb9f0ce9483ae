"""What was said about a submission, as sentences for its owner."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.domain.submission import (
    Approved,
    Closed,
    Confirmed,
    Despite,
    Estimated,
    Failed,
    Judged,
    Published,
    Raised,
    Refused,
    Said,
    Stage,
    Stopped,
    SubmissionEvent,
    SubmissionTerms,
    Uploaded,
    Withdrawn,
)
from evenhand.format.words import counted
from evenhand.reports.receipts.ladder import Asked
from evenhand.stats.ladder import BIAS_ITEMS

STAGES: Mapping[Stage, str] = {
    "draft": "draft",
    "confirmed": "waits for you",
    "approved": "being judged",
    "stopped": "asks for more",
    "judged": "judged",
    "refused": "refused",
    "withdrawn": "withdrawn",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    at: float
    person: str | None
    words: str


def history(events: Sequence[SubmissionEvent]) -> tuple[Line, ...]:
    """The newest first."""
    return tuple(Line(at=one.at, person=one.person, words=in_words(one.said)) for one in reversed(events))


def in_words(said: Said) -> str:  # noqa: C901  one line for each kind
    match said:
        case Uploaded(name=name, answered=answered, faults=faults):
            return f"uploaded {name}: {counted(answered, 'answer')}, {counted(faults, 'fault')}"
        case Confirmed():
            return "confirmed it"
        case Estimated(battles=battles, calls_at_most=calls, cost_usd=cost, likely_usd=likely):
            money = _money(cost) if likely is None else f"likely ${likely:.2f}, {_money(cost)}"
            if said.until:
                about = "" if said.expected_calls is None else f"about {round(said.expected_calls):,}, "
                compared = f"{about}at most {counted(said.max_calls, 'comparison')} until {said.until} is met"
                return f"estimated {compared}, at most {counted(calls, 'call')}, {money}{_held(said)}"
            return f"estimated {counted(battles, 'battle')}, at most {counted(calls, 'call')}, {money}{_held(said)}"
        case Approved(budget=budget, despite=despite):
            return f"approved it with {limit(budget)}{_DESPITE[despite]}"
        case Refused(reason=reason):
            return f"refused it: {reason}"
        case Stopped(spent=spent):
            return f"stopped at the budget, ${spent:.2f} being spent"
        case Raised(budget=budget):
            return f"let it go on with {limit(budget)}"
        case Closed():
            return "let it be judged by what is there"
        case Failed(detail=detail):
            return f"calls failed, it goes on later: {detail}"
        case Judged(partial=partial):
            return "judged it, in part" if partial else "judged it"
        case Published():
            return "published it"
        case Withdrawn():
            return "withdrew it"


_DESPITE: Mapping[Despite, str] = {
    "": "",
    "without_reference": ", without battles against the reference",
    "with_reference": ", knowing what was found in its answers",
}


def _held(said: Estimated) -> str:
    found: list[str] = []
    if said.steers:
        found.append(f"; {counted(said.orders, 'answer')} with orders to the judge, {said.verdicts} with a verdict")
    if said.chosen:
        found.append("; figures of its answers would tell single verdicts against the reference")
    return "".join(found)


def steering_told(said: Estimated) -> str:
    """What its answers say to the judge; empty where nothing was found."""
    if not said.steers:
        return ""
    gives, writes = ("gives" if said.orders == 1 else "give"), ("writes" if said.verdicts == 1 else "write")
    orders = f"{said.orders:,} of its answers {gives} the judge orders" if said.orders else ""
    verdicts = f"{said.verdicts:,} of its answers {writes} a verdict" if said.verdicts else ""
    return (
        f"{' and '.join(filter(None, (orders, verdicts)))}. A judge that obeys answers what their writer asks about "
        "the withheld reference."
    )


def chosen_told(said: Estimated) -> str:
    """By what its figures would tell single verdicts; empty where nothing was found."""
    where = f" to the items of '{said.within}'" if said.within else ""
    if said.repeated and said.like:
        new = "1 answer is" if said.changed == 1 else f"{said.changed or 'no'} answers are"
        return (
            f"{said.same:,} of its answers{where} are those of {said.like}, {said.repeated:,} more say the same as "
            f"others of them, and {new} new: the figures of these files against the reference, taken from each other, "
            "tell how the judge decided there."
        )
    if said.repeated:
        return (
            f"{said.repeated:,} of its answers{where} say the same as others of them, so they are sure to lose: what "
            "its figures against the reference tell is how the judge decided on the few others."
        )
    if not said.like:
        return ""
    none = "it differs in none, and may be counted in other batches or meet it on other items"
    changed = f"it differs in {said.changed:,}" if said.changed else none
    return (
        f"{said.same:,} of its answers{where} are those of {said.like}, and {changed}: the figures of these files "
        "against the reference, taken from each other, tell how the judge decided there."
    )


def limit(budget: float | None) -> str:
    return "no limit" if budget is None else f"a budget of ${budget:.2f}"


def _money(cost: float | None) -> str:
    return "price unknown" if cost is None else f"at most ${cost:.2f}"


def asked_told(terms: SubmissionTerms, asked: Asked) -> str:
    """How much was asked of the withheld part, and what that is likely to have done."""
    told = (
        f"{counted(asked.submissions, 'submission')} judged, at most {asked.most} of one team; "
        f"{counted(asked.publications, 'publication')}."
    )
    if asked.bias is None:
        return f"{told} No team has asked twice, so nothing was fitted to the verdicts yet."
    most = "more than" if asked.bias.beyond else "up to"
    learns = "its row alone" if terms.ladder else "verdicts by item"
    return (
        f"{told} A team that learns {learns} and tries to fit the board is shown about {asked.bias.bias:.3f} more than "
        f"is true after {most} {asked.bias.submissions} submissions (simulated, {BIAS_ITEMS} items, two equally good "
        "answers to each); one that changes few answers at a time may gain more."
    )
