"""Claims about one run compared with another."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from evenhand.domain.errors import Misuse
from evenhand.domain.rater import Rater
from evenhand.ledger.read.projection import studies
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.choosing import MixedError
from evenhand.reports.run_changes import run_changes
from tests.database import ledger_in
from tests.e2e.workplace import Workplace
from tests.scripted_server import server_process
from tests.site.house import JUDGE, fill

OTHER = Rater(kind="model", name="openai/other", endpoint="openai")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with closing(ledger_in(tmp_path)) as opened:
        yield opened


def run_of(ledger: Ledger, rater: Rater) -> str:
    (study,) = (one.key for one in studies(ledger) if one.rater.key == rater.key)
    run = ledger.begin_run("judge", {"judge": rater.name}, study=study, version="0")
    ledger.end_run(run, {"known": 0, "called": 1, "failed": {}})
    return run


def test_what_flipped_is_counted_and_named_item_by_item(ledger: Ledger):
    fill(ledger)
    before = run_of(ledger, JUDGE)
    fill(ledger, rater=OTHER, upset=True)
    found = run_changes(ledger, before, run_of(ledger, OTHER))
    # On two of six items each of the six pairs is reversed.
    assert found.counts == {
        "same": 24, "flipped": 12, "to a tie": 0, "from a tie": 0, "lost": 0, "gained": 0, "neither": 0
    }  # fmt: skip
    assert found.agreement.value == pytest.approx(24 / 36)
    assert [item for item, _ in found.by_item()] == ["item 1", "item 2"]
    assert found.differences == {"judge": ("openai/judge", "openai/other")}
    one = found.changed[0]
    assert one.item == "item 1"
    assert {one.said(one.first), one.said(one.second)} == {one.model_a, one.model_b}
    # Whoever won everything has no finite rating, and so no difference.
    assert all(one.difference.value is None and one.difference.reason for one in found.models)
    assert [one for one in found.sentences if one.startswith("No finite rating in the first run")]


def test_a_verdict_that_could_not_be_read_is_lost_and_the_other_way_gained(ledger: Ledger):
    fill(ledger, upset=True)
    before = run_of(ledger, JUDGE)
    fill(ledger, rater=OTHER, upset=True, undecided=4)
    after = run_of(ledger, OTHER)
    there, back = run_changes(ledger, before, after), run_changes(ledger, after, before)
    assert (there.counts["lost"], back.counts["gained"]) == (2, 2)
    assert there.agreement.n == 34
    coverage = there.as_json()["second"]
    assert isinstance(coverage, dict)
    assert coverage["coverage"] == {"wanted": 72, "with_verdict": 68, "reasons": {"unreadable": 4}}
    assert not [one for one in there.sentences if "No finite rating" in one]
    moves = {one.model: one.difference for one in there.models}
    for one in back.models:
        # Centred on the same models and battles, the way back is the way there.
        assert one.difference.value == pytest.approx(-(moves[one.model].value or 0), abs=1e-6)


def test_runs_that_cannot_be_compared_are_refused_with_a_reason(ledger: Ledger):
    fill(ledger)
    run = run_of(ledger, JUDGE)
    alone = ledger.begin_run("answer", {}, study=None, version="0")
    with pytest.raises(Misuse, match="two different runs"):
        run_changes(ledger, run, run)
    with pytest.raises(MixedError, match=f"Run {alone} .* compared no answers"):
        run_changes(ledger, run, alone)
    with pytest.raises(LedgerError, match="There is no run 'nothing'"):
        run_changes(ledger, run, "nothing")


ITEMS = "item,instruction\n1,Name a river.\n2,Name a lake.\n3,Name a sea.\n"


def answers(heron: str, otter: str) -> str:
    rows = [f"{item},{model},{text}" for item in (1, 2, 3) for model, text in (("heron", heron), ("otter", otter))]
    return "\n".join(["item,model,response", *rows, ""])


@pytest.mark.slow
def test_answers_replaced_and_judged_again_are_compared_with_what_was_said_before(tmp_path: Path):
    here = Workplace(tmp_path / "here")
    here.folder.mkdir()
    (here.folder / "items.csv").write_text(ITEMS)
    with server_process("--judge", "prefers-longer") as url:
        for heron, otter in (("The Danube and more of it", "Rhine"), ("Elbe", "The long Rhine and its sources")):
            (here.folder / "answers.csv").write_text(answers(heron, otter))
            ran = here.run(
                "judge", "items.csv", "--responses", "answers.csv", "--judge", "openai/m", "--judge-base-url", url,
                "--replace", "--quiet", OPENAI_API_KEY="k",
            )  # fmt: skip
            assert ran.code == 0, ran.err
    second, first = (one["run"] for one in here.run("runs", "--json").document["runs"])
    found = here.run("compare", first[:8], second[:8], "--json").document
    assert found["battles"]["flipped"] == 3
    assert [one["answers_differ"] for one in found["changes"]] == [True] * 3
    assert found["differences"] == {}
    printed = here.run("compare", first, second, "--out", "changes.html")
    assert printed.code == 0, printed.err
    page = (here.folder / "changes.html").read_text()
    assert "0 % of 3 battles ended alike" in page
    assert "heron, otter" in page
    told = here.run("compare", first, second, "--changes", "1").out
    assert "Battles that changed: 1 of 3" in told
    wrong = here.run("compare", first, second, "--out", "changes.pdf")
    assert wrong.code == 2
    assert "written as .html or .md, not as '.pdf'" in " ".join(wrong.err.split())
    same = here.run("compare", first, first, "--json")
    assert same.code == 2
    assert json.loads(same.out)["schema"] == 1


@pytest.mark.slow
def test_what_a_run_that_stopped_did_not_ask_has_no_answers_that_differ(tmp_path: Path):
    here = Workplace(tmp_path / "here")
    here.folder.mkdir()
    labels = range(40)
    (here.folder / "items.csv").write_text(
        "\n".join(["item,instruction", *(f"{one},What is {one}?" for one in labels)])
    )
    rows = [f"{item},{model},{model} on {item}" for item in labels for model in ("heron", "otter")]
    (here.folder / "answers.csv").write_text("\n".join(["item,model,response", *rows]))
    with server_process("--judge", "says nothing.") as url:
        asked = ("judge", "items.csv", "--responses", "answers.csv", "--judge", "openai/m", "--judge-base-url", url)
        stopped = here.run(*asked, "--max-connections", "2", "--quiet", OPENAI_API_KEY="k")
        assert stopped.code == 2, stopped.err
        here.run(*asked, "--quiet", "--go-on", OPENAI_API_KEY="k")
    second, first = (one["run"] for one in here.run("runs", "--json").document["runs"])
    found = here.run("compare", first, second, "--json").document
    assert found["first"]["coverage"]["wanted"] == found["second"]["coverage"]["wanted"] == 80
    assert sum(found["first"]["coverage"]["reasons"].values()) < 80
    assert not [one for one in found["notes"] if "Answers differ" in one]
