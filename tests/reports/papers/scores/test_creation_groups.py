"""Claims about the gap between groups of models in Creation-MMBench's table."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from evenhand.benchmarks.files.models_file import ModelGroups, read_model_groups
from evenhand.domain.errors import EvenhandError
from evenhand.domain.verdict import Preference, Verdict
from evenhand.format.sheet import written
from evenhand.format.sheet_table import print_sheet
from evenhand.ledger.read.projection import studies
from evenhand.ledger.store.record import Ledger
from evenhand.reports.papers.scores.creation_choosing import CreationChoice, choose_creation
from evenhand.reports.papers.scores.creation_groups import GroupGap, GroupGaps, group_gaps
from evenhand.reports.papers.scores.creation_record import ModelRecord, OrderedPair
from evenhand.reports.papers.scores.creation_score import (
    CreationScore,
    creation_evidence,
    creation_score,
    with_groups,
)
from evenhand.reports.papers.scores.creation_sheets import board_sheets
from evenhand.stats.intervals import Range, clustered_mean
from tests.exchange.world import run
from tests.refusals import noted, refused, tells
from tests.reports.papers.scores.creation_scene import (
    FACTUALITY,
    UNREADABLE,
    Shown,
    answers_of,
    for_model,
    grades,
    judge,
    set_up,
)

VOTES = {
    "kiln": {"1": 2, "2": 1, "3": 1, "4": 0},
    "loom": {"1": 1, "2": 1, "3": 0, "4": 0},
    "oven": {"1": -1, "2": -1, "3": -2, "4": 0},
    "pump": {"1": 0, "2": -2, "3": -1, "4": 1},
}
GROUPS = ModelGroups(
    of={"kiln": "proprietary", "loom": "proprietary", "oven": "open", "pump": "open"}, source="models.csv"
)


def judged(ledger: Ledger, *, fails: frozenset[tuple[str, str]] = frozenset()) -> None:
    def says(shown: Shown) -> Verdict | Any:
        if (shown.model, shown.label) in fails and shown.forward:
            return UNREADABLE
        return for_model(VOTES[shown.model][shown.label], shown)

    set_up(ledger, *answers_of(VOTES))
    judge(ledger, says)
    judge(
        ledger,
        lambda shown: grades(8 if shown.model in ("kiln", "loom") else 5, 7, shown),
        FACTUALITY,
    )


def scored(ledger: Ledger, groups: ModelGroups = GROUPS) -> CreationScore:
    chosen = choose_creation(studies(ledger), CreationChoice(benchmark="creation-mmbench"))
    evidence = creation_evidence(ledger, chosen)
    return with_groups(creation_score(evidence), evidence, groups)


def found(ledger: Ledger, groups: ModelGroups = GROUPS) -> GroupGaps:
    gaps = scored(ledger, groups).groups
    assert gaps is not None
    return gaps


def gap(gaps: GroupGaps, measure: str, other: str = "open") -> GroupGap:
    return next(one for one in gaps.gaps if (one.measure, one.other) == (measure, other))


def test_the_gap_is_that_of_the_groups_mean_scores_and_pairs_the_cases(ledger: Ledger):
    judged(ledger)
    reward = gap(found(ledger), "reward")
    # By case: proprietary 75, 50, 25, 0 and open -25, -75, -75, 25.
    assert reward.found.difference.value == pytest.approx((100 + 125 + 100 - 25) / 4)
    assert reward.found.difference.clusters == 4
    assert reward.found.difference.lower is not None
    assert reward.found.difference.upper is not None
    assert reward.found.difference.lower < 75 < reward.found.difference.upper
    # Of 16 ways to turn 100, 125, 100, -25 four reach a sum of 300: as it is, the last turned, and their mirrors.
    assert reward.found.p_value == reward.found.p_adjusted == 4 / 16
    win_rate, vfs = gap(found(ledger), "win_rate"), gap(found(ledger), "vfs")
    assert win_rate.found.difference.value == pytest.approx(5 / 8 - 1 / 8)
    assert vfs.found.difference.value == pytest.approx(3)


def test_in_80_columns_every_part_of_the_table_names_both_groups(ledger: Ledger):
    judged(ledger)
    three = ModelGroups(of={**GROUPS.of, "pump": "small"}, source="models.csv")
    terminal = Console(file=io.StringIO(), width=80)
    (sheet,) = found(ledger, three).sheets
    print_sheet(sheet, terminal)
    assert isinstance(terminal.file, io.StringIO)
    lines = terminal.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    rows = [tuple(line.split()[1:3]) for line in lines if line.startswith("Reward ")]
    pairs = [(one.group, one.other) for one in found(ledger, three).gaps if one.measure == "reward"]
    assert len(pairs) == 3
    assert rows == pairs * 2, "the table is too wide for one part"


def test_the_groups_beside_the_models_stand_to_the_left_in_latex(ledger: Ledger):
    judged(ledger)
    table_5 = board_sheets(scored(ledger))[0]
    assert table_5.headings[:3] == ("model", "group", "VFS")
    assert r"\begin{tabular}{llr" in written([table_5], "latex")


def test_a_groups_mean_is_that_of_its_models_in_the_table_also_where_verdicts_failed(ledger: Ledger):
    judged(ledger, fails=frozenset({("kiln", "1"), ("oven", "3")}))
    gaps = found(ledger)
    chosen = choose_creation(studies(ledger), CreationChoice(benchmark="creation-mmbench"))
    rewards = {
        one.model: one.whole.dual.preference.reward.value or 0
        for one in creation_score(creation_evidence(ledger, chosen)).models
    }
    proprietary, opened = ((rewards[a] + rewards[b]) / 2 for a, b in (("kiln", "loom"), ("oven", "pump")))
    assert gaps.means["reward", "proprietary"].value == pytest.approx(proprietary)
    assert gap(gaps, "reward").found.difference.value == pytest.approx(proprietary - opened)


def test_a_model_without_a_group_is_named_and_in_no_gap(ledger: Ledger):
    judged(ledger)
    some = ModelGroups(of={"kiln": "proprietary", "oven": "open", "quern": "open"}, source="models.csv")
    gaps = found(ledger, some)
    assert gaps.models == {"proprietary": ("kiln",), "open": ("oven",)}
    assert gaps.without == ("loom", "pump")
    assert gap(gaps, "reward").found.difference.value == pytest.approx(50 + 50)
    assert noted(gaps.sentences, "models.csv", "loom, pump")
    assert noted(gaps.sentences, "models.csv", "quern")


def test_three_groups_have_three_gaps_each_and_corrected_p_values(ledger: Ledger):
    judged(ledger)
    three = ModelGroups(of={**GROUPS.of, "pump": "small"}, source="models.csv")
    gaps = found(ledger, three)
    assert [(one.group, one.other) for one in gaps.gaps if one.measure == "reward"] == [
        ("proprietary", "open"), ("proprietary", "small"), ("open", "small"),
    ]  # fmt: skip
    tested = [one.found for one in gaps.gaps]
    assert all(one.p_adjusted >= one.p_value for one in tested if one.p_adjusted and one.p_value)


def test_one_group_alone_has_no_gap_and_says_so(ledger: Ledger):
    judged(ledger)
    gaps = found(ledger, ModelGroups(of=dict.fromkeys(VOTES, "open"), source="models.csv"))
    assert (gaps.gaps, gaps.sheets) == ((), ())
    assert noted(gaps.sentences, "two groups", "open (4 models)")


def test_of_many_models_that_are_not_in_the_table_the_first_are_named(ledger: Ledger):
    many = tuple(f"m{number}" for number in range(100_000))
    judged(ledger)
    gaps = replace(found(ledger), unknown=many)
    told = " ".join(gaps.sentences)
    assert "m4 and 99995 more" in told
    assert "m5," not in told
    assert gaps.as_json()["not_in_the_table"] == list(many)


def test_a_model_that_has_no_rank_or_no_verdict_is_named_and_weighs_in_no_mean(ledger: Ledger):
    def says(shown: Shown) -> Verdict | Any:
        seen = shown.model != "pump" and (shown.model != "loom" or shown.label == "1")
        return for_model(VOTES[shown.model][shown.label], shown) if seen else UNREADABLE

    set_up(ledger, *answers_of(VOTES))
    judge(ledger, says)
    judge(ledger, lambda shown: UNREADABLE if shown.model == "kiln" else grades(8, 7, shown), FACTUALITY)
    gaps = found(ledger)
    assert gaps.models == {"proprietary": ("kiln",), "open": ("oven",)}
    assert gaps.unranked == ("loom", "pump")
    assert gaps.as_json()["not_ranked"] == ["loom", "pump"]
    assert gap(gaps, "reward").found.difference.value == pytest.approx(50 + 50)
    assert noted(gaps.sentences, "Not ranked", "loom, pump")
    assert noted(gaps.sentences, "VFS", "kiln")
    assert gap(gaps, "vfs").found.difference.value is None


def test_grades_alone_have_a_gap_though_nothing_is_ranked(ledger: Ledger):
    set_up(ledger, *answers_of(VOTES))
    judge(ledger, lambda shown: grades(8 if shown.model in ("kiln", "loom") else 5, 7, shown), FACTUALITY)
    assert gap(found(ledger), "vfs").found.difference.value == pytest.approx(3)


TWO = ModelGroups(of={"kiln": "proprietary", "oven": "open"}, source="models.csv")


def drawn(rng: np.random.Generator, model: str, items: int) -> ModelRecord:
    """As good as the baseline; both orders of an item share what the item is like to the model."""
    means = rng.normal(0, 0.9, size=items)
    votes = np.clip(np.round(means[:, None] + rng.normal(0, 0.8, size=(items, 2))), -2, 2).astype(int).tolist()
    return ModelRecord(
        model=model,
        preference=tuple(
            OrderedPair(item=f"{item:03d}", forward=False, read=(Preference(value=vote, levels=5),))
            for item, both in enumerate(votes)
            for vote in both
        ),
        factuality=(),
        answers={},
    )


def test_a_model_without_a_group_moves_neither_interval_nor_p_however_many_cases_it_has():
    rng = np.random.default_rng(3)
    two = [drawn(rng, "kiln", 10), drawn(rng, "oven", 10)]
    alone = gap(group_gaps(two, "reference", TWO), "reward").found
    beside = gap(group_gaps([*two, drawn(rng, "pump", 400)], "reference", TWO), "reward").found
    assert beside == alone
    assert alone.difference.clusters == 10


def test_on_equal_cases_a_gaps_interval_is_that_of_the_cases_differences():
    rng = np.random.default_rng(4)
    two = [drawn(rng, "kiln", 12), drawn(rng, "oven", 12)]
    one, other = (
        [50 * v.value for s in record.preference for v in s.read if isinstance(v, Preference)] for record in two
    )
    cases = np.array(one).reshape(12, 2).mean(axis=1) - np.array(other).reshape(12, 2).mean(axis=1)
    expected = clustered_mean(cases, range(12), within=Range(low=-200, high=200))
    at = gap(group_gaps(two, "reference", TWO), "reward").found.difference
    assert (at.value, at.lower, at.upper) == pytest.approx((expected.value, expected.lower, expected.upper))


def test_the_interval_holds_where_one_group_has_ten_cases_and_the_other_hundred():
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(100):
        records = [drawn(rng, "kiln", 10), drawn(rng, "oven", 100)]
        at = gap(group_gaps(records, "reference", TWO), "reward").found.difference
        assert at.lower is not None
        assert at.upper is not None
        held += at.lower <= 0 <= at.upper
    # 95 wanted; two standard deviations of so many draws are 4.4.
    assert held >= 90


@pytest.fixture
def models(tmp_path: Path) -> Path:
    path = tmp_path / "models.csv"
    path.write_text("model,group,size\nkiln,proprietary,\nloom,proprietary,\noven,open,7B\npump,,72B\n")
    return path


def command(ledger: Ledger, *arguments: str) -> str:
    ran = run("score", "creation-mmbench", "--store", ledger.url, *arguments)
    assert ran.code == 0, ran.err
    return ran.out


def test_the_command_tells_the_gap_as_text_json_and_csv(ledger: Ledger, models: Path):
    judged(ledger)
    said = command(ledger, "--groups", str(models))
    assert "Between groups of models" in said
    assert "pump. Add a row" in " ".join(said.split())
    document = json.loads(command(ledger, "--groups", str(models), "--json"))["groups"]
    assert document["without_group"] == ["pump"]
    assert [one["group"] for one in document["groups"]] == ["proprietary", "open"]
    (reward,) = (one for one in document["gaps"] if one["measure"] == "reward")
    assert reward["difference"] == pytest.approx(37.5 + 50)
    assert reward["difference_lower"] < reward["difference"] < reward["difference_upper"]
    assert reward["difference_n"] == 4
    rows = list(csv.DictReader(io.StringIO(command(ledger, "--groups", str(models), "--format", "csv"))))
    assert {row["model"]: row["group"] for row in rows}["oven"] == "open"
    assert "groups" not in json.loads(command(ledger, "--json"))


def test_a_models_file_that_cannot_be_read_is_refused_with_what_is_wrong(tmp_path: Path):
    path = tmp_path / "models.csv"
    path.write_text("model,family\nkiln,a\n")
    with refused(EvenhandError, "models.csv", "`group`", "family", code="EH-DATA-COLUMN"):
        read_model_groups(path)
    path.write_text("model,group\nkiln,a\nkiln,b\n")
    with refused(EvenhandError, "models.csv", "`kiln`", code="EH-DATA-TWICE"):
        read_model_groups(path)
    with refused(EvenhandError, "none.csv", code="EH-FILE-MISSING"):
        read_model_groups(tmp_path / "none.csv")


@pytest.mark.parametrize("arguments", [("visit-bench-sample",), ("creation-mmbench-sample", "--compare-variants")])
def test_groups_where_there_are_none_are_refused(arguments: tuple[str, ...], models: Path):
    ran = run("score", *arguments, "--groups", str(models))
    assert ran.code == 2
    tells(ran.err, "--groups")
