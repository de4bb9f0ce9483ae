"""`score --with-people`: the figures against the baseline that people's verdicts correct, beside the paper's table."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.benchmarks.catalog import load_benchmark
from evenhand.ledger.read.projection import studies
from evenhand.ledger.read.vote_columns import Votes
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.submitted_models import counted_battles
from evenhand.reports.board.choosing import Choice, choose
from evenhand.reports.board.sources import people_beside
from evenhand.reports.papers.scores.with_people import SHARE_WON, scores_with_people
from evenhand.stats.ratings.with_people.means import ScoredCases, joined_mean
from tests.exchange.world import run, store_in, write_lines
from tests.refusals import says

JUDGED = (1, 0, 1, 0, 0, -1, 1, 0, 1, 0)
SAID = (1, -1, 1, 0, 1)
LAMBDA, MEAN = 0.585366, 0.670732
"""Of the worked example, in which 1, 0 and -1 are 1, 1/2 and 0."""


def _verdicts(labels: list[str], rater: str, kind: str, values: tuple[int, ...]) -> list[dict[str, Any]]:
    return [
        {"item": label, "rater": rater, "rater_kind": kind, "model_a": "v", "model_b": "reference", "verdict": value}
        for label, value in zip(labels, values, strict=False)
    ]


def _recorded(folder: Path, benchmark: str, *, more: list[dict[str, Any]] | None = None) -> str:
    labels = [item.label for item in load_benchmark(benchmark).items]
    where = ("--benchmark", benchmark, "--store", store_in(folder))
    answers = [{"item": label, "model": "v", "response": f"v {label}"} for label in labels]
    assert run("import", write_lines(folder / "answers.jsonl", answers), "--responses", *where).code == 0
    rows = [*_verdicts(labels, "gpt", "model", JUDGED), *_verdicts(labels, "ann", "human", SAID), *(more or [])]
    done = run("import", write_lines(folder / "verdicts.jsonl", rows), "--judgements", "--levels", "5", *where)
    assert done.code == 0, done.err
    return store_in(folder)


def test_the_share_won_against_the_reference_is_the_worked_mean(tmp_path: Path) -> None:
    store = _recorded(tmp_path, "visit-bench-sample")
    asked = ("score", "visit-bench-sample", "--judge", "gpt", "--bootstrap", "0", "--store", store)
    made = run(*asked, "--with-people", "--json").document
    (one,) = made["people"]["models"]
    assert (one["model"], one["verdicts"], one["items"]) == ("v", 5, 5)
    assert one["share_won"] == pytest.approx(MEAN, abs=5e-7)
    assert one["share_won_lambda"] == pytest.approx(LAMBDA, abs=5e-7)
    assert one["share_won_lower"] < MEAN < one["share_won_upper"]
    plain = run(*asked, "--json").document
    assert "people" not in plain
    assert plain["models"] == made["models"]
    skills = {part["part"] for part in one["parts"]}
    assert skills <= {item.category for item in load_benchmark("visit-bench-sample").items}
    found = eh.score("visit-bench-sample", ledger=store, judge="gpt", bootstrap=0, with_people=True)
    assert found.as_json()["people"] == made["people"]


def test_what_was_drawn_rarely_for_people_weighs_more(tmp_path: Path) -> None:
    ledger = Ledger(_recorded(tmp_path, "visit-bench-sample"), create=False)
    judged = counted_battles(ledger, choose(studies(ledger), Choice(judge="gpt")))
    people = people_beside(ledger, judged)
    alike = scores_with_people(judged, people, "reference", (SHARE_WON,), {})
    assert alike.as_json()["probabilities"] == "equal"
    drawn = np.array([2.0, 1.0, 1.0, 0.5, 0.5])
    weighed = replace(people, results=replace(people.results, weight=drawn))
    rare = scores_with_people(judged, weighed, "reference", (SHARE_WON,), {})
    assert rare.as_json()["probabilities"] == "given"
    assert "probability" in rare.sentences[1]
    number = {item: place for place, item in enumerate(judged.votes.item.in_order_of_rows().names)}
    values = {"judge": judged.votes, "people": people.votes}
    of = {
        who: {votes.item.names[code]: sign for code, sign in zip(votes.item.code.tolist(), _won(votes), strict=True)}
        for who, votes in values.items()
    }
    met = [people.votes.item.names[code] for code in people.votes.item.code.tolist()]
    expected = joined_mean(
        ScoredCases(
            item=np.arange(len(number), dtype=np.int32),
            judged=np.array([of["judge"][item] for item in number]),
            case=np.array([number[item] for item in met]),
            said=np.array([of["people"][item] for item in met]),
            weight=drawn,
        )
    )
    assert rare.models[0].found[0].mean.value == pytest.approx(expected.mean.value)
    assert rare.models[0].found[0].mean.value != pytest.approx(alike.models[0].found[0].mean.value, abs=0.01)


def test_what_a_person_said_twice_of_one_showing_is_one_verdict(tmp_path: Path) -> None:
    ledger = Ledger(_recorded(tmp_path, "visit-bench-sample"), create=False)
    judged = counted_battles(ledger, choose(studies(ledger), Choice(judge="gpt")))
    people = people_beside(ledger, judged)
    twice = replace(people, results=people.results.rows(np.array([0, 0, 1, 2, 3, 4])))
    once, again = (scores_with_people(judged, one, "reference", (SHARE_WON,), {}) for one in (people, twice))
    assert len(twice.votes) == len(people.votes) + 1
    assert again.verdicts == once.verdicts == 5
    assert again.models[0].found[0].mean.value == pytest.approx(once.models[0].found[0].mean.value)


def _won(votes: Votes) -> list[float]:
    """What v has of each, against the reference."""
    ahead = np.array([votes.models[code] == "v" for code in votes.model_a.tolist()])
    return ((np.where(ahead, np.sign(votes.value), -np.sign(votes.value)) + 1) / 2).tolist()


def test_the_parts_stand_in_the_table_by_skill(tmp_path: Path) -> None:
    store = _recorded(tmp_path, "visit-bench-sample")
    asked = ("score", "visit-bench-sample", "--judge", "gpt", "--by", "skill", "--with-people", "--store", store)
    table = run(*asked, "--format", "csv", "--bootstrap", "0").out.splitlines()
    assert table[0].startswith("model,skill,share won")
    assert len(table) > 2


def test_reward_and_win_rate_are_corrected(tmp_path: Path) -> None:
    name = "creation-mmbench-sample"
    store = _recorded(tmp_path, name)
    runs = run("runs", "--store", store, "--json").document["runs"]
    judged = next(one["run"] for one in runs if "gpt" in str(one))
    done = run("score", name, "--run", judged, "--with-people", "--store", store, "--json")
    assert done.code == 0, done.err
    (one,) = done.document["people"]["models"]
    assert one["reward"] == pytest.approx(100 * (MEAN - 0.5), abs=5e-5)
    assert one["reward_lambda"] == pytest.approx(LAMBDA, abs=5e-7)
    assert one["reward_judge_minus_people"] == pytest.approx(100 * (0.65 - MEAN), abs=5e-5)
    assert 0 <= one["win_rate"] <= 1
    text = run("score", name, "--run", judged, "--with-people", "--store", store).out
    assert "People and judge together" in text
    assert "5 were asked" in " ".join(text.split())


def test_people_on_items_that_the_judge_did_not_judge_are_refused(tmp_path: Path) -> None:
    labels = [item.label for item in load_benchmark("visit-bench-sample").items]
    more = _verdicts(labels[10:11], "ann", "human", (1,))
    store = _recorded(tmp_path, "visit-bench-sample", more=more)
    done = run("score", "visit-bench-sample", "--judge", "gpt", "--with-people", "--store", store)
    says(done.refused, "EH-PEOPLE-UNMATCHED", "reference", labels[10])


def test_one_item_of_people_gives_no_figure(tmp_path: Path) -> None:
    labels = [item.label for item in load_benchmark("visit-bench-sample").items]
    where = ("--benchmark", "visit-bench-sample", "--store", store_in(tmp_path))
    answers = [{"item": label, "model": "v", "response": f"v {label}"} for label in labels]
    run("import", write_lines(tmp_path / "answers.jsonl", answers), "--responses", *where)
    rows = [*_verdicts(labels, "gpt", "model", JUDGED), *_verdicts(labels, "ann", "human", (1,))]
    run("import", write_lines(tmp_path / "verdicts.jsonl", rows), "--judgements", "--levels", "5", *where)
    done = run("score", "visit-bench-sample", "--judge", "gpt", "--with-people", *where[2:], "--json")
    (one,) = done.document["people"]["models"]
    assert one["share_won"] is None
    assert "two items" in one["share_won_reason"]
