"""Claims about verdicts that two boards know in different ways: asked again on one of them and read again on both, or
taken from the same replies. What everybody sees of the two never differs in fewer items than a batch has."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import httpx2 as httpx
import pytest
from sqlalchemy import select

from evenhand import protocols
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater, Settings
from evenhand.domain.response import Response
from evenhand.domain.trial import Condition, Trial
from evenhand.domain.verdict import Preference
from evenhand.engine.tasks.extraction import Extractor
from evenhand.engine.tasks.judging import Showing
from evenhand.ledger.read.board_versions import last_version
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.store.rows import trial_from
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import Protocol
from evenhand.reports.board.withheld.released import FEWEST, Release, cells_of, release, released_now
from evenhand.reports.receipts.ladder import asks_the_same
from evenhand.site.boards.listing import boards_on_record
from evenhand.site.boards.standings import public_battles, release_of, released_of
from tests.engine.contest import founded, model_at
from tests.scripted_server import Script, ScriptedServer
from tests.site.house import CONDITION, served
from tests.site.test_attacker import PAIR, judge_all
from tests.site.test_team_attacker import ALL, by_lot, ours, ours_but_one
from tests.site.test_team_attacker import ITEMS as TEAM_ITEMS

ITEMS = [Item(label=str(n), instruction=f"{n}?", reference="r") for n in range(2 * FEWEST + 1)]
SIX = ITEMS[: FEWEST + 1]


def registered(ledger: Ledger, **named: Sequence[Item]) -> dict[str, Benchmark]:
    """Benchmarks of these names, with the answers of two models."""
    found = {
        name: Benchmark(name=name, items=tuple(items), licence="CC0-1.0", citation="", protocols=())
        for name, items in named.items()
    }
    for one in found.values():
        ledger.register_benchmark(one)
        ledger.add_responses([Response(item=item.digest, model=m, text=m) for item in one.items for m in PAIR])
    return found


def trials_on(ledger: Ledger, items: Sequence[Item], *, attempt: int = 0) -> list[Trial]:
    table = schema.trials
    here = table.c.item.in_([one.digest for one in items]) & (table.c.attempt == attempt)
    with ledger.reading() as connection:
        return [trial_from(row) for row in connection.execute(select(table).where(here))]


def says(trials: Sequence[Trial], *, reader: str, otherwise: Sequence[Item] = ()) -> list[Judgement]:
    """The first shown wins; the second on the items on which it is `otherwise`."""
    turned = {one.digest for one in otherwise}
    return [
        Judgement(
            trial=one.key, verdict=Preference(value=-1 if one.item in turned else 1, levels=3), reader=reader,
            calls=(), run="run", at=2.0,
        )
        for one in trials
    ]  # fmt: skip


def asked_again(ledger: Ledger, benchmark: Benchmark, items: Sequence[Item]) -> None:
    """By the study of this benchmark alone, which gets a verdict of each then."""
    table = schema.studies
    with ledger.reading() as connection:
        study = connection.execute(select(table.c.key).where(table.c.benchmark == benchmark.name)).scalar_one()
    again = [replace(one, attempt=1) for one in trials_on(ledger, items)]
    links = [(study, one.key) for one in again]
    ledger.commit(Entries(trials=again, links=links, judgements=says(again, reader="r1")))


def items_counted(visitor: httpx.Client) -> dict[str, int]:
    """By benchmark, on how many items everybody sees verdicts against the reference, in both orders."""
    found = {"whole": 0, "part": 0}
    for one in visitor.get("/api/boards").json()["boards"]:
        shown = visitor.get(f"/api/boards/{one['board']}")
        found[one["benchmark"]] = shown.json()["votes"] // 2 if shown.status_code == 200 else 0
    return found


@pytest.mark.parametrize("turned", [0, 1], ids=["as before", "one otherwise"])
def test_what_one_board_asked_again_and_a_newer_reader_finds_in_the_first_reply_is_no_news_on_another(
    ledger: Ledger, turned: int
):
    """Of five items the first reply could not be read, and `whole`, which has a sixth, asked again. A newer reader
    finds in the first reply what the second said; or on one item something else."""
    shared = ITEMS[:FEWEST]
    known = registered(ledger, whole=SIX, part=shared)
    judge_all(ledger, known["whole"], SIX, unread=[one.digest for one in shared])
    judge_all(ledger, known["part"], shared, unread=[one.digest for one in shared])
    asked_again(ledger, known["whole"], shared)
    with served(ledger) as house:
        visitor = house.visitor()
        assert items_counted(visitor) == {"whole": len(SIX), "part": 0}
        ledger.commit(Entries(judgements=says(trials_on(ledger, shared), reader="r2", otherwise=shared[:turned])))
        assert items_counted(visitor) == {"whole": 0 if turned else len(SIX), "part": 0}


@pytest.mark.parametrize("linked", [False, True], ids=["asked again alone", "asked both times"])
def test_what_the_smaller_board_asked_again_is_no_news_on_the_larger_either(ledger: Ledger, linked: bool):
    """Nor where it has nothing of the first time, which the larger one asked."""
    shared = ITEMS[:FEWEST]
    known = registered(ledger, whole=SIX, part=shared)
    unread = [one.digest for one in shared]
    judge_all(ledger, known["whole"], SIX, unread=unread)
    judge_all(ledger, known["part"], shared, unread=unread, unasked=() if linked else unread)
    asked_again(ledger, known["part"], shared)
    with served(ledger) as house:
        visitor = house.visitor()
        assert items_counted(visitor) == {"whole": 0, "part": FEWEST}
        ledger.commit(Entries(judgements=says(trials_on(ledger, shared), reader="r2")))
        assert items_counted(visitor) == {"whole": FEWEST, "part": FEWEST}


OTHER_READER = replace(CONDITION, extractor="ef" * 32)
"""The judge is asked in the same words, so its replies are the very same; another model reads what is unclear."""
FENCED = replace(OTHER_READER, fenced=True)
"""Its answers stand in marks of the trial, so it is asked anew."""


def judged_twice(ledger: Ledger, first: int, second: int, *, unread: int = 0, other: Condition = OTHER_READER) -> None:
    """On so many of the items, the second time by another condition, as everybody looks. `unread`: the first time."""
    (benchmark,) = registered(ledger, whole=ITEMS).values()
    judge_all(ledger, benchmark, ITEMS[:first], unread=[one.digest for one in ITEMS[:unread]])
    with served(ledger) as house:
        items_counted(house.visitor())
    judge_all(ledger, benchmark, ITEMS[:second], condition=other)


def counted_by_each(ledger: Ledger) -> list[int]:
    """By board, on how many items everybody sees verdicts; of each look the same."""
    with served(ledger) as house:
        visitor = house.visitor()
        boards = [one["board"] for one in visitor.get("/api/boards").json()["boards"]]
        looks = [[visitor.get(f"/api/boards/{one}") for one in boards] for _ in range(2)]
        found = [[one.json()["votes"] // 2 if one.status_code == 200 else 0 for one in look] for look in looks]
    assert found[0] == found[1]
    return sorted(found[0])


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [(5, 6, [5, 5]), (6, 5, [0, 6]), (6, 6, [6, 6]), (5, 11, [5, 11])],
    ids=["one more", "one fewer", "as many", "six more"],
)
def test_two_boards_of_the_same_replies_release_the_same_items_together(
    ledger: Ledger, first: int, second: int, shown: list[int]
):
    judged_twice(ledger, first, second)
    assert counted_by_each(ledger) == shown


def test_what_one_reader_alone_finds_in_the_same_replies_is_not_told_by_the_two_boards(ledger: Ledger):
    """Of six replies the first reader could not read one: the other one's verdict on it waits for more."""
    judged_twice(ledger, 6, 6, unread=1)
    assert counted_by_each(ledger) == [5, 5]


def test_a_board_that_is_asked_in_the_same_words_and_comes_amid_a_release_is_heard_of(ledger: Ledger):
    """Whoever looked before knew nothing of the other reader, who has released one item more when this one writes."""
    (benchmark,) = registered(ledger, whole=ITEMS).values()
    judge_all(ledger, benchmark, ITEMS[:FEWEST])
    (first,) = boards_on_record(ledger)

    def look() -> Release:
        found = release_of(ledger, first)
        if len(boards_on_record(ledger)) == 1:
            judge_all(ledger, benchmark, SIX, condition=OTHER_READER)
            (second,) = (one for one in boards_on_record(ledger) if one.id != first.id)
            assert released_of(ledger, second).version.number == 1
        return found

    assert released_now(ledger, look).version.number == 0
    assert counted_by_each(ledger) == [0, 6]


def test_whoever_read_the_verdicts_before_somebody_else_released_them_writes_no_version(ledger: Ledger):
    (benchmark,) = registered(ledger, whole=ITEMS).values()
    judge_all(ledger, benchmark, ITEMS[:FEWEST])

    def look() -> Release:
        (board,) = boards_on_record(ledger)
        judged = public_battles(ledger, board)
        if last_version(ledger) == 0:
            judge_all(ledger, benchmark, ITEMS)
            assert released_of(ledger, *boards_on_record(ledger)).version.number == 1
        cells = cells_of(ledger, board.data)
        return release(ledger, board.released_as, [(judged, True)], cells=cells, open_items=frozenset())

    assert released_now(ledger, look).version.number == 1


def test_boards_whose_judge_was_asked_anew_release_what_each_has(ledger: Ledger):
    judged_twice(ledger, 5, 6, other=FENCED)
    assert counted_by_each(ledger) == [5, 6]


def test_a_board_of_other_answers_does_not_wait_for_the_same_items(ledger: Ledger):
    """The other reader read replies on a variant of the answers, to one item more."""
    (benchmark,) = registered(ledger, whole=ITEMS).values()
    judge_all(ledger, benchmark, ITEMS[:FEWEST])
    assert counted_by_each(ledger) == [5]
    ledger.add_responses([Response(item=one.digest, model="amber", text="short", variant="text-only") for one in SIX])
    judge_all(ledger, benchmark, SIX, condition=OTHER_READER, variant="text-only")
    assert counted_by_each(ledger) == [5, 6]


async def test_the_owner_hears_of_a_file_whose_answers_were_judged_beside_another_reader(ledger: Ledger):
    """On a board for which the judge is asked in the same words: all answers but one get the very same replies."""
    async with ScriptedServer(Script(judge=by_lot)) as server:
        small = model_at(ledger, server.base_url, name="openai/small")
        reader = Rater(kind="model", name=small.name, endpoint=small.endpoint, settings=Settings(temperature=0.0))
        showing = Showing(
            protocol=load_protocol("visit_pairwise"), extractor=Extractor(rater=reader, model=small.model)
        )
        first = await founded(ledger, server.base_url, items=TEAM_ITEMS, terms=ALL)
        second = await founded(ledger, server.base_url, items=TEAM_ITEMS, terms=ALL, showing=showing)
        assert first.intake.board.condition != second.intake.board.condition
        before = first.submitted(ours, team="birds")
        await first.worked(server.base_url)
        assert first.stands(before).estimated is not None
        after = second.submitted(ours_but_one, team="birds")
        await second.worked(server.base_url, extractor=small)
    found = second.stands(after).estimated
    assert found is not None
    assert (found.like.endswith(f"[{before}]"), found.same, found.changed) == (True, TEAM_ITEMS - 1, 1)


async def test_the_owner_hears_of_a_file_whose_answers_wait_where_other_words_go_to_the_extractor(ledger: Ledger):
    """Or none, as on the board of an earlier version of the protocol: the judge is asked in the same words."""
    protocol = load_protocol("visit_pairwise")
    showing = Showing(protocol=replace(protocol, extraction=None))
    async with ScriptedServer(Script(judge=by_lot)) as server:
        first = await founded(ledger, server.base_url, items=TEAM_ITEMS, terms=ALL, showing=showing)
        second = await founded(ledger, server.base_url, items=TEAM_ITEMS, terms=ALL)
        assert first.intake.board.condition != second.intake.board.condition
        before = first.submitted(ours, team="birds")
        after = second.submitted(ours_but_one, team="birds")
        await second.worked(server.base_url)
    found = second.stands(after).estimated
    assert found is not None
    assert (found.like.endswith(f"[{before}]"), found.same, found.changed) == (True, TEAM_ITEMS - 1, 1)


def copied_protocol(folder: Path, name: str, *, words: str = "") -> Protocol:
    """Of visit_pairwise in a folder of its own, without an extractor; `words`: more that the judge is asked."""
    there = folder / name
    shutil.copytree(Path(protocols.__file__).parent / "visit_pairwise", there)
    said = (there / "protocol.toml").read_text(encoding="utf-8")
    said = said.replace('name = "visit_pairwise"', f'name = "{name}"').replace('extraction = "visit_extraction"', "")
    (there / "protocol.toml").write_text(said, encoding="utf-8")
    with (there / "task.md").open("a", encoding="utf-8") as file:
        file.write(words)
    made = load_protocol(there)
    assert (made.name, made.extraction) == (name, None)
    return made


async def test_the_owner_hears_of_a_file_whose_answers_wait_where_the_protocol_is_a_copy(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Under another name, without its extractor: neither name nor hash is the same, and the judge is asked alike."""
    monkeypatch.chdir(tmp_path)
    copy = copied_protocol(tmp_path, "copied")
    async with ScriptedServer(Script(judge=by_lot)) as server:
        first = await founded(ledger, server.base_url, items=TEAM_ITEMS, terms=ALL, showing=Showing(protocol=copy))
        second = await founded(ledger, server.base_url, items=TEAM_ITEMS, terms=ALL)
        before = first.submitted(ours, team="birds")
        after = second.submitted(ours_but_one, team="birds")
        await second.worked(server.base_url)
    found = second.stands(after).estimated
    assert found is not None
    assert (found.like.endswith(f"[{before}]"), found.same, found.changed) == (True, TEAM_ITEMS - 1, 1)


def test_protocols_ask_the_same_where_the_judge_reads_the_same_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    protocol = load_protocol("visit_pairwise")
    own = Showing(protocol=protocol).condition()
    copy = Showing(protocol=copied_protocol(tmp_path, "copied")).condition()
    other = Showing(protocol=copied_protocol(tmp_path, "other", words="\nBe kind.")).condition()
    own, copy, other = (
        replace(one, prompt_hash=f"with words to an extractor {one.protocol}") for one in (own, copy, other)
    )
    assert [asks_the_same(own, one) for one in (own, copy, other)] == [True, True, False]
    assert asks_the_same(own, replace(other, prompt_hash=own.prompt_hash))
    assert asks_the_same(own, replace(own, prompt_hash="of an earlier version"))
    shutil.rmtree(tmp_path / "other")
    assert asks_the_same(own, other), "nobody can tell any more"


async def test_the_owner_hears_of_a_file_whose_answers_wait_where_the_questions_have_other_labels(ledger: Ledger):
    """Under another skill, which the judge does not read: all answers but one get the very same replies."""
    async with ScriptedServer(Script(judge=by_lot)) as server:
        first = await founded(ledger, server.base_url, items=TEAM_ITEMS, terms=ALL, skill="counting ")
        second = await founded(ledger, server.base_url, items=TEAM_ITEMS, terms=ALL)
        before = first.submitted(
            lambda item: ours(replace(item, label=item.label.removeprefix("counting "))), team="birds"
        )
        after = second.submitted(ours_but_one, team="birds")
        await second.worked(server.base_url)
    found = second.stands(after).estimated
    assert found is not None
    assert (found.like.endswith(f"[{before}]"), found.same, found.changed) == (True, TEAM_ITEMS - 1, 1)


async def test_the_owner_hears_of_a_file_with_the_answers_of_a_model_that_plays_under_other_labels(ledger: Ledger):
    """Ann says there what she says on no other board, and everybody reads it."""
    async with ScriptedServer(Script(judge=by_lot)) as server:
        await founded(ledger, server.base_url, items=TEAM_ITEMS, terms=ALL, skill="counting roofs ")
        contest = await founded(ledger, server.base_url, items=TEAM_ITEMS, terms=ALL)
        made = contest.submitted(
            lambda item: f"Ann sees counting roofs {item.label}." + " Or not." * (item.label == "2")
        )
        await contest.worked(server.base_url)
    found = contest.stands(made).estimated
    assert found is not None
    assert (found.like, found.same, found.changed) == ("ann", TEAM_ITEMS - 1, 1)
