"""A judge beside people, and beside judges of other families, on the same pairs: agreement and liking for its own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.audit.document import told
from evenhand.audit.measures.record import SHARE, AuditMeasure, AuditReplies, Found, Measure, Reading
from evenhand.audit.trials import PairTrial
from evenhand.domain.estimate import Estimate
from evenhand.domain.vote import Vote
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.read.results import Results, results_of
from evenhand.ledger.read.vote_columns import votes_of
from evenhand.ledger.store.record import Ledger
from evenhand.stats.intervals import Range, clustered_mean
from evenhand.stats.reliability.agreement.alignment import BesidePeople, alignment, beside_people, ceiling
from evenhand.stats.reliability.agreement.case_table import CaseTable, in_any_order
from evenhand.stats.reliability.agreement.case_table import heard as in_both_orders
from evenhand.stats.reliability.agreement.vote_table import Showing
from evenhand.stats.reliability.families import Families

if TYPE_CHECKING:
    from evenhand.audit.design import Design

_AGREEMENT = (
    "Pairs that people judged too: share of the judge's verdicts, the mean of both orders where both were shown, whose "
    "sign is that of the people's mean."
)
_OWN = (
    "Pairs of an answer of the judge's own family and one of another: share of wins it gives its own minus the share "
    "given by {}. {}"
)
_DIFFERENCE = Range(low=-1.0, high=1.0)
_JUDGE_PLACED, _PEOPLE_PLACED = "judge_in_a_persons_place", "people_in_their_place"
"""Measures that compare: as many people are held against each."""
_FEW_VERDICTS = 0.1
"""One verdict of ten, as a share."""


def against_others(
    ledger: Ledger, design: "Design", heard: AuditReplies, *, families: Families | None = None
) -> list[Measure]:
    """On the same variant of the answers to the benchmark's data: the audit's own pairs, and what the same judge said
    under the same protocol before."""
    asking = design.main.asking
    about = (design.main.benchmark.digest, design.variant)
    there = [one for one in studies(ledger) if (one.data, one.variant) == about and one.decided]
    before = [one for one in there if (one.rater.key, one.condition.key) == (asking.rater.key, asking.condition.key)]
    earlier = _standing(ledger, before)
    own = _once([*heard.votes(design.main.purposeful), *votes_of(earlier)])
    shown = [(one.trial.item, *one.models) for one in design.main.purposeful if isinstance(one, PairTrial)]
    shown += [(item, *models) for item, models, _ in earlier.each()]
    people = _by_rater(ledger, [one for one in there if one.rater.kind == "human"])
    families = families or Families()
    judge = asking.rater.name
    family = families.of(judge)
    others = _by_rater(
        ledger,
        [
            one
            for one in there
            if one.rater.kind == "model" and families.of(one.rater.name) not in (None, family) and family is not None
        ],
    )
    return [
        *_agreement(own, people, shown),
        _self_preference(own, people, families, judge, "people"),
        _self_preference(own, others, families, judge, "judges of other families"),
    ]


def _standing(ledger: Ledger, chosen: Sequence[StudyOnRecord]) -> Results:
    """Of two answers that still stand for their models."""
    found = results_of(ledger, [study.key for study in chosen])
    return found.rows(found.stands & found.pair)


def _by_rater(ledger: Ledger, chosen: Sequence[StudyOnRecord]) -> dict[str, list[Vote]]:
    """Of each rater under each way of asking."""
    ways: dict[str, list[StudyOnRecord]] = {}
    for study in chosen:
        ways.setdefault(f"{study.rater.key}/{study.condition.key}", []).append(study)
    found = {
        key: [replace(vote, rater=key) for vote in votes_of(_standing(ledger, group))] for key, group in ways.items()
    }
    return {key: votes for key, votes in found.items() if votes}


def _once(votes: Sequence[Vote]) -> list[Vote]:
    """A showing that the audit and a board both hold is the same trial, and counts once."""
    found: dict[tuple[str, frozenset[str], str], Vote] = {}
    for vote in votes:
        found.setdefault((vote.item, frozenset((vote.model_a, vote.model_b)), vote.first), vote)
    return list(found.values())


def _agreement(own: Sequence[Vote], people: Mapping[str, Sequence[Vote]], shown: Sequence[Showing]) -> list[Measure]:
    """`shown` is what the judge was shown, read or not."""
    theirs = [vote for votes in people.values() for vote in votes]
    reason = "people have not judged this benchmark"
    if not theirs or not own:
        nothing = Estimate(value=None, reason=reason if not theirs else "the judge has no verdict")
        return [Measure(name="human_agreement", estimate=nothing, design=_AGREEMENT)]
    case_table = CaseTable.of(theirs)
    said = in_both_orders(case_table.showings(_signs(own), [own[0].rater], 3), case_table.shown_twice(shown))
    human = in_any_order(case_table.showings(_signs(theirs), list(people), 3))
    return [
        Measure(
            name="human_agreement",
            estimate=alignment(said.matrix, human)[0].pooled.agreement,
            design=_AGREEMENT,
            left_out=said.one_order_only,
        ),
        Measure(
            name="human_ceiling",
            estimate=ceiling(human).agreement,
            design="What people reach among themselves: each against the mean of the others.",
            part_of="human_agreement",
        ),
        *_in_a_persons_place(beside_people(said.matrix, human)),
    ]


def _in_a_persons_place(found: BesidePeople | None) -> list[Measure]:
    """What can be held against each other; nothing where no two people judged a pair that the judge did."""
    if found is None:
        return []
    held = f"held against {found.number} on the same pairs"
    return [
        Measure(
            name=_JUDGE_PLACED,
            estimate=found.judge_side,
            design=f"The judge in a person's place, {held}: the mean of all but that person; a tie counts half.",
            part_of="human_agreement",
        ),
        Measure(
            name=_PEOPLE_PLACED,
            estimate=found.people_side,
            design=f"Each person, {held}: the mean of the others; a tie counts half.",
            part_of="human_agreement",
        ),
    ]


def _signs(votes: Sequence[Vote]) -> list[Vote]:
    """Judge and people need not have the same levels."""
    return [replace(vote, value=vote.sign, levels=3) for vote in votes]


def _self_preference(
    own: Sequence[Vote], others: Mapping[str, Sequence[Vote]], families: Families, judge: str, whose: str
) -> Measure:
    """A model whose family is not known is neither the judge's own nor another's: its pairs are left out."""
    family = families.of(judge)
    mine = _wins_of_family(own, families, family)
    theirs = [_wins_of_family(votes, families, family) for votes in others.values()]
    shared = [case for case in mine if any(case in one for one in theirs)]
    differences: list[float] = []
    for case in shared:
        said = [one[case] for one in theirs if case in one]
        differences.append(mine[case] - sum(said) / len(said))
    measured = clustered_mean(differences, [item for item, _ in shared], within=_DIFFERENCE)
    if measured.value is None:
        measured = Estimate(value=None, reason=_why_not(family, judge, whose, played=bool(mine)))
    name = "self_preference" if whose == "people" else "self_preference_beside_judges"
    told = families.told([judge, *(model for vote in own for model in (vote.model_a, vote.model_b))])
    return Measure(name=name, estimate=measured, design=_OWN.format(whose, told), unit="effect")


def _why_not(family: str | None, judge: str, whose: str, *, played: bool) -> str:
    if family is None:
        return f"the family of {judge} is not known; --family {judge}=NAME says it"
    if not played:
        return "no model of the judge's own family plays against one of another known family"
    return f"{whose} have not judged its pairs"


def _wins_of_family(
    votes: Sequence[Vote], families: Families, family: str | None
) -> dict[tuple[str, frozenset[str]], float]:
    """By item and pair of one model of the family and one of another: the mean share of wins it gets, a tie half."""
    said: dict[tuple[str, frozenset[str]], list[float]] = {}
    for vote in votes:
        sides = families.of(vote.model_a), families.of(vote.model_b)
        if family in sides and None not in sides and sides[0] != sides[1]:
            sign = vote.sign if sides[0] == family else -vote.sign
            said.setdefault((vote.item, frozenset((vote.model_a, vote.model_b))), []).append((1 + sign) / 2)
    return {case: sum(wins) / len(wins) for case, wins in said.items()}


def _reading(measure: Measure, measures: Sequence[Measure]) -> Reading | None:
    """None where nobody knows what people reach among themselves."""
    if measure.name != "human_agreement":
        return None
    by_name = {one.name: one.estimate for one in measures}
    people = by_name.get(_PEOPLE_PLACED) or by_name.get("human_ceiling")
    if people is None or people.value is None:
        return None
    return _beside_people(people, by_name.get(_JUDGE_PLACED))


def _beside_people(people: Estimate, judge: Estimate | None) -> Reading:
    """A fault where all of the judge's interval is below all of the people's; of `judge` where that is known, which is
    held against as many people as a person is."""

    assert people.value is not None
    ceiling = people.value

    def found(lower: float, upper: float) -> Found:
        if judge is not None and judge.lower is not None and judge.upper is not None:
            lower, upper = judge.lower, judge.upper
        if upper < (ceiling if people.lower is None else people.lower):
            return "fault"
        return "fine" if lower >= ceiling - _FEW_VERDICTS else "open"

    words = f"who agree with each other in {told(people, 'share')}"
    return Reading(
        of=found,
        fault=f"it agrees with people, {words}, far less",
        fine=f"it agrees with people about as often as they do, {words}",
        open=f"whether it agrees with people, {words}, as often as that",
    )


HUMAN_AGREEMENT = AuditMeasure(
    name="human_agreement", within=SHARE, measure=None, offer=None, trials_of_a_case=2, reading_beside=_reading
)
