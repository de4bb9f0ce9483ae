"""From a benchmark, answers and a judge to a study that can be planned, run and resumed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenhand.domain.identity import content_hash
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.naming import hint
from evenhand.domain.rater import Rater
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.study import Orders, Pairing, Purpose, Study, wanted, wanted_count
from evenhand.domain.trial import Condition, Readout, See, Trial
from evenhand.engine.asking import Asking
from evenhand.engine.errand import PlannedChunk
from evenhand.engine.pictures import refuse_addresses
from evenhand.engine.plan import Retrying, plan
from evenhand.ledger.record import Ledger
from evenhand.models.errors import Misuse
from evenhand.protocols.fence import fence_hash
from evenhand.protocols.protocol import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """How the judge is asked."""

    protocol: Protocol
    readout: Readout = "free"
    see: See | None = None
    """None: as the protocol says."""
    fenced: bool = False
    image_detail: str | None = None
    max_image_edge: int | None = None

    def condition(self) -> Condition:
        see = self.see or self.protocol.seeing.default
        pictures = see in ("images", "both")
        words = self.protocol.prompt_hash
        return Condition(
            protocol=self.protocol.name,
            prompt_hash=content_hash("fenced", [words, fence_hash()]) if self.fenced else words,
            readout=self.readout,
            see=see,
            fenced=self.fenced,
            # Without pictures these change nothing that is sent, so they must not split the record.
            image_detail=self.image_detail if pictures else None,
            max_image_edge=self.max_image_edge if pictures else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """Who meets whom, on which items, in which orders, how often."""

    pairing: Pairing = "round-robin"
    against: str | None = None
    battles: int | None = None
    new: str | None = None
    """With placing: the model that joins."""
    reference_battles: int = 0
    """With placing: how many of the battles are against the reference."""
    orders: Orders = "both"
    replicates: int = 1
    seed: int = 0
    variant: str = ""
    purpose: Purpose = "board"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A study with everything its trials need."""

    study: Study
    asking: Asking
    answers: Mapping[str, Mapping[str, str]]
    wanted: int

    def trials(self) -> Iterator[Trial]:
        return wanted(self.study, self.answers)

    def plan(self, ledger: Ledger, *, retrying: Retrying | None = None) -> Iterator[PlannedChunk[Trial]]:
        return plan(self.trials(), asking=self.asking, ledger=ledger, retrying=retrying)


def prepare(
    benchmark: Benchmark,
    responses: Sequence[Response],
    *,
    items: Sequence[Item],
    judge: Rater,
    model: str,
    showing: Showing,
    matching: Matching,
    fence_secret: bytes = b"",
) -> Prepared:
    """Raises Misuse where nothing could be asked."""
    if showing.protocol.kind != "preference" or showing.protocol.responses != 2:
        raise Misuse(
            f"Protocol {showing.protocol.name} does not compare two responses, so it cannot judge pairs; "
            "its prompt needs the slots response_1 and response_2 and its kind must be preference."
        )
    condition = showing.condition()
    _check_items(items, condition)
    answers = _by_item_and_model(responses)
    models = _players(responses, matching)
    study = Study(
        benchmark=benchmark.name,
        data=benchmark.digest,
        items=tuple(item.digest for item in items),
        models=models,
        answers=content_hash("answers", sorted(response.digest for response in responses)),
        rater=judge.key,
        condition=condition.key,
        pairing=matching.pairing,
        against=matching.against,
        battles=matching.battles,
        new=matching.new,
        reference_battles=matching.reference_battles,
        orders=matching.orders,
        replicates=matching.replicates,
        seed=matching.seed,
        variant=matching.variant,
        purpose=matching.purpose,
    )
    asking = Asking(
        study=study.key,
        protocol=showing.protocol,
        condition=condition,
        rater=judge,
        model=model,
        items={item.digest: item for item in items},
        responses={response.digest: response for response in responses},
        fence_secret=fence_secret,
    )
    prepared = Prepared(study=study, asking=asking, answers=answers, wanted=wanted_count(study, answers))
    if not prepared.wanted:
        raise Misuse("There is nothing to judge: no item has answers of two of the models.")
    return prepared


def _by_item_and_model(responses: Iterable[Response]) -> dict[str, dict[str, str]]:
    answers: dict[str, dict[str, str]] = {}
    for response in responses:
        answers.setdefault(response.item, {})[response.model] = response.digest
    return answers


def _players(responses: Sequence[Response], matching: Matching) -> tuple[str, ...]:
    """Sorted, the reference last, so that the order of files changes nothing."""
    models = {response.model for response in responses}
    if matching.against is not None and matching.against not in models:
        raise Misuse(f"No answers of '{matching.against}' are here to play against; {hint(matching.against, models)}")
    if matching.new is not None and matching.new not in models:
        raise Misuse(f"No answers of '{matching.new}', the model that joins, are here; {hint(matching.new, models)}")
    if len(models) < 2:
        raise Misuse(f"A comparison needs the answers of two models; here is {', '.join(models) or 'none'}.")
    return tuple(sorted(models, key=lambda model: (model == REFERENCE, model)))


def _check_items(items: Sequence[Item], condition: Condition) -> None:
    if condition.see in ("caption", "both"):
        blind = [item.label for item in items if not item.caption]
        if blind:
            raise Misuse(
                f"The judge is to see captions, but {len(blind)} items have none (the first is '{blind[0]}'); "
                "leave them out with --items, or choose --see images."
            )
    if condition.see in ("images", "both"):
        refuse_addresses(items)
