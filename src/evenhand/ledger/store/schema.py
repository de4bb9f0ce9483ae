"""The ledger's tables: what both SQLite and PostgreSQL accept. The record is append-only; work tables may change."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Float,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    literal_column,
    select,
    text,
)

metadata = MetaData()
Sequence = BigInteger().with_variant(Integer, "sqlite")

_ESCAPED = "\x01"


class FreeText(TypeDecorator[str]):
    """Free text of models and people. PostgreSQL refuses NUL and no driver takes lone surrogates: those are escaped."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return escaped(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else unescaped(value)


def escaped(words: str | None) -> str | None:
    """As the driver takes them."""
    if not words or (not words.startswith(_ESCAPED) and "\x00" not in words and (words.isascii() or _encodable(words))):
        return words
    # Not JSON: two lone surrogates side by side would come back as one character.
    return _ESCAPED + words.encode("unicode_escape").decode("ascii")


def unescaped(stored: str) -> str:
    """Words as they were given, of what the driver reads."""
    return stored[1:].encode("ascii").decode("unicode_escape") if stored.startswith(_ESCAPED) else stored


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


meta = Table("meta", metadata, Column("name", Text, primary_key=True), Column("value", Text, nullable=False))


def left_out_word(data: str) -> str:
    """How the names begin of the words that say which items a benchmark's file holds and cannot ask, by its digest."""
    return f"left out of {data}: "


benchmarks = Table(
    "benchmarks",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("name", FreeText, nullable=False),
    Column("licence", FreeText, nullable=False),
    Column("citation", FreeText, nullable=False),
    Column("sample", Boolean, nullable=False),
    Column("at", Float, nullable=False),
)

items = Table("items", metadata, Column("digest", Text, primary_key=True), Column("content", Text, nullable=False))

benchmark_items = Table(
    "benchmark_items",
    metadata,
    Column("benchmark", Text, primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("item", Text, nullable=False),
    Column("label", FreeText, nullable=False),
)

responses = Table(
    "responses",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("item", Text, nullable=False, index=True),
    Column("model", FreeText, nullable=False),
    Column("variant", FreeText, nullable=False),
    Column("text", FreeText, nullable=False),
    Column("made_from", Text),
    Column("alteration", FreeText),
    Column("flags", Text, nullable=False),
)

# Which response stands for a model on an item: the last row says so; earlier ones stay on record.
response_choices = Table(
    "response_choices",
    metadata,
    Column("seq", Sequence, primary_key=True),
    Column("item", Text, nullable=False, index=True),
    Column("model", FreeText, nullable=False),
    Column("variant", FreeText, nullable=False),
    Column("response", Text, nullable=False),
    Column("at", Float, nullable=False),
)

raters = Table(
    "raters",
    metadata,
    Column("key", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("name", FreeText, nullable=False),
    Column("endpoint", FreeText, nullable=False),
    Column("settings", Text, nullable=False),
)

conditions = Table(
    "conditions",
    metadata,
    Column("key", Text, primary_key=True),
    Column("protocol", FreeText, nullable=False),
    Column("prompt_hash", Text, nullable=False),
    Column("readout", Text, nullable=False),
    Column("see", Text, nullable=False),
    Column("fenced", Boolean, nullable=False),
    Column("image_detail", FreeText),
    Column("max_image_edge", Integer),
    Column("extractor", Text),
)

studies = Table(
    "studies",
    metadata,
    Column("key", Text, primary_key=True),
    Column("purpose", Text, nullable=False),
    Column("benchmark", FreeText, nullable=False),
    Column("data", Text, nullable=False, index=True),
    Column("rater", Text, nullable=False),
    Column("condition", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("wanted", Integer, nullable=False),
    Column("at", Float, nullable=False),
)

trials = Table(
    "trials",
    metadata,
    Column("key", Text, primary_key=True),
    Column("item", Text, nullable=False, index=True),
    Column("responses", Text, nullable=False),
    Column("rater", Text, nullable=False),
    Column("condition", Text, nullable=False),
    Column("replicate", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Index("ix_trials_again", "attempt", "key", sqlite_where=text("attempt > 0")),
)


def complete_for(dialect: Dialect) -> None:
    """Before tables are made: were it said above, SQLAlchemy would load PostgreSQL's dialect for every ledger."""
    if dialect.name == "postgresql":
        (again,) = (index for index in trials.indexes if index.name == "ix_trials_again")
        again.dialect_kwargs["postgresql_where"] = text("attempt > 0")


ASKED_AGAIN = select(trials.c.key).where(trials.c.attempt > literal_column("0"))
"""The trials that were asked again. With a parameter for the number SQLite would not find their index."""

study_trials = Table(
    "study_trials",
    metadata,
    Column("study", Text, primary_key=True),
    Column("trial", Text, primary_key=True),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("command", FreeText, nullable=False),
    Column("study", Text),
    Column("settings", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("at", Float, nullable=False, index=True),
)

run_ends = Table(
    "run_ends",
    metadata,
    Column("run", Text, primary_key=True),
    Column("outcome", Text, nullable=False),
    Column("at", Float, nullable=False),
)

# What the tries of a run took off its budget, those in vain included; a row sums up what was committed together.
charges = Table(
    "charges",
    metadata,
    Column("seq", Sequence, primary_key=True),
    Column("run", Text, nullable=False, index=True),
    Column("usd", Float, nullable=False),
)

# Replies only: a call that failed is a judgement's reason, never a cached answer.
calls = Table(
    "calls",
    metadata,
    Column("key", Text, primary_key=True),
    Column("request", Text, nullable=False),
    Column("text", FreeText, nullable=False),
    Column("finish", Text, nullable=False),
    Column("reasoning", FreeText, nullable=False),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("cached_tokens", Integer),
    Column("reasoning_tokens", Integer),
    Column("model", FreeText, nullable=False),
    Column("fingerprint", FreeText, nullable=False),
    Column("offered", Text),
    Column("forced", Boolean, nullable=False),
    Column("adapted", Text, nullable=False),
    Column("requests", Integer, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("cost_usd", Float),
    Column("run", Text, nullable=False),
    Column("at", Float, nullable=False),
    # What a run cost is summed up without touching the replies.
    Index("ix_calls_run_cost", "run", "cost_usd"),
)

judgements = Table(
    "judgements",
    metadata,
    Column("seq", Sequence, primary_key=True),
    Column("trial", Text, nullable=False),
    Column("reader", FreeText, nullable=False),
    Column("verdict", Text),
    Column("reason", Text),
    Column("detail", FreeText, nullable=False),
    Column("calls", Text, nullable=False),
    Column("notes", Text, nullable=False),
    Column("cost_usd", Float),
    Column("run", Text, nullable=False, index=True),
    Column("at", Float, nullable=False),
    Index("ix_judgements_trial_reader", "trial", "reader"),
)

# Work: who is asking what at this moment.
claims = Table(
    "claims",
    metadata,
    Column("what", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("until", Float, nullable=False),
)

# Work: budgets, in billionths of a dollar. `taken` is what was charged or set aside; it never shrinks by a kill.
budgets = Table(
    "budgets",
    metadata,
    Column("name", Text, primary_key=True),
    Column("taken", BigInteger, nullable=False),
)

# Work: what one process has set aside of a budget for calls that may be under way, and for which run of its own.
reservations = Table(
    "reservations",
    metadata,
    Column("holder", Text, primary_key=True),
    Column("budget", Text, nullable=False, index=True),
    Column("run", Text, index=True),
    Column("held", BigInteger, nullable=False),
    Column("until", Float, nullable=False),
)

# Work: calls that were sent together and are waited for. On record before anything is sent, so that whoever comes next
# waits for the replies instead of asking again. `id` is our own mark on it, `name` is what the provider calls it.
batches = Table(
    "batches",
    metadata,
    Column("id", Text, primary_key=True),
    Column("endpoint", FreeText, nullable=False, index=True),
    Column("wire", Text, nullable=False),
    Column("run", Text, nullable=False, index=True),
    Column("state", Text, nullable=False),
    Column("file", FreeText),
    Column("name", FreeText),
    Column("entries", Integer, nullable=False),
    Column("done", Integer),
    Column("note", FreeText),
    Column("at", Float, nullable=False),
    Column("changed", Float, nullable=False),
    Column("expires", Float),
)

# Work: the calls of a batch by their keys, each with what is set aside for it in billionths of a dollar, until its
# reply or its failure is on record.
batch_entries = Table(
    "batch_entries",
    metadata,
    Column("batch", Text, primary_key=True),
    Column("call", Text, primary_key=True),
    Column("held", BigInteger, nullable=False),
    Column("settled", Float),
    Index("ix_batch_entries_call", "call"),
)

# Work: people and what lets them in. Tokens are kept as hashes only. The record knows a person by `id`, never by name.
people = Table(
    "people",
    metadata,
    Column("id", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("name", FreeText, nullable=False),
    Column("invitation", Text),
    Column("at", Float, nullable=False),
    Column("erased", Float),
)

invitations = Table(
    "invitations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("token_hash", Text, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("note", FreeText, nullable=False),
    Column("person", Text),
    Column("uses_left", Integer, nullable=False),
    Column("made_by", Text),
    Column("at", Float, nullable=False),
    Column("expires", Float, nullable=False),
    Column("revoked", Float),
)

# A browser's session or a script's token.
access_keys = Table(
    "access_keys",
    metadata,
    Column("token_hash", Text, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("person", Text, nullable=False, index=True),
    Column("note", FreeText, nullable=False),
    Column("at", Float, nullable=False),
    Column("expires", Float, nullable=False),
)

audit_log = Table(
    "audit_log",
    metadata,
    Column("seq", Sequence, primary_key=True),
    Column("at", Float, nullable=False),
    Column("what", Text, nullable=False),
    Column("person", Text),
    Column("address", FreeText, nullable=False),
    Column("detail", FreeText, nullable=False),
)

# Benchmarks whose captions, references and judges' words the owner has opened to everybody. Of one that was closed
# again everybody has seen the judgements up to `known`.
opened_benchmarks = Table(
    "opened_benchmarks",
    metadata,
    Column("benchmark", Text, primary_key=True),
    Column("opened_by", Text),
    Column("at", Float, nullable=False),
    Column("closed", Float),
    Column("known", Sequence),
)

# What of a board's withheld verdicts was released to everybody, and when; only ever added to.
board_versions = Table(
    "board_versions",
    metadata,
    Column("seq", Sequence, primary_key=True),
    Column("board", Text, nullable=False),
    Column("judge", Text, nullable=False, index=True),
    Column("judgement", Sequence, nullable=False),
    Column("content", Text, nullable=False),
    Column("at", Float, nullable=False),
)

# Benchmarks that people let grow. Nothing of it is overwritten: the last settings stand, events are only added.
growing = Table(
    "growing",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", FreeText, nullable=False, unique=True),
    Column("licence", FreeText, nullable=False),
    Column("base", Text),
    Column("by", Text, nullable=False),
    Column("at", Float, nullable=False),
)

growing_settings = Table(
    "growing_settings",
    metadata,
    Column("seq", Sequence, primary_key=True),
    Column("growing", Text, nullable=False, index=True),
    Column("content", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("at", Float, nullable=False),
)

# `once` names what may happen a single time, whoever tries: an answer to a caption, a joining.
proposal_events = Table(
    "proposal_events",
    metadata,
    Column("seq", Sequence, primary_key=True),
    Column("growing", Text, nullable=False, index=True),
    Column("proposal", Text, nullable=False, index=True),
    Column("kind", Text, nullable=False),
    Column("person", Text),
    Column("content", Text, nullable=False),
    Column("once", Text, unique=True),
    Column("at", Float, nullable=False),
    Index("ix_proposal_events_growing_person", "growing", "person"),
)

growing_versions = Table(
    "growing_versions",
    metadata,
    Column("growing", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("data", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("at", Float, nullable=False),
)

# Work: what a person passed over, what they are busy with, and what the worker last said of each kind of work.
skips = Table(
    "skips",
    metadata,
    Column("person", Text, primary_key=True),
    Column("what", Text, primary_key=True),
    Column("at", Float, nullable=False),
)

leases = Table(
    "leases",
    metadata,
    Column("what", Text, primary_key=True),
    Column("person", Text, nullable=False),
    Column("until", Float, nullable=False),
)

# Work: every place that was ever leased to somebody, so that they are heard when their lease is over.
handed_out = Table(
    "handed_out",
    metadata,
    Column("person", Text, primary_key=True),
    Column("what", Text, primary_key=True),
    Column("at", Float, nullable=False),
)

# Work: what a person has typed and not sent.
drafts = Table(
    "drafts",
    metadata,
    Column("person", Text, primary_key=True),
    Column("what", FreeText, primary_key=True),
    Column("content", FreeText, nullable=False),
    Column("at", Float, nullable=False),
)

worker_notes = Table(
    "worker_notes",
    metadata,
    Column("work", Text, primary_key=True),
    Column("sentence", FreeText, nullable=False),
    Column("at", Float, nullable=False),
)

# Work: what people are asked to compare. The judgements themselves are in the record.
people_studies = Table(
    "people_studies",
    metadata,
    Column("id", Text, primary_key=True),
    Column("title", FreeText, nullable=False),
    Column("benchmark", FreeText, nullable=False),
    Column("data", Text, nullable=False),
    Column("form", Text, nullable=False),
    Column("asked", Text, nullable=False),
    Column("comparisons", Integer, nullable=False),
    Column("made_by", Text),
    Column("at", Float, nullable=False),
    Column("paused", Float),
    Column("closed", Float),
    Column("shown", Float),
    Column("aside", Float),
)

# Shares of people who left before the end, as studies on record: others were asked what they left.
given_back = Table("given_back", metadata, Column("study", Text, primary_key=True), Column("at", Float, nullable=False))

# One person's share of a study; nobody's until somebody takes it, and only then part of the record.
people_places = Table(
    "people_places",
    metadata,
    Column("id", Text, primary_key=True),
    Column("study", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("person", Text, index=True),
    Column("replicate", Integer),
    Column("record", Text),
    Column("run", Text),
    Column("at", Float),
    # Key of what is asked beside the share, so that one knows how the person works; when they read the guideline.
    Column("checks", Text),
    Column("read", Float),
    UniqueConstraint("study", "number"),
    UniqueConstraint("study", "person"),
)

people_tasks = Table(
    "people_tasks",
    metadata,
    Column("place", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("item", Text, nullable=False),
    Column("first", Text, nullable=False),
    Column("second", Text, nullable=False),
    Column("trial", Text, index=True),
    # With which the study's draw took the comparison; empty where nobody wrote it down.
    Column("probability", Float),
    # `training`, `gold` or `repeat` of what counts on no board; empty of all else. `expected`: first, second or tie.
    Column("kind", Text),
    Column("expected", Text),
    Column("why", FreeText),
    # What the person remarked; the last stands.
    Column("comment", FreeText),
    Column("flag", Text),
)

# What the owner decided about a person's part in a study, one after the other; the last of each person stands.
people_decisions = Table(
    "people_decisions",
    metadata,
    Column("seq", Sequence, primary_key=True),
    Column("study", Text, nullable=False, index=True),
    Column("person", Text, nullable=False),
    Column("left_out", Boolean, nullable=False),
    Column("rule", FreeText, nullable=False),
    Column("by", Text),
    Column("at", Float, nullable=False),
)

# The chain over the record (links.py): each writer's links, and the ends of chains that no other writer has joined.
links = Table(
    "links",
    metadata,
    Column("writer", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("previous", Text, nullable=False),
    Column("joined", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("rows", Text, nullable=False),
    Column("hash", Text, nullable=False),
)

tips = Table(
    "tips",
    metadata,
    Column("writer", Text, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("hash", Text, nullable=False),
)
