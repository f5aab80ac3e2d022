"""Reads many small files in batches, and prints how long each took."""

import json
import time

import tony_ts

batches = tony_ts.feed("rows").batches(1000)
next(batches)
began = time.monotonic()
rows = sum(map(len, batches))
print(json.dumps({"splitMs": (time.monotonic() - began) * 1000 / rows}))
