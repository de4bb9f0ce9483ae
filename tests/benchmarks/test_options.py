"""Files of prompts with outputs: what is read, what is refused, what is left out."""

import csv
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evenhand.benchmarks.catalog import describe_benchmark, load_benchmark
from evenhand.benchmarks.data_error import BenchmarkError
from evenhand.benchmarks.options.load import read_options
from evenhand.benchmarks.options.option_set import OptionSet, Selection, select, sets_of_answers
from evenhand.domain.item import Item
from evenhand.domain.response import Response
from tests.beside import OASST, needs


def jsonl(folder: Path, *rows: object) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def texts(one: OptionSet) -> list[str]:
    return [option.text for option in one.options]


def row(prompt: str, *outputs: str, **more: Any) -> dict[str, Any]:
    return {"prompt": prompt, "outputs": list(outputs), **more}


def test_options_are_numbered_as_the_file_gives_them(tmp_path: Path):
    read = read_options(jsonl(tmp_path, row("Why?", "Because.", "So."), row("When?", "Now.", "Then.", "Never.")))
    first, second = read.sets
    assert (first.item.label, first.item.instruction, texts(first)) == ("1", "Why?", ["Because.", "So."])
    assert [option.model for option in second.options] == ["output 0", "output 1", "output 2"]
    assert {option.item for option in second.options} == {second.item.digest}
    assert read.benchmark.name == "rows"
    assert (first.best, second.best) == (None, None)


def test_two_options_with_the_same_words_are_two_options_and_told(tmp_path: Path):
    read = read_options(jsonl(tmp_path, row("Why?", "So.", "So.")))
    assert len({option.digest for option in read.sets[0].options}) == 2
    assert any("same words: 1" in note for note in read.benchmark.notes)


@pytest.mark.parametrize(
    ("ranks", "best"), [([2, 1], 1), ([0, 1], 0), ([1, 1], None), ([0, None], None), (None, None), ([0.5, 0.25], 1)]
)
def test_the_best_option_is_the_one_of_the_lowest_rank(tmp_path: Path, ranks: object, best: int | None):
    assert read_options(jsonl(tmp_path, row("Why?", "a", "b", ranks=ranks))).sets[0].best == best


def test_a_table_holds_the_outputs_as_a_list_or_in_columns(tmp_path: Path):
    listed, columns = tmp_path / "listed.csv", tmp_path / "columns.csv"
    with listed.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["prompt", "outputs"], ["Why?", '["a, b", "c\\nd"]'], ["How?", "['x', 'y']"]])
    with columns.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["prompt", "output_10", "output_2"], ["Why?", "c", "a"], ["How?", "x", ""]])
    assert [texts(one) for one in read_options(listed).sets] == [["a, b", "c\nd"], ["x", "y"]]
    assert [texts(one) for one in read_options(columns).sets] == [["a", "c"], ["x"]]


def test_parquet_is_read_like_json_lines(tmp_path: Path):
    rows = [row("Why?", "a", "b", ranks=[1, 0]), row("How?", "c", "d", ranks=[0, 1])]
    path = tmp_path / "rows.parquet"
    pl.DataFrame(rows).write_parquet(path)
    assert read_options(path).sets == read_options(jsonl(tmp_path, *rows)).sets


def reply(text: str, **more: object) -> dict[str, Any]:
    return {"text": text, "role": "assistant", "replies": [], **more}


def test_of_a_tree_the_first_replies_are_options_and_follow_ups_are_not(tmp_path: Path):
    further = reply("You are welcome?", replies=[reply("Bye.")])
    tree = {
        "message_tree_id": "t-1",
        "prompt": {
            "text": "Hello",
            "replies": [reply("Hi.", rank=1), reply("Hey.", rank=0, replies=[further]), reply("Gone.", deleted=True)],
        },
    }
    read = read_options(jsonl(tmp_path, tree, {"prompt": {"text": "Nobody answers", "replies": []}}))
    assert (read.sets[0].item.label, texts(read.sets[0]), read.sets[0].best) == ("t-1", ["Hi.", "Hey."], 1)
    assert texts(read.sets[1]) == []
    assert any("deleted are no options: 1" in note for note in read.benchmark.notes)


@needs(OASST)
def test_the_open_assistant_trees_are_read_whole():
    read = read_options(OASST)
    assert len(read.sets) == 100
    assert sum(one.best is not None for one in read.sets) == 99
    # The export lists replies by rank.
    assert {one.best for one in read.sets} == {0, None}
    selected = select(read.sets, Selection())
    assert (len(selected.sets), selected.left_out) == (100, {})
    assert sorted({len(one.options) for one in selected.sets}) == [2, 3, 4, 5, 6, 8, 9]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"outputs": ["a", "b"]}, "row 2, line 2: The field `prompt` is missing"),
        ({"prompt": "Why?"}, "row 2, line 2: The field `outputs` is missing; found `prompt`."),
        (row("Why?", "a", " "), "Number 2 of `outputs` must be text and is empty."),
        ({"prompt": "Why?", "outputs": "a"}, "The field `outputs` must be a list of texts and is text."),
        ({"prompt": "Why?", "outputs": ["a", 3]}, "Number 2 of `outputs` must be text and is a number."),
        (row("Why?", "a", "b", ranks=[1]), "There are 1 ranks for 2 options; give one each."),
        (row("Why?", "a", "b", ranks=["x", 1]), "A rank must be a number and is text."),
        (row("Why?", "a", "b", ranks="first"), "The field `ranks` must be a list of numbers and is text."),
        (row("Why?", "a", "b", item="1"), "The item `1` was already given in row 1, line 1; each needs its own name."),
        (row("Why?", "a", "b", output_1="c"), "There are both `outputs` and columns such as `output_1`"),
        ({"prompt": {"replies": []}}, "The field `text` is missing"),
        ({"prompt": {"text": "Why?", "replies": ["so"]}}, "A reply to the prompt must be an object and is text."),
    ],
)
def test_a_file_that_does_not_fit_is_refused_in_a_sentence(tmp_path: Path, wrong: dict[str, Any], sentence: str):
    with pytest.raises(BenchmarkError) as refused:
        read_options(jsonl(tmp_path, row("How?", "a", "b"), wrong))
    assert sentence in str(refused.value)


def test_fields_that_are_not_used_are_told(tmp_path: Path):
    read = read_options(jsonl(tmp_path, row("Why?", "a", "b", source="web")))
    assert read.benchmark.notes == ("Fields that are not used were left out: source.",)


def made(number: int, *outputs: str) -> OptionSet:
    item = Item(label=str(number), instruction=f"Question {number}")
    options = [Response(item=item.digest, model=f"output {one}", text=text) for one, text in enumerate(outputs)]
    return OptionSet(item=item, options=tuple(options))


def test_what_cannot_be_asked_is_left_out_and_counted():
    rows = [made(1, "a", "b"), made(2, "a"), made(1, "c", "d"), made(3, "a", "b", "c"), made(4, "a" * 30, "b"), made(5)]
    selected = select(rows, Selection(max_options=2, max_characters=20))
    assert selected.sets == (rows[0],)
    assert selected.left_out == {"one_option": 2, "repeated_prompt": 1, "too_many_options": 1, "too_long": 1}


def test_a_larger_sample_holds_the_smaller_one_in_the_files_order():
    rows = [made(number, "a", "b") for number in range(40)]
    few, more, other = (
        [int(one.item.label) for one in select(rows, Selection(sample=count, seed=seed)).sets]
        for count, seed in ((5, 1), (12, 1), (5, 2))
    )
    assert len(few) == 5
    assert set(few) < set(more)
    assert few == sorted(few) != other
    assert select(rows, Selection(limit=3)).sets == tuple(rows[:3])


def test_the_answers_of_several_models_are_options_in_the_order_of_their_names():
    item, alone = Item(label="1", instruction="Why?"), Item(label="2", instruction="How?")
    answers = [Response(item=item.digest, model=model, text=model) for model in ("zoe", "ann", "moe")]
    first, second = sets_of_answers([item, alone], [*answers, Response(item="elsewhere", model="ann", text="x")])
    assert texts(first) == ["ann", "moe", "zoe"]
    assert texts(second) == []


def test_the_kind_is_listed_and_loads_its_prompts_as_items(tmp_path: Path):
    path = jsonl(tmp_path, row("Why?", "a", "b"), row("Why?", "c", "d"), row("How?", "a"))
    loaded = load_benchmark("options", path=path)
    assert [item.instruction for item in loaded.items] == ["Why?", "How?"]
    assert describe_benchmark("options").protocols == ("option_selection",)
