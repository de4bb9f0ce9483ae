"""What the pictures of an audit show, as numbers that are kept with its report."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from evenhand.audit.alterations import DOSES
from evenhand.audit.design import Design
from evenhand.audit.measures.length import Longer
from evenhand.audit.measures.record import AuditReplies, read_whole
from evenhand.audit.trials import Picked
from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.verdict import Choice
from evenhand.domain.vote import Vote
from evenhand.stats.reliability.trial_effects import lean


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureFindings:
    places: tuple[int, int, int]
    """Of two answers: verdicts for the first shown, ties, verdicts for the second."""
    picks: tuple[int, ...]
    """Of all answers at once: how often each place was picked, by place."""
    swaps: tuple[tuple[int, int, int], ...]
    """Pairs read in both orders: by the place that won in one order (first, none, second; rows) and in the other."""
    lengths: tuple[tuple[int, Estimate], ...]
    """By words added: wins of the longer minus wins of the plain answer."""

    def as_json(self) -> dict[str, Json]:
        return {
            "places": list(self.places),
            "picks": list(self.picks),
            "swaps": [list(row) for row in self.swaps],
            "lengths": [
                {"words": words, "value": one.value, "lower": one.lower, "upper": one.upper}
                for words, one in self.lengths
            ],
        }


def pictures(design: Design, heard: AuditReplies) -> PictureFindings:
    votes = heard.votes(design.main.purposeful)
    signs = [_for_first(vote) for vote in votes]
    picked = [heard.verdicts.get(one.trial.key) for one in design.purposeful if isinstance(one, Picked)]
    places = [verdict.value for verdict in picked if isinstance(verdict, Choice)]
    return PictureFindings(
        places=(signs.count(1), signs.count(0), signs.count(-1)),
        picks=tuple(places.count(place) for place in range(max(places, default=-1) + 1)),
        swaps=_swaps(votes),
        lengths=tuple((words, _at(words, design, heard)) for words in DOSES),
    )


def _for_first(vote: Vote) -> int:
    return vote.sign if vote.first == vote.model_a else -vote.sign


def _swaps(votes: Sequence[Vote]) -> tuple[tuple[int, int, int], ...]:
    """The order in which the model that comes first in the alphabet is shown first goes down."""
    table = [[0] * 3 for _ in range(3)]

    def pair(vote: Vote) -> tuple[str, str, str]:
        one, other = sorted((vote.model_a, vote.model_b))
        return vote.item, one, other

    for (_, one, _), both in groupby(sorted(votes, key=lambda vote: (*pair(vote), vote.first)), key=pair):
        said = {vote.first == one: _for_first(vote) for vote in both}
        if len(said) == 2:
            table[1 - said[True]][1 - said[False]] += 1
    return tuple((row[0], row[1], row[2]) for row in table)


def _at(words: int, design: Design, heard: AuditReplies) -> Estimate:
    shown = [one for one in design.purposeful if isinstance(one, Longer) and one.words == words]
    read = read_whole(shown, heard, lambda one: one.words).signs
    return lean([sign if one.longer_first else -sign for one, sign in read], [one.trial.item for one, _ in read])
