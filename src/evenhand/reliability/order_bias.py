"""Whether a judge's verdict stays when the two answers change places, and whether it favours the place shown first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.vote import Vote
from evenhand.intervals import clustered_share


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderBias:
    """All over the pairs with both orders read; a pair is one item, two models and one rater. Clustered by item."""

    swap_consistency: Estimate
    """Share of pairs whose outcome, mapped to the models, has the same sign in both orders; a tie is its own value."""
    swap_consistency_without_ties: Estimate
    """The same over pairs that neither order called a tie."""
    first_position_share: Estimate
    """(Wins of the first shown + half the ties) / verdicts."""
    first_position_share_without_ties: Estimate
    one_order_only: int
    """Pairs left out because only one order was read."""

    def as_json(self) -> dict[str, Json]:
        return {
            **self.swap_consistency.as_json("swap_consistency"),
            **self.swap_consistency_without_ties.as_json("swap_consistency_without_ties"),
            **self.first_position_share.as_json("first_position_share"),
            **self.first_position_share_without_ties.as_json("first_position_share_without_ties"),
            "one_order_only": self.one_order_only,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """Shares of one order's verdicts, 1 in all: the first shown won, a tie, the second shown won."""

    first: float
    tie: float
    second: float

    @property
    def decided(self) -> float:
        return self.first + self.second


_Pair: TypeAlias = tuple[_Order, _Order]


def order_bias(votes: Iterable[Vote]) -> OrderBias:
    """A pair counts once in consistency and as two verdicts, one per order, in the first-position share.

    Replicates: no repetition of one order is the twin of one of the other, so every verdict of the one meets every
    verdict of the other, by weight. An order counts 1 however many of its replicates were read; else the better model's
    turn at the first place could outweigh the other's and pass for a bias.
    """
    pairs, one_order_only = _pairs(votes)
    shown = [(item, order) for item, orders in pairs for order in orders]
    return OrderBias(
        swap_consistency=_share([(item, _kept(one, other) + one.tie * other.tie, 1.0) for item, (one, other) in pairs]),
        swap_consistency_without_ties=_share(
            [(item, _kept(one, other), one.decided * other.decided) for item, (one, other) in pairs]
        ),
        first_position_share=_share([(item, order.first + order.tie / 2, 1.0) for item, order in shown]),
        first_position_share_without_ties=_share([(item, order.first, order.decided) for item, order in shown]),
        one_order_only=one_order_only,
    )


def _pairs(votes: Iterable[Vote]) -> tuple[list[tuple[str, _Pair]], int]:
    """Item and orders of each pair with both orders read; how many had only one."""
    tallies: dict[tuple[str, str, str, str], dict[str, list[float]]] = {}
    for vote in votes:
        if vote.first not in (vote.model_a, vote.model_b):
            raise ValueError(f"{vote.first} was not one of the two models shown, {vote.model_a} and {vote.model_b}.")
        if vote.weight <= 0:
            continue
        low, high = min(vote.model_a, vote.model_b), max(vote.model_a, vote.model_b)
        orders = tallies.setdefault((vote.item, low, high, vote.rater), {})
        sign = vote.sign if vote.first == vote.model_a else -vote.sign
        orders.setdefault(vote.first, [0.0, 0.0, 0.0])[1 - sign] += vote.weight
    pairs: list[tuple[str, _Pair]] = []
    for (item, *_), orders in tallies.items():
        if len(orders) == 2:
            one, other = (_order(tally) for tally in orders.values())
            pairs.append((item, (one, other)))
    return pairs, len(tallies) - len(pairs)


def _order(tally: list[float]) -> _Order:
    first, tie, second = (weight / sum(tally) for weight in tally)
    return _Order(first=first, tie=tie, second=second)


def _kept(one: _Order, other: _Order) -> float:
    """The same model won both times, so the winner's place changed."""
    return one.first * other.second + one.second * other.first


def _share(rows: Sequence[tuple[str, float, float]]) -> Estimate:
    """Of rows of item, successes and cases."""
    counted = [row for row in rows if row[2] > 0]
    return clustered_share(
        # Sums of thirds can pass 1 by a rounding error.
        [min(successes / cases, 1.0) for _, successes, cases in counted],
        [cases for _, _, cases in counted],
        [item for item, _, _ in counted],
    )
