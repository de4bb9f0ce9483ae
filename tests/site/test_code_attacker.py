"""A claim about what is learnt together by teams that choose several files as one code: of no two of them are more than
half of the answers the same, and added up by signs only one answer is left, whose verdict is then told."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evenhand.domain.item import Item
from evenhand.ledger.store.record import Ledger
from tests.database import ledger_in
from tests.engine.contest import founded
from tests.scripted_server import Body, Script, ScriptedServer
from tests.site.house import served
from tests.site.test_team_attacker import ALL, ITEMS, NONSENSE, Attacker, Battle, another, by_lot, ours

ASKED = "11"
"""The label of the item whose verdict is wanted; of the others half are one part of the code, half the other."""
CODE = (
    (1, ours, ours, ours),
    (1, another, another, lambda _: f"{NONSENSE} Red."),
    (-1, ours, another, lambda _: f"{NONSENSE} Blue."),
    (-1, another, ours, lambda _: f"{NONSENSE} Green."),
)  # fmt: skip
"""The sign of a file, what it says of each part, and of the item asked about."""
_NONSENSE = re.compile(re.escape(NONSENSE) + r" \w+\.")


def decides(body: Body) -> str:
    """Nonsense loses, whichever it is."""
    shown = [{**one, "content": _NONSENSE.sub(NONSENSE, str(one["content"]))} for one in body["messages"]]
    return by_lot({**body, "messages": shown})


def of_file(file: tuple[int, Callable[[Item], str], Callable[[Item], str], Callable[[Item], str]], item: Item) -> str:
    _, even, odd, asked = file
    return (asked if item.label == ASKED else (even, odd)[int(item.label) % 2])(item)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = ledger_in(tmp_path)
    yield opened
    opened.close()


@pytest.mark.slow
@pytest.mark.parametrize("decided", ["", "without_reference", "with_reference"])
async def test_files_that_together_are_a_code_tell_no_single_verdict_unless_the_owner_lets_them(
    ledger: Ledger, decided: str
):
    async with ScriptedServer(Script(judge=decides)) as server:
        contest = await founded(ledger, server.base_url, items=ITEMS, terms=ALL)
        with served(ledger) as house:
            team = Attacker(contest, house, server.base_url)
            made = [await team.judged(lambda item, one=one: of_file(one, item), despite=decided) for one in CODE]
            stages = [contest.stands(one).stage for one in made]
    told = [told_of(team, one) for one in made]
    assert stages[:2] == ["judged", "judged"], "nothing of the first two is the same"
    if decided != "with_reference":
        assert None in told
        return
    asked: Battle = (ASKED, ours(contest.items[int(ASKED)]))
    left = sum(sign * total for (sign, *_), total in zip(CODE, told, strict=True) if total is not None)
    assert left - sum(-sign for sign, *_ in CODE[1:]) == team.truth()[asked], "so the attack works"


def told_of(team: Attacker, submission: str) -> float | None:
    """Battles won less those lost against the reference; None where it is not told."""
    answers = team.files[submission]
    return next((total for some, total in team.sums if {*some} == {*answers.items()}), None)
