"""VisIT-Bench: what its published boards reveal of how they were made."""

from evenhand.reports.reproduce.printed import Row, Table, figures, number, rounded

COMPLETE = ("2023-08 single", "2023-08 multi")

START = 1000

_SOME_ROWS = "Of the boards after August 2023 only some rows are known, so sums are checked on the two complete ones."


def tables() -> tuple[Table, ...]:
    return (_means(), _win_rates(), _ties())


def _of(board: str) -> list[dict[str, str]]:
    return [printed for printed in figures("visit_boards") if printed["board"] == board]


def _means() -> Table:
    rows: list[Row] = []
    for board in COMPLETE:
        ratings = [float(printed["elo"]) for printed in _of(board)]
        mean = sum(ratings) / len(ratings)
        note = f"{len(ratings)} players; the start value is {START}"
        rows.append(Row(row=board, published={}, computed={"mean": mean}, ok=mean == START, note=note))
    return Table(
        table="mean Elo",
        what="The mean rating of all players, the reference among them.",
        rows=tuple(rows),
        findings=(
            "Ratings start at 1000, what one wins another loses, nothing is anchored, the reference plays too.",
            _SOME_ROWS,
        ),
    )


def _win_rates() -> Table:
    rows: list[Row] = []
    for printed in figures("visit_boards"):
        published = number(printed["win_rate"])
        if published is None:
            continue
        n = int(printed["n"])
        wins = round(published * n / 100)
        rows.append(
            Row(
                row=f"{printed['board']}, {printed['model']}",
                published={"win_rate": published},
                computed={"win_rate": 100 * wins / n},
                ok=rounded(100 * wins / n) == published,
                note=f"{wins} of {n}",
            )
        )
    return Table(
        table="win vs reference",
        what="Each percentage as a whole number of wins over its n.",
        rows=tuple(rows),
        findings=("Every one is a whole count over n, so half points for ties are not in it.",),
    )


def _ties() -> Table:
    rows: list[Row] = []
    for board in COMPLETE:
        printed = _of(board)
        matches = int(printed[0]["matches"])
        decided = sum(int(one["n"]) for one in printed if one["n"])
        ties = matches - decided
        rows.append(
            Row(
                row=board,
                published={"matches": matches},
                computed={"sum_of_n": decided},
                ok=decided < matches,
                note=f"{ties} {'tie' if ties == 1 else 'ties'} left out",
            )
        )
    return Table(
        table="n against the reference's matches",
        what="The models' n added up, beside the matches of the reference.",
        rows=tuple(rows),
        findings=(
            "The sum falls short of the matches: n leaves the ties out, so the rate is wins / (wins + losses).",
            _SOME_ROWS,
        ),
        expected=[row.note for row in rows] == ["270 ties left out", "1 tie left out"],
    )
