"""Descriptions as tables, pictures and a page say what was counted."""

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.describe.description import Description, DescriptionContext, describe
from evenhand.describe.objects import ObjectCount
from evenhand.describe.verbs import VerbCount
from evenhand.domain.item import Benchmark, Brief, Item
from evenhand.format.charts import MANY, ChartError, svg
from evenhand.format.sheet import Sheet
from evenhand.reports.description.charts import PICTURES, description_charts, plot
from evenhand.reports.description.page import description_page
from evenhand.reports.description.sheets import SHOWN, long_sheet, sheets
from evenhand.reports.description.sunburst import VERBS, noun_sectors, verb_sectors
from evenhand.reports.description.task_overview import task_overview
from tests.refusals import refused

WRITE = VerbCount(verb="write", count=3, nouns=(("poem", 1), ("story", 1)))
LIST = VerbCount(verb="list", count=1, nouns=(("difference", 1),))


def described(name: str = "one", *, items: int = 4, **changed: Any) -> Description:
    made = [
        Item(
            label=str(place),
            instruction=f"Write {place}.",
            images=("x",) * (place % 3),
            category=f"c{place % 2}",
            task=f"t{place}",
            reference="word " * 2000 if place == 0 else None,
            brief=Brief(role=f"role {place}"),
        )
        for place in range(items)
    ]
    found = describe(
        Benchmark(name=name, items=tuple(made), licence="CC0", citation="-", protocols=()),
        DescriptionContext(),
        name=name,
    )
    return replace(found, **{"verbs": (WRITE, LIST), **changed})


def sheet_of(found: list[Sheet], title: str) -> dict[str, tuple[str, ...]]:
    return {row[0]: row[1:] for sheet in found if sheet.title == title for row in sheet.rows}


def creation(*tasks: tuple[str, str, int], name: str = "one") -> Description:
    """By category, task and number of items."""
    made = [
        Item(label=f"{task} {place}", instruction="Write.", category=category, task=task)
        for category, task, number in tasks
        for place in range(number)
    ]
    made.append(Item(label="without", instruction="Write."))
    benchmark = Benchmark(name=name, items=tuple(made), licence="CC0", citation="-", protocols=())
    return describe(benchmark, DescriptionContext(), name=name)


def test_tasks_stand_under_their_categories_in_the_papers_order_then_others():
    found = creation(
        ("mine", "my_own", 9),
        ("Creative Multimodal Understanding", "meme_explanation", 2),
        ("Literary Writing", "landscape_to_poem", 3),
        ("Literary Writing", "haiku_of_my_own", 4),
        ("Literary Writing", "story_continue", 1),
    )
    assert found.tasks_by_category[0].as_json() == {
        "category": "Literary Writing",
        "items": 8,
        "tasks": [
            {"task": "story_continue", "items": 1},
            {"task": "landscape_to_poem", "items": 3},
            {"task": "haiku_of_my_own", "items": 4},
        ],
    }
    assert [one.category for one in found.tasks_by_category] == [
        "Literary Writing", "Creative Multimodal Understanding", "mine",
    ]  # fmt: skip
    drawn = svg(task_overview(found))
    for words in ("5 tasks in 3 categories, 19 items", "landscape to poem", "3 tasks, 8 items", "my own"):
        assert words in drawn
    assert drawn.index("Literary Writing") < drawn.index("Creative Multimodal Understanding") < drawn.index("mine")


def test_data_without_tasks_has_no_overview_of_them_and_asking_for_it_is_refused(tmp_path: Path):
    plain = described("plain")
    bare = replace(plain, tasks_by_category=())
    assert "tasks" in description_charts([plain])
    assert "tasks" not in description_charts([bare])
    with refused(ChartError, "tasks", "categories", code="EH-CHART-EMPTY"):
        plot([bare], tmp_path / "x.svg", ["tasks"])


@pytest.mark.slow
def test_only_the_pictures_that_are_asked_for_are_drawn(tmp_path: Path):
    plot([described("one")], tmp_path / "tasks.svg", ["tasks"])
    drawn = (tmp_path / "tasks.svg").read_text()
    assert "Tasks of one" in drawn
    assert "Categories of one" not in drawn
    plot([described("one"), described("two")], tmp_path / "both.png", ["tasks", "categories"])
    assert (tmp_path / "both.png").read_bytes()[:4] == b"\x89PNG"


def test_every_picture_has_its_name_on_the_list():
    assert set(description_charts([described("one")])) <= set(PICTURES)


def test_benchmarks_stand_side_by_side_with_a_dash_for_what_one_lacks():
    found = sheets([described("one"), described("two", items=1, verbs=None)])
    assert sheet_of(found, "What the data holds")["items"] == ("4", "1")
    assert sheet_of(found, "Items of each category") == {"c0": ("2", "1"), "c1": ("2", "–")}
    assert sheet_of(found, "Items with so many images") == {"0": ("2", "1"), "1": ("1", "–"), "2": ("1", "–")}
    lengths = sheet_of(found, "Lengths")
    assert list(lengths) == ["instruction: one", "instruction: two", "reference: one", "reference: two"]
    assert lengths["reference: one"] == ("1", "2,000.0", "2,000", "2,000", "2,500.0", "2,500", "2,500", "100 %")
    titles = [sheet.title for sheet in found]
    assert "What the instructions of one ask for" in titles
    assert "What the instructions of two ask for" not in titles
    assert "Objects in the images" not in titles


def test_numbers_of_images_are_in_their_order_whichever_benchmark_has_them():
    many = described("many", items=1)
    pictures = replace(many.pictures, per_item=((2, 1), (10, 1)))
    found = sheets([replace(many, pictures=pictures), described()])
    assert list(sheet_of(found, "Items with so many images")) == ["0", "1", "2", "10"]


def test_beyond_twenty_roles_and_verbs_the_others_are_counted_and_tasks_are_not_cut():
    verbs = tuple(VerbCount(verb=f"v{place}", count=2, nouns=()) for place in range(SHOWN + 3))
    found = sheets([described(items=SHOWN + 5, verbs=verbs, without_verb=4)])
    roles = sheet_of(found, "Roles")
    assert len(roles) == SHOWN + 1
    assert roles["5 others"] == ("5",)
    asked = sheet_of(found, "What the instructions of one ask for")
    assert asked["3 other verbs"] == ("6", "24.0 %")
    assert asked["no verb found"] == ("4", "16.0 %")
    assert len(sheet_of(found, "Items of each task")) == SHOWN + 5


def test_a_verb_stands_with_its_nouns():
    asked = sheet_of(sheets([described()]), "What the instructions of one ask for")
    assert asked == {"write (poem 1, story 1)": ("3", "75.0 %"), "list (difference 1)": ("1", "25.0 %")}


def test_the_long_table_has_a_row_for_each_number():
    objects = (ObjectCount(name="dog", count=7, images=3),)
    rows = long_sheet([described("one", objects=objects), described("two")]).rows
    assert ("one", "totals", "items", "count", "4") in rows
    assert ("two", "category", "c1", "items", "2") in rows
    assert ("one", "length", "reference", "tokens_over_1500", "1") in rows
    assert ("one", "verb", "write", "instructions", "3") in rows
    assert ("one", "verb and noun", "write poem", "instructions", "1") in rows
    assert [row for row in rows if row[1] == "object"] == [("one", "object", "dog", "count", "7")]


def test_sectors_by_hand():
    verbs = verb_sectors([WRITE, LIST])
    assert [(one.text, one.start, one.end) for one in verbs] == [
        ("write", 0.0, pytest.approx(1.5 * math.pi)),
        ("list", pytest.approx(1.5 * math.pi), pytest.approx(2 * math.pi)),
    ]
    nouns = [(one.text, one.start, one.end) for one in noun_sectors([WRITE, LIST])]
    # One of the three that write has no noun: its quarter of the outer ring stays empty.
    assert nouns == [
        ("poem", 0.0, pytest.approx(0.5 * math.pi)),
        ("story", pytest.approx(0.5 * math.pi), pytest.approx(math.pi)),
        ("difference", pytest.approx(1.5 * math.pi), pytest.approx(2 * math.pi)),
    ]
    assert [one.tilt for one in verbs] == [pytest.approx(45), pytest.approx(45)]


COUNTS = st.lists(st.lists(st.integers(1, 50), max_size=4), min_size=1, max_size=40)


@given(COUNTS)
def test_verbs_close_the_circle_and_nouns_stay_behind_their_verb(counts: list[list[int]]):
    verbs = [
        VerbCount(
            verb=f"v{place}", count=sum(nouns) + 1, nouns=tuple((f"v{place} n{k}", n) for k, n in enumerate(nouns))
        )
        for place, nouns in enumerate(counts)
    ]
    inner = verb_sectors(verbs)
    assert len(inner) == min(len(verbs), VERBS)
    assert inner[0].start == 0
    assert inner[-1].end == pytest.approx(2 * math.pi)
    assert all(one.end == pytest.approx(other.start) for one, other in pairwise(inner))
    around = [*inner, inner[0]] if len(inner) > 1 else []
    assert all(one.colour != other.colour for one, other in pairwise(around))
    by_name = {one.text: one for one in inner}
    outer = list(noun_sectors(verbs))
    assert all(one.end <= other.start + 1e-9 for one, other in pairwise(outer))
    for noun in outer:
        verb = by_name[noun.text.split()[0]]
        assert verb.start - 1e-9 <= noun.start < noun.end <= verb.end + 1e-9
        assert noun.colour == verb.colour
        assert -90 <= noun.tilt <= 90


def test_a_sector_too_thin_has_no_label_and_a_long_word_is_cut():
    many = [VerbCount(verb="common", count=500, nouns=()), VerbCount(verb="rare", count=1, nouns=())]
    assert [one.label for one in verb_sectors(many)] == ["common", ""]
    (long,) = verb_sectors([VerbCount(verb="incomprehensibilities", count=1, nouns=())])
    assert long.label.startswith("incomp")
    assert long.label.endswith("…")


@pytest.mark.slow
def test_every_part_has_its_picture_and_names_what_it_shows():
    objects = (ObjectCount(name="dog", count=1000, images=3), ObjectCount(name="cat", count=1, images=1))
    charts = description_charts([described("one", objects=objects), described("two")])
    assert list(charts) == ["categories", "tasks", "lengths", "roles", "verbs", "images", "objects"]
    drawn = {name: svg(chart) for name, chart in charts.items()}
    assert "Categories of one" in drawn["categories"]
    assert "Categories of two" in drawn["categories"]
    assert ">over 1,500<" in drawn["lengths"]
    assert "4 of 4 items give one; 4 different instructions" in drawn["roles"]
    assert ">role 3<" in drawn["roles"]
    assert charts["roles"].to_dict()["concat"][0]["layer"][0]["encoding"]["x"]["axis"]["values"] == [0, 1]
    assert ">poem<" in drawn["verbs"]
    assert ">difference<" in drawn["verbs"]
    assert all(f">{number}<" in drawn["objects"] for number in ("1", "10", "100", "1,000"))
    bars = charts["objects"].to_dict()["layer"][0]
    assert bars["encoding"]["x"]["scale"]["type"] == "log"


def test_bars_beyond_what_can_be_read_are_said_to_be_left_out():
    objects = tuple(ObjectCount(name=f"o{place}", count=100 - place, images=1) for place in range(MANY + 9))
    drawn = svg(description_charts([described(objects=objects)])["objects"])
    assert f"the commonest {MANY} of {MANY + 9}" in drawn
    assert f">o{MANY - 1}<" in drawn
    assert f">o{MANY}<" not in drawn


def test_an_empty_benchmark_has_no_picture(tmp_path: Path):
    empty = describe(Benchmark(name="none", items=(), licence="", citation="", protocols=()), DescriptionContext())
    with refused(ChartError, code="EH-CHART-EMPTY"):
        plot([empty], tmp_path / "x.svg")
    assert sheet_of(sheets([empty]), "What the data holds")["items"] == ("0",)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_pictures_are_written_whole(tmp_path: Path, suffix: str):
    path = tmp_path / f"x{suffix}"
    plot([described()], path)
    assert path.read_bytes().startswith(b"<svg" if suffix == ".svg" else b"\x89PNG")


def test_the_page_holds_tables_and_pictures_and_needs_nothing_from_elsewhere():
    page = description_page([described("<one>"), described("two")], ["A note & more."])
    assert "<title>What &lt;one&gt; and two hold</title>" in page
    assert "<li>A note &amp; more.</li>" in page
    assert page.count("<svg") == 6
    assert '<th scope="row">c0</th><td>2</td><td>2</td>' in page
    assert "<one>" not in page
    assert not any(word in page for word in ("src=", "href=", "@import", "<script", "url(http"))
