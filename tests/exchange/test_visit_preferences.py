"""People's choices in VisIT-Bench's own columns become judgements and a board of people."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.exchange.world import Ran, counts, run, store_in, write_lines
from tests.refusals import Refused, says

URL = "https://example.org/{}.png"
ITEMS = [
    {"item": "q1", "instruction": "Where?", "images": [URL.format(1)], "reference": "Here.", "category": "vqa"},
    {"item": "q2", "instruction": "Where?", "images": [URL.format(2)], "reference": "There.", "category": "vqa"},
]


def choice(item: int, pair: str, winner: str, **changes: object) -> dict[str, object]:
    """`pair` is two letters, each a model that answers `<model> on <item>`."""
    first, second = pair
    return {
        "image_url": URL.format(item),
        "instruction": "Where?",
        "A": f"{first} on {item}\r\nindeed",
        "B": f"{second} on {item}\r\nindeed",
        "A_model": first,
        "B_model": second,
        "model_selection.A": winner == "A",
        "model_selection.B": winner == "B",
        **changes,
    }


def people(folder: Path, rows: Sequence[Mapping[str, object]], *, start: str = "", end: str = "\n") -> Path:
    path = folder / "people.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(start)
        writer = csv.DictWriter(file, list(rows[0]), lineterminator=end)
        writer.writeheader()
        writer.writerows(rows)
    return path


def take(folder: Path, rows: Sequence[Mapping[str, object]], *more: object, **how: str) -> Ran:
    data = write_lines(folder / "items.jsonl", ITEMS)
    file = people(folder, rows, **how)
    return run(
        "import", file, "--judgements", "--benchmark", "visit-bench", "--data", data, "--store", store_in(folder),
        "--json", *more,
    )  # fmt: skip


def refusal(folder: Path, *rows: Mapping[str, object]) -> Refused:
    done = take(folder, rows)
    assert done.code == 2
    assert not (folder / "ledger.db").exists()
    return done.refused


def exported(folder: Path, kind: str) -> list[dict[str, Any]]:
    return run("export", kind, "--out", "-", "--store", store_in(folder), "--benchmark", "visit-bench").rows


def test_choices_bring_their_answers_and_give_a_board_of_people(tmp_path: Path) -> None:
    rows = [
        choice(1, "xy", "A"),
        choice(1, "xz", "A"),
        choice(2, "xy", "A"),
        choice(2, "yz", "A"),
        choice(2, "zx", "B"),
    ]
    done = take(tmp_path, rows)
    assert done.code == 0, done.err
    assert (done.document["judgements"], done.document["raters"]) == (5, ["people"])
    assert "each row counts as one person's choice" in done.err
    board = run("rank", "--judge", "people", "--store", store_in(tmp_path), "--method", "win-rate", "--json")
    assert board.code == 0, board.err
    models = {one["model"]: one for one in board.document["models"]}
    assert {name: (one["wins"], one["losses"], one["ties"]) for name, one in models.items()} == {
        "x": (4, 0, 0),
        "y": (1, 2, 0),
        "z": (0, 3, 0),
    }
    judged = exported(tmp_path, "--judgements")
    assert {one["rater_kind"] for one in judged} == {"human"}
    assert judged[0]["verdict"] == {"kind": "preference", "value": 1, "levels": 2}
    assert judged[4]["models"] == ["z", "x"]
    assert judged[4]["verdict"] == {"kind": "preference", "value": -1, "levels": 2}
    texts = {(one["item"], one["model"]): one["response"] for one in exported(tmp_path, "--responses")}
    assert texts["q1", "x"] == "x on 1\r\nindeed"
    assert len(texts) == 6


def test_the_same_file_again_adds_nothing(tmp_path: Path) -> None:
    rows = [choice(1, "xy", "A"), choice(2, "xy", "B")]
    take(tmp_path, rows)
    before = counts(store_in(tmp_path))
    again = take(tmp_path, rows, start="\ufeff", end="\r\n")
    assert (again.document["judgements"], again.document["known"]) == (0, 2)
    assert counts(store_in(tmp_path)) == before


def board(folder: Path, *command: object) -> dict[str, Any]:
    """Of all people, and what it says of each model's wins, losses and ties."""
    done = run(*command, "--judge", "people", "--store", store_in(folder), "--json")
    assert done.code == 0, done.err
    document = done.document
    models = {one["model"]: (one["wins"], one["losses"], one["ties"]) for one in document["models"]}
    return {"judge": document["judge"], "models": models, "notes": document["notes"]}


BOARDS = [("rank", "--method", "win-rate"), ("score", "visit-bench", "--bootstrap", 0)]


@pytest.mark.parametrize("command", BOARDS)
def test_every_choice_of_one_pair_counts_one(tmp_path: Path, command: tuple[object, ...]) -> None:
    done = take(tmp_path, [choice(1, "xy", "A"), choice(1, "yx", "B"), choice(1, "xy", "B"), choice(1, "xy", "A")])
    assert done.document["raters"] == ["people", "people 2", "people 3", "people 4"]
    assert board(tmp_path, *command)["models"] == {"x": (3, 1, 0), "y": (1, 3, 0)}


@pytest.mark.parametrize("command", BOARDS)
def test_named_people_have_a_board_together(tmp_path: Path, command: tuple[object, ...]) -> None:
    rows = [choice(1, "xy", "A", rater="ann"), choice(1, "xy", "A", rater="bob"), choice(1, "xy", "B", rater="cyd")]
    take(tmp_path, rows)
    made = board(tmp_path, *command)
    assert (made["judge"], made["models"]) == ("people", {"x": (2, 1, 0), "y": (1, 2, 0)})
    unsaid = run(*command, "--store", store_in(tmp_path))
    assert unsaid.code == 2
    says(unsaid.refused, "EH-CHOOSE-SEVERAL", "--judge: ann, bob, cyd.", "--judge people")


def test_a_persons_choice_is_a_battle_and_the_table_says_so(tmp_path: Path) -> None:
    take(tmp_path, [choice(1, "xy", "A", rater="ann"), choice(1, "xy", "B", rater="bob")])
    notes = board(tmp_path, "score", "visit-bench", "--bootstrap", 0)["notes"]
    assert "A battle is one person's choice between the answers of a pair to one item." in notes


def test_named_raters_are_kept_apart_and_must_not_contradict_themselves(tmp_path: Path) -> None:
    rows = [choice(1, "xy", "A", rater="ann"), choice(1, "xy", "B", rater="bob")]
    done = take(tmp_path, rows)
    assert done.document["raters"] == ["ann", "bob"]
    assert "says who chose" not in done.err
    again = take(tmp_path, [*rows, choice(1, "xy", "B", rater="ann")])
    assert again.code == 2
    says(again.refused, "EH-DATA-TWICE", "`ann`", "`x`, `y`")


def test_neither_and_both_are_no_verdict_and_never_a_tie(tmp_path: Path) -> None:
    both = {"model_selection.A": True, "model_selection.B": True}
    done = take(tmp_path, [choice(1, "xy", "neither"), choice(2, "xy", "A", **both), choice(1, "xz", "A")])
    assert "hold no verdict: 2" in done.err
    judged = exported(tmp_path, "--judgements")
    assert [one["reason"] for one in judged] == ["unreadable", "conflicting", None]
    assert judged[0]["verdict"] is None


def test_the_reference_may_play_under_its_own_text_only(tmp_path: Path) -> None:
    done = take(tmp_path, [choice(1, "xy", "B", B_model="reference", B="Here.")])
    assert done.code == 0, done.err
    assert exported(tmp_path, "--judgements")[0]["models"] == ["x", "reference"]


@pytest.mark.parametrize("name", ["human_verified_reference", "Human Verified GPT-4 Reference"])
def test_the_reference_plays_under_its_published_names(tmp_path: Path, name: str) -> None:
    assert take(tmp_path, [choice(1, "ab", "A", A_model=name, A="Here.")]).code == 0
    board = run("rank", "--store", store_in(tmp_path), "--json").document
    assert sorted(one["model"] for one in board["models"]) == ["b", "reference"]


def test_the_ledgers_other_text_of_a_model_is_not_replaced_silently(tmp_path: Path) -> None:
    take(tmp_path, [choice(1, "xy", "A")])
    before = counts(store_in(tmp_path))
    other = take(tmp_path, [choice(1, "xy", "A", A="something else")])
    assert other.code == 1
    assert counts(store_in(tmp_path)) == before
    assert take(tmp_path, [choice(1, "xy", "A", A="something else")], "--replace").code == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model_selection.A": "perhaps"}, "`model_selection.A` is `perhaps`; expected True or False"),
        ({"instruction": "Never asked"}, "has no item with this instruction"),
        ({"image_url": "https://example.org/9.png"}, "only with other images"),
        ({"B_model": ""}, "`B_model` is empty"),
        ({"B_model": "x"}, "another text"),
        ({"B_model": "x", "B": "x on 1\r\nindeed"}, "`x` is compared with itself"),
        ({"A_model": "Reference"}, "is reserved, and `A` is not the item's reference"),
    ],
)
def test_a_row_that_does_not_fit_is_told_and_nothing_is_taken(
    tmp_path: Path, change: dict[str, str], words: str
) -> None:
    message = refusal(tmp_path, choice(2, "xy", "A"), choice(1, "xy", "A", **change))
    assert words in message
    assert "row 2" in message


def test_a_missing_column_is_told_once(tmp_path: Path) -> None:
    row = choice(1, "xy", "A")
    del row["B_model"]
    assert "No column `B_model`" in refusal(tmp_path, row, row)


def test_levels_other_than_two_are_refused(tmp_path: Path) -> None:
    assert "have 2 levels" in take(tmp_path, [choice(1, "xy", "A")], "--levels", "5").err
    assert take(tmp_path, [choice(1, "xy", "A")], "--levels", "2").code == 0


def test_the_models_are_named_and_a_name_that_is_new_is_told(tmp_path: Path) -> None:
    first = take(tmp_path, [choice(1, "xy", "A")])
    assert "1 judgement of people without names on visit-bench imported, 0 were known." in first.err
    assert "Models: x, y. New to the ledger: x, y." in first.err
    rows = [choice(2, "xy", "A"), {**choice(2, "xy", "B"), "B_model": "yy", "B": "other"}]
    later = take(tmp_path, rows)
    assert "Models: x, y, yy. New to the ledger: yy (or is it `y`?)." in later.err
    assert later.document["new_models"] == ["yy"]
    assert "New to the ledger" not in take(tmp_path, [choice(2, "xy", "A")]).err


def test_unnamed_people_are_not_counted_as_so_many_persons(tmp_path: Path) -> None:
    done = take(tmp_path, [choice(1, "xy", "A"), choice(1, "xy", "B"), choice(1, "xy", "A"), choice(2, "xy", "A")])
    assert "4 judgements of people without names, up to 3 for one pair, on visit-bench imported" in done.err
