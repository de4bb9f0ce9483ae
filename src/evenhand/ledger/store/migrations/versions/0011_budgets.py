"""What is left of budgets, and what runs have set aside of them for calls that may be under way."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "budgets",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("taken", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "reservations",
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("budget", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=True),
        sa.Column("held", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("holder"),
    )
    op.create_index(op.f("ix_reservations_budget"), "reservations", ["budget"], unique=False)
    op.create_index(op.f("ix_reservations_run"), "reservations", ["run"], unique=False)
