"""The bundled record of LLMFAO: figures and names, row by row as they were published."""

import csv
import gzip
import io
from pathlib import Path

import polars as pl
import pytest

from evenhand.api.reading import rank
from evenhand.benchmarks.catalog import find_benchmark
from evenhand.exchange.battles_file import BattleColumns
from tests.beside import LLMFAO, LLMFAO_GPT3, LLMFAO_GPT4, needs

published = needs(LLMFAO, LLMFAO_GPT4, LLMFAO_GPT3)
COLUMNS = ["item", "prompt", "left", "right", "rater", "rater_kind", "winner"]


def packed() -> bytes:
    path = find_benchmark("llmfao").verdicts
    assert path is not None
    return path.read_bytes()


@pytest.fixture(scope="module")
def bundled() -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(gzip.decompress(packed()).decode())))


def test_the_record_is_small_and_says_under_which_licence_it_is_used():
    info = find_benchmark("llmfao")
    assert len(packed()) <= 200_000
    assert info.licence == "CC BY 4.0"
    assert "Ustalov" in info.citation
    assert info.url == "https://github.com/dustalov/llmfao"


def test_it_holds_59_models_on_13_prompts_as_people_and_two_judges_saw_them(bundled: list[dict[str, str]]):
    assert list(bundled[0]) == COLUMNS
    assert len({row["prompt"] for row in bundled}) == 13
    assert len({row[side] for row in bundled for side in ("left", "right")}) == 59
    raters = {(row["rater"], row["rater_kind"]) for row in bundled}
    assert {name for name, kind in raters if kind == "model"} == {"gpt-4", "gpt-3.5"}
    assert sum(kind == "human" for _, kind in raters) == 124
    assert [sum(row["rater"] == name for row in bundled) for name in ("gpt-4", "gpt-3.5")] == [2139, 2139]
    assert sum(row["rater_kind"] == "human" for row in bundled) == 8931


@published
def test_every_row_is_one_of_the_published_tables_in_their_order(bundled: list[dict[str, str]]):
    expected: list[dict[str, str]] = []
    for path, judge in ((LLMFAO, None), (LLMFAO_GPT4, "gpt-4"), (LLMFAO_GPT3, "gpt-3.5")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                told = {name: row[name] for name in ("prompt", "left", "right", "winner")}
                kind = "human" if judge is None else "model"
                expected.append({"item": row["id"], **told, "rater": judge or row["worker"], "rater_kind": kind})
    assert len(bundled) == len(expected)
    for number, (ours, theirs) in enumerate(zip(bundled, expected, strict=True)):
        assert ours == theirs, f"row {number + 1}"


@published
@pytest.mark.parametrize(
    ("path", "rater", "kind"),
    [(LLMFAO, "worker", "human"), (LLMFAO_GPT4, None, "gpt-4"), (LLMFAO_GPT3, None, "gpt-3.5")],
    ids=["people", "gpt-4", "gpt-3.5"],
)
def test_the_boards_of_the_record_are_those_of_the_published_tables(
    bundled: list[dict[str, str]], path: Path, rater: str | None, kind: str
):
    part = pl.DataFrame([row for row in bundled if kind in (row["rater"], row["rater_kind"])])
    part = part if rater else part.drop("rater")
    ours, theirs = rank(part), rank(path, BattleColumns(rater=rater))
    assert ours.rows() == theirs.rows()
    assert ours.rows()[0]["rating_lower"] is not None
    assert ours.coverage == theirs.coverage


@published
def test_the_tool_writes_this_very_record():
    from tools.llmfao import packed as made
    from tools.llmfao import verdicts

    assert gzip.decompress(made(verdicts(LLMFAO.parent))) == gzip.decompress(packed())
