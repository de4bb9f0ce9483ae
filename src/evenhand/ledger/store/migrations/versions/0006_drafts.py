"""What people have typed and not sent, and what was handed out to whom."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "handed_out",
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("person", "what"),
    )
    op.create_table(
        "drafts",
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("person", "what"),
    )
    op.create_index(op.f("ix_proposal_events_growing_person"), "proposal_events", ["growing", "person"], unique=False)
