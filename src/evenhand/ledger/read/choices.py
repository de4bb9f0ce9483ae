"""Which place was chosen in each trial of a study, and nothing more: a hundred thousand of them in a moment.

Also the keeping of options, which are shown but stand for no model.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, func, select

from evenhand.domain.response import Response
from evenhand.domain.verdict import Choice, NoVerdict, Reason, Verdict
from evenhand.ledger.read.answers import response_models
from evenhand.ledger.read.columns.kept_columns import FEWEST, columns_of
from evenhand.ledger.read.results import ending_of, outcomes
from evenhand.ledger.read.scan import Scope, Trials, in_columns, judgements_in, rows_where, scope_of
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.columns import Coded, Interning, joint
from evenhand.ledger.store.record import Ledger
from evenhand.stats.ratings.codes import Codes

_DIGEST = 64
"""Characters of a response's digest; the first stands after the bracket and the quotation mark of a JSON list."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choices:
    """One row for each trial."""

    shown: Coded
    """Digest of the response shown first, for a rotation is known by it, or all of them as stored. Names may recur."""
    replicate: Codes
    ending: Codes
    endings: tuple[Verdict | NoVerdict, ...]
    note: Coded
    """The judgement's notes where grades were asked for and read, else empty."""

    def places(self, replicate: int) -> dict[str, int | None]:
        """By what was shown; None where the reply holds no choice. Trials that were not asked are not here."""
        ours = self.replicate == replicate
        ending: list[int] = self.ending[ours].tolist()
        place = {code: _place(self.endings[code]) for code in set(ending)}
        return dict(zip(self._shown(ours), map(place.__getitem__, ending), strict=True))

    def grades(self, replicate: int) -> dict[str, tuple[float, ...]]:
        """By what was shown, in the order shown; only where the reply gives a grade to each."""
        ours = self.replicate == replicate
        notes = map(self.note.names.__getitem__, self.note.code[ours].tolist())
        read = {
            shown: json.loads(note).get("grades") for shown, note in zip(self._shown(ours), notes, strict=True) if note
        }
        return {shown: tuple(grades) for shown, grades in read.items() if grades}

    def _shown(self, ours: npt.NDArray[np.bool_]) -> Iterator[str]:
        return map(self.shown.names.__getitem__, self.shown.code[ours].tolist())

    def reasons(self) -> Counter[Reason | None]:
        """How many trials have each reason why there is no verdict; None counts those that have one."""
        found: Counter[Reason | None] = Counter()
        for ending, trials in zip(self.endings, np.bincount(self.ending, minlength=len(self.endings)), strict=True):
            if trials:
                found[ending.reason if isinstance(ending, NoVerdict) else None] += int(trials)
        return found


def choices(ledger: Ledger, study: str, *, whole: bool = False, graded: bool = False, fewest: int = FEWEST) -> Choices:
    """Of each showing the result that counts: the first verdict got, else the last reason there is none.

    Unless showings are known by the `whole` of their order, no two may begin with the same response. `fewest`: trials
    from which on they are read from kept columns.
    """
    kept = columns_of(ledger, [study], fewest=fewest)
    if kept is None:
        with ledger.reading() as connection:
            scope = scope_of(connection, [study])
            shown = _shown(connection, scope, whole=whole)
            judgements = judgements_in(connection, scope, shown.rows, noted=graded)
    else:
        read = kept.of_studies([study])
        shown, judgements = _shown_in(read.trials, whole=whole), read.judgements
    endings = tuple(map(ending_of, judgements.ending.names))
    place = np.arange(len(shown.attempt), dtype=np.int32)
    if shown.attempt.any():
        place = joint(Interning().codes(shown.names), shown.replicate)
    counting = outcomes(judgements, endings, place=place, attempt=shown.attempt).counting()
    trial = judgements.trial[counting]
    return Choices(
        shown=Coded(names=shown.names, code=trial),
        replicate=shown.replicate[trial],
        ending=judgements.ending.code[counting],
        endings=endings,
        note=judgements.note.rows(counting),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Shown:
    rows: dict[str, int]
    """By the trial's key; empty where nobody needs it."""
    names: tuple[str, ...]
    """One for each trial: the first digest, or all as stored."""
    replicate: Codes
    attempt: Codes


def _shown_in(trials: Trials, *, whole: bool) -> _Shown:
    digests = trials.first.names
    first = map(digests.__getitem__, trials.first.code.tolist())
    if whole:
        further = map(digests.__getitem__, trials.second.code.tolist())
        rest = map(trials.rest.names.__getitem__, trials.rest.code.tolist())
        sides = zip(first, further, rest, strict=True)
        first = (f'["{one}", "{other}{more}' if other else f'["{one}"]' for one, other, more in sides)
    return _Shown(rows={}, names=tuple(first), replicate=trials.replicate, attempt=trials.attempt)


def _shown(connection: Connection, scope: Scope, *, whole: bool) -> _Shown:
    trials = schema.trials
    name = trials.c.responses if whole else func.substr(trials.c.responses, 3, _DIGEST)
    query = select(trials.c.key, name, trials.c.replicate, trials.c.attempt)
    at: dict[str, int] = {}
    number = count()
    names: list[str] = []
    parts: list[tuple[Codes, ...]] = []
    for some in rows_where(connection, query, scope.trials):
        keys, name, replicate, attempt = zip(*some, strict=True)
        at.update(zip(keys, number, strict=False))
        names += name
        parts.append((np.array(replicate, np.int32), np.array(attempt, np.int32)))
    replicate, attempt = in_columns(parts, 2)
    return _Shown(rows=at, names=tuple(names), replicate=replicate, attempt=attempt)


def _place(ending: Verdict | NoVerdict) -> int | None:
    if isinstance(ending, NoVerdict):
        return None
    if not isinstance(ending, Choice):
        raise TypeError(f"A trial with options ends in a choice, not in {ending}.")
    return ending.value


def keep_options(ledger: Ledger, options: Sequence[Response]) -> None:
    """Keeps what is shown without letting it stand as a model's answer."""
    # A command that goes on finds all of them kept, and to write a row costs many times what looking for it does.
    known = response_models(ledger, [one.digest for one in options], items={one.item for one in options})
    if new := [rows.response_row(one) for one in options if one.digest not in known]:
        with ledger.writing() as connection:
            ledger.insert_new(connection, schema.responses, new)
