"""What a placing is likely to take, as a document and as sentences."""

from dataclasses import dataclass

from evenhand.domain.identity import Json
from evenhand.domain.placing import LookPlan
from evenhand.engine.run.expected import Expected, Lessons, plan_costs
from evenhand.engine.run.quote import DryRun
from evenhand.reports.board.placed import TOO_FEW_IN_BOTH, ExpectedCalls

_UNKNOWN: dict[str, Json] = {"cost_usd_low": None, "cost_usd_expected": None, "cost_usd_high": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedPlacing:
    plan: LookPlan
    known: int
    rules: tuple[ExpectedCalls, ...]
    a_call: float | None
    """Dollars at most."""
    next_batch: tuple[Lessons, DryRun] | None
    """What is known of its calls, and their count; None: no more is asked."""

    def as_json(self) -> dict[str, Json]:
        return {
            "model": self.plan.new,
            "until": str(self.plan.until),
            "looks": self.plan.looks,
            "max_calls": self.plan.max_calls,
            "known": self.known,
            "cost_usd_a_call": self.a_call,
            **self.costs(),
            "expected": [
                {**one.as_json(), "cost_usd": self._cost(one.calls), **self._costs_of(one)} for one in self.rules
            ],
        }

    def costs(self) -> dict[str, Json]:
        """Of the calls that are still to be made, by the rule asked for; where nobody knows what that takes, the most
        alone."""
        asked = next((one for one in self.rules if one.until == self.plan.until), None)
        if asked is not None:
            return self._costs_of(asked)
        return {**_UNKNOWN, "cost_usd_high": self._costs_at(self.plan.max_calls)["cost_usd_high"]}

    def _costs_of(self, rule: ExpectedCalls) -> dict[str, Json]:
        """From what the model took that needed the fewest calls to what the one did that needed the most."""
        calls = {"cost_usd_low": rule.fewest, "cost_usd_expected": rule.calls, "cost_usd_high": rule.most}
        return {name: self._costs_at(each)[name] for name, each in calls.items()}

    def _costs_at(self, calls: float) -> dict[str, Json]:
        unknown = self.next_batch is not None and not self.next_batch[1].calls
        return _UNKNOWN if unknown else plan_costs(self._likely(calls))

    def _likely(self, calls: float) -> Expected | None:
        """Of so many, but for those that are known; None where none are left."""
        if self.next_batch is None:
            return None
        learned, quoted = self.next_batch
        whole = DryRun.none_yet(learned.quote)
        whole.take(quoted, times=max(0.0, calls - self.known) / max(1, quoted.calls))
        return learned.expected(whole)

    def _cost(self, calls: float) -> float | None:
        return None if self.a_call is None else round(self.a_call * calls, 4)

    def sentences(self) -> list[str]:
        plan = self.plan
        said = [f"Placing {plan.new}: at most {plan.max_calls:,} calls in {plan.looks} looks, {self.known:,} known."]
        for one in self.rules:
            cost = self._cost(one.calls)
            price = "" if cost is None else f", at most about ${cost:.4f}"
            mark = " (as asked)" if one.until == plan.until else ""
            fewer = (
                f" with at most {one.replayed:,} calls"
                if one.met < one.models and one.replayed < plan.max_calls
                else ""
            )
            said.append(
                f"--until {one.until}{mark}: about {one.calls:,.0f} calls{price}; met by {one.met} of {one.models} "
                f"models of the board, placed again{fewer}."
            )
        if not self.rules:
            said.append(f"What it is likely to take is not known: {TOO_FEW_IN_BOTH}.")
        if self.a_call is None and self.next_batch is not None:
            said.append("What a call costs is not known: give --price.")
        return [*said, *self._cost_sentences()]

    def _cost_sentences(self) -> list[str]:
        low, likely, high = self.costs().values()
        if low is None or likely is None or high is None:
            return []
        rule = next(one for one in self.rules if one.until == self.plan.until)
        of = self._likely(rule.calls)
        why = f"; {of.basis}" if of is not None else ""
        return [f"Likely cost of what is left: ${likely:.4f} (${low:.4f} to ${high:.4f}){why}."]
