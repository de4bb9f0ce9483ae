"""What is still to be asked: the wanted trials minus what the ledger knows. Reads the ledger, changes nothing."""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evenhand.domain.trial import Trial
from evenhand.domain.verdict import UNDECIDED
from evenhand.engine.run.task import Due, PlannedChunk
from evenhand.ledger.store.record import CHUNK, Ledger

if TYPE_CHECKING:
    from evenhand.engine.tasks.asking import Asking


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrying:
    """What to ask of that which was asked before."""

    only_failed: bool = False
    """Ask what got no reply, and nothing that was never asked."""
    reasons: frozenset[str] = frozenset()
    """Ask again, under a new attempt number, trials whose last reply held no decision for one of these reasons."""


def plan(
    trials: Iterable[Trial],
    *,
    asking: "Asking",
    ledger: Ledger,
    retrying: Retrying | None = None,
    at_once: int = CHUNK,
) -> Iterator[PlannedChunk[Trial]]:
    """In chunks of so many, so that a million trials do not sit in memory."""
    for unasked in sorted_out(trials, asking=asking, ledger=ledger, retrying=retrying, at_once=at_once):
        due = _due(unasked.unknown, asking, ledger)
        later = _due(_later_attempts(due, asking, ledger), asking, ledger)
        yield PlannedChunk(
            known=tuple(trial.key for trial in unasked.known),
            due=(*due, *later),
            beyond=len(later),
            undecided=_undecided(unasked, asking, ledger),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SortedOut:
    """Some of the trials that are wanted."""

    known: list[Trial]
    unknown: list[Trial]
    """Without a result, or wanted once more."""
    reasons: Mapping[str, str | None]
    """By key, why the last result of each known one holds no verdict, None where it does."""


def sorted_out(
    trials: Iterable[Trial],
    *,
    asking: "Asking",
    ledger: Ledger,
    retrying: Retrying | None = None,
    at_once: int = CHUNK,
) -> Iterator[SortedOut]:
    """In chunks, larger ones while nothing is unknown. No prompt is written for it."""
    retrying = retrying or Retrying()
    stream, number = iter(trials), at_once
    while chunk := list(itertools.islice(stream, number)):
        found = ledger.reasons((trial.key for trial in chunk), reader=asking.protocol.reader)
        known = [trial for trial in chunk if trial.key in found]
        unknown = [trial for trial in chunk if trial.key not in found]
        if retrying.only_failed:
            failed = ledger.failed(trial.key for trial in unknown)
            unknown = [trial for trial in unknown if trial.key in failed]
        if retrying.reasons:
            again = _asked_again(known, found, asking, ledger, retrying.reasons)
            known = [trial for trial in known if trial.key not in again]
            unknown += again.values()
        yield SortedOut(known=known, unknown=unknown, reasons=found)
        number = at_once if unknown else min(2 * number, CHUNK)


def _due(trials: Sequence[Trial], asking: "Asking", ledger: Ledger) -> tuple[Due[Trial], ...]:
    requests = {trial.key: asking.request(trial) for trial in trials}
    stored = ledger.find_calls(request.key for request in requests.values())
    return tuple(
        Due(key=trial.key, subject=trial, request=requests[trial.key], stored=stored.get(requests[trial.key].key))
        for trial in trials
    )


def _later_attempts(due: Sequence[Due[Trial]], asking: "Asking", ledger: Ledger) -> list[Trial]:
    """Of trials that a newer reader reads again, the later attempts that it has not read either."""
    found: list[Trial] = []
    last = [one.subject for one in due if one.stored is not None]
    while last:
        following = [_next(trial) for trial in last]
        asked = ledger.asked(trial.key for trial in following)
        last = [trial for trial in following if trial.key in asked]
        decided = ledger.decided((trial.key for trial in last), reader=asking.protocol.reader)
        found += [trial for trial in last if trial.key not in decided]
    return found


def _undecided(sorted_out: SortedOut, asking: "Asking", ledger: Ledger) -> Counter[str]:
    """Why no attempt at a known trial holds a decision, as the last one says."""
    known, reasons = sorted_out.known, sorted_out.reasons
    why = {one.key: reason for one in known if (reason := reasons[one.key]) in UNDECIDED}
    last = {one.key: _next(one) for one in known if one.key in why}
    while last:
        found = ledger.reasons((trial.key for trial in last.values()), reader=asking.protocol.reader)
        for first, trial in list(last.items()):
            reason = found.get(trial.key)
            if reason in UNDECIDED:
                why[first], last[first] = reason, _next(trial)
                continue
            if trial.key in found and reason is None:
                del why[first]
            del last[first]
    return Counter(why.values())


def _next(trial: Trial) -> Trial:
    return replace(trial, attempt=trial.attempt + 1)


def _asked_again(
    decided: Sequence[Trial],
    found: Mapping[str, str | None],
    asking: "Asking",
    ledger: Ledger,
    reasons: frozenset[str],
) -> dict[str, Trial]:
    """By the key of the first attempt, the next attempt at each trial whose last one ended for one of the reasons.
    `found`: how the first ended."""
    again: dict[str, Trial] = {}
    last = {trial.key: trial for trial in decided}
    while last:
        for first, trial in list(last.items()):
            if trial.key not in found:
                again[first] = trial  # this attempt has not been made yet
            if found.get(trial.key) in reasons:
                last[first] = _next(trial)
            else:
                del last[first]
        found = ledger.reasons((trial.key for trial in last.values()), reader=asking.protocol.reader)
    return again
