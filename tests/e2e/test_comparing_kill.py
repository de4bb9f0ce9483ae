"""The server killed at random moments while a person judges."""

import json
import random
import threading
from contextlib import closing
from pathlib import Path

import httpx2 as httpx
import pytest
from sqlalchemy import select

from evenhand.benchmarks.answers.responses_file import read_responses
from evenhand.benchmarks.catalog import bundled_answers, load_benchmark
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import Invite, grant_token, invite, join
from evenhand.site.people.comparisons import PersonShare, choices, find_place, find_task
from evenhand.site.people.forms import AskedStudy, Pairs, Sharing
from evenhand.site.people.studies import make_people_study, take_place
from tests.database import url_in
from tests.site.test_serve import serving

pytestmark = pytest.mark.slow

LIVES = 10
CHOICES = ("A", "B")


def begun(ledger: Ledger) -> tuple[PersonShare, str]:
    """A person's share of a study, and a token of theirs."""
    benchmark = load_benchmark("visit-bench-sample")
    ledger.register_benchmark(benchmark)
    for path in bundled_answers(benchmark):
        ledger.add_responses(read_responses(path, benchmark).responses)
    asked = AskedStudy(data=benchmark.digest, form="forced", pairs=Pairs(), sharing=Sharing(people=1, each=1), most=7)
    study = make_people_study(ledger, asked, made_by=None)
    person = join(ledger, invite(ledger, Invite(role="annotator")).token, "Ada").person
    place = find_place(ledger, take_place(ledger, study, person))
    assert place is not None
    return place, grant_token(ledger, person.id, note="kill").token


class Annotator:
    """Goes through the tasks round and round, and sends what was not acknowledged again."""

    def __init__(self, ledger: Ledger, place: PersonShare, token: str) -> None:
        self.times = [0] * place.tasks
        tasks = [find_task(ledger, place, number) for number in range(1, place.tasks + 1)]
        self._showings = [task.showing for task in tasks if task is not None]
        self._place = place
        self._headers = {"Authorization": f"Bearer {token}"}
        self._turn = 0

    def choice(self, task: int, times: int) -> str:
        return CHOICES[(task + times) % 2]

    def judge_until_cut_off(self, url: str) -> None:
        with httpx.Client(base_url=url, headers=self._headers, trust_env=False, timeout=30) as client:
            while True:
                task = self._turn % self._place.tasks
                choice, after = self.choice(task, self.times[task]), self.times[task]
                document = {"choice": choice, "showing": self._showings[task], "after": after}
                try:
                    answer = client.put(f"/api/comparisons/{self._place.id}/{task + 1}", json=document)
                except httpx.TransportError:
                    return
                if answer.status_code == 429:
                    continue
                assert answer.status_code == 200, answer.text
                self.times[task] = answer.json()["times"]
                assert answer.json()["choice"] == document["choice"]
                self._turn += 1


@pytest.mark.soak
def test_no_judgement_is_lost_or_doubled_when_the_server_is_killed(tmp_path: Path) -> None:
    store = url_in(tmp_path)
    lots = random.Random(4)
    with closing(Ledger(store)) as ledger:
        place, token = begun(ledger)
        annotator = Annotator(ledger, place, token)
        for _ in range(LIVES):
            with serving(tmp_path, "--store", store, "--no-worker") as (process, url):
                killer = threading.Timer(lots.uniform(0.05, 2.0), process.kill)
                killer.start()
                annotator.judge_until_cut_off(url)
                killer.join()
        check(ledger, place, annotator)


def check(ledger: Ledger, place: PersonShare, annotator: Annotator) -> None:
    tasks, made = schema.people_tasks, schema.judgements
    query = select(tasks.c.number, made.c.notes).join(made, made.c.trial == tasks.c.trial).order_by(made.c.seq)
    after: dict[int, list[int]] = {}
    with ledger.reading() as connection:
        for number, notes in connection.execute(query):
            after.setdefault(number - 1, []).append(json.loads(notes)["after"])
    assert sum(annotator.times) > LIVES
    unacknowledged = 0
    for task, times in enumerate(annotator.times):
        found = after.get(task, [])
        assert found == list(range(len(found)))  # none twice, none left out
        assert len(found) in (times, times + 1)
        unacknowledged += len(found) - times
        said = annotator.choice(task, len(found) - 1) if found else None
        assert choices(ledger, place)[task] == said
    assert unacknowledged <= 1  # the last that was sent, of which nobody heard
