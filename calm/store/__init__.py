"""The durable ledger of cells, conflicts and events (SQLAlchemy Core: SQLite by default, or PostgreSQL)."""

from __future__ import annotations

from calm.store.entries import UNJUDGED, LedgerEvent, StoredState
from calm.store.ledger import Store
from calm.store.rows import content_hash

__all__ = ["UNJUDGED", "LedgerEvent", "Store", "StoredState", "content_hash"]
