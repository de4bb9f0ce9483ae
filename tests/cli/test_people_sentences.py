"""What commands say of people who judged: a run that waits for a person, a table that their verdicts cannot make."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from evenhand.benchmarks.answers.responses_file import read_responses
from evenhand.benchmarks.catalog import bundled_answers, load_benchmark
from evenhand.domain.rater import Rater
from evenhand.domain.study import Study
from evenhand.domain.trial import Condition
from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import Invite, invite, join
from evenhand.site.people.changes import set_people_study
from evenhand.site.people.comparisons import find_place
from evenhand.site.people.forms import AskedStudy, Pairs, Sharing
from evenhand.site.people.studies import make_people_study, take_place
from tests.cli.shell import Shell
from tests.ledger.test_people_studies import say

CREATION = "creation-mmbench-sample"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


@pytest.fixture
def ledger(shell: Shell) -> Iterator[Ledger]:
    (shell.folder / ".evenhand").mkdir()
    with closing(Ledger(f"sqlite:///{shell.folder}/.evenhand/ledger.db")) as opened:
        benchmark = load_benchmark(CREATION)
        opened.register_benchmark(benchmark)
        for path in bundled_answers(benchmark):
            opened.add_responses(read_responses(path, benchmark).responses)
        yield opened


def compared(ledger: Ledger, *, against: str | None, judged: int) -> str:
    """A study of one person's with four comparisons, of which so many are judged."""
    pairs = Pairs() if against is None else Pairs(who="against", against=against)
    asked = AskedStudy(
        data=load_benchmark(CREATION).digest, form="five-level", pairs=pairs, sharing=Sharing(people=1, each=1), most=4
    )
    study = make_people_study(ledger, asked, made_by=None)
    person = join(ledger, invite(ledger, Invite(role="annotator")).token, "Ada").person
    place = find_place(ledger, take_place(ledger, study, person))
    assert place is not None
    verdict = place.form.preference("Left>Right")
    assert verdict is not None
    for number in range(1, judged + 1):
        say(ledger, place, number, verdict, after=0)
    return study


def test_a_person_who_has_not_finished_was_not_killed(shell: Shell, ledger: Ledger):
    compared(ledger, against=None, judged=1)
    told, _ = shell.run("runs")
    assert "a person is at work" in told
    assert "killed" not in told


def test_verdicts_that_met_no_baseline_are_named_and_not_denied(shell: Shell, ledger: Ledger):
    compared(ledger, against=None, judged=4)
    model = Rater(kind="model", name="openai/judge", endpoint="openai")
    condition = Condition(protocol="creation_preference", prompt_hash="ab" * 32)
    benchmark = load_benchmark(CREATION)
    study = Study(
        benchmark=CREATION,
        data=benchmark.digest,
        items=tuple(item.digest for item in benchmark.items),
        models=("sample-plain", "sample-vivid"),
        rater=model.key,
        condition=condition.key,
        pairing="against",
        against="sample-plain",
    )
    ledger.register_study(study, rater=model, condition=condition, wanted=1)
    told = shell.refused("score", CREATION, "--judge", "people", "--protocol", "creation_people")
    assert "the 4 verdicts of people under creation_people compare models with each other" in told
    assert "holds nothing" not in told


def test_a_study_that_was_set_aside_makes_no_board(shell: Shell, ledger: Ledger):
    study = compared(ledger, against=None, judged=4)
    rank = ("rank", "--benchmark", CREATION, "--judge", "people")
    assert shell.document(*rank)["votes"] == 4
    set_people_study(ledger, study, "aside", on=True)
    assert shell.refused(*rank)
    told, _ = shell.run("runs")
    assert "creation_people" in told
    set_people_study(ledger, study, "aside", on=False)
    assert shell.document(*rank)["votes"] == 4


def test_all_of_a_study_is_exported_by_its_id_or_its_title(shell: Shell, ledger: Ledger):
    study = compared(ledger, against=None, judged=3)
    told, said = shell.run("export", "--study", study, "--out", "-")
    rows = [json.loads(line) for line in told.splitlines()]
    assert [row["row"] for row in rows] == ["study", "task", "task", "task", "task"]
    assert [row["verdict"] is not None for row in rows[1:]] == [True, True, True, False]
    assert all(0 < row["probability"] <= 1 for row in rows[1:])
    assert "4" in said
    shell.run("export", "--study", CREATION, "--out", "study.csv")
    lines = (shell.folder / "study.csv").read_text().splitlines()
    assert lines[0].startswith("row,study,person,number,kind,item")
    shell.run("export", "--study", CREATION, "--out", "study.parquet")
    assert pl.read_parquet(shell.folder / "study.parquet").height == 5


def test_a_study_that_is_not_there_or_not_the_only_one_is_named(shell: Shell, ledger: Ledger):
    shell.refuses("EH-CHOOSE-NOTHING", "nothing", of=("export", "--study", "nothing", "--out", "-"))
    ids = [compared(ledger, against=None, judged=0) for _ in range(2)]
    shell.refuses("EH-CHOOSE-SEVERAL", *ids, of=("export", "--study", CREATION, "--out", "-"))
