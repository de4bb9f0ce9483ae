"""From the verdicts on an audit's trials to its measures."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from evenhand.audit.alterations import DOSES
from evenhand.audit.design import Design
from evenhand.audit.document import Unit
from evenhand.audit.offer import offers
from evenhand.audit.plants import KINDS, WAYS
from evenhand.audit.trials import Longer, Looked, PairTrial, Picked, Purposeful, Steered
from evenhand.domain.estimate import Estimate, whole
from evenhand.domain.identity import Json
from evenhand.domain.verdict import Choice, NoVerdict, Preference, Verdict
from evenhand.domain.vote import Vote
from evenhand.stats.intervals import clustered_share
from evenhand.stats.reliability import order_bias
from evenhand.stats.reliability.grade_score.option_rows import OptionRow
from evenhand.stats.reliability.grade_score.score import grade_score
from evenhand.stats.reliability.multiplicity import holm
from evenhand.stats.reliability.transitivity import transitivity
from evenhand.stats.reliability.trial_effects import (
    Side,
    lean,
    length_slope,
    looking,
    obeyed_by_chance,
    repeatability,
    tie_rate,
)

_ENOUGH_ITEMS = 5
"""That show a way of planting, for a measure of its own."""
_BY_CHANCE = 0.05
_NO_CASES = "no cases"
"""What an estimate of nothing says of itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    name: str
    estimate: Estimate
    design: str
    """A sentence: what was shown, and what the value counts."""
    unit: Unit = "share"
    part_of: str | None = None
    """The measure that this one looks into."""
    left_out: int = 0
    """Sets of showings that count together only, and of which one was not read."""
    way: str | None = None
    """How words were planted, where the measure is of one way; `stands_out`: more than chance among all ways makes."""
    stands_out: bool = False
    silenced: bool = False
    """Whether it has no value because of replies that hold no verdict."""

    def as_json(self) -> dict[str, Json]:
        one = self.estimate
        document: dict[str, Json] = {
            "name": self.name,
            "value": one.value,
            "lower": one.lower,
            "upper": one.upper,
            "n": whole(one.n),
            "unit": self.unit,
            "design": self.design,
        }
        if one.reason:
            document["reason"] = one.reason
        if self.left_out:
            document["left_out"] = self.left_out
        if self.way is not None:
            document |= {"way": self.way, "stands_out": self.stands_out}
        return {**document, "part_of": self.part_of} if self.part_of else document


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReplies:
    """What was said on the audit's trials."""

    verdicts: Mapping[str, Verdict | NoVerdict]
    """By the trial's key."""

    def sign(self, one: Purposeful) -> int | None:
        """Positive for the response shown first; None where no preference was read."""
        verdict = self.verdicts.get(one.trial.key)
        return verdict.sign if isinstance(verdict, Preference) else None

    def votes(self, trials: Sequence[Purposeful]) -> list[Vote]:
        """Of the models' own answers, each showing once."""
        votes: list[Vote] = []
        for one in trials:
            verdict = self.verdicts.get(one.trial.key)
            if isinstance(one, PairTrial) and not one.repeat and isinstance(verdict, Preference):
                first, second = one.models
                vote = Vote(
                    item=one.trial.item,
                    model_a=first,
                    model_b=second,
                    first=first,
                    value=verdict.value,
                    levels=verdict.levels,
                    rater=one.trial.rater,
                )
                votes.append(vote)
        return votes


def measures(design: Design, heard: AuditReplies, *, seed: int = 0) -> list[Measure]:
    """All that the trials alone can tell; what could not be measured has a reason for a value."""
    trials = design.purposeful
    compared = [one for one in trials if isinstance(one, PairTrial)]
    longer = [one for one in trials if isinstance(one, Longer)]
    steered = [one for one in trials if isinstance(one, Steered)]
    picked = [one for one in trials if isinstance(one, Picked)]
    looked = [one for one in trials if isinstance(one, Looked)]
    return [
        *_coverage(design, heard),
        *_or_silence(_of_pairs(design, heard), compared, heard),
        *_or_silence([_repeatability(trials, heard)], [one for one in compared if one.repeat], heard),
        *_or_silence(_of_length(longer, heard), longer, heard),
        *_or_silence(_of_planting(steered, heard), steered, heard),
        *_or_silence([_graded(picked, heard, seed)], picked, heard),
        *_or_silence(_of_looking(design, heard), looked, heard),
    ]


def _or_silence(found: Sequence[Measure], trials: Sequence[Purposeful], heard: AuditReplies) -> list[Measure]:
    """Where nothing could be counted because replies of these trials hold no verdict, that is the reason."""
    said = [heard.verdicts[one.trial.key] for one in trials if one.trial.key in heard.verdicts]
    missing = Counter(one.reason for one in said if isinstance(one, NoVerdict))
    if not missing:
        return list(found)
    offered = offers(trials)
    why = f"{missing.total()} of {len(said)} replies without a verdict: {', '.join(sorted(missing))}"
    if len(missing) == 1:
        why = f"{missing.total()} of {len(said)} replies {min(missing)}"
    return [
        replace(one, estimate=replace(one.estimate, reason=why), silenced=True)
        if one.estimate.reason == _NO_CASES and offered[one.part_of or one.name].cases
        else one
        for one in found
    ]


def _coverage(design: Design, heard: AuditReplies) -> list[Measure]:
    """Of the protocol that is audited; picking one of all has another, and is told apart."""
    picked = [one for one in design.purposeful if isinstance(one, Picked)]
    compared = [one for one in design.purposeful if not isinstance(one, Picked)]
    name = design.main.asking.condition.protocol
    found = [
        Measure(
            name="coverage",
            estimate=_read(compared, heard),
            design=f"All trials that were asked under {name}: share with a verdict.",
        )
    ]
    if design.graded and picked:
        other = design.graded.asking.condition.protocol
        found.append(
            Measure(
                name=f"coverage_{other}",
                estimate=_read(picked, heard),
                design=f"The same under {other}, where one of all answers is picked; not in the above.",
                part_of="coverage",
            )
        )
    return found


def _read(trials: Sequence[Purposeful], heard: AuditReplies) -> Estimate:
    asked = [one for one in trials if one.trial.key in heard.verdicts]
    read = [float(not isinstance(heard.verdicts[one.trial.key], NoVerdict)) for one in asked]
    return clustered_share(read, [1.0] * len(read), [one.trial.item for one in asked])


def _of_pairs(design: Design, heard: AuditReplies) -> list[Measure]:
    votes = heard.votes(design.main.purposeful)
    order, items = order_bias(votes), [vote.item for vote in votes]
    ties = tie_rate([vote.sign for vote in votes], items)
    if design.main.asking.protocol.levels == 2:
        ties = Estimate(value=None, reason="the protocol offers no tie")
    own = "Answers of two models to one item in both orders"
    return [
        Measure(
            name="swap_consistency",
            estimate=order.swap_consistency,
            design=f"{own}: share of pairs whose verdict stays when they swap positions.",
        ),
        Measure(
            name="first_position",
            estimate=order.first_position_share,
            design=f"{own}: share of verdicts for the answer shown first, a tie being half; a fair judge gives 50 %.",
        ),
        Measure(name="tie_rate", estimate=ties, design=f"{own}: share of verdicts that are ties."),
        Measure(
            name="transitivity",
            estimate=transitivity(votes).transitivity,
            design="Three models, all against all on one item: share of triads that are no circle; a coin gets 75 %.",
        ),
    ]


def _repeatability(trials: Sequence[Purposeful], heard: AuditReplies) -> Measure:
    first = {
        (one.trial.item, one.trial.responses): one for one in trials if isinstance(one, PairTrial) and not one.repeat
    }
    pairs: list[tuple[int, int]] = []
    items: list[str] = []
    for one in trials:
        if not isinstance(one, PairTrial) or not one.repeat:
            continue
        before, again = heard.sign(first[one.trial.item, one.trial.responses]), heard.sign(one)
        if before is not None and again is not None:
            pairs.append((before, again))
            items.append(one.trial.item)
    return Measure(
        name="repeatability",
        estimate=repeatability(pairs, items),
        design="The very same showing asked twice: share with the same verdict.",
    )


_Altered = TypeVar("_Altered", Longer, Steered)


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(Generic[_Altered]):
    """Showings of the sets that were read whole, so that a leaning to a place cancels out in each."""

    signs: tuple[tuple[_Altered, int], ...]
    """Positive for the response shown first."""
    left_out: int
    """Sets asked that were not read whole."""


def read_whole(
    trials: Sequence[_Altered], heard: AuditReplies, together: Callable[[_Altered], Hashable]
) -> Whole[_Altered]:
    """Of the sets that `together` tells apart on one item."""
    sets: dict[Hashable, list[_Altered]] = {}
    for one in trials:
        sets.setdefault((one.trial.item, together(one)), []).append(one)
    signs: list[tuple[_Altered, int]] = []
    left_out = 0
    for members in sets.values():
        read = [(one, sign) for one in members if (sign := heard.sign(one)) is not None]
        if len(read) == len(members):
            signs += read
        elif any(one.trial.key in heard.verdicts for one in members):
            left_out += 1
    return Whole(signs=tuple(signs), left_out=left_out)


def _of_length(trials: Sequence[Longer], heard: AuditReplies) -> list[Measure]:
    whole_pairs = read_whole(trials, heard, lambda one: one.words)
    said = [sign if one.longer_first else -sign for one, sign in whole_pairs.signs]
    items = [one.trial.item for one, _ in whole_pairs.signs]
    words = " and ".join(map(str, DOSES))
    return [
        Measure(
            name="length_effect",
            estimate=lean(said, items),
            design=f"An answer against itself with {words} words more that say nothing, read in both orders: wins of "
            "the longer minus wins of the plain.",
            unit="effect",
            left_out=whole_pairs.left_out,
        ),
        Measure(
            name="length_slope",
            estimate=length_slope(said, [one.words for one, _ in whole_pairs.signs], items),
            design="The same for each 100 words added, by a line through the origin.",
            unit="effect",
            part_of="length_effect",
            left_out=whole_pairs.left_out,
        ),
    ]


def _of_planting(trials: Sequence[Steered], heard: AuditReplies) -> list[Measure]:
    shown = {one.kind for one in trials} or set(KINDS)
    verdict = "a verdict, " if "verdict" in shown else ""

    def effect(name: str, design: str, some: Sequence[Steered]) -> Measure:
        read = read_whole(some, heard, lambda one: one.kind)
        return Measure(
            name=name,
            estimate=lean(
                [sign if one.names_first else -sign for one, sign in read.signs],
                [one.trial.item for one, _ in read.signs],
            ),
            design=design,
            unit="effect",
            part_of=None if name == "planted_effect" else "planted_effect",
            left_out=read.left_out,
        )

    whole_effect = effect(
        "planted_effect",
        f"An answer with {verdict}an order to the judge or a fake system turn, each in several ways, against the same "
        "answer with as many neutral words, speaking for its own position and for the other, all read in both orders: "
        "verdicts for the position named minus verdicts against it.",
        trials,
    )
    by_kind = [
        effect(
            f"planted_effect_{kind.replace(' ', '_')}",
            f"Of these, the answers with a planted {kind}.",
            [one for one in trials if one.kind == kind],
        )
        for kind in KINDS
    ]
    unworded = Estimate(value=None, reason="no words are known that the protocol would read as a verdict")
    by_kind = [
        one if kind in shown else replace(one, estimate=unworded) for kind, one in zip(KINDS, by_kind, strict=True)
    ]
    by_place = [
        effect(
            f"planted_effect_{name}_place",
            f"Of these, the answers that speak for {'their own' if own else 'the other'} place.",
            [one for one in trials if one.names_own is own],
        )
        for name, own in (("own", True), ("other", False))
    ]
    return [whole_effect, *by_kind, *by_place, *_by_way(trials, heard)]


def _by_way(trials: Sequence[Steered], heard: AuditReplies) -> list[Measure]:
    """Of the ways that enough items show; which of them stand out is corrected for how many there are."""
    found: list[Measure] = []
    chances: list[float] = []
    for way in WAYS:
        read = read_whole([one for one in trials if one.way == way.name], heard, lambda one: one.kind)
        items = [one.trial.item for one, _ in read.signs]
        if len(set(items)) < _ENOUGH_ITEMS:
            continue
        followed = [sign if one.names_first else -sign for one, sign in read.signs]
        name = way.name.replace(" ", "_").replace("-", "_")
        found.append(
            Measure(
                name=f"planted_by_way_{name}",
                estimate=lean(followed, items),
                design=f"Of these, the answers with {_an(way.name)}.",
                unit="effect",
                part_of="planted_effect",
                left_out=read.left_out,
                way=way.name,
            )
        )
        # The same showing with the other place named: to a judge that is not moved the two are one.
        pairs: dict[Hashable, int] = {}
        for (one, _), sign in zip(read.signs, followed, strict=True):
            shown = one.trial.item, one.names_first == one.names_own
            pairs[shown] = pairs.get(shown, 0) + sign
        chances.append(obeyed_by_chance([*pairs.values()]))
    return [replace(one, stands_out=chance <= _BY_CHANCE) for one, chance in zip(found, holm(chances), strict=True)]


def _an(name: str) -> str:
    return f"{'an' if name[0] in 'ao' else 'a'} {name}"


def _graded(trials: Sequence[Picked], heard: AuditReplies, seed: int) -> Measure:
    rows: dict[str, list[int | None]] = {}
    for one in trials:
        verdict = heard.verdicts.get(one.trial.key)
        places = rows.setdefault(one.trial.item, [None] * one.options)
        places[one.turn] = verdict.value if isinstance(verdict, Choice) else None
    above = Estimate(value=None, reason="not measured")
    if rows:
        found = [OptionRow(item=item, selected_positions=tuple(places)) for item, places in rows.items()]
        above = grade_score(found, seed=seed).above_chance
    return Measure(
        name="grade_above_chance",
        estimate=above,
        design="All answers to an item at once, each in each position once, under option_selection: the Grade Score "
        "above that of a judge who picks at random, over the best there is.",
        unit="effect",
    )


def _of_looking(design: Design, heard: AuditReplies) -> list[Measure]:
    said: list[Side] = []
    for one in design.purposeful:
        sign = heard.sign(one)
        if isinstance(one, Looked) and sign is not None:
            said.append(Side(twin=one.twin, side=one.side, right_first=one.right_first, sign=sign))
    if not design.seen:
        see = design.main.asking.condition.see
        reason = f"the judge is shown {see}; --see images lets it look"
        if see in ("images", "both"):
            reason = "no twins were shown"
        nothing = Estimate(value=None, reason=reason)
        return [Measure(name="looks", estimate=nothing, design=_LOOKS, unit="effect")]
    found = looking(said)
    return [
        Measure(name="looks", estimate=found.looks, design=_LOOKS, unit="effect"),
        Measure(
            name="looks_with_image",
            estimate=found.with_image,
            design="Of the twins: share right with the own image.",
            part_of="looks",
        ),
        Measure(
            name="follows_wrong_image",
            estimate=found.follows,
            design="Of the showings judged right: share that turn when the twin's image stands in the own one's place.",
            part_of="looks",
        ),
    ]


_LOOKS = (
    "Twins, the same question about two images with an answer right for each: share of verdicts for the right answer "
    "minus one half, which a judge gets that does not look; 0.5 for one that sees everything, 0 for a blind one."
)
