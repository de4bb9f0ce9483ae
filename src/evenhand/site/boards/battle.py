"""One battle whole, as far as a visitor may see it: the item, both answers, and every showing with what was said."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from evenhand.domain.item import Item
from evenhand.domain.verdict import Grades, NoVerdict
from evenhand.format.verdict_words import VerdictWords, verdict_words
from evenhand.ledger.read.item_names import public_names
from evenhand.ledger.read.lookup import find_item
from evenhand.ledger.read.projection import JudgedTrial
from evenhand.ledger.read.steering import said_to_judge
from evenhand.ledger.store.record import Ledger
from evenhand.reports.case import CaseRecord, read_cases
from evenhand.site.boards.listing import BoardOnRecord
from evenhand.site.http.computed import LastMade
from evenhand.site.http.visibility import Sight


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownVerdict:
    """What came of one showing."""

    models: tuple[str, ...]
    """In the order shown."""
    rater: str
    winner: str | None
    """None for a tie, and where there is no verdict."""
    words: str
    decided: bool
    replies: tuple[str, ...]
    """The judge's own words, call after call; empty where they are withheld or a person judged."""
    replicate: int
    at: float | None
    """None where something is withheld: a reply that was on record is read at once, so it would tell that the judge had
    been asked in the same words, of an answer that is the reference's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BattlePicture:
    digest: str | None
    """None where the image is not in the ledger's store."""
    name: str
    """What the data calls it: a URL's text, or the digest."""
    licence: str | None = None
    """None where the data states none; so is the origin."""
    origin: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleOnRecord:
    name: str
    """The item's public one."""
    item: Item
    pictures: tuple[BattlePicture, ...]
    answers: tuple[tuple[str, str], ...]
    """Model and text, in the order of the models asked for."""
    says_to_judge: tuple[tuple[str, ...], ...]
    """In words, of each of the answers: that it writes a verdict, that it gives the judge an order."""
    showings: tuple[ShownVerdict, ...]
    withheld: bool
    """Whether something is hidden from this visitor."""

    @property
    def won(self) -> tuple[tuple[str, int], ...]:
        """Who won the most of the showings that may be seen, and how many: nobody, one, or both alike."""
        times = Counter(one.winner for one in self.showings if one.winner is not None)
        return tuple((model, count) for model, count in times.items() if count == max(times.values()))


def find_battle(
    ledger: Ledger,
    on_record: BoardOnRecord,
    *,
    item: str,
    models: tuple[str, str],
    sight: Sight,
    last: LastMade | None = None,
) -> BattleOnRecord | None:
    """`item` is its public name; None where no such battle is on record, or it may not be seen.

    Where nothing is withheld, by its digest too. `last`: where many battles on one item are asked for in turn.
    """
    names = public_names(ledger, on_record.data)
    digest = _digest(names, item, sight)
    if digest is None or not sight.battle(models):
        return None

    def of_these(one: JudgedTrial) -> bool:
        return sorted(one.models) == sorted(models)

    def read(wanted: Callable[[JudgedTrial], bool]) -> CaseRecord:
        words = sight.words_of_judges
        return read_cases(ledger, on_record.studies, items={digest}, wanted=wanted, replies=words)

    if last is None:
        record = read(lambda one: one.stands and of_these(one))
    else:
        key = (on_record.id, on_record.part, digest, sight.words_of_judges)
        every = last.get("item", key, lambda: read(lambda one: one.stands))
        record = replace(every, showings=tuple(filter(of_these, every.showings)))
    if not record.showings:
        return None
    digests = dict(zip(record.showings[0].models, record.showings[0].trial.responses, strict=True))
    speaks = said_to_judge(record.showings)
    found = find_item(ledger, digest)
    seen = [one for one in record.showings if sight.verdicts(human=on_record.human)]
    if not sight.everything:
        # In the order of the record, a reply that was there already stands before one that was waited for.
        seen.sort(key=lambda one: (one.models, one.trial.replicate))
    return BattleOnRecord(
        name=names[digest],
        item=sight.item(found),
        pictures=pictures_of(ledger, found, on_record.data),
        answers=tuple((model, record.answers[digests[model]].text) for model in models),
        says_to_judge=tuple(tuple(speaks.get(digests[model], ())) for model in models),
        showings=tuple(_said(record, on_record, one, seen, timed=sight.everything) for one in seen),
        withheld=not sight.everything,
    )


def _digest(names: Mapping[str, str], name: str, sight: Sight) -> str | None:
    if sight.everything and name in names:
        return name
    return next((digest for digest, called in names.items() if called == name), None)


def pictures_of(ledger: Ledger, item: Item, data: str) -> tuple[BattlePicture, ...]:
    addresses = ledger.images.addresses
    fetched, licences, origins = addresses.digests(), addresses.licences(data), addresses.origins(data)
    found: list[BattlePicture] = []
    for name in item.images:
        digest = stored_image(ledger, name, fetched)
        found.append(BattlePicture(digest=digest, name=name, licence=licences.get(name), origin=origins.get(name)))
    return tuple(found)


def stored_image(ledger: Ledger, name: str, fetched: Mapping[str, str]) -> str | None:
    """The digest of the image of that name; None where it is not in the ledger's store. `fetched`: digests by URL."""
    digest = fetched.get(name, name)
    known = len(digest) == 64 and not ledger.images.missing([digest]) and ":" not in digest
    return digest if known else None


def _said(
    record: CaseRecord, on_record: BoardOnRecord, one: JudgedTrial, among: Sequence[JudgedTrial], *, timed: bool
) -> ShownVerdict:
    judgement = one.judgement
    said = verdict_words(judgement.verdict, one.models)
    if isinstance(judgement.verdict, Grades):
        # In the order shown, as the page's headings and the document's models are.
        said = VerdictWords(
            winner=None, words=f"grades {', '.join(f'{value:g}' for value in judgement.verdict.values)}"
        )
    persons = list(dict.fromkeys(other.trial.rater for other in among))
    return ShownVerdict(
        models=one.models,
        rater=f"person {persons.index(one.trial.rater) + 1}" if on_record.human else on_record.judge,
        winner=None if said.winner is None else one.models[said.winner],
        words=said.words,
        decided=not isinstance(judgement.verdict, NoVerdict),
        replies=tuple(call.call.reply.text for call in record.replies(one)),
        replicate=one.trial.replicate,
        at=judgement.at if timed else None,
    )
