"""What others put on record while a run goes on: the processes that share it, and other runs of the same study."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import last_result, results_by_others, results_since


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsOfOthers:
    """Results that came since the run began, by why they hold no decision, "" where they do."""

    crew: Counter[str] = field(default_factory=Counter[str])
    """Of the run itself: who shares it has put them there."""
    others: Counter[str] = field(default_factory=Counter[str])


class Others:
    """As a run sees them. Of what is no trial it knows only what it comes to."""

    def __init__(self, ledger: Ledger, *, study: str | None, run: str) -> None:
        self._ledger, self._study, self._run = ledger, study, run
        self._since = self._looked = 0
        self.results: Counter[str] = Counter()
        """By run, what was on record when last looked at; a hint, as one may be committed behind a later one."""

    def begin(self) -> None:
        """What is on record by now is not of others that are at it."""
        self._since = self._looked = 0 if self._study is None else last_result(self._ledger)

    def among(self, keys: Collection[str]) -> ResultsOfOthers:
        """Of these trials, which have a result."""
        if self._study is None or not keys:
            return ResultsOfOthers()
        found = results_since(self._ledger, self._since, keys)
        crew = Counter(reason for run, reason in found.values() if run == self._run)
        return ResultsOfOthers(crew=crew, others=Counter(reason for _, reason in found.values()) - crew)

    def look(self) -> None:
        if self._study is not None:
            until = last_result(self._ledger)
            self.results += results_by_others(self._ledger, self._study, self._run, after=self._looked, until=until)
            self._looked = until
