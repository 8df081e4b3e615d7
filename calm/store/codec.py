"""Lossless text columns: what a database can't hold as text is escaped, everything else stays readable.

Ours: PostgreSQL refuses NUL, neither database takes lone surrogates, and both occur in real agent memories (a
model's output cut inside an emoji). JSON with `ensure_ascii` would merge two adjacent lone surrogates into
one character; this escape doesn't.
"""

from __future__ import annotations

import hashlib
import json
import re

MAX_KEY_CHARS = 200
"""Longest key that is indexed as it is; PostgreSQL refuses index entries beyond 2,704 bytes."""

_UNSTORABLE = re.compile(r"[\x00\x1a\ud800-\udfff]")
_ESCAPED = re.compile(r"\x1a([0-9a-f]{4})")
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def escape(text: str) -> str:
    r"""`text` with NUL, lone surrogates and the escape character U+001A itself as U+001A and 4 hex digits."""
    if text.isprintable():  # true of most texts, and of none that needs an escape; faster than the search
        return text
    return _UNSTORABLE.sub(lambda match: f"\x1a{ord(match[0]):04x}", text)


def unescape(stored: str) -> str:
    """The inverse of `escape`, for every text."""
    if "\x1a" not in stored:
        return stored
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), stored)


def pack(value: object) -> str:
    """Canonical JSON: sorted keys, no spaces. Raises `TypeError` or `ValueError` for what JSON can't hold."""
    return _ENCODER.encode(value)


def owner_of(user: str | None) -> str:
    """A tenant as a column that is never NULL: "" for no owner, else "u" + name, as in `cell_id`."""
    return "" if user is None else f"u{user}"


def user_of(owner: str) -> str | None:
    """The inverse of `owner_of`."""
    return owner[1:] if owner else None


def stored_key(key: str) -> str:
    """A lookup key as it is indexed: itself, or a hash where it is longer than `MAX_KEY_CHARS`."""
    if len(key) <= MAX_KEY_CHARS:
        return key
    return f"sha256:{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}"
