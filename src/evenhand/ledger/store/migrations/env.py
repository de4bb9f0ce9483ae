"""Runs the migrations on the connection that the ledger hands over; there is no offline mode and no ini file."""

from alembic import context

from evenhand.ledger.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
