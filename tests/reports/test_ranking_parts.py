"""Claims about boards of a table in parts: a folder of Parquet files, or a pattern of their names."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import evenhand as eh
from evenhand.exchange.battles.parts import open_parts
from evenhand.exchange.battles_file import BattleColumns
from evenhand.exchange.errors import ExchangeError
from evenhand.reports.board.board import Board
from evenhand.reports.board.in_parts import PartsAsked, board_in_parts
from evenhand.reports.board.methods import Scoring
from evenhand.reports.board.methods.catalog import find_method
from evenhand.reports.errors import RankError
from evenhand.stats.ratings.scale import Scale

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
WINNERS = np.array(["model_b", "tie", "model_a"])


def table(rows: int, *, models: int = 6, items: int = 20, seed: int = 0, **more: Any) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    one = rng.integers(0, models, rows)
    other = (one + rng.integers(1, models, rows)) % models
    names = np.array([f"model-{code}" for code in range(models)])
    strength = np.linspace(-0.7, 0.7, models)
    won = np.where(rng.random(rows) < 1 / (1 + np.exp(strength[other] - strength[one])), 2, 0)
    won[rng.random(rows) < 0.2] = 1
    return pl.DataFrame(
        {
            "model_a": names[one],
            "model_b": names[other],
            "winner": WINNERS[won],
            "item": np.sort([f"item {code}" for code in rng.integers(0, items, rows)]),
            **{name: column(rng, rows) if callable(column) else column for name, column in more.items()},
        }
    )


def parted(folder: Path, frame: pl.DataFrame, parts: int = 3) -> Path:
    folder.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(frame.height), parts)):
        frame[rows.tolist()].write_parquet(folder / f"part-{number}.parquet")
    return folder


def by_sums(folder: Path, *, whole: int = -1, **asked: Any) -> Board | None:
    given = PartsAsked(
        method=find_method("bradley-terry"),
        scoring=asked.pop("scoring", Scoring()),
        by_cluster=asked.pop("by_cluster", None),
        repeats=asked.pop("repeats", "share"),
        unit="rows",
        settings={},
        needs=asked.pop("needs", None),
        whole=whole,
    )
    return board_in_parts(open_parts(folder), asked.pop("columns", BattleColumns()), given)


def alike(one: Any, other: Any, place: str = "") -> None:
    """Numbers to nine digits, all else to the letter."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), place
        for name in one:
            alike(one[name], other[name], f"{place}.{name}")
    elif isinstance(one, list):
        assert len(one) == len(other), (place, one, other)
        for number, pair in enumerate(zip(one, other, strict=True)):
            alike(*pair, f"{place}[{number}]")
    elif isinstance(one, float) and isinstance(other, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9), place
    elif isinstance(one, str) and isinstance(other, str):
        # A number that lies on the border of its last digit may fall to either side.
        assert _NUMBER.sub("0", one) == _NUMBER.sub("0", other), place
        numbers = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
        assert all(float(a) == pytest.approx(float(b), abs=0.11) for a, b in numbers), (place, one, other)
    else:
        assert one == other, (place, one, other)


# What only few rows have, because each is worked out from the rows; a board of as many rows as are streamed has none.
OF_FEW = ("unclustered", "order_effect", "length_effect", "ordinal", "matrix", "cycles", "fit", "davidson")


def document(board: Board | None) -> dict[str, Any]:
    assert board is not None
    found = json.loads(json.dumps(board.as_json()))
    for name in (*OF_FEW, "settings"):
        found.pop(name)
    for model in found["models"]:
        model.pop("elo")
    return found


def weights(rng: np.random.Generator, rows: int) -> Any:
    return rng.integers(0, 4, rows) / 2


def raters(rng: np.random.Generator, rows: int) -> Any:
    return [f"rater {code}" for code in rng.integers(0, 3, rows)]


def shown_first(rng: np.random.Generator, rows: int) -> Any:
    return np.array(["model_a", "model_b"])[rng.integers(0, 2, rows)]


TABLES: dict[str, Any] = {
    "items": lambda: table(1500),
    "items of few rows": lambda: table(600, items=250, models=9),
    "many models": lambda: table(900, items=300, models=45),
    "an item in every part": lambda: table(1500).sample(fraction=1.0, shuffle=True, seed=1),
    "no items": lambda: table(800).drop("item"),
    "no items, weights": lambda: table(800, weight=weights).drop("item"),
    "weights, some 0": lambda: table(1200, weight=weights),
    "numbers for items": lambda: table(900).with_columns(pl.col("item").str.slice(5).cast(pl.Int64) * 10**12 - 7),
    "small numbers for items": lambda: table(900).with_columns(pl.col("item").str.slice(5).cast(pl.Int32) - 7),
    "hashes for items": lambda: table(900).with_columns(
        item=pl.lit(2**64 - 21, dtype=pl.UInt64) + pl.col("item").str.slice(5).cast(pl.UInt64)
    ),
    "numbers of 128 bits for items": lambda: table(300).with_columns(pl.col("item").str.slice(5).cast(pl.Int128)),
    "no items, a model that only ties": lambda: table(300).drop("item").with_columns(
        pl.when((pl.col("model_a") == "model-3") | (pl.col("model_b") == "model-3")).then(pl.lit("tie"))
        .otherwise("winner").alias("winner")
    ),
    "who was shown first": lambda: table(1200, first_shown=shown_first),
    "one rater": lambda: table(900, rater=["only"] * 900).sample(fraction=1.0, shuffle=True, seed=2),
    "spaces, two spellings, a name in two cases": lambda: table(600).with_columns(
        pl.col("model_a").replace({"model-1": " model-1 ", "model-2": "caf\u00e9", "model-3": "MODEL-4"}),
        pl.col("model_b").replace({"model-1": "model-1", "model-2": "cafe\u0301"}),
        pl.col("winner").str.replace("tie", " tie "),
    ),
    "a model against itself": lambda: table(600).with_columns(
        pl.when(pl.int_range(600) % 7 == 0).then(pl.col("model_a")).otherwise(pl.col("model_b")).alias("model_b")
    ),
    "winners by name": lambda: table(600).with_columns(
        pl.when(pl.col("winner") == "tie").then(pl.lit("tie")).when(pl.col("winner") == "model_a")
        .then(pl.col("model_a")).otherwise(pl.col("model_b")).alias("winner")
    ),
    "five levels": lambda: table(600).with_columns(
        pl.col("winner").replace_strict({"model_a": 2, "tie": 0, "model_b": -1}).alias("verdict")
    ).drop("winner"),
    "each item of one pair": lambda: table(600).with_columns(
        pl.concat_str(pl.min_horizontal("model_a", "model_b"), pl.max_horizontal("model_a", "model_b")).alias("item")
    ),
    "one model won all, one lost all": lambda: table(900).with_columns(
        pl.when((pl.col("model_a") == "model-5") | (pl.col("model_b") == "model-0")).then(pl.lit("model_a"))
        .when((pl.col("model_b") == "model-5") | (pl.col("model_a") == "model-0")).then(pl.lit("model_b"))
        .otherwise(pl.col("winner")).alias("winner")
    ),
    "two boards that never met": lambda: pl.concat(
        [table(400), table(400, seed=3).with_columns(pl.col("model_a", "model_b").str.replace("model", "other"))]
    ),
    "two models": lambda: table(300, models=2),
    "one item": lambda: table(300, items=1),
    "an item with spaces around it": lambda: table(300, items=1).with_columns(pl.lit(" only ").alias("item")),
    "everything twice": lambda: pl.concat([table(300)] * 2),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_sums_say_what_the_rows_say(name: str, tmp_path: Path) -> None:
    folder = parted(tmp_path / "battles", TABLES[name]())
    alike(document(by_sums(folder)), document(replace(eh.rank(folder), about_repeats=())))


@pytest.mark.parametrize("scoring", [Scoring(ties="davidson"), Scoring(scale=Scale(anchor="model-2", anchor_value=0))])
def test_so_do_they_with_other_ties_and_an_anchor(scoring: Scoring, tmp_path: Path) -> None:
    folder = parted(tmp_path / "battles", table(1500))
    alike(document(by_sums(folder, scoring=scoring)), document(eh.rank(folder, scoring=scoring)))


@pytest.mark.parametrize("repeats", ["share", "count"])
def test_repeats_of_one_rater_share_a_weight_wherever_they_lie(repeats: Any, tmp_path: Path) -> None:
    frame = table(900, items=6, rater=raters).sample(fraction=1.0, shuffle=True, seed=5)
    folder = parted(tmp_path / "battles", frame)
    plain = eh.rank(folder, by_cluster="item", repeats=repeats)
    assert any("repeat an earlier one" in note for note in plain.notes)
    found = by_sums(folder, by_cluster="item", repeats=repeats)
    assert found is not None
    alike(document(found), document(replace(plain, about_repeats=())))


def test_a_folder_is_ranked_as_the_one_file_it_was_cut_from(tmp_path: Path) -> None:
    frame = table(700, rater=raters)
    frame.write_parquet(tmp_path / "one.parquet")
    folder = parted(tmp_path / "battles", frame)
    whole, found = eh.rank(tmp_path / "one.parquet"), eh.rank(folder)
    assert found.origin.source == "battles"
    assert found.models == whole.models
    assert found.notes[-len(whole.remarks) :] == whole.remarks
    assert "One table in 3 parts: part-0.parquet to part-2.parquet." in found.notes
    assert eh.rank(str(tmp_path / "battles" / "part-*.parquet")).models == whole.models


def test_what_sums_tell_besides(tmp_path: Path) -> None:
    folder = parted(tmp_path / "battles", table(1500))
    found, plain = by_sums(folder), eh.rank(folder)
    assert found is not None
    for one, other in zip(found.findings.unclustered.models, plain.findings.unclustered.models, strict=True):
        assert one.rating.lower == pytest.approx(other.rating.lower, rel=1e-9)
    assert np.allclose(found.findings.observed.share, plain.findings.observed.share, equal_nan=True, atol=1e-12)
    assert np.allclose(found.findings.predicted.share, plain.findings.predicted.share, equal_nan=True, atol=1e-9)
    for name in ("order_effect", "length_effect", "ordinal", "cycles", "fit_tests", "elo"):
        with pytest.raises(RankError, match="takes the rows themselves"):
            getattr(found.findings, name)
    assert str(found).splitlines()


NEEDING_ROWS: dict[str, Any] = {
    "raters": lambda: table(300, rater=raters),
    "rater kinds": lambda: table(300, rater=["a"] * 300, rater_kind=["human"] * 300),
    "a row without a winner": lambda: table(300).with_columns(
        pl.when(pl.int_range(300) == 250).then(None).otherwise(pl.col("winner")).alias("winner")
    ),
    "an empty winner": lambda: table(300).with_columns(
        pl.when(pl.int_range(300) == 250).then(pl.lit(" ")).otherwise(pl.col("winner")).alias("winner")
    ),
    "a model called tie": lambda: table(300).with_columns(pl.col("model_a", "model_b").replace("model-1", "tie")),
    "a model called b": lambda: table(300).with_columns(pl.col("model_a", "model_b").replace("model-1", "B")),
    "votes of the Arena": lambda: table(300, judge=["x"] * 300, tstamp=[1.0] * 300),
}


@pytest.mark.parametrize("name", NEEDING_ROWS)
def test_what_sums_cannot_tell_takes_the_rows(name: str, tmp_path: Path) -> None:
    folder = parted(tmp_path / "battles", NEEDING_ROWS[name]())
    assert by_sums(folder) is None
    assert eh.rank(folder, by_cluster=None).votes


def test_rows_clustered_by_a_column_of_the_file_take_the_rows(tmp_path: Path) -> None:
    session = [f"session {row // 60}" for row in range(300)]
    folder = parted(tmp_path / "battles", table(300, session=session))
    columns = BattleColumns(cluster="session")
    assert by_sums(folder, columns=columns) is None
    named, asked = eh.rank(folder, columns), eh.rank(folder, by_cluster="session")
    assert (named.clusters, named.models) == (asked.clusters, asked.models)


def test_what_all_rows_together_say_of_winners_is_not_refused_for_what_some_parts_say(tmp_path: Path) -> None:
    """In the first half each winner that is a word is a model of its row too."""
    rows = [("left", "right", "left"), ("right", "left", "right")] * 20 + [("left", "other", "tie")]
    more = [("one", "two", "right"), ("two", "one", "left")] * 20
    frame = pl.DataFrame([*rows, *more], schema=["model_a", "model_b", "winner"], orient="row")
    folder = parted(tmp_path / "battles", frame, parts=2)
    assert by_sums(folder) is None
    assert eh.rank(folder).votes == frame.height


def test_few_rows_are_read_at_once_and_so_are_those_of_other_methods(tmp_path: Path) -> None:
    folder = parted(tmp_path / "battles", table(300))
    assert by_sums(folder, whole=300) is None
    assert by_sums(folder, whole=299) is not None
    assert by_sums(folder, needs="the method elo") is None
    assert eh.rank(folder, method="elo").votes == 300


def refused(folder: Path | str, tmp_path: Path) -> str:
    """In both ways; the sentence without the folder."""
    with pytest.raises((ExchangeError, RankError)) as told:
        eh.rank(str(folder))
    return str(told.value).replace(f"{tmp_path}/", "")


def both_refuse(folder: Path, tmp_path: Path) -> str:
    sentence = refused(folder, tmp_path)
    with pytest.raises((ExchangeError, RankError)) as told:
        by_sums(folder)
    # What cannot be decoded is told of one column, or of those that are read together; flags are Python's in `eh.rank`.
    by_parts = re.split("`|--", str(told.value).replace(f"{tmp_path}/", ""))[0]
    assert by_parts == re.split("`|--", sentence)[0]
    return sentence


def test_every_file_of_a_folder_is_a_part_or_the_folder_is_refused(tmp_path: Path) -> None:
    folder = parted(tmp_path / "battles", table(300))
    (folder / "_SUCCESS").write_text("")
    (folder / ".part-0.parquet.crc").write_text("x")
    assert eh.rank(folder).votes == 300
    (folder / "more.csv").write_text("model_a,model_b,winner\na,b,tie\n")
    assert both_refuse(folder, tmp_path).startswith("battles/more.csv: Parts of one table are Parquet files, and")
    (folder / "more.csv").rename(folder / "more.parquet")
    assert both_refuse(folder, tmp_path).startswith("battles/more.parquet: This is not Parquet that can be read")
    (folder / "more.parquet").unlink()
    (folder / "year=2026").mkdir()
    assert both_refuse(folder, tmp_path).startswith("battles/year=2026: This is a folder among the parts")
    assert eh.rank(str(folder / "**" / "*.parquet")).votes == 300


def test_what_other_programs_leave_is_passed_over_by_a_pattern_too(tmp_path: Path) -> None:
    folder = parted(tmp_path / "battles", table(300))
    (folder / "_temporary").mkdir()
    for left in ("_part-9.parquet", "_temporary/part-9.parquet"):
        table(40).write_parquet(folder / left)
    assert eh.rank(str(folder / "*.parquet")).votes == 300
    assert eh.rank(str(folder / "**" / "*.parquet")).votes == 300
    assert eh.rank(str(folder / "_*.parquet")).votes == 40
    assert eh.rank(str(folder / "_temporary" / "*.parquet")).votes == 40


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    folder = parted(tmp_path / "battles", table(300))
    os.mkfifo(folder / "part-9.parquet")
    assert "this is no file" in both_refuse(folder, tmp_path)
    (folder / "part-9.parquet").unlink()
    (folder / "part-0.parquet").rename(folder / os.fsdecode(b"part-\xff.parquet"))
    assert "not UTF-8" in both_refuse(folder, tmp_path)


def test_whole_numbers_that_fractions_do_not_tell_apart_are_refused(tmp_path: Path) -> None:
    frame = table(300).with_columns(item=pl.lit(2**53) + pl.int_range(300) % 2)
    folder = parted(tmp_path / "battles", frame)
    assert eh.rank(folder).items == 2
    last = folder / "part-2.parquet"
    pl.read_parquet(last).with_columns(item=pl.lit(0.5)).write_parquet(last)
    assert both_refuse(folder, tmp_path).startswith("battles/part-0.parquet: The column `item` holds whole numbers")


def test_a_cell_that_cannot_be_read_is_told_in_one_line(tmp_path: Path) -> None:
    folder = parted(tmp_path / "battles", table(300).with_columns(item=pl.lit(2**64 - 1, dtype=pl.UInt64)))
    last = folder / "part-2.parquet"
    pl.read_parquet(last).with_columns(item=pl.lit(-1)).write_parquet(last)
    assert "\n" not in both_refuse(folder, tmp_path)


def test_ratings_that_do_not_settle_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside others of a billion times their weight, rows may be lost in rounding, which is another on each machine."""
    monkeypatch.setattr("evenhand.stats.ratings.bradley_terry.likelihood._ITERATIONS", 1)
    assert "do not settle" in both_refuse(parted(tmp_path / "battles", table(300)), tmp_path)


def test_a_jury_and_people_beside_a_judge_take_parts_too(tmp_path: Path) -> None:
    jury, judge = table(300, rater=raters), table(300, rater=["judge"] * 300)
    people = judge.sample(120, seed=2).with_columns(rater=pl.lit("person"))
    for name, frame in (("jury", jury), ("judge", judge), ("people", people)):
        frame.write_parquet(tmp_path / f"{name}.parquet")
        parted(tmp_path / name, frame)
    by_majority = [
        eh.rank(tmp_path / name, jury="majority", same_family=True).models for name in ("jury", "jury.parquet")
    ]
    assert by_majority[0] == by_majority[1]
    whole = eh.rank(tmp_path / "judge.parquet", with_people=tmp_path / "people.parquet")
    assert eh.rank(tmp_path / "judge", with_people=tmp_path / "people").models == whole.models


def test_nothing_to_rank_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert both_refuse(tmp_path / "empty", tmp_path).startswith("empty: No file in it is a part")
    assert refused(tmp_path / "empty" / "*.parquet", tmp_path).startswith("empty/*.parquet: No file's name fits")
    none = parted(tmp_path / "none", table(300).head(0), parts=2)
    assert both_refuse(none, tmp_path) == "none: There are no rows; at least one battle is needed."
    table(40).write_parquet(none / "part-1.parquet")
    alike(document(by_sums(none)), document(eh.rank(none)))
    twin = table(40).with_columns(pl.col("model_a").alias("model_b"))
    assert both_refuse(parted(tmp_path / "self", twin), tmp_path).startswith("self: Every row sets a model against")
    light = table(40, weight=[0.0] * 40)
    assert both_refuse(parted(tmp_path / "light", light), tmp_path).startswith("light: Every weight in the column")


def test_a_part_that_does_not_fit_is_named(tmp_path: Path) -> None:
    frame = table(300)
    folder = parted(tmp_path / "battles", frame)
    last = folder / "part-2.parquet"
    good = pl.read_parquet(last)
    good.drop("item").with_columns(extra=pl.lit(1)).write_parquet(last)
    sentence = both_refuse(folder, tmp_path)
    assert sentence.startswith("battles/part-2.parquet: The columns are not those of part-0.parquet")
    assert "`item`" in sentence
    assert "`extra`" in sentence
    good.with_columns(item=pl.lit(7)).write_parquet(last)
    assert both_refuse(folder, tmp_path).startswith("battles/part-2.parquet: The column `item` holds Int32 here and")
    odd = pl.when(pl.int_range(good.height) == 8)
    good.with_columns(winner=odd.then(pl.lit("draw?")).otherwise("winner")).write_parquet(last)
    assert both_refuse(folder, tmp_path).startswith("battles/part-2.parquet, row 9: The winner is 'draw?'")
    good.with_columns(item=odd.then(None).otherwise("item")).write_parquet(last)
    assert both_refuse(folder, tmp_path).startswith("battles/part-2.parquet, row 9: There is no item")
    good.with_columns(model_b=odd.then(None).otherwise("model_b")).write_parquet(last)
    assert both_refuse(folder, tmp_path).startswith("battles/part-2.parquet, row 9: There is no model")


def test_a_part_that_was_cut_is_named(tmp_path: Path) -> None:
    folder = parted(tmp_path / "battles", table(3000))
    last = folder / "part-2.parquet"
    whole = last.read_bytes()
    last.write_bytes(whole[: len(whole) // 2])
    assert both_refuse(folder, tmp_path).startswith("battles/part-2.parquet: This is not Parquet that can be read")
    last.write_bytes(b"PAR1" + bytes(len(whole) // 2 - 4) + whole[len(whole) // 2 :])
    assert both_refuse(folder, tmp_path).startswith("battles/part-2.parquet: ")
    last.write_bytes(b"")
    assert both_refuse(folder, tmp_path).startswith("battles/part-2.parquet: ")


def test_a_part_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    folder = parted(tmp_path / "battles", table(300))
    parts = open_parts(folder)
    os.utime(folder / "part-2.parquet", ns=(1, 1))
    slices = parts.slices(["model_a"], 100)
    assert [next(slices)[0] for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ExchangeError, match=r"part-2.parquet: The file changed while it was read"):
        next(slices)
    with pytest.raises(ExchangeError, match=r"part-2.parquet: The file changed while it was read"):
        parts.refuse_changed()


def test_links_are_parts_but_no_file_counts_twice(tmp_path: Path) -> None:
    folder = parted(tmp_path / "battles", table(300))
    (folder / "part-2.parquet").rename(tmp_path / "elsewhere.parquet")
    (folder / "part-2.parquet").symlink_to(tmp_path / "elsewhere.parquet")
    assert eh.rank(folder).votes == 300
    (folder / "part-3.parquet").symlink_to("part-1.parquet")
    sentence = both_refuse(folder, tmp_path)
    assert sentence.startswith("battles/part-3.parquet: This is the same file as part-1.parquet")
    (folder / "part-3.parquet").unlink()
    (folder / "part-3.parquet").symlink_to("nowhere.parquet")
    assert both_refuse(folder, tmp_path).startswith("battles/part-3.parquet: ")


def test_a_part_that_looks_like_a_copy_is_told(tmp_path: Path) -> None:
    folder = parted(tmp_path / "battles", table(300))
    assert not any("same bytes" in note for note in eh.rank(folder).notes)
    (folder / "part-0 (copy).parquet").write_bytes((folder / "part-0.parquet").read_bytes())
    for board in (eh.rank(folder), by_sums(folder)):
        assert board is not None
        (told,) = (note for note in board.notes if "same bytes" in note)
        assert "part-0.parquet holds the same bytes" in told, "after the copy in the order of names"


def test_what_only_names_of_folders_say_is_told(tmp_path: Path) -> None:
    (tmp_path / "lr=0.1").mkdir()
    for code, rater in enumerate(("ann", "ben")):
        parted(tmp_path / "lr=0.1" / f"rater={rater}", table(60, seed=code))
    (told,) = (note for note in eh.rank(str(tmp_path / "lr=0.1" / "*" / "*.parquet")).notes if "folders" in note)
    assert "`rater`" in told
    assert "lr" not in told


def test_links_in_a_circle_are_not_followed(tmp_path: Path) -> None:
    folder = parted(tmp_path / "battles", table(300))
    (folder / "more").mkdir()
    for name, target in (("one", ".."), ("other", "../.."), ("third", ".")):
        (folder / "more" / name).symlink_to(target)
    for begun in (folder, tmp_path / "batt*"):
        assert "leads back to a folder above it" in refused(f"{begun}/**/*.parquet", tmp_path)
    assert eh.rank(f"{folder}/*.parquet").votes == 300
    for name in ("one", "other", "third"):
        (folder / "more" / name).unlink()
    (folder / "more" / "apart").symlink_to(parted(tmp_path / "elsewhere", table(40)))
    assert eh.rank(f"{folder}/**/*.parquet").votes == 340


def test_names_written_as_bytes_are_the_texts_that_they_are(tmp_path: Path) -> None:
    plain = table(300, rater=lambda rng, rows: [f"rater {code}" for code in rng.integers(0, 4, rows)])
    as_bytes = plain.with_columns(pl.col("item", "rater").cast(pl.Binary))
    one, other = (parted(tmp_path / name, frame) for name, frame in (("texts", plain), ("bytes", as_bytes)))
    said, of_bytes = (eh.rank(folder).as_json() for folder in (one, other))
    alike(said["models"], of_bytes["models"])
    assert said["clusters"] == of_bytes["clusters"]


@pytest.mark.parametrize("column", ["item", "rater"])
@pytest.mark.parametrize(
    ("kind", "said"), [(pl.Duration("us"), "holds Duration"), (pl.Binary, "holds bytes that are no text in UTF-8")]
)
def test_what_can_be_no_name_is_told(tmp_path: Path, column: str, kind: pl.DataType, said: str) -> None:
    values = [b"\xc8"] * 300 if kind == pl.Binary else pl.Series([7] * 300).cast(kind)
    folder = parted(tmp_path / "battles", table(300).with_columns(pl.Series(column, values)))
    assert f"`{column}` {said}" in refused(str(folder), tmp_path)
    with pytest.raises(ExchangeError, match=said):
        by_sums(folder)


@pytest.mark.parametrize("rights", [0, 0o444])
def test_a_folder_that_cannot_be_read_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rights: int
) -> None:
    folder = parted(tmp_path / "battles", table(300))
    inner = parted(folder / "more", table(40))
    assert eh.rank(str(folder / "**" / "*.parquet")).votes == 340
    inner.chmod(rights)
    if os.access(inner, os.R_OK | os.X_OK):  # root may read everything
        readable = os.access
        monkeypatch.setattr(os, "access", lambda path, mode: path != inner and readable(path, mode))
    try:
        for pattern in ("**/*.parquet", "*/*.parquet"):
            assert refused(f"{folder}/{pattern}", tmp_path).startswith("battles/more: The folder cannot be read")
    finally:
        inner.chmod(0o700)


def test_raters_who_set_models_against_themselves_alone_are_no_raters(tmp_path: Path) -> None:
    """Without them there are more rows than raters."""
    frame = table(40, rater=[f"rater {row // 2}" for row in range(40)])
    twins = frame.with_columns(model_b=pl.col("model_a"), rater=pl.format("another {}", pl.int_range(40)))
    folder = parted(tmp_path / "battles", pl.concat([frame, twins]))
    assert by_sums(folder) is None
    assert eh.rank(folder).clusters.by == "both"


def test_a_table_in_parts_stands_alone(tmp_path: Path) -> None:
    folder = parted(tmp_path / "battles", table(300))
    with pytest.raises(RankError, match="is a table in parts and stands alone"):
        eh.rank([folder, folder / "part-0.parquet"])


def test_types_that_differ_between_parts_and_say_the_same(tmp_path: Path) -> None:
    frame = table(300, weight=weights).with_columns(pl.col("item").str.slice(5).cast(pl.Int64))
    folder = parted(tmp_path / "battles", frame)
    before = eh.rank(folder)
    last = folder / "part-2.parquet"
    pl.read_parquet(last).with_columns(
        pl.col("item").cast(pl.Int16), pl.col("model_a").cast(pl.Categorical), pl.col("weight").cast(pl.Float32)
    ).write_parquet(last)
    after = eh.rank(folder)
    assert after.models == before.models
    alike(document(by_sums(folder)), document(after))


def test_slices_of_a_part_and_ten_thousand_names_are_numbered_alike(tmp_path: Path) -> None:
    from evenhand.exchange.battles_in_parts import read_battle_parts
    from evenhand.stats.ratings.row_parts import pair_sums

    frame = table(25_000, models=10_000, items=500)
    folder = parted(tmp_path / "battles", frame, parts=3)
    read = read_battle_parts(open_parts(folder), BattleColumns(), slice_rows=999)
    assert len(read.rows) == 25_000
    assert list(read.rows.models) == sorted({*frame["model_a"], *frame["model_b"]})
    sums = pair_sums(read.rows)
    of_models = dict(zip(read.rows.models, sums.of_models().sum(axis=1), strict=True))
    played = pl.concat([frame["model_a"], frame["model_b"].alias("model_a")]).value_counts()
    assert of_models == dict(played.rows())
    assert sum(map(len, read.rows.items)) == frame["item"].n_unique()
    whole = read.rows.whole()
    assert whole.item is not None
    counted = np.bincount(whole.item)
    assert sorted(counted.tolist()) == sorted(frame["item"].value_counts()["count"])
