"""TFRecord files, and the ``tf.train.Example`` in them, without TensorFlow."""

from __future__ import annotations

import struct
from typing import Iterator, List, Union

from .rows import Places

#: The values of a feature, by the kind of its list.
Feature = Union[List[bytes], List[float], List[int]]

_LENGTH = struct.Struct("<Q")
#: A checksum follows the length, and another the data: the executor has checked them.
_CHECKSUM = 4
_HEAD = _LENGTH.size + _CHECKSUM

# Wire types of protobuf.
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def places_of_records(pieces: Iterator[bytes]) -> Iterator[Places]:
    """The records of a file, as its bytes arrive."""
    rest = bytearray()
    for piece in pieces:
        rest += piece
        places: list[tuple[int, int]] = []
        at = 0
        while len(rest) >= at + _HEAD:
            (length,) = _LENGTH.unpack_from(rest, at)
            end = at + _HEAD + length
            if len(rest) < end + _CHECKSUM:
                break
            places.append((at + _HEAD, end))
            at = end + _CHECKSUM
        if places:
            yield bytes(rest[:at]), places
        del rest[:at]


def parse_example(record: bytes) -> dict[str, Feature]:
    """The features of a serialized ``tf.train.Example`` by name. Raises ValueError where it is none."""
    example: dict[str, Feature] = {}
    try:
        for features in _messages(memoryview(record)):
            for entry in _messages(features):
                fields = dict(_fields(entry))
                name, feature = fields.get(1, b""), fields.get(2, b"")
                if isinstance(name, int) or isinstance(feature, int):
                    raise ValueError("the name or value of a feature is a number")
                example[str(name, "utf-8")] = _feature(memoryview(feature))
    except (ValueError, IndexError, struct.error) as error:
        raise ValueError(f"a row of {len(record)} bytes is not a tf.train.Example: {error}") from error
    return example


def _feature(data: memoryview) -> Feature:
    values: Feature = []
    for kind, content in _fields(data):
        if isinstance(content, int):
            raise ValueError("a list of values is a number")
        if kind == 1:
            values = [bytes(value) for value in _messages(content)]
        elif kind == 2:
            values = [number for part in _messages(content) for (number,) in struct.iter_unpack("<f", part)]
        elif kind == 3:
            values = [number for value in _values(content) for number in _integers(value)]
    return values


def _integers(value: int | memoryview) -> Iterator[int]:
    """Packed or not."""
    if isinstance(value, int):
        yield _signed(value)
        return
    at = 0
    while at < len(value):
        number, at = _varint(value, at)
        yield _signed(number)


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def _messages(data: memoryview) -> Iterator[memoryview]:
    for value in _values(data):
        if isinstance(value, int):
            raise ValueError("a message is a number")
        yield value


def _values(data: memoryview) -> Iterator[int | memoryview]:
    """Its fields of number 1: no other fields of these messages matter."""
    return (value for number, value in _fields(data) if number == 1)


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of a protobuf message: their numbers and contents."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == _VARINT:
            number, at = _varint(data, at)
            yield tag >> 3, number
            continue
        if kind == _BYTES:
            length, at = _varint(data, at)
        elif kind in (_FIXED32, _FIXED64):
            length = 4 if kind == _FIXED32 else 8
        else:
            raise ValueError(f"unknown wire type {kind}")
        if at + length > len(data):
            raise ValueError("it is truncated")
        yield tag >> 3, data[at : at + length]
        at += length


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
        if shift > 63:
            raise ValueError("a number has more than 10 bytes")
