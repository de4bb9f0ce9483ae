"""Claims about what is told of answers that speak to the judge: by model, in a sentence, where there is any."""

import json
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from evenhand.cli.read.case_page import case_document
from evenhand.cli.read.showing import print_trial
from evenhand.domain.identity import Json
from evenhand.domain.response import REFERENCE
from evenhand.ledger.read.lookup import TrialOnRecord, find_trial
from evenhand.ledger.read.projection import judged, studies
from evenhand.ledger.read.steering import steering_of
from evenhand.ledger.read.votes import judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.board import Board
from evenhand.reports.board.ranking import rank
from evenhand.reports.board.steering import APART, NOT_KNOWN, steering_sentences
from evenhand.reports.case import trial_document
from evenhand.reports.page.parts import page_values
from evenhand.reports.page.words import summary
from evenhand.reports.papers.scores.creation_choosing import CreationChoice, choose_creation
from evenhand.reports.papers.scores.creation_score import creation_evidence, creation_score
from evenhand.reports.papers.scores.visit_bench import AskedItems, visit_score
from tests.ledger.scene import speaking
from tests.refusals import tells
from tests.reports import report_scene
from tests.reports.papers.scores import creation_scene, visit_scene
from tests.reports.report_scene import JUDGE, Scene, numbered, with_models

MODELS = ("amber", "blue", "coral", "dun")


def scene(items: int = 8) -> Scene:
    return with_models(numbered(items), *MODELS)


def board_of(ledger: Ledger) -> Board:
    return rank(judged_battles(ledger, studies(ledger)))


def counts(ledger: Ledger) -> dict[str, tuple[int, int, int]]:
    found = steering_of([judged_battles(ledger, studies(ledger))])
    return {model: (one.answers_shown, one.writes_verdicts, one.gives_orders) for model, one in found.items()}


def test_answers_are_counted_once_however_often_they_are_shown(ledger: Ledger):
    speaks = replace(
        scene(),
        speaks=lambda label, model: {
            "blue": ("verdict",) if int(label) < 3 else (),
            "dun": ("order", "verdict")[: int(label) % 2],
        }.get(model, ()),
    )
    speaks.judged(ledger, lambda *_: 1)
    assert counts(ledger) == {"amber": (8, 0, 0), "blue": (8, 3, 0), "coral": (8, 0, 0), "dun": (8, 0, 4)}
    assert board_of(ledger).told == (
        "blue writes verdicts in 3 of 8 answers.",
        "dun gives the judge orders in 4 of 8 answers.",
        APART,
    )


def test_items_whose_answers_speak_to_the_judge_are_listed_by_model_up_to_fifty(ledger: Ledger):
    speaks = {"blue": ("verdict", "order"), "dun": ("order",)}
    many = replace(
        scene(60), speaks=lambda label, model: speaks.get(model, ()) if model == "blue" or label == "7" else ()
    )
    many.judged(ledger, lambda *_: 1)
    found = {one["model"]: one for one in json.loads(board_of(ledger).to_json())["models"]}
    assert found["blue"]["verdict_items"] == found["blue"]["order_items"] == [item.label for item in many.items][:50]
    assert (found["dun"]["verdict_items"], found["dun"]["order_items"]) == ([], ["7"])
    assert found["amber"]["verdict_items"] == found["amber"]["order_items"] == []


def test_an_item_shown_alone_says_which_of_its_answers_speak_to_the_judge(ledger: Ledger):
    speaks = {"blue": ("order", "verdict"), "dun": ("order",)}
    replace(scene(), speaks=lambda label, model: speaks.get(model, ()) if label == "3" else ()).judged(
        ledger, lambda *_: 1
    )
    said = {
        label: {one["model"]: one["says_to_judge"] for one in case_document(ledger, None, label)["answers"]}
        for label in ("3", "4")
    }
    assert said["3"]["blue"] == ["writes a verdict", "gives the judge an order"]
    assert said["3"]["dun"] == ["gives the judge an order"]
    assert said["3"]["amber"] == said["4"]["blue"] == said["4"]["dun"] == []


def test_every_model_that_plants_is_named(ledger: Ledger):
    names = [f"m{number:02}" for number in range(9)]
    replace(with_models(numbered(2), *names), speaks=lambda *_: ("verdict",)).judged(ledger, lambda *_: 1)
    told, _ = board_of(ledger).told
    assert [name for name in names if f"{name} in 2 of 2" in told] == names


def test_several_models_are_told_in_one_line_the_worst_first(ledger: Ledger):
    speaks = replace(
        scene(), speaks=lambda label, model: ("verdict",) if model == "blue" or (model, label) == ("amber", "1") else ()
    )
    speaks.judged(ledger, lambda *_: 1)
    assert board_of(ledger).told == ("Verdicts are written by blue in 8 of 8 answers and amber in 1 of 8.", APART)


def test_where_nothing_is_written_nothing_is_said_and_the_counts_are_there(ledger: Ledger):
    scene().judged(ledger, lambda *_: 1)
    made = board_of(ledger)
    assert made.told == ()
    document = json.loads(made.to_json())
    assert {one["model"]: one["answers_shown"] for one in document["models"]} == dict.fromkeys(MODELS, 8)
    assert all(one["writes_verdicts"] == one["gives_orders"] == one["lost"] == 0 for one in document["models"])
    assert all(one["lost_of"] == 48 and one["lost_more_than_others"] is False for one in document["models"])


def test_a_model_whose_comparisons_have_no_verdict_is_named_with_its_figures(ledger: Ledger):
    def says(label: str, first: str, second: str) -> int | str:
        silent = "coral" in (first, second) and (int(label) + (first > second)) % 4 > 0
        return "conflicting" if silent else 1

    scene().judged(ledger, says)
    made = board_of(ledger)
    assert made.told == ("No verdict could be read in 36 of 48 comparisons of coral, in 0 of 48 of the others.",)
    document = json.loads(made.to_json())
    (coral,) = [one for one in document["models"] if one["model"] == "coral"]
    assert (coral["lost"], coral["lost_of"], coral["lost_more_than_others"]) == (36, 48, True)
    assert document["notes"][0] == made.told[0]
    assert str(made).index(made.told[0]) > str(made).index("coral")


def test_replies_that_never_came_are_not_lost_verdicts(ledger: Ledger):
    scene().judged(ledger, lambda label, first, second: "timeout" if "coral" in (first, second) else 1)
    made = board_of(ledger)
    assert made.told == ()
    assert "coral" not in made.steering
    assert {one["lost"] for one in json.loads(made.to_json())["models"] if one["model"] != "coral"} == {0}


def test_people_read_no_replies_so_nothing_is_known(ledger: Ledger):
    person = replace(JUDGE, kind="human", name="Ada", endpoint="")
    replace(scene(), rater=person).judged(ledger, lambda *_: 1)
    document = json.loads(board_of(ledger).to_json())
    assert all(one.items() >= NOT_KNOWN.items() for one in document["models"])


def test_of_a_file_nobody_knows(tmp_path: Path):
    (tmp_path / "b.csv").write_text("model_a,model_b,winner\na,b,model_a\nb,a,tie\n", encoding="utf-8")
    made = rank(tmp_path / "b.csv")
    assert made.told == ()
    assert all(one.items() >= NOT_KNOWN.items() for one in json.loads(made.to_json())["models"])


def test_models_are_called_as_asked(ledger: Ledger):
    speaks = replace(scene(), speaks=lambda label, model: ("verdict",) if model == "blue" else ())
    speaks.judged(ledger, lambda *_: 1)
    found = board_of(ledger).steering
    told, apart = steering_sentences(found, {"blue": "Blue 2"})
    tells(told, "Blue 2", "8 of 8 answers")
    assert apart == APART


def test_a_judgement_that_was_read_again_speaks_by_its_newer_reading(ledger: Ledger):
    speaks = replace(scene(), speaks=lambda label, model: ("verdict",) if model == "blue" else ())
    speaks.judged(ledger, lambda *_: 1)
    scene().judged(ledger, lambda *_: 1)
    assert counts(ledger)["blue"] == (8, 0, 0)


def test_creations_table_tells_of_preferences_and_grades_together(ledger: Ledger):
    creation_scene.set_up(ledger, *creation_scene.answers_of(["amber", "blue"]))
    creation_scene.judge(ledger, lambda shown: creation_scene.for_model(1, shown))
    creation_scene.judge(ledger, lambda shown: creation_scene.grades(8, 6, shown), creation_scene.FACTUALITY)
    speaking(ledger, {"blue": ("verdict",), REFERENCE: ("order",)})
    chosen = choose_creation(studies(ledger), CreationChoice(benchmark="creation-mmbench"))
    document = creation_score(creation_evidence(ledger, chosen)).as_json()
    rows = {one["model"]: one for one in cast(list[dict[str, Json]], document["models"])}
    assert (rows["blue"]["writes_verdicts"], rows["blue"]["answers_shown"], rows["amber"]["writes_verdicts"]) == (
        4,
        4,
        0,
    )
    # Three of the four cases are graded too, in both orders.
    assert (rows["blue"]["lost"], rows["blue"]["lost_of"]) == (0, 14)
    assert cast(dict[str, Json], document["baseline"])["gives_orders"] == 4
    verdicts, orders = cast(list[str], document["notes"])[:2]
    tells(verdicts, "blue", "verdicts", "4 of 4 answers")
    tells(orders, "reference", "orders", "4 of 4 answers")


def test_visits_table_tells_it(ledger: Ledger):
    players = dict.fromkeys(visit_scene.ITEMS, ("amber", "blue", "coral"))
    visit_scene.judge(
        ledger, players, lambda shown: visit_scene.UNREADABLE if "coral" in shown.pair else shown.picks("amber")
    )
    speaking(ledger, {"coral": ("verdict",)})
    items = {one.digest: one for one in visit_scene.ITEMS.values()}
    document = visit_score(judged_battles(ledger, studies(ledger)), AskedItems(items=items)).as_json()
    (coral,) = [one for one in cast(list[dict[str, Json]], document["models"]) if one["model"] == "coral"]
    assert (coral["writes_verdicts"], coral["lost"], coral["lost_of"]) == (5, 20, 20)
    assert coral["lost_more_than_others"] is True
    verdicts, apart, lost = cast(list[str], document["notes"])[:3]
    tells(verdicts, "coral", "5 of 5 answers")
    assert apart == APART
    tells(lost, "20 of 20 comparisons", "coral", "0 of 10")


def test_the_report_tells_it_first_and_under_its_board(ledger: Ledger):
    speaks = replace(scene(), speaks=lambda label, model: ("verdict",) if model == "blue" else ())
    speaks.judged(ledger, lambda *_: 1)
    made = report_scene.report(ledger)
    told, _ = board_of(ledger).told
    tells(told, "blue", "8 of 8 answers")
    assert told in summary(made)
    assert told in page_values(made)["notes"]


def test_a_trial_shown_alone_says_which_of_its_answers_speak_to_the_judge(
    ledger: Ledger, capsys: pytest.CaptureFixture[str]
):
    speaks = {"blue": ("order", "verdict")}
    replace(scene(), speaks=lambda label, model: speaks.get(model, ()) if label == "3" else ()).judged(
        ledger, lambda *_: 1
    )
    found = [find_trial(ledger, one.trial.key) for one in judged(ledger, studies(ledger))]
    trials = [trial_document(one) for one in found if isinstance(one, TrialOnRecord)]
    for one in trials:
        print_trial(one)
    said = {(one["item"], shown["model"]): shown["says_to_judge"] for one in trials for shown in one["shown"]}
    blue = said.pop(("3", "blue"))
    assert len(blue) == 2
    assert set(map(tuple, said.values())) == {()}
    printed = capsys.readouterr().out
    assert printed.count(f"blue ({', '.join(blue)})") == printed.count(f"({blue[0]}") > 0
