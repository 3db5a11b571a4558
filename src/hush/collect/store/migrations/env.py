"""What alembic runs: the steps, on the connection that the store gives."""

from alembic import context

from hush.collect.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
