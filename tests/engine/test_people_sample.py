"""Claims about the questions drawn for people."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.errors import Misuse
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.response import REFERENCE, Response
from evenhand.engine.tasks.people_sample import people_sample, task_of
from tests.refusals import refused

ITEMS = tuple(
    Item(label=f"{task}-{n}", instruction=f"Do {task} {n}.", task=f"task {task}")
    for task in range(51)
    for n in range(15)
)
OFFICIAL = Benchmark(name="creation", items=ITEMS, licence="", citation="", protocols=())


@given(st.integers(0, 5))
def test_two_of_each_of_51_tasks_are_102_questions(seed: int):
    sample = people_sample(OFFICIAL, [], per_task=2, seed=seed, against=None)
    assert Counter(task_of(item) for item in sample.items) == Counter({f"task {task}": 2 for task in range(51)})
    assert sample.study.purpose == "people"
    assert (sample.wanted, sample.short) == (0, ())


def test_another_seed_draws_others_and_the_same_seed_the_same():
    drawn = [people_sample(OFFICIAL, [], per_task=2, seed=seed, against=None) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1]
    assert drawn[0].items != drawn[2].items


def test_more_questions_hold_the_fewer():
    few, more = (people_sample(OFFICIAL, [], per_task=count, seed=1, against=None).items for count in (2, 3))
    assert set(few) < set(more)


def test_three_models_against_the_reference_are_306_comparisons():
    answers = [
        Response(item=item.digest, model=name, text=name) for item in ITEMS for name in ("X", "Y", "Z", REFERENCE)
    ]
    sample = people_sample(OFFICIAL, answers, per_task=2, seed=1, against=REFERENCE)
    assert sample.wanted == 306
    assert sample.study.models == ("X", "Y", "Z", REFERENCE)
    assert sample.study.against == REFERENCE


def test_a_task_with_too_few_items_is_told():
    small = Benchmark(name="b", items=(*ITEMS[:3], ITEMS[15]), licence="", citation="", protocols=())
    assert people_sample(small, [], per_task=2, seed=0, against=None).short == (("task 1", 1),)


def test_a_baseline_without_answers_is_refused():
    answers = [Response(item=item.digest, model="X", text="x") for item in ITEMS]
    with refused(Misuse, "'W'", code="EH-ANSWERS-OF-MODEL"):
        people_sample(OFFICIAL, answers, per_task=1, seed=0, against="W")
