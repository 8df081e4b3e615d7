"""Files as streams of JSON objects: plain, .gz or .xz, one object a line or one long JSON list.

A fault in the text is handed over in its place and the reading goes on where it can; only a file that can't be
read at all raises. Neither a whole file nor a whole list is ever in memory.
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
"""A token shorter than this at the end of the buffer may be cut off there ("-Infinity" is the longest)."""

Found = tuple[int, Mapping[str, object] | MalformedLine]
"""A line or item number from 1, and its JSON object or what is wrong with it."""


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked where its name ends in .gz or .xz.

    Raises `InvalidOption` for a file that is missing, a folder, not permitted, or damaged as an archive, also when
    that shows only while reading.
    """
    try:
        with _opened(path) as stream:
            yield stream
    except FileNotFoundError as error:
        raise InvalidOption(f"no file {shown(str(path))}", field="path", hint="check the path") from error
    except IsADirectoryError as error:
        raise InvalidOption(
            f"{shown(str(path))} is a folder", field="path", hint="name one file in it at a time"
        ) from error
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidOption(
            f"{shown(str(path))} can't be unpacked: {error}", field="path", hint="fetch or pack the file again"
        ) from error
    except OSError as error:
        raise InvalidOption(
            f"{shown(str(path))} can't be read: {error.strerror or error}", field="path", hint="check its permissions"
        ) from error


def check_readable(path: Path) -> None:
    """Raises `InvalidOption` where `open_bytes` would at the first byte, so that a caller hears of it at once."""
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
        text = TextIOWrapper(cast("IO[bytes]", stream), encoding="utf-8-sig")
        number = 0
        try:
            for number, value in enumerate(_list_items(text), start=1):  # noqa: B007 - said in the errors below
                yield number, _checked(value, f"item {number}")
        except (ValueError, RecursionError) as error:
            yield number + 1, MalformedLine(
                f"not JSON: {_brief(error)}; the rest of the list can't be read", record=f"item {number + 1}"
            )


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
        value = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        return MalformedLine(f"not UTF-8 at byte {error.start + 1}", record=name, hint="save the file as UTF-8")
    except (ValueError, RecursionError) as error:
        return MalformedLine(f"not JSON: {_brief(error)}", record=name, hint="one JSON object a line")
    return _checked(value, name)


def _checked(value: object, name: str) -> Mapping[str, object] | MalformedLine:
    if not isinstance(value, dict):
        return MalformedLine(f"{shown(value)} is not a JSON object", record=name, hint="one JSON object each")
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        # JSON can spell half a surrogate pair, which no store and no tokeniser can write down again.
        return MalformedLine("holds half a surrogate pair, which is no character", record=name)
    return value


def _brief(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos + 1}"
    return str(error)


def _list_items(text: TextIOWrapper) -> Iterator[object]:
    """The items of one JSON list, decoded as soon as they are complete. Raises `ValueError` on a fault."""
    decode = json.JSONDecoder().raw_decode
    buffer = _Buffer(text)
    buffer.expect("[")
    if buffer.peek() == "]":
        buffer.expect("]")
    else:
        while True:
            yield buffer.value(decode)
            if buffer.peek() == "]":
                buffer.expect("]")
                break
            buffer.expect(",")
    if buffer.peek():
        raise ValueError("more text after the end of the list")
