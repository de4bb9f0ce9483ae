"""Whether the tables of a ledger are as Evenhand makes them.

A trigger or a rule can leave rows out as they are written, and a view in a table's place show others than were written.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TypeAlias

from sqlalchemy import Connection, PrimaryKeyConstraint, Table, UniqueConstraint, create_engine, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateColumn

from evenhand.format.near_names import with_article
from evenhand.ledger.store import schema

Made: TypeAlias = Mapping[tuple[str, str], Counter[str]]
"""By kind and name, the words that each thing was made with, in whatever order."""
_VERSION = "alembic_version"
"""Our own table that the schema does not have."""


def strange_tables(connection: Connection) -> list[str]:
    """Sentences about what is in the database beside or instead of the tables that Evenhand makes."""
    if connection.dialect.name == "sqlite":
        return _differences(_made_by_sqlite(), _found_in_file(connection), "file")
    return _differences(_made_by_server(), _found_on_server(connection), "database")


def _differences(made: Made, found: Made, place: str) -> list[str]:
    beside = [
        f"The ledger's {place} holds {with_article(kind)} '{name}', which Evenhand did not make."
        for kind, name in found
    ]
    gone = [f"The {kind} '{name}' of the ledger is not in its {place}." for kind, name in made]
    return [
        *(words for words, what in zip(beside, found, strict=True) if what not in made),
        *(words for words, what in zip(gone, made, strict=True) if what not in found),
        *(
            f"The {kind} '{name}' is not as Evenhand made it: {_told(words, found[kind, name])}."
            for (kind, name), words in made.items()
            if found.get((kind, name), words) != words
        ),
    ]


def _told(made: Counter[str], found: Counter[str]) -> str:
    more, less = (" ".join(sorted(words))[:200] for words in (found - made, made - found))
    return "; ".join(f"{what} {words}" for what, words in (("added is", more), ("missing is", less)) if words)


@cache
def _made_by_sqlite() -> Made:
    """As the schema says."""
    engine = create_engine("sqlite://")
    schema.metadata.create_all(engine)
    with engine.connect() as connection:
        found = _found_in_file(connection)
    engine.dispose()
    return found


def _found_in_file(connection: Connection) -> Made:
    """Tables, indexes and whatever else, each with the words that it was made with, in whatever order and quotes."""
    query = text("SELECT type, name, sql FROM sqlite_master ORDER BY type, name")
    own = (
        "sqlite_autoindex_",
        "sqlite_sequence",
        "sqlite_stat",
        _VERSION,
    )  # of SQLite; our version
    return {
        (str(kind), str(name)): Counter(re.findall(r"[\w.]+", str(words).lower()))
        for kind, name, words in connection.execute(query)
        if kind not in ("table", "index") or not str(name).startswith(own)
    }


_SERVERS_WORDS = {"float": "double precision", "bigserial": "bigint serial", "serial": "integer serial"}
"""What the server calls types that it is given other names for."""


@cache
def _made_by_server() -> Made:
    """As the schema says, in the words that the server tells it with."""
    made: dict[tuple[str, str], Counter[str]] = {}
    schema.complete_for(postgresql.dialect())
    for table in schema.metadata.sorted_tables:
        made["table", table.name] = Counter(_parts(table))
        for index in table.indexes:
            columns = ", ".join(column.name for column in index.columns)
            where = index.dialect_options["postgresql"]["where"]
            some = "" if where is None else f" where ({where})"
            made["index", str(index.name)] = Counter([_plain(f"{table.name} btree ({columns}){some}")])
    return made


def _parts(table: Table) -> Iterator[str]:
    dialect = postgresql.dialect()
    for column in table.columns:
        name, kind, *rest = _plain(str(CreateColumn(column).compile(dialect=dialect))).split()
        yield " ".join((name, _SERVERS_WORDS.get(kind, kind), *rest))
    for constraint in table.constraints:
        assert isinstance(constraint, UniqueConstraint | PrimaryKeyConstraint)
        columns = ", ".join(column.name for column in constraint.columns)
        yield _plain(f"{'unique' if isinstance(constraint, UniqueConstraint) else 'primary key'} ({columns})")


def _plain(words: str) -> str:
    return words.replace('"', "").lower()


_KINDS = {
    "r": "table", "p": "table", "v": "view", "m": "materialized view", "f": "foreign table", "i": "index",
    "I": "index", "S": "sequence",
}  # fmt: skip
_OURS = text("SELECT oid FROM pg_namespace WHERE nspname = current_schema()")
# What an extension brought, the index of a constraint and the sequence of a column belong to something else.
_THINGS = text(
    "SELECT CAST(c.relkind AS text), c.relname, CAST(c.relpersistence AS text), c.relrowsecurity FROM pg_class AS c "
    "WHERE c.relnamespace = :ours AND c.relkind NOT IN ('c', 't') AND NOT EXISTS (SELECT 1 FROM pg_depend AS d "
    "WHERE d.classid = CAST('pg_class' AS regclass) AND d.objid = c.oid "
    "AND (d.deptype IN ('e', 'i') OR (d.deptype = 'a' AND c.relkind = 'S'))) ORDER BY c.relkind, c.relname"
)
_COLUMNS = text(
    "SELECT c.relname, a.attname || ' ' || format_type(a.atttypid, a.atttypmod) "
    "|| CASE WHEN CAST(a.attgenerated AS text) <> '' THEN ' generated' ELSE '' END "
    "|| coalesce(' default ' || pg_get_expr(v.adbin, v.adrelid), '') "
    "|| CASE WHEN a.attnotnull THEN ' not null' ELSE '' END FROM pg_class AS c "
    "JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
    "LEFT JOIN pg_attrdef AS v ON v.adrelid = c.oid AND v.adnum = a.attnum "
    "WHERE c.relnamespace = :ours AND c.relkind IN ('r', 'p')"
)
_CONSTRAINTS = text(
    "SELECT c.relname, pg_get_constraintdef(k.oid) FROM pg_class AS c JOIN pg_constraint AS k ON k.conrelid = c.oid "
    "WHERE c.relnamespace = :ours AND k.contype <> 'n'"  # of columns that hold something, which those say themselves
)
_HEIRS = text(
    "SELECT c.relname, 'rows of ' || heir.relname FROM pg_class AS c JOIN pg_inherits AS i ON i.inhparent = c.oid "
    "JOIN pg_class AS heir ON heir.oid = i.inhrelid WHERE c.relnamespace = :ours"
)
_INDEXES = text(
    "SELECT c.relname, CASE WHEN i.indisunique THEN 'unique ' ELSE '' END || whose.relname || ' ' "
    "|| split_part(pg_get_indexdef(c.oid), ' USING ', 2) FROM pg_class AS c JOIN pg_index AS i ON i.indexrelid = c.oid "
    "JOIN pg_class AS whose ON whose.oid = i.indrelid WHERE c.relnamespace = :ours"
)
_TRIGGERS = text(
    "SELECT g.tgname FROM pg_class AS c JOIN pg_trigger AS g ON g.tgrelid = c.oid "
    "WHERE c.relnamespace = :ours AND NOT g.tgisinternal"
)
_RULES = text(
    "SELECT r.rulename FROM pg_class AS c JOIN pg_rewrite AS r ON r.ev_class = c.oid "
    "WHERE c.relnamespace = :ours AND r.rulename <> '_RETURN'"  # which makes a view of a table
)
_POLICIES = text(
    "SELECT p.polname FROM pg_class AS c JOIN pg_policy AS p ON p.polrelid = c.oid WHERE c.relnamespace = :ours"
)
_NUMBERING = re.compile(r"default nextval\('[^']*'::regclass\)")


def _found_on_server(connection: Connection) -> Made:
    ours = {"ours": connection.execute(_OURS).scalar()}
    found: dict[tuple[str, str], Counter[str]] = {}
    for kind, name, lasting, hidden in connection.execute(_THINGS, ours):
        if name != _VERSION:
            words = [*(["unlogged"] if lasting == "u" else []), *(["row security"] if hidden else [])]
            found[_KINDS.get(kind, "relation"), name] = Counter(words)
    parts = (("table", _COLUMNS), ("table", _CONSTRAINTS), ("table", _HEIRS), ("index", _INDEXES))
    for kind, query in parts:
        for name, words in connection.execute(query, ours):
            if (thing := found.get((kind, name))) is not None:
                thing[_NUMBERING.sub("serial", _plain(words))] += 1
    for kind, query in (("trigger", _TRIGGERS), ("rule", _RULES), ("policy", _POLICIES)):
        found |= {(kind, name): Counter[str]() for name in connection.execute(query, ours).scalars()}
    return found
