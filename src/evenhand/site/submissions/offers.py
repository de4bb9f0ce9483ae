"""What everybody may know of a board that takes submissions."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool

from evenhand.domain.item import Benchmark, Item
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import BoardIdentity, Intake, find_intake, intakes_on_record
from evenhand.reports.receipts.ladder import PublishedFigure, published_figures
from evenhand.site.boards.listing import BoardOnRecord
from evenhand.site.http.refusal import not_found
from evenhand.site.http.service import Service
from evenhand.site.http.visibility import everybody_sees
from evenhand.site.living.public_export import on_record


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeOffer:
    intake: Intake
    benchmark: Benchmark
    board: BoardOnRecord | None
    """None before anything on it was judged."""
    everything: bool
    """Whether everybody sees what it is judged against: a sample, or opened by the owner."""
    published: Sequence[PublishedFigure] = ()
    """Of a ladder, the best first."""

    @property
    def title(self) -> str:
        judge = "" if self.board is None else f", judged by {self.board.judge}"
        return f"{self.intake.benchmark}{judge}"

    @property
    def items(self) -> tuple[Item, ...]:
        return self.benchmark.items

    @property
    def references(self) -> bool:
        return any(item.reference for item in self.items)

    @property
    def kept_texts(self) -> list[str]:
        """What its items have that a judge sees and a team does not, unless all of it is public."""
        captions = any(item.caption for item in self.items)
        return [*(["captions"] if captions else []), *(["references"] if self.references else [])]

    @property
    def images(self) -> int:
        return len({name for item in self.items for name in item.images})

    @property
    def categories(self) -> Sequence[str]:
        return sorted({item.category for item in self.items if item.category})


async def offers(serving: Service) -> list[IntakeOffer]:
    boards = await serving.boards()
    found = await run_in_threadpool(intakes_on_record, serving.ledger)
    return [await run_in_threadpool(_offer, serving.ledger, one, boards) for one in found]


async def offer_of(serving: Service, intake: str) -> IntakeOffer:
    """Raises Refusal where there is none."""
    found = await run_in_threadpool(find_intake, serving.ledger, intake)
    if found is None:
        raise not_found("such board that takes submissions")
    return await run_in_threadpool(_offer, serving.ledger, found, await serving.boards())


def _offer(ledger: Ledger, intake: Intake, boards: Sequence[BoardOnRecord]) -> IntakeOffer:
    return IntakeOffer(
        intake=intake,
        benchmark=on_record(ledger, intake.board.data),
        everything=everybody_sees(ledger, intake.board.data),
        board=next((one for one in boards if identity_of(one) == intake.board), None),
        published=published_figures(ledger, intake),
    )


def identity_of(board: BoardOnRecord) -> BoardIdentity:
    first = board.studies[0]
    return BoardIdentity(data=board.data, rater=first.rater.key, condition=first.condition.key, variant=board.variant)
