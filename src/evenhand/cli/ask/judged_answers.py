"""Which answers are judged: those of the files, else those a sample bundles, else those on record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evenhand.benchmarks.answers.responses_file import Gaps, ResponseSet, read_responses, reference_responses
from evenhand.benchmarks.catalog import bundled_answers
from evenhand.cli.environment import WrongUse
from evenhand.cli.notes import flag_notes, lacking_notes, say_notes
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.response import REFERENCE, Response
from evenhand.engine.tasks.text_only import is_description
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.responses import named_variant, remember_empty
from evenhand.format.near_names import hint
from evenhand.ledger.read.projection import studies
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.store import submitted_models
from evenhand.ledger.submissions.submitted_models import may_be_shown, set_aside


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerChoice:
    """Whose answers are judged, and where they come from."""

    responses: Sequence[Path] = ()
    """Files; else those that a sample bundles, else what is on record."""
    models: Sequence[str] = ()
    """Only these; all by default."""
    against: str | None = None
    new: Sequence[str] = ()
    """Who joins a board, and meets those on record."""
    variant: str = ""
    columns: Mapping[str, str] | None = None
    """Our names of the files' columns by their own."""
    allow_partial: bool = False
    whole: bool = False
    """A file that lacks answers is refused, for every model meets one baseline on all items."""


def variant_to_judge(variant: str | None, responses: Sequence[Path]) -> str:
    """What --variant says, else the column `variant` of the files. Raises ExchangeError where they differ."""
    given = "" if variant == "default" else variant
    named = {named_variant(path, given) for path in responses} or {given or ""}
    if len(named) > 1:
        names = ", ".join(sorted(name or "default" for name in named))
        raise ExchangeError(f"The files' columns `variant` name several: {names}. Judge one variant at a time.")
    found = named.pop()
    if is_description(found):
        raise WrongUse(f"{found} are descriptions of images and no answers; judge a variant that was answered.")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswers:
    chosen: list[Response]
    """Those that are judged."""
    everyone: list[Response]
    """Also those that the flags do not choose."""
    read: ResponseSet | None = None
    """The files, where there are any."""

    def keep(
        self, ledger: Ledger, benchmark: Benchmark, *, dry_run: bool, replace: bool = False, helps: bool = False
    ) -> None:
        """Once all that was asked for is found possible: all of them, and which were empty, unless it is a dry run.
        `helps`: who leads has kept them, and others than those are refused."""
        if helps or (dry_run and not replace):
            ledger.check_responses(self.everyone, benchmark=benchmark)
        elif not dry_run:
            ledger.add_responses(self.everyone, replace=replace, benchmark=benchmark)
            if self.read is not None:
                remember_empty(ledger, benchmark, self.read)


def answers_to_judge(
    benchmark: Benchmark, items: Sequence[Item], choice: AnswerChoice, ledger: Ledger
) -> JudgedAnswers:
    """Of the chosen models, and the references; nothing goes into the ledger before they are kept."""
    held, read = _on_record(benchmark, choice, ledger), None
    if choice.new:
        _say_other_data(benchmark, ledger)
    if choice.responses or (not choice.variant and bundled_answers(benchmark)):
        read = _of_files(benchmark, items, choice)
        responses = list(read.responses)
        responses += _named_beside(responses, held, choice)
        if choice.new:
            responses += _opponents(responses, held, choice, items)
        elif not choice.models and not choice.responses:
            say_notes(_left_out(responses, held))
    else:
        responses = held
        if not responses:
            raise WrongUse(_nothing_held(benchmark, choice.variant, ledger), code="EH-CHOOSE-NOTHING")
        if choice.new:
            responses = [one for one in held if one.model in choice.new]
            responses += _opponents(responses, held, choice, items)
        chosen = [one for one in responses if not choice.models or one.model in choice.models]
        say_notes([*lacking_notes(chosen, items), *flag_notes(chosen)])
    everyone = [*responses, *reference_responses(benchmark)]
    return JudgedAnswers(chosen=_of_models(everyone, choice.models), everyone=everyone, read=read)


def _opponents(
    responses: Sequence[Response], held: Sequence[Response], choice: AnswerChoice, items: Sequence[Item]
) -> list[Response]:
    """The answers on record of models not among `responses` that answered some of the items."""
    here, asked = {one.model for one in responses}, {item.digest for item in items}
    named = {one.model for one in held if one.item in asked} - here
    if choice.models:
        named &= set(choice.models)
    return [one for one in held if one.model in named]


def _say_other_data(benchmark: Benchmark, ledger: Ledger) -> None:
    """A board on another data file of the benchmark's name is not the one that a model joins."""
    found = [one for one in studies(ledger, benchmark=benchmark.name, purposes=("board",)) if one.decided]
    here, other = ([one for one in found if (one.data == benchmark.digest) is same] for same in (True, False))
    if other:
        joins = "the one on these" if here else "none of them"
        say_notes(
            [
                f"The ledger holds a board of {benchmark.name} on other data (another --data, --reference or an edited "
                f"sheet); what is judged now joins {joins}."
            ]
        )


def _named_beside(responses: Sequence[Response], held: Sequence[Response], choice: AnswerChoice) -> list[Response]:
    """Answers on record of models that a flag names and the files lack: a baseline, or players beside theirs."""
    named = set[str](choice.models)
    if choice.variant and choice.against:
        named.add(choice.against)
    named -= {one.model for one in responses}
    return [one for one in held if one.model in named]


def _of_files(benchmark: Benchmark, items: Sequence[Item], choice: AnswerChoice) -> ResponseSet:
    gaps: Gaps = "refuse" if choice.whole and choice.responses else "note"
    if choice.allow_partial:
        gaps = "allow"
    files = choice.responses or bundled_answers(benchmark)
    read = read_responses(files, benchmark, variant=choice.variant, gaps=gaps, needed=items, columns=choice.columns)
    say_notes(read.warnings)
    # The baseline is the same for every variant: what it answered with the images before it.
    responses = tuple(replace(one, variant="") if one.model == choice.against else one for one in read.responses)
    return replace(read, responses=responses)


def bundled_responses(benchmark: Benchmark) -> tuple[Response, ...]:
    """The stand-in models' answers that come with a sample."""
    files = bundled_answers(benchmark)
    return read_responses(files, benchmark).responses if files else ()


def _on_record(benchmark: Benchmark, choice: AnswerChoice, ledger: Ledger) -> list[Response]:
    """Of submissions only the published ones play, and those that a flag names."""
    against = choice.against
    plain = {against} if against else set[str]()
    held = ledger.responses_to((item.digest for item in benchmark.items), variant=choice.variant, plain=plain)
    named = set[str](filter(None, [*choice.models, against, *choice.new]))
    play = may_be_shown(ledger, {one.model for one in held} - {REFERENCE}) | _anonymous(ledger, named)
    return [one for one in held if one.model in play and not one.empty]


def _anonymous(ledger: Ledger, named: set[str]) -> set[str]:
    """Submissions among the named that are not published, with a note on each.

    Raises WrongUse where one does not count on a board: it was withdrawn, or the worker is not done with it.
    """
    hidden = named - may_be_shown(ledger, named)
    found = submitted_models(ledger) if hidden else {}
    for model in sorted(hidden):
        if model in found and found[model].standing.stage == "withdrawn":
            raise WrongUse(
                f"'{model}' was withdrawn by its team and is judged no more; leave it out.", code="EH-SUBMISSION-CLOSED"
            )
        if model not in found or model in set_aside(found):
            raise WrongUse(
                f"'{model}' is no submission that has been judged; `evenhand worker` judges what teams submit, each "
                "on the budget approved for it.",
                code="EH-SUBMISSION-CLOSED",
            )
        say_notes(
            [f"{model} is a submission that its team has not published; what is asked now is beyond its own budget."]
        )
    return hidden


def _nothing_held(benchmark: Benchmark, variant: str, ledger: Ledger) -> str:
    held = ledger.responses_to((item.digest for item in benchmark.items), variant=None)
    shown = may_be_shown(ledger, {one.model for one in held} - {REFERENCE})
    variants = sorted({one.variant or "default" for one in held if one.model in shown})
    there = [name for name in variants if not is_description(name)]
    if there:
        return f"The ledger holds no answers of the variant {variant or 'default'}; it holds {', '.join(there)}."
    return f"The ledger holds no answers to {benchmark.name}; give them with --responses FILE."


def _of_models(responses: list[Response], models: Sequence[str]) -> list[Response]:
    if not models:
        return responses
    here = sorted({response.model for response in responses})
    for model in models:
        if model not in here:
            raise WrongUse(f"No answers of '{model}' are here; {hint(model, here)}", code="EH-CHOOSE-NOTHING")
    return [response for response in responses if response.model in models]


def _left_out(responses: Sequence[Response], held: Sequence[Response]) -> list[str]:
    others = sorted({one.model for one in held} - {one.model for one in responses})
    return [f"On record and not judged: {', '.join(others)}; name them with --models."] if others else []
