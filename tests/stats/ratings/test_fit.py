"""Claims about tests of the fit, and about shrunk ratings."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import evenhand as eh
from bench.coverage import covered
from bench.coverage_designs import World
from bench.coverage_ranks import five_levels
from evenhand.reports.board.ranking import rank
from evenhand.reports.board.shown.columns import fitting
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry, bradley_terry
from evenhand.stats.ratings.bradley_terry.shrinking import shrunk_bradley_terry
from evenhand.stats.ratings.effects.level_tests import level_tests
from evenhand.stats.ratings.fit_tests import ratings_tell_every_pair, same_on_every_item
from evenhand.stats.ratings.sums import summed, summed_each
from tests.stats.ratings.made import Game, played
from tests.stats.ratings.made import drawn as drawn_rows


def drawn(*, seed: int = 0, spread: float = 0.0, items: int = 80, models: int = 6):
    world = World(models=models, items=items, worth=tuple(np.linspace(0.8, -0.8, models)), item_spread=spread, tied=0.0)
    return world.drawn(np.random.default_rng(seed))


def ring(times: int = 30) -> list[Game]:
    """A beats B beats C beats A, three times in four."""
    return [
        (a, b, 1 if n % 4 else -1) for n in range(times) for a, b in (("A", "B"), ("B", "C"), ("C", "A"))
    ]  # fmt: skip


def test_items_that_suit_models_differently_are_found_with_how_much_they_differ():
    found = same_on_every_item(bradley_terry(drawn(spread=1.0)))
    assert found.fits is False
    # One logit is 174 points; a verdict sees the difference of two models' shifts, and a little of it is lost.
    assert found.size == pytest.approx(174, rel=0.35)
    even = same_on_every_item(bradley_terry(drawn(spread=0.0)))
    assert even.fits is True
    assert even.size < 90  # type: ignore[operator]


def test_a_pair_shown_twice_is_no_item_that_differs():
    once = drawn(spread=0.0)
    names = ("model_a", "model_b", "sign", "item")
    twice = replace(once, **{name: np.tile(getattr(once, name), 2) for name in names})
    found = [same_on_every_item(bradley_terry(one)).size for one in (once, twice)]
    assert found[0] == pytest.approx(found[1])


def test_sums_of_many_rows_at_once_are_those_of_each_row():
    rng = np.random.default_rng(0)
    codes, rows = rng.integers(0, 7, 50), rng.normal(size=(9, 50))
    assert summed_each(codes, rows, 8).tolist() == [summed(codes, row, 8).tolist() for row in rows]


def test_two_models_leave_nothing_to_test():
    pair = bradley_terry(played([("A", "B", 1), ("A", "B", -1), ("A", "B", 1)] * 10))
    for found in (same_on_every_item(pair), ratings_tell_every_pair(pair)):
        assert (found.fits, found.p_value) == (None, None)
        assert found.reason


def test_a_ring_is_found_and_its_pairs_are_named():
    found = ratings_tell_every_pair(bradley_terry(played(ring())))
    assert found.fits is False
    # Each pair wins three in four where the ratings say one in two, and chance takes a little of the 25 away.
    assert found.size == pytest.approx(24, abs=2)
    assert len(found.look) == 3
    assert all("the ratings say 50 %" in one for one in found.look)


@pytest.mark.slow
def test_boards_that_fit_are_rarely_called_misfits():
    # 5 % wanted; 15 % of 40 is three simulation errors above.
    for test in ("items", "pairs"):
        assert covered(f"fit of {test} holds, 4 models, 20 items", repetitions=40, seed=3).claimed <= 0.15


def test_a_lead_that_counts_more_for_much_better_is_found_with_its_size():
    rng = np.random.default_rng(1)
    odds, sides = level_tests(five_levels(rng, 300, outer=0.5))
    assert odds.fits is False
    assert odds.size == pytest.approx(0.5, abs=0.2)
    odds, sides = level_tests(five_levels(rng, 300))
    assert (odds.fits, sides.fits) == (True, True)
    assert abs(odds.size) < 0.12  # type: ignore[arg-type]


def test_thresholds_that_lean_to_the_first_answer_are_found_with_their_size():
    _, sides = level_tests(five_levels(np.random.default_rng(2), 300, shift=0.4))
    assert sides.fits is False
    assert sides.size == pytest.approx(0.4, abs=0.15)


def test_the_board_says_what_does_not_fit_and_what_to_look_at(tmp_path: Path):
    rows = [f"{n},{a},{b},{'model_a' if n % 4 else 'model_b'}" for n in range(30) for a, b in ("AB", "BC", "CA")]
    file = tmp_path / "ring.csv"
    file.write_text("\n".join(["item,model_a,model_b,winner", *rows]))
    board = rank(file)
    said = fitting(board).sentences
    assert said[0].startswith("It does not hold that one rating for each model tells how pairs of models do (p = 0.0")
    assert "--compare A,B" in said[0]
    assert {one["name"]: one["fits"] for one in board.as_json()["fit"]}["pairs"] is False  # type: ignore[union-attr]


def sparse() -> list[Game]:
    games: list[Game] = [("A", "B", 1)] * 60 + [("B", "A", 1)] * 30 + [("B", "C", 1)] * 60 + [("C", "B", 1)] * 30
    return [*games, *[("A", "C", 1)] * 75, *[("C", "A", 1)] * 15, *[("new", "A", 1)] * 3]


def test_shrinking_gives_three_lucky_wins_a_finite_rating_and_hardly_moves_the_others():
    plain, shrunk = bradley_terry(played(sparse())), shrunk_bradley_terry(played(sparse()))
    by_name = {one.model: one.rating for one in shrunk.rated.models}
    before = {one.model: one.rating for one in plain.models}
    assert before["new"].value is None
    assert by_name["new"].value is not None
    gaps = [(one["A"].value or 0) - (one["C"].value or 0) for one in (by_name, before)]
    assert 0.8 * gaps[1] < gaps[0] < gaps[1]
    width = {name: (one.upper or 0) - (one.lower or 0) for name, one in by_name.items()}
    assert width["new"] > 1.3 * width["B"]


def test_shrunk_ratings_lie_nearer_the_truth_and_their_intervals_hold_it():
    rng = np.random.default_rng(4)
    scale = eh.Scale(start=0, points=float(np.log(10)))
    errors, held = {"plain": [], "shrunk": []}, []
    for _ in range(25):
        truth, battles = rng.normal(0, 0.4, 12), rng.choice([3, 40], 12)
        games: list[Game] = []
        for one in range(12):
            for _ in range(battles[one]):
                other = int((one + rng.integers(1, 12)) % 12)
                won = rng.random() < 1 / (1 + np.exp(truth[other] - truth[one]))
                games.append((f"m{one:02}", f"m{other:02}", 1 if won else -1))
        seen = played(games)
        boards = {"plain": bradley_terry(seen, scale=scale), "shrunk": shrunk_bradley_terry(seen, scale=scale).rated}
        for code, value in enumerate(truth - truth.mean()):
            ratings = {name: board.models[code].rating for name, board in boards.items()}
            held.append(ratings["shrunk"].lower <= value <= ratings["shrunk"].upper)
            if ratings["plain"].value is not None:
                for name, rating in ratings.items():
                    errors[name].append(rating.value - value)
    assert np.std(errors["shrunk"]) < 0.95 * np.std(errors["plain"])
    assert np.mean(held) > 0.92


def widths(board: BradleyTerry) -> list[float]:
    return [(one.rating.upper or np.nan) - (one.rating.lower or np.nan) for one in board.models]


def test_shrinking_does_not_widen_intervals():
    boards = [drawn_rows(rows=240, models=6, items=40, seed=seed) for seed in range(6)]
    shrunk, plain = (
        np.mean([widths(one) for one in made]) for made in (
            [shrunk_bradley_terry(one).rated for one in boards], [bradley_terry(one) for one in boards]
        )
    )  # fmt: skip
    assert shrunk < plain


def test_shrunk_ratings_that_outnumber_the_items_have_no_interval_either():
    board = shrunk_bradley_terry(drawn_rows(rows=3000, models=8, items=7, seed=1)).rated
    assert all(one.rating.value is not None and one.rating.lower is None for one in board.models)
    assert any("8 ratings rest on 7 items, too few for an interval of each" in note for note in board.notes)
    assert np.isnan(board.spread.errors_of_differences()).all()


def test_shrunk_intervals_go_by_the_clusters_asked_for():
    seen = drawn_rows(rows=1200, models=4, items=60, seed=2)
    # Every topic prefers another model: as sure as six topics can be.
    topic = (seen.item % 6).astype(np.int32)  # type: ignore[operator]
    loved = topic % 4
    sign = np.where(seen.model_a == loved, 1, np.where(seen.model_b == loved, -1, seen.sign)).astype(np.int8)
    seen = replace(seen, sign=sign)
    by_topic = replace(seen, cluster=topic, cluster_noun="topic")
    for other in (by_topic, replace(seen, crossed=topic)):
        wide, narrow = (shrunk_bradley_terry(one).rated for one in (other, seen))
        assert min(widths(wide)) > 1.5 * max(widths(narrow))
    assert by_topic.grouped_by is topic
    assert shrunk_bradley_terry(by_topic).rated.spread.clusters.tolist() == [6] * 4


def test_shrinking_is_off_unless_asked_for_and_named_where_it_is_on(tmp_path: Path):
    file = tmp_path / "battles.csv"
    file.write_text("\n".join(["model_a,model_b,winner", *(f"{a},{b},model_a" for a, b, _ in sparse())]))
    plain, shrunk = rank(file), rank(file, scoring=eh.Scoring(shrink=True))
    assert plain.as_json()["settings"]["shrink"] is False  # type: ignore[index, call-overload]
    assert shrunk.as_json()["settings"]["shrink"] is True  # type: ignore[index, call-overload]
    assert "Bradley-Terry, shrunk from" in str(shrunk)
    assert "shrunk" not in str(plain).lower()
    assert any(one.startswith("Shrunk: ratings are drawn towards the mean of all models") for one in shrunk.notes)
    with pytest.raises(eh.RankError, match="Shrinking belongs to Bradley-Terry"):
        rank(file, method="win-rate", scoring=eh.Scoring(shrink=True))
