"""From the flags of `worker` to the kinds of work it does; and the worker that `serve` keeps beside it."""

import asyncio
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from evenhand.api.asking import Contact
from evenhand.cli.ask.asking_means import contact, recorded
from evenhand.cli.ask.asking_options import ModelAddress
from evenhand.cli.environment import WrongUse
from evenhand.cli.saying import say
from evenhand.cli.sentences import INCOMPLETE
from evenhand.cli.server.submission_work import NO_JUDGE, submissions_work
from evenhand.domain.errors import Misuse
from evenhand.domain.event import Event
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext
from evenhand.engine.tasks.item_task import Addressee
from evenhand.format.words import counted
from evenhand.images.guard import anywhere, is_public
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.worker_notes import leave_note
from evenhand.ledger.submissions.intakes import intakes_on_record
from evenhand.ledger.submissions.store import wanted_of_the_worker
from evenhand.site.living.cache import ProposalCache
from evenhand.site.living.following import next_try
from evenhand.site.living.settings import growing_benchmarks
from evenhand.site.living.store import proposals
from evenhand.worker.loop import Rhythm, Stopping, Work, work
from evenhand.worker.proposed_images import LIMITS, ProposedImages
from evenhand.worker.reference_answers import SAMPLED, ReferenceAnswers
from evenhand.worker.submissions import Submissions

if TYPE_CHECKING:
    from evenhand.cli.server.worker_command import WorkerOptions

NO_MODEL = "The worker has no model to write reference answers with; start it, or `serve`, with --model provider/model."

Told: TypeAlias = Callable[[str], None]

_LAST_SECONDS = 40.0
_FIRST_REST, _LONGEST_REST = 1.0, 60.0


def work_until_stopped(ctx: click.Context, given: "WorkerOptions", ledger: Ledger) -> None:
    with closing(ledger):
        limits = replace(LIMITS, allowed=anywhere if given.allow_private else is_public)
        kinds: list[Work[Any]] = [ProposedImages(ledger=ledger, proposals=ProposalCache(ledger), limits=limits)]
        kinds += _asking_a_model(ctx, given, ledger)
        told = asyncio.run(_work(kinds, ledger, given))
        left = dict.fromkeys([*told, *_left_undone(ledger)]) if given.once else {}
        for sentence in left or (["Nothing is left to do."] if given.once else []):
            say(sentence)
    if left:
        ctx.exit(INCOMPLETE)


def _left_undone(ledger: Ledger) -> Iterator[str]:
    """What was tried and waits for another try, or for the owner."""
    for growing in growing_benchmarks(ledger):
        failed = [one.standing for one in proposals(ledger, growing.id) if one.standing.failures]
        if failed and not growing.terms.paused:
            due = [at for one in failed if (at := next_try(one)) is not None]
            yield _waiting(f"{counted(len(failed), 'proposal')} of '{growing.name}'", failed[-1].failures, due)
    for one in wanted_of_the_worker(ledger):
        if one.standing.stage == "approved" and one.standing.failures:
            yield _waiting(f"Submission {one.id}", one.standing.failures, [one.standing.next_try])


def _waiting(who: str, failures: Sequence[Event[Any]], due: Sequence[float]) -> str:
    again = f"; tried again in {max(1, math.ceil(min(due) - time.time()))} s at the earliest" if due else ""
    return f"{who} cannot go on{again}: {getattr(failures[-1].said, 'detail', '')}"


def _asking_a_model(ctx: click.Context, given: "WorkerOptions", ledger: Ledger) -> list[Work[Any]]:
    """Where one cannot be done the owner is told on the page, and the others are done all the same."""
    found: list[Work[Any]] = []
    for name, who, make in (
        ("answers", given.model, _reference_answers),
        ("submissions", given.submissions.judge, submissions_work),
    ):
        try:
            made = make(ctx, given, ledger)
            found.append(made)
            sentence = _lacking(made, ledger)
        except (Misuse, WrongUse) as error:
            sentence = str(error)
            if who and not given.while_stdin_is_open:
                leave_note(ledger, name, sentence)
                raise
        leave_note(ledger, name, sentence)
        if sentence:
            click.echo(f"Note: {sentence}", err=True)
    return found


def _lacking(work: Work[Any], ledger: Ledger) -> str:
    """Of the judging of submissions, which goes on without a judge as far as it needs none."""
    in_vain = isinstance(work, Submissions) and work.judge is None and intakes_on_record(ledger)
    return NO_JUDGE if in_vain else ""


def _reference_answers(ctx: click.Context, given: "WorkerOptions", ledger: Ledger) -> ReferenceAnswers:
    if not given.model:
        raise WrongUse(NO_MODEL)
    address = ModelAddress(
        model=given.model,
        base_url=given.base_url,
        api_key_env=given.api_key_env,
        endpoint_name=given.endpoint_name,
    )
    model = contact(ctx, address, given.asking, defaults=SAMPLED, image=ledger.images.get)
    return ReferenceAnswers(
        ledger=ledger,
        proposals=ProposalCache(ledger),
        asked=Addressee(
            name=model.model.name, endpoint=model.model.identity, model=model.model.model, settings=model.settings
        ),
        call_context=lambda budget: _call_context(model, budget, ledger),
        priced=model.quote.known,
        settings=recorded(given),
    )


def _call_context(model: Contact, budget: Budget, ledger: Ledger) -> CallContext:
    return replace(model, budget=budget).call_context(ledger)


async def _work(kinds: Sequence[Work[Any]], ledger: Ledger, given: "WorkerOptions") -> list[str]:
    stopping = Stopping()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.interrupt)
    if given.while_stdin_is_open:
        # Whoever started us holds the other end: when they are gone, even by kill -9, it closes.
        threading.Thread(target=_wait_for_end, args=(loop, stopping), daemon=True).start()
    return await work(kinds, ledger=ledger, stopping=stopping, rhythm=Rhythm(once=given.once))


def _wait_for_end(loop: asyncio.AbstractEventLoop, stopping: Stopping) -> None:
    sys.stdin.buffer.read()
    loop.call_soon_threadsafe(stopping.interrupt)


@contextmanager
def worker_beside(store: str, flags: Sequence[str], *, told: Told | None = None) -> Generator[None]:
    """A worker in a process of its own, started again whenever it ends; stopped at the end.

    `flags` are those typed in; what the environment and evenhand.toml say the worker reads itself. `told` is given
    what the worker says, line by line; None: it goes where all that the server says goes.
    """
    leaving = threading.Event()
    running: list[subprocess.Popen[bytes]] = []

    def keep() -> None:
        rest = _FIRST_REST
        while not leaving.is_set():
            process, since = _started(store, flags, told), time.monotonic()
            running[:] = [process]
            if leaving.is_set():
                _close(process)
            process.wait()
            if time.monotonic() - since > _LONGEST_REST:
                rest = _FIRST_REST
            leaving.wait(rest)
            rest = min(_LONGEST_REST, rest * 2)

    keeper = threading.Thread(target=keep)
    keeper.start()
    try:
        yield
    finally:
        leaving.set()
        for process in tuple(running):
            _close(process)
            _end(process)
        keeper.join()


def _started(store: str, flags: Sequence[str], told: Told | None) -> "subprocess.Popen[bytes]":
    # -P: a folder that holds an `evenhand` or a `json.py` of its own must not run as ours.
    # The store goes by the environment: its URL may hold a password, and arguments can be seen by everybody.
    process = subprocess.Popen(  # noqa: S603  ourselves
        [sys.executable, "-P", "-m", "evenhand", "worker", "--while-stdin-is-open", *flags],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=None if told is None else subprocess.PIPE,
        env={**os.environ, "EVENHAND_STORE": store},
        # Ctrl-C is for the server, which then stops the worker in its own time.
        start_new_session=True,
    )
    if told is not None:
        threading.Thread(target=_tell, args=(process, told), daemon=True).start()
    return process


def _tell(process: "subprocess.Popen[bytes]", told: Told) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        said = line.decode("utf-8", "replace").rstrip()
        # Its notes stand on the owner's page too; what follows the kind of an error may be anybody's words.
        told(said if said.startswith("Note: ") else said.partition(":")[0])


def _close(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None
    process.stdin.close()


def _end(process: "subprocess.Popen[bytes]") -> None:
    try:
        process.wait(_LAST_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
