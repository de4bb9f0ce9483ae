"""Claims about the line that tells how a run is going."""

from collections import Counter

import pytest

from evenhand.cli.ask.progress import duration, line
from evenhand.engine.run.tally import Tally


def test_the_line_tells_the_pace_of_what_was_asked_and_how_long_the_rest_takes():
    tally = Tally(planned=100, known=40, called=20, cost_usd=0.0421)
    said = line(tally, seconds=10.0, in_flight=16, known_price=True, noun="trials")
    assert said == "60/100 trials · 2.0/s · 20 s left · $0.0421 · 16 in flight"


def test_a_slow_run_tells_seconds_of_each_and_an_unknown_price_is_no_sum():
    tally = Tally(planned=4, called=1)
    said = line(tally, seconds=30.0, in_flight=1, known_price=False, noun="images")
    assert said == "1/4 images · 30.0 s each · 2 min left · price unknown · 1 in flight"


def test_before_the_first_reply_there_is_no_pace():
    said = line(Tally(planned=9, known=3), seconds=5.0, in_flight=6, known_price=True, noun="trials")
    assert said == "3/9 trials · $0.0000 · 6 in flight"


def test_what_went_wrong_is_counted_for_each_way():
    tally = Tally(planned=9, called=6, no_verdict=Counter(refused=1, unreadable=1), failed=Counter(timeout=3))
    said = line(tally, seconds=6.0, in_flight=0, known_price=True, noun="trials")
    assert said.endswith("0 in flight · 2 without a decision · 3 failed")


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (89.4, "89 s"), (90, "2 min"), (5399, "90 min"), (5400, "1.5 h")]
)
def test_a_time_is_told_in_the_unit_that_one_reads(seconds: float, words: str):
    assert duration(seconds) == words


def test_what_other_runs_have_done_meanwhile_is_told_and_shortens_the_time_that_is_left():
    tally = Tally(planned=100, known=40, meanwhile=20, called=20)
    said = line(tally, seconds=10.0, in_flight=16, known_price=True, noun="trials", others=1)
    assert said == "60/100 trials · 20 of them by another run · 2.0/s · 10 s left · $0.0000 · 16 in flight"
    assert " · 20 of them by 3 other runs · " in line(
        tally, seconds=10.0, in_flight=16, known_price=True, noun="trials", others=3
    )


@pytest.mark.parametrize("width", [40, 60, 79, 100])
def test_what_matters_least_is_left_out_where_the_terminal_is_narrow(width: int):
    many = Tally(planned=100_000, known=4000, meanwhile=2000, called=20_000, elsewhere=300)
    many.failed["timeout"] = 123
    said = line(many, seconds=10.0, in_flight=16, known_price=True, noun="trials", others=2, width=width)
    assert len(said) <= width
    assert said.startswith("24000/100000 trials")
    assert said.endswith("123 failed")
    assert width < 79 or "2000 of them by 2 other runs" in said
