"""tf-yarn's ``pytorch``: trains one model in all processes of a job, by ``DistributedDataParallel``."""

from __future__ import annotations

from ..client import RunFailed, get_safe_experiment_fn
from ..metrics import Metrics
from ..topologies import NodeLabel, TaskSpec
from .client import run_on_yarn
from .experiment import DataLoaderArgs, DistributedDataParallelArgs, PytorchExperiment

__all__ = [
    "DataLoaderArgs",
    "DistributedDataParallelArgs",
    "Metrics",
    "NodeLabel",
    "PytorchExperiment",
    "RunFailed",
    "TaskSpec",
    "get_safe_experiment_fn",
    "run_on_yarn",
]
