"""The figures of docs/explanation are what their generators give now, and no other figure stands there."""

import re

import pytest

from docs.figures import FIGURES
from evenhand.reports.board.ranking import rank
from tests.beside import LLMFAO, needs
from tests.docs.pages import ROOT, text_of
from tests.protocols.phrasings import PHRASINGS
from tests.protocols.plants import PLANTS, PRODUCT
from tests.protocols.test_attack import sample, simply_decided

ON_LLMFAO = "59 models on 2,139 items, GPT 4 has the simultaneous range 1 to 42, and the own range 1 to 27"
ELSEWHERE = {
    "chance.md": ("has 0.08 where chance has 0.56",),
    "ranks.md": (ON_LLMFAO, "all pairs of 59 models"),
}
"""Tested below, because they need data beside the clone, or rest on another page's run."""
SET = {
    "chance.md": "0 1 2 3 0.55",
    "clusters.md": "1 16 20 30 40 60 95 200 400 800",
    "elo.md": "1 16 200 600 1000 2023",
    "failures.md": "0 0.5 1",
    "order-bias.md": "0 0.5 0.7 50 100",
    "ranks.md": "0 1 2 5 6 30 95 100 400 1000",
}
"""Numbers that nothing is worked out for: definitions, what a simulation is set to, levels, names."""


def words_of(page: str) -> str:
    return " ".join(text_of(f"docs/explanation/{page}").split())


def numbers_in(text: str) -> set[str]:
    prose = re.sub(r"\]\([^)]*\)|`[^`]*`", "", text)
    return set(re.findall(r"(?<![\w.])\.?\d[\d,.]*(?<![,.])", prose))


def without(text: str, words: str, page: str) -> str:
    assert words in text, f"{page} should say: {words} (python -m docs.figures)"
    return text.replace(words, "", 1)


@pytest.mark.parametrize(
    "page", [pytest.param(one, marks=[pytest.mark.slow] if one == "clusters.md" else []) for one in FIGURES]
)
def test_every_figure_is_worked_out_or_set(page: str) -> None:
    text = words_of(page)
    for words in (*FIGURES[page](), *ELSEWHERE.get(page, ())):
        text = without(text, words, page)
    assert numbers_in(text) <= set(SET[page].split())


def test_a_figure_from_nowhere_is_found() -> None:
    assert numbers_in("It needs 4.5 times the items, .54 at most, 1,208 in all (`--k 4`).") == {"4.5", ".54", "1,208"}


def test_every_page_with_figures_is_tested() -> None:
    assert {page.name for page in (ROOT / "docs/explanation").glob("*.md")} == {*FIGURES, "planted.md"}


def test_the_embedded_models_grade_is_that_of_its_own_page() -> None:
    page = text_of("docs/grade-smollm2.md")
    assert "| Grade Score | 0.083 (" in page
    assert "| of a judge who picks at random | 0.560 |" in page


@needs(LLMFAO)
def test_the_ranges_on_llmfao_are_what_rank_says() -> None:
    board = rank(LLMFAO)
    leader = board.models[0]
    own = f"the own range {leader.rank_own_lower} to {leader.rank_own_upper}"
    together = f"the simultaneous range {leader.rank_lower} to {leader.rank_upper}"
    said = f"{len(board.models)} models on {board.items:,} items, {leader.model} has {together}, and {own}"
    assert said == ON_LLMFAO


def test_the_size_of_the_attack_is_what_its_page_says() -> None:
    text = words_of("planted.md")
    told = sum(not cell.phrasing.ambiguous for cell in sample())
    assert f"{len(PLANTS)} ways to plant, {len(PRODUCT)} of them the audit's own" in text
    assert f"restate it in {len(PHRASINGS)} ways" in text
    assert f"every two of plant, phrasing and the rest meet | {told:,} |" in text
    assert f"the judge simply decides | {sum(1 for _ in simply_decided()):,} |" in text
