"""Claims about all that everybody and a team are given of a ledger on which judges, people, teams and the owner act by
turns: people are left out and come back, studies are shown and hidden, a benchmark that shares items is opened and
closed again. Pages, documents and files of the site, the folder that `publish` writes, and receipts.

Played twice, as receipts are (`test_receipt_attacker.py`); of people's verdicts too, those of a batch have changed
places.
"""

import json
import re
from contextlib import closing
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from random import Random
from typing import Any

import httpx2 as httpx
import pytest
from sqlalchemy import select

from evenhand.domain.item import Benchmark
from evenhand.domain.response import REFERENCE
from evenhand.ledger.read.board_versions import VerdictBatch, released_so_far
from evenhand.ledger.read.newest import newest
from evenhand.ledger.read.public_benchmarks import close_benchmark, open_benchmark, opened_benchmarks
from evenhand.ledger.store import schema
from evenhand.ledger.submissions.store import submissions_on_record
from evenhand.site.accounts.store import people
from evenhand.site.boards.listing import boards_on_record
from evenhand.site.http.visitor import session_cookie
from evenhand.site.people.changes import set_people_study
from evenhand.site.people.comparisons import find_place, find_task
from evenhand.site.people.forms import AskedStudy, Conduct, Pairs, Sharing
from evenhand.site.people.quality import decide
from evenhand.site.people.studies import make_people_study
from evenhand.site.publishing.walk import PublishError, walked_boards
from tests.database import copy_ledger, ledger_in
from tests.ledger.test_people_quality import person, say, taken
from tests.site.house import House, served
from tests.site.test_receipt_attacker import (
    BENCHMARKS,
    ITEMS,
    MODELS,
    STEPS,
    History,
    Shown,
    exchanged,
    founded,
    words_of,
)

pytestmark = pytest.mark.slow

SHARED = Benchmark(name="a part", items=ITEMS[:4], licence="CC0-1.0", citation="", protocols=())
OPEN = {one.digest for one in SHARED.items}
STUDIES = ((("Ada", "Grace"), 2), (("Mary", "Jo"), 1))
"""For people: who takes part, and how many of them see each comparison."""
TEAM = "Birds"
SEED = 0
AT_THE_END = "at the end"
_LINK = re.compile(r'href="(/[^"#]*)')
_OF_THIS_COPY = re.compile(
    r"http://127\.0\.0\.1:\d+|name=\"csrf\" value=\"\w+\"|\d{1,2} \w+ 20\d\d(, \d\d:\d\d)?|20\d\d-\d\d-\d\dT[\d:.]+Z?"
    r"|\d\d:\d\d UTC|\"at\": ?[\d.]+|\d+ (second|minute)s? ago|\d{10}\.\d+"
)


@dataclass
class Crowd(History):
    shares: tuple[str, ...] = ()
    session: str = ""
    """Of a team that is signed in."""
    house: House | None = None
    said: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    steps: int = 0

    def something_happens(self) -> None:
        self.steps += 1
        if self.steps == STEPS // 2:
            self.everything("midway")
        match self.lots.choice(("others", "others", "person", "person", "owner", "open")):
            case "person":
                self.person_judges(self.lots.choice(self.shares), self.lots.choice((1, 4, 12)))
            case "owner":
                self.owner_decides()
            case "open" if self.lots.random() < 0.5:
                if SHARED.digest in opened_benchmarks(self.ledger):
                    close_benchmark(self.ledger, SHARED.digest)
                else:
                    open_benchmark(self.ledger, SHARED.digest, by=None)
            case _:
                super().something_happens()

    def person_judges(self, place: str, number: int) -> None:
        share = find_place(self.ledger, place)
        assert share is not None
        left = [at for at in range(1, share.tasks + 1) if (place, at) not in self.said]
        for at in left[:number] if not share.closed else []:
            task = find_task(self.ledger, share, at)
            assert task is not None
            first, second = (answer.split(" ")[0] for answer in task.answers)
            shown = (task.item.digest, first, second, f"{share.person} in {share.study}")
            read = self.lots.random() > 0.05
            self.said.add((place, at))
            say(self.ledger, share, at, ("A" if self.value(shown) >= 0 else "B") if read else "skip")
            self.showings[newest(self.ledger).judgement] = (shown, read)

    def owner_decides(self) -> None:
        place = find_place(self.ledger, self.lots.choice(self.shares))
        assert place is not None
        on = self.lots.random() < 0.6
        match self.lots.choice(("out", "out", "shown", "aside", "closed")):
            case "out":
                decide(self.ledger, place.study, place.person, left_out=on, rule="gold", by=None)
            case "shown" | "aside" as setting:
                set_people_study(self.ledger, place.study, setting, on=on)
            case _:
                if len(self.said) > 40:
                    set_people_study(self.ledger, place.study, "closed", on=on)

    def everybody_looks(self) -> None:
        for board in boards_on_record(self.ledger):
            parts = [board.only(part.study) for part in board.parts]
            for view in (board, *parts):
                if view is not None and view.studies:
                    self.looks_at(view)

    def everything(self, when: str) -> None:
        """Pages, documents and files, of somebody passing by and of a team, and what would be published."""
        assert self.house is not None
        cookie = f"{session_cookie(self.house.site)}={self.session}"
        everybody = {"team": self.house.visitor(Cookie=cookie), "visitor": self.house.visitor()}
        for who, client in everybody.items() if when == AT_THE_END else [("team", everybody["team"])]:
            for path, words in crawled(client, [one.id for one in submissions_on_record(self.ledger)]).items():
                told = words_of(json.loads(words[4:])) if '"board_marks"' in words else words
                self.told.append((f"{when}: {who} at {path}", of_any_copy(told)))
        try:
            walked = walked_boards(self.ledger, battles=False, told=lambda _: None)
        except PublishError as error:
            self.told.append((f"{when}: published", str(error)))
            return
        for name, content in sorted(walked.files.items()):
            self.told.append((f"{when}: published {name}", of_any_copy(content().decode(errors="replace"))))
        walked.close()

    @property
    def batches(self) -> tuple[VerdictBatch, ...]:
        with self.ledger.reading() as connection:
            judges = connection.execute(select(schema.board_versions.c.judge).distinct()).scalars().all()
        return tuple(batch for judge in sorted(judges) for batch in released_so_far(self.ledger, "", judge).batches)


def of_any_copy(words: str) -> str:
    return _OF_THIS_COPY.sub("…", words)


def crawled(client: httpx.Client, submissions: list[str]) -> dict[str, str]:
    boards = [one["board"] for one in client.get("/api/boards").json()["boards"]]
    names = {"submission": submissions, "board": boards, "ending": ["jsonl", "csv"]}
    paths = [path for path, ways in client.get("/openapi.json").json()["paths"].items() if "get" in ways]
    for name, values in names.items():
        paths = [
            path.replace(f"{{{name}}}", one) for path in paths for one in (values if f"{{{name}}}" in path else [""])
        ]
    to_see = ["/", "/submissions", "/submit", *(path for path in paths if "{" not in path)]
    to_see += [f"/submissions/{one}/{file}" for one in submissions for file in ("receipt.json", "battles.jsonl")]
    found: dict[str, str] = {}
    while to_see:
        path = to_see.pop()
        skipped = path.startswith(("/static", "/images", "/join", "/account")) or "sign-" in path or "/battle" in path
        if path in found or (skipped and "battles" not in path) or path == "/openapi.json":
            continue
        answer = client.get(path)
        found[path] = f"{answer.status_code} {answer.text}"
        if "text/html" in answer.headers.get("content-type", ""):
            to_see += [unescape(one) for one in _LINK.findall(answer.text)]
    return found


def peopled(folder: Path) -> tuple[tuple[str, ...], str]:
    """Places of people, and the session of a team whose submissions are on record."""
    with closing(ledger_in(folder)) as ledger:
        with served(ledger) as house:
            session = house.signed_in("team", TEAM).cookies[session_cookie(house.site)]
        places: list[str] = []
        for number, (names, each) in enumerate(STUDIES):
            asked = AskedStudy(
                data=BENCHMARKS[0].digest,
                form="forced",
                pairs=Pairs(models=MODELS),
                sharing=Sharing(people=len(names), each=each, seed=number),
                conduct=Conduct(skips=True),
            )
            study = make_people_study(ledger, asked, made_by=None)
            set_people_study(ledger, study, "shown", on=True)
            places += [taken(ledger, study, person(ledger, name)).id for name in names]
        ledger.register_benchmark(SHARED)
        mine = next(one.id for one in people(ledger) if one.name == TEAM)
        with ledger.writing() as connection:
            table = schema.metadata.tables["submissions"]
            connection.execute(table.update().values(person=mine))
    return tuple(places), session


def played(folder: Path, places: tuple[str, ...], session: str, **given: Any) -> tuple[Crowd, tuple[VerdictBatch, ...]]:
    with closing(ledger_in(folder)) as ledger, served(ledger) as house:
        crowd = Crowd(ledger, Random(SEED), shares=places, session=session, house=house, **given)
        crowd.plays()
        crowd.everything(AT_THE_END)
        return crowd, crowd.batches


def study_of(shown: Shown) -> str:
    """For people; empty of what a judge was shown."""
    return shown[3].partition(" in ")[2] if isinstance(shown[3], str) else ""


def test_nothing_of_all_that_is_given_out_tells_where_in_its_batch_a_verdict_lies(tmp_path: Path):
    founded(tmp_path / "once")
    places, session = peopled(tmp_path / "once")
    copy_ledger(tmp_path / "once", tmp_path / "again")
    once, batches = played(tmp_path / "once", places, session)
    instead: dict[Shown, Shown] = {}
    for kind in {study_of(shown) for shown, _ in once.showings.values()}:
        some = {at: (shown, read) for at, (shown, read) in once.showings.items() if study_of(shown) == kind}
        instead |= exchanged({at: one for at, one in some.items() if one[0][0] not in OPEN}, batches)
    released = {number for one in batches for number in one.judgements}
    kept = {once.showings[at][0] for at in released}
    opposite = {
        shown
        for shown, _ in once.showings.values()
        if (REFERENCE in shown or study_of(shown)) and shown not in kept and shown[0] not in OPEN
    }
    again, _ = played(tmp_path / "again", places, session, instead=instead, opposite=opposite)
    others = [shown for shown, _ in once.showings.values() if once.value(shown) != again.value(shown)]
    print(f"{len(others)} of {len(once.showings)} verdicts are others,", end=" ")
    print(f"{sum(map(bool, map(study_of, others)))} of people, {len(once.told)} documents")
    assert others
    assert [what for what, _ in once.told] == [what for what, _ in again.told]
    differs = [one for one, other in zip(once.told, again.told, strict=True) if one != other]
    assert [what for what, _ in differs] == []
