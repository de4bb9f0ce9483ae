"""Claims about who is asked to compare what, in which order and on which side."""

from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.item import Item
from evenhand.domain.study import Study, wanted, wanted_count
from evenhand.domain.verdict import Preference
from evenhand.site.people.forms import (
    FORMS,
    Drawn,
    FormName,
    Pairs,
    Sharing,
    comparisons,
    divided,
    drawn_items,
    spread,
)

MODELS = ("amber", "blue", "coral", "reference")
ITEMS = tuple(f"item-{number}" for number in range(6))
EVERY = dict.fromkeys(ITEMS, 1.0)
ANSWERS = {item: {model: f"{item}/{model}" for model in MODELS} for item in ITEMS}


@st.composite
def sharings(draw: st.DrawFn) -> Sharing:
    people = draw(st.integers(1, 7))
    return Sharing(
        people=people,
        each=draw(st.integers(1, people)),
        overlap=draw(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0])),
        seed=draw(st.integers(0, 3)),
    )


@given(st.integers(0, 40), sharings())
def test_every_comparison_is_seen_by_as_many_as_the_numbers_say(number: int, sharing: Sharing):
    places = divided(number, sharing)
    assert len(places) == sharing.people
    seen = Counter(showing.comparison for place in places for showing in place)
    for_all = sharing.for_all(number)
    if sharing.each < sharing.people:
        assert sorted(seen.values()) == [sharing.each] * (number - for_all) + [sharing.people] * for_all
    else:
        assert list(seen.values()) == [sharing.people] * number


@given(st.integers(0, 40), sharings())
def test_nobody_sees_a_comparison_twice_and_nobody_does_more_than_one_more(number: int, sharing: Sharing):
    places = divided(number, sharing)
    for place in places:
        assert len({showing.comparison for showing in place}) == len(place)
    assert max(map(len, places)) - min(map(len, places)) <= 1


@given(st.integers(0, 40), sharings())
def test_a_comparison_is_seen_as_often_one_way_round_as_the_other(number: int, sharing: Sharing):
    sides: Counter[int] = Counter()
    for place in divided(number, sharing):
        for showing in place:
            sides[showing.comparison] += 1 if showing.swapped else -1
    assert all(abs(difference) <= 1 for difference in sides.values())


@given(st.integers(0, 40), sharings())
def test_a_seed_gives_the_same_places_again(number: int, sharing: Sharing):
    assert divided(number, sharing) == divided(number, sharing)


def test_another_seed_gives_other_places():
    first, second = (divided(30, Sharing(people=3, each=2, seed=seed)) for seed in (1, 2))
    assert first != second


def test_each_person_has_an_order_and_sides_of_their_own():
    places = divided(30, Sharing(people=3, each=3, seed=1))
    orders = [[showing.comparison for showing in place] for place in places]
    assert all(order != sorted(order) for order in orders)
    assert all(one != other for one, other in combinations(orders, 2))
    swapped = [{showing.comparison for showing in place if showing.swapped} for place in places]
    assert all(one != other for one, other in combinations(swapped, 2))
    # Thirty fair coins show at least five of each side, but once in 10,000 times.
    assert all(5 <= len(some) <= 25 for some in swapped)


def test_the_side_says_nothing_about_who_is_behind_in_work():
    """With one person a comparison, the side must not follow from who takes it."""
    places = divided(400, Sharing(people=2, each=1, seed=0))
    for place in places:
        assert 70 <= sum(showing.swapped for showing in place) <= 130


def test_people_of_overlapping_shares_meet_all_the_others():
    places = [
        {showing.comparison for showing in place} for place in divided(60, Sharing(people=5, each=2, overlap=0.0))
    ]
    assert all(one & other for one, other in combinations(places, 2))


@pytest.mark.parametrize(("overlap", "number", "for_all"), [(0.5, 3, 2), (0.5, 4, 2), (0.1, 4, 0), (0.1, 5, 1)])
def test_the_part_for_all_is_rounded_half_up(overlap: float, number: int, for_all: int):
    assert Sharing(people=2, each=1, overlap=overlap).for_all(number) == for_all


@pytest.mark.parametrize(
    ("people", "each", "overlap"), [(2, 3, 0.0), (0, 0, 0.0), (2, 0, 0.0), (2, 1, 1.5), (2, 1, -0.1)]
)
def test_what_cannot_be_divided_is_refused(people: int, each: int, overlap: float):
    with pytest.raises(ValueError, match="divided"):
        Sharing(people=people, each=each, overlap=overlap)


def test_all_pairs_are_every_two_models_on_every_item():
    found = comparisons(EVERY, Pairs(models=MODELS[:3]), ANSWERS, most=None, seed=0)
    assert len(found) == len(set(found)) == 18
    assert {one.pair for one in found} == {("amber", "blue"), ("amber", "coral"), ("blue", "coral")}


def test_against_one_pairs_nobody_else():
    pairs = Pairs(who="against", models=MODELS, against="reference")
    assert pairs.met() == [("amber", "reference"), ("blue", "reference"), ("coral", "reference")]


def test_a_pair_given_both_ways_round_is_one_pair():
    pairs = Pairs(who="given", given=(("coral", "amber"), ("amber", "coral"), ("blue", "coral")))
    assert pairs.met() == [("amber", "coral"), ("blue", "coral")]


def test_only_what_both_answered_is_compared():
    answers = {**ANSWERS, "item-0": {"amber": "x"}, "item-1": {}}
    found = comparisons(EVERY, Pairs(models=("amber", "blue")), answers, most=None, seed=0)
    assert [one.item for one in found] == list(ITEMS[2:])


@given(most=st.integers(0, 20), seed=st.integers(0, 5))
def test_no_item_is_compared_twice_before_every_item_is_compared_once(most: int, seed: int):
    pairs = Pairs(models=MODELS[:3])
    every = comparisons(EVERY, pairs, ANSWERS, most=None, seed=seed)
    found = comparisons(EVERY, pairs, ANSWERS, most=most, seed=seed)
    assert len(found) == min(most, 18)
    among = {(one.item, one.pair) for one in found}
    assert [(one.item, one.pair) for one in every if (one.item, one.pair) in among] == [
        (one.item, one.pair) for one in found
    ]
    counts = Counter(dict.fromkeys(ITEMS, 0) | Counter(one.item for one in found))
    assert max(counts.values()) - min(counts.values()) <= 1
    for item in ITEMS:
        assert sorted(one.turn for one in found if one.item == item) == list(range(counts[item]))


@pytest.mark.parametrize("most", [4, 13, *(pytest.param(one, marks=pytest.mark.slow) for one in (1, 6, 8))])
def test_the_probability_told_is_the_share_of_draws_that_take_a_comparison(most: int):
    """Of items that two, three or all models answered, and that were drawn unlike themselves."""
    answers = {**ANSWERS, "item-0": {"amber": "x", "blue": "y"}, "item-1": {"amber": "x", "blue": "y", "coral": "z"}}
    items = {item: 0.5 if item == "item-2" else 1.0 for item in ITEMS}
    pairs, draws = Pairs(models=MODELS), 3000
    counted: Counter[tuple[str, tuple[str, str]]] = Counter()
    told: dict[tuple[str, tuple[str, str]], float] = {}
    for seed in range(draws):
        for one in comparisons(items, pairs, answers, most=most, seed=seed):
            counted[one.item, one.pair] += 1
            told[one.item, one.pair] = one.probability / items[one.item]
    assert len(told) == 1 + 3 + 4 * 6
    for one, probability in told.items():
        spread_of_share = (probability * (1 - probability) / draws) ** 0.5
        assert abs(counted[one] / draws - probability) <= 4.5 * spread_of_share + 1e-12, one
    assert sum(told.values()) == pytest.approx(most)


@given(
    st.lists(st.sampled_from("abc"), max_size=12), st.integers(0, 12), st.integers(0, 3)
)  # fmt: skip
def test_what_is_drawn_leaves_no_group_behind_while_it_has_more(groups: list[str], most: int, seed: int):
    things = list(enumerate(groups))
    found = spread(things, group=lambda one: one[1], name=lambda one: str(one[0]), most=most, seed=seed)
    assert [one.thing for one in found] == sorted(one.thing for one in found)
    assert len(found) == min(most, len(things))
    there, drawn = Counter(groups), Counter(one.thing[1] for one in found)
    for one in there:
        for other in there:
            assert drawn[one] >= min(drawn[other] - 1, there[one])


def labels(drawn: list[Drawn[Item]]) -> list[str]:
    return [one.thing.label for one in drawn]


def test_drawing_more_keeps_what_fewer_drew():
    items = [Item(label=str(n), instruction=str(n), task=f"task {n % 3}") for n in range(12)]
    drawn = [{*labels(drawn_items(items, category=None, most=most, seed=4))} for most in range(13)]
    assert all(fewer < more for fewer, more in pairwise(drawn))
    two_each = [item for item in items if item.label in drawn[6]]
    assert Counter(item.task for item in two_each) == {"task 0": 2, "task 1": 2, "task 2": 2}


def test_items_of_a_small_task_are_drawn_with_a_greater_probability():
    items = [Item(label=str(n), instruction=str(n), task="small" if n < 2 else "large") for n in range(8)]
    drawn = drawn_items(items, category=None, most=3, seed=0)
    assert {one.thing.task: one.probability for one in drawn} == {"small": 1.5 / 2, "large": 1.5 / 6}


def test_a_category_leaves_out_the_others():
    items = [Item(label=str(n), instruction=str(n), category="even" if n % 2 == 0 else "odd") for n in range(6)]
    assert labels(drawn_items(items, category="odd", most=None, seed=0)) == ["1", "3", "5"]


@pytest.mark.parametrize("name", ["forced", "five-level"])
def test_every_choice_of_a_form_is_read_and_written_the_same(name: FormName):
    form = FORMS[name]
    for choice in form.choices:
        preference = form.preference(choice.code)
        assert preference is not None
        assert (preference.value, preference.levels) == (choice.value, form.levels)
        assert form.code(preference) == choice.code
    assert form.preference("C") is None
    assert len({choice.value for choice in form.choices}) == form.levels


def test_the_first_shown_is_the_left_one():
    assert FORMS["forced"].preference("A") == Preference(value=1, levels=2)
    assert FORMS["five-level"].preference("Left>>Right") == Preference(value=2, levels=5)
    assert FORMS["five-level"].preference("Left<Right") == Preference(value=-1, levels=5)


def test_the_two_forms_never_share_a_board():
    forced, five = FORMS["forced"].condition, FORMS["five-level"].condition
    assert forced.protocol != five.protocol
    assert forced.prompt_hash != five.prompt_hash


def test_a_study_of_given_showings_wants_exactly_them():
    showings = (("item-1", "blue", "amber"), ("item-0", "amber", "coral"), ("item-9", "amber", "blue"))
    study = Study(
        benchmark="b", data="d", items=ITEMS, models=MODELS, rater="r", condition="c",
        pairing="given", showings=showings, orders="published",
    )  # fmt: skip
    for shown in (study, replace(study, orders="random")):
        trials = list(wanted(shown, ANSWERS))
        assert [trial.responses for trial in trials] == [
            ("item-1/blue", "item-1/amber"), ("item-0/amber", "item-0/coral"),
        ]  # fmt: skip
    assert wanted_count(study, ANSWERS) == 2
    assert replace(study, showings=showings[:2]).key != study.key
