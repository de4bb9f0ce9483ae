"""`rank --with-people`: a judge's board corrected by people's verdicts, from files, from a ledger and from Python."""

from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import evenhand as eh
from evenhand.ledger.read.projection import benchmarks, items_of
from evenhand.ledger.store.record import Ledger
from evenhand.site.people.changes import set_people_study
from evenhand.site.people.forms import AskedStudy, Pairs, Sharing
from evenhand.site.people.studies import make_people_study
from tests.exchange.world import run, store_in
from tests.ledger.test_people_quality import person, say, taken
from tests.refusals import Refused, says

JUDGED = ("11=", "111", "0=1", "=10", "1=1", "011")
SAID = ("111", "=10", "011", "10=")
PAIRS = (("A", "B"), ("A", "C"), ("B", "C"))
WORKED = {"A": 0.437537, "B": 0.203299, "C": -0.640835}
"""Strengths of the worked example of the formulas."""
UNIT = 173.71779276130073


def rows(said: tuple[str, ...], *, begin: int = 1) -> list[dict[str, str]]:
    """AB, AC and BC on each item; 1: the first won."""
    return [
        {"item": f"i{number}", "model_a": a, "model_b": b, "winner": {"1": a, "0": b, "=": "tie"}[sign]}
        for number, signs in enumerate(said, start=begin)
        for (a, b), sign in zip(PAIRS, signs, strict=True)
    ]


def file(path: Path, table: list[dict[str, Any]]) -> Path:
    pl.DataFrame(table).write_csv(path)
    return path


@pytest.fixture
def judge(tmp_path: Path) -> Path:
    return file(tmp_path / "judge.csv", rows(JUDGED))


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return file(tmp_path / "people.csv", rows(SAID))


def refused(*arguments: object) -> Refused:
    done = run("rank", *arguments)
    assert done.code == 2, done.out
    return done.refused


def test_two_files_give_the_worked_board_and_what_the_judge_was_worth(judge: Path, people: Path) -> None:
    made = run("rank", judge, "--with-people", people, "--json").document
    ratings = {one["model"]: one["rating"] for one in made["models"]}
    assert ratings == pytest.approx({name: 1000 + UNIT * value for name, value in WORKED.items()}, abs=1e-3)
    told = made["people"]
    assert told["lambda"] == pytest.approx(0.846252, abs=5e-7)
    assert (told["verdicts"], told["items"], told["pairs"], told["judged_pairs"]) == (12, 4, 12, 18)
    assert told["worth"] > 12
    alone = {one["model"]: one["rating"] for one in run("rank", judge, "--json").document["models"]}
    biased = {one["model"]: one["judge_minus_people"] for one in told["bias"]}
    assert biased == pytest.approx({name: alone[name] - ratings[name] for name in "ABC"})
    assert all(one["judge_minus_people_lower"] < one["judge_minus_people"] for one in told["bias"])


def test_the_first_lines_say_how_sure_it_is(judge: Path, people: Path) -> None:
    told = run("rank", judge, "--with-people", people, "--json").document["people"]
    heading = run("rank", judge, "--with-people", people).out.splitlines()[:4]
    assert f"as sure as {round(told['worth'])} verdicts of people; 12 were asked" in " ".join(heading)


def test_at_most_six_lines_stand_under_a_corrected_board(tmp_path: Path) -> None:
    """A judge who is far off, and files that give cautions of their own."""
    signs = ("1=1", "111", "10=", "=11", "011")
    judged = rows(tuple("011" if number % 3 else "10=" for number in range(40)))
    itself = [{"item": "i1", "model_a": "A", "model_b": "A", "winner": "tie"}]
    judge = file(tmp_path / "judge.csv", [*judged, *itself, *judged[:9]])
    people = file(tmp_path / "people.csv", rows(tuple(signs[number % 5] for number in range(40))))
    told = run("rank", judge, "--with-people", people).out.strip().split("\n\n")[-1].splitlines()
    assert "By people's verdicts the judge alone rates" in " ".join(told)
    assert "more caution" in told[-1]
    assert len(told) <= 5, "and a line on an audit where there is a record"


def test_a_board_without_people_says_nothing_of_them(judge: Path) -> None:
    assert run("rank", judge, "--json").document["people"] is None


def test_python_and_a_frame_give_the_same_board(judge: Path, people: Path) -> None:
    made = run("rank", judge, "--with-people", people, "--json").document
    from_path, from_frame = (
        eh.rank(judge, with_people=people),
        eh.rank(pl.read_csv(judge), with_people=pl.read_csv(people)),
    )
    for board in (from_path, from_frame):
        assert board.as_json()["models"] == made["models"]
        assert board.as_json()["people"] == made["people"]
        assert board.people is not None
        assert board.people.headline in str(board)


def test_one_file_of_both_is_parted_by_who_judged(tmp_path: Path, judge: Path, people: Path) -> None:
    both = [{**row, "rater": "gpt", "rater_kind": "model"} for row in rows(JUDGED)]
    both += [{**row, "rater": "ann", "rater_kind": "human"} for row in rows(SAID)]
    path = file(tmp_path / "both.csv", both)
    made = run("rank", path, "--raters", "gpt", "--with-people", path, "--json").document
    assert made["models"] == run("rank", judge, "--with-people", people, "--json").document["models"]


def test_the_files_may_call_their_columns_differently(tmp_path: Path, judge: Path) -> None:
    others = [{"frage": row["item"], **{k: v for k, v in row.items() if k != "item"}} for row in rows(SAID)]
    path = file(tmp_path / "others.csv", others)
    made = run("rank", judge, "--with-people", path, "--item-column", "frage", "--json")
    assert made.document["people"]["items"] == 4


def test_several_people_on_a_pair_are_raters_across_items(tmp_path: Path, judge: Path) -> None:
    said = [{**row, "rater": who} for who in ("ann", "bob", "cat") for row in rows(SAID)]
    made = run("rank", judge, "--with-people", file(tmp_path / "p.csv", said), "--json").document
    assert made["people"]["verdicts"] == 36
    assert made["people"]["pairs"] == 12
    assert made["clusters"]["counts"] == {"item": 4, "rater": 3}
    ratings = {one["model"]: one["rating"] for one in made["models"]}
    assert ratings == pytest.approx({name: 1000 + UNIT * value for name, value in WORKED.items()}, abs=1e-3)


def test_what_a_person_said_twice_is_one_verdict(tmp_path: Path, judge: Path) -> None:
    said = [{**row, "rater": who} for who in ("ann", "bob") for row in rows(SAID)]
    once = run("rank", judge, "--with-people", file(tmp_path / "p.csv", said), "--json").document
    twice = run("rank", judge, "--with-people", file(tmp_path / "q.csv", [*said, *said]), "--json").document
    assert twice["people"]["verdicts"] == once["people"]["verdicts"] == 24
    assert twice["people"]["worth"] == pytest.approx(once["people"]["worth"], rel=0.02)
    assert twice["models"][0]["rating"] == pytest.approx(once["models"][0]["rating"])
    assert any(note.startswith("Of people:") and "stands there twice" in note for note in twice["notes"])


def test_what_was_lost_in_reading_people_is_told(tmp_path: Path, judge: Path) -> None:
    said = [{**row, "winner": "" if place == 3 else row["winner"]} for place, row in enumerate(rows(SAID))]
    made = run("rank", judge, "--with-people", file(tmp_path / "p.csv", said), "--json").document
    assert made["people"]["verdicts"] == 11
    assert any(note.startswith("Of people:") and "1 showing" in note for note in made["notes"])


def test_probabilities_weigh_what_was_drawn_rarely(tmp_path: Path, judge: Path, people: Path) -> None:
    said = [{**row, "probability": 0.2 if row["item"] == "i1" else 0.8} for row in rows(SAID)]
    made = run("rank", judge, "--with-people", file(tmp_path / "p.csv", said), "--json").document
    assert made["people"]["probabilities"] == "given"
    alike = run("rank", judge, "--with-people", people, "--json").document
    assert alike["people"]["probabilities"] == "equal"
    assert made["models"][0]["rating"] != pytest.approx(alike["models"][0]["rating"], abs=1)


def test_a_column_of_that_name_in_a_board_of_its_own_is_nobodys_business(tmp_path: Path) -> None:
    path = file(tmp_path / "p.csv", [{**row, "probability": -3} for row in rows(SAID)])
    assert run("rank", path).code == 0


def test_win_rates_are_corrected_too(judge: Path, people: Path) -> None:
    made = run("rank", judge, "--with-people", people, "--method", "win-rate", "--json").document
    shown = run("rank", judge, "--with-people", people, "--json").document
    rates = {one["model"]: one["rating"] for one in made["models"]}
    assert rates == {one["model"]: one["win_rate"] for one in shown["models"]}
    assert rates["A"] != run("rank", people, "--method", "win-rate", "--json").document["models"][0]["rating"]


@pytest.mark.parametrize(
    ("change", "code", "facts"),
    [
        ({"item": "i9"}, "EH-PEOPLE-UNMATCHED", ("A and B", "i9", "did not judge")),
        ({"model_a": "D", "winner": "D"}, "EH-PEOPLE-UNMATCHED", ("B and D", "i1")),
        ({"probability": "0"}, "EH-DATA-CELL", ("probability", "row 1")),
    ],
)
def test_people_who_judged_something_else_are_refused(
    judge: Path, tmp_path: Path, change: dict[str, str], code: str, facts: tuple[str, ...]
) -> None:
    first, *others = rows(SAID)
    said = [{**first, "probability": "0.5", **change}, *({**row, "probability": "0.5"} for row in others)]
    says(refused(judge, "--with-people", file(tmp_path / "p.csv", said)), code, *facts)


def test_a_pair_with_two_probabilities_is_refused(judge: Path, tmp_path: Path) -> None:
    said = [{**row, "rater": who, "probability": p} for who, p in (("ann", 0.2), ("bob", 0.4)) for row in rows(SAID)]
    says(refused(judge, "--with-people", file(tmp_path / "p.csv", said)), "EH-DATA-TWICE", "0.2", "0.4")


def test_a_judges_file_with_people_in_it_is_refused(people: Path, tmp_path: Path) -> None:
    both = [
        {**row, "rater": who, "rater_kind": kind}
        for who, kind in (("gpt", "model"), ("ann", "human"))
        for row in rows(JUDGED)
    ]
    path = file(tmp_path / "both.csv", both)
    says(refused(path, "--with-people", people), "EH-RANK", "ann", "--raters gpt")
    unknown = file(tmp_path / "unknown.csv", [{**row, "rater": who} for who in "xy" for row in rows(JUDGED)])
    says(refused(unknown, "--with-people", people), "EH-RANK", "2 raters", "rater_kind")


def test_a_file_without_people_is_refused(judge: Path, tmp_path: Path) -> None:
    said = [{**row, "rater": "gpt", "rater_kind": "model"} for row in rows(SAID)]
    says(refused(judge, "--with-people", file(tmp_path / "p.csv", said)), "EH-RANK", "no person's verdict")


def test_too_few_items_of_people_are_refused(judge: Path, tmp_path: Path) -> None:
    path = file(tmp_path / "p.csv", rows(("1=0", "011")))
    says(refused(judge, "--with-people", path), "EH-PEOPLE-FEW", "2 items", "3 ratings")


@pytest.mark.parametrize(
    "flags",
    [("--method", "elo"), ("--bootstrap", "50"), ("--ties", "davidson"), ("--shrink",), ("--unit", "battles"),
     ("--by-cluster", "rater")],
)  # fmt: skip
def test_what_no_joined_board_has_is_refused(judge: Path, people: Path, flags: tuple[str, ...]) -> None:
    assert refused(judge, "--with-people", people, *flags).code == "EH-METHOD-OPTION"


def test_people_of_a_file_and_a_judge_of_the_ledger_are_not_mixed(judge: Path, people: Path) -> None:
    says(refused(judge, "--with-people"), "EH-USAGE", "PEOPLE.csv")
    says(refused("--with-people", people), "EH-USAGE", "people.csv", "import --judgements")


def test_rows_without_items_cannot_be_matched(judge: Path, tmp_path: Path) -> None:
    said = [{k: v for k, v in row.items() if k != "item"} for row in rows(SAID)]
    says(refused(judge, "--with-people", file(tmp_path / "p.csv", said)), "EH-DATA-COLUMN", "people's", "--item-column")


def test_models_that_people_do_not_place_are_left_out_and_named(judge: Path, tmp_path: Path) -> None:
    more = [
        {"item": f"i{number}", "model_a": one, "model_b": "D", "winner": "D" if number % 3 else one}
        for number in range(1, 7)
        for one in "ABC"
    ]
    path = file(tmp_path / "more.csv", [*rows(JUDGED), *more])
    won = [{"item": "i1", "model_a": "A", "model_b": "D", "winner": "D"}]
    for said, why in ((rows(SAID), "no verdict on it"), ([*rows(SAID), *won], "point one way")):
        made = run("rank", path, "--with-people", file(tmp_path / "p.csv", said), "--json").document
        assert {one["model"] for one in made["models"]} == {"A", "B", "C"}
        assert any("Left out: D" in note and why in note for note in made["notes"])


def test_models_that_cannot_be_rated_beside_the_others_are_left_out_with_the_reason(tmp_path: Path) -> None:
    apart = (("D", "E"), ("A", "D"), ("B", "E"))
    judged = [
        {"item": f"i{number}", "model_a": a, "model_b": b, "winner": (a, b, "tie")[(number + place) % 3]}
        for number in range(1, 13)
        for place, (a, b) in enumerate((*PAIRS, *apart))
    ]
    judge = file(tmp_path / "j.csv", judged)
    met = [row for row in judged if (row["model_a"], row["model_b"]) in (*PAIRS, ("D", "E"))]
    said = file(tmp_path / "p.csv", [row for row in met if int(row["item"][1:]) % 2])
    made = run("rank", judge, "--with-people", said, "--json").document
    assert {one["model"] for one in made["models"]} == {"A", "B", "C"}
    assert any("D and E: people compared them with none of the others" in note for note in made["notes"])
    best = [{**row, "winner": "A" if "A" in (row["model_a"], row["model_b"]) else row["winner"]} for row in judged]
    made = run("rank", file(tmp_path / "b.csv", best), "--with-people", said, "--json").document
    assert {one["model"] for one in made["models"]} == {"B", "C"}
    assert any("; A: all of the judge's verdicts on it point one way" in note for note in made["notes"])


def test_what_cannot_be_rated_at_all_is_refused_in_a_sentence(judge: Path, people: Path, tmp_path: Path) -> None:
    says(refused(judge, "--with-people", file(tmp_path / "one.csv", rows(SAID)[:1])), "EH-PEOPLE-FEW", "no two models")


def test_people_who_were_not_drawn_alike_are_told(tmp_path: Path) -> None:
    judge = [
        {"item": f"i{number}", "model_a": a, "model_b": b, "winner": a if (number + place) % 3 else b}
        for number in range(120)
        for place, (a, b) in enumerate((*PAIRS, ("A", "D"), ("B", "D"), ("C", "D")))
    ]
    # D on every third item, the others on every twelfth.
    said = [row for row in judge if int(row["item"][1:]) % (3 if row["model_b"] == "D" else 12) == 0]
    said = [{**row, "winner": "tie" if number % 2 else row["winner"]} for number, row in enumerate(said)]
    made = run(
        "rank", file(tmp_path / "j.csv", judge), "--with-people", file(tmp_path / "p.csv", said), "--json"
    ).document
    assert any("People judged D on 120 of 360" in note and "`probability`" in note for note in made["notes"])


def test_people_who_were_asked_where_the_judge_is_unsure_are_told(tmp_path: Path) -> None:
    judge = [
        {"item": f"i{number}", "model_a": a, "model_b": b, "winner": (a, b, a, "tie", b)[(number * 7 + place) % 5]}
        for number in range(200)
        for place, (a, b) in enumerate(PAIRS)
    ]
    of_judge = file(tmp_path / "j.csv", judge)
    for kept, told in (([row for row in judge if row["winner"] == "tie"], True), (judge[::5], False)):
        said = [{**row, "winner": row["model_a" if number % 2 else "model_b"]} for number, row in enumerate(kept)]
        made = run("rank", of_judge, "--with-people", file(tmp_path / "p.csv", said), "--json").document
        assert any("the judge is less often decided" in note for note in made["notes"]) is told


def test_people_on_items_that_suit_a_model_are_told(tmp_path: Path) -> None:
    judge = [
        {"item": f"i{number}", "model_a": a, "model_b": b, "winner": a if (number + place) % 3 else b}
        for number in range(200)
        for place, (a, b) in enumerate(PAIRS)
    ]
    said = [row for row in judge if row["model_a"] != "A" or row["winner"] == "A" or int(row["item"][1:]) % 10 == 0]
    said = [{**row, "winner": row["winner"] if number % 3 else "tie"} for number, row in enumerate(said)]
    made = run(
        "rank", file(tmp_path / "j.csv", judge), "--with-people", file(tmp_path / "p.csv", said), "--json"
    ).document
    assert any("the judge gives A more" in note for note in made["notes"])


BENCHMARK = "visit-bench-sample"
ITEMS = [f"s{number:02}" for number in range(1, 7)]
MODELS = {"A": "sample-brief", "B": "sample-careful", "C": "sample-rambling"}


def _on_record(said: tuple[str, ...], rater: str, kind: str) -> list[dict[str, Any]]:
    return [
        {"item": ITEMS[int(row["item"][1:]) - 1], "rater": rater, "rater_kind": kind, "model_a": MODELS[row["model_a"]],
         "model_b": MODELS[row["model_b"]], "verdict": {row["model_a"]: 1, row["model_b"]: -1}.get(row["winner"], 0)}
        for row in rows(said)
    ]  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> str:
    sample = Path(__file__).parents[2] / "src/evenhand/benchmarks/visit_bench/sample/answers.jsonl"
    where = ("--benchmark", BENCHMARK, "--store", store_in(tmp_path))
    assert run("import", sample, "--responses", *where).code == 0
    told = [*_on_record(JUDGED, "gpt", "model"), *_on_record(SAID, "ann", "human")]
    done = run("import", file(tmp_path / "verdicts.csv", told), "--judgements", "--levels", "3", *where)
    assert done.code == 0, done.err
    return store_in(tmp_path)


def test_a_ledger_gives_the_worked_board(store: str) -> None:
    done = run("rank", "--judge", "gpt", "--with-people", "--store", store, "--json")
    assert done.code == 0, done.err
    ratings = {one["model"]: one["rating"] for one in done.document["models"]}
    assert ratings == pytest.approx({MODELS[name]: 1000 + UNIT * value for name, value in WORKED.items()}, abs=1e-3)
    assert done.document["people"]["lambda"] == pytest.approx(0.846252, abs=5e-7)
    assert done.document["judge"] == "gpt"
    board = eh.rank(store, eh.Choice(judge="gpt"), with_people=True)
    assert board.as_json()["people"] == done.document["people"]


def test_a_ledger_whose_board_is_peoples_or_that_has_none_is_refused(store: str, tmp_path: Path) -> None:
    says(refused("--judge", "ann", "--with-people", "--store", store), "EH-RANK", "--judge")
    other = store_in(tmp_path / "other")
    (tmp_path / "other").mkdir()
    sample = Path(__file__).parents[2] / "src/evenhand/benchmarks/visit_bench/sample/answers.jsonl"
    where = ("--benchmark", BENCHMARK, "--store", other)
    assert run("import", sample, "--responses", *where).code == 0
    alone = file(tmp_path / "alone.csv", _on_record(JUDGED, "gpt", "model"))
    assert run("import", alone, "--judgements", "--levels", "3", *where).code == 0
    says(refused("--with-people", "--store", other), "EH-CHOOSE-NOTHING", "gpt", "import --judgements")


def test_people_asked_about_one_category_do_not_correct_a_judge_of_all(tmp_path: Path) -> None:
    sample = Path(__file__).parents[2] / "src/evenhand/benchmarks/visit_bench/sample/answers.jsonl"
    where = ("--benchmark", BENCHMARK, "--store", store_in(tmp_path))
    assert run("import", sample, "--responses", *where).code == 0
    judged = file(tmp_path / "judge.csv", _on_record(JUDGED, "gpt", "model"))
    assert run("import", judged, "--judgements", "--levels", "3", *where).code == 0
    with closing(Ledger(where[-1], create=False)) as ledger:
        (data,) = [one.data for one in benchmarks(ledger)]
        category = next(item.category for item in items_of(ledger, data) if item.label == ITEMS[0])
        study = make_people_study(
            ledger,
            AskedStudy(
                data=data, form="forced", pairs=Pairs(models=tuple(sorted(MODELS.values()))), title="The few",
                sharing=Sharing(people=1, each=1), category=category,
            ),
            made_by=None,
        )  # fmt: skip
        place = taken(ledger, study, person(ledger))
        for number in range(1, place.tasks + 1):
            say(ledger, place, number, "AB"[number % 2])
        says(
            refused("--judge", "gpt", "--with-people", *where[2:]),
            "EH-PEOPLE-UNMATCHED",
            "The few",
            category,
            "5 items",
        )
        assert set_people_study(ledger, study, "aside", on=True)
        says(refused("--judge", "gpt", "--with-people", *where[2:]), "EH-CHOOSE-NOTHING", "gpt")


def test_where_the_judge_was_asked_in_vain_people_are_left_out_and_counted(tmp_path: Path) -> None:
    sample = Path(__file__).parents[2] / "src/evenhand/benchmarks/visit_bench/sample/answers.jsonl"
    where = ("--benchmark", BENCHMARK, "--store", store_in(tmp_path))
    assert run("import", sample, "--responses", *where).code == 0
    judged = [{**row, "reason": None} for row in _on_record(JUDGED, "gpt", "model")]
    judged[0] |= {"verdict": None, "reason": "unreadable"}
    told = [*judged, *({**row, "reason": None} for row in _on_record(SAID, "ann", "human"))]
    done = run("import", file(tmp_path / "verdicts.csv", told), "--judgements", "--levels", "3", *where)
    assert done.code == 0, done.err
    made = run("rank", "--judge", "gpt", "--with-people", *where[2:], "--json").document
    assert made["people"]["verdicts"] == 11
    assert any("Left out: 1 verdict of people" in note for note in made["notes"])


def test_verdicts_that_no_fit_can_hold_are_refused_with_what_can_be_asked_for(people: Path, tmp_path: Path) -> None:
    onesided = file(tmp_path / "onesided.csv", rows(("111",) * 6))
    says(refused(onesided, "--with-people", people), "EH-PEOPLE-FEW", "no two models", "--method win-rate")
    assert run("rank", onesided, "--with-people", people, "--method", "win-rate").code == 0
    says(refused(file(tmp_path / "j.csv", rows(JUDGED)), "--with-people", onesided), "EH-PEOPLE-FEW")


def test_an_anchor_that_people_do_not_place_is_refused(judge: Path, people: Path) -> None:
    says(refused(judge, "--with-people", people, "--anchor", "nobody=1000"), "EH-PEOPLE-FEW", "'nobody'")
