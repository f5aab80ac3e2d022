"""
Prints, as a line of JSON, what a batch costs the program of a training with steps of 10 ms, with the same number of
steps for all tasks (``uneven``) and without. It reports processor time and counts, which other programs of the machine
do not change as they change elapsed times.
"""

import concurrent.futures
import json
import time
from collections import Counter
from typing import Any, Callable

import tony_ts

STEP_SECONDS = 0.01
counts: "Counter[str]" = Counter()


def count(cls: type, method: str, what: str, is_one: "Callable[[Any], bool]") -> None:
    """Counts the calls of the method on the objects for which `is_one` holds."""
    original = getattr(cls, method)

    def counting(self: Any, *args: Any, **options: Any) -> Any:
        counts[what] += is_one(self)
        return original(self, *args, **options)

    setattr(cls, method, counting)


def step_of(name: str) -> "tuple[float, float]":
    """Processor time that the program uses for a step, in ms, and how many of 1,000 steps wait for an answer."""
    batches = tony_ts.feed(name).batches(128)
    counts.clear()
    began = time.process_time()
    steps = 0
    for _ in batches:
        steps += 1
        time.sleep(STEP_SECONDS)
    return (time.process_time() - began) * 1000 / steps, counts["waits"] * 1000 / steps


count(concurrent.futures.Future, "result", "waits", lambda answer: not answer.done())
plain, _ = step_of("plain")
even, waits = step_of("even")
print(json.dumps({"addedPercent": (even - plain) / (STEP_SECONDS * 1000) * 100, "waitsPerThousand": waits}))
