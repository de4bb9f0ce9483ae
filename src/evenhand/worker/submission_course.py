"""What of a submission is to be asked next: all its battles in one study, or batch after batch among its nearest."""

from dataclasses import replace
from functools import cached_property
from typing import Protocol

from evenhand.domain.placing import Newcomer
from evenhand.domain.response import Response
from evenhand.domain.submission import Approved, Estimated, SubmissionTerms
from evenhand.engine.run.expected import Expected, expected
from evenhand.engine.run.quote import DryRun
from evenhand.engine.session import register
from evenhand.engine.tasks.as_judged import Spoken
from evenhand.engine.tasks.joining import BoardToJoin, playing, preparing
from evenhand.engine.tasks.judging import Matching, PreparedStudy
from evenhand.format.words import counted
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.placements import placing_batches
from evenhand.reports.board.placed import TOO_FEW_IN_BOTH, ExpectedCalls
from evenhand.reports.board.placement import Joining, Placement, met_by_submissions
from evenhand.worker.board_judge import Seated


class Judging(Protocol):
    """How one submission is judged."""

    @property
    def done(self) -> bool:
        """Whether nothing that is wanted has no result."""
        ...

    def next(self) -> PreparedStudy | None:
        """What is to be asked now; None where there is nothing."""
        ...

    def heard(self, prepared: PreparedStudy) -> bool:
        """Takes in what was said to it; False where some of it has no reply yet."""
        ...

    def registered(self) -> str:
        """The key of the first study of it, which is put on record where it is not."""
        ...


class AtRandom:
    """All battles, drawn beforehand, in one study."""

    def __init__(self, ledger: Ledger, prepared: PreparedStudy) -> None:
        self._ledger, self._prepared, self._asked = ledger, prepared, False

    @property
    def done(self) -> bool:
        wanted = {trial.key for trial in self._prepared.trials()}
        return not wanted - self._ledger.decided(wanted, reader=self._prepared.asking.protocol.reader)

    def next(self) -> PreparedStudy | None:
        return None if self._asked else self._prepared

    def heard(self, prepared: PreparedStudy) -> bool:  # noqa: ARG002
        self._asked = True
        return self.done

    def registered(self) -> str:
        register(self._prepared, self._ledger)
        return self._prepared.study.key


class AmongNearest:
    """Batch after batch, each chosen by what was said before it, with looks that were planned beforehand."""

    def __init__(self, ledger: Ledger, board: BoardToJoin, placement: Placement) -> None:
        self._ledger, self._board, self._placement = ledger, board, placement

    @property
    def done(self) -> bool:
        return self._placement.placed.done

    def next(self) -> PreparedStudy | None:
        return self._placement.next_study()

    def heard(self, prepared: PreparedStudy) -> bool:
        return self._placement.heard(prepared)

    def registered(self) -> str:
        begun = self._begun
        if begun is not None:
            return begun
        prepared = self._placement.next_study()
        assert prepared is not None, "what has ended was begun"
        register(prepared, self._ledger)
        return prepared.study.key

    @cached_property
    def _begun(self) -> str | None:
        found = placing_batches(self._ledger, self._board.intake.board, self._placement.plan.new)
        return found[0] if found else None


def placement_of(
    ledger: Ledger,
    board: BoardToJoin,
    answers: tuple[Response, ...],
    wish: Newcomer,
    *,
    among: tuple[str, ...] | None = None,
    spoken: Spoken | None = None,
) -> Placement:
    """`among`: the opponents that were approved; None: those that it would have. Raises Misuse."""
    among = met_by_submissions(board.models) if among is None else among
    joining = Joining(
        items=board.items,
        responses=playing(ledger, board, answers, among),
        matching=Matching(seed=wish.seed, variant=board.intake.board.variant),
        prepare=preparing(ledger, board, spoken),
        among=among,
    )
    return Placement(ledger, joining, wish, as_begun=True)


def costs(ledger: Ledger, prepared: PreparedStudy, judges: Seated) -> tuple[DryRun, Expected | None]:
    """What a study costs at most, and what it is likely to; None where nothing of it is left to be asked."""
    asking = prepared.asking
    second = prepared.second_calls(ledger, judges.extractor.quote)
    quoted = prepared.dry_run(ledger, judges.judge.quote, second=second)
    likely = expected(
        quoted,
        judges.judge.quote,
        ledger,
        rater=asking.rater.key,
        condition=asking.condition,
        second=judges.extractor.quote,
        stated=asking.protocol.reply_tokens,
    )
    return quoted, likely


def estimated_among_nearest(ledger: Ledger, placement: Placement, judges: Seated) -> Estimated:
    """All that it can cost, and what it is likely to, by placing models of the board again."""
    plan, known, most = placement.plan, len(placement.said), placement.at_most()
    quoted, likely = costs(ledger, most, judges)
    rule = placement.expected_calls()
    fewest = max(plan.borders[0] - known, 0)
    calls = None if rule is None else max(rule.calls - known, fewest)
    left = max(plan.max_calls - known, 1)
    return Estimated(
        opponents=placement.course.board.models,
        battles=len({(item, frozenset(models)) for item, *models in most.study.showings}),
        reference_battles=0,
        seed=most.study.seed,
        trials=quoted.trials,
        calls_at_least=min(fewest, quoted.calls),
        calls_at_most=quoted.calls_at_most,
        input_tokens=quoted.input_tokens_at_most,
        output_tokens=quoted.output_tokens,
        cost_usd=quoted.cost_usd,
        likely_usd=_part(likely and likely.cost_usd, calls, left),
        likely_lower=_part(likely and likely.lower, None if calls is None else fewest, left),
        likely_upper=None if calls is None else likely and likely.upper,
        likely_by=likely.basis if likely and calls is not None else "",
        until=str(plan.until),
        looks=plan.looks,
        max_calls=plan.max_calls,
        expected_calls=None if rule is None else rule.calls,
        expected_by=_replayed_words(rule),
    )


def _part(whole: float | None, calls: float | None, of: int) -> float | None:
    return None if whole is None or calls is None else whole * calls / of


def _replayed_words(rule: ExpectedCalls | None) -> str:
    if rule is None:
        return f"what it is likely to take is not known, as {TOO_FEW_IN_BOTH}"
    return (
        f"{counted(rule.models, 'model')} of the board, placed again on what the judge said of them, took so many on "
        f"average; the rule was met by {rule.met}"
    )


def as_approved(approved: Approved, model: str) -> Newcomer:
    return Newcomer(model, until=approved.until, looks=approved.looks, max_calls=approved.max_calls, seed=approved.seed)


def terms_for(terms: SubmissionTerms, approved: Approved | None) -> SubmissionTerms:
    """One that was approved before keeps the way it is judged: part of it may have been asked."""
    if approved is None:
        return terms
    if not approved.nearest:
        return replace(terms, pairs="random")
    return replace(
        terms,
        pairs="nearest",
        until=approved.until,
        looks=approved.looks,
        max_calls=approved.max_calls,
        seed=approved.seed,
    )
