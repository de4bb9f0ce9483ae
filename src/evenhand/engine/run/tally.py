"""What a run has done so far, counted in trials, requests, tokens and dollars."""

import time
from collections import Counter
from dataclasses import dataclass, field

from evenhand.domain.call import Reply
from evenhand.domain.identity import Json
from evenhand.domain.verdict import NoVerdict

STANDARD_TIERS = frozenset({"auto", "default", "standard", "on_demand"})
"""Names of the usual service tier."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """`planned` = known + called + not_reached once the run is over."""

    planned: int = 0
    known: int = 0
    """Had a result before, or were read from a reply on record."""
    meanwhile: int = 0
    """Of the known, those that other runs asked since this one began."""
    by_crew: int = 0
    """Of the known, those that other processes of this run put on record, as far as this one has come to them."""
    known_no_verdict: Counter[str] = field(default_factory=Counter[str])
    """Of what other runs asked, before or meanwhile, how many hold no decision, by reason."""
    reread: int = 0
    """Of the known, those read in this run from a reply on record, without a call."""
    called: int = 0
    requests: int = 0
    verdicts: int = 0
    no_verdict: Counter[str] = field(default_factory=Counter[str])
    failed: Counter[str] = field(default_factory=Counter[str])
    elsewhere: int = 0
    """Being asked by other runs on the same ledger, when last looked at."""
    in_batches: int = 0
    """Waiting in batches when the run ended; they are not reached."""
    by_batch: bool = False
    """Calls go out in batches."""
    tokens: Counter[str] = field(default_factory=Counter[str])
    tiers: Counter[str] = field(default_factory=Counter[str])
    """Replies by the service tier that they were served under, where the endpoint says so."""
    cost_usd: float = 0.0
    cost_unknown: int = 0
    """Replies whose price is unknown."""
    adapted: Counter[str] = field(default_factory=Counter[str])
    last_failure: str = ""
    last_seconds: float = 0.0
    """What the last reply took."""
    _started: float = field(default_factory=time.monotonic)
    _cpu: float = field(default_factory=time.process_time)

    def add_reply(self, reply: Reply, cost_usd: float | None) -> None:
        self.requests += reply.requests
        self.last_seconds = reply.seconds
        usage = reply.usage
        for name in ("input", "output", "cached", "reasoning"):
            self.tokens[name] += getattr(usage, name) or 0
        if usage.cache_written:
            self.tokens["cache_written"] += usage.cache_written
        if usage.tier is not None:
            self.tiers[usage.tier] += 1
        self.add_cost(cost_usd)
        if reply.adapted:
            self.adapted.update(reply.adapted)

    def add_cost(self, cost_usd: float | None) -> None:
        if cost_usd is None:
            self.cost_unknown += 1
        else:
            self.cost_usd += cost_usd

    def add_result(self, lacking: NoVerdict | None) -> None:
        """A verdict or an answer, or why it is lacking."""
        if lacking is None:
            self.verdicts += 1
        elif lacking.call_failed:
            self.failed[lacking.reason] += 1
            if lacking.reason != "interrupted" or not self.last_failure:  # which only follows from another cause
                self.last_failure = lacking.detail
        else:
            self.no_verdict[lacking.reason] += 1

    def take_back(self, lacking: NoVerdict | None, *, at_hand: bool = False, meanwhile: bool = False) -> None:
        """A result, as `add_result`, that another run's stands for. `at_hand`: it was read without a call, of this run
        or of another one `meanwhile`."""
        if at_hand:
            self.known -= 1
            self.meanwhile -= meanwhile
            self.reread -= not meanwhile
        else:
            self.called -= 1
        if lacking is None:
            self.verdicts -= 1
        elif lacking.call_failed:
            self.failed -= Counter({lacking.reason: 1})
        else:
            self.no_verdict -= Counter({lacking.reason: 1})

    def stopped_with(self, decided: int) -> None:
        """`decided`: of all that was planned, what has a result now that the run stopped early."""
        self.known = max(self.known, decided - (self.called - self.failed.total()))

    @property
    def done(self) -> int:
        return self.known + self.called

    @property
    def not_reached(self) -> int:
        return self.planned - self.known - self.called

    @property
    def wall_s(self) -> float:
        return time.monotonic() - self._started

    def as_json(self, run: str) -> dict[str, Json]:
        return {
            "schema": 1,
            "run": run,
            "planned": self.planned,
            "known": self.known,
            "asked_meanwhile": self.meanwhile,
            "known_no_verdict": dict(self.known_no_verdict),
            "reread": self.reread,
            "called": self.called,
            "not_reached": self.not_reached,
            "elsewhere": self.elsewhere,
            "in_batches": self.in_batches,
            "requests": self.requests,
            "verdicts": self.verdicts,
            "no_verdict": dict(self.no_verdict),
            "failed": dict(self.failed),
            "cost_usd": None if self.cost_unknown else round(self.cost_usd, 6),
            "tokens": dict(self.tokens),
            "service_tiers": dict(self.tiers),
            "adapted": dict(self.adapted),
            "wall_s": round(self.wall_s, 3),
            "cpu_s": round(time.process_time() - self._cpu, 3),
        }
