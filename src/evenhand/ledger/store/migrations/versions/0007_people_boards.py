"""Studies for people: when one was closed, whether its board is shown and counts, and shares that were given back."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    for name in ("closed", "shown", "aside"):
        op.add_column("people_studies", sa.Column(name, sa.Float(), nullable=True))
    op.create_table(
        "given_back",
        sa.Column("study", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("study"),
    )
