"""From the flags of `worker` to the judging of submissions: who judges, on which terms, and who writes the receipt."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from evenhand.api.asking import Contact, no_image
from evenhand.cli.ask.asking_means import contact, recorded
from evenhand.cli.ask.asking_options import ModelAddress, SamplingOptions, refuse_alone
from evenhand.domain.identity import Json
from evenhand.domain.rater import Settings
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext
from evenhand.ledger.read.as_of import AsOf
from evenhand.ledger.read.newest import newest
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import Intake
from evenhand.ledger.submissions.store import Submission
from evenhand.ledger.submissions.submitted_models import read_as_they_count, set_aside
from evenhand.reports.receipts.ladder import place_of
from evenhand.reports.receipts.receipt import ReceiptSubject, make_receipt
from evenhand.worker.board_judge import ModelReady
from evenhand.worker.submissions import Submissions

if TYPE_CHECKING:
    from evenhand.cli.server.worker_command import WorkerOptions

NO_JUDGE = "The worker has no judge for submissions; start it, or `serve`, with --judge provider/model."


def submissions_work(ctx: click.Context, given: "WorkerOptions", ledger: Ledger) -> Submissions:
    """Without a judge it does what needs none. Raises Misuse and WrongUse for models that cannot be meant."""
    # How the judge samples the board says, and what the other model is asked with is nothing of it.
    asking = replace(given.asking, sampling=SamplingOptions())

    def at_hand(address: ModelAddress | None, image: Callable[[str], bytes]) -> ModelReady | None:
        if address is None:
            return None
        return _at_hand(contact(ctx, address, asking, defaults=Settings(), image=image), ledger)

    return Submissions(
        ledger=ledger,
        judge=at_hand(_judge(given), ledger.images.get),
        extractor=at_hand(given.submissions.extraction.address(), no_image),
        receipt=receipt_of,
        settings=recorded(given),
    )


def _judge(worker: "WorkerOptions") -> ModelAddress | None:
    """--base-url is the other model's, to whose server no key of the judge goes; where there is none, the judge's."""
    given = worker.submissions
    if not given.judge:
        refuse_alone(
            "judge",
            base_url=given.judge_base_url,
            api_key_env=given.judge_api_key_env,
            endpoint_name=given.judge_endpoint_name,
        )
        return None
    own = bool(given.judge_base_url) or bool(worker.model) or not worker.base_url
    return ModelAddress(
        model=given.judge,
        base_url=given.judge_base_url if own else worker.base_url,
        api_key_env=given.judge_api_key_env,
        endpoint_name=given.judge_endpoint_name,
        url_flag="--judge-base-url" if own else "--base-url",
        key_flag="--judge-api-key-env",
    )


def _at_hand(given: Contact, ledger: Ledger) -> ModelReady:
    def call_context(budget: Budget, explicit: frozenset[str]) -> CallContext:
        return replace(given, budget=budget, explicit=explicit).call_context(ledger)

    return ModelReady(
        name=given.model.name,
        endpoint=given.model.identity,
        model=given.model.model,
        quote=given.quote,
        call_context=call_context,
    )


def receipt_of(ledger: Ledger, submission: Submission, intake: Intake, study: str) -> Mapping[str, Json]:
    standing = submission.standing
    assert standing.upload is not None, "nothing else is judged"
    assert standing.approved is not None, "nothing else is judged"
    found, moment = read_as_they_count(ledger, lambda found: (found, newest(ledger)))
    subject = ReceiptSubject(
        submission=submission.id,
        label=submission.label,
        file=standing.upload.file,
        entered=submission.entered,
        board=intake.board,
        study=study,
        approved=standing.approved,
        counted=tuple(sorted(found.keys() - set_aside(found) - {submission.label})),
        ladder=place_of(ledger, intake, submission),
    )
    return make_receipt(ledger, subject, AsOf(judgement=moment.judgement, answer=moment.answer))
