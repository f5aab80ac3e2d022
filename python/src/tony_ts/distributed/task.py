"""In a task: where this process stands among all."""

from __future__ import annotations

import os
from typing import Any, Callable, NamedTuple

from ..experiments import number_the_try


class TaskParameters(NamedTuple):
    """
    What ``torch.distributed.init_process_group`` and similar functions need. An ``evaluator`` is a group of its own.
    """

    task_type: str
    #: The process's rank among all that train.
    task_id: int
    world_size: int
    master_address: str
    master_port: int
    n_workers_per_executor: int = 1


_PROCESSES = "TONY_TS_PROCESSES"


def run(experiment_fn: Callable[[int], Any], processes: int) -> None:
    number_the_try()
    os.environ[_PROCESSES] = str(processes)
    if os.environ["JOB_NAME"] == "evaluator":
        _stand_alone()
    experiment_fn(int(os.environ["RANK"]) % processes)


def _stand_alone() -> None:
    """An evaluator does not train: it has no rank among those that do, and is a group of its own."""
    port = os.environ["TONY_PORT"]
    os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0", MASTER_ADDR="127.0.0.1", MASTER_PORT=port)


def get_task(local_rank: int) -> TaskParameters:
    """:param local_rank: the number that the function was called with; tony-ts knows the process without it"""
    return TaskParameters(
        os.environ["JOB_NAME"],
        int(os.environ["RANK"]),
        int(os.environ["WORLD_SIZE"]),
        os.environ["MASTER_ADDR"],
        int(os.environ["MASTER_PORT"]),
        int(os.environ.get(_PROCESSES, "1")),
    )
