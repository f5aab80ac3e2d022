"""TFRecord files and ``tf.train.Example``, without TensorFlow."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from test_feed import said

import tony_ts
from tony_ts.tfrecord import places_of_records

#: As TensorFlow 2.21 wrote the records "a" and "" one after the other.
WRITTEN = bytes.fromhex("01000000000000000175de4161786ee428000000000000000029039807d8ea82a2")

#: As it serialized label, name and x, and none, which has no list.
EXAMPLE = bytes.fromhex(
    "0a490a190a056c6162656c12101a0e0a0cffffffffffffffffff01ac020a0f0a046e616d6512070a050a01610a000a080a046e6f6e6512000a"
    "110a0178120c120a0a080000003f000000c0"
)


@pytest.mark.parametrize("size", [1, 5, 17, 100])
def test_records_come_whole_however_their_bytes_do(size: int) -> None:
    pieces = (WRITTEN[at : at + size] for at in range(0, len(WRITTEN), size))
    assert [data[start:end] for data, places in places_of_records(pieces) for start, end in places] == [b"a", b""]


def test_an_example_is_its_features_by_name() -> None:
    parsed = tony_ts.parse_example(EXAMPLE)
    assert parsed == {"label": [-1, 300], "name": [b"a", b""], "none": [], "x": [0.5, -2.0]}
    # Lists of numbers that are not packed, and a field that is not known.
    unpacked = bytes.fromhex("0a1a0a0a0a016912051a0308ac020a0c0a0166120712050d0000003f")
    assert tony_ts.parse_example(unpacked + bytes.fromhex("1001")) == {"i": [300], "f": [0.5]}
    assert tony_ts.parse_example(b"") == {}


def test_what_ends_early_is_no_example() -> None:
    for at in range(1, len(EXAMPLE)):
        with pytest.raises(ValueError, match=f"^a row of {at} bytes is not a tf.train.Example: "):
            tony_ts.parse_example(EXAMPLE[:at])


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (b"text, as lines have it", "unknown wire type 4"),
        (b"\x08\x01", "a message is a number"),
        (b"\xff" * 11, "a number has more than 10 bytes"),
        (bytes.fromhex("0a040a020801"), "the name or value of a feature is a number"),
        (bytes.fromhex("0a060a0412020801"), "a list of values is a number"),
    ],
)
def test_why_a_row_is_no_example_is_said(row: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"a row of {len(row)} bytes is not a tf.train.Example: {why}")):
        tony_ts.parse_example(row)


def test_a_feed_has_the_records_of_good_files(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a").write_bytes(WRITTEN)
    (folder / "b.gz").write_bytes(gzip.compress(WRITTEN))
    (folder / "c").write_bytes(WRITTEN[:12] + b"b" + WRITTEN[13:])
    program = 'print(list(tony_ts.feed("train").rows()))'
    assert said(program, {"input": str(folder), "format": "tfrecord"}) == ["[b'a', b'', b'a', b'']"]
