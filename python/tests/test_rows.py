"""Where rows begin and end, however their bytes come."""

from __future__ import annotations

import random
from functools import partial
from typing import Callable, Iterable, Iterator

import pytest

from tony_ts.rows import Places, lines_in, places_of_fixed, places_of_lines


def rows_of(places_in: Callable[[Iterator[bytes]], Iterable[Places]], data: bytes, size: int) -> list[bytes]:
    pieces = iter([data[at : at + size] for at in range(0, len(data), size)])
    return [part[start:end] for part, places in places_in(pieces) for start, end in places]


@pytest.mark.parametrize("data", [b"", b"a", b"a\n", b"\n\n", b"a\n\nbc", b"long line\nb\n"])
def test_lines_are_the_same_as_places_and_as_bytes(data: bytes) -> None:
    lines = data[:-1].split(b"\n") if data.endswith(b"\n") else data.split(b"\n") if data else []
    for size in range(1, len(data) + 2):
        pieces = iter([data[at : at + size] for at in range(0, len(data), size)])
        assert [line for some in lines_in(pieces) for line in some] == lines
        assert rows_of(places_of_lines, data, size) == lines


def test_rows_of_one_length_come_whole() -> None:
    chance = random.Random(7)
    for length in range(1, 9):
        data = chance.getrandbits(8 * 8 * length).to_bytes(8 * length, "big")
        rows = [data[at : at + length] for at in range(0, len(data), length)]
        for size in range(1, len(data) + 1):
            assert rows_of(partial(places_of_fixed, size=length), data, size) == rows
