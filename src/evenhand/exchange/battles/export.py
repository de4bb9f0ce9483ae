"""Battles as a table: the showings of one item and pair to one rater, joined by the rule `visit`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from statistics import fmean
from typing import NamedTuple

import numpy as np
from sqlalchemy import select

from evenhand.domain.identity import Json
from evenhand.domain.rater import Rater
from evenhand.domain.trial import Condition
from evenhand.domain.verdict import NoVerdict, Preference, Verdict
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.judgements.export import words_said
from evenhand.exchange.tables import ExchangeTable, Shape
from evenhand.ledger.read.projection import StudyOnRecord, item_labels
from evenhand.ledger.read.results import Results, results_of
from evenhand.ledger.read.vote_columns import cast_votes, preferring
from evenhand.ledger.read.waiting import Battle
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger, chunks
from evenhand.stats.ratings.battle_rules import joined

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
    showings = showings_of(ledger, chosen, results)
    words = words_of_results(ledger, results) if replies else {}
    raters = {study.rater.key: study.rater for study in chosen}
    conditions = {study.condition.key: study.condition for study in chosen}
    rows: list[Mapping[str, Json]] = []
    undecided = 0
    decided = winners(results)
    for some in meetings(showings):
        winner = decided.get(battle_of(some[0]))
        if winner is None:
            undecided += 1
        else:
            row = battle_row(some, raters[some[0].rater], conditions[some[0].condition], winner=winner)
            rows.append({**row, "replies": [words.get(one.seq, []) for one in some]} if replies else row)
    columns: dict[str, Shape] = {**BATTLE_COLUMNS, **soft_column(rows)}
    if replies:
        columns["replies"] = "lists of texts"
    rows = [{name: row[name] for name in columns} for row in rows]
    return ExportedBattles(table=ExchangeTable(columns=columns, rows=rows), undecided=undecided)


def soft_column(rows: Sequence[Mapping[str, Json]]) -> dict[str, Shape]:
    """Where some row tells of it."""
    return {"soft": "number"} if any(row["soft"] is not None for row in rows) else {}


class ExportedShowing(NamedTuple):
    """Of the result that counts for a trial, what battles are told of."""

    seq: int
    item: str
    label: str
    models: tuple[str, str]
    """In the order shown."""
    responses: tuple[str, str]
    rater: str
    condition: str
    replicate: int
    verdict: Verdict | NoVerdict
    soft: float | None
    """How likely the first shown was to be preferred; None where it is not known."""


def standing(ledger: Ledger, chosen: Sequence[StudyOnRecord]) -> Results:
    """The results whose answers still stand for their models. Raises ExchangeError where one compares no pair."""
    results = results_of(ledger, [study.key for study in chosen], soft=True, as_ties=False)
    results = results.rows(results.stands)
    if not (results.pair & results.where(lambda one: isinstance(one, Preference | NoVerdict))).all():
        raise ExchangeError("These judgements do not compare two models; export them with --judgements.")
    return results


def showings_of(ledger: Ledger, chosen: Sequence[StudyOnRecord], results: Results) -> list[ExportedShowing]:
    """One for each result, in their order."""
    labels = item_labels(ledger, {study.data for study in chosen})
    item, label = results.item.names, [labels.get(digest, digest[:12]) for digest in results.item.names]
    model, digest, ending = results.models, results.responses, results.endings
    rater, condition = results.rater.names, results.condition.names
    assert results.soft is not None
    columns = (
        results.seq, results.item.code, results.first, results.first_model, results.second, results.second_model,
        results.rater.code, results.condition.code, results.replicate, results.ending, results.soft,
    )  # fmt: skip
    return [
        ExportedShowing(
            seq, item[of], label[of], (model[one], model[other]), (digest[first], digest[second]), rater[by],
            condition[how], replicate, ending[said], None if isnan(soft) else soft,
        )
        for seq, of, first, one, second, other, by, how, replicate, said, soft in zip(
            *(column.tolist() for column in columns), strict=True
        )
    ]  # fmt: skip


def words_of_results(ledger: Ledger, results: Results) -> dict[int, list[str]]:
    """What the judge wrote in each of these judgements, by its number."""
    table, calls = schema.judgements, schema.calls
    found: dict[int, list[str]] = {}
    with ledger.reading() as connection:
        for some in chunks(results.seq.tolist()):
            query = select(table.c.seq, table.c.calls, table.c.notes).where(table.c.seq.in_(some))
            rows = [(seq, json.loads(keys), told) for seq, keys, told in connection.execute(query)]
            keys = dict.fromkeys(key for _, keys, _ in rows for key in keys)
            texts: dict[str, str] = {}
            for part in chunks(keys):
                replied = select(calls.c.key, calls.c.text).where(calls.c.key.in_(part))
                texts.update((key, text) for key, text in connection.execute(replied))
            for seq, keys, told in rows:
                came = json.loads(told).get("replies") if '"replies"' in told else None
                found[seq] = words_said(came, keys, texts)
    return found


def meetings(showings: Sequence[ExportedShowing]) -> list[list[ExportedShowing]]:
    """The showings of each item and pair; those with the first name shown first stand before the swapped ones."""
    meetings: dict[tuple[str, ...], list[ExportedShowing]] = {}
    for one in showings:
        meetings.setdefault((*battle_of(one), one.condition), []).append(one)
    return [sorted(some, key=lambda one: (one.models, one.replicate)) for some in meetings.values()]


def battle_of(one: ExportedShowing) -> Battle:
    low, high = sorted(one.models)
    return one.item, low, high, one.rater


def winners(results: Results) -> dict[Battle, str]:
    """By battle the name of the model that takes it, "" for a tie; battles without a verdict are not here.

    By the rule `visit`, as boards join votes: the replicates of a showing count together as one.
    """
    votes = cast_votes(results.rows(preferring(results)), np.full(len(results.responses), np.nan))
    battles = joined(votes.comparisons(), "visit")
    assert battles.item is not None
    assert battles.rater is not None
    items = votes.item.in_order_of_rows().names
    columns = (battles.item, battles.model_a, battles.model_b, battles.rater, battles.sign)
    rows: list[list[int]] = np.stack(columns, axis=1).tolist()
    found: dict[Battle, str] = {}
    for item, one, other, rater, sign in rows:
        model_a, model_b = battles.models[one], battles.models[other]
        found[items[item], model_a, model_b, battles.raters[rater]] = {1: model_a, 0: "", -1: model_b}[sign]
    return found


def battle_row(
    showings: Sequence[ExportedShowing], rater: Rater, condition: Condition, *, winner: str
) -> dict[str, Json]:
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


def _soft(showings: Sequence[ExportedShowing], model_a: str) -> float | None:
    orders: dict[bool, list[float]] = {}
    for one in showings:
        if one.soft is not None:
            turned = one.models[0] != model_a
            orders.setdefault(turned, []).append(1 - one.soft if turned else one.soft)
        elif isinstance(one.verdict, Preference):
            return None
    return fmean(map(fmean, orders.values())) if orders else None


def _sign(one: ExportedShowing, model_a: str) -> int | None:
    verdict = one.verdict
    if not isinstance(verdict, Preference):
        return None
    return verdict.sign if one.models[0] == model_a else -verdict.sign
