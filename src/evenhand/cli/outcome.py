"""What is said about a run when it is over, and its exit code."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import click

from evenhand.cli.progress import duration
from evenhand.cli.sentences import INCOMPLETE, INTERRUPTED, exit_code_of
from evenhand.domain.identity import Json
from evenhand.domain.printable import printable
from evenhand.engine.quote import DryRun
from evenhand.engine.session import Ended
from evenhand.models.errors import Misuse


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    ended: Ended
    noun: str = "trials"

    @property
    def document(self) -> dict[str, Json]:
        return self.ended.tally.as_json(self.ended.run)

    @property
    def exit_code(self) -> int:
        ended = self.ended
        if ended.error is not None:
            return exit_code_of(ended.error) or 1
        if ended.interrupted:
            return INTERRUPTED
        incomplete = ended.tally.failed or ended.over_budget or ended.tally.elsewhere
        return INCOMPLETE if incomplete else 0

    def print_summary(self) -> None:
        """On standard error: what was done, what is missing and how to go on."""
        for sentence in self.sentences():
            click.echo(printable(sentence), err=True)

    def sentences(self) -> list[str]:
        ended, tally = self.ended, self.ended.tally
        cost = _cost(tally.cost_usd, unknown=tally.cost_unknown)
        said = [
            f"{tally.planned} {self.noun}: {tally.known} known before, {tally.called} asked"
            + (f" ({tally.requests} requests, {duration(tally.wall_s)}, {cost})." if tally.called else ".")
        ]
        if tally.no_verdict:
            said.append(f"Replies without a decision, kept and counted: {_counts(tally.no_verdict)}.")
        said += [f"Note: {words}" for words in tally.adapted]
        if tally.failed:
            said.append(f"Failed calls: {_counts(tally.failed)}. The last said: {tally.last_failure}")
        if tally.elsewhere:
            said.append(f"{tally.elsewhere} {self.noun} are being asked by another run on this ledger.")
        if ended.over_budget:
            said.append(f"The budget is reached; {tally.not_reached} {self.noun} are not asked.")
        if ended.interrupted:
            said.append(
                f"Interrupted; {tally.not_reached} {self.noun} are not asked. All that was answered is on record."
            )
        if ended.error is not None:
            said.append(f"Error: {ended.error}")
        if self.exit_code and not isinstance(ended.error, Misuse):
            said.append("Run the same command again: only what is missing is asked.")
        return said


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))


def _cost(dollars: float, *, unknown: int) -> str:
    if not unknown:
        return f"${dollars:.4f}"
    return f"${dollars:.4f} and {unknown} replies of unknown price" if dollars else "price unknown"


def print_dry_run(quoted: DryRun, *, as_json: bool, noun: str = "trials") -> None:
    if as_json:
        click.echo(json.dumps(quoted.as_json()))
        return
    price = "price unknown (give --price)" if quoted.cost_usd is None else f"at most ${quoted.cost_usd:.4f}"
    click.echo(f"{quoted.trials} {noun} wanted, {quoted.known} already known, {quoted.calls} calls to make.")
    if not quoted.calls:
        return
    click.echo(f"About {quoted.input_tokens} tokens in, at most {quoted.output_tokens} out; {price}.")
    if not quoted.image_tokens_known:
        click.echo(f"The {quoted.pictures} images are counted by OpenAI's rule; what this endpoint counts is unknown.")
