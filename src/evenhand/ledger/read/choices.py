"""Which place was chosen in each trial of a study, and nothing more: a hundred thousand of them in a moment.

Also the keeping of options, which are shown but stand for no model.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from sqlalchemy import Connection, func, select

from evenhand.domain.response import Response
from evenhand.domain.verdict import Choice, NoVerdict, Reason, Verdict
from evenhand.ledger.read.results import ending_of, outcomes
from evenhand.ledger.read.scan import Scope, in_columns, judgements_in, rows_where, scope_of
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.columns import Coded, Interning, joint
from evenhand.ledger.store.record import Ledger
from evenhand.stats.ratings.codes import Codes

_DIGEST = 64
"""Characters of a response's digest; the first stands after the bracket and the quotation mark of a JSON list."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choices:
    """One row for each trial."""

    first: Coded
    """Digest of the response shown first: a rotation is known by what stands first in it. Names may recur."""
    replicate: Codes
    ending: Codes
    endings: tuple[Verdict | NoVerdict, ...]

    def places(self, replicate: int) -> dict[str, int | None]:
        """By what stood first; None where the reply holds no choice. Trials that were not asked are not here."""
        ours = self.replicate == replicate
        ending: list[int] = self.ending[ours].tolist()
        place = {code: _place(self.endings[code]) for code in set(ending)}
        first = map(self.first.names.__getitem__, self.first.code[ours].tolist())
        return dict(zip(first, map(place.__getitem__, ending), strict=True))

    def reasons(self) -> Counter[Reason | None]:
        """How many trials have each reason why there is no verdict; None counts those that have one."""
        found: Counter[Reason | None] = Counter()
        for ending, trials in zip(self.endings, np.bincount(self.ending, minlength=len(self.endings)), strict=True):
            if trials:
                found[ending.reason if isinstance(ending, NoVerdict) else None] += int(trials)
        return found


def choices(ledger: Ledger, study: str) -> Choices:
    """Of each showing the result that counts: the first verdict got, else the last reason there is none.

    No two showings of the study may begin with the same response.
    """
    with ledger.reading() as connection:
        scope = scope_of(connection, [study])
        shown = _shown(connection, scope)
        judgements = judgements_in(connection, scope, shown.rows, noted=False)
    endings = tuple(map(ending_of, judgements.ending.names))
    place = np.arange(len(shown.attempt), dtype=np.int32)
    if shown.attempt.any():
        place = joint(Interning().codes(shown.first), shown.replicate)
    counting = outcomes(judgements, endings, place=place, attempt=shown.attempt).counting()
    trial = judgements.trial[counting]
    return Choices(
        first=Coded(names=shown.first, code=trial),
        replicate=shown.replicate[trial],
        ending=judgements.ending.code[counting],
        endings=endings,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Shown:
    rows: dict[str, int]
    """By the trial's key."""
    first: tuple[str, ...]
    """Digests, one for each trial."""
    replicate: Codes
    attempt: Codes


def _shown(connection: Connection, scope: Scope) -> _Shown:
    trials = schema.trials
    query = select(trials.c.key, func.substr(trials.c.responses, 3, _DIGEST), trials.c.replicate, trials.c.attempt)
    at: dict[str, int] = {}
    number = count()
    firsts: list[str] = []
    parts: list[tuple[Codes, ...]] = []
    for some in rows_where(connection, query, scope.trials):
        keys, first, replicate, attempt = zip(*some, strict=True)
        at.update(zip(keys, number, strict=False))
        firsts += first
        parts.append((np.array(replicate, np.int32), np.array(attempt, np.int32)))
    replicate, attempt = in_columns(parts, 2)
    return _Shown(rows=at, first=tuple(firsts), replicate=replicate, attempt=attempt)


def _place(ending: Verdict | NoVerdict) -> int | None:
    if isinstance(ending, NoVerdict):
        return None
    if not isinstance(ending, Choice):
        raise TypeError(f"A trial with options ends in a choice, not in {ending}.")
    return ending.value


def keep_options(ledger: Ledger, options: Sequence[Response]) -> None:
    """Keeps what is shown without letting it stand as a model's answer."""
    with ledger.writing() as connection:
        ledger.insert_new(connection, schema.responses, [rows.response_row(one) for one in options])
