"""How long a job of ``run_on_yarn()`` took. The names are tf-yarn's."""

from __future__ import annotations

from datetime import timedelta
from typing import Iterable, NamedTuple

from .shapes import JobStatus, TaskStatus
from .topologies import ContainerKey

_TRAINS = ("chief", "worker")


class Metrics(NamedTuple):
    """Durations are those of the last generation, and None where a task did not succeed."""

    #: From the first program's start to the last one's end.
    total_training_duration: timedelta | None
    total_eval_duration: timedelta | None
    container_duration: dict[ContainerKey, timedelta | None]
    train_eval_time_per_node: dict[ContainerKey, timedelta | None]


def metrics(report: JobStatus) -> Metrics:
    tasks = report["tasks"]
    lasted = {ContainerKey.from_kv_str(task["task"]): _duration(task) for task in tasks}
    succeeded = {
        ContainerKey.from_kv_str(task["task"]): _duration(task) if task["state"] == "succeeded" else None
        for task in tasks
    }
    return Metrics(
        _total(task for task in tasks if _kind(task) in _TRAINS),
        _total(task for task in tasks if _kind(task) == "evaluator"),
        lasted,
        succeeded,
    )


def _kind(task: TaskStatus) -> str:
    return ContainerKey.from_kv_str(task["task"]).type


def _duration(task: TaskStatus) -> timedelta | None:
    if "startedAtMs" not in task or "endedAtMs" not in task:
        return None
    return timedelta(milliseconds=task["endedAtMs"] - task["startedAtMs"])


def _total(tasks: Iterable[TaskStatus]) -> timedelta | None:
    """From the first start to the last end, if all tasks succeeded."""
    starts: list[int] = []
    ends: list[int] = []
    for task in tasks:
        if task["state"] != "succeeded" or "startedAtMs" not in task or "endedAtMs" not in task:
            return None
        starts.append(task["startedAtMs"])
        ends.append(task["endedAtMs"])
    return timedelta(milliseconds=max(ends) - min(starts)) if starts else None
