"""What is said about a run when it is over, and its exit code."""

import json
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import click

from evenhand.api.jobs import Done, document_of
from evenhand.cli.ask.progress import duration
from evenhand.cli.notes import say_notes
from evenhand.cli.saying import folded, say
from evenhand.cli.sentences import INCOMPLETE, INTERRUPTED, exit_code_of
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json
from evenhand.engine.run.budget import dollars_up
from evenhand.engine.run.expected import Expected, plan_costs
from evenhand.engine.run.quote import DryRun
from evenhand.engine.run.tally import STANDARD_TIERS
from evenhand.engine.tasks.judging import Placing
from evenhand.format.printable import printable
from evenhand.models.prices import COUNTED_BY
from evenhand.reports.board.expected import ExpectedBoard, ExpectedInterval


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Done):
    noun: str = "trials"

    @classmethod
    def of(cls, done: Done) -> "Outcome":
        return cls(**{one.name: getattr(done, one.name) for one in fields(done)})

    @property
    def exit_code(self) -> int:
        ended = self.ended
        if ended.error is not None:
            return exit_code_of(ended.error) or 1
        if ended.interrupted:
            return INTERRUPTED
        incomplete = ended.tally.failed or ended.over_budget or ended.tally.elsewhere or ended.tally.in_batches
        return INCOMPLETE if incomplete else 0

    def print_summary(self) -> None:
        """On standard error: what was done, what is missing and how to go on."""
        for sentence in self.sentences():
            say(sentence)

    def sentences(self) -> list[str]:
        ended, tally = self.ended, self.ended.tally
        known = tally.known - tally.reread - tally.meanwhile
        meanwhile = f"{tally.meanwhile} asked by other runs meanwhile, " if tally.meanwhile else ""
        reread = f"{tally.reread} read from replies on record without a call, " if tally.reread else ""
        # Requests without anything asked: another run has taken over what they were for.
        spent = f" ({tally.requests} requests, {duration(tally.wall_s)}, {self._cost()})"
        said = [
            f"{tally.planned} {self.noun}: {known} known before, {meanwhile}{reread}{tally.called} asked"
            + (f"{spent}." if tally.called or tally.requests else ".")
        ]
        said += self._served()
        said += self._undecided()
        if self.unread is not None:
            command = shlex.join(["evenhand", "show", self.unread[:12], *self.store])
            said.append(f"No reply was read as a verdict; `{command}` shows one whole.")
        said += [f"Note: {words}" for words in tally.adapted]
        if tally.cost_unknown and self.known_price:
            counted = ". Against the budget each counts as the most it can have cost" if ended.budget else ""
            said.append(
                f"Note: {tally.cost_unknown} calls did not say how many tokens they used, or said none: what they cost "
                f"is not known{counted}."
            )
        if tally.failed:
            told = ended.error is not None and tally.last_failure in str(ended.error)
            last = "" if told else f" The last said: {tally.last_failure}"
            said.append(f"Failed calls: {_counts(tally.failed)}.{last}")
        if tally.elsewhere:
            said.append(f"{tally.elsewhere} {self.noun} are being asked by another run on this ledger.")
        if tally.in_batches:
            said.append(self._in_batches())
        if ended.over_budget:
            said.append(self._over_budget())
        if ended.interrupted:
            left = f"; {self._not_asked()}" if tally.not_reached > tally.in_batches else "."
            said.append(f"Interrupted{left} All that was answered is on record.")
        if ended.error is not None:
            said.append(f"Error: {ended.error}")
        return [*said, *self._advice()]

    def _served(self) -> list[str]:
        """What was cheaper, or dearer, than usual."""
        tally = self.ended.tally
        said: list[str] = []
        if (cached := tally.tokens["cached"]) and (read := tally.tokens["input"]):
            said.append(f"Of {read:,} tokens in, {cached:,} ({cached / read:.0%}) came from the provider's cache.")
        if set(tally.tiers) - STANDARD_TIERS:
            said.append(f"Served under these tiers: {_counts(tally.tiers)}.")
        return said

    def _in_batches(self) -> str:
        tally, until = self.ended.tally, self.ended.batches_until
        latest = time.strftime(", at the latest by %Y-%m-%d %H:%M", time.localtime(until)) if until else ""
        return (
            f"{tally.in_batches:,} {self.noun} wait in batches, which are on record. Most end within an hour{latest}: "
            "the same command again, with --batch, collects what has come."
        )

    def _not_asked(self) -> str:
        left = self.ended.tally.not_reached - self.ended.tally.in_batches
        return f"{left:,} {self.noun} are not asked."

    def _undecided(self) -> list[str]:
        tally = self.ended.tally
        said: list[str] = []
        if tally.known_no_verdict:
            those = "known before or asked by other runs" if tally.meanwhile else "known before"
            said.append(f"Of those {those}, without a decision: {_counts(tally.known_no_verdict)}.")
        if tally.no_verdict:
            said.append(f"Replies without a decision, kept and counted: {_counts(tally.no_verdict)}.")
        if tally.no_verdict.get("truncated"):
            said.append("Truncated replies were cut at their token limit; a higher --max-tokens lets them end.")
        return said

    def _over_budget(self) -> str:
        ended, budget = self.ended, self.ended.budget
        left = self._not_asked()
        if ended.overrun:
            return f"The run ends early: {ended.overrun} {left}"
        assert budget is not None, "nothing else is ever reached"
        limit, refused = f"${budget.most:.10g}", ended.refused or 0.0
        if budget.killed:
            return (
                f"The budget of {limit} is reached: ${budget.taken - budget.cut_off:.4f} spent and "
                f"${budget.cut_off:.4f} counted as spent for calls that were cut off when a process was killed; {left} "
                f"Give a higher --max-cost to go on, {dollars_up(budget.taken + refused)} or more: it counts all that "
                f"was spent since the run in which that was, and the next call can cost ${dollars_up(refused)}."
            )
        if refused > budget.most:
            return (
                f"This run's budget of {limit} is less than the ${dollars_up(refused)} that one of the next calls "
                f"alone can cost at most, and so much is set aside before it is sent; {left} Give --max-cost "
                f"{dollars_up(refused)} or more: with less the same can happen again."
            )
        if ended.tally.in_batches:
            return (
                f"This run's budget of {limit} is reached: {self._cost()} spent, and the rest set aside for the calls "
                f"that wait in batches; {left} The same command again goes on with what those did not cost."
            )
        spent = f"{self._cost()} spent; the next call could pass it"
        if budget.shared:
            spent = f"{self._cost()} spent here, the rest by the same command in another process"
        return (
            f"This run's budget of {limit} ({spent}) is reached; {left} Run the same command again to spend as much "
            "again on the rest."
        )

    def _advice(self) -> list[str]:
        ended, tally = self.ended, self.ended.tally
        if not self.exit_code or isinstance(ended.error, Misuse) or ended.over_budget:
            return []
        if tally.in_batches and not (tally.failed or tally.elsewhere or ended.interrupted or ended.error):
            return []  # said already
        replies = tally.verdicts + sum(tally.no_verdict.values())
        came = replies or "empty-reply" in tally.failed
        if tally.failed and not came and not ended.interrupted and ended.error is None:
            if tally.by_batch and set(tally.failed) <= {"timeout", "interrupted"}:
                return ["The same command again sends these calls anew; without --batch each is asked at once."]
            return ["No reply has come: check the address, the key and the model's name; `evenhand doctor` tries them."]
        return ["Run the same command again: only what is missing is asked."]

    def _cost(self) -> str:
        tally = self.ended.tally
        if not tally.cost_unknown and self.known_price:
            return f"${tally.cost_usd:.4f}"
        if not tally.cost_usd:
            unsaid = f"cost unknown: {tally.cost_unknown} replies do not tell how many tokens were used"
            return unsaid if self.known_price else "price unknown"
        return f"${tally.cost_usd:.4f} and {tally.cost_unknown} replies of unknown price"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """Of one command that made several runs, one for each protocol."""

    each: tuple[Outcome, ...]
    for_a_board: bool = False
    """Verdicts are what it is for: with none at all it is incomplete. An audit's figure of such a judge is a result."""
    titles: tuple[str, ...] = ()
    """What each is called where it is not by its protocol."""

    @property
    def document(self) -> dict[str, Json]:
        return document_of(self.each)

    @property
    def exit_code(self) -> int:
        codes = [one.exit_code for one in self.each]
        least = INCOMPLETE if self._nothing_read else 0
        return next((code for code in codes if code not in (0, INCOMPLETE)), max(*codes, least))

    @property
    def _nothing_read(self) -> bool:
        return self.for_a_board and all(one.unread is not None for one in self.each)

    @property
    def cut_short(self) -> bool:
        """By an error or by the user, and not only incomplete."""
        return self.exit_code not in (0, INCOMPLETE)

    @property
    def wait(self) -> bool:
        """Some of it waits in batches."""
        return any(one.ended.tally.in_batches for one in self.each)

    @property
    def only_wait(self) -> bool:
        """Some of it waits in batches, and nothing has come yet that could be told of."""
        return self.wait and not any(one.ended.tally.done for one in self.each)

    def print_summary(self) -> None:
        titles = self.titles or tuple(str(one.protocol) for one in self.each)
        for one, title in zip(self.each, titles, strict=True):
            if len(self.each) > 1:
                click.echo(f"{title}:", err=True)
            one.print_summary()
        if self._nothing_read and not self.cut_short:
            say(f"As no reply at all could be read, the run counts as incomplete (exit code {INCOMPLETE}).")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyRun:
    """What a run is likely to cost, and what it buys."""

    expected: Expected | None = None
    interval: ExpectedInterval | None = None
    """Of the rating of the model that joins."""
    board: ExpectedBoard | None = None
    """Of the ratings of all, where none joins."""

    def as_json(self) -> dict[str, Json]:
        buys = self.interval or self.board
        return {
            **self.cost_json(),
            "expected_interval": self.interval and self.interval.as_json(),
            "interval_expected": buys and buys.plan_json(),
        }

    def cost_json(self) -> dict[str, Json]:
        return {"expected": self.expected and self.expected.as_json(), **plan_costs(self.expected)}

    def sentences(self) -> list[str]:
        said: list[str] = []
        if (likely := self.expected) is not None:
            cost = "Likely cost: unknown, as no price is known"
            if not likely.images_known:
                cost = "Likely cost: unknown, as is what images take"
            elif likely.cost_usd is not None and likely.lower is not None and likely.upper is not None:
                cost = f"Likely cost: ${likely.cost_usd:.4f} (${likely.lower:.4f} to ${likely.upper:.4f})"
            tokens = f"{likely.input_tokens:,.0f} tokens in and {likely.output_tokens:,.0f} out"
            said += [f"{cost}; {tokens}.", *_other_way(likely)]
        if (buys := self.interval or self.board) is not None:
            said.append(buys.sentence())
        return said

    def method(self) -> list[str]:
        """What the cost is worked out from."""
        basis = "" if self.expected is None else self.expected.basis
        return [f"How the likely cost is known: {basis}."] if basis else []


def _other_way(likely: Expected) -> list[str]:
    """What the same calls would cost in batches, or call by call, where that is not the same."""
    likely_usd, plain, batch = likely.cost_usd, likely.plain_cost_usd, likely.batch_cost_usd
    if not likely.images_known or likely_usd is None:
        return []
    if plain is not None:
        return [f"That is the price in batches; call by call it would be about ${plain:.4f}."]
    return [] if batch is None or batch >= likely_usd else [f"With --batch it would be about ${batch:.4f}."]


def print_dry_run(
    quoted: DryRun,
    *,
    max_cost: float | None,
    as_json: bool,
    noun: str = "trials",
    placing: Placing | None = None,
    players: Sequence[str] = (),
    likely: LikelyRun | None = None,
) -> None:
    if as_json:
        joins: dict[str, Json] = {} if placing is None else {"placing": placing.as_json()}
        plays: dict[str, Json] = {"models": list(players)} if players else {}
        buys: dict[str, Json] = {} if likely is None else likely.as_json()
        click.echo(json.dumps({**quoted.as_json(), "max_cost": max_cost, **joins, **plays, **buys}))
        return
    wanted = f"{quoted.trials:,} {noun} wanted, {quoted.known:,} already known"
    if placing is not None:
        _tell(_placing_sentence(placing, quoted))
        _tell(f"{wanted}.")
    else:
        if players:
            _tell(f"Who plays: {', '.join(players)}.")
        calls = f"{quoted.calls:,} calls to make"
        if quoted.calls_at_most > quoted.calls:
            calls = f"at least {quoted.calls:,} and at most {quoted.calls_at_most:,} calls to make"
        _tell(f"{wanted}, {calls}.")
    if quoted.drawn:
        _tell(
            f"That is an estimate: {quoted.drawn:,} of the {quoted.drawn_of:,} {noun} without a result were drawn and "
            f"counted, which tells the tokens in to within {200 * quoted.error:.2g} %."
        )
    if quoted.in_batches:
        _tell(
            f"{quoted.in_batches:,} of these calls wait in batches already: they are not sent again, and cost once "
            "what is told here."
        )
    say_notes(quoted.adapted)
    for sentence in likely.sentences() if likely else ():
        _tell(sentence)
    if quoted.calls_at_most:
        _print_costs(quoted, max_cost=max_cost, priced=placing is not None)
    for sentence in likely.method() if likely else ():
        _tell(sentence)


def _tell(sentence: str) -> None:
    click.echo(folded(printable(sentence), sys.stdout))


def _print_costs(quoted: DryRun, *, max_cost: float | None, priced: bool) -> None:
    """`priced`: the price was told already."""
    read = f"About {quoted.input_tokens:,} tokens in"
    by = "" if quoted.counted_by == COUNTED_BY else f" by {quoted.counted_by}"
    if quoted.input_tokens_at_most > quoted.input_tokens:
        read = f"About {quoted.input_tokens:,} tokens in at least and {quoted.input_tokens_at_most:,} at most"
    read += by
    price = "" if priced else f"; {_price(quoted)}"
    _tell(f"{read}, at most {quoted.output_tokens:,} out{price}.")
    if max_cost is not None and quoted.cost_usd is not None and quoted.cost_usd > max_cost:
        _tell(
            f"That may be more than --max-cost {max_cost:.10g}: the run would stop at that budget, and the same "
            "command again would ask the rest."
        )
    if quoted.images_by is not None:
        _tell(f"The {quoted.pictures:,} images are counted by {quoted.images_by}.")
    if not quoted.image_tokens_known:
        _tell(f"The {quoted.pictures:,} images are counted by OpenAI's rule; what this endpoint counts is unknown.")


def _price(quoted: DryRun) -> str:
    if quoted.cost_usd is None or quoted.input_cost_usd is None:
        return "price unknown (give --price)"
    return f"about ${quoted.input_cost_usd:.4f} at least, for the input alone, and at most ${quoted.cost_usd:.4f}"


def _placing_sentence(placing: Placing, quoted: DryRun) -> str:
    at_most = f" at least, {quoted.calls_at_most:,} at most" if quoted.calls_at_most > quoted.calls else ""
    return (
        f"Placing {placing.model}: {placing.battles:,} battles ({placing.against_reference:,} against the reference), "
        f"{quoted.calls:,} calls{at_most}, {_price(quoted)}."
    )
