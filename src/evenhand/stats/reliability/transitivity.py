"""Whether a judge who prefers X to Y and Y to Z also prefers X to Z on the same item."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.vote import Vote
from evenhand.stats.intervals import LEVEL, clustered_share

COIN = 0.75
"""Two of the eight ways in which three pairs can be decided are cycles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transitivity:
    transitivity: Estimate
    """Share of the triads decided in all three pairs that are no cycle; clustered by item. A coin gets 0.75."""
    with_ties: int
    """Triads left out because one of their pairs was a tie."""

    def as_json(self) -> dict[str, Json]:
        return {**self.transitivity.as_json("transitivity"), "triads_with_ties": self.with_ties}


def transitivity(votes: Iterable[Vote], *, level: float = LEVEL) -> Transitivity:
    """Over every three models that one rater compared in all pairs on one item; a pair's votes are summed by weight."""
    kept: list[float] = []
    items: list[str] = []
    with_ties = 0
    for (item, _), beats in _preferences(votes).items():
        models = sorted({model for pair in beats for model in pair})
        for x, y, z in combinations(models, 3):
            if not ((x, y) in beats and (y, z) in beats and (x, z) in beats):
                continue
            signs = beats[x, y], beats[y, z], -beats[x, z]
            if 0 in signs:
                with_ties += 1
                continue
            # Round the triad x, y, z and back to x: a cycle wins, or loses, all three.
            kept.append(float(abs(sum(signs)) != 3))
            items.append(item)
    share = clustered_share(kept, [1.0] * len(kept), items, level=level)
    return Transitivity(transitivity=share, with_ties=with_ties)


def _preferences(votes: Iterable[Vote]) -> dict[tuple[str, str], dict[tuple[str, str], int]]:
    """By item and rater: of each pair, names in order, the sign in favour of the first."""
    sums: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    for vote in votes:
        turned = vote.model_a > vote.model_b
        pair = (vote.model_b, vote.model_a) if turned else (vote.model_a, vote.model_b)
        of_rater = sums.setdefault((vote.item, vote.rater), {})
        of_rater[pair] = of_rater.get(pair, 0.0) + vote.weight * (-vote.sign if turned else vote.sign)
    # Thirds of a trial's weight may leave a rounding error where there is a tie.
    return {
        key: {pair: (total > 1e-9) - (total < -1e-9) for pair, total in of_rater.items()}
        for key, of_rater in sums.items()
    }
