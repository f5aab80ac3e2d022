"""What a feed gives a task that does nothing with it, printed as a line of JSON."""

import json
import time

import tony_ts

#: Of a row of that feed, in MiB.
BLOCK = 1_000_000 / (1 << 20)


def seconds_of(name: str, size: int) -> "tuple[float, float, int]":
    """Until the first batch, from then on to the end, and how many rows came by then."""
    asked = time.monotonic()
    batches = tony_ts.feed(name).batches(size)
    next(batches)
    first = time.monotonic()
    rows = sum(map(len, batches))
    return first - asked, time.monotonic() - first, rows


first, seconds, rows = seconds_of("rows", 1000)
_, block_seconds, blocks = seconds_of("blocks", 1)
print(json.dumps({"firstRowMs": first * 1000, "rowsPerSecond": rows / seconds, "mibPerSecond": blocks * BLOCK / block_seconds}))
