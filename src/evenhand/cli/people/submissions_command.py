"""`evenhand submissions`: boards that take submissions, and what their owner decides, without a page."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from evenhand.cli import options
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import LedgerOptions, option
from evenhand.cli.people.owning import BY, must_have_pages, refusing
from evenhand.cli.saying import say, typeable

if TYPE_CHECKING:
    from evenhand.domain.submission import Despite, Feedback, Pairs, SubmissionState, SubmissionTerms
    from evenhand.ledger.store.record import Ledger
    from evenhand.ledger.submissions.intakes import Intake
    from evenhand.site.boards.listing import BoardOnRecord
    from evenhand.site.submissions.owner_api import EstimateShown, SubmissionForOwner


@click.group("submissions", invoke_without_command=True)
@options.takes(LedgerOptions)
def command(ctx: click.Context, given: LedgerOptions) -> None:
    """The boards of this ledger that take submissions, and what was submitted: where it stands, what it would cost."""
    must_have_pages("submissions")
    if ctx.invoked_subcommand is not None:
        return
    from evenhand.format.tables import console, print_entries
    from evenhand.ledger.store.record import Ledger
    from evenhand.ledger.store.worker_notes import worker_notes
    from evenhand.ledger.submissions.intakes import intakes_on_record
    from evenhand.site.submissions.owner_api import submissions_for_owner

    ledger = Ledger(given.store, create=False)
    intakes, found = intakes_on_record(ledger), submissions_for_owner(ledger)
    if given.as_json:
        boards = [{"intake": one.id, "benchmark": one.benchmark, **_terms_told(one)} for one in intakes]
        click.echo(json.dumps({"schema": 1, "intakes": boards, "submissions": found}, ensure_ascii=False))
        return
    if not intakes:
        click.echo("No board takes submissions; `evenhand submissions open` lets one.")
    entries = [(f"{one.benchmark} ({one.id})", _board_facts(ledger, one)) for one in intakes]
    entries += [(f"{one['model']} {one['version']} ({one['submission']})", _facts(one)) for one in found]
    print_entries(entries, console())
    said = worker_notes(ledger).get("submissions")
    if said is not None and said.sentence:
        click.echo(f"The worker says: {said.sentence}")


def _board_facts(ledger: "Ledger", one: "Intake") -> list[str]:
    from evenhand.reports.receipts.ladder import asked_of
    from evenhand.site.submissions.owner_words import asked_told

    facts = [f"takes {'submissions' if one.terms.open else 'none now'}: {one.terms.drawn}"]
    if not one.terms.ladder:
        return facts
    held = f", {len(one.terms.reserved)} items in reserve" if one.terms.reserved else ", no reserve"
    return [*facts, f"feedback: ladder{held}", asked_told(one.terms, asked_of(ledger, one))]


def _terms_told(one: "Intake") -> dict[str, object]:
    """The reserve by its size: its items stay in the ledger."""
    return {**one.terms.as_json(), "reserved": len(one.terms.reserved)}


def _facts(one: "SubmissionForOwner") -> list[str]:
    from evenhand.format.words import counted
    from evenhand.site.submissions.owner_words import STAGES

    facts = [f"of {one['team']}: {STAGES[one['stage']]}{', published' if one['published'] else ''}"]
    plan = one["estimate"]
    if plan is not None:
        cost = "no price is known" if plan["cost_usd"] is None else f"at most ${plan['cost_usd']:.2f}"
        likely = f"likely ${plan['likely_usd']:.2f}, " if plan["likely_usd"] is not None else ""
        calls = f"at most {counted(plan['calls_at_most'], 'call')}"
        facts.append(f"{_asked_for(plan)}, {calls}, {likely}{cost}")
        if plan["reach"] is not None:
            facts.append(f"its interval is likely to reach {plan['reach']:.0f} points to each side")
        if plan["orders"] or plan["verdicts"]:
            facts.append(f"{plan['orders']} of its answers give the judge orders, {plan['verdicts']} write verdicts")
            facts += plan["steering"]
        if plan["repeated"]:
            facts.append(f"{plan['repeated']} of its answers say the same as others of them")
        if plan["like"]:
            facts.append(f"{plan['same']} of its answers are those of {plan['like']}")
    if one["spent_usd"]:
        facts.append(f"${one['spent_usd']:.2f} spent")
    facts += [failure["detail"] for failure in one["failures"][-1:]]
    facts += [f"reason: {one['reason']}"] if one["reason"] else []
    if plan is None and one["stage"] == "confirmed":
        return [*facts, typeable(_ESTIMATED_FIRST)]
    held = plan is not None and bool(plan["orders"] or plan["verdicts"] or plan["repeated"] or plan["like"])
    next_step = _next(one["submission"], one["stage"], held=held)
    return [*facts, typeable(next_step)] if next_step else facts


def _asked_for(plan: "EstimateShown") -> str:
    from evenhand.format.words import counted

    if not plan["until"]:
        return counted(plan["battles"], "battle")
    about = "" if plan["expected_calls"] is None else f"about {round(plan['expected_calls']):,}, "
    compared = f"{about}at most {counted(plan['max_calls'], 'comparison')}"
    return f"nearest opponents until {plan['until']}, {counted(plan['looks'], 'look')}, {compared}"


_ESTIMATED_FIRST = (
    "Next: `evenhand worker --judge MODEL --once`, or the worker of `evenhand serve`, says what it would cost."
)


_DESPITE = (
    "has it judged without battles against the reference, and with `--despite with_reference` instead as any other"
)


def _next(submission: str, stage: str, *, held: bool = False) -> str:
    """What its owner may type now; empty where nothing waits for them. `held`: whether they have to decide about its
    battles against the reference."""
    approve = f"`evenhand submissions approve {submission} --budget DOLLARS`"
    refuse = f"`evenhand submissions refuse {submission} --reason WHY`"
    match stage:
        case "confirmed" if held:
            return f"Next: {approve[:-1]} --despite without_reference` {_DESPITE}; {refuse} has it not judged."
        case "confirmed":
            return f"Next: {approve} has it judged, {refuse} not."
        case "stopped":
            return f"Next: {approve} lets it go on, `evenhand submissions close {submission}` ends it as it is."
        case "approved":
            return "Next: `evenhand worker --once`, or the worker of `evenhand serve`, judges it."
        case _:
            return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOptions:
    """Said once, so by no variable: EVENHAND_BATTLES is what `judge` means by it."""

    benchmark: str = options.argument()
    board: str | None = option(
        "--board", settable=False, metavar="ID", help="Which board of the benchmark, where it has several."
    )
    policy_file: Path | None = option(
        "--policy-file",
        settable=False,
        type=click.Path(path_type=Path, dir_okay=False),
        help="What every team accepts; without a file, that nothing of it is trained on.",
    )
    battles: int = option(
        "--battles", settable=False, type=click.IntRange(1, 1_000_000), default=700, show_default=True,
        help="Battles that place a model.",
    )  # fmt: skip
    reference_battles: int = option(
        "--reference-battles", settable=False, type=click.IntRange(0, 1_000_000), default=150, show_default=True,
        help="Of these, against the reference.",
    )  # fmt: skip
    per_team: int = option(
        "--per-team", settable=False, type=click.IntRange(1, 1_000_000), default=3, show_default=True,
        help="Submissions of one team within --days.",
    )  # fmt: skip
    days: int = option("--days", settable=False, type=click.IntRange(1, 1_000_000), default=30, show_default=True)
    missing_allowed: int = option(
        "--missing-allowed", settable=False, type=click.IntRange(0, 1_000_000), default=0, show_default=True,
        help="Items that may be without an answer.",
    )  # fmt: skip
    pairs: str = option(
        "--pairs", settable=False, type=click.Choice(["random", "nearest"]), default="random", show_default=True,
        help="Whom a model meets: opponents by lot, or those of the founding models it is hardest to tell from, until "
        "--until is met.",
    )  # fmt: skip
    until: str = option(
        "--until", settable=False, default="rank=3", show_default=True, metavar="RULE",
        help="With --pairs nearest, when enough is known: rank=3, tier, above=NAME or width=50.",
    )  # fmt: skip
    looks: int = option(
        "--looks", settable=False, type=click.IntRange(2, 50), default=7, show_default=True,
        help="With --pairs nearest, how often it is looked at whether enough is known.",
    )  # fmt: skip
    max_calls: int = option(
        "--max-calls", settable=False, type=click.IntRange(2, 1_000_000), default=560, show_default=True,
        help="With --pairs nearest, the most that are made for a model.",
    )  # fmt: skip
    feedback: str = option(
        "--feedback", settable=False, type=click.Choice(["paper", "ladder"]), default="paper", show_default=True,
        help="What a team learns: its row and its battles, or nothing by item and a row that moves only by more than "
        "its standard error.",
    )  # fmt: skip
    reserve: float = option(
        "--reserve", settable=False, type=click.FloatRange(0, 0.9), default=0.0, show_default=True, metavar="SHARE",
        help="Of the items, held back for the published figure of a ladder; 0.3 is a good share.",
    )  # fmt: skip
    store: str = options.store()
    as_json: bool = options.as_json()


@command.command("open")
@options.takes(OpenOptions)
def open_command(_: click.Context, given: OpenOptions) -> None:
    """Let the board of BENCHMARK take submissions: what is submitted is judged as that board was.

    Teams need an account (`evenhand people add NAME --role team`), and send answers with `evenhand submit` to a
    running `evenhand serve`.
    """
    from evenhand.ledger.store.record import Ledger
    from evenhand.site.http.audit_log import LogEvent, write_down
    from evenhand.site.submissions.deciding import OPENED, open_board

    ledger = Ledger(given.store, create=False)
    board = _board(ledger, given)
    with refusing():
        made = open_board(ledger, board, _terms(given), by=BY)
    write_down(ledger, LogEvent(what=OPENED, detail=made))
    if given.as_json:
        click.echo(json.dumps({"schema": 1, "intake": made, "board": board.id}))
        return
    say(
        f"{board.benchmark}, judged by {board.judge}, takes submissions ({made}). Next: "
        "`evenhand people add NAME --role team` for each team, and `evenhand serve`, to which they send."
    )


def _board(ledger: "Ledger", given: OpenOptions) -> "BoardOnRecord":
    """Raises WrongUse where it is none, or several."""
    from evenhand.format.near_names import hint
    from evenhand.site.boards.listing import boards_on_record
    from evenhand.site.submissions.deciding import submittable

    boards = submittable(boards_on_record(ledger))
    found = [one for one in boards if one.benchmark == given.benchmark and given.board in (None, one.id)]
    if not found and given.board is None:
        names = sorted({one.benchmark for one in boards})
        known = hint(given.benchmark, names) if names else "`evenhand judge` judges one."
        words = f"No board of '{given.benchmark}' was judged by a model here; {known}"
        raise WrongUse(words, code="EH-CHOOSE-NOTHING")
    if not found:
        told = ", ".join(one.id for one in boards if one.benchmark == given.benchmark) or "none"
        words = f"'{given.benchmark}' has no board {given.board} here; it has: {told}."
        raise WrongUse(words, code="EH-CHOOSE-NOTHING")
    if len(found) > 1:
        told = "; ".join(f"{one.id} ({one.judge}, {one.protocol}, data {one.data[:8]})" for one in found)
        words = f"'{given.benchmark}' has several boards; choose one with --board: {told}."
        raise WrongUse(words, code="EH-CHOOSE-SEVERAL")
    return found[0]


def _terms(given: OpenOptions) -> "SubmissionTerms":
    """Raises Refusal, WrongUse."""
    from evenhand.domain.submission import SubmissionTerms
    from evenhand.site.submissions.deciding import POLICY, POLICY_LONGEST, decided_terms

    policy = POLICY if given.policy_file is None else _policy(given.policy_file)
    if not 0 < len(policy) <= POLICY_LONGEST:
        raise WrongUse(f"A policy has 1 to {POLICY_LONGEST:,} characters, not {len(policy):,}.")
    return decided_terms(
        SubmissionTerms(
            policy=policy,
            battles=given.battles,
            reference_battles=given.reference_battles,
            per_team=given.per_team,
            days=given.days,
            missing_allowed=given.missing_allowed,
            feedback=cast("Feedback", given.feedback),
            reserve=given.reserve,
            pairs=cast("Pairs", given.pairs),
            until=given.until,
            looks=given.looks,
            max_calls=given.max_calls,
        )
    )


def _policy(path: Path) -> str:
    from evenhand.site.living.proposed import plain

    try:
        return plain(path.read_text(encoding="utf-8")).strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise WrongUse(f"{path} cannot be read: {why}.") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproveOptions:
    """Nobody spends by a line in a file."""

    submission: str = options.argument()
    budget: float | None = option(
        "--budget", settable=False, type=click.FloatRange(0, 1_000_000), help="Dollars that judging it may cost in all."
    )
    unlimited: bool = option("--unlimited", settable=False, is_flag=True, help="Without a limit.")
    estimate: int | None = option(
        "--estimate", settable=False, type=int, help="The number of the estimate that you saw; the one that stands."
    )
    despite: str | None = option(
        "--despite",
        settable=False,
        type=click.Choice(["with_reference", "without_reference"]),
        help="Where answers give the judge orders or verdicts, or repeat each other or another submission's: judge "
        "them as any, or never against the reference.",
    )
    store: str = options.store()
    as_json: bool = options.as_json()


@command.command("approve")
@options.takes(ApproveOptions)
def approve(_: click.Context, given: ApproveOptions) -> None:
    """Have SUBMISSION judged within a budget in dollars: by the worker of `evenhand serve`, or by `evenhand worker`.

    One that has reached its budget, judged in part or not, goes on with this one, which is for all of it.
    """
    from evenhand.ledger.store.record import Ledger
    from evenhand.ledger.submissions.store import find_submission
    from evenhand.site.submissions.deciding import approved, raised
    from evenhand.site.submissions.owner_words import limit

    if given.unlimited == (given.budget is not None):
        raise WrongUse("Give --budget DOLLARS, or --unlimited where there shall be no limit.")
    ledger = Ledger(given.store, create=False)
    found = find_submission(ledger, given.submission)
    if found is not None and found.standing.stage in ("stopped", "judged"):
        with refusing(lists="evenhand submissions"):
            stands = raised(ledger, given.submission, by=BY, budget=given.budget)
        _tell(ledger, given.submission, stands, f"raised a budget: {limit(given.budget)}", as_json=given.as_json)
        return
    without = "" if given.despite else "--despite without_reference approves it without these battles, "
    undecided = f"Here {without}--despite with_reference approves it as it is."
    with refusing(lists="evenhand submissions", undecided=undecided):
        stands = approved(
            ledger,
            given.submission,
            by=BY,
            estimate=given.estimate,
            budget=given.budget,
            despite=cast("Despite", given.despite or ""),
        )
    _tell(ledger, given.submission, stands, f"approved a submission: {limit(given.budget)}", as_json=given.as_json)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefuseOptions:
    submission: str = options.argument()
    reason: str = option("--reason", settable=False, required=True, help="Why; the team reads it.")
    store: str = options.store()
    as_json: bool = options.as_json()


@command.command("refuse")
@options.takes(RefuseOptions)
def refuse(_: click.Context, given: RefuseOptions) -> None:
    """Have SUBMISSION not judged, with the reason that its team reads."""
    from evenhand.ledger.store.record import Ledger
    from evenhand.site.submissions.deciding import REFUSED, refused

    ledger = Ledger(given.store, create=False)
    with refusing(lists="evenhand submissions"):
        stands = refused(ledger, given.submission, by=BY, reason=given.reason)
    _tell(ledger, given.submission, stands, REFUSED, as_json=given.as_json)


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseOptions:
    submission: str = options.argument()
    store: str = options.store()
    as_json: bool = options.as_json()


@command.command("close")
@options.takes(CloseOptions)
def close(_: click.Context, given: CloseOptions) -> None:
    """Have SUBMISSION end with what is judged of it, as where it has reached its budget; its receipt says so."""
    from evenhand.ledger.store.record import Ledger
    from evenhand.site.submissions.deciding import CLOSED, closed

    ledger = Ledger(given.store, create=False)
    with refusing(lists="evenhand submissions"):
        stands = closed(ledger, given.submission, by=BY)
    _tell(ledger, given.submission, stands, CLOSED, as_json=given.as_json)


def _tell(ledger: "Ledger", submission: str, stands: "SubmissionState", what: str, *, as_json: bool) -> None:
    from evenhand.site.http.audit_log import LogEvent, write_down
    from evenhand.site.submissions.owner_words import STAGES

    write_down(ledger, LogEvent(what=what, detail=submission))
    if as_json:
        budget = None if stands.approved is None else stands.approved.budget
        document = {"schema": 1, "submission": submission, "stage": stands.stage, "budget": budget}
        click.echo(json.dumps(document))
        return
    say(f"Submission {submission}: {STAGES[stands.stage]}. {_next(submission, stands.stage)}".rstrip())
