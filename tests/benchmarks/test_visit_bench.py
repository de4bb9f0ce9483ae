"""VisIT-Bench's skills and sources as the paper prints them."""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.benchmarks.visit_bench.load import skill_name, skills, sources
from tests.benchmarks.files import write_lines
from tests.beside import ANNOTATED_EXAMPLE, MULTI_IMAGES, needs


def test_table_6_has_70_skills_each_its_own_name():
    assert len(skills()) == 70
    assert len({"".join(filter(str.isalnum, skill)) for skill in skills()}) == 70
    assert [skill_name(skill) for skill in skills()] == list(skills())


def test_table_5_has_15_single_and_10_multi_image_sources():
    assert [source.images for source in sources()] == ["single"] * 15 + ["multiple"] * 10
    assert {source.skill for source in sources()} - {None} <= set(skills())
    assert [source.name for source in sources() if source.skill is None] == ["IconQA"]


@pytest.mark.parametrize(
    ("spelling", "skill"),
    [
        ("wino- gavil", "winogavil"),
        ("cul- tural knowledge", "cultural knowledge"),
        ("Cultural_Knowledge", "cultural knowledge"),
        ("spot_the_diff", "spot the diff"),
        ("Spot-the-Diff", "spot the diff"),
        ("GD-VCR", "gd vcr"),
        ("Who to call", "who to call?"),
        ("  Tour \n Guide ", "tour guide"),
        ("irfl_idiom", "irfl idiom"),
    ],
)
def test_underscores_spaces_hyphens_and_capitals_are_one_skill(spelling: str, skill: str):
    assert skill_name(spelling) == skill


def test_a_skill_never_seen_keeps_its_words():
    assert skill_name("Under_Water  Basket-weaving") == "under water basket weaving"


@given(st.sampled_from(skills()), st.sampled_from(["_", "  ", "- ", "-"]), st.booleans())
def test_any_spelling_of_a_skill_is_that_skill(skill: str, gap: str, capitals: bool):
    spelling = skill.replace(" ", gap)
    assert skill_name(spelling.upper() if capitals else spelling) == skill


@given(st.text())
def test_a_skill_name_is_the_same_when_taken_again(text: str):
    assert skill_name(skill_name(text)) == skill_name(text)


def test_a_category_that_is_no_skill_of_the_paper_is_noted(tmp_path: Path):
    rows = [
        {"item": str(number), "instruction": "x", "category": category}
        for number, category in enumerate(["Vqa", "basket_weaving"])
    ]
    benchmark = load_benchmark("visit-bench", path=write_lines(tmp_path / "x.jsonl", rows))
    assert [item.category for item in benchmark.items] == ["vqa", "basket weaving"]
    assert benchmark.notes == ("Categories that are not among the paper's 70 skills: basket weaving (items: 1).",)


def test_two_spellings_of_a_skill_do_not_hide_the_same_item(tmp_path: Path):
    rows = [{"item": str(n), "instruction": "x", "category": c} for n, c in enumerate(["gd_vcr", "GD VCR"])]
    with pytest.raises(ValueError, match="same content"):
        load_benchmark("visit-bench", path=write_lines(tmp_path / "x.jsonl", rows))


@needs(MULTI_IMAGES, ANNOTATED_EXAMPLE)
@pytest.mark.parametrize("sheet", [MULTI_IMAGES, ANNOTATED_EXAMPLE], ids=lambda sheet: sheet.stem)
def test_every_category_of_the_released_sheets_is_a_skill(sheet: Path):
    with sheet.open(encoding="utf-8", newline="") as file:
        found = {row["instruction_category"] for row in csv.DictReader(file)}
    assert {skill_name(category) for category in found} <= set(skills())
