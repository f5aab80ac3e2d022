"""Rows of Parquet files, by pyarrow."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, Iterator, Sequence

from .avro import ReadRange, check_columns
from .errors import TonyError

#: How many rows are made of a file's columns at a time; fewer if they would exceed about this many bytes.
_MOST_ROWS = 4096
_MOST_BYTES = 16 << 20


def rows_of(
    path: str, length: int, place: range, read: ReadRange, columns: Sequence[str] | None
) -> Iterator[list[dict[str, Any]]]:
    """
    Rows of those row groups whose middle lies in the split, as Hadoop's ParquetInputFormat cuts files. Only the file's
    footer and the needed columns of these groups are read. Raises TonyError (``FEED_UNREADABLE``) where the file is
    damaged.
    """
    try:
        arrow: Any = import_module("pyarrow")
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError as error:
        message = (
            "Parquet files are read by pyarrow, which Python has not here: install it, or read the feed's splits()"
        )
        raise TonyError(message, code="NO_PYARROW") from error
    try:
        file = parquet.ParquetFile(_File(length, read))
        check_columns([column.partition(".")[0] for column in columns or ()], path, file.schema_arrow.names)
        for number in range(file.num_row_groups):
            group = file.metadata.row_group(number)
            if min(_middle(group), length - 1) in place:
                size = max(1, min(_MOST_ROWS, _MOST_BYTES * group.num_rows // (group.total_byte_size + 1)))
                for batch in file.iter_batches(size, row_groups=[number], columns=columns):
                    yield batch.to_pylist()
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise TonyError(f"{path} cannot be read: {error}", code="FEED_UNREADABLE") from error


def _middle(group: Any) -> int:
    """The middle of its bytes in the file."""
    columns = [group.column(number) for number in range(group.num_columns)]
    starts = [place for column in columns[:1] for place in (column.dictionary_page_offset, column.data_page_offset)]
    start: int = min((place for place in starts if place), default=0)
    size: int = sum(column.total_compressed_size for column in columns)
    return start + size // 2


class _File:
    """The file object that pyarrow reads: only the bytes that it asks for are read."""

    def __init__(self, length: int, read: ReadRange) -> None:
        self._length = length
        self._read = read
        self._at = 0
        self.closed = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._length}[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        end = self._length if size < 0 else min(self._at + size, self._length)
        data = b"".join(self._read(self._at, end)) if self._at < end else b""
        self._at += len(data)
        return data

    def close(self) -> None:
        self.closed = True
