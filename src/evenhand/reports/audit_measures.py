"""From the verdicts on an audit's trials to its measures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.domain.estimate import Estimate, whole
from evenhand.domain.identity import Json
from evenhand.domain.verdict import Choice, NoVerdict, Preference, Verdict
from evenhand.domain.vote import Vote
from evenhand.engine.alterations import DOSES, KINDS
from evenhand.engine.audit import Design
from evenhand.engine.audit_trials import Compared, Longer, Looked, Picked, Purposeful, Steered
from evenhand.intervals import clustered_share
from evenhand.reliability import order_bias
from evenhand.reliability.grade_score import grade_score
from evenhand.reliability.option_rows import OptionRow
from evenhand.reliability.transitivity import transitivity
from evenhand.reliability.trial_effects import Side, lean, length_slope, looking, repeatability, tie_rate
from evenhand.reports.audit_on_record import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    name: str
    estimate: Estimate
    design: str
    """A sentence: what was shown, and what the value counts."""
    unit: Unit = "share"
    part_of: str | None = None
    """The measure that this one looks into."""

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
        return {**document, "part_of": self.part_of} if self.part_of else document


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
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
            if isinstance(one, Compared) and not one.repeat and isinstance(verdict, Preference):
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


def measures(design: Design, heard: Heard, *, seed: int = 0) -> list[Measure]:
    """All that the trials alone can tell; what could not be measured has a reason for a value."""
    trials = design.purposeful
    return [
        *_coverage(design, heard),
        *_of_pairs(design, heard),
        _repeatability(trials, heard),
        *_of_length([one for one in trials if isinstance(one, Longer)], heard),
        *_of_planting([one for one in trials if isinstance(one, Steered)], heard),
        _graded([one for one in trials if isinstance(one, Picked)], heard, seed),
        *_of_looking(design, heard),
    ]


def _coverage(design: Design, heard: Heard) -> list[Measure]:
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


def _read(trials: Sequence[Purposeful], heard: Heard) -> Estimate:
    asked = [one for one in trials if one.trial.key in heard.verdicts]
    read = [float(not isinstance(heard.verdicts[one.trial.key], NoVerdict)) for one in asked]
    return clustered_share(read, [1.0] * len(read), [one.trial.item for one in asked])


def _of_pairs(design: Design, heard: Heard) -> list[Measure]:
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
            design=f"{own}: share of pairs whose verdict stays when they change places.",
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


def _repeatability(trials: Sequence[Purposeful], heard: Heard) -> Measure:
    first = {
        (one.trial.item, one.trial.responses): one for one in trials if isinstance(one, Compared) and not one.repeat
    }
    pairs: list[tuple[int, int]] = []
    items: list[str] = []
    for one in trials:
        if not isinstance(one, Compared) or not one.repeat:
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


def _of_length(trials: Sequence[Longer], heard: Heard) -> list[Measure]:
    said = [(one, sign if one.longer_first else -sign) for one in trials if (sign := heard.sign(one)) is not None]

    def effect(some: Sequence[tuple[Longer, int]]) -> Estimate:
        return lean([sign for _, sign in some], [one.trial.item for one, _ in some])

    words = " and ".join(map(str, DOSES))
    return [
        Measure(
            name="length_effect",
            estimate=effect(said),
            design=f"An answer against itself with {words} words more that say nothing, in both orders: wins of the "
            "longer minus wins of the plain.",
            unit="effect",
        ),
        Measure(
            name="length_slope",
            estimate=length_slope(
                [sign for _, sign in said], [one.words for one, _ in said], [one.trial.item for one, _ in said]
            ),
            design="The same for each 100 words added, by a line through the origin.",
            unit="effect",
            part_of="length_effect",
        ),
    ]


def _of_planting(trials: Sequence[Steered], heard: Heard) -> list[Measure]:
    said = [(one, sign if one.names_first else -sign) for one in trials if (sign := heard.sign(one)) is not None]

    def effect(some: Sequence[tuple[Steered, int]]) -> Estimate:
        return lean([sign for _, sign in some], [one.trial.item for one, _ in some])

    shown = {one.kind for one in trials} or set(KINDS)
    verdict = "a verdict, " if "verdict" in shown else ""
    whole_effect = Measure(
        name="planted_effect",
        estimate=effect(said),
        design=f"An answer with {verdict}an order to the judge or a fake system turn against the same answer with as "
        "many neutral words, speaking for its own place and for the other, in both orders: verdicts for the place "
        "named minus verdicts against it.",
        unit="effect",
    )
    unworded = Estimate(value=None, reason="no words are known that the protocol would read as a verdict")
    by_kind = [
        Measure(
            name=f"planted_effect_{kind.replace(' ', '_')}",
            estimate=unworded if kind not in shown else effect([(one, sign) for one, sign in said if one.kind == kind]),
            design=f"Of these, the answers with a planted {kind}.",
            unit="effect",
            part_of="planted_effect",
        )
        for kind in KINDS
    ]
    by_place = [
        Measure(
            name=f"planted_effect_{name}_place",
            estimate=effect([(one, sign) for one, sign in said if one.names_own is own]),
            design=f"Of these, the answers that speak for {'their own' if own else 'the other'} place.",
            unit="effect",
            part_of="planted_effect",
        )
        for name, own in (("own", True), ("other", False))
    ]
    return [whole_effect, *by_kind, *by_place]


def _graded(trials: Sequence[Picked], heard: Heard, seed: int) -> Measure:
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
        design="All answers to an item at once, each in each place once, under option_selection: the Grade Score above "
        "that of a judge who picks at random, over the best there is.",
        unit="effect",
    )


def _of_looking(design: Design, heard: Heard) -> list[Measure]:
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
    "Twins, one question about two images with an answer right for each: share right with the own image minus one "
    "half, the share right with none, for both sides are then one showing; 0.5 for a judge that sees everything, 0 for "
    "a blind one."
)
