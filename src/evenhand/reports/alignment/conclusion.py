"""What agreement with people comes to, in a sentence: two figures on one footing, and whether they differ."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from evenhand.domain.estimate import Estimate
from evenhand.format.supported import points_interval, share_interval, share_words
from evenhand.format.words import count, counted
from evenhand.stats.reliability.agreement.alignment import AlignmentFigures, BesidePeople, Ceiling

Standing: TypeAlias = Literal["below", "level", "above", "unknown"]
"""Of a judge beside people: `level` where no difference is shown, `unknown` where there is nobody to stand beside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Concluded:
    standing: Standing
    sentence: str


def judge_beside_people(name: str, figures: AlignmentFigures, beside: BesidePeople | None) -> Concluded:
    """Judge and people are told over the same comparisons with the same others: any other two figures would count
    different cases, and could be read against each other."""
    if beside is None or beside.judge.agreement.value is None:
        return Concluded(standing="unknown", sentence=_alone(name, figures.agreement))
    judge, people, apart = beside.judge_side, beside.people_side, beside.side_difference
    halved = ", a tie counted as half" if beside.ties else ""
    shares = f"{share_words(judge)} against {share_words(people)} of the same {_comparisons(judge)}{halved}"
    if apart.lower is None or apart.upper is None:
        few = "too few items tell whether they differ"
        return Concluded(standing="level", sentence=f"{name} and a person agree with the others in {shares}: {few}.")
    span = f"95 % interval of the difference {points_interval(apart)} points"
    if apart.upper < 0 or apart.lower > 0:
        more, standing = ("more", "above") if apart.lower > 0 else ("less", "below")
        claim = f"{name} agrees with people {more} often than people agree with each other"
        return Concluded(standing=standing, sentence=f"{claim}: {shares} ({span}).")
    claim = f"No difference is shown between {name} and a person in how often they agree with the others"
    return Concluded(standing="level", sentence=f"{claim}: {shares} ({span}).")


def people_alone(found: Ceiling) -> str:
    agreement, alpha = found.agreement, found.alpha
    if agreement.value is None:
        return f"Nothing tells how far people agree: {agreement.reason or 'no case was judged by two of them'}."
    return (
        f"A person takes the side of the others in {share_words(agreement)} of {_comparisons(agreement)}"
        f"{interval_told(agreement)}{_beside_chance(alpha)}."
    )


def _beside_chance(alpha: Estimate) -> str:
    """What alpha says, in words; it stands itself among the figures."""
    if alpha.lower is None or alpha.upper is None:
        return ""
    if alpha.lower > 0:
        return ", more often than by chance"
    return ", less often than by chance" if alpha.upper < 0 else ", which chance alone may give"


def _alone(name: str, agreement: Estimate) -> str:
    if agreement.value is None:
        return f"Nothing tells how far {name} agrees with people: they share no case on which people take a side."
    return (
        f"{name} takes people's side in {share_words(agreement)} of {counted(round(agreement.n), 'case')}"
        f"{interval_told(agreement)}; no two people judged the same case, so nobody knows what they reach among "
        "themselves."
    )


def _comparisons(share: Estimate) -> str:
    return f"{count(share.n)} comparison{'' if share.n == 1 else 's'}"


def interval_told(share: Estimate) -> str:
    if share.lower is None or share.upper is None:
        return ""
    return f" (95 % interval {share_interval(share)})"
