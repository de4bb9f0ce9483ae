"""Pictures say what the numbers say: every model, in order, with its interval; whole files of the asked kind."""

import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.format.charts import MANY, ChartError, Heading, Mark, interval_chart, matrix_chart, save, stacked
from tests.refusals import refused

_HEADING = Heading(title="Ratings of three", subtitle="a test")
_MARKS = (
    Mark(model="alpha", value=1100.0, lower=1050.0, upper=math.inf),
    Mark(model="beta & <co>", value=1000.0, lower=950.0, upper=1040.0),
    Mark(model="gamma", value=900.0),
)


def _svg(chart: object, tmp_path: Path) -> str:
    path = tmp_path / "chart.svg"
    save(chart, path)
    return path.read_text()


def test_a_picture_names_every_model_in_the_order_given(tmp_path: Path) -> None:
    drawn = _svg(interval_chart(_MARKS, _HEADING, axis="rating"), tmp_path)
    places = [drawn.index(name) for name in (">alpha<", ">beta &amp; &lt;co&gt;<", ">gamma<")]
    assert places == sorted(places)
    assert "Ratings of three" in drawn
    assert ">rating<" in drawn


def test_an_interval_is_drawn_from_its_lower_to_its_upper_bound() -> None:
    spec = interval_chart(_MARKS, _HEADING, axis="rating").to_dict()
    rows = next(layer["data"]["values"] for layer in spec["layer"] if layer["mark"]["type"] == "rule")
    by_name = {row["model"]: row for row in rows}
    assert (by_name["beta & <co>"]["lower"], by_name["beta & <co>"]["upper"]) == (950.0, 1040.0)
    assert (by_name["gamma"]["lower"], by_name["gamma"]["upper"]) == (900.0, 900.0)


def test_an_unbounded_interval_reaches_beyond_everything_and_ends_in_an_arrow() -> None:
    spec = interval_chart(_MARKS, _HEADING, axis="rating").to_dict()
    heads = [layer["data"]["values"] for layer in spec["layer"] if layer["mark"].get("shape") == "triangle"]
    assert len(heads) == 1
    assert [(head["model"], head["turn"]) for head in heads[0]] == [("alpha", 90)]
    assert heads[0][0]["at"] > 1100
    rows = next(layer["data"]["values"] for layer in spec["layer"] if layer["mark"]["type"] == "rule")
    assert rows[0]["upper"] == heads[0][0]["at"]


def test_a_wider_font_than_that_of_the_drawing_has_room_for_its_names(tmp_path: Path) -> None:
    """DejaVu's letters are wider than Arial's by up to a seventh of their height."""
    boxes: dict[int, list[float]] = {}
    for length in (4, 60):
        marks = [Mark(model=("model-1/" * 8)[:length], value=1.0), Mark(model="n", value=2.0)]
        drawn = _svg(interval_chart(marks, Heading(title="t"), axis="rating"), tmp_path)
        boxes[length] = [float(edge) for edge in re.search(r'viewBox="([^"]*)"', drawn)[1].split()]  # pyright: ignore
        left, top, width, height = boxes[length]
        assert f'<rect x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}" fill="white"' in drawn
    assert boxes[60][0] <= -0.1 * 11 * 50, "of 320 pixels at the most"
    assert boxes[4][0] >= -10


def test_a_long_name_is_folded_in_a_narrow_picture_and_none_is_lost(tmp_path: Path) -> None:
    name = "our-team-checkpoint-000123456-step-99000"
    marks = [Mark(model=name, value=1.0), Mark(model="short", value=2.0)]
    drawn = _svg(interval_chart(marks, _HEADING, axis="rating", narrow=True), tmp_path)
    assert [name[:20] in drawn, name[20:] in drawn, name in drawn] == [True, True, False]
    assert ">short<" in drawn


_THREE = ["alpha", "beta", "gamma"]


def test_pairs_that_never_met_and_the_diagonal_are_grey_which_no_share_is(tmp_path: Path) -> None:
    shares = [[None, 0.75, None], [0.25, None, 0.5], [None, 0.5, None]]
    chart = matrix_chart(_THREE, shares, _HEADING)
    grey, shares_won, _ = (layer["data"]["values"] for layer in chart.to_dict()["layer"])
    cells = {(row["row"], row["column"]): row["value"] for row in shares_won}
    assert cells == {
        ("alpha", "beta"): 0.75,
        ("beta", "alpha"): 0.25,
        ("beta", "gamma"): 0.5,
        ("gamma", "beta"): 0.5,
    }
    colours = {(row["row"], row["column"]): row["colour"] for row in grey}
    assert colours.keys() == {("alpha", "gamma"), ("gamma", "alpha"), *((name, name) for name in _THREE)}
    assert colours["alpha", "alpha"] != colours["alpha", "gamma"], "who never met is told from itself"
    assert ">75<" in _svg(chart, tmp_path)


def test_even_is_far_from_grey_and_from_white() -> None:
    spec = matrix_chart(["alpha", "beta"], [[None, 0.5], [0.5, None]], _HEADING).to_dict()
    for colour in spec["layer"][1]["encoding"]["color"]["scale"]["range"]:
        channels = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
        assert max(channels) - min(channels) > 50, colour


def test_the_columns_of_a_large_matrix_are_named_upright() -> None:
    for many, angle in ((20, -45), (21, -90)):
        names = [f"model {place}" for place in range(many)]
        spec = matrix_chart(names, [[0.5] * many] * many, _HEADING).to_dict()
        assert spec["layer"][0]["encoding"]["x"]["axis"]["labelAngle"] == angle


def test_the_labels_at_the_ends_of_an_axis_stand_under_their_ticks() -> None:
    for layer in interval_chart(_MARKS, _HEADING, axis="rating").to_dict()["layer"]:
        assert layer["encoding"]["x"]["axis"]["labelFlush"] is False


def test_of_very_many_models_the_first_are_drawn_and_the_title_says_so(tmp_path: Path) -> None:
    marks = [Mark(model=f"model {place:04}", value=2000.0 - place) for place in range(MANY + 5)]
    drawn = _svg(interval_chart(marks, Heading(title="Many"), axis="rating"), tmp_path)
    assert f"the first {MANY} of {MANY + 5} models" in drawn
    assert f"model {MANY - 1:04}" in drawn
    assert f"model {MANY:04}" not in drawn


@pytest.mark.parametrize(
    ("suffix", "opening"),
    [(".png", b"\x89PNG"), (".svg", b"<svg"), pytest.param(".html", b"<!DOCTYPE html>", marks=pytest.mark.slow)],
)
def test_a_file_is_of_the_kind_its_name_says(suffix: str, opening: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"chart{suffix}"
    save(stacked(interval_chart(_MARKS, _HEADING, axis="rating")), path)
    assert path.read_bytes().lstrip().startswith(opening)
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


def test_a_page_fetches_nothing(tmp_path: Path) -> None:
    path = tmp_path / "chart.html"
    save(interval_chart(_MARKS, _HEADING, axis="rating"), path)
    assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="?(?:https?:)?//', path.read_text())


def test_a_name_ends_no_script_of_a_page(tmp_path: Path) -> None:
    path = tmp_path / "chart.html"
    plain = interval_chart([replace(_MARKS[0], model="plain")], _HEADING, axis="rating")
    save(plain, path)
    scripts = path.read_text().count("</script>")
    hostile = "</script><script>alert(1)</script><!--"
    save(interval_chart([replace(_MARKS[0], model=hostile)], _HEADING, axis="rating"), path)
    page = path.read_text()
    assert page.count("</script>") == scripts
    assert "alert(1)" in page


def test_another_suffix_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with refused(ChartError, ".svg, .png, .html", "chart.gif"):
        save(interval_chart(_MARKS, _HEADING, axis="rating"), tmp_path / "chart.gif")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with refused(ChartError, tmp_path / "nowhere" / "chart.svg", code="EH-OUTPUT-UNWRITTEN"):
        save(interval_chart(_MARKS, _HEADING, axis="rating"), tmp_path / "nowhere" / "chart.svg")


def test_nothing_to_draw_is_said() -> None:
    with refused(ChartError, "rating", code="EH-CHART-EMPTY"):
        interval_chart([], _HEADING, axis="rating")
    with refused(ChartError, "met", code="EH-CHART-EMPTY"):
        matrix_chart(["alpha"], [[None]], _HEADING)


def test_without_the_extra_a_sentence_says_what_to_install() -> None:
    script = (
        "import sys; sys.path.insert(0, 'src')\n"
        "from evenhand.format.charts import ChartError, Heading, Mark, interval_chart\n"
        "try:\n    interval_chart([Mark(model='a', value=1.0)], Heading(title='t'), axis='x')\n"
        "except ChartError as said:\n    print(said)\n"
    )
    root = Path(__file__).parents[2]
    said = subprocess.run([sys.executable, "-I", "-S", "-c", script], cwd=root, capture_output=True, text=True)
    assert "from the clone: pip install '.[report]'" in said.stdout, said.stderr
