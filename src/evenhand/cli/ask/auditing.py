"""From the flags of `audit` to its design, and its trials asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from evenhand.audit.design import PARTS, AuditStudy, Design, Sources, design
from evenhand.audit.gate import GateRule
from evenhand.audit.gate_plan import Needed, fewest_items
from evenhand.audit.offer import MeasureOffer
from evenhand.audit.trials import Makers, ShownTwins
from evenhand.audit.twins import Twins, twins_for
from evenhand.benchmarks.catalog import load_benchmark
from evenhand.cli.ask.asking_means import recorded
from evenhand.cli.ask.extracting import AskedModels
from evenhand.cli.ask.judged_answers import answers_to_judge
from evenhand.cli.ask.judging import JudgingJob, carry_out_all, job, showing_of
from evenhand.cli.ask.outcome import Outcomes
from evenhand.cli.environment import Environment, WrongUse
from evenhand.cli.notes import say_notes
from evenhand.cli.saying import say
from evenhand.cli.selection import chosen_items
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.engine.tasks.grading import Grading, PreparedGrade, prepare_grade
from evenhand.engine.tasks.judging import Matching, Showing, prepare
from evenhand.engine.tasks.pictures import with_fetched
from evenhand.ledger.store.record import Ledger

SAMPLE = "visit-bench-sample"
"""What a judge is audited on where the user names no benchmark."""
PICKING = "option_selection"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    ledger: Ledger
    design: Design
    orders: tuple[JudgingJob, ...]
    """One for each of the design's studies, in its order."""


def audit_of(ctx: click.Context, flags: Mapping[str, Any], env: Environment, ledger: Ledger) -> Audit:
    """What the flags ask for; answers go into the ledger unless it is a dry run."""
    benchmark = with_fetched(load_benchmark(flags["benchmark"] or SAMPLE, path=flags["data"]), ledger.images)
    twins = twins_for(benchmark)
    # Whose pictures are the benchmark's own too.
    asked, showing = job(ctx, _showing(benchmark, flags), env, flags, ledger, twins.benchmark)
    items = chosen_items(benchmark, flags)
    say_notes(benchmark.notes)
    answers = answers_to_judge(benchmark, items, flags, ledger, variant="", whole=False)
    prepared = prepare(
        benchmark,
        answers.chosen,
        items=items,
        judge=asked.judge.rater,
        model=asked.judge.model.model,
        showing=showing,
        matching=Matching(purpose="audit", seed=flags["seed"]),
        fence_secret=ledger.fence_secret(),
    )
    answers.keep(ledger, flags)
    say_notes(prepared.notes)
    makers = Makers(prepared, seed=flags["seed"])
    picking, graded = _graded(ctx, flags, env, ledger, benchmark, makers)
    sources = Sources(
        benchmark=benchmark,
        prepared=prepared,
        makers=makers,
        graded=graded,
        seen=_seen(twins, asked, showing, flags, ledger),
    )
    made = design(sources, budget=flags["budget"], seed=flags["seed"], parts=flags["part"] or PARTS)
    by_study = {made.graded.study.key: picking} if made.graded else {}
    orders = [_order(ledger, study, by_study.get(study.study.key, asked), asked, flags) for study in made.studies]
    return Audit(ledger=ledger, design=made, orders=tuple(orders))


def _order(
    ledger: Ledger, study: AuditStudy, asked: AskedModels, first: AskedModels, flags: Mapping[str, Any]
) -> JudgingJob:
    """All on the budget of the first."""
    return JudgingJob(
        ledger=ledger,
        benchmark=study.benchmark,
        asked=asked.on_budget(first.judge.budget),
        prepared=study,
        settings=recorded({**flags, "benchmark": study.benchmark.name}),
    )


def _showing(benchmark: Benchmark, flags: Mapping[str, Any]) -> Showing:
    names = [flags["protocol"]] if flags["protocol"] else list(benchmark.protocols)
    if not names:
        raise WrongUse(f"{benchmark.name} has no protocol of its own; choose one with --protocol.")
    showing = showing_of(names[0], flags, see=flags["see"])
    if showing.protocol.kind != "preference":
        raise WrongUse(f"An audit needs a protocol that asks for a preference; {names[0]} asks for another verdict.")
    return showing


def _graded(
    ctx: click.Context,
    flags: Mapping[str, Any],
    env: Environment,
    ledger: Ledger,
    benchmark: Benchmark,
    makers: Makers,
) -> tuple[AskedModels, PreparedGrade]:
    """Picking one of all answers, with the settings of its own protocol and no extractor."""
    alone = {**flags, "extractor": None, "extractor_base_url": None, "extractor_api_key_env": None}
    asked, showing = job(ctx, showing_of(PICKING, flags, see=None), env, alone, ledger, benchmark)
    graded = prepare_grade(
        benchmark,
        makers.option_sets(),
        pool=(),
        judge=asked.judge.rater,
        model=asked.judge.model.model,
        showing=showing,
        grading=Grading(seed=flags["seed"]),
        fence_secret=ledger.fence_secret(),
    )
    return asked, graded


def _seen(
    twins: Twins, asked: AskedModels, showing: Showing, flags: Mapping[str, Any], ledger: Ledger
) -> ShownTwins | None:
    """The twins, for judges that are shown images, and not the right answer."""
    seeing = showing.protocol.seeing
    if {"reference", "ground_truth"} & showing.protocol.slots:
        return None
    if (showing.see or seeing.default) not in ("images", "both") or "images" not in seeing.allowed:
        return None
    own = prepare(
        twins.benchmark,
        [answer for twin in twins.each for answer in twin.answers()],
        items=twins.benchmark.items,
        judge=asked.judge.rater,
        model=asked.judge.model.model,
        showing=replace(showing, see="images"),
        matching=Matching(purpose="audit", seed=flags["seed"]),
        fence_secret=ledger.fence_secret(),
    )
    return ShownTwins(twins=twins, own=own)


async def ask(audit: Audit, *, quiet: bool) -> Outcomes:
    """One study after the other; what ends one early ends them all."""

    def before(place: int) -> None:
        _register(audit.orders[place], audit.ledger)

    return await carry_out_all(audit.orders, quiet=quiet, command="audit", before=before)


def _register(order: JudgingJob, ledger: Ledger) -> None:
    study = order.prepared
    assert isinstance(study, AuditStudy)
    # Another version of Evenhand may have altered the answers with other words.
    ledger.add_responses(study.altered, replace=True)


_TRIALS: Mapping[str, int] = {
    "swap_consistency": 2, "first_position": 2, "repeatability": 2, "looks": 2, "transitivity": 6,
    "human_agreement": 2, "grade_above_chance": 4,
}  # fmt: skip
"""That make one case of a measure, where it takes more than one."""
_MORE = "give more items and answers (--benchmark, --data, --responses) or ask for less"


def say_hopeless(rules: Sequence[GateRule], design: Design) -> None:
    """Before a call is paid for: the rules that no judge could meet on the available items."""
    for rule in rules:
        offer, fewest = design.whole.get(rule.name), fewest_items(rule)
        if offer is not None and offer.items < fewest:
            never = f"with fewer than {fewest} items it cannot be met at all"
            say(f"{rule}: {offer.items} items are available, and {never}; {_MORE}.")


def needed_json(one: Needed, offer: MeasureOffer | None) -> dict[str, Json]:
    """With what the available items can give."""
    here: dict[str, Json] = {"items": None, "cases_of_items": None}
    if offer is not None:
        here = {"items": offer.items, "cases_of_items": offer.cases}
    return {**one.as_json(), "trials": _trials(one), **here}


def needed_sentence(one: Needed, offer: MeasureOffer | None) -> str:
    if one.cases is None:
        return f"{one.rule}: a hundred thousand cases would not do for a judge at {one.assumed:g}."
    start = (
        f"{one.rule}: {one.cases} cases on as many items, {_trials(one)} trials, for a judge at {one.assumed:g} to "
        f"meet it with probability {one.power:.3f}."
    )
    return start if offer is None else f"{start} {_at_hand(one, one.cases, offer)}"


def _at_hand(one: Needed, cases: int, offer: MeasureOffer) -> str:
    have = f"{offer.items} items are available, which give {offer.cases} cases"
    if offer.items < one.least_items:
        return f"{have}: with fewer than {one.least_items} items it cannot be met at all; {_MORE}."
    if offer.cases < cases:
        return f"{have}, too few; {_MORE}."
    if offer.items < cases:
        return f"{have}: enough if the cases of one item are no more alike than those of two, too few if they are."
    return f"{have}: enough."


def _trials(one: Needed) -> int | None:
    return None if one.cases is None else one.cases * _TRIALS.get(one.rule.name, 1)
