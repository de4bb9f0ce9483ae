"""Claims about naming a model whose comparisons end without a verdict: surely where it is so, rarely by chance."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest

from evenhand.stats.reliability.lost_verdicts import LEVEL, Lost, Replied, lost_of_sums, lost_verdicts

Showing = tuple[int, int, int]


def round_robin(items: int, models: int) -> list[Showing]:
    return [(item, one, other) for item in range(items) for one, other in permutations(range(models), 2)]


def against_the_first(items: int, models: int) -> list[Showing]:
    return [one for one in round_robin(items, models) if 0 in one[1:]]


def one_pair_an_item(items: int, models: int) -> list[Showing]:
    pairs = [*combinations(range(models), 2)]
    drawn = [(item, *pairs[item % len(pairs)]) for item in range(items)]
    return [showing for item, one, other in drawn for showing in ((item, one, other), (item, other, one))]


def found(shown: Iterable[Showing], models: int, loses: Callable[[int, int, int], bool]) -> list[Lost]:
    rows = [*shown]
    item, first, second = np.array(rows, dtype=np.int32).reshape(-1, 3).T
    lost = np.array([loses(*row) for row in rows], dtype=np.bool_)
    return lost_verdicts(Replied(item=item, first=first, second=second, lost=lost), models)


def named(those: list[Lost]) -> list[int]:
    return [model for model, one in enumerate(those) if one.more]


@pytest.mark.parametrize(
    ("shown", "models"),
    [
        (round_robin(12, 3), 3),
        (round_robin(8, 4), 4),
        (against_the_first(24, 3), 3),
        (one_pair_an_item(60, 5), 5),
    ],
)
def test_a_model_that_silences_the_judge_in_three_of_four_comparisons_is_named_alone(shown: list[Showing], models: int):
    silencer = models - 1
    those = found(shown, models, lambda item, one, other: silencer in (one, other) and (item + (one > other)) % 4 > 0)
    assert named(those) == [silencer]
    assert those[silencer].lost == pytest.approx(0.75 * those[silencer].of, rel=0.1)
    assert those[silencer].others_lost == 0


@pytest.mark.parametrize("against", [None, 0])
def test_sums_tell_what_showings_that_are_each_of_an_item_of_their_own_tell(against: int | None):
    """Also where one model, the baseline, is in every showing."""
    draw = np.random.default_rng(3)
    models, showings = 5, 400
    first = np.full(showings, against or 0, dtype=np.int32)
    if against is None:
        first = draw.integers(0, models, showings).astype(np.int32)
    second = ((first + draw.integers(1, models, showings)) % models).astype(np.int32)
    lost = draw.random(showings) < np.where((first == 2) | (second == 2), 0.12, 0.05)
    row_by_row = lost_verdicts(
        Replied(item=np.arange(showings, dtype=np.int32), first=first, second=second, lost=lost), models
    )
    of, own = (
        np.bincount(first[rows], minlength=models) + np.bincount(second[rows], minlength=models)
        for rows in (np.ones(showings, dtype=np.bool_), lost)
    )
    by_sums = lost_of_sums(own.tolist(), of.tolist(), int(lost.sum()), showings)
    assert [one.p for one in by_sums] == pytest.approx([one.p for one in row_by_row], rel=1e-9)
    assert [(one.lost, one.of, one.others_lost) for one in by_sums] == [
        (one.lost, one.of, one.others_lost) for one in row_by_row
    ]
    assert [one.more for one in by_sums] == [False, False, True, False, False]


def test_the_figures_are_of_its_showings_and_of_those_without_it():
    one = found(round_robin(12, 3), 3, lambda item, first, second: 2 in (first, second) or item == 0)[2]
    assert (one.lost, one.of, one.others_lost, one.others_of) == (48, 48, 2, 24)


def test_by_hand_three_items_of_three_models_in_each_of_which_one_model_loses_all():
    # On each item the three answers lost 4, 2 and 2: the highest is drawn with 1/3, on all three with 1/27; times 3.
    those = found(round_robin(3, 3), 3, lambda item, one, other: 2 in (one, other))
    assert those[2].p == pytest.approx(3 / 27)
    # With one item more it is 3 / 81, and named.
    assert found(round_robin(4, 3), 3, lambda item, one, other: 2 in (one, other))[2].p == pytest.approx(3 / 81)


def test_of_two_models_neither_is_named_nor_a_baseline():
    assert named(found(round_robin(100, 2), 2, lambda *_: True)) == []
    assert named(found(against_the_first(100, 3), 3, lambda *_: True)) == []


def test_nothing_lost_and_nothing_shown_name_nobody():
    assert named(found(round_robin(10, 4), 4, lambda *_: False)) == []
    assert named(found([], 2, lambda *_: False)) == []


def test_the_other_model_of_a_lost_comparison_is_not_named():
    those = found(round_robin(40, 6), 6, lambda item, one, other: 5 in (one, other))
    assert named(those) == [5]


def test_relabelling_the_models_relabels_the_finding():
    drawn = np.random.default_rng(5).random((30, 4, 4)) < 0.2
    plain = found(round_robin(30, 4), 4, lambda item, one, other: bool(drawn[item, one, other]))
    turned = found(
        [(item, 3 - one, 3 - other) for item, one, other in round_robin(30, 4)],
        4,
        lambda item, one, other: bool(drawn[item, 3 - one, 3 - other]),
    )
    assert [one.p for one in plain] == pytest.approx([one.p for one in reversed(turned)])


Chances = dict[int, Fraction]


def summed(one: Chances, other: Chances) -> Chances:
    found = defaultdict[int, Fraction](Fraction)
    for (lost, p), (more, q) in ((a, b) for a in one.items() for b in other.items()):
        found[lost + more] += p * q
    return found


def battle_by_battle(shown: Iterable[Showing], model: int, loses: Callable[[int, int, int], bool]) -> Fraction | None:
    """By the definition, of so much lost or more: every choice of battles one by one, in whole numbers. None where
    there is no choice."""
    items: dict[int, dict[tuple[int, int], list[bool]]] = {}
    for item, one, other in shown:
        pair = (min(one, other), max(one, other))
        items.setdefault(item, {}).setdefault(pair, []).append(loses(item, one, other))
    total: Chances = {0: Fraction(1)}
    observed, alone = 0, dict[int, list[tuple[bool, bool]]]()
    for battles in items.values():
        if len(battles) == 1:
            ((pair, lost),) = battles.items()
            alone.setdefault(len(lost), []).append((model in pair, any(lost)))
            continue
        players: dict[int, list[int]] = {}
        for pair, lost in battles.items():
            for player in pair:
                players.setdefault(player, []).append(sum(lost))
        if model not in players or not any(any(lost) for lost in battles.values()):
            continue
        observed += sum(players[model])
        number = len(players[model])
        able = [lost for lost in players.values() if len(lost) >= number]
        drawn = defaultdict[int, Fraction](Fraction)
        for lost in able:
            for some in combinations(lost, number):
                drawn[sum(some)] += Fraction(1, comb(len(lost), number) * len(able))
        total = summed(total, drawn)
    for rows in alone.values():
        mine, losing = sum(plays for plays, _ in rows), sum(lost for _, lost in rows)
        observed += sum(plays and lost for plays, lost in rows)
        ways = {k: comb(losing, k) * comb(len(rows) - losing, mine - k) for k in range(min(mine, losing) + 1)}
        total = summed(total, {k: Fraction(n, comb(len(rows), mine)) for k, n in ways.items() if n})
    if len(total) < 2:
        return None
    mean = sum(lost * p for lost, p in total.items())
    return Fraction(1) if observed <= mean else sum((p for lost, p in total.items() if lost >= observed), Fraction(0))


def uneven(drawing: np.random.Generator) -> list[Showing]:
    """Items with many battles, with few and with one; some in both orders, some asked again."""
    pairs = [*permutations(range(5), 2)]
    numbers = [*drawing.integers(2, 9, 12).tolist(), *[1] * 8]
    return [(item, *pairs[at]) for item, many in enumerate(numbers) for at in drawing.integers(0, len(pairs), many)]


@pytest.mark.parametrize("seed", range(12))
def test_uneven_showings_give_what_counting_every_choice_gives(seed: int):
    drawing = np.random.default_rng(seed)
    shown = uneven(drawing)
    weak = drawing.random((20, 5)) < 0.3

    def loses(item: int, one: int, other: int) -> bool:
        return bool(weak[item, one] or (weak[item, other] and one > other))

    by_hand = {model: battle_by_battle(shown, model, loses) for model in range(5)}
    known = sorted((p, model) for model, p in by_hand.items() if p is not None)
    least, expected = Fraction(0), dict.fromkeys(range(5), 1.0)
    for place, (p, model) in enumerate(known):
        least = max(least, min(Fraction(1), p * (len(known) - place)))
        expected[model] = float(least)
    assert [one.p for one in found(shown, 5, loses)] == pytest.approx(list(expected.values()), rel=1e-9)
    assert min(p for p, _ in known) < 1


def test_many_items_of_a_single_battle_are_counted_as_exactly_as_few():
    drawing = np.random.default_rng(2)
    shown = [(item, *pair) for item, pair in enumerate([*permutations(range(3), 2)] * 300)]
    lots = drawing.random(len(shown))

    def loses(item: int, one: int, other: int) -> bool:
        return bool(lots[item] < (0.19 if 2 in (one, other) else 0.15))

    by_hand = battle_by_battle(shown, 2, loses)
    assert by_hand is not None
    assert 0 < by_hand < 0.3
    assert found(shown, 3, loses)[2].p == pytest.approx(float(3 * by_hand), rel=1e-9)


@pytest.mark.parametrize("shown", [round_robin, against_the_first, one_pair_an_item])
@pytest.mark.parametrize("alike", ["showings", "items", "answers"])
def test_by_chance_a_board_names_a_model_seldom(shown: Callable[[int, int], list[Showing]], alike: str):
    boards = 120
    drawing = np.random.default_rng(len(alike))
    wrong = 0
    for _ in range(boards):
        weak = drawing.random((20, 4)) < (0.1 if alike == "answers" else 0)
        share = drawing.beta(0.3, 2.0, 20) if alike == "items" else np.full(20, 0.03 if alike == "answers" else 0.15)
        lots = drawing.random((20, 4, 4))
        wrong += bool(
            named(
                found(
                    shown(20, 4),
                    4,
                    lambda item, one, other: bool(
                        weak[item, one] or weak[item, other] or lots[item, one, other] < share[item]  # noqa: B023
                    ),
                )
            )
        )
    # Three standard errors above the level; whoever takes showings for independent is far beyond it.
    assert wrong / boards < LEVEL + 3 * (LEVEL * (1 - LEVEL) / boards) ** 0.5
