"""`evenhand submit`: a team sends its model's answers to a server, and follows what becomes of them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from evenhand.cli import options
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import option

_ENDINGS = (".csv", ".jsonl")
_TOKEN_LONGEST = 4096


# What is done or said once has no variable: `judge` means something else by EVENHAND_BATTLES, and nobody accepts,
# confirms or withdraws by a line in a file.
@click.command("submit")
@options.writes("receipt", "battles")
@click.argument("url")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@option("--token", help="The team's, by EVENHAND_TOKEN only: a command line is seen by others on the machine.")
@click.option("--token-file", type=click.Path(path_type=Path), help="A file that holds the team's token.")
@option("--benchmark", metavar="NAME", help="Which of the server's boards, by benchmark or id, where it has several.")
@option("--model", help="The model's name.")
@option("--version", help="Its version; later ones are listed next to earlier ones.")
@option("--team", help="The team's name.")
@option("--link", default="", metavar="URL", help="Where one reads about the model.")
@click.option("--accept-policy", is_flag=True, help="The benchmark's policy is accepted; without it it is shown.")
@click.option("--status", metavar="ID", help="The state of an earlier submission; or FILE is its corrected file.")
@click.option("--confirm", is_flag=True, help="Have it judged, where the file has no faults.")
@click.option("--publish", is_flag=True, help="With --status: show its name on the board.")
@click.option("--withdraw", is_flag=True, help="With --status: take it off the board.")
@click.option("--wait", is_flag=True, help="Wait until it is judged.")
@option("--every", type=click.FloatRange(0), default=10.0, show_default=True, help="Seconds between two looks.")
@click.option("--receipt", type=click.Path(path_type=Path), help="Write its receipt to this file, once it is judged.")
@click.option("--battles", type=click.Path(path_type=Path), help="Write its battles to this file, once it is judged.")
@options.as_json
@click.pass_context
def command(ctx: click.Context, url: str, file: Path | None, **flags: Any) -> None:
    """Send FILE, a model's answers as .csv or .jsonl, to the server at URL, and follow the submission.

    What is missing, doubled, unknown or empty in it is told at once; nothing is judged before it is confirmed. Exit 2
    where the file has faults, 3 where --wait ends with a part judged because the budget was reached.
    """
    import asyncio

    from evenhand.cli.people.submission_server import address
    from evenhand.cli.people.submitting import Entry, SubmitJob, carry_out

    _refuse(file, flags)
    order = SubmitJob(
        server=address(url),
        token=_token(ctx, flags),
        file=file,
        submission=flags["status"],
        entry=Entry(
            **{name: flags[name] for name in ("benchmark", "model", "version", "team", "link", "accept_policy")}
        ),
        confirm=flags["confirm"],
        word=next((word for word in ("publish", "withdraw") if flags[word]), None),
        wait=flags["wait"],
        every=flags["every"],
        receipt=flags["receipt"],
        battles=flags["battles"],
    )
    outcome = asyncio.run(carry_out(order))
    if flags["as_json"]:
        click.echo(json.dumps({"schema": 1, **outcome.document}, ensure_ascii=True))
    ctx.exit(outcome.exit_code)


def _refuse(file: Path | None, flags: Mapping[str, Any]) -> None:
    """Raises WrongUse for what is plainly wrong before anybody is asked."""
    if file is None and not flags["status"]:
        raise WrongUse("Give the file of answers, or --status ID of a submission begun before.")
    if (flags["publish"] or flags["withdraw"]) and (file or not flags["status"] or flags["confirm"]):
        raise WrongUse("--publish and --withdraw are said alone, of a submission begun before: --status ID.")
    if flags["publish"] and flags["withdraw"]:
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


def _token(ctx: click.Context, flags: Mapping[str, Any]) -> str:
    if ctx.get_parameter_source("token") is ParameterSource.COMMANDLINE:
        raise WrongUse(
            "A token on the command line is seen by everybody on this machine, and stays in the shell's history; "
            "set EVENHAND_TOKEN or give --token-file FILE, and make yourself another token: this one may be known now."
        )
    file: Path | None = flags["token_file"]
    token = ((flags["token"] or "") if file is None else _words_of(file)).strip()
    if not token:
        raise WrongUse("The server must know whose submission it is; set EVENHAND_TOKEN, or give --token-file FILE.")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise WrongUse("The token holds a character that no token has; copy it again.")
    return token


def _words_of(file: Path) -> str:
    try:
        with file.open(encoding="utf-8") as opened:
            return opened.read(_TOKEN_LONGEST)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise WrongUse(f"The token's file {file} cannot be read: {why}.") from None
