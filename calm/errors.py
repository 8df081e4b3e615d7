"""Typed errors: each names the record, the field and the value at fault, and the way out.

Every error that a user can meet derives from `CalmError`. The command line prints `str(error)` without a
traceback and leaves with `exit_status`; batch admission writes `error.as_dict()` on the instance's own line.
"""

from __future__ import annotations

MAX_SHOWN_CHARS = 80
"""How much of an offending value an error message repeats."""


def shown(value: object) -> str:
    """`repr(value)`, cut to `MAX_SHOWN_CHARS` so that a 1 MB text can't flood a terminal."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN_CHARS else text[: MAX_SHOWN_CHARS - 1] + "…"


class CalmError(Exception):
    """Base of every error that calm raises on purpose.

    `record` is the id (or line) at fault, `field` the key, `hint` what to do about it.
    """

    exit_status = 2

    def __init__(
        self,
        message: str,
        *,
        record: str | None = None,
        field: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.record = record
        self.field = field
        self.hint = hint

    def __str__(self) -> str:
        where = ", ".join(
            part
            for part in (
                f"record {self.record!r}" if self.record is not None else "",
                f"field {self.field!r}" if self.field is not None else "",
            )
            if part
        )
        head = f"{where}: {self.message}" if where else self.message
        return f"{head} ({self.hint})" if self.hint else head

    def as_dict(self) -> dict[str, str | None]:
        """The `error` object of the batch-admission contract."""
        return {"type": self.code(), "message": str(self), "record": self.record}

    @classmethod
    def code(cls) -> str:
        """The contract's name of the error type."""
        return cls.__name__


class InvalidRecord(CalmError):
    """A record that can't be read: no id, a field of the wrong type, a score that is not a number."""


class MalformedLine(InvalidRecord):
    """A line of a JSONL file that is not a JSON object."""

    @classmethod
    def code(cls) -> str:
        """`InvalidRecord`: the contract has one name for both."""
        return InvalidRecord.__name__


class InvalidTimestamp(CalmError):
    """A timestamp that is not ISO 8601 (strict mode; lenient mode treats it as missing)."""


class DuplicateMemoryId(CalmError):
    """One id, two different contents."""


class EmptyQuery(CalmError):
    """A query without a word in it."""


class EmbeddingDimensionError(CalmError):
    """Two embeddings of different sizes meet in one comparison."""


class EmbeddingModelMismatch(CalmError):
    """Embeddings of two different models meet in one comparison."""


class InvalidOption(CalmError):
    """An option of a value that it can't take."""


class UnknownCell(CalmError):
    """No such cell or record in the store."""


class MissingExtra(CalmError):
    """A feature whose optional dependency is not installed."""


class StoreError(CalmError):
    """The ledger can't be opened, read or written."""

    exit_status = 3


class StoreVersionError(StoreError):
    """The store was written by another version of calm."""


class StoreReadOnlyError(StoreError):
    """The store's file or folder can't be written."""


class StoreFullError(StoreError):
    """The disk under the store is full; what was committed before is safe."""
