"""VisIT-Bench's predictions.csv, whose rows are matched to items by what they hold."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.benchmarks.answers.responses_file import ResponseSet, read_responses
from evenhand.benchmarks.data_error import ResponsesError
from evenhand.domain.item import Benchmark, Item
from tests.refusals import Refused, says

ITEMS = (
    Item(label="dog", instruction="What is it?", images=("https://e.org/x/dog.png",), category="animals"),
    Item(label="cat", instruction="What is it?", images=("https://e.org/x/cat.png",), category="animals"),
    Item(
        label="pair", instruction="What changed?", images=("https://e.org/1.png", "https://e.org/2.png"), category="rcc"
    ),
    Item(label="held", instruction="Which colour?", images=("ab" * 32,), category="color"),
    Item(label="poem", instruction="Write", category="write a poem"),
    Item(label="story", instruction="Write", category="write a story"),
)
BENCHMARK = Benchmark(
    name="visit-bench", items=ITEMS, licence="", citation="", protocols=(), addresses={"pics/0007.png": "ab" * 32}
)


def predictions(path: Path, rows: Sequence[Mapping[str, object]], *, start: str = "", end: str = "\n") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(start)
        writer = csv.DictWriter(file, list(rows[0]), lineterminator=end)
        writer.writeheader()
        writer.writerows(rows)
    return path


def row(item: Item, answer: str, *, model: str = "ada", **changes: str) -> dict[str, str]:
    images = item.images[0] if len(item.images) == 1 else str(list(item.images)) if item.images else ""
    fields = {"instruction": item.instruction, "instruction_category": item.category or "", "image": images}
    return {**fields, f"{model} prediction": answer, **changes}


def read(folder: Path, *rows: Mapping[str, object]) -> ResponseSet:
    return read_responses(predictions(folder / "predictions.csv", rows), BENCHMARK)


def answers(found: ResponseSet, model: str = "ada") -> dict[str, str]:
    labels = {item.digest: item.label for item in ITEMS}
    return {labels[one.item]: one.text for one in found.responses if one.model == model}


def refusal(folder: Path, *rows: Mapping[str, object]) -> Refused:
    with pytest.raises(ResponsesError) as caught:
        read(folder, *rows)
    return Refused.made(str(caught.value), caught.value.code)


def test_rows_are_matched_whatever_their_order(tmp_path: Path) -> None:
    rows = [row(item, f"about {item.label}") for item in reversed(ITEMS)]
    found = read(tmp_path, *rows)
    assert answers(found) == {item.label: f"about {item.label}" for item in ITEMS}
    assert found.models == ("ada",)
    assert found.warnings == ()


@pytest.mark.parametrize(
    "image", ["https://e.org/x/cat.png", "cat.png", "C:\\pics\\Cat.png", '["https://e.org/x/cat.png"]']
)
def test_the_same_instruction_is_told_apart_by_its_image(tmp_path: Path, image: str) -> None:
    assert answers(read(tmp_path, row(ITEMS[0], "a cat", image=image))) == {"cat": "a cat"}


@pytest.mark.parametrize("image", ["ab" * 32, "pics/0007.png", "/home/somebody/0007.png"])
def test_an_image_is_known_by_its_digest_or_the_name_it_came_under(tmp_path: Path, image: str) -> None:
    assert answers(read(tmp_path, row(ITEMS[3], "red", image=image))) == {"held": "red"}


def test_two_images_of_one_file_name_are_told_apart_by_where_they_came_from(tmp_path: Path) -> None:
    items = tuple(Item(label=name, instruction="Which?", images=(name * 64,)) for name in ("a", "b"))
    benchmark = replace(BENCHMARK, items=items, addresses={"a/1.png": "a" * 64, "b/1.png": "b" * 64})
    path = predictions(tmp_path / "p.csv", [row(items[0], "x", image="b/1.png")])
    assert [one.item for one in read_responses(path, benchmark).responses] == [items[1].digest]


@pytest.mark.parametrize("column", ["images", "image_url"])
def test_several_images_are_a_list_under_any_usual_name(tmp_path: Path, column: str) -> None:
    written = '["https://e.org/1.png", "https://e.org/2.png"]'
    fields = {"instruction": "What changed?", "instruction_category": "rcc", column: written, "ada prediction": "x"}
    assert answers(read(tmp_path, fields)) == {"pair": "x"}


def test_another_address_with_the_same_file_name_is_another_image(tmp_path: Path) -> None:
    message = refusal(tmp_path, row(ITEMS[0], "x", image="https://elsewhere.org/other/dog.png"))
    says(message, "EH-ITEM-UNKNOWN", "only with other images", "rows: 1: row 1")
    given = ["1.png", "https://elsewhere.org/2.png"]
    message = refusal(tmp_path, row(ITEMS[2], "x", image=str(given)))
    says(message, "EH-ITEM-UNKNOWN", "only with other images")
    assert answers(read(tmp_path, row(ITEMS[3], "red", image="https://e.org/held/0007.png"))) == {"held": "red"}


def test_the_numbers_of_all_rows_that_match_nothing_are_told(tmp_path: Path) -> None:
    unknown = [row(ITEMS[0], "x", instruction=f"Unheard {number}?") for number in range(9)]
    message = refusal(tmp_path, *unknown[:3], row(ITEMS[0], "a dog"), *unknown[3:8], row(ITEMS[1], "a cat"), unknown[8])
    says(message, "EH-ITEM-UNKNOWN", "rows: 9: row 1, line 2", "and 4 more", "rows 1-3, 5-9, 11.")


def test_images_in_another_order_are_other_images(tmp_path: Path) -> None:
    message = refusal(tmp_path, row(ITEMS[2], "x", image="['https://e.org/2.png', 'https://e.org/1.png']"))
    says(message, "EH-ITEM-UNKNOWN", "only with other images", "rows: 1: row 1")


def test_without_an_image_the_category_tells_apart(tmp_path: Path) -> None:
    found = read(tmp_path, row(ITEMS[4], "roses", instruction_category="Write_a_Poem"))
    assert answers(found) == {"poem": "roses"}
    message = refusal(tmp_path, row(ITEMS[4], "roses", instruction_category=""))
    says(message, "EH-ITEM-UNKNOWN", "several items")


def test_spaces_and_line_ends_of_an_instruction_do_not_matter(tmp_path: Path) -> None:
    item = replace(ITEMS[0], instruction="One\ntwo  three")
    benchmark = replace(BENCHMARK, items=(item,))
    path = predictions(tmp_path / "p.csv", [row(item, "x", instruction=" One\r\ntwo three ")])
    assert len(read_responses(path, benchmark).responses) == 1


def test_several_columns_are_several_models(tmp_path: Path) -> None:
    found = read(tmp_path, {**row(ITEMS[0], "a dog"), "Bel 7B prediction": "a wolf", "comment": "ignored"})
    assert found.models == ("ada", "Bel 7B")
    assert answers(found, "Bel 7B") == {"dog": "a wolf"}


def test_a_model_may_stand_before_an_underscore_and_the_sheets_own_column_beside_others_is_nobodys(
    tmp_path: Path,
) -> None:
    row = {"instruction": "What changed?", "images": "['https://e.org/1.png', 'https://e.org/2.png']"}
    both = row | {"gpt4_prediction": "Nothing.", "my_model_prediction": "All."}
    sheet = predictions(tmp_path / "p.csv", [both | {"human_ratings_gpt4_correct": "True"}])
    found = read_responses([sheet], BENCHMARK, gaps="allow")
    assert [(one.model, one.text) for one in found.responses] == [("my_model", "All.")]
    assert any("`gpt4_prediction`" in warning for warning in found.warnings)
    two = read_responses([predictions(tmp_path / "t.csv", [both])], BENCHMARK, gaps="allow")
    assert two.models == ("gpt4", "my_model"), "without the sheet's ratings it is a model like others"
    assert not any("`gpt4_prediction`" in warning for warning in two.warnings)
    alone = predictions(tmp_path / "q.csv", [row | {"gpt4_prediction": "Nothing."}])
    assert [one.model for one in read_responses([alone], BENCHMARK, gaps="allow").responses] == ["gpt4"]


@pytest.mark.parametrize("nothing", ["", "  ", "nan", "NaN"])
def test_nan_is_no_answer_and_counted(tmp_path: Path, nothing: str) -> None:
    found = read(tmp_path, row(ITEMS[0], nothing), row(ITEMS[1], "a cat"))
    assert answers(found) == {"cat": "a cat"}
    (counts,) = found.counts
    assert counts.empty == 1
    assert counts.missing == 4
    assert "`ada`: empty responses, not judged: 1 (item dog)." in found.warnings


def test_unknown_instructions_are_listed_and_nothing_is_taken(tmp_path: Path) -> None:
    unknown = [row(ITEMS[0], "x", instruction=f"Never asked {number} " + "word " * 30) for number in range(7)]
    message = refusal(tmp_path, row(ITEMS[0], "x"), *unknown)
    says(message, "EH-ITEM-UNKNOWN", "rows: 7: row 2, line 3", '("Never asked 0 word', "and 2 more")


def test_rows_that_fit_nothing_are_left_out_with_a_warning_where_gaps_are_allowed(tmp_path: Path) -> None:
    path = predictions(tmp_path / "p.csv", [row(ITEMS[0], "x"), row(ITEMS[0], "y", instruction="Never asked")])
    found = read_responses(path, BENCHMARK, gaps="allow")
    assert answers(found) == {"dog": "x"}
    assert any("has no item with this instruction; rows: 1" in warning for warning in found.warnings)


def test_an_item_answered_twice_is_an_error_unless_the_texts_agree(tmp_path: Path) -> None:
    message = refusal(tmp_path, row(ITEMS[0], "a dog"), row(ITEMS[0], "a wolf"))
    says(message, "EH-DATA-TWICE", "`ada`", "`dog`", "(row 1, line 2)")
    found = read(tmp_path, row(ITEMS[0], "a dog"), row(ITEMS[0], "a dog"))
    assert len(found.responses) == 1
    assert "repeat an earlier row were dropped: 1" in found.warnings[-1]


@pytest.mark.parametrize("model", ["reference", "Reference", " REFERENCE ", "human verified reference"])
def test_the_references_name_is_refused(tmp_path: Path, model: str) -> None:
    message = refusal(tmp_path, row(ITEMS[0], "x", model=model), row(ITEMS[1], "y", model=model))
    says(message, "EH-NAME-RESERVED", "references")
    assert "problems were found" not in message


def test_the_name_of_a_submission_is_refused_once(tmp_path: Path) -> None:
    message = refusal(tmp_path, row(ITEMS[0], "x", model="submission-1a"), row(ITEMS[1], "y", model="submission-1a"))
    says(message, "EH-NAME-RESERVED", "`submission-1a`", "column")
    assert "problems were found" not in message


def test_a_column_without_a_models_name_is_told(tmp_path: Path) -> None:
    fields = {"instruction": "What is it?", "image": "dog.png", "prediction": "x"}
    says(refusal(tmp_path, fields), "EH-DATA-COLUMN", "`prediction`", "`<model name> prediction`")


def test_two_columns_of_one_model_are_told(tmp_path: Path) -> None:
    fields = {**row(ITEMS[0], "x"), "ada  prediction": "y"}
    says(refusal(tmp_path, fields), "EH-DATA-TWICE", "`ada`")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_an_answer_comes_out_byte_for_byte(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("p")
    path = predictions(folder / "p.csv", [row(ITEMS[0], f"x{text}y")], start="\ufeff", end="\r\n")
    assert answers(read_responses(path, BENCHMARK)) == {"dog": f"x{text}y"}


def test_a_row_under_another_category_is_taken_and_told(tmp_path: Path) -> None:
    dog, cat, pair, held, poem, _ = ITEMS
    rows = [
        row(dog, "a dog", instruction_category="Color"),
        row(cat, "a cat", instruction_category="ANIMALS"),
        row(pair, "the hat", instruction_category=""),
        row(held, "red", instruction_category="write a_poem"),
        row(poem, "Roses"),
    ]
    found = read(tmp_path, *rows)
    assert answers(found) == {"dog": "a dog", "cat": "a cat", "pair": "the hat", "held": "red", "poem": "Roses"}
    (told,) = [note for note in found.warnings if "another category" in note]
    assert told.endswith(
        ": Rows that name another category than visit-bench has for their item, whose own is kept; rows: 2: "
        'row 1, line 2 ("Color", not "animals"), row 4, line 5 ("write a_poem", not "color").'
    )
    assert not [note for note in read(tmp_path, *rows[1:3]).warnings if "another category" in note]
