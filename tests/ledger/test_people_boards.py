"""Whatever people and owners do, and in whichever order: a study's page and its board count what was said there."""

import tempfile
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.domain.item import Benchmark, Item
from evenhand.domain.response import Response
from evenhand.ledger.read.people_boards import people_parts
from evenhand.ledger.read.projection import studies
from evenhand.ledger.read.votes import judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.upkeep.check import check
from evenhand.site.accounts.store import Invite, Person, invite, join
from evenhand.site.people import saying
from evenhand.site.people.changes import give_back, renew_answers, set_people_study
from evenhand.site.people.comparisons import ComparisonTask, PersonShare, find_place, find_task
from evenhand.site.people.forms import AskedStudy, Pairs, Sharing
from evenhand.site.people.plan import PeopleStudyError
from evenhand.site.people.saying import Paused, ShownAnew
from evenhand.site.people.studies import make_people_study, people_studies, people_votes, progress, take_place
from tests.database import url_in
from tests.examples import examples

ITEMS = tuple(Item(label=str(n), instruction=f"What is {n}?") for n in range(3))
BENCHMARK = Benchmark(name="numbers", items=ITEMS, licence="CC0-1.0", citation="", protocols=())
MODELS = ("amber", "blue")
CHOICES = ("A", "B")

Shown: TypeAlias = tuple[str, str, str]
"""An item and two texts, in the order shown."""
Step: TypeAlias = tuple[str, int, int, int]

steps = st.lists(
    st.tuples(
        st.sampled_from(["take", "say", "say", "say", "say late", "free", "replace", "renew", "close"]),
        st.integers(0, 1),
        st.integers(0, 1),
        st.integers(0, 5),
    ),
    min_size=12,
    max_size=30,
)


@cache
def beginning() -> bytes:
    """A ledger with two studies alike for two people."""
    with tempfile.TemporaryDirectory() as folder:
        with closing(Ledger(url_in(Path(folder)))) as ledger:
            ledger.register_benchmark(BENCHMARK)
            ledger.add_responses(
                [
                    Response(item=item.digest, model=model, text=f"{model} {item.label}")
                    for item in ITEMS
                    for model in MODELS
                ]
            )
            asked = AskedStudy(
                data=BENCHMARK.digest, form="forced", pairs=Pairs(models=MODELS), sharing=Sharing(people=2, each=2)
            )
            for _ in range(2):
                make_people_study(ledger, asked, made_by=None)
        return (Path(folder) / "ledger.db").read_bytes()


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    ledger: Ledger
    studies: tuple[str, ...]
    people: tuple[Person, ...]
    texts: dict[tuple[str, str], str]
    """The answers that stand, by item and model."""
    said: dict[tuple[str, str], dict[Shown, str]] = field(default_factory=dict[tuple[str, str], dict[Shown, str]])
    """Of each study and person: the last word on each showing, since they took the place they have."""
    closed: set[str] = field(default_factory=set[str])

    def place(self, study: str, person: Person) -> PersonShare | None:
        if (study, person.id) not in self.said:
            return None
        return find_place(self.ledger, take_place(self.ledger, study, person))

    def do(self, step: Step) -> None:
        what, study, person, number = step
        one, who = self.studies[study], self.people[person]
        place = self.place(one, who)
        match what:
            case "take" if place is None:
                take_place(self.ledger, one, who)
                self.said[one, who.id] = {}
            case "free" if place is not None:
                self._free(place, who)
            case "replace":
                self._replace(ITEMS[number % 3], MODELS[study])
            case "renew":
                renew_answers(self.ledger, one)
            case "close":
                (self.closed.remove if one in self.closed else self.closed.add)(one)
                set_people_study(self.ledger, one, "closed", on=one in self.closed)
            case "say" | "say late" if place is not None:
                self._say(place, who, number, late=what == "say late")
            case _:
                pass

    def _free(self, place: PersonShare, who: Person) -> None:
        kept = place.judged
        try:
            give_back(self.ledger, place.id, who)
        except PeopleStudyError:
            assert kept == place.tasks
            return
        if not kept:
            del self.said[place.study, who.id]

    def _replace(self, item: Item, model: str) -> None:
        text = f"{self.texts[item.digest, model]}, or rather"
        self.texts[item.digest, model] = text
        self.ledger.add_responses([Response(item=item.digest, model=model, text=text)], replace=True)

    def _say(self, place: PersonShare, who: Person, number: int, *, late: bool) -> None:
        """`late`: after the owner asked about the present answers."""
        task = find_task(self.ledger, place, 1 + number % place.tasks)
        assert task is not None
        if late:
            renew_answers(self.ledger, place.study)
        choice = CHOICES[number % 2]
        verdict = place.form.preference(choice)
        assert verdict is not None
        try:
            saying.say(self.ledger, place, task.number, verdict, showing=task.showing)
        except Paused:
            assert place.study in self.closed
        except ShownAnew:
            now = find_task(self.ledger, place, task.number)
            assert late
            assert now is not None
            assert now.answers != task.answers
        else:
            self.said[place.study, who.id][shown(task)] = choice


def shown(task: ComparisonTask) -> Shown:
    return (task.item.digest, *task.answers)


@pytest.mark.sqlite("each example is a copy of the bytes of a SQLite file")
@settings(max_examples=examples(40), deadline=None)
@given(steps)
@pytest.mark.slow
def test_page_and_board_of_a_study_count_what_was_said_in_it_and_nothing_else(taken: list[Step]):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        path.write_bytes(beginning())
        with closing(Ledger(f"sqlite:///{path}")) as ledger:
            world = World(
                ledger=ledger,
                studies=tuple(one.id for one in people_studies(ledger)),
                people=tuple(
                    join(ledger, invite(ledger, Invite(role="annotator")).token, name).person for name in ("Ada", "Eve")
                ),
                texts={(item.digest, model): f"{model} {item.label}" for item in ITEMS for model in MODELS},
            )
            for step in taken:
                world.do(step)
            for study in world.studies:
                held_against(world, study)
            assert check(ledger) == []


def held_against(world: World, study: str) -> None:
    ledger, standing = world.ledger, set(world.texts.values())
    wanted, judged, counted = 0, 0, list[tuple[str, str, int]]()
    for who in world.people:
        place = world.place(study, who)
        tasks = [] if place is None else [find_task(ledger, place, number + 1) for number in range(place.tasks)]
        for task in filter(None, tasks):
            said = world.said[study, who.id].get(shown(task))
            assert task.said.choice == said
            wanted += 1
            judged += said is not None
            if said is not None and {*task.answers} <= standing:
                counted.append((who.id, task.item.digest, 1 if said == "A" else -1))
    assert sum(one.judged for one in progress(ledger, study)) == judged
    assert sorted((vote.rater, vote.item, vote.value) for vote in people_votes(ledger, study)) == sorted(counted)
    records = next((part.records for part in people_parts(ledger) if part.study == study), frozenset[str]())
    shares = [one for one in studies(ledger, everything=True) if one.key in records]
    assert {one.key for one in studies(ledger)} >= records
    if shares:
        board = judged_battles(ledger, shares)
        assert len(board.votes) == len(counted)
        assert (board.coverage.wanted, board.coverage.with_verdict) == (wanted, len(counted))
