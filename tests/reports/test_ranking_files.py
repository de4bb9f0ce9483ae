"""Claims about boards of files and frames."""

import itertools
import json
import math
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand.format.words import count
from evenhand.reports.board.board import Board
from evenhand.reports.board.shown.columns import compared
from evenhand.reports.errors import RankError
from evenhand.stats.reliability.summary import Conclusion
from tests.beside import LLMFAO, needs
from tests.examples import examples
from tests.refusals import noted, refused, tells

WORDS = {1: "model_a", 0: "tie", -1: "model_b"}
Game = tuple[str, str, int]


def frame(battles: list[Game], **columns: Any) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "model_a": [a for a, _, _ in battles],
            "model_b": [b for _, b, _ in battles],
            "winner": [WORDS[value] for _, _, value in battles],
            **columns,
        },
        schema_overrides={"model_a": pl.String, "model_b": pl.String, "winner": pl.String},
    )


def ratings(board: Board) -> dict[str, float | None]:
    return {one.model: one.rating.value for one in board.models}


def numbers(board: Board) -> dict[str, list[float | int | None]]:
    return {
        one.model: [one.rating.value, one.rating.lower, one.rating.upper, one.rank, one.rank_lower, one.rank_upper]
        for one in board.models
    }


def same(one: Board, other: Board, names: dict[str, str] | None = None) -> bool:
    mine, theirs = numbers(one), numbers(other)
    pairs = [
        pair for model, row in mine.items() for pair in zip(row, theirs[names[model] if names else model], strict=True)
    ]
    return all((a is None) == (b is None) and (a is None or a == pytest.approx(b, abs=1e-5)) for a, b in pairs)


# The worked values of the papers' code (FastChat's online Elo, K = 4) and of two players under Bradley-Terry.
@pytest.mark.parametrize(
    ("battles", "expected"),
    [
        ([("X", "Y", 1)], {"X": 1002.0, "Y": 998.0}),
        ([("X", "Y", 1), ("X", "Y", 1), ("X", "Y", 0)], {"X": 1003.931197, "Y": 996.068803}),
        (
            [("X", "Y", 1), ("Y", "Z", 1), ("X", "Z", 1)],
            {"X": 1003.976909, "Y": 1000.011513, "Z": 996.011578},
        ),
        (
            [("X", "Z", 1), ("Y", "Z", 1), ("X", "Y", 1)],
            {"X": 1003.999934, "Y": 999.988553, "Z": 996.011513},
        ),
    ],
)
def test_elo_plays_a_frame_in_its_order(battles: list[Game], expected: dict[str, float]):
    assert ratings(eh.rank(frame(battles), method="elo")) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("battles", "gap"),
    [
        ([("X", "Y", 1)] * 3 + [("X", "Y", -1)], 400 * math.log10(3)),
        ([("X", "Y", 1), ("X", "Y", 1), ("X", "Y", -1), ("X", "Y", 0)], 400 * math.log10(2.5 / 1.5)),
    ],
)
def test_bradley_terry_of_two(battles: list[Game], gap: float):
    expected = {"X": 1000 + gap / 2, "Y": 1000 - gap / 2}
    assert ratings(eh.rank(frame(battles))) == pytest.approx(expected, abs=1e-4)


games = st.lists(
    st.tuples(st.sampled_from("WXYZ"), st.sampled_from("WXYZ"), st.sampled_from([1, 0, -1])), min_size=1, max_size=25
).map(lambda drawn: [game for game in drawn if game[0] != game[1]] or [("W", "X", 1)])


@settings(deadline=None, max_examples=examples(40))
@given(games, st.randoms())
def test_names_order_and_sides_do_not_matter(battles: list[Game], lots: Any):
    board = eh.rank(frame(battles))
    names = dict(zip("WXYZ", "ZWYX", strict=True))
    assert same(board, eh.rank(frame([(names[a], names[b], v) for a, b, v in battles])), names)
    shuffled = list(battles)
    lots.shuffle(shuffled)
    assert same(board, eh.rank(frame(shuffled)))
    assert same(board, eh.rank(frame([(b, a, -v) for a, b, v in battles])))


@settings(deadline=None, max_examples=examples(40))
@given(games)
def test_a_row_of_weight_two_is_two_rows_of_its_item(battles: list[Game]):
    items = [str(place) for place in range(len(battles))]
    double = eh.rank(frame(battles, item=items, weight=[2.0] * len(battles)))
    twice = eh.rank(frame(battles * 2, item=items * 2))
    assert same(double, twice)


def test_a_path_a_polars_and_a_pandas_frame_make_one_board(tmp_path: Path):
    import pandas as pd

    rows = frame([("X", "Y", 1), ("Y", "X", 1), ("Y", "Z", 1), ("Z", "X", 1), ("X", "Z", 1)])
    path = tmp_path / "battles.parquet"
    rows.write_parquet(path)
    csv = tmp_path / "battles.csv"
    rows.write_csv(csv)
    boards = [eh.rank(source) for source in (path, str(csv), rows, pd.DataFrame(rows.to_dict(as_series=False)))]
    assert [board.origin.source for board in boards] == ["battles.parquet", "battles.csv", "a frame", "a frame"]
    assert len({json.dumps([one.as_json() for one in board.models]) for board in boards}) == 1


def test_the_designs_call_works():
    rows = frame([("X", "Y", 1), ("Y", "X", 1), ("X", "Y", 1)], item=["1", "2", "3"])
    board = eh.rank(rows, method="bradley-terry", bootstrap=0, resample="items", seed=0)
    assert [one.model for one in board.models] == ["X", "Y"]
    table = board.to_polars()
    assert table["model"].to_list() == ["X", "Y"]
    assert table["rating"].to_list() == [one.rating.value for one in board.models]
    document = json.loads(board.to_json())
    assert (document["source"], document["benchmark"], document["judge"]) == ("a frame", None, None)


def both_orders(items: int, verdicts: tuple[int, int]) -> pl.DataFrame:
    """X against Y on each item, once each first; verdicts in favour of X."""
    rows: list[Game] = [("X", "Y", value) for _ in range(items) for value in verdicts]
    return frame(rows, item=[str(place // 2) for place in range(2 * items)], first_shown=["X", "Y"] * items)


def test_a_file_that_names_items_and_order_tells_whether_its_judge_can_be_trusted():
    consistent = eh.rank(both_orders(40, (1, 1))).reliability
    assert consistent is not None
    assert consistent.order.swap_consistency.value == 1.0
    first_always = eh.rank(both_orders(40, (1, -1))).reliability
    assert first_always is not None
    assert first_always.order.swap_consistency.value == 0.0
    assert first_always.conclusion == get_args(Conclusion)[0]


def test_of_rows_without_items_nothing_is_claimed_about_the_judge():
    board = eh.rank(frame([("X", "Y", 1), ("Y", "X", 1)]))
    assert (board.reliability, board.items) == (None, None)
    assert board.as_json()["reliability"] is None


def test_rows_are_joined_to_battles_only_when_asked():
    rows = both_orders(10, (1, 0))
    plain, joined, strict = (
        eh.rank(rows, method="elo"),
        eh.rank(rows, method="elo", unit="battles"),
        eh.rank(rows, method="elo", unit="battles", scoring=eh.Scoring(join="mt-bench")),
    )
    assert (plain.unit, plain.battles, plain.models[0].wins, plain.models[0].ties) == ("rows", 20, 10, 10)
    assert (joined.unit, joined.battles, joined.models[0].wins, joined.models[0].ties) == ("battles", 10, 10, 0)
    assert (strict.models[0].wins, strict.models[0].ties) == (0, 10)
    with refused(RankError, "BattleColumns(item=…)", code="EH-DATA-COLUMN"):
        eh.rank(frame([("X", "Y", 1)]), unit="battles")


def test_disconnected_models_are_ranked_apart_by_every_method():
    rows = frame([("A", "B", 1), ("B", "A", 1), ("C", "A", 0), ("X", "Y", 1), ("Y", "X", 0)])
    for method in ("bradley-terry", "elo", "win-rate"):
        board = eh.rank(rows, method=method)
        assert [one.component for one in board.models] == [1, 1, 1, 2, 2]
        assert min(one.rank or 0 for one in board.models if one.component == 2) == 1
        assert noted(board.basis, "2 components")


def test_a_model_that_always_won_has_no_upper_bound_and_a_sentence():
    board = eh.rank(frame([("W", "X", 1)] * 41 + [("X", "Y", 1), ("Y", "X", 1)]))
    assert board.models[0].model == "W"
    assert board.models[0].rating.value is None
    tells(board.models[0].note, "W", "41 battles")
    row = json.loads(board.to_json())["models"][0]
    assert (row["rating"], row["rating_upper"], row["unbounded"]) == (None, None, "upper")


def test_an_anchor_sets_one_models_rating():
    scoring = eh.Scoring(scale=eh.Scale(anchor="Y", anchor_value=1200))
    rows = frame([("X", "Y", 1), ("Y", "X", 1), ("X", "Y", 1)])
    board = eh.rank(rows, scoring=scoring)
    assert ratings(board)["Y"] == pytest.approx(1200)
    row = next(one for one in json.loads(board.to_json())["models"] if one["model"] == "Y")
    assert (row["rating_lower"], row["rating_upper"], row.get("unbounded")) == (None, None, None)
    assert "1200 to 1200" not in str(board)
    for method in ("elo", "win-rate"):
        with refused(RankError, "anchor", code="EH-METHOD-OPTION"):
            eh.rank(rows, method=method, scoring=scoring)
    with refused(RankError, "'Q'", "X, Y"):
        eh.rank(rows, scoring=eh.Scoring(scale=eh.Scale(anchor="Q")))


def test_what_a_method_cannot_do_is_refused():
    rows = frame([("X", "Y", 1), ("Y", "X", 1)])
    with refused(RankError, "elo", "Davidson's", code="EH-METHOD-OPTION"):
        eh.rank(rows, method="elo", scoring=eh.Scoring(ties="davidson"))
    with refused(RankError, "bootstrap", code="EH-METHOD-OPTION"):
        eh.rank(rows, method="win-rate", bootstrap=100)
    with refused(RankError, "bootstrap", -1):
        eh.rank(rows, bootstrap=-1)
    with refused(RankError, "int"):
        eh.rank(cast("Any", 7))
    with refused(RankError, "BattleColumns", code="EH-CHOICE-KIND"):
        eh.rank(rows, eh.Choice(judge="openai/judge"))


def test_a_bootstrap_is_seeded_and_gives_medians():
    rng = np.random.default_rng(0)
    pairs = list(itertools.permutations("XYZ", 2))
    rows = frame([(*pairs[rng.integers(6)], int(rng.integers(-1, 2))) for _ in range(60)], item=[*range(30)] * 2)
    for method in ("bradley-terry", "elo"):
        one, again, other = (eh.rank(rows, method=method, bootstrap=50, seed=seed) for seed in (1, 1, 2))
        assert numbers(one) == numbers(again) != numbers(other)
        assert all(model.median is not None and model.rank_lower is not None for model in one.models)
        assert noted(one.basis, "50 resamples", "seed 1")


@needs(LLMFAO)
def test_llmfaos_raters_are_named_by_a_column_of_its_own():
    board = eh.rank(LLMFAO, eh.BattleColumns(item="prompt", rater="worker"))
    assert board.items == 13
    assert all(one.rating.lower is None for one in board.models)
    assert noted(board.basis, "59 ratings", "13 items")


def test_every_finding_is_in_the_document_of_a_small_board():
    rows = both_orders(12, (1, -1)).with_columns(length_a=pl.lit(30), length_b=pl.Series([*range(24)]))
    document = json.loads(eh.rank(rows).to_json())
    assert document["order_effect"] is not None
    assert document["length_effect"] is not None
    assert document["matrix"]["models"] == ["X", "Y"]
    assert document["matrix"]["share"] == [[None, 0.5], [0.5, None]]
    assert document["cycles"]["majority"]["met"] == 0
    row = document["models"][0]
    assert (row["win_rate"], row["win_rate_creation"], row["win_rate_visit"]) == (0.5, 0.5, 0.5)
    assert (row["wins"], row["losses"], row["ties"], row["elo"]) == (12, 12, 0, pytest.approx(1000, abs=2))


def test_of_many_models_a_document_holds_what_was_looked_at():
    names = [f"m{place:03}" for place in range(201)]
    ring: list[Game] = [(one, other, 0) for one, other in zip(names, names[1:] + names[:1], strict=True)]
    board = eh.rank(frame(ring))
    before = json.loads(board.to_json())
    assert [before[name] for name in ("matrix", "cycles", "order_effect", "bands")] == [None] * 4
    assert board.findings.cycles.majority.met == 0
    after = json.loads(board.to_json())
    assert after["cycles"] is not None
    assert after["matrix"] is None


def test_orders_of_which_no_rater_is_named_are_said_to_be_one_judges():
    alone, named = both_orders(3, (1, 1)), both_orders(3, (1, 1)).with_columns(rater=pl.lit("Ann"))
    said, unsaid = (
        [note for note in eh.rank(rows).notes if note.startswith("No rater column:")] for rows in (alone, named)
    )
    assert said[0].endswith("the two orders of a pair are compared as one judge's.")
    assert not unsaid


def test_a_comma_in_a_models_name_does_not_hinder_a_comparison():
    board = eh.rank(frame([("A, large", "B", 1), ("B", "A, large", 0)]))
    sentence, difference = compared(board, "A, large,B", None).sentences
    assert sentence.startswith("A, large against B: better on 1 battle, worse on 0, level on 1; share won less share")
    assert difference.startswith("By all battles (Bradley-Terry) A, large is rated +191 points against B")
    with refused(RankError, "'B,B'"):
        compared(board, "B,B", None)


@pytest.mark.parametrize("method", ["bradley-terry", "win-rate", "elo"])
def test_intervals_over_several_raters_say_whether_they_hold_for_others(method: Any):
    battles: list[Game] = [("X", "Y", 1), ("Y", "X", 1), ("X", "Y", 0)] * 4
    these = "Raters are not counted as clusters: the intervals are about these 2 raters, not about others."
    others = (
        "The intervals are wide, as they hold for other raters too, as far as 2 can tell; rank's --by-cluster item "
        "gives those about these raters alone."
    )
    for raters, told in ((["ann", "bo"] * 6, method != "elo"), (["ann"] * 12, False)):
        rows = frame(battles, item=[str(n) for n in range(12)], rater=raters)
        board = eh.rank(rows, method=method)
        assert (others in board.notes) is told
        assert these not in board.notes
        assert (these in eh.rank(rows, method=method, by_cluster="item").notes) is told


def test_nothing_is_said_of_raters_where_each_has_one_row_or_one_item():
    battles: list[Game] = [("X", "Y", 1), ("Y", "X", 1), ("X", "Y", 0)] * 8
    alone = frame(battles, item=[str(n // 2) for n in range(24)], rater=[f"r{n}" for n in range(24)])
    nested = frame(battles, item=[str(n // 2) for n in range(24)], rater=[f"r{n // 2}" for n in range(24)])
    for rows in (alone, nested):
        for by in ("item", None):
            assert not any("raters" in note and "intervals" in note for note in eh.rank(rows, by_cluster=by).notes)


@pytest.mark.parametrize("method", ["bradley-terry", "elo"])
def test_resamples_of_items_count_raters_and_those_of_battles_say_that_they_count_nothing(method: Any):
    rows = crossed()
    both, items = (eh.rank(rows, method=method, bootstrap=50, by_cluster=by) for by in (None, "item"))
    widths = [[(one.rating.upper or 0) - (one.rating.lower or 0) for one in board.models] for board in (both, items)]
    assert all(wide >= narrow for wide, narrow in zip(*map(sorted, widths), strict=True))
    assert max(widths[0]) > 1.1 * max(widths[1])
    assert both.clusters.by == "both"
    single = eh.rank(rows, method=method, bootstrap=50, resample="battles")
    assert (single.clusters.by, dict(single.clusters.counts)) == ("row", {"row": 120})
    assert noted(single.notes, "about these 8 raters, not about others")
    assert not noted(single.notes, "hold for other raters")
    assert noted(eh.rank(rows, method=method, bootstrap=50, by_cluster="topic").notes, "50 resamples of topics")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"bootstrap": 50}, "Intervals are clustered by 20 items and 8 raters"),
        ({"scoring": eh.Scoring(shrink=True)}, "Intervals are clustered by 20 items and 8 raters"),
        ({"method": "win-rate"}, "Intervals are clustered by 20 items and 8 raters"),
        ({"method": "elo"}, "Rows are clustered by 20 items and 8 raters"),
        ({"method": "elo", "bootstrap": 50, "resample": "battles"}, "Intervals are not clustered"),
        ({"bootstrap": 50, "resample": "battles"}, "Intervals are not clustered"),
    ],
)
def test_every_board_says_once_what_its_rows_are_clustered_by(asked: dict[str, Any], words: str):
    told = [note for note in eh.rank(crossed(), **asked).notes if "clustered" in note]
    assert len(told) == 1
    assert told[0].startswith(words)


def test_where_ratings_outnumber_the_items_the_clusters_are_told_all_the_same():
    names = [f"m{n}" for n in range(8)]
    battles: list[Game] = [(one, other, 1) for one in names for other in names if one != other]
    board = eh.rank(frame(battles, item=[str(n % 5) for n in range(56)]))
    assert all(one.rating.lower is None for one in board.models)
    assert noted(board.notes, "Rows are clustered by 5 items")


CROSSED: list[Game] = [("X", "Y", 1), ("Y", "Z", 1), ("Z", "X", 0), ("X", "Z", 1), ("Y", "X", 1)] * 24


def crossed() -> pl.DataFrame:
    """Each of 20 items judged by six of eight raters; four topics."""
    item = [str(n // 6) for n in range(120)]
    return frame(
        CROSSED,
        item=item,
        rater=[f"r{(n * 3 + n // 6) % 8}" for n in range(120)],
        topic=[str(int(n) % 4) for n in item],
    )


@pytest.mark.parametrize(
    ("asked", "by", "counts"),
    [
        (None, "both", {"item": 20, "rater": 8}),
        ("both", "both", {"item": 20, "rater": 8}),
        ("item", "item", {"item": 20}),
        ("rater", "rater", {"rater": 8}),
        ("topic", "topic", {"cluster": 4}),
    ],
)
def test_the_board_says_what_its_rows_are_clustered_by(asked: str | None, by: str, counts: dict[str, int]):
    board = eh.rank(crossed(), by_cluster=asked)
    document = json.loads(board.to_json())
    assert (board.clusters.by, dict(board.clusters.counts)) == (by, counts)
    assert document["clusters"]["by"] == by
    assert document["settings"]["by_cluster"] == asked
    words = {"both": "20 items and 8 raters", "item": "20 items", "rater": "8 raters", "topic": "4 topics"}[by]
    assert any(f"clustered by {words}:" in note for note in board.basis)


def test_clusters_are_named_by_their_column_whatever_its_name():
    for name, many in (("category", "4 categories"), ("y", "4 ys")):
        board = eh.rank(crossed().rename({"topic": name}), by_cluster=name)
        assert any(f"clustered by {many}: verdicts of one {name}" in note for note in board.basis)
        assert not any("one degree less" in note or "categorys" in note for note in board.notes)


def test_clusters_make_different_intervals_of_the_same_ratings():
    boards = [eh.rank(crossed(), by_cluster=by) for by in ("item", "rater", "both", "topic")]
    assert len({tuple(one.rating.value for one in board.models) for board in boards}) == 1
    assert len({board.models[0].rating.lower for board in boards}) == 4


def test_a_board_clustered_by_raters_calls_no_row_a_cluster_of_its_own():
    for item in ([str(n) for n in range(120)], None):
        rows = frame(CROSSED, rater=[f"r{n % 8}" for n in range(120)], **({} if item is None else {"item": item}))
        board = eh.rank(rows)
        assert board.clusters.counts["rater"] == 8
        assert not any("own cluster" in note for note in (*board.notes, *board.basis))


@pytest.mark.parametrize(
    ("rows", "by", "said"),
    [
        (frame(CROSSED), "item", "no item column is known"),
        (frame(CROSSED, item=[str(n) for n in range(120)]), "rater", "no rater column is known"),
        (frame(CROSSED, item=[str(n) for n in range(120)]), "both", "no rater column is known"),
        (crossed(), "tpic", "No column `tpic`"),
    ],
)
def test_clusters_that_the_rows_do_not_name_are_refused(rows: pl.DataFrame, by: str, said: str):
    with pytest.raises(eh.EvenhandError, match=said):
        eh.rank(rows, by_cluster=by)


def test_one_item_that_is_repeated_decides_nothing():
    # 40 items split 20 to 20, the first repeated 400 times.
    battles: list[Game] = [("X", "Y", 1 if n % 2 else -1) for n in (1, *[1] * 399, *range(39))]
    item = ["q0"] * 400 + [f"q{n + 1}" for n in range(39)]
    board = eh.rank(frame(battles, item=item))
    assert [(one.rank_lower, one.rank_upper, one.tier) for one in board.models] == [(1, 2, 1)] * 2
    assert "One item, q0, carries 91 % of the weight:" in " ".join(board.notes)
    heaviest = json.loads(board.to_json())["clusters"]["heaviest_item"]
    assert heaviest == {"name": "q0", "share": pytest.approx(400 / 439)}
    shared = eh.rank(frame(battles, item=item, rater=["ann"] * 439))
    assert [one.rating.value for one in shared.models] == pytest.approx([1000, 1000], abs=20)
    # 400 four-hundredths and 39: rounding must not show.
    assert [count(one.rating.n) for one in shared.models] == ["40", "40"]
    assert not any("carries" in note for note in shared.notes)
    whole = eh.rank(frame(battles, item=item, rater=["ann"] * 439), repeats="count")
    assert whole.models[0].rating.value == board.models[0].rating.value


def test_a_rater_who_carries_much_is_named_and_even_shares_are_not():
    battles = CROSSED[:60]
    item = [str(n // 3) for n in range(60)]
    board = eh.rank(frame(battles, item=item, rater=["ann"] * 30 + [f"r{n % 10}" for n in range(30)]))
    assert any(note.startswith("One rater, ann, carries 50 % of the weight") for note in board.notes)
    heavy = frame(battles, item=item, rater=["ann"] * 30 + [f"r{n % 10}" for n in range(30)])
    uncounted = eh.rank(heavy, by_cluster="item")
    (told,) = (note for note in uncounted.notes if note.startswith("One rater, ann"))
    assert "do not count that; rank's --by-cluster rater does" in told
    nearly = eh.rank(frame(battles, item=item, rater=["r0"] * 22 + ["r1"] * 19 + ["r2"] * 19))
    assert not any("carries" in note for note in nearly.notes)
    even = eh.rank(frame(battles, item=item, rater=[f"r{n % 3}" for n in range(60)]))
    assert not any("carries" in note for note in even.notes)
    assert json.loads(even.to_json())["clusters"]["heaviest_rater"]["share"] == pytest.approx(1 / 3)


def test_a_little_more_than_an_even_share_is_not_told_and_nothing_is_widened_that_is_not():
    battles, item = CROSSED[:60], [str(n // 3) for n in range(60)]
    nearly = eh.rank(frame(battles, item=item, rater=["ann"] * 22 + ["bob"] * 19 + ["cat"] * 19))
    assert not any("carries" in note for note in nearly.notes)
    uneven = frame(battles, item=item, rater=["ann"] * 40 + ["bob"] * 10 + ["cat"] * 10)
    both, alone = (eh.rank(uneven, by_cluster=by).clusters.sentences for by in ("both", "item"))
    assert ["the intervals are" in " ".join(one) for one in (both, alone)] == [True, False]
    assert len(both) == len(alone) == 1
