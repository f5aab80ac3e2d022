"""Frameworks that find the other tasks by variables, which the job sets for its ``framework``."""

from __future__ import annotations

import atexit
import json
import os
from importlib import import_module
from typing import Any, NamedTuple

from ..task_api import NotInATask, TaskError


class Place(NamedTuple):
    """Where a process stands among all that train."""

    rank: int
    world_size: int
    local_rank: int
    #: The GPU that ``init_torch`` has chosen for the process.
    gpu: int | None = None


def init_torch(backend: str | None = None, **arguments: Any) -> Place:
    """
    ``torch.distributed.init_process_group``, with a GPU chosen for the process, and NCCL where each process of the
    machine has its own, else gloo. The group is left when the program ends.
    """
    rank, world_size, local_rank = (int(_given(name, "pytorch")) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
    torch: Any = import_module("torch")
    distributed: Any = import_module("torch.distributed")
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    gpu = local_rank % gpus if gpus else None
    if gpu is not None:
        torch.cuda.set_device(gpu)
    # NCCL may hang where two processes share a GPU.
    has_own = gpus >= int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    distributed.init_process_group(backend or ("nccl" if has_own else "gloo"), **arguments)
    atexit.register(_leave, distributed)
    return Place(rank, world_size, local_rank, gpu)


def _leave(distributed: Any) -> None:
    """Unless the program has done so itself."""
    if distributed.is_initialized():
        distributed.destroy_process_group()


def init_jax(**arguments: Any) -> Place:
    """``jax.distributed.initialize``."""
    address, processes, process = (
        _given(name, "jax") for name in ("JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID")
    )
    jax: Any = import_module("jax")
    jax.distributed.initialize(
        coordinator_address=address, num_processes=int(processes), process_id=int(process), **arguments
    )
    return Place(int(process), int(processes), int(os.environ.get("LOCAL_RANK", "0")))


def tensorflow_strategy() -> Any:
    """
    The ``tf.distribute`` strategy for the job's roles: for several workers ``MultiWorkerMirroredStrategy``; with
    parameter servers, for the task that coordinates, ``ParameterServerStrategy``; for a task that trains alone, and for
    an evaluator, the default one.
    """
    cluster = json.loads(_given("TF_CONFIG", "tensorflow"))
    tf: Any = import_module("tensorflow")
    roles, role = cluster["cluster"], cluster["task"]["type"]
    if role != "evaluator" and "ps" in roles:
        return tf.distribute.ParameterServerStrategy(tf.distribute.cluster_resolver.TFConfigClusterResolver())
    trains = sum(len(roles.get(name, ())) for name in ("chief", "worker"))
    several = role != "evaluator" and trains > 1
    return tf.distribute.MultiWorkerMirroredStrategy() if several else tf.distribute.get_strategy()


def _given(name: str, framework: str) -> str:
    value = os.environ.get(name)
    if value is not None:
        return value
    if os.environ.get("TONY_API"):
        message = f'{name} is not set: submit the job with framework="{framework}" (tony.application.framework)'
        raise TaskError(message, code="OTHER_FRAMEWORK")
    message = f'{name} is not set: this is no task of a job that was submitted with framework="{framework}"'
    raise NotInATask(message, code="NOT_IN_A_TASK")
