"""What may be seen of a benchmark, and by whom: the one place that knows.

Instructions, images, categories, models' answers and verdicts on them are public. Withheld are captions, references
and all that quotes them: a judge's words, people's verdicts, every battle against the reference. The owner sees all;
everybody does where the benchmark is a bundled sample, a published record, or the owner has opened it. What a team has
not published only that team and the owner see, whatever is open: everybody reads its ratings, and nothing of it and
single others. How far the judging of a submission is only the owner knows: a reply that is on record is read at once,
so whoever saw that would know which answers were given before, as the reference's. On a board of imported verdicts all
count where nothing else of the items is withheld (`bare_items`). What people judge in a study that still runs is no
part of the boards that others get (`listing.py`). A benchmark's items can be looked through where everybody sees all of
them, or a board that everybody sees was judged on them.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import select

from evenhand.domain.item import Item
from evenhand.domain.response import REFERENCE
from evenhand.domain.submission import SubmissionState, SubmittedModel
from evenhand.ledger.read.projection import BenchmarkOnRecord, benchmarks, items_of
from evenhand.ledger.read.public_benchmarks import opened_benchmarks
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.store import submitted_models
from evenhand.site.http.visitor import Visitor

_OF_PEOPLE = re.compile(r"(?:\b|_)(?:people|persons?|humans?)(?:\b|_)")
"""Every measure that holds a judge against people says so in its name or its design, and every sentence on one."""
_WITHOUT_OTHERS = frozenset({"coverage", "length_effect", "planted_effect", "looks"})
"""Measures of an audit, with those that look into them, for which no answer meets another model's."""
_RULED = re.compile(r"\W")
"""What follows the name of a measure in a rule of the gate."""
_NUMBERS = re.compile(r" \([^()]*\d[^()]*\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What one visitor sees of one benchmark."""

    everything: bool
    hidden: frozenset[str] = frozenset()
    """Models whose answers and battles are their team's own business: not published, or withdrawn. And those that are
    still being judged, their own team's too."""
    judging: int = 0
    """The number of the last word on anybody's judging: of one that goes on and ends between two looks the same models
    are hidden, and what was read between may be half of what was said since."""

    def item(self, item: Item) -> Item:
        """Without what is withheld; such an item has another digest and must not be looked up by it."""
        if self.everything:
            return item
        return replace(item, caption=None, reference=None, ground_truth=None, criteria=())

    def battle(self, models: Iterable[str]) -> bool:
        models = set(models)
        return not models & self.hidden and (self.everything or REFERENCE not in models)

    def verdicts(self, *, human: bool) -> bool:
        """One by one; a board's sums are public."""
        return self.everything or not human

    @property
    def words_of_judges(self) -> bool:
        return self.everything


def sight(ledger: Ledger, visitor: Visitor, *, data: str, sample: bool) -> Sight:
    """`data` is the digest of the benchmark's data."""
    if visitor.is_owner:
        return Sight(everything=True)
    person = None if visitor.person is None else visitor.person.id
    found = submitted_models(ledger)
    hidden = frozenset(
        label
        for label, one in found.items()
        if one.ladder
        or not progress_in_sight(visitor, one.standing)
        or (not one.standing.published and (one.person != person or not one.standing.on_the_board))
    )
    judging = max((one.standing.approval_seq for one in found.values()), default=0)
    return Sight(everything=sample or data in opened_benchmarks(ledger), hidden=hidden, judging=judging)


def progress_in_sight(visitor: Visitor, standing: SubmissionState) -> bool:
    """Whether this visitor is told which verdicts a submission has, or how many: others than the owner only when its
    judging has ended, be they its own team. Until then each has come as soon as its reply had."""
    return visitor.is_owner or not standing.under_way


def bare_items(ledger: Ledger, data: str) -> frozenset[str]:
    """Digests of those that have nothing to withhold, nor an answer that plays as the reference."""
    answers, places, everybody = schema.responses, schema.benchmark_items, Sight(everything=False)
    here = select(places.c.item).where(places.c.benchmark == data)
    referred = select(answers.c.item).where(answers.c.item.in_(here), answers.c.model == REFERENCE)
    with ledger.reading() as connection:
        with_reference = set(connection.execute(referred).scalars())
    bare = (item.digest for item in items_of(ledger, data) if everybody.item(item) == item)
    return frozenset(bare) - with_reference


def unpublished(entered: Mapping[str, SubmittedModel]) -> frozenset[str]:
    """Labels of models that stand on a board by their ratings alone: whom they beat is their team's own business."""
    return frozenset(label for label, one in entered.items() if not one.in_sight)


def without_pairs_of(hidden: Set[str], document: Mapping[str, Any]) -> dict[str, Any]:
    """A board's document without what it tells of these models and single others."""
    told = dict(document)
    if (matrix := told.get("matrix")) is not None:
        at = [place for place, model in enumerate(matrix["models"]) if model not in hidden]
        told["matrix"] = {
            "models": [matrix["models"][place] for place in at],
            **{name: [[matrix[name][row][to] for to in at] for row in at] for name in ("share", "n", "predicted")},
        }
    if (cycles := told.get("cycles")) is not None:
        told["cycles"] = cycles | {"worst": [one for one in cycles["worst"] if not hidden & {*one["models"]}]}
    told["neighbours"] = [one for one in told["neighbours"] if not hidden & {one["model"], one["next"]}]
    return told


def everybody_sees(ledger: Ledger, data: str) -> bool:
    """Whether nothing of the benchmark is withheld."""
    return data in opened_benchmarks(ledger) or any(one.sample for one in benchmarks(ledger) if one.data == data)


def audit_in_sight(ledger: Ledger, report: Mapping[str, Any]) -> Mapping[str, Any]:
    """An audit's report as everybody sees it: where people's verdicts on its data are withheld, without what rests on
    them. The judge's own are public, so how many of them agree with people's tells these; and so does what it counts of
    all pairs where the reference is in some, which is not of whole batches either."""
    if everybody_sees(ledger, str(report.get("data"))):
        return report
    # One that compared no two answers names no models, and may have let one of all be picked.
    told = _without_the_reference(report) if REFERENCE in (report.get("models") or (REFERENCE,)) else dict(report)
    for name in ("measures", "gate", "findings", "notes"):
        told[name] = [one for one in told.get(name, ()) if not _OF_PEOPLE.search(json.dumps(one))]
    if _OF_PEOPLE.search(str(report.get("conclusion") or "")):
        told["conclusion"] = None
    return told


def _without_the_reference(report: Mapping[str, Any]) -> dict[str, Any]:
    """Of what hangs on pairs with it only the words, and no number."""
    measures = [one for one in report["measures"] if {one["name"], one.get("part_of")} & _WITHOUT_OTHERS]
    drawn: Mapping[str, Any] = report.get("pictures") or {}
    return {
        **report,
        "measures": measures,
        "pictures": {name: one for name, one in drawn.items() if name == "lengths"},
        "findings": [_NUMBERS.sub("", one) for one in report.get("findings", ())],
        "gate": [one for one in report.get("gate", ()) if _RULED.split(one["rule"])[0] in _WITHOUT_OTHERS],
    }


def benchmarks_in_sight(ledger: Ledger, visitor: Visitor, judged: Collection[str]) -> list[BenchmarkOnRecord]:
    """Whose items this visitor may look through, each as its `Sight` lets them. `judged`: digests of the data of the
    boards that they see."""
    everybody = opened_benchmarks(ledger) | set(judged)
    return [one for one in benchmarks(ledger) if visitor.is_owner or one.sample or one.data in everybody]


def judges_in_sight(visitor: Visitor, *, sample: bool, opened: bool) -> bool:
    """Whether this visitor may see how judges compare: of agreement with people as it grows, single verdicts could be
    told, and people's verdicts are withheld where anything is."""
    return visitor.is_owner or sample or opened


def as_compared(item: Item) -> Item:
    """What a person sees of an item whose answers they compare: its criteria too, by which they judge.

    Such an item has another digest and must not be looked up by it.
    """
    return replace(item, caption=None, reference=None, ground_truth=None)
