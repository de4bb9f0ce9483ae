"""Receipts in a table of their own; the event keeps what pages show of one."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_KEPT = ("row", "moved", "study")


def upgrade() -> None:
    receipts = op.create_table(
        "receipts",
        sa.Column("event", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("submission", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("event"),
    )
    op.create_index(op.f("ix_receipts_submission"), "receipts", ["submission"], unique=False)
    if not op.get_context().as_sql:
        _move(op.get_bind(), receipts)


def _move(connection: sa.Connection, receipts: sa.Table) -> None:
    events = sa.table(
        "submission_events",
        sa.column("seq", sa.BigInteger()),
        sa.column("submission", sa.Text()),
        sa.column("kind", sa.Text()),
        sa.column("content", sa.Text()),
    )
    judged = sa.select(events.c.seq, events.c.submission).where(events.c.kind == "judged")
    for event, submission in connection.execute(judged).all():
        written = connection.execute(sa.select(events.c.content).where(events.c.seq == event)).scalar_one()
        said = json.loads(written)
        receipt = said["receipt"]
        row = {"event": event, "submission": submission, "content": _canonical(receipt)}
        connection.execute(sa.insert(receipts), [row])
        said["receipt"] = {name: receipt[name] for name in _KEPT if name in receipt}
        connection.execute(sa.update(events).where(events.c.seq == event).values(content=_canonical(said)))


def _canonical(content: object) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
