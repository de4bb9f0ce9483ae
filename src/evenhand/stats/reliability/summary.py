"""What the measures say about a judge in plain words; never that it is right, for people were not asked."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.vote import Vote
from evenhand.format.supported import share_interval, share_words
from evenhand.format.words import counted
from evenhand.stats.intervals import FEW_CLUSTERS, LEVEL
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.reliability.coverage import Coverage
from evenhand.stats.reliability.order_bias import OrderBias, order_bias

Conclusion: TypeAlias = Literal[
    "not to be trusted", "undecided", "a small leaning to one place", "no sign of trouble in what was measured"
]

CONSISTENT_ENOUGH = 0.8
"""Four verdicts of five kept when the answers swap positions. Guessing keeps at most half of what it decides, so at
least three fifths of the verdicts (2 x 0.8 - 1) then rest on the answers."""

FAR_FROM_EVEN = 0.1
"""The most that the bound above allows: one pair of five moved, always to the same place. A share of 0.6 is worth
400 log10(0.6/0.4) = 70 Elo points to whoever is shown first."""

ENOUGH_COVERAGE = 0.95
"""Verdicts that are missing are rarely like the others; one in twenty can move a share by at most 0.05."""

COIN = 0.5

_FAIR = "a fair judge gives 50 %."

_FEW_TO_TELL = "Too few items to tell whether the judge {}"

_UNMEASURED = (
    "The board's verdicts measure order only: not whether the judge likes longer answers, looks at the image or its "
    "description, or agrees with people."
)
_UNMEASURED_WITHOUT_IMAGES = (
    "The board's verdicts measure order only: not whether the judge likes longer answers or agrees with people."
)
_UNMEASURED_OF_PEOPLE = (
    "The board's verdicts measure order only: not whether people like longer answers or agree with each other."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    order: OrderBias
    coverage: Coverage
    conclusion: Conclusion
    reading: tuple[str, ...]
    """Sentences for people, the conclusion first."""

    def as_json(self) -> dict[str, Json]:
        return {
            **self.order.as_json(),
            "coverage": self.coverage.as_json(),
            "conclusion": self.conclusion,
            "reading": list(self.reading),
        }


def grounds(summary: Summary, *, more: bool) -> tuple[str, ...]:
    """What follows the first sentence. `more`: an audit or people stand below, who tell more than order does, so that
    nothing says that only order was measured."""
    said = (_UNMEASURED, _UNMEASURED_WITHOUT_IMAGES, _UNMEASURED_OF_PEOPLE) if more else ()
    return tuple(sentence for sentence in summary.reading[1:] if sentence not in said)


def trust(
    shown: Iterable[Vote] | Comparisons, coverage: Coverage, *, human: bool = False, images: bool = True
) -> Summary:
    """How far the judge behind these verdicts can be relied on, as far as they alone can tell."""
    return summary_of(order_bias(shown), coverage, human=human, images=images)


def summary_of(order: OrderBias, coverage: Coverage, *, human: bool = False, images: bool = True) -> Summary:
    conclusion = _conclusion(order, coverage)
    reading = (
        _headline(conclusion, order),
        *_consistency_sentences(order),
        *_position_sentences(order),
        *_basis_sentences(order),
        coverage_sentence(coverage),
        _UNMEASURED_OF_PEOPLE if human else _UNMEASURED if images else _UNMEASURED_WITHOUT_IMAGES,
    )
    return Summary(order=order, coverage=coverage, conclusion=conclusion, reading=reading)


def _conclusion(order: OrderBias, coverage: Coverage) -> Conclusion:
    """The worst that any measure says. An interval that holds both a coin and a good judge decides nothing."""
    # Ties that come and go are noise, not a leaning: they forbid a good word, and no more.
    if _below(order.swap_consistency_without_ties, CONSISTENT_ENOUGH) or _far_from_even(order):
        return "not to be trusted"
    if _consistent(order) and coverage.share is not None and coverage.share >= ENOUGH_COVERAGE:
        return "a small leaning to one place" if _leans(order) else "no sign of trouble in what was measured"
    return "undecided"


def _consistencies(order: OrderBias) -> tuple[Estimate, Estimate]:
    # Without ties too: a judge that mostly says tie keeps its verdicts, whatever it does when it decides.
    return order.swap_consistency, order.swap_consistency_without_ties


def _consistent(order: OrderBias) -> bool:
    return all(_at_least(share, CONSISTENT_ENOUGH) for share in _consistencies(order))


def _below(share: Estimate, bound: float) -> bool:
    return share.upper is not None and share.upper < bound


def _at_least(share: Estimate, bound: float) -> bool:
    return share.lower is not None and share.lower >= bound


def _far_from_even(order: OrderBias) -> bool:
    # Not idle beside consistency: a judge that says "first" or "tie" has no pair decided twice, yet leans.
    return any(
        _below(share, COIN - FAR_FROM_EVEN) or _at_least(share, COIN + FAR_FROM_EVEN)
        for share in (order.first_position_share, order.first_position_share_without_ties)
    )


def _leans(order: OrderBias) -> bool:
    return any(_tells_leaning(share) for share in (order.first_position_share, order.first_position_share_without_ties))


def _headline(conclusion: Conclusion, order: OrderBias) -> str:
    if conclusion == "not to be trusted":
        return "This judge is not to be trusted: its verdicts do not hold when the answers swap positions."
    if conclusion == "a small leaning to one place":
        return "Its verdicts mostly hold when the answers swap positions, but it favours one position a little."
    if conclusion != "undecided":
        return "No sign of trouble in what was measured."
    if _below(order.swap_consistency, CONSISTENT_ENOUGH):
        return (
            "Undecided: it often calls a tie in one order and a winner in the other, so much of what it says is noise."
        )
    if _consistent(order):
        return "Undecided: too many verdicts are missing to say whether this judge can be trusted."
    return f"Undecided: {_why_undecided(order)}"


def _why_undecided(order: OrderBias) -> str:
    """Of the consistencies the first that is known and whose interval does not lie at the bound or above."""
    for share, apart in zip(_consistencies(order), ("", " that no order called a tie"), strict=True):
        if share.value is not None and not _at_least(share, CONSISTENT_ENOUGH):
            return (
                f"at least {100 * CONSISTENT_ENOUGH:.0f} % of its verdicts should stay when the answers swap "
                f"positions. "
                f"It kept {_count(share.value * share.n)} of {_count(share.n)}{apart}, and with "
                f"{counted(share.clusters, 'item')} that can mean anything from {share_interval(share)}."
            )
    if order.swap_consistency.value is None:
        return "no pair of answers has a verdict in both orders, so nothing tells whether its verdicts would stay."
    return "it called every pair a tie in one order or both, so nothing tells whether what it decides would stay."


def _has_ties(order: OrderBias) -> bool:
    # Shares of replicates add up to 1 but for a rounding error.
    return not math.isclose(order.first_position_share.n, order.first_position_share_without_ties.n)


def _consistency_sentences(order: OrderBias) -> list[str]:
    kept, decided = _consistencies(order)
    if kept.value is None:
        return ["No pair was read in both orders, so nothing is known about order."]
    coin = f"it kept its verdict in {_share_of(decided, 'pairs')}; a coin would keep it in 50 %." if decided.n else ""
    few = _holds_coin_and_good(decided)
    if not _has_ties(order):
        claim = _FEW_TO_TELL.format("keeps its verdict") if few else f"The judge {_consistency_claim(decided)}"
        return [f"{claim} when the answers swap positions: {coin}"]
    overall = f"When the answers change places the judge keeps its verdict, be it a tie, in {_share_of(kept, 'pairs')}."
    if not coin:
        return [overall, "It called every pair a tie at least once, so a careful judge and an idle one look alike."]
    return [overall, f"Ties aside, {'too few to tell' if few else f'it {_consistency_claim(decided)}'}: {coin}"]


def _holds_coin_and_good(decided: Estimate) -> bool:
    """The interval rules out neither a coin nor a judge that is consistent enough."""
    return not _at_least(decided, COIN) and not _below(decided, CONSISTENT_ENOUGH)


def _consistency_claim(decided: Estimate) -> str:
    if _below(decided, COIN):
        return "contradicts itself"
    if not _at_least(decided, COIN):
        return "cannot be told from a coin flip"
    if _at_least(decided, CONSISTENT_ENOUGH):
        return "mostly keeps to its verdict"
    return "does better than a coin"


def _position_sentences(order: OrderBias) -> list[str]:
    share, decided = order.first_position_share, order.first_position_share_without_ties
    if share.value is None:
        return []
    if not _has_ties(order):
        return [f"{_position_claim(share, order)}: the first shown won {_share_of(share, 'verdicts')}; {_FAIR}"]
    sentences = [f"Ties counted half, the first shown won {_share_of(share, 'verdicts')}; {_FAIR}"]
    if decided.n:
        sentences.append(
            f"{_position_claim(decided, order)}: ties aside, the first shown won {_share_of(decided, 'verdicts')}."
        )
    return sentences


def position_shortly(order: OrderBias) -> str:
    """How much the first position won, in one sentence, by the share that tells a leaning if one does; "" where no
    verdict tells."""
    share, apart = order.first_position_share, ", ties counted half" if _has_ties(order) else ""
    if not _tells_leaning(share) and _tells_leaning(order.first_position_share_without_ties):
        share, apart = order.first_position_share_without_ties, ", ties aside"
    if share.value is None or share.lower is None:
        return ""
    won = f"{share_words(share)} of verdicts{apart} ({100 * LEVEL:.0f} % interval {share_interval(share)})"
    if not _tells_leaning(share):
        return f"The answer shown first won {won}."
    if share.lower > COIN:
        return f"It favours the answer shown first, which won {won}."
    return f"It favours the answer shown second: the first won {won}."


def _tells_leaning(share: Estimate) -> bool:
    return _below(share, COIN) or (share.lower is not None and share.lower > COIN)


def _position_claim(share: Estimate, order: OrderBias) -> str:
    if share.lower is not None and share.lower > COIN:
        return "The judge favours the answer shown first"
    if _below(share, COIN):
        return "The judge favours the answer shown second"
    near = _at_least(share, COIN - FAR_FROM_EVEN) and _below(share, COIN + FAR_FROM_EVEN)
    # A judge that keeps its verdicts cannot lean far, however wide this interval is.
    if not near and not _consistent(order):
        return _FEW_TO_TELL.format("favours either position")
    return "No position bias was found"


def _basis_sentences(order: OrderBias) -> list[str]:
    sentences: list[str] = []
    items = order.swap_consistency.clusters
    if 0 < items < FEW_CLUSTERS:
        sentences.append(f"{_items(items)} behind these intervals, so they are wide (Student's t, clustered by item).")
    if order.raters > 1:
        sentences.append(
            f"These intervals are clustered by item alone: they are about these {order.raters:,} raters together, not "
            "about others."
        )
    if order.one_order_only:
        sentences.append(f"Left out: {counted(order.one_order_only, 'pair')} read in one order only.")
    return sentences


def coverage_sentence(coverage: Coverage) -> str:
    if not coverage.wanted:
        return "No verdict was asked for."
    missing = [f"{count:,} {reason}" for reason, count in sorted(coverage.reasons.items()) if count]
    if coverage.not_asked:
        missing.append(f"{coverage.not_asked:,} not asked")
    why = f" ({', '.join(missing)})" if missing else ""
    return f"{coverage.with_verdict:,} of {counted(coverage.wanted, 'trial')} have a verdict{why}."


def _items(count: int) -> str:
    return "Only one item stands" if count == 1 else f"Only {count} items stand"


def _share_of(share: Estimate, noun: str) -> str:
    """`9 of 32 pairs (28 %, 95 % interval 15 to 46 %)`."""
    assert share.value is not None
    interval = f"{100 * LEVEL:.0f} % interval {share_interval(share)}"
    nouns = noun.removesuffix("s") if share.n == 1 else noun
    return f"{_count(share.value * share.n)} of {_count(share.n)} {nouns} ({share_words(share)}, {interval})"


def _count(number: float) -> str:
    """Whole where it is whole; replicates make tenths."""
    return f"{round(number, 1):,.10g}"
