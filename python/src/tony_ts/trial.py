"""What a trial of a search gets."""

from __future__ import annotations

import json
import os
from typing import Any, Callable, Mapping, NamedTuple

from .in_task import task
from .task_api import NotInATask


class Trial(NamedTuple):
    """One try of a search for good parameters.

    ``number`` counts from 0; a trial that starts again keeps it. ``params`` has numbers and strings by the names of the
    parameters, such as ``{"lr": 0.0031, "layers": 3, "optimizer": "adam"}``. A parameter whose condition does not hold
    is not there: ``params.get("momentum", 0)``.
    """

    number: int
    params: Mapping[str, Any]


def trial() -> Trial:
    """The trial that this program runs for: ``tony_ts.trial().params["lr"]``. Raises NotInATask elsewhere."""
    return Trial(int(_variable("TONY_TRIAL_NUMBER")), json.loads(_variable("TONY_TRIAL_PARAMS")))


def run_trial(objective: Callable[[Trial], object], metric: str | None) -> None:
    """What a trial runs of a search that was made from a function: what that returns is reported as the metric."""
    value = objective(trial())
    if value is None:
        return
    if metric is None:
        raise TypeError(f"the function returned {value!r}: search(metric=…) names what that is")
    metrics: dict[str, Any] = {metric: value}
    task().report(**metrics)


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if value is None:
        message = f"{name} is not set: this is no trial of a search (tony_ts.search(), tony-ts search job.xml)"
        raise NotInATask(message, code="NOT_IN_A_TASK")
    return value
