"""The tables of submissions: who takes them under which terms, what was said about each, and who asked to be let in."""

from sqlalchemy import Boolean, Column, Float, Table, Text, UniqueConstraint

from evenhand.ledger.store.schema import FreeText, Sequence, metadata

# A board that takes submissions. Its terms are only ever added to: the last stand.
intakes = Table(
    "intakes",
    metadata,
    Column("id", Text, primary_key=True),
    Column("benchmark", FreeText, nullable=False),
    Column("data", Text, nullable=False),
    Column("rater", Text, nullable=False),
    Column("condition", Text, nullable=False),
    Column("variant", FreeText, nullable=False),
    Column("by", Text, nullable=False),
    Column("at", Float, nullable=False),
    UniqueConstraint("data", "rater", "condition", "variant"),
)

intake_terms = Table(
    "intake_terms",
    metadata,
    Column("seq", Sequence, primary_key=True),
    Column("intake", Text, nullable=False, index=True),
    Column("content", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("at", Float, nullable=False),
)

submissions = Table(
    "submissions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("intake", Text, nullable=False, index=True),
    Column("person", Text, nullable=False, index=True),
    Column("model", FreeText, nullable=False),
    Column("version", FreeText, nullable=False),
    Column("team", FreeText, nullable=False),
    Column("link", FreeText, nullable=False),
    Column("policy_hash", Text, nullable=False),
    Column("at", Float, nullable=False),
)

submission_events = Table(
    "submission_events",
    metadata,
    Column("seq", Sequence, primary_key=True),
    Column("submission", Text, nullable=False, index=True),
    Column("kind", Text, nullable=False),
    Column("person", Text),
    Column("content", Text, nullable=False),
    Column("at", Float, nullable=False),
)

# What a judged event gave the team, apart from it: a receipt is long, and events are read for every board.
receipts = Table(
    "receipts",
    metadata,
    Column("event", Sequence, primary_key=True, autoincrement=False),
    Column("submission", Text, nullable=False, index=True),
    Column("content", Text, nullable=False),
)

# Work: somebody who wants to be let in as a team, or a team that wants what is withheld.
access_requests = Table(
    "access_requests",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("token_hash", Text, unique=True),
    Column("person", Text, index=True),
    Column("intake", Text),
    Column("name", FreeText, nullable=False),
    Column("about", FreeText, nullable=False),
    Column("policy_hash", Text),
    Column("at", Float, nullable=False),
    Column("decided", Float),
    Column("decided_by", Text),
    Column("accepted", Boolean),
    Column("reason", FreeText, nullable=False),
)
