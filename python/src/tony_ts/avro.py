"""
Rows of Avro's object container files, without a library of Avro's.

https://avro.apache.org/docs/1.11.1/specification/
"""

from __future__ import annotations

import json
import struct
import zlib
from contextlib import closing
from typing import Any, Callable, Generator, Iterable, Iterator, Optional, Sequence, Tuple, cast

from .errors import TonyError

#: Reads the split's file from one byte up to another, or to the end.
ReadRange = Callable[[int, Optional[int]], Generator[bytes, None, None]]
#: Returns the value at a place, and the place behind it.
_Read = Callable[[bytes, int], Tuple[Any, int]]

_MAGIC = b"Obj\x01"
#: Follows the header, and each block: random bytes, the file's own.
_MARKER = 16
#: A number of 64 bits, seven in each byte.
_LONGEST_NUMBER = 10
#: The largest header, and the largest block, as stored and uncompressed: a program keeps it whole in memory, like a row
#: of other formats.
_MOST_BYTES = 64 << 20
_MOST_BYTES_OF_HEADER = 16 << 20


def rows_of(
    path: str, start: int, end: int, read: ReadRange, columns: Sequence[str] | None = None
) -> Iterator[list[Any]]:
    """
    Rows of those blocks whose preceding marker begins in the split, as Avro's own readers cut files: dicts, where the
    file's schema is a record. Raises TonyError (``FEED_UNREADABLE``) where the file is damaged.
    """
    try:
        header = _header(read)
    except (ValueError, RecursionError) as error:
        raise _unreadable(path, str(error)) from error
    except (LookupError, TypeError) as error:
        raise _unreadable(path, f"it has no valid Avro schema: {error!r}") from error
    check_columns(columns, path, header.names)
    wanted = None if columns is None else set(columns)
    first = max(start, header.length - _MARKER)
    with closing(read(first, None)) as pieces:
        source = _Source(pieces, first)
        if not source.pass_by(header.marker, end):
            return
        while source.at - _MARKER < end and source.has(1):
            at = source.at
            try:
                rows = _rows_in(_block(source, header), header)
            except (ValueError, LookupError, RecursionError, struct.error, zlib.error) as error:
                raise _unreadable(path, f"the block at byte {at} {_words(error)}") from error
            yield rows if wanted is None else [{name: row[name] for name in row if name in wanted} for row in rows]


def check_columns(columns: Sequence[str] | None, path: str, there: Sequence[str]) -> None:
    """Raises TonyError (``NO_SUCH_COLUMN``) where the file does not have all of them."""
    missing = [column for column in columns or () if column not in there]
    if missing:
        message = f"{path} has no column {', '.join(missing)}; it has {', '.join(there) or 'none'}"
        raise TonyError(message, code="NO_SUCH_COLUMN")


def _unreadable(path: str, why: str) -> TonyError:
    return TonyError(f"{path} cannot be read: {why}", code="FEED_UNREADABLE")


def _words(error: Exception) -> str:
    if isinstance(error, zlib.error):
        return f"is not valid deflate data: {error}"
    if isinstance(error, UnicodeDecodeError):
        return "contains a string that is not UTF-8"
    if isinstance(error, (IndexError, struct.error)):
        return "ends before its last row"
    if isinstance(error, RecursionError):
        return "contains values that are nested too deeply"
    return str(error)


class _Header:
    def __init__(self, length: int, marker: bytes, metadata: dict[str, bytes]) -> None:
        self.length = length
        self.marker = marker
        codec = metadata.get("avro.codec", b"null").decode()
        if codec not in ("null", "deflate"):
            raise ValueError(f"it is compressed with {codec}; only the codecs null and deflate are supported")
        self.is_packed = codec == "deflate"
        schema = json.loads(metadata.get("avro.schema", b"null"))
        self.read = _reader(schema, "", {})
        #: The fields of a row, where it is a record.
        fields: list[Any] = cast("dict[str, Any]", schema).get("fields", []) if isinstance(schema, dict) else []
        self.names: list[str] = [field["name"] for field in fields]


def _header(read: ReadRange) -> _Header:
    data = bytearray()
    with closing(read(0, None)) as pieces:
        for piece in pieces:
            data += piece
            if not _MAGIC.startswith(data[: len(_MAGIC)]):
                raise ValueError("it is not an Avro file: it does not start with Obj1")
            try:
                metadata, at = _map(_bytes)(bytes(data), len(_MAGIC))
            except IndexError:
                if len(data) > _MOST_BYTES_OF_HEADER:
                    raise ValueError(f"its header is longer than {_MOST_BYTES_OF_HEADER} bytes") from None
                continue
            if len(data) >= at + _MARKER:
                return _Header(at + _MARKER, bytes(data[at : at + _MARKER]), metadata)
    raise ValueError("it ends within its header")


class _Source:
    """The bytes of a file from a place on, as they arrive."""

    def __init__(self, pieces: Iterator[bytes], at: int) -> None:
        self._pieces = pieces
        self._data = bytearray()
        self.at = at

    def has(self, size: int) -> bool:
        """Whether this many bytes are left."""
        while len(self._data) < size:
            piece = next(self._pieces, b"")
            if not piece:
                return False
            self._data += piece
        return True

    def next(self, size: int) -> bytes:
        """So many bytes, or fewer at the end of the file, without consuming them."""
        self.has(size)
        return bytes(self._data[:size])

    def take(self, size: int) -> bytes:
        taken = self.next(size)
        del self._data[:size]
        self.at += len(taken)
        return taken

    def pass_by(self, marker: bytes, end: int) -> bool:
        """Skips to behind the first marker, if that begins before the end."""
        while self.has(len(marker)):
            found = self._data.find(marker)
            if found >= 0:
                self.take(found + len(marker))
                return self.at - len(marker) < end
            # The remaining bytes may be the beginning of one.
            self.take(len(self._data) - len(marker) + 1)
            if self.at >= end:
                return False
        return False


def _block(source: _Source, header: _Header) -> tuple[int, bytes]:
    """The number of rows of a block, and their bytes."""
    head = source.next(2 * _LONGEST_NUMBER)
    try:
        count, at = _long(head, 0)
        size, at = _long(head, at)
    except IndexError:
        raise ValueError("is truncated") from None
    if count < 0 or size < 0 or size > _MOST_BYTES:
        raise ValueError(f"claims to have {count} rows in {size} bytes; the limit is {_MOST_BYTES} bytes")
    source.take(at)
    data = source.take(size)
    marker = source.take(_MARKER)
    if len(marker) < _MARKER:
        raise ValueError("is truncated")
    if marker != header.marker:
        raise ValueError("does not end with the file's sync marker")
    if header.is_packed:
        unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
        data = unpacking.decompress(data, _MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise ValueError(f"is longer than {_MOST_BYTES} bytes when decompressed")
        if not unpacking.eof:
            raise ValueError("is incomplete deflate data")
    return count, data


def _rows_in(block: tuple[int, bytes], header: _Header) -> list[Any]:
    count, data = block
    rows: list[Any] = []
    at = _times(count, data, 0, header.read, rows.append)
    if at != len(data):
        raise ValueError(f"has {len(data) - at} bytes after its last row")
    return rows


def _times(count: int, data: bytes, at: int, read: _Read, keep: Callable[[Any], None]) -> int:
    """So many values. Values that take no bytes could be repeated any number of times, and are of no use."""
    for _ in range(count):
        before = at
        value, at = read(data, at)
        if at == before:
            raise ValueError("contains values that take no bytes")
        keep(value)
    return at


def _reader(schema: Any, namespace: str, named: dict[str, _Read]) -> _Read:
    """The reader for values of that schema; ``named`` has the types defined so far, by their full names."""
    if isinstance(schema, str):
        if schema in _PRIMITIVES:
            return _PRIMITIVES[schema]
        name = _whole_name(schema, namespace)
        if name not in named:
            raise ValueError(f"its schema refers to the type {schema}, which it does not define")
        # The name may be that of the type which is being defined.
        return lambda data, at: named[name](data, at)
    if isinstance(schema, list):
        return _union([_reader(branch, namespace, named) for branch in cast("Iterable[Any]", schema)])
    kind = schema["type"]
    if kind == "array":
        return _array(_reader(schema["items"], namespace, named))
    if kind == "map":
        return _map(_reader(schema["values"], namespace, named))
    if kind not in ("record", "error", "enum", "fixed"):
        return _reader(kind, namespace, named)
    name = _whole_name(schema["name"], schema.get("namespace", namespace))
    named[name] = _undefined
    if kind == "enum":
        named[name] = _enum(schema["symbols"])
    elif kind == "fixed":
        named[name] = _fixed(schema["size"])
    else:
        within = name.rpartition(".")[0]
        named[name] = _record([(field["name"], _reader(field["type"], within, named)) for field in schema["fields"]])
    return named[name]


def _whole_name(name: str, namespace: str) -> str:
    return name if "." in name or not namespace else f"{namespace}.{name}"


def _undefined(data: bytes, at: int) -> tuple[Any, int]:
    raise ValueError("contains a value of an undefined type")


def _record(fields: list[tuple[str, _Read]]) -> _Read:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        row: dict[str, Any] = {}
        for name, field in fields:
            row[name], at = field(data, at)
        return row, at

    return read


def _union(branches: list[_Read]) -> _Read:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        branch, at = _long(data, at)
        if not 0 <= branch < len(branches):
            raise ValueError(f"contains branch {branch} of a union that has {len(branches)}")
        return branches[branch](data, at)

    return read


def _enum(symbols: list[str]) -> _Read:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        place, at = _long(data, at)
        if not 0 <= place < len(symbols):
            raise ValueError(f"contains symbol {place} of an enum that has {len(symbols)}")
        return symbols[place], at

    return read


def _array(item: _Read) -> _Read:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        items: list[Any] = []
        while True:
            count, at = _count(data, at)
            if count == 0:
                return items, at
            at = _times(count, data, at, item, items.append)

    return read


def _map(value: _Read) -> _Read:
    def entry(data: bytes, at: int) -> tuple[Any, int]:
        key, at = _string(data, at)
        found, at = value(data, at)
        return (key, found), at

    items = _array(entry)

    def read(data: bytes, at: int) -> tuple[Any, int]:
        entries, at = items(data, at)
        return dict(entries), at

    return read


def _count(data: bytes, at: int) -> tuple[int, int]:
    """The number of items in a block of an array or a map; a negative one is followed by the block's size in bytes."""
    count, at = _long(data, at)
    if count < 0:
        _, at = _long(data, at)
    return abs(count), at


def _fixed(size: Any) -> _Read:
    # A negative one would move backwards for ever.
    if not isinstance(size, int) or size < 0:
        raise ValueError(f"its schema has a fixed type of size {size!r}")

    def read(data: bytes, at: int) -> tuple[Any, int]:
        if at + size > len(data):
            raise IndexError
        return data[at : at + size], at + size

    return read


def _null(data: bytes, at: int) -> tuple[Any, int]:
    return None, at


def _boolean(data: bytes, at: int) -> tuple[Any, int]:
    return data[at] != 0, at + 1


def _long(data: bytes, at: int) -> tuple[int, int]:
    """Zigzag, seven bits in each byte, the lowest first."""
    byte = data[at]
    at += 1
    number = byte & 0x7F
    shift = 7
    while byte >= 0x80:
        if shift >= 7 * _LONGEST_NUMBER:
            raise ValueError(f"contains a number of more than {_LONGEST_NUMBER} bytes")
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
    return (number >> 1) ^ -(number & 1), at


def _bytes(data: bytes, at: int) -> tuple[bytes, int]:
    size, at = _long(data, at)
    if size < 0 or at + size > len(data):
        raise IndexError
    return data[at : at + size], at + size


def _string(data: bytes, at: int) -> tuple[str, int]:
    text, at = _bytes(data, at)
    return text.decode(), at


def _packed(form: str) -> _Read:
    layout = struct.Struct(form)

    def read(data: bytes, at: int) -> tuple[Any, int]:
        return layout.unpack_from(data, at)[0], at + layout.size

    return read


_PRIMITIVES: dict[str, _Read] = {
    "null": _null,
    "boolean": _boolean,
    "int": _long,
    "long": _long,
    "float": _packed("<f"),
    "double": _packed("<d"),
    "bytes": _bytes,
    "string": _string,
}
