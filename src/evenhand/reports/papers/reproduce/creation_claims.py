"""Creation-MMBench's Table 6, and what its appendices E and F.3 claim, tested as paired differences of its figures."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from evenhand.reports.papers.reproduce.printed import Figures, PrintedRow, PrintedTable, figures
from evenhand.stats.multiplicity import holm
from evenhand.stats.reliability.paired_difference import LEVEL, PairedDifference, paired_difference, together

_LLM, _MLLM, _HUMAN = "LLM-as-a-judge", "MLLM-as-a-judge", "Human-as-a-judge"
_MEASURES = {
    "dual_mae": ("MAE, dual", -1),
    "dual_consistency": ("Consistency, dual", 1),
    "mae": ("MAE, non-dual", -1),
    "consistency": ("Consistency, non-dual", 1),
}
"""By column: its name, and the sign of a difference for the better."""
_KNOWN_AGAINST = {
    "Consistency, dual": ["Claude-3.5-Sonnet"],
    "MAE, non-dual": ["Gemini-2.0-Pro"],
    "Consistency, non-dual": ["Gemini-2.0-Pro"],
}
_PAIRED = "mean difference, its 95 % interval by Student's t, p by turning the signs of the differences"


def _paired(differences: Sequence[float]) -> PairedDifference:
    return paired_difference(differences, np.arange(len(differences)), within=None)


def _figures(found: PairedDifference) -> Figures:
    of = found.difference
    return {"pairs": of.clusters, "difference": of.value, "lower": of.lower, "upper": of.upper, "p": found.p_value}


def claim_tables() -> tuple[PrintedTable, ...]:
    return (_table_6(), _table_6_claim(), _judges_with_images(), people_table(figures("creation_table7_averages")))


def _table_6() -> PrintedTable:
    rows = tuple(map(_description_row, figures("creation_table6")))
    return PrintedTable(
        table="6",
        what="Generic and query-specific descriptions, text only; the generic figures as the authors' repository has "
        "them, and what the query-specific ones change.",
        rows=rows,
        findings=(
            f"{sum(row.ok for row in rows)} of {len(rows)} generic rows are those of the repository's text-only table.",
        ),
    )


def _description_row(printed: dict[str, str]) -> PrintedRow:
    cell = {name: float(value) for name, value in printed.items() if name != "model"}
    published = {name: cell[name] for name in ("generic_vfs", "generic_reward", "specific_vfs", "specific_reward")}
    computed = {
        "generic_vfs": cell["text_only_vfs"],
        "generic_reward": cell["text_only_reward"],
        "vfs_change": cell["specific_vfs"] - cell["generic_vfs"],
        "reward_change": cell["specific_reward"] - cell["generic_reward"],
    }
    alike = all(computed[name] == published[name] for name in ("generic_vfs", "generic_reward"))
    fell = computed["reward_change"] < 0
    note = "the inverse trend that the paper names" if fell else None
    return PrintedRow(row=printed["model"], published=published, computed=computed, ok=alike, note=note)


def _table_6_claim() -> PrintedTable:
    """Appendix E."""
    rows: list[PrintedRow] = []
    printed = figures("creation_table6")
    for name, column in (("VFS", "vfs"), ("Reward", "reward")):
        pairs = [float(row[f"specific_{column}"]) - float(row[f"generic_{column}"]) for row in printed]
        found = _paired(pairs)
        against = [row["model"] for row, change in zip(printed, pairs, strict=True) if change < 0]
        rows.append(_claim_row(f"{name} rises", len(pairs), against, found, known=["GPT-4o-1120"] * (name == "Reward")))
    return PrintedTable(
        table="Appendix E, descriptions",
        what=f"Query-specific less generic, paired by LLM: {_PAIRED}.",
        rows=tuple(rows),
        findings=(
            f"{_told(rows[0])} {_told(rows[1])} Three pairs cannot give a p below 0.25, so neither can be told from "
            "these figures alone.",
        ),
    )


def _judges_with_images() -> PrintedTable:
    """Appendix F.3: "for all judging models, MLLM-as-a-judge outperforms LLM-as-a-judge"."""
    cells = _cells()
    averages = {(one["method"], one["judge"]): one for one in figures("creation_table7_averages")}
    judges = [judge for method, judge in averages if method == _MLLM]
    models = list(dict.fromkeys(model for _, _, model in cells))
    rows: list[PrintedRow] = []
    tested: list[PairedDifference] = []
    for column, (name, sign) in _MEASURES.items():
        of_judge = {
            judge: [_gap(cells, column, judge, model, sign) for model in models]
            for judge in judges
        }  # fmt: skip
        against = [
            judge
            for judge in judges
            if sign * (float(averages[_MLLM, judge][column]) - float(averages[_LLM, judge][column])) < 0
        ]
        found = _paired([gap for gaps in of_judge.values() for gap in gaps])
        by_judge = _paired([statistics.fmean(gaps) for gaps in of_judge.values()])
        known = _KNOWN_AGAINST.get(name, [])
        rows.append(_claim_row(name, len(judges), against, found, known=known, more={"p_of_judges": by_judge.p_value}))
        tested.append(found)
    adjusted = [one.p_adjusted or 0.0 for one in together(tested)]
    rows = [replace(row, computed={**row.computed, "p_holm": p}) for row, p in zip(rows, adjusted, strict=True)]
    wins = sum(int(row.computed["for_it"] or 0) for row in rows)
    return PrintedTable(
        table="Appendix F.3, judges with images",
        what="MLLM-as-a-judge less LLM-as-a-judge, for the better, paired by judge and judged model (12 pairs): "
        f"{_PAIRED}; p with each judge's three pairs as one, and p corrected for the four measures by Holm's method.",
        rows=tuple(rows),
        findings=(
            f"That it outperforms for all judging models holds in {wins} of {len(judges) * len(rows)} of the paper's "
            "own averages, not in all.",
            " ".join(map(_told, rows)),
            f"Corrected for the four measures the smallest p is {min(adjusted):.2g}. All pairs are of the same cases "
            "and people, so even that is too sure; four judges alone cannot give a p below 0.125.",
        ),
    )


def people_table(averages: Sequence[Mapping[str, str]]) -> PrintedTable:
    """Appendix F.3: "human preferences are not highly consistent with one another"."""
    rows = [_people_row(column, averages) for column in ("mae", "consistency")]
    adjusted = holm([row.computed["p"] or 0.0 for row in rows])
    rows = [replace(row, computed={**row.computed, "p_holm": p}) for row, p in zip(rows, adjusted, strict=True)]
    return PrintedTable(
        table="Appendix F.3, people",
        what="A person against the other people, less the mean of the four judges with images against all people, both "
        f"non-dual, for the better, paired by judged model (12 pairs): {_PAIRED}; p with each person's three pairs as "
        "one, and p corrected for the two measures by Holm's method.",
        rows=tuple(rows),
        findings=(
            " ".join(map(_told, rows)),
            " ".join(map(_people_told, rows)),
            "The pairs share three means of the judges, and all are of the same cases, so p of the pairs is too sure "
            "even when corrected; four people alone cannot give a p below 0.125. A person is compared with the mean of "
            "three others, a judge with that of four, which favours the judge.",
        ),
    )


def _people_row(column: str, printed: Sequence[Mapping[str, str]]) -> PrintedRow:
    """`ok` where the people who are behind by the cells are those who are behind by the printed averages."""
    cells = _cells()
    name, sign = _MEASURES[column]
    averages = {(one["method"], one["judge"]): float(one[column]) for one in printed}
    judges = [judge for method, judge in averages if method == _MLLM]
    people = [person for method, person in averages if method == _HUMAN]
    of_judges = {
        model: statistics.fmean(float(cells[_MLLM, judge, model][column]) for judge in judges)
        for model in dict.fromkeys(model for _, _, model in cells)
    }
    of_person = {
        person: [sign * (float(cells[_HUMAN, person, model][column]) - mean) for model, mean in of_judges.items()]
        for person in people
    }
    bar = statistics.fmean(averages[_MLLM, judge] for judge in judges)
    claimed = [person for person in people if sign * (averages[_HUMAN, person] - bar) < 0]
    behind = [person for person, gaps in of_person.items() if statistics.fmean(gaps) < 0]
    pairs = [gap for gaps in of_person.values() for gap in gaps]
    by_person = _paired([statistics.fmean(gaps) for gaps in of_person.values()])
    return PrintedRow(
        row=name,
        published={"behind_on_average": len(claimed)},
        computed={
            "behind_on_average": len(behind),
            "people_behind": sum(gap < 0 for gap in pairs),
            **_figures(_paired(pairs)),
            "p_of_people": by_person.p_value,
        },
        ok=behind == claimed,
    )


def _people_told(row: PrintedRow) -> str:
    of = {name: value or 0.0 for name, value in row.computed.items()}
    by_pairs, by_people = of["p_holm"], of["p_of_people"]
    side, word = ("farther", "from") if of["difference"] < 0 else ("nearer", "to")
    what = f"{row.row}: people are {side} {word} each other than these judges are {word} them"
    if by_pairs > LEVEL:
        return f"{row.row}: no difference can be told (p = {by_pairs:.3g} by pairs, {by_people:.3g} by people)."
    if by_people > LEVEL:
        return f"{what} by pairs (p = {by_pairs:.3g}), but by people it cannot be told (p = {by_people:.3g})."
    return f"{what}, by pairs (p = {by_pairs:.3g}) and by people (p = {by_people:.3g})."


def _cells() -> dict[tuple[str, str, str], dict[str, str]]:
    return {(row["method"], row["judge"], row["model"]): row for row in figures("creation_table7")}


def _gap(
    cells: Mapping[tuple[str, str, str], Mapping[str, str]], column: str, judge: str, model: str, sign: int
) -> float:
    return sign * (float(cells[_MLLM, judge, model][column]) - float(cells[_LLM, judge, model][column]))


def _claim_row(
    name: str,
    claimed: int,
    against: list[str],
    found: PairedDifference,
    *,
    known: list[str],
    more: Figures | None = None,
) -> PrintedRow:
    return PrintedRow(
        row=name,
        published={"for_it": claimed},
        computed={"for_it": claimed - len(against), **_figures(found), **(more or {})},
        ok=against == known,
        note=f"not for {', '.join(against)}" if against else None,
    )


def _told(row: PrintedRow) -> str:
    of = {name: value or 0.0 for name, value in row.computed.items()}
    return (
        f"{row.row}: {of['difference']:+.2f} (95 % {of['lower']:+.2f} to {of['upper']:+.2f}, p = {of['p']:.2g}, "
        f"{of['pairs']:.0f} pairs)."
    )
