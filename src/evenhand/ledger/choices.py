"""Which place was chosen in each trial of a study, and nothing more: a hundred thousand of them in a moment.

Also the keeping of options, which are shown but stand for no model.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, cast

from sqlalchemy import func, select

from evenhand.domain.response import Response
from evenhand.domain.verdict import Choice, Reason
from evenhand.ledger import rows, schema
from evenhand.ledger.projection import supersedes
from evenhand.ledger.record import Ledger

_DIGEST = 64
"""Characters of a response's digest; the first stands after the bracket and the quotation mark of a JSON list."""


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
    links, trials, table = schema.study_trials, schema.trials, schema.judgements
    query = (
        select(
            func.substr(trials.c.responses, 3, _DIGEST),
            trials.c.replicate,
            trials.c.attempt,
            table.c.verdict,
            table.c.reason,
        )
        .select_from(links)
        .join(trials, trials.c.key == links.c.trial)
        .join(table, table.c.trial == trials.c.key)
        .where(links.c.study == study)
        .order_by(table.c.seq)
    )
    found: defaultdict[int, dict[str, Outcome]] = defaultdict(dict)
    # One object for all trials that ended alike: a hundred thousand would keep the garbage collector busy.
    known: dict[tuple[int, str | None, Reason | None], Outcome] = {}
    with ledger.reading() as connection:
        for first, replicate, *ended in cast("Iterable[Any]", connection.execute(query)):
            key = (ended[0], ended[1], ended[2])
            outcome = known.get(key) or known.setdefault(key, Outcome(*key))
            of_replicate = found[replicate]
            before = of_replicate.setdefault(first, outcome)
            if before is not outcome and supersedes(cast(Any, outcome), cast(Any, before)):
                of_replicate[first] = outcome
    return Choices(outcomes=dict(found))


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
