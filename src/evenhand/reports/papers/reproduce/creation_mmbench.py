"""Creation-MMBench: Table 5 from its counts, the leaderboard's overall Reward, Table 7's two averages.

Table 6 and the claims are in `creation_claims.py`.
"""

from collections.abc import Sequence

from evenhand.reports.papers.reproduce.creation_claims import claim_tables
from evenhand.reports.papers.reproduce.printed import PrintedRow, PrintedTable, figures, number, rounded, truncated
from evenhand.stats.ratings.shares.reward import VoteCounts

CASES = {"lw": 120, "cfw": 270, "pfw": 285, "cmu": 90}
"""Of the four categories: 15 a task."""

NEAR = 0.011
"""Four category rewards are each rounded to 0.005, and so is the overall; no rounding explains more."""

NEAR_MAE = 0.0101
"""Three printed errors and their average are each rounded to 0.005; the rest is floating point."""


def tables() -> tuple[PrintedTable, ...]:
    table_6, *claims = claim_tables()
    return (_table_5(), table_6, _leaderboard(), _table_7(), _table_7_mae(), *claims)


def _table_5() -> PrintedTable:
    rows = tuple(map(_win_rate_row, figures("creation_table5")))
    exact = sum(row.note is None for row in rows)
    return PrintedTable(
        table="5",
        what="Reward and Win Rate from the printed counts of votes.",
        rows=rows,
        findings=(f"{exact} of {len(rows)} rows are exact at two decimals; the others are noted.",),
    )


def _win_rate_row(printed: dict[str, str]) -> PrintedRow:
    names = ("much_better", "better", "tie", "worse", "much_worse", "fail")
    counts = VoteCounts(**{name: int(printed[name]) for name in names})
    assert counts.reward is not None
    assert counts.win_rate is not None
    published = {"reward": float(printed["reward"]), "win_rate": float(printed["win_rate"])}
    computed = {"reward": counts.reward, "win_rate": 100 * counts.win_rate}
    exact = all(rounded(computed[name]) == published[name] for name in published)
    cut = truncated(counts.reward) == published["reward"] and rounded(100 * counts.win_rate) == published["win_rate"]
    note = None if exact else "printed truncated, not rounded" if cut else "does not follow from its counts"
    return PrintedRow(row=printed["model"], published=published, computed=computed, ok=exact or cut, note=note)


def _leaderboard() -> PrintedTable:
    rows = tuple(map(_overall_row, figures("creation_leaderboard")))
    apart = [row.row for row in rows if abs(row.difference("reward") or 0) > NEAR]
    (measured,) = figures("creation_baseline")
    return PrintedTable(
        table="leaderboard",
        what="The overall Reward as the mean of the category rewards, weighted by cases (120, 270, 285, 90).",
        rows=rows,
        findings=(
            f"{len(rows) - len(apart)} of {len(rows)} rows agree within {NEAR}; the others ({', '.join(apart)}) "
            "have judgements that failed, so their categories weigh a little less.",
            f"The baseline's 0.00 is set and not measured: in the text-only table the same {measured['model']}, judged "
            f"against its own stored answers, has {measured['reward']}.",
        ),
        expected=apart == ["Moonshot-v1-32k-vision", "LLaVA-OneVision-72B", "VITA-1.5"],
    )


def _overall_row(printed: dict[str, str]) -> PrintedRow:
    total = sum(cases * float(printed[f"{category}_reward"]) for category, cases in CASES.items())
    published, computed = float(printed["reward"]), total / sum(CASES.values())
    gap = abs(computed - published)
    note = None if gap <= NEAR else f"differs by {gap:.3f}: judgements failed"
    if all(float(value) == 0 for name, value in printed.items() if name.endswith("reward")):
        note = "0.00 by definition, not measured"
    return PrintedRow(
        row=printed["model"],
        published={"reward": published},
        computed={"reward": computed},
        note=note,
    )


def _table_7() -> PrintedTable:
    of_judge = _of_judge()
    averages = _averages("dual_consistency", "consistency")
    rows = tuple(_average_row(printed, of_judge[printed["method"], printed["judge"]]) for printed in averages)
    exact = sum(row.ok for row in rows)
    means = sum(_mean_misses(row, of_judge) for row in averages)
    return PrintedTable(
        table="7",
        what="The average Consistency pooled over cases, from the counts that the printed percentages imply.",
        rows=rows,
        findings=(
            f"{exact} of {len(rows)} averages are pooled over the cases of the three models; "
            f"the plain mean of the three percentages misses {means} of them.",
        ),
    )


def _table_7_mae() -> PrintedTable:
    of_judge = _of_judge()
    averages = _averages("dual_mae", "mae")
    rows = tuple(_mae_row(printed, of_judge[printed["method"], printed["judge"]]) for printed in averages)
    slips = [row.row for row in rows if row.note]
    return PrintedTable(
        table="Table 7, MAE",
        what="The average MAE pooled over cases, from the three printed with it.",
        rows=rows,
        findings=(
            f"{len(rows) - len(slips)} of {len(rows)} averages follow from their parts within rounding; "
            f"{', '.join(slips)} does not: a slip of the paper.",
        ),
        expected=slips == ["Human-as-a-judge, H3, non-dual"],
    )


def _mae_row(average: dict[str, str], parts: Sequence[dict[str, str]]) -> PrintedRow:
    cases = [int(part["cases"]) for part in parts]
    pooled = sum(float(part[average["kind"]]) * n for part, n in zip(parts, cases, strict=True)) / sum(cases)
    published = float(average["average"])
    near = abs(pooled - published) <= NEAR_MAE
    return PrintedRow(
        row=_judge_and_way(average),
        published={"mae": published},
        computed={"mae": pooled},
        note=None if near else "does not follow from its parts: a slip",
    )


def _of_judge() -> dict[tuple[str, str], list[dict[str, str]]]:
    found: dict[tuple[str, str], list[dict[str, str]]] = {}
    for printed in figures("creation_table7"):
        found.setdefault((printed["method"], printed["judge"]), []).append(printed)
    return found


def _averages(*kinds: str) -> list[dict[str, str]]:
    """One for each printed average: a judge's dual and its single evaluation apart."""
    return [
        {**printed, "kind": kind, "average": printed[kind]}
        for printed in figures("creation_table7_averages")
        for kind in kinds
        if number(printed[kind]) is not None
    ]


def _average_row(average: dict[str, str], parts: Sequence[dict[str, str]]) -> PrintedRow:
    kind = average["kind"]
    counts = [(_count(float(part[kind]), int(part["cases"])), int(part["cases"])) for part in parts]
    whole = all(
        rounded(100 * count / cases) == float(part[kind]) for (count, cases), part in zip(counts, parts, strict=True)
    )
    pooled = 100 * sum(count for count, _ in counts) / sum(cases for _, cases in counts)
    published = float(average["average"])
    return PrintedRow(
        row=_judge_and_way(average),
        published={"consistency": published},
        computed={"consistency": pooled},
        ok=whole and rounded(pooled) == published,
        note=None if whole else "a printed percentage is no whole count",
    )


def _judge_and_way(average: dict[str, str]) -> str:
    way = "dual" if average["kind"].startswith("dual") else "non-dual"
    return f"{average['method']}, {average['judge']}, {way}"


def _count(per_cent: float, cases: int) -> int:
    return round(per_cent * cases / 100)


def _mean_misses(average: dict[str, str], of_judge: dict[tuple[str, str], list[dict[str, str]]]) -> bool:
    parts = of_judge[average["method"], average["judge"]]
    plain = sum(float(part[average["kind"]]) for part in parts) / len(parts)
    return rounded(plain) != float(average["average"])
