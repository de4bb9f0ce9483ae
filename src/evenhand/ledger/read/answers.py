"""What is known of very many responses at once: whose they are, how long, and which stand for their models."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import BindParameter, Connection, Select, bindparam, func, select

from evenhand.ledger.read.as_of import AsOf
from evenhand.ledger.store import schema
from evenhand.ledger.store.columns import fetched
from evenhand.ledger.store.links import ERASED
from evenhand.ledger.store.record import Ledger, chunks

_KEYS: BindParameter[Any] = bindparam("keys", expanding=True)


_responses = schema.responses.c
_MODELS, _TEXTS, _FACTS = (
    [select(_responses.digest, *told).where(column.in_(_KEYS)) for column in (_responses.item, _responses.digest)]
    for told in ((_responses.model,), (_responses.text,), (_responses.model, _responses.text))
)
"""By the items of responses, and by their digests."""
_choices = schema.response_choices.c
_LAST = (
    select(func.max(_choices.seq))
    .where(_choices.item.in_(_KEYS))
    .group_by(_choices.item, _choices.model, _choices.variant)
)


def response_models(ledger: Ledger, digests: Iterable[str], *, items: Iterable[str] = ()) -> dict[str, str]:
    """`items`: those that most of the responses are to, which are found by them at once."""
    with ledger.reading() as connection:
        return {digest: schema.unescaped(model) for digest, model in _found(connection, _MODELS, digests, items)}


def word_counts(ledger: Ledger, digests: Iterable[str], *, items: Iterable[str] = ()) -> dict[str, int]:
    """`items` as above; without the responses whose texts were erased."""
    with ledger.reading() as connection:
        found = [(digest, _words(text)) for digest, text in _found(connection, _TEXTS, digests, items)]
        return {digest: words for digest, words in found if words >= 0}


def models_and_words(
    connection: Connection, digests: Iterable[str], *, items: Iterable[str] = ()
) -> dict[str, tuple[str, int]]:
    """Whose each response is, and of how many words: -1 where its text was erased. `items` as above."""
    found = _found(connection, _FACTS, digests, items)
    return {digest: (schema.unescaped(model), _words(text)) for digest, model, text in found}


def _words(stored: str) -> int:
    return -1 if stored.startswith(ERASED) else len(schema.unescaped(stored).split())


def _found(
    connection: Connection, queries: Sequence[Select[*tuple[Any, ...]]], digests: Iterable[str], items: Iterable[str]
) -> Iterator[tuple[str, ...]]:
    """The digest of each response, and what more is asked of it, as it is stored."""
    by_item, by_digest = queries
    left = set(digests)
    for query, keys in ((by_item, items), (by_digest, left)):
        for some in chunks(sorted(keys)):
            for rows in fetched(connection, query, keys=some):
                ours = [row for row in rows if row[0] in left]
                left.difference_update([row[0] for row in ours])
                yield from ours


def standing_responses(ledger: Ledger, items: Iterable[str], *, as_of: AsOf | None = None) -> set[str]:
    """Digests of the responses that stand for their models on these items."""
    with ledger.reading() as connection:
        return standing_in(connection, items, as_of=as_of)


def standing_in(connection: Connection, items: Iterable[str], *, as_of: AsOf | None = None) -> set[str]:
    last = _LAST if as_of is None else _LAST.where(_choices.seq <= as_of.answer)
    standing = select(_choices.response).where(_choices.seq.in_(last))
    found: set[str] = set()
    for some in chunks(sorted(items)):
        for rows in fetched(connection, standing, keys=some):
            found.update(digest for (digest,) in rows)
    return found


def answered(ledger: Ledger, items: Iterable[str], *, variant: str) -> dict[str, set[str]]:
    """Of each model the items to which an answer of this variant stands that nobody altered."""
    standing = (
        select(_choices.item, _choices.model)
        .join(schema.responses, schema.responses.c.digest == _choices.response)
        .where(_choices.seq.in_(_LAST), _choices.variant == variant, schema.responses.c.alteration.is_(None))
    )
    found: dict[str, set[str]] = {}
    with ledger.reading() as connection:
        for some in chunks(sorted(items)):
            for rows in fetched(connection, standing, keys=some):
                for item, model in rows:
                    found.setdefault(schema.unescaped(model), set()).add(item)
    return found


def chosen_after(connection: Connection, last: int) -> list[str]:
    """Of each choice after the one of this number the item."""
    return [item for rows in fetched(connection, select(_choices.item).where(_choices.seq > last)) for (item,) in rows]


def ever_chosen(connection: Connection, items: Iterable[str]) -> set[str]:
    """Digests of all responses that ever stood for their models on these items."""
    chosen = select(_choices.response).where(_choices.item.in_(_KEYS))
    parts = (fetched(connection, chosen, keys=some) for some in chunks(sorted(items)))
    return {digest for part in parts for rows in part for (digest,) in rows}


def choices_made(connection: Connection) -> list[int]:
    """How many times it was chosen which response stands for a model, and the number of the last."""
    return list(connection.execute(select(func.count(), func.coalesce(func.max(_choices.seq), 0))).one())
