"""What the callbacks of all libraries have in common."""

from __future__ import annotations

import math
import os
from typing import Any, Mapping

from ..in_task import Advice, task

_CONTINUE = Advice("continue")


class Progress:
    """Reports to the job; without a job, as when a program is tried out, it reports to nobody."""

    def __init__(self) -> None:
        self._is_in_a_task = bool(os.environ.get("TONY_API"))

    def report(self, step: int, metrics: Mapping[str, Any]) -> Advice:
        return task().report(step, **numbers(metrics)) if self._is_in_a_task else _CONTINUE

    def checkpoint(self, path: str, step: int) -> None:
        if self._is_in_a_task:
            task().checkpoint(path, step)


def numbers(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Values that are numbers, including tensors of one element. The step is reported separately."""
    found: dict[str, float] = {}
    for name, value in metrics.items():
        try:
            number = float(value)
        except (TypeError, ValueError, RuntimeError):
            continue
        if math.isfinite(number) and name not in ("self", "step"):
            found[name] = number
    return found
