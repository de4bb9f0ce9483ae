"""Which place was chosen in each trial of a study, and nothing more: a hundred thousand of them in a moment.

Also the keeping of options, which are shown but stand for no model.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, cast

from sqlalchemy import Connection, Executable, func, select

from evenhand.domain.response import Response
from evenhand.domain.verdict import Choice, Reason
from evenhand.ledger import rows, schema
from evenhand.ledger.projection import supersedes
from evenhand.ledger.record import Ledger

_DIGEST = 64
"""Characters of a response's digest; the first stands after the bracket and the quotation mark of a JSON list."""

_WALKED = 4
"""Up to how many judgements in the ledger for each trial of a study all of them are walked through."""


class Outcome(NamedTuple):
    """How a trial ended."""

    attempt: int
    verdict: str | None
    """As it is stored."""
    reason: Reason | None

    @property
    def place(self) -> int | None:
        return None if self.verdict is None else _place(self.verdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    outcomes: dict[int, dict[str, Outcome]]
    """By replicate, then by the digest of the response shown first: a rotation is known by what stands first in it."""

    def places(self, replicate: int) -> dict[str, int | None]:
        """None where the reply holds no choice; trials that were not asked are not here."""
        # There are few different outcomes, and very many trials.
        place = {outcome: outcome.place for outcome in set(self.outcomes.get(replicate, {}).values())}
        return {first: place[outcome] for first, outcome in self.outcomes.get(replicate, {}).items()}


def choices(ledger: Ledger, study: str) -> Choices:
    """Of each showing the result that counts: the first verdict got, else the last reason there is none.

    No two showings of the study may begin with the same response.
    """
    found: defaultdict[int, dict[str, Outcome]] = defaultdict(dict)
    # One object for all trials that ended alike: a hundred thousand would keep the garbage collector busy.
    known: dict[tuple[int, str | None, Reason | None], Outcome] = {}
    with ledger.reading() as connection:
        shown = {row[0]: row for row in _shown(connection, study)}
        for trial, verdict, reason in _results(connection, study, trials=len(shown)):
            if (showing := shown.get(trial)) is None:
                continue
            _, first, replicate, attempt = showing
            key = (attempt, verdict, reason)
            outcome = known.get(key) or known.setdefault(key, Outcome(*key))
            of_replicate = found[replicate]
            before = of_replicate.setdefault(first, outcome)
            if before is not outcome and supersedes(cast(Any, outcome), cast(Any, before)):
                of_replicate[first] = outcome
    return Choices(outcomes=dict(found))


def _shown(connection: Connection, study: str) -> Iterable[Any]:
    """Of each trial: its key, what stood first, replicate, attempt."""
    links, trials = schema.study_trials, schema.trials
    query = (
        select(trials.c.key, func.substr(trials.c.responses, 3, _DIGEST), trials.c.replicate, trials.c.attempt)
        .join(links, links.c.trial == trials.c.key)
        .where(links.c.study == study)
    )
    return _fetched(connection, query)


def _results(connection: Connection, study: str, *, trials: int) -> Iterable[Any]:
    """Trial, verdict and reason in the order of the record; those of other studies may be among them.

    `trials`: how many the study has.
    """
    links, table = schema.study_trials, schema.judgements
    query = select(table.c.trial, table.c.verdict, table.c.reason).order_by(table.c.seq)
    last = connection.execute(select(func.max(table.c.seq))).scalar() or 0
    # To walk through all judgements costs a fraction of looking up each, unless the study is a small part of them.
    if last > _WALKED * trials:
        query = query.where(table.c.trial.in_(select(links.c.trial).where(links.c.study == study)))
    return _fetched(connection, query)


def _fetched(connection: Connection, query: Executable) -> Iterable[Any]:
    # The driver's own cursor: through SQLAlchemy's rows the same reading costs a third more.
    return cast(Any, connection.execute(query)).cursor


@cache
def _place(verdict: str) -> int:
    choice = rows.verdict_of(verdict, None, "")
    if not isinstance(choice, Choice):
        raise TypeError(f"A trial with options ends in a choice, not in {choice}.")
    return choice.value


def keep_options(ledger: Ledger, options: Sequence[Response]) -> None:
    """Keeps what is shown without letting it stand as a model's answer."""
    with ledger.writing() as connection:
        ledger.insert_new(connection, schema.responses, [rows.response_row(one) for one in options])
