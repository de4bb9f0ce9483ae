"""Claims about `evenhand.rank` as Python calls it: what it refuses, and what a board gives."""

import hashlib
import json
import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import evenhand as eh
from evenhand.domain.errors import Misuse
from evenhand.domain.estimate import whole
from evenhand.reports.errors import RankError
from tests.refusals import refused

FRAME = pl.DataFrame(
    {
        "model_a": ["X", "Y", "Z", "X"] * 3,
        "model_b": ["Y", "Z", "X", "Z"] * 3,
        "winner": ["model_a", "tie", "model_b", "right"] * 3,
        "item": [number // 4 for number in range(12)],
    }
)


def scored(**wrong: Any) -> eh.Scoring:
    return eh.Scoring(**wrong)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"method": "btl"}, "method is one of bradley-terry, elo, win-rate, not 'btl'."),
        ({"method": "Elo"}, "method is one of bradley-terry, elo, win-rate, not 'Elo'. Did you mean 'elo'?"),
        ({"method": None}, "`method` of evenhand.rank takes a text; not None."),
        ({"unit": "vote"}, "unit is one of votes, battles, not 'vote'. Did you mean 'votes'?"),
        ({"unit": 1}, "unit is one of votes, battles, not 1."),
        ({"resample": ["items"]}, "resample is one of items, battles, not ['items']."),
        ({"bootstrap": "100"}, "`bootstrap` of evenhand.rank takes a whole number; not the text '100'."),
        ({"bootstrap": 1.5}, "`bootstrap` of evenhand.rank takes a whole number; not 1.5."),
        ({"bootstrap": True}, "bootstrap is a whole number from 0 up, not True."),
        ({"bootstrap": -1}, "bootstrap is a whole number from 0 up, not -1."),
        ({"seed": "x"}, "`seed` of evenhand.rank takes a whole number; not the text 'x'."),
        ({"scoring": "elo"}, "scoring is a Scoring, such as Scoring(k=4), not 'elo'."),
        ({"scoring": scored(ties="half a win")}, "ties is one of half, davidson, not 'half a win'."),
        ({"scoring": scored(join="Visit")}, "join is one of visit, mt-bench, not 'Visit'. Did you mean 'visit'?"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_told_with_what_is_allowed(asked: dict[str, Any], sentence: str):
    with pytest.raises((RankError, Misuse)) as error:
        eh.rank(FRAME, **asked)
    assert str(error.value) == sentence


def test_a_lazy_frame_is_ranked_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lazy = eh.rank(FRAME.lazy())
    assert lazy.models == eh.rank(FRAME).models


def test_a_board_as_text_is_the_printed_table_without_colour():
    text = str(eh.rank(FRAME))
    assert text.startswith("a frame\nBradley-Terry from 12 rows on 3 items, 3 models\n")
    assert "\x1b" not in text
    assert "Can this judge be trusted?" in text


def test_notes_are_all_sentences_of_the_document():
    board = eh.rank(FRAME)
    assert list(board.notes) == json.loads(board.to_json())["notes"]
    assert "Item column: item (3 items)." in board.notes
    assert set(board.basis) < set(board.notes)
    assert len(board.notes) == len(set(board.notes))


def test_the_document_holds_what_makes_it_reproducible(tmp_path: Path):
    path = tmp_path / "battles.csv"
    FRAME.write_csv(path)
    scoring = eh.Scoring(k=8, scale=eh.Scale(points=200, base=2, start=0, anchor="X", anchor_value=50))
    board = eh.rank(path, bootstrap=27, resample="battles", seed=3, scoring=scoring)
    document = json.loads(board.to_json())
    assert document["settings"] == {
        "version": eh.__version__, "method": "bradley-terry", "unit": "rows",
        "seed": 3, "bootstrap": 27, "resample": "battles",
        "level": 0.95, "k": 8, "scale": 200, "base": 2, "start": 0, "anchor": "X", "anchor_value": 50, "ties": "half",
        "join": "visit", "shrink": False, "by_cluster": None, "repeats": "share", "soft": False, "jury": None,
        "same_family": False,
    }  # fmt: skip
    assert document["source_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert document["columns"]["item"] == "item"
    assert document["columns"]["rater"] is None
    plain = json.loads(eh.rank(FRAME).to_json())
    assert (plain["settings"]["bootstrap"], plain["settings"]["resample"]) == (0, None)
    assert plain["source_sha256"] is None


def test_every_public_name_is_listed_and_there():
    assert set(eh.__all__) <= set(dir(eh))
    assert "__version__" in dir(eh)
    assert all(getattr(eh, name) is not None for name in eh.__all__)


@pytest.mark.parametrize(
    ("sum_of_shares", "said"),
    [(119.00000000000003, 119), (118.99999999999997, 119), (0.5, 0.5), (119.001, 119.001), (0.0, 0), (3e9 + 1e-6, 3e9)],
)
def test_what_rounding_leaves_of_a_whole_number_is_that_number(sum_of_shares: float, said: float):
    assert whole(sum_of_shares) == said
    assert isinstance(whole(sum_of_shares), int) == float(said).is_integer()


def test_too_few_resamples_to_bound_an_interval_are_refused():
    with refused(RankError, 20, 19):
        eh.rank(FRAME, bootstrap=19)
    assert eh.rank(FRAME, bootstrap=20).models
