"""Runs a PyTorch experiment."""

from __future__ import annotations

from typing import Any, Callable

from .. import client
from ..errors import told_plainly
from ..metrics import Metrics
from ..topologies import TaskSpec
from .experiment import PytorchExperiment

ExperimentFn = Callable[[], PytorchExperiment]


@told_plainly
def run_on_yarn(experiment_fn: ExperimentFn, task_specs: dict[str, TaskSpec], **kwargs: Any) -> Metrics | None:
    """As ``tony_ts.client.run_on_yarn``, for a function that returns what to train."""
    kwargs.setdefault("custom_task_module", "tf_yarn.pytorch.tasks.worker")
    return client.run_on_yarn(experiment_fn, task_specs, **kwargs)
