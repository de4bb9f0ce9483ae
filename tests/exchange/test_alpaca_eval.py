"""AlpacaEval's two files, written by hand: model_outputs.json and annotations.json."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.exchange.battles_file import BattleColumns, read_battles
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.peers.alpaca_preference import AnnotatorPreference, read_leaning
from evenhand.ledger.read.projection import judged, studies
from evenhand.ledger.store.record import Ledger
from tests.exchange.world import Ran, run, store_in
from tests.refusals import Refused, says

FORMATS = Path(__file__).parent / "formats"
ANNOTATIONS, OUTPUTS, ITEMS = (
    FORMATS / name for name in ("annotations.json", "model_outputs.json", "alpaca_items.jsonl")
)


def changed(path: Path, *changes: dict[str, Any], source: Path = ANNOTATIONS) -> Path:
    """The fixture with other fields in its first rows; a field set to ... is taken out."""
    rows = json.loads(source.read_text(encoding="utf-8"))
    for row, change in zip(rows, changes, strict=False):
        row |= change
        for name in [name for name, value in change.items() if value is ...]:
            del row[name]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def taken(folder: Path, file: Path, kind: str, *more: object) -> Ran:
    return run("import", file, kind, "--benchmark", ITEMS, "--store", store_in(folder), *more)


def refused(path: Path, columns: BattleColumns | None = None) -> Refused:
    with pytest.raises(ExchangeError) as error:
        read_battles(path, columns=columns or BattleColumns())
    return Refused.made(str(error.value), error.value.code)


# rank


def test_the_win_rate_is_the_mean_of_the_preferences():
    document = run("rank", ANNOTATIONS, "--method", "win-rate", "--json").document
    # 1.75, 1 and 1.5 leave 0.75, 0 and 0.5 to the second.
    shares = {one["model"]: one["win_rate"] for one in document["models"]}
    assert shares["heron-7b"] == pytest.approx((0.75 + 0 + 0.5) / 3)
    assert shares["baseline-one"] == pytest.approx(1 - (0.75 + 0 + 0.5) / 3)


def test_what_the_rows_are_is_said_and_a_missing_preference_is_no_draw():
    table = read_battles(ANNOTATIONS)
    rated = table.comparisons
    assert rated.sign.tolist() == [1, -1, 1, 0]
    assert rated.weight is not None
    assert rated.weight.tolist() == [0.25, 0.75, 1.0, 1.0]
    assert rated.first is None
    assert table.verdicts == 3
    assert [(one.models, one.reason) for one in table.in_vain] == [(("baseline-one", "heron-7b"), "unreadable")]
    assert table.notes[:3] == (
        "AlpacaEval shuffles the two outputs and does not write down how, so nothing is known about order.",
        "1 preference lies between 1 and 2: each such annotation is two rows, one for each output, whose weights are "
        "the annotator's own and add up to 1.",
        "Without a verdict, and so without a row: 1 showing (1 unreadable); none is taken for a tie.",
    )
    assert "Item column: instruction (3 items)." in table.notes
    assert "Rater column: annotator (1 rater)." in table.notes
    assert not any("shown first" in note for note in table.notes)


def test_the_board_counts_annotations_and_knows_nothing_of_order():
    document = run("rank", ANNOTATIONS, "--json").document
    assert document["coverage"] == {"wanted": 4, "with_verdict": 3, "reasons": {"unreadable": 1}}
    assert document["reliability"] is None
    assert document["columns"]["model_a"] == "generator_1"
    assert document["columns"]["item"] == "instruction"
    assert "That cannot be known: the rows do not say which answer was shown first." in run("rank", ANNOTATIONS).out


def test_lengths_are_words_of_the_outputs():
    length = read_battles(ANNOTATIONS).comparisons.length
    assert length is not None
    # "The Danube." has 2 words and the other 11; its annotation is two rows.
    assert length.tolist() == [-9, -9, 0, 0]


def test_without_outputs_instruction_or_annotator_there_is_still_a_board(tmp_path: Path):
    bare = [
        {"generator_1": "a", "generator_2": "b", "preference": 2},
        {"generator_1": "a", "generator_2": "b", "preference": 0},
    ]
    path = tmp_path / "bare.json"
    path.write_text(json.dumps(bare))
    rated = read_battles(path).comparisons
    assert rated.sign.tolist() == [-1, 0]
    assert (rated.weight, rated.item, rated.rater, rated.length) == (None, None, None, None)


def test_a_frame_of_annotations_is_one_too():
    rows = json.loads(ANNOTATIONS.read_text(encoding="utf-8"))
    frame = pl.DataFrame(rows, infer_schema_length=None)
    one, other = read_battles(frame), read_battles(ANNOTATIONS)
    assert one.comparisons.sign.tolist() == other.comparisons.sign.tolist()
    assert one.verdicts == other.verdicts


def test_another_column_of_items_may_be_named():
    table = read_battles(ANNOTATIONS, columns=BattleColumns(item="dataset"))
    assert "Item column: dataset (3 items)." in table.notes
    assert "No column `prompt`" in refused(ANNOTATIONS, BattleColumns(item="prompt"))


@pytest.mark.parametrize("wrong", [2.5, 0.99, -1, "second", True, [1], "inf"])
def test_a_preference_out_of_range_is_told_with_its_row(tmp_path: Path, wrong: object):
    path = changed(tmp_path / "a.json", {}, {"preference": wrong})
    says(refused(path), "EH-DATA-CELL", f"{path}, row 2: ", "`preference`")


def test_a_generator_without_a_name_is_told_with_its_row(tmp_path: Path):
    path = changed(tmp_path / "a.json", {}, {"generator_2": None})
    says(refused(path), "EH-DATA-BLANK", f"{path}, row 2: ", "`generator_2`")


def test_a_file_without_any_preference_makes_no_board(tmp_path: Path):
    nothing = {"preference": None}
    path = changed(tmp_path / "a.json", nothing, nothing, nothing, nothing)
    says(refused(path), "EH-DATA-EMPTY", f"{path}: ", "verdict")


def test_a_model_that_only_failed_is_on_the_board_without_a_rating(tmp_path: Path):
    path = changed(tmp_path / "a.json", {}, {}, {}, {"generator_2": "silent"})
    standing = {one["model"]: one for one in run("rank", path, "--json").document["models"]}
    assert (standing["silent"]["rating"], standing["silent"]["rank"]) == (None, None)


# One preference


@pytest.mark.parametrize(("given_", "second"), [(1, 0), (2.0, 1), (1.5, 0.5), (0, 0.5), ("1.25", 0.25)])
def test_a_preference_leaves_its_part_above_one_to_the_second(given_: object, second: float):
    assert read_leaning(given_, "m") == AnnotatorPreference(second=second)


@pytest.mark.parametrize(
    ("completion", "reason"),
    [("…", "unreadable"), ({"a": 1}, "unreadable"), (None, "empty-reply"), ("", "empty-reply")],
)
def test_no_preference_is_no_verdict(completion: object, reason: str):
    for nothing in (None, "", " NaN "):
        said = read_leaning(nothing, completion)
        assert isinstance(said, NoVerdict)
        assert said.reason == reason


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers())))
def test_anything_at_all_can_be_read_and_only_a_number_in_range_is_a_preference(value: object):
    said = read_leaning(value, None)
    if isinstance(said, AnnotatorPreference):
        assert 0 <= said.second <= 1
        assert not isinstance(value, bool)


@given(st.lists(st.one_of(st.floats(1, 2), st.sampled_from([0.0, 1.0, 1.5, 2.0])), min_size=1, max_size=12))
@example([2 - 4e-16, 1.2])
@example([1 + 3e-16, 1 + 3e-13, 1 + 3e-12])
def test_the_weights_of_an_annotation_add_up_to_one_and_give_its_own_mean(preferences: list[float]):
    frame = pl.DataFrame(
        {"generator_1": "a", "generator_2": "b", "preference": preferences, "instruction": range(len(preferences))}
    )
    rated = read_battles(frame).comparisons
    weight = [1.0] * len(rated) if rated.weight is None else rated.weight.tolist()
    assert sum(weight) == pytest.approx(len(preferences))
    won = sum(share * {1: 0, 0: 0.5, -1: 1}[int(sign)] for share, sign in zip(weight, rated.sign, strict=True))
    assert won == pytest.approx(sum(0.5 if one == 0 else one - 1 for one in preferences))


# import


def test_outputs_are_matched_by_instruction(tmp_path: Path):
    done = taken(tmp_path, OUTPUTS, "--responses", "--json")
    assert done.document["models"] == ["heron-7b"]
    assert done.document["responses"] == 4
    rows = run("export", "--responses", "--out", "-", "--store", store_in(tmp_path)).rows
    assert [(row["item"], row["response"]) for row in rows][:2] == [
        ("1", "Through Vienna flows the Danube, and also the small river Wien."),
        ("2", "Stove."),
    ]


def test_outputs_without_a_generator_or_of_another_instruction_are_told(tmp_path: Path):
    nobody = changed(tmp_path / "n.json", *[{"generator": ...}] * 4, source=OUTPUTS)
    says(taken(tmp_path, nobody, "--responses").refused, "EH-DATA-COLUMN", f"Error: {nobody}: ", "`generator`")
    other = changed(tmp_path / "o.json", {}, {"instruction": "Dance."}, source=OUTPUTS)
    told = taken(tmp_path, other, "--responses")
    assert told.code == 2
    says(told.refused, "EH-ITEM-UNKNOWN", f"{other}, row 2: alpaca_items ", 'row 2 ("Dance.")')
    lacking = changed(tmp_path / "l.json", {}, {}, {"generator": None}, source=OUTPUTS)
    says(taken(tmp_path, lacking, "--responses").refused, "EH-DATA-TYPE", f"{lacking}, row 3: ", "`generator`")


def test_where_outputs_name_their_item_the_name_counts_and_not_the_words(tmp_path: Path):
    named = [{"id": label, "instruction": "In other words."} for label in "4321"]
    done = taken(tmp_path, changed(tmp_path / "o.json", *named, source=OUTPUTS), "--responses")
    assert done.code == 0, done.err
    rows = run("export", "--responses", "--out", "-", "--store", store_in(tmp_path)).rows
    assert (rows[0]["item"], rows[0]["response"]) == ("1", "Sea.")


def test_annotations_become_judgements_that_bring_their_answers(tmp_path: Path):
    done = taken(tmp_path, ANNOTATIONS, "--judgements", "--json")
    assert done.document["judgements"] == 4
    assert done.document["models"] == ["baseline-one", "heron-7b"]
    for words in (
        "output_1 is recorded as shown first",
        "Preferences between 1 and 2: 1. Each is recorded by the side it is nearer to",
        "Annotations without a preference, which hold no verdict and are no draws: 1.",
    ):
        assert words in done.err
    with closing(Ledger(store_in(tmp_path))) as ledger:
        results = {one.label: one.judgement for one in judged(ledger, studies(ledger))}
    assert [results[label].verdict for label in "1234"] == [
        Preference(value=-1, levels=3),
        Preference(value=1, levels=3),
        Preference(value=0, levels=3),
        NoVerdict(reason="unreadable"),
    ]
    assert results["1"].notes["preference"] == 1.75
    assert results["1"].notes["order"] == "unknown"
    assert results["4"].notes["replies"] == ["I would rather not choose."]
    assert "preference" not in results["4"].notes
    again = taken(tmp_path, ANNOTATIONS, "--judgements", "--json")
    assert (again.document["judgements"], again.document["known"]) == (0, 4)


def test_the_board_of_the_ledger_has_the_coverage_and_no_word_on_order(tmp_path: Path):
    taken(tmp_path, ANNOTATIONS, "--judgements")
    document = run("rank", "--store", store_in(tmp_path), "--json").document
    assert document["coverage"] == {"wanted": 4, "with_verdict": 3, "reasons": {"unreadable": 1}}
    assert document["judge"] == "weighted_judge"
    assert document["reliability"]["swap_consistency"] is None


def test_levels_may_be_chosen_and_a_draw_does_not_fit_two(tmp_path: Path):
    told = taken(tmp_path, ANNOTATIONS, "--judgements", "--levels", "2")
    assert told.code == 2
    says(told.refused, "EH-DATA-CELL", "row 3: ", "+0", "2 levels +1 or -1")


@pytest.mark.parametrize(
    ("change", "code", "fact"),
    [
        ({"preference": 3}, "EH-DATA-CELL", "`preference` is `3`"),
        ({"instruction": "Dance."}, "EH-ITEM-UNKNOWN", 'row 1 ("Dance.")'),
        ({"generator_2": "baseline-one", "output_2": "The Danube."}, "EH-DATA-CELL", "`baseline-one`"),
        ({"annotator": None}, "EH-DATA-TYPE", "`annotator`"),
        ({"generator_1": "reference"}, "EH-NAME-RESERVED", "`output_1`"),
    ],
)
def test_an_annotation_that_does_not_fit_is_told_and_nothing_is_taken(
    tmp_path: Path, change: dict[str, Any], code: str, fact: str
):
    told = taken(tmp_path, changed(tmp_path / "a.json", change), "--judgements")
    assert told.code == 2
    says(told.refused, code, "row 1: ", fact)
    assert not (tmp_path / "ledger.db").exists()


def test_a_missing_column_is_told_once(tmp_path: Path):
    path = changed(tmp_path / "a.json", *[{"annotator": ..., "output_2": ...}] * 4)
    told = taken(tmp_path, path, "--judgements")
    says(told.refused, "EH-DATA-COLUMN", "`output_2`, `annotator`; found `instruction`")


def test_two_texts_of_one_model_to_one_item_are_told(tmp_path: Path):
    rows = json.loads(ANNOTATIONS.read_text(encoding="utf-8"))
    rows.append({**rows[0], "output_1": "The Rhine.", "generator_2": "third"})
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rows))
    words = "row 5: `baseline-one` answers this item with another text than in row 1; keep one of the two."
    assert words in taken(tmp_path, path, "--judgements").err
