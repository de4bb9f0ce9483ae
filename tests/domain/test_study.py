"""Claims about which trials a study wants."""

import itertools
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.item import Benchmark, Item
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.domain.study import Answers, Orders, Pairing, Study, wanted, wanted_count
from evenhand.domain.trial import Trial
from evenhand.engine.tasks.judging import Matching, Showing, prepare
from evenhand.protocols.catalog import load_protocol

MODELS = ("amber", "blue", "coral", "reference")
ITEMS = tuple(f"item-{number}" for number in range(6))
ROUND_ROBIN = Study(benchmark="b", data="d", items=ITEMS, models=MODELS, rater="r", condition="c")
DRAWN = replace(ROUND_ROBIN, pairing="random", battles=10)
PAIRS = list(itertools.combinations(MODELS, 2))


def answers_to(items: tuple[str, ...] = ITEMS, models: tuple[str, ...] = MODELS) -> dict[str, dict[str, str]]:
    return {item: {model: f"{item}/{model}" for model in models} for item in items}


ALL = answers_to()


def shown(study: Study, answers: Answers = ALL) -> list[tuple[str, str, str]]:
    """Item, model shown first, model shown second."""
    return [(t.item, *(r.partition("/")[2] for r in t.responses)) for t in wanted(study, answers)]  # pyright: ignore[reportReturnType]


def meetings(study: Study, answers: Answers = ALL) -> list[tuple[str, frozenset[str]]]:
    return [(item, frozenset(pair)) for item, *pair in shown(study, answers)]


studies = st.builds(
    Study,
    benchmark=st.just("b"),
    data=st.just("d"),
    items=st.permutations(ITEMS).map(lambda items: tuple(items[:4])),
    models=st.permutations(MODELS).map(lambda models: tuple(models[:3])),
    rater=st.just("r"),
    condition=st.just("c"),
    pairing=st.sampled_from(["round-robin", "random", "against", "placing"]),
    against=st.sampled_from(MODELS),
    new=st.sampled_from(MODELS[:3]),
    reference_battles=st.integers(0, 8),
    battles=st.none() | st.integers(0, 20),
    orders=st.sampled_from(["both", "published", "reversed", "random"]),
    replicates=st.integers(1, 3),
    seed=st.integers(0, 5),
)
partial_answers = st.lists(st.tuples(st.sampled_from(ITEMS), st.sampled_from(MODELS)), unique=True).map(
    lambda given: {item: {model: f"{item}/{model}" for other, model in given if other == item} for item in dict(given)}
)


def test_round_robin_lets_every_two_models_meet_on_every_item_in_both_orders():
    expected = [
        showing for item in ITEMS for one, other in PAIRS for showing in ((item, one, other), (item, other, one))
    ]
    assert shown(ROUND_ROBIN) == expected


def test_against_lets_everybody_meet_the_baseline_which_is_shown_first_as_published():
    study = replace(ROUND_ROBIN, pairing="against", against="reference", orders="published")
    assert shown(study) == [(item, "reference", model) for item in ITEMS for model in MODELS[:-1]]


def test_reversed_shows_the_other_order_of_published():
    published = shown(replace(ROUND_ROBIN, orders="published"))
    assert shown(replace(ROUND_ROBIN, orders="reversed")) == [(item, b, a) for item, a, b in published]


def test_both_orders_are_the_published_and_the_reversed_ones():
    single: list[Orders] = ["published", "reversed"]
    apart = [trial for orders in single for trial in wanted(replace(ROUND_ROBIN, orders=orders), ALL)]
    assert sorted(t.key for t in apart) == sorted(t.key for t in wanted(ROUND_ROBIN, ALL))


def test_random_order_shows_each_pair_once_and_neither_model_always_first():
    items = tuple(f"item-{number}" for number in range(400))
    study = replace(ROUND_ROBIN, items=items, models=("amber", "blue"), orders="random")
    first = Counter(one for _, one, _ in shown(study, answers_to(items)))
    assert sum(first.values()) == 400
    # 400 fair coins: 5 standard deviations are 50.
    assert 150 <= first["amber"] <= 250


def test_a_random_order_does_not_depend_on_who_is_named_first():
    forth = shown(replace(ROUND_ROBIN, orders="random"))
    back = shown(replace(ROUND_ROBIN, orders="random", models=MODELS[::-1]))
    assert sorted(forth) == sorted(back)


def test_another_seed_draws_other_battles_and_other_orders():
    assert set(meetings(DRAWN)) != set(meetings(replace(DRAWN, seed=1)))
    random_order = replace(ROUND_ROBIN, orders="random")
    assert shown(random_order) != shown(replace(random_order, seed=1))


@given(studies, partial_answers)
def test_as_many_trials_are_wanted_as_are_counted(study: Study, answers: Answers):
    assert wanted_count(study, answers) == sum(1 for _ in wanted(study, answers))


@given(studies, partial_answers)
def test_no_trial_is_wanted_twice_and_none_with_an_answer_that_is_missing(study: Study, answers: Answers):
    trials = list(wanted(study, answers))
    assert len({trial.key for trial in trials}) == len(trials)
    for trial in trials:
        given = answers[trial.item].values()
        assert set(trial.responses) <= set(given)
        assert len(set(trial.responses)) == 2
        assert (trial.rater, trial.condition, trial.attempt) == ("r", "c", 0)


@given(studies)
def test_replicates_are_the_same_showings_again(study: Study):
    times = Counter((t.item, t.responses) for t in wanted(study, ALL))
    assert set(times.values()) <= {study.replicates}
    assert {t.replicate for t in wanted(study, ALL)} <= set(range(study.replicates))


def test_a_pair_is_skipped_only_where_an_answer_is_missing():
    answers = answers_to()
    del answers["item-2"]["blue"]
    del answers["item-4"]
    left_out = set(meetings(ROUND_ROBIN)) - set(meetings(ROUND_ROBIN, answers))
    of_blue = {("item-2", frozenset(pair)) for pair in PAIRS if "blue" in pair}
    assert left_out == of_blue | {("item-4", frozenset(pair)) for pair in PAIRS}


@given(studies, st.integers(0, 20))
def test_more_draws_begin_with_the_same_draws(study: Study, battles: int):
    study = replace(study, pairing="random")
    fewer = list(wanted(replace(study, battles=battles), ALL))
    more = list(wanted(replace(study, battles=battles + 1), ALL))
    assert more[: len(fewer)] == fewer


@given(st.integers(0, 36), st.integers(0, 5))
def test_draws_are_spread_evenly_over_the_pairs(battles: int, seed: int):
    drawn = meetings(replace(DRAWN, battles=battles, seed=seed, orders="published"))
    assert len(drawn) == len(set(drawn)) == battles
    times = Counter(pair for _, pair in drawn)
    counts = [times[frozenset(pair)] for pair in PAIRS]
    assert max(counts) - min(counts) <= 1


def test_draws_without_a_number_are_all_there_is():
    assert set(meetings(replace(DRAWN, battles=None))) == set(meetings(ROUND_ROBIN))
    assert set(meetings(replace(DRAWN, battles=1000))) == set(meetings(ROUND_ROBIN))


@pytest.mark.parametrize("battles", [7, 10, 20])
def test_draws_do_not_depend_on_the_order_of_items_and_models(battles: int):
    study = replace(DRAWN, battles=battles)
    turned = replace(study, items=ITEMS[::-1], models=MODELS[::-1])
    # Where the last round is not whole, which pairs it reaches is settled by lot, not by place.
    assert set(shown(study)) == set(shown(turned))


@pytest.mark.parametrize("pairing", ["round-robin", "random", "against"])
@pytest.mark.parametrize("orders", ["both", "published", "reversed", "random"])
def test_the_order_of_the_answers_files_changes_nothing(pairing: Pairing, orders: Orders):
    items = tuple(Item(label=str(n), instruction=f"What is {n}?", caption=f"the number {n}") for n in range(3))
    benchmark = Benchmark(name="numbers", items=items, licence="CC0", citation="", protocols=())
    responses = [Response(item=i.digest, model=m, text=f"{m} on {i.label}") for m in MODELS for i in items]

    def prepared(given: list[Response]) -> tuple[str, list[Trial]]:
        against = "reference" if pairing == "against" else None
        made = prepare(
            benchmark,
            given,
            items=items,
            judge=Rater(kind="model", name="judge"),
            model="judge",
            showing=Showing(protocol=load_protocol("visit_pairwise")),
            matching=Matching(pairing=pairing, against=against, orders=orders, battles=5),
        )
        trials = list(made.trials())
        assert made.wanted == len(trials) > 0
        return made.study.key, trials

    assert prepared(responses) == prepared(responses[::-1]) == prepared(responses[5:] + responses[:5])


PLACED = replace(ROUND_ROBIN, pairing="placing", new="coral", battles=9, reference_battles=2, orders="published")


def test_a_model_that_joins_plays_the_asked_number_against_the_reference_and_the_rest_against_others():
    opponents = Counter(other for _, pair in meetings(PLACED) for other in pair - {"coral"})
    assert opponents["reference"] == 2
    assert opponents["amber"] + opponents["blue"] == 7
    assert all("coral" in pair for _, pair in meetings(PLACED))


def test_every_item_is_played_before_any_gets_a_second_opponent():
    drawn = [item for item, pair in meetings(replace(PLACED, battles=8)) if "reference" not in pair]
    assert sorted(drawn) == sorted(ITEMS)
    assert len(meetings(replace(PLACED, battles=14))) == 2 + 2 * len(ITEMS)
    assert meetings(replace(PLACED, battles=1000)) == meetings(replace(PLACED, battles=14))


def test_without_a_number_each_item_is_played_once():
    study = replace(PLACED, battles=None, reference_battles=3)
    assert len(meetings(study)) == 3 + len(ITEMS)


def test_the_reference_takes_no_more_than_all_the_battles():
    assert len(meetings(replace(PLACED, battles=4, reference_battles=6))) == 4


def test_where_the_reference_has_no_answers_the_others_play_all_the_battles():
    answers = answers_to(models=MODELS[:3])
    assert len(meetings(PLACED, answers)) == 9


def test_who_joins_later_changes_nothing_of_what_an_earlier_one_drew_against_the_reference():
    earlier = {item for item, pair in meetings(PLACED) if "reference" in pair}
    with_another = replace(PLACED, models=("amber", "blue", "coral", "delta", "reference"))
    later = {
        item for item, pair in meetings(with_another, answers_to(models=with_another.models)) if "reference" in pair
    }
    assert earlier == later


def test_opponents_are_drawn_evenly():
    items = tuple(f"item-{number}" for number in range(400))
    study = replace(PLACED, items=items, battles=400, reference_battles=0)
    opponents = Counter(other for _, pair in meetings(study, answers_to(items)) for other in pair - {"coral"})
    assert opponents["amber"] + opponents["blue"] == 400
    # 400 fair coins: 5 standard deviations are 50.
    assert 150 <= opponents["amber"] <= 250


def test_another_model_that_joins_is_another_study():
    assert PLACED.key != replace(PLACED, new="blue").key
    assert PLACED.key != replace(PLACED, reference_battles=3).key


@pytest.mark.parametrize("battles", [4, len(ITEMS)])
def test_another_seed_draws_other_items_and_other_opponents_for_a_model_that_joins(battles: int):
    # With as many battles as items all are played, so that only the opponents can differ.
    study = replace(PLACED, battles=battles, reference_battles=0)
    draws = [meetings(replace(study, seed=seed)) for seed in range(6)]
    items = {frozenset(item for item, _ in drawn) for drawn in draws}
    assert (len(items) > 1) == (battles < len(ITEMS))
    assert len({frozenset(drawn) for drawn in draws}) > 1
