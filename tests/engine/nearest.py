"""A board whose submissions are placed among their nearest, and a judge by which each has won some and lost some."""

import asyncio
import re
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from evenhand.domain.submission import SubmissionTerms
from evenhand.ledger.read.projection import items_of, studies
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import intakes_on_record
from tests.database import copy_ledger, ledger_in
from tests.engine.contest import Contest, founded
from tests.scripted_server import Body, Script, ScriptedServer

STRENGTHS = {"ada": -1.5, "bel": -0.5, "cal": 0.5, "dot": 1.5}
ITEMS = 15
NEAREST = SubmissionTerms(
    policy="Do not train on it.", per_team=99, pairs="nearest", until="width=1", looks=3, max_calls=45
)
_SHOWN = re.compile(r"Response A:\s*(.*?)\n\s*Response B:\s*(.*?)(?:\n\n|\Z)", re.DOTALL)
_NEW = re.compile(r"New sees (\d+)\.")


def fair(body: Body) -> str:
    """The new model wins on items of an even number and loses on the others, whomever it meets: whatever the lots, it
    has won some and lost some at every look."""
    found = _SHOWN.search(str(body["messages"]).replace("\\n", "\n"))
    assert found, body
    number = _NEW.search(found[0])
    assert number, found[0]
    first, even = _NEW.search(found[1]) is not None, int(number[1]) % 2 == 0
    better = "A" if first is even else "B"
    return f"Both are fine. Overall, Response {better} is better."


JUDGE = Script(judge=fair, keep=False)


def founded_in(folder: Path) -> Path:
    """Four models and the reference in all pairs on all items, which takes submissions."""

    async def made() -> None:
        async with ScriptedServer(Script(judge="by-strength", keep=False)) as server:
            with closing(ledger_in(folder)) as ledger:
                await founded(ledger, server.base_url, items=ITEMS, terms=NEAREST, strengths=STRENGTHS)

    asyncio.run(made())
    return folder


@contextmanager
def copied(board: Path, into: Path) -> Generator[Contest]:
    with closing(ledger_in(copy_ledger(board, into))) as ledger:
        yield contest_in(ledger)


def contest_in(ledger: Ledger) -> Contest:
    (founding,), (intake,) = studies(ledger), intakes_on_record(ledger)
    return Contest(ledger, tuple(items_of(ledger, founding.data)), intake.id)


def entering(contest: Contest, *, team: str | None = None) -> str:
    """A submission that its team has confirmed."""
    return contest.submitted(lambda item: f"New sees {item.label}. strength=0.2", team=team)
