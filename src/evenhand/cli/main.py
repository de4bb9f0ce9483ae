"""The command line: finds the command, turns every error into a sentence and an exit code."""

import difflib
import gc
import importlib
import os
import sys
import traceback
from pathlib import Path

import click

from evenhand import __version__
from evenhand.cli.environment import look_around

COMMANDS = {
    "demo": "Everything at once, on an embedded model and the bundled sample.",
    "judge": "Ask a judge to compare the answers of several models.",
    "answer": "Ask a model every item of a benchmark.",
    "describe-images": "Ask a model what images show, for models that answer without them.",
    "rank": "The board of what was judged, with the judge's reliability.",
    "score": "A benchmark's table as its paper makes it.",
    "report": "One HTML file: the board, how far its judge can be trusted, every judgement to look at.",
    "align": "Judges compared with people, and people with each other.",
    "judges": "Every judge in one table: near to people, fair to both positions, and at what price.",
    "bridge": "A new judge's models on the board of an old one, by the models that both rated.",
    "correlate": "How far the benchmarks of a table of scores agree.",
    "sample": "Sample the comparisons that people are asked, as a study.",
    "audit": "Test whether a judge can be trusted, before or after it judges.",
    "sentinel": "Ask a judge again what it decided, and say whether it has changed since.",
    "grade": "The Grade Score: does a judge pick the same option whatever the order?",
    "runs": "What was run, and how each run ended.",
    "compare": "What changed from one run to another: verdicts, coverage, ratings, item by item.",
    "show": "One run, trial or item in full: prompt, images, raw reply, how it was read.",
    "read": "Read verdicts from raw replies made elsewhere, without a call.",
    "reproduce": "A paper's published tables recomputed, row by row against what was printed.",
    "benchmarks": "The available benchmarks, with licence and counts.",
    "describe": "What benchmarks hold: counts, lengths, images, what they ask for and show.",
    "protocols": "The available protocols, with their prompts and reading rules.",
    "models": "The available providers; fetch the embedded model.",
    "import": "Read answers or judgements from files into the ledger.",
    "export": "Write judgements, battles, answers or a board from the ledger to a file.",
    "serve": "The boards as pages, an API, and the owner's pages.",
    "publish": "The boards' public part as a folder of pages that needs no server.",
    "worker": "Do what people ask for on the pages: fetch images, have models answer and judge.",
    "growing": "The benchmarks that people let grow: begin one, take rows and sheets in, make versions.",
    "people": "Who has an account on the site; new accounts and tokens without a page.",
    "submissions": "Boards that take submissions, and what their owner decides about each.",
    "submit": "Send a model's answers to a server that takes submissions, and follow them.",
    "verify": "Check a submission's receipt against the ledger, digit by digit.",
    "ledger": "Size, backup and integrity of the ledger.",
    "doctor": "Is everything in place: keys, endpoint, model, ledger, cache?",
}


_ROOMS: dict[str, tuple[str, ...]] = {
    "ask": (
        "answer",
        "audit",
        "describe-images",
        "grade",
        "judge",
        "sentinel",
    ),
    "data": (
        "benchmarks",
        "describe",
        "export",
        "import",
        "ledger",
        "models",
        "protocols",
    ),
    "people": (
        "growing",
        "people",
        "sample",
        "submissions",
        "submit",
        "verify",
    ),
    "read": (
        "align",
        "bridge",
        "compare",
        "correlate",
        "judges",
        "rank",
        "read",
        "report",
        "reproduce",
        "runs",
        "score",
        "show",
    ),
    "server": (
        "publish",
        "serve",
        "worker",
    ),
    "start": (
        "demo",
        "doctor",
    ),
}
"""In which folder each command lies."""


class Commands(click.Group):
    """Imports a command's module only when that command runs, so that help comes at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        room = next(room for room, commands in _ROOMS.items() if cmd_name in commands)
        module = importlib.import_module(f"evenhand.cli.{room}.{cmd_name.replace('-', '_')}_command")
        return _trustful(module.command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else " `evenhand --help` lists the commands."
            ctx.fail(f"There is no command '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _trustful(command: click.Command) -> click.Command:
    """With --trust-folder, which the commands that ask models have declared themselves."""
    from evenhand.cli.options import trustful

    trustful(command)
    if isinstance(command, click.Group):
        for child in command.commands.values():
            _trustful(child)
    return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="evenhand", message="%(prog)s %(version)s")
@click.pass_context
def evenhand(ctx: click.Context) -> None:
    """Rank multimodal language models with judges, human or model, and measure whether those judges can be trusted.

    Every flag can also be set by a variable, EVENHAND_ and the flag's name, or in evenhand.toml. Of what files of the
    current folder say, only what can do no harm is taken without --trust-folder.
    """
    ctx.obj = look_around(Path.cwd())


def main() -> None:
    """Never shows a traceback: an unexpected error is written to a file that the sentence names.

    Raises SystemExit, whose cause is the error, if any.
    """
    # What is imported stays to the end: to look for what is left of it every 700 objects takes a tenth of a second.
    if gc.get_threshold()[0] < 10_000:
        gc.set_threshold(10_000, 20, 20)
    # Before numpy is loaded: on matrices as small as a board's, threads cost more in waiting than they do.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Columns of a few megabytes that live for a moment: the kernel clears a huge page whole, however little is used.
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    cause: Exception | None = None
    try:
        code = evenhand.main(prog_name="evenhand", standalone_mode=False)
    except click.exceptions.Exit as leaving:
        code = leaving.exit_code
    except click.ClickException as error:
        _show(error)
        _show_document(error)
        code, cause = error.exit_code, error
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        code = 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone; there is nobody to tell
        code = 1
    except Exception as error:  # noqa: BLE001  the last resort of the program
        code, cause = _failed(error), error
        _show_document(error)
    raise SystemExit(code if isinstance(code, int) else 0) from cause


def _show(error: click.ClickException) -> None:
    """As click does, but folded between words."""
    from evenhand.cli.saying import say

    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return
    if isinstance(error, click.UsageError) and error.ctx is not None:
        click.echo(f"{error.ctx.get_usage()}\nTry '{error.ctx.command_path} --help' for help.\n", err=True)
    say(f"Error: {error.format_message()}")


def _show_document(error: Exception) -> None:
    """Where `--json` asks for one document, an error is that document; every command prints its own last."""
    if "--json" not in sys.argv[1:] or isinstance(error, click.exceptions.NoArgsIsHelpError):
        return
    import json

    from evenhand.cli.sentences import error_document

    click.echo(json.dumps(error_document(error), ensure_ascii=True))


def _failed(error: Exception) -> int:
    from evenhand.cli.sentences import exit_code_of

    code = exit_code_of(error)
    if code is not None:
        from evenhand.cli.saying import say

        say(f"Error: {error}")
        return code
    report = _keep_traceback(error)
    click.echo(f"Error: Unexpected error ({type(error).__name__}). {report}", err=True)
    return 1


def _keep_traceback(error: Exception) -> str:
    import tempfile

    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="evenhand-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            # Frames without their values: a key held in a variable is never written.
            file.write(f"evenhand {__version__}\n" + "".join(traceback.format_exception(error)))
    except OSError:
        return "The details could not be written to a file."
    return f"The details are in {file.name}; please report them."
