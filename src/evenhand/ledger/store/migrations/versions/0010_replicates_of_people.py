"""Which replicate of a showing a place asks for, so that what a person says in one study is not said in another."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("people_places", sa.Column("replicate", sa.Integer(), nullable=True))
    op.execute("UPDATE people_places SET replicate = 0 WHERE person IS NOT NULL")
