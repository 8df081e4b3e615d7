"""Files as streams of JSON objects: plain, .gz or .xz, one object a line or one long JSON list.

A fault in the text is handed over in its place and the reading goes on where it can; only a file that can't
be read at all raises. Neither a whole file nor a whole list is ever in memory.
"""

from __future__ import annotations

import gzip
import json
import lzma
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import IO, cast

from calm.errors import InvalidOption, MalformedLine, shown

CHUNK_CHARS = 1 << 20
_BOM = b"\xef\xbb\xbf"
_CUT_CHARS = 16
"""What stands this close to the end of the buffer may be cut off there ("-Infinity" is the longest token)."""

Found = tuple[int, Mapping[str, object] | MalformedLine]
"""A line or item number from 1, and its JSON object or what is wrong with it."""


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked where its name ends in .gz or .xz.

    Raises `InvalidOption` for a file that is missing, a folder, not permitted, or damaged as an archive, also
    when that shows only while reading.
    """
    try:
        with _opened(path) as stream:
            yield stream
    except FileNotFoundError as error:
        raise InvalidOption(f"no file {str(path)!r}", field="path", hint="check the path") from error
    except IsADirectoryError as error:
        raise InvalidOption(f"{str(path)!r} is a folder", field="path", hint="name one file in it at a time") from error
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidOption(
            f"{str(path)!r} can't be unpacked: {error}",
            field="path",
            hint="fetch or pack the file again",
        ) from error
    except OSError as error:
        raise InvalidOption(
            f"{str(path)!r} can't be read: {error.strerror or error}",
            field="path",
            hint="check its permissions",
        ) from error


def check_readable(path: Path) -> None:
    """Raises `InvalidOption` where `open_bytes` would at the first byte, so that a caller hears at once."""
    with open_bytes(path) as stream:
        stream.read(1)


def json_lines(path: Path) -> Iterator[Found]:
    """The objects of a JSONL file with their line numbers; blank lines, CRLF and a byte-order mark are fine.

    A line that is not UTF-8, not JSON or not an object comes as `MalformedLine` in its place.
    """
    with open_bytes(path) as stream:
        for number, raw in enumerate(stream, start=1):
            line = (raw.removeprefix(_BOM) if number == 1 else raw).strip()
            if line:
                yield number, _object(line, f"line {number}")


def json_items(path: Path) -> Iterator[Found]:
    """The objects of a file that is either one JSON list or JSONL, with their item or line numbers.

    Past a fault in a list's syntax nothing can be told apart: the fault is the last thing handed over.
    """
    if not _starts_list(path):
        yield from json_lines(path)
        return
    with open_bytes(path) as stream:
        text = TextIOWrapper(stream, encoding="utf-8-sig")
        items = enumerate(_ListReader(text).items(), start=1)
        number = 0
        while True:
            try:
                number, (value, raw) = next(items)
            except StopIteration:
                return
            except (ValueError, RecursionError) as error:
                fault = f"not JSON: {_brief(error)}; the rest of the list can't be read"
                yield number + 1, MalformedLine(fault, record=f"item {number + 1}")
                return
            yield number, _checked(value, raw, f"item {number}")


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    if path.suffix == ".xz":
        return cast("IO[bytes]", lzma.open(path, "rb"))
    return path.open("rb")


def _starts_list(path: Path) -> bool:
    with open_bytes(path) as stream:
        head = stream.readline(len(_BOM) + 1).removeprefix(_BOM)
        while head and not head.strip():
            head = stream.read(1)
        return head.lstrip().startswith(b"[")


def _object(line: bytes, name: str) -> Mapping[str, object] | MalformedLine:
    try:
        raw = line.decode("utf-8")
        value = json.loads(raw)
    except UnicodeDecodeError as error:
        return MalformedLine(f"not UTF-8 at byte {error.start + 1}", record=name, hint="save the file as UTF-8")
    except (ValueError, RecursionError) as error:
        return MalformedLine(f"not JSON: {_brief(error)}", record=name, hint="one JSON object a line")
    return _checked(value, raw, name)


def _checked(value: object, raw: str, name: str) -> Mapping[str, object] | MalformedLine:
    if not isinstance(value, dict):
        return MalformedLine(f"{shown(value)} is not a JSON object", record=name, hint="one JSON object each")
    if "\\ud" in raw.lower() and not _writable(value):
        return MalformedLine("half a surrogate pair in it is no character", record=name)
    return value


def _writable(value: object) -> bool:
    """JSON can spell half a surrogate pair, which no store and no tokeniser can write down again."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _brief(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos + 1}"
    return str(error)


class _ListReader:
    """One JSON list, read a chunk at a time. Every method raises `ValueError` on a fault in the text."""

    def __init__(self, text: TextIOWrapper) -> None:
        self._text = text
        self._buffer = ""
        self._at = 0
        self._more = True

    def items(self) -> Iterator[tuple[object, str]]:
        """Each item as soon as it is complete, with its own text."""
        self._expect("[")
        if self._peek() != "]":
            yield self._value()
        while self._peek() != "]":
            self._expect(",")
            yield self._value()
        self._expect("]")
        if self._peek():
            raise ValueError("more text after the end of the list")

    def _peek(self) -> str:
        """The next character that is not white space; "" at the end of the file."""
        while True:
            while self._at < len(self._buffer):
                if not self._buffer[self._at].isspace():
                    return self._buffer[self._at]
                self._at += 1
            if not self._more:
                return ""
            self._fill(CHUNK_CHARS)

    def _expect(self, char: str) -> None:
        found = self._peek()
        if found != char:
            raise ValueError(f"{shown(found)} where {shown(char)} should stand" if found else "the file ends early")
        self._at += 1

    def _value(self) -> tuple[object, str]:
        self._peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                if not self._more or not _cut_off(error):
                    raise
            else:
                # A number near the end of the buffer may go on ("12" of "12.5e+3").
                if end < len(self._buffer) - _CUT_CHARS or not self._more:
                    raw, self._at = self._buffer[self._at : end], end
                    return value, raw
            # As much again as there is already, so that a long item is not decoded over and over.
            self._fill(max(CHUNK_CHARS, len(self._buffer) - self._at))

    def _fill(self, chars: int) -> None:
        chunk = self._text.read(chars)
        self._more = bool(chunk)
        self._buffer = self._buffer[self._at :] + chunk
        self._at = 0


_DECODER = json.JSONDecoder()


def _cut_off(error: json.JSONDecodeError) -> bool:
    """Whether the text may only have ended too early, as opposed to being wrong."""
    return error.msg.startswith("Unterminated string") or error.pos >= len(error.doc) - _CUT_CHARS
