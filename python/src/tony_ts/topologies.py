"""What kinds of tasks a job of ``run_on_yarn()`` has. The names are tf-yarn's."""

from __future__ import annotations

import math
import re
from enum import Enum
from types import MappingProxyType
from typing import Mapping, NamedTuple

from .errors import JobInvalid

TASK_TYPES = ("chief", "worker", "ps", "evaluator", "tensorboard")

_LARGEST_MEMORY_MIB = 48 * 1024
_MOST_VCORES = 48
_MIB = 1024 * 1024
_BYTES = {
    **{unit: int(1000**power) for power, unit in enumerate(("b", "kb", "mb", "gb", "tb", "pb"))},
    **{unit: int(1024**power) for power, unit in enumerate(("kib", "mib", "gib", "tib", "pib"), 1)},
}


class NodeLabel(Enum):
    """Which nodes may run a task. The value is YARN's label."""

    CPU = ""
    GPU = "gpu"


class ContainerKey(NamedTuple):
    """A task: ``worker``, 1."""

    type: str
    id: int

    def to_kv_str(self) -> str:
        return f"{self.type}:{self.id}"

    @staticmethod
    def from_kv_str(kv_str: str) -> ContainerKey:
        kind, _, index = kv_str.rpartition(":")
        return ContainerKey(kind, int(index))


class ContainerTask(NamedTuple):
    """A task, and how many processes it is to start."""

    type: str
    id: int
    nb_proc: int

    def to_container_key(self) -> ContainerKey:
        return ContainerKey(self.type, self.id)

    def to_kv_str(self) -> str:
        return f"{self.type}:{self.id}:{self.nb_proc}"


class TaskSpec:
    """One kind of task: its resources, and how many there are."""

    def __init__(
        self,
        memory: int | str,
        vcores: int,
        instances: int = 1,
        nb_proc_per_worker: int = 1,
        label: NodeLabel = NodeLabel.CPU,
        tb_termination_timeout_seconds: int = -1,
        tb_model_dir: str | None = None,
        tb_extra_args: str | None = None,
    ) -> None:
        """
        :param memory: in MiB, or a text such as ``"2 GiB"``
        :param nb_proc_per_worker: processes of the function in each task
        """
        self.memory = memory
        self.vcores = vcores
        self.instances = instances
        self.nb_proc_per_worker = nb_proc_per_worker
        self.label = label
        self.tb_termination_timeout_seconds = tb_termination_timeout_seconds
        self.tb_model_dir = tb_model_dir
        self.tb_extra_args = tb_extra_args

    @property
    def memory(self) -> int:
        """In MiB."""
        return self._memory_mib

    @memory.setter
    def memory(self, value: int | str) -> None:
        self._memory_mib = _mib(value)


def _mib(memory: int | str) -> int:
    if isinstance(memory, int):
        return memory
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", memory.lower())
    if match is None or (match[2] and match[2] not in _BYTES):
        raise JobInvalid(f'memory is a number of MiB or a text such as "2 GiB", not {memory!r}', code="JOB_INVALID")
    return math.ceil(float(match[1]) * _BYTES.get(match[2], _MIB) / _MIB)


def single_server_topology(memory: int = _LARGEST_MEMORY_MIB, vcores: int = _MOST_VCORES) -> dict[str, TaskSpec]:
    """A chief that trains, an evaluator and a TensorBoard."""
    return {kind: TaskSpec(memory, vcores) for kind in ("chief", "evaluator", "tensorboard")}


def ps_strategy_topology(
    nb_workers: int = 2,
    nb_ps: int = 1,
    memory: int = _LARGEST_MEMORY_MIB,
    vcores: int = _MOST_VCORES,
) -> dict[str, TaskSpec]:
    """A chief and workers whose parameters are on servers, an evaluator and a TensorBoard."""
    topology = {
        "chief": TaskSpec(memory, vcores),
        "evaluator": TaskSpec(memory, vcores),
        "worker": TaskSpec(memory, vcores, instances=nb_workers),
        "ps": TaskSpec(memory, vcores, instances=nb_ps),
        "tensorboard": TaskSpec(memory, vcores),
    }
    check(topology)
    return topology


def check(
    task_specs: Mapping[str, TaskSpec], *, trains: bool = True, without: Mapping[str, str] = MappingProxyType({})
) -> None:
    """
    Raises everything that is wrong with a topology at once. The cluster itself checks what it has.

    :param trains: whether the tasks train; otherwise a job may have only other types
    :param without: types that the job's tasks cannot be of, and why
    """
    wrong = [
        f"there is no task type {kind!r}: use {', '.join(TASK_TYPES)}" for kind in task_specs if kind not in TASK_TYPES
    ]
    wrong += [f"{kind}: {why}" for kind, why in without.items() if kind in task_specs]
    if trains and not any(kind in task_specs for kind in ("chief", "worker")):
        wrong.append("a job needs a chief or workers")
    elif not any(kind != "tensorboard" for kind in task_specs):
        wrong.append("a job needs tasks beside a tensorboard")
    for kind in ("chief", "evaluator", "tensorboard"):
        spec = task_specs.get(kind)
        if spec is not None and (spec.instances != 1 or spec.nb_proc_per_worker != 1):
            wrong.append(f"there can be one {kind} only, of one process")
    if "ps" in task_specs and task_specs["ps"].instances < 1:
        wrong.append("ps needs at least one instance")
    for kind, spec in task_specs.items():
        if spec.nb_proc_per_worker > spec.vcores:
            wrong.append(f"{kind}: {spec.nb_proc_per_worker} processes need as many vcores, and it has {spec.vcores}")
    if wrong:
        raise JobInvalid("\n".join(f"task_specs: {what}" for what in wrong), code="JOB_INVALID")
