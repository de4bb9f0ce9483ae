"""What runs took off their budgets, as it happens; of the runs before, what their replies cost."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "charges",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("usd", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index(op.f("ix_charges_run"), "charges", ["run"], unique=False)
    op.execute("INSERT INTO charges (run, usd) SELECT run, sum(cost_usd) FROM calls WHERE cost_usd > 0 GROUP BY run")
