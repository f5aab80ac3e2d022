"""Where rows begin and end in the bytes of a split."""

from __future__ import annotations

from typing import Iterator, List, Tuple

#: The bytes so far, with the places where rows in them begin and end.
Places = Tuple[bytes, List[Tuple[int, int]]]


def lines_in(pieces: Iterator[bytes]) -> Iterator[list[bytes]]:
    """The lines, without their newlines, as bytes arrive."""
    #: Parts of a line whose end has not arrived.
    parts: list[bytes] = []
    for piece in pieces:
        first, *rows = piece.split(b"\n")
        parts.append(first)
        if rows:
            line, parts = b"".join(parts), [rows.pop()]
            yield [line, *rows]
    rest = b"".join(parts)
    if rest:
        yield [rest]


def places_of_lines(pieces: Iterator[bytes]) -> Iterator[Places]:
    parts: list[bytes] = []
    for piece in pieces:
        behind = piece.rfind(b"\n") + 1
        parts.append(piece[:behind] if behind else piece)
        if behind:
            data, parts = b"".join(parts), [piece[behind:]]
            places: list[tuple[int, int]] = []
            start = 0
            while start < len(data):
                end = data.index(b"\n", start)
                places.append((start, end))
                start = end + 1
            yield data, places
    rest = b"".join(parts)
    if rest:
        yield rest, [(0, len(rest))]


def places_of_fixed(pieces: Iterator[bytes], size: int) -> Iterator[Places]:
    parts: list[bytes] = []
    held = 0
    for piece in pieces:
        parts.append(piece)
        held += len(piece)
        if held >= size:
            data, whole = b"".join(parts), held - held % size
            parts, held = [data[whole:]], held - whole
            yield data, [(at, at + size) for at in range(0, whole, size)]
