"""What Alembic runs for an upgrade: on the caller's connection, inside the caller's transaction.

`calm.store.migrate` is the only caller; there is no alembic.ini and no offline mode.
"""

from __future__ import annotations

from alembic import context

from calm.store.schema import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
)
context.run_migrations()
