"""Parquet files, which pyarrow reads."""

from __future__ import annotations

import io
import random
import sys
from pathlib import Path
from typing import Any, Generator

import pytest
from test_feed import ended, lines_of

import tony_ts
from tony_ts.avro import ReadRange
from tony_ts.parquet import rows_of

pyarrow: Any = pytest.importorskip("pyarrow")
parquet: Any = pytest.importorskip("pyarrow.parquet")


def written(table: Any, rows_of_group: int) -> bytes:
    file = io.BytesIO()
    parquet.write_table(table, file, row_group_size=rows_of_group)
    return file.getvalue()


def table_of(count: int) -> Any:
    nested = [None if number % 3 else {"a": number} for number in range(count)]
    fields = [("x", pyarrow.int64()), ("t", pyarrow.string()), ("n", pyarrow.struct([("a", pyarrow.int64())]))]
    columns = {"x": list(range(count)), "t": ["é" * (number % 30) for number in range(count)], "n": nested}
    return pyarrow.table(columns, schema=pyarrow.schema(fields))


def reading(file: bytes, asked: list[tuple[int, int | None]]) -> ReadRange:
    def read(start: int, end: int | None) -> Generator[bytes, None, None]:
        asked.append((start, end))
        yield file[start:end]

    return read


def rows_in(file: bytes, place: range | None = None, columns: list[str] | None = None) -> list[Any]:
    all_of_it = range(len(file))
    return [
        row
        for rows in rows_of("/a", len(file), all_of_it if place is None else place, reading(file, []), columns)
        for row in rows
    ]


def test_splits_have_each_row_once_wherever_a_file_is_cut() -> None:
    chance = random.Random(7)
    for _ in range(30):
        table = table_of(chance.randint(0, 500))
        file = written(table, chance.randint(1, 100))
        size = chance.randint(50, 4000)
        splits = [range(at, min(at + size, len(file))) for at in range(0, len(file), size)]
        assert [row for split in splits for row in rows_in(file, split)] == table.to_pylist()


def test_columns_that_are_named_are_read_alone() -> None:
    chance = random.Random(7)
    wide = [chance.getrandbits(8000).to_bytes(1000, "big") for _ in range(1000)]
    file = written(table_of(1000).append_column("wide", pyarrow.array(wide)), 1000)
    asked: list[tuple[int, int | None]] = []
    [rows] = rows_of("/a", len(file), range(len(file)), reading(file, asked), ["x", "n.a"])
    assert rows[:2] == [{"x": 0, "n": {"a": 0}}, {"x": 1, "n": None}]
    assert sum((end or len(file)) - start for start, end in asked) < len(file) // 5
    with pytest.raises(tony_ts.TonyError, match=r"^/a has no column y; it has x, t, n, wide$") as caught:
        rows_in(file, columns=["y"])
    assert caught.value.code == "NO_SUCH_COLUMN"


FILE = written(table_of(500), 100)


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (b"", "Parquet file size is 0 bytes"),
        (FILE[:-3], "Parquet magic bytes not found in footer"),
        (FILE[:60] + b"\xff" * 40 + FILE[100:], "Corrupt snappy compressed data"),
    ],
)
def test_a_damaged_file_cannot_be_read(file: bytes, why: str) -> None:
    with pytest.raises(tony_ts.TonyError, match=f"^/a cannot be read: .*{why}") as caught:
        rows_in(file)
    assert caught.value.code == "FEED_UNREADABLE"


def test_what_the_executor_says_is_raised_as_it_is() -> None:
    def read(start: int, end: int | None) -> Generator[bytes, None, None]:
        yield b""
        raise tony_ts.TaskError("the NameNode is away", code="FEED_AWAY")

    with pytest.raises(tony_ts.TaskError, match=r"^the NameNode is away$"):
        list(rows_of("/a", 100, range(100), read, None))


def test_without_pyarrow_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        tony_ts.TonyError, match="Parquet files are read by pyarrow, which Python has not here"
    ) as caught:
        rows_in(FILE)
    assert caught.value.code == "NO_PYARROW"


def test_a_feed_has_the_rows_of_good_files(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    chance = random.Random(7)
    count = 400_000
    table = pyarrow.table({"x": list(range(count)), "y": [chance.random() for _ in range(count)]})
    (folder / "a.parquet").write_bytes(written(table, 50_000))
    (folder / "b.parquet").write_bytes(b"PAR1" + FILE[:-3])
    conf = {"input": str(folder), "format": "parquet", "split-size": "1m"}
    program = """
    feed = tony_ts.feed("train", columns=["x"])
    rows = [row for batch in feed.batches(1000) for row in batch]
    print(len(rows), sum(row["x"] for row in rows), {column for row in rows for column in row})
    """
    job = ended(program, conf, instances=2)
    told = [line.split() for line in lines_of(job)]
    assert sum(int(rows) for rows, *_ in told) == count
    assert sum(int(total) for _, total, _ in told) == count * (count - 1) // 2
    assert {columns for *_, columns in told} == {"{'x'}"}
    [failure] = job.report["feeds"][0]["failures"]
    assert "b.parquet cannot be read: Parquet magic bytes not found in footer" in failure["reason"]
