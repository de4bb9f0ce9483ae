"""Benchmarks that grow: their settings, what was said about each proposal, their versions, and the work around them."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "growing",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("licence", sa.Text(), nullable=False),
        sa.Column("base", sa.Text(), nullable=True),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "growing_settings",
        sa.Column("seq", _SEQUENCE, nullable=False),
        sa.Column("growing", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index(op.f("ix_growing_settings_growing"), "growing_settings", ["growing"], unique=False)
    op.create_table(
        "proposal_events",
        sa.Column("seq", _SEQUENCE, nullable=False),
        sa.Column("growing", sa.Text(), nullable=False),
        sa.Column("proposal", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=True),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("once", sa.Text(), nullable=True),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
        sa.UniqueConstraint("once"),
    )
    op.create_index(op.f("ix_proposal_events_growing"), "proposal_events", ["growing"], unique=False)
    op.create_index(op.f("ix_proposal_events_proposal"), "proposal_events", ["proposal"], unique=False)
    op.create_table(
        "growing_versions",
        sa.Column("growing", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("growing", "number"),
    )
    op.create_table(
        "skips",
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("person", "what"),
    )
    op.create_table(
        "leases",
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("until", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("what"),
    )
    op.create_table(
        "worker_notes",
        sa.Column("work", sa.Text(), nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("work"),
    )
