"""Claims about the printed board."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from evenhand.ledger.projection import studies
from evenhand.ledger.record import Ledger
from evenhand.reports.leaderboard import Board, Method, board
from evenhand.reports.tables import count, per_cent, print_board, unbroken
from tests.ledger import scene
from tests.ledger.scene import TRIALS, prefers, record


def printed(made: Board) -> str:
    out = io.StringIO()
    print_board(made, Console(file=out, width=120))
    return out.getvalue()


def judged_sample(ledger: Ledger, method: Method) -> Board:
    ledger.register_benchmark(replace(scene.BENCHMARK, sample=True))
    scene.set_up(ledger)
    record(ledger, TRIALS, [prefers(trial, 1) for trial in TRIALS])
    return board(ledger, studies(ledger), method=method)


@pytest.mark.parametrize(("method", "heading"), [("win-rate", "95 % interval"), ("elo", "Elo")])
def test_the_board_names_data_judge_and_models_and_ends_with_whether_to_trust(
    ledger: Ledger, method: Method, heading: str
):
    words = printed(judged_sample(ledger, method))
    for expected in ("numbers (a sample of ours)", "openai/judge under p, free readout", heading, "amber", "blue"):
        assert expected in words
    assert words.index("blue") < words.index("Can this judge be trusted?")
    assert "swap consistency      0.0 %" in words
    assert "says nothing about real models" in words


def test_a_models_name_is_never_read_as_markup(ledger: Ledger):
    made = judged_sample(ledger, "win-rate")
    odd = replace(made, standings=tuple(replace(s, model=f"[red]{s.model}[/red]") for s in made.standings))
    assert "[red]amber[/red]" in printed(odd)


def test_no_line_ends_between_a_number_and_its_per_cent_sign():
    assert unbroken("won 50 % of 9") == "won 50\u00a0% of 9"


@pytest.mark.parametrize(("share", "words"), [(None, "–"), (0.5, "50.0 %"), (1.0, "100.0 %")])
def test_a_missing_share_is_a_dash_and_never_a_number(share: float | None, words: str):
    assert per_cent(share) == words


@pytest.mark.parametrize(("number", "words"), [(3.0, "3"), (2.5, "2.5"), (1 / 3, "0.3")])
def test_counts_are_whole_unless_replicates_share_them(number: float, words: str):
    assert count(number) == words
