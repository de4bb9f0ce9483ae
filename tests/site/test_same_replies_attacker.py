"""Claims about boards that rest on the very same replies of a judge, which is not asked twice in the same words: the
same question under another skill, the same answer under another variant. What everybody sees of two boards never
differs in fewer items than a batch has. The judge is a scripted server, and whoever looks asks over HTTP."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from evenhand.domain.item import Benchmark, Item
from evenhand.domain.rater import Rater
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.study import Orders
from evenhand.domain.trial import See
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.session import run_study
from evenhand.engine.tasks.judging import Matching, Showing, prepare
from evenhand.ledger.read.projection import benchmarks
from evenhand.ledger.read.public_benchmarks import close_benchmark, open_benchmark
from evenhand.ledger.read.same_replies import asked_alike
from evenhand.ledger.store.record import Ledger
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import Protocol
from evenhand.reports.board.withheld.released import FEWEST
from evenhand.site.boards.listing import boards_on_record
from tests.engine.contest import SAMPLED, founded, model_at, questions
from tests.scripted_server import Body, Script, ScriptedServer
from tests.site.house import served
from tests.site.test_asked_again_attacker import counted_by_each
from tests.site.test_team_attacker import ALL, by_lot
from tests.site.test_team_attacker import ITEMS as TEAM_ITEMS

ITEMS = questions(2 * FEWEST + 4)
PROTOCOL = load_protocol("visit_pairwise")
UNEXTRACTED = replace(PROTOCOL, extraction=None)
"""The judge is asked in the same words, and nobody is asked a second time."""


def of_skill(items: Sequence[Item], skill: str) -> list[Item]:
    """The same questions, which the judge cannot tell from those before: another digest each."""
    return [replace(one, label=f"{one.label} {skill}", category=skill) for one in items]


def registered(ledger: Ledger, items: Sequence[Item]) -> Benchmark:
    name = f"houses {items[0].category or ''}"
    benchmark = Benchmark(name=name, items=tuple(items), licence="CC0-1.0", citation="", protocols=())
    ledger.register_benchmark(benchmark)
    return benchmark


def said(item: Item) -> str:
    return f"Amber sees: {item.instruction}"


def given(item: Item) -> str:
    return item.reference or ""


async def judged(
    ledger: Ledger, server: ScriptedServer, items: Sequence[Item], *, otherwise: Sequence[Item] = (), variant: str = "",
    see: See = "caption", orders: Orders = "both", protocol: Protocol = PROTOCOL, called: str = "openai/gpt-4o",
    echoed: Sequence[Item] = (), echo: Callable[[Item], str] = given,
) -> int:  # fmt: skip
    """How often the judge was asked, on answers of amber against the reference. `otherwise`: where amber says something
    else. `echoed`: where basil plays too, and says what the reference says, as `echo` has it."""
    benchmark = registered(ledger, items)
    other = {one.digest for one in otherwise}
    answers = [
        Response(
            item=one.digest, model="amber", text=said(one) + " Or not." * (one.digest in other), variant=variant
        )
        for one in items
    ] + [Response(item=one.digest, model=REFERENCE, text=one.reference or "") for one in items]  # fmt: skip
    answers += [Response(item=one.digest, model="basil", text=echo(one), variant=variant) for one in echoed]
    ledger.add_responses(answers)
    judge, before = model_at(ledger, server.base_url, name=called), len(server.requests)
    prepared = prepare(
        benchmark,
        answers,
        items=items,
        judge=Rater(kind="model", name=judge.name, endpoint=judge.endpoint, settings=SAMPLED),
        model=judge.model,
        showing=Showing(protocol=protocol, see=see),
        matching=Matching(variant=variant, orders=orders),
        fence_secret=ledger.fence_secret(),
    )
    await run_study(prepared, ledger=ledger, context=judge.call_context(Budget(None), frozenset()), stop=StopSign())
    return len(server.requests) - before


@pytest.mark.parametrize(
    ("first", "second", "shown"), [(5, 6, [5, 5]), (6, 5, [0, 6]), (6, 6, [6, 6]), (5, 11, [5, 11]), (12, 6, [6, 12])]
)
async def test_the_same_questions_under_another_skill_are_released_as_they_were(
    ledger: Ledger, first: int, second: int, shown: list[int]
):
    async with ScriptedServer(Script(judge=by_lot)) as server:
        assert await judged(ledger, server, of_skill(ITEMS[:first], "counting")) == 2 * first
        assert counted_by_each(ledger) == [first]
        assert await judged(ledger, server, of_skill(ITEMS[:second], "reading")) == 2 * max(0, second - first)
    assert counted_by_each(ledger) == shown


@pytest.mark.parametrize(
    ("otherwise", "shown"), [(0, [12, 12]), (1, [0, 12]), (5, [12, 12])], ids=["none", "one", "five"]
)
async def test_a_variant_whose_answers_are_all_the_same_but_a_few_tells_nothing_of_those(
    ledger: Ledger, otherwise: int, shown: list[int]
):
    """Everybody reads which answers differ."""
    items = ITEMS[:12]
    async with ScriptedServer(Script(judge=by_lot)) as server:
        await judged(ledger, server, items)
        assert counted_by_each(ledger) == [12]
        calls = await judged(ledger, server, items, otherwise=items[:otherwise], variant="text-only")
    assert calls == 2 * otherwise
    assert counted_by_each(ledger) == shown


async def test_a_judge_that_sees_something_else_gives_other_replies_and_waits_for_none(ledger: Ledger):
    """Without the captions it decides nothing about one of the items."""

    def unsure(body: Body) -> str:
        text = str(body["messages"][-1]["content"])
        nothing = "Please extract" in text or ("picture 3?" in text and "a house" not in text)
        return "Who knows?" if nothing else by_lot(body)

    async with ScriptedServer(Script(judge=unsure)) as server:
        await judged(ledger, server, ITEMS[:6], see="none")
        assert counted_by_each(ledger) == [5]
        await judged(ledger, server, ITEMS[:6])
    assert counted_by_each(ledger) == [5, 6]


async def test_what_everybody_reads_of_the_same_questions_elsewhere_makes_up_no_batch(ledger: Ledger):
    """Of an open benchmark the verdicts are read one by one: of five items with three of these two would follow."""
    async with ScriptedServer(Script(judge=by_lot)) as server:
        await judged(ledger, server, of_skill(ITEMS[:3], "counting"))
        (known,) = benchmarks(ledger)
        open_benchmark(ledger, known.data, by=None)
        assert await judged(ledger, server, of_skill(ITEMS[:FEWEST], "reading")) == 2 * 2
        assert counted_by_each(ledger) == [3, 3]
        await judged(ledger, server, of_skill(ITEMS[: FEWEST + 3], "reading"))
    assert counted_by_each(ledger) == [3, 3, FEWEST + 3]


async def test_what_is_left_of_another_board_after_two_releases_is_enough_too(ledger: Ledger):
    """Of twelve items told elsewhere this board has told six: with five more, the twelfth would follow."""
    async with ScriptedServer(Script(judge=by_lot)) as server:
        await judged(ledger, server, of_skill(ITEMS[:12], "counting"))
        assert counted_by_each(ledger) == [12]
        await judged(ledger, server, of_skill(ITEMS[:6], "reading"))
        assert counted_by_each(ledger) == [6, 12]
        await judged(ledger, server, of_skill(ITEMS[:11], "reading"))
        assert counted_by_each(ledger) == [6, 6, 12]
        await judged(ledger, server, of_skill(ITEMS[:12], "reading"))
    assert counted_by_each(ledger) == [6, 6, 12, 12]


async def test_what_two_boards_told_of_one_item_each_in_one_order_is_not_told_by_a_third_in_both(ledger: Ledger):
    """One told six items with the one answer first, another seven with the other: what both orders of the six add to
    the first would leave the seventh of the second."""
    async with ScriptedServer(Script(judge=by_lot)) as server:
        await judged(ledger, server, of_skill(ITEMS[:6], "counting"), orders="published")
        await judged(ledger, server, of_skill(ITEMS[:7], "reading"), orders="reversed")
        assert counted_by_each(ledger) == [3, 3]
        assert await judged(ledger, server, of_skill(ITEMS[:6], "drawing")) == 0
    assert counted_by_each(ledger) == [0, 3, 3]


@pytest.mark.parametrize(
    ("protocol", "called"),
    [(UNEXTRACTED, "openai/gpt-4o"), (PROTOCOL, "gpt-4o")],
    ids=["no extractor", "another name"],
)
async def test_a_judge_that_is_not_asked_anew_tells_no_other_items(ledger: Ledger, protocol: Protocol, called: str):
    """Where other words would go to an extractor, or the model of the same server is called by another name."""
    async with ScriptedServer(Script(judge=by_lot)) as server:
        await judged(ledger, server, ITEMS[:6])
        assert counted_by_each(ledger) == [6]
        assert await judged(ledger, server, ITEMS[:5], protocol=protocol, called=called) == 0
    assert counted_by_each(ledger) == [0, 6]


async def test_a_question_of_an_open_benchmark_with_what_no_judge_was_shown_makes_up_no_batch(ledger: Ledger):
    """The judge reads no ground truth, so of three of the five everybody knows the replies."""
    known = [replace(one, ground_truth="a house") for one in ITEMS[:3]]
    async with ScriptedServer(Script(judge=by_lot)) as server:
        await judged(ledger, server, ITEMS[:3])
        open_benchmark(ledger, benchmarks(ledger)[0].data, by=None)
        assert await judged(ledger, server, [*known, *ITEMS[3:5]]) == 2 * 2
        assert counted_by_each(ledger) == [0, 3]
        await judged(ledger, server, [*known, *ITEMS[3:8]])
    assert counted_by_each(ledger) == [0, 3, 8]


@pytest.mark.parametrize(
    ("opened", "elsewhere"),
    [(True, True), (True, False), (False, True)],
    ids=["judged while it was open", "judged since", "judged elsewhere alone"],
)
async def test_what_everybody_read_while_a_benchmark_was_open_makes_up_no_batch_elsewhere(
    ledger: Ledger, opened: bool, elsewhere: bool
):
    """Of three questions that stand under another skill, two more would follow. `opened`: whether verdicts were read of
    the open benchmark itself, `elsewhere`: of the same questions on the other board, while it was open."""
    three = of_skill(ITEMS[:3], "counting")
    data = registered(ledger, three).digest
    async with ScriptedServer(Script(judge=by_lot)) as server:
        if opened:
            await judged(ledger, server, three)
        open_benchmark(ledger, data, by=None)
        if elsewhere:
            await judged(ledger, server, of_skill(ITEMS[:3], "reading"))
        close_benchmark(ledger, data)
        await judged(ledger, server, of_skill(ITEMS[:FEWEST], "reading"))
        assert {*counted_by_each(ledger)} == {0}
        await judged(ledger, server, of_skill(ITEMS[: FEWEST + 3], "reading"))
    assert counted_by_each(ledger)[-1] == FEWEST + 3


@pytest.mark.parametrize(("counting", "reading", "shown"), [(5, 5, 10), (5, 6, 6), (5, 10, 15), (3, 3, 0)])
async def test_a_board_with_the_same_questions_under_two_skills_tells_no_other_items_by_them(
    ledger: Ledger, counting: int, reading: int, shown: int
):
    """Of five and of six items the sixth would follow; three and three are three."""
    items = [*of_skill(ITEMS[:counting], "counting"), *of_skill(ITEMS[:reading], "reading")]
    async with ScriptedServer(Script(judge=by_lot)) as server:
        assert await judged(ledger, server, items) == 2 * max(counting, reading)
    assert counted_by_each(ledger) == [shown]
    assert counted_by_each(ledger) == [shown]


async def test_what_everybody_read_of_an_open_benchmark_makes_up_no_batch_of_another_reader(ledger: Ledger):
    """Who reads the same replies once it is closed."""
    async with ScriptedServer(Script(judge=by_lot)) as server:
        await judged(ledger, server, ITEMS[:3])
        (opened,) = benchmarks(ledger)
        open_benchmark(ledger, opened.data, by=None)
        close_benchmark(ledger, opened.data)
        assert await judged(ledger, server, ITEMS[:FEWEST], protocol=UNEXTRACTED) == 2 * 2
    assert counted_by_each(ledger) == [0, 0]


async def test_only_who_may_be_asked_in_the_same_words_is_taken_for_asked_alike(ledger: Ledger):
    other = replace(UNEXTRACTED, name="without examples", turns=PROTOCOL.turns[-1:])
    async with ScriptedServer(Script(judge=by_lot)) as server:
        await judged(ledger, server, ITEMS[:1])
        (first,) = boards_on_record(ledger)
        await judged(ledger, server, ITEMS[:1], called="gpt-4o")
        await judged(ledger, server, ITEMS[:1], protocol=UNEXTRACTED)
        assert await judged(ledger, server, ITEMS[:1], called="openai/small") == 2
        assert await judged(ledger, server, ITEMS[:1], protocol=other) == 2
    own = first.studies[0].rater.key, first.studies[0].condition.key
    studies = {
        (one.studies[0].rater.name, one.studies[0].condition.protocol, one.studies[0].extractor is None): one.studies[0]
        for one in boards_on_record(ledger)
    }
    keys = {name: (one.rater.key, one.condition.key) for name, one in studies.items()}
    named, unextracted = keys["gpt-4o", PROTOCOL.name, False], keys["openai/gpt-4o", PROTOCOL.name, True]
    assert len(studies) == 5
    assert asked_alike(ledger, *own) == sorted([named, unextracted, keys["openai/gpt-4o", other.name, True]])


@pytest.mark.parametrize("where", ["counting", "reading", "drawing"], ids=["there", "here", "on a third board"])
async def test_what_everybody_read_while_a_benchmark_was_open_makes_up_no_batch_of_the_same_answers_as_a_variant(
    ledger: Ledger, where: str
):
    """The same judge in the same words: the judgements alone are new. `where`: the skill under which three questions of
    the open benchmark were judged."""
    three = of_skill(ITEMS[:3], "counting")
    data = registered(ledger, three).digest
    async with ScriptedServer(Script(judge=by_lot)) as server:
        open_benchmark(ledger, data, by=None)
        await judged(ledger, server, of_skill(ITEMS[:3], where))
        close_benchmark(ledger, data)
        assert await judged(ledger, server, of_skill(ITEMS[:FEWEST], "reading"), variant="text-only") == 2 * 2
        assert {*counted_by_each(ledger)} == {0}
        await judged(ledger, server, of_skill(ITEMS[: FEWEST + 3], "reading"), variant="text-only")
    assert counted_by_each(ledger)[-1] == FEWEST + 3


async def test_the_owner_hears_of_a_file_with_the_answers_of_a_model_that_plays_on_another_board_alone(ledger: Ledger):
    async with ScriptedServer(Script(judge=by_lot)) as server:
        contest = await founded(ledger, server.base_url, items=TEAM_ITEMS, terms=ALL)
        await judged(ledger, server, questions(TEAM_ITEMS + 1))
        made = contest.submitted(lambda item: said(item) + " Or not." * (item.label == "2"))
        await contest.worked(server.base_url)
    found = contest.stands(made).estimated
    assert found is not None
    assert (found.like, found.same, found.changed) == ("amber", TEAM_ITEMS - 1, 1)


ECHOES: Mapping[str, Callable[[Item], str]] = {
    "word for word": given,
    "a line more": lambda item: f"{given(item)}\n",
    "spaces": lambda item: f" {given(item).replace(' ', '  ')}",
    "case": lambda item: given(item).upper(),
    "signs": lambda item: f"“{given(item).rstrip('.')}”!",
    "what is not seen": lambda item: "\u200b".join(given(item)),
    "wide letters": lambda item: given(item).replace("H", "\uff28"),
}
"""Ways to say what the reference says that no judge, and nobody else, tells apart."""


@pytest.mark.parametrize(("items", "shown"), [(FEWEST, 0), (FEWEST + 3, FEWEST + 3)])
@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
async def test_a_model_that_answers_as_the_reference_does_makes_up_no_batch_of_others(
    ledger: Ledger, items: int, shown: int, echo: Callable[[Item], str]
):
    """What amber gets against it is public, and is what amber gets against the reference on three items; of five the
    other two would follow."""
    async with ScriptedServer(Script(judge=by_lot)) as server:
        await judged(ledger, server, ITEMS[:items], echoed=ITEMS[:3], echo=echo)
    with served(ledger) as house:
        visitor = house.visitor()
        (board,) = (one["board"] for one in visitor.get("/api/boards").json()["boards"])
        public = visitor.get(f"/api/boards/{board}/battles", params={"model": "amber"}).json()["battles"]
        rows = {one["model"]: one for one in visitor.get(f"/api/boards/{board}").json()["models"]}
    assert [one["opponent"] for one in public] == ["basil"] * 3
    met = rows["amber"]["wins"] + rows["amber"]["losses"] + rows["amber"]["ties"]
    assert met == 2 * (3 + shown)


@pytest.mark.parametrize("otherwise", [False, True], ids=["the same reference", "another reference there"])
async def test_a_model_that_answers_as_the_reference_does_under_another_skill_makes_up_no_batch(
    ledger: Ledger, otherwise: bool
):
    """On that board it meets amber before everybody's eyes, in the words in which amber meets the reference here. Where
    the reference was mended since, the model said then what the reference says now."""
    there = of_skill(ITEMS[:3], "counting")
    says = {one.label: given(one) for one in there}
    if otherwise:
        there = [replace(one, reference=f"A barn, number {one.label}.") for one in there]
    async with ScriptedServer(Script(judge=by_lot)) as server:
        await judged(ledger, server, there, echoed=there, echo=lambda one: says[one.label])
        assert await judged(ledger, server, of_skill(ITEMS[:FEWEST], "reading")) == 2 * 2
        assert counted_by_each(ledger) == [0, 3]
        await judged(ledger, server, of_skill(ITEMS[: FEWEST + 3], "reading"))
    assert counted_by_each(ledger) == [0, 3, FEWEST + 3]
