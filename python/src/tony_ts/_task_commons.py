"""
How a task runs a module of ``run_on_yarn(custom_task_module=…)``, and tf-yarn's names for what such a module asks. Like
tf-yarn's functions, these take a client of Skein's, which they do not need.
"""

from __future__ import annotations

import json
import logging
import os
import runpy
import sys
from time import perf_counter
from typing import Any, Callable, NamedTuple, Sequence

from .experiments import number_the_try
from .functions import dumps
from .in_task import task
from .skein import ApplicationClient
from .task_api import TaskError
from .topologies import ContainerKey, ContainerTask

#: Keys of the job's store.
KV_CLUSTER_INSTANCES = "cluster_instances"
KV_EXPERIMENT_FN = "experiment_fn"

__all__ = [
    "_compute_world_size",
    "_get_cluster_tasks",
    "_get_experiment",
    "_get_nb_workers",
    "catchtime",
    "choose_master",
    "compute_rank",
    "get_pickled_experiment",
    "get_task_key",
    "is_chief",
    "is_evaluator",
    "is_worker",
    "n_try",
    "setup_logging",
]

ExperimentFn = Callable[..., Any]
#: A type of task, how many there are, and how many processes each is to start.
Instances = Sequence["tuple[str, int, int]"]


class _Given(NamedTuple):
    experiment_fn: ExperimentFn
    instances: Instances


_given: list[_Given] = []


def run(module: str, experiment_fn: ExperimentFn, lead: str, instances: Instances) -> None:
    """Runs the module as ``python -m`` does."""
    number_the_try()
    own = task()
    os.environ["SKEIN_CONTAINER_ID"] = f"{own.role}_{own.index}"
    _given[:] = [_Given(experiment_fn, instances)]
    if own.index == 0 and own.role == lead:
        _tell_others(instances)
    sys.argv = [module]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _tell_others(instances: Instances) -> None:
    """For modules that read the store themselves."""
    keys = ApplicationClient.from_current().kv
    keys.setdefault(KV_CLUSTER_INSTANCES, json.dumps(instances).encode())
    try:
        keys.setdefault(KV_EXPERIMENT_FN, dumps(_given[0].experiment_fn))
    except TaskError as error:
        # Most modules do not read it.
        print(f"The key {KV_EXPERIMENT_FN} is not there, use get_pickled_experiment(): {error}", file=sys.stderr)


def setup_logging() -> None:
    logging.basicConfig(level=logging.INFO)


def get_pickled_experiment(client: object = None) -> bytes:
    return dumps(_given[0].experiment_fn)


def _get_experiment(client: object = None) -> Any:
    """The result of ``experiment_fn``."""
    return _given[0].experiment_fn()


def _get_cluster_tasks(client: object = None) -> list[ContainerTask]:
    return [
        ContainerTask(kind, index, processes)
        for kind, instances, processes in _given[0].instances
        for index in range(instances)
    ]


def _compute_world_size(cluster_tasks: Sequence[ContainerTask]) -> int:
    return sum(one.nb_proc for one in cluster_tasks)


def _get_nb_workers(task_id: int, cluster_tasks: Sequence[ContainerTask]) -> int:
    return next(one.nb_proc for one in cluster_tasks if one.id == task_id)


def compute_rank(task_id: int, local_rank: int, n_workers: int) -> int:
    return task_id * n_workers + local_rank


def choose_master(client: object, rank: int) -> tuple[str, int]:
    """Where the first task may listen, whatever the rank: its port is reserved for it."""
    first = _get_cluster_tasks()[0]
    host, _, port = task().cluster()[first.type][first.id].rpartition(":")
    return host, int(port)


def n_try() -> int:
    return int(os.environ.get("TF_YARN_N_TRY", "0"))


def get_task_key() -> ContainerKey:
    own = task()
    return ContainerKey(own.role, own.index)


def is_worker(task_type: str | None = None) -> bool:
    return (task_type or task().role) == "worker"


def is_evaluator(task_type: str | None = None) -> bool:
    return (task_type or task().role) == "evaluator"


def is_chief(task_type: str | None = None) -> bool:
    return (task_type or task().role) == "chief"


class catchtime:  # noqa: N801
    """Prints how long its ``with`` block took."""

    def __enter__(self) -> catchtime:
        self.time = perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.time = perf_counter() - self.time
        self.readout = f"Time: {self.time:.3f} seconds"
        print(self.readout)
