"""`evenhand submit`: a team sends its model's answers to a server, and follows what becomes of them."""

import json
from dataclasses import dataclass
from pathlib import Path

import click
from click.core import ParameterSource

from evenhand.cli import options
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import option, output
from evenhand.files.outputs import Target

_ENDINGS = (".csv", ".jsonl")
_TOKEN_LONGEST = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitOptions:
    """What is done or said once has no variable: `judge` means something else by EVENHAND_BATTLES, and nobody accepts,
    confirms or withdraws by a line in a file."""

    force: bool = options.force()
    url: str = options.argument()
    file: Path | None = options.argument(required=False, type=click.Path(path_type=Path))
    token: str | None = option(
        "--token", help="The team's, by EVENHAND_TOKEN only: a command line is seen by others on the machine."
    )
    token_file: Path | None = option(
        "--token-file", settable=False, type=click.Path(path_type=Path), help="A file that holds the team's token."
    )
    benchmark: str | None = option(
        "--benchmark", metavar="NAME", help="Which of the server's boards, by benchmark or id, where it has several."
    )
    model: str | None = option("--model", help="The model's name.")
    version: str | None = option("--version", help="Its version; later ones are listed next to earlier ones.")
    team: str | None = option("--team", help="The team's name.")
    link: str = option("--link", default="", metavar="URL", help="Where one reads about the model.")
    accept_policy: bool = option(
        "--accept-policy",
        settable=False,
        is_flag=True,
        help="The benchmark's policy is accepted; without it it is shown.",
    )
    status: str | None = option(
        "--status",
        settable=False,
        metavar="ID",
        help="The state of an earlier submission; or FILE is its corrected file.",
    )
    confirm: bool = option(
        "--confirm", settable=False, is_flag=True, help="Have it judged, where the file has no faults."
    )
    publish: bool = option("--publish", settable=False, is_flag=True, help="With --status: show its name on the board.")
    withdraw: bool = option("--withdraw", settable=False, is_flag=True, help="With --status: take it off the board.")
    wait: bool = option(
        "--wait", settable=False, is_flag=True, help="Wait until it is judged, or the owner's to decide."
    )
    every: float = option(
        "--every", type=click.FloatRange(0), default=10.0, show_default=True, help="Seconds between two looks."
    )
    questions: Target | None = output(
        "--questions",
        settable=False,
        type=click.Path(path_type=Path),
        help="Write what is to be answered, the public part of the items, to this .jsonl file, and send nothing.",
    )
    receipt: Target | None = output(
        "--receipt",
        settable=False,
        type=click.Path(path_type=Path),
        help="Write its receipt to this file, once it is judged.",
    )
    battles: Target | None = output(
        "--battles",
        settable=False,
        type=click.Path(path_type=Path),
        help="Write its battles to this file, once it is judged.",
    )
    as_json: bool = options.as_json()


@click.command("submit")
@options.takes(SubmitOptions)
def command(ctx: click.Context, given: SubmitOptions) -> None:
    """Send FILE, a model's answers as .csv or .jsonl, to the server at URL, and follow the submission.

    What is missing, doubled, unknown or empty in it is told at once; nothing is judged before it is confirmed. Exit 2
    where the file has faults; 3 where --wait ends with a part judged, because the budget was reached, or with the
    owner to decide. --questions fetches what is to be answered; that needs no token.
    """
    import asyncio

    from evenhand.cli.people.submission_server import address
    from evenhand.cli.people.submitting import Entry, SubmitJob, carry_out, fetch_questions

    if given.questions is not None:
        _refuse_beside_questions(given)
        document = asyncio.run(fetch_questions(address(given.url), given.benchmark, given.questions))
        if given.as_json:
            click.echo(json.dumps({"schema": 1, **document}, ensure_ascii=True))
        return
    _refuse(given)
    order = SubmitJob(
        server=address(given.url),
        token=_token(ctx, given),
        file=given.file,
        submission=given.status,
        entry=Entry(
            benchmark=given.benchmark,
            model=given.model,
            version=given.version,
            team=given.team,
            link=given.link,
            accept_policy=given.accept_policy,
        ),
        confirm=given.confirm,
        word="publish" if given.publish else "withdraw" if given.withdraw else None,
        wait=given.wait,
        every=given.every,
        receipt=given.receipt,
        battles=given.battles,
    )
    outcome = asyncio.run(carry_out(order))
    if given.as_json:
        click.echo(json.dumps({"schema": 1, **outcome.document}, ensure_ascii=True))
    ctx.exit(outcome.exit_code)


def _refuse_beside_questions(given: SubmitOptions) -> None:
    if given.file is not None or given.status or given.confirm or given.publish or given.withdraw or given.wait:
        raise WrongUse("--questions is said alone: it fetches what is to be answered, before anything is sent.")


def _refuse(given: SubmitOptions) -> None:
    """Raises WrongUse for what is plainly wrong before anybody is asked."""
    file = given.file
    if file is None and not given.status:
        raise WrongUse("Give the file of answers, or --status ID of a submission begun before.")
    if (given.publish or given.withdraw) and (file or not given.status or given.confirm):
        raise WrongUse("--publish and --withdraw are said alone, of a submission begun before: --status ID.")
    if given.publish and given.withdraw:
        raise WrongUse("Give --publish or --withdraw, not both.")
    if file is not None:
        _refuse_file(file)


def _refuse_file(file: Path) -> None:
    if file.suffix.lower() not in _ENDINGS:
        raise WrongUse(f"{file}: give a .csv or a .jsonl file.")
    try:
        with file.open("rb") as data:
            empty = not data.read(1)
    except OSError as error:
        raise WrongUse(f"{file} cannot be read: {error.strerror}.") from None
    if empty:
        raise WrongUse(f"{file} is empty; at least one answer is needed.")


def _token(ctx: click.Context, given: SubmitOptions) -> str:
    if ctx.get_parameter_source("token") is ParameterSource.COMMANDLINE:
        raise WrongUse(
            "A token on the command line is seen by everybody on this machine, and stays in the shell's history; "
            "set EVENHAND_TOKEN or give --token-file FILE, and make yourself another token: this one may be known now.",
            code="EH-TOKEN",
        )
    file = given.token_file
    token = ((given.token or "") if file is None else _words_of(file)).strip()
    if not token:
        raise WrongUse(
            "The server must know whose submission it is; set EVENHAND_TOKEN, or give --token-file FILE.",
            code="EH-TOKEN",
        )
    if not token.isascii() or not token.isprintable() or " " in token:
        raise WrongUse("The token holds a character that no token has; copy it again.", code="EH-TOKEN")
    return token


def _words_of(file: Path) -> str:
    try:
        with file.open(encoding="utf-8") as opened:
            return opened.read(_TOKEN_LONGEST)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise WrongUse(f"The token's file {file} cannot be read: {why}.", code="EH-TOKEN") from None
