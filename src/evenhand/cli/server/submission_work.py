"""From the flags of `worker` to the judging of submissions: who judges, on which terms, and who writes the receipt."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import click

from evenhand.api.asking import Contact
from evenhand.cli.ask.asking_means import contact, recorded
from evenhand.cli.ask.extracting import OF_THE_JUDGE, no_image
from evenhand.cli.environment import Environment, WrongUse
from evenhand.domain.identity import Json
from evenhand.domain.rater import Settings
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import Intake
from evenhand.ledger.submissions.store import Submission, submitted_models
from evenhand.ledger.submissions.submitted_models import set_aside
from evenhand.reports.receipts.receipt import ReceiptSubject, make_receipt
from evenhand.worker.board_judge import ModelReady
from evenhand.worker.submissions import Submissions

NO_JUDGE = "The worker has no judge for submissions; start it, or `serve`, with --judge provider/model."


def submissions_work(ctx: click.Context, flags: Mapping[str, Any], env: Environment, ledger: Ledger) -> Submissions:
    """Without a judge it does what needs none. Raises Misuse and WrongUse for models that cannot be meant."""

    def at_hand(flag: str, image: Callable[[str], bytes]) -> ModelReady | None:
        if not flags[flag]:
            return _nobody(flag, flags)
        # How the judge samples the board says, and what the other model is asked with is nothing of it.
        asking = {**flags, **OF_THE_JUDGE, "endpoint_name": flags.get(f"{flag}_endpoint_name"), "max_cost": None}
        given = contact(
            ctx,
            flags[flag],
            env,
            asking,
            url_flag=f"{flag}_base_url",
            key_flag=f"{flag}_api_key_env",
            defaults=Settings(),
            image=image,
        )
        return _at_hand(given, ledger)

    return Submissions(
        ledger=ledger,
        judge=at_hand("judge", ledger.images.get),
        extractor=at_hand("extractor", no_image),
        receipt=receipt_of,
        settings=recorded(flags),
    )


def _nobody(flag: str, flags: Mapping[str, Any]) -> None:
    for other in (f"{flag}_base_url", f"{flag}_api_key_env", f"{flag}_endpoint_name"):
        if flags.get(other) is not None:
            raise WrongUse(f"--{other.replace('_', '-')} goes with --{flag}, which names the model.")


def _at_hand(given: Contact, ledger: Ledger) -> ModelReady:
    def call_context(budget: Budget, explicit: frozenset[str]) -> CallContext:
        return replace(given, budget=budget, explicit=explicit).call_context(ledger)

    return ModelReady(
        name=given.model.name,
        endpoint=given.model.identity,
        model=given.model.model,
        quote=given.quote,
        openai_images=given.counts_images_as_openai,
        call_context=call_context,
    )


def receipt_of(ledger: Ledger, submission: Submission, intake: Intake, study: str) -> Mapping[str, Json]:
    standing = submission.standing
    assert standing.upload is not None, "nothing else is judged"
    assert standing.approved is not None, "nothing else is judged"
    found = submitted_models(ledger)
    subject = ReceiptSubject(
        submission=submission.id,
        label=submission.label,
        file=standing.upload.file,
        entered=submission.entered,
        board=intake.board,
        study=study,
        approved=standing.approved,
        counted=tuple(sorted(found.keys() - set_aside(found) - {submission.label})),
    )
    return make_receipt(ledger, subject)
