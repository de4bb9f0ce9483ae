"""What `evenhand submit` does, step by step: begin, upload, confirm, wait, fetch what came of it."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import click

from evenhand.cli.environment import WrongUse
from evenhand.cli.people.submission_server import Document, ServerAddress, SubmissionServer, Unreachable
from evenhand.cli.saying import say
from evenhand.cli.sentences import FAILED, INCOMPLETE, WRONG_USE
from evenhand.domain.estimate import Estimate
from evenhand.files.outputs import Target
from evenhand.format.near_names import hint
from evenhand.format.printable import printable
from evenhand.format.supported import share_interval, share_words
from evenhand.format.words import counted, per_cent

_SENTENCES_SHOWN = 30
_UNREACHED_MOST = 10
"""So many times in a row the server may not answer while it is waited for."""
_OVER = ("judged", "refused", "withdrawn")
_OWNER_DECIDES = ("confirmed", "stopped")

_STAGES = {
    "draft": "is a draft: nothing is judged before it is confirmed",
    "confirmed": "waits for the owner's approval",
    "approved": "is approved, and waits its turn",
    "stopped": "has reached its budget; the owner is asked whether to go on",
    "judged": "is judged",
    "refused": "was refused by the owner",
    "withdrawn": "is withdrawn",
}


_SAID = {
    "publish": "It is published: its name is on the board.",
    "withdraw": "It is withdrawn: it is on no board, and what was judged stays on record.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A new submission, as the flags tell of it."""

    benchmark: str | None
    model: str | None
    version: str | None
    team: str | None
    link: str
    accept_policy: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitJob:
    server: ServerAddress
    token: str
    file: Path | None
    submission: str | None
    """One that was begun before; None: a new one."""
    entry: Entry
    confirm: bool = False
    word: str | None = None
    """`publish` or `withdraw`."""
    wait: bool = False
    every: float = 10.0
    """Seconds between two looks while waiting."""
    receipt: Target | None = None
    battles: Target | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitOutcome:
    document: Document
    """The last that the server said, with the check of a file that was uploaded."""
    exit_code: int = 0


async def carry_out(order: SubmitJob) -> SubmitOutcome:
    async with SubmissionServer(order.server, order.token) as server:
        submission = order.submission or await _begun(server, order.entry)
        uploaded: Document | None = None
        if order.file is not None and not (order.submission and await _sent_before(server, submission, order.file)):
            uploaded = await server.upload(submission, order.file)
            _tell_check(submission, order.file, uploaded)
            if uploaded.get("faults"):
                say(f"Nothing was confirmed. Correct the file, and send it again with --status {submission}.")
                return SubmitOutcome(document=uploaded, exit_code=WRONG_USE)
        document = await _followed(server, submission, uploaded, order)
        _tell_stage(submission, document)
        if order.wait and document.get("stage") in _OWNER_DECIDES:
            say(f"That is the owner's to decide, so nothing is waited for; later: --status {submission} --wait.")
        else:
            await _fetched(server, submission, document, order)
    check = {} if uploaded is None else {"check": uploaded.get("check")}
    return SubmitOutcome(document={**document, **check}, exit_code=_exit_code(document) if order.wait else 0)


async def fetch_questions(where: ServerAddress, benchmark: str | None, target: Target) -> Document:
    """The public part of the items, in a file; what the server says of the board."""
    async with SubmissionServer(where, "") as server:
        intake = chosen(await server.intakes(), benchmark)
        try:
            await server.questions(str(intake.get("intake")), target)
        except OSError as error:
            raise click.ClickException(f"{target} cannot be written: {error.strerror or error}.") from None
    say(f"{intake.get('title')}: {intake.get('items')} questions are in {target}.")
    return intake


async def _sent_before(server: SubmissionServer, submission: str, file: Path) -> bool:
    """Whether this very file is confirmed already. Raises WrongUse where another one is, or it is over."""
    document = await server.status(submission)
    if document.get("stage") == "draft":
        return False
    sent = document.get("upload")
    held = cast("Document", sent).get("sha256") if isinstance(sent, dict) else None
    same = held == _sha256(file)
    if not same or document.get("stage") in ("withdrawn", "refused"):
        raise WrongUse(
            printable(_standing(submission, document))
            + f" {'This file' if same else 'Its file is another one, and'} cannot be sent to it any more; "
            "begin a new submission for it, without --status.",
            code="EH-SUBMISSION-STAGE",
        )
    say(f"{file.name} is the file that was confirmed before; it counts once.")
    return True


def _sha256(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


async def _followed(server: SubmissionServer, submission: str, uploaded: Document | None, order: SubmitJob) -> Document:
    """Where it stands once all was said that was ordered."""
    document: Document | None = uploaded
    if order.confirm:
        document = await _confirmed(server, submission, uploaded)
    if order.word:
        before = await server.status(submission) if order.word == "publish" else {}
        published = bool(before.get("published"))
        document = before if published else await server.say(submission, order.word)
        figure = await _figure_told(server, submission, document) if order.word == "publish" else ""
        if published:
            say("It was published before, so nothing is left to do.")
        say(figure or _SAID[order.word])
    if order.wait:
        return await _waited(server, submission, order.every)
    return document or await server.status(submission)


async def _figure_told(server: SubmissionServer, submission: str, document: Document) -> str:
    """What everybody may now read of a submission to a ladder; empty of another, or where it is not published."""
    if not document.get("published") or not _on_ladder(document):
        return ""
    listed = [one.get("published") for one in await server.intakes()]
    every = [cast("Document", one) for some in listed if isinstance(some, list) for one in cast("list[object]", some)]
    figure = next((one for one in every if one.get("submission") == submission), None)
    if figure is None or not isinstance(figure.get("share"), float | int):
        why = None if figure is None else figure.get("share_reason")
        return f"It is published: its name is on the board's page, without a figure{f', as {why}' if why else ''}."
    share = Estimate(
        value=figure["share"],
        lower=figure.get("share_lower"),
        upper=figure.get("share_upper"),
        n=int(figure.get("share_n") or 0),
    )
    if share.lower is None:
        return f"It is published: {share_words(share)} of {share.n} items won, without an interval."
    return (
        f"It is published: {share_words(share)} of {share.n} items in reserve won, rounded to whole items (95 % "
        f"interval {share_interval(share)})."
    )


def _on_ladder(document: Document) -> bool:
    row = document.get("row")
    return isinstance(row, dict) and cast("Document", row).get("feedback") == "ladder"


async def _begun(server: SubmissionServer, entry: Entry) -> str:
    lacking = [f"--{name}" for name in ("model", "version", "team") if not getattr(entry, name)]
    if lacking:
        raise WrongUse(f"A new submission needs {', '.join(lacking)}; one begun before is named by --status ID.")
    await server.greet()
    intake = chosen(await server.intakes(), entry.benchmark)
    policy = str(intake.get("policy", ""))
    if not entry.accept_policy:
        click.echo(printable(policy), err=True)
        raise WrongUse("That is the policy of this benchmark; who accepts it says so with --accept-policy.")
    accepted = hashlib.sha256(policy.encode("utf-8", "surrogatepass")).hexdigest()
    if accepted != intake.get("policy_hash"):
        raise WrongUse(
            "The server's policy is not the one that its hash names; nothing was accepted or sent. Tell its owner.",
            code="EH-POLICY-MISMATCH",
        )
    entered = {"model": entry.model or "", "version": entry.version or "", "team": entry.team or "", "link": entry.link}
    submission = await server.begin(str(intake.get("intake")), {**entered, "policy_hash": accepted})
    say(f"Submission {submission} was begun; its policy was accepted.")
    return submission


def chosen(intakes: Sequence[Document], name: str | None) -> Document:
    """The one meant by a benchmark's name or an intake's id; without a name the only one. Raises WrongUse."""
    told = ", ".join(f"{one.get('intake')} ({one.get('title')})" for one in intakes)
    if not intakes:
        raise WrongUse("This server takes no submissions; ask its owner for a board that does.", code="EH-INTAKE")
    fitting = [one for one in intakes if name is None or name in (one.get("intake"), one.get("benchmark"))]
    if not fitting:
        names = sorted({str(one.get("benchmark")) for one in intakes})
        sentence = f"This server takes no submissions to {name}; {hint(str(name), names)}"
        raise WrongUse(printable(sentence), code="EH-INTAKE")
    if len(fitting) > 1:
        sentence = f"Submissions are taken to several; choose one by its id with --benchmark: {told}."
        raise WrongUse(printable(sentence), code="EH-INTAKE")
    if not fitting[0].get("open"):
        sentence = f"{fitting[0].get('title')} takes no submissions at this moment; come back later."
        raise WrongUse(printable(sentence), code="EH-INTAKE")
    return fitting[0]


async def _confirmed(server: SubmissionServer, submission: str, uploaded: Document | None) -> Document:
    sent = uploaded or (await server.status(submission)).get("upload")
    upload = cast("Document", sent).get("upload") if isinstance(sent, dict) else None
    if not isinstance(upload, int):
        raise WrongUse(
            f"Submission {submission} has no file that could be confirmed; give one.", code="EH-SUBMISSION-STAGE"
        )
    return await server.confirm(submission, upload)


async def _waited(server: SubmissionServer, submission: str, every: float) -> Document:
    """Until it is over, whatever the end, or the owner's to decide; a server that restarts meanwhile is waited for."""
    told, unreached = "", 0
    while True:
        try:
            document = await server.status(submission)
            unreached = 0
        except Unreachable as error:
            unreached += 1
            if unreached >= _UNREACHED_MOST:
                raise
            document, progress = {}, error.message
        else:
            stage = document.get("stage")
            if stage == "draft":
                raise WrongUse(
                    f"Submission {submission} is a draft, and would be waited for in vain; --confirm it.",
                    code="EH-SUBMISSION-STAGE",
                )
            if stage in (*_OVER, *_OWNER_DECIDES):
                return document
            progress = _standing(submission, document)
        if progress != told:
            say(progress)
        told = progress
        await asyncio.sleep(every)


async def _fetched(server: SubmissionServer, submission: str, document: Document, order: SubmitJob) -> None:
    wanted = {what: path for what, path in (("receipt", order.receipt), ("battles", order.battles)) if path}
    # Once judged it has them, though it was withdrawn since; of one that is judged on the server says so.
    if wanted and document.get("judged_at") is None:
        raise click.ClickException(
            f"There is no {' nor '.join(wanted)} yet: submission {submission} is not judged. --wait waits for it."
        )
    for what, path in wanted.items():
        try:
            await server.download(submission, what, path)
        except OSError as error:
            raise click.ClickException(f"{path} cannot be written: {error.strerror or error}.") from None
        say(f"The receipt is in {path}." if what == "receipt" else f"The battles are in {path}.{_not_in(document)}")


def _not_in(document: Document) -> str:
    """Of the battles, those against models that are off the board since."""
    ways = {"opponents_gone": "left since", "opponents_away": "judged on meanwhile"}
    numbers = {why: document.get(field) for field, why in ways.items()}
    found = [f"{number} {why}" for why, number in numbers.items() if number]
    return f" Not in it are those against opponents off the board: {', '.join(found)}." if found else ""


def _exit_code(document: Document) -> int:
    """After waiting."""
    if document.get("stage") in _OWNER_DECIDES:
        return INCOMPLETE
    if document.get("stage") != "judged":
        return FAILED
    return INCOMPLETE if document.get("partial") else 0


def _tell_check(submission: str, file: Path, document: Document) -> None:
    given = document.get("check")
    check = cast("Document", given) if isinstance(given, dict) else {}
    faults = document.get("faults")
    found = counted(faults, "fault") if isinstance(faults, int) and faults else "no fault"
    say(f"{file.name}: answers to {check.get('answered')} of {check.get('items')} items, {found}.")
    listed = check.get("sentences")
    sentences = [str(one) for one in cast("list[object]", listed)] if isinstance(listed, list) else []
    for sentence in sentences[:_SENTENCES_SHOWN]:
        say(f"- {sentence}")
    if len(sentences) > _SENTENCES_SHOWN:
        say(f"- and {len(sentences) - _SENTENCES_SHOWN} more; --json has them all for submission {submission}.")


def _tell_stage(submission: str, document: Document) -> None:
    if "stage" not in document:
        say(f"Nothing is judged yet: confirm it with --status {submission} --confirm.")
        return
    click.echo(printable(_standing(submission, document)), err=True)
    row = document.get("row")
    if isinstance(row, dict):
        say(_row(cast("Document", row)))
    if document.get("stage") == "judged" and not document.get("published"):
        ladder = _on_ladder(document)
        seen = "Nobody but its team and the owner sees it" if ladder else "On the board it is anonymous"
        shows = "lists it with the figure that is published" if ladder else "shows its name"
        say(f"{seen} until --status {submission} --publish {shows}.")


def _standing(submission: str, document: Document) -> str:
    stage = str(document.get("stage"))
    told = _STAGES.get(stage, f"is at the stage {stage}")
    if stage == "approved" and document.get("wanted"):
        told = "is approved, and is being judged"
    words = f"Submission {submission} {told}"
    reason, place = document.get("reason"), document.get("place")
    wanted, done = document.get("wanted"), document.get("done")
    if stage == "refused" and reason:
        words += f": {reason}"
    if place is not None and not (stage == "approved" and wanted):
        words += f"; its place in the queue is {place}"
    if wanted and stage in ("approved", "stopped"):
        most = "at most " if document.get("looks") else ""
        # Others than the owner are not told how many are done before all are.
        words += (
            f"; {most}{wanted} trials are wanted" if done is None else f"; {done} of {most}{wanted} trials are judged"
        )
    if stage == "judged" and document.get("partial"):
        words += ", in part: its budget was reached"
    if stage == "judged" and document.get("published"):
        words += ", and published"
    return f"{words}."


def _row(row: Document) -> str:
    if row.get("feedback") == "ladder":
        moved = "It is this submission's." if row.get("changed") else "This submission did not move it."
        if row.get("shown") is None:
            return "The team has no row yet: it comes with a submission that is judged whole."
        return f"The team's row on the ladder: {_won(float(row['shown']), int(row.get('shown_n') or 0))}. {moved}"
    rating = _rating(row)
    rank = f", rank {row.get('rank')}{_range(row, 'rank')} of {row.get('models')}" if row.get("rank") else ""
    visit = row.get("visit")
    elo = cast("Document", visit) if isinstance(visit, dict) else {}
    unsure = ", without an interval: all its items are alike" if elo.get("elo_reason") else ""
    played = ""
    if elo.get("elo") is not None:
        played = f" Elo {elo['elo']}{_range(elo, 'elo')}, as VisIT-Bench plays it{unsure}."
    why = f" {row['rating_reason']}" if row.get("rating") is None and row.get("rating_reason") else ""
    soft = " Its soft verdicts said when to end; this row is of the hard ones." if _placed_softly(row) else ""
    return f"{rating}{rank}.{why}{played}{soft} The receipt has the rest."


def _won(share: float, items: int) -> str:
    """Of a figure that is rounded to whole items."""
    return f"{round(share * items)} of {counted(items, 'item')} won ({per_cent(share, decimals=0)})"


def _placed_softly(row: Document) -> bool:
    placed = row.get("placed")
    return isinstance(placed, dict) and bool(cast("Document", placed).get("soft"))


def _rating(row: Document) -> str:
    """Where a model won or lost everything no finite rating fits: then what bound there is."""
    if row.get("rating") is not None:
        return f"Rating {row['rating']}{_range(row, 'rating')}"
    lower, upper = row.get("rating_lower"), row.get("rating_upper")
    if lower is None and upper is None:
        return "No rating yet"
    return f"No finite rating, {f'above {lower}' if lower is not None else f'below {upper}'}"


def _range(row: Document, name: str) -> str:
    lower, upper = row.get(f"{name}_lower"), row.get(f"{name}_upper")
    return "" if lower is None or upper is None else f" ({lower} to {upper})"
