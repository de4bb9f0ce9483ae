"""Claims about a placing's course: whom the newcomer meets, what a look sees, and when a rule is met."""

from dataclasses import replace

import numpy as np
import pytest

from evenhand.domain.errors import Misuse
from evenhand.domain.placing import LookPlan, Until
from evenhand.engine.tasks.placing import Course, Said, calls_there_are
from evenhand.stats.intervals import MANY, reach
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.placing import FrozenBoard
from evenhand.stats.sequential import look_values

MODELS = tuple("abcdefghi")
ITEMS = [f"item {number}" for number in range(60)]
NUMBER = {item: code for code, item in enumerate(ITEMS)}
ANSWERED = dict.fromkeys(ITEMS, frozenset(MODELS))
PLAN = LookPlan(new="new", until=Until.from_text("rank=3"), looks=4, max_calls=100, record=0)


@pytest.fixture(scope="module")
def board() -> FrozenBoard:
    rng = np.random.default_rng(0)
    a, b = np.triu_indices(len(MODELS), 1)
    item = np.repeat(np.arange(len(ITEMS)), 2 * len(a))
    one, other = (np.tile(np.repeat(side, 2), len(ITEMS)) for side in (a, b))
    first = np.tile([1, -1], len(ITEMS) * len(a))
    strength = np.linspace(-2, 2, len(MODELS))
    felt = strength[one] - strength[other] + 0.3 * first + rng.logistic(0, 1, len(item))
    rows = Comparisons(
        models=MODELS,
        model_a=one.astype(np.int32),
        model_b=other.astype(np.int32),
        sign=np.sign(felt).astype(np.int8),
        item=item.astype(np.int32),
        first=first.astype(np.int8),
    )
    return FrozenBoard.of(rows, items=len(ITEMS))


def course(board: FrozenBoard, plan: LookPlan = PLAN, seed: int = 0) -> Course:
    return Course(plan=plan, board=board, number=NUMBER, seed=seed)


def played(one: Course, *, wins: float = 0.5, seed: int = 1) -> list[Said]:
    """To the end of the calls, by a judge of whom the newcomer wins so often."""
    rng, said = np.random.default_rng(seed), list[Said]()
    while shown := one.following(said, ANSWERED):
        said += [Said(shown=each, score=float(rng.random() < wins)) for each in shown]
    return said


def test_the_newcomer_meets_one_of_the_six_nearest_in_an_order_by_lot(board: FrozenBoard) -> None:
    begun = course(board)
    first = begun.following([], ANSWERED)
    assert len(first) == 20
    met = {model for _, *pair in first for model in pair} - {"new"}
    assert met <= set(board.nearest(0.0)[:6])
    assert len(met) > 3
    assert {one[1] == "new" for one in first} == {True, False}
    assert begun.following([], ANSWERED) == first
    assert course(board, seed=1).following([], ANSWERED) != first
    strong = [Said(shown=one, score=1.0) for one in first]
    later = {model for _, *pair in begun.following(strong, ANSWERED) for model in pair} - {"new"}
    assert later <= set(board.nearest(9.0)[:6])


def test_items_come_again_only_when_all_were_asked_and_then_with_another_opponent(board: FrozenBoard) -> None:
    said = played(course(board))
    assert len(said) == 100
    turns = list(dict.fromkeys((one.shown[0], frozenset(one.shown[1:])) for one in said))
    assert len({item for item, _ in turns[:60]}) == 60
    assert len(turns) == len(set(turns)) > 60
    assert [item for item, _ in turns[:60]][: len(turns) - 60] == [item for item, _ in turns[60:]]


def test_newcomers_share_the_order_of_the_items(board: FrozenBoard) -> None:
    one, other = (course(board, replace(PLAN, new=name)).following([], ANSWERED) for name in ("new", "newer"))
    assert [each[0] for each in one] == [each[0] for each in other]


def test_a_batch_ends_at_the_next_look_and_no_call_is_beyond_the_last(board: FrozenBoard) -> None:
    assert PLAN.borders == (25, 50, 75, 100)
    assert [PLAN.next_border(calls) for calls in (0, 20, 25, 40, 99)] == [20, 25, 40, 50, 100]
    assert course(board).following(played(course(board)), ANSWERED) == ()
    assert calls_there_are({"x": frozenset("ab"), "y": frozenset("c")}) == 3


def test_a_look_sees_the_calls_up_to_it_and_no_others(board: FrozenBoard) -> None:
    begun = course(board)
    said = played(begun)
    second = begun.look(2, said)
    alone = board.place(begun.met(said[:50]))
    assert second.placed is not None
    assert alone is not None
    items = len({one.shown[0] for one in said[:50]})
    assert second.reach == pytest.approx(look_values(4)[1] * reach(items) / reach(MANY)), "Student's, of few items"
    assert second.calls == 50
    assert (second.placed.strength, second.placed.error) == (alone.strength, alone.error)
    turned = [*said[:50], *(replace(one, score=1 - (one.score or 0)) for one in said[50:])]
    again = begun.look(2, turned)
    assert again.placed is not None
    assert again.placed.strength == alone.strength
    assert [look.number for look in begun.looks(said[:49])] == [1]


def test_looks_end_where_the_rule_is_met_and_cannot_be_taken_after(board: FrozenBoard) -> None:
    easy = course(board, replace(PLAN, until=Until.from_text("rank=8")))
    said = played(easy)
    looks = easy.looks(said)
    assert [(look.number, look.settled, look.last) for look in looks] == [(1, True, True)]
    assert easy.looks(said, looks) == looks
    hard = course(board, replace(PLAN, until=Until.from_text("width=1")))
    assert [(look.settled, look.last) for look in hard.looks(said)] == [(False, False)] * 3 + [(False, True)]


@pytest.mark.parametrize(
    ("rule", "met"),
    [("rank=8", True), ("rank=0", False), ("above=a", True), ("above=d", False), ("width=5000", True),
     ("width=5", False)],
)  # fmt: skip
def test_each_rule_is_met_when_so_much_is_known(board: FrozenBoard, rule: str, met: bool) -> None:
    one = course(board, replace(PLAN, until=Until.from_text(rule)))
    assert one.look(4, played(course(board))).settled is met


def test_a_tier_is_known_where_those_not_told_apart_are_of_one(board: FrozenBoard) -> None:
    said = played(course(board))
    plan = replace(PLAN, until=Until(kind="tier"))
    for tiers, met in ((range(9), False), ([1] * 9, True)):
        assert replace(course(board, plan), tiers=lambda tiers=tiers: list(tiers)).look(4, said).settled is met


def test_calls_without_a_decision_count_as_calls_and_tell_nothing(board: FrozenBoard) -> None:
    begun = course(board)
    said = [replace(one, score=None) if place % 3 else one for place, one in enumerate(played(begun))]
    assert begun.look(1, said).calls == 25
    assert len(begun.met(said[:25])) == 9
    assert begun.look(1, [replace(one, score=None) for one in said]).placed is None


@pytest.mark.parametrize("text", ["rank", "rank=x", "rank=-1", "tier=2", "above=", "width=0", "width=nan", "best"])
def test_a_rule_that_is_none_is_refused_with_those_that_are(text: str) -> None:
    with pytest.raises(Misuse, match="rank=3"):
        Until.from_text(text)


def test_a_rule_and_a_plan_are_read_as_they_were_written() -> None:
    for text in ("rank=3", "tier", "above=a=b", "width=12.5"):
        assert str(Until.from_text(text)) == text
    plan = replace(PLAN, batch=7, record=12)
    assert LookPlan.from_json(plan.as_json()) == plan
