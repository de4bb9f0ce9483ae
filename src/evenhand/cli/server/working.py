"""From the flags of `worker` to the kinds of work it does; and the worker that `serve` keeps beside it."""

import asyncio
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from evenhand.api.asking import Contact
from evenhand.api.running import run
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

_HELPS = "_EVENHAND_WORKS_BESIDE"
"""In the environment of a worker that another has begun."""
_LAST_SECONDS = 40.0
_FIRST_REST, _LONGEST_REST = 1.0, 60.0


def work_until_stopped(ctx: click.Context, given: "WorkerOptions", ledger: Ledger) -> None:
    """With as many processes as the flags say; this one is among them."""
    number, given = given.workers, _for_each(given)
    helps = bool(os.environ.get(_HELPS))
    # -P: not from the folder where we are, which may hold modules of a stranger.
    begin = partial(_begun, [sys.executable, "-P", "-m", "evenhand", *sys.argv[1:]], {_HELPS: "1"}, _unheard)
    with closing(ledger):
        kinds = _kinds(ctx, given, ledger)
        with ExitStack() as beside:
            number = 0 if helps else number - 1
            others = [beside.enter_context(kept_beside(begin, once=given.once)) for _ in range(number)]
            told, over = run(_work(kinds, ledger, given, others, helps=helps))
            for one in others if given.once and over else ():
                one.is_last()
        if over and any(one.failed for one in others):  # what they had begun is for this one
            told, _ = run(_work(kinds, ledger, given, (), helps=helps))
        left = dict.fromkeys([*told, *_left_undone(ledger)]) if given.once else {}
        for sentence in left or (["Nothing is left to do."] if given.once else []):
            say(sentence)
    if left:
        ctx.exit(INCOMPLETE)


def _unheard(_: str) -> None:
    """What another says this one says too."""


def _for_each(given: "WorkerOptions") -> "WorkerOptions":
    """The limits are of all together: each has its part."""
    pace = given.asking.pace
    if pace.max_connections < given.workers:
        raise WrongUse(
            f"--max-connections {pace.max_connections} is less than --workers {given.workers}: each needs one at least."
        )
    own = replace(
        pace,
        max_connections=pace.max_connections // given.workers,
        rpm=None if pace.rpm is None else pace.rpm / given.workers,
        tpm=None if pace.tpm is None else pace.tpm / given.workers,
    )
    return replace(given, asking=replace(given.asking, pace=own))


def _kinds(ctx: click.Context, given: "WorkerOptions", ledger: Ledger) -> list[Work[Any]]:
    limits = replace(LIMITS, allowed=anywhere if given.allow_private else is_public)
    images = ProposedImages(ledger=ledger, proposals=ProposalCache(ledger), limits=limits)
    return [images, *_asking_a_model(ctx, given, ledger)]


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


async def _work(
    kinds: Sequence[Work[Any]], ledger: Ledger, given: "WorkerOptions", others: "Sequence[Beside]", *, helps: bool
) -> tuple[list[str], bool]:
    """What stands in the way, and whether it came to its end by itself. `others` are told to stop when this one is."""
    stopping = Stopping()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        stopping.interrupt()
        for one in others:
            one.leave()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    if given.while_stdin_is_open or helps:
        # Whoever started us holds the other end: when they are gone, even by kill -9, it closes.
        threading.Thread(target=_wait_for_end, args=(loop, stop), daemon=True).start()
    told = await work(kinds, ledger=ledger, stopping=stopping, rhythm=Rhythm(once=given.once))
    return told, not stopping.asked


def _wait_for_end(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
    # Not by `sys.stdin`, whose lock the program could not end with while this thread waits.
    while os.read(0, 4096):
        pass
    with suppress(RuntimeError):  # of a loop that is over
        loop.call_soon_threadsafe(stop)


@contextmanager
def worker_beside(store: str, flags: Sequence[str], *, told: Told | None = None) -> Generator[None]:
    """A worker in a process of its own, started again whenever it ends; stopped at the end.

    `flags` are those typed in; what the environment and evenhand.toml say the worker reads itself. `told` is given
    what the worker says, line by line; None: it goes where all that the server says goes.
    """
    # -P: a folder that holds an `evenhand` or a `json.py` of its own must not run as ours.
    command = [sys.executable, "-P", "-m", "evenhand", "worker", "--while-stdin-is-open", *flags]
    # The store goes by the environment: its URL may hold a password, and arguments can be seen by everybody.
    with kept_beside(partial(_begun, command, {"EVENHAND_STORE": store}, told)):
        yield


class Beside:
    """A process that is begun again whenever it ends. `once`: not when it has done what there was."""

    def __init__(self, begin: Callable[[], "subprocess.Popen[bytes]"], *, once: bool) -> None:
        self._begin = begin
        self._once = once
        self._leaving = False
        self._last = False
        self._enough = threading.Event()
        """None is begun any more."""
        self.failed = False
        """Whether the last one ended before it had done what there was."""
        self._running: list[subprocess.Popen[bytes]] = []
        self._keeper = threading.Thread(target=self._keep)
        self._keeper.start()

    def is_last(self) -> None:
        """The one that runs is waited for, and not told to stop."""
        self._last = True
        self._enough.set()

    def leave(self) -> None:
        """It is told to stop, and ends in its own time."""
        self._leaving = True
        self._enough.set()
        for process in tuple(self._running):
            _close(process)

    def end(self) -> None:
        if not self._last:
            self.leave()
            for process in tuple(self._running):
                _end(process)
        self._keeper.join()

    def _keep(self) -> None:
        rest = _FIRST_REST
        while not self._enough.is_set():
            process, since = self._begin(), time.monotonic()
            self._running[:] = [process]
            if self._leaving:
                _close(process)
            ended = process.wait()
            _close(process)
            self.failed = self._once and ended not in (0, INCOMPLETE)
            if self._once and not self.failed:
                return
            if time.monotonic() - since > _LONGEST_REST:
                rest = _FIRST_REST
            self._enough.wait(rest)
            rest = min(_LONGEST_REST, rest * 2)


@contextmanager
def kept_beside(begin: Callable[[], "subprocess.Popen[bytes]"], *, once: bool = False) -> Generator[Beside]:
    """It ends when its standard input does."""
    beside = Beside(begin, once=once)
    try:
        yield beside
    finally:
        beside.end()


def _begun(command: Sequence[str], variables: Mapping[str, str], told: Told | None) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(  # noqa: S603  ourselves
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=None if told is None else subprocess.PIPE,
        env={**os.environ, **variables},
        # Ctrl-C is for who began it, which then stops it in its own time.
        start_new_session=True,
    )
    if told is not None:
        threading.Thread(target=_tell, args=(process, told), daemon=True).start()
    return process


def _tell(process: "subprocess.Popen[bytes]", told: Told) -> None:
    assert process.stderr is not None
    with process.stderr as saying:
        for line in saying:
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
