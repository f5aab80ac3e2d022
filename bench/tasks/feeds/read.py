"""Prints, as a line of JSON, how fast a task that does nothing with its rows reads a feed."""

import json
import time

import tony_ts

#: Size of a row of that feed, in MiB.
BLOCK = 1_000_000 / (1 << 20)


def seconds_of(name: str, size: int, views: bool = False) -> "tuple[float, float, int]":
    """The time until the first batch, the time from then to the end, and how many rows came in that time."""
    asked = time.monotonic()
    batches = tony_ts.feed(name, views=views).batches(size)
    next(batches)
    first = time.monotonic()
    rows = sum(map(len, batches))
    return first - asked, time.monotonic() - first, rows


first, seconds, rows = seconds_of("rows", 1000)
_, view_seconds, views = seconds_of("row-views", 1000, views=True)
_, block_seconds, blocks = seconds_of("blocks", 1)
_, viewed_seconds, viewed = seconds_of("block-views", 1, views=True)
figures = {
    "firstRowMs": first * 1000,
    "rowsPerSecond": rows / seconds,
    "viewsPerSecond": views / view_seconds,
    "mibPerSecond": blocks * BLOCK / block_seconds,
    "viewedMibPerSecond": viewed * BLOCK / viewed_seconds,
}
print(json.dumps(figures))
