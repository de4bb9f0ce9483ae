"""The judges of a benchmark side by side: who sees them, whose verdicts count there, and that no person is named."""

from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.domain.rater import Rater
from evenhand.ledger.read.public_benchmarks import open_benchmark
from evenhand.ledger.store.record import Ledger
from evenhand.site.http.settings import VisitorLimits
from tests.reports.watched_judge import watched
from tests.site.house import JUDGE, House, fill, links, refusal_of, served
from tests.site.test_compare import Stocked
from tests.site.test_people_boards import judged, setting

OTHER = replace(JUDGE, name="openai/other")
PERSON = Rater(kind="human", name="Grace Hopper")


def judges_of(house: House, data: str) -> dict[str, dict[str, object]]:
    answer = house.visitor().get(f"/api/benchmarks/{data}/judges")
    assert answer.status_code == 200, answer.text
    (variant,) = answer.json()["variants"]
    return {one["judge"]: one for one in variant["judges"]}


def test_judges_are_compared_with_people_and_nobody_is_named(ledger: Ledger):
    data = fill(ledger, sample=True)
    fill(ledger, sample=True, rater=OTHER, upset=True)
    fill(ledger, sample=True, rater=PERSON)
    with served(ledger) as house:
        start = house.visitor().get("/")
        assert links(start, "/benchmarks/") == [f"/benchmarks/{data}/judges"]
        assert f"/benchmarks/{data}/judges" in links(house.visitor().get(f"/benchmarks/{data}"), "/benchmarks/")
        page = house.visitor().get(f"/benchmarks/{data}/judges")
        assert page.status_code == 200
        assert "openai/judge" in page.text
        assert "Grace" not in page.text
        told = judges_of(house, data)
        assert {name: one["agreement"] for name, one in told.items()} == {
            "openai/judge": 1.0,
            "openai/other": pytest.approx(4 / 6),
        }


def test_who_waits_for_it_reads_what_is_being_worked_out(ledger: Ledger):
    data = fill(ledger, sample=True)
    with served(ledger, limits=VisitorLimits(patience=0.0)) as house:
        visitor = house.visitor()
        while visitor.get("/").status_code == 202:
            pass
        page = visitor.get(f"/benchmarks/{data}/judges")
        assert page.status_code == 202
        assert "How these judges compare is being worked out" in page.text
        while (page := visitor.get(f"/benchmarks/{data}/judges")).status_code == 202:
            pass
        assert page.status_code == 200
        assert "openai/judge" in page.text


def test_the_owner_does_not_wait_for_what_was_worked_out_for_everybody(ledger: Ledger):
    address = f"/benchmarks/{fill(ledger, sample=True)}/judges"
    with served(ledger, limits=VisitorLimits(patience=0.0)) as house:
        owner = house.signed_in("owner")
        for visitor, path in ((house.visitor(), address), (owner, "/")):
            while visitor.get(path).status_code == 202:
                pass
        assert owner.get(address).status_code == 200


def test_why_people_cannot_be_compared_is_told_without_their_names(ledger: Ledger):
    data = fill(ledger, sample=True)
    fill(ledger, sample=True, rater=OTHER)
    with served(ledger) as house:
        page = house.visitor().get(f"/benchmarks/{data}/judges").text
        assert "Nobody can be compared with people" in page
        assert judges_of(house, data)["openai/other"]["agreement"] is None


def test_where_something_is_withheld_only_the_owner_sees_them(ledger: Ledger):
    data = fill(ledger)
    fill(ledger, rater=OTHER)
    with served(ledger) as house:
        for visitor in (house.visitor(), house.signed_in("team", "Eve"), house.signed_in("annotator", "Mallory")):
            assert links(visitor.get("/"), "/benchmarks/") == []
            for address in (f"/benchmarks/{data}/judges", f"/api/benchmarks/{data}/judges"):
                assert refusal_of(visitor.get(address))[0] == 404
            assert "/judges" not in visitor.get(f"/benchmarks/{data}").text
        owner = house.signed_in("owner")
        assert owner.get(f"/benchmarks/{data}/judges").status_code == 200
        open_benchmark(ledger, data, by=None)
        assert house.visitor().get(f"/benchmarks/{data}/judges").status_code == 200


def test_what_people_judge_in_a_study_that_runs_counts_only_for_the_owner(ledger: Ledger):
    data = fill(ledger)
    fill(ledger, rater=OTHER)
    open_benchmark(ledger, data, by=None)
    with served(ledger) as house:
        owner = house.signed_in("owner")
        study = judged(Stocked(house=house, data=data), owner, person="Ada")
        assert judges_of(house, data)["openai/judge"]["agreement"] is None
        mine = owner.get(f"/api/benchmarks/{data}/judges").json()["variants"][0]["judges"]
        assert all(one["agreement"] is not None for one in mine)
        setting(owner, study, "close")
        assert judges_of(house, data)["openai/judge"]["agreement"] is not None


def test_a_benchmark_that_nobody_judged_has_no_such_page(ledger: Ledger):
    with served(ledger) as house:
        assert refusal_of(house.visitor().get(f"/benchmarks/{'0' * 64}/judges"))[0] == 404


def test_a_judge_that_has_changed_is_told_on_the_page_with_its_looks_and_without_models(tmp_path: Path):
    world = watched(tmp_path, items=12, models=4)
    world.look("2026-01", 40)
    world.shift = 5.0
    world.look("2026-02", 80)
    open_benchmark(world.ledger, world.board[0].data, by=None)
    with served(world.ledger) as house:
        address = f"/benchmarks/{world.board[0].data}/judges"
        page = house.visitor().get(address).text
        assert "has changed since 2026-02" in page
        assert "Does the judge decide as it did?" in page
        assert "Asked again, look by look" in page
        assert "model-" not in page
        (told,) = judges_of(house, world.board[0].data).values()
        assert (told["sentinel"], told["sentinel_since"]) == ("changed", "2026-02")
