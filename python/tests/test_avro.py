"""Avro's object container files, without a library of Avro's."""

from __future__ import annotations

import json
import random
import re
import zlib
from pathlib import Path
from typing import Any, Generator

import pytest
from test_feed import ended, lines_of

import tony_ts
from tony_ts.avro import ReadRange, rows_of

MARKER = b"0123456789abcdef"

#: A value of each type; of its own, too.
SCHEMA = {
    "type": "record",
    "name": "Row",
    "namespace": "a.b",
    "fields": [
        {"name": "none", "type": "null"},
        {"name": "yes", "type": "boolean"},
        {"name": "small", "type": "int"},
        {"name": "big", "type": {"type": "long", "logicalType": "local-timestamp-micros"}},
        {"name": "half", "type": "float"},
        {"name": "exact", "type": "double"},
        {"name": "raw", "type": "bytes"},
        {"name": "text", "type": "string"},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
        {"name": "also", "type": "Kind"},
        {"name": "pair", "type": {"type": "fixed", "name": "c.Pair", "size": 2}},
        {"name": "list", "type": {"type": "array", "items": ["null", "long"]}},
        {"name": "map", "type": {"type": "map", "values": "double"}},
        {"name": "next", "type": ["null", "Row"]},
    ],
}

#: As fastavro 1.13 wrote two of them, the second in the first.
WRITTEN = bytes.fromhex(
    "0002fdffffffffffffff7f0000003f00000000000002c00400ff06c3a931020078790600020202010002026b000000000000f83f0002"
    "0104fbffffffffffffff7f0000003f00000000000002c00400ff06c3a932020078790600020402010002026b000000000000f83f0000"
)
#: Those, as it packed them.
PACKED = bytes.fromhex(
    "6360fafb1f02ea191818ec19c080e9000bc37fb6c32b0d99182a2ad9189898981881443644f2873d031323cb6fdcba8ca0ba58d07431000062801d"
)


def row(number: int, following: dict[str, Any] | None) -> dict[str, Any]:
    return {
        **{"none": None, "yes": number % 2 == 0, "small": number, "big": number - (1 << 62), "half": 0.5},
        **{"exact": -2.25, "raw": b"\0\xff", "text": f"é{number}", "kind": "B", "also": "A", "pair": b"xy"},
        **{"list": [None, number, -1], "map": {"k": 1.5}, "next": following},
    }


def long(number: int) -> bytes:
    number = (number << 1) ^ (number >> 63)
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])


def text(value: bytes) -> bytes:
    return long(len(value)) + value


def header(schema: Any, codec: str = "null") -> bytes:
    metadata = {"avro.schema": json.dumps(schema), "avro.codec": codec}
    entries = b"".join(text(key.encode()) + text(value.encode()) for key, value in metadata.items())
    return b"Obj\x01" + long(len(metadata)) + entries + long(0) + MARKER


def block(count: int, data: bytes) -> bytes:
    return long(count) + text(data) + MARKER


def in_pieces(file: bytes, size: int = 7) -> ReadRange:
    def read(start: int, end: int | None) -> Generator[bytes, None, None]:
        part = file[start:end]
        yield from (part[at : at + size] for at in range(0, len(part), size))

    return read


def rows_in(file: bytes) -> list[Any]:
    return [found for rows in rows_of("/a", 0, len(file), in_pieces(file)) for found in rows]


def numbers_in(blocks: list[list[int]]) -> bytes:
    return header("long") + b"".join(block(len(one), b"".join(map(long, one))) for one in blocks)


def test_rows_are_what_the_schema_says() -> None:
    rows = [row(1, row(2, None))]
    assert rows_in(header(SCHEMA) + block(1, WRITTEN)) == rows
    assert rows_in(header(SCHEMA, "deflate") + block(1, PACKED)) == rows
    assert rows_in(header("string")) == []
    # Blocks of an array of which one says how many bytes it has.
    assert rows_in(header({"type": "array", "items": "int"}) + block(1, b"\x01\x02\x02\x02\x04\x00")) == [[1, 2]]


def test_columns_that_are_named_are_in_the_rows_alone() -> None:
    file = header(SCHEMA) + block(1, WRITTEN)
    [rows] = rows_of("/a", 0, len(file), in_pieces(file), ["text", "small"])
    assert rows == [{"small": found["small"], "text": found["text"]} for found in rows_in(file)]
    with pytest.raises(tony_ts.TonyError, match=r"^/a has no column y; it has none, yes, small, ") as caught:
        list(rows_of("/a", 0, len(file), in_pieces(file), ["y"]))
    assert caught.value.code == "NO_SUCH_COLUMN"
    numbers = numbers_in([[7]])
    with pytest.raises(tony_ts.TonyError, match=r"^/a has no column y; it has none$"):
        list(rows_of("/a", 0, len(numbers), in_pieces(numbers), ["y"]))


def test_splits_have_each_row_once_wherever_a_file_is_cut() -> None:
    chance = random.Random(7)
    for _ in range(200):
        blocks = [[chance.randrange(1 << 40) for _ in range(chance.randint(0, 9))] for _ in range(chance.randint(0, 9))]
        file = numbers_in(blocks)
        size = chance.randint(1, 200)
        read = in_pieces(file, chance.randint(1, 50))
        splits = [(at, min(at + size, len(file))) for at in range(0, len(file), size)]
        found = [rows for start, end in splits for rows in rows_of("/a", start, end, read)]
        assert found == blocks


HEAD = header("long")
ONE = block(1, long(300))


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (b"PAR1", "it is not an Avro file: it does not start with Obj1"),
        (HEAD[:30], "it ends within its header"),
        (header("long", "snappy"), "it is compressed with snappy; only the codecs null and deflate are supported"),
        (header("Row"), "its schema refers to the type Row, which it does not define"),
        (header({"type": "array"}), "it has no valid Avro schema: KeyError('items')"),
        (
            header({"type": "fixed", "name": "F", "size": -1}) + block(1 << 40, b"x"),
            "its schema has a fixed type of size -1",
        ),
        (HEAD + ONE + ONE[:-1], f"the block at byte {len(HEAD + ONE)} is truncated"),
        (HEAD + ONE[:1], f"the block at byte {len(HEAD)} is truncated"),
        (HEAD + block(2, long(300)), f"the block at byte {len(HEAD)} ends before its last row"),
        (HEAD + block(1, long(1) * 3), f"the block at byte {len(HEAD)} has 2 bytes after its last row"),
        (HEAD + ONE + ONE.swapcase(), f"the block at byte {len(HEAD + ONE)} does not end with the file's sync marker"),
        (HEAD + block(1, b"\xff" * 11), f"the block at byte {len(HEAD)} contains a number of more than 10 bytes"),
        (
            HEAD + long(1) + long(1 << 40),
            f"the block at byte {len(HEAD)} claims to have 1 rows in {1 << 40} bytes; the limit is {64 << 20} bytes",
        ),
        (
            header("string") + block(1, text(b"\xff")),
            f"the block at byte {len(header('string'))} contains a string that is not UTF-8",
        ),
        (
            header("null") + block(1 << 40, b""),
            f"the block at byte {len(header('null'))} contains values that take no bytes",
        ),
        (
            header(["null", "long"]) + block(1, long(2)),
            f"the block at byte {len(header(['null', 'long']))} contains branch 2 of a union that has 2",
        ),
    ],
)
def test_why_a_file_cannot_be_read_is_said_with_its_place(file: bytes, why: str) -> None:
    with pytest.raises(tony_ts.TonyError, match=f"^/a cannot be read: {re.escape(why)}$") as caught:
        rows_in(file)
    assert caught.value.code == "FEED_UNREADABLE"


def test_what_deflate_did_not_pack_is_refused() -> None:
    head = header("long", "deflate")
    packing = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    many = packing.compress(bytes((64 << 20) + 1)) + packing.flush()
    for data, why in [
        (b"\xff\xff", "is not valid deflate data"),
        (many[:-9], "is incomplete deflate data"),
        (many, f"is longer than {64 << 20} bytes when decompressed"),
    ]:
        with pytest.raises(tony_ts.TonyError, match=f"the block at byte {len(head)} {why}"):
            rows_in(head + block(1, data))


def test_a_feed_has_the_rows_of_good_blocks_and_says_where_others_are(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    # Each takes nine bytes.
    count, least = 280_000, 1 << 60
    blocks = [list(range(least + at, least + at + 20_000)) for at in range(0, count, 20_000)]
    (folder / "a.avro").write_bytes(numbers_in(blocks))
    (folder / "b.avro").write_bytes(HEAD + ONE + block(2, long(7)))
    program = """
    for name in ("all", "even"):
        rows = [row for batch in tony_ts.feed(name).batches(1000) for row in batch]
        print(name, len(rows), sum(row for row in rows if row >= 1 << 60), tony_ts.feed(name).format)
    """
    few = tmp_path / "few"
    few.mkdir()
    for name in ("a.avro", "b.avro"):
        (few / name).write_bytes(numbers_in(blocks[:1]))
    feeds = {"all": {"input": str(folder)}, "even": {"input": str(few), "uneven": "pad"}}
    of_both = {"format": "avro", "split-size": "1m"}
    more = {
        f"tony.feed.{name}.{key}": value for name, feed in feeds.items() for key, value in {**feed, **of_both}.items()
    }
    job = ended(program, {}, instances=2, more=more)
    said = [line.split() for line in lines_of(job)]
    assert {(name, kind) for name, *_, kind in said} == {("all", "avro"), ("even", "avro")}
    assert sum(int(total) for name, _, total, _ in said if name == "all") == sum(map(sum, blocks))
    [feed] = [feed for feed in job.report["feeds"] if feed["name"] == "all"]
    assert feed["splits"] == 4
    assert feed["failures"][0]["reason"].endswith(
        f"b.avro cannot be read: the block at byte {len(HEAD + ONE)} ends before its last row"
    )
