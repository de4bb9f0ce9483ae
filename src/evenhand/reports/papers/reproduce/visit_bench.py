"""VisIT-Bench: what its published boards reveal of how they were made."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from evenhand.format.words import counted
from evenhand.reports.papers.reproduce.printed import PrintedRow, PrintedTable, figures, number, rounded

COMPLETE = ("2023-08 single", "2023-08 multi")

START = 1000
SCALE = 400
HALF = 50.0
"""Per cent."""

_TIES = (270, 1, 300, 316, 361)

_SOME_ROWS = "Of the boards after August 2023 only some rows are known, so means are checked on the two complete ones."
_ONLY_SUMS = "Of the boards after August 2023 only the sums are known, and are taken as noted."

Printed: TypeAlias = Mapping[str, str]
"""A row of a board."""


def tables() -> tuple[PrintedTable, ...]:
    boards = figures("visit_boards")
    return (mean_table(boards), _win_rates(), tie_table(boards, figures("visit_sums")), equation_table(boards))


def _of(boards: Sequence[Printed], board: str) -> list[Printed]:
    return [printed for printed in boards if printed["board"] == board]


def mean_table(boards: Sequence[Printed]) -> PrintedTable:
    rows: list[PrintedRow] = []
    for board in COMPLETE:
        ratings = [float(printed["elo"]) for printed in _of(boards, board)]
        mean = sum(ratings) / len(ratings)
        note = f"{len(ratings)} players; the start value is {START}"
        rows.append(PrintedRow(row=board, published={}, computed={"mean": mean}, ok=mean == START, note=note))
    return PrintedTable(
        table="mean Elo",
        what="The mean rating of all players, the reference among them.",
        rows=tuple(rows),
        findings=(
            "Ratings start at 1000, what one wins another loses, nothing is anchored, the reference plays too.",
            _SOME_ROWS,
        ),
    )


def _win_rates() -> PrintedTable:
    rows: list[PrintedRow] = []
    for printed in figures("visit_boards"):
        published = number(printed["win_rate"])
        if published is None:
            continue
        n = int(printed["n"])
        wins = round(published * n / 100)
        rows.append(
            PrintedRow(
                row=f"{printed['board']}, {printed['model']}",
                published={"win_rate": published},
                computed={"win_rate": 100 * wins / n},
                ok=rounded(100 * wins / n) == published,
                note=f"{wins} of {n}",
            )
        )
    return PrintedTable(
        table="win vs reference",
        what="Each percentage as a whole number of wins over its n.",
        rows=tuple(rows),
        findings=("Every one is a whole count over n, so half points for ties are not in it.",),
    )


def tie_table(boards: Sequence[Printed], sums: Sequence[Printed]) -> PrintedTable:
    """`sums` are of boards of which no more is known than the reference's matches and the sum of all n."""
    complete = [_of(boards, board) for board in COMPLETE]
    known = [(rows[0], sum(int(one["n"]) for one in rows if one["n"])) for rows in complete]
    known += [(one, int(one["sum_of_n"])) for one in sums]
    rows = [_tie_row(one["board"], int(one["matches"]), decided) for one, decided in known]
    return PrintedTable(
        table="n against the reference's matches",
        what="The models' n added up, and the matches of the reference.",
        rows=tuple(rows),
        findings=(
            "The sum falls short of the matches: n leaves the ties out, so the rate is wins / (wins + losses).",
            _ONLY_SUMS,
        ),
        expected=[row.note for row in rows] == [f"{counted(ties, 'tie')} left out" for ties in _TIES],
    )


def _tie_row(board: str, matches: int, decided: int) -> PrintedRow:
    ties = matches - decided
    return PrintedRow(
        row=board,
        published={"matches": matches},
        computed={"sum_of_n": decided},
        ok=decided < matches,
        note=f"{counted(ties, 'tie')} left out",
    )


def equation_table(boards: Sequence[Printed]) -> PrintedTable:
    """Of the complete boards: the paper's Eq. 1 against the share of battles that each model won from the reference."""
    rows = [row for board in COMPLETE for row in _expected_rows(_of(boards, board))]
    as_printed = [row.computed["eq_1"] or 0.0 for row in rows]
    turned = [row.computed["sign_turned"] or 0.0 for row in rows]
    far = max(abs(one - (row.published["win_rate"] or 0.0)) for one, row in zip(turned, rows, strict=True))
    return PrintedTable(
        table="Eq. 1",
        what="The expected win rate against the reference by the printed ratings: 1 / (1 + 10 ** ((R_a - R_b) / 400)).",
        rows=tuple(rows),
        findings=(
            f"The exponent's sign is wrong: as printed, all {len(rows)} models, rated below the reference, would win "
            f"{min(as_printed):.0f} % of their battles with it or more. It is the chance that a loses.",
            f"With (R_b - R_a), as Elo has it and Evenhand computes it, no rate is off by more than {far:.0f} points.",
        ),
        expected=min(as_printed) > HALF > max(turned),
    )


def _expected_rows(board: Sequence[Printed]) -> Iterator[PrintedRow]:
    reference, *models = board
    for printed in models:
        gap = (float(printed["elo"]) - float(reference["elo"])) / SCALE
        yield PrintedRow(
            row=f"{printed['board']}, {printed['model']}",
            published={"win_rate": number(printed["win_rate"])},
            computed={"eq_1": 100 / (1 + 10**gap), "sign_turned": 100 / (1 + 10**-gap)},
        )
