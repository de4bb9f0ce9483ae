"""Battles as a table: the showings of one item and pair to one rater, joined by the rule `visit`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from evenhand.domain.identity import Json
from evenhand.domain.rater import Rater
from evenhand.domain.trial import Condition
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.judgements.export import reply_texts, words_of
from evenhand.exchange.tables import ExchangeTable, Shape
from evenhand.ledger.read.projection import JudgedTrial, StudyOnRecord, judged
from evenhand.ledger.read.votes import votes_of
from evenhand.ledger.read.waiting import Battle
from evenhand.ledger.store.record import Ledger
from evenhand.stats.ratings.battle_rules import joined
from evenhand.stats.ratings.comparisons import Comparisons

BATTLE_COLUMNS: Mapping[str, Shape] = {
    "item": "text",
    "model_a": "text",
    "model_b": "text",
    "winner": "text",
    "rater": "text",
    "rater_kind": "text",
    "protocol": "text",
    "votes": "texts",
    "shown_first": "texts",
}
_OUTCOMES = {1: "model_a", 0: "tie", -1: "model_b"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedBattles:
    table: ExchangeTable
    undecided: int
    """Pairs of which no showing gave a verdict; they are no battles and not in the table."""


def battles_table(ledger: Ledger, chosen: Sequence[StudyOnRecord], *, replies: bool = True) -> ExportedBattles:
    """`votes`, `shown_first` and `replies` have one entry for each showing; a showing without a verdict votes null.

    model_a is the one shown first where only one order was shown, as readers of such files take it to be; else the
    first by name. Raises ExchangeError where the judgements compare no pairs.
    """
    results = standing(ledger, chosen)
    words = reply_texts(ledger, results) if replies else {}
    raters = {study.rater.key: study.rater for study in chosen}
    conditions = {study.condition.key: study.condition for study in chosen}
    rows: list[Mapping[str, Json]] = []
    undecided = 0
    decided = winners(results)
    for showings in meetings(results):
        trial = showings[0].trial
        winner = decided.get(battle_of(showings[0]))
        if winner is None:
            undecided += 1
        else:
            row = battle_row(showings, raters[trial.rater], conditions[trial.condition], winner=winner)
            rows.append({**row, "replies": [words_of(one, words) for one in showings]} if replies else row)
    columns: dict[str, Shape] = {**BATTLE_COLUMNS, **soft_column(rows)}
    if replies:
        columns["replies"] = "lists of texts"
    rows = [{name: row[name] for name in columns} for row in rows]
    return ExportedBattles(table=ExchangeTable(columns=columns, rows=rows), undecided=undecided)


def soft_column(rows: Sequence[Mapping[str, Json]]) -> dict[str, Shape]:
    """Where some row tells of it."""
    return {"soft": "number"} if any(row["soft"] is not None for row in rows) else {}


def standing(ledger: Ledger, chosen: Sequence[StudyOnRecord]) -> list[JudgedTrial]:
    """The results whose answers still stand for their models."""
    return [one for one in judged(ledger, chosen) if one.stands]


def meetings(results: Sequence[JudgedTrial]) -> list[list[JudgedTrial]]:
    """The showings of each item and pair; those with the first name shown first stand before the swapped ones."""
    meetings: dict[tuple[str, ...], list[JudgedTrial]] = {}
    for one in results:
        if len(one.models) != 2 or not isinstance(one.judgement.verdict, Preference | NoVerdict):
            raise ExchangeError("These judgements do not compare two models; export them with --judgements.")
        key = (one.trial.item, *sorted(one.models), one.trial.rater, one.trial.condition)
        meetings.setdefault(key, []).append(one)
    return [sorted(showings, key=lambda one: (one.models, one.trial.replicate)) for showings in meetings.values()]


def battle_of(one: JudgedTrial) -> Battle:
    low, high = sorted(one.models)
    return one.trial.item, low, high, one.trial.rater


def winners(results: Sequence[JudgedTrial]) -> dict[Battle, str]:
    """By battle the name of the model that takes it, "" for a tie; battles without a verdict are not here.

    By the rule `visit`, as boards join votes: the replicates of a showing count together as one.
    """
    votes = votes_of(results)
    items, raters = list(dict.fromkeys(vote.item for vote in votes)), list(dict.fromkeys(vote.rater for vote in votes))
    battles = joined(Comparisons.of_votes(votes), "visit")
    assert battles.item is not None
    assert battles.rater is not None
    columns = (battles.item, battles.model_a, battles.model_b, battles.rater, battles.sign)
    rows: list[list[int]] = np.stack(columns, axis=1).tolist()
    found: dict[Battle, str] = {}
    for item, one, other, rater, sign in rows:
        model_a, model_b = battles.models[one], battles.models[other]
        found[items[item], model_a, model_b, raters[rater]] = {1: model_a, 0: "", -1: model_b}[sign]
    return found


def battle_row(showings: Sequence[JudgedTrial], rater: Rater, condition: Condition, *, winner: str) -> dict[str, Json]:
    """`winner` is a model's name, or "" for a tie. The vote of a showing without a verdict is null. `soft` is the mean
    of the two orders' soft verdicts in favour of model_a; null where a vote has none."""
    model_a, model_b = showings[0].models
    signs = [_sign(one, model_a) for one in showings]
    return {
        "item": showings[0].label,
        "model_a": model_a,
        "model_b": model_b,
        "winner": {model_a: "model_a", model_b: "model_b"}.get(winner, "tie"),
        "rater": rater.name,
        "rater_kind": rater.kind,
        "protocol": condition.protocol,
        "votes": [None if sign is None else _OUTCOMES[sign] for sign in signs],
        "shown_first": ["model_a" if one.models[0] == model_a else "model_b" for one in showings],
        "soft": _soft(showings, model_a),
    }


def _soft(showings: Sequence[JudgedTrial], model_a: str) -> float | None:
    orders: dict[bool, list[float]] = {}
    for one in showings:
        if one.soft is not None:
            turned = one.models[0] != model_a
            orders.setdefault(turned, []).append(1 - one.soft if turned else one.soft)
        elif isinstance(one.judgement.verdict, Preference):
            return None
    return fmean(map(fmean, orders.values())) if orders else None


def _sign(one: JudgedTrial, model_a: str) -> int | None:
    verdict = one.judgement.verdict
    if not isinstance(verdict, Preference):
        return None
    return verdict.sign if one.models[0] == model_a else -verdict.sign
