"""How far people agree on the comparisons that several of them saw, whether they lean to a side, and what more verdicts
of theirs would bring beside a judge."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.verdict import Levels, Preference
from evenhand.domain.vote import Vote
from evenhand.format.supported import every_supported
from evenhand.ledger.read.people_boards import decisions, people_left_out, people_parts
from evenhand.ledger.read.projection import studies
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.store.record import Ledger
from evenhand.reports.alignment.evidence import of_studies
from evenhand.reports.alignment.plan import plans
from evenhand.reports.board.withheld.released import FEWEST, TOO_FEW, Released, withheld_rows
from evenhand.reports.errors import AlignmentError
from evenhand.site.people.plan import model_studies
from evenhand.site.people.studies import people_votes
from evenhand.stats.intervals import clustered_share
from evenhand.stats.reliability.agreement.alignment import ceiling
from evenhand.stats.reliability.agreement.case_table import CaseTable, in_any_order


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    alpha: Estimate
    """Krippendorff's, ordinal."""
    sign: Estimate
    """Share of verdicts on the side of the others' mean; comparisons where that is a tie are left out."""
    by_person: dict[str, Estimate]
    """The same share of each person, by id."""
    first: Estimate
    """Share of the verdicts with a winner that went to the answer shown first; sides are drawn, so one half is fair."""


def agreement(ledger: Ledger, study: str) -> Agreement | None:
    """Of one study; None where nobody has judged yet."""
    return among(people_votes(ledger, study), people_left_out(decisions(ledger, study)))


def among(votes: Sequence[Vote], out: Collection[str]) -> Agreement | None:
    """Of those who are not left out; whoever is left out is compared with them, and nobody with whoever is left out."""
    counted = [vote for vote in votes if vote.rater not in out]
    theirs = {vote.rater: [one for one in votes if one.rater == vote.rater] for vote in votes if vote.rater in out}
    if not theirs:
        return together(votes)
    nobody = Estimate(value=None, reason="everybody who judged is left out")
    found = together(counted) or Agreement(alpha=nobody, sign=nobody, by_person={}, first=nobody)
    beside = {who: together([*counted, *own]) for who, own in theirs.items()}
    return replace(
        found, by_person={**found.by_person, **{who: one.by_person[who] for who, one in beside.items() if one}}
    )


def votes_in(judged: JudgedBattles) -> list[Vote]:
    """Of the people behind a board, as they were shown."""
    results = judged.results.rows(judged.voting)
    codes: list[int] = results.rater.code.tolist()
    raters = [results.rater.names[code] for code in codes]
    return [
        Vote(item=item, model_a=first, model_b=second, first=first, value=said.value, levels=said.levels, rater=rater)
        for (item, (first, second), said), rater in zip(results.each(), raters, strict=True)
        if isinstance(said, Preference)
    ]


def together(votes: Sequence[Vote]) -> Agreement | None:
    """Each in favour of the model shown first; None where there is none."""
    if not votes:
        return None
    raters = list(dict.fromkeys(vote.rater for vote in votes))
    levels: Levels = 5 if votes[0].levels == 5 else 3 if votes[0].levels == 3 else 2
    found = ceiling(in_any_order(CaseTable.of(votes).showings(votes, raters, levels)))
    return Agreement(
        alpha=found.alpha,
        sign=found.agreement,
        by_person={one.rater: one.pooled.agreement for one in found.raters},
        first=_leaning(votes),
    )


def agreement_shown(judged: JudgedBattles, given: Released) -> Agreement | None:
    """Where people's verdicts are withheld: how far they agree on what several of them judged, where that is on enough
    items of a batch, as else it would tell of those few. A batch that lost somebody would tell of them by its
    difference. What two batches say of an item was dealt apart."""
    found = together(votes_in(judged))
    if found is None:
        return None
    batches = [votes_in(_rows_of(judged, rows)) for rows in given.never_split(judged)]
    open_rows = np.flatnonzero(~withheld_rows(judged, given.open_items)).tolist()
    votes = votes_in(_rows_of(judged, open_rows))
    for number, some in enumerate(batches):
        if len(_judged_by_several(some)) >= FEWEST:
            votes += [replace(vote, item=f"{vote.item} {number}") for vote in some]
    nobody = Estimate(value=None, reason=f"what several of them judged is on {TOO_FEW}")
    told = together(votes) or replace(found, alpha=nobody, sign=nobody, by_person={})
    return every_supported(replace(told, first=found.first))


def _rows_of(judged: JudgedBattles, rows: Sequence[int]) -> JudgedBattles:
    chosen = np.zeros(len(judged.results), dtype=np.bool_)
    chosen[rows] = True
    return replace(judged, results=judged.results.rows(chosen))


def _judged_by_several(votes: Iterable[Vote]) -> set[str]:
    """Items."""
    raters: dict[str, set[str]] = {}
    for vote in votes:
        raters.setdefault(vote.item, set()).add(vote.rater)
    return {item for item, those in raters.items() if len(those) > 1}


def _leaning(votes: Sequence[Vote]) -> Estimate:
    decided = [vote for vote in votes if vote.value]
    if not decided:
        return Estimate(value=None, reason="no verdict has a winner")
    won = [float((vote.value > 0) == (vote.first == vote.model_a)) for vote in decided]
    return clustered_share(won, [1.0] * len(won), [vote.item for vote in decided])


def what_more_would_bring(ledger: Ledger, study: str) -> tuple[str, ...]:
    """A sentence for each judge on record whose pairs leave room for as many verdicts again: how sure the board would
    then be, by people alone and with the judge beside them. Empty before both have compared the same."""
    part = next((one for one in people_parts(ledger) if one.study == study), None)
    if part is None:
        return ()
    shares = [one for one in studies(ledger, purposes=("people",), everything=True) if one.key in part.counting]
    human = [one for one in shares if one.decided]
    models = [one for one in model_studies(ledger, human[0].data) if one.decided] if human else []
    if not models:
        return ()
    try:
        said = of_studies(ledger, human, models)
    except AlignmentError:  # nobody's verdict stands
        return ()
    more = int(said.votes.by(said.people).sum())
    return tuple(one.sentence for one in plans(said, more) if one.plan is not None) if said.judges and more else ()
