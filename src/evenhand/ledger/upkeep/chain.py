"""Whether the record is as it was written: every row held against the links, and the links against each other.

Whoever can write to the whole database can make the links anew. Only a head that stands elsewhere, in a receipt, a
report or a backup, tells that.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast

from sqlalchemy import Connection, Table, select

from evenhand.domain.errors import EvenhandError
from evenhand.domain.identity import Json, canonical_json
from evenhand.ledger.store import schema
from evenhand.ledger.store.columns import fetched
from evenhand.ledger.store.links import GENESIS, MAY_CHANGE, SHAPES, TOKEN, Tip, link_hash, root, tips, unpacked
from evenhand.ledger.store.opening import unmoved
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.upkeep.resting import LazyRow, resting

_TOLD = 5
"""Rows of a kind that a sentence names; the report has them all."""
_UNTOLD = (TypeError, ValueError, AttributeError, OverflowError, RecursionError)
"""What a row raises that holds something that no program wrote."""
_ENDING = {f"-{table.name}" for table in MAY_CHANGE}
"""What a link may say of rows that ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where the chains end: one hash that stands for all that was written until then."""

    root: str
    """Of the ledger."""
    tips: tuple[Tip, ...]
    """Without writer and number, as ("", 0, hash), where that is not told."""

    @property
    def hash(self) -> str:
        content = canonical_json([self.root, self._ends()])
        return hashlib.sha256(f"head\n{content}".encode("ascii")).hexdigest()

    @property
    def unnumbered(self) -> "Head":
        """With the ends by their hashes alone. Two heads with numbers tell how many links lie between them, and so how
        many calls were made."""
        return replace(self, tips=tuple(sorted(Tip("", 0, one.hash) for one in self.tips)))

    def as_json(self) -> dict[str, Json]:
        return {"head": self.hash, "ledger": self.root, "tips": self._ends()}

    def _ends(self) -> list[Json]:
        return [one.as_json() if one.writer else one.hash for one in self.tips]


class HeadError(EvenhandError):
    """A file that holds no head of a ledger's chain."""

    code = "EH-LEDGER-HEAD"


def head_from(document: object) -> Head:
    """Of what `as_json` made; raises HeadError."""
    try:
        fields = cast(Mapping[str, Any], document)
        found = Head(root=str(fields["ledger"]), tips=tuple(map(_end, fields["tips"])))
        if found.hash == fields["head"]:
            return found
    except (KeyError, *_UNTOLD):
        raise HeadError("It carries no head of a ledger's chain.") from None
    raise HeadError("The head in it is not that of the ends it names: it was edited.", code="EH-LEDGER-HEAD-EDITED")


def _end(told: Any) -> Tip:
    writer, number, name = ("", 0, told) if isinstance(told, str) else told
    return Tip(str(writer), int(number), str(name))


def head(ledger: Ledger) -> Head:
    with ledger.reading() as connection:
        return head_of(connection)


def head_of(connection: Connection) -> Head:
    # What somebody damaged may be no text and no number any more: `check` tells, and must come to it.
    stored: list[Any] = [one.as_json() for one in tips(connection)]
    ends = (Tip(str(writer), end if isinstance(end, int) else 0, str(name)) for writer, end, name in stored)
    return Head(root=root(connection), tips=tuple(ends))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainFinding:
    """Rows of one table that are not as they were written."""

    table: str
    changed: int
    put_in: int
    taken_out: int
    """At least so many of each kind; a row that was changed is one taken out and another put in."""
    rows: tuple[str, ...]
    """Keys of those that are there."""
    links: tuple[str, ...]
    """When and by whom those were written that are not."""

    def __str__(self) -> str:
        counts = ((self.changed, "changed"), (self.put_in, "put in"), (self.taken_out, "taken out"))
        what = ", ".join(f"{count:,} {word}" for count, word in counts if count)
        here = f" On record and not as written: {_some(self.rows)}." if self.rows else ""
        gone = f" Written and not on record: {_some(self.links)}." if self.links else ""
        return f"{self.table}: {what}.{here}{gone}"

    def as_json(self) -> dict[str, Json]:
        return {
            "table": self.table,
            "changed": self.changed,
            "put_in": self.put_in,
            "taken_out": self.taken_out,
            "rows": [*self.rows],
            "links": [*self.links],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainReport:
    head: Head
    links: int
    rows: int
    """That they cover."""
    genesis: float | None
    """When a ledger that was begun without links got its first, seconds since 1970; None where it had them always."""
    broken: tuple[str, ...]
    """Sentences: links that do not follow each other."""
    findings: tuple[ChainFinding, ...]
    rests: tuple[str, ...]
    """What rests on rows that are not as they were written, by name."""
    erased: Mapping[str, int]
    """Texts that were taken away and left their digest, by table: what they said cannot be checked any more."""

    @property
    def problems(self) -> list[str]:
        found = [*self.broken, *map(str, self.findings)]
        return [*found, *(f"On this rests: {one}." for one in self.rests)] if found else []

    def as_json(self) -> dict[str, Json]:
        return {
            **self.head.as_json(),
            "links": self.links,
            "rows": self.rows,
            "covered_since": None if self.genesis is None else utc(self.genesis),
            "broken": [*self.broken],
            "findings": [one.as_json() for one in self.findings],
            "rests": [*self.rests],
            "erased": dict(self.erased),
        }


def check(ledger: Ledger) -> ChainReport:
    """Rows whose key is the hash of their content are told by the key here; `upkeep.check` holds the two together."""
    with ledger.reading(apart=True) as connection, unmoved(connection):
        walk = _Walk()
        walk.through(connection)
        findings: list[ChainFinding] = []
        suspects: dict[str, list[LazyRow]] = {}
        gone: dict[str, set[bytes]] = {}
        for table in SHAPES:
            found, rows, missing = _held(connection, table, walk)
            findings += found
            if found:
                suspects[table.name], gone[table.name] = rows, missing
        together = _written_together(connection, walk.holders(gone)) if gone else {}
        rests = resting(connection, [suspects, together]) if findings or walk.broken else ()
        return ChainReport(
            head=head_of(connection),
            links=len(walk.hashes),
            rows=walk.covered,
            genesis=walk.genesis,
            broken=tuple(walk.broken),
            findings=tuple(findings),
            rests=tuple(rests),
            erased=dict(walk.erased),
        )


def continues(ledger: Ledger, then: Head) -> list[str]:
    """Sentences about why this ledger is no continuation of the one that had this head; none where it is one."""
    with ledger.reading(apart=True) as connection, unmoved(connection):
        return parted(connection, then)


def parted(connection: Connection, then: Head) -> list[str]:
    """As `continues` tells. A ledger is a continuation where every end that was published is a link still: each link
    holds the hash of the one before."""
    table = schema.links
    if then.root != root(connection):
        return ["It is the head of another ledger, or this one's identity was changed."]
    query = select(table.c.writer, table.c.number, table.c.hash)
    known = {(writer, number): name for part in fetched(connection, query) for writer, number, name in part}
    named = {name: place for place, name in known.items()}
    return [
        f"{_link_of(one)} is {'another: ' if (one.writer, one.number) in known else 'gone: this is an older copy, or '}"
        "what was written until then was changed or taken out, and links were made anew."
        for one in then.tips
        if one.hash not in named or (one.writer and named[one.hash] != (one.writer, one.number))
    ]


def _link_of(end: Tip) -> str:
    return f"Link {end.number} of writer {end.writer}" if end.writer else f"Link {end.hash}"


class _Walk:
    """Through all links, in each writer's order."""

    def __init__(self) -> None:
        self.hashes: dict[tuple[str, int], str] = {}
        self.broken: list[str] = []
        self.covered = 0
        self.genesis: float | None = None
        self.erased = Counter[str]()
        self._joined: dict[tuple[str, int], str] = {}
        self._tokens: dict[str, list[tuple[int, bytes]]] = {}
        """By table, or '-' and table: the number of the link in the walk, and its tokens side by side."""
        self._names: list[str] = []
        self._strangers: set[str] = set()
        """Writers whose chain does not begin in this ledger: their links vouch for nothing."""

    def through(self, connection: Connection) -> None:
        columns = [column.name for column in schema.links.columns]
        query = select(schema.links).order_by(schema.links.c.writer, schema.links.c.number)
        beginning = root(connection)
        before = Tip("", 0, beginning)
        for part in fetched(connection, query):
            for values in part:
                row = dict(zip(columns, values, strict=True))
                if row["writer"] != before.writer:
                    before = Tip(row["writer"], 0, beginning)
                before = self._link(row, before)
        self._ends(tips(connection))

    def _link(self, row: Mapping[str, Any], before: Tip) -> Tip:
        name = f"Link {row['number']} of writer {row['writer']}"
        try:
            whole = link_hash(row) == row["hash"]
            if not whole:
                self.broken.append(f"{name} was changed: its hash is not that of its content.")
            if row["number"] != before.number + 1:
                self.broken.append(f"{name} follows link {before.number}: links between them were taken out.")
            elif row["previous"] != before.hash:
                self.broken.append(f"{name} does not follow the link before it: that one is another, or this one is.")
                if before.number == 0:
                    self._strangers.add(row["writer"])
            self._joined |= {(writer, number): end for writer, number, end in json.loads(row["joined"])}
            if whole and row["writer"] not in self._strangers:
                self._keep(row)
        except _UNTOLD:
            self.broken.append(f"{name} was changed: it is none that Evenhand wrote.")
        self.hashes[row["writer"], row["number"]] = row["hash"]
        number = row["number"] if isinstance(row["number"], int) else before.number + 1
        return Tip(row["writer"], number, row["hash"])

    def _keep(self, row: Mapping[str, Any]) -> None:
        place, at = len(self._names), float(row["at"])
        if row["writer"] == GENESIS and self.genesis is None:
            self.genesis = at
        self._names.append(f"{utc(at)} by writer {row['writer']} in link {row['number']}")
        for name, tokens in unpacked(row["rows"]).items():
            if name.startswith("-") and name not in _ENDING:
                self.broken.append(
                    f"Link {row['number']} of writer {row['writer']} says that rows of {name[1:]} ended, which none "
                    "ever do: it is none that Evenhand wrote."
                )
                continue
            self._tokens.setdefault(name, []).append((place, tokens))
            self.covered += 0 if name.startswith("-") else len(tokens) // TOKEN

    def _ends(self, stored: Sequence[Tip]) -> None:
        for (writer, number), name in self._joined.items():
            if self.hashes.get((writer, number)) != name:
                self.broken.append(f"Link {number} of writer {writer}, which another joined, is gone or another.")
        last = {writer: number for writer, number in self.hashes}
        ends = {Tip(w, n, self.hashes[w, n]) for w, n in last.items() if (w, n) not in self._joined}
        self.broken += [
            f"The last link of writer {one.writer} is not where its chain ends (link {one.number}): links were taken "
            "out or put in."
            for one in sorted(ends.symmetric_difference(stored), key=str)
        ]

    def expected(self, table: str) -> set[bytes]:
        """The tokens of the rows that are to be there now."""
        there = {token for _, tokens in self._tokens.get(table, ()) for token in _split(tokens)}
        ended = self._tokens.get(f"-{table}")
        return there if ended is None else self._left(table, there)

    def _left(self, table: str, there: Iterable[bytes]) -> set[bytes]:
        """Of rows that change, those written once more than they ended."""
        count = dict.fromkeys(there, 0)
        for sign, name in ((1, table), (-1, f"-{table}")):
            for _, tokens in self._tokens.get(name, ()):
                for token in _split(tokens):
                    count[token] = count.get(token, 0) + sign
        return {token for token, times in count.items() if times > 0}

    def wrote(self, table: str, tokens: set[bytes]) -> list[str]:
        """When and by whom these were written, each link once."""
        places = {place for place, some in self._tokens.get(table, ()) if not tokens.isdisjoint(_split(some))}
        return [self._names[place] for place in sorted(places)]

    def holders(self, gone: Mapping[str, set[bytes]]) -> dict[str, set[bytes]]:
        """By table, all tokens of the links that hold these."""
        places = {
            place
            for table, tokens in gone.items()
            for place, some in self._tokens.get(table, ())
            if not tokens.isdisjoint(_split(some))
        }
        return {
            table: {token for place, some in parts if place in places for token in _split(some)}
            for table, parts in self._tokens.items()
            if not table.startswith("-")
        }


def _split(tokens: bytes) -> Iterator[bytes]:
    return (tokens[start : start + TOKEN] for start in range(0, len(tokens), TOKEN))


def _held(connection: Connection, table: Table, walk: _Walk) -> tuple[list[ChainFinding], list[LazyRow], set[bytes]]:
    """What is wrong with a table, the rows that no link has, and the tokens that no row has."""
    missing = walk.expected(table.name)
    strange: list[LazyRow] = []
    shape = SHAPES[table]
    names = [column.name for column in shape.columns]
    for values, token in _tokens(connection, table):
        if token in missing:
            missing.discard(token)
            if erased := shape.erased(values):
                walk.erased[table.name] += erased
        else:
            strange.append(LazyRow(names, values))
    if not missing and not strange:
        return [], [], set()
    keys = [column.name for column in table.primary_key]
    found = ChainFinding(
        table=table.name,
        changed=min(len(missing), len(strange)),
        put_in=max(0, len(strange) - len(missing)),
        taken_out=max(0, len(missing) - len(strange)),
        rows=tuple(" ".join(str(row[key])[:12] for key in keys) for row in strange),
        links=tuple(walk.wrote(table.name, missing)),
    )
    return [found], strange, missing


def _tokens(connection: Connection, table: Table) -> Iterator[tuple[tuple[Any, ...], bytes | None]]:
    """Of each row what is covered and its token; None where it holds what no program wrote."""
    shape = SHAPES[table]
    for part in fetched(connection, select(*shape.columns)):
        for values in part:
            try:
                token = shape.token(values)
            except _UNTOLD:
                token = None
            yield values, token


def _written_together(connection: Connection, tokens: Mapping[str, set[bytes]]) -> dict[str, list[LazyRow]]:
    """The rows that are still there of links that others are gone from."""
    found: dict[str, list[LazyRow]] = {}
    for table, shape in SHAPES.items():
        if wanted := tokens.get(table.name):
            names = [column.name for column in shape.columns]
            found[table.name] = [LazyRow(names, row) for row, token in _tokens(connection, table) if token in wanted]
    return found


def _some(names: Sequence[str]) -> str:
    more = len(names) - _TOLD
    return ", ".join(names[:_TOLD]) + (f" and {more:,} more" if more > 0 else "")


def utc(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
