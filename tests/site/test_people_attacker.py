"""Claims about people's verdicts on a withheld benchmark, played by somebody who adds up all that everybody is shown
while people judge, skip and change their minds, and the owner leaves them out, takes them in, shows studies and hides
them.
"""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import pytest
from sqlalchemy import select, update

import evenhand as eh
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.response import Response
from evenhand.ledger.read.public_benchmarks import close_benchmark, open_benchmark
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.withheld.released import FEWEST, TOO_FEW
from evenhand.reports.errors import RankError
from evenhand.site.accounts.store import Person
from evenhand.site.boards.listing import BoardOnRecord, boards_on_record
from evenhand.site.boards.standings import BoardView, public_battles, ranked, released_of, standings
from evenhand.site.people.changes import set_people_study
from evenhand.site.people.comparisons import PersonShare, find_task
from evenhand.site.people.forms import AskedStudy, Conduct, Pairs, Sharing
from evenhand.site.people.quality import decide
from evenhand.site.people.studies import make_people_study
from tests.database import ledger_in
from tests.ledger.test_people_quality import person, say, taken
from tests.site.house import served
from tests.site.test_attacker import brought_up_to_date

MODELS = ("amber", "blue", "coral")
SKILLS = {"counting": 9, "reading": 7, "maps": 2}
ITEMS = tuple(
    Item(label=f"{skill} {n}", instruction=f"{skill} {n}?", category=skill)
    for skill, number in SKILLS.items()
    for n in range(number)
)
BENCHMARK = Benchmark(name="b", items=ITEMS, licence="CC0-1.0", citation="", protocols=())


@dataclass
class Studies:
    ledger: Ledger
    lots: Random
    ids: list[str] = field(default_factory=list[str])
    places: list[PersonShare] = field(default_factory=list[PersonShare])
    people: list[tuple[str, Person]] = field(default_factory=list[tuple[str, Person]])

    def make(self, who: list[Person], *, each: int, items: int | None = None, most: int | None = None) -> str:
        asked = AskedStudy(
            data=BENCHMARK.digest,
            form="forced",
            pairs=Pairs(models=MODELS),
            sharing=Sharing(people=len(who), each=each, seed=len(self.ids)),
            items=items,
            most=most,
            conduct=Conduct(skips=True),
        )
        study = make_people_study(self.ledger, asked, made_by=None)
        self.ids.append(study)
        for one in who:
            self.places.append(taken(self.ledger, study, one))
            self.people.append((study, one))
        return study

    def judge(self, place: PersonShare, *, most: int = 1000, choices: tuple[str, ...] = ("A", "B")) -> None:
        numbers = list(range(1, place.tasks + 1))
        for number in self.lots.sample(numbers, min(most, len(numbers))):
            say(self.ledger, place, number, self.lots.choice(choices))

    def something_happens(self) -> None:
        match self.lots.choice(("out", "out", "out", "setting", "judge")):
            case "out":
                study, one = self.lots.choice(self.people)
                decide(self.ledger, study, one.id, left_out=self.lots.random() < 0.6, rule="gold", by=None)
            case "setting":
                setting = self.lots.choice(("closed", "shown", "aside"))
                set_people_study(self.ledger, self.lots.choice(self.ids), setting, on=self.lots.random() < 0.6)
            case _:
                place = self.lots.choice(self.places)
                if self.running(place.study):
                    self.judge(place, most=self.lots.choice((1, 4)), choices=("A", "B", "skip"))

    def running(self, study: str) -> bool:
        table = schema.people_studies
        with self.ledger.reading() as connection:
            return connection.execute(select(table.c.closed).where(table.c.id == study)).scalar() is None


@pytest.fixture
def studies(tmp_path: Path) -> Iterator[Studies]:
    with closing(stocked(tmp_path)) as ledger:
        yield Studies(ledger, Random(5))


def stocked(folder: Path) -> Ledger:
    ledger = ledger_in(folder)
    ledger.register_benchmark(BENCHMARK)
    ledger.add_responses(
        [Response(item=one.digest, model=model, text=f"{model} {one.label}") for one in ITEMS for model in MODELS]
    )
    return ledger


@dataclass
class Seen:
    """What everybody was shown so far."""

    ledger: Ledger
    sums: dict[tuple[str, str], set[frozenset[tuple[int, float]]]] = field(
        default_factory=dict[tuple[str, str], set[frozenset[tuple[int, float]]]]
    )
    """Of two models: each sum by what it is of, verdicts with their weights."""
    states: dict[tuple[str | None, str | None, int], object] = field(
        default_factory=dict[tuple[str | None, str | None, int], object]
    )
    """By study, skill and version."""
    moved: int = 0
    """Figures that changed under the number of a version."""

    def look(self) -> None:
        for board in boards_on_record(self.ledger):
            whole = [(None, board)] if board.studies else []
            for study, view in (*whole, *((part.study, board.only(part.study)) for part in board.parts)):
                if view is not None and view.studies:
                    self._look(study, view)

    def _look(self, study: str | None, view: BoardOnRecord) -> None:
        given = released_of(self.ledger, view)
        for skill in (None, *SKILLS):
            asked = BoardView(board=view.id, category=skill, study=study, withheld=True)
            try:
                told = _sums(ranked(self.ledger, view, asked, given).judged)
            except RankError:
                told = {}
            for models, one in told.items():
                self.sums.setdefault(models, set()).add(one)
            self.moved += self.states.setdefault((study, skill, given.version.number), told) != told

    def told_of_few(self) -> list[tuple[tuple[str, str], int]]:
        """Two models and a number of items, fewer than five, whose sum follows from all that was shown."""
        item_of = _items(self.ledger)
        found: list[tuple[tuple[str, str], int]] = []
        for models, sums in self.sums.items():
            verdicts = sorted({number for one in sums for number, _ in one})
            alike: dict[tuple[float, ...], set[str]] = {}
            for number in verdicts:
                weights = tuple(round(dict(one).get(number, 0.0), 7) for one in sums)
                alike.setdefault(weights, set()).add(item_of[number])
            matrix, on = np.array(list(alike)).T, list(alike.values())
            few = [place for place, items in enumerate(on) if len(items) < FEWEST]
            for some in (*combinations(few, 1), *combinations(few, 2)):
                items = set[str]().union(*(on[place] for place in some))
                # Sums of these alone follow where the others leave some of all sums untold.
                others = np.delete(matrix, some, axis=1)
                if len(items) < FEWEST and np.linalg.matrix_rank(others) < np.linalg.matrix_rank(matrix):
                    found.append((models, len(items)))
        return found


def _sums(judged: JudgedBattles) -> dict[tuple[str, str], frozenset[tuple[int, float]]]:
    votes, results = judged.votes, judged.results.rows(judged.voting)
    found: dict[tuple[str, str], set[tuple[int, float]]] = {}
    columns = (results.seq.tolist(), votes.model_a.tolist(), votes.model_b.tolist(), votes.weight.tolist())
    for number, one, other, weight in zip(*columns, strict=True):
        found.setdefault((votes.models[one], votes.models[other]), set()).add((number, weight))
    return {models: frozenset(some) for models, some in found.items()}


def _items(ledger: Ledger) -> dict[int, str]:
    made, trials = schema.judgements, schema.trials
    with ledger.reading() as connection:
        query = select(made.c.seq, trials.c.item).join(trials, trials.c.key == made.c.trial)
        return dict(connection.execute(query).all())


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 4, 7])
def test_whatever_an_owner_and_people_do_no_sum_on_fewer_than_five_items_follows(tmp_path: Path, seed: int):
    with closing(stocked(tmp_path)) as ledger:
        studies, seen = Studies(ledger, Random(seed)), Seen(ledger)
        who = [person(ledger, f"person {number}") for number in range(4)]
        for each, most in ((2, 36), (1, 24)):
            study = studies.make(studies.lots.sample(who, 3), each=each, items=14, most=most)
            set_people_study(ledger, study, "shown", on=True)
        for place in studies.places:
            studies.judge(place, choices=("A", "B", "B", "skip"))
        seen.look()
        for _ in range(14):
            studies.something_happens()
            seen.look()
        assert sum(map(len, seen.sums.values())) > len(seen.sums), "something moved"
        assert (seen.told_of_few(), seen.moved) == ([], 0)


@pytest.mark.slow
def test_while_people_judge_skip_and_change_their_minds_no_sum_on_fewer_than_five_items_follows(tmp_path: Path):
    with closing(stocked(tmp_path)) as ledger:
        studies, seen = Studies(ledger, Random(1)), Seen(ledger)
        study = studies.make([person(ledger, name) for name in ("Ada", "Grace", "Mary")], each=2, items=14)
        set_people_study(ledger, study, "shown", on=True)
        tasks = [(place, number) for place in studies.places for number in range(1, place.tasks + 1)]
        studies.lots.shuffle(tasks)
        for start in range(0, len(tasks), 7):
            again = studies.lots.sample(tasks[:start], min(start, 1)) if start % 3 == 0 else []
            for place, number in (*tasks[start : start + 7], *again):
                say(ledger, place, number, studies.lots.choice(("A", "B", "B", "skip")))
            seen.look()
        assert max(map(len, seen.sums.values())) > 1, "batch after batch"
        assert (seen.told_of_few(), seen.moved) == ([], 0)


def test_no_verdict_of_a_batch_weighs_more_than_another(studies: Studies):
    """Of a skill with two items each is drawn more often than of one with nine, so their verdicts weigh less."""
    study = studies.make([person(studies.ledger)], each=1, items=14)
    studies.judge(studies.places[0])
    set_people_study(studies.ledger, study, "closed", on=True)
    (board,) = boards_on_record(studies.ledger)
    owners, given = public_battles(studies.ledger, board), released_of(studies.ledger, board)
    weights = dict(zip(owners.results.seq.tolist(), owners.results.weight.tolist(), strict=True))
    shown = [dict(one) for one in _sums(given.shown(owners).judged).values()]
    uneven = False
    for batch in given.batches:
        uneven = uneven or len({round(weights[number], 9) for number in batch.judgements}) > 1
        (told,) = (one for one in shown if batch.judgements[0] in one)
        assert len({round(told[number], 9) for number in batch.judgements}) == 1
        assert sum(told[number] for number in batch.judgements) == pytest.approx(
            sum(weights[number] for number in batch.judgements)
        )
    assert uneven


def test_what_two_studies_ask_one_person_about_tells_nothing_of_that_item(studies: Studies):
    """On the board of both the two verdicts share the weight of one; on each study's own the verdict has all of it."""
    who = person(studies.ledger)
    for _ in range(2):
        study = studies.make([who], each=1, most=24)
        studies.judge(studies.places[-1])
        set_people_study(studies.ledger, study, "closed", on=True)
    seen = Seen(studies.ledger)
    seen.look()
    assert {len(sums) >= 3 for sums in seen.sums.values()} == {True}, "each study, and both"
    assert seen.told_of_few() == []


def test_a_share_that_is_of_two_studies_is_released_once(studies: Studies):
    """As before replicates told shares apart. In the second study somebody judged one item besides."""
    first = studies.make([person(studies.ledger, "Ada")], each=1)
    second = studies.make([person(studies.ledger, name) for name in ("Grace", "Mary")], each=2)
    ada, grace, mary = studies.places
    studies.judge(ada)
    for number in range(1, grace.tasks + 1):
        say(studies.ledger, grace, number, "A" if number == 1 else "skip")
    say(studies.ledger, mary, 1, "A")
    places = schema.people_places
    with studies.ledger.writing() as connection:
        record = connection.execute(select(places.c.record).where(places.c.id == ada.id)).scalar_one()
        connection.execute(update(places).where(places.c.id == mary.id).values(record=record))
    seen = Seen(studies.ledger)
    for study in (first, second):
        set_people_study(studies.ledger, study, "closed", on=True)
    seen.look()
    assert seen.sums
    assert seen.told_of_few() == []


def test_items_that_were_skipped_do_not_help_to_make_up_a_batch(studies: Studies):
    """Of five items with one verdict the sum would be that verdict."""
    study = studies.make([person(studies.ledger)], each=1)
    set_people_study(studies.ledger, study, "shown", on=True)
    (place,) = studies.places
    said: dict[frozenset[str], int] = {}
    for number in range(1, place.tasks + 1):
        models = _models(studies.ledger, place, number)
        said[models] = said.get(models, 0) + 1
        say(studies.ledger, place, number, "A" if said[models] < FEWEST else "skip")
    (board,) = boards_on_record(studies.ledger)
    given = released_of(studies.ledger, board)
    assert set(said.values()) == {len(ITEMS)}
    assert (given.version.number, given.batches) == (0, ())
    of_two = [n for n in range(1, place.tasks + 1) if _models(studies.ledger, place, n) == frozenset(MODELS[:2])]
    say(studies.ledger, place, of_two[-1], "B")
    assert [one.models for one in released_of(studies.ledger, board).batches] == [MODELS[:2]]


def test_who_changed_their_mind_counts_as_others_do_unless_what_they_said_before_was_released(studies: Studies):
    """Of five items that changed, and a sixth, the sum would be the sixth's: each of the five was told by its batch."""
    study = studies.make([person(studies.ledger)], each=1)
    (place,) = studies.places
    of_two = [n for n in range(1, place.tasks + 1) if _models(studies.ledger, place, n) == frozenset(MODELS[:2])]
    for number in range(1, place.tasks + 1):
        say(studies.ledger, place, number, "A" if number in of_two[:FEWEST] else "skip")
    say(studies.ledger, place, of_two[0], "B")
    set_people_study(studies.ledger, study, "shown", on=True)
    (board,) = boards_on_record(studies.ledger)
    released = released_of(studies.ledger, board).batches
    assert [one.models for one in released] == [MODELS[:2]]
    for number in of_two[:FEWEST]:
        say(studies.ledger, place, number, "A" if number == of_two[0] else "B")
    say(studies.ledger, place, of_two[FEWEST], "A")
    assert released_of(studies.ledger, board).batches == released
    for number in of_two[FEWEST + 1 : 2 * FEWEST]:
        say(studies.ledger, place, number, "A")
    assert len(released_of(studies.ledger, board).batches) == 2


def _models(ledger: Ledger, place: PersonShare, number: int) -> frozenset[str]:
    shown = find_task(ledger, place, number)
    assert shown is not None
    return frozenset(answer.partition(" ")[0] for answer in shown.answers)


def test_figures_that_change_have_a_new_number_and_others_keep_theirs(studies: Studies):
    """One person compared two models on few items, so without them the others' verdicts on these go too."""
    who = [person(studies.ledger, name) for name in ("Ada", "Grace")]
    study = studies.make(who, each=1)
    for place in studies.places:
        studies.judge(place)
    set_people_study(studies.ledger, study, "closed", on=True)

    def version(out: int | None) -> tuple[int, int]:
        for number, one in enumerate(who):
            decide(studies.ledger, study, one.id, left_out=number == out, rule="gold", by=None)
        (board,) = boards_on_record(studies.ledger)
        given = released_of(studies.ledger, board)
        again = released_of(studies.ledger, board)
        assert again.version == given.version
        return given.version.number, len(given.shown(public_battles(studies.ledger, board)).judged.results)

    found = [version(out) for out in (None, 0, 0, 1, None)]
    numbers, counted = zip(*found, strict=True)
    assert numbers == (1, 2, 2, 3, 4)
    assert counted[0] == counted[4] == len(ITEMS) * 3
    assert counted[1] < counted[0]


def test_a_person_who_begins_and_changes_what_others_verdicts_weigh_gives_a_new_version(studies: Studies):
    """A study's verdicts weigh one on average, over those whom anybody has heard of."""
    study = studies.make([person(studies.ledger, name) for name in ("Ada", "Grace")], each=1, items=14)
    set_people_study(studies.ledger, study, "shown", on=True)
    first, second = studies.places
    studies.judge(first)
    seen = Seen(studies.ledger)
    seen.look()
    say(studies.ledger, second, 1, "A")
    seen.look()
    assert max(map(len, seen.sums.values())) == 2, "the same verdicts weigh otherwise"
    assert (seen.moved, max(version for _, _, version in seen.states)) == (0, 2)
    seen.look()
    assert (seen.moved, max(version for _, _, version in seen.states)) == (0, 2)


def test_a_person_who_begins_in_another_study_gives_a_new_version_of_the_board_of_both(studies: Studies):
    """Where both ask one person the same, the verdict weighs as the one of them says that was read last."""
    ada, grace = (person(studies.ledger, name) for name in ("Ada", "Grace"))
    for _ in range(2):
        study = studies.make([ada, grace], each=1, items=14)
        set_people_study(studies.ledger, study, "shown", on=True)
    first, _, third, fourth = studies.places
    studies.judge(first)
    say(studies.ledger, third, 1, "A")
    seen = Seen(studies.ledger)
    seen.look()
    say(studies.ledger, fourth, 1, "A")
    seen.look()
    of_both = {states for (study, skill, _), states in _frozen(seen).items() if (study, skill) == (None, None)}
    assert len(of_both) == 2, "the same verdicts weigh otherwise"
    assert seen.moved == 0


def _frozen(seen: Seen) -> dict[tuple[str | None, str | None, int], str]:
    return {key: repr(state) for key, state in seen.states.items()}


def test_a_version_of_an_earlier_evenhand_is_read_and_numbered_on(studies: Studies):
    study = studies.make([person(studies.ledger)], each=1)
    studies.judge(studies.places[0])
    set_people_study(studies.ledger, study, "closed", on=True)
    (board,) = boards_on_record(studies.ledger)
    before = released_of(studies.ledger, board)
    table = schema.board_versions
    with studies.ledger.writing() as connection:
        content = json.loads(connection.execute(select(table.c.content)).scalar_one())
        connection.execute(update(table).values(content=json.dumps(content["batches"])))
    brought_up_to_date(studies.ledger)
    after = released_of(studies.ledger, board)
    assert (after.batches, after.version.number) == (before.batches, before.version.number + 1)
    assert released_of(studies.ledger, board).version == after.version


def test_a_verdict_of_a_study_that_nobody_saw_while_the_benchmark_was_open_is_as_secret_as_others(studies: Studies):
    """One person judged a single item then, the other all of hers since, and the one is left out."""
    who = [person(studies.ledger, name) for name in ("Ada", "Grace")]
    study = studies.make(who, each=1)
    ada, grace = studies.places
    open_benchmark(studies.ledger, BENCHMARK.digest, by=None)
    say(studies.ledger, ada, 1, "A")
    assert boards_on_record(studies.ledger) == ()
    close_benchmark(studies.ledger, BENCHMARK.digest)
    for number in range(2, ada.tasks + 1):
        say(studies.ledger, ada, number, "skip")
    studies.judge(grace)
    set_people_study(studies.ledger, study, "closed", on=True)
    seen = Seen(studies.ledger)
    seen.look()
    assert any(number == 1 for sums in seen.sums.values() for one in sums for number, _ in one), "it is in a batch"
    decide(studies.ledger, study, who[0].id, left_out=True, rule="gold", by=None)
    seen.look()
    assert seen.told_of_few() == []


def test_somebody_is_left_out_of_what_few_items_hide_while_a_benchmark_that_holds_the_others_is_open(studies: Studies):
    """The one judged five items of a batch, four of which everybody reads one by one since."""
    who = [person(studies.ledger, name) for name in ("Ada", "Grace")]
    study = studies.make(who, each=2)
    ada, grace = studies.places
    hers: set[str] = set()
    for number in range(1, ada.tasks + 1):
        task = find_task(studies.ledger, ada, number)
        assert task is not None
        chosen = task.item.category == "counting" and _models(studies.ledger, ada, number) == frozenset(MODELS[:2])
        chosen = chosen and len(hers) < FEWEST
        say(studies.ledger, ada, number, "A" if chosen else "skip")
        hers |= {task.item.digest} if chosen else set()
    studies.judge(grace)
    set_people_study(studies.ledger, study, "closed", on=True)
    shown = [_shown(studies.ledger)]
    opened = replace(BENCHMARK, name="open", items=tuple(one for one in ITEMS if one.digest in {*sorted(hers)[1:]}))
    studies.ledger.register_benchmark(opened)
    open_benchmark(studies.ledger, opened.digest, by=None)
    shown.append(_shown(studies.ledger))
    decide(studies.ledger, study, who[0].id, left_out=True, rule="gold", by=None)
    shown.append(_shown(studies.ledger))
    item_of = _items(studies.ledger)
    secret = [{item_of[number] for number in one} - {item.digest for item in opened.items} for one in shown]
    assert [len(one) for one in secret[:2]] == [len(ITEMS) - len(opened.items)] * 2
    for one, other in combinations(shown, 2):
        told = {item_of[number] for number in one ^ other} - {item.digest for item in opened.items}
        assert not told or len(told) >= FEWEST


def _shown(ledger: Ledger) -> set[int]:
    """The verdicts on the first two models that everybody may count."""
    (board,) = boards_on_record(ledger)
    sums = _sums(released_of(ledger, board).shown(public_battles(ledger, board)).judged)
    return {number for number, _ in sums[MODELS[:2]]}


def test_everybody_and_the_owner_are_told_who_goes_and_what_may_go_with_them(studies: Studies):
    who = [person(studies.ledger, name) for name in ("Ada", "Grace")]
    study = studies.make(who, each=2)
    with served(studies.ledger) as house:
        owner, visitor = house.signed_in("owner"), house.visitor()
        for place in studies.places:
            studies.judge(place)
        warned = 'id="released"'
        assert warned not in owner.get(f"/admin/studies/{study}").text
        set_people_study(studies.ledger, study, "closed", on=True)
        assert warned in owner.get(f"/admin/studies/{study}").text
        (board,) = (one["board"] for one in visitor.get("/api/boards").json()["boards"])
        told = [visitor.get(f"/api/boards/{board}").json()]
        decide(studies.ledger, study, who[0].id, left_out=True, rule="gold", by=None)
        told += [client.get(f"/api/boards/{board}").json() for client in (visitor, owner)]
        open_benchmark(studies.ledger, BENCHMARK.digest, by=None)
        assert warned not in owner.get(f"/admin/studies/{study}").text
    assert [one["people_left_out"] for one in told] == [0, 1, 1]
    assert [one.get("version") for one in told] == [1, 2, None]
    board_of_all = eh.rank(studies.ledger, eh.Choice(judge="people"))
    assert "Left out: 1 person, by the owner of their study." in board_of_all.notes


def test_what_is_not_shown_because_its_batch_lost_some_is_not_said_to_be_too_little(studies: Studies):
    """Two people shared the items, so each judged about half of every batch."""
    who = [person(studies.ledger, name) for name in ("Ada", "Grace")]
    study = studies.make(who, each=1, items=14)
    for place in studies.places:
        studies.judge(place)
    set_people_study(studies.ledger, study, "closed", on=True)
    with served(studies.ledger) as house:
        visitor = house.visitor()
        (board,) = (one["board"] for one in visitor.get("/api/boards").json()["boards"])
        assert visitor.get(f"/api/boards/{board}").json()["version"] == 1
        decide(studies.ledger, study, who[1].id, left_out=True, rule="gold", by=None)
        said = visitor.get(f"/api/boards/{board}").json()["error"]
    assert "lost some of their batch" in said
    assert TOO_FEW not in said


@pytest.mark.parametrize(
    ("counting", "reading", "told"), [(4, 0, False), (5, 0, True), (3, 3, False)], ids=["four", "five", "two batches"]
)
def test_how_far_people_agree_is_shown_where_several_judged_five_items_of_a_batch(
    studies: Studies, counting: int, reading: int, told: bool
):
    """One person judged everything, another a few items of two models."""
    study = studies.make([person(studies.ledger, name) for name in ("Ada", "Grace")], each=2)
    everything, few = studies.places
    studies.judge(everything)
    left = {"counting": counting, "reading": reading, "maps": 0}
    for number in range(1, few.tasks + 1):
        shown = find_task(studies.ledger, few, number)
        assert shown is not None
        skill = shown.answers[0].split(" ")[1]
        chosen = left[skill] > 0 and _models(studies.ledger, few, number) == frozenset(MODELS[:2])
        left[skill] -= chosen
        say(studies.ledger, few, number, "A" if chosen else "skip")
    assert not any(left.values())
    set_people_study(studies.ledger, study, "closed", on=True)
    (board,) = boards_on_record(studies.ledger)
    people = standings(studies.ledger, board, BoardView(board=board.id)).people
    assert people is not None
    assert people.sign.value is not None
    with served(studies.ledger) as house:
        who = (house.visitor(), house.signed_in("owner"))
        everybody, owner = (client.get(f"/boards/{board.id}").text for client in who)
    why = f"what several of them judged is on {TOO_FEW}"
    assert (why not in everybody, why not in owner) == (told, True)


def test_how_far_people_agree_is_not_shown_of_what_a_batch_lost_somebody_of(studies: Studies):
    """All judged everything, so what is left of each batch is shown, and the difference would tell of the third."""
    who = [person(studies.ledger, name) for name in ("Ada", "Grace", "Mary")]
    study = studies.make(who, each=3)
    for place in studies.places:
        studies.judge(place)
    set_people_study(studies.ledger, study, "closed", on=True)
    told: list[tuple[int, bool]] = []
    for out in (False, True, False):
        decide(studies.ledger, study, who[2].id, left_out=out, rule="gold", by=None)
        (board,) = boards_on_record(studies.ledger)
        given = released_of(studies.ledger, board)
        found = standings(studies.ledger, board, BoardView(board=board.id, withheld=True), given=given)
        assert found.people is not None
        told.append((found.votes, found.people.sign.value is not None))
    each = len(ITEMS) * 3
    assert told == [(3 * each, True), (2 * each, False), (3 * each, True)]
